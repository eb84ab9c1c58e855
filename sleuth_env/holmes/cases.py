"""How a case begins and how it is closed.

Source: docs/holmes.md. Axis letters: ``B`` games, ``P`` seats, ``T`` titles.
"""

from __future__ import annotations

import numpy as np

from ..bits import members, shuffle
from ..kernels import inner, kernel
from .cards import (
    AFOOT,
    HAND_SIZE,
    NUM_BOOKS,
    NUM_CARDS,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    NUM_TITLES,
    NUM_VILLAINS,
    SAY_TOKENS,
)
from .moves import clear_look, left_of, put, record, take
from .notes import forget_notes
from .sheet import begin_sheets
from .state import ARRESTED, BLANK, ESCAPED, FINISHED, NEW_CASE, NOBODY, PLAYED, TURN

# --- the beginning ---


@inner
def begin_turn(rules, s, seat):
    """Let a seat have its turn."""
    s["turn"] = seat
    s["actor"] = seat
    s["next_turn"] = left_of(rules, seat, 1)
    s["phase"] = TURN
    s["more"] = rules["fast_play"] or s["hand_sizes"][seat] >= rules["deduction_hand"]
    s["num_impromptus"] = 0


@inner
def _clear_table(rules, s):
    """Take all cards back, and all that was known of them."""
    num_players = int(rules["num_players"])
    for seat in range(num_players):
        for title in range(NUM_TITLES):
            s["hands"][seat, title] = 0
        s["held"][seat] = 0
        s["hand_sizes"][seat] = 0
        for other in range(num_players):
            if s["look_turn"][seat, other] > 0:
                clear_look(s, seat, other)
    for title in range(NUM_TITLES):
        s["discards"][title] = 0
    s["current"] = AFOOT


@inner
def begin_case(rules, s):
    """Shuffle and deal; whoever holds afoot plays it."""
    _clear_table(rules, s)
    size = int(rules["stack_size"])
    for i in range(NUM_CARDS):
        s["pile"][i] = rules["stack_cards"][i]
    shuffle(s, s["pile"], size)
    for i in range(size):
        put(s, i // HAND_SIZE, np.int64(s["pile"][i]))
    s["pile_size"] = rules["rest_size"]
    for i in range(NUM_CARDS):
        s["pile"][i] = rules["rest_cards"][i]
    shuffle(s, s["pile"], int(rules["rest_size"]))
    first = 0
    while s["hands"][first, AFOOT] == 0:
        first += 1
    afoot = np.int64(AFOOT)
    take(s, first, afoot)
    record(rules, s, PLAYED, first, NOBODY, afoot)
    forget_notes(s)
    begin_sheets(rules, s, 1)
    begin_turn(rules, s, left_of(rules, first, 1))


@inner
def _shuffle_tokens(rules, s):
    for kind in range(NUM_SAY_TYPES):
        s["say_sizes"][kind] = SAY_TOKENS
        for i in range(SAY_TOKENS):
            s["say_pool"][kind, i] = rules["say_points"][kind, i]
        shuffle(s, s["say_pool"][kind], np.int64(SAY_TOKENS))
    s["telegram_size"] = NUM_TELEGRAMS
    for i in range(NUM_TELEGRAMS):
        s["telegram_stock"][i] = i
    shuffle(s, s["telegram_stock"], np.int64(NUM_TELEGRAMS))


@kernel
def _deal(rules, blank, states, seeds):
    for b in range(states.size):
        states[b] = blank[0]
        states[b]["rng"] = seeds[b]
        begin_case(rules[0], states[b])
        _shuffle_tokens(rules[0], states[b])


def deal(rules: np.ndarray, states: np.ndarray, seeds: np.ndarray) -> None:
    """Start a new game in every row.

    Args:
        rules: RULES [1], see `make_rules`.
        states: STATE [B], overwritten.
        seeds: u8 [B]; the same seed and rules give the same game.
    """
    _deal(rules, BLANK, states, seeds)


# --- the end ---


@inner
def _clear_play(s):
    """End whatever was being carried out."""
    if s["in_play"] >= 0:
        s["discards"][s["in_play"]] += 1
    s["in_play"] = -1
    s["card"] = -1
    s["player"] = -1
    s["target"] = -1
    s["arrester"] = -1
    s["num_counters"] = 0
    for i in range(s["num_tried"]):
        s["tried"][i] = -1
    s["num_tried"] = 0


@inner
def finish(s):
    """End the game."""
    s["phase"] = FINISHED
    s["actor"] = -1


@inner
def end_turn(rules, s):
    """Let the next player have their turn, unless it was the last one."""
    if s["turn_number"] == rules["max_turns"]:
        s["truncated"] = 1
        finish(s)
        return
    s["turn_number"] += 1
    begin_turn(rules, s, s["next_turn"])


@inner
def _close(rules, s, closer, ends):
    """End the game, or begin the next case."""
    s["closed"][closer] += 1
    s["last_closer"] = closer
    _clear_play(s)
    s["more"] = 0
    if ends or s["case_number"] == rules["cases"]:
        finish(s)
    elif s["turn_number"] == rules["max_turns"]:
        s["truncated"] = 1
        finish(s)
    else:
        s["turn_number"] += 1
        s["case_number"] += 1
        if rules["city_again"]:
            s["city"] = 1
        s["phase"] = NEW_CASE


@inner
def _grand_total(rules, s, arrester, guilty):
    """Return the case value of all cards still held: the arrester's hand and other Villains are discarded before."""
    total = 0
    for seat in range(rules["num_players"]):
        if seat == arrester:
            continue
        titles = s["held"][seat]
        if seat != guilty:
            titles &= ~rules["villains"]
        elif rules["guilty_discarded"]:
            titles &= rules["villains"]
        for title in members(titles):
            total += int(s["hands"][seat, title]) * int(rules["value"][title])
    return total


@inner
def close_by_arrest(rules, s, arrester, guilty):
    """Close the case by an Arrest; hands stay as they are, for the next case begins without them."""
    record(rules, s, ARRESTED, arrester, guilty, NOBODY)
    total = _grand_total(rules, s, arrester, guilty)
    book = NUM_BOOKS - 1
    while book >= 0 and (s["books"][book] >= 0 or rules["book_threshold"][book] > total):
        book -= 1
    if book >= 0:
        s["books"][book] = arrester
    s["arrests"][arrester] += 1
    s["last_accused"] = guilty
    s["last_total"] = total
    s["last_book"] = book
    s["last_escaped"] = 0
    _close(rules, s, arrester, book >= 0 and rules["book_ends"][book] == 1)


@inner
def close_by_escape(rules, s, player):
    """Close the case by an escape with all Villains in a hand."""
    record(rules, s, ESCAPED, player, NOBODY, NOBODY)
    escaped = 0
    for villain in range(NUM_VILLAINS):
        if (s["held"][player] >> int(rules["villain_title"][villain])) & 1:
            s["villains"][villain] = player
            escaped |= 1 << villain
    s["last_accused"] = -1
    s["last_total"] = -1
    s["last_book"] = -1
    s["last_escaped"] = escaped
    _close(rules, s, player, False)
