"""What an event does to a viewer's sheet.

Each kernel changes the bounds of a sheet, and the sums that go with them, by what an event says to its
viewer, and leaves it to the caller to tighten them: those that can leave a row that is not tight return
the mask of such rows. Only ``least``, ``most``, ``spare``, ``excess`` and ``counted`` of the viewer are
read. Source: docs/holmes.md, "What a player knows". ``rules`` is one RULES record, ``s`` one STATE
record; a title is a number, titles are an int64 mask; N are the columns of a sheet.
"""

from __future__ import annotations

import numpy as np

from ..bits import members
from ..kernels import inner
from .cards import NUM_COLUMNS
from .notes import SEAT_AT, TITLE_BITS, TITLE_SIZE
from .state import PILE, T

# Numbers that are handed on, as numbers of NumPy, see `state`.
FIRST = np.int64(0)
THE_PILE = np.int64(PILE)
ONE = np.int64(1)

# --- single cards ---


@inner
def sees_more(s, viewer, title, copies):
    """The viewer sees more copies of a title than before."""
    s["spare"][viewer, title] -= copies
    s["excess"][viewer, title] += copies


@inner
def card_leaves(s, viewer, holder, title):
    """A card leaves a holder before the viewer's eyes, and is seen from now on; return the rows that are not tight."""
    s["counted"][viewer, holder] -= 1
    s["most"][viewer, holder, title] -= 1
    if s["least"][viewer, holder, title] > 0:
        # What the viewer knew to be there takes nothing of what may lie elsewhere.
        s["least"][viewer, holder, title] -= 1
        return 0
    s["spare"][viewer, title] -= 1
    return 1 << holder


@inner
def cards_arrive(s, viewer, holder, title, copies):
    """Cards that the viewer has seen until now arrive at a holder; bounds stay tight."""
    s["counted"][viewer, holder] += copies
    s["least"][viewer, holder, title] += copies
    s["most"][viewer, holder, title] += copies


@inner
def _lower(s, viewer, holder, title):
    """Lower the lower bound by one, not below 0."""
    if s["least"][viewer, holder, title] > 0:
        s["least"][viewer, holder, title] -= 1
        s["spare"][viewer, title] += 1


@inner
def raise_least(s, viewer, holder, title, number):
    """Raise the lower bound to a number; return whether it was less."""
    more = int(number) - int(s["least"][viewer, holder, title])
    if more <= 0:
        return False
    s["least"][viewer, holder, title] += more
    s["spare"][viewer, title] -= more
    return True


@inner
def rule_out(s, viewer, holder, titles):
    """A hand holds none of some titles; return the rows that are not tight."""
    changed = False
    for title in members(titles):
        if s["most"][viewer, holder, title] != 0:
            s["spare"][viewer, title] += s["least"][viewer, holder, title]
            s["excess"][viewer, title] -= s["most"][viewer, holder, title]
            s["least"][viewer, holder, title] = 0
            s["most"][viewer, holder, title] = 0
            changed = True
    return 1 << holder if changed else 0


# --- an unknown card goes from one holder to another ---


@inner
def _add_surely(cards, least, to_least):
    """A card arrives that surely is a title if all ``cards`` of its holder are."""
    for t in range(NUM_COLUMNS):
        to_least[t] = np.int8(to_least[t] + np.int8(least[t] == cards))


@inner
def _add_possibly(copies, most, to_most, excess):
    """A card arrives that can be any title that its holder can have; copies: i1 [N] in the game."""
    for t in range(NUM_COLUMNS):
        upper = to_most[t]
        new_upper = min(np.int8(upper + np.int8(most[t] > 0)), copies[t])
        to_most[t] = new_upper
        excess[t] = np.int8(excess[t] + np.int8(new_upper - upper))


@inner
def _take_one(cards, least, most, spare, excess):
    """One of the cards of a holder leaves; where it surely is a title, that one has arrived elsewhere."""
    for t in range(NUM_COLUMNS):
        lower = least[t]
        upper = most[t]
        surely = np.int8(lower == cards)
        new_lower = max(np.int8(lower - np.int8(upper > 0)), np.int8(0))
        least[t] = new_lower
        most[t] = np.int8(upper - surely)
        spare[t] = np.int8(spare[t] + np.int8(np.int8(lower - new_lower) - surely))
        excess[t] = np.int8(excess[t] - surely)


