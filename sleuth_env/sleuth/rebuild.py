"""From a view and a deal back to a state: a game as it may be, to be played on by a search.

A view leaves open where the hidden gems lie, the order of the draw pile and of the offers to accuse,
and what others have accused. `rebuild` takes a deal of the gems (`Worlds.sample` draws them) and
draws the rest. Axis letters: ``B`` games, ``C`` gem cards, ``H`` holders: the opponents to the
viewer's left, then "missing".
"""

from __future__ import annotations

import numpy as np

from ..bits import draw, members, mixed, popcount, shuffle
from ..doors import ANY, ArrayError, array, described, records
from ..kernels import inner, kernel
from .cards import ALL_SEARCH_CARDS, NUM_GEMS
from .checked import checked_rules, checked_views
from .invariants import problems
from .rules import is_shown
from .state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    ASKER,
    BLANK,
    EVENT_FIELDS,
    FINAL_EVENT,
    FINISHED,
    IN,
    KIND,
    OFFER,
    OUT,
    RIGHT,
    RIGHT_EVENT,
    TARGET,
    WRONG_EVENT,
    P,
    Q,
    new_states,
)
from .view import VIEW

# Why a deal does not fit a view.
FITS, OVER, OWN, SIZES, SEEN, ANSWER, KNOWN_MISSING, NO_GAME = range(8)
REASONS = {
    OVER: "the game is finished: there is nothing to go on with",
    OWN: "the deal must give every gem to a holder, but for those in the viewer's hand or on the table, which are -1",
    SIZES: "the deal gives a holder more or fewer gems than it has",
    SEEN: "the deal takes a gem from an opponent who has shown it to the viewer",
    ANSWER: "the deal contradicts an announced number",
    KNOWN_MISSING: "the deal has other gems missing than the viewer has seen",
    NO_GAME: "no game looks like this view",
}
# Orders of offers are drawn until one fits; where a seventh of them fit this is out of reach.
TRIES = 10_000


class RebuildError(ValueError):
    """A deal does not fit the view; the message says why."""


