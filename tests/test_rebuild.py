"""From a view and a deal back to a game that may be."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from sleuth_env.sleuth import (
    ASK_EVENT,
    FINISHED,
    IN,
    OFFER,
    OUT,
    RIGHT,
    TURN,
    VIEW,
    WRONG_EVENT,
    Options,
    RebuildError,
    belief,
    deal,
    legal,
    make_rules,
    new_states,
    num_actions,
    problems,
    rebuild,
    step,
    view,
)
from sleuth_env.sleuth.cards import NUM_GEMS
from tests.support.replaying import Replay
from tests.support.strategies import ALL_VARIANTS, EVERY_VARIANT, KNOWING, LIVELY, PATIENT, RASH, option_name
from tests.support.substitution import play

# What follows from the view and the deal; the rest is drawn.
SETTLED_FIELDS = [
    *("hands", "missing_gems", "table", "seen", "search", "discards", "spent", "turn", "phase", "turn_number"),
    *("asked", "first_target", "first_elements", "num_offers", "truncated", "pile_size", "exchanges", "answers"),
    *("askers", "events"),
]
ANNOUNCED = ("standing", "place", "num_right")


def seen(options: Options, states: np.ndarray, seat: int) -> np.ndarray:
    """Return the views of one seat of some games."""
    views = np.zeros(len(states), VIEW)
    view(make_rules(options), states, np.full(len(states), seat), views)
    return views


def deal_of(options: Options, state: np.ndarray, seat: int) -> np.ndarray:
    """Return how the gems of a state lie for a viewer, as `rebuild` takes it."""
    found = np.full((1, NUM_GEMS), -1)
    for k in range(1, options.num_players):
        hand = int(state["hands"][0, (seat + k) % options.num_players])
        found[0, [gem for gem in range(NUM_GEMS) if hand >> gem & 1]] = k - 1
    missing = int(state["missing_gems"][0])
    found[0, [gem for gem in range(NUM_GEMS) if missing >> gem & 1]] = options.num_players - 1
    return found


def moments(
    options: Options, players=(PATIENT, LIVELY, RASH, KNOWING), seed: int = 0, every: int = 5
) -> list[np.ndarray]:
    """Return moments of some games, as every fifth and more of the rounds of offers, none of them the end."""
    found = []
    for player in players:
        states = play(options, seed, player).states[:-1]
        for i, state in enumerate(states):
            if i % every == 0 or (state["phase"][0] == OFFER and i % (every // 2) == 1):
                found.append(state)
    return found


@pytest.mark.parametrize("every", [10, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_the_viewer_cannot_tell_a_rebuilt_game_from_its_own(options: Options, every: int) -> None:
    rules = make_rules(options)
    rng = np.random.default_rng(1)
    for state in moments(options, every=every):
        for seat in range(options.num_players):
            own = seen(options, state, seat)
            games = rebuild(rules, own, deal_of(options, state, seat).repeat(5, 0), rng)
            assert (seen(options, games, seat).tobytes()) == own.repeat(5).tobytes()
            assert problems(rules, games) == []
            fields = SETTLED_FIELDS + (list(ANNOUNCED) if options.announce_result else [])
            for field in fields:
                assert (games[field] == state[field]).all(), field


@pytest.mark.parametrize("options", ALL_VARIANTS[::5], ids=option_name)
def test_rebuilt_games_are_played_on_to_their_end(options: Options) -> None:
    rules = make_rules(options)
    rng = np.random.default_rng(2)
    chosen = moments(options)[::4]
    games = np.concatenate(
        [
            rebuild(rules, seen(options, state, seat), deal_of(options, state, seat), rng)
            for state in chosen
            for seat in range(options.num_players)
        ]
    )
    while len(games := games[games["phase"] != FINISHED]):
        masks = np.zeros((len(games), num_actions(options)), np.uint8)
        taken = np.zeros(len(games), np.uint8)
        legal(rules, games, masks)
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        step(rules, games, actions, taken, np.zeros((len(games), options.num_players)))
        assert taken.all()
        assert problems(rules, games) == []


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2), Options(4, super_sleuth=True)], ids=option_name)
def test_every_deal_of_the_belief_fits(options: Options) -> None:
    rules = make_rules(options)
    rng = np.random.default_rng(3)
    for state in moments(options)[::3]:
        own = seen(options, state, 0)
        games = rebuild(rules, own, belief(rules, own).sample(50, rng), rng)
        assert seen(options, games, 0).tobytes() == own.repeat(50).tobytes()
        assert problems(rules, games) == []


@pytest.mark.parametrize("options", ALL_VARIANTS[::4], ids=option_name)
def test_a_replay_with_another_deal_is_what_is_rebuilt_from_that_deal(options: Options) -> None:
    rules = make_rules(options)
    rng = np.random.default_rng(4)
    for seed, player in enumerate((PATIENT, LIVELY, KNOWING)):
        history = play(options, seed, player)
        history = history.cut(len(history.actions) // 2)
        if history.states[-1]["phase"][0] == FINISHED:
            continue
        for seat in range(options.num_players):
            replayed = Replay(history, seat, seed).history.states[-1]
            own = seen(options, history.states[-1], seat)
            game = rebuild(rules, own, deal_of(options, replayed, seat), rng)
            for field in SETTLED_FIELDS + (list(ANNOUNCED) if options.announce_result else []):
                assert (game[field] == replayed[field]).all(), field


def test_nothing_hidden_is_read_but_the_deal() -> None:
    options = Options(4)
    rules = make_rules(options)
    history = play(options, 1, PATIENT).cut(40)
    state = history.states[-1]
    other = Replay(history, 0, 1).history.states[-1]
    assert other["pile"].tobytes() != state["pile"].tobytes()
    deals = deal_of(options, state, 0)
    games = [rebuild(rules, seen(options, s, 0), deals, np.random.default_rng(5)) for s in (state, other)]
    assert games[0].tobytes() == games[1].tobytes()


# --- what is drawn is drawn evenly ---


def evenly(drawn: list, possible: int) -> None:
    """Check that each of some possible outcomes comes about equally often (five standard deviations)."""
    counts = Counter(drawn)
    assert len(counts) == possible
    expected = len(drawn) / possible
    assert max(abs(count - expected) for count in counts.values()) < 5 * np.sqrt(expected)


def test_every_order_of_the_pile_is_equally_likely() -> None:
    options = Options(3)
    rules = make_rules(options)
    states = new_states(1)
    deal(rules, states, np.array([1], np.uint64))
    games = rebuild(
        rules, seen(options, states, 0), deal_of(options, states, 0).repeat(20_000, 0), np.random.default_rng(6)
    )
    cards = int(states["pile_size"][0])
    assert {frozenset(pile[:cards]) for pile in games["pile"].tolist()} == {
        frozenset(states["pile"][0, :cards].tolist())
    }
    evenly(games["pile"][:, cards - 1].tolist(), cards)
    evenly(games["pile"][:, 0].tolist(), cards)
    pairs = [tuple(pile[cards - 2 : cards]) for pile in games["pile"].tolist()]
    evenly(pairs, cards * (cards - 1))


def offered_to(options: Options, accused: int) -> np.ndarray:
    """Return a moment in a round of offers in which some have accused already."""
    for seed in range(300):
        for state in play(options, seed, RASH).states[:-1]:
            events = state["events"][0, :, 0]
            if (
                state["phase"][0] == OFFER
                and state["offer_at"][0] == accused
                and events[: accused + 1].tolist() == [WRONG_EVENT] * accused + [ASK_EVENT]
            ):
                return state
    raise AssertionError("no such moment")


@pytest.mark.parametrize("accused", [0, 1])
def test_every_order_of_the_offers_is_equally_likely(accused: int) -> None:
    options = Options(5)
    rules = make_rules(options)
    state = offered_to(options, accused)
    viewer = int(state["actor"][0])
    games = rebuild(
        rules, seen(options, state, viewer), deal_of(options, state, viewer).repeat(20_000, 0), np.random.default_rng(7)
    )
    size = int(state["num_offers"][0])
    queue = state["offers"][0, :size].tolist()
    gone = queue[:accused]
    possible = [
        order
        for order in permutations(queue)
        if all(order.index(seat) < order.index(viewer) for seat in gone) and [s for s in order if s in gone] == gone
    ]
    assert (games["actor"] == viewer).all()
    evenly([tuple(offers[:size]) for offers in games["offers"].tolist()], len(possible))


def test_whom_the_offers_have_reached_is_drawn_where_it_is_not_the_viewer() -> None:
    options = Options(4)
    rules = make_rules(options)
    state = offered_to(options, 0)
    viewer = (int(state["actor"][0]) + 1) % 4
    games = rebuild(
        rules, seen(options, state, viewer), deal_of(options, state, viewer).repeat(20_000, 0), np.random.default_rng(8)
    )
    size = int(state["num_offers"][0])
    places = [
        (tuple(queue[:size]), at)
        for queue, at in zip(games["offers"].tolist(), games["offer_at"].tolist(), strict=True)
    ]
    # 24 orders of four contenders, and in each the three places that are not the viewer's.
    evenly(places, 24 * 3)


def test_unannounced_results_are_drawn() -> None:
    options = Options(5, winners=2, announce_result=False)
    rules = make_rules(options)
    for seed in range(300):
        states = play(options, seed, RASH).states[:-1]
        last = states[-1]
        left = np.flatnonzero(last["standing"][0, :5] != IN)
        if len(left) == 3 and last["num_right"][0] == 0:
            break
    viewer = int(np.flatnonzero(last["standing"][0, :5] == IN)[0])
    games = rebuild(
        rules, seen(options, last, viewer), deal_of(options, last, viewer).repeat(8_000, 0), np.random.default_rng(9)
    )
    standings = [tuple(row[left]) for row in games["standing"]]
    # Nobody or one of them: with two winners the game would be over.
    evenly(standings, len(left) + 1)
    assert set(np.unique(games["standing"][:, left])) == {OUT, RIGHT}
    right = games["standing"][:, left] == RIGHT
    missing = games["missing_gems"][:, None]
    assert ((games["accused"][:, left] == missing) == right).all()


def test_rows_have_a_view_of_their_own() -> None:
    options = Options(3)
    rules = make_rules(options)
    chosen = moments(options)[:6]
    views = np.concatenate([seen(options, state, 1) for state in chosen])
    deals = np.concatenate([deal_of(options, state, 1) for state in chosen])
    games = rebuild(rules, views, deals, np.random.default_rng(0))
    assert seen(options, games, 1).tobytes() == views.tobytes()


# --- what does not fit ---


def in_an_offer_to_nobody(own: np.ndarray) -> None:
    """Let everybody be out while there are offers to accuse."""
    own["phase"] = OFFER
    own["to_act"] = 1
    own["standing"][0, : own["num_players"][0]] = OUT


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda deals, own: deals.__setitem__((0, deals[0].tolist().index(-1)), 0), "-1"),
        (lambda deals, own: deals.__setitem__((0, deals[0].tolist().index(1)), 0), "more or fewer gems"),
        (lambda deals, own: deals.__setitem__((0, 0), 9), "every gem"),
        (lambda deals, own: deals.__setitem__((0, 0), -5), "every gem"),
        (lambda deals, own: own.__setitem__("phase", FINISHED), "finished"),
        (lambda deals, own: own.__setitem__("pile_size", 3), "no game"),
        (lambda deals, own: own.__setitem__("discards", 0), "no game"),
        (lambda deals, own: own["standing"].__setitem__((0, own["turn"][0]), OUT), "no game"),
        (lambda deals, own: in_an_offer_to_nobody(own), "no game"),
    ],
)
def test_a_deal_that_does_not_fit_is_refused(change, reason: str) -> None:
    options = Options(3)
    state = next(state for state in moments(options, (PATIENT,))[1:] if state["phase"][0] == TURN)
    own = seen(options, state, 0)
    deals = deal_of(options, state, 0)
    change(deals, own)
    with pytest.raises(RebuildError, match=reason):
        rebuild(make_rules(options), own, deals, np.random.default_rng(0))


def test_a_deal_against_an_announced_number_or_a_shown_gem_is_refused() -> None:
    options = Options(3)
    rules = make_rules(options)
    state = moments(options, (PATIENT,))[-1]
    own = seen(options, state, 0)
    reasons = set()
    for first in range(NUM_GEMS):
        for second in range(first):
            deals = deal_of(options, state, 0)
            if -1 in (deals[0, first], deals[0, second]) or deals[0, first] == deals[0, second]:
                continue
            deals[0, [first, second]] = deals[0, [second, first]]
            try:
                rebuild(rules, own, deals, np.random.default_rng(0))
            except RebuildError as error:
                reasons.add(str(error).split(": ")[1])
    assert any("announced" in reason for reason in reasons)
    assert any("shown" in reason for reason in reasons)


def test_wild_arguments_are_refused() -> None:
    options = Options(3)
    rules = make_rules(options)
    state = moments(options, (PATIENT,))[3]
    own = seen(options, state, 0)
    deals = deal_of(options, state, 0)
    rng = np.random.default_rng(0)
    for wrong in (deals[:, :30], deals * 1.0, deals[0], None):
        with pytest.raises(ValueError, match="deals must be"):
            rebuild(rules, own, wrong, rng)
    with pytest.raises(ValueError, match="views must be"):
        rebuild(rules, own.repeat(2), deals.repeat(3, 0), rng)
    with pytest.raises(ValueError, match="views must be"):
        rebuild(rules, state, deals, rng)
