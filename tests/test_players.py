"""Players of one's own: functions, Python files and modules, models of other libraries, and those that remember."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import Options, SleuthVecEnv, SoloEnv, make_player, play_match, sleuth, sleuth_v0, wrap_policy
from sleuth_env.cli.commands import main
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.neighbours import neighbours
from sleuth_env.matches.players import source_of
from sleuth_env.matches.table import LEARNER_SEAT, Table
from sleuth_env.policies.policy import load_policy, save_policy
from sleuth_env.policies.policy_file import PolicyError
from tests.support.policies import THREE, VERSIONS, random_policy
from tests.support.terminal import said, type_in

FILE = """
import numpy as np
from sleuth_env import wrap_policy

class Careful:
    name = "careful"
    def act(self, views, legal, seeds):
        return legal.argmax(axis=1)

class Knowing(Careful):
    name = "knowing"
    def __init__(self, options):
        self.name = f"knowing-{options.num_players}"

def last(observations, masks):
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
last.record = "raw"

def undeclared(observations, masks):
    return masks.argmax(axis=1)

def failing(observations, masks):
    return masks.argmax(axis=1) + nothing
failing.record = "raw"

def illegal(observations, masks):
    return masks.argmin(axis=1)
illegal.record = "raw"

ready = Careful()
wrapped = wrap_policy(undeclared, "sheet", name="wrapped")
number = 3

class Broken:
    def __init__(self):
        raise KeyError("no weights")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # A relative entry, which some library may have left, means what was the current folder when Python used it first.
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry).is_absolute()])
    (tmp_path / "mine.py").write_text(FILE)
    return tmp_path


# --- functions ---


def first_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


def drawn(observations: np.ndarray, masks: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    return (masks * (seeds[:, None] % np.arange(2, 2 + masks.shape[1], dtype=np.uint64) + np.uint64(1))).argmax(axis=1)


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_a_function_is_given_the_observations_of_the_environments(record: str):
    seen = []

    def noting(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        seen.append((observations, masks))
        return masks.argmax(axis=1)

    table = Table(sleuth, THREE, 1, [wrap_policy(noting, record)], 0)
    table.deal(0, 3)
    env = sleuth_v0.env(num_players=3, record=record)
    env.reset(seed=3)
    table.states[:] = np.frombuffer(env.unwrapped.get_state().states, sleuth.STATE)
    table.play_round()
    observation = env.last()[0]
    assert (seen[0][0][0] == observation["observation"]).all()
    assert (seen[0][1][0] == observation["action_mask"]).all()


@pytest.mark.parametrize("function", [first_legal, drawn])
def test_a_function_plays_the_same_in_any_batch(function: Any):
    seats = [wrap_policy(function, "sheet"), "random", "random"]
    results = [play_match(sleuth, THREE, seats, 4, 1, batch_size=size) for size in (1, 5, 512)]
    assert results[0] == results[1] == results[2]
    assert results[0].entries[0].name == function.__name__


def test_a_function_is_an_opponent_of_every_face():
    player = wrap_policy(first_legal, "raw", name="mine")
    SoloEnv(num_players=3, opponents=player).reset(seed=1)
    SoloEnv(num_players=3, opponents=[player, "random"]).reset(seed=1)
    envs = SleuthVecEnv(2, [player], num_players=3)
    envs.reset()
    assert pickle.loads(pickle.dumps(player)).name == "mine"


@pytest.mark.parametrize(
    ("function", "named", "message"),
    [
        (3, {}, "takes a function"),
        (first_legal, {"record": "psychic"}, "record must be one of"),
        (first_legal, {"name": 3}, "name must be a text"),
    ],
)
def test_what_is_no_function_or_record_is_refused(function: Any, named: dict[str, Any], message: str):
    with pytest.raises(PolicyError, match=message):
        wrap_policy(function, **named)


@pytest.mark.parametrize("returned", [[0.5], [0, 1], 0, None])
def test_what_is_no_action_a_row_is_refused(returned: Any):
    table = Table(sleuth, THREE, 1, [wrap_policy(lambda observations, masks: returned, "raw", name="odd")], 0)
    table.deal(0, 1)
    with pytest.raises(PolicyError, match="odd must return one action a row, integers that fit int64, of the shape"):
        table.play_round()


# --- Python files and modules ---


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("Careful", "careful"),
        ("Knowing", "knowing-3"),
        ("last", "last"),
        ("ready", "careful"),
        ("wrapped", "wrapped"),
    ],
)
@pytest.mark.parametrize("place", ["mine.py", "./mine.py", "mine"])
def test_a_player_is_named_in_a_file_or_a_module(folder: Path, place: str, name: str, called: str):
    if place == "mine":
        sys.modules.pop("mine", None)
    text = f"{place}:{name}"
    assert make_player(text, THREE).name == called
    assert play_match(sleuth, THREE, [text, "random", "random"], 2).entries[0].name == text
    SoloEnv(num_players=3, opponents=text).reset(seed=1)
    assert source_of(text, sleuth).resolve() == (folder / "mine.py").resolve()


