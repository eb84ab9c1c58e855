"""A run folder holds all that the run needs, and what is wrong with it is said as it is."""

from __future__ import annotations

import errno
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from sleuth_env.policies.policy import load_policy, save_policy
from sleuth_env.policies.policy_file import read_metadata
from tests.test_train import TINY, curve, states, the_line
from training.checkpoint import DamagedError, read_checkpoint
from training.config import make_config
from training.inputs import Inputs
from training.run import Run
from training.streams import words_of
from training.train import main


def policy_file(path: Path, seed: int = 1) -> str:
    """Write an untrained policy of the size that a run here learns."""
    save_policy(Run(make_config(TINY | {"seed": seed}), path.parent / "unused").policy(), path, {})
    return str(path)


def configuration(folder: Path, algorithm: str) -> Path:
    """Write a configuration whose players lie in the folder, named as from there."""
    policy_file(folder / "one.safetensors", 1)
    policy_file(folder / "other.safetensors", 2)
    changes: dict[str, Any] = {
        "algorithm": algorithm,
        "run": "run",
        "opponents": TINY["opponents"] | {"bots": {"one.safetensors": 1.0, "random": 1.0}, "pool_size": 1},
        "evaluation": TINY["evaluation"] | {"against": ["other.safetensors"]},
        # Constant, so that the first half of a run is the same whatever its length.
        "ppo": TINY["ppo"] | {"value_first": 64, "final_learning_rate": None},
    }
    if algorithm == "ppo":
        changes["start"] = "other.safetensors"
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(TINY | changes))
    return path


def weights(run: Path) -> list[torch.Tensor]:
    """Return the weights and the optimiser's state of the latest checkpoint of a run."""
    config = make_config(yaml.safe_load((run / "config.yaml").read_text()))
    made = Run(config, run)
    made.resume()
    made.close()
    return states(made)


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_a_run_folder_that_was_moved_goes_on_to_the_same_numbers_without_its_sources(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    home = tmp_path / "home"
    home.mkdir()
    path = configuration(home, algorithm)
    monkeypatch.chdir(home)
    # MaskablePPO cannot store its generators, so its unbroken run is one that was resumed where it was.
    assert main([str(path), "--total-steps=128"]) == 0
    away = tmp_path / "elsewhere" / "moved"
    shutil.copytree(home / "run", away)
    if algorithm == "ppo":
        shutil.rmtree(home / "run")
        assert main([str(path), "--total-steps=256"]) == 0
    else:
        assert main(["--resume", "run", "--total-steps=256"]) == 0
    unbroken = shutil.move(home / "run", tmp_path / "unbroken")
    shutil.rmtree(home)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["--resume", str(away), "--total-steps=256"]) == 0
    assert capsys.readouterr().err == ""
    for one, other in zip(weights(away), weights(unbroken), strict=True):
        assert torch.equal(one, other)
    assert (away / "last.safetensors").read_bytes() == (unbroken / "last.safetensors").read_bytes()
    best, other = (read_metadata(folder / "best.safetensors") for folder in (away, unbroken))
    # How long the training was to be when the policy was written.
    assert {best["training"].pop("total_steps"), other["training"].pop("total_steps")} <= {128, 256}
    assert best == other
    assert words_of(load_policy(away / "best.safetensors")) == words_of(load_policy(unbroken / "best.safetensors"))
    kept = [key for key in curve(unbroken)[-1] if key not in ("time/seconds", "time/fps")]
    assert [curve(away)[-1][key] for key in kept] == [curve(unbroken)[-1][key] for key in kept]


def started(folder: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str = "ppo") -> Path:
    monkeypatch.chdir(folder)
    assert main([str(configuration(folder, algorithm)), "--total-steps=128"]) == 0
    return folder / "run"


