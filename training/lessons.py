"""Lessons: what a teacher, a bot or a policy file, does in games, or what actions are worth to it.

A player, the teacher itself or another, decides in every seat, and the teacher says of the places
in which that is done what it would do, or (`Teaching.deals`) what each legal action is worth to it.
Four decisions in five may be offers that are declined. Only a share of those is kept, and each of
them then weighs as much as those left out with it, so that how often offers are accepted is learned
as it is. A game belongs to the learner or is held out, with all of its decisions. A decision of
Sleuth takes about 2 kB with four players (200 numbers that are not zero, the legal actions in
bits), and twice that while the parts are joined.
Axis letters: ``B`` games, ``D`` decisions, ``K`` some of them, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from math import ceil
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sleuth_env.checks import one_line
from sleuth_env.doors import described, is_array
from sleuth_env.envs.binding import bound
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.game import Records, opaque
from sleuth_env.matches.program import failures_of
from sleuth_env.matches.seating import Copies, MatchError, Player, remembers
from sleuth_env.matches.shards import Pool

from .config import Config
from .decisions import first_offered, legal_choice
from .sparse import SparseRows, observed
from .streams import generator_for, generators_for

Ints = NDArray[np.int64]

# The kinds of decisions; a game without offers has only turns.
KINDS = ("turns", "offers accepted", "offers declined")
TURN, ACCEPTED, DECLINED = range(len(KINDS))


class Weighing(Protocol):
    """A teacher that can say what actions are worth to it.

    One that remembers does so by a method ``worths_in``, which is also told the games and the seats,
    see `Remembering.act_in`.
    """

    def worths(
        self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64], deals: int, /
    ) -> NDArray[np.float64]:
        """Return what each legal action is worth on average in a number of deals, else 0, f8 [B, A]."""
        ...


@dataclass(frozen=True)
class Teaching:
    """Who plays and who teaches what, and how much of it is kept.

    A teacher that remembers is asked about what is kept only, and twice about what is held out.

    Args:
        teacher: says what it would do, or what actions are worth.
        player: sits in every seat; may be the teacher.
        deals: 0 where the teacher says what it would do; otherwise it says what each legal action
            is worth (see `Weighing`), tried in this many deals.
        declined: the share of declined offers that is kept.
        held_out: the share of games that is held out.
        strays: the share of decisions at which any legal action is played.
    """

    teacher: Any
    player: Player
    deals: int = 0
    declined: float = 1.0
    held_out: float = 0.1
    strays: float = 0.0


@dataclass(frozen=True)
class Lessons:
    """What a teacher has said of some decisions.

    Args:
        observations: what was seen, D rows.
        legal: the legal actions in bits, u1 [D, A / 8].
        actions: what the teacher does, i8 [D]; where it says what actions are worth, what the player did.
        again: what it does in the same place with other random bits, i8 [D]; of what is held out.
        kinds: by what the player did, i8 [D], see `KINDS`.
        held_out: whether it is of a game that is kept for the examination, bool [D].
        worths: what each legal action is worth, else 0, f4 [D, A]; [D, 0] where nothing was said of it.
    """

    observations: SparseRows
    legal: NDArray[np.uint8]
    actions: Ints
    again: Ints
    kinds: Ints
    held_out: NDArray[np.bool_]
    worths: NDArray[np.float32]

    def __len__(self) -> int:
        """Return the number of decisions, D."""
        return len(self.actions)

    @property
    def weigh(self) -> bool:
        """Whether they say what actions are worth."""
        return self.worths.shape[1] > 0

    def masks(self, rows: Ints, num_actions: int) -> NDArray[np.uint8]:
        """Return the legal actions of some of them (i8 [K]), u1 [K, A]."""
        return np.unpackbits(self.legal[rows], axis=1, count=num_actions)

    @classmethod
    def joined(cls, parts: Sequence[Lessons]) -> Lessons:
        """Put decisions behind one another."""
        names = [field.name for field in fields(cls) if field.name != "observations"]
        return cls(
            SparseRows.joined([part.observations for part in parts]),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
        )


def collect(
    config: Config, teaching: Teaching, number: int, show: Callable[[int], None], pool: Pool | None = None
) -> Lessons:
    """Play until the teacher has said enough.

    Args:
        config: which game, observation, seed, how many games side by side, and in how many shards.
        teaching: who plays, and what is kept.
        number: D.
        show: is told how many there are.
        pool: who plays the shards; None: this process.
    """
    play = partial(_collected, config, teaching, ceil(number / config.shards))
    size = 0

    def done(_: int, part: Lessons) -> None:
        nonlocal size
        size += len(part)
        show(size)

    if pool is not None:
        parts = pool.map(play, range(config.shards), done)
    else:
        parts = []
        for shard in range(config.shards):
            parts.append(play(shard, lambda more: show(size + more)))
            done(shard, parts[-1])
    return parts[0] if len(parts) == 1 else Lessons.joined(parts)


def _collected(
    config: Config, teaching: Teaching, number: int, shard: int, show: Callable[[int], object] = lambda _: None
) -> Lessons:
    """Return a number of decisions of one shard, see `collect`."""
    parts: list[Lessons] = []
    size = 0
    for part in _played(config, teaching, shard):
        parts.append(part)
        size += len(part)
        show(size)
        if size >= number:
            break
    return Lessons.joined(parts)


def _streams(config: Config, purpose: str) -> list[np.random.Generator]:
    """Return the generator of each shard."""
    if config.shards == 1:
        return [generator_for(config.seed, "imitation", purpose)]
    return generators_for(config.seed, "imitation", purpose, config.shards)


class _Asked:
    """Who plays and who teaches in games side by side, with what they remember of them.

    Args:
        config: the run's.
        number: B.
    """

    def __init__(self, config: Config, number: int) -> None:
        self.config = config
        self._copies = Copies()
        # As those who remember are told them.
        self._games = np.arange(number)
        self._dealt = number

    def renew(self, rows: Ints) -> None:
        """Begin new games in some rows (i8 [K])."""
        self._copies.forget(self._games[rows])
        self._games[rows] = self._dealt + np.arange(len(rows))
        self._dealt += len(rows)

    def act(self, player: Player, called: str, places: _Places) -> Ints:
        """Return what a player does in some places, i8 [K]."""
        if remembers(player):
            games = self._games[places.rows]
            chosen = self._copies.act(player, *places.handed(), games, places.seats)  # type: ignore[arg-type]
        else:
            chosen = player.act(*places.handed())  # type: ignore[union-attr]
        actions = legal_choice(self.config, player, f"{called} {player.name}", chosen, places.legal)
        for failure in failures_of([player]):
            # Of the bot that plays for it nothing is to be learned.
            raise MatchError(f"{called} {one_line(failure.player)} has failed: {one_line(failure.reason)}")
        return actions

    def worths(self, teacher: Any, deals: int, places: _Places) -> NDArray[np.float32]:
        """Return what actions are worth to a teacher in some places, f4 [K, A]."""
        if not remembers(teacher):
            return _checked_worths(teacher, teacher.worths(*places.handed(), deals), places.legal)
        found = np.zeros(places.legal.shape, np.float32)
        for copied, at in self._copies.by_seat(teacher, places.seats):
            mine = places.take(at, places.bits[at])
            told = copied.worths_in(*mine.handed(), deals, self._games[mine.rows], mine.seats)
            found[at] = _checked_worths(teacher, told, mine.legal)
        return found


@dataclass(frozen=True)
class _Places:
    """Decisions that are to be made, K of them, and in which games.

    Args:
        views: VIEW [K].
        legal: u1 [K, A].
        bits: what players are handed, u8 [K].
        rows: of the games, i8 [K].
        seats: who is to decide, i8 [K].
    """

    views: Records
    legal: NDArray[np.uint8]
    bits: NDArray[np.uint64]
    rows: Ints
    seats: Ints

    def handed(self) -> tuple[Records, NDArray[np.uint8], NDArray[np.uint64]]:
        """Return what players are handed: copies, for what they write there is nobody else's."""
        return opaque(self.views).copy().view(self.views.dtype), self.legal.copy(), self.bits.copy()

    def take(self, some: Ints, bits: NDArray[np.uint64]) -> _Places:
        """Return some of them (i8 [N]), with other random bits (u8 [N])."""
        views = opaque(self.views)[some].view(self.views.dtype)
        return _Places(views, self.legal[some], bits, self.rows[some], self.seats[some])