def test_a_file_that_has_changed_is_read_again(folder: Path):
    assert make_player("mine.py:ready", THREE).name == "careful"
    (folder / "mine.py").write_text(FILE.replace('"careful"', '"other"'))
    assert make_player("mine.py:ready", THREE).name == "other"


def test_a_file_may_import_its_neighbours_and_use_dataclasses(folder: Path):
    (folder / "bots").mkdir()
    (folder / "bots" / "neighbour_of_a_player.py").write_text("NAME = 'found'")
    (folder / "bots" / "x.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "import neighbour_of_a_player\n@dataclass\nclass Bot:\n    options: object\n"
        "    name: str = neighbour_of_a_player.NAME\n"
        "    def act(self, views, legal, seeds):\n        return legal.argmax(axis=1)\n"
    )
    player = make_player("bots/x.py:Bot", THREE)
    assert player.name == "found"
    assert copy.deepcopy(player).player.options == THREE


ASKS = """
import %s as neighbour

class Bot:
    def __init__(self):
        self.name = neighbour.NAME
    def act(self, views, legal, seeds):
        return legal.argmax(axis=1)
"""


def beside(folder: Path, imported: str, **modules: str) -> str:
    """Write a player and the modules beside it; return its name."""
    folder.mkdir()
    (folder / "bot.py").write_text(ASKS % imported)
    for module, name in modules.items():
        place = folder / module
        place.parent.mkdir(exist_ok=True)
        place.with_suffix(".py").write_text(name if "import" in name else f"NAME = {name!r}")
    return f"{folder.name}/bot.py:Bot"


def test_each_file_plays_with_what_lies_beside_it(folder: Path):
    helpers = {"first": "one", "second": "two", "third": "three"}
    named = {name: beside(folder / name, "players_helper", players_helper=name) for name in helpers}
    assert [make_player(text, THREE).name for text in named.values()] == list(named)
    assert "players_helper" not in sys.modules
    (folder / "players_helper.py").write_text("NAME = 'of the current folder'")
    (folder / "second" / "players_helper.py").write_text("NAME = 'Second'")
    assert [make_player(text, THREE).name for text in named.values()] == ["first", "Second", "third"]


@pytest.mark.parametrize(
    ("imported", "modules"),
    [
        ("players_near", {"players_near": "from players_far import NAME", "players_far": "{}"}),
        ("players_kit", {"players_kit/__init__": "from .inner import NAME # import", "players_kit/inner": "{}"}),
        ("players_bare.inner", {"players_bare/inner": "{}"}),
    ],
)
def test_neighbours_of_neighbours_and_packages_are_their_own_too(folder: Path, imported: str, modules: dict[str, str]):
    for name in ("one", "two"):
        written = {module: text.format(name) for module, text in modules.items()}
        text = beside(folder / name, imported, **written)
        assert make_player(text, THREE).name == name
        found = neighbours((folder / name / "bot.py").read_bytes(), folder / name)
        assert set(found) == {f"{module}.py" for module in modules}


LATE = """
import importlib

class Bot:
    name = "late"
    def act(self, views, legal, seeds):
        import players_late
        assert importlib.import_module("players_later").NAME == players_late.NAME == "%s"
        return legal.argmax(axis=1)
"""


def test_what_is_imported_only_while_a_file_plays_is_its_own(folder: Path):
    names = []
    for name in ("one", "two"):
        text = beside(folder / name, "math", players_late=name, players_later=name)
        (folder / name / "bot.py").write_text(LATE % name)
        names.append(text)
    play_match(sleuth, THREE, [*names, "random"], num_deals=2)
    assert not {"players_late", "players_later"} & set(sys.modules)


