"""Sleuth with rewards during the game: each decision pays its seat and the next one."""

from __future__ import annotations

import numpy as np

from sleuth_env import sleuth
from sleuth_env.sleuth import *  # noqa: F403

OWN = 0.25
NEXT = 0.125


def step(rules: np.ndarray, states: np.ndarray, actions: np.ndarray, taken: np.ndarray, rewards: np.ndarray) -> None:
    """Take one action in every game; the rewards replace those of Sleuth."""
    rows = np.arange(len(states))
    actors = states["actor"].copy()
    sleuth.step(rules, states, actions, taken, rewards)
    rewards[:] = 0.0
    rewards[rows, actors] += OWN * taken
    rewards[rows, (actors + 1) % rewards.shape[1]] += NEXT * taken
