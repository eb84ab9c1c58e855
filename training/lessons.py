"""What a teacher decides in games that it plays from every seat: the data of `training.imitation`.

Four decisions in five may be offers that are declined. Only a share of those is kept, and each of
them then weighs as much as those left out with it, so that how often the teacher accepts is learned
as it is. A game belongs to the learner or is held out, with all of its decisions. A decision of
Sleuth takes about 2 kB with four players (200 numbers that are not zero, the legal actions in
bits), and twice that while the parts are joined.
Axis letters: ``B`` games, ``K`` some of them, ``D`` decisions, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from sleuth_env.envs.binding import bound
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.game import Bot, opaque

from .config import Config
from .decisions import first_offered
from .sparse import SparseRows, observed
from .streams import generator_for

Ints = NDArray[np.int64]

# The kinds of decisions; a game without offers has only turns.
KINDS = ("turns", "offers accepted", "offers declined")
TURN, ACCEPTED, DECLINED = range(len(KINDS))


@dataclass(frozen=True)
class Lessons:
    """Decisions of a teacher.

    Args:
        observations: what was seen, D rows.
        legal: the legal actions in bits, u1 [D, A / 8].
        actions: what the teacher did, i8 [D].
        again: what it does in the same place with other random bits, i8 [D].
        kinds: i8 [D], see `KINDS`.
        held_out: whether it is of a game that is kept for the examination, bool [D].
    """

    observations: SparseRows
    legal: NDArray[np.uint8]
    actions: Ints
    again: Ints
    kinds: Ints
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of decisions, D."""
        return len(self.actions)

    def masks(self, rows: Ints, num_actions: int) -> NDArray[np.uint8]:
        """Return the legal actions of some of them (i8 [K]), u1 [K, A]."""
        return np.unpackbits(self.legal[rows], axis=1, count=num_actions)


def collect(
    config: Config, teacher: Bot, number: int, declined: float, held_out: float, show: Callable[[int], None]
) -> Lessons:
    """Let a teacher play until enough decisions are kept.

    Args:
        config: which game, observation, seed, and how many games side by side.
        teacher: sits in every seat.
        number: D.
        declined: the share of declined offers that is kept.
        held_out: the share of games that is held out.
        show: is told how many there are.
    """
    parts: list[Lessons] = []
    size = 0
    for part in _played(config, teacher, declined, held_out):
        parts.append(part)
        size += len(part)
        show(size)
        if size >= number:
            break
    names = ("legal", "actions", "again", "kinds", "held_out")
    return Lessons(
        SparseRows.joined([part.observations for part in parts]),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
    )


def _played(config: Config, teacher: Bot, declined: float, held_out: float) -> Iterator[Lessons]:
    """Play forever; yield what is kept of each step."""
    game = config.module
    # The cheapest observation: what is kept gets its own, which may cost many times as much.
    envs = bound(GameVectorEnv, game)(
        config.num_envs, record=game.CHEAPEST_RECORD, copy=False, **asdict(config.options)
    )
    # Two generators: from the bits that bots are handed nothing else can be told.
    rng, bot_rng = (generator_for(config.seed, "imitation", purpose) for purpose in ("games", "bots"))
    envs.reset(seed=rng.integers(2**63, size=envs.num_envs).tolist())
    offered = first_offered(config)
    declining = declining_actions(config)
    held = rng.random(envs.num_envs) < held_out
    while True:
        views = envs.views()
        legal = envs.action_masks()
        actions = teacher.act(views, legal, bot_rng.integers(0, 2**64, len(views), np.uint64))
        kinds = kinds_of(legal, actions, offered, declining)
        kept = np.flatnonzero((kinds != DECLINED) | (rng.random(len(views)) < declined))
        asked = kept[held[kept]]
        again = actions.copy()
        if len(asked):
            bits = bot_rng.integers(0, 2**64, len(asked), np.uint64)
            again[asked] = teacher.act(opaque(views)[asked].view(game.VIEW), legal[asked], bits)
        yield Lessons(
            observed(config, opaque(views)[kept].view(game.VIEW)),
            np.packbits(legal[kept], axis=1),
            actions[kept],
            again[kept],
            kinds[kept],
            held[kept],
        )
        _, _, terminated, truncated, _ = envs.step(actions)
        over = np.flatnonzero(terminated | truncated)
        held[over] = rng.random(len(over)) < held_out


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