@inner
def card_goes_over(rules, s, viewer, giver, receiver):
    """An unknown card goes from one holder to another; return the rows that are not tight."""
    least = s["least"][viewer, giver]
    most = s["most"][viewer, giver]
    cards = s["counted"][viewer, giver]
    _add_surely(cards, least, s["least"][viewer, receiver])
    _add_possibly(rules["sheet_copies"], most, s["most"][viewer, receiver], s["excess"][viewer])
    _take_one(cards, least, most, s["spare"][viewer], s["excess"][viewer])
    s["counted"][viewer, giver] -= 1
    s["counted"][viewer, receiver] += 1
    return 1 << giver | 1 << receiver


@inner
def drawn_card_goes_over(rules, s, viewer, player, excluded):
    """An unknown card that is none of some titles goes from the pile into a hand."""
    # Of the excluded titles nothing goes over: what is done to all titles is made good for them.
    stays = np.int64(0)
    for title in members(excluded):
        if s["most"][viewer, PILE, title] > 0:
            s["most"][viewer, player, title] -= 1
            s["excess"][viewer, title] -= 1
            stays |= np.int64(s["least"][viewer, PILE, title] > 0) << title
    rows = card_goes_over(rules, s, viewer, THE_PILE, player)
    for title in members(stays):
        s["least"][viewer, PILE, title] += 1
        s["spare"][viewer, title] -= 1
    return rows


# --- cards of all seats move at the same time ---


@inner
def _title_of(note, seat):
    """Return the title of a seat in a note of all seats, -1 none."""
    return (note >> (SEAT_AT + TITLE_SIZE * seat) & TITLE_BITS) - 1


@inner
def _possible(most):
    """Return the mask of the titles that an unknown card can be."""
    titles = np.int64(0)
    for t in range(T):
        titles |= np.int64(most[t] > 0) << t
    return titles


@inner
def _certain(least, cards):
    """Return the mask of the title that an unknown card surely is: that of all cards."""
    titles = np.int64(0)
    for t in range(T):
        titles |= np.int64(least[t] == cards) << t
    return titles


@inner
def _unknown_leaves(s, viewer, holder, can, surely):
    """An unknown card leaves a holder: one of the titles ``can``, ``surely`` that one (masks)."""
    s["counted"][viewer, holder] -= 1
    for title in members(can):
        _lower(s, viewer, holder, title)
    for title in members(surely):
        s["most"][viewer, holder, title] -= 1
        s["excess"][viewer, title] -= 1


@inner
def _unknown_arrives(rules, s, viewer, holder, can, surely):
    """An unknown card arrives at a holder, see `_unknown_leaves`."""
    s["counted"][viewer, holder] += 1
    for title in members(surely):
        s["least"][viewer, holder, title] += 1
        s["spare"][viewer, title] -= 1
    for title in members(can):
        if s["most"][viewer, holder, title] < rules["copies"][title]:
            s["most"][viewer, holder, title] += 1
            s["excess"][viewer, title] += 1


@inner
def _passed_on(rules, s, viewer, note, giver, can, surely):
    """The card that somebody has passed arrives at their right neighbour: an unknown one, or the viewer's own."""
    num_players = int(rules["num_players"])
    receiver = (giver + num_players - 1) % num_players
    title = _title_of(note, giver)
    if title < 0 or receiver == viewer:
        return
    if giver == viewer:
        cards_arrive(s, viewer, receiver, title, ONE)
    else:
        _unknown_arrives(rules, s, viewer, receiver, can, surely)


@inner
def _passes_on(rules, s, viewer, note, giver):
    """Take the card that somebody passes out of their row; return what it can be, and surely is (masks)."""
    num_players = int(rules["num_players"])
    title = _title_of(note, giver)
    can = np.int64(0)
    surely = np.int64(0)
    if giver == viewer or title < 0:
        return can, surely
    if (giver + num_players - 1) % num_players == viewer:
        card_leaves(s, viewer, giver, title)
        return can, surely
    can = _possible(s["most"][viewer, giver])
    surely = _certain(s["least"][viewer, giver], s["counted"][viewer, giver])
    _unknown_leaves(s, viewer, giver, can, surely)
    return can, surely


@inner
def hand_on(rules, s, viewer, note):
    """All cards leave by the sheet as it was before, then all arrive."""
    # A seat's card arrives at the seat before, whose own card has left by then; the first seat's
    # has to wait for the last.
    first_can, first_surely = _passes_on(rules, s, viewer, note, FIRST)
    for giver in range(1, rules["num_players"]):
        can, surely = _passes_on(rules, s, viewer, note, giver)
        _passed_on(rules, s, viewer, note, giver, can, surely)
    _passed_on(rules, s, viewer, note, FIRST, first_can, first_surely)


