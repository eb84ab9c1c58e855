"""Exported policies act as the policies: as modules of torch, and as ONNX files."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx.reference import ReferenceEvaluator

import sleuth_env
from sleuth_env import holmes, load_policy, sleuth
from sleuth_env.cli.commands import main
from sleuth_env.doors import ArrayError
from sleuth_env.matches.table import Table
from sleuth_env.policies.export import to_onnx, to_torch
from sleuth_env.policies.policy import Policy, choose, save_policy
from sleuth_env.policies.policy_file import PolicyError, pretrained_names
from tests.support.policies import VERSIONS, random_policy

RANDOM: dict[str, dict[str, Any]] = {
    "relu": {"card_network": False},
    "relu with cards": {},
    "tanh": {"card_network": False, "activation": "tanh"},
    "tanh with cards": {"activation": "tanh"},
}
POLICIES = [*pretrained_names("sleuth"), *RANDOM]


def policy_named(name: str) -> Policy:
    return random_policy(record="raw", **RANDOM[name]) if name in RANDOM else load_policy(name)


def observed(policy: Policy, number: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of real games between sheet bots."""
    table = Table(sleuth, policy.options, 20, [sleuth.make_bot("sheet", policy.options)], 0)
    table.deal(np.arange(20), np.arange(20, dtype=np.uint64))
    views = []
    legal = []
    while sum(map(len, views)) < number:
        rows = np.flatnonzero(~table.finished)
        views.append(table.views(rows))
        legal.append(table.legal(rows))
        table.play_round()
    joined = np.concatenate(views)
    observations = np.empty((len(joined), sleuth.observation_size(policy.options, policy.record)), np.float32)
    sleuth.write_observations(sleuth.make_rules(policy.options), joined, observations, policy.record)
    return observations, np.concatenate(legal)


def check_same_actions(policy: Policy, observations: np.ndarray, legal: np.ndarray, logits: np.ndarray) -> None:
    own = policy.logits(observations)
    np.testing.assert_allclose(logits, own, rtol=1e-4, atol=1e-4)
    seeds = np.random.default_rng(1).integers(2**64, size=len(own), dtype=np.uint64)
    for greedy in (True, False):
        mine = np.zeros(len(own), np.int64)
        theirs = np.zeros(len(own), np.int64)
        choose(own, legal, seeds, greedy, mine)
        choose(np.ascontiguousarray(logits), legal, seeds, greedy, theirs)
        assert (mine == theirs).all()


@pytest.mark.parametrize("name", POLICIES)
def test_a_module_of_torch_acts_as_the_policy(name: str):
    policy = policy_named(name)
    observations, legal = observed(policy)
    with torch.no_grad():
        logits = to_torch(policy)(torch.from_numpy(observations)).numpy()
    check_same_actions(policy, observations, legal, logits)


