"""The firewall: what one seat may know of a game, in a record without room for anything else.

Bots, networks, drawings and deductions are given views and cannot be given states. Seats in a view
are relative: 0 is the viewer, ``k`` is the k-th seat to the viewer's left. Source: docs/game.md,
"Rules in brief". Axis letters: ``B`` games, ``P`` = 7 seats, ``Q`` = 43 questions.
"""

from __future__ import annotations

import numpy as np

from ..bits import lowest
from ..kernels import inner, kernel
from .state import ASKER, EVENT_FIELDS, FINISHED, IN, KIND, LEFT, NO_EVENT, TARGET, P, Q

VIEW = np.dtype(
    [
        ("seat", "i4"),  # the viewer's seat in the state; every other one here is relative to it
        ("num_players", "i4"),  # number of players
        ("missing", "i4"),  # number of missing gems
        ("turn", "i4"),  # whose turn it is
        ("turn_number", "i4"),  # from 1
        ("phase", "i4"),  # TURN, SECOND, OFFER, MUST_ACCUSE or FINISHED
        ("to_act", "i4"),  # 1 where the viewer has to decide now
        ("first_target", "i4"),  # who was asked first this turn, -1 nobody
        ("first_elements", "i4"),  # number of elements of the question asked first this turn
        ("pile_size", "i4"),  # number of search cards in the draw pile
        ("hand", "i8"),  # mask of the viewer's gem cards
        ("table", "i8"),  # mask of the gem cards face up
        ("missing_gems", "i8"),  # mask of the missing gems if the viewer may know them, else 0
        ("accusing", "i8"),  # mask of the gems named so far in the viewer's unfinished accusation
        ("accused", "i8"),  # mask of the gems of the viewer's accusation, 0 before it
        ("discards", "i8"),  # mask of the discarded search cards
        ("search", "i8", P),  # [P] mask of each seat's face-up search cards
        ("spent", "i8", P),  # [P] mask of the search cards with which a seat has ever paid
        ("told", "i8", P),  # [P] mask of the questions that a seat has answered
        ("seen", "i8", P),  # [P] mask of the gems that a seat has shown to the viewer
        ("seen_by", "i8", P),  # [P] mask of the viewer's gems that a seat was shown
        ("standing", "i4", P),  # [P] IN, OUT, RIGHT or LEFT (has accused, result not announced)
        ("place", "i4", P),  # [P] 1 for the first right player, ...; 0 not known to be right
        ("exchanges", "i4", P),  # [P] number of times that a seat has exchanged its cards
        ("answers", "i1", (P, Q)),  # [P, Q] announced number of matching gems, -1 unknown
        ("askers", "i1", (P, Q)),  # [P, Q] bit k: seat k has asked this seat this question
        ("events", "i1", (P, EVENT_FIELDS)),  # [P, 6] the last num_players events, newest first
    ],
    align=True,
)


@inner
def _relative(rules, seat, viewer):
    return (int(seat) - int(viewer)) % int(rules["num_players"])


@inner
def _turned(rules, mask, viewer):
    """Turn a mask of absolute seats into one of relative seats."""
    num_players = int(rules["num_players"])
    both = int(mask) | int(mask) << num_players
    return (both >> int(viewer)) & ((1 << num_players) - 1)


@inner
def _copy_table(rules, s, seat, v):
    """Copy what lies open on the table."""
    v["num_players"] = rules["num_players"]
    v["missing"] = rules["missing"]
    v["turn"] = _relative(rules, s["turn"], seat)
    v["turn_number"] = s["turn_number"]
    v["phase"] = s["phase"]
    v["first_target"] = -1 if s["first_target"] < 0 else _relative(rules, s["first_target"], seat)
    v["first_elements"] = s["first_elements"]
    v["pile_size"] = s["pile_size"]
    v["table"] = s["table"]
    v["discards"] = s["discards"]


@inner
def _copy_own(rules, s, seat, v):
    """Copy what the viewer alone knows: hand, accusation, missing gems once they were seen."""
    v["seat"] = seat
    v["to_act"] = s["actor"] == seat
    v["hand"] = s["hands"][seat]
    v["accusing"] = s["accusing"] if s["actor"] == seat else 0
    v["accused"] = s["accused"][seat]
    revealed = s["phase"] == FINISHED and rules["winners"] == 1 and s["num_right"] == 1
    v["missing_gems"] = s["missing_gems"] if s["accused"][seat] != 0 or revealed else 0


@inner
def _copy_seats(rules, s, seat, v):
    """Copy what is known of every seat, the viewer first."""
    for k in range(rules["num_players"]):
        other = (int(seat) + k) % int(rules["num_players"])
        v["search"][k] = s["search"][other]
        v["spent"][k] = s["spent"][other]
        v["exchanges"][k] = s["exchanges"][other]
        v["seen"][k] = s["seen"][seat, other]
        v["seen_by"][k] = s["seen"][other, seat]
        v["standing"][k] = s["standing"][other]
        v["place"][k] = s["place"][other]
        if not rules["announce_result"] and s["standing"][other] != IN:
            # Before the rewards are given not even the own place is told: it says how many of those
            # who left were right.
            if k > 0:
                v["standing"][k] = LEFT
            if k > 0 or s["phase"] != FINISHED:
                v["place"][k] = 0
        _copy_answers(rules, s, other, seat, v, k)


@inner
def _copy_answers(rules, s, other, seat, v, k):
    """Copy what seat ``other``, the viewer's k-th neighbour, has answered, and to whom."""
    told = v["told"][0] & 0
    for question in range(Q):
        count = s["answers"][other, question]
        v["answers"][k, question] = count
        v["askers"][k, question] = 0
        told |= np.int64(count >= 0) << question
    v["told"][k] = told
    while told:
        question = lowest(told)
        told &= told - 1
        v["askers"][k, question] = _turned(rules, s["askers"][other, question], seat)


@inner
def _copy_events(rules, s, seat, v):
    for i in range(rules["num_players"]):
        for field in range(EVENT_FIELDS):
            value = s["events"][i, field]
            v["events"][i, field] = _relative(rules, value, seat) if field in (ASKER, TARGET) and value >= 0 else value


@inner
def _blank_seats(rules, v):
    """Unused seats and events hold the same values as before any card is dealt."""
    for k in range(rules["num_players"], P):
        for question in range(Q):
            v["answers"][k, question] = -1
            v["askers"][k, question] = 0
        for field in range(EVENT_FIELDS):
            v["events"][k, field] = -1 if field != KIND else NO_EVENT
        v["search"][k] = 0
        v["spent"][k] = 0
        v["told"][k] = 0
        v["seen"][k] = 0
        v["seen_by"][k] = 0
        v["standing"][k] = IN
        v["place"][k] = 0
        v["exchanges"][k] = 0


@inner
def copy_view(rules, s, seat, v):
    """Copy what a seat may know of one game, see `view`."""
    _blank_seats(rules, v)
    _copy_table(rules, s, seat, v)
    _copy_own(rules, s, seat, v)
    _copy_seats(rules, s, seat, v)
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
