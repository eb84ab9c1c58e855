"""Warm start: a policy that has learned a teacher's decisions, and the run that begins with it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from sleuth_env import sleuth
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.players import make_player
from sleuth_env.matches.seating import MatchError
from sleuth_env.policies.policy import load_policy
from sleuth_env.policies.policy_file import SUFFIX, PolicyError
from tests.test_train import played, the_line
from training.config import Config, make_config
from training.imitate import main
from training.imitation import Settings, examine, lines, train
from training.lessons import ACCEPTED, DECLINED, TURN, Lessons, Teaching, collect, strayed, weights_of
from training.network import make_network
from training.terminal import free_name
from training.train import main as start

TINY: dict[str, Any] = {
    "algorithm": "ppo",
    "num_envs": 16,
    "total_steps": 512,
    "options": {"num_players": 3, "max_turns": 40},
    "network": {"hidden": [64], "card_network": [8], "initial_bias": {"accuse": -6}},
    "ppo": {"rollout_steps": 8, "batch_size": 64, "epochs": 1, "learning_rate": 1e-3, "value_first": 256},
    "evaluation": {"against": []},
}
WORDS = ["--teacher", "sheet", "--decisions", "1500", "--epochs", "1", "--batch-size", "64"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a configuration, and the policy that `sheet` has taught."""
    folder = tmp_path_factory.mktemp("imitation")
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY | {"run": str(folder / "run")}))
    assert main([str(folder / "tiny.yaml"), *WORDS, "--out", str(folder / "made/sheet.safetensors")]) == 0
    return folder


class Lowest:
    """Take the first legal action."""

    name = "lowest"

    def act(self, views: Any, legal: np.ndarray, seeds: Any) -> np.ndarray:
        return legal.argmax(axis=1)


class Eager(Lowest):
    """Let the random bits decide between the first two legal actions."""

    def act(self, views: Any, legal: np.ndarray, seeds: Any) -> np.ndarray:
        second = legal.copy()
        second[np.arange(len(legal)), legal.argmax(axis=1)] = 0
        return np.where((seeds % np.uint64(2) == 1) & second.any(axis=1), second.argmax(axis=1), legal.argmax(axis=1))


def lessons_of(teacher: Any, number: int = 2000, declined: float = 1.0, **changes: Any) -> tuple[Config, Lessons]:
    config = make_config(TINY | changes)
    return config, collect(config, Teaching(teacher, teacher, 0, declined, 0.2), number, lambda _: None)


def taught(teacher: Any, number: int, settings: Settings) -> dict[str, dict[str, float]]:
    config, lessons = lessons_of(teacher, number, settings.declined)
    torch.manual_seed(1)
    network = make_network(config)
    train(network, lessons, settings, np.random.default_rng(1), lambda *_: None)
    return {mark.kind: mark.figures for mark in examine(network, lessons, settings.declined)}


# --- the teacher's decisions ---


def test_a_lesson_is_what_was_seen_what_was_legal_and_what_the_teacher_did():
    config, lessons = lessons_of(make_player("sheet", make_config(TINY).options))
    rows = np.arange(len(lessons))
    legal = lessons.masks(rows, sleuth.num_actions(config.options))
    assert (legal[rows, lessons.actions] == 1).all()
    assert (legal[rows, lessons.again] == 1).all()
    assert lessons.observations.dense(sleuth.observation_size(config.options, config.record)).max() <= 1
    assert set(lessons.kinds.tolist()) == {TURN, ACCEPTED, DECLINED}
    assert 0.05 < lessons.held_out.mean() < 0.5


def test_of_the_declined_offers_a_share_is_kept_and_weighs_as_much_as_all():
    teacher = make_player("sheet", make_config(TINY).options)
    shares = []
    for declined in (1.0, 0.25):
        _, lessons = lessons_of(teacher, 4000, declined)
        weights = weights_of(lessons.kinds, declined)
        shares.append(weights[lessons.kinds == DECLINED].sum() / weights.sum())
    assert shares[0] == pytest.approx(shares[1], abs=0.03)
    assert 0.6 < shares[0] < 0.9


