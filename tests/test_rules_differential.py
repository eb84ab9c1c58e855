"""Random games of every kind, played by the kernels and by the oracle, agree after every step."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth_env.sleuth.cards import Options
from tests.support.comparison import play_batch
from tests.support.strategies import (
    ALL_COMBINATIONS,
    ALL_VARIANTS,
    EVERY_VARIANT,
    KNOWING,
    LIVELY,
    PATIENT,
    PLAYERS,
    RASH,
    all_options,
    option_name,
)

ANY_SEED = st.integers(0, 2**64 - 1)


def seeds(count: int, of: str) -> list[int]:
    """Return different seeds of 64 bits, the same in each run."""
    chance = random.Random(of)
    return [chance.getrandbits(64) for _ in range(count)]


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_kernel_and_oracle_agree_in_every_variant(options: Options) -> None:
    for name, player in PLAYERS.items():
        count = 2 if player is PATIENT else 8
        happened = play_batch(options, seeds(count, of=f"{options} {name}"), player)
        assert happened["finished"] == count


@pytest.mark.parametrize(
    ("player", "combinations"),
    [
        # Each takes another third, so that all of them are played.
        *((player, ALL_COMBINATIONS[at::3]) for at, player in enumerate((LIVELY, RASH, KNOWING))),
        *(pytest.param(player, ALL_COMBINATIONS, marks=pytest.mark.slow) for player in (LIVELY, RASH, KNOWING)),
    ],
    ids=["lively", "rash", "knowing", "lively-all", "rash-all", "knowing-all"],
)
def test_kernel_and_oracle_agree_in_every_combination_of_variants(player: object, combinations: list[Options]) -> None:
    for options in combinations:
        assert play_batch(options, seeds(2, of=str(options)), player)["finished"] == 2


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(options=all_options(), seed=ANY_SEED, player=st.sampled_from(sorted(PLAYERS)))
def test_kernel_and_oracle_agree_in_any_game(options: Options, seed: int, player: str) -> None:
    play_batch(options, [seed], PLAYERS[player])


@pytest.mark.slow
@pytest.mark.parametrize("options", ALL_VARIANTS, ids=option_name)
def test_kernel_and_oracle_agree_in_many_games(options: Options) -> None:
    for name, player in PLAYERS.items():
        count = 20 if player is PATIENT else 150
        assert play_batch(options, seeds(count, of=f"many {options} {name}"), player)["finished"] == count


@pytest.fixture(scope="module")
def happened() -> Counter[str]:
    """What happened in games chosen so that everything that can happen does."""
    total: Counter[str] = Counter()
    for options, player in [
        (Options(3, max_turns=200), PATIENT),
        (Options(7, max_turns=120, double_interrogation=True), PATIENT),
        (Options(5), RASH),
        (Options(4, winners=3), KNOWING),
        (Options(6, winners=3), LIVELY),
        (Options(3, missing=3, winners=2), KNOWING),
        (Options(4, missing=2, double_interrogation=True), RASH),
        (Options(4, last_survivor_wins=True), RASH),
        (Options(5, double_interrogation=True, winners=4, announce_result=False), LIVELY),
    ]:
        total += play_batch(options, seeds(15, of=f"all {options}"), player)
    return total


@pytest.mark.parametrize(
    "happening",
    [
        *(
            "reshuffle in mid-draw",
            "reshuffle at a draw's start",
            "exchange in turn",
            "ask in second",
            "pass in second",
            "accuse in second",
        ),
        *("place 1", "place 2", "place 3", "gem 1 of 2 named", "gem 1 of 3 named", "gem 2 of 3 named"),
        *("out while it is his turn", "out while it is another turn", "others are offered after a final question"),
        *("truncated", "last survivor wins", "all places taken", "all out", "nobody left in, some right"),
    ],
)
def test_the_compared_games_contain(happening: str, happened: Counter[str]) -> None:
    assert happened[happening] > 0, f"never happened: {dict(happened)}"
