"""The sheets: what each viewer can conclude about the copies of a title in a hand and in the draw pile.

The kernels of the rules call these at every event that tells somebody something, after the cards
have moved, unless it is said otherwise: then ``s`` holds the hands, sizes, discards, Current card and
card in play as they are afterwards. Each of them changes ``s["least"]`` and ``s["most"]`` of every
viewer to whom the event says something, and tightens them. A viewer's own row, the rows of unused
seats and afoot stay 0. What cannot be known is not read: of a hand only its size, unless the viewer
is its owner or was shown it. Source: docs/holmes.md, "What a player knows". ``rules`` is one RULES
record, ``s`` one STATE record; a title is a number, titles are an int64 mask.

No bound is ever above the number of copies in the game, so that all sums fit into a byte; loops over
titles compute in bytes, which the compiler turns into instructions for many titles at once.
"""

from __future__ import annotations

import numpy as np

from ..bits import members
from ..kernels import inner
from .cards import AFOOT
from .state import PILE, T

# --- tightening ---


@inner
def _lay_open(s, sign):
    """Count the cards that lie open beside the discard pile among the discards, or (-1) no longer."""
    s["discards"][AFOOT] += sign
    if s["current"] != AFOOT:
        s["discards"][s["current"]] += sign
    if s["in_play"] >= 0:
        s["discards"][s["in_play"]] += sign


@inner
def _add_titles(low, high, least, most):
    """Add the bounds of a holder to sums over holders; everything is i1 [T]."""
    for t in range(T):
        low[t] = np.int8(low[t] + least[t])
        high[t] = np.int8(high[t] + most[t])


@inner
def _narrow_titles(spare, excess, least, most):
    """Narrow the bounds of one holder to the copies that the other holders leave; whether some were wider.

    Args:
        spare: i1 [T], copies that the viewer does not see, less the sum of the lower bounds.
        excess: i1 [T], the sum of the upper bounds, less these copies.
        least: i1 [T].
        most: i1 [T].
    """
    changed = np.int8(0)
    for t in range(T):
        lower = least[t]
        upper = most[t]
        gap = np.int8(upper - lower)
        changed = np.int8(changed | np.int8(gap > spare[t]) | np.int8(gap > excess[t]))
        least[t] = max(lower, np.int8(upper - excess[t]))
        most[t] = min(upper, np.int8(lower + spare[t]))
    return changed != 0


@inner
def _narrow_holder(size, least, most):
    """Narrow the bounds of one holder (i1 [T] each) to the number of its cards; whether some were wider."""
    low = np.int8(0)
    high = np.int8(0)
    widest = np.int8(0)
    for t in range(T):
        low = np.int8(low + least[t])
        high = np.int8(high + most[t])
        widest = max(widest, np.int8(most[t] - least[t]))
    spare = np.int8(size - low)
    excess = np.int8(high - size)
    if widest <= spare and widest <= excess:
        return False
    for t in range(T):
        lower = least[t]
        upper = most[t]
        least[t] = max(lower, np.int8(upper - excess))
        most[t] = min(upper, np.int8(lower + spare))
    return True


@inner
def _tighten(rules, s, viewer):
    """Tighten the sheet of a viewer to its fixed point.

    Over all holders the copies of a title add up to those that the viewer does not see, over all
    titles the copies of a holder to the number of its cards. The cards that lie open must be among
    the discards (`_lay_open`).
    """
    num_players = int(rules["num_players"])
    least = s["least"][viewer]
    most = s["most"][viewer]
    # The viewer's own row, which is nothing, has room for the sums over holders.
    spare = least[viewer]
    excess = most[viewer]
    copies = rules["copies"]
    own = s["hands"][viewer]
    discards = s["discards"]
    changed = True
    while changed:
        for t in range(T):
            spare[t] = 0
            excess[t] = 0
        for other in range(num_players):
            if other != viewer:
                _add_titles(spare, excess, least[other], most[other])
        _add_titles(spare, excess, least[PILE], most[PILE])
        for t in range(T):
            unseen = np.int8(copies[t] - own[t] - discards[t])
            spare[t] = np.int8(unseen - spare[t])
            excess[t] = np.int8(excess[t] - unseen)
        changed = False
        for other in range(num_players):
            if other != viewer:
                changed |= _narrow_titles(spare, excess, least[other], most[other])
                changed |= _narrow_holder(s["hand_sizes"][other], least[other], most[other])
        changed |= _narrow_titles(spare, excess, least[PILE], most[PILE])
        changed |= _narrow_holder(s["pile_size"], least[PILE], most[PILE])
    for t in range(T):
        spare[t] = 0
        excess[t] = 0