def test_a_game_is_held_out_as_a_whole():
    _, lessons = lessons_of(make_player("sheet", make_config(TINY).options), 2000, num_envs=1, ppo={"batch_size": 2})
    # Its games last for dozens of decisions.
    assert 1 <= np.diff(lessons.held_out).sum() < 40


class Highest(Lowest):
    """Take the last legal action; to it, an action is worth as much as its number over that of all."""

    name = "highest"

    def act(self, views: Any, legal: np.ndarray, seeds: Any) -> np.ndarray:
        return legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)

    def worths(self, views: Any, legal: np.ndarray, seeds: Any, deals: int) -> np.ndarray:
        return legal * np.arange(legal.shape[1]) / legal.shape[1]


def test_who_plays_may_be_another_than_who_teaches():
    config = make_config(TINY)
    lowest, highest = Lowest(), Highest()
    alone = collect(config, Teaching(lowest, lowest), 1000, lambda _: None)
    taught = collect(config, Teaching(highest, lowest), 1000, lambda _: None)
    # The same places, and in each of them what the teacher would have done.
    np.testing.assert_array_equal(alone.observations.values, taught.observations.values)
    rows = np.arange(len(taught))
    legal = taught.masks(rows, sleuth.num_actions(config.options))
    assert (taught.actions == highest.act(None, legal, None)).all()
    assert (alone.actions == lowest.act(None, legal, None)).all()
    np.testing.assert_array_equal(taught.again[taught.held_out], taught.actions[taught.held_out])
    # By what was done, which is what leaves declined offers out.
    np.testing.assert_array_equal(alone.kinds, taught.kinds)


def test_a_share_of_the_decisions_strays():
    lowest = Lowest()
    played = [
        collect(make_config(TINY), Teaching(lowest, lowest, strays=share), 1000, lambda _: None) for share in (0.0, 1.0)
    ]
    assert not np.array_equal(played[0].legal, played[1].legal)
    # What is learned is not what has strayed.
    legal = played[1].masks(np.arange(len(played[1])), sleuth.num_actions(make_config(TINY).options))
    assert (played[1].actions == legal.argmax(axis=1)).all()


def test_any_legal_action_is_played_as_often_as_another():
    legal = np.zeros((9000, 5), np.uint8)
    legal[:, [0, 3, 4]] = 1
    found = strayed(np.ones(9000, np.int64), legal, 2 / 3, np.random.default_rng(1))
    shares = np.bincount(found, minlength=5) / 9000
    np.testing.assert_allclose(shares, [2 / 9, 1 / 3, 0, 2 / 9, 2 / 9], atol=0.02)


def test_a_lesson_may_be_what_every_action_is_worth():
    config = make_config(TINY)
    lowest, highest = Lowest(), Highest()
    lessons = collect(config, Teaching(highest, lowest, 1), 1000, lambda _: None)
    legal = lessons.masks(np.arange(len(lessons)), sleuth.num_actions(config.options))
    np.testing.assert_allclose(lessons.worths, highest.worths(None, legal, None, 1), rtol=1e-6)
    # Nothing can be learned where there is no choice.
    assert (legal.sum(axis=1) > 1).all()


@pytest.mark.parametrize("wrong", [None, np.zeros((2, 3)), "nan", "illegal", "huge"], ids=str)
def test_a_teacher_that_returns_no_worths_is_refused(wrong: Any):
    class Wrong(Highest):
        def worths(self, views: Any, legal: np.ndarray, seeds: Any, deals: int) -> Any:
            given = {"nan": legal * np.nan, "illegal": 1.0 - legal, "huge": legal * -1e39}
            return given[wrong] if isinstance(wrong, str) else wrong

    with pytest.raises(MatchError, match=r"player 'highest': worths\(\) must return an array of numbers that fit"):
        collect(make_config(TINY), Teaching(Wrong(), Lowest(), 1), 100, lambda _: None)