@pytest.mark.parametrize("name", ["random", "sys", "queue", "numpy", "sleuth_env"])
def test_a_neighbour_with_the_name_of_an_installed_module_is_refused(folder: Path, name: str):
    with pytest.raises(PolicyError, match=f"imports '{name}', which is .*mine/{name}.py, and a module that Python has"):
        make_player(beside(folder / "mine", name, **{name: "mine"}), THREE)


READS = """
import pickle, sys
with open("env.pickle", "rb") as file:
    env = pickle.load(file)
env.reset(seed=2)
print("played by", env.step(env.action_masks().argmax())[4]["settled"])
"""


def test_an_environment_with_a_player_of_a_file_is_unpickled_in_another_process(folder: Path):
    env = SoloEnv(num_players=3, opponents="mine.py:Careful")
    (folder / "env.pickle").write_bytes(pickle.dumps(env))
    done = subprocess.run([sys.executable, "-c", READS], cwd=folder, capture_output=True, text=True)
    assert done.stdout.startswith("played by"), done.stderr
    (folder / "mine.py").write_text(FILE + "# changed\n")
    done = subprocess.run([sys.executable, "-c", READS], cwd=folder, capture_output=True, text=True)
    assert "mine.py, or what it imports, has changed since the player was pickled" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine.py", "is named FILE.py:NAME or MODULE:NAME, got 'mine.py'"),
        ("mine.py:", "is named FILE.py:NAME"),
        ("a b:c", "is named FILE.py:NAME"),
        ("absent.py:Bot", "'absent.py' cannot be read: there is no such file"),
        ("absent_module:Bot", "there is no module 'absent_module'"),
        ("mine.py:Carefull", "has no 'Carefull', perhaps Careful"),
        ("mine.py:undeclared", "does not say which observation it wants"),
        ("mine.py:number", "must be an object with a name and a method act"),
        ("mine.py:Broken", r"mine.py:36: KeyError: 'no weights'"),
        ("syntax.py:Bot", r"syntax.py:2: SyntaxError"),
        ("failing.py:Bot", r"failing.py:2: ZeroDivisionError"),
        ("leaving.py:Bot", r"leaving.py:1: SystemExit"),
        ("closing.py:Bot", r"closing.py:1: GeneratorExit"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_with_its_place(folder: Path, text: str, message: str):
    (folder / "syntax.py").write_text("\nclass :\n")
    (folder / "failing.py").write_text("\n1 / 0\n")
    (folder / "leaving.py").write_text("raise SystemExit(1)\n")
    (folder / "closing.py").write_text("raise GeneratorExit\n")
    with pytest.raises(PolicyError, match=message) as error:
        make_player(text, THREE)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [("failing", "mine.py:23: NameError: name 'nothing' is not defined"), ("illegal", "may not choose action 0")],
)
def test_the_command_says_what_a_player_did_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
):
    assert main(["match", f"mine.py:{name}", "random", "random", "--games", "3"]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("sleuth: ")
    assert message in error


def test_the_commands_take_players_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["match", "mine.py:Careful", "mine.py:last", "random", "--games", "3"]) == 0
    named = ["mine.py:Careful", "--against", "mine.py:last,random", "--games", "3", "--options", "num_players=3"]
    assert main(["evaluate", *named]) == 0
    assert "mine.py:last" in capsys.readouterr().out


def test_a_person_plays_against_players_of_ones_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    type_in(monkeypatch, "exchange\n")
    assert main(["play", "--seed", "1", "--opponents", "mine.py:Knowing,mine:last", "--save", "game.txt"]) == 0
    output, errors = said(capsys)
    assert "player_1 (+1) is knowing-3, player_2 (+2) is last." in output
    assert errors == ""
    # A text that somebody else may have written runs no code.
    assert main(["play", "--continue", "game.txt"]) == 2
    assert "name the opponents by --opponents" in said(capsys)[1]
    type_in(monkeypatch, "")
    assert main(["play", "--continue", "game.txt", "--opponents", "mine.py:Knowing,mine:last"]) == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine.py:Carefull", "has no 'Carefull', perhaps Careful"),
        ("mine.py:Broken", "mine.py:36: KeyError: 'no weights'"),
        ("absent.py:Bot", "'absent.py' cannot be read: there is no such file"),
        ("mine.py:failing", "mine.py:23: NameError: name 'nothing' is not defined"),
        ("mine.py:illegal", "may not choose action 0"),
    ],
)
def test_what_goes_wrong_in_a_person_s_opponent_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, message: str
):
    type_in(monkeypatch, "exchange\n\n\n\n")
    assert main(["play", "--seed", "5", "--opponents", name, "--options", "first_player=seat_0"]) == 2
    (line,) = said(capsys)[1].splitlines()
    assert line.startswith("sleuth: ")
    assert message in line


