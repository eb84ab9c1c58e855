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
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sleuth_env.doors import described, is_array
from sleuth_env.envs.binding import bound
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.game import Bot, Records, opaque
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.shards import Pool

from .config import Config
from .decisions import first_offered, legal_choice
from .sparse import SparseRows, observed
from .streams import generator_for, generators_for

Ints = NDArray[np.int64]

# The kinds of decisions; a game without offers has only turns.
KINDS = ("turns", "offers accepted", "offers declined")
TURN, ACCEPTED, DECLINED = range(len(KINDS))


@runtime_checkable
class Weighing(Protocol):
    """A teacher that can say what actions are worth to it."""

    def worths(
        self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64], deals: int, /
    ) -> NDArray[np.float64]:
        """Return what each legal action is worth on average in a number of deals, else 0, f8 [B, A]."""
        ...


@dataclass(frozen=True)
class Teaching:
    """Who plays and who teaches what, and how much of it is kept.

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
    player: Bot
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
    while True:
        views = envs.views()
        legal = envs.action_masks()
        # Copies, as everywhere in this module: what players write there is nobody else's.
        handed = opaque(views).copy().view(game.VIEW), legal.copy()
        chosen = teaching.player.act(*handed, _bits(bot_rng, len(views)))
        actions = legal_choice(config, teaching.player, f"player {teaching.player.name}", chosen, legal)
        kinds = kinds_of(legal, actions, offered, declining)
        kept = np.flatnonzero((kinds != DECLINED) | (rng.random(len(views)) < teaching.declined))
        if teaching.deals:
            kept = kept[legal[kept].sum(axis=1) > 1]
        if len(kept):
            seen = opaque(views)[kept].view(game.VIEW)
            yield _told(config, teaching, seen, legal[kept], actions[kept], kinds[kept], held[kept], bot_rng)
        if teaching.strays:
            actions = strayed(actions, legal, teaching.strays, rng)
        _, _, terminated, truncated, _ = envs.step(actions)
        over = np.flatnonzero(terminated | truncated)
        held[over] = rng.random(len(over)) < teaching.held_out


def _told(
    config: Config,
    teaching: Teaching,
    views: Records,
    legal: NDArray[np.uint8],
    actions: Ints,
    kinds: Ints,
    held: NDArray[np.bool_],
    bot_rng: np.random.Generator,
) -> Lessons:
    """Return what a teacher says of some decisions, of which the player's actions are given."""
    teacher = teaching.teacher
    worths = np.zeros((len(actions), 0), np.float32)
    again = actions

    def asked(rows: Ints) -> Ints:
        """Return what the teacher does in some of the decisions."""
        chosen = teacher.act(opaque(views)[rows].view(views.dtype), legal[rows], _bits(bot_rng, len(rows)))
        return legal_choice(config, teacher, f"teacher {teacher.name}", chosen, legal[rows])

    if teaching.deals:
        handed = opaque(views).copy().view(views.dtype), legal.copy()
        found = teacher.worths(*handed, _bits(bot_rng, len(views)), teaching.deals)
        worths = _checked_worths(teacher, found, legal)
    else:
        if teacher is not teaching.player:
            actions = asked(np.arange(len(views)))
        again = actions.copy()
        if held.any():
            again[held] = asked(np.flatnonzero(held))
    observations = observed(config, views)
    return Lessons(observations, np.packbits(legal, axis=1), actions, again, kinds, held, worths)


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
    raise MatchError(
        f"player {teacher.name!r}: worths() must return an array of numbers that fit float32, of the shape "
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
