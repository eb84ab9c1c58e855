"""From a view back to whole games: deals drawn at random that agree with what a seat knows.

All that the view shows is taken over; hidden cards are dealt within the bounds of the sheet, hidden
tokens shuffled. What cannot be told from a view and matters little, such as what others know of each
other, is set as if nothing had been shown to them. Source: docs/holmes.md, "Bots". Axis letters:
``B`` games, ``P`` seats, ``T`` titles, ``H`` holders (the opponents, then the draw pile).
"""

from __future__ import annotations

import numpy as np

from ..bits import draw, members, shuffle
from ..kernels import inner, kernel
from .cards import (
    AFOOT,
    MASTERMIND,
    NUM_BOOKS,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    NUM_VILLAINS,
    SAY_TOKENS,
)
from .moves import left_of
from .sheet import begin_sheets, count_sheet
from .state import BLANK, COUNTERED, FOG, HAND_ON, IMPROMPTU, KIND, PILE, PLAYER, SECOND, TITLE, TURN, P, T

# How often a deal is begun again in which a card has a holder who may not have it.
MAX_TRIALS = 20


@inner
def _seat_of(rules, v, k):
    """Return the seat that the viewer counts as k; -1 remains."""
    return -1 if k < 0 else left_of(rules, v["seat"], k)


# --- the table ---


@inner
def _lay_table(rules, v, s):
    s["turn"] = _seat_of(rules, v, v["turn"])
    s["next_turn"] = left_of(rules, s["turn"], 1)
    s["turn_number"] = v["turn_number"]
    s["case_number"] = v["case_number"]
    s["current"] = v["current"]
    s["city"] = v["city"]
    for t in range(T):
        s["discards"][t] = v["discards"][t]
    for k in range(rules["num_players"]):
        s["closed"][_seat_of(rules, v, k)] = v["closed"][k]


@inner
def _resume(rules, v, s):
    """Take over what is to be decided."""
    phase = v["phase"]
    s["actor"] = v["seat"]
    s["phase"] = phase
    s["card"] = v["card"]
    s["player"] = _seat_of(rules, v, v["player"])
    s["target"] = _seat_of(rules, v, v["target"])
    s["drawn"] = v["drawn"]
    if v["card"] >= 0 and (rules["says"] >> int(v["card"])) & 1:
        s["in_play"] = v["card"]
    if phase == IMPROMPTU:
        s["arrester"] = s["actor"]
    elif v["card"] < 0 and v["player"] >= 0:
        s["arrester"] = s["player"]
    for k in members(v["tried"]):
        s["tried"][s["num_tried"]] = _seat_of(rules, v, k)
        s["num_tried"] += 1
    s["num_counters"] = s["num_tried"]
    if s["num_tried"] > 0 and v["events"][0, KIND] == COUNTERED and v["events"][0, TITLE] == MASTERMIND:
        s["next_turn"] = _seat_of(rules, v, v["events"][0, PLAYER])
    # A second card may follow if the hand was large at the beginning of the turn.
    size = int(v["hand_sizes"][v["turn"]]) + (phase != TURN)
    s["more"] = phase == SECOND or (v["drawn"] < 0 and (rules["fast_play"] or size >= rules["deduction_hand"]))


# --- tokens ---


@inner
def _deal_tokens(rules, v, s):
    for k in range(rules["num_players"]):
        seat = _seat_of(rules, v, k)
        for book in range(NUM_BOOKS):
            if (v["books"][k] >> book) & 1:
                s["books"][book] = seat
        for villain in range(NUM_VILLAINS):
            if (v["villain_tokens"][k] >> villain) & 1:
                s["villains"][villain] = seat
    _deal_telegrams(rules, v, s)
    for kind in range(NUM_SAY_TYPES):
        _deal_say(rules, v, s, kind)


