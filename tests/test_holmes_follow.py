"""Random games of every kind, played by the kernels and by the oracle, agree after every step."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from sleuth_env.holmes.cards import Options, num_actions
from tests.support.holmes_cases import read_cases
from tests.support.holmes_comparison import PLAYERS, Pair, action_texts, play_batch
from tests.support.holmes_positions import random_position

SEATS = range(3, 9)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"cases": 1, "reward": "case"},
    {"fast_play": True, "cases": 3, "reward": "points"},
    {"fast_play": True, "after_alibi": "left_of_alibi", "must_arrest": True, "reward": "rank"},
    {"new_case_location": "city", "guilty_hand": "discarded", "reward": "case", "max_turns": 150},
    {"after_alibi": "left_of_alibi", "must_arrest": True, "max_turns": 40, "reward": "points"},
]
CHOICES: dict[str, tuple[Any, ...]] = {
    "cases": (0, 2),
    "fast_play": (False, True),
    "new_case_location": ("kept", "city"),
    "after_alibi": ("turn_order", "left_of_alibi"),
    "must_arrest": (False, True),
    "guilty_hand": ("counts", "discarded"),
    "reward": ("winner", "rank", "points", "case"),
}
COMBINATIONS = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]


def seeds(count: int, of: str) -> list[int]:
    """Return different seeds of 64 bits, the same in each run."""
    chance = random.Random(of)
    return [chance.getrandbits(64) for _ in range(count)]


def from_positions(options: Options, count: int, of: str, most_steps: int) -> Counter[str]:
    """Play from random positions on; return what happened how often."""
    chance = random.Random(of)
    positions = [random_position(chance, options) for _ in range(count)]
    player = chance.choice(list(PLAYERS.values()))
    return play_batch(options, seeds(count, of), player, positions, most_steps=most_steps)


@pytest.mark.parametrize("num_players", SEATS)
def test_actions_are_numbered_as_the_rules_say(num_players: int) -> None:
    texts = action_texts(num_players)
    assert len(texts) == len(set(texts)) == num_actions(Options(num_players)) == 45 + 20 * num_players


@pytest.mark.parametrize("named", VARIANTS, ids=str)
@pytest.mark.parametrize("num_players", SEATS)
def test_kernel_and_oracle_agree_in_every_variant(num_players: int, named: dict[str, Any]) -> None:
    options = Options(num_players, **named)
    for name, player in PLAYERS.items():
        play_batch(options, seeds(1, of=f"{options} {name}"), player, most_steps=40)


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_kernel_and_oracle_agree_in_every_combination_of_options(part: int) -> None:
    for number, named in list(enumerate(COMBINATIONS))[part::3]:
        options = Options(3 + number % 6, **named)
        player = list(PLAYERS.values())[number % len(PLAYERS)]
        play_batch(options, seeds(1, of=str(options)), player, knowing=False, most_steps=40)


@pytest.mark.parametrize("num_players", SEATS)
def test_kernel_and_oracle_agree_to_the_end_of_whole_games(num_players: int) -> None:
    happened = play_batch(Options(num_players), seeds(2, of=str(num_players)), PLAYERS["any"], knowing=False)
    assert happened["over"] == 2


@pytest.mark.parametrize("named", VARIANTS, ids=str)
def test_kernel_and_oracle_agree_from_any_position_on(named: dict[str, Any]) -> None:
    for num_players in SEATS:
        options = Options(num_players, **named)
        from_positions(options, count=8, of=str(options), most_steps=10)


def test_a_kept_last_card_of_the_pile_is_not_taken_for_a_suitable_one() -> None:
    case = next(case for case in read_cases() if case.number == 58)  # a draw pile of one card
    position = {**case.position, "current": "telegram"}
    position["discards"] = [*position["discards"], "clue"]
    position["discards"].remove("telegram")
    position["hands"] = {**position["hands"], "player_0": ["detective", "estate"]}
    pair = Pair(Options(4), [1], [position])
    pair.step(["draw"])
    pair.check()


@pytest.mark.slow
@pytest.mark.parametrize("named", VARIANTS, ids=str)
@pytest.mark.parametrize("num_players", SEATS)
def test_kernel_and_oracle_agree_in_many_games(num_players: int, named: dict[str, Any]) -> None:
    options = Options(num_players, **named)
    for name, player in PLAYERS.items():
        play_batch(options, seeds(10, of=f"many {options} {name}"), player, knowing=False, most_steps=1500)
        play_batch(options, seeds(2, of=f"known {options} {name}"), player, most_steps=600)


@pytest.mark.slow
@pytest.mark.parametrize("num_players", SEATS)
def test_kernel_and_oracle_agree_from_many_positions_on(num_players: int) -> None:
    for number, named in enumerate(COMBINATIONS):
        options = Options(num_players, **named)
        from_positions(options, count=6, of=f"many {number} {options}", most_steps=20)
