"""What cannot sit at a table is refused before a game begins, in the words of whoever wrote the player."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import SoloEnv, make_player, play_match, sleuth, wrap_policy
from sleuth_env.cli.commands import main
from sleuth_env.doors import ArrayError
from sleuth_env.matches.players import make_players, source_of
from sleuth_env.matches.seating import MatchError, copied, seated
from sleuth_env.matches.table import Table
from sleuth_env.policies.policy_file import PolicyError
from tests.support.policies import THREE
from tests.support.terminal import said, type_in

OBJECTS = """
import threading

class Plain:
    name = "plain"
    def act(self, views, legal, seeds):
        return legal.argmax(axis=1)

class Nobody(Plain):
    def seated(self, options):
        return None

class Kind(Plain):
    def seated(self, options):
        return Plain

class Number(Plain):
    seated = 3

class NotAsked(Plain):
    def seated(self):
        return self

class Short(Plain):
    def act(self, views, legal):
        return legal.argmax(axis=1)

class NotIn(Plain):
    act_in = 3

class Remembering:
    name = "remembering"
    def act_in(self, views, legal, seeds, games, seats):
        return legal.argmax(axis=1)

class Gameless(Remembering):
    def act_in(self, views, legal, seeds):
        return legal.argmax(axis=1)

class Forgetless(Remembering):
    def forget(self):
        pass

class ForgetsNumber(Remembering):
    forget = 3

class Locked(Remembering):
    def __init__(self):
        self.lock = threading.Lock()

class Replaced(Remembering):
    def __deepcopy__(self, memo):
        return Plain()

class Vanishing(Remembering):
    def __deepcopy__(self, memo):
        return None

class Failing(Remembering):
    def __deepcopy__(self, memo: dict) -> "Failing":
        raise RuntimeError("not\\nme")

class LockedOnceSeated(Plain):
    def seated(self, options):
        return Locked()
"""
# What is said after "player NAME".
OBJECTS_REFUSED = {
    "Nobody": r": seated\(\) must return a player, an object with a name and a method act\(.*\), got None",
    "Kind": r": seated\(\) must return a player, .*got <class '.*Plain'>",
    "Number": r": seated must be a method seated\(options\), got 3",
    "NotAsked": r": seated must be a method seated\(options\), got seated\(\)",
    "Short": r": act must be a method act\(views, legal, seeds\), got act\(views, legal\)",
    "NotIn": r": act_in must be a method act_in\(views, legal, seeds, games, seats\), got 3",
    "Gameless": r": act_in must be a method act_in\(.*seats\), got act_in\(views, legal, seeds\)",
    "Forgetless": r": forget must be a method forget\(games\), got forget\(\)",
    "ForgetsNumber": r": forget must be a method forget\(games\), got 3",
    "Locked": r" cannot be copied: TypeError: cannot pickle '_thread.lock' object",
    "Replaced": r" cannot be copied: __deepcopy__ must return a player with a method act_in, got <.*Plain object",
    "Vanishing": r" cannot be copied: __deepcopy__ must return a player with a method act_in, got None",
    "Failing": r" cannot be copied: RuntimeError: not\s+me",
    "LockedOnceSeated": r" cannot be copied: TypeError: cannot pickle '_thread.lock' object",
}
OTHERS = """
import sleuth_env

class Demanding:
    name = "demanding"
    def __init__(self, options, weights):
        pass
    def act(self, views, legal, seeds):
        return legal.argmax(axis=1)

class ByName(Demanding):
    def __init__(self, *, weights: int):
        pass

class Unready(Demanding):
    def __init__(self):
        self.policy = sleuth_env.make_player("nobody", None)

class Calling(Demanding):
    def __init__(self):
        len()

def alone(observations):
    return observations
alone.record = "raw"

def needy(observations, masks, rng):
    return masks.argmax(axis=1)
needy.record = "raw"

def odd(observations, masks):
    return masks.argmax(axis=1)
odd.record = ["raw"]

def ragged(observations, masks):
    return [[1], [2, 3]]