def rebuild(rules: np.ndarray, views: np.ndarray, deals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return games that look to one seat exactly as its view does.

    In each of them everybody has seen what they have seen, given the deal. What the viewer cannot
    know besides is drawn, all that fits equally likely: the order of the draw pile; the order in
    which players are offered to accuse, and, where it is not the viewer's decision, who has been
    asked; which gems others have accused, and, where that is not announced, who of them was right
    and in which order. An accusation of several gems that another player has begun is not shown to
    anybody, and is not guessed at.

    >>> from sleuth_env.sleuth import Options, belief, deal, make_rules, new_states, view, VIEW
    >>> rules = make_rules(Options(num_players=3))
    >>> states = new_states(1)
    >>> deal(rules, states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(rules, states, np.array([0]), views)
    >>> rng = np.random.default_rng(0)
    >>> games = rebuild(rules, views, belief(rules, views).sample(100, rng), rng)
    >>> again = np.zeros(100, VIEW)
    >>> view(rules, games, np.zeros(100, np.int64), again)
    >>> all(seen == views[0] for seen in again)
    True

    Args:
        rules: RULES [1].
        views: VIEW [B], or VIEW [1] for all games alike.
        deals: integers [B, C], the holder of each gem: 0 for the opponent to the viewer's left, and
            so on, last "missing"; -1 for gems in the viewer's hand and on the table.
        rng: draws what is left open.

    Returns:
        STATE [B].

    Raises:
        RebuildError: a deal does not fit its view, the game is finished, or no game looks like the
            view.
        ArrayError: an argument is not of this kind.
    """
    rules = checked_rules(rules)
    views = checked_views(rules, views)
    deals = array("deals", deals, np.int64, (ANY, NUM_GEMS))
    if not isinstance(rng, np.random.Generator):
        raise ArrayError(f"rng must be a numpy.random.Generator, such as default_rng(1), got {described(rng)}")
    views = views.repeat(len(deals)) if len(views) == 1 else records("views", views, VIEW, (len(deals),), "VIEW")
    states = new_states(len(deals))
    faults = np.zeros(len(deals), np.int64)
    _rebuild(rules, BLANK, views, deals, rng.integers(0, 2**64, len(deals), np.uint64), states, faults)
    for row in np.flatnonzero(faults)[:1]:
        raise RebuildError(f"deal {row}: {REASONS[int(faults[row])]}")
    for problem in problems(rules, states)[:1]:
        raise RebuildError(f"{REASONS[NO_GAME]}: {problem}")
    return states


@kernel
def _rebuild(rules, blank, views, deals, seeds, states, faults):
    """Write the states; where a deal does not fit, only why (i8 [B])."""
    for b in range(states.size):
        states[b] = blank[0]
        s = states[b]
        v = views[b]
        s["rng"] = seeds[b]
        faults[b] = _place_gems(rules[0], v, deals[b], s)
        if faults[b] == FITS:
            _copy_public(rules[0], v, s)
            _copy_seats(rules[0], v, s)
            _show_gems(rules[0], s)
            _draw_accusations(rules[0], v, s)
            _draw_pile(s)
            if not _draw_actor(rules[0], v, s):
                faults[b] = NO_GAME
            # The next numbers have nothing to do with those that were drawn here.
            s["rng"] = mixed(s["rng"])


@inner
def _seat(rules, v, k):
    return (int(v["seat"]) + int(k)) % int(rules["num_players"])


# --- the deal ---


@inner
def _place_gems(rules, v, deal, s):
    """Place the gems with their holders; return why the deal does not fit, or `FITS`."""
    if v["phase"] == FINISHED:
        return OVER
    missing = int(rules["num_players"]) - 1
    open_cards = v["hand"] | v["table"]
    s["hands"][v["seat"]] = v["hand"]
    s["table"] = v["table"]
    for gem in range(NUM_GEMS):
        holder = deal[gem]
        is_open = (open_cards >> gem) & 1 == 1
        if (holder == -1) != is_open or holder < -1 or holder > missing:
            return OWN
        if holder == missing:
            s["missing_gems"] |= np.int64(1) << gem
        elif holder >= 0:
            s["hands"][_seat(rules, v, holder + 1)] |= np.int64(1) << gem
    return _fault(rules, v, s)


@inner
def _fault(rules, v, s):
    if popcount(s["missing_gems"]) != rules["missing"]:
        return SIZES
    if v["missing_gems"] != 0 and v["missing_gems"] != s["missing_gems"]:
        return KNOWN_MISSING
    for k in range(1, rules["num_players"]):
        hand = s["hands"][_seat(rules, v, k)]
        if popcount(hand) != rules["hand_size"]:
            return SIZES
        if v["seen"][k] & ~hand != 0:
            return SEEN
        for question in members(v["told"][k]):
            if popcount(hand & rules["question_gems"][question]) != v["answers"][k, question]:
                return ANSWER
    return FITS


# --- what everybody sees ---


@inner
def _copy_public(rules, v, s):
    """Copy what lies open, and what is being decided."""
    s["turn"] = _seat(rules, v, v["turn"])
    s["turn_number"] = v["turn_number"]
    s["phase"] = v["phase"]
    s["first_target"] = -1 if v["first_target"] < 0 else _seat(rules, v, v["first_target"])
    s["first_elements"] = v["first_elements"]
    s["pile_size"] = v["pile_size"]
    s["discards"] = v["discards"]
    s["asked"] = _num_asked(rules, v)
    for i in range(rules["num_players"]):
        for field in range(EVENT_FIELDS):
            value = v["events"][i, field]
            s["events"][i, field] = _seat(rules, v, value) if field in (ASKER, TARGET) and value >= 0 else value


@inner
def _num_asked(rules, v):
    """Count the questions of this turn, final ones apart.

    The view names the target and the kind of the first; a second one has another of both.
    """
    if v["first_target"] < 0:
        return 0
    for i in range(rules["num_players"]):
        event = v["events"][i]
        if event[KIND] == ASK_EVENT:
            return 1 if event[TARGET] == v["first_target"] else 2
    return 1


@inner
def _copy_seats(rules, v, s):
    """Copy what is known of every seat."""
    for k in range(rules["num_players"]):
        seat = _seat(rules, v, k)
        s["search"][seat] = v["search"][k]
        s["spent"][seat] = v["spent"][k]
        s["exchanges"][seat] = v["exchanges"][k]
        s["standing"][seat] = v["standing"][k]
        s["place"][seat] = v["place"][k]
        for question in members(v["told"][k]):
            s["answers"][seat, question] = v["answers"][k, question]
            for asker in members(v["askers"][k, question]):
                s["askers"][seat, question] |= 1 << _seat(rules, v, asker)


@inner
def _show_gems(rules, s):
    """Write which gems each asker has been shown: it follows from the questions and the hands."""
    for target in range(rules["num_players"]):
        for question in range(Q):
            if is_shown(rules, question):
                gems = s["hands"][target] & rules["question_gems"][question]
                for asker in members(s["askers"][target, question]):
                    s["seen"][asker, target] |= gems


# --- what is drawn ---


@inner
def _draw_pile(s):
    """Shuffle the search cards that lie nowhere else."""
    held = s["discards"]
    for seat in range(P):
        held |= s["search"][seat]
    size = 0
    for card in members(ALL_SEARCH_CARDS & ~held):
        s["pile"][size] = card
        size += 1
    shuffle(s, s["pile"], size)


@inner
def _draw_accusations(rules, v, s):
    """Draw what others have accused, and, where that is not announced, with what result."""
    if not rules["announce_result"]:
        _draw_results(rules, v, s)
    for seat in range(rules["num_players"]):
        if seat == v["seat"]:
            s["accused"][seat] = v["accused"]
        elif s["standing"][seat] == RIGHT:
            s["accused"][seat] = s["missing_gems"]
        elif s["standing"][seat] == OUT:
            s["accused"][seat] = _wrong_accusation(rules, s)
        s["num_right"] += s["standing"][seat] == RIGHT


@inner
def _wrong_accusation(rules, s):
    """Draw gems other than the missing ones."""
    gems = s["missing_gems"]
    while gems == s["missing_gems"]:
        gems = np.int64(0)
        while popcount(gems) < rules["missing"]:
            gems |= np.int64(1) << draw(s, NUM_GEMS)
    return gems


@inner
def _draw_results(rules, v, s):
    """Draw who of those who have left was right, in an order that fits the events.

    The game goes on, so fewer than `winners` were right, and nobody was crowned.
    """
    order = np.empty(P, np.int64)
    size = _draw_order(rules, v, s, order)
    while True:
        right = 0
        for i in range(size):
            seat = order[i]
            s["place"][seat] = 0
            # The viewer knows its own result.
            is_right = s["standing"][seat] == RIGHT if seat == v["seat"] else draw(s, 2) == 1
            if is_right:
                right += 1
                s["place"][seat] = right
        crowned = rules["last_survivor_wins"] and right == 0 and size == rules["num_players"] - 1
        if right < rules["winners"] and not crowned:
            break
    for i in range(size):
        s["standing"][order[i]] = RIGHT if s["place"][order[i]] > 0 else OUT


@inner
def _draw_order(rules, v, s, order):
    """Write those who have left in the order of their accusations; return their number.

    The newest ones are among the events; those before are in an order that is drawn.
    """
    size = 0
    for seat in range(rules["num_players"]):
        if s["standing"][seat] != IN:
            order[size] = seat
            size += 1
    shuffle(s, order, size)
    for i in range(rules["num_players"] - 1, -1, -1):
        if s["events"][i, KIND] == ACCUSED_EVENT:
            _move_to_end(order, size, s["events"][i, ASKER])
    return size


@inner
def _move_to_end(order, size, seat):
    found = False
    for i in range(size):
        found = found or order[i] == seat
        if found and i + 1 < size:
            order[i] = order[i + 1]
    order[size - 1] = seat


@inner
def _draw_actor(rules, v, s):
    """Say who is to act, in a round of offers drawn; return whether anybody can be."""
    s["actor"] = s["turn"]
    if v["to_act"]:
        s["accusing"] = v["accusing"]
    return s["phase"] != OFFER or _draw_offers(rules, v, s)


@inner
def _draw_offers(rules, v, s):
    """Draw the queue of offers and how far it has come; return whether there is one that fits."""
    gone = np.empty(P, np.int64)  # who has accused in this round, first to last
    num_gone = _gone_in_round(rules, s, gone)
    for _ in range(TRIES):
        _queue(rules, s, gone, num_gone)
        at = draw(s, s["num_offers"])
        is_viewer = s["offers"][at] == v["seat"]
        # Whoever has accused was asked before.
        fits = is_viewer == (v["to_act"] == 1)
        for i in range(at, s["num_offers"]):
            fits = fits and s["standing"][s["offers"][i]] == IN
        if fits:
            s["offer_at"] = at
            s["actor"] = s["offers"][at]
            return True
    return False


@inner
def _gone_in_round(rules, s, gone):
    """Write who has accused when it was offered since the last answer; return their number.

    Whoever asked a final question has accused before anybody was offered to.
    """
    last = 0
    while last < rules["num_players"] - 1 and s["events"][last, KIND] in (WRONG_EVENT, RIGHT_EVENT, ACCUSED_EVENT):
        last += 1
    if s["events"][last, KIND] == FINAL_EVENT:
        last -= 1
    for i in range(last):
        gone[last - 1 - i] = s["events"][i, ASKER]
    return max(last, 0)


@inner
def _queue(rules, s, gone, num_gone):
    """Queue the contenders of the last answer; those who are gone stand in their order."""
    size = 0
    for k in range(rules["num_players"]):
        seat = (int(s["turn"]) + k) % int(rules["num_players"])
        is_gone = False
        for i in range(num_gone):
            is_gone = is_gone or gone[i] == seat
        if is_gone or s["standing"][seat] == IN:
            s["offers"][size] = seat
            size += 1
    if rules["offers_random"]:
        shuffle(s, s["offers"], size)
        at = 0
        for i in range(size):
            if s["standing"][s["offers"][i]] != IN:
                s["offers"][i] = gone[at]
                at += 1
    s["num_offers"] = size
