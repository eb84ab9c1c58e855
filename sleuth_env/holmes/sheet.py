"""The sheets: what each viewer can conclude about the copies of a title in a hand and in the draw pile.

A viewer's sheet is brought up to date from the notes that the rules have taken (see `notes`): each
note changes bounds by what it says to the viewer (`changes`), and they are tightened (`bounds`). What a
note says is not looked up in the state, which may have gone on meanwhile. A viewer's own row, the rows
of unused seats, afoot and the columns behind the titles stay 0. Source: docs/holmes.md, "What a player
knows". ``rules`` is one RULES record, ``s`` one STATE record; a title is a number, titles are an int64
mask.
"""

from __future__ import annotations

import numpy as np

from ..bits import members
from ..kernels import inner
from .bounds import tighten
from .cards import AFOOT
from .changes import (
    ONE,
    THE_PILE,
    add_row,
    card_goes_over,
    card_leaves,
    cards_arrive,
    deal_back,
    drawn_card_goes_over,
    hand_on,
    move_rows,
    raise_least,
    rule_out,
    sees_more,
    swap_rows,
)
from .notes import (
    DEALT_BACK,
    DRAWN_ON_TURN,
    DREW,
    GAVE,
    HANDED_ON,
    HIGHEST,
    KEPT,
    LACKED,
    LEFT,
    MOVED_ON,
    OF_HAND,
    OTHER_AT,
    PUT_DOWN,
    REST_AT,
    SEAT_AT,
    SEAT_BITS,
    SHOWN,
    SWAPPED,
    TAKEN,
    TITLE_BITS,
    TITLE_SIZE,
    TURNED_OVER,
    forget_notes,
)
from .state import PILE, T

KIND_BITS = 255


@inner
def _holders(rules, viewer):
    """Return the mask of the holders that a viewer's sheet speaks of."""
    return (1 << int(rules["num_players"])) - 1 & ~(1 << int(viewer)) | 1 << PILE


# --- the beginning ---


@inner
def _begin(rules, s, viewer, is_deal):
    """Begin the sheet of a viewer afresh.

    Put into ``s["spare"]`` before: the copies that the viewer does not see; into ``s["counted"]``: the
    number of cards of each holder. At the deal of a case (``is_deal`` 1) an opponent holds 0 to
    min(copies in the Deal Out Stack not in the own hand, hand size), the pile exactly what is not in
    that stack. In a position that was set up (``is_deal`` 0): 0 to min(unseen copies, size) with every
    holder.
    """
    for t in range(T):
        unseen = int(s["spare"][viewer, t])
        known = int(rules["copies"][t]) - int(rules["stack"][t]) if is_deal else 0
        s["excess"][viewer, t] = -unseen
        s["spare"][viewer, t] = unseen - known
        for holder in members(_holders(rules, viewer)):
            least = 0
            most = min(unseen - known, int(s["counted"][viewer, holder]))
            if holder == PILE and is_deal:
                least = known
                most = known
            s["least"][viewer, holder, t] = least
            s["most"][viewer, holder, t] = most
            s["excess"][viewer, t] += most


@inner
def _count_cards(rules, s, viewer):
    """Write the number of cards of each holder as a viewer counts them, and how many copies they do not see."""
    for seat in range(rules["num_players"]):
        s["counted"][viewer, seat] = 0 if seat == viewer else s["hand_sizes"][seat]
    has_drawn = s["drawn"] >= 0 and viewer == s["turn"]
    s["counted"][viewer, PILE] = int(s["pile_size"]) + int(s["drawn"] >= 0 and not has_drawn)
    for t in range(T):
        s["spare"][viewer, t] = int(rules["copies"][t]) - int(s["hands"][viewer, t]) - int(s["discards"][t])
    s["spare"][viewer, AFOOT] -= 1
    if s["current"] != AFOOT:
        s["spare"][viewer, s["current"]] -= 1
    if s["in_play"] >= 0:
        s["spare"][viewer, s["in_play"]] -= 1
    if has_drawn:
        s["spare"][viewer, s["drawn"]] -= 1


@inner
def begin_sheets(rules, s, is_deal):
    """Begin all sheets afresh, from the state as it is; ``is_deal`` is 1 at the deal of a case."""
    if not s["keeps_sheets"]:
        return
    for viewer in range(rules["num_players"]):
        _count_cards(rules, s, viewer)
        _begin(rules, s, viewer, is_deal)
        tighten(s, viewer, _holders(rules, viewer), _holders(rules, viewer))


@inner
def count_sheet(rules, s, viewer):
    """Write the sums of a sheet whose bounds have been written, from the state as it is."""
    _count_cards(rules, s, viewer)
    for t in range(T):
        s["excess"][viewer, t] = -s["spare"][viewer, t]
        for holder in members(_holders(rules, viewer)):
            s["spare"][viewer, t] -= s["least"][viewer, holder, t]
            s["excess"][viewer, t] += s["most"][viewer, holder, t]