def test_a_policy_file_names_no_code(folder: Path):
    save_policy(random_policy(), folder / "p.safetensors", VERSIONS)
    before = set(sys.modules)
    make_player("p.safetensors", THREE)
    assert not any(name.startswith("sleuth_player_") for name in set(sys.modules) - before)


# --- names with a comma ---


@pytest.mark.parametrize("against", ['"a,b.safetensors",random', 'random, "a,b.safetensors"', "a,b.safetensors"])
def test_a_policy_file_with_a_comma_in_its_name_can_be_named(
    folder: Path, capsys: pytest.CaptureFixture[str], against: str
):
    save_policy(random_policy(), folder / "a,b.safetensors", VERSIONS)
    named = ["random", "--against", against, "--games", "3", "--options", "num_players=3"]
    assert main(["evaluate", *named]) == 0
    assert "a,b.safetensors" in capsys.readouterr().out


# --- models of Stable-Baselines3 ---


def model(kind: str = "MlpPolicy", **named: Any) -> Any:
    from sb3_contrib import MaskablePPO

    env = SoloEnv(num_players=3, opponents="random", record="raw")
    return MaskablePPO(kind, env, n_steps=8, batch_size=8, gamma=1.0, seed=1, **named)


def test_a_model_is_not_unpickled_without_leave(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "model.zip").write_bytes(b"never read")
    with pytest.raises(PolicyError, match=r"runs whatever code is pickled in it.*allow_pickle=True \(--allow-pickle"):
        make_player("model.zip", THREE)
    assert main(["match", "model.zip", "random", "random", "--games", "3"]) == 2
    assert "--allow-pickle" in capsys.readouterr().err


@pytest.mark.parametrize("greedy", [True, False])
def test_a_model_plays_after_leave_was_given(folder: Path, greedy: bool):
    model().save("model.zip")
    seats = ["model.zip", "random", "random"]
    results = [
        play_match(sleuth, THREE, seats, 3, 1, batch_size=size, greedy=greedy, allow_pickle=True) for size in (1, 512)
    ]
    assert results[0] == results[1]
    if greedy:
        assert main(["match", *seats, "--games", "3", "--allow-pickle", "--greedy"]) == 0


@pytest.mark.parametrize("kind", ["features", "dqn"])
def test_models_of_other_kinds_play_by_torch(folder: Path, kind: str):
    from stable_baselines3 import DQN
    from stable_baselines3.common.torch_layers import FlattenExtractor

    class Doubled(FlattenExtractor):
        def forward(self, observations: Any) -> Any:
            return super().forward(observations) * 2

    made: Any = model(policy_kwargs={"features_extractor_class": Doubled})
    if kind == "dqn":
        made = DQN("MlpPolicy", SoloEnv(num_players=3, opponents="random"), buffer_size=10)
    made.save("model.zip")
    player = make_player("model.zip", THREE, allow_pickle=True)
    assert play_match(sleuth, THREE, [player, "random", "random"], 2).games == 6


def test_a_model_that_does_more_than_its_layers_is_no_policy_file():
    from sleuth_env import policy_from_sb3
    from sleuth_env.policies.policy_file import PolicyError

    trained = model(policy_kwargs={"net_arch": [16, 8]})
    trained.policy.action_net.register_forward_hook(lambda module, given, found: found * 2)
    with pytest.raises(PolicyError, match="something else than its linear layers"):
        policy_from_sb3(trained, THREE)


