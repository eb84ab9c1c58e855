"""A game as a replay shows it: what every seat knew, believed and considered after every step, as plain data.

Steps are those of `Telling.tell_game`, something that everybody notices, so all seats have as many;
before the first one lies the deal, step 0. A frame is what one seat sees then, in the form in which a
page draws a table. It is made of the seat's own views, and of nothing that it cannot know.
Axis letters: ``P`` seats, ``S`` steps, the deal among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_number, check_text, is_collection, shown
from ..game import (
    Game,
    Kernels,
    OnBoard,
    Told,
    Transcribed,
    Worded,
    check_game,
    game_of,
    kernels_of,
    load_game,
    name_of,
    needed,
)
from ..policies.policy import Policy
from ..policies.policy_file import PolicyError
from .messages import NO_DECISION, odds, table_seen

Frame = dict[str, Any]
# What a game has that was read from its text.
PARTS_OF_RECORD = ("options", "states", "actions", "last_state")
# Decimals of a policy's probabilities.
DECIMALS = 4
# What is counted of a view, which takes longest.
COUNTED = ("odds", "questions", "why")


@dataclass(frozen=True)
class Replay:
    """A game as a replay shows it, ready for JSON.

    Args:
        game: its name.
        title: how people write it, or a heading of somebody's own.
        options: its options.
        players: who played in each seat, [P]; "" where that is not known.
        policy: the name of the policy whose probabilities the frames have; "" without one.
        chance: what `chances` are, in words.
        steps: what everybody noticed, [S]; nothing of the deal.
        private: the same as each seat was told it, [P][S].
        revealed: the same with everything hidden, [S].
        ending, ending_revealed: how the game stands at its end, as everybody may know it, and with
            everything hidden.
        endings: what each player is told at the end, line by line, [P]; None while the game goes on.
        deals: everything hidden after each step, see `Transcribed.reveal`, [S].
        frames: [P][S].
        chances: see `Board.best_chance`, [P][S]; None where odds cannot be counted.
    """

    game: str
    title: str
    options: dict[str, Any]
    players: list[str]
    policy: str
    chance: str
    steps: list[str]
    private: list[list[str]]
    revealed: list[str]
    ending: str
    ending_revealed: str
    endings: list[list[str]] | None
    deals: list[dict[str, Any]]
    frames: list[list[Frame]]
    chances: list[list[float | None]]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return asdict(self)


class _Played(NamedTuple):
    """A game that has been replayed."""

    game: Any
    kernels: Kernels
    rules: Any
    record: Any
    states: np.ndarray  # STATE [T + 1], before each action and at the end
    ends: list[int]  # [S] actions taken when each step is over
    actions: list[str]  # [A] their names
    policy: Policy | None
    players: list[str]  # [P] who played

    @property
    def num_players(self) -> int:
        return int(self.record.options.num_players)


def make_replay(
    record: Any,
    policy: Policy | None = None,
    title: str | None = None,
    players: Sequence[str] = (),
    game: Game | None = None,
    progress: Callable[[int], object] | None = None,
) -> Replay:
    """Return a game as a replay shows it.

    Args:
        record: the game, as `parse_game` returns it.
        policy: whose probabilities are to be shown at every decision.
        title: default: that of the game.
        players: who played in each seat, P texts; nobody knows without them.
        game: its module; default: the game of this package whose options it has.
        progress: is called with the number of frames made since the last call.

    Raises:
        ValueError: an argument is something else.
        MissingPartError: the game cannot be told, worded or shown on a board.
        PolicyError: the policy cannot play under the game's options.
    """
    played = _replayed(record, policy, players, game)
    telling = played.game.telling
    board = played.game.board
    title = board.TITLE if title is None else check_text("title", title)
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function of a number of frames, or None, got {shown(progress)}")
    num_steps = len(played.ends) - 1
    stories = [_story(played, seat) for seat in range(played.num_players)]
    public = list(telling.tell_game(record, None, False, None, None))
    revealed = list(telling.tell_game(record, None, True, None, None))
    frames = [_frames(played, seat, story.views, progress) for seat, story in enumerate(stories)]
    finished = record.last_state["actor"] < 0
    return Replay(
        game=name_of(played.game),
        title=title,
        options=asdict(record.options),
        players=played.players,
        policy="" if policy is None else policy.name,
        chance=board.CHANCE,
        steps=["", *public[:num_steps]],
        private=[story.texts for story in stories],
        revealed=revealed[: num_steps + 1],
        ending="\n".join(public[num_steps:]),
        ending_revealed="\n".join(revealed[num_steps + 1 :]),
        endings=[telling.ending(record, seat) for seat in range(played.num_players)] if finished else None,
        deals=[played.game.reveal(record.options, played.states[end]) for end in played.ends],
        frames=frames,
        chances=[[_chance(board, frame) for frame in of_seat] for of_seat in frames],
    )


def frames_of(
    record: Any, seat: int, policy: Policy | None = None, players: Sequence[str] = (), game: Game | None = None
) -> list[Frame]:
    """Return what one seat sees after each step of a game, [S], see `make_replay`."""
    played = _replayed(record, policy, players, game)
    seat = check_number("seat", seat, 0, played.num_players - 1)
    return _frames(played, seat, _story(played, seat).views, None)


def num_frames(record: Any, game: Game) -> int:
    """Return the number of frames of a replay, in which `make_replay` counts its progress."""
    _check_record(record)
    steps: int = needed(check_game(game), Told).telling.num_steps(record) + 1
    return steps * int(record.options.num_players)


def _check_record(record: Any) -> None:
    if isinstance(record, type) or not all(hasattr(record, part) for part in PARTS_OF_RECORD):
        raise ValueError(f"record must be a game, as parse_game returns it, got {shown(record)}")


def _replayed(record: Any, policy: Policy | None, players: Sequence[str], game: Game | None) -> _Played:
    _check_record(record)
    game = load_game(game_of(record.options)) if game is None else check_game(game)
    if policy is not None and not (hasattr(policy, "probabilities") and hasattr(policy, "seated")):
        raise PolicyError(f"policy must be one that load_policy returns, got {shown(policy)}")
    number = record.options.num_players
    named: list[Any] = list(players) if is_collection(players) else [players]
    if named and (len(named) != number or not all(isinstance(name, str) for name in named)):
        raise ValueError(f"players must be {number} texts, one for each seat, or none, got {shown(players)}")
    for part in (Told, Worded, OnBoard, Transcribed):
        needed(game, part)
    options = record.options
    return _Played(
        game=game,
        kernels=kernels_of(game),
        rules=game.make_rules(options),
        record=record,
        states=record.states,
        ends=needed(game, Told).telling.step_ends(record),
        actions=[game.action_name(action, options) for action in range(game.num_actions(options))],
        policy=None if policy is None else policy.seated(options),
        players=named or [""] * number,
    )


# --- one seat's story ---


class _Story(NamedTuple):
    """What a seat was told of each step, and its view as it is told after it."""

    texts: list[str]  # [S]
    views: list[np.void]  # [S] VIEW records


def _story(played: _Played, seat: int) -> _Story:
    """Tell a game to a seat; where it begins with its first step, the deal is put before it."""
    views: list[np.void] = []

    def note(seen: Any) -> str:
        """Keep a view in place of a drawing of it."""
        views.append(seen.copy())
        return ""

    told = played.game.telling.tell_game(played.record, seat, False, None, note)
    texts = [text.rstrip("\n") for text in told][: len(views)]
    if len(views) < len(played.ends):
        texts.insert(0, "")
        views.insert(0, _view(played, 0, seat))
    return _Story(texts, views)


def _view(played: _Played, at: int, seat: int) -> np.void:
    """Return the view of a seat before an action (one VIEW record)."""
    seen = np.zeros(1, played.game.VIEW)
    played.kernels.view(played.rules, played.states[at : at + 1].copy(), np.array([seat], np.int64), seen)
    view: np.void = seen[0]
    return view


# --- frames ---


def _frames(
    played: _Played, seat: int, views: Sequence[np.void], progress: Callable[[int], object] | None
) -> list[Frame]:
    """Return what a seat sees after each step, [S]."""
    log: list[str] = []
    decisions = _Decisions(played, seat)
    frames: list[Frame] = []
    start = 0
    for view, end in zip(views, played.ends, strict=True):
        log.extend(_news(played, seat, range(start, end)))
        within = [decisions.taken(at) for at in range(start, end) if decisions.is_open(at)]
        is_same = bool(frames) and view.tobytes() == views[len(frames) - 1].tobytes()
        frames.append(
            {
                **table_seen(played.game, played.record.options, view, seat, played.players),
                "ended": None,
                "log": list(log),
                "within": within,
                **decisions.next(end, view),
                # What has been counted already is not counted again.
                **({key: frames[-1][key] for key in COUNTED} if is_same else _counted(played, view)),
            }
        )
        start = end
        if progress is not None:
            progress(1)
    return frames


def _counted(played: _Played, view: np.void) -> Frame:
    """Return what a seat may believe, and which questions tell it most; None, and why, where nothing can be counted."""
    found = odds(played.game, played.record.options, view)
    return {key: found[key] for key in COUNTED}


def _chance(board: Any, frame: Frame) -> float | None:
    return None if frame["odds"] is None else round(board.best_chance(frame["odds"]), DECIMALS)


def _news(played: _Played, seat: int, actions: range) -> Iterator[str]:
    """Iterate over what a seat was told of some actions, line by line."""
    for at in actions:
        action = int(played.record.actions[at])
        before, after = (_view(played, moment, seat) for moment in (at, at + 1))
        yield from played.game.telling.news(played.record.options, played.states[at + 1], action, after, before)


class _Decisions:
    """The decisions of one seat."""

    def __init__(self, played: _Played, seat: int) -> None:
        self.played = played
        self.seat = seat
        actors = played.states["actor"]
        self.places = [at for at in range(len(played.record.actions)) if actors[at] == seat]
        self.shown: set[int] = set()

    def is_open(self, at: int) -> bool:
        """Return whether an action is this seat's, and no frame has shown that it was to decide it."""
        return at in self.places and at not in self.shown

    def taken(self, at: int) -> dict[str, Any]:
        """Return a decision of the seat: what it was asked for, what it did, what the policy would have done."""
        telling = self.played.game.telling
        return {
            "prompt": telling.prompt(self.played.record.options, _view(self.played, at, self.seat)),
            "did": self._did(at),
            "policy": self._policy(at),
        }

    def next(self, at: int, view: np.void) -> Frame:
        """Return what the seat decides after a step, if everybody knows that it does; else nothing is decided."""
        states = self.played.states
        # What is told of a moment may leave out who is asked.
        decides = states["actor"][at] == self.seat and view.tobytes() == _view(self.played, at, self.seat).tobytes()
        if not decides:
            return {**NO_DECISION, "did": None, "policy": None}
        self.shown.add(at)
        number = sum(place < at for place in self.places)
        did = self._did(at) if at < len(states) - 1 else None
        # Nothing is chosen on a page that is read, so nothing need be confirmed there.
        return {
            **NO_DECISION,
            "decision": number,
            "legal": self._legal_names(at),
            "did": did,
            "policy": self._policy(at),
        }

    def _did(self, at: int) -> str:
        return self.played.actions[int(self.played.record.actions[at])]

    def _legal(self, at: int) -> np.ndarray:
        marks = np.zeros((1, len(self.played.actions)), np.uint8)
        self.played.kernels.legal(self.played.rules, self.played.states[at : at + 1].copy(), marks)
        return marks

    def _legal_names(self, at: int) -> list[str]:
        return [self.played.actions[action] for action in np.flatnonzero(self._legal(at)[0]).tolist()]

    def _policy(self, at: int) -> dict[str, float] | None:
        """Return the policy's probability of each legal action."""
        if self.played.policy is None:
            return None
        legal = self._legal(at)
        views = np.zeros(1, self.played.game.VIEW)
        views[0] = _view(self.played, at, self.seat)
        shares = self.played.policy.probabilities(views, legal)[0].round(DECIMALS)
        return {self.played.actions[action]: float(shares[action]) for action in np.flatnonzero(legal[0]).tolist()}
