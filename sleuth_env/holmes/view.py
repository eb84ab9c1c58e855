"""The firewall: what one seat may know of a game, in a record without room for anything else.

Bots, networks, drawings and deductions are given views and cannot be given states. Seats in a view
are relative: 0 is the viewer, ``k`` is the k-th seat to the viewer's left. What others decide in
private is not known, nor that they do: whoever is not to act sees no phase but FINISHED, and nothing
of what is being decided. Source: docs/holmes.md, "What a player knows". Axis letters: ``B`` games,
``P`` = 8 seats, ``T`` = 38 titles, ``V`` = 5 villains.
"""

from __future__ import annotations

import numpy as np

from ..kernels import inner, kernel
from ..rows import copy_row
from .cards import NUM_BOOKS, NUM_SAY_TYPES, NUM_TELEGRAMS, NUM_VILLAINS
from .state import DRAWN, EVENT_FIELDS, FINISHED, KIND, MAX_EVENTS, NO_EVENT, PILE, PLAYER, TARGET, TITLE, P, T

PADDING = 9

VIEW = np.dtype(
    [
        ("held", "i8"),  # mask of the titles in the viewer's hand: bit t stands for title t
        ("seat", "i4"),  # the viewer's seat in the state; every other one here is relative to it
        ("num_players", "i4"),  # number of players
        # Where the game stands.
        ("turn", "i4"),  # whose turn it is
        ("turn_number", "i4"),  # from 1, over all cases
        ("case_number", "i4"),  # from 1
        ("truncated", "i4"),  # 1 where the turn limit has ended the game
        ("current", "i4"),  # title of the Current card
        ("city", "i4"),  # the Location marker: 1 city, 0 country
        ("pile_size", "i4"),  # number of cards in the draw pile
        ("telegram_pool", "i4"),  # number of Telegram tokens in the stock
        # What is to be decided; -1 (tried: 0) unless the viewer is to act.
        ("to_act", "i4"),  # 1 where the viewer has to decide now
        ("phase", "i4"),  # TURN, ...; FINISHED for everybody
        ("card", "i4"),  # title being carried out or answered, -1 none: an Impromptu Arrest, or nothing
        ("player", "i4"),  # who played that card, or makes the Impromptu Arrest that is answered; -1 nobody
        ("target", "i4"),  # its one target, or the accused; -1 nobody, or all
        ("tried", "i4"),  # mask of the seats that have countered this Impromptu Arrest
        ("drawn", "i4"),  # title that the viewer has drawn and may play, -1 none
        # The end of the last case.
        ("last_closer", "i4"),  # who closed it, -1 before there is one
        ("last_accused", "i4"),  # who was arrested then, -1 where the case was closed by an escape
        ("last_total", "i4"),  # the Grand Total then, -1 after an escape
        ("last_book", "i4"),  # the Book taken then, -1 none
        ("last_escaped", "i4"),  # mask of the Villains that escaped then, 0 after an arrest
        # What is known of every seat.
        ("hand_sizes", "i4", P),  # [P] number of cards in each hand
        ("closed", "i4", P),  # [P] number of cases that each seat has closed
        ("shown_turn", "i4", P),  # [P] turn number of the viewer's last look at a seat, 0 there is none
        ("books", "i1", P),  # [P] mask of each seat's Books
        ("villain_tokens", "i1", P),  # [P] mask of each seat's Villain tokens
        ("say_tokens", "i1", P),  # [P] mask of the types of each seat's I Say tokens
        ("telegrams", "i1", P),  # [P] number of each seat's Telegram tokens
        ("shown_whole", "i1", P),  # [P] 1 where the viewer's last look was at the whole hand
        ("seen_by_whole", "i1", P),  # [P] 1 where a seat's last look at the viewer was at the whole hand
        ("say_pool", "i1", NUM_SAY_TYPES),  # [3] number of I Say tokens in the pool
        ("padding", "i1", PADDING),  # copies leave bytes of no field undefined
        ("hand", "i1", T),  # [T] copies in the viewer's hand
        ("discards", "i1", T),  # [T] copies in the discard pile
        ("shown", "i1", (P, T)),  # [P, T] copies that the viewer saw at the last look at a seat
        ("seen_by", "i1", (P, T)),  # [P, T] copies that a seat saw at its last look at the viewer
        # The sheet; holder k - 1 is the opponent k to the left, and behind the opponents comes the draw pile.
        ("least", "i1", (P, T)),  # [P, T] copies that a holder has at least
        ("most", "i1", (P, T)),  # [P, T] copies that a holder has at most
        ("events", "i1", (MAX_EVENTS, EVENT_FIELDS)),  # [2n, 4] newest first: KIND, PLAYER, TARGET, TITLE; -1 none
    ],
    align=True,
)


@inner
def _clear_rows(rows, first):
    """Write zeros into all rows ([P, T]) from one on."""
    numbers = rows.reshape(P * T)[first * T :]
    for i in range(numbers.size):
        numbers[i] = 0


@inner
def _relative(rules, seat, viewer):
    """Return a seat as the viewer counts it; -1 remains."""
    distance = int(seat) - int(viewer)
    if seat < 0:
        return -1
    return distance + int(rules["num_players"]) if distance < 0 else distance


