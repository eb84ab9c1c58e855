"""How every environment draws what a seat knows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_choice
from ..game import Drawn, Game, needed

RENDER_MODES = ("human", "ansi", "rgb_array")
NO_RENDER_MODE = (
    f"render() draws nothing without a render_mode: make the environment with one of {', '.join(RENDER_MODES)}"
)


def check_render_mode(game: Game, render_mode: str | None) -> None:
    """Check that a game can be drawn in this way.

    Raises:
        ValueError: there is no such way, or the game has no drawings.
    """
    check_choice("render_mode", render_mode, (None, *RENDER_MODES))
    if render_mode is not None:
        needed(game, Drawn)


def render_view(game: Game, options: Any, view: Any, render_mode: str) -> str | NDArray[np.uint8] | None:
    """Draw a view (one VIEW record).

    Returns:
        "ansi": text; "rgb_array": an image; "human": None, the text goes to the standard output.
    """
    drawn = needed(game, Drawn)
    if render_mode == "rgb_array":
        return drawn.draw_rgb(options, view)
    text = drawn.draw_ansi(options, view)
    if render_mode == "ansi":
        return text
    sys.stdout.write(text.rstrip("\n") + "\n\n")
    sys.stdout.flush()
    return None
