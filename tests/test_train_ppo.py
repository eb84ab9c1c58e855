"""Runs with ``algorithm: ppo`` from the command line, where they differ from MaskablePPO."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from sleuth_env.policies.policy import load_policy, save_policy
from tests.test_train import TINY, curve, played, states, steps_of, the_line
from training.config import make_config
from training.network import ActorCritic, numpy_policy
from training.ppo import PpoLearner
from training.run import Run
from training.sparse import SparseRows
from training.train import main

SELF_PLAY: dict[str, Any] = TINY | {"algorithm": "ppo", "total_steps": 400}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(SELF_PLAY | {"run": str(tmp_path / "run")}))
    return path


def test_a_run_leaves_the_same_files_as_the_other_algorithm(tiny: Path, tmp_path: Path):
    assert main([str(tiny)]) == 0
    run = tmp_path / "run"
    assert {path.name for path in run.iterdir()} == {
        "config.yaml",
        "progress.csv",
        "league.csv",
        "best.safetensors",
        "best.md",
        "last.safetensors",
        "inputs",
        "lock",
        "checkpoints",
        "pool",
        "tensorboard",
    }
    steps = steps_of(run)
    # A rollout has at least 8 x 8 decisions and ends with the step of the games that reaches them.
    assert all(64 <= after - before < 72 for before, after in zip([0, *steps], steps, strict=False))
    assert 400 <= steps[-1] < 472
    assert {"rollout/win_share", "eval/random", "train/approx_kl", "train/explained_variance"} <= set(curve(run)[-1])
    assert load_policy(run / "last.safetensors").steps == steps[-1]


def test_a_resumed_run_is_the_unbroken_one(tmp_path: Path):
    config = make_config(SELF_PLAY)
    unbroken = Run(config, tmp_path / "unbroken")
    unbroken.start()
    unbroken.train()
    broken = Run(config, tmp_path / "broken")
    broken.start()
    # A signal in a later rollout.
    asked = iter(range(10**6))
    usual = broken.learner.learn
    broken.learner.learn = lambda progress, _: usual(
        progress, lambda: bool(broken.signal) or stop(broken, next(asked) > 60)
    )  # type: ignore[method-assign]
    assert broken.train() == 15
    assert 0 < broken.steps < 400
    resumed = Run(config, tmp_path / "broken")
    resumed.resume()
    resumed.train()
    assert resumed.steps == unbroken.steps
    for one, other in zip(states(unbroken), states(resumed), strict=True):
        assert torch.equal(one, other)
    kept = [key for key in curve(tmp_path / "broken")[0] if not key.startswith("time/seconds") and key != "time/fps"]
    assert [[row[key] for key in kept] for row in curve(tmp_path / "broken")] == [
        [row[key] for key in kept] for row in curve(tmp_path / "unbroken")
    ]


def stop(run: Run, now: bool) -> bool:
    """Do what SIGTERM does."""
    run.signal = 15 if now else 0
    return now


def test_a_run_that_was_killed_goes_on_from_its_first_checkpoint_as_well(tmp_path: Path):
    config = make_config(SELF_PLAY | {"total_steps": 64})
    first = Run(config, tmp_path / "first")
    second = Run(config, tmp_path / "second")
    for run in (first, second):
        run.start()
    second.close()
    second = Run(config, tmp_path / "second")
    second.resume()
    for run in (first, second):
        run.train()
    for one, other in zip(states(first), states(second), strict=True):
        assert torch.equal(one, other)


def test_a_checkpoint_without_its_games_is_refused_in_one_line(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(tiny), "--total-steps=64"]) == 0
    run = tmp_path / "run"
    for path in (run / "checkpoints").glob("*.pt"):
        state = torch.load(path, weights_only=True)
        del state["games"]
        torch.save(state, path)
    assert main(["--resume", str(run), "--total-steps=128"]) == 2
    assert "cannot be resumed: 'games'" in capsys.readouterr().err


BY_HAND = [
    ("num_players: 3", "num_players: 4", "options.num_players is 3 there, 4 in config.yaml"),
    ("winners: 1", "winners: 2", "options.winners is 1 there, 2 in config.yaml"),
    ("activation: relu", "activation: tanh", "network.activation is 'relu' there, 'tanh' in config.yaml"),
    ("seed: 3", "seed: 4", "seed is 3 there, 4 in config.yaml"),
]


@pytest.mark.parametrize(("before", "after", "words"), BY_HAND)
def test_what_cannot_change_is_not_changed_by_hand(
    tiny: Path, tmp_path: Path, before: str, after: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tiny), "--total-steps=64", "--seed=3"]) == 0
    path = tmp_path / "run" / "config.yaml"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    capsys.readouterr()
    assert main(["--resume", str(tmp_path / "run"), "--total-steps=128"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"cannot be resumed: {words}" in line


def test_the_learner_can_be_its_own_only_opponent(tiny: Path, tmp_path: Path):
    assert main([str(tiny), "--total-steps=64", "--opponents.past-selves=0", "--opponents.bots={}"]) == 0
    assert (
        main(
            [
                str(tiny),
                "--run",
                str(tmp_path / "none"),
                "--opponents.past-selves=0",
                "--opponents.bots={}",
                "--opponents.learner=0",
            ]
        )
        == 2
    )


@pytest.mark.parametrize(
    "network",
    [
        {"hidden": [32, 16], "activation": "tanh"},
        {"hidden": [32, 16], "card_network": [8]},
        {"hidden": [16], "card_network": [], "activation": "relu"},
    ],
)
def test_numpy_plays_what_torch_has_learned(network: dict[str, Any]):
    config = make_config({"options": {"num_players": 3}, "network": network | {"initial_bias": {"accuse": -1.0}}})
    torch.manual_seed(0)
    networks = ActorCritic(config)
    with torch.no_grad():
        for weights in networks.parameters():
            weights += 0.05 * torch.randn_like(weights)
        observations, _, _ = played()
        logits, values = networks(SparseRows.of(observations))
    policy = numpy_policy(config, networks.layers(), networks.action_net, networks.card_network, 0)
    assert np.abs(policy.logits(observations) - logits.numpy()).max() < 1e-3
    assert values.shape == (len(observations),)


def test_after_a_warm_start_the_value_is_learned_first(tmp_path: Path):
    config = make_config(SELF_PLAY)
    first = Run(config, tmp_path / "first")
    save_policy(first.policy(), tmp_path / "first.safetensors", {})
    warm = Run(
        make_config(
            SELF_PLAY | {"start": str(tmp_path / "first.safetensors"), "ppo": SELF_PLAY["ppo"] | {"value_first": 100}}
        ),
        tmp_path / "warm",
    )
    warm.start()
    learner = warm.learner
    assert isinstance(learner, PpoLearner)
    observations, _, _ = played()
    before = first.policy().logits(observations)
    value = learner.network.last_value.weight.detach().clone()
    # Two rollouts of 64 and more.
    for only_value in (True, True, False):
        assert learner.only_value == only_value
        np.testing.assert_array_equal(learner.policy().logits(observations), before)
        learner.learn(0.0, lambda: False)
        assert not torch.equal(learner.network.last_value.weight, value)
    assert not np.array_equal(learner.policy().logits(observations), before)
    # One rollout's minibatches.
    (steps,) = {float(state["step"]) for state in learner.optimizer.state_dict()["state"].values()}
    assert steps in (2, 3)


def test_a_warm_run_may_begin_with_sharper_logits(tmp_path: Path):
    first = Run(make_config(SELF_PLAY), tmp_path / "first").policy()
    save_policy(first, tmp_path / "first.safetensors", {})
    changes = {"start": str(tmp_path / "first.safetensors"), "network": SELF_PLAY["network"] | {"sharpness": 2}}
    warm = Run(make_config(SELF_PLAY | changes), tmp_path / "warm")
    warm.start()
    observations, _, _ = played()
    np.testing.assert_allclose(warm.policy().logits(observations), 2 * first.logits(observations), rtol=1e-5)


def test_a_warm_run_that_is_resumed_is_the_unbroken_one(tmp_path: Path):
    save_policy(Run(make_config(SELF_PLAY), tmp_path / "first").policy(), tmp_path / "first.safetensors", {})
    changes = {
        "start": str(tmp_path / "first.safetensors"),
        "ppo": SELF_PLAY["ppo"] | {"value_first": 100, "final_learning_rate": None},
        "total_steps": 260,
    }
    unbroken = Run(make_config(SELF_PLAY | changes), tmp_path / "unbroken")
    unbroken.start()
    unbroken.train()
    for steps in (64, 128, 260):
        broken = Run(make_config(SELF_PLAY | changes | {"total_steps": steps}), tmp_path / "broken")
        # The policy file is needed only once.
        (broken.start if steps == 64 else broken.resume)()
        (tmp_path / "first.safetensors").unlink(missing_ok=True)
        broken.train()
    for one, other in zip(states(unbroken), states(broken), strict=True):
        assert torch.equal(one, other)


def emptied(games: dict[str, Any]) -> None:
    """Leave a decision without observation."""
    games["waiting"]["observations"]["starts"] = games["waiting"]["observations"]["starts"][:-1]


TAMPERED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a player who is nobody": (lambda games: games["players"].fill_(99), "its players are out of range"),
    "a player below nobody": (lambda games: games["players"].fill_(-1), "its players are out of range"),
    "a decision that is not there": (lambda games: games["last"].fill_(10**6), "its last are out of range"),
    "a length below nothing": (lambda games: games["lengths"].fill_(-1), "its lengths are out of range"),
    "one seat less": (lambda games: games.update(lengths=games["lengths"][:, 1:]), "its lengths are out of range"),
    "names that are none": (lambda games: games.update(names=3), "its opponents have no names"),
    "columns far outside": (
        lambda games: games["waiting"]["observations"]["columns"].fill_(2**30),
        "its observations point outside",
    ),
    "rows that begin late": (
        lambda games: games["waiting"]["observations"]["starts"].add_(1),
        "its observations point outside",
    ),
    "not a number": (
        lambda games: games["waiting"]["values"].fill_(float("nan")),
        "its decisions have no finite numbers",
    ),
    "an action that is none": (lambda games: games["waiting"]["actions"].fill_(10**4), "its decisions are not legal"),
    "an observation less": (emptied, "its observations point outside"),
    "a stream that is none": (lambda games: games["envs"].update(streams=[1] * 8), "is not the state of a generator"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_stored_games_that_point_outside_are_refused_in_one_line(
    tiny: Path, tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]
):
    change, words = TAMPERED[case]
    assert main([str(tiny), "--total-steps", "64"]) == 0
    first, path = sorted((tmp_path / "run" / "checkpoints").glob("*.pt"))
    first.unlink()
    state = torch.load(path, weights_only=True)
    assert len(state["games"]["waiting"]["actions"])
    change(state["games"])
    torch.save(state, path)
    capsys.readouterr()
    assert main(["--resume", str(tmp_path / "run"), "--total-steps", "128"]) == 2
    line = the_line(capsys)
    assert f"{path} cannot be resumed: " in line
    assert words in line
