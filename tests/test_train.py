"""Training from the command line: end to end, resumed, interrupted, and refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from sleuth_env import sleuth
from sleuth_env.matches.table import Table
from sleuth_env.policies.policy import load_policy
from sleuth_env.policies.policy_file import read_metadata
from sleuth_env.sleuth import Options
from tests.support.another import another_game
from tests.support.terminal import said
from training.config import make_config
from training.curve import STEPS
from training.maskable import CardPolicy
from training.run import Run
from training.train import main

TINY: dict[str, Any] = {
    "total_steps": 256,
    "num_envs": 8,
    "options": {"num_players": 3, "max_turns": 40},
    "network": {"hidden": [16], "card_network": [8], "initial_bias": {"accuse": -4}},
    "ppo": {"rollout_steps": 8, "batch_size": 32, "epochs": 1, "learning_rate": 1e-3, "final_learning_rate": 0.0},
    "opponents": {"bots": {"random": 1.0, "sheet": 0.5}, "past_selves": 1.0, "snapshot_every": 64, "pool_size": 2},
    "evaluation": {"against": ["random"], "every": 128, "deals": 4},
    "checkpoints": {"every": 128, "keep": 2},
}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run")}))
    return path


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> str:
    """The full name of another game."""
    return another_game(monkeypatch)


def curve(folder: Path) -> list[dict[str, str]]:
    with (folder / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def steps_of(folder: Path) -> list[int]:
    return [int(row[STEPS]) for row in curve(folder)]


def events(folder: Path) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(folder / "tensorboard"))
    accumulator.Reload()
    return [(event.step, event.value) for event in accumulator.Scalars("train/learning_rate")]


def states(run: Run) -> list[torch.Tensor]:
    parameters = run.learner.state()["parameters"]
    optimiser = parameters["optimizer" if "optimizer" in parameters else "policy.optimizer"]["state"]
    assert optimiser
    return [
        *run.learner.network.state_dict().values(),
        *(value for state in optimiser.values() for value in state.values()),
    ]


def the_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY | {"run": str(folder / "run")}))
    assert main([str(folder / "tiny.yaml")]) == 0
    return folder / "run"


# --- a whole run ---


def test_a_run_can_learn_from_the_exact_record(tiny: Path):
    assert main([str(tiny), "--record", "exact", "--total-steps", "64"]) == 0
    assert load_policy(tiny.parent / "run" / "last.safetensors").record == "exact"


def test_a_run_leaves_everything_in_its_folder(finished: Path):
    names = {
        path.relative_to(finished).as_posix()
        for path in finished.rglob("*")
        if path.is_file() and "events" not in path.name
    }
    checkpoints = {"checkpoints/000000000128.pt", "checkpoints/000000000256.pt"}
    pool = {f"pool/{steps:012d}.safetensors" for steps in (0, 64, 128, 192, 256)}
    policies = {"best.safetensors", "best.md", "last.safetensors"}
    assert names == {"config.yaml", "progress.csv", "lock", "inputs/index.yaml", *policies, *checkpoints, *pool}
    assert yaml.safe_load((finished / "config.yaml").read_text())["ppo"]["gamma"] == 1.0


def test_the_curve_has_a_row_for_every_update(finished: Path):
    rows = curve(finished)
    assert [int(row[STEPS]) for row in rows] == [64, 128, 192, 256]
    assert [float(row["train/learning_rate"]) for row in rows] == pytest.approx([1e-3, 7.5e-4, 5e-4, 2.5e-4])
    assert [row["eval/random"] != "" for row in rows] == [False, True, False, True]
    assert [step for step, _ in events(finished)] == [64, 128, 192, 256]


def test_the_policies_play_without_the_run(finished: Path):
    views = np.zeros(0, sleuth.VIEW)
    for name in ("best", "last"):
        policy = load_policy(finished / f"{name}.safetensors")
        assert policy.options == Options(num_players=3, max_turns=40)
        assert policy.act(views, np.zeros((0, 448), np.uint8), np.zeros(0, np.uint64)).shape == (0,)
    assert read_metadata(finished / "last.safetensors")["steps"] == 256
    assert "torch" in read_metadata(finished / "last.safetensors")["versions"]


def test_the_command_line_wins_over_the_file(tiny: Path, tmp_path: Path):
    assert (
        main(
            [
                str(tiny),
                "--total-steps",
                "64",
                "--ppo.learning_rate=3e-4",
                "--network.hidden",
                "[8, 8]",
                "--evaluation.against",
                "[]",
            ]
        )
        == 0
    )
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (config["total_steps"], config["ppo"]["learning_rate"], config["network"]["hidden"]) == (64, 3e-4, [8, 8])
    assert not (tmp_path / "run" / "best.safetensors").exists()


# --- refusals ---


def test_a_run_folder_is_never_overwritten(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert main([str(tiny)]) == 2
    error = capsys.readouterr().err
    assert f"--run {tmp_path / 'run-3'}" in error
    # There is nothing in it to go on with.
    assert "--resume" not in error
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ppo.learning-rat", "1"], ["--ppo.learning-rat", "did you mean --ppo.learning-rate"]),
        (["--ppo.lr", "1"], ["--ppo.lr is unknown; --help"]),
        (["--options.seats", "1"], ["--options.seats is unknown; --help"]),
        (["--options.num-plaers", "3"], ["--options.num-plaers", "did you mean --options.num-players?"]),
        (["--learning-rate", "1"], ["--learning-rate", "did you mean --ppo.learning-rate?"]),
        (["--game", "nowhere", "--options.size", "3"], ["there is no game 'nowhere'"]),
        (["--ppo.learning-rate"], ["--ppo.learning-rate", "expected one argument"]),
        (["--ppo.learning-rate", "fast"], ["error: --ppo.learning-rate: must be a number", "'fast'"]),
        (["--network.hidden", "[1, "], ["--network.hidden", "not YAML"]),
        (["--device", "cuda"], ["device", "'cuda'", "'cpu'"]),
        (["--opponents.bots", "{/nowhere/x.safetensors: 1}"], ["/nowhere/x.safetensors", "No such file"]),
        (["another.yaml"], ["another.yaml"]),
        (["--resume", "runs/x"], ["either"]),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    tiny: Path,
    tmp_path: Path,
    arguments: list[str],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    # Wherever this runs, there is not a GPU.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main([str(tiny), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    for word in words:
        assert word in line
    assert not (tmp_path / "run").exists()


def test_nothing_at_all_is_refused_and_help_lists_every_key(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2
    assert "CONFIG" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for key in ("--ppo.learning-rate", "--options.num-players", "--opponents.past-selves", "--resume"):
        assert key in text


# --- players of one's own ---

MINE = """
import numpy as np