class Counting(Highest):
    """Remember how often it has been asked in each game and seat."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: dict[tuple[int, int], int] = {}
        self.forgotten: list[int] = []

    def act_in(self, views: Any, legal: np.ndarray, seeds: Any, games: np.ndarray, seats: np.ndarray) -> np.ndarray:
        assert (views["seat"] == seats).all()
        for game in zip(games.tolist(), seats.tolist(), strict=True):
            self.asked[game] = self.asked.get(game, 0) + 1
        numbers = np.array([self.asked[game] for game in zip(games.tolist(), seats.tolist(), strict=True)])
        return np.where(numbers % 2, legal.argmax(axis=1), self.act(views, legal, seeds))

    def worths_in(
        self, views: Any, legal: np.ndarray, seeds: Any, deals: int, games: np.ndarray, seats: np.ndarray
    ) -> np.ndarray:
        actions = self.act_in(views, legal, seeds, games, seats)
        worths = np.zeros(legal.shape)
        worths[np.arange(len(actions)), actions] = deals
        return worths

    def forget(self, games: np.ndarray) -> None:
        assert not set(self.forgotten) & set(games.tolist())
        self.forgotten += games.tolist()


def test_who_remembers_is_told_which_game_a_decision_is_of():
    config, lessons = lessons_of(Counting(), 3000)
    legal = lessons.masks(np.arange(len(lessons)), sleuth.num_actions(config.options))
    lowest = legal.argmax(axis=1)
    # In every game of every seat it does one thing at first, and another the second time.
    assert 0.4 < (lessons.actions == lowest).mean() < 0.95
    assert (lessons.actions != lowest).any()
    # Of what is held out it is asked again, at once.
    choice = lessons.held_out & (legal.sum(axis=1) > 1)
    assert (lessons.actions[choice] != lessons.again[choice]).all()


def test_who_remembers_may_teach_what_actions_are_worth():
    config = make_config(TINY)
    lessons = collect(config, Teaching(Counting(), Lowest(), 3), 1000, lambda _: None)
    legal = lessons.masks(np.arange(len(lessons)), sleuth.num_actions(config.options))
    assert ((lessons.worths == 3).sum(axis=1) == 1).all()
    assert (lessons.worths[legal == 0] == 0).all()


def test_who_remembers_and_returns_no_worths_is_named():
    class Wrong(Counting):
        def worths_in(self, *given: Any) -> Any:
            return None

    with pytest.raises(MatchError, match=r"player 'counting': worths_in\(\) must return an array of numbers"):
        collect(make_config(TINY), Teaching(Wrong(), Lowest(), 1), 100, lambda _: None)


def test_the_searcher_teaches_what_actions_are_worth():
    config = make_config(TINY | {"num_envs": 2, "ppo": {"batch_size": 2}})
    teacher = make_player("searcher:20", config.options)
    lessons = collect(config, Teaching(teacher, make_player("hunch", config.options), 2), 60, lambda _: None)
    legal = lessons.masks(np.arange(len(lessons)), sleuth.num_actions(config.options))
    assert not lessons.worths[legal == 0].any()
    assert (np.abs(lessons.worths) < 2).all()
    assert (lessons.worths.max(axis=1) > lessons.worths.min(axis=1)).all()


# --- learning ---


def test_what_is_worth_most_is_learned_whoever_plays():
    config = make_config(TINY)
    lessons = collect(config, Teaching(Highest(), Lowest(), 1), 4000, lambda _: None)
    torch.manual_seed(1)
    network = make_network(config)
    before = examine(network, lessons, 1.0)[-1].figures
    train(network, lessons, Settings(4, 64, 3e-3, 1.0), np.random.default_rng(1), lambda *_: None)
    after = examine(network, lessons, 1.0)[-1].figures
    legal = lessons.masks(np.flatnonzero(lessons.held_out), sleuth.num_actions(config.options))
    most = (legal * np.arange(legal.shape[1])).max(axis=1).mean() / legal.shape[1]
    assert (after["player"], after["any"]) == (before["player"], before["any"])
    assert after["player"] < after["any"] < after["policy"] <= most + 1e-6
    assert after["policy"] > most - 0.05
    head, row, *_ = lines(examine(network, lessons, 1.0))
    assert head.split() == ["held", "out", "decisions", "policy", "player", "any"]
    assert row.split()[-2:] == [f"{examine(network, lessons, 1.0)[0].figures[name]:.4f}" for name in ("player", "any")]


def test_the_policy_reaches_the_teacher_s_choice_on_most_decisions_that_were_held_out():
    marks = taught(make_player("sheet", make_config(TINY).options), 16_000, Settings(3, 128, 3e-3, 0.05))
    assert marks["all"]["agreement"] > 0.7
    # There are some hundred legal questions.
    assert marks["turns"]["agreement"] > 0.15
    assert marks["turns"]["cross-entropy"] < 3
    assert marks["all"]["teacher"] > marks["turns"]["teacher"] > 0.6


def test_a_simple_teacher_is_learned_wholly():
    marks = taught(Lowest(), 4000, Settings(4, 64, 3e-3, 1.0))
    assert marks["all"]["agreement"] > 0.95
    assert marks["all"]["teacher"] == 1


def test_a_teacher_that_tosses_a_coin_is_known_to_by_its_second_answer():
    marks = taught(Eager(), 2000, Settings(1, 64, 1e-3, 1.0))
    assert marks["all"]["teacher"] == pytest.approx(0.5, abs=0.1)


def test_the_examination_is_a_table():
    config, lessons = lessons_of(Lowest(), 1000)
    head, *rows = lines(examine(make_network(config), lessons, 1.0))
    assert head.split() == ["held", "out", "decisions", "agreement", "teacher", "cross-entropy"]
    assert rows[-5].startswith("all ")


# --- the command ---


def test_the_file_is_a_policy_that_plays(folder: Path):
    policy = load_policy(folder / "made/sheet.safetensors")
    assert policy.record == "sheet"
    assert 1000 < policy.steps < 1600
    (result,) = evaluate(
        sleuth, make_config(TINY).options, policy, [make_player("random", make_config(TINY).options)], 2, 1
    )
    assert result.entries[0].seats == 1


def test_the_same_seed_makes_the_same_file(folder: Path):
    made = []
    for number, seed in enumerate((1, 1, 2)):
        out = folder / f"{number}.safetensors"
        assert main([str(folder / "tiny.yaml"), *WORDS, "--out", str(out), "--seed", str(seed)]) == 0
        made.append(out.read_bytes())
    assert made[0] == made[1] == (folder / "made/sheet.safetensors").read_bytes()
    assert made[0] != made[2]


def test_a_file_that_has_come_there_meanwhile_is_not_overwritten(tmp_path: Path):
    out = tmp_path / "policy.safetensors"
    assert free_name(out, SUFFIX) == out
    for name in ("policy.safetensors", "policy-2.safetensors"):
        (tmp_path / name).touch()
    assert free_name(out, SUFFIX) == tmp_path / "policy-3.safetensors"


def test_a_policy_file_can_be_the_teacher(folder: Path):
    teacher = str(folder / "made/sheet.safetensors")
    assert (
        main(
            [
                str(folder / "tiny.yaml"),
                *WORDS,
                "--teacher",
                teacher,
                "--out",
                str(folder / "second.safetensors"),
                "--network.hidden",
                "[8]",
            ]
        )
        == 0
    )
    assert load_policy(folder / "second.safetensors").network.architecture()["hidden"] == [8]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--teacher", "shet"], "there is no bot 'shet'"),
        (["--teacher", "nothing.safetensors"], "nothing.safetensors cannot be read"),
        (["--player", "shet"], "there is no bot 'shet'"),
        (
            ["--worths", "2"],
            "--worths needs a teacher that says what actions are worth to it, of the bots of sleuth searcher",
        ),
        (["--from", "sheet"], "--from must be a policy, got 'sheet'"),
        (["--from", "nothing.safetensors"], "nothing.safetensors cannot be read"),
        (["--from", "OLD", "--network.hidden", "[32]"], "--from the policy sheet has another network: network.hidden"),
        (["--entropy", "-1"], "argument --entropy: must be a number from 0 to 10, got '-1'"),
        (["--worths", "2000"], "argument --worths: must be a whole number from 0 to 1024, got '2000'"),
        (["--strays", "2"], "argument --strays: must be a number from 0 to 1, got '2'"),
        (
            ["--out", "policy.pt"],
            "--out must be the name of a policy file, which ends in .safetensors, got 'policy.pt'",
        ),
        (["--out", "OLD"], "already exists and will not be overwritten"),
        (["--out", "OLD/new.safetensors"], "is not a writable folder"),
        (["--decisions", "10"], "argument --decisions: must be a whole number from 1000 to 10000000, got '10'"),
        (["--declined", "0"], "argument --declined: must be a number from 0.001 to 1, got '0'"),
        (["--held-out", "nan"], "argument --held-out: must be a number from 0.001 to 0.999, got 'nan'"),
        (["--held-out", "1"], "argument --held-out: must be a number from 0.001 to 0.999, got '1'"),
        (["--held-out", "0.999"], "--held-out 0.999 leaves no decisions to learn from"),
        (["--out", ""], "--out must be the name of a policy file, which ends in .safetensors, got ''"),
        (["--epoch", "3"], "--epoch is unknown, did you mean --epochs?"),
        (["--network.hidden", "[0]"], "network.hidden.0: must be at least 1, got 0"),
    ],
)
def test_what_is_not_right_is_said_in_one_line(
    folder: Path, tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    words = [word.replace("OLD", str(folder / "made/sheet.safetensors")) for word in words]
    assert main([str(folder / "tiny.yaml"), *WORDS, "--out", str(tmp_path / "new.safetensors"), *words]) == 2
    assert message in the_line(capsys)
    assert not (tmp_path / "new.safetensors").exists()


def test_a_policy_learns_further(folder: Path, tmp_path: Path):
    old = folder / "made/sheet.safetensors"
    words = [str(folder / "tiny.yaml"), *WORDS, "--from", str(old), "--learning-rate", "1e-9"]
    assert main([*words, "--out", str(tmp_path / "same.safetensors")]) == 0
    before, after = load_policy(old), load_policy(tmp_path / "same.safetensors")
    for one, other in zip(before.network.layers, after.network.layers, strict=True):
        np.testing.assert_allclose(one[0], other[0], atol=1e-5)


WEIGHING = """
import numpy as np