# --- single cards ---


@inner
def _leaves(s, viewer, holder, title):
    """A card leaves before the viewer's eyes."""
    s["least"][viewer, holder, title] = max(int(s["least"][viewer, holder, title]), 1) - 1
    s["most"][viewer, holder, title] -= 1


@inner
def _arrives(s, viewer, holder, title):
    """A card arrives before the viewer's eyes."""
    s["least"][viewer, holder, title] += 1
    s["most"][viewer, holder, title] += 1


@inner
def _goes_over(copies, size, least, most, to_least, to_most):
    """Move an unknown card from one holder to another.

    Args:
        copies: i1 [T] in the game.
        size: number of cards of the first before that.
        least: i1 [T], bounds of the first, as most.
        most: i1 [T].
        to_least: i1 [T], bounds of the other, as to_most.
        to_most: i1 [T].
    """
    cards = np.int8(size)
    for t in range(T):
        lower = least[t]
        upper = most[t]
        surely = np.int8(lower == cards)
        can_be = np.int8(upper > 0)
        least[t] = max(np.int8(lower - can_be), np.int8(0))
        most[t] = np.int8(upper - surely)
        to_least[t] = np.int8(to_least[t] + surely)
        to_most[t] = min(np.int8(to_most[t] + can_be), copies[t])


@inner
def _possible(most):
    """Return the mask of the titles that an unknown card can be (most: i1 [T])."""
    titles = np.int64(0)
    for t in range(T):
        titles |= np.int64(most[t] > 0) << t
    return titles


@inner
def _certain(least, size):
    """Return the mask of the title that an unknown card surely is: that of all ``size`` cards (least: i1 [T])."""
    titles = np.int64(0)
    for t in range(T):
        titles |= np.int64(least[t] == size) << t
    return titles


@inner
def _unknown_leaves(can, surely, least, most):
    """An unknown card leaves a holder: one of the titles ``can``, ``surely`` that one (masks)."""
    for title in members(can):
        least[title] = max(int(least[title]), 1) - 1
    for title in members(surely):
        most[title] -= 1


@inner
def _unknown_arrives(copies, can, surely, least, most):
    """An unknown card arrives at a holder, see `_unknown_leaves`."""
    for title in members(surely):
        least[title] += 1
    for title in members(can):
        most[title] = min(int(most[title]) + 1, int(copies[title]))


# --- the beginning ---


@inner
def begin_sheets(rules, s, is_deal):
    """Begin all sheets afresh.

    At the deal of a case (``is_deal`` 1): an opponent holds 0 to min(copies in the Deal Out Stack not
    in the own hand, hand size), the pile exactly what is not in that stack; afoot is the Current
    card already, and its player has a card less. In a position that was set up (``is_deal`` 0): 0 to
    min(unseen copies, size) with every holder.
    """
    s["least"][:] = 0
    s["most"][:] = 0
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        for t in range(T):
            unseen = int(rules["copies"][t]) - int(s["hands"][viewer, t]) - int(s["discards"][t])
            outside = int(rules["copies"][t]) - int(rules["stack"][t])
            if is_deal:
                unseen -= outside
                s["least"][viewer, PILE, t] = outside
                s["most"][viewer, PILE, t] = outside
            else:
                s["most"][viewer, PILE, t] = min(unseen, int(s["pile_size"]))
            for other in range(rules["num_players"]):
                if other != viewer:
                    s["most"][viewer, other, t] = min(unseen, int(s["hand_sizes"][other]))
        _tighten(rules, s, viewer)
    _lay_open(s, -1)


# --- cards that everybody sees ---


