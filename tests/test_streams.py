"""One seed, several stages: each draws games of its own."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.matches.table import Table
from sleuth_env.policies.policy import load_policy, save_policy
from tests.test_train import TINY
from training.imitate import main as imitate
from training.streams import PURPOSES, STAGES, generator_for, number_of, sequence_of, words_of
from training.train import main


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> dict[Any, set[int]]:
    """Return where the seeds of all games go that are dealt and played from now on."""
    seeds: dict[Any, set[int]] = {}
    unplayed: dict[int, set[int]] = {}
    reset = GameVectorEnv.reset
    step = GameVectorEnv.step
    deal = Table.deal

    def noted_reset(self: Any, *, seed: Any = None, options: Any = None) -> Any:
        unplayed[id(self)] = set(seed)
        return reset(self, seed=seed, options=options)

    def noted_step(self: Any, actions: Any) -> Any:
        seeds.setdefault(id(self), set()).update(unplayed.pop(id(self), ()))
        return step(self, actions)

    def noted_deal(self: Any, rows: Any, given: Any) -> None:
        seeds.setdefault("tables", set()).update(np.atleast_1d(given).tolist())
        deal(self, rows, given)

    monkeypatch.setattr(GameVectorEnv, "reset", noted_reset)
    monkeypatch.setattr(GameVectorEnv, "step", noted_step)
    monkeypatch.setattr(Table, "deal", noted_deal)
    return seeds


def test_every_stage_of_a_family_with_one_seed_deals_games_of_its_own(tmp_path: Path, dealt: dict[Any, set[int]]):
    config = TINY | {"seed": 1, "total_steps": 64, "evaluation": {"against": []}}
    path = tmp_path / "family.yaml"
    path.write_text(yaml.safe_dump(config))
    taught = str(tmp_path / "taught.safetensors")
    ppo = [str(path), "--algorithm=ppo"]

    def stage(arguments: list[str], script: Any = main) -> set[int]:
        """Return the seeds of the games that a command deals."""
        dealt.clear()
        assert script(arguments) == 0
        return set().union(*dealt.values())

    words = ["--teacher", "sheet", "--decisions", "1000", "--epochs", "1", "--out", taught]
    first, second, scratch, other = (str(tmp_path / name) for name in ("first", "second", "scratch", "other"))
    # The matches have the same seed as the run, and are all of its first evaluation.
    matches = ["--evaluation.against=[random]", "--evaluation.seed=1"]
    games = {
        "imitation": stage([*ppo, *words], imitate),
        "first": stage([*ppo, "--start", taught, "--run", first]),
        "second": stage([*ppo, "--start", f"{first}/last.safetensors", "--run", second]),
        "from scratch": stage([*ppo, "--run", scratch]),
        "MaskablePPO": stage([str(path), "--run", other]),
        "MaskablePPO, resumed": stage(["--resume", other, "--total-steps=128"]),
    }
    # Of these the second command deals what the fourth has dealt, and its matches.
    games["evaluation"] = stage([*ppo, "--run", str(tmp_path / "last"), *matches]) - games["from scratch"]
    assert all(len(seeds) >= 8 for seeds in games.values())
    for one, another in combinations(games, 2):
        assert not games[one] & games[another], (one, another)


def test_the_same_stage_deals_the_same_games(tmp_path: Path, dealt: dict[Any, set[int]]):
    path = tmp_path / "same.yaml"
    path.write_text(yaml.safe_dump(TINY | {"algorithm": "ppo", "total_steps": 64}))
    found = []
    for name in ("one", "other"):
        dealt.clear()
        assert main([str(path), "--run", str(tmp_path / name)]) == 0
        found.append(set().union(*dealt.values()))
    assert found[0] == found[1]


def test_no_two_keys_give_the_same_numbers():
    keys = [(stage, purpose, steps) for stage in STAGES for purpose in PURPOSES for steps in (0, 1, 64, 2**32)]
    keys += [(*key, (1, 2, 3, 4)) for key in keys if not key[2]]
    drawn = {tuple(sequence_of(1, *key).generate_state(4).tolist()) for key in keys}
    assert len(drawn) == len(keys)
    # Nor those of the bare seed, or of a seed that is the sum of seed and steps.
    bare = {tuple(np.random.SeedSequence(seed).generate_state(4).tolist()) for seed in (1, 2, 65)}
    assert not drawn & bare
    assert number_of(1, "training", "games", 64) != number_of(65, "training", "games")


def test_the_key_is_the_documented_one():
    assert sequence_of(5, "training", "games", 7, [1, 2, 3, 4]).spawn_key == (1, 1, 7, 1, 2, 3, 4)
    wanted = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(0, 2, 0))).integers(2**63)
    assert generator_for(5, "imitation", "bots").integers(2**63) == wanted
    with pytest.raises(ValueError, match="not in"):
        sequence_of(5, "third", "games")


def test_what_a_file_says_besides_its_weights_changes_no_games(tmp_path: Path):
    policy = load_policy("pretrained:sleuth-3p")
    save_policy(policy, tmp_path / "copy.safetensors", {"torch": "another"}, 0.5)
    assert words_of(load_policy(tmp_path / "copy.safetensors")) == words_of(policy)
    assert words_of(load_policy("pretrained:sleuth-4p")) != words_of(policy)
