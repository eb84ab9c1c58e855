"""Notes of what happens to cards, from which the sheets are kept.

The kernels of the rules take a note of every event that tells somebody something of the cards, and
`sheet.read_notes` makes of it what each viewer may learn. A note is one number that says all of it:
where the cards lie when it is read does not matter. Thus an event costs the rules next to nothing,
and what notes mean is compiled in one place. Source: docs/holmes.md, "What a player knows". ``s`` is
one STATE record, a title a number, titles are an int64 mask.

From its low bits to its high ones a note is a kind (8 bits), a seat or holder (4), another (4) and
what else there is to say (47); in a note of all seats' titles these follow on the kind.
"""

from __future__ import annotations

import numpy as np

from ..bits import members
from ..kernels import inner
from .cards import AFOOT
from .state import P, T

# Kinds of notes, with what their seat, other and rest are. As numbers of NumPy, see `state`.
NUM_NOTE_KINDS = 17
(
    LEFT,  # holder, who knew of it, title: a card has left a hand or the pile before the eyes of all
    LACKED,  # holder, 0, titles: all others learn that a hand holds none of them
    DRAWN_ON_TURN,  # player, 0, title: they alone have seen it leave the pile
    KEPT,  # player, 0, titles: that card has gone into the hand; for all others it is none of these
    DREW,  # player, 0, title: it has gone from the pile into their hand, and they alone know it
    GAVE,  # giver, receiver, title: it has gone from hand to hand, and these two know it
    HANDED_ON,  # titles of all seats: each has passed theirs to the right neighbour, all at the same time
    PUT_DOWN,  # titles of all seats: these have been shuffled and dealt back, as the next note says
    DEALT_BACK,  # titles of all seats
    SWAPPED,  # seat, other: their hands have been exchanged; what they are follows
    MOVED_ON,  # all hands have gone to the right neighbours; what they are follows
    TAKEN,  # arrester, accused: the accused's hand has gone into the arrester's; what it is follows
    OF_HAND,  # giver, receiver, copies of a title: part of a hand that has moved, which these two know
    ALL_NAMED,  # the hands that have moved have been named
    SHOWN,  # viewer, other, copies of a title: the viewer has been shown them
    HIGHEST,  # viewer, other, title: the viewer has been shown it, and there is nothing of a higher case value
    TURNED_OVER,  # 0, 0, copies of a title: they have gone from the discard pile into the draw pile
) = np.arange(NUM_NOTE_KINDS)

SEAT_AT = 8
OTHER_AT = 12
REST_AT = 16
SEAT_BITS = 15
# Titles of cards are written one higher, so that 0 is none.
TITLE_SIZE = 6
TITLE_BITS = 63
ALL_TITLES = (np.int64(1) << T) - 1
# What stands where a note has nothing to say.
BLANK = np.int64(0)


@inner
def _note(s, kind, seat, other, rest):
    s["notes"][s["num_notes"]] = kind | seat << SEAT_AT | other << OTHER_AT | rest << REST_AT
    s["num_notes"] += 1


@inner
def _of_copies(title, copies):
    return int(title) | int(copies) << TITLE_SIZE


@inner
def _note_titles(s, kind, titles):
    """Note the title of every seat (i8 [P], -1 none)."""
    rest = 0
    for seat in range(P):
        rest |= (int(titles[seat]) + 1) << (TITLE_SIZE * seat)
    s["notes"][s["num_notes"]] = kind | rest << SEAT_AT
    s["num_notes"] += 1


@inner
def _note_hand(s, giver, receiver, holder):
    """Note what a hand is that has moved, and is with a holder now."""
    for title in members(s["held"][holder]):
        _note(s, OF_HAND, giver, receiver, _of_copies(title, s["hands"][holder, title]))


@inner
def forget_notes(s):
    """Forget all notes."""
    for i in range(s["num_notes"]):
        s["notes"][i] = 0
    s["num_notes"] = 0


# --- cards that everybody sees ---


@inner
def card_left(s, holder, player, title):
    """A card has left a hand or the pile before the eyes of all but a player, who knew of it.

    It was played from the hand, used as an Interrupt or discarded; or the player drew it on their turn
    and plays it: then the holder is the pile.
    """
    _note(s, LEFT, holder, player, title)


