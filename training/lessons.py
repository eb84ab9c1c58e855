"""What a teacher decides in games that it plays from every seat: the data set of
`training.imitation`.

Four decisions in five are offers to accuse that are declined. Only a share of those is kept, and
each of them then weighs as much as those left out with it, so that how often the teacher accuses is
learned as it is. A game belongs to the learner or is held out, with all of its decisions. A
decision takes about 1.7 kB with four players (200 numbers that are not zero, the legal actions in
bits), and twice that while the parts are joined. Axis letters: ``B`` games, ``D`` decisions, ``A``
actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from sleuth_env import sleuth
from sleuth_env.game import Bot, Records, opaque
from sleuth_env.sleuth_v0 import SleuthVectorEnv

from .config import Config
from .sparse import SparseRows, observed

Ints = NDArray[np.int64]

# The kinds of decisions.
KINDS = ("turns", "offers accepted", "offers declined")
TURN, ACCEPTED, DECLINED = range(len(KINDS))


@dataclass(frozen=True)
class Lessons:
    """Decisions of a teacher.

    Args:
        seen: the observations, D rows.
        legal: the legal actions in bits, u1 [D, A / 8].
        actions: what the teacher did, i8 [D].
        again: what it does in the same place with other random bits, i8 [D].
        kinds: i8 [D], see `KINDS`.
        held_out: whether it is of a game that is kept for the examination, bool [D].
    """

    seen: SparseRows
    legal: NDArray[np.uint8]
    actions: Ints
    again: Ints
    kinds: Ints
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        """Count them."""
        return len(self.actions)

    def masks(self, rows: Ints, num_actions: int) -> NDArray[np.uint8]:
        """Give the legal actions of some of them, u1 [., A]."""
        return np.unpackbits(self.legal[rows], axis=1, count=num_actions)


def collect(
    config: Config, teacher: Bot, number: int, declined: float, held_out: float, show: Callable[[int], None]
) -> Lessons:
    """Let a teacher play until so many decisions are kept.

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
        SparseRows.joined([part.seen for part in parts]),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
    )


def _played(config: Config, teacher: Bot, declined: float, held_out: float) -> Iterator[Lessons]:
    """Play for ever; give what is kept of each step."""
    # The cheapest observation: what is kept gets its own, which may cost many times as much.
    envs = SleuthVectorEnv(config.num_envs, record="raw", copy=False, **asdict(config.options))
    # Two generators: from the bits that bots are handed nothing else can be told.
    chance, bits = (np.random.default_rng(sequence) for sequence in np.random.SeedSequence(config.seed).spawn(2))
    envs.reset(seed=chance.integers(2**63, size=envs.num_envs).tolist())
    passing = np.zeros(envs.num_actions, np.bool_)
    passing[config.module.action_blocks(config.options)["pass"]] = True
    held = chance.random(envs.num_envs) < held_out
    while True:
        views = envs.views()
        legal = envs.action_masks()
        actions = teacher.act(views, legal, bits.integers(0, 2**64, len(views), np.uint64))
        kinds = np.where(legal[:, passing].any(axis=1), np.where(passing[actions], DECLINED, ACCEPTED), TURN)
        kept = np.flatnonzero((kinds != DECLINED) | (chance.random(len(views)) < declined))
        again = _again(teacher, views, legal, kept[held[kept]], actions, bits)
        seen = observed(config, opaque(views)[kept].view(sleuth.VIEW))
        yield Lessons(seen, np.packbits(legal[kept], axis=1), actions[kept], again[kept], kinds[kept], held[kept])
        _, _, terminated, truncated, _ = envs.step(actions)
        over = np.flatnonzero(terminated | truncated)
        held[over] = chance.random(len(over)) < held_out


def _again(
    teacher: Bot, views: Records, legal: NDArray[np.uint8], rows: Ints, actions: Ints, bits: np.random.Generator
) -> Ints:
    """Ask the teacher once more in some games, with other random bits; elsewhere its action stands
    (i8 [B]).
    """
    again = actions.copy()
    if len(rows):
        again[rows] = teacher.act(
            opaque(views)[rows].view(sleuth.VIEW), legal[rows], bits.integers(0, 2**64, len(rows), np.uint64)
        )
    return again
