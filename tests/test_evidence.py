"""Evidence is written down as it was said, and what makes no sense is refused."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env.deduction.evidence import (
    MAX_SETS,
    Constraint,
    Contradiction,
    EvidenceError,
    cards_of,
    make_evidence,
    mask_of,
)


def test_cards_and_masks_are_two_spellings_of_a_set() -> None:
    assert mask_of([0, 3, 62]) == 1 | 8 | 1 << 62
    assert cards_of(mask_of([62, 0, 3])) == [0, 3, 62]


def test_without_constraints_everybody_may_hold_everything() -> None:
    record = make_evidence(3, [1, 4, 5])[0]
    assert record["num_holders"] == 3
    assert record["num_sets"] == 0
    assert record["possible"].tolist() == [mask_of([1, 4, 5])] * 3 + [0] * 4


def test_a_set_that_one_holder_is_bound_by_says_nothing_about_the_others() -> None:
    record = make_evidence(2, range(5), [Constraint(1, {0, 1, 2}, 1, 2)])[0]
    assert record["sets"][0] == mask_of([0, 1, 2])
    assert (record["least"][:2, 0].tolist(), record["most"][:2, 0].tolist()) == ([0, 1], [3, 2])


def test_constraints_on_the_same_cards_share_a_place_in_the_catalogue_and_the_tightest_bounds_count() -> None:
    record = make_evidence(2, range(5), [(0, [0, 1], 0, 1), (0, (1, 0), 1, 2), (1, {1, 0}, 2, 2)])[0]
    assert record["num_sets"] == 1
    assert (record["least"][:2, 0].tolist(), record["most"][:2, 0].tolist()) == ([1, 2], [1, 2])


def test_only_the_possible_cards_of_a_named_holder_are_narrowed() -> None:
    record = make_evidence(2, range(3), possible={1: [2]})[0]
    assert record["possible"][:2].tolist() == [0b111, 0b100]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [1]), "num_holders must be an integer from 1 to 7, got 0"),
        ((8, [1]), "num_holders must be an integer from 1 to 7, got 8"),
        ((2.0, [1]), "num_holders must be an integer from 1 to 7, got 2.0"),
        ((2, [63]), "a card must be an integer from 0 to 62, got 63"),
        ((2, ["a"]), "a card must be an integer from 0 to 62, got 'a'"),
        ((2, None), "cards must be a collection of numbers from 0 to 62, got None"),
        ((2, np.array(5)), "cards must be a collection of numbers from 0 to 62, got array"),
        ((2, range(3), np.array(5)), "constraints must be a collection, got int64 of the shape"),
        ((2, [0, 1], [(2, [0], 0, 1)]), "a holder must be an integer from 0 to 1, got 2"),
        ((2, [0, 1], [(0, [5], 0, 1)]), r"cards \[5\] are not among the cards to place, \[0, 1\]"),
        ((2, [0, 1], [(0, [0], 2, 1)]), "least <= most"),
        ((2, [0, 1], [(0, [0], -1, 1)]), "least must be an integer from 0 to 63, got -1"),
        ((2, [0, 1], [(0, [0], 0, 0.5)]), r"most must be an integer from 0 to 63, got 0\.5"),
        ((2, [0, 1], [], {3: [0]}), "a holder must be an integer from 0 to 1, got 3"),
        ((2, [0, 1], [], {0: [2]}), r"cards \[2\] are not among"),
    ],
)
def test_nonsense_is_refused_with_the_reason(arguments: tuple, message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        make_evidence(*arguments)


def test_the_catalogue_has_an_end() -> None:
    pairs = [(0, [a, b], 0, 1) for a in range(11) for b in range(a)]
    assert make_evidence(2, range(11), pairs[:MAX_SETS])[0]["num_sets"] == MAX_SETS
    with pytest.raises(EvidenceError, match="at most 48 different sets"):
        make_evidence(2, range(11), pairs)


def test_a_contradiction_says_whom_and_what_it_is_about() -> None:
    error = Contradiction("no", holder=2, cards=5)
    assert (str(error), error.holder, error.cards) == ("no", 2, 5)
    assert isinstance(error, ValueError)
