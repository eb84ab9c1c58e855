"""The record of a game and its set-up.

Seats in a state are absolute. Source: docs/game.md, "Rules in brief". Axis letters: ``B`` games,
``P`` = 7 seats (unused ones stay empty), ``Q`` = 43 questions.
"""

from __future__ import annotations

import numpy as np

from ..bits import draw, shuffle
from ..checks import check_number
from ..kernels import inner, kernel
from ..memory import check_fits
from .cards import MAX_PLAYERS, NUM_GEMS, NUM_QUESTIONS, NUM_SEARCH_CARDS, SEARCH_HAND

P = MAX_PLAYERS
Q = NUM_QUESTIONS
# The fields of an event; -1 where a field does not apply. The asker is whoever acted.
EVENT_FIELDS = 6
KIND, ASKER, TARGET, QUESTION, CARD, COUNT = range(EVENT_FIELDS)

# The phases: what is being decided.
NUM_PHASES = 5
TURN, SECOND, OFFER, MUST_ACCUSE, FINISHED = range(NUM_PHASES)
# How a player stands; LEFT is seen by others only: accused, and the result is not announced.
IN, OUT, RIGHT, LEFT = range(4)
# Kinds of public events; 0 is the lack of one.
NUM_EVENT_KINDS = 6
NO_EVENT, ASK_EVENT, FINAL_EVENT, EXCHANGE_EVENT, RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT = range(NUM_EVENT_KINDS + 1)

STATE = np.dtype(
    [
        ("rng", "u8"),  # the game's own random generator
        ("hands", "i8", P),  # [P] masks of the gem cards in each hand
        ("missing_gems", "i8"),  # mask of the gems set aside
        ("table", "i8"),  # mask of the gem cards face up
        ("accusing", "i8"),  # mask of the gems named so far in the actor's unfinished accusation
        ("accused", "i8", P),  # [P] mask of the gems of each seat's accusation, 0 before it
        ("seen", "i8", (P, P)),  # [asker, target] mask of the gems shown
        ("search", "i8", P),  # [P] mask of each seat's face-up search cards
        ("discards", "i8"),  # mask of the discarded search cards
        ("spent", "i8", P),  # [P] mask of the search cards with which a seat has ever paid
        ("turn", "i4"),  # whose turn it is
        ("actor", "i4"),  # who decides now, -1 when the game is finished
        ("phase", "i4"),  # TURN, SECOND, OFFER, MUST_ACCUSE or FINISHED
        ("turn_number", "i4"),  # from 1
        ("asked", "i4"),  # number of interrogations made this turn
        ("first_target", "i4"),  # who was asked first this turn, -1 nobody
        ("first_elements", "i4"),  # number of elements of the question asked first this turn
        ("num_offers", "i4"),  # number of players who are offered to accuse
        ("offer_at", "i4"),  # the actor of an OFFER is offers[offer_at]
        ("num_right", "i4"),  # number of players who were right
        ("truncated", "i4"),  # 1 where the turn limit has ended the game
        ("pile_size", "i4"),  # number of search cards in the draw pile
        ("standing", "i4", P),  # [P] IN, OUT or RIGHT
        ("place", "i4", P),  # [P] 1 for the first right player, ...; 0 not right
        ("exchanges", "i4", P),  # [P] number of times that a seat exchanged its cards
        ("offers", "i1", P),  # [P] who is offered to accuse, in this order
        ("pile", "i1", NUM_SEARCH_CARDS),  # the draw pile; the next card is pile[pile_size - 1]
        ("answers", "i1", (P, Q)),  # [P, Q] announced numbers, -1 unknown
        ("askers", "i1", (P, Q)),  # [P, Q] bit a: seat a has asked this seat this question
        ("events", "i1", (P, EVENT_FIELDS)),  # [P, 6] the last num_players events, newest first
        ("padding", "i1", 3),  # copies leave bytes of no field undefined: there are none
    ],
    align=True,
)


def _blank() -> np.ndarray:
    blank = np.zeros(1, STATE)
    blank["actor"] = -1
    blank["phase"] = FINISHED
    blank["turn_number"] = 1
    for field in ("answers", "first_target", "events"):
        blank[field] = -1
    blank["events"][..., 0] = NO_EVENT
    blank.flags.writeable = False
    return blank


# What holds before any card is dealt, STATE [1]: nobody is to act.
BLANK = _blank()


def new_states(num_games: int) -> np.ndarray:
    """Return blank states, STATE [num_games], for `deal` to fill.

    Raises:
        ValueError: this is not a number of games, 0 or more that fit into memory.
    """
    number = check_fits("num_games", check_number("num_games", num_games, 0), STATE.itemsize)
    # As plain bytes: NumPy copies records field by field.
    return BLANK.view(f"V{STATE.itemsize}").repeat(number).view(STATE)


@inner
def _mask(cards, start, size):
    mask = 0
    for i in range(start, start + size):
        mask |= 1 << int(cards[i])
    return mask


@inner
def _deal_gems(rules, s):
    cards = np.arange(NUM_GEMS)
    shuffle(s, cards, NUM_GEMS)
    at = int(rules["missing"])
    size = int(rules["hand_size"])
    s["missing_gems"] = _mask(cards, 0, at)
    for seat in range(rules["num_players"]):
        s["hands"][seat] = _mask(cards, at, size)
        at += size
    s["table"] = _mask(cards, at, NUM_GEMS - at)


@inner
def _deal_search_cards(rules, s):
    cards = np.arange(NUM_SEARCH_CARDS)
    shuffle(s, cards, NUM_SEARCH_CARDS)
    at = 0
    for seat in range(rules["num_players"]):
        s["search"][seat] = _mask(cards, at, SEARCH_HAND)
        at += SEARCH_HAND
    s["pile_size"] = NUM_SEARCH_CARDS - at
    for i in range(NUM_SEARCH_CARDS - at):
        s["pile"][i] = cards[at + i]


@kernel
def _deal(rules, blank, states, seeds):
    for b in range(states.size):
        states[b] = blank[0]
        s = states[b]
        s["phase"] = TURN
        s["rng"] = seeds[b]
        _deal_gems(rules[0], s)
        _deal_search_cards(rules[0], s)
        if rules[0]["first_random"]:
            s["turn"] = draw(s, rules[0]["num_players"])
        s["actor"] = s["turn"]


def deal(rules: np.ndarray, states: np.ndarray, seeds: np.ndarray) -> None:
    """Start a new game in every row.

    Args:
        rules: RULES [1], see `make_rules`.
        states: STATE [B], overwritten.
        seeds: u8 [B]; the same seed and rules give the same game.
    """
    _deal(rules, BLANK, states, seeds)