class Bot:
    name = "weighing"

    def act(self, views, legal, seeds):
        return legal.argmax(axis=1)

    def worths(self, views, legal, seeds, deals):
        return legal * np.arange(legal.shape[1])
"""


def test_a_teacher_of_ones_own_may_say_what_actions_are_worth(folder: Path, tmp_path: Path):
    (tmp_path / "weighing.py").write_text(WEIGHING)
    out = tmp_path / "new.safetensors"
    words = [*WORDS, "--teacher", f"{tmp_path / 'weighing.py'}:Bot", "--player", "random", "--worths", "2"]
    assert main([str(folder / "tiny.yaml"), *words, "--out", str(out)]) == 0
    assert load_policy(out).record == "sheet"


SCRIBBLING = """
class Bot:
    name = "scribbler"

    def act(self, views, legal, seeds):
        chosen = legal.argmax(axis=1).tolist()
        legal[:] = 1 - legal
        views.view("u1")[:] = 0
        return chosen
"""


@pytest.mark.parametrize("option", ["--teacher", "--player"])
def test_what_a_player_writes_into_what_it_is_handed_changes_nothing(folder: Path, tmp_path: Path, option: str):
    made = []
    (tmp_path / "scribbler.py").write_text(SCRIBBLING)
    (tmp_path / "honest.py").write_text(SCRIBBLING.replace("[:] =", " =").replace('views.view("u1")', "views"))
    for name in ("scribbler", "honest"):
        out = tmp_path / f"{name}.safetensors"
        words = [*WORDS, "--player", "sheet", option, f"{tmp_path / name}.py:Bot", "--out", str(out)]
        assert main([str(folder / "tiny.yaml"), *words]) == 0
        made.append(out.read_bytes())
    assert made[0] == made[1]


CHEATING = """
class Bot:
    name = "cheat"

    def act(self, views, legal, seeds):
        return legal.argmin(axis=1)
