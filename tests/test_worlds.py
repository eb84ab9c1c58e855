"""Exact counting agrees with enumeration, and keeps what must hold for any evidence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from sleuth_env.deduction.counting import ASK, weigh
from sleuth_env.deduction.evidence import Contradiction, cards_of, make_evidence, mask_of
from sleuth_env.deduction.questions import FRAME, WORTH
from sleuth_env.deduction.sheet import solve
from sleuth_env.deduction.worlds import Answers, Worlds
from sleuth_env.sleuth import Options
from sleuth_env.sleuth.belief import ORDERS
from tests.support.positions import all_deals, all_hands, evidence_of, may_hold, positions

GAMES = [Options(num_players=n) for n in range(3, 8)] + [
    Options(num_players=3, missing=2),
    Options(num_players=3, missing=3),
    Options(num_players=4, missing=2, super_sleuth=True),
    Options(num_players=4, missing=3, double_interrogation=True),
    Options(num_players=5, winners=3, announce_result=False),
    Options(num_players=4, super_sleuth=True),
    Options(num_players=6, winners=2, super_sleuth=True, double_interrogation=True),
]


@cache
def late_positions(options: Options, number: int, limit: int = 400) -> list[tuple[np.ndarray, list[dict[int, int]]]]:
    """Choose positions that allow few deals, each with all of them."""
    evidence = evidence_of(options, positions(options, "cautious", 20, seed=options.num_players))
    chosen = []
    for row in np.random.default_rng(1).permutation(evidence.size):
        if len(chosen) < number and Worlds(evidence[row : row + 1], ORDERS, 36).count <= limit:
            deals = all_deals(evidence[row], limit)
            assert deals is not None
            chosen.append((evidence[row : row + 1], deals))
    assert len(chosen) == number
    return chosen


def counted(deals: list[dict[int, int]], num_cards: int, num_holders: int) -> np.ndarray:
    """Count in how many deals a holder has a card, i8 [C, H]."""
    table = np.zeros((num_cards, num_holders), np.int64)
    for deal in deals:
        for card, holder in deal.items():
            table[card, holder] += 1
    return table


def enumerated_answers(
    deals: list[dict[int, int]], holder: int, cards: list[int], shown: bool, last: int
) -> Counter[tuple[int, int]]:
    """Count the deals by answer and set of missing cards."""
    table: Counter[tuple[int, int]] = Counter()
    for deal in deals:
        own = mask_of(card for card in cards if deal.get(card) == holder)
        table[own if shown else own.bit_count(), mask_of(card for card, owner in deal.items() if owner == last)] += 1
    return table


def assert_counts(worlds: Worlds, deals: list[dict[int, int]]) -> None:
    """Compare all marginals with the enumeration."""
    num_cards, num_holders = worlds.holders.shape
    table = counted(deals, num_cards, num_holders)
    assert worlds.exact
    assert worlds.count == len(deals)
    np.testing.assert_allclose(worlds.holders * len(deals), table, atol=1e-9 * len(deals))
    proved = np.where(table == len(deals), 1, np.where(table == 0, 0, -1))
    proved[table.sum(axis=1) == 0] = -1
    np.testing.assert_array_equal(worlds.certain, proved)


def assert_answers(worlds: Worlds, deals: list[dict[int, int]], holder: int, cards: list[int], shown: bool) -> None:
    """Compare a question's table, and what is drawn from it, with the enumeration."""
    expected = enumerated_answers(deals, holder, cards, shown, worlds.holders.shape[1] - 1)
    found = worlds.question(holder, cards, shown)
    entries = {
        (int(a), int(o)): p
        for a, row in zip(found.answers, found.table, strict=True)
        for o, p in zip(found.outcomes, row, strict=True)
        if p > 0
    }
    assert set(entries) == set(expected)
    assert all(entries[key] == pytest.approx(number / len(deals), rel=1e-9) for key, number in expected.items())
    assert worlds.information(holder, cards, shown) == pytest.approx(information(found), abs=1e-9)
    deciding = [a for a in {a for a, _ in expected} if len({o for b, o in expected if b == a}) == 1]
    assert worlds.decides(holder, cards, shown) == pytest.approx(
        sum(expected[key] for key in expected if key[0] in deciding) / len(deals)
    )


