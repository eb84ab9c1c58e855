"""The drawing of a game as one player sees it, in letters for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import wrap

import numpy as np

from ...deduction.worlds import IntricateError
from ..cards import COLOURS, ELEMENTS, KINDS, QUESTIONS, TYPES, Options
from .scene import (
    HELD,
    MISSING,
    MOST_LISTED,
    OPEN,
    ROWS,
    TABLE,
    YOURS,
    Panel,
    Scene,
    Seat,
    Square,
    gem_at,
    make_panel,
    make_scene,
)

# Widths in characters.
_SQUARE = 9
_ROW_NAME = 19
_LABEL = 13
_SHEET = _ROW_NAME + len(COLOURS) * _SQUARE + 1
_BAR = " │ "
# The longest event, "+2 asked you diamond-solitaire with diamond-solitaire: 1", after "now ".
_NEWS = 60
_BITS = 6
_DECIDES = 10
COLUMNS = _SHEET + len(_BAR) + _NEWS  # no line is longer
_CODES = {"red": "31", "blue": "34", "green": "32", "yellow": "33"}
_BOLD = "1"
_DIM = "2"
_FOUND = "1;7"
_ABBREVIATIONS = {"diamond": "di", "pearl": "pe", "opal": "op", "solitaire": "so", "pair": "pa", "cluster": "cl"}
# The two-element questions in blocks of one first element: 4 blocks colour + kind, 4 colour + type,
# 3 kind + type.
_BLOCKS = [
    (first, seconds) for firsts, seconds in ((COLOURS, KINDS), (COLOURS, TYPES), (KINDS, TYPES)) for first in firsts
]


class _Pen:
    """Write text of a fixed width, in colour where the terminal shows it."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def write(self, text: str, code: str = "", width: int = 0) -> str:
        """Return a text with its colour code, padded to a width."""
        padding = " " * max(0, width - len(text))
        return (f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text) + padding


def draw_ansi(options: Options, view: np.void, colour: bool = False, belief: bool = False) -> str:
    """Draw what one player knows for a terminal of 120 columns.

    >>> from sleuth_env.sleuth import VIEW, deal, make_rules, new_states, view
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(make_rules(options), states, np.array([0]), views)
    >>> lines = draw_ansi(options, views[0]).splitlines()
    >>> lines[0].split("  ")[0]
    "player_0's information sheet, turn 1 of 300"
    >>> max(len(line) for line in lines) < 120
    True

    Args:
        options: the options of the game.
        view: VIEW, one record.
        colour: whether to write ANSI colour codes.
        belief: whether to add what `draw_belief` draws.
    """
    scene = make_scene(options, view)
    pen = _Pen(colour)
    if len(scene.title) + len(scene.variants) < COLUMNS:
        lines = [pen.write(scene.title, _BOLD, COLUMNS - len(scene.variants)) + scene.variants]
    else:
        lines = [pen.write(scene.title, _BOLD), *wrap(scene.variants, COLUMNS)]
    squares = [_square(square, pen) for square in scene.squares]
    lines.append("═" * COLUMNS)
    lines += _side_by_side(_sheet_lines(squares, pen), _news_lines(scene, pen))
    lines += ["─" * COLUMNS, *(_player_line(seat, pen) for seat in scene.seats)]
    lines += ["─" * COLUMNS, *_answer_lines(scene, pen)]
    if belief:
        lines += ["─" * COLUMNS, *_belief_lines(options, view, scene, pen)]
    return _text(lines)


def draw_belief(options: Options, view: np.void, colour: bool = False) -> str:
    """Draw what one player may believe by a count of all deals.

    That is each gem's chance to be missing, and the questions that tell most.

    >>> from sleuth_env.sleuth import VIEW, deal, make_rules, new_states, view
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(make_rules(options), states, np.array([0]), views)
    >>> draw_belief(options, views[0]).splitlines()[0]
    '16,224,936 deals fit what you know, each as likely as any other'

    Args:
        options: the options of the game.
        view: VIEW, one record.
        colour: whether to write ANSI colour codes.
    """
    return _text(_belief_lines(options, view, make_scene(options, view), _Pen(colour)))


