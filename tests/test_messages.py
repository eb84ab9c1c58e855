"""Messages name what was handed in, whatever it is, and say whose it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sleuth_env import (
    holmes,
    holmes_v0,
    load_policy,
    make_player,
    play_match,
    policy_from_torch,
    sleuth,
    sleuth_v0,
    wrap_policy,
)
from sleuth_env.actions import IllegalAction
from sleuth_env.game import Game, load_game
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.table import Table
from sleuth_env.options import OptionError
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy
from tests.support.policies import random_policy

GAMES: list[Game] = [sleuth, holmes]
each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.NAME)
# Python does not write it.
ENDLESS = 10**5000
ENDLESS_TEXT = "an integer of 16610 bits"


# --- the value ---


@each_game
@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        (10**9, "1000000000"),
        (-(10**30), "-1000000000000000000000000000000"),
        (ENDLESS, ENDLESS_TEXT),
        (1.5, "1.5"),
        (True, "True"),
        (None, "None"),
        ([1], "[1]"),
    ],
    ids=str.split("large negative endless float bool none list"),
)
def test_what_has_no_name_is_quoted(game: Game, value: Any, quoted: str) -> None:
    options = game.Options(num_players=3)
    last = game.num_actions(options) - 1
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        game.action_name(value, options)
    assert str(caught.value) == f"an action of a game of 3 must be an integer from 0 to {last}, got {quoted}"
    with pytest.raises(ValueError, match="is not an action of a game of 3; expected one of") as caught:
        game.parse_action(value, options)
    assert str(caught.value).startswith(f"{quoted} is not")
    with pytest.raises(ValueError, match="num_players must be an integer from 3 to") as caught:
        game.action_name(1, value)
    assert str(caught.value).endswith(f"got {quoted}")


def doors_of(game: Game) -> dict[str, Callable[[], Any]]:
    """Return calls, each with the number that Python does not write in a place of its own."""
    options = game.Options(num_players=3)
    faces = sleuth_v0 if game is sleuth else holmes_v0
    seats = ["random"] * 3

    def stepped(env: Any) -> Any:
        env.reset(seed=1)
        return env.step(ENDLESS)

    return {
        "step of an environment": lambda: stepped(faces.raw_env(num_players=3)),
        "step of one learner": lambda: stepped(faces.SoloEnv(opponents="random", num_players=3)),
        "reset": lambda: faces.raw_env(num_players=3).reset(seed=-ENDLESS),
        "seat": lambda: faces.SoloEnv(learner_seat=ENDLESS, num_players=3),
        "opponents": lambda: faces.SoloEnv(opponents=ENDLESS, num_players=3),
        "options": lambda: game.Options(num_players=ENDLESS),
        "deals": lambda: play_match(game, options, seats, ENDLESS * 2),
        "seed": lambda: play_match(game, options, seats, 1, seed=-ENDLESS),
        "players": lambda: play_match(game, options, [ENDLESS] * 3, 1),
        "a player": lambda: make_player(ENDLESS, options, game),  # type: ignore[arg-type]
        "a bot": lambda: game.make_bot(ENDLESS, options),  # type: ignore[arg-type]
        "a game": lambda: load_game(ENDLESS),  # type: ignore[arg-type]
    }


@each_game
@pytest.mark.parametrize("door", doors_of(sleuth))
def test_a_number_that_python_does_not_write_is_told_by_its_size(game: Game, door: str) -> None:
    with pytest.raises(ValueError, match=r"an integer of 1661[01] bits") as caught:
        doors_of(game)[door]()
    if door.startswith("step"):
        assert isinstance(caught.value, IllegalAction)


# --- whose it is ---


def last_legal(observations: Any, masks: Any) -> Any:
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def players_of(game: Game, folder: Path) -> dict[str, Any]:
    """Return players of a game, by name."""
    options = game.Options(num_players=3)
    (folder / "of_messages.py").write_text(
        "class Mine:\n    name = 'mine'\n    def act(self, views, legal, seeds):\n        return legal.argmax(axis=1)\n"
    )
    players = {
        "random": game.make_bot("random", options),
        "last_legal": wrap_policy(last_legal, game=game),
        f"{folder / 'of_messages.py'}:Mine": make_player(f"{folder / 'of_messages.py'}:Mine", options, game),
    }
    return players | ({"pretrained:sleuth-3p": load_policy("pretrained:sleuth-3p")} if game is sleuth else {})


@each_game
def test_a_player_of_another_game_is_named_with_both_games(game: Game, tmp_path: Path) -> None:
    other = GAMES[1 - GAMES.index(game)]
    options = game.Options(num_players=3)
    faces = sleuth_v0 if game is sleuth else holmes_v0
    for player in players_of(other, tmp_path).values():
        message = (
            f"player {player.name!r} is a player of the game {other.NAME}, and {game.NAME} is played: "
            f"make it for {game.NAME}"
        )
        for call in (
            lambda player=player: play_match(game, options, [player, "random", "random"], 1),
            lambda player=player: evaluate(game, options, player, ["random"], 1),
            lambda player=player: evaluate(game, options, "random", [player], 1),
            lambda player=player: Table(game, options, 1, [player]),
            lambda player=player: faces.SoloEnv(opponents=player, num_players=3),
            lambda player=player: faces.SoloVectorEnv(2, opponents=[player, "random"], num_players=3),
        ):
            with pytest.raises(MatchError) as caught:
                call()
            assert str(caught.value) == message


@each_game
def test_options_of_another_game_are_named_with_both_games(game: Game, tmp_path: Path) -> None:
    other = GAMES[1 - GAMES.index(game)]
    options = other.Options(num_players=3)
    players = players_of(game, tmp_path)
    calls: list[Callable[[], Any]] = [
        lambda: play_match(game, options, ["random"] * 3, 1),
        lambda: evaluate(game, options, "random", ["random"], 1),
        lambda: Table(game, options, 1),
        lambda: make_player("random", options, game),
        lambda: make_player("foreigner.py:Mine", options, game),
        lambda: Policy(game, options, game.RECORDS[0], Mlp([(np.zeros((2, 2), np.float32), np.zeros(2, np.float32))])),
        *(lambda player=player: player.seated(options) for player in players.values() if hasattr(player, "game")),
    ]
    for call in calls:
        with pytest.raises(OptionError) as caught:
            call()
        assert str(caught.value) == (
            f"options must be those of {game.NAME}, the game that is played, got {other.NAME}.{options!r}"
        )


@each_game
def test_a_layout_is_asked_for_with_options_of_the_game(game: Game) -> None:
    with pytest.raises(OptionError, match=r"options must be (sleuth|holmes)\.Options"):
        game.observation_layout(GAMES[1 - GAMES.index(game)].Options(num_players=3), "raw")


def test_a_network_of_torch_belongs_to_the_game_of_its_options() -> None:
    options = holmes.Options(num_players=3)
    size = holmes.observation_layout(options, "sheet").size
    policy = policy_from_torch(torch.nn.Sequential(torch.nn.Linear(size, holmes.num_actions(options))), options)
    assert policy.game is holmes


@pytest.mark.parametrize("number", [10**12, 2**63, 2**64 - 1])
def test_more_deals_than_fit_into_memory_are_refused(number: int) -> None:
    with pytest.raises(MatchError, match=r"^num_deals must be at most \d+, got \d"):
        play_match(sleuth, sleuth.Options(num_players=3), ["random"] * 3, number)


def test_a_result_is_of_plain_numbers() -> None:
    result = play_match(sleuth, sleuth.Options(num_players=3), ["random"] * 3, np.int64(2), np.uint64(1))
    assert json.loads(json.dumps(result.as_dict()))["deals"] == 2


def test_a_policy_answers_no_rows() -> None:
    for policy in (load_policy("pretrained:sleuth-3p"), random_policy()):
        size = sleuth.observation_size(policy.options, policy.record)
        assert policy.logits(np.zeros((0, size), np.float32)).shape == (0, sleuth.num_actions(policy.options))


def test_the_policy_of_another_game_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="pretrained:sleuth-3p is a policy for the game 'sleuth', not for 'holmes'"):
        play_match(holmes, holmes.Options(num_players=3), ["pretrained:sleuth-3p", "random", "random"], 1)
