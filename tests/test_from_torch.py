"""Networks of torch as policies: what a policy can be gives the same logits, and all else is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sleuth_env import (
    Mlp,
    Options,
    Policy,
    load_policy,
    policy_from_sb3,
    policy_from_torch,
    save_policy,
    sleuth,
    to_onnx,
    to_torch,
)
from sleuth_env.policies.policy_file import PolicyError, read_metadata
from sleuth_env.sleuth import num_actions, observation_size
from tests.support.policies import random_policy

OPTIONS = Options(num_players=3)
INPUTS = observation_size(OPTIONS, "sheet")
ACTIONS = num_actions(OPTIONS)


def first() -> nn.Linear:
    return nn.Linear(INPUTS, 16)


def last() -> nn.Linear:
    return nn.Linear(16, ACTIONS)


def with_shared_activation() -> nn.Module:
    activation = nn.ReLU()
    return nn.Sequential(first(), activation, nn.Linear(16, 16), activation, last())


def with_a_block_twice() -> nn.Module:
    block = nn.Sequential(nn.Linear(16, 16), nn.ReLU())
    return nn.Sequential(first(), nn.ReLU(), block, block, last())


@pytest.mark.parametrize(
    "made",
    [
        with_shared_activation,
        with_a_block_twice,
        lambda: nn.Linear(INPUTS, ACTIONS),
        lambda: nn.Sequential(nn.Flatten(), nn.Sequential(first(), nn.Tanh()), nn.Dropout(0.5), last()),
        lambda: nn.Sequential(first(), nn.ReLU(), nn.Linear(16, ACTIONS, bias=False)).double(),
        lambda: nn.Sequential(first(), nn.ReLU(), last()).to(torch.bfloat16),
    ],
)
def test_a_policy_gives_the_logits_of_its_network(made: Callable[[], nn.Module]) -> None:
    network = made()
    is_training = [module.training for module in network.modules()]
    policy = policy_from_torch(network, OPTIONS, "sheet")
    observations = np.random.default_rng(1).random((5, INPUTS), np.float32)
    assert [module.training for module in network.modules()] == is_training
    with torch.no_grad():
        wanted = network.float().eval()(torch.from_numpy(observations)).numpy()
    np.testing.assert_allclose(policy.logits(observations), wanted, rtol=1e-4, atol=1e-4)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = first()
        self.activation = nn.ReLU()
        self.middle = nn.Linear(16, 16)
        self.second_activation = nn.ReLU()
        self.last = last()

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        values = self.activation(self.first(observations))
        found: torch.Tensor = self.last(values + self.second_activation(self.middle(values)))
        return found


class Scaled(nn.Sequential):
    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = 2 * super().forward(observations)
        return found


def with_a_hook() -> nn.Module:
    network = nn.Sequential(first(), nn.ReLU(), last())
    network[0].register_forward_hook(lambda module, given, found: found + 1)
    return network


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Residual, "something else than its linear layers one after the other"),
        (lambda: Scaled(first(), nn.ReLU(), last()), "something else than its linear layers one after the other"),
        (with_a_hook, "something else than its linear layers one after the other"),
        (lambda: nn.Sequential(first(), nn.GELU(), last()), "ReLU or Tanh between them, got GELU"),
        (lambda: nn.Sequential(first(), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), last()), "the same activation"),
        (lambda: nn.Sequential(first(), nn.ReLU(), last()).to("meta"), "cannot be read as numbers"),
        (lambda: nn.Sequential(), "a network has 1 to 16 layers, got 0"),
        (lambda: None, "policy must be a torch.nn.Sequential of linear layers, got None"),
        (lambda: nn.Sequential, "policy must be a torch.nn.Sequential of linear layers, got <class"),
        (lambda: "net", "policy must be a torch.nn.Sequential of linear layers, got 'net'"),
    ],
)
def test_what_a_policy_cannot_be_is_refused(made: Callable[[], Any], reason: str) -> None:
    with pytest.raises(PolicyError, match=reason):
        policy_from_torch(made(), OPTIONS, "sheet")


@pytest.mark.parametrize("steps", [-1, 1.5, True, "3", None], ids=repr)
def test_steps_are_a_whole_number(steps: Any) -> None:
    with pytest.raises(PolicyError, match="steps must be an integer of at least 0, got"):
        policy_from_torch(nn.Linear(INPUTS, ACTIONS), OPTIONS, "sheet", steps=steps)


# --- what is saved can be loaded ---


@pytest.mark.parametrize("share", [None, 0, 1, 0.25, np.float32(0.5), np.int64(1)], ids=repr)
def test_any_share_of_a_win_is_read_again(share: Any, tmp_path: Path) -> None:
    save_policy(random_policy(steps=np.int64(7)), tmp_path / "p.safetensors", {}, share)
    assert read_metadata(tmp_path / "p.safetensors")["win_share"] == share
    assert load_policy(tmp_path / "p.safetensors").steps == 7


@pytest.mark.parametrize("share", [2, -0.1, math.nan, math.inf, True, "0.5", [0.5]], ids=repr)
def test_what_is_no_share_of_a_win_replaces_no_file(share: Any, tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    path.write_bytes(b"a good file")
    with pytest.raises(PolicyError, match="win_share must be a number from 0 to 1, or None, got"):
        save_policy(random_policy(), path, {}, share)
    assert path.read_bytes() == b"a good file"


def test_a_folder_that_is_not_there_is_named_by_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "p.safetensors"
    with pytest.raises(FileNotFoundError, match=r"nowhere/p.safetensors'$"):
        save_policy(random_policy(), path, {})


LAYERS = [(np.zeros((ACTIONS, INPUTS)), np.zeros(ACTIONS))]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Mlp([(LAYERS[0][0] * 1j, LAYERS[0][1])]), "pairs of a weight and a bias, arrays of real numbers, got"),
        (lambda: Mlp("x"), "pairs of a weight and a bias, arrays of real numbers, got 'x'"),
        (lambda: Mlp(None), "pairs of a weight and a bias, arrays of real numbers, got None"),
        (
            lambda: Policy(sleuth, OPTIONS, "sheet", None),
            "network must be an Mlp or one of the game's NETWORKS, got None",
        ),
        (lambda: Policy(sleuth, OPTIONS, "x", Mlp(LAYERS)), "record must be one of 'sheet', 'raw', 'exact', got 'x'"),
        (lambda: Policy(sleuth, OPTIONS, "sheet", Mlp(LAYERS), "yes"), "greedy must be one of False, True, got 'yes'"),
        (lambda: Policy(sleuth, OPTIONS, "sheet", Mlp(LAYERS), name=3), "name must be a text, got 3"),
        (lambda: save_policy(3, "p.safetensors", {}), "policy must be a Policy, got 3"),
        (lambda: to_onnx(3, "p.onnx"), "policy must be a Policy, got 3"),
        (lambda: to_torch(None), "policy must be a Policy, got None"),
        (lambda: load_policy(3), "3 cannot be read: expected str, bytes or os.PathLike object, not int"),
        (lambda: policy_from_sb3(None, OPTIONS), "model must be one of Stable-Baselines3 or sb3-contrib, got None"),
    ],
)
def test_what_is_no_part_of_a_policy_is_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(reason)):
        make()


@pytest.mark.parametrize("versions", ["abc", None, {"torch": 2}, {2: "torch"}, [("torch", "2")]], ids=repr)
def test_versions_are_texts_by_names(versions: Any, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="versions must map names of packages to texts, got"):
        save_policy(random_policy(), tmp_path / "p.safetensors", versions)
    assert list(tmp_path.iterdir()) == []