@inner
def _deal_telegrams(rules, v, s):
    for i in range(NUM_TELEGRAMS):
        s["telegram_stock"][i] = i
    shuffle(s, s["telegram_stock"], NUM_TELEGRAMS)
    size = NUM_TELEGRAMS
    for k in range(rules["num_players"]):
        for _ in range(v["telegrams"][k]):
            size -= 1
            s["telegrams"][s["telegram_stock"][size]] = _seat_of(rules, v, k)
            s["telegram_stock"][size] = -1
    s["telegram_size"] = size


@inner
def _deal_say(rules, v, s, kind):
    for i in range(SAY_TOKENS):
        s["say_pool"][kind, i] = rules["say_points"][kind, i]
    shuffle(s, s["say_pool"][kind], SAY_TOKENS)
    size = SAY_TOKENS
    for k in range(rules["num_players"]):
        if (v["say_tokens"][k] >> kind) & 1:
            size -= 1
            s["say"][_seat_of(rules, v, k), kind] = s["say_pool"][kind, size]
            s["say_pool"][kind, size] = 0
    s["say_sizes"][kind] = size


# --- cards ---


@inner
def _size_of(rules, v, h):
    return int(v["hand_sizes"][h + 1]) if h < rules["num_players"] - 1 else int(v["pile_size"])


@inner
def _deal_certain(rules, v, dealt, room, left):
    """Deal what the sheet says to be with a holder; the rest of the unseen cards is left."""
    for t in range(T):
        open_card = t in (v["current"], v["drawn"], v["card"])
        left[t] = int(rules["copies"][t]) - int(v["hand"][t]) - int(v["discards"][t])
        if open_card:
            lies = (v["current"] == t) + (v["drawn"] == t)
            lies += v["card"] == t and (rules["says"] >> t) & 1 == 1
            left[t] -= lies
    left[AFOOT] = 0
    for h in range(rules["num_players"]):
        room[h] = _size_of(rules, v, h)
        for t in range(T):
            dealt[h, t] = v["least"][h, t]
            room[h] -= dealt[h, t]
            left[t] -= dealt[h, t]


@inner
def _holder_for(rules, v, s, dealt, room, title):
    """Draw a holder for a card in proportion to the cards that they lack, -1 if none may have it."""
    total = 0
    for h in range(rules["num_players"]):
        if dealt[h, title] < v["most"][h, title]:
            total += max(room[h], 0)
    if total == 0:
        return -1
    place = draw(s, total)
    for h in range(rules["num_players"]):
        if dealt[h, title] < v["most"][h, title]:
            place -= max(room[h], 0)
            if place < 0:
                return h
    return -1


@inner
def _slack(rules, v, dealt, room, left, title):
    """Return how many more copies of a title could be dealt than there are; the fewer, the sooner it is dealt."""
    slack = -int(left[title])
    for h in range(rules["num_players"]):
        slack += min(max(int(room[h]), 0), int(v["most"][h, title]) - int(dealt[h, title]))
    return slack


@inner
def _next_title(rules, v, dealt, room, left):
    """Return the title with copies left that is hardest to deal, -1 if none are left."""
    best = -1
    least = 0
    for t in range(AFOOT):
        if left[t] > 0:
            slack = _slack(rules, v, dealt, room, left, t)
            if best < 0 or slack < least:
                best = t
                least = slack
    return best


@inner
def _deal_rest(rules, v, s, dealt, room, left):
    """Deal the other cards within the bounds; return whether all found a holder.

    What finds none is dealt to anybody who lacks a card.
    """
    is_sound = True
    t = _next_title(rules, v, dealt, room, left)
    while t >= 0:
        while left[t] > 0:
            h = _holder_for(rules, v, s, dealt, room, t)
            if h < 0:
                is_sound = False
                h = _anybody(rules, room)
                if h < 0:
                    return False
            dealt[h, t] += 1
            room[h] -= 1
            left[t] -= 1
        t = _next_title(rules, v, dealt, room, left)
    return is_sound