ragged.record = "raw"

number = 3
"""
FUNCTIONS_REFUSED = {
    "mine.py:Demanding": r"the class must be made with nothing, or with the options of the game alone, "
    r"got Demanding\(options, weights\)$",
    "mine.py:ByName": r"the class must be made with .*, got ByName\(\*, weights\)$",
    "mine.py:Unready": r"\S*mine.py:17: there is no bot 'nobody'",
    "mine.py:Calling": r"\S*mine.py:21: TypeError: len\(\) takes",
    "mine.py:alone": r"alone must take observations and masks, and may take seeds by this name, "
    r"got alone\(observations\)$",
    "mine.py:needy": r"needy must take observations and masks, .*, got needy\(observations, masks, rng\)$",
    "mine.py:odd": r"record must be one of 'sheet', 'raw', 'exact', got \['raw'\]$",
    "mine.py:number.real.sign": r"\S*mine.py has no 'number.real.sign'$",
    "sys:exit": r"the function does not say which observation it wants",
    "sys:maxsize": r"it must be an object with a name and a method act",
    "sys:nothing_at_all": r"the module sys has no 'nothing_at_all'",
    "itertools:count": r"it must be an object with a name and a method act",
    "folder_of_modules:Bot": r"the module folder_of_modules has no 'Bot'$",
    "broken_package.part:Bot": r"\S*__init__.py:2: ZeroDivisionError",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry).is_absolute()])
    (tmp_path / "objects.py").write_text(OBJECTS)
    (tmp_path / "mine.py").write_text(OTHERS)
    (tmp_path / "folder_of_modules").mkdir()
    (tmp_path / "broken_package").mkdir()
    (tmp_path / "broken_package" / "__init__.py").write_text("\n1 / 0\n")
    (tmp_path / "broken_package" / "part.py").write_text("Bot = None\n")
    return tmp_path


def made(name: str) -> Any:
    content: dict[str, Any] = {"__name__": __name__}
    exec(OBJECTS, content)
    return content[name]()


DOORS: dict[str, Callable[[Any], Any]] = {
    "SoloEnv": lambda player: SoloEnv(num_players=3, opponents=player),
    "one of a list": lambda player: SoloEnv(num_players=3, opponents=["random", player]),
    "Table": lambda player: Table(sleuth, THREE, 1, [player], 0),
    "play_match": lambda player: play_match(sleuth, THREE, [player, "random", "random"], 1),
    "make_players": lambda player: make_players(sleuth, THREE, [player]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", OBJECTS_REFUSED)
def test_an_object_that_cannot_play_is_refused_at_every_door(name: str, door: str):
    player = made(name)
    with pytest.raises(MatchError, match=f"^player '{player.name}'{OBJECTS_REFUSED[name]}"):
        DOORS[door](player)


@pytest.mark.parametrize("name", OBJECTS_REFUSED)
def test_the_same_in_a_file_is_one_line_with_its_name(folder: Path, name: str):
    text = f"objects.py:{name}"
    with pytest.raises(PolicyError, match=f"^player {text}{OBJECTS_REFUSED[name]}"):
        make_player(text, THREE)
    with pytest.raises(PolicyError, match=f"^player {text}{OBJECTS_REFUSED[name]}"):
        SoloEnv(num_players=3, opponents=text)


@pytest.mark.parametrize("name", ["Nobody", "Forgetless", "Locked", "Vanishing"])
def test_the_commands_refuse_it_before_the_first_move(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
):
    type_in(monkeypatch, "exchange\n")
    text = f"objects.py:{name}"
    commands = [
        ["match", text, "random", "random", "--games", "3"],
        ["evaluate", text, "--against", "random", "--games", "3", "--options", "num_players=3"],
        ["play", "--opponents", text],
    ]
    for words in commands:
        assert main(words) == 2
        output, errors = said(capsys)
        assert output == ""
        (line,) = errors.splitlines()
        assert line.startswith(f"sleuth: player {text}")


@pytest.mark.parametrize("text", FUNCTIONS_REFUSED)
def test_a_mistake_is_not_blamed_on_a_line_of_the_package(folder: Path, text: str):
    with pytest.raises(PolicyError, match=f"^player {text}: {FUNCTIONS_REFUSED[text]}") as error:
        make_player(text, THREE)
    assert "sleuth_env/" not in str(error.value)
    assert main(["match", text, "random", "random", "--games", "3"]) == 2


def test_actions_that_make_no_array_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["match", "mine.py:ragged", "random", "random", "--games", "3"]) == 2
    (line,) = said(capsys)[1].splitlines()
    assert "ragged must return one action a row" in line


@pytest.mark.parametrize("text", ["sys:exit", "folder_of_modules:Bot"])
def test_a_module_without_a_file_has_no_source(folder: Path, text: str):
    assert source_of(text, sleuth) is None


def test_what_is_no_player_is_refused_by_a_table():
    for wrong in (3, None, "random", made("Plain").act, type(made("Plain"))):
        with pytest.raises(MatchError, match="a player is an object with a name and a method act"):
            Table(sleuth, THREE, 1, [wrong], 0)


def test_none_in_the_place_of_a_method_says_that_there_is_none():
    player = made("Remembering")
    player.forget = player.seated = player.act = None
    assert play_match(sleuth, THREE, [player, "random", "random"], 1).games == 3


def test_a_player_that_remembers_need_not_act_otherwise():
    player = made("Short")
    player.act_in = lambda views, legal, seeds, games, seats: legal.argmax(axis=1)
    assert seated(player, THREE, sleuth) is player


def test_a_method_may_take_more_than_it_is_handed():
    player = made("Plain")
    player.act = lambda views, legal, seeds, temperature=1.0: legal.argmax(axis=1)
    player.seated = lambda *given: player
    assert seated(player, THREE, sleuth) is player


def test_a_copy_that_fails_in_a_game_is_named_too():
    player = made("Remembering")
    table = Table(sleuth, THREE, 1, [player], 0)
    player.lock = threading.Lock()
    table.deal(0, 1)
    with pytest.raises(MatchError, match="player 'remembering' cannot be copied: TypeError"):
        table.play_round()
    with pytest.raises(MatchError, match=r"^it cannot be copied: TypeError"):
        copied(player, "it")


@pytest.mark.parametrize("returned", [[[1], [2, 3]], np.zeros(2), "abc"])
def test_what_is_no_action_a_game_is_refused(returned: Any):
    player = made("Plain")
    player.act = lambda views, legal, seeds: returned
    table = Table(sleuth, THREE, 1, [player], 0)
    table.deal(0, 1)
    with pytest.raises(MatchError, match="bot 'plain' must return one action for each game"):
        table.play_round()


@pytest.mark.parametrize("name", ["seats", "rows", "seeds", "actions"])
def test_lists_of_unequal_length_are_named(name: str):
    ragged: Any = [[1], [2, 3]]
    table = Table(sleuth, THREE, 1)
    doors: dict[str, Callable[[], Any]] = {
        "seats": lambda: table.views(0, ragged),
        "rows": lambda: table.deal(ragged, 0),
        "seeds": lambda: table.deal(0, ragged),
        "actions": lambda: table.step(0, ragged),
    }
    with pytest.raises(ArrayError, match=f"^{name} must be "):
        doors[name]()


@pytest.mark.parametrize(
    "function",
    [lambda observations: 0, lambda observations, masks, rng: 0, lambda observations, masks, seeds, more: 0, lambda: 0],
)
def test_a_function_that_takes_something_else_is_refused(function: Any):
    with pytest.raises(PolicyError, match=r"f must take observations and masks, and may take seeds .*, got f\("):
        wrap_policy(function, "raw", name="f")


def test_a_function_may_take_more_than_it_is_handed():
    for function in (lambda *given: 0, lambda o, m, temperature=1: 0, lambda o, m, *, seeds: 0, lambda o, m, **more: 0):
        assert wrap_policy(function, "raw", name="f").name == "f"
