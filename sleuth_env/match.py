"""Batches of games between bots, and matches over equal deals.

`Table` plays ``B`` games at once: bots are asked in batches, seats without a bot wait for a learner. `play_match` lets a list of
bots play the same deals in every rotation of the seats, so that the luck of the deal and of the seat cancels.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bits import GAMMA, mixed_rows
from .game import Bot, Game, IllegalAction, Records, action_number, opaque, refusal
from .policy import make_player
from .rating import FinishedGames, MatchResult, sum_up

LEARNER = -1


class MatchError(ValueError):
    """A match cannot be played as asked."""


def bots_streams(seeds: NDArray[np.uint64], num_players: int) -> NDArray[np.uint64]:
    """Give the stream of random bits of each seat (u8 [K, P]) in games of these seeds (u8 [K]).

    Hashed one way, and one for each seat: a bot can go back from the bits that it is handed to its stream, but must find neither
    the seed, which would tell it the deal, nor the bits of others, which would tell it what they do.
    """
    digests = [blake2b(seed.tobytes(), digest_size=8 * num_players, person=b"sleuth bots").digest() for seed in seeds]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, num_players)


class Table:
    """Play a batch of games, some seats by bots, the others by learners.

    A bot's random bits at a decision come from the game's seed, its seat and the number of decisions that this seat has taken, so a game
    is the same in any batch. `seats` and `bots` may be changed between calls, for instance to draw new opponents. `states` (STATE [B]),
    `decisions` (i8 [B, P], how many each seat has taken) and `last_actions` (i8 [B], -1 before the first) are there to be read.

    Args:
        game: a game module.
        options: its options.
        num_games: B.
        bots: what the numbers in `seats` mean; may be extended later.
        seats: the bot in each seat (i4 [P] or [B, P]); `LEARNER` (-1) is a seat that nobody here plays. Default: all learners.
    """

    def __init__(self, game: Game, options: Any, num_games: int, bots: Sequence[Bot] = (), seats: ArrayLike = LEARNER) -> None:
        self.rules = game.make_rules(options)
        self.game, self.options, self.num_games = game, options, num_games
        self.num_players: int = options.num_players
        self.bots = list(bots)
        self.seats = np.full((num_games, self.num_players), seats, np.int32)
        self.states = game.new_states(num_games)
        # A blank state is no game: nobody is to act in it until it is dealt.
        self.states["actor"], self.states["phase"] = -1, game.FINISHED
        self.decisions = np.zeros((num_games, self.num_players), np.int64)
        self.last_actions = np.full(num_games, -1, np.int64)
        self._streams = np.zeros((num_games, self.num_players), np.uint64)
        self._all = np.arange(num_games)
        self._num_actions = game.num_actions(options)

    @property
    def actors(self) -> NDArray[np.int32]:
        """Who decides next in each game (i4 [B]); -1 when the game is finished or not dealt."""
        actors: NDArray[np.int32] = self.states["actor"]
        return actors

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which games are finished, or not dealt yet (bool [B])."""
        return self.actors < 0

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """Which games wait for a learner (bool [B])."""
        waits: NDArray[np.bool_] = ~self.finished & (self._players() == LEARNER)
        return waits

    def deal(self, rows: ArrayLike, seeds: ArrayLike) -> None:
        """Begin new games.

        Args:
            rows: which games (int [K]).
            seeds: one for each (u8 [K]); they settle the deal and everything that bots and the game draw at random.
        """
        rows, seeds = np.atleast_1d(np.asarray(rows)), np.atleast_1d(np.asarray(seeds, np.uint64))
        states = self.game.new_states(len(rows))
        self.game.deal(self.rules, states, seeds)
        self._put(rows, states)
        self.decisions[rows] = 0
        self.last_actions[rows] = -1
        self._streams[rows] = bots_streams(seeds, self.num_players)

    def play_on(self) -> None:
        """Play every game until it waits for a learner or is finished."""
        while self.play_round():
            pass

    def play_round(self) -> bool:
        """Let bots decide once in every game where a bot is to act; tell whether there was one.

        Raises:
            IllegalAction: a bot chose an illegal action; no game of this round has moved.
            MatchError: a bot returned something else than one integer for each game; no game has moved.
        """
        players = self._players()
        rows = np.flatnonzero((players >= 0) & ~self.finished)
        if not len(rows):
            return False
        # Sorted by bot, every bot's rows are one slice.
        rows = rows[np.argsort(players[rows], kind="stable")]
        players = players[rows]
        states, seeds, actors = self._take(rows), self.decision_seeds(rows), self.actors[rows]
        actions, taken = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.uint8)
        starts = [0, *(np.flatnonzero(np.diff(players)) + 1).tolist(), len(rows)]
        for start, end in pairwise(starts):
            part = slice(start, end)
            actions[part] = self._ask(self.bots[players[start]], states[part], seeds[part].copy())
        self.game.step(self.rules, states, actions, taken)
        if not taken.all():
            raise self._illegal(rows, players, states, actions, taken)
        self._put(rows, states)
        self.decisions[rows, actors] += 1
        self.last_actions[rows] = actions
        return True

    def step(self, rows: ArrayLike, actions: ArrayLike) -> NDArray[np.bool_]:
        """Take learners' decisions; bots do not answer before `play_on`.

        Args:
            rows: games that wait (int [K]).
            actions: one for each (int [K]).

        Returns:
            Which were legal (bool [K]); where one was not, the game has not changed; in a finished game none is.

        Raises:
            MatchError: a bot is to act in one of the games; nothing has changed.
        """
        rows, actions = np.atleast_1d(np.asarray(rows)), np.atleast_1d(np.asarray(actions, np.int64))
        if not (self.waiting | self.finished)[rows].all():
            raise MatchError("a bot is to act there, not a learner: call play_on() first")
        states, taken, actors = self._take(rows), np.zeros(len(rows), np.uint8), self.actors[rows]
        self.game.step(self.rules, states, actions, taken)
        self._put(rows, states)
        self.decisions[rows, actors] += taken
        self.last_actions[rows] = np.where(taken, actions, self.last_actions[rows])
        return taken.astype(np.bool_)

    def views(self, rows: ArrayLike, seats: ArrayLike | None = None) -> NDArray[np.void]:
        """Give what one seat knows in each of some games (VIEW [K]).

        Args:
            rows: which games (int [K]).
            seats: whose view (int [K] or one number); default: whoever is to act (seat 0 where the game is finished).
        """
        rows = np.atleast_1d(np.asarray(rows))
        whose = np.maximum(self.actors[rows], 0) if seats is None else seats
        views = np.zeros(len(rows), self.game.VIEW)
        self.game.view(self.rules, self._take(rows), np.full(len(rows), whose, np.int64), views)
        return views

    def legal(self, rows: ArrayLike) -> NDArray[np.uint8]:
        """Give the legal actions of whoever is to act in each of some games (u1 [K, A]); zeros where the game is finished."""
        rows = np.atleast_1d(np.asarray(rows))
        legal = np.zeros((len(rows), self._num_actions), np.uint8)
        self.game.legal(self.rules, self._take(rows), legal)
        return legal

    def outcome(self, rows: ArrayLike | None = None) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Give rewards (f8 [K, P]), terminated and truncated (bool [K, P] both) of some games; default: of all."""
        rows = self._all if rows is None else np.atleast_1d(np.asarray(rows))
        rewards = np.zeros((len(rows), self.num_players))
        terminated, truncated = np.zeros((2, *rewards.shape), np.uint8)
        self.game.outcome(self.rules, self._take(rows), rewards, terminated, truncated)
        return rewards, terminated.astype(np.bool_), truncated.astype(np.bool_)

    def decision_seeds(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Give the random bits that belong to the next decision of some games (u8 [K])."""
        actors = self.actors[rows]
        number = self.decisions[rows, actors].astype(np.uint64) + np.uint64(1)
        return mixed_rows(self._streams[rows, actors] + number * GAMMA)

    def _take(self, rows: Any) -> Records:
        states: Records = opaque(self.states)[rows].view(self.states.dtype)
        return states

    def _put(self, rows: Any, states: Records) -> None:
        opaque(self.states)[rows] = opaque(states)

    def _players(self) -> NDArray[np.int32]:
        """Number of the bot to act in each game (i4 [B]); meaningless where the game is finished."""
        return self.seats[self._all, self.actors]

    def _look(self, states: Records) -> tuple[Records, NDArray[np.uint8]]:
        """Views and legal actions of those to act, in arrays of their own: a buffer would hold what others have seen."""
        views, legal = np.zeros(len(states), self.game.VIEW), np.zeros((len(states), self._num_actions), np.uint8)
        self.game.view(self.rules, states, states["actor"].astype(np.int64), views)
        self.game.legal(self.rules, states, legal)
        return views, legal

    def _ask(self, bot: Bot, states: Records, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Let a bot decide in some games."""
        chosen = np.asarray(bot.act(*self._look(states), seeds))
        if chosen.shape != (len(states),) or chosen.dtype.kind not in "iu":
            got = f"{chosen.dtype} of shape {chosen.shape}"
            raise MatchError(f"bot {bot.name!r} must return one action for each game, integers of shape {(len(states),)}, but returned {got}")
        return chosen.astype(np.int64)

    def _illegal(self, rows: Any, players: Any, states: Any, actions: Any, taken: Any) -> IllegalAction:
        """Say in the game's words what the first bot whose action was refused has done."""
        at = int(np.flatnonzero(taken == 0)[0])
        player = f"bot {self.bots[players[at]].name!r} in seat {states['actor'][at]} of game {rows[at]}"
        try:
            action = action_number(int(actions[at]), self._num_actions)
        except IllegalAction as error:
            return IllegalAction(f"{player}: {error}")
        return refusal(self.game, self.options, action, self._look(states[at : at + 1])[1][0], player)


# --- matches ---


def num_rotations(seats: Sequence[Any]) -> int:
    """Count the rotations of a seat list that differ: 3 for a, b, b; 2 for a, b, a, b; 1 for copies of one player."""
    seats = list(seats)
    return next(k for k in range(1, len(seats) + 1) if seats[k:] + seats[:k] == seats)


def make_players(game: Game, options: Any, seats: Sequence[Any], greedy: bool = False) -> list[Bot]:
    """Turn names of bots and policy files into players, every different text or object once.

    Args:
        game: a game module.
        options: its options.
        seats: names, files or players; a player with a method `seated(options)` is asked for one that plays under these options.
        greedy: whether policies of files take their best action instead of drawing one by its probability.

    Raises:
        ValueError: no such bot or file, one that cannot play with these options, or no player; the message says which.
    """
    keys = [os.fspath(seat) if isinstance(seat, (str, os.PathLike)) else id(seat) for seat in seats]
    made = {key: _player(game, options, seat, greedy) for key, seat in dict(zip(keys, seats, strict=True)).items()}
    return [made[key] for key in keys]


def _player(game: Game, options: Any, seat: Any, greedy: bool) -> Any:
    if isinstance(seat, (str, os.PathLike)):
        return make_player(os.fspath(seat), options, game, greedy)
    if isinstance(seat, type) or not isinstance(getattr(seat, "name", None), str) or not callable(getattr(seat, "act", None)):
        raise MatchError(f"a player is the name of a bot, a policy file, or an object with a name and a method act(views, legal, seeds), got {seat!r}")
    return seat.seated(options) if hasattr(seat, "seated") else seat


def play_match(
    game: Game,
    options: Any,
    seats: Sequence[str | Bot],
    num_deals: int,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
    batch_size: int = 512,
    names: Sequence[str] | None = None,
    greedy: bool = False,
) -> MatchResult:
    """Play deals in every rotation of the seats and sum up.

    In rotation ``r`` the ``i``-th of the list sits in seat ``i + r`` (mod P); who sits to whose left stays. Rotations that would
    repeat the same table are left out. Neither `progress` nor `batch_size` changes the result.

    Args:
        game: a game module.
        options: its options; ``num_players`` is the number of seats.
        seats: names of bots, policy files, or players (P of them); the same text or object is one entry of the result.
        num_deals: how many deals; each is played `num_rotations` times.
        seed: settles the deals and the bots' random choices, 0 to 2**64 - 1.
        progress: is called with the number of games finished since the last call.
        batch_size: games played at once.
        names: of the seats, in the result; default: the texts, or the players' own names.
        greedy: see `make_players`.

    Raises:
        MatchError: the number of seats, deals or the seed is wrong.
        ValueError: a name or file is not known, or these are no options.
    """
    game.make_rules(options)  # first of all: it refuses what are no options
    _check_match(options, seats, names, {"num_deals": num_deals, "batch_size": batch_size, "seed": seed})
    players = make_players(game, options, seats, greedy)
    entries = list({id(player): player for player in players}.values())
    numbers = [entries.index(player) for player in players]
    rotations = num_rotations(numbers)
    tables = np.array([np.roll(numbers, r) for r in range(rotations)], np.int32)
    games = FinishedGames.blank(np.tile(tables, (num_deals, 1)))
    seeds = mixed_rows(mixed_rows(np.array([seed], np.uint64)) + np.arange(num_deals, dtype=np.uint64) * GAMMA)
    table = Table(game, options, min(batch_size, num_deals * rotations), entries)
    _play_all(table, np.repeat(seeds, rotations), games, progress)
    called = _entry_names(names or [_name(seat) for seat in seats], [numbers.index(number) for number in range(len(entries))])
    named_seats = tuple(called[number] for number in numbers)
    facts = {"game": game.NAME, "options": asdict(options), "seats": named_seats, "seed": int(seed)}
    return sum_up(games, called, **facts, deals=num_deals, rotations=rotations, games=num_deals * rotations)


def evaluate(
    game: Game,
    options: Any,
    player: str | Bot,
    baselines: Sequence[str | Bot],
    num_deals: int,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
    greedy: bool = False,
) -> list[MatchResult]:
    """Let a player (a bot's name, a policy file or a player) play a match against a table full of each baseline.

    The player is the first entry of every result; the deals are the same for all baselines. See `play_match`.
    """
    game.make_rules(options)  # see `play_match`
    # Made apart, so that a player and a baseline of the same name are two entries.
    mine, others = make_players(game, options, [player], greedy)[0], make_players(game, options, baselines, greedy)
    copies = options.num_players - 1
    seated = [([mine] + [bot] * copies, [_name(player)] + [_name(baseline)] * copies) for bot, baseline in zip(others, baselines, strict=True)]
    return [play_match(game, options, seats, num_deals, seed, progress, names=names) for seats, names in seated]


def _check_match(options: Any, seats: Sequence[Any], names: Sequence[str] | None, numbers: dict[str, Any]) -> None:
    for what, given in (("seats", seats), ("names", seats if names is None else names)):
        if len(given) != options.num_players:
            raise MatchError(f"a game for {options.num_players} players needs {options.num_players} {what}, got {len(given)}")
    for name, number in numbers.items():
        least = 0 if name == "seed" else 1
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not least <= number < 2**64:
            raise MatchError(f"{name} must be an integer from {least} to 2**64 - 1, got {number!r}")


def _name(seat: Any) -> str:
    return os.fspath(seat) if isinstance(seat, (str, os.PathLike)) else str(seat.name)


def _entry_names(names: Sequence[str], first_seats: Sequence[int]) -> list[str]:
    """Names of the entries by the first seat of each; different players with one name are numbered."""
    called: list[str] = []
    for at, seat in enumerate(first_seats):
        copies = sum(names[other] == names[seat] for other in first_seats[:at])
        called.append(f"{names[seat]} #{copies + 1}" if copies else names[seat])
    return called


def _play_all(table: Table, seeds: NDArray[np.uint64], games: FinishedGames, progress: Callable[[int], object] | None) -> None:
    """Play one game for each seed (u8 [B]), keeping the table full, and fill in the record."""
    rows = np.arange(table.num_games)
    playing, dealt = rows.copy(), len(rows)
    table.seats[:] = games.seats[:dealt]
    table.deal(rows, seeds[:dealt])
    while len(rows):
        table.play_round()
        done = rows[table.finished[rows]]
        if not len(done):
            continue
        _note(table, done, playing[done], games)
        fresh = done[: len(seeds) - dealt]
        playing[fresh] = np.arange(dealt, dealt + len(fresh))
        dealt += len(fresh)
        table.seats[fresh] = games.seats[playing[fresh]]
        table.deal(fresh, seeds[playing[fresh]])
        rows = np.setdiff1d(rows, done[len(fresh) :])
        if progress is not None:
            progress(len(done))


def _note(table: Table, rows: NDArray[np.int64], at: NDArray[np.int64], games: FinishedGames) -> None:
    """Enter finished games into the record."""
    states, players = table.states[rows], table.num_players
    place, accused = states["place"][:, :players], states["accused"][:, :players]
    games.first[at] = place == 1
    games.wrong[at] = (accused != 0) & (place == 0)
    games.turns[at] = states["turn_number"]
    games.rewards[at], _, truncated = table.outcome(rows)
    games.truncated[at] = truncated.any(axis=1)