"""


@pytest.mark.parametrize(("option", "called"), [("--teacher", "teacher"), ("--player", "player")])
def test_an_illegal_action_is_one_line_and_nothing_is_written(
    folder: Path, tmp_path: Path, option: str, called: str, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "cheat.py").write_text(CHEATING)
    out = tmp_path / "new.safetensors"
    words = [*WORDS, "--player", "sheet", option, f"{tmp_path / 'cheat.py'}:Bot", "--out", str(out)]
    assert main([str(folder / "tiny.yaml"), *words]) == 1
    assert f"error: {called} cheat may not choose action " in capsys.readouterr().err.splitlines()[-1]
    assert not out.exists()


def test_what_is_needed_must_be_given(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(folder / "tiny.yaml")]) == 2
    assert "required: --teacher, --out" in the_line(capsys)


def test_the_help_is_complete(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    names = (
        "--teacher",
        "--out",
        "--decisions",
        "--epochs",
        "--batch-size",
        "--learning-rate",
        "--declined",
        "--held-out",
        "--player",
        "--worths",
        "--strays",
        "--seed",
        "--network.hidden",
    )
    assert all(name in text for name in names)


@pytest.mark.parametrize("moment", ["train", "examine"])
def test_an_interrupted_imitation_writes_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], moment: str
):
    monkeypatch.setattr(f"training.imitation.{moment}", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    assert main([str(folder / "tiny.yaml"), *WORDS, "--out", str(tmp_path / "new/new.safetensors")]) == 130
    assert the_line(capsys) == "interrupted: nothing has been written"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "error: out of memory: lower --decisions, --batch-size, num_envs or network.hidden"),
        (OSError(28, "No space left on device", "a/b"), "error: a/b: No space left on device"),
        (PolicyError("weights that are not finite numbers"), "error: weights that are not finite numbers"),
    ],
    ids=str,
)
def test_an_imitation_that_fails_is_one_line(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    line: str,
    capsys: pytest.CaptureFixture[str],
):
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr("training.imitation.save_policy", fail)
    assert main([str(folder / "tiny.yaml"), *WORDS, "--out", str(tmp_path / "new.safetensors")]) == 1
    assert the_line(capsys) == line


# --- the run that begins with it ---


def test_a_run_begins_with_exactly_the_policy_s_logits(folder: Path, tmp_path: Path):
    path = folder / "made/sheet.safetensors"
    assert (
        start([str(folder / "tiny.yaml"), "--run", str(tmp_path / "run"), "--start", str(path), "--total-steps", "128"])
        == 0
    )
    observations, _, _ = played()
    wanted = load_policy(path).logits(observations)
    # The value alone is learned in the first 256 decisions.
    for name in ("pool/000000000000.safetensors", "last.safetensors"):
        np.testing.assert_array_equal(load_policy(tmp_path / "run" / name).logits(observations), wanted)


def test_a_relational_policy_is_taught_and_begun_with_as_well(folder: Path, tmp_path: Path):
    path = tmp_path / "relational.safetensors"
    network = ["--network.kind", "relational", "--network.units", "4"]
    assert main([str(folder / "tiny.yaml"), *WORDS, *network, "--out", str(path)]) == 0
    assert (
        start(
            [
                str(folder / "tiny.yaml"),
                *network,
                "--run",
                str(tmp_path / "run"),
                "--start",
                str(path),
                "--total-steps",
                "128",
            ]
        )
        == 0
    )
    observations, _, _ = played()
    last = load_policy(tmp_path / "run" / "last.safetensors")
    np.testing.assert_array_equal(last.logits(observations), load_policy(path).logits(observations))


REMEMBERING = """
class Bot:
    name = "elephant"

    def act_in(self, views, legal, seeds, games, seats):
        return legal.argmax(axis=1)
