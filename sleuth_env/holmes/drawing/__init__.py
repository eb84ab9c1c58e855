"""Drawings of what one player knows: as text for a terminal, or as an image."""

from .image import draw_rgb
from .text import COLUMNS, draw_ansi, draw_odds

__all__ = ["COLUMNS", "draw_ansi", "draw_odds", "draw_rgb"]