def test_a_file_that_has_changed_since_is_said_and_its_copy_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = started(tmp_path, monkeypatch)
    plain = tmp_path / "plain"
    shutil.copytree(run, plain)
    assert main(["--resume", str(plain), "--total-steps=256"]) == 0
    policy_file(tmp_path / "one.safetensors", 7)
    (tmp_path / "other.safetensors").write_bytes(b"not a policy at all")
    capsys.readouterr()
    assert main(["--resume", str(run), "--total-steps=256"]) == 0
    first, second = sorted(capsys.readouterr().err.splitlines())
    assert first.startswith("note: one.safetensors has changed since the run began")
    assert second.startswith("note: other.safetensors has changed since the run began")
    for one, other in zip(weights(run), weights(plain), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(("damage", "words"), [("flip", "is damaged"), ("remove", "is missing")])
def test_a_copy_that_is_not_the_one_is_refused(
    damage: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = started(tmp_path, monkeypatch)
    for copy in (run / "inputs").glob("*.safetensors"):
        copy.write_bytes(
            flipped(copy.read_bytes(), 8 * copy.stat().st_size - 20)
        ) if damage == "flip" else copy.unlink()
    before = files(run)
    capsys.readouterr()
    assert main(["--resume", str(run), "--total-steps=256"]) == 2
    assert words in the_line(capsys)
    assert files(run) == before


def test_opponents_that_come_later_are_copied_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = started(tmp_path, monkeypatch)
    new = policy_file(tmp_path / "new.safetensors", 5)
    bots = f"--opponents.bots={{{new}: 1.0}}"
    assert main(["--resume", str(run), "--total-steps=192", bots]) == 0
    (tmp_path / "new.safetensors").unlink()
    (tmp_path / "one.safetensors").unlink()  # it has left, but games of its may be under way
    assert main(["--resume", str(run), "--total-steps=256"]) == 0
    assert len(list((run / "inputs").glob("*.safetensors"))) == 3


MINE = """
import numpy as np
from neighbour import chosen

class First:
    name = "first"
    def act(self, views, legal, seeds):
        return chosen(legal)
"""
CHOSEN = "def chosen(legal):\n    return legal.argmax(axis=1)\n"


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_a_player_in_a_python_file_is_copied_and_one_in_a_module_is_watched(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for module in ("neighbour", "watched"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry).is_absolute()])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour.py").write_text(CHOSEN)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "watched.py").write_text(MINE)
    changes: dict[str, Any] = {
        "algorithm": algorithm,
        "run": "run",
        "opponents": TINY["opponents"] | {"bots": {"mine.py:First": 1.0, "watched:First": 1.0}},
        "evaluation": TINY["evaluation"] | {"against": ["mine.py:First"]},
        "ppo": TINY["ppo"] | {"value_first": 64},
    }
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(TINY | changes))
    assert main(["run.yaml", "--total-steps=128"]) == 0
    (copy,) = (tmp_path / "run" / "inputs").glob("*/mine.py")
    assert (copy.parent / "neighbour.py").read_text() == CHOSEN
    (tmp_path / "mine.py").write_text("raise RuntimeError('this is not the copy')")
    (tmp_path / "neighbour.py").write_text("raise RuntimeError('neither is this')")
    (tmp_path / "watched.py").write_text(MINE + "\n")
    capsys.readouterr()
    assert main(["--resume", "run", "--total-steps=256"]) == 0
    first, second = sorted(capsys.readouterr().err.splitlines())
    assert first.startswith("note: mine.py:First has changed since the run began")
    assert first.endswith("the run goes on with the copy in run/inputs")
    assert second.startswith("note: watched:First has changed since the run began")
    assert second.endswith("the run goes on with it")


def test_a_run_that_began_on_windows_plays_the_copies_of_its_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour.py").write_text(CHOSEN)
    (tmp_path / "mine.py").write_text(MINE)
    config = make_config(TINY)
    folder = tmp_path / "run"
    begun = Inputs(config, folder)
    begun.player("mine.py:First")
    folder.mkdir()
    begun.keep()
    index = folder / "inputs" / "index.yaml"
    sources = yaml.safe_load(index.read_text())
    sources["mine.py:First"]["path"] = r"C:\research\mine.py"
    index.write_text(yaml.safe_dump(sources))
    (tmp_path / "mine.py").unlink()
    (tmp_path / "neighbour.py").unlink()
    player = Inputs(config, folder).player("mine.py:First")
    legal = np.array([[0, 1, 1]], np.uint8)
    assert player.act(np.zeros(1), legal, np.zeros(1, np.uint64)).tolist() == [1]