"""


def test_a_player_that_remembers_games_is_a_teacher_and_no_opponent_in_several_shards(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "elephant.py").write_text(REMEMBERING)
    name = f"{tmp_path / 'elephant.py'}:Bot"
    words = [str(folder / "tiny.yaml"), *WORDS, "--teacher", name, "--shards", "2", "--workers", "2"]
    assert main([*words, "--out", str(tmp_path / "new.safetensors")]) == 0
    capsys.readouterr()
    run = tmp_path / "run"
    words = [str(folder / "tiny.yaml"), "--run", str(run), "--opponents.bots", f"{{'{name}': 1}}"]
    assert start([*words, "--shards", "2"]) == 2
    assert "remembers games, which needs shards: 1, got shards: 2" in capsys.readouterr().err
    assert not run.exists()
    assert start(words) == 0


def test_a_program_is_an_opponent_of_ppo(folder: Path, tmp_path: Path):
    program = Path(__file__).parents[1] / "examples" / "players" / "cautious.py"
    bots = f"{{'exec:{sys.executable} {program}': 1}}"
    run = tmp_path / "run"
    assert start([str(folder / "tiny.yaml"), "--run", str(run), "--opponents.bots", bots]) == 0
    assert (run / "last.safetensors").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--network.hidden", "[32]"], "network.hidden is [64] there, [32] here"),
        (
            ["--network.card-network", "null", "--network.activation", "tanh"],
            "network.card_network is [8] there, None here, network.activation is 'relu' there, 'tanh' here",
        ),
        (["--network.kind", "relational"], "network.kind is 'mlp' there, 'relational' here"),
        (["--record", "exact"], "record is 'sheet' there, 'exact' here"),
        (["--options.num-players", "4"], "was trained for num_players=3 (this game has 4)"),
        (["--algorithm", "maskable_ppo"], "start: only algorithm ppo can begin with a policy"),
        (
            ["--opponents.bots", "{m.zip: 1}"],
            "must not be a model of Stable-Baselines3, which training does not unpickle",
        ),
        (["--start", "sheet"], "start: must be a policy file, whose name ends in .safetensors, got 'sheet'"),
        (["--start", "no.safetensors"], "no.safetensors cannot be read"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(
    folder: Path, tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "run"
    assert (
        start([str(folder / "tiny.yaml"), "--run", str(run), "--start", str(folder / "made/sheet.safetensors"), *words])
        == 2
    )
    assert message in the_line(capsys)
    assert not run.exists()


def test_what_a_run_started_from_cannot_change(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = str(tmp_path / "run")
    path = str(folder / "made/sheet.safetensors")
    assert start([str(folder / "tiny.yaml"), "--run", run, "--start", path, "--total-steps", "128"]) == 0
    assert start(["--resume", run, "--start", "null", "--total-steps", "512"]) == 2
    assert "start: cannot change when a run is resumed" in the_line(capsys)


@pytest.mark.parametrize("role", ["--teacher", "--player"])
def test_nothing_is_learned_from_who_plays_for_a_failed_program(
    folder: Path, tmp_path: Path, role: str, capsys: pytest.CaptureFixture[str]
):
    source = (Path(__file__).parents[1] / "examples" / "players" / "cautious.py").read_text()
    late = tmp_path / "late.py"
    late.write_text(source.replace("    for line in sys.stdin:", "    for _, line in zip(range(9), sys.stdin):"))
    assert late.read_text() != source
    out = tmp_path / "new.safetensors"
    for program, code in (("false", 2), (f"{sys.executable} {late}", 1)):
        words = [str(folder / "tiny.yaml"), *WORDS, role, f"exec:{program}", "--out", str(out)]
        assert main(words) == code
        assert "has failed" in (message := the_line(capsys)) or "cannot play" in message
        assert not out.exists()