@pytest.mark.parametrize("name", POLICIES)
def test_an_onnx_file_acts_as_the_policy(tmp_path: Path, name: str):
    policy = policy_named(name)
    observations, legal = observed(policy)
    to_onnx(policy, tmp_path / "p.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "p.onnx", providers=["CPUExecutionProvider"])
    (logits,) = session.run(["logits"], {"observations": observations})
    check_same_actions(policy, observations, legal, logits)
    (again,) = session.run(["logits"], {"observations": observations})
    assert (again == logits).all()
    (alone,) = session.run(["logits"], {"observations": observations[:1]})
    np.testing.assert_allclose(alone, logits[:1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [POLICIES[0], "relu with cards", "tanh with cards"])
def test_the_reference_of_onnx_agrees(tmp_path: Path, name: str):
    policy = policy_named(name)
    observations, legal = observed(policy, 5)
    to_onnx(policy, tmp_path / "p.onnx")
    (logits,) = ReferenceEvaluator(str(tmp_path / "p.onnx")).run(None, {"observations": observations[:5]})
    check_same_actions(policy, observations[:5], legal[:5], logits)


@pytest.mark.parametrize("cards", [False, True])
def test_the_activation_of_a_policy_is_that_of_its_exports(tmp_path: Path, cards: bool):
    kept = {}
    for activation in ("relu", "tanh"):
        policy = random_policy(record="raw", card_network=cards, activation=activation)
        to_onnx(policy, tmp_path / "p.onnx")
        operators = {node.op_type for node in onnx.load(tmp_path / "p.onnx").graph.node}
        modules = {type(module) for module in to_torch(policy).modules()}
        assert operators & {"Relu", "Tanh"} == {activation.capitalize()}
        assert modules & {torch.nn.ReLU, torch.nn.Tanh} == {{"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[activation]}
        kept[activation] = policy.logits(observed(policy, 5)[0])
    # Of the same weights: it makes a difference.
    assert not np.allclose(kept["relu"], kept["tanh"])


def test_an_onnx_file_says_what_it_plays(tmp_path: Path):
    policy = load_policy("pretrained:sleuth-4p")
    to_onnx(policy, tmp_path / "p.onnx")
    found = {entry.key: entry.value for entry in onnx.load(tmp_path / "p.onnx").metadata_props}
    assert (found["game"], found["record"]) == ("sleuth", "exact")
    assert json.loads(found["options"])["num_players"] == 4
    assert found["observation_hash"] == sleuth.observation_layout(policy.options, "exact").digest


def test_a_module_of_torch_can_be_trained(tmp_path: Path):
    policy = load_policy("pretrained:sleuth-3p")
    module = to_torch(policy)
    module(torch.rand(2, 1830)).sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())


def test_a_number_beyond_one_is_cut_as_the_policy_does(tmp_path: Path):
    policy = random_policy()
    observations = np.full((2, sleuth.observation_size(policy.options, "sheet")), 3, np.float32)
    with torch.no_grad():
        found = to_torch(policy)(torch.from_numpy(observations)).numpy()
    np.testing.assert_allclose(found, policy.logits(np.ones_like(observations)), rtol=1e-4, atol=1e-4)


# --- the command ---


def test_the_command_writes_an_onnx_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    save_policy(random_policy(), "mine.safetensors", VERSIONS)
    assert main(["export", "mine.safetensors", "--to", "onnx"]) == 0
    assert capsys.readouterr().out == "Wrote mine.onnx.\n"
    assert onnx.load("mine.onnx").graph.input[0].name == "observations"


@pytest.mark.parametrize("kind", ["pretrained:sleuth-3p", *RANDOM])
def test_the_command_writes_a_program_of_torch_for_any_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
):
    monkeypatch.chdir(tmp_path)
    name = "mine.safetensors" if kind in RANDOM else kind
    save_policy(policy_named(kind), "mine.safetensors", VERSIONS)
    assert main(["export", name, "--to", "torch", "--out", "p.pt2"]) == 0
    policy = load_policy(name)
    observations, legal = observed(policy, 30)
    module = torch.export.load("p.pt2").module()
    with torch.no_grad():
        check_same_actions(policy, observations, legal, module(torch.from_numpy(observations)).numpy())
        module(torch.from_numpy(observations[:1]))


@pytest.mark.parametrize("name", pretrained_names("holmes"))
def test_policies_of_the_second_game_are_exported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.chdir(tmp_path)
    policy = load_policy(name, holmes)
    size = holmes.observation_layout(policy.options, policy.record).size
    observations = np.random.default_rng(0).random((5, size), np.float32)
    for kind, file in (("torch", "p.pt2"), ("onnx", "p.onnx")):
        assert main(["export", name, "--to", kind, "--out", file]) == 0
    module = torch.export.load("p.pt2").module()
    with torch.no_grad():
        by_torch = module(torch.from_numpy(observations)).numpy()
    session = onnxruntime.InferenceSession("p.onnx", providers=["CPUExecutionProvider"])
    by_onnx = session.run(None, {"observations": observations})[0]
    for logits in (by_torch, by_onnx):
        np.testing.assert_allclose(logits, policy.logits(observations), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody.safetensors", "--to", "onnx"], "nobody.safetensors cannot be read"),
        (["pretrained:3p", "--to", "onnx", "--out", "p.bin"], "must end in .onnx"),
        (["pretrained:3p", "--to", "onnx", "--out", "no/p.onnx"], "its folder does not exist"),
        (["pretrained:3p", "--to", "keras"], "'keras'"),
    ],
)
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], words: list[str], message: str):
    assert main(["export", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["export", "pretrained:3p", "--to", "onnx"], "p.onnx"),
        (["export", "pretrained:3p", "--to", "torch"], "p.pt2"),
        (["card", "pretrained:3p"], "README.md"),
    ],
)
def test_a_full_disk_is_one_line_and_exit_code_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    file: str,
):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    assert main([*words, "--out", file]) == 1
    assert capsys.readouterr().err == f"sleuth: {file} cannot be written: No space left on device\n"
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(__import__("sys").modules, "sleuth_env.policies.onnx_graph", None)
    with pytest.raises(PolicyError, match=r"pip install \"sleuth-env\[onnx\]\""):
        to_onnx(random_policy(), tmp_path / "p.onnx")


@pytest.mark.parametrize("name", ["pretrained:sleuth-3p", "pretrained:holmes-3p"])
def test_observations_of_the_batched_environment_in_bytes_are_understood(name: str) -> None:
    policy = load_policy(name)
    make = sleuth_env.SleuthVectorEnv if policy.game is sleuth else sleuth_env.HolmesVectorEnv
    settings = {"num_players": 3, "record": policy.record}
    (floats, _), (small, _) = (make(8, dtype=kind, **settings).reset(seed=1) for kind in ("float32", "int8"))
    scaled = small.astype(np.float32) / np.float32(127)
    assert abs(scaled - floats).max() < 1 / 127
    wanted = policy.logits(scaled)
    np.testing.assert_allclose(policy.logits(small), wanted, rtol=1e-4, atol=1e-3)
    with torch.no_grad():
        found = to_torch(policy)(torch.from_numpy(small)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-2)
    for wrong in (small.astype(np.int64), small.view(np.uint8), floats.astype(np.float64), small[:, 1:]):
        with pytest.raises(ArrayError, match="observations must be"):
            policy.logits(wrong)
