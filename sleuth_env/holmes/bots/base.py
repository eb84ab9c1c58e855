"""What the bots have in common: how they are called, and how they find and choose among legal actions."""

from __future__ import annotations

from ...bits import below
from ...doors import deciding
from ...game_doors import BuiltInBot
from ...kernels import inner
from ..cards import NUM_AIMED, Options, make_rules
from ..checked import checked_views
from ..view import VIEW

# --- where actions lie ---


@inner
def play_on(rules, title, k):
    """Return the number of the action that plays a title on the k-th to the left (rules: one RULES record)."""
    return int(rules["aimed_at"]) + (k - 1) * NUM_AIMED + int(rules["aimed_index"][title])


@inner
def title_played(rules, action):
    """Return the title that an action plays, -1 if it plays none."""
    if action < rules["aimed_at"]:
        return int(rules["plain_title"][action])
    if action < rules["choose_at"]:
        return int(rules["aimed_title"][(action - int(rules["aimed_at"])) % NUM_AIMED])
    return -1


# --- choosing at random ---


@inner
def any_between(legal, first, end, bits):
    """Choose one of the legal actions from ``first`` to ``end`` - 1, -1 where there is none.

    Args:
        legal: u1 [A].
        first: number of an action.
        end: number of an action.
        bits: u8, random bits.
    """
    count = 0
    for action in range(first, end):
        count += legal[action] != 0
    if count == 0:
        return -1
    skip = below(bits, count)
    for action in range(first, end):
        if legal[action]:
            if skip == 0:
                return action
            skip -= 1
    return -1


@inner
def any_play_but(rules, legal, excluded, bits):
    """Choose one of the legal plays of titles that are not excluded (a mask), -1 where there is none."""
    count = 0
    for action in range(rules["choose_at"]):
        count += legal[action] != 0 and (excluded >> title_played(rules, action)) & 1 == 0
    if count == 0:
        return -1
    skip = below(bits, count)
    for action in range(rules["choose_at"]):
        if legal[action] and (excluded >> title_played(rules, action)) & 1 == 0:
            if skip == 0:
                return action
            skip -= 1
    return -1


@inner
def any_card_but(rules, legal, excluded, bits):
    """Choose one of the legal titles to give away that is not excluded (a mask), any if all are."""
    first = int(rules["choose_at"])
    end = int(rules["arrest_at"])
    count = 0
    for action in range(first, end):
        count += legal[action] != 0 and (excluded >> (action - first)) & 1 == 0
    if count == 0:
        return any_between(legal, first, end, bits)
    skip = below(bits, count)
    for action in range(first, end):
        if legal[action] and (excluded >> (action - first)) & 1 == 0:
            if skip == 0:
                return action
            skip -= 1
    return -1


# --- bots ---


# Every `act` is behind it.
checking = deciding(VIEW, checked_views)


class Bot(BuiltInBot):
    """A player with a name who knows the rules of I Say, Holmes!"""

    options: Options
    make_rules = staticmethod(make_rules)