def entropy(probabilities: np.ndarray) -> float:
    """Entropy in bits."""
    some = probabilities[probabilities > 0]
    return float(-(some * np.log2(some)).sum())


def information(found: Answers) -> float:
    """Mutual information of answer and missing cards."""
    return entropy(found.table.sum(axis=0)) + entropy(found.table.sum(axis=1)) - entropy(found.table.ravel())


def random_evidence(rng: np.random.Generator) -> np.ndarray:
    """Return small evidence that some deal satisfies: counts, bounds, exclusions."""
    num_cards = int(rng.integers(2, 8))
    num_holders = int(rng.integers(2, 5))
    truth = rng.integers(0, num_holders, num_cards)
    constraints = []
    possible = {}
    for holder in range(num_holders):
        size = int((truth == holder).sum())
        if holder == num_holders - 1 or rng.random() < 0.8:
            constraints.append((holder, range(num_cards), size, size))
        for _ in range(int(rng.integers(0, 3))):
            some = np.flatnonzero(rng.random(num_cards) < 0.5).tolist()
            number = int((truth[some] == holder).sum())
            slack = int(rng.integers(0, 2))
            constraints.append((holder, some, max(number - slack, 0), number + slack))
        if rng.random() < 0.3:
            possible[holder] = np.flatnonzero((truth == holder) | (rng.random(num_cards) < 0.7)).tolist()
    return make_evidence(num_holders, range(num_cards), constraints, possible)


def test_every_small_deck_is_counted_as_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(200):
        evidence = random_evidence(rng)
        deals = all_deals(evidence[0], 10**6)
        orders = np.array([rng.permutation(8) for _ in range(2)])
        assert_counts(Worlds(evidence, orders, 8), deals)


def test_evidence_is_contradictory_where_enumeration_finds_no_deal():
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(400):
        num_cards = int(rng.integers(1, 5))
        num_holders = int(rng.integers(1, 4))
        constraints = []
        for _ in range(int(rng.integers(1, 6))):
            some = np.flatnonzero(rng.random(num_cards) < 0.6).tolist()
            bounds = np.sort(rng.integers(0, len(some) + 1, 2)).tolist()
            constraints.append((int(rng.integers(num_holders)), some, *bounds))
        evidence = make_evidence(num_holders, range(num_cards), constraints)
        deals = all_deals(evidence[0], 10**6)
        try:
            assert Worlds(evidence).count == len(deals)
            solve(evidence)
        except Contradiction:
            assert not deals
            refused += 1
    assert 100 < refused < 300


def test_questions_on_small_decks_have_the_tables_of_enumeration():
    rng = np.random.default_rng(1)
    asked = 0
    while asked < 150:
        evidence = random_evidence(rng)
        worlds = Worlds(evidence, num_cards=8)
        deals = all_deals(evidence[0], 10**6)
        if worlds.missing.sum() > 3.5:
            continue
        for shown in (False, True):
            cards = np.flatnonzero(rng.random(8) < 0.5).tolist()
            assert_answers(
                worlds,
                deals,
                int(rng.integers(0, worlds.holders.shape[1] - 1)),
                [card for card in cards if card in deals[0]],
                shown,
            )
            asked += 1


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_late_positions_are_counted_as_by_enumeration(options):
    for evidence, deals in late_positions(options, 8):
        assert_counts(Worlds(evidence, ORDERS, 36), deals)


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_questions_in_late_positions_have_the_tables_of_enumeration(options):
    rng = np.random.default_rng(3)
    for evidence, deals in late_positions(options, 8):
        worlds = Worlds(evidence, ORDERS, 36)
        for question in rng.integers(0, 43, 3).tolist():
            for shown in {False, question > 9}:
                assert_answers(
                    worlds,
                    deals,
                    int(rng.integers(0, options.num_players - 1)),
                    cards_of(evidence["sets"][0, question]),
                    shown,
                )


