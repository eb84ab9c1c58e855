"""Intervals of results."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env.matches.rating import share_interval, t_quantile, wilson


@pytest.mark.parametrize(
    ("freedom", "value"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1000, 1.9623)],
)
def test_students_quantile_agrees_with_its_table(freedom: int, value: float) -> None:
    assert t_quantile(freedom) == pytest.approx(value, rel=5e-3)


def test_wilsons_interval_agrees_with_published_values() -> None:
    # Newcombe (1998), table I: 81 of 263 and 0 of 20.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=1e-4)


@pytest.mark.parametrize("share", [0.0, 1.0, 1 / 3])
@pytest.mark.parametrize("deals", [1, 2, 50])
def test_an_interval_is_never_certain_although_all_deals_are_alike(share: float, deals: int) -> None:
    low, high = share_interval(np.full(deals, share))
    assert 0 <= low <= share <= high <= 1
    assert high - low > 2 / (deals + 2)


@pytest.mark.parametrize("kind", ["independent", "alike", "balanced"])
@pytest.mark.parametrize("share", [0.02, 0.35, 0.9])
@pytest.mark.parametrize("deals", [10, 80])
def test_intervals_cover_the_truth_however_the_games_of_a_deal_depend_on_one_another(
    kind: str, share: float, deals: int
) -> None:
    chance = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        number = {
            "independent": (chance.random((deals, 3)) < share).sum(axis=1),
            "alike": 3 * (chance.random(deals) < share),
            "balanced": np.floor(chance.random(deals) + 3 * share),
        }[kind]
        low, high = share_interval(number / 3)
        covered += low <= share <= high
    assert covered >= 920


def test_more_deals_make_a_narrower_interval() -> None:
    few, many = (share_interval(np.tile([0, 1 / 3, 1], n)) for n in (5, 50))
    assert many[1] - many[0] < few[1] - few[0]