def test_a_model_acts_as_its_policy_file_does(folder: Path):
    from sleuth_env import policy_from_sb3

    trained = model(policy_kwargs={"net_arch": [16, 8]})
    policy = policy_from_sb3(trained, THREE)
    assert (policy.record, policy.network.activation) == ("raw", "tanh")
    save_policy(policy, folder / "model.safetensors", VERSIONS)
    loaded = load_policy("model.safetensors", greedy=True)
    env = SoloEnv(num_players=3, opponents="random", record="raw")
    observation, _ = env.reset(seed=1)
    for _ in range(20):
        masks = env.action_masks()
        action, _ = trained.predict(observation, action_masks=masks, deterministic=True)
        assert np.where(masks, loaded.logits(observation[None])[0], -np.inf).argmax() == action
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break


def test_a_model_that_has_learned_on_normalised_observations_is_refused():
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize

    from sleuth_env import SleuthVecEnv, policy_from_sb3

    for norm_obs in (True, False):
        envs = VecNormalize(SleuthVecEnv(2, num_players=3, record="raw"), norm_obs=norm_obs)
        made = MaskablePPO("MlpPolicy", envs, n_steps=8, batch_size=8)
        if norm_obs:
            with pytest.raises(PolicyError, match="VecNormalize changes; train it with norm_obs=False"):
                policy_from_sb3(made, THREE)
        else:
            assert policy_from_sb3(made, THREE).record == "raw"


def test_a_recurrent_model_is_refused_by_what_it_is(folder: Path, capsys: pytest.CaptureFixture[str]):
    from sb3_contrib import RecurrentPPO

    from sleuth_env import policy_from_sb3

    env = SoloEnv(num_players=3, opponents="random", record="raw")
    named = {"lstm_hidden_size": 8, "net_arch": []}
    made = RecurrentPPO("MlpLstmPolicy", env, n_steps=8, batch_size=8, policy_kwargs=named)
    made.save("model.zip")
    message = r"is a recurrent model, which remembers its games: .* write a player with a method act_in"
    with pytest.raises(PolicyError, match=f"^model.zip {message}"):
        make_player("model.zip", THREE, allow_pickle=True)
    with pytest.raises(PolicyError, match=f"^policy {message}"):
        policy_from_sb3(made, THREE)
    assert main(["match", "model.zip", "random", "random", "--games", "3", "--allow-pickle"]) == 2
    (line,) = said(capsys)[1].splitlines()
    assert "is a recurrent model" in line


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", THREE, "cannot be read as a model"),
        (b"PK\x03\x04", THREE, "cannot be read as a model"),
        (None, Options(num_players=4), r"observations of the shape \(1780,\); in this game they are 2580 \(sheet\)"),
    ],
)
def test_a_file_that_is_no_model_or_of_another_game_is_refused(
    folder: Path, content: bytes | None, options: Options, message: str
):
    model().save("model.zip")
    if content is not None:
        (folder / "model.zip").write_bytes(content)
    with pytest.raises(PolicyError, match=message):
        make_player("model.zip", options, allow_pickle=True)


# --- players that remember ---


class Rememberer:
    """Play by what it remembers, and check that it meets nobody's memory but its own."""

    def __init__(self, log: list[Any] | None = None) -> None:
        self.name = "rememberer"
        self.memory: dict[int, list[int]] = {}
        self.seat: int | None = None
        self.log = log

    def __deepcopy__(self, memo: Any) -> Rememberer:
        assert not self.memory
        return Rememberer(self.log)

    def act_in(self, views: Any, legal: Any, seeds: Any, games: Any, seats: Any) -> Any:
        assert len(set(games.tolist())) == len(games)
        assert {self.seat, *seats.tolist()} <= {None, seats[0]}
        self.seat = int(seats[0])
        actions = []
        for row, game in enumerate(games.tolist()):
            past = self.memory.setdefault(game, [])
            # By all that it did in this game: it plays on alike only if nothing is mixed up.
            random = np.random.default_rng([int(seeds[row]), *past])
            past.append(int(random.choice(np.flatnonzero(legal[row]))))
            actions.append(past[-1])
        if self.log is not None:
            self.log.append((self, games.tolist(), self.seat))
        return np.array(actions)

    def forget(self, games: Any) -> None:
        for game in games.tolist():
            self.memory.pop(game, None)


def test_a_player_that_remembers_plays_the_same_in_any_batch():
    player = Rememberer()
    results = [play_match(sleuth, THREE, [player, player, "random"], 4, 1, batch_size=size) for size in (1, 5, 512)]
    assert results[0] == results[1] == results[2]
    assert results[0].entries[0].seats == 2
    assert not player.memory


