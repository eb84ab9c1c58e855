"""A batch of games, some seats played by bots, the others left to learners.

Bots are asked in batches. A table knows bots as objects and nothing of names and files (see `players`).
Players may remember games (`seating.Remembering`): each seat is then played by a copy of its own.
Axis letters: ``B`` games, ``K`` some of them, ``P`` seats, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from operator import is_not
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..actions import IllegalAction, any_refusal
from ..bits import GAMMA, mixed_rows
from ..checks import check_number, is_collection, shown
from ..doors import ANY, ArrayError, array, described, marks, shape_of, unchecked
from ..game import (
    NO_ACTION,
    NOBODY,
    Game,
    Kernels,
    OfGame,
    Records,
    check_game,
    check_options,
    kernels_of,
    opaque,
    playing_of,
)
from ..memory import check_fits
from .seating import Copies, MatchError, Player, checked_actions, remembers, seated

# In the place of a bot's number: a seat that nobody at the table plays.
LEARNER_SEAT = NOBODY
# Bytes of what bots keep between calls: what does not fit into the caches of a processor makes them no faster.
MOST_MEMORY = 2**23
# The most decisions in each game that bots take in one call of a kernel: in between an interrupt is heard.
PORTION = 64


def _listed(numbers: Any) -> Any:
    """Return some numbers, or the only one as a list."""
    return numbers if shape_of(numbers) else [numbers]


def bots_streams(seeds: NDArray[np.uint64], num_players: int) -> NDArray[np.uint64]:
    """Return the stream of random bits of each seat (u8 [K, P]) in games with these seeds (u8 [K]).

    Hashed one way, and one for each seat: a bot can go back from the bits that it is handed to its
    stream, but must find neither the seed, which would tell it the deal, nor the bits of others,
    which would tell it what they do.
    """
    digests = [blake2b(seed.tobytes(), digest_size=8 * num_players, person=b"sleuth bots").digest() for seed in seeds]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, num_players)


def bytes_of_game(game: Game, options: Any) -> int:
    """Return about how many bytes a game of a batch takes: its state, a view, a mask, an observation."""
    size: int = game.observation_layout(options, game.CHEAPEST_RECORD).size
    records: int = np.dtype(game.STATE).itemsize + np.dtype(game.VIEW).itemsize
    return int(records + 2 * game.num_actions(options) + np.dtype(np.float32).itemsize * size)


class Table(OfGame):
    """Play a batch of games, some seats by bots, the others by learners.

    A player with a method `seated(options)` is asked for one that plays under the options. A bot's
    random bits at a decision come from the game's seed, its seat and the number of decisions
    that this seat has taken, so a game is the same in any batch. `seats` and `bots` may be changed
    between calls, for instance to draw new opponents. To be read: `states` (STATE [B]); `decisions`
    (i8 [B, P], how many each seat has taken); `last_actions` (i8 [B], -1 before the first); `returns`
    (f8 [B, P], what each seat has got since the deal); `games` (i8 [B], the number of each game: the
    games of this table are counted as they are dealt, from 0).

    Args:
        game: a game module.
        options: its options.
        num_games: B.
        bots: what the numbers in `seats` mean; may be extended later.
        seats: the bot in each seat (i4 [P] or [B, P]); `LEARNER_SEAT` (-1) is a seat that nobody
            here plays. Default: all learners.

    Raises:
        ValueError: these are not a game, its options, a number of games, players or seats.
    """

    SIZE_NAME = "num_games"  # what the number of games is called in messages

    def __init__(
        self, game: Game, options: Any, num_games: int, bots: Sequence[Player] = (), seats: ArrayLike = LEARNER_SEAT
    ) -> None:
        check_game(game)
        check_options(game, options)
        self.rules = game.make_rules(options)
        self.game = game
        self._known_kinds: tuple[list[Player], NDArray[np.int32]] = [], np.zeros(0, np.int32)
        self.options = options
        number = check_number("num_games", num_games, 1, error=MatchError)
        self.num_games = check_fits(self.SIZE_NAME, number, bytes_of_game(game, options), MatchError)
        self.num_players: int = options.num_players
        self._sit_down()
        if not is_collection(bots):
            raise MatchError(f"bots must be a list of players, got {shown(bots)}")
        self.bots = [seated(bot, options, game) for bot in bots]
        shape = (self.num_games, self.num_players)
        self.seats = np.full(shape, LEARNER_SEAT, np.int32)
        numbers = np.asarray(array("seats", seats, np.int32, shape_of(seats)))
        if numbers.shape not in ((), shape[1:], shape) or (numbers < LEARNER_SEAT).any():
            raise ArrayError(
                f"seats must be numbers of bots, or {LEARNER_SEAT} for learners, of the shape {shape[1:]} or {shape}, "
                f"got {described(seats)}"
            )
        self.seats[:] = numbers
        self.states = game.new_states(number)
        self.decisions = np.zeros((number, self.num_players), np.int64)
        self.last_actions = np.full(number, NO_ACTION)
        self.returns = np.zeros((number, self.num_players))
        self.games = np.full(number, -1, np.int64)
        self._counted = 0
        self._copies = Copies()
        self._left = np.zeros(number, np.bool_)
        self._streams = np.zeros((number, self.num_players), np.uint64)
        self._all = np.arange(number)
        self._nothing = np.full(number, NO_ACTION)
        self._num_actions = game.num_actions(options)

    @property
    def actors(self) -> NDArray[np.int32]:
        """Who decides next in each game (i4 [B]); -1 when the game is finished or not dealt."""
        actors: NDArray[np.int32] = self.states["actor"]
        return actors

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which games are finished, left, or not dealt yet (bool [B])."""
        return (self.actors < 0) | self._left

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """Which games wait for a learner (bool [B])."""
        waits: NDArray[np.bool_] = ~self.finished & (self._players() == LEARNER_SEAT)
        return waits

    def deal(self, rows: ArrayLike, seeds: ArrayLike) -> None:
        """Begin new games.

        Args:
            rows: which games (int [K]).
            seeds: one for each (u8 [K]); they settle the deal and everything that bots and the game
                draw at random.
        """
        rows = self._once(rows)
        seeds = array("seeds", _listed(seeds), np.uint64, rows.shape)
        states = self.game.new_states(len(rows))
        self._kernels.deal(self.rules, states, seeds)
        self._put(rows, states)
        self._renumber(rows)
        self.decisions[rows] = 0
        self.last_actions[rows] = -1
        self.returns[rows] = 0.0
        self._left[rows] = False
        self._streams[rows] = bots_streams(seeds, self.num_players)

    def leave(self, rows: ArrayLike) -> None:
        """Play some games no further (int [K] or bool [B]): nobody needs their ends."""
        rows = self._chosen(rows)
        self._left[rows] = True
        self._copies.forget(self.games[rows])

    def renumber(self, rows: ArrayLike) -> None:
        """Number games (int [K]) again: to players that remember they are games never seen before."""
        self._renumber(self._once(rows))

    def _renumber(self, rows: NDArray[np.int64]) -> None:
        self._copies.forget(self.games[rows])
        self.games[rows] = self._counted + np.arange(len(rows))
        self._counted += len(rows)

    def play_on(self) -> None:
        """Play every game until it waits for a learner or is finished."""
        self._play_on(self._nothing)

    def _play_on(self, first: NDArray[np.int64]) -> None:
        """Do the same after given actions, see `Playing.play_on`; without a kernel there must be none."""
        kinds = self._kinds()
        while True:
            taken, waiting = self._play_in_kernel(kinds, self._left, PORTION, first)
            while taken and waiting:
                taken, waiting = self._play_in_kernel(kinds, self._left, PORTION, self._nothing)
            if not waiting:
                return
            self._ask_round(self._bots_turns())

    def play_round(self) -> bool:
        """Let bots decide once in every game where a bot is to act; return whether there was one.

        Raises:
            IllegalAction: a bot chose an illegal action; no game of this round has moved.
            MatchError: a seat has the number of no bot, or a bot returned something else than one
                integer for each game; no game has moved.
        """
        kinds = self._kinds()
        rows = self._bots_turns()
        if not len(rows):
            return False
        players = self.seats[rows, self.actors[rows]]
        known = players.min() >= 0 and players.max() < len(kinds)
        others = rows[kinds[players] < 0] if known else rows
        # Once in every game: whoever comes after one who is asked waits.
        closed = self._left.copy()
        closed[others] = True
        if len(others):
            self._ask_round(others)
        if len(others) < len(rows):
            self._play_in_kernel(kinds, closed, 1, self._nothing)
        return True

    def _bots_turns(self) -> NDArray[np.int64]:
        """Return the games in which a bot is to act (i8 [K])."""
        rows: NDArray[np.int64] = self._is_bots_turn().nonzero()[0]
        return rows

    def _is_bots_turn(self) -> NDArray[np.bool_]:
        turns: NDArray[np.bool_] = (self._players() != LEARNER_SEAT) & ~self.finished
        return turns

    def _kinds(self) -> NDArray[np.int32]:
        """Return which bots play in a kernel, see `Playing.play_on` (i4 [N])."""
        bots, kinds = self._known_kinds
        # They are the same objects: what a foreign class says about equality does not count.
        if len(bots) != len(self.bots) or any(map(is_not, bots, self.bots)):
            kinds = np.array([self._kind(bot) for bot in self.bots], np.int32)
            self._known_kinds = [*self.bots], kinds
        return kinds

    def _kind(self, bot: Any) -> int:
        """Return a bot's place among those that play in a kernel; -1 if it is none of them."""
        # Whoever inherits from one may decide otherwise, and what is set in an object counts for its class.
        if self._playing is None or type(bot) not in self._playing.BOTS or "act" in vars(bot):
            return -1
        return self._playing.BOTS.index(type(bot)) if bot.options == self.options else -1

    def _play_in_kernel(
        self, kinds: NDArray[np.int32], closed: NDArray[np.bool_], most: int, first: NDArray[np.int64]
    ) -> tuple[int, int | np.bool_]:
        """Let bots play on in a kernel, see `Playing.play_on`; without one nothing is done."""
        if self._playing is None:
            return 0, self._is_bots_turn().any()
        going = self.actors >= 0 if self._copies else None
        played = self._playing.play_on(
            self.rules,
            self.states,
            self.seats,
            kinds,
            closed,
            first,
            self._streams,
            self.decisions,
            self.last_actions,
            self.returns,
            self._memory,
            most,
        )
        if going is not None:
            self._forget_finished(going.nonzero()[0])
        return played

    def _ask_round(self, rows: NDArray[np.int64]) -> None:
        """Ask bots in some games where they are to act (i8 [K]), once in each, see `play_round`."""
        players = self._players()[rows]
        # Sorted by bot, every bot's rows are one slice.
        order = players.argsort(kind="stable")
        rows = rows[order]
        players = players[order]
        if players[0] < 0:
            raise MatchError(f"seats must be numbers of bots, or {LEARNER_SEAT} for learners, got {players[0]}")
        if players[-1] >= len(self.bots):
            raise MatchError(f"there are {len(self.bots)} bots, and a seat of number {players[-1]}")
        states = self._take(rows)
        seeds = self._seeds_of(rows)
        actions = np.zeros(len(rows), np.int64)
        starts = [0, *((players[1:] != players[:-1]).nonzero()[0] + 1).tolist(), len(rows)]
        for start, end in pairwise(starts):
            part = slice(start, end)
            actions[part] = self._ask(self.bots[players[start]], rows[part], states[part], seeds[part].copy())
        actors = self.actors[rows]
        taken, rewards = self._step(states, actions)
        if not taken.all():
            raise self._illegal(rows, players, states, actions, taken)
        self._put(rows, states)
        self.returns[rows] += rewards
        self.decisions[rows, actors] += 1
        self.last_actions[rows] = actions
        self._forget_finished(rows)

    def remind(self, rows: ArrayLike) -> None:
        """Let players that remember decide in some games (int [K]), and take none of their actions.

        Where a game is played again by actions that are known, it gives them the memory that they
        had; other players are not asked.

        Raises:
            MatchError: a player has returned something else than one integer for each game.
        """
        rows = self._once(rows)
        players = np.where(self.finished, LEARNER_SEAT, self._players())[rows]
        for number, bot in enumerate(self.bots):
            mine = rows[players == number]
            if len(mine) and remembers(bot):
                self._ask(bot, mine, self._take(mine), self._seeds_of(mine))

    def step(self, rows: ArrayLike, actions: ArrayLike) -> NDArray[np.bool_]:
        """Take learners' decisions; bots do not answer before `play_on`.

        Args:
            rows: games that wait (int [K]).
            actions: one for each (int [K]).

        Returns:
            Which were legal (bool [K]); where one was not, the game has not changed; in a finished
            game none is.

        Raises:
            MatchError: a bot is to act in one of the games; nothing has changed.
            ArrayError: these are not games of this table, or not one action for each.
        """
        rows = self._once(rows)
        actions = array("actions", _listed(actions), np.int64, rows.shape)
        if not (self.waiting | self.finished)[rows].all():
            raise MatchError("a bot is to act there, not a learner: call play_on() first")
        return self._act(rows, actions)

    def _act(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Take learners' decisions (i8 [K]) in games that wait or are finished (i8 [K], each once), see `step`."""
        actors = self.actors[rows]
        # All in their order need not be taken out and put back.
        in_place = len(rows) == self.num_games and bool((rows == self._all).all())
        states = self.states if in_place else self._take(rows)
        taken, rewards = self._step(states, actions)
        if not in_place:
            self._put(rows, states)
        self.returns[rows] += rewards
        self.decisions[rows, actors] += taken
        self.last_actions[rows] = np.where(taken, actions, self.last_actions[rows])
        self._forget_finished(rows)
        return taken.astype(np.bool_)

    def views(self, rows: ArrayLike, seats: ArrayLike | None = None) -> NDArray[np.void]:
        """Return what one seat knows in each of some games (VIEW [K]).

        Args:
            rows: which games (int [K]).
            seats: whose view (int [K] or one number); default: whoever is to act (seat 0 where the
                game is finished).
        """
        rows = self._chosen(rows)
        whose = np.maximum(self.actors[rows], 0).astype(np.int64) if seats is None else self._seats_of(rows, seats)
        views = np.zeros(len(rows), self.game.VIEW)
        self._kernels.view(self.rules, self._take(rows), whose, views)
        return views

    def legal(self, rows: ArrayLike) -> NDArray[np.uint8]:
        """Return the legal actions of whoever is to act in each of some games (u1 [K, A]).

        They are zeros where the game is finished.
        """
        rows = self._chosen(rows)
        legal = np.zeros((len(rows), self._num_actions), np.uint8)
        self._kernels.legal(self.rules, self._take(rows), legal)
        return legal

    def ends(self, rows: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Return how some games have ended (u1 [K], see `Game.ends`); default: all."""
        states = self._some(rows)
        ended = np.zeros(len(states), np.uint8)
        self._kernels.ends(self.rules, states, ended)
        return ended

    def settled(self, rows: ArrayLike | None = None) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return whose reward cannot change any more, and what they are still to get (bool and f8 [K, P])."""
        states = self._some(rows)
        settled = np.zeros((len(states), self.num_players), np.uint8)
        due = np.zeros(settled.shape)
        self._kernels.settled(self.rules, states, settled, due)
        return settled.astype(np.bool_), due

    def standings(self, rows: ArrayLike | None = None) -> NDArray[np.int32]:
        """Return the place of each seat (i4 [K, P]), see `Game.standings`."""
        states = self._some(rows)
        places = np.zeros((len(states), self.num_players), np.int32)
        self._kernels.standings(self.rules, states, places)
        return places

    def decision_seeds(self, rows: ArrayLike) -> NDArray[np.uint64]:
        """Return the random bits that belong to the next decision of some games (u8 [K])."""
        return self._seeds_of(self._chosen(rows))

    def _seeds_of(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        actors = self.actors[rows]
        number = self.decisions[rows, actors].astype(np.uint64) + np.uint64(1)
        return mixed_rows(self._streams[rows, actors] + number * GAMMA)

    def _some(self, rows: ArrayLike | None) -> Records:
        return self.states if rows is None else self._take(self._chosen(rows))

    def _chosen(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Return which games are meant (int [K] or one number, or bool [B]).

        Raises:
            ArrayError: they are not games of this table.
        """
        if type(rows) is int and 0 <= rows < self.num_games:
            return self._all[rows : rows + 1]
        if getattr(rows, "dtype", None) == np.bool_:
            return np.flatnonzero(marks("rows", rows, (self.num_games,)))
        found = array("rows", _listed(rows), np.int64, (ANY,))
        if found.size and not (found.min() >= 0 and found.max() < self.num_games):
            raise ArrayError(f"rows must be from 0 to {self.num_games - 1}, got {described(found)}")
        return found

    def _once(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Return which games are meant, each at most once; see `_chosen`."""
        found = self._chosen(rows)
        if len(found) > 1 and not (found[1:] > found[:-1]).all() and len(np.unique(found)) < len(found):
            raise ArrayError(f"rows must name each game once, got {found.tolist()!s:.100}")
        return found

    def _seats_of(self, rows: NDArray[np.int64], seats: ArrayLike) -> NDArray[np.int64]:
        """Return a seat for each of some games, of seats (int [K]) or of one for all.

        Raises:
            ArrayError: they are something else.
        """
        found = array("seats", seats, np.int64, rows.shape if shape_of(seats) else ())
        if found.size and not (found.min() >= 0 and found.max() < self.num_players):
            raise ArrayError(f"seats must be from 0 to {self.num_players - 1}, got {described(seats)}")
        return np.full(len(rows), found)

    def _take(self, rows: Any) -> Records:
        states: Records = opaque(self.states)[rows].view(self.states.dtype)
        return states

    def _put(self, rows: Any, states: Records) -> None:
        opaque(self.states)[rows] = opaque(states)

    def _step(self, states: Records, actions: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Take an action in each of some states; return where it was legal and what each seat got."""
        taken = np.zeros(len(states), np.uint8)
        rewards = np.zeros((len(states), self.num_players))
        self._kernels.step(self.rules, states, actions, taken, rewards)
        return taken, rewards

    def _players(self) -> NDArray[np.int32]:
        """Return the number of the bot to act in each game (i4 [B]); meaningless where the game is finished."""
        return self.seats[self._all, self.actors]

    def _views_and_masks(self, states: Records) -> tuple[Records, NDArray[np.uint8]]:
        """Return what those to act know and may do, in new arrays: a buffer would hold what others have seen."""
        views = np.zeros(len(states), self.game.VIEW)
        legal = np.zeros((len(states), self._num_actions), np.uint8)
        self._kernels.view(self.rules, states, states["actor"].astype(np.int64), views)
        self._kernels.legal(self.rules, states, legal)
        return views, legal

    def _ask(self, bot: Any, rows: NDArray[np.int64], states: Records, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Let a bot decide in some games."""
        views, legal = self._views_and_masks(states)
        if not remembers(bot):
            return checked_actions(bot, unchecked(bot.act)(views, legal, seeds), len(states))
        if bot not in self._copies:
            self._copies.keep(self.bots)
        return self._copies.act(bot, views, legal, seeds, self.games[rows], states["actor"].astype(np.int64))

    def _forget_finished(self, rows: NDArray[np.int64]) -> None:
        if self._copies:
            self._copies.forget(self.games[rows[self.actors[rows] < 0]])

    def _illegal(self, rows: Any, players: Any, states: Any, actions: Any, taken: Any) -> IllegalAction:
        """Return the error that says in the game's words what the first refused bot has done."""
        at = int(np.flatnonzero(taken == 0)[0])
        player = f"bot {self.bots[players[at]].name!r} in seat {states['actor'][at]} of game {rows[at]}"
        legal = self._views_and_masks(states[at : at + 1])[1][0]
        return any_refusal(self.game, self.options, int(actions[at]), legal, player)

    def _sit_down(self) -> None:
        self._kernels: Kernels = kernels_of(self.game)
        self._playing = playing_of(self.game)
        kind = np.dtype("V0" if self._playing is None else self._playing.MEMORY)
        fit = self.num_games * self.num_players * kind.itemsize <= MOST_MEMORY
        self._memory: Records = np.zeros((self.num_games if fit else 1, self.num_players), kind)

    def __getstate__(self) -> dict[str, Any]:
        made_again = ("_kernels", "_playing", "_memory")
        return {name: value for name, value in super().__getstate__().items() if name not in made_again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._sit_down()