@inner
def discards_turned_over(s):
    """The discard pile becomes part of the draw pile. Called before that: the cards still lie in ``s["discards"]``."""
    for title in range(AFOOT):
        if s["discards"][title] > 0:
            _note(s, TURNED_OVER, BLANK, BLANK, _of_copies(title, s["discards"][title]))


@inner
def lacks(s, holder, titles):
    """All others learn that a hand holds none of some titles.

    Before a draw on a turn: the Suitable ones; Innocent, and irene-adler without a discard: Villains;
    an Impromptu Arrest as it is announced: all but Interrupts.
    """
    _note(s, LACKED, holder, BLANK, np.int64(titles) & ALL_TITLES)


# --- draws ---


@inner
def card_drawn_on_turn(s, player, title):
    """A player has drawn a card on their turn and alone knows it; it is not in the hand yet.

    For all others nothing happens before it is played (`card_left`) or kept (`drawn_card_kept`).
    """
    _note(s, DRAWN_ON_TURN, player, BLANK, title)


@inner
def drawn_card_kept(s, player, suitable):
    """The card drawn on a turn has gone into the hand: for all others an unknown card that is not a Suitable title."""
    _note(s, KEPT, player, BLANK, suitable)


@inner
def card_drawn(s, player, title):
    """A card has gone from the pile into a hand by the instructions of a card."""
    _note(s, DREW, player, BLANK, title)


# --- cards that move between hands ---


@inner
def card_given(s, giver, receiver, title):
    """A card has gone from one hand into another; only these two know which (constabulary)."""
    _note(s, GAVE, giver, receiver, title)


@inner
def cards_handed_on(s):
    """Everybody who had cards has passed ``s["set_down"]`` to their right neighbour (alibi)."""
    _note_titles(s, HANDED_ON, s["set_down"])


@inner
def cards_dealt_back(s):
    """Everybody who had cards has put down ``s["set_down"]`` and been dealt back ``s["got"]`` (dense-fog)."""
    _note_titles(s, PUT_DOWN, s["set_down"])
    _note_titles(s, DEALT_BACK, s["got"])


@inner
def hands_exchanged(s, seat, other):
    """Two hands have been exchanged; each knows the hand they gave (mycroft-holmes)."""
    _note(s, SWAPPED, seat, other, BLANK)
    _note_hand(s, seat, other, other)
    _note_hand(s, other, seat, seat)
    _note(s, ALL_NAMED, BLANK, BLANK, BLANK)


@inner
def hands_moved_on(rules, s):
    """All hands have gone to the right neighbours; each knows the hand they gave (mastermind)."""
    _note(s, MOVED_ON, BLANK, BLANK, BLANK)
    left = 0
    for seat in range(int(rules["num_players"]) - 1, -1, -1):
        _note_hand(s, left, seat, seat)
        left = seat
    _note(s, ALL_NAMED, BLANK, BLANK, BLANK)


@inner
def hand_taken(s, arrester, accused):
    """The arrester has taken all cards of an Innocent, ``s["moved"]``; what these draw follows (`card_drawn`).

    That it holds no Villain was said before, by `lacks`. The accused knows what went into the
    arrester's hand.
    """
    _note(s, TAKEN, arrester, accused, BLANK)
    for title in range(T):
        if s["moved"][title] > 0:
            _note(s, OF_HAND, accused, arrester, _of_copies(title, s["moved"][title]))
    _note(s, ALL_NAMED, BLANK, BLANK, BLANK)


# --- looks ---


@inner
def looked(s, viewer, other):
    """A viewer has been shown cards of a hand, ``s["looks"][viewer, other]``.

    Whether that is all of it the sheet says by itself: the hand has no room for others.
    """
    for title in members(s["held"][other]):
        if s["looks"][viewer, other, title] > 0:
            _note(s, SHOWN, viewer, other, _of_copies(title, s["looks"][viewer, other, title]))


@inner
def looked_at_highest(s, viewer, other, title):
    """A viewer has been shown one card of the highest case value in a hand."""
    _note(s, HIGHEST, viewer, other, title)
