"""After `sleuth compile` nothing is compiled: not by a command, an environment or a training."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sleuth_env import compile_kernels, kernels
from sleuth_env.cli.commands import main
from sleuth_env.compilation import _use_policies
from sleuth_env.game import GAMES, GameError, load_game
from sleuth_env.policies.policy_file import pretrained_names
from tests.support import follow

ROOT = Path(__file__).parents[1]
# It prints a line for each signature of each kernel that a program has used, and what it compiled.
WATCHED = """
import contextlib, io, sys
from sleuth_env import kernel_cache, kernels
used = set()
load = kernel_cache.KernelCache.load_overload
def watched(self, sig, context):
    used.add(f"{self._name}({kernel_cache._signature(sig)})")
    return load(self, sig, context)
kernel_cache.KernelCache.load_overload = watched
with contextlib.redirect_stdout(io.StringIO()), kernels.compiling() as compiled:
    exec(sys.argv[1])
print(compiled.number, *sorted(used), sep="\\n")
"""
COMMANDS = """
from sleuth_env.cli.commands import main
for words in (
    "match random cautious sheet racer --games 4",
    "match entropy random random --games 3 --options max_turns=30 winners=2 double_interrogation=true",
    "evaluate pretrained:4p --against sheet --games 4",
    "play --seed 1 --save game.txt",
    "replay game.txt --viewpoint player_0 --odds",
    "replay game.txt --reveal",
    "replay game.txt --viewpoint player_0 --review",
):
    sys.stdin = io.StringIO("odds\\nsheet\\nlegal\\n1\\n\\nodds\\nquit\\n")
    assert main(words.split()) == 0, words
"""
ENVIRONMENTS = """
import gymnasium
import numpy as np
from sleuth_env import SleuthVecEnv, SleuthVectorEnv, belief_in_game, sleuth, sleuth_v0, text_observation
rng = np.random.default_rng(1)
for record in ("sheet", "raw", "exact"):
    env = sleuth_v0.env(num_players=5, missing=1, record=record)
    env.reset(seed=3)
    deals = env.unwrapped.belief("player_0").sample(2, rng)
    sleuth.rebuild(sleuth.make_rules(env.unwrapped.options), env.unwrapped.view("player_0"), deals, rng)
    for _ in env.agent_iter(20):
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    env.unwrapped.belief("player_0").missing_sets
    belief_in_game(env.unwrapped.game_text(), "player_0", 1)
    text_observation(env.unwrapped.view("player_0"), env.unwrapped.options)
    for name in ("float32", "int8"):
        envs = SleuthVectorEnv(3, record=record, dtype=name, threads=2)
        envs.reset(seed=1)
        envs.step(envs.action_masks().argmax(axis=1))
    solo = gymnasium.make("sleuth_env/Sleuth-v0", record=record, opponents=["racer", "entropy"], num_players=3)
    solo.reset(seed=1)
    solo.step(int(solo.unwrapped.action_masks().argmax()))
    learners = SleuthVecEnv(2, ["sheet"], record=record)
    learners.reset()
    learners.step(learners.action_masks().argmax(axis=1))
"""
TRAINING = """
import yaml
from pathlib import Path
from tests.test_train import TINY
from training.train import main
for number, more in enumerate(({}, {"algorithm": "ppo"}, {"algorithm": "ppo", "record": "exact"})):
    mixed = {"opponents": {**TINY["opponents"], "learner": 1}} if more else {}
    Path("tiny.yaml").write_text(yaml.safe_dump({**TINY, **more, **mixed, "run": f"run{number}"}))
    assert main(["tiny.yaml"]) == 0
"""
PROGRAMS = {"commands": COMMANDS, "environments": ENVIRONMENTS, "training": TRAINING}


def use(program: str, folder: Path, **environment: str) -> tuple[int, set[str]]:
    """Run a program in a process; return how much it compiled, and the signatures of kernels that it used."""
    run = subprocess.run(
        [sys.executable, "-c", WATCHED, program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    compiled, *used = run.stdout.splitlines()
    return int(compiled), set(used)


def test_what_the_commands_and_environments_use_is_all_prepared(tmp_path: Path) -> None:
    prepared = use("import sleuth_env; sleuth_env.compile_kernels()", tmp_path)[1]
    for name in ("commands", "environments"):
        compiled, used = use(PROGRAMS[name], tmp_path)
        assert compiled == 0
        assert used - prepared == set()


@pytest.mark.slow
def test_after_the_command_nothing_is_compiled_at_all(tmp_path: Path) -> None:
    own = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "sleuth_command", "compile"]
    subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": str(ROOT), **own})
    assert use("import sleuth_env; sleuth_env.compile_kernels()", tmp_path, **own)[0] == 0
    for name, program in PROGRAMS.items():
        assert use(program, tmp_path, **own)[0] == 0, name


@pytest.mark.parametrize("name", GAMES)
def test_every_policy_that_comes_with_a_game_is_played_with(name: str) -> None:
    game = load_game(name)
    assert pretrained_names(name)
    _use_policies(game, game.Options())


def test_a_game_of_somebody_elses_is_prepared_too_and_each_step_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[str, int, int]] = []
    assert compile_kernels(follow, lambda name, number, total: told.append((name, number, total))).lost == ()
    assert [number for _, number, _ in told] == list(range(len(told)))
    assert {total for _, _, total in told} == {len(told)}
    assert "sleuth-env" not in capsys.readouterr().err
    assert compile_kernels(follow).number == 0


def test_the_command_says_whether_everything_is_ready(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["compile", "--game", "tests.support.follow"]) == 0
    assert capsys.readouterr().out.endswith("starts are quick now.\n")
    lost = kernels.Compiled(3, ("compiled kernels cannot be kept for later starts",))
    monkeypatch.setattr("sleuth_env.cli.compile.compile_kernels", lambda game, progress: lost)
    assert main(["compile"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "sleuth: compiled kernels cannot be kept for later starts\n"


def test_what_is_no_game_is_refused() -> None:
    with pytest.raises(GameError, match="must be a game module"):
        compile_kernels("sleuth")  # type: ignore[arg-type]
    assert main(["compile", "--game", "nothing"]) == 2
