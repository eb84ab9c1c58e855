"""Sleuth in extensive form: chance is a player, who deals one card after the other.

What nobody can know before it is drawn is drawn when it is needed: the next search card, when
somebody takes it; who is offered to accuse next, when the offer is made. Every order of a shuffled
pile, or of a queue, is then as likely as it was, so this is the same game; only the state looks
different, for the rest of a pile and of a queue lies in order (see `settle`). The rules remain the
kernels of `rules`: they shuffle as always, and what they have drawn so is put back and drawn again.
See `sleuth_env.game.Extensive`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..game import opaque
from .belief import belief
from .cards import ALL_GEMS, NUM_GEMS, NUM_PAIRS, NUM_SEARCH_CARDS, SEARCH_HAND, Options, make_rules
from .notation import (
    PHASE_NAMES,
    event_text,
    gem_name,
    gem_names,
    player_name,
    question_name,
    search_card_name,
    search_card_names,
)
from .rebuild import rebuild
from .rules import step
from .state import IN, LEFT, NO_EVENT, OFFER, OUT, RIGHT, TURN, new_states
from .view import VIEW, view

# What chance is to draw; how much has been dealt is seen from the state.
DEAL = 1  # the next gem, then the next search card, then the first player
REFILL = 2  # the next search card for a seat: REFILL, seat, number of cards
NEXT_OFFER = 3  # who is offered to accuse next
Draws = tuple[int, ...]
NOTHING: Draws = ()

STANDING_NAMES = {IN: "in", OUT: "out", RIGHT: "right", LEFT: "has accused"}


def begin(options: Options) -> tuple[np.ndarray, Draws]:
    """Return a game of which nothing has been drawn (STATE [1]), and what is to be drawn."""
    make_rules(options)
    return new_states(1), (DEAL,)


def is_dealt(draws: Draws) -> bool:
    """Return whether all cards have been dealt and somebody is the first to play."""
    return draws[:1] != (DEAL,)


# --- chance ---


def outcomes(options: Options, state: np.ndarray, draws: Draws) -> list[tuple[int, float]]:
    """Return what chance may draw next, in ascending order, all of it equally likely.

    An outcome is the number of a gem, of a search card or of a seat.

    >>> state, draws = begin(Options(num_players=3))
    >>> len(outcomes(Options(num_players=3), state, draws))  # any gem may be the missing one
    36
    """
    numbers = _open(options, state[0], draws)
    return [(number, 1 / len(numbers)) for number in numbers]


def _open(options: Options, s: np.void, draws: Draws) -> list[int]:
    if draws[0] == REFILL:
        return sorted(s["pile"][: s["pile_size"]].tolist())
    if draws[0] == NEXT_OFFER:
        return sorted(s["offers"][s["offer_at"] : s["num_offers"]].tolist())
    if _next_gem_holder(options, s) is not None:
        dealt = int(s["missing_gems"]) | _union(s["hands"])
        return [gem for gem in range(NUM_GEMS) if not dealt >> gem & 1]
    if _next_search_hand(options, s) is not None:
        dealt = _union(s["search"])
        return [card for card in range(NUM_SEARCH_CARDS) if not dealt >> card & 1]
    return list(range(options.num_players))


def draw(options: Options, state: np.ndarray, draws: Draws, outcome: int, rewards: NDArray[np.float64]) -> Draws:
    """Let chance draw one of `outcomes`; return what is to be drawn then.

    ``rewards`` (f8 [1, P]) is written: zeros, for nobody is paid for what is drawn.

    >>> options = Options(num_players=3)
    >>> state, draws = begin(options)
    >>> draws = draw(options, state, draws, 16, np.zeros((1, 3)))
    >>> gem_names(state["missing_gems"][0])
    ['blue-opal-pair']
    """
    rewards[:] = 0
    s = state[0]
    if draws[0] == REFILL:
        _, seat, number = draws
        s["search"][seat] |= 1 << outcome
        _lay_pile(s, (card for card in s["pile"][: s["pile_size"]].tolist() if card != outcome))
        return (REFILL, seat, number - 1) if number > 1 else NOTHING
    if draws[0] == NEXT_OFFER:
        _offer_to(s, outcome)
        return NOTHING
    return _deal(options, s, outcome)


def outcome_name(options: Options, state: np.ndarray, draws: Draws, outcome: int) -> str:
    """Return what chance draws in words.

    >>> state, draws = begin(Options(num_players=3))
    >>> outcome_name(Options(num_players=3), state, draws, 16)
    'blue-opal-pair is missing'
    """
    s = state[0]
    if draws[0] == REFILL:
        return f"{player_name(draws[1])} draws {search_card_name(outcome)}"
    if draws[0] == NEXT_OFFER:
        return f"{player_name(outcome)} is offered to accuse"
    holder = _next_gem_holder(options, s)
    if holder is not None:
        return f"{gem_name(outcome)} is missing" if holder < 0 else f"{player_name(holder)} gets {gem_name(outcome)}"
    seat = _next_search_hand(options, s)
    if seat is not None:
        return f"{player_name(seat)} gets {search_card_name(outcome)}"
    return f"{player_name(outcome)} begins"


# --- the deal ---


def _union(masks: Iterable[Any]) -> int:
    together = 0
    for mask in masks:
        together |= int(mask)
    return together


def _next_gem_holder(options: Options, s: np.void) -> int | None:
    """Return the seat that gets the next gem, -1 where it is set aside, None when all have theirs."""
    if int(s["missing_gems"]).bit_count() < options.missing:
        return -1
    seats = range(options.num_players)
    return next((seat for seat in seats if int(s["hands"][seat]).bit_count() < options.hand_size), None)


def _next_search_hand(options: Options, s: np.void) -> int | None:
    seats = range(options.num_players)
    return next((seat for seat in seats if int(s["search"][seat]).bit_count() < SEARCH_HAND), None)


def _deal(options: Options, s: np.void, outcome: int) -> Draws:
    """Deal a gem or a search card, or say who begins."""
    holder = _next_gem_holder(options, s)
    if holder is not None:
        if holder < 0:
            s["missing_gems"] |= 1 << outcome
        else:
            s["hands"][holder] |= 1 << outcome
        return (DEAL,)
    seat = _next_search_hand(options, s)
    if seat is None:
        _start(options, s, outcome)
        return NOTHING
    s["search"][seat] |= 1 << outcome
    if _next_search_hand(options, s) is None and options.first_player == "seat_0":
        _start(options, s, 0)
        return NOTHING
    return (DEAL,)


def _start(options: Options, s: np.void, first: int) -> None:
    """Lay out what is left and let the first player begin."""
    s["table"] = ALL_GEMS & ~(int(s["missing_gems"]) | _union(s["hands"]))
    held = _union(s["search"])
    _lay_pile(s, (card for card in range(NUM_SEARCH_CARDS) if not held >> card & 1))
    s["turn"] = s["actor"] = first
    s["phase"] = TURN


# --- actions ---


def act(options: Options, state: np.ndarray, action: int, rewards: NDArray[np.float64]) -> Draws | None:
    """Take a player's action; return what is to be drawn then, None where it is illegal and nothing has changed."""
    before = opaque(state).copy().view(state.dtype)
    taken = np.zeros(1, np.uint8)
    step(make_rules(options), state, np.array([action], np.int64), taken, rewards)
    if not taken[0]:
        return None
    s = state[0]
    s["rng"] = 0
    draws = _undrawn(options, before[0], s, action)
    return draws or _unoffered(options, s)


