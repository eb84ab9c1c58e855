"""How cards and tokens move, and what everybody notices of it.

Kernels on one STATE record that change where things lie, with the looks, events and notes that go
with it; when they are called is settled in `turns`. Source: docs/holmes.md. Axis letters: ``P`` seats,
``T`` titles.
"""

from __future__ import annotations

from ..bits import draw, members, shuffle
from ..kernels import inner
from .cards import AFOOT, NUM_TITLES
from .notes import (
    card_drawn,
    card_given,
    cards_dealt_back,
    cards_handed_on,
    discards_turned_over,
    hand_taken,
    hands_exchanged,
    hands_moved_on,
    looked,
    looked_at_highest,
)
from .state import EVENT_FIELDS, KIND, NOBODY, PLAYER, TARGET, TITLE, TOOK_TELEGRAM, TOOK_TOKEN


@inner
def left_of(rules, seat, distance):
    """Return the seat that lies some places (0 to n) to the left of another."""
    seat = int(seat) + int(distance)
    return seat - int(rules["num_players"]) if seat >= rules["num_players"] else seat


@inner
def right_of(rules, seat):
    """Return the right neighbour of a seat."""
    return int(seat) - 1 if seat > 0 else int(rules["num_players"]) - 1


@inner
def record(rules, s, kind, player, target, title):
    """Record a public event as the newest."""
    events = s["events"]
    for i in range(2 * int(rules["num_players"]) - 1, 0, -1):
        for j in range(EVENT_FIELDS):
            events[i, j] = events[i - 1, j]
    events[0, KIND] = kind
    events[0, PLAYER] = player
    events[0, TARGET] = target
    events[0, TITLE] = title


# --- hands and piles ---


@inner
def put(s, seat, title):
    """Put a card into a hand."""
    s["hands"][seat, title] += 1
    s["held"][seat] |= 1 << int(title)
    s["hand_sizes"][seat] += 1
    s["declined"][seat] = 0


@inner
def take(s, seat, title):
    """Take a card out of a hand."""
    s["hands"][seat, title] -= 1
    if s["hands"][seat, title] == 0:
        s["held"][seat] &= ~(1 << int(title))
    s["hand_sizes"][seat] -= 1
    s["declined"][seat] = 0


@inner
def make_current(rules, s, title):
    """Let a card become the Current card; the old one is discarded, afoot laid aside."""
    if s["current"] != AFOOT:
        s["discards"][s["current"]] += 1
    s["current"] = title
    if rules["is_city"][title] >= 0:
        s["city"] = rules["is_city"][title]


@inner
def fill_pile(s, copies):
    """Lay some copies (i1 [T]) on the draw pile, in the order of the titles."""
    size = int(s["pile_size"])
    for title in range(NUM_TITLES):
        for _ in range(copies[title]):
            s["pile"][size] = title
            size += 1
    s["pile_size"] = size


@inner
def _discards_to_pile(rules, s):
    discards_turned_over(s)
    fill_pile(s, s["discards"])
    for title in range(NUM_TITLES):
        s["discards"][title] = 0


@inner
def take_top(rules, s):
    """Take the next card from the draw pile and return its title, -1 where there is none; a spent pile is renewed."""
    if s["pile_size"] == 0:
        _discards_to_pile(rules, s)
        shuffle(s, s["pile"], int(s["pile_size"]))
        if s["pile_size"] == 0:
            return -1
    at = int(s["pile_size"]) - 1
    title = int(s["pile"][at])
    s["pile"][at] = -1
    s["pile_size"] = at
    return title


@inner
def draw_cards(rules, s, seat, number):
    """Let a player draw by the instructions of a card."""
    for _ in range(number):
        title = take_top(rules, s)
        if title < 0:
            return
        put(s, seat, title)
        card_drawn(s, seat, title)