def _played(config: Config, teaching: Teaching, shard: int) -> Iterator[Lessons]:
    """Play the games of a shard forever; yield what is kept of each step."""
    game = config.module
    # The cheapest observation: what is kept gets its own, which may cost many times as much.
    envs = bound(GameVectorEnv, game)(
        config.num_envs // config.shards, record=game.CHEAPEST_RECORD, copy=False, **asdict(config.options)
    )
    # Two generators: from the bits that bots are handed nothing else can be told.
    rng, bot_rng = (_streams(config, purpose)[shard] for purpose in ("games", "bots"))
    envs.reset(seed=rng.integers(2**63, size=envs.num_envs).tolist())
    offered = first_offered(config)
    declining = declining_actions(config)
    held = rng.random(envs.num_envs) < teaching.held_out
    asked = _Asked(config, envs.num_envs)
    every_row = np.arange(envs.num_envs)
    while True:
        legal = envs.action_masks()
        places = _Places(envs.views(), legal, _bits(bot_rng, envs.num_envs), every_row, envs.acting_seat.copy())
        actions = asked.act(teaching.player, "player", places)
        kinds = kinds_of(legal, actions, offered, declining)
        kept = np.flatnonzero((kinds != DECLINED) | (rng.random(envs.num_envs) < teaching.declined))
        if teaching.deals:
            kept = kept[legal[kept].sum(axis=1) > 1]
        if len(kept):
            yield _told(config, teaching, asked, places, kept, actions[kept], kinds[kept], held[kept], bot_rng)
        if teaching.strays:
            actions = strayed(actions, legal, teaching.strays, rng)
        _, _, terminated, truncated, _ = envs.step(actions)
        over = np.flatnonzero(terminated | truncated)
        held[over] = rng.random(len(over)) < teaching.held_out
        asked.renew(over)


