"""The sheets: what each viewer can conclude about the copies of a title in a hand and in the draw pile.

The kernels of the rules call these at every event that tells somebody something, after the cards
have moved, unless it is said otherwise: then ``s`` holds the hands, sizes, discards, Current card and
card in play as they are afterwards. Each of them changes ``s["least"]`` and ``s["most"]`` of every
viewer to whom the event says something, and tightens them. A viewer's own row, the rows of unused
seats and afoot stay 0. What cannot be known is not read: of a hand only its size, unless the viewer
is its owner or was shown it. Source: docs/holmes.md, "What a player knows". ``rules`` is one RULES
record, ``s`` one STATE record; a title is a number, titles are an int64 mask.
"""

from __future__ import annotations

from ..kernels import inner

# --- the beginning ---


@inner
def begin_sheets(rules, s, is_deal):
    """Begin all sheets afresh.

    At the deal of a case (``is_deal`` 1): an opponent holds 0 to min(copies in the Deal Out Stack not
    in the own hand, hand size), the pile exactly what is not in that stack; afoot is the Current
    card already, and its player has a card less. In a position that was set up (``is_deal`` 0): 0 to
    min(unseen copies, size) with every holder.
    """


# --- cards that everybody sees ---


@inner
def card_left(rules, s, holder, title):
    """A card has left a hand before everybody's eyes: it was played from the hand, used as an Interrupt, discarded."""


@inner
def drawn_card_played(rules, s, player, title):
    """The card that a player drew on their turn is played: for all others it has left the pile before their eyes."""


@inner
def discards_shuffled_in(rules, s):
    """The discard pile becomes part of the draw pile. Called before that: the cards still lie in ``s["discards"]``.

    Both bounds of the pile rise by these copies; nothing else changes.
    """


@inner
def lacks(rules, s, holder, titles):
    """All others learn that a hand holds none of some titles.

    Before a draw on a turn: the Suitable ones; Innocent, and irene-adler without a discard: Villains;
    an Impromptu Arrest as it is announced: all but Interrupts.
    """


# --- draws ---


@inner
def card_drawn_on_turn(rules, s, player, title):
    """A player has drawn a card on their turn and alone knows it: for them it has left the pile seen.

    It is ``s["drawn"]``, not in the hand yet. For all others nothing happens before it is played
    (`drawn_card_played`) or kept (`drawn_card_kept`).
    """


@inner
def drawn_card_kept(rules, s, player, suitable):
    """The card drawn on a turn has gone into the hand: for all others an unknown card that is not a Suitable title."""


@inner
def card_drawn(rules, s, player, title):
    """A card has gone from the pile into a hand by the instructions of a card.

    The player who drew it knows it; for all others it is an unknown card.
    """


# --- cards that move between hands ---


@inner
def card_given(rules, s, giver, receiver, title):
    """A card has gone from one hand into another; only these two know which (constabulary)."""


@inner
def cards_handed_on(rules, s):
    """Everybody who had cards has passed one to their right neighbour, all at the same time (alibi).

    ``s["set_down"][seat]`` is the title that a seat has passed, -1 none. A viewer knows the card that
    they passed and the one they got. All cards leave by the sheet as it was before, then all arrive.
    """


@inner
def cards_dealt_back(rules, s):
    """Everybody who had cards has put one down, and these were shuffled and dealt back (dense-fog).

    ``s["set_down"][seat]`` is the title that a seat put down, ``s["got"][seat]`` the one it got back; -1
    for seats without cards. A viewer knows these two of their own.
    """


@inner
def hands_exchanged(rules, s, seat, other):
    """Two hands have been exchanged (mycroft-holmes): rows move with the hands, each knows the hand they gave."""


@inner
def hands_moved_on(rules, s):
    """All hands have gone to the right neighbours (mastermind): rows move along, each knows the hand they gave."""


@inner
def hand_taken(rules, s, arrester, accused):
    """The arrester has taken all cards of an Innocent; what these draw follows (`card_drawn`).

    ``s["moved"]`` are the copies taken. That there was no Villain was said before, by `lacks`. The
    accused knows what went into the arrester's hand; for the others the row of the accused is added.
    """


# --- looks ---


@inner
def looked(rules, s, viewer, other):
    """A viewer has been shown cards of a hand: ``s["looks"][viewer, other]``, all of it if ``s["look_whole"]``."""


@inner
def looked_at_highest(rules, s, viewer, other, title):
    """A viewer has been shown one card of the highest case value in a hand: `looked`, and there is nothing higher."""
