"""Tournaments: everybody against everybody, over equal deals.

Every deal is played at the same tables:

- for each two players, in every rotation of the seats that differs, a table with one of the first
  among copies of the second, one with one of the second among copies of the first, and such with
  half of each;
- from three players on, tables of all of them. They are drawn into a circle, and each table is as
  long a part of it as it has seats. A circle has as many parts as players, so that each player has
  each seat once. It is played in both directions, which exchanges everybody's neighbours.

The games are played in shards, which depend on the tournament alone: the numbers are the same
whoever plays them, and in whatever order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..checks import check_number, check_path, is_collection, shown
from ..files import digest_of
from ..game import Game, check_game, check_options, load_game
from ..memory import check_fits
from .crosstable import TournamentResult, sum_up_tournament
from .match import deal_seeds, play_games
from .neighbours import search_current_folder
from .players import make_players, sources_of
from .program import names_program
from .rating import FinishedGames
from .schedule import Plan, Shard, deals_of, games_a_deal, make_shards, seats_of
from .seating import MatchError
from .shards import check_workers, open_pool
from .table import Table
from .tournament_file import KeptGames, Played

MOST_DEALS = 10**7
# Bytes, about, of what is known of a game for each seat, and of a deal of a pair besides.
SEAT_SIZE = 40
DEAL_SIZE = 1500
BATCH_SIZE = 512


def play_tournament(
    game: Game,
    options: Any,
    players: Sequence[str | os.PathLike[str]],
    num_deals: int,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
    greedy: bool = False,
    allow_pickle: bool = False,
    keep: str | os.PathLike[str] | None = None,
    workers: int = 1,
    ray: str | None = None,
) -> TournamentResult:
    """Let every player play against every other, and all of them together.

    Neither `progress`, `keep`, `workers` nor `ray` changes the result.

    Args:
        game: a game module.
        options: its options; ``num_players`` is the number of seats.
        players: names of bots, policy files and players in Python files: two or more, each once.
        num_deals: number of deals; each is played at every table, see `games_a_deal`.
        seed: settles the deals, who sits at the tables of all, and the bots' random choices, 0 to
            2**64 - 1.
        progress: is called with the number of games finished since the last call.
        greedy: see `make_players`.
        allow_pickle: see `make_player`.
        keep: a file in which games are kept as they are played; what it has already is not played
            again.
        workers: number of processes that play, see `open_pool`.
        ray: address of a Ray cluster that plays, see `open_pool`.

    Raises:
        MatchError: these are not players, or numbers; what is kept is of another tournament; or the
            file of a player has changed meanwhile.
        ValueError: a name or file is not known, or these are not options.
        OSError: the games cannot be kept, or workers cannot be started.

    >>> from sleuth_env import Options, play_tournament, sleuth
    >>> result = play_tournament(sleuth, Options(num_players=3), ["random", "cautious", "sheet"], num_deals=5)
    >>> result.games, result.share("sheet", "random").share > 0.9
    (120, True)
    """
    check_game(game)
    check_options(game, options)
    if progress is not None and not callable(progress):
        raise MatchError(f"progress must be a function of a number of games, or None, got {shown(progress)}")
    names = _names(players)
    check_number("num_deals", num_deals, 1, MOST_DEALS, MatchError)
    check_number("seed", seed, 0, 2**64 - 1, MatchError)
    check_workers(workers)
    pairs = len(names) * (len(names) - 1) // 2
    of_a_pair, of_all = games_a_deal(len(names), options.num_players)
    size = (pairs * of_a_pair + of_all) * options.num_players * SEAT_SIZE + (pairs + 1) * DEAL_SIZE
    check_fits("num_deals", int(num_deals), size, MatchError)
    # Only so that what cannot play is refused before a game.
    make_players(game, options, names, greedy, allow_pickle)
    # A program may write a file that its command names, which matters to nobody where no games are kept.
    digests = tuple("" if keep is None and names_program(name) else _digest(name, game) for name in names)
    plan = Plan(game.__name__, options, names, digests, int(seed), greedy, allow_pickle)
    kept = KeptGames(plan, None if keep is None else check_path("keep", keep, MatchError))
    missing = make_shards(plan, int(num_deals), kept.played)

    def note(index: int, played: Played) -> None:
        """Keep the games of a shard."""
        kept.add(missing[index], played)
        if progress is not None:
            progress(len(played.places))

    wanted = [deal for shard in make_shards(plan, int(num_deals)) for deal in deals_of(shard)]
    if progress is not None:
        progress(sum(len(kept.played[deal].places) for deal in wanted if deal in kept.played))
    if missing:
        with open_pool(workers, ray) as pool:
            pool.map(partial(play_shard, plan), missing, note)
    return sum_up_tournament(plan, game.NAME, int(num_deals), {deal: kept.played[deal] for deal in wanted})


def play_shard(plan: Plan, shard: Shard) -> Played:
    """Play the games of a shard.

    Raises:
        MatchError: the file of a player has changed.
    """
    # A game or a player may be a module of the folder in which the command was given.
    search_current_folder()
    game = load_game(plan.module)
    seats = seats_of(plan, shard)
    numbers = np.unique(seats).tolist()
    for number in numbers:
        if plan.digests[number] and _digest(plan.players[number], game) != plan.digests[number]:
            raise MatchError(f"the file of the player {plan.players[number]} has changed since the tournament began")
    names = [plan.players[number] for number in numbers]
    bots = make_players(game, plan.options, names, plan.greedy, plan.allow_pickle)
    games = FinishedGames.blank(np.searchsorted(numbers, seats).astype(np.int32))
    seeds = deal_seeds(plan.seed, shard.end)[shard.first :]
    table = Table(game, plan.options, min(BATCH_SIZE, len(seats)), bots)
    play_games(table, np.repeat(seeds, len(seats) // len(seeds)), games)
    return Played(games.places, games.rewards, games.truncated, tuple(games.failures))


def _names(players: Any) -> tuple[str, ...]:
    if not is_collection(players) or not all(isinstance(player, (str, os.PathLike)) for player in players):
        raise MatchError(f"the players of a tournament are a list of names and files, got {shown(players)}")
    names = tuple(os.fspath(player) for player in players)
    if len(names) < 2:
        raise MatchError(f"a tournament needs two players or more, got {len(names)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise MatchError(f"the player {twice} is given twice: each takes part once, and fills several seats itself")
    return names


def _digest(name: str, game: Game) -> str:
    """Return the hash of the file that a player is read from, of a program those of all; empty where there is none."""
    try:
        return " ".join(map(digest_of, sources_of(name, game)))
    except OSError as error:
        raise MatchError(f"the file of the player {name} cannot be read: {error.strerror or error}") from error