def _told(
    config: Config,
    teaching: Teaching,
    asked: _Asked,
    places: _Places,
    kept: Ints,
    actions: Ints,
    kinds: Ints,
    held: NDArray[np.bool_],
    bot_rng: np.random.Generator,
) -> Lessons:
    """Return what a teacher says of some of the decisions (kept: i8 [K]), of which the player's actions are given."""
    teacher = teaching.teacher
    worths = np.zeros((len(actions), 0), np.float32)
    again = actions
    if teaching.deals:
        worths = asked.worths(teacher, teaching.deals, places.take(kept, _bits(bot_rng, len(kept))))
    else:
        if teacher is not teaching.player:
            actions = asked.act(teacher, "teacher", places.take(kept, _bits(bot_rng, len(kept))))
        again = actions.copy()
        if held.any():
            again[held] = asked.act(teacher, "teacher", places.take(kept[held], _bits(bot_rng, int(held.sum()))))
    observations = observed(config, opaque(places.views)[kept].view(places.views.dtype))
    legal = np.packbits(places.legal[kept], axis=1)
    return Lessons(observations, legal, actions, again, kinds, held, worths)


def _checked_worths(teacher: Any, worths: Any, legal: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return what actions are worth, see `Weighing`, as f4 [B, A].

    Raises:
        MatchError: the teacher has returned something else.
    """
    if not is_array(worths) or worths.dtype.kind not in "iuf" or worths.shape != legal.shape:
        what = described(worths)
    else:
        with np.errstate(over="ignore"):
            numbers = worths.astype(np.float32)
        if np.isfinite(numbers).all() and not worths[legal == 0].any():
            return numbers
        what = "what is no finite number, or not 0 where an action is illegal"
    method = "worths_in" if remembers(teacher) else "worths"
    raise MatchError(
        f"player {teacher.name!r}: {method}() must return an array of numbers that fit float32, of the shape "
        f"{legal.shape}, got {what}"
    )


def _bits(rng: np.random.Generator, number: int) -> NDArray[np.uint64]:
    """Draw what a bot needs to decide in some games."""
    return rng.integers(0, 2**64, number, np.uint64)


def strayed(actions: Ints, legal: NDArray[np.uint8], share: float, rng: np.random.Generator) -> Ints:
    """Return actions of which a share is replaced by any legal ones, all equally likely."""
    chances = np.where(legal > 0, rng.random(legal.shape), -1.0)
    return np.where(rng.random(len(actions)) < share, chances.argmax(axis=1), actions)


def declining_actions(config: Config) -> NDArray[np.bool_]:
    """Return which actions decline an offer, bool [A]."""
    declining = np.zeros(config.module.num_actions(config.options), np.bool_)
    if config.module.DECLINE:
        declining[config.module.action_blocks(config.options)[config.module.DECLINE]] = True
    return declining


def kinds_of(legal: NDArray[np.uint8], actions: Ints, offered: int, declining: NDArray[np.bool_]) -> Ints:
    """Return the kind of each decision, i8 [B].

    An offer is a decision at which only answers to offers are legal, among them to decline it. A
    turn may allow what declines an offer, too, and may require what accepts one.

    Args:
        legal: u1 [B, A].
        actions: what was done, i8 [B].
        offered: see `first_offered`.
        declining: see `declining_actions`.
    """
    offers = legal[:, declining].any(axis=1) & ~legal[:, :offered].any(axis=1)
    return np.where(offers, np.where(declining[actions], DECLINED, ACCEPTED), TURN)


def weights_of(kinds: Ints, declined: float) -> NDArray[np.float32]:
    """Return the weight of each decision (f4 [D]).

    A declined offer stands for those that were left out, too.
    """
    return np.where(kinds == DECLINED, 1 / declined, 1).astype(np.float32)
