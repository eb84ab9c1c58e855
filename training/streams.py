"""Random streams: each stage of a training draws its own games, all of them from one seed.

A stage's sequence is ``numpy.random.SeedSequence(seed, spawn_key=key)``, and the key says what the
stage is::

    key = (STAGES.index(stage), PURPOSES.index(purpose), steps, *weights)

``steps`` is 0, or the number of decisions after which a run was resumed that cannot restore its
generators; ``weights`` are the first four words of the SHA-256 of the weights and steps of the
policy that a training starts from (see `words_of`), or nothing. So imitation, a training from scratch, one that starts
from a policy, another that starts from what came of that, and the evaluations see different games
though each of them has ``seed: 1``; and the bits that bots are handed tell nothing of the deals.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from sleuth_env.policies.policy import Policy

STAGES = ("imitation", "training", "evaluation", "exploitation")
# What a stage draws: the untrained weights; deals, seats and the learner's own choices; what bots
# draw; the order in which a teacher's decisions are learned; deals by which the best of several is
# chosen, not judged.
PURPOSES = ("network", "games", "bots", "minibatches", "choice")
# Of a digest, this many 32-bit words are in a key.
WORDS = 4


def sequence_of(
    seed: int, stage: str, purpose: str, steps: int = 0, weights: Sequence[int] = ()
) -> np.random.SeedSequence:
    """Return the seed sequence from which a stage draws something.

    Args:
        seed: of the configuration.
        stage: one of `STAGES`.
        purpose: one of `PURPOSES`.
        steps: after how many decisions the generators begin again.
        weights: `words_of` the policy that the stage starts from.

    Raises:
        ValueError: there is no such stage or purpose.

    >>> sequence_of(1, "training", "bots").spawn_key
    (1, 2, 0)
    """
    return np.random.SeedSequence(seed, spawn_key=(STAGES.index(stage), PURPOSES.index(purpose), steps, *weights))


def generator_for(
    seed: int, stage: str, purpose: str, steps: int = 0, weights: Sequence[int] = ()
) -> np.random.Generator:
    """Return a generator from `sequence_of`."""
    return np.random.default_rng(sequence_of(seed, stage, purpose, steps, weights))


def generators_for(
    seed: int, stage: str, purpose: str, number: int, weights: Sequence[int] = ()
) -> list[np.random.Generator]:
    """Return a generator for each of a number of shards: their keys are those of `sequence_of` and their index.

    >>> [len({rng.random() for rng in generators_for(1, "training", "games", number)}) for number in (2, 3)]
    [2, 3]
    """
    children = sequence_of(seed, stage, purpose, weights=weights).spawn(number)
    return [np.random.default_rng(child) for child in children]


def number_of(seed: int, stage: str, purpose: str, steps: int = 0, bits: int = 63) -> int:
    """Return one number from `sequence_of`, for what takes a seed and not a sequence.

    Args:
        seed: see `sequence_of`.
        stage: see `sequence_of`.
        purpose: see `sequence_of`.
        steps: see `sequence_of`.
        bits: the number is below two to this power.
    """
    (word,) = sequence_of(seed, stage, purpose, steps).generate_state(1, np.uint64).tolist()
    return int(word) >> (64 - bits)


def words_of(policy: Policy) -> list[int]:
    """Return the digest of a policy's weights and steps as 32-bit words.

    What else its file says does not count. The steps do, for a short training may leave the weights
    as they were (see `PpoConfig.value_first`).
    """
    digest = sha256(f"{policy.steps} ".encode())
    for name, tensor in sorted(policy.network.tensors().items()):
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape} ".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return np.frombuffer(digest.digest(), "<u4")[:WORDS].tolist()