@inner
def _leaves_room(rules, s, viewer, holder, title):
    """Return whether a sheet is tight after an unexpected card of a holder was seen to leave (see `_lay_open`).

    Before it was, and only upper bounds can come down: of this title with the others, and of the other
    titles with this holder.
    """
    least = s["least"][viewer]
    most = s["most"][viewer]
    spare = int(rules["copies"][title]) - int(s["hands"][viewer, title]) - int(s["discards"][title])
    widest = 0
    for other in range(rules["num_players"]):
        spare -= int(least[other, title])
        if other != holder:
            widest = max(widest, int(most[other, title]) - int(least[other, title]))
    spare -= int(least[PILE, title])
    if holder != PILE:
        widest = max(widest, int(most[PILE, title]) - int(least[PILE, title]))
    if widest > spare:
        return False
    low = np.int8(0)
    gap = np.int8(0)
    for t in range(T):
        low = np.int8(low + least[holder, t])
        gap = max(gap, np.int8(most[holder, t] - least[holder, t]))
    size = int(s["pile_size"]) if holder == PILE else int(s["hand_sizes"][holder])
    return int(gap) <= size - int(low)


@inner
def card_left(rules, s, holder, player, title):
    """A card has left a hand or the pile before the eyes of all but a player, who knew it.

    It was played from the hand, used as an Interrupt or discarded; or the player drew it on their turn
    and plays it: then the holder is the pile.
    """
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        if viewer != player:
            # What the viewer knew to be there takes nothing of what may lie elsewhere.
            was_known = s["least"][viewer, holder, title] > 0
            _leaves(s, viewer, holder, title)
            if not was_known and not _leaves_room(rules, s, viewer, holder, title):
                _tighten(rules, s, viewer)
    _lay_open(s, -1)


@inner
def discards_shuffled_in(rules, s):
    """The discard pile becomes part of the draw pile. Called before that: the cards still lie in ``s["discards"]``.

    Both bounds of the pile rise by these copies; nothing else changes.
    """
    for viewer in range(rules["num_players"]):
        for t in range(T):
            s["least"][viewer, PILE, t] += s["discards"][t]
            s["most"][viewer, PILE, t] += s["discards"][t]


@inner
def lacks(rules, s, holder, titles):
    """All others learn that a hand holds none of some titles.

    Before a draw on a turn: the Suitable ones; Innocent, and irene-adler without a discard: Villains;
    an Impromptu Arrest as it is announced: all but Interrupts.
    """
    titles &= (np.int64(1) << T) - 1
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        if viewer != holder:
            for title in members(titles):
                s["least"][viewer, holder, title] = 0
                s["most"][viewer, holder, title] = 0
            _tighten(rules, s, viewer)
    _lay_open(s, -1)


# --- draws ---


@inner
def card_drawn_on_turn(rules, s, player, title):
    """A player has drawn a card on their turn and alone knows it: for them it has left the pile seen.

    It is ``s["drawn"]``, not in the hand yet. For all others nothing happens before it is played
    (`card_left`) or kept (`drawn_card_kept`).
    """
    _lay_open(s, 1)
    s["discards"][title] += 1
    _leaves(s, player, PILE, title)
    _tighten(rules, s, player)
    s["discards"][title] -= 1
    _lay_open(s, -1)


@inner
def _drawn_unseen(rules, s, viewer, player, excluded):
    """An unknown card that is none of some titles (a mask) has gone from the pile into a hand."""
    least = s["least"][viewer]
    most = s["most"][viewer]
    # Of the excluded titles nothing goes over: what is done to all titles is made good for them.
    stays = np.int64(0)
    for title in members(excluded):
        if most[PILE, title] > 0:
            most[player, title] -= 1
            stays |= np.int64(least[PILE, title] > 0) << title
    _goes_over(rules["copies"], int(s["pile_size"]) + 1, least[PILE], most[PILE], least[player], most[player])
    for title in members(stays):
        least[PILE, title] += 1
    _tighten(rules, s, viewer)


@inner
def drawn_card_kept(rules, s, player, suitable):
    """The card drawn on a turn has gone into the hand: for all others an unknown card that is not a Suitable title."""
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        if viewer != player:
            _drawn_unseen(rules, s, viewer, player, suitable)
    _lay_open(s, -1)