def _text(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _side_by_side(left: Iterable[str], right: Iterable[str]) -> Iterator[str]:
    return ((sheet or " " * _SHEET) + _BAR + (news or "") for sheet, news in zip_longest(left, right))


def _sheet_lines(squares: list[str], pen: _Pen) -> Iterator[str]:
    """Lay out what is written in each square, [36]."""
    yield " " * (_ROW_NAME + 1) + "".join(pen.write(colour, _CODES[colour], _SQUARE) for colour in COLOURS)
    for row, (kind, type_) in enumerate(ROWS):
        if row and row % len(TYPES) == 0:
            yield " " * _SHEET
        yield pen.write(f"{kind} {type_}", "", _ROW_NAME + 1) + "".join(
            squares[gem_at(row, column)] for column in range(len(COLOURS))
        )


def _square(square: Square, pen: _Pen) -> str:
    words = {YOURS: "you", TABLE: "table", HELD: f"+{square.holder}", MISSING: "MISSING"}
    if square.kind != OPEN:
        return pen.write(words[square.kind], {HELD: _BOLD, MISSING: _FOUND}.get(square.kind, _DIM), _SQUARE)
    signs = [*(str(k) for k in range(1, len(square.possible))), "?"]
    possible = (sign if may else "·" for sign, may in zip(signs, square.possible, strict=True))
    return pen.write("".join(possible), "", _SQUARE)


def _belief_lines(options: Options, view: np.void, scene: Scene, pen: _Pen) -> Iterator[str]:
    try:
        panel = make_panel(options, view)
    except IntricateError:
        yield pen.write("The deals that fit what you know cannot be counted", _BOLD)
        return
    yield pen.write(panel.deals, _BOLD)
    known = zip(scene.squares, panel.chances.tolist(), panel.proved.tolist(), strict=True)
    chances = [_chance(square, chance, proved, pen) for square, chance, proved in known]
    yield from _side_by_side(_sheet_lines(chances, pen), _prospect_lines(panel, pen))


def _chance(square: Square, chance: float, proved: int, pen: _Pen) -> str:
    """Return what is written in a gem's square about its chance to be missing."""
    if square.kind in (YOURS, TABLE):
        return _square(square, pen)
    if proved == 1:
        return pen.write("MISSING", _FOUND, _SQUARE)
    return pen.write("·", _DIM, _SQUARE) if proved == 0 else pen.write(f"{_percent(chance):>6}", "", _SQUARE)


def _percent(chance: float) -> str:
    """Return a probability in words; one that is not exactly 0 or 1 is never rounded to that."""
    if chance in (0, 1):
        return f"{chance:.0%}"
    words = f"{chance:.1%}"
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(words, words)


def _prospect_lines(panel: Panel, pen: _Pen) -> Iterator[str]:
    width = _NEWS - _BITS - _DECIDES
    columns = f"{'bits':>{_BITS}}{'decides':>{_DECIDES}}" if panel.prospects else ""
    yield pen.write(panel.heading, _BOLD, width) + columns
    for question in panel.prospects:
        columns = f"{question.information:{_BITS}.2f}{_percent(question.decides):>{_DECIDES}}"
        yield pen.write(question.name, "", width) + columns
    yield from [""] * (MOST_LISTED - len(panel.prospects))
    yield pen.write("%   chance to be missing   · proved not to be", _DIM)
    yield pen.write("bits about what is missing   decides: chance to settle it", _DIM)


def _news_lines(scene: Scene, pen: _Pen) -> Iterator[str]:
    status = [part for line in scene.status for part in wrap(line, _NEWS)]
    yield from (pen.write(line, _BOLD) for line in status)
    yield pen.write(scene.piles, _DIM)
    yield from (f"{'now' if i == 0 else '   '} {event}" for i, event in enumerate(scene.events))
    for _ in range(len(status) + 1 + len(scene.events), 10):
        yield ""
    yield pen.write("1 2 .. may have it   ? may be missing   · cannot", _DIM)
    yield pen.write("+1 has it   you have it   on the table", _DIM)


def _player_line(seat: Seat, pen: _Pen) -> str:
    sign = ">" if seat.has_turn else " "
    name = pen.write(f"{sign} {seat.label:<4}{seat.player}", _BOLD if seat.has_turn else "", 17)
    cards = "".join(pen.write(card, _card_code(card), 20) for card in seat.search_cards)
    return name + pen.write(seat.standing, "" if seat.in_play else _DIM, 9) + cards


def _card_code(card: str) -> str:
    return next((code for colour, code in _CODES.items() if colour in card.split("-")), "")


def _answer_lines(scene: Scene, pen: _Pen) -> Iterator[str]:
    """Lay out all announced counts: a line for each player, a column for each question."""
    singles = "".join(f"{_short(element):>3}" for element in ELEMENTS)
    firsts = ""
    seconds = ""
    for (first, gap), (_, others) in zip(_gaps(), _BLOCKS, strict=True):
        firsts += pen.write(f" {first[:3]}", _CODES.get(first, ""), 4) + " " * gap
        seconds += " " + "".join(other[0] for other in others) + " " * gap
    yield " " * (_LABEL + len(singles)) + firsts
    yield pen.write("Answers", _BOLD, _LABEL) + singles + seconds
    yield from (_answer_line(seat) for seat in scene.seats)


def _gaps() -> list[tuple[str, int]]:
    """Return the first element of each block of two-element questions, and the space after it."""
    return [(first, 2 if i in (3, 7) else 0) for i, (first, _) in enumerate(_BLOCKS)]


def _short(element: str) -> str:
    return _ABBREVIATIONS.get(element, element[:2])


def _answer_line(seat: Seat) -> str:
    counts = {question: int(count) for question, count in zip(QUESTIONS, seat.answers, strict=True)}
    words = ["·" if count < 0 else str(count) for count in counts.values()]
    single = "".join(f"{words[i]:>3}" for i in range(len(ELEMENTS)))
    at = len(ELEMENTS)
    blocks = ""
    for (_, gap), (_, seconds) in zip(_gaps(), _BLOCKS, strict=True):
        blocks += " " + "".join(words[at : at + len(seconds)]) + " " * gap
        at += len(seconds)
    return f"{seat.label:<4}{seat.player:<{_LABEL - 4}}" + single + blocks