def _undrawn(options: Options, before: np.void, s: np.void, action: int) -> Draws:
    """Put search cards that were drawn back where chance has a choice; return what is to be drawn."""
    seat = int(before["turn"])
    kept = _kept(options, before, action)
    drawn = int(s["search"][seat]) & ~kept
    old_pile = _pile_mask(before)
    if not drawn:
        return NOTHING
    # Once the discards were turned over, the cards that had been left in the pile were drawn for certain.
    together = drawn | _pile_mask(s)
    free = (together & ~old_pile) or together
    number = (drawn & free).bit_count()
    if number == free.bit_count():
        _lay_pile(s, ())
        return NOTHING
    s["search"][seat] = kept | (drawn & ~free)
    _lay_pile(s, (card for card in range(NUM_SEARCH_CARDS) if free >> card & 1))
    return (REFILL, seat, number)


def _kept(options: Options, before: np.void, action: int) -> int:
    """Return the search cards that the player whose turn it is keeps, whatever is drawn (a mask)."""
    rules = make_rules(options)[0]
    held = int(before["search"][before["turn"]])
    if action == rules["exchange_at"]:
        return 0
    if action < rules["final_at"]:
        return held & ~(1 << int(rules["pair_card"][action % NUM_PAIRS]))
    return held


def _unoffered(options: Options, s: np.void) -> Draws:
    """Return what is to be drawn where an offer is made: whom of several."""
    left = int(s["num_offers"]) - int(s["offer_at"])
    if options.offer_order != "random" or s["phase"] != OFFER or s["accusing"] or left == 1:
        return NOTHING
    _lay_offers(s, s["offers"][s["offer_at"] : s["num_offers"]].tolist())
    return (NEXT_OFFER,)