@inner
def card_drawn(rules, s, player, title):
    """A card has gone from the pile into a hand by the instructions of a card.

    The player who drew it knows it; for all others it is an unknown card.
    """
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        if viewer == player:
            _leaves(s, viewer, PILE, title)
            _tighten(rules, s, viewer)
        else:
            _drawn_unseen(rules, s, viewer, player, np.int64(0))
    _lay_open(s, -1)


# --- cards that move between hands ---


@inner
def card_given(rules, s, giver, receiver, title):
    """A card has gone from one hand into another; only these two know which (constabulary)."""
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        least = s["least"][viewer]
        most = s["most"][viewer]
        if viewer == giver:
            _arrives(s, viewer, receiver, title)
        elif viewer == receiver:
            _leaves(s, viewer, giver, title)
        else:
            size = int(s["hand_sizes"][giver]) + 1
            _goes_over(rules["copies"], size, least[giver], most[giver], least[receiver], most[receiver])
        _tighten(rules, s, viewer)
    _lay_open(s, -1)


@inner
def _passed_on(rules, s, viewer, giver, can, surely):
    """The card that somebody has passed arrives at their right neighbour: an unknown one, or the viewer's own."""
    num_players = int(rules["num_players"])
    receiver = (giver + num_players - 1) % num_players
    if s["set_down"][giver] < 0 or receiver == viewer:
        return
    if giver == viewer:
        _arrives(s, viewer, receiver, int(s["set_down"][giver]))
    else:
        _unknown_arrives(rules["copies"], can, surely, s["least"][viewer, receiver], s["most"][viewer, receiver])


@inner
def _passes_on(rules, s, viewer, giver):
    """Take the card that somebody passes out of their row; return what it can be, and surely is (masks)."""
    num_players = int(rules["num_players"])
    title = int(s["set_down"][giver])
    can = np.int64(0)
    surely = np.int64(0)
    if giver == viewer or title < 0:
        return can, surely
    if (giver + num_players - 1) % num_players == viewer:
        _leaves(s, viewer, giver, title)
        return can, surely
    got = s["set_down"][(giver + 1) % num_players] >= 0
    can = _possible(s["most"][viewer, giver])
    surely = _certain(s["least"][viewer, giver], int(s["hand_sizes"][giver]) + 1 - int(got))
    _unknown_leaves(can, surely, s["least"][viewer, giver], s["most"][viewer, giver])
    return can, surely


@inner
def cards_handed_on(rules, s):
    """Everybody who had cards has passed one to their right neighbour, all at the same time (alibi).

    ``s["set_down"][seat]`` is the title that a seat has passed, -1 none. A viewer knows the card that
    they passed and the one they got. All cards leave by the sheet as it was before, then all arrive.
    """
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        # A seat's card arrives at the seat before, whose own card has left by then; the first seat's
        # has to wait for the last.
        first_can, first_surely = _passes_on(rules, s, viewer, 0)
        for giver in range(1, rules["num_players"]):
            can, surely = _passes_on(rules, s, viewer, giver)
            _passed_on(rules, s, viewer, giver, can, surely)
        _passed_on(rules, s, viewer, 0, first_can, first_surely)
        _tighten(rules, s, viewer)
    _lay_open(s, -1)


@inner
def _deal_back(rules, s, viewer):
    """Take the unknown cards that the others have put down out of their rows, and deal them back."""
    put = int(s["set_down"][viewer])
    got = int(s["got"][viewer])
    others = 0
    can = np.int64(0)
    surely = ~np.int64(0)
    # Of the viewer's two cards more must be known than whether it is one of all others' cards.
    all_surely_put = 0
    can_be_got = 0
    for other in range(rules["num_players"]):
        if other == viewer or s["set_down"][other] < 0:
            continue
        others += 1
        least = s["least"][viewer, other]
        most = s["most"][viewer, other]
        can_be = _possible(most)
        certain = _certain(least, int(s["hand_sizes"][other]))
        _unknown_leaves(can_be, certain, least, most)
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
    if others == 0:
        return
    for other in range(rules["num_players"]):
        if other != viewer and s["set_down"][other] >= 0:
            _unknown_arrives(rules["copies"], can, surely, s["least"][viewer, other], s["most"][viewer, other])