@inner
def shuffle_all(rules, s):
    """Shuffle the discard pile into the draw pile (mrs-hudson)."""
    copies = s["moved"]
    for i in range(s["pile_size"]):
        copies[s["pile"][i]] += 1
        s["pile"][i] = -1
    for title in range(NUM_TITLES):
        copies[title] += s["discards"][title]
    discards_turned_over(s)
    s["pile_size"] = 0
    fill_pile(s, copies)
    for title in range(NUM_TITLES):
        s["discards"][title] = 0
        copies[title] = 0
    shuffle(s, s["pile"], int(s["pile_size"]))


# --- looks ---


@inner
def clear_look(s, viewer, other):
    """Forget the look of a viewer at another seat."""
    for title in range(NUM_TITLES):
        s["looks"][viewer, other, title] = 0
    s["look_whole"][viewer, other] = 0
    s["look_turn"][viewer, other] = 0


@inner
def _look_at_all(s, viewer, other):
    """Let the look of a viewer at another seat be the other's hand as it is."""
    for title in range(NUM_TITLES):
        s["looks"][viewer, other, title] = s["hands"][other, title]
    s["look_whole"][viewer, other] = 1
    s["look_turn"][viewer, other] = s["turn_number"]


@inner
def _add_to_look(s, viewer, other, title, copies):
    """Add cards that a viewer has passed to their look at the receiver."""
    s["looks"][viewer, other, title] += copies
    s["look_whole"][viewer, other] = 0
    s["look_turn"][viewer, other] = s["turn_number"]


@inner
def see_hand(rules, s, viewer, other):
    """Show a viewer the whole hand of another seat."""
    _look_at_all(s, viewer, other)
    looked(s, viewer, other)


@inner
def see_highest(rules, s, viewer, other, title):
    """Show a viewer a card of the highest case value of another seat."""
    clear_look(s, viewer, other)
    s["looks"][viewer, other, title] = 1
    s["look_whole"][viewer, other] = s["hand_sizes"][other] == 1
    s["look_turn"][viewer, other] = s["turn_number"]
    looked_at_highest(s, viewer, other, title)


@inner
def _nth_card(s, seat, number, skipped):
    """Return the title of a card of a hand in the order of the titles, a skipped card not counted."""
    for title in members(s["held"][seat]):
        number -= int(s["hands"][seat, title]) - (title == skipped)
        if number < 0:
            return title
    return -1


@inner
def see_random(rules, s, viewer, other, number):
    """Show a viewer random cards of another seat, at most two."""
    size = int(s["hand_sizes"][other])
    if size <= number:
        see_hand(rules, s, viewer, other)
        return
    clear_look(s, viewer, other)
    first = int(NOBODY)
    for i in range(number):
        title = _nth_card(s, other, draw(s, size - i), first)
        s["looks"][viewer, other, title] += 1
        first = title
    s["look_turn"][viewer, other] = s["turn_number"]
    looked(s, viewer, other)


# --- cards from hand to hand ---


@inner
def give(rules, s, giver, receiver, title):
    """Move a card of one hand into another, secretly (constabulary)."""
    take(s, giver, title)
    put(s, receiver, title)
    _add_to_look(s, giver, receiver, title, 1)
    card_given(s, giver, receiver, title)


@inner
def pass_cards(rules, s):
    """Pass the cards that have been set down to the right neighbours, all at the same time (alibi)."""
    for seat in range(rules["num_players"]):
        title = int(s["set_down"][seat])
        if title >= 0:
            take(s, seat, title)
    for seat in range(rules["num_players"]):
        title = int(s["set_down"][seat])
        if title >= 0:
            right = right_of(rules, seat)
            put(s, right, title)
            _add_to_look(s, seat, right, title, 1)
    cards_handed_on(s)
    for seat in range(rules["num_players"]):
        s["set_down"][seat] = -1


@inner
def deal_back(rules, s):
    """Shuffle the cards that have been set down, and deal them back, one each (dense-fog)."""
    # They are shuffled in the first places of `moved`.
    size = 0
    for k in range(rules["num_players"]):
        seat = left_of(rules, s["turn"], k)
        if s["set_down"][seat] >= 0:
            take(s, seat, int(s["set_down"][seat]))
            s["moved"][size] = s["set_down"][seat]
            size += 1
    shuffle(s, s["moved"], size)
    size = 0
    for k in range(rules["num_players"]):
        seat = left_of(rules, s["turn"], k)
        if s["set_down"][seat] >= 0:
            s["got"][seat] = s["moved"][size]
            put(s, seat, int(s["got"][seat]))
            size += 1
    for i in range(size):
        s["moved"][i] = 0
    cards_dealt_back(s)
    for seat in range(rules["num_players"]):
        s["set_down"][seat] = -1
        s["got"][seat] = -1


