"""Words, colours and abbreviations that the drawings in letters share."""

from __future__ import annotations

from ...drawing.pen import BOLD, DIM
from ..cards import COLOURS, KINDS, TYPES
from .scene import HELD, MISSING, OPEN, TABLE, YOURS, Square

CODES = {"red": "31", "blue": "34", "green": "32", "yellow": "33"}
FOUND = "1;7"
ABBREVIATIONS = {"diamond": "di", "pearl": "pe", "opal": "op", "solitaire": "so", "pair": "pa", "cluster": "cl"}
# The two-element questions in blocks of one first element: 4 blocks colour + kind, 4 colour + type,
# 3 kind + type.
BLOCKS = [
    (first, seconds) for firsts, seconds in ((COLOURS, KINDS), (COLOURS, TYPES), (KINDS, TYPES)) for first in firsts
]


def square_words(square: Square) -> tuple[str, str]:
    """Return what is written in a square of the information sheet, and its colour code."""
    words = {YOURS: "you", TABLE: "table", HELD: f"+{square.holder}", MISSING: "MISSING"}
    if square.kind != OPEN:
        return words[square.kind], {HELD: BOLD, MISSING: FOUND}.get(square.kind, DIM)
    signs = [*(str(k) for k in range(1, len(square.possible))), "?"]
    return "".join(sign if may else "·" for sign, may in zip(signs, square.possible, strict=True)), ""


def chance_words(square: Square, chance: float, proved: int) -> tuple[str, str]:
    """Return what is written in a gem's square about its chance to be missing, and its colour code."""
    if square.kind in (YOURS, TABLE):
        return square_words(square)
    if proved == 1:
        return "MISSING", FOUND
    return ("·", DIM) if proved == 0 else (f"{percent(chance):>6}", "")


def percent(chance: float) -> str:
    """Return a probability in words; one that is not exactly 0 or 1 is never rounded to that."""
    if chance in (0, 1):
        return f"{chance:.0%}"
    words = f"{chance:.1%}"
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(words, words)


def card_code(card: str) -> str:
    """Return the colour code of a search card by its name."""
    return next((code for colour, code in CODES.items() if colour in card.split("-")), "")


def abbreviated(element: str) -> str:
    """Return the two letters of an element."""
    return ABBREVIATIONS.get(element, element[:2])