@pytest.mark.slow
@pytest.mark.parametrize("options", GAMES, ids=str)
def test_hundreds_of_late_positions_are_counted_as_by_enumeration(options):
    for evidence, deals in late_positions(options, 100, 1000):
        assert_counts(Worlds(evidence, ORDERS, 36), deals)


def joined_counts(evidence: np.void) -> np.ndarray:
    """Count the deals of two opponents and one missing card, by the missing card.

    All hands of one opponent are joined with what they leave to the other.
    """
    hands = all_hands(evidence, 0)
    table = np.zeros(36, np.int64)
    every = int(evidence["cards"])
    for card in cards_of(int(evidence["possible"][2]) & every):
        table[card] = may_hold(evidence, 1, every & ~(1 << card) & ~hands[hands >> card & 1 == 0]).sum()
    return table


def test_early_positions_of_three_players_are_counted_as_by_joining_all_hands():
    options = Options(num_players=3)
    views = positions(options, "cautious", 4, seed=2)
    evidence = evidence_of(options, views[(views["answers"] >= 0).sum(axis=(1, 2)) == 6])
    for row in (0, evidence.size - 1):
        worlds = Worlds(evidence[row : row + 1], ORDERS, 36)
        table = joined_counts(evidence[row])
        assert worlds.count == table.sum() > 10_000
        np.testing.assert_allclose(worlds.missing * worlds.count, table, rtol=1e-9)


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_the_probabilities_add_up_to_the_hands_and_to_one_a_card(options):
    evidence = evidence_of(options, positions(options, "sheet", 3, seed=5))
    for row in range(0, evidence.size, 7):
        worlds = Worlds(evidence[row : row + 1], ORDERS, 36)
        sizes = [options.hand_size] * (options.num_players - 1) + [options.missing]
        np.testing.assert_allclose(worlds.holders.sum(axis=0), sizes, rtol=1e-9)
        asked_for = [card in cards_of(evidence["cards"][row]) for card in range(36)]
        np.testing.assert_allclose(worlds.holders.sum(axis=1), asked_for, rtol=1e-9)


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_the_sheet_never_contradicts_the_exact_count(options):
    evidence = evidence_of(options, positions(options, "cautious", 3, seed=6))
    for row in range(0, evidence.size, 5):
        worlds = Worlds(evidence[row : row + 1], ORDERS, 36)
        sheet = solve(evidence[row : row + 1])[0]
        for card in cards_of(evidence["cards"][row]):
            for holder in range(options.num_players):
                assert worlds.holders[card, holder] == 0 or sheet["can"][holder] >> card & 1
                assert worlds.holders[card, holder] == 1 or not sheet["has"][holder] >> card & 1


def middle_evidence(options: Options, at: float = 0.5) -> np.ndarray:
    """Return the evidence of a position in the course of a game, EVIDENCE [1]."""
    views = positions(options, "sheet", 1, seed=8)
    row = int(at * len(views))
    return evidence_of(options, views[row : row + 1])


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_names_of_opponents_and_cards_and_the_order_of_the_sets_make_no_difference(options):
    evidence = middle_evidence(options)
    rng = np.random.default_rng(9)
    worlds = Worlds(evidence, ORDERS, 36)
    others = options.num_players - 1
    cards = rng.permutation(36)
    seats = np.append(rng.permutation(others), others)
    sets = rng.permutation(44)
    renamed = evidence.copy()
    for field in ("cards", "sets", "possible"):
        for at, mask in np.ndenumerate(evidence[field]):
            renamed[field][at] = mask_of(cards[card] for card in cards_of(mask))
    renamed["sets"][0, sets] = renamed["sets"][0, :44].copy()
    renamed["possible"][0, seats] = renamed["possible"][0, : others + 1].copy()
    for field in ("least", "most"):
        renamed[field][0, seats[:, None], sets[None, :]] = evidence[field][0, : others + 1, :44]
    again = Worlds(renamed, cards[ORDERS], 36)
    assert again.count == worlds.count
    np.testing.assert_allclose(again.holders[cards[:, None], seats[None, :]], worlds.holders, rtol=1e-9, atol=0)


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_drawn_deals_satisfy_the_evidence_and_are_as_frequent_as_the_probabilities(options):
    evidence = middle_evidence(options)
    worlds = Worlds(evidence, ORDERS, 36)
    deals = worlds.sample(2000, np.random.default_rng(10))
    for holder in range(options.num_players):
        own = (deals == holder) @ (1 << np.arange(36))
        for place in range(44):
            number = np.bitwise_count(own & evidence["sets"][0, place])
            assert (number >= evidence["least"][0, holder, place]).all()
            assert (number <= evidence["most"][0, holder, place]).all()
    assert ((deals >= 0) == (evidence["cards"][0] >> np.arange(36) & 1)).all()
    frequency = (deals[:, :, None] == np.arange(options.num_players)).mean(axis=0)
    # Bernstein's bound, which holds for rare cells too: each cell fails once in a million.
    nats = np.log(2e6) / len(deals)
    bound = np.sqrt(2 * worlds.holders * (1 - worlds.holders) * nats) + nats / 3
    assert (
        abs(frequency - worlds.holders) <= np.where((worlds.holders == 0) | (worlds.holders == 1), 1e-12, bound)
    ).all()