@inner
def _swap_hands(s, seat, other):
    for title in range(NUM_TITLES):
        copies = s["hands"][seat, title]
        s["hands"][seat, title] = s["hands"][other, title]
        s["hands"][other, title] = copies
    held = s["held"][seat]
    s["held"][seat] = s["held"][other]
    s["held"][other] = held
    size = s["hand_sizes"][seat]
    s["hand_sizes"][seat] = s["hand_sizes"][other]
    s["hand_sizes"][other] = size
    s["declined"][seat] = 0
    s["declined"][other] = 0


@inner
def exchange_hands(rules, s, seat, other):
    """Exchange two hands (mycroft-holmes)."""
    _swap_hands(s, seat, other)
    _look_at_all(s, seat, other)
    _look_at_all(s, other, seat)
    hands_exchanged(s, seat, other)


@inner
def move_hands(rules, s):
    """Pass all hands to the right neighbours (mastermind)."""
    for seat in range(rules["num_players"] - 1):
        _swap_hands(s, seat, seat + 1)
    for seat in range(rules["num_players"]):
        _look_at_all(s, seat, right_of(rules, seat))
    hands_moved_on(rules, s)


@inner
def take_hand(rules, s, arrester, accused):
    """Let an arrester take all cards of an Innocent, who draws as many."""
    size = int(s["hand_sizes"][accused])
    clear_look(s, arrester, accused)
    s["look_whole"][accused, arrester] = 0
    s["look_turn"][accused, arrester] = s["turn_number"]
    for title in members(s["held"][accused]):
        copies = s["hands"][accused, title]
        s["moved"][title] = copies
        s["hands"][arrester, title] += copies
        s["hands"][accused, title] = 0
        s["looks"][accused, arrester, title] += copies
    s["held"][arrester] |= s["held"][accused]
    s["held"][accused] = 0
    s["hand_sizes"][arrester] += size
    s["hand_sizes"][accused] = 0
    s["declined"][arrester] = 0
    s["declined"][accused] = 0
    hand_taken(s, arrester, accused)
    for title in range(NUM_TITLES):
        s["moved"][title] = 0
    draw_cards(rules, s, accused, size)


# --- tokens ---


@inner
def take_say(rules, s, receiver, kind, source):
    """Let a seat receive an I Say token of a type, from the pool (-1) or from another seat."""
    if source < 0:
        at = int(s["say_sizes"][kind]) - 1
        s["say"][receiver, kind] = s["say_pool"][kind, at]
        s["say_pool"][kind, at] = 0
        s["say_sizes"][kind] = at
    else:
        s["say"][receiver, kind] = s["say"][source, kind]
        s["say"][source, kind] = 0
    record(rules, s, TOOK_TOKEN, receiver, source, NOBODY)


@inner
def num_telegrams(s, seat):
    """Return the number of Telegram tokens of a seat."""
    number = 0
    for token in range(s["telegrams"].size):
        number += s["telegrams"][token] == seat
    return number


@inner
def take_telegram(rules, s, receiver, source):
    """Let a seat receive a Telegram token, the next of the stock (-1) or a random one of another seat."""
    if source < 0:
        at = int(s["telegram_size"]) - 1
        s["telegrams"][s["telegram_stock"][at]] = receiver
        s["telegram_stock"][at] = -1
        s["telegram_size"] = at
    else:
        number = num_telegrams(s, source)
        left = draw(s, number) if number > 1 else 0
        for token in range(s["telegrams"].size):
            if s["telegrams"][token] == source:
                if left == 0:
                    s["telegrams"][token] = receiver
                    break
                left -= 1
    record(rules, s, TOOK_TELEGRAM, receiver, source, NOBODY)
