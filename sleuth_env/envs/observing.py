"""How observations and masks are handed to a learner: a vector, or a dictionary of both.

Axis letters: ``B`` games, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

# The kinds: the observation alone, or as in PettingZoo ``{"observation": ..., "action_mask": ...}``.
OBSERVATIONS = ("vector", "dict")


def observation_space(kind: str, size: int, num_actions: int, highest: float = 1, dtype: DTypeLike = np.float32) -> Any:
    """Return the space of the observations of one game.

    Args:
        kind: one of `OBSERVATIONS`.
        size: N.
        num_actions: A.
        highest: the greatest number of an observation.
        dtype: of an observation.
    """
    vector = spaces.Box(0, highest, (size,), np.dtype(dtype).type)
    if kind == "vector":
        return vector
    return spaces.Dict({"observation": vector, "action_mask": spaces.Box(0, 1, (num_actions,), np.int8)})


def presented(kind: str, observations: NDArray[Any], masks: NDArray[Any]) -> Any:
    """Return observations and masks (bool or u1) of one game or of many as a learner gets them."""
    if kind == "vector":
        return observations
    return {"observation": observations, "action_mask": masks.view(np.int8)}
