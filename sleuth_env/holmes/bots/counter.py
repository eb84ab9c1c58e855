"""The bot `counter`: it counts cards to estimate who has a Villain."""

from __future__ import annotations

import numpy as np

from ...bits import members, mixed
from ...kernels import inner, kernel
from ..belief import chance_of_guilt
from ..cards import (
    ARREST_EFFECT,
    ARREST_IF_GUILTY,
    DISCARD_EFFECT,
    EXCHANGE_EFFECT,
    GIFT_EFFECT,
    HIGHEST_CARD,
    NO_EFFECT,
    NUM_TITLES,
    ONE_TARGET,
    RANDOM_CARDS,
    WHOLE_HAND,
)
from ..state import DRAWN, IMPROMPTU
from .base import Bot, any_between, any_play_but, checking, play_on
from .simple import take_care, titles_with

# An opponent who is guilty with this chance is worth an arrest.
ENOUGH = 0.3


@inner
def _is_likelier(v, k, chance, best, highest):
    """Return whether an opponent comes before the best so far: by chance, then by size of the hand, then by place."""
    if best < 0 or chance > highest:
        return True
    return chance == highest and v["hand_sizes"][k] > v["hand_sizes"][best]


@inner
def _likeliest(rules, v, legal, title, below):
    """Return whom to play a title on: the likeliest to be guilty with a chance below a limit, -1 if nobody."""
    best = -1
    highest = 0.0
    for k in range(1, rules["num_players"]):
        if legal[play_on(rules, title, k)]:
            chance = chance_of_guilt(rules, v, k)
            if chance < below and _is_likelier(v, k, chance, best, highest):
                best = k
                highest = chance
    return best


@inner
def _smallest(rules, v, legal, title):
    """Return whom to play a title on: the smallest hand, -1 if nobody."""
    best = -1
    for k in range(1, rules["num_players"]):
        if legal[play_on(rules, title, k)] and (best < 0 or v["hand_sizes"][k] < v["hand_sizes"][best]):
            best = k
    return best


@inner
def _arrest_titles(rules):
    return titles_with(rules, ARREST_IF_GUILTY) | titles_with(rules, ARREST_EFFECT)


@inner
def _looking_titles(rules):
    return titles_with(rules, RANDOM_CARDS) | titles_with(rules, HIGHEST_CARD) | titles_with(rules, WHOLE_HAND)


@inner
def _drawing_titles(rules):
    """Return the mask of the titles that do nothing but make one opponent draw."""
    titles = np.int64(0)
    for title in members(titles_with(rules, NO_EFFECT)):
        if rules["target"][title] == ONE_TARGET and rules["draws"][title] > 0:
            titles |= np.int64(1) << title
    return titles


@inner
def _arrest(rules, v, legal):
    """Return the play that arrests the likeliest, if they are likely enough, else -1."""
    for effect in (ARREST_IF_GUILTY, ARREST_EFFECT):
        for title in members(titles_with(rules, effect)):
            k = _likeliest(rules, v, legal, title, 2.0)
            if k > 0 and chance_of_guilt(rules, v, k) >= ENOUGH:
                return play_on(rules, title, k)
    return -1


@inner
def _look(rules, v, legal):
    """Return the play that looks at the likeliest who is not certain to be guilty, else -1."""
    for title in members(_looking_titles(rules)):
        k = _likeliest(rules, v, legal, title, 1.0)
        if k > 0:
            return play_on(rules, title, k)
    return -1


@inner
def _feed(rules, v, legal):
    """Return the play that makes the smallest hand larger, else -1."""
    for title in members(_drawing_titles(rules)):
        k = _smallest(rules, v, legal, title)
        if k > 0:
            return play_on(rules, title, k)
    for title in members(titles_with(rules, GIFT_EFFECT)):
        k = _smallest(rules, v, legal, title)
        if k > 0:
            return play_on(rules, title, k)
    return -1


@inner
def _play_another(rules, v, legal, bits):
    """Return a random play of a title that has not been thought of yet, else -1."""
    others = _arrest_titles(rules) | _looking_titles(rules) | _drawing_titles(rules)
    others |= titles_with(rules, GIFT_EFFECT) | titles_with(rules, EXCHANGE_EFFECT)
    if v["held"] & rules["villains"] != 0:
        others |= titles_with(rules, DISCARD_EFFECT)
    return any_play_but(rules, legal, others, bits)


@inner
def _play_on_likeliest(rules, v, legal):
    """Return the first legal play on somebody, the likeliest, else -1."""
    for title in range(NUM_TITLES):
        if rules["aimed_index"][title] >= 0:
            k = _likeliest(rules, v, legal, title, 2.0)
            if k > 0:
                return play_on(rules, title, k)
    return -1


@inner
def _accuse(rules, v, legal):
    """Return the Arrest of the likeliest, -1 if nobody may be named."""
    best = -1
    highest = 0.0
    for k in range(1, rules["num_players"]):
        if legal[rules["arrest_at"] + k - 1]:
            chance = chance_of_guilt(rules, v, k)
            if _is_likelier(v, k, chance, best, highest):
                best = k
                highest = chance
    return int(rules["arrest_at"]) + best - 1 if best > 0 else -1


@inner
def _play(rules, v, legal, bits):
    action = _arrest(rules, v, legal)
    if action < 0:
        action = _look(rules, v, legal)
    if action < 0:
        action = _feed(rules, v, legal)
    if action < 0:
        action = _play_another(rules, v, legal, bits)
    if action < 0 and legal[rules["draw_at"]]:
        action = int(rules["draw_at"])
    if action < 0 and legal[rules["pass_at"]]:
        action = int(rules["pass_at"])
    return action if action >= 0 else _play_on_likeliest(rules, v, legal)


@inner
def count_and_choose(rules, v, legal, bits):
    """Choose one action as `counter` does.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, random bits.
    """
    if v["phase"] == IMPROMPTU:
        action = _accuse(rules, v, legal)
    else:
        action = take_care(rules, v, legal, bits)
        if action < 0 and v["phase"] <= DRAWN:
            action = _play(rules, v, legal, bits)
    # What is illegal is done in no case: views from outside may say anything.
    if action < 0 or not legal[action]:
        action = any_between(legal, 0, rules["num_actions"], bits)
    return action


@kernel
def _choose(rules, views, legal, seeds, actions):
    """Choose in every game.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B].
        actions: i8 [B], written.
    """
    for b in range(views.size):
        actions[b] = count_and_choose(rules[0], views[b], legal[b], mixed(seeds[b]))


class CounterBot(Bot):
    """Arrest who is likely to be guilty, look where a Villain is likely, and make small hands larger."""

    name = "counter"

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.empty(views.size, np.int64)
        _choose(self.rules, views, legal, seeds, actions)
        return actions
