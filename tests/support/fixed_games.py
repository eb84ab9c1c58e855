"""Print a digest of all that the kernels write in fixed games: with and without compilation."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator

import numpy as np

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import Options, make_rules, num_actions
from sleuth_env.sleuth.view import VIEW, view

GAMES = [
    Options(3),
    Options(4, missing=2, winners=3, double_interrogation=True, announce_result=False),
    Options(5, winners=2, super_sleuth=True, last_survivor_wins=True),
    Options(6, accuse="own_turn", first_player="seat_0", double_interrogation=True),
    Options(7, offer_order="clockwise", max_turns=8),
]


def random_actions(marks: np.ndarray, chance: np.random.Generator, options: Options) -> np.ndarray:
    """Choose an action for each game; accusations are rare, and some actions are not legal."""
    weights = chance.random(marks.shape) * marks
    accuse_at = int(make_rules(options)["accuse_at"][0])
    weights[:, accuse_at : accuse_at + 36] *= 0.55
    actions = weights.argmax(axis=1)
    illegal = chance.random(len(actions)) < 0.1
    return np.where(illegal, chance.integers(-2, marks.shape[1] + 2, len(actions)), actions)


def play(options: Options, size: int, steps: int, seed: int = 1) -> Iterator[bytes]:
    """Play a batch and give, step by step, the bytes of all that the kernels write."""
    rules = make_rules(options)
    chance = np.random.default_rng(seed)
    states = kernels.new_states(size)
    taken = np.zeros(size, "u1")
    rewards = np.zeros((size, 7))
    kernels.deal(rules, states, chance.integers(0, 2**64, size, np.uint64))
    for _ in range(steps):
        marks = np.zeros((size, num_actions(options)), "u1")
        ends = np.zeros(size, "u1")
        views = np.zeros(size, VIEW)
        kernels.legal(rules, states, marks)
        kernels.ends(rules, states, ends)
        view(rules, states, chance.integers(0, options.num_players, size), views)
        yield b"".join(array.tobytes() for array in (states, marks, rewards, ends, views, taken))
        kernels.step(rules, states, random_actions(marks, chance, options), taken, rewards)


def digest(size: int, steps: int) -> str:
    """Return a digest of all games, each a batch of a size that takes a number of steps."""
    everything = hashlib.sha256()
    for options in GAMES:
        for written in play(options, size, steps):
            everything.update(written)
    return everything.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(*map(int, sys.argv[1:])))