def _offer_to(s: np.void, seat: int) -> None:
    rest = s["offers"][s["offer_at"] : s["num_offers"]].tolist()
    rest.remove(seat)
    _lay_offers(s, rest, [seat])
    s["actor"] = seat


def _lay_offers(s: np.void, seats: list[int], first: Iterable[int] = ()) -> None:
    s["offers"][s["offer_at"] : s["num_offers"]] = [*first, *sorted(seats)]


def _pile_mask(s: np.void) -> int:
    return sum(1 << card for card in s["pile"][: s["pile_size"]].tolist())


def _lay_pile(s: np.void, cards: Iterable[int]) -> None:
    """Lay search cards into the draw pile in order; nothing lies behind them."""
    pile = sorted(cards)
    s["pile"][: len(pile)] = pile
    s["pile"][len(pile) :] = 0
    s["pile_size"] = len(pile)


def settle(options: Options, state: np.ndarray) -> None:
    """Bring a game (STATE [1]) into the form that games in extensive form have.

    What is hidden and has not been drawn lies in order, and the generator is at 0.
    """
    s = state[0]
    s["rng"] = 0
    _lay_pile(s, s["pile"][: s["pile_size"]].tolist())
    if options.offer_order == "random" and s["phase"] == OFFER:
        first, *rest = s["offers"][s["offer_at"] : s["num_offers"]].tolist()
        _lay_offers(s, rest, [first])


def resampled(options: Options, state: np.ndarray, seat: int, rng: np.random.Generator) -> np.ndarray:
    """Return a game (STATE [1]) that may be the one that a seat sees, drawn by its exact belief.

    Args:
        options: of the game.
        state: STATE [1], in which somebody is to decide.
        seat: the viewer.
        rng: draws.

    Raises:
        RebuildError: the game is finished.
    """
    rules = make_rules(options)
    views = np.zeros(1, VIEW)
    view(rules, state, np.array([seat]), views)
    games = rebuild(rules, views, belief(rules, views).sample(1, rng), rng)
    settle(options, games)
    return games


# --- what a seat knows ---


def noticed(options: Options, before: Any | None, seen: Any) -> list[bytes]:
    """Return what a seat notices between two of its views (VIEW records): its new view, if that is another one.

    While players are offered to accuse it is nothing: how many others have declined before an
    accusation, or after it, cannot be told, and all accusations are still among the events afterwards.
    """
    same = before is not None and before.tobytes() == seen.tobytes()
    return [] if same or seen["phase"] == OFFER else [seen.tobytes()]


def _seat(seen: Any, k: int) -> int:
    return (int(seen["seat"]) + k) % int(seen["num_players"])


def _by_seat(seen: Any) -> list[tuple[str, int]]:
    """Return the name and the relative seat of every player, player_0 first."""
    count = int(seen["num_players"])
    return [(player_name(seat), (seat - int(seen["seat"])) % count) for seat in range(count)]


