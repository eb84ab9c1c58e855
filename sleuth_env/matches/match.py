"""Matches over equal deals.

`play_match` lets a list of players play the same deals in every rotation of the seats, so that the
luck of the deal and of the seat cancels; `evaluate` seats one player against tables full of each baseline.
Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bits import GAMMA, mixed_rows
from ..checks import check_number, is_collection, shown, takes
from ..game import TRUNCATED, Game, Transcribed, check_game, check_options, needed, opaque
from ..memory import check_fits
from .players import Player, make_players
from .program import close_programs, failures_of
from .rating import FinishedGames, MatchResult, sum_up
from .seating import MatchError
from .shards import Pool, check_workers, open_pool
from .table import Table
from .tasks import packed

# What is done with a game that is over: its number, its text, and who sat in each seat.
Save = Callable[[int, str, list[str]], object]
Keep = Callable[[int, str], object]
BATCH_SIZE = 512
# A match has this many shards, unless their games would be too few to fill a table or more than a worker
# should lose: many shards leave no worker without work at the end.
SHARDS = 32
LEAST_GAMES = 192
MOST_GAMES = 2048


def num_rotations(seats: Sequence[Any]) -> int:
    """Return the number of rotations of a seat list that differ.

    >>> num_rotations("abb"), num_rotations("abab"), num_rotations("aaa")
    (3, 2, 1)
    """
    seats = list(seats)
    return next(k for k in range(1, len(seats) + 1) if seats[k:] + seats[:k] == seats)


def play_match(
    game: Game,
    options: Any,
    seats: Sequence[Player],
    num_deals: int,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
    batch_size: int = BATCH_SIZE,
    names: Sequence[str] | None = None,
    greedy: bool = False,
    allow_pickle: bool = False,
    workers: int = 1,
    ray: str | None = None,
    save: Save | None = None,
) -> MatchResult:
    """Play deals in every rotation of the seats and sum up.

    In rotation ``r`` the ``i``-th of the list sits in seat ``i + r`` (mod P); who sits to whose
    left stays. Rotations that would repeat the same table are left out. None of `progress`,
    `batch_size`, `workers`, `ray` and `save` changes the result.

    Args:
        game: a game module.
        options: its options; ``num_players`` is the number of seats.
        seats: names of bots, policy files, or players (P of them); the same text or object is one
            entry of the result.
        num_deals: number of deals; each is played `num_rotations` times.
        seed: settles the deals and the bots' random choices, 0 to 2**64 - 1.
        progress: is called with the number of games finished since the last call.
        batch_size: games played at once.
        names: of the seats, in the result; default: the texts, or the players' own names.
        greedy: see `make_players`.
        allow_pickle: see `make_player`.
        workers: number of processes; 1 is this one. Players go to the others by pickle; each of
            them plays whole deals, and where it is killed another one plays them again.
        ray: see `open_pool`.
        save: is called with each game that is over, in any order: its number (that of its deal times
            the number of rotations, and its rotation), its game text, which shows every hidden card,
            and the name of the player in each seat.

    Raises:
        MatchError: the number of seats, deals or workers or the seed is wrong, or a player cannot
            be pickled.
        MissingPartError: games are to be saved, and the game cannot be written as text.
        ValueError: a name or file is not known, or these are not options.

    >>> from sleuth_env import Options, play_match, sleuth
    >>> result = play_match(sleuth, Options(num_players=3), ["sheet", "random", "random"], num_deals=20)
    >>> result.games, result.entries[0].name, result.entries[0].win_share > 0.9
    (60, 'sheet', True)
    """
    # First of all: these refuse what is not a game, or not its options.
    check_game(game)
    check_options(game, options)
    numbers = {"num_deals": num_deals, "batch_size": batch_size, "seed": seed}
    _check_match(options, seats, names, numbers, progress)
    check_workers(workers)
    players = make_players(game, options, seats, greedy, allow_pickle)
    texts = [_name(seat) for seat in seats] if names is None else list(names)
    if save is not None:
        if not takes(save, 3):
            raise MatchError(f"save must be a function save(number, text, names), or None, got {shown(save)}")
        needed(game, Transcribed)
    with _pool(workers, ray) as pool:
        return _match(pool, game, options, players, texts, int(num_deals), int(seed), progress, int(batch_size), save)


def evaluate(
    game: Game,
    options: Any,
    player: Player,
    baselines: Sequence[Player],
    num_deals: int,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
    greedy: bool = False,
    allow_pickle: bool = False,
    workers: int = 1,
    ray: str | None = None,
    pool: Pool | None = None,
) -> list[MatchResult]:
    """Let a player play a match against a table full of each baseline.

    The player (a bot's name, a policy file or an object) is the first entry of every result; the
    deals are the same for all baselines. See `play_match`; a `pool` that is open already plays instead
    of `workers` and `ray`.
    """
    check_game(game)  # see `play_match`
    check_options(game, options)
    check_workers(workers)
    # Made apart, so that a player and a baseline of the same name are two entries.
    mine = make_players(game, options, [player], greedy, allow_pickle)[0]
    others = make_players(game, options, baselines, greedy, allow_pickle)
    copies = options.num_players - 1
    seated = [
        ([mine] + [bot] * copies, [_name(player)] + [_name(baseline)] * copies)
        for bot, baseline in zip(others, baselines, strict=True)
    ]
    for players, names in seated:
        _check_match(options, players, names, {"num_deals": num_deals, "seed": seed}, progress)
    with _pool(workers, ray) if pool is None else nullcontext(pool) as who:
        return [
            _match(who, game, options, players, names, int(num_deals), int(seed), progress) for players, names in seated
        ]


def _check_match(
    options: Any, seats: Sequence[Any], names: Sequence[str] | None, numbers: dict[str, Any], progress: Any
) -> None:
    if progress is not None and not callable(progress):
        raise MatchError(f"progress must be a function of a number of games, or None, got {shown(progress)}")
    for what, given in (("seats", seats), ("names", seats if names is None else names)):
        if not is_collection(given) or not hasattr(given, "__len__") or isinstance(given, Mapping):
            raise MatchError(f"{what} must be a list of {options.num_players}, got {shown(given)}")
        if len(given) != options.num_players:
            raise MatchError(
                f"a game for {options.num_players} players needs {options.num_players} {what}, got {len(given)}"
            )
    if names is not None and not all(isinstance(name, str) for name in names):
        raise MatchError(f"names must be texts, got {shown(names)}")
    for name, number in numbers.items():
        check_number(name, number, 0 if name == "seed" else 1, 2**64 - 1, MatchError)


def _name(seat: Any) -> str:
    return os.fspath(seat) if isinstance(seat, (str, os.PathLike)) else str(seat.name)


def _entry_names(names: Sequence[str], first_seats: Sequence[int]) -> list[str]:
    """Return the names of the entries by the first seat of each; different players with one name are numbered."""
    called: list[str] = []
    for at, seat in enumerate(first_seats):
        copies = sum(names[other] == names[seat] for other in first_seats[:at])
        called.append(f"{names[seat]} #{copies + 1}" if copies else names[seat])
    return called


def _pool(workers: int, ray: str | None) -> AbstractContextManager[Pool | None]:
    """Return who plays the shards of matches; None where this process plays everything at once."""
    return nullcontext() if workers == 1 and ray is None else open_pool(workers, ray)


def _match(
    pool: Pool | None,
    game: Game,
    options: Any,
    players: list[Any],
    texts: list[str],
    num_deals: int,
    seed: int,
    progress: Callable[[int], object] | None,
    batch_size: int = BATCH_SIZE,
    save: Save | None = None,
) -> MatchResult:
    """Play a match of players that have been made, see `play_match`."""
    entries = list({id(player): player for player in players}.values())
    numbers = [entries.index(player) for player in players]
    rotations = num_rotations(numbers)
    tables = np.array([np.roll(numbers, r) for r in range(rotations)], np.int32)
    check_fits("num_deals", num_deals, FinishedGames.blank(tables).size, MatchError)
    called = _entry_names(texts, [numbers.index(number) for number in range(len(entries))])
    seats = np.tile(tables, (num_deals, 1))
    seeds = np.repeat(deal_seeds(seed, num_deals), rotations)
    keep = None if save is None else lambda at, text: save(at, text, [called[number] for number in seats[at]])
    if pool is None:
        games = _played(game, options, entries, batch_size, (seats, seeds), progress, keep)
    else:
        play = partial(_played_apart, game, options, entries, batch_size, keep is not None)
        for name, player in zip(called, entries, strict=True):
            packed(player, f"player {name!r}")
        size = shard_size(num_deals, rotations) * rotations
        games = _played_in_shards(pool, play, seats, seeds, size, progress, keep)
    named_seats = tuple(called[number] for number in numbers)
    facts = {"game": game.NAME, "options": asdict(options), "seats": named_seats, "seed": seed}
    return sum_up(games, called, **facts, deals=num_deals, rotations=rotations, games=num_deals * rotations)


def shard_size(num_deals: int, rotations: int) -> int:
    """Return the number of deals of a shard, which depends on the match alone.

    >>> shard_size(20, 3), shard_size(100, 3), shard_size(100_000, 3)
    (20, 50, 681)
    """
    games = num_deals * rotations
    size = min(max(LEAST_GAMES, -(-games // SHARDS)), MOST_GAMES)
    return -(-num_deals // -(-games // size))


def _played_in_shards(
    pool: Pool,
    play: Callable[[Any], FinishedGames],
    seats: NDArray[np.int32],
    seeds: NDArray[np.uint64],
    size: int,
    progress: Callable[[int], object] | None,
    keep: Keep | None,
) -> FinishedGames:
    """Let a pool play games, see `_played`, a number of them together."""
    starts = range(0, len(seeds), size)
    shards = [(seats[start : start + size], seeds[start : start + size]) for start in starts]

    def done(index: int, games: FinishedGames) -> None:
        if keep is not None:
            for at, text in enumerate(games.texts, starts[index]):
                keep(at, text)
            games.texts.clear()
        if progress is not None:
            progress(len(games.seats))

    return FinishedGames.joined(pool.map(play, shards, done))


def _played(
    game: Game,
    options: Any,
    entries: list[Any],
    batch_size: int,
    shard: tuple[NDArray[np.int32], NDArray[np.uint64]],
    progress: Callable[[int], object] | None = None,
    keep: Keep | None = None,
) -> FinishedGames:
    """Play games and return their record.

    Args:
        game: a game module.
        options: its options.
        entries: who plays.
        batch_size: the most games at once.
        shard: the numbers of the entries in the seats (i4 [B, P]), and the seeds (u8 [B]).
        progress: see `play_match`.
        keep: is called with the number and the text of each game that is over.
    """
    seats, seeds = shard
    table = Table(game, options, min(batch_size, len(seeds)), entries)
    games = FinishedGames.blank(seats)
    play_games(table, seeds, games, progress, keep)
    return games


def _played_apart(
    game: Game,
    options: Any,
    entries: list[Any],
    batch_size: int,
    written: bool,
    shard: tuple[NDArray[np.int32], NDArray[np.uint64]],
) -> FinishedGames:
    """Play games in another process, see `_played`; if they are to be ``written``, the record has their texts."""
    texts = [""] * len(shard[1])
    games = _played(game, options, entries, batch_size, shard, None, texts.__setitem__ if written else None)
    games.texts.extend(texts if written else [])
    return games


def deal_seeds(seed: int, num_deals: int) -> NDArray[np.uint64]:
    """Return the seed of each deal (u8 [deals]); more deals begin with the same ones."""
    return mixed_rows(mixed_rows(np.array([seed], np.uint64)) + np.arange(num_deals, dtype=np.uint64) * GAMMA)


class Scribe:
    """Write down the games of a table.

    Args:
        table: the table.
        keep: is called with the number and the text of each game that is over.
    """

    def __init__(self, table: Table, keep: Keep) -> None:
        self._table = table
        self._keep = keep
        self._first = table.states.copy()
        self._actions: list[list[int]] = [[] for _ in range(table.num_games)]

    def begin(self, rows: NDArray[np.int64]) -> None:
        """Begin to write about games that have been dealt (int [K])."""
        opaque(self._first)[rows] = opaque(self._table.states)[rows]
        for row in rows.tolist():
            self._actions[row] = []

    def note(self, rows: NDArray[np.int64]) -> None:
        """Take note of the last action of some games (int [K])."""
        for row, action in zip(rows.tolist(), self._table.last_actions[rows].tolist(), strict=True):
            self._actions[row].append(action)

    def end(self, rows: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Hand on the texts of games that are over (int [K]), with their numbers (int [K])."""
        game = needed(self._table.game, Transcribed)
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            self._keep(number, game.game_text(self._table.options, self._first[row], self._actions[row]))


def play_games(
    table: Table,
    seeds: NDArray[np.uint64],
    games: FinishedGames,
    progress: Callable[[int], object] | None = None,
    keep: Keep | None = None,
) -> None:
    """Play one game for each seed (u8 [B]), keeping the table full, and fill in the record; see `_played`."""
    try:
        _play_all(table, seeds, games, progress, keep)
        games.failures.extend(failures_of(table.bots))
    finally:
        close_programs(table.bots)


def _play_all(
    table: Table,
    seeds: NDArray[np.uint64],
    games: FinishedGames,
    progress: Callable[[int], object] | None,
    keep: Keep | None,
) -> None:
    rows = np.arange(table.num_games)
    playing = rows.copy()
    dealt = len(rows)
    table.seats[:] = games.seats[:dealt]
    table.deal(rows, seeds[:dealt])
    scribe = None if keep is None else Scribe(table, keep)
    while len(rows):
        table.play_round()
        if scribe is not None:
            scribe.note(rows)
        done = rows[table.finished[rows]]
        if not len(done):
            continue
        _note(table, done, playing[done], games)
        if scribe is not None:
            scribe.end(done, playing[done])
        fresh = done[: len(seeds) - dealt]
        playing[fresh] = np.arange(dealt, dealt + len(fresh))
        dealt += len(fresh)
        table.seats[fresh] = games.seats[playing[fresh]]
        table.deal(fresh, seeds[playing[fresh]])
        if scribe is not None:
            scribe.begin(fresh)
        rows = np.setdiff1d(rows, done[len(fresh) :])
        if progress is not None:
            progress(len(done))


def _note(table: Table, rows: NDArray[np.int64], at: NDArray[np.int64], games: FinishedGames) -> None:
    """Enter finished games into the record."""
    games.places[at] = table.standings(rows)
    games.rewards[at] = table.returns[rows]
    games.truncated[at] = table.ends(rows) == TRUNCATED
    games.note_counts(at, table.game.counts(table.rules, table.states[rows]))
