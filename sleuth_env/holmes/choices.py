"""Among what whoever decides may choose, as masks of titles and of seats.

Kernels on one STATE record. Source: docs/holmes.md. Axis letters: ``P`` seats, ``T`` titles.
"""

from __future__ import annotations

from ..bits import members, popcount
from ..kernels import inner
from .cards import GIFT_EFFECT, NUM_SAY_TYPES, TOKEN_EFFECT
from .moves import left_of, num_telegrams
from .state import DISCARD, DRAWN, SECOND, SHOW, TURN


@inner
def suitable(rules, s):
    """Return the mask of the titles that are Suitable to the Current card."""
    return rules["suitable"][s["current"], s["city"]]


@inner
def playable(rules, s):
    """Return the mask of the titles that the actor may play, apart from Interrupts."""
    phase = s["phase"]
    if phase in (TURN, SECOND):
        return s["held"][s["actor"]] & (suitable(rules, s) | rules["permissible"][s["current"]])
    if phase == DRAWN:
        return 1 << int(s["drawn"])
    return 0


@inner
def may_draw(rules, s):
    """Return whether the actor may draw instead of playing."""
    return s["phase"] == TURN and (s["held"][s["actor"]] & suitable(rules, s)) == 0


@inner
def may_escape(rules, s, seat):
    """Return whether a hand is at least one Villain, and nothing else but Interrupts."""
    held = s["held"][seat]
    return (held & rules["villains"]) != 0 and (held & ~(rules["villains"] | rules["interrupts"])) == 0


@inner
def must_arrest(rules, s, seat):
    """Return whether a hand is empty or only Interrupts."""
    return (s["held"][seat] & ~rules["interrupts"]) == 0


@inner
def all_seats(rules):
    """Return the mask of the seats in the game."""
    return (1 << int(rules["num_players"])) - 1


# --- whom a card may be played on ---


@inner
def lacks_say(s, seat):
    """Return whether a seat lacks an I Say token of some type."""
    lacks = False
    for kind in range(NUM_SAY_TYPES):
        lacks = lacks or s["say"][seat, kind] == 0
    return lacks


@inner
def targets(rules, s, title):
    """Return the mask of the seats that the actor may name for a title that is played on somebody."""
    opponents = all_seats(rules) & ~(1 << int(s["actor"]))
    if rules["effect"][title] == GIFT_EFFECT:
        left = s["hand_sizes"][s["actor"]] - (s["phase"] != DRAWN)
        return opponents if left > 0 else 0
    if rules["effect"][title] == TOKEN_EFFECT:
        lacking = 0
        for seat in members(opponents):
            if lacks_say(s, seat):
                lacking |= 1 << seat
        return lacking if lacking != 0 else opponents
    return opponents


# --- answers and choices ---


@inner
def counters(rules, s):
    """Return the mask of the Interrupts with which the actor may answer (phase RESPOND)."""
    allowed = rules["counters"][s["card"]] if s["card"] >= 0 else rules["impromptu_counters"]
    return s["held"][s["actor"]] & allowed


@inner
def highest(rules, s, seat):
    """Return the mask of the titles of the highest case value in a hand."""
    best = -1
    titles = 0
    for title in members(s["held"][seat]):
        value = rules["value"][title]
        if value > best:
            best = value
            titles = 0
        if value == best:
            titles |= 1 << title
    return titles


@inner
def choosable(rules, s):
    """Return the mask of the titles that the actor may choose from their hand (HAND_ON to DISCARD)."""
    held = s["held"][s["actor"]]
    if s["phase"] == SHOW:
        return highest(rules, s, s["actor"])
    return held & rules["villains"] if s["phase"] == DISCARD else held


@inner
def with_cards(rules, s, arrester):
    """Return the mask of the opponents who have cards."""
    seats = 0
    for seat in range(rules["num_players"]):
        if s["hand_sizes"][seat] > 0:
            seats |= 1 << seat
    return seats & ~(1 << int(arrester))


@inner
def not_tried(rules, s, arrester):
    """Return the mask of the opponents who have cards and have not countered this Impromptu Arrest."""
    seats = with_cards(rules, s, arrester)
    for i in range(s["num_tried"]):
        seats &= ~(1 << int(s["tried"][i]))
    return seats


@inner
def sources(rules, s):
    """Return the mask of the seats from which the actor may take a Telegram token for the target."""
    seats = 0
    for seat in range(rules["num_players"]):
        if seat != s["target"] and num_telegrams(s, seat) > 0:
            seats |= 1 << seat
    return seats


@inner
def receiver(rules, s):
    """Return who receives the I Say token: whoever played an I Say card, or the target of fleet-street."""
    return s["player"] if s["in_play"] >= 0 else s["target"]


@inner
def token_sources(rules, s, kind):
    """Return from where the receiver may get an I Say token of a type: bit 0 the pool, bit k the k-th to the left.

    The chooser is ``s["player"]``.
    """
    if s["say"][receiver(rules, s), kind] > 0:
        return 0
    if s["say_sizes"][kind] > 0:
        return 1
    found = 0
    for k in range(1, rules["num_players"]):
        if s["say"][left_of(rules, s["player"], k), kind] > 0:
            found |= 1 << k
    return found


@inner
def num_token_choices(rules, s):
    """Return the number of I Say tokens among which the chooser may choose."""
    number = 0
    for kind in range(NUM_SAY_TYPES):
        number += popcount(token_sources(rules, s, kind))
    return number
