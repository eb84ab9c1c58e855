"""Privacy of the browser's table, by substitution: what a seat cannot know changes no byte that it is sent.

Whole games are played through real connections twice: as they were, and with everything changed that
the seat cannot know.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import holmes, sleuth
from sleuth_env.sleuth import Options
from sleuth_env.web import lobby as lobby_module
from sleuth_env.web.messages import PERSON
from sleuth_env.web.room import Room
from tests.support.followed import FollowedTable
from tests.support.holmes_bot_games import HolmesBotGames
from tests.support.holmes_substitution import substituted
from tests.support.replaying import Replay
from tests.support.strategies import KNOWING, LIVELY, PATIENT, RASH, option_name
from tests.support.substitution import History, accusers_in_order, play
from tests.support.web import connect, decide, make_table, serving

WHOLE = 10_000
GAMES = [(PATIENT, 60), (LIVELY, WHOLE), (RASH, WHOLE), (KNOWING, WHOLE)]
SLEUTH = [
    Options(3),
    Options(4, missing=2, double_interrogation=True),
    Options(5, winners=2),
    Options(4, winners=3, announce_result=False),
    Options(4, max_turns=3, offer_order="clockwise"),
    Options(3, missing=3, last_survivor_wins=True, super_sleuth=True),
    Options(6, accuse="own_turn"),
    Options(7),
]
HOLMES = [
    *(holmes.Options(n, cases=1) for n in (3, 4, 8)),
    holmes.Options(4, cases=1, fast_play=True, must_arrest=True),
    holmes.Options(5, after_alibi="left_of_alibi", cases=1, reward="case", new_case_location="city"),
    holmes.Options(6, max_turns=40, guilty_hand="discarded"),
    holmes.Options(7, max_turns=30),
]


class Followed:
    """Rooms whose table follows a history; after its end nothing is shown of the cards, which differ.

    Args:
        monkeypatch: puts these rooms into the lobby.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.history: Any = None
        self.stepwise = False
        followed = self

        class FollowedRoom(Room):
            def __init__(
                self, game: Any, options: Any, seats: Any, players: Any, seed: int, record: Any, *rest: Any
            ) -> None:
                super().__init__(game, options, seats, players, seed, record, *rest)
                if record is None:
                    # The file of a new table holds a game that can be read again.
                    return
                self.stepwise = followed.stepwise
                table: Any = FollowedTable(game, followed.history, self.people[0], [])
                self.sitting.table = table
                self._state = table.states[0]
                self._views = {seat: self.sitting.view(seat) for seat in self.people}

            def _end_of(self, seat: int) -> dict[str, Any]:
                return {}

        monkeypatch.setattr(lobby_module, "Room", FollowedRoom)


async def _sent(address: str, link: str, actions: Iterator[str]) -> list[str]:
    """Do in a seat what was done there in a history; return all that it is sent, but for its link."""
    sent: list[str] = []
    number = 0
    async with connect(address, link) as connection:
        while True:
            text = await asyncio.wait_for(connection.recv(), 60)
            sent.append(str(text).replace(link, ""))
            message = json.loads(text)
            if message["type"] == "table" and message["ended"] is not None:
                return sent
            if message["type"] == "table" and message["decision"] is not None:
                number = message["decision"]
                await connection.send('{"type": "odds"}')
            elif message["type"] == "odds":
                await decide(connection, number, next(actions))


def sent_to(game: Any, history: Any, viewer: int, address: str) -> list[str]:
    """Return all that a seat is sent in a history, odds among them."""
    options = history.options
    named = {name: value for name, value in vars(options).items() if name != "num_players"}
    seats = [PERSON if seat == viewer else "random" for seat in range(options.num_players)]
    (link,) = make_table(address, game.NAME, seats, **named)
    own = (
        game.action_name(action, options)
        for states, action in zip(history.states, history.actions, strict=False)
        if states["actor"][0] == viewer
    )
    return asyncio.run(_sent(address, link, own))


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("sleuth_env.web.server.TABLES", (1000, 1000))
    monkeypatch.setattr("sleuth_env.web.server.MESSAGES", (10_000, 10_000))
    with serving(tmp_path) as found:
        yield found