def test_each_seat_is_played_by_a_copy_of_its_own():
    log: list[Any] = []
    play_match(sleuth, THREE, [Rememberer(log)] * 3, 2, 1)
    assert {seat for _, _, seat in log} == {0, 1, 2}
    assert len({id(player) for player, _, _ in log}) == 3


def test_games_that_are_over_are_forgotten_and_no_number_comes_twice():
    log: list[Any] = []
    table = Table(sleuth, THREE, 2, [Rememberer(log)], 0)
    seen: set[int] = set()
    for seed in range(3):
        table.deal([0, 1], [seed, seed + 10])
        assert not seen & set(table.games.tolist())
        seen |= set(table.games.tolist())
        table.play_on()
        assert not any(player.memory for player, _, _ in log)
    table.deal([0, 1], [5, 6])
    table.play_round()
    assert any(player.memory for player, _, _ in log)
    table.leave([0, 1])
    assert not any(player.memory for player, _, _ in log)


def test_a_player_that_remembers_is_an_opponent_of_the_faces(folder: Path):
    (folder / "remembering.py").write_text("from tests.test_players import Rememberer\n")
    for opponents in (Rememberer(), "remembering.py:Rememberer"):
        env = SoloEnv(num_players=3, opponents=opponents)
        env.reset(seed=1)
        env.step(int(env.action_masks().argmax()))
        envs = SleuthVecEnv(2, [opponents], num_players=3)
        envs.reset()
        for _ in range(3):
            envs.step(np.array([row.argmax() for row in envs.action_masks()]))


def test_after_going_back_to_a_snapshot_a_game_is_a_new_one_to_whoever_remembers():
    log: list[Any] = []
    env = SoloEnv(num_players=3, opponents=Rememberer(log), learner_seat=0)
    env.reset(seed=1)
    state = env.get_state()
    first = env.table.games.copy()
    env.step(int(env.action_masks().argmax()))
    env.set_state(state)
    assert (env.table.games != first).all()
    assert not any(set(player.memory) & set(first.tolist()) for player, _, _ in log)


def test_a_table_with_players_that_remember_can_be_copied():
    table = Table(sleuth, THREE, 3, [Rememberer()], 0)
    table.bots[0].__class__ = Forgetful
    table.deal(np.arange(3), np.arange(3, dtype=np.uint64))
    table.play_round()
    again = pickle.loads(pickle.dumps(table))
    for one in (table, again):
        one.play_on()
    assert table.states.tobytes() == again.states.tobytes()


class Forgetful(Rememberer):
    def __deepcopy__(self, memo: Any) -> Forgetful:
        other = Forgetful()
        other.memory = {game: [*past] for game, past in self.memory.items()}
        return other


def test_to_be_reminded_of_a_game_is_to_have_played_it():
    logs: list[list[Any]] = [[], []]
    played, led = (Table(sleuth, THREE, 1, [Rememberer(log)], 0) for log in logs)
    for table in (played, led):
        table.deal(0, 8)
    for _ in range(3):
        played.play_round()
        led.remind(0)
        led.seats[:] = LEARNER_SEAT
        # There is nobody to remind at a table of learners.
        led.remind(0)
        assert led.step(0, played.last_actions).all()
        led.seats[:] = 0
    assert not played.finished[0]
    assert [(seat, player.memory) for player, _, seat in logs[0]] == [
        (seat, player.memory) for player, _, seat in logs[1]
    ]
    for table in (played, led):
        table.play_on()
        # Nor in a game that is over.
        table.remind(0)
    assert led.states.tobytes() == played.states.tobytes()


def test_a_player_that_remembers_is_evaluated():
    (result,) = evaluate(sleuth, THREE, Rememberer(), ["random"], 2)
    assert result.entries[0].name == "rememberer"
    (result,) = evaluate(sleuth, THREE, "random", [Rememberer()], 2)
    assert result.games == 6


def test_a_model_that_is_not_there_is_said_to_be_missing_before_anything_is_to_be_allowed() -> None:
    with pytest.raises(PolicyError, match=r"^nothere.zip cannot be read: No such file or directory$"):
        make_player("nothere.zip", THREE)