# --- reading notes ---


@inner
def _learn_of_card(rules, s, viewer, kind, seat, other, rest):
    """Change a sheet by a note of one card, or of what a hand lacks; return the rows that are not tight."""
    if kind == LEFT:
        return card_leaves(s, viewer, seat, rest) if viewer != other else 0
    if kind == LACKED:
        return rule_out(s, viewer, seat, rest) if viewer != seat else 0
    if kind == DRAWN_ON_TURN or (kind == DREW and viewer == seat):
        return card_leaves(s, viewer, THE_PILE, rest) if viewer == seat else 0
    if kind == DREW:
        return card_goes_over(rules, s, viewer, THE_PILE, seat)
    if kind == KEPT:
        return drawn_card_goes_over(rules, s, viewer, seat, rest) if viewer != seat else 0
    if viewer == seat:
        cards_arrive(s, viewer, other, rest, ONE)
        return 0
    return card_leaves(s, viewer, seat, rest) if viewer == other else card_goes_over(rules, s, viewer, seat, other)


@inner
def _learn_of_copies(rules, s, viewer, kind, seat, other, title, copies):
    """Change a sheet by a note of copies of a title; return the rows that are not tight."""
    if kind == TURNED_OVER:
        cards_arrive(s, viewer, THE_PILE, title, copies)
        return 0
    if kind == OF_HAND:
        if viewer == seat:
            cards_arrive(s, viewer, other, title, copies)
        elif viewer == other:
            sees_more(s, viewer, title, copies)
        return 0
    if viewer != seat:
        return 0
    if kind == SHOWN:
        return 1 << other if raise_least(s, viewer, other, title, copies) else 0
    higher = np.int64(0)
    for t in range(T):
        higher |= np.int64(rules["value"][t] > rules["value"][title]) << t
    raise_least(s, viewer, other, title, ONE)
    return rule_out(s, viewer, other, higher) | 1 << other


@inner
def _learn_of_hands(rules, s, viewer, kind, seat, other, note, before):
    """Change a sheet by a note of many cards that move; return the rows that are not tight."""
    if kind == HANDED_ON:
        hand_on(rules, s, viewer, note)
    elif kind == DEALT_BACK:
        deal_back(rules, s, viewer, before, note)
    elif kind == SWAPPED:
        swap_rows(s, viewer, seat, other)
        return 0
    elif kind == MOVED_ON:
        move_rows(rules, s, viewer)
        return 0
    elif kind == TAKEN:
        return add_row(rules, s, viewer, seat, other)
    return _holders(rules, viewer)


@inner
def _learn(rules, s, viewer, note, before):
    """Change the sheet of a viewer by what a note says to them, and tighten it; ``before`` is the note before it."""
    kind = note & KIND_BITS
    seat = note >> SEAT_AT & SEAT_BITS
    other = note >> OTHER_AT & SEAT_BITS
    rest = note >> REST_AT
    if kind <= GAVE:
        rows = _learn_of_card(rules, s, viewer, kind, seat, other, rest)
    elif kind in (OF_HAND, SHOWN, HIGHEST, TURNED_OVER):
        rows = _learn_of_copies(rules, s, viewer, kind, seat, other, rest & TITLE_BITS, rest >> TITLE_SIZE)
    elif kind == PUT_DOWN:
        return
    else:
        rows = _learn_of_hands(rules, s, viewer, kind, seat, other, note, before)
    if rows != 0:
        tighten(s, viewer, _holders(rules, viewer), rows)


@inner
def read_notes(rules, s):
    """Let every viewer learn from the notes, and forget these."""
    viewers = int(rules["num_players"]) if s["keeps_sheets"] else 0
    for viewer in range(viewers):
        before = np.int64(0)
        for i in range(s["num_notes"]):
            note = s["notes"][i]
            _learn(rules, s, viewer, note, before)
            before = note
    forget_notes(s)


# --- games without sheets ---

# The fields that make up the sheets.
SHEET_FIELDS = ("least", "most", "spare", "excess", "counted")


def drop_sheets(states: np.ndarray) -> None:
    """Let games be played on without sheets, which takes a quarter of the time: for searches that look at no view.

    From then on `view` refuses these games, as do environments. All else is as before: the same
    actions are legal, and lead to the same games.

    >>> from sleuth_env import holmes
    >>> rules = holmes.make_rules(holmes.Options(num_players=3))
    >>> states = holmes.new_states(1)
    >>> holmes.deal(rules, states, [7])
    >>> holmes.drop_sheets(states)
    >>> holmes.problems(rules, states)
    ['game 0: keeps_sheets is 0: the game has no sheets, so nobody can look at it']

    Args:
        states: STATE [B], changed.

    Raises:
        ArrayError: these are not states.
    """
    states["keeps_sheets"] = 0
    for field in SHEET_FIELDS:
        states[field] = 0
