"""A canvas for drawings as images, made with Pillow.

It needs no window system, and what is drawn has the same pixels every time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

RGB = tuple[int, int, int]
# Everything is drawn twice as large and then reduced: Pillow's shapes have no smooth edges.
SCALE = 2

INK = (38, 43, 56)
SOFT = (112, 117, 130)
FAINT = (190, 190, 194)
LINE = (222, 217, 206)
PAPER = (246, 242, 233)
CARD = (255, 254, 250)
BAR = (33, 43, 66)
WHITE = (255, 255, 255)
GOLD = (246, 201, 68)


@lru_cache(maxsize=32)
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.load_default(size * SCALE)  # type: ignore[return-value]


def mixed(colour: RGB, other: RGB, share: float) -> RGB:
    """Return a mixture of two colours.

    Args:
        colour: the one.
        other: the other.
        share: of the first colour, from 0 to 1.
    """
    red, green, blue = (round(share * a + (1 - share) * b) for a, b in zip(colour, other, strict=True))
    return red, green, blue


class Canvas:
    """Draw in the coordinates of the finished image."""

    def __init__(self, width: int, height: int) -> None:
        from PIL import Image, ImageDraw

        self.image = Image.new("RGB", (width * SCALE, height * SCALE), PAPER)
        self._draw = ImageDraw.Draw(self.image)

    def box(
        self, x: float, y: float, width: float, height: float, fill: RGB, outline: RGB | None = None, radius: float = 5
    ) -> None:
        """Fill a rectangle with round corners."""
        corners = (x * SCALE, y * SCALE, (x + width) * SCALE - 1, (y + height) * SCALE - 1)
        self._draw.rounded_rectangle(corners, radius * SCALE, fill, outline, SCALE if outline else 0)

    def text(
        self, x: float, y: float, text: str, size: int = 13, fill: RGB = INK, anchor: str = "lm", bold: bool = False
    ) -> None:
        """Write a text at its anchor (Pillow's two letters)."""
        self._draw.text((x * SCALE, y * SCALE), text, fill, _font(size), anchor, stroke_width=1 if bold else 0)

    def fitted(self, x: float, y: float, text: str, width: float, size: int = 13, **how: Any) -> None:
        """Write a text, smaller when it would be wider than `width`."""
        while size > 8 and self._draw.textlength(text, _font(size)) > width * SCALE:
            size -= 1
        self.text(x, y, text, size, **how)

    def dot(self, x: float, y: float, radius: float, fill: RGB) -> None:
        """Fill a circle."""
        self._draw.ellipse(
            [(x - radius) * SCALE, (y - radius) * SCALE, (x + radius) * SCALE, (y + radius) * SCALE], fill
        )

    def shape(self, points: list[tuple[float, float]], fill: RGB) -> None:
        """Fill a polygon."""
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill)

    def line(self, x: float, y: float, width: float) -> None:
        """Draw a fine horizontal line."""
        self._draw.line([x * SCALE, y * SCALE, (x + width) * SCALE, y * SCALE], LINE, SCALE)

    def pixels(self) -> np.ndarray:
        """Return the finished image, u1 [height, width, 3]."""
        return np.array(self.image.reduce(SCALE))