@inner
def cards_dealt_back(rules, s):
    """Everybody who had cards has put one down, and these were shuffled and dealt back (dense-fog).

    ``s["set_down"][seat]`` is the title that a seat put down, ``s["got"][seat]`` the one it got back; -1
    for seats without cards. A viewer knows these two of their own.
    """
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        _deal_back(rules, s, viewer)
        _tighten(rules, s, viewer)
    _lay_open(s, -1)


@inner
def _know_hand(s, viewer, holder):
    """The viewer knows a hand exactly: it was theirs."""
    for t in range(T):
        s["least"][viewer, holder, t] = s["hands"][holder, t]
        s["most"][viewer, holder, t] = s["hands"][holder, t]


@inner
def hands_exchanged(rules, s, seat, other):
    """Two hands have been exchanged (mycroft-holmes): rows move with the hands, each knows the hand they gave."""
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        if viewer == seat:
            _know_hand(s, viewer, other)
            _tighten(rules, s, viewer)
        elif viewer == other:
            _know_hand(s, viewer, seat)
            _tighten(rules, s, viewer)
        else:
            for t in range(T):
                least = s["least"][viewer, seat, t]
                most = s["most"][viewer, seat, t]
                s["least"][viewer, seat, t] = s["least"][viewer, other, t]
                s["most"][viewer, seat, t] = s["most"][viewer, other, t]
                s["least"][viewer, other, t] = least
                s["most"][viewer, other, t] = most
    _lay_open(s, -1)


@inner
def hands_moved_on(rules, s):
    """All hands have gone to the right neighbours (mastermind): rows move along, each knows the hand they gave."""
    num_players = int(rules["num_players"])
    _lay_open(s, 1)
    for viewer in range(num_players):
        # From the viewer's left neighbour round to the right one, who has the viewer's hand now.
        holder = (viewer + 1) % num_players
        for _ in range(num_players - 2):
            following = (holder + 1) % num_players
            for t in range(T):
                s["least"][viewer, holder, t] = s["least"][viewer, following, t]
                s["most"][viewer, holder, t] = s["most"][viewer, following, t]
            holder = following
        _know_hand(s, viewer, holder)
        _tighten(rules, s, viewer)
    _lay_open(s, -1)


@inner
def hand_taken(rules, s, arrester, accused):
    """The arrester has taken all cards of an Innocent; what these draw follows (`card_drawn`).

    ``s["moved"]`` are the copies taken. That there was no Villain was said before, by `lacks`. The
    accused knows what went into the arrester's hand; for the others the row of the accused is added.
    """
    _lay_open(s, 1)
    for viewer in range(rules["num_players"]):
        for t in range(T):
            least = int(s["least"][viewer, accused, t])
            most = int(s["most"][viewer, accused, t])
            if viewer == accused:
                least = int(s["moved"][t])
                most = least
            s["least"][viewer, accused, t] = 0
            s["most"][viewer, accused, t] = 0
            if viewer != arrester:
                s["least"][viewer, arrester, t] += least
                most += int(s["most"][viewer, arrester, t])
                s["most"][viewer, arrester, t] = min(most, int(rules["copies"][t]))
        _tighten(rules, s, viewer)
    _lay_open(s, -1)


# --- looks ---


@inner
def _narrow_to_look(s, viewer, other):
    for t in range(T):
        seen = s["looks"][viewer, other, t]
        s["least"][viewer, other, t] = max(s["least"][viewer, other, t], seen)
        if s["look_whole"][viewer, other]:
            s["least"][viewer, other, t] = seen
            s["most"][viewer, other, t] = seen


@inner
def looked(rules, s, viewer, other):
    """A viewer has been shown cards of a hand: ``s["looks"][viewer, other]``, all of it if ``s["look_whole"]``."""
    _lay_open(s, 1)
    _narrow_to_look(s, viewer, other)
    _tighten(rules, s, viewer)
    _lay_open(s, -1)


@inner
def looked_at_highest(rules, s, viewer, other, title):
    """A viewer has been shown one card of the highest case value in a hand: `looked`, and there is nothing higher."""
    _lay_open(s, 1)
    _narrow_to_look(s, viewer, other)
    for t in range(T):
        if rules["value"][t] > rules["value"][title]:
            s["least"][viewer, other, t] = 0
            s["most"][viewer, other, t] = 0
    _tighten(rules, s, viewer)
    _lay_open(s, -1)
