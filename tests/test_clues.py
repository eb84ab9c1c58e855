"""What a viewer knows becomes evidence, and the sheet made of it says what follows."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env.deduction.evidence import EVIDENCE, Contradiction
from sleuth_env.sleuth.cards import ALL_GEMS, NUM_QUESTIONS, Options, make_rules, question_gems
from sleuth_env.sleuth.clues import ALL_CARDS, NUM_SETS, clues, read_sheet
from tests.support.bot_games import BotGames
from tests.support.comparison import QUESTION_INDEX, gem_mask
from tests.support.situation import Situation, gem_names
from tests.support.strategies import EVERY_VARIANT, option_name

EXAMPLE_HAND = [
    "red-diamond-cluster",
    "blue-diamond-pair",
    "green-diamond-pair",
    "green-pearl-pair",
    "green-pearl-cluster",
    "blue-opal-pair",
    "yellow-pearl-cluster",
]


def sheet_of(game: Situation, seat: int) -> np.void:
    return read_sheet(game.rules, np.array([game.seen_by(seat)]))[0]


def test_of_two_clusters_shown_to_another_the_rest_follows_once_the_last_one_is_seen_elsewhere() -> None:
    hands = {0: ["blue-pearl-cluster"], 2: ["red-pearl-cluster", "green-pearl-cluster"], 3: ["yellow-pearl-cluster"]}
    search = {0: ["red", "yellow-cluster"], 1: ["pearl-cluster"]}
    game = Situation(Options(4), ["red-diamond-pair"], hands, search)
    assert game.do("ask", 3, "red", "red")
    game.all_pass()
    assert game.do("ask", 1, "pearl-cluster", "pearl-cluster")
    game.all_pass()
    assert game.announced(2, "pearl-cluster") == 2
    assert not sheet_of(game, 0)["has"][1] & gem_mask(hands[2])
    assert game.do("exchange")
    assert game.do("exchange")
    assert game.do("ask", 3, "yellow-cluster", "yellow-cluster")
    sheet = sheet_of(game, 0)
    assert set(hands[2]) <= gem_names(int(sheet["has"][1]))
    assert "yellow-pearl-cluster" in gem_names(int(sheet["has"][2]))


def test_the_rule_books_example_hand_of_five_players_is_crossed_out_and_nothing_else() -> None:
    game = Situation(Options(5), ["red-opal-pair"], {0: EXAMPLE_HAND})
    sheet = sheet_of(game, 0)
    assert game.table == 0
    assert sheet["can"][:5].tolist() == [ALL_GEMS & ~gem_mask(EXAMPLE_HAND)] * 5
    assert sheet["has"].tolist() == [0] * 7


def test_gems_face_up_are_crossed_out_everywhere() -> None:
    game = Situation(Options(6), ["red-opal-pair"])
    assert sheet_of(game, 2)["can"][:6].tolist() == [ALL_GEMS & ~game.table & ~int(game.hands[2])] * 6


@pytest.mark.parametrize(("super_sleuth", "sees"), [(False, True), (True, False)])
def test_the_cards_shown_are_marked_for_the_asker_alone_and_in_super_sleuth_for_nobody(
    super_sleuth: bool, sees: bool
) -> None:
    gems = ["blue-opal-solitaire", "blue-opal-cluster"]
    game = Situation(
        Options(4, super_sleuth=super_sleuth), ["red-opal-pair"], {1: gems, 2: ["blue-opal-pair"]}, {0: ["blue-opal"]}
    )
    assert game.do("ask", 1, "blue-opal", "blue-opal")
    assert gem_names(int(sheet_of(game, 0)["has"][0])) == (set(gems) if sees else set())
    assert ("blue-opal-pair" in gem_names(int(sheet_of(game, 0)["can"][0]))) is not sees
    assert gem_names(int(sheet_of(game, 3)["has"][1])) == set()
    # Who holds the third blue opal knows the other two all the same.
    assert set(gems) <= gem_names(int(sheet_of(game, 2)["has"][2]))


def test_a_number_without_cards_shown_binds_from_both_sides() -> None:
    game = Situation(Options(5), ["red-diamond-cluster"], {1: ["blue-opal-pair"]}, {0: ["pair"]})
    evidence = np.zeros(1, EVIDENCE)
    assert game.do("ask", 1, "pair", "pair")
    clues(game.rules, np.array([game.seen_by(3)]), evidence)
    # Seat 1 is the third to the left of seat 3.
    assert (
        evidence["least"][0, 2, QUESTION_INDEX["pair"]]
        == evidence["most"][0, 2, QUESTION_INDEX["pair"]]
        == game.announced(1, "pair")
        > 0
    )
    assert evidence["possible"][0, 2] == evidence["cards"][0]


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_whoever_accused_wrongly_knows_the_missing_gems_and_nobody_else_does(missing: int) -> None:
    gems = ["red-opal-pair", "green-opal-pair", "yellow-pearl-cluster"][:missing]
    game = Situation(Options(3, missing=missing), gems)
    game.accuse_wrongly()
    assert gem_names(int(sheet_of(game, 0)["has"][2])) == set(gems)
    assert gem_names(int(sheet_of(game, 0)["can"][2])) == set(gems)
    assert sheet_of(game, 1)["has"][2] == 0


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_the_number_of_missing_gems_bounds_the_last_holder(missing: int) -> None:
    game = Situation(
        Options(3, missing=missing), ["red-opal-pair", "green-opal-pair", "yellow-pearl-cluster"][:missing]
    )
    evidence = np.zeros(1, EVIDENCE)
    clues(game.rules, np.array([game.seen_by(1)]), evidence)
    assert (evidence["num_holders"][0], evidence["num_sets"][0], ALL_CARDS) == (3, NUM_SETS, NUM_QUESTIONS)
    assert (
        evidence["least"][0, :3, ALL_CARDS].tolist() == evidence["most"][0, :3, ALL_CARDS].tolist() == [11, 11, missing]
    )


def spelled_out(options: Options, v: np.void) -> dict[str, np.ndarray]:
    """Return the evidence of a view, worked out by hand."""
    n = options.num_players
    cards = ALL_GEMS & ~int(v["hand"]) & ~int(v["table"])
    sets = [question_gems(q) & cards for q in range(NUM_QUESTIONS)] + [cards]
    least = np.zeros((n, NUM_SETS), int)
    most = np.array([[gems.bit_count() for gems in sets]] * n)
    for holder, question in zip(*np.nonzero(v["answers"][1:n] >= 0), strict=True):
        least[holder, question] = most[holder, question] = v["answers"][holder + 1, question]
    least[:, -1] = most[:, -1] = [options.hand_size] * (n - 1) + [options.missing]
    located = [int(gems) for gems in v["seen"][1:n]] + [int(v["missing_gems"])]
    possible = [cards & ~(sum(located) - located[h]) & (located[h] | ~sum(located)) for h in range(n)]
    if v["missing_gems"]:
        possible[-1] = int(v["missing_gems"])
    return {
        "cards": np.array(cards),
        "sets": np.array(sets),
        "possible": np.array(possible),
        "least": least,
        "most": most,
    }


def assert_spelled_out(options: Options, v: np.void, e: np.void) -> None:
    n = options.num_players
    expected = spelled_out(options, v)
    assert e["cards"] == expected["cards"]
    np.testing.assert_array_equal(e["sets"][:NUM_SETS], expected["sets"])
    np.testing.assert_array_equal(e["possible"][:n], expected["possible"])
    np.testing.assert_array_equal(e["least"][:n, :NUM_SETS], expected["least"])
    np.testing.assert_array_equal(e["most"][:n, :NUM_SETS], expected["most"])


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_the_evidence_is_what_the_view_says_and_the_true_deal_agrees_with_the_sheet(options: Options) -> None:
    n = options.num_players
    games = BotGames(options, ("cautious", "random", "sheet"), 6, seed=2)
    for moment, decisions in enumerate(games.play()):
        views = decisions.views
        states = decisions.states
        sheets = read_sheet(games.rules, decisions.views)
        seats = (states["actor"][:, None] + np.arange(1, n)) % n
        hands = np.column_stack([np.take_along_axis(states["hands"], seats, axis=1), states["missing_gems"]])
        assert not (sheets["has"][:, :n] & ~hands).any()
        assert not (hands & ~sheets["can"][:, :n]).any()
        if moment % 10 == 0:
            evidence = np.zeros(views.size, EVIDENCE)
            clues(games.rules, views, evidence)
            assert_spelled_out(options, views[-1], evidence[-1])


def all_hands(unseen: int, num_holders: int) -> np.ndarray:
    """Return every way to hand out some gems, as masks (i8 [deals, H])."""
    gems = np.array([1 << gem for gem in range(36) if unseen >> gem & 1])
    holders = np.indices((num_holders,) * len(gems)).reshape(len(gems), -1).T
    return np.stack([((holders == h) * gems).sum(axis=1) for h in range(num_holders)], axis=1)


def deals_that_fit(options: Options, v: np.void, unseen: int) -> np.ndarray:
    """Return the deals of the unseen gems that fit all that the viewer was told (i8 [deals, H])."""
    n = options.num_players
    table = np.array([question_gems(q) for q in range(NUM_QUESTIONS)])
    hands = all_hands(unseen, n)
    hands[:, : n - 1] |= v["seen"][1:n]
    fits = (np.bitwise_count(hands) == [options.hand_size] * (n - 1) + [options.missing]).all(axis=1)
    for holder, question in zip(*np.nonzero(v["answers"][1:n] >= 0), strict=True):
        fits &= np.bitwise_count(hands[:, holder] & table[question]) == v["answers"][holder + 1, question]
    return hands[fits]


def reveal_all_but_some(v: np.void, state: np.void, n: int, number: int, rng: np.random.Generator) -> int:
    """Let a viewer have seen all but a number of gems, the missing ones among them.

    Returns the mask of the unseen gems.
    """
    missing = int(state["missing_gems"])
    others = [gem for gem in range(36) if (ALL_GEMS & ~int(v["hand"] | v["table"]) & ~missing) >> gem & 1]
    unseen = missing | sum(1 << int(gem) for gem in rng.permutation(others)[: number - missing.bit_count()])
    for k in range(1, n):
        v["seen"][k] = int(state["hands"][(state["actor"] + k) % n]) & ~unseen
    return unseen


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (Options(3), 8),
        (Options(3, missing=3), 8),
        (Options(4), 7),
        (Options(4, missing=2, super_sleuth=True), 7),
        (Options(5), 6),
        (Options(7), 5),
    ],
)
def test_with_a_few_gems_left_the_sheet_agrees_with_the_enumeration_of_all_deals(options: Options, number: int) -> None:
    n = options.num_players
    games = BotGames(options, ("sheet",), 1, seed=8)
    rng = np.random.default_rng(8)
    complete = []
    for decisions in games.play(limit=150):
        views = decisions.views.copy()
        unseen = reveal_all_but_some(views[0], decisions.states[0], n, number, rng)
        sheet = read_sheet(games.rules, views)[0]
        deals = deals_that_fit(options, views[0], unseen)
        may = np.bitwise_or.reduce(deals)
        must = np.bitwise_and.reduce(deals)
        assert not (may & ~sheet["can"][:n]).any()
        assert not (sheet["has"][:n] & ~must).any()
        complete.append((may == sheet["can"][:n]).all() and (must == sheet["has"][:n]).all())
    assert len(complete) > 20
    assert np.mean(complete) > 0.9


def test_a_view_that_no_deal_satisfies_is_refused() -> None:
    game = Situation(Options(3), ["red-opal-pair"])
    views = np.array([game.seen_by(0)])
    views["answers"][0, 1, :2] = 9
    views["told"][0, 1] = 0b11
    with pytest.raises(Contradiction, match="exactly 9 of the cards"):
        read_sheet(make_rules(Options(3)), views)