@inner
def _swap(rules, v, dealt, h, title):
    """Exchange a card that a holder may not have for one of another; return whether there is such an exchange."""
    for other in range(rules["num_players"]):
        if other == h or dealt[other, title] >= v["most"][other, title]:
            continue
        for t in range(AFOOT):
            if dealt[other, t] > v["least"][other, t] and dealt[h, t] < v["most"][h, t]:
                dealt[h, title] -= 1
                dealt[other, title] += 1
                dealt[other, t] -= 1
                dealt[h, t] += 1
                return True
    return False


@inner
def _mend(rules, v, dealt):
    """Exchange cards until nobody has more of a title than they may; return whether that is done."""
    is_sound = True
    for h in range(rules["num_players"]):
        for title in range(AFOOT):
            while is_sound and dealt[h, title] > v["most"][h, title]:
                is_sound = _swap(rules, v, dealt, h, title)
    return is_sound


@inner
def _anybody(rules, room):
    for h in range(rules["num_players"]):
        if room[h] > 0:
            return h
    return -1


@inner
def _place_cards(rules, v, s, dealt):
    for k in range(rules["num_players"]):
        seat = _seat_of(rules, v, k)
        size = 0
        for t in range(T):
            copies = int(v["hand"][t]) if k == 0 else int(dealt[k - 1, t])
            s["hands"][seat, t] = copies
            size += copies
            if copies > 0:
                s["held"][seat] |= np.int64(1) << t
        s["hand_sizes"][seat] = size
    last = int(rules["num_players"]) - 1
    size = 0
    for t in range(AFOOT):
        for _ in range(dealt[last, t]):
            s["pile"][size] = t
            size += 1
    shuffle(s, s["pile"], size)
    s["pile_size"] = size


@inner
def _set_down(rules, v, s):
    """Let those who have chosen before the viewer have chosen any card."""
    if s["phase"] not in (HAND_ON, FOG):
        return
    seat = int(s["turn"])
    while seat != s["actor"]:
        if s["hand_sizes"][seat] > 0:
            place = draw(s, int(s["hand_sizes"][seat]))
            for t in members(s["held"][seat]):
                place -= int(s["hands"][seat, t])
                if place < 0:
                    s["set_down"][seat] = t
                    break
        seat = left_of(rules, seat, 1)


@inner
def _know(rules, v, s):
    """Let the viewer know what they do, and the others nothing but what they see."""
    begin_sheets(rules, s, 0)
    last = int(rules["num_players"]) - 1
    for h in range(last + 1):
        holder = _seat_of(rules, v, h + 1) if h < last else PILE
        for t in range(T):
            s["least"][v["seat"], holder, t] = v["least"][h, t]
            s["most"][v["seat"], holder, t] = v["most"][h, t]
    count_sheet(rules, s, v["seat"])


@kernel
def _redeal(rules, blank, views, seeds, states):
    dealt = np.empty((P, T), np.int64)
    room = np.empty(P, np.int64)
    left = np.empty(T, np.int64)
    for b in range(views.size):
        v = views[b]
        states[b] = blank[0]
        s = states[b]
        s["rng"] = seeds[b]
        _lay_table(rules[0], v, s)
        _deal_tokens(rules[0], v, s)
        for _ in range(MAX_TRIALS):
            _deal_certain(rules[0], v, dealt, room, left)
            if _deal_rest(rules[0], v, s, dealt, room, left) or _mend(rules[0], v, dealt):
                break
        _place_cards(rules[0], v, s, dealt)
        _resume(rules[0], v, s)
        _set_down(rules[0], v, s)
        _know(rules[0], v, s)


def redeal(rules: np.ndarray, views: np.ndarray, seeds: np.ndarray, states: np.ndarray) -> None:
    """Write a game for each view that could be the one that is seen.

    The sheet of the viewer holds in it, as far as a deal is found by a few trials. The games can be
    played on.

    Args:
        rules: RULES [1].
        views: VIEW [B], each of the seat that has to act.
        seeds: u8 [B], all that is drawn depends on them.
        states: STATE [B], overwritten.
    """
    _redeal(rules, BLANK, views, seeds, states)