class First:
    name = "first"
    def act(self, views, legal, seeds):
        return legal.argmax(axis=1)

def last(observations, masks):
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
last.record = "raw"

def failing(observations, masks):
    return masks.argmax(axis=1) + nothing
failing.record = "raw"

def illegal(observations, masks):
    return masks.argmin(axis=1)
illegal.record = "raw"

class Halves(First):
    name = "halves"
    def act(self, views, legal, seeds):
        return legal.argmax(axis=1) / 2
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_opponents_in_python_files_are_played_against_and_evaluated_against(
    mine: None, algorithm: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bots = {"mine.py:last": 1.0, "mine.py:First": 0.5}
    config = {**TINY, "algorithm": algorithm, "run": "run", "opponents": {"bots": bots, "past_selves": 0}}
    config["evaluation"] = {**TINY["evaluation"], "against": ["mine.py:First", "random"]}
    tiny.write_text(yaml.safe_dump(config))
    assert main([str(tiny), "--total-steps=128"]) == 0
    assert said(capsys)[1] == ""
    last = curve(tmp_path / "run")[-1]
    assert any("mine.py:First" in name and value for name, value in last.items())


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("absent.py:Bot", "'absent.py' cannot be read: there is no such file", 2),
        ("mine.py:Firs", "has no 'Firs', perhaps First", 2),
        ("mine.py", "is named FILE.py:NAME or MODULE:NAME, got 'mine.py'", 2),
        ("mine.py:np", "must be an object with a name and a method act", 2),
        # While it plays.
        ("mine.py:failing", "mine.py:14: NameError: name 'nothing' is not defined", 1),
        ("mine.py:illegal", "may not choose action 0", 1),
        ("mine.py:Halves", "must return one action for each game", 1),
    ],
)
@pytest.mark.parametrize(
    "where",
    [
        "--algorithm=ppo --opponents.bots={%s:1}",
        "--algorithm=maskable_ppo --opponents.bots={%s:1}",
        "--algorithm=ppo --evaluation.against=[%s]",
    ],
)
def test_what_goes_wrong_in_an_opponent_is_one_line(
    mine: None, where: str, name: str, message: str, code: int, tiny: Path, capsys: pytest.CaptureFixture[str]
):
    words = where.replace("{%s:1}", f"{{'{name}': 1}}").replace("%s", name).split(" ", 1)
    assert main([str(tiny), "--total-steps=128", *words]) == code
    (line,) = said(capsys)[1].splitlines()
    assert message in line


# --- other games ---