@pytest.mark.parametrize("lost", ["inputs", "inputs/index.yaml"])
@pytest.mark.parametrize("plays_files", [True, False])
def test_a_run_without_its_index_is_refused_in_one_line(
    lost: str, plays_files: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    if plays_files:
        started(tmp_path, monkeypatch)
    else:
        (tmp_path / "run.yaml").write_text(yaml.safe_dump(TINY | {"run": "run"}))
        assert main(["run.yaml", "--total-steps=128"]) == 0
    gone = tmp_path / "run" / lost
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    before = files(tmp_path / "run")
    capsys.readouterr()
    assert main(["--resume", "run", "--total-steps=256"]) == 2
    assert the_line(capsys) == "error: run/inputs/index.yaml is missing, which says what the run was started with"
    assert files(tmp_path / "run") == before


def test_an_index_that_is_none_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = started(tmp_path, monkeypatch)
    (run / "inputs" / "index.yaml").write_text("one.safetensors: {sha256: ../../x, path: a}\n")
    capsys.readouterr()
    assert main(["--resume", str(run), "--total-steps=256"]) == 2
    assert "must map names to their sha256 and path" in the_line(capsys)


# --- checkpoints ---


def flipped(content: bytes, bit: int) -> bytes:
    """Return bytes with one bit changed."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def files(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with two checkpoints and a pool of two."""
    made = Run(make_config(TINY | {"algorithm": "ppo", "total_steps": 128}), tmp_path / "run")
    made.start()
    made.train()
    return made.folder


def latest(run: Path) -> Path:
    return max((run / "checkpoints").glob("*.pt"))


def test_every_single_bit_flip_of_a_checkpoint_is_refused(run: Path, tmp_path: Path):
    content = latest(run).read_bytes()
    bits = 8 * len(content)
    rng = random.Random(1)
    path = tmp_path / "flipped.pt"
    # Anywhere, and wherever the zip file ends and the checksum stands.
    for bit in [*(rng.randrange(bits) for _ in range(300)), *range(bits - 8 * 100, bits)]:
        path.write_bytes(flipped(content, bit))
        with pytest.raises(DamagedError, match="is damaged"):
            read_checkpoint(path, "cpu")
    path.write_bytes(content)
    assert read_checkpoint(path, "cpu")["steps"] == int(latest(run).stem)


@pytest.mark.parametrize("cut", [1, 72, 73, 1000])
def test_a_checkpoint_that_was_cut_or_extended_is_refused(cut: int, run: Path):
    path = latest(run)
    content = path.read_bytes()
    if cut != 72:  # nothing is lost but the checksum
        path.write_bytes(content[:-cut])
        with pytest.raises(DamagedError):
            read_checkpoint(path, "cpu")
    path.write_bytes(content + b"\0" * cut)
    with pytest.raises(DamagedError):
        read_checkpoint(path, "cpu")


def test_a_checkpoint_of_an_older_version_is_read_by_the_checksums_of_its_parts(run: Path):
    path = latest(run)
    state = torch.load(path, weights_only=True)
    torch.save(state, path)
    assert read_checkpoint(path, "cpu")["steps"] == state["steps"]
    content = path.read_bytes()
    path.write_bytes(flipped(content, 8 * (len(content) // 2)))
    with pytest.raises(DamagedError):
        read_checkpoint(path, "cpu")


def test_the_one_before_a_damaged_checkpoint_is_taken_and_that_is_said(run: Path, capsys: pytest.CaptureFixture[str]):
    path = latest(run)
    before = sorted((run / "checkpoints").glob("*.pt"))[-2]
    path.write_bytes(flipped(path.read_bytes(), 4 * path.stat().st_size))
    assert main(["--resume", str(run)]) == 0
    line = the_line(capsys)
    assert f"{path} cannot be resumed: it is damaged" in line
    assert line.endswith(f"going on from {before.name}")
    assert path.with_suffix(".damaged").exists()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "out of memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"), "out of memory"),
        (OSError(errno.EIO, "Input/output error", "a.pt"), "a.pt: Input/output error"),
        (PermissionError(errno.EACCES, "Permission denied", "a.pt"), "a.pt: Permission denied"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("place", ["training.checkpoint.read_bytes", "torch.load", "training.ppo.PpoLearner.restore"])
def test_what_says_nothing_against_a_checkpoint_does_not_put_it_aside(
    error: Exception,
    words: str,
    place: str,
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def fail(*_: Any, **__: Any) -> None:
        raise error

    before = files(run)
    with monkeypatch.context() as patched:
        patched.setattr(place, fail)
        assert main(["--resume", str(run), "--total-steps=256"]) in (1, 2)
    assert words in the_line(capsys)
    assert files(run) == before


@pytest.mark.parametrize(("damage", "words"), [("remove", "cannot be read"), ("flip", "is damaged")])
def test_a_past_self_that_is_missing_or_damaged_is_reported_and_nothing_is_put_aside(
    damage: str, words: str, run: Path, capsys: pytest.CaptureFixture[str]
):
    past_self = max((run / "pool").iterdir())
    content = past_self.read_bytes()
    # In a weight, where it would play on with other numbers.
    past_self.unlink() if damage == "remove" else past_self.write_bytes(flipped(content, 8 * len(content) - 20))
    before = files(run)
    assert main(["--resume", str(run), "--total-steps=256"]) == 2
    line = the_line(capsys)
    assert str(past_self) in line
    assert words in line
    assert files(run) == before
    past_self.write_bytes(content)
    assert load_policy(past_self).steps
    assert main(["--resume", str(run), "--total-steps=256"]) == 0
