"""What the adapters ask of any game: module, options, numbers of actions, refusals, copies."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.actions import IllegalAction, refusal
from sleuth_env.checks import check_number, check_seed
from sleuth_env.envs.rendering import check_render_mode
from sleuth_env.game import (
    DEFAULT_GAME,
    GAMES,
    Believes,
    Drawn,
    Game,
    GameError,
    MissingPartError,
    check_game,
    has_part,
    load_game,
    make_options,
    name_of,
    needed,
    opaque,
)
from sleuth_env.matches.match import play_match
from sleuth_env.matches.players import make_player
from sleuth_env.matches.table import Table
from sleuth_env.options import UnknownOptionError
from sleuth_env.policies.policy import load_policy


def test_sleuth_is_a_game_module() -> None:
    assert load_game("sleuth") is load_game("sleuth_env.sleuth") is sleuth
    assert GAMES[0] == DEFAULT_GAME == name_of(sleuth) == "sleuth"
    assert sleuth.NAME == "sleuth"
    assert sleuth.RECORDS[0] == "sheet"


@pytest.mark.parametrize("name", sorted({*Game.__annotations__, *vars(Game)}))
def test_every_name_of_the_protocol_is_explained(name: str) -> None:
    if not name.startswith("_") and isinstance(vars(Game).get(name), types.FunctionType):
        assert vars(Game)[name].__doc__


def test_a_module_that_is_no_game_is_refused_with_what_it_lacks() -> None:
    with pytest.raises(ValueError, match=r"'json' is not a game: the module lacks BOTS, CHEAPEST_RECORD, .*VIEW"):
        load_game("json")
    for name in ("sleuth_env.no_such", "no_such", "no_such.game"):
        with pytest.raises(
            ValueError, match=f"there is no game '{name}': a game is one of sleuth, holmes, or the full name of"
        ):
            load_game(name)
    for name in ("", ".", "..x", 3, None):
        with pytest.raises(
            ValueError, match="game must be one of sleuth, holmes, or the full name of a game module, got"
        ):
            load_game(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import numpy as np; np.nonsense", "AttributeError"),
        ("raise ValueError('the deck is too small')", "the deck is too small"),
        ("import not_installed_anywhere", "not_installed_anywhere"),
        ("def (", "SyntaxError"),
        ("undefined", "NameError"),
    ],
)
def test_what_is_wrong_inside_a_module_is_said_with_its_place(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broken_{said.split()[0].lower()}"
    (tmp_path / f"{name}.py").write_text(f"x = 1\n{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(GameError, match=rf"the game '{name}' cannot be imported: .*{name}.py:2: .*{said}"):
        load_game(name)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"DEFAULT_BOT": "nobody"}, "DEFAULT_BOT of the game 'odd' must be one of 'random', 'cautious'"),
        ({"CHEAPEST_RECORD": "x"}, "CHEAPEST_RECORD of the game 'odd' must be one of 'sheet', 'raw', 'exact', got 'x'"),
        ({"DECLINE": "x"}, "DECLINE of the game 'odd' must be one of 'accuse', 'pass', '', got 'x'"),
        ({"STATE": np.dtype([("actor", "u1")])}, "must have a field actor of signed integers, got uint8"),
        ({"STATE": np.dtype([("x", "i4")])}, "must have a field actor of signed integers, got None"),
    ],
)
def test_constants_that_do_not_keep_the_contract_are_named(changes: dict[str, Any], said: str) -> None:
    odd = types.ModuleType("odd")
    vars(odd).update({name: value for name, value in vars(sleuth).items() if not name.startswith("__")} | changes)
    with pytest.raises(GameError, match=said):
        check_game(odd)


def test_a_text_in_the_place_of_a_module_is_refused() -> None:
    options = sleuth.Options()
    for use in (
        lambda: play_match("sleuth", options, ["random"] * 4, 1),
        lambda: make_player("sheet", options, "sleuth"),
        lambda: load_policy("pretrained:4p", "sleuth"),
        lambda: Table("sleuth", options, 1),
    ):
        with pytest.raises(GameError, match="game must be a game module, which load_game returns, got 'sleuth'"):
            use()
    with pytest.raises(
        GameError, match=r"game must be one of sleuth, holmes, or the full name of a game module, got \[1\]"
    ):
        load_game([1])


def test_a_part_that_a_game_has_not_is_named() -> None:
    assert needed(sleuth, Believes) is sleuth
    bare = types.SimpleNamespace(NAME="bare", draw_ansi=None)
    assert not has_part(bare, Drawn)
    with pytest.raises(MissingPartError, match="the game 'bare' has no drawings: it lacks draw_rgb"):
        needed(bare, Drawn)
    with pytest.raises(MissingPartError, match="the game 'bare' has no exact beliefs: it lacks belief"):
        needed(bare, Believes)
    with pytest.raises(MissingPartError, match="the game 'bare' has no drawings"):
        check_render_mode(bare, "ansi")
    check_render_mode(bare, None)


def test_options_are_made_of_names_and_values() -> None:
    assert make_options(sleuth, {"num_players": 3}, max_cycles=5) == sleuth.Options(num_players=3, max_turns=5)
    message = r"got an unexpected keyword argument 'players'.*the options of sleuth are num_players, missing, winners"
    with pytest.raises(UnknownOptionError, match=message):
        make_options(sleuth, {"players": 3})
    with pytest.raises(sleuth.OptionError, match="winners must be"):
        make_options(sleuth, {"winners": 4})


@pytest.mark.parametrize("action", [3, np.int8(3), np.uint64(3), np.array(3)], ids=repr)
def test_any_whole_number_is_an_action(action: Any) -> None:
    number = check_number("action", action, 0, 3, IllegalAction)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize(
    "action", [4, -1, 3.0, True, np.True_, None, "3", [3], np.array([3]), np.array(3.0), 2**80], ids=repr
)
def test_nothing_else_is(action: Any) -> None:
    with pytest.raises(IllegalAction, match="action must be an integer from 0 to 3, got"):
        check_number("action", action, 0, 3, IllegalAction)


@pytest.mark.parametrize("seed", [0, 3, np.int64(3), np.uint8(3), np.array(3), 2**80], ids=repr)
def test_any_whole_number_is_a_seed(seed: Any) -> None:
    assert check_seed(seed) == int(seed)
    assert type(check_seed(seed)) is int
    assert check_seed(None) is None


@pytest.mark.parametrize(
    "seed", [-1, np.int64(-1), 1.7, np.float64(1), True, np.True_, "1", [1], np.array([1])], ids=repr
)
def test_nothing_else_is_a_seed(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be an integer of at least 0, got"):
        check_seed(seed)


@pytest.mark.parametrize("number", [0, -1, 1.0, True, None], ids=repr)
def test_a_count_is_a_whole_number_that_is_large_enough(number: Any) -> None:
    assert check_number("num_envs", np.int32(1), 1) == 1
    with pytest.raises(ValueError, match=f"num_envs must be an integer of at least 1, got {number!r}"):
        check_number("num_envs", number, 1)


def test_a_refusal_names_some_of_the_legal_actions_and_their_number() -> None:
    legal = np.zeros(653, np.uint8)
    legal[[10, 600, 652]] = 1
    error = refusal(sleuth, sleuth.Options(), 651, legal, "player_1")
    names = [f"{a} ({sleuth.action_name(a, 4)})" for a in (651, 10, 600, 652)]
    assert (
        str(error)
        == f"player_1 may not choose action {names[0]} now; 3 actions are legal, for instance {', '.join(names[1:])}"
    )


def test_opaque_records_are_copied_as_they_are() -> None:
    options = sleuth.Options()
    states = sleuth.new_states(5)
    sleuth.deal(sleuth.make_rules(options), states, np.arange(5, dtype=np.uint64))
    rows = np.array([3, 1])
    taken = opaque(states)[rows].view(states.dtype)
    assert taken.tobytes() == states[rows].tobytes()
    others = sleuth.new_states(5)
    opaque(others)[rows] = opaque(taken)
    assert (others[rows] == states[rows]).all()
    assert others[[0, 2, 4]].tobytes() == sleuth.new_states(3).tobytes()