OTHER = ["--record=raw", "--network.card-network=null", "--opponents.bots={random: 1}"]


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_a_run_of_another_game_says_so(other: str, algorithm: str, tiny: Path, tmp_path: Path):
    assert main([str(tiny), f"--game={other}", f"--algorithm={algorithm}", "--total-steps=64", *OTHER]) == 0
    run = tmp_path / "run"
    assert yaml.safe_load((run / "config.yaml").read_text())["game"] == other
    assert read_metadata(run / "last.safetensors")["game"] == "another"
    assert main(["--resume", str(run), "--total-steps=128"]) == 0


@pytest.mark.parametrize(
    "option",
    [
        "--start=pretrained:sleuth-3p",
        "--opponents.bots={pretrained:sleuth-3p: 1}",
        "--evaluation.against=[pretrained:sleuth-3p]",
    ],
)
def test_a_policy_of_another_game_is_refused_by_name(
    other: str, option: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(tiny), f"--game={other}", "--algorithm=ppo", *OTHER, option]) == 2
    assert "pretrained:sleuth-3p is a policy for the game 'sleuth', not for 'another'" in the_line(capsys)
    assert not (tmp_path / "run").exists()


def test_the_help_lists_the_options_of_the_game_that_is_named(
    other: str, tiny: Path, finished: Path, capsys: pytest.CaptureFixture[str]
):
    tiny.write_text(yaml.safe_dump({"game": other}))
    for words, name in (
        ([], "sleuth"),
        (["--game", other], "another"),
        ([f"--game={other}"], "another"),
        (["--total-steps", "64", str(tiny)], "another"),
        (["--resume", str(finished)], "sleuth"),
        (["--game", "nothing"], "sleuth"),
    ):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert f"options are those of the game '{name}'" in " ".join(capsys.readouterr().out.split())


# --- the network ---


@pytest.mark.parametrize(
    "network",
    [
        {"hidden": [32, 16], "activation": "tanh"},
        {"hidden": [32, 16], "card_network": [8]},
        {"hidden": [16], "card_network": [], "activation": "relu"},
    ],
)
def test_numpy_plays_the_same_actions_as_torch(network: dict[str, Any]):
    config = make_config({"options": {"num_players": 3}, "network": network | {"initial_bias": {"accuse": -1.0}}})
    size = sleuth.observation_size(config.options, "sheet")
    number = sleuth.num_actions(config.options)
    import gymnasium

    torch.manual_seed(0)
    spaces = gymnasium.spaces.Box(0, 1, (size,), np.float32), gymnasium.spaces.Discrete(number)
    networks = CardPolicy(*spaces, lambda _: 1e-3, config=config)
    with torch.no_grad():
        for weights in networks.parameters():
            weights += 0.05 * torch.randn_like(weights)
    policy = networks.player(0)
    observations, masks, views = played()
    with torch.no_grad():
        logits = networks.get_distribution(torch.as_tensor(observations)).distribution.logits.numpy()
        best = networks.get_distribution(torch.as_tensor(observations), masks).distribution.logits.argmax(dim=1).numpy()
    ours = policy.logits(observations)
    # Stable-Baselines3 normalises its logits.
    ours = ours - np.log(np.exp(ours.astype(float)).sum(axis=1, keepdims=True))
    assert np.abs(ours - logits).max() < 1e-4
    policy.greedy = True
    actions = policy.act(views, masks, np.zeros(len(views), np.uint64))
    clear = np.sort(np.where(masks, logits, -np.inf), axis=1)[:, -2:]
    assert (actions == best)[np.diff(clear)[:, 0] > 1e-4].all()
    assert (actions == best).mean() > 0.999


def played() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    options = Options(num_players=3)
    table = Table(sleuth, options, 100, [sleuth.make_bot("cautious", options)], 0)
    table.deal(np.arange(100), np.arange(100, dtype=np.uint64))
    views = []
    masks = []
    for _ in range(40):
        rows = np.flatnonzero(~table.finished)
        views.append(table.views(rows))
        masks.append(table.legal(rows))
        table.play_round()
    all_views = np.concatenate(views)
    observations = np.zeros((len(all_views), sleuth.observation_size(options, "sheet")), np.float32)
    sleuth.write_observations(sleuth.make_rules(options), all_views, observations, "sheet")
    assert len(observations) > 2000
    return observations, np.concatenate(masks), all_views


def test_at_first_every_gem_without_a_difference_has_the_same_score():
    config = make_config(
        {
            "options": {"num_players": 3},
            "network": {"hidden": [8], "card_network": [4], "initial_bias": {"accuse": -6.0}},
        }
    )
    policy = Run(config, Path("unused")).policy()
    logits = policy.logits(np.zeros((1, sleuth.observation_size(config.options, "sheet")), np.float32))[0]
    rules = sleuth.make_rules(config.options)[0]
    accusations = logits[rules["accuse_at"] : rules["pass_at"]]
    assert np.ptp(accusations) < 0.1
    assert accusations.mean() < -4