def test_drawn_deals_are_all_equally_likely():
    evidence, deals = next(some for some in late_positions(Options(num_players=4), 8) if 20 <= len(some[1]) <= 400)
    drawn = Counter(
        row.tobytes() for row in Worlds(evidence, ORDERS, 36).sample(100 * len(deals), np.random.default_rng(11))
    )
    assert len(drawn) == len(deals)
    chi = sum((number - 100) ** 2 / 100 for number in drawn.values())
    assert abs(chi - len(deals) + 1) < 5 * np.sqrt(2 * len(deals))


def with_answer(evidence: np.ndarray, holder: int, question: int, answer: int, shown: bool) -> np.ndarray:
    """Add the answer to a question to evidence."""
    told = evidence.copy()
    others = [h for h in range(int(evidence["num_holders"][0])) if h != holder]
    if shown:
        told["possible"][0, holder] &= ~(evidence["sets"][0, question] & ~answer)
        told["possible"][0, others] &= ~answer
    else:
        told["least"][0, holder, question] = told["most"][0, holder, question] = answer
    return told


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_the_table_of_a_question_equals_counting_again_with_the_answer_added(options):
    evidence = middle_evidence(options)
    rng = np.random.default_rng(12)
    worlds = Worlds(evidence, ORDERS, 36)
    for question in rng.integers(0, 43, 4).tolist():
        holder = int(rng.integers(0, options.num_players - 1))
        shown = question > 9 and not options.super_sleuth
        found = worlds.question(holder, cards_of(evidence["sets"][0, question]), shown)
        assert found.table.sum() == pytest.approx(1)
        for answer, row in zip(found.answers.tolist(), found.table, strict=True):
            after = Worlds(with_answer(evidence, holder, question, answer, shown), ORDERS, 36)
            assert after.count == pytest.approx(worlds.count * row.sum(), rel=1e-9)
            expected = {o: p for o, p in zip(found.outcomes.tolist(), row / row.sum(), strict=True) if p > 0}
            sets, probabilities = after.missing_sets
            assert dict(zip(sets.tolist(), probabilities.tolist(), strict=True)) == pytest.approx(expected, rel=1e-9)


def test_counts_beyond_the_precision_of_floats_are_exact():
    evidence = make_evidence(7, range(31), [(h, range(31), 5, 5) for h in range(6)] + [(6, range(31), 1, 1)])
    assert Worlds(evidence).count == factorial(31) // factorial(5) ** 6 > 2**53


def test_evidence_without_anything_open_has_one_deal():
    worlds = Worlds(make_evidence(2, [3], [(0, [3], 0, 0), (1, [3], 1, 1)]), num_cards=5)
    assert (worlds.count, worlds.missing.tolist(), worlds.error) == (1, [0, 0, 0, 1, 0], 0)
    assert worlds.certain.tolist()[2:4] == [[-1, -1], [0, 1]]
    assert [some.tolist() for some in worlds.question(0, [3])] == [[0], [8], [[1.0]]]
    assert worlds.decides(0, [3]) == 1
    assert worlds.sample(2, np.random.default_rng(0)).tolist() == [[-1, -1, -1, 1, -1]] * 2


