"""Resets of vectorised environments: how a finished game is followed, seeds, and which games to reset.

Axis letters: ``B`` games.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..checks import check_number, check_seed, shown, whole_number
from ..doors import is_array, shape_of

Bools = NDArray[np.bool_]
MUST_RESET = (
    "game {row} is over and autoreset is disabled: call reset(options={{'reset_mask': ...}}), True where a game is over"
)


def check_autoreset(mode: Any) -> AutoresetMode:
    """Return how a finished game is followed, which may be given by its value, as Gymnasium takes it.

    Raises:
        ValueError: it is not a mode.
    """
    try:
        return AutoresetMode(mode)
    except (ValueError, TypeError):
        legal = ", ".join(f"AutoresetMode.{one.name} ({one.value!r})" for one in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {legal}, got {shown(mode)}") from None


def check_autoreset_done(mode: AutoresetMode, over: Bools) -> None:
    """Check that all games go on, where nobody but the caller resets them.

    Raises:
        ResetNeeded: one is over.
    """
    if mode is AutoresetMode.DISABLED and over.any():
        raise gymnasium.error.ResetNeeded(MUST_RESET.format(row=int(np.flatnonzero(over)[0])))


def row_seeds(seed: Any, num_games: int) -> list[int | None]:
    """Return a seed for each game: the number and those that follow it, or one of each game; None for none.

    Raises:
        ValueError: they are something else.
    """
    if seed is None:
        return [None] * num_games
    if whole_number(seed) is not None:
        return [check_number("seed", seed, 0) + row for row in range(num_games)]
    if not isinstance(seed, (list, tuple, np.ndarray)) or shape_of(seed) != (num_games,):
        raise ValueError(f"seed must be one number or one for each of {num_games} games, got {shown(seed)}")
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
        raise ValueError(f"options must be a dictionary, got {shown(options)}")
    unknown = [name for name in options or {} if name != "reset_mask"]
    if unknown:
        raise ValueError(f"reset knows the option 'reset_mask' only, got {unknown[0]!r}")
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(len(dealt), np.bool_)
    if not is_array(mask) or mask.dtype != np.bool_ or mask.shape != dealt.shape or not mask.any():
        raise ValueError(f"reset_mask must be an array of {len(dealt)} bools, one of them True, got {shown(mask)}")
    if not (mask | dealt).all():
        raise gymnasium.error.ResetNeeded("the first reset deals every game: call reset() without a reset_mask")
    return mask
