"""What is told of a game, by substitution: what a seat cannot know changes no byte of it, nor does the order of offers.

A story, a review, and everything that is written in a game of a person are made twice: of a game, and
of the same public history with other hidden cards and another order of the offers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from sleuth_env import sleuth as kernels
from sleuth_env.cli import session as session_module
from sleuth_env.cli.session import Session
from sleuth_env.sleuth import Options, draw_ansi, make_bot
from sleuth_env.sleuth.telling import num_steps, review, tell_game
from tests.support.followed import FollowedTable
from tests.support.replaying import Replay
from tests.support.stories import record_of
from tests.support.strategies import KNOWING, LIVELY, PATIENT, RASH, option_name
from tests.support.substitution import History, play

WHOLE = 10_000
GAMES = [(PATIENT, 60), (LIVELY, WHOLE), (RASH, 8), (RASH, WHOLE), (KNOWING, WHOLE)]
VARIANTS = [
    Options(3),
    Options(4, missing=2, double_interrogation=True),
    Options(5, winners=2),
    Options(4, winners=3, announce_result=False),
    Options(4, max_turns=3),
    Options(3, missing=3, last_survivor_wins=True),
    Options(7),
]


def replays(options: Options, order: str) -> Iterator[Replay]:
    for seed, (player, length) in enumerate(GAMES):
        history = play(options, seed, player).cut(length)
        for viewer in range(options.num_players):
            yield Replay(history, viewer, seed, order)


def drawn(options: Options, size: tuple[int, int], seen: Any) -> str:
    """Draw a view for a terminal of these columns and lines."""
    return draw_ansi(options, seen, False, *size)


def told(history: History, viewer: int) -> list[str]:
    """Return everything that a replay of a game from a viewpoint can write."""
    record = record_of(history)
    few = history.options.num_players < 5
    texts = [str(num_steps(record))]
    for size in ((0, 0), (80, 24)):
        draw = partial(drawn, record.options, size)
        texts += tell_game(record, viewpoint=viewer, draw=draw)
    texts += tell_game(record)
    return [*texts, *(review(record, viewer) if few else [])]


@pytest.mark.parametrize("options", VARIANTS, ids=option_name)
def test_a_told_game_shows_a_viewpoint_nothing_that_it_cannot_know(options: Options) -> None:
    changed = 0
    for replay in replays(options, "accused"):
        assert told(replay.history, replay.viewer) == told(replay.original, replay.viewer)
        changed += "offers" in replay.changed()
    assert changed >= options.num_players


@pytest.mark.parametrize("options", [Options(3), Options(5, winners=2)], ids=option_name)
def test_a_text_that_ends_in_an_offer_tells_nobody_who_was_asked_first(options: Options) -> None:
    history = play(options, 1, PATIENT)
    at = next(k for k, states in enumerate(history.states) if states["phase"][0] == kernels.OFFER)
    begun = History(options, history.states[: at + 1], history.actions[:at])
    for viewer in range(options.num_players):
        stories = []
        for first in range(options.num_players):
            last = begun.states[-1].copy()
            last["offers"][0, : options.num_players] = np.roll(np.arange(options.num_players), -first)
            last["actor"] = first
            stories.append(told(History(options, [*begun.states[:-1], last], begun.actions), viewer))
        assert all(story == stories[0] for story in stories)


def shown_to_a_person(history: History, seat: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return all that a person is shown, and asked, who did what a seat did in a history."""
    options = history.options
    bots = [make_bot("random", options)] * (options.num_players - 1)
    shown: list[str] = []

    def read(prompt: str, words: Sequence[str]) -> str:
        shown.append(prompt)
        shown.extend(words)
        table = session.table
        return "yes" if session._doubtful else session.action_names[table.history.actions[table.at]]

    session: Any = Session(kernels, options, bots, seat, 0, read, shown.append)
    session.table = FollowedTable(kernels, history, seat, bots)
    # At the end of a game everything is shown.
    monkeypatch.setattr(session, "_tell_result", lambda: None)
    session.run()
    session._show_sheet() if history.states[-1]["phase"][0] == kernels.FINISHED else None
    return shown


@pytest.mark.parametrize("options", VARIANTS, ids=option_name)
@pytest.mark.parametrize("size", [(0, 0), (80, 24)], ids=["file", "terminal"])
def test_a_person_is_shown_nothing_that_they_cannot_know(
    options: Options, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "drawing_size", lambda: size)
    for replay in replays(options, "asked"):
        shown = [
            shown_to_a_person(history, replay.viewer, monkeypatch) for history in (replay.history, replay.original)
        ]
        assert shown[0] == shown[1]