def test_no_questions_are_appraised_whatever_was_in_memory():
    worlds = Worlds(make_evidence(3, range(9), [(2, range(9), 1, 1)]), num_cards=9)
    frame = np.zeros(1, FRAME)
    frame["block"] = 7
    frame["answers"] = 7
    assert weigh(*worlds._graph, frame, np.zeros(0, ASK), np.zeros(0, WORTH)).size == 0


@pytest.mark.parametrize(
    ("options", "keep"),
    [(Options(num_players=4), 40), (Options(num_players=5), 120), (Options(num_players=3, missing=2), 16)],
    ids=str,
)
def test_thinning_is_unbiased_and_knows_its_error(options, keep):
    evidence = middle_evidence(options, 0.2)
    exact = Worlds(evidence, ORDERS, 36)
    rough = [Worlds(evidence, ORDERS, 36, cap=10, keep=keep, seed=seed) for seed in range(300)]
    assert exact.exact
    assert not any(one.exact for one in rough)
    deals = np.array([one._result["count"][0] for one in rough])[:, None, None]
    cells = np.array([one.holders for one in rough]) * deals
    for found, true in ((deals, np.full((1, 1), exact.count)), (cells, exact.holders * exact.count)):
        deviation = found.std(axis=0) / np.sqrt(len(rough))
        assert (abs(found.mean(axis=0) - true) <= 5 * deviation + 1e-9 * true).all()
    distance = np.mean([abs(one.missing - exact.missing).sum() / 2 / options.missing for one in rough])
    assert 0.5 < np.mean([one.error for one in rough]) / distance < 2


def test_an_estimate_proves_only_what_the_sheet_proves():
    evidence = middle_evidence(Options(num_players=5))
    rough = Worlds(evidence, ORDERS, 36, cap=10, keep=8)
    sheet = solve(evidence)[0]
    for card in cards_of(evidence["cards"][0]):
        for holder in range(5):
            can = sheet["can"][holder] >> card & 1
            has = sheet["has"][holder] >> card & 1
            assert rough.certain[card, holder] == (1 if has else -1 if can else 0)


def hardest_evidence(asked: int = 6) -> np.ndarray:
    """Seven players, who have answered some one-element questions; nothing else is known."""
    evidence = evidence_of(Options(num_players=7), positions(Options(num_players=7), "random", 1, seed=1)[:1])
    rng = np.random.default_rng(3)
    cards = rng.permutation(cards_of(evidence["cards"][0]))
    for k in range(6):
        hand = mask_of(cards[5 * k : 5 * k + 5])
        for question in rng.permutation(10)[:asked].tolist():
            number = (int(evidence["sets"][0, question]) & hand).bit_count()
            evidence["least"][0, k, question] = evidence["most"][0, k, question] = number
    return evidence


def test_the_hardest_log_is_estimated_within_the_cap():
    worlds = Worlds(hardest_evidence(), ORDERS, 36)
    assert not worlds.exact
    assert worlds.missing.sum() == pytest.approx(1)
    assert 0 < worlds.error < 0.2
    assert 0 < worlds.information(0, [0, 1, 2, 3]) < 1
    assert (worlds.sample(50, np.random.default_rng(0))[:, 0] >= -1).all()


def three_hands_of_15() -> Worlds:
    return Worlds(make_evidence(3, range(45), [(h, range(45), 15, 15) for h in range(3)]), num_cards=45)


def test_more_deals_than_64_bits_hold_are_counted_without_a_warning_in_plain_python_too():
    program = "from tests.test_worlds import three_hands_of_15; print(three_hands_of_15().count)"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parent.parent)}
    plain = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    number = factorial(45) // factorial(15) ** 3
    assert number > 2**64
    assert int(plain.stdout) == three_hands_of_15().count == number