def public_text(options: Options, seen: Any) -> str:
    """Return what everybody knows in words: what lies open, what was answered, the last events."""
    names = [player_name(_seat(seen, k)) for k in range(options.num_players)]
    lines = [
        f"turn {int(seen['turn_number'])} of {names[seen['turn']]}, {PHASE_NAMES[seen['phase']]}",
        f"table: {_listed(gem_names(seen['table']))}",
        f"draw pile: {int(seen['pile_size'])}; discards: {_listed(search_card_names(seen['discards']))}",
    ]
    lines += (_seat_line(options, seen, name, k) for name, k in _by_seat(seen))
    events = [event_text(event, names) for event in seen["events"] if event[0] != NO_EVENT]
    return "\n".join([*lines, f"last: {'; '.join(filter(None, events)) or 'nothing'}"])


def _listed(names: list[str]) -> str:
    return " ".join(names) or "none"


def _seat_line(options: Options, seen: Any, name: str, k: int) -> str:
    standing = int(seen["standing"][k])
    place = int(seen["place"][k])
    if not options.announce_result:
        # The viewer's own is not for everybody.
        standing = IN if standing == IN else LEFT
        place = 0
    known = [STANDING_NAMES[standing], *([f"place {place}"] if place else [])]
    answers = [
        f"{question_name(question)} {int(count)} to {_listed(_askers(seen, int(seen['askers'][k, question])))}"
        for question, count in enumerate(seen["answers"][k])
        if count >= 0
    ]
    return (
        f"{name}: {', '.join(known)}; search cards: {_listed(search_card_names(seen['search'][k]))}; "
        f"spent: {_listed(search_card_names(seen['spent'][k]))}; exchanges: {int(seen['exchanges'][k])}; "
        f"answers: {', '.join(answers) or 'none'}"
    )


def _askers(seen: Any, mask: int) -> list[str]:
    return [name for name, k in _by_seat(seen) if mask >> k & 1]


def private_text(options: Options, seen: Any) -> str:
    """Return what the viewer knows besides in words: its hand, the gems shown to it, its accusation."""
    lines = [
        f"I am {player_name(int(seen['seat']))}{', to decide' if seen['to_act'] else ''}",
        f"hand: {_listed(gem_names(seen['hand']))}",
    ]
    for name, k in _by_seat(seen):
        for field, words in (("seen", "has shown me"), ("seen_by", "has seen of mine")):
            if k > 0 and seen[field][k]:
                lines.append(f"{name} {words}: {_listed(gem_names(seen[field][k]))}")
    for field, words in (("accusing", "naming"), ("accused", "I accused"), ("missing_gems", "missing")):
        if seen[field]:
            lines.append(f"{words}: {_listed(gem_names(seen[field]))}")
    if not options.announce_result and seen["standing"][0] != IN:
        lines.append(f"I am {STANDING_NAMES[int(seen['standing'][0])]}, place {int(seen['place'][0])}")
    return "\n".join(lines)


# --- bounds ---


def most_outcomes(options: Options) -> int:
    """Return the number of search cards, the greatest of the decks."""
    return NUM_SEARCH_CARDS


def most_decisions(options: Options) -> int:
    """Return a number that the decisions of a game do not exceed.

    In a turn there are one or two questions, each followed by an offer to everybody, and at most one
    pass that ends it; a final question is followed by accusations, of which everybody makes one in a
    game.
    """
    questions = 2 if options.double_interrogation else 1
    turn = questions * (1 + options.num_players) + 1
    return options.max_turns * turn + options.num_players * options.missing


def most_draws(options: Options) -> int:
    """Return a number that the draws of a game do not exceed: the deal, and what is drawn in each turn."""
    questions = 2 if options.double_interrogation else 1
    deal = options.missing + options.num_players * (options.hand_size + SEARCH_HAND) + 1
    return deal + options.max_turns * (SEARCH_HAND + questions * options.num_players)


@lru_cache(maxsize=64)
def payoffs(options: Options) -> tuple[float, float]:
    """Return the least and the most that somebody can get in a game.

    >>> payoffs(Options(num_players=3)), payoffs(Options(num_players=4, winners=2))
    ((-0.5, 1.0), (-0.75, 1.0))
    """
    least = -1 / (options.num_players - 1)
    paid = 0.0
    for right in range(1, options.winners + 1):
        paid += 1 - (right - 1) / options.winners
        least = min(least, -paid / (options.num_players - right))
    return least, 1.0


def pays_at_end(options: Options) -> bool:
    """Return whether all is paid in the last step; it is."""
    return True