@pytest.mark.parametrize("stepwise", [False, True], ids=["at_rest", "stepwise"])
@pytest.mark.parametrize("options", SLEUTH, ids=option_name)
def test_a_seat_is_sent_nothing_that_it_cannot_know(
    options: Options, stepwise: bool, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = Followed(monkeypatch)
    followed.stepwise = stepwise
    changed = 0
    number = 0
    for seed, (player, length) in enumerate(GAMES):
        history = play(options, seed, player).cut(length)
        viewer = (seed + options.num_players) % options.num_players
        # Step by step, a view shows whether others may still be offered to accuse after an accusation.
        order = "seen" if stepwise and accusers_in_order(history) else "asked"
        replay = Replay(history, viewer, seed, order)
        shown = []
        for followed.history in (replay.original, replay.history):
            shown.append(sent_to(sleuth, followed.history, viewer, address))
        assert shown[0] == shown[1]
        number += len(shown[0])
        changed += bool(replay.changed())
    assert changed > 1
    assert number > 16


class Course:
    """A game of I Say, Holmes! played by bots, with other secrets at every moment if that is asked for."""

    def __init__(self, options: Any, seed: int) -> None:
        self.options = options
        self.states: list[np.ndarray] = []
        self.actions: list[int] = []
        games = HolmesBotGames(options, ["random"] * options.num_players, 1, seed)
        for decisions in games.play(100_000):
            self.states.append(decisions.states.copy())
            self.actions.append(int(decisions.actions[0]))
        self.states.append(games.states.copy())

    def changed(self, viewer: int, seed: int) -> Course:
        """Return the same course as the viewer sees it, with everything changed that they cannot know."""
        rng = np.random.default_rng(seed)
        other = object.__new__(Course)
        other.options = self.options
        other.actions = self.actions
        other.states = [substituted(self.options, states, viewer, rng) for states in self.states[:-1]]
        # At the end everything is shown.
        other.states.append(self.states[-1])
        return other


@pytest.mark.parametrize("stepwise", [False, True], ids=["at_rest", "stepwise"])
@pytest.mark.parametrize("options", HOLMES, ids=str)
def test_nor_in_the_second_game(options: Any, stepwise: bool, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(monkeypatch)
    followed.stepwise = stepwise
    for seed in range(2):
        course = Course(options, seed)
        viewer = seed % options.num_players
        shown = []
        for followed.history in (course, course.changed(viewer, seed)):
            shown.append(sent_to(holmes, followed.history, viewer, address))
        assert shown[0] == shown[1]
        assert len(shown[0]) > 3


def test_a_server_that_peeks_would_be_caught(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(monkeypatch)
    message = Room.message

    def peeking(room: Any, seat: int) -> str:
        return message(room, seat) + " " * (int(room.sitting.table.states["missing_gems"][0]) % 1000)

    monkeypatch.setattr(Room, "message", peeking)
    history = play(Options(3), 0, PATIENT).cut(60)
    replay = Replay(history, 0, 0, "asked")
    assert (history.states[0]["missing_gems"] != replay.history.states[0]["missing_gems"]).any()
    shown = []
    for followed.history in (replay.original, replay.history):
        shown.append(sent_to(sleuth, followed.history, 0, address))
    assert shown[0] != shown[1]


def test_nor_would_one_pass_that_tells_of_offers_to_others(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(monkeypatch)
    followed.stepwise = True
    # Without the table between, a seat sees whether it is the first one that is asked.
    monkeypatch.setattr(Room, "_show_without_offer", lambda room, seat: None)
    differ = 0
    for seed in range(3):
        history: History = play(Options(4), seed, PATIENT).cut(60)
        replay = Replay(history, 0, seed, "asked")
        shown = []
        for followed.history in (replay.original, replay.history):
            shown.append(sent_to(sleuth, followed.history, 0, address))
        differ += shown[0] != shown[1]
    assert differ