@inner
def _copy_table(rules, s, seat, v):
    """Copy what lies open on the table."""
    v["num_players"] = rules["num_players"]
    v["turn"] = _relative(rules, s["turn"], seat)
    v["turn_number"] = s["turn_number"]
    v["case_number"] = s["case_number"]
    v["truncated"] = s["truncated"]
    v["current"] = s["current"]
    v["city"] = s["city"]
    v["pile_size"] = s["pile_size"]
    v["telegram_pool"] = s["telegram_size"]
    v["last_closer"] = _relative(rules, s["last_closer"], seat)
    v["last_accused"] = _relative(rules, s["last_accused"], seat)
    v["last_total"] = s["last_total"]
    v["last_book"] = s["last_book"]
    v["last_escaped"] = s["last_escaped"]
    for kind in range(NUM_SAY_TYPES):
        v["say_pool"][kind] = s["say_sizes"][kind]
    for i in range(PADDING):
        v["padding"][i] = 0
    copy_row(s["discards"], v["discards"], T)


@inner
def _copy_own(s, seat, v):
    """Copy what the viewer alone knows."""
    v["seat"] = seat
    v["held"] = s["held"][seat]
    copy_row(s["hands"][seat], v["hand"], T)


@inner
def _copy_decision(rules, s, seat, v):
    """Copy what is to be decided, if it is by the viewer."""
    to_act = s["actor"] == seat
    v["to_act"] = to_act
    v["phase"] = s["phase"] if to_act or s["phase"] == FINISHED else -1
    v["card"] = s["card"] if to_act else -1
    v["player"] = _relative(rules, s["player"], seat) if to_act else -1
    v["target"] = _relative(rules, s["target"], seat) if to_act else -1
    v["drawn"] = s["drawn"] if to_act and s["phase"] == DRAWN else -1
    tried = 0
    if to_act:
        for i in range(s["num_tried"]):
            tried |= 1 << _relative(rules, s["tried"][i], seat)
    v["tried"] = tried


@inner
def _copy_seats(rules, s, seat, v):
    """Copy what is known of every seat, the viewer first; there is nothing at unused ones."""
    num_players = int(rules["num_players"])
    for k in range(P):
        v["books"][k] = 0
        v["villain_tokens"][k] = 0
        v["telegrams"][k] = 0
        if k >= num_players:
            v["hand_sizes"][k] = 0
            v["closed"][k] = 0
            v["say_tokens"][k] = 0
            continue
        other = (int(seat) + k) % num_players
        v["hand_sizes"][k] = s["hand_sizes"][other]
        v["closed"][k] = s["closed"][other]
        say = 0
        for kind in range(NUM_SAY_TYPES):
            say |= int(s["say"][other, kind] > 0) << kind
        v["say_tokens"][k] = say


@inner
def _copy_looks(rules, s, seat, v):
    """Copy what the viewer was last shown of each seat, and what each was shown of the viewer."""
    num_players = int(rules["num_players"])
    for k in range(P):
        v["shown_turn"][k] = 0
        v["shown_whole"][k] = 0
        v["seen_by_whole"][k] = 0
    for t in range(T):
        v["shown"][0, t] = 0
        v["seen_by"][0, t] = 0
    for k in range(1, num_players):
        other = (int(seat) + k) % num_players
        v["shown_turn"][k] = s["look_turn"][seat, other]
        v["shown_whole"][k] = s["look_whole"][seat, other]
        v["seen_by_whole"][k] = s["look_whole"][other, seat]
        copy_row(s["looks"][seat, other], v["shown"][k], T)
        copy_row(s["looks"][other, seat], v["seen_by"][k], T)
    _clear_rows(v["shown"], num_players)
    _clear_rows(v["seen_by"], num_players)


@inner
def _copy_tokens(rules, s, seat, v):
    for book in range(NUM_BOOKS):
        if s["books"][book] >= 0:
            v["books"][_relative(rules, s["books"][book], seat)] |= 1 << book
    for villain in range(NUM_VILLAINS):
        if s["villains"][villain] >= 0:
            v["villain_tokens"][_relative(rules, s["villains"][villain], seat)] |= 1 << villain
    for token in range(NUM_TELEGRAMS):
        if s["telegrams"][token] >= 0:
            v["telegrams"][_relative(rules, s["telegrams"][token], seat)] += 1


@inner
def _copy_sheet(rules, s, seat, v):
    num_players = int(rules["num_players"])
    for h in range(num_players):
        holder = (int(seat) + h + 1) % num_players if h < num_players - 1 else PILE
        copy_row(s["least"][seat, holder], v["least"][h], T)
        copy_row(s["most"][seat, holder], v["most"][h], T)
    _clear_rows(v["least"], num_players)
    _clear_rows(v["most"], num_players)


@inner
def _copy_events(rules, s, seat, v):
    num_events = 2 * int(rules["num_players"])
    for i in range(num_events):
        v["events"][i, KIND] = s["events"][i, KIND]
        v["events"][i, PLAYER] = _relative(rules, s["events"][i, PLAYER], seat)
        v["events"][i, TARGET] = _relative(rules, s["events"][i, TARGET], seat)
        v["events"][i, TITLE] = s["events"][i, TITLE]
    numbers = v["events"].reshape(MAX_EVENTS * EVENT_FIELDS)[num_events * EVENT_FIELDS :]
    for i in range(numbers.size):
        numbers[i] = NO_EVENT


@inner
def copy_view(rules, s, seat, v):
    """Copy what a seat may know of one game, see `view`."""
    _copy_table(rules, s, seat, v)
    _copy_own(s, seat, v)
    _copy_decision(rules, s, seat, v)
    _copy_seats(rules, s, seat, v)
    _copy_looks(rules, s, seat, v)
    _copy_tokens(rules, s, seat, v)
    _copy_sheet(rules, s, seat, v)
    _copy_events(rules, s, seat, v)


@kernel
def view(rules, states, seats, views):
    """Copy what one seat of each game may know.

    Args:
        rules: RULES [1].
        states: STATE [B].
        seats: i8 [B], the viewing seat of each game.
        views: VIEW [B], overwritten.
    """
    for b in range(states.size):
        copy_view(rules[0], states[b], seats[b], views[b])
