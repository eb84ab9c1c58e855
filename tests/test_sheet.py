"""Sheets mark all that their rules reach, nothing that a deal refutes, and find contradictions."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth_env.deduction.evidence import EVIDENCE, Constraint, Contradiction, cards_of, make_evidence, mask_of
from sleuth_env.deduction.sheet import SHEET, propagate, solve
from tests.support.enumeration import all_deals, assert_sound, satisfies

LEVELS = (1, 2, 3)


@st.composite
def problems(draw: st.DrawFn, consistent: bool) -> tuple[int, int, list[Constraint], dict[int, set[int]]]:
    """Draw numbers of holders and cards, constraints and possible cards.

    If ``consistent``, at least one deal satisfies them.
    """
    num_holders = draw(st.integers(2, 4))
    num_cards = draw(st.integers(1, 5))
    hands = draw(st.lists(st.integers(0, num_holders - 1), min_size=num_cards, max_size=num_cards))
    some_cards = st.sets(st.integers(0, num_cards - 1), min_size=1)
    constraints = []
    possible = {}
    for holder, cards in draw(st.lists(st.tuples(st.integers(0, num_holders - 1), some_cards), max_size=9)):
        number = sum(hands[card] == holder for card in cards) if consistent else draw(st.integers(0, len(cards)))
        slack = draw(st.sampled_from([0, 0, 0, 1]))
        constraints.append(
            Constraint(holder, cards, max(number - slack, 0), number + draw(st.sampled_from([0, slack])))
        )
    for holder in draw(st.sets(st.integers(0, num_holders - 1))):
        own = {card for card in range(num_cards) if hands[card] == holder}
        possible[holder] = draw(some_cards) | (own if consistent else set())
    return num_holders, num_cards, constraints, possible


def evidence_of(problem: tuple[int, int, list[Constraint], dict[int, set[int]]]) -> np.ndarray:
    num_holders, num_cards, constraints, possible = problem
    return make_evidence(num_holders, range(num_cards), constraints, possible)


def sheets_of(evidence: np.ndarray, level: int = 3) -> np.ndarray:
    sheets = np.zeros(evidence.shape, SHEET)
    propagate(evidence, sheets, level)
    return sheets


@settings(max_examples=250, deadline=None)
@given(problems(consistent=True))
def test_every_deal_that_satisfies_the_evidence_agrees_with_the_sheet(problem: tuple) -> None:
    num_holders, num_cards, constraints, possible = problem
    deals = [deal for deal in all_deals(num_holders, range(num_cards)) if satisfies(deal, constraints, possible)]
    for level in LEVELS:
        assert_sound(solve(evidence_of(problem), level)[0], deals)


@settings(max_examples=250, deadline=None)
@given(problems(consistent=False))
def test_a_contradiction_is_only_claimed_where_no_deal_is_left(problem: tuple) -> None:
    num_holders, num_cards, constraints, possible = problem
    deals = [deal for deal in all_deals(num_holders, range(num_cards)) if satisfies(deal, constraints, possible)]
    for level in LEVELS:
        sheet = sheets_of(evidence_of(problem), level)[0]
        if sheet["broken"]:
            assert not deals
        else:
            assert_sound(sheet, deals)


@settings(max_examples=150, deadline=None)
@given(problems(consistent=True))
def test_what_a_level_marks_the_next_one_marks_too(problem: tuple) -> None:
    evidence = evidence_of(problem)
    weak, middle, strong = (solve(evidence, level)[0] for level in LEVELS)
    for less, more in ((weak, middle), (middle, strong)):
        assert not (more["can"] & ~less["can"]).any()
        assert not (less["has"] & ~more["has"]).any()


@settings(max_examples=150, deadline=None)
@given(problems(consistent=True))
def test_the_sheet_is_a_fixed_point(problem: tuple) -> None:
    evidence = evidence_of(problem)
    for level in LEVELS:
        sheets = solve(evidence, level)
        again = evidence.copy()
        again["possible"] = sheets["can"]
        assert str(solve(again, level)) == str(sheets)


@settings(max_examples=150, deadline=None)
@given(problems(consistent=True), st.randoms(use_true_random=False))
def test_the_sheet_does_not_depend_on_the_order_of_constraints_holders_or_cards(
    problem: tuple, rng: random.Random
) -> None:
    num_holders, num_cards, constraints, possible = problem
    holders = rng.sample(range(num_holders), num_holders)
    cards = rng.sample(range(num_cards), num_cards)
    renamed = [
        Constraint(holders[h], {cards[c] for c in some}, least, most)
        for h, some, least, most in rng.sample(constraints, len(constraints))
    ]
    other = make_evidence(
        num_holders, range(num_cards), renamed, {holders[h]: {cards[c] for c in some} for h, some in possible.items()}
    )
    for level in LEVELS:
        sheet = solve(evidence_of(problem), level)[0]
        renamed_sheet = solve(other, level)[0]
        for field, h in product(("can", "has"), range(num_holders)):
            assert {cards[c] for c in cards_of(sheet[field][h])} == set(cards_of(renamed_sheet[field][holders[h]]))


def small_game() -> tuple[list[tuple[int, ...]], list[tuple[int, list[int]]]]:
    """Return all deals of a game of six cards, and all its questions.

    The cards are of 2 colours and 3 kinds, and the hands have 3, 2 and 1 cards. A deal is the masks
    of three hands; a question is a holder and cards.
    """
    everything = set(range(6))
    deals = [
        (mask_of(first), mask_of(second), mask_of(everything - set(first) - set(second)))
        for first in combinations(range(6), 3)
        for second in combinations(sorted(everything - set(first)), 2)
    ]
    questions = [(0, 1, 2), (3, 4, 5), (0, 3), (1, 4), (2, 5)]
    return deals, [(holder, list(cards)) for holder in range(2) for cards in questions]


def test_in_a_small_game_every_log_of_every_deal_is_read_soundly_and_most_of_them_completely() -> None:
    deals, questions = small_game()
    hands = np.array(deals)
    counts = np.array([[(deal[h] & mask_of(cards)).bit_count() for h, cards in questions] for deal in deals])
    logs = np.array(list(product((False, True), repeat=len(questions))))
    complete = []
    sizes = [(h, list(range(6)), size, size) for h, size in enumerate((3, 2, 1))]
    blank = make_evidence(3, range(6), [*sizes, *((h, cards, 0, len(cards)) for h, cards in questions)])
    places = [(h, 1 + (i % 5)) for i, (h, _) in enumerate(questions)]
    for deal in range(len(deals)):
        evidence = np.repeat(blank, len(logs))
        for i, (h, place) in enumerate(places):
            for bound in ("least", "most"):
                evidence[bound][logs[:, i], h, place] = counts[deal, i]
        sheets = sheets_of(evidence)
        assert not sheets["broken"].any()
        differ = counts != counts[deal]
        left = ~(logs.astype(int) @ differ.T.astype(int)).astype(bool)
        may = np.array([[np.bitwise_or.reduce(hands[row, h]) for h in range(3)] for row in left])
        must = np.array([[np.bitwise_and.reduce(hands[row, h]) for h in range(3)] for row in left])
        assert not (may & ~sheets["can"][:, :3]).any()
        assert not (sheets["has"][:, :3] & ~must).any()
        complete.append(((may == sheets["can"][:, :3]) & (must == sheets["has"][:, :3])).all(axis=1).mean())
    assert np.mean(complete) > 0.9


def test_a_count_that_is_reached_closes_the_rest() -> None:
    sheet = solve(make_evidence(2, range(4), [(0, [0, 1, 2], 0, 0)]), level=1)[0]
    assert (sheet["can"][:2].tolist(), sheet["has"][:2].tolist()) == ([0b1000, 0b1111], [0, 0b0111])


def test_a_count_that_needs_all_that_is_left_takes_it() -> None:
    sheet = solve(make_evidence(3, range(4), [(1, [0, 1], 2, 2)]), level=1)[0]
    assert sheet["has"][:3].tolist() == [0, 0b0011, 0]
    assert sheet["can"][:3].tolist() == [0b1100, 0b1111, 0b1100]


def test_two_counts_of_one_holder_settle_their_difference_only_at_level_two() -> None:
    evidence = make_evidence(2, range(5), [(0, [0, 1, 2], 2, 2), (0, [0, 1, 2, 3], 2, 2)])
    assert solve(evidence, level=1)[0]["has"][1] == 0
    assert solve(evidence, level=2)[0]["has"][1] == 0b01000


def test_two_counts_and_the_size_of_the_hand_settle_their_overlap() -> None:
    evidence = make_evidence(2, range(6), [(0, range(6), 3, 3), (0, [0, 1, 2], 2, 2), (0, [2, 3, 4], 2, 2)])
    assert solve(evidence, level=1)[0]["has"][0] == 0
    assert solve(evidence, level=2)[0]["has"][0] == 0b000100
    assert solve(evidence, level=2)[0]["has"][1] == 0b100000


def test_counts_of_all_holders_add_up_only_at_level_three() -> None:
    cards = [0, 1, 2]
    evidence = make_evidence(3, range(6), [(0, cards, 1, 1), (1, cards, 2, 2)])
    assert solve(evidence, level=2)[0]["can"][2] == 0b111111
    assert solve(evidence, level=3)[0]["can"][2] == 0b111000


@pytest.mark.parametrize(
    ("evidence", "message", "holder"),
    [
        (
            make_evidence(2, range(3), [(0, [0, 1], 2, 2), (0, [0], 0, 0)]),
            r"holder 0 has exactly \d of the cards \[0",
            0,
        ),
        (
            make_evidence(2, range(3), [(1, range(3), 4, 5)]),
            r"this cannot hold with the rest: holder 1 has at least 4 and at most 3 of the cards \[0, 1, 2\]",
            1,
        ),
        (
            make_evidence(2, range(2), [(1, [0, 1], 1, 1), (1, [0, 1], 0, 0)]),
            r"this cannot hold with the rest: holder 1 has at least 1 and at most 0 of the cards \[0, 1\]",
            1,
        ),
        (
            make_evidence(3, range(5), [(0, range(5), 2, 2), (0, range(5), 3, 3)]),
            "this cannot hold with the rest: holder 0 has at least 3 and at most 2 of the cards",
            0,
        ),
        (make_evidence(2, range(3), possible={0: [0], 1: [0, 1]}), "card 2 is left without exactly one holder", -1),
        (
            make_evidence(2, range(3), [(0, [0], 1, 1), (1, [0], 1, 1)]),
            r"this cannot hold with the rest: holder 1 has exactly 1 of the cards \[0\]",
            1,
        ),
        (
            make_evidence(3, range(6), [(0, [0, 1, 2], 2, 2), (0, [1, 2, 3], 0, 0)]),
            r"holder 0 has exactly 2 of the cards \[0, 1, 2\]",
            0,
        ),
        (
            make_evidence(2, range(8), [(0, range(4), 3, 3), (0, range(6), 2, 2)]),
            r"two constraints cannot both hold: holder 0 has exactly \d of the cards \[0, 1, 2, 3.*\]; "
            r"holder 0 has exactly \d of",
            0,
        ),
        (
            make_evidence(3, range(6), [(h, range(4), 0, 1) for h in range(3)]),
            r"do not add up to the 4 cards \[0, 1, 2, 3\]",
            -1,
        ),
    ],
)
def test_contradictory_evidence_is_refused_naming_the_constraint(
    evidence: np.ndarray, message: str, holder: int
) -> None:
    with pytest.raises(Contradiction, match=message) as caught:
        solve(evidence)
    assert caught.value.holder == holder


def test_one_contradiction_in_a_batch_leaves_the_other_sheets_right() -> None:
    good = make_evidence(2, range(3), [(0, [0, 1], 2, 2)])
    bad = make_evidence(2, range(3), possible={0: [0], 1: [0]})
    sheets = sheets_of(np.concatenate([good, bad, good]))
    assert (sheets["broken"] != 0).tolist() == [False, True, False]
    assert str(sheets[[0, 2]]) == str(np.repeat(solve(good), 2))


def test_what_is_beyond_the_used_holders_and_sets_is_not_read() -> None:
    evidence = make_evidence(3, range(5), [(0, [0, 1, 2], 2, 2), (2, [1, 2, 3], 2, 3)])
    littered = np.frombuffer(bytes([0x55]) * EVIDENCE.itemsize, EVIDENCE).copy()
    for field in ("num_holders", "num_sets", "cards"):
        littered[field] = evidence[field]
    littered["possible"][0, :3] = evidence["possible"][0, :3]
    littered["sets"][0, :2] = evidence["sets"][0, :2]
    for bound in ("least", "most"):
        littered[bound][0, :3, :2] = evidence[bound][0, :3, :2]
    assert str(sheets_of(littered)) == str(solve(evidence))


# Both threads allocate from one arena, so that each at once reuses what the other has freed.
TWO_THREADS = """
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from sleuth_env.deduction.evidence import make_evidence
from sleuth_env.deduction.sheet import LEVEL, SHEET, propagate

counts = [(h, cards, n, n) for h in range(4) for cards, n in ((range(36), 9), (range(h, 36, 5), 2))]
evidence = make_evidence(4, range(36), counts).repeat(200)


def sheets(_):
    found = np.zeros(evidence.shape, SHEET)
    propagate(evidence, found, LEVEL)
    return found.tobytes()


first = sheets(0)
with ThreadPoolExecutor(2) as pool:
    print(all(other == first for other in pool.map(sheets, range(400))))
"""


def test_two_threads_fill_in_sheets_at_the_same_time() -> None:
    result = subprocess.run(
        [sys.executable, "-c", TWO_THREADS], capture_output=True, text=True, env=os.environ | {"MALLOC_ARENA_MAX": "1"}
    )
    assert result.stdout == "True\n", result.stderr
