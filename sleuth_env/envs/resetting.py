"""What ``reset`` of a vectorised environment is given: seeds, and which games to reset.

Axis letters: ``B`` games.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..checks import check_number, check_seed, whole_number

Bools = NDArray[np.bool_]


def row_seeds(seed: Any, num_games: int) -> list[int | None]:
    """Return a seed for each game: the number and those that follow it, or one of each game; None for none.

    Raises:
        ValueError: they are something else.
    """
    if seed is None:
        return [None] * num_games
    if whole_number(seed) is not None:
        return [check_number("seed", seed, 0) + row for row in range(num_games)]
    if not isinstance(seed, (list, tuple, np.ndarray)) or np.ndim(seed) != 1 or len(seed) != num_games:
        raise ValueError(f"seed must be one number or one for each of {num_games} games, got {seed!r}")
    return [check_seed(one) for one in seed]


def rows_to_reset(options: dict[str, Any] | None, dealt: Bools) -> Bools:
    """Read Gymnasium's ``reset_mask``: which games (bool [B]) to reset; without one all.

    Args:
        options: what `reset` was given.
        dealt: which games there are (bool [B]).

    Raises:
        ValueError: the mask is not one, or names no game, or there is another option.
        ResetNeeded: the first reset leaves games out.
    """
    if options is not None and not isinstance(options, dict):
        raise ValueError(f"options must be a dictionary, got {options!r}")
    unknown = [name for name in options or {} if name != "reset_mask"]
    if unknown:
        raise ValueError(f"reset knows the option 'reset_mask' only, got {unknown[0]!r}")
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(len(dealt), np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != dealt.shape or not mask.any():
        raise ValueError(f"reset_mask must be an array of {len(dealt)} bools, one of them True, got {mask!r}")
    if not (mask | dealt).all():
        raise gymnasium.error.ResetNeeded("the first reset deals every game: call reset() without a reset_mask")
    return mask