@inner
def deal_back(rules, s, viewer, put_down, dealt_back):
    """Take the unknown cards that the others have put down out of their rows, and deal them back."""
    put = _title_of(put_down, viewer)
    got = _title_of(dealt_back, viewer)
    if put >= 0:
        sees_more(s, viewer, put, -ONE)
        sees_more(s, viewer, got, ONE)
    others = 0
    can = np.int64(0)
    surely = ~np.int64(0)
    # Of the viewer's two cards more must be known than whether it is one of all others' cards.
    all_surely_put = 0
    can_be_got = 0
    for other in range(rules["num_players"]):
        if other == viewer or _title_of(put_down, other) < 0:
            continue
        others += 1
        can_be = _possible(s["most"][viewer, other])
        certain = _certain(s["least"][viewer, other], s["counted"][viewer, other])
        _unknown_leaves(s, viewer, other, can_be, certain)
        can |= can_be
        surely &= certain
        if put >= 0:
            all_surely_put += int(certain >> put) & 1
            can_be_got += int(can_be >> got) & 1
    if put >= 0 and put != got:
        can |= np.int64(1) << put
        surely &= ~(np.int64(1) << put) & ~(np.int64(1) << got)
        if all_surely_put == others - 1:
            surely |= np.int64(1) << put
        if can_be_got <= 1:
            can &= ~(np.int64(1) << got)
    for other in range(rules["num_players"]):
        if other != viewer and _title_of(put_down, other) >= 0:
            _unknown_arrives(rules, s, viewer, other, can, surely)


# --- whole hands move ---


@inner
def _clear_row(s, viewer, holder):
    """Write zeros into a row whose cards the sums do not count, or no longer."""
    for t in range(T):
        s["least"][viewer, holder, t] = 0
        s["most"][viewer, holder, t] = 0
    s["counted"][viewer, holder] = 0


@inner
def _forget_row(s, viewer, holder):
    """Nothing lies with a holder any more of which the sheet spoke."""
    for t in range(T):
        s["spare"][viewer, t] += s["least"][viewer, holder, t]
        s["excess"][viewer, t] -= s["most"][viewer, holder, t]
    _clear_row(s, viewer, holder)


@inner
def _move_row(s, viewer, holder, to):
    """Move the row of a holder, which is left as it was, to another one."""
    for t in range(T):
        s["least"][viewer, to, t] = s["least"][viewer, holder, t]
        s["most"][viewer, to, t] = s["most"][viewer, holder, t]
    s["counted"][viewer, to] = s["counted"][viewer, holder]


@inner
def swap_rows(s, viewer, seat, other):
    """Rows move with the hands; of a hand that has become or was the viewer's, it is named what it is."""
    if viewer == seat:
        _forget_row(s, viewer, other)
    elif viewer == other:
        _forget_row(s, viewer, seat)
    else:
        # The viewer's own row, which is nothing, has room for one of them.
        _move_row(s, viewer, seat, viewer)
        _move_row(s, viewer, other, seat)
        _move_row(s, viewer, viewer, other)
        _clear_row(s, viewer, viewer)


@inner
def move_rows(rules, s, viewer):
    """Rows move along with the hands, from the viewer's left neighbour round to the right one."""
    num_players = int(rules["num_players"])
    holder = (viewer + 1) % num_players
    _forget_row(s, viewer, holder)
    for _ in range(num_players - 2):
        following = (holder + 1) % num_players
        _move_row(s, viewer, following, holder)
        holder = following
    # That hand was the viewer's.
    _clear_row(s, viewer, holder)


@inner
def add_row(rules, s, viewer, arrester, accused):
    """The row of the accused is added to that of the arrester."""
    if viewer == arrester:
        _forget_row(s, viewer, accused)
        return 0
    if viewer == accused:
        return 0
    for t in range(T):
        whole = int(s["most"][viewer, arrester, t]) + int(s["most"][viewer, accused, t])
        most = min(whole, int(rules["copies"][t]))
        s["excess"][viewer, t] -= whole - most
        s["least"][viewer, arrester, t] += s["least"][viewer, accused, t]
        s["most"][viewer, arrester, t] = most
        s["least"][viewer, accused, t] = 0
        s["most"][viewer, accused, t] = 0
    s["counted"][viewer, arrester] += s["counted"][viewer, accused]
    s["counted"][viewer, accused] = 0
    return 1 << arrester
