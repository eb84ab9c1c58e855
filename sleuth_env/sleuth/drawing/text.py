"""The drawing of a game as one player sees it, in letters for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import wrap

import numpy as np

from ...checks import check_flag
from ...deduction.worlds import IntricateError
from ...drawing.pen import BOLD, DIM, Pen, checked_size, text_of
from ..cards import COLOURS, ELEMENTS, QUESTIONS, TYPES, Options
from . import compact
from .compact import compact_belief_lines, compact_lines
from .letters import BLOCKS, CODES, abbreviated, card_code, chance_words, percent, square_words
from .scene import MOST_LISTED, ROWS, Panel, Scene, Seat, gem_at, make_panel, make_scene

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
# Lines of the wide drawing, with a prompt, besides two for each player.
_LINES = 20


def draw_ansi(
    options: Options, view: np.void, colour: bool = False, columns: int = 0, lines: int = 0, belief: bool = False
) -> str:
    """Draw what one player knows for a terminal: of 120 columns, or of 80 columns and 24 lines.

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
    >>> lines = draw_ansi(options, views[0], columns=80, lines=24).splitlines()
    >>> max(len(line) for line in lines) < 80, len(lines) < 23
    (True, True)

    Args:
        options: the options of the game.
        view: VIEW, one record.
        colour: whether to write ANSI colour codes.
        columns: of the terminal; 0: enough.
        lines: of the terminal; 0: enough.
        belief: whether to add what `draw_belief` draws.

    Raises:
        ArrayError: the view is something else, of another kind of game, or has a field out of its range.
        ValueError: columns or lines are not whole numbers of at least 0.
    """
    columns, lines = checked_size(columns, lines)
    belief = check_flag("belief", belief)
    scene = make_scene(options, view)
    pen = Pen(colour)
    if _is_small(columns, lines, _LINES + 2 * options.num_players):
        width = _compact_width(columns)
        drawn = list(compact_lines(scene, pen, width, lines))
        if belief:
            drawn += ["─" * width, *_belief_lines(options, view, scene, pen, width)]
        return text_of(drawn)
    return text_of(_wide_lines(options, view, scene, pen, belief))


def _is_small(columns: int, lines: int, tall: int) -> bool:
    """Return whether a terminal is too small for the wide drawing, which takes a number of lines."""
    return bool(columns) and (columns < COLUMNS or 0 < lines < tall)


def _compact_width(columns: int) -> int:
    # Where a terminal breaks a line that fills it, the last column stays empty.
    return min(max(columns - 1, compact.COLUMNS), COLUMNS)


def _wide_lines(options: Options, view: np.void, scene: Scene, pen: Pen, belief: bool) -> list[str]:
    if len(scene.title) + len(scene.variants) < COLUMNS:
        lines = [pen.write(scene.title, BOLD, COLUMNS - len(scene.variants)) + scene.variants]
    else:
        lines = [pen.write(scene.title, BOLD), *wrap(scene.variants, COLUMNS)]
    squares = [pen.write(*square_words(square), _SQUARE) for square in scene.squares]
    lines.append("═" * COLUMNS)
    lines += _side_by_side(_sheet_lines(squares, pen), _news_lines(scene, pen))
    lines += ["─" * COLUMNS, *(_player_line(seat, pen) for seat in scene.seats)]
    lines += ["─" * COLUMNS, *_answer_lines(scene, pen)]
    if belief:
        lines += ["─" * COLUMNS, *_belief_lines(options, view, scene, pen, 0)]
    return lines


def draw_belief(options: Options, view: np.void, colour: bool = False, columns: int = 0, lines: int = 0) -> str:
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
        columns: of the terminal; 0: enough.
        lines: of the terminal; 0: enough.

    Raises:
        ArrayError: the view is something else, of another kind of game, or has a field out of its range.
        ValueError: columns or lines are not whole numbers of at least 0.
    """
    columns, lines = checked_size(columns, lines)
    width = _compact_width(columns) if _is_small(columns, lines, _LINES) else 0
    return text_of(_belief_lines(options, view, make_scene(options, view), Pen(colour), width))


def _side_by_side(left: Iterable[str], right: Iterable[str]) -> Iterator[str]:
    return ((sheet or " " * _SHEET) + _BAR + (news or "") for sheet, news in zip_longest(left, right))


def _sheet_lines(squares: list[str], pen: Pen) -> Iterator[str]:
    """Lay out what is written in each square, [36]."""
    yield " " * (_ROW_NAME + 1) + "".join(pen.write(colour, CODES[colour], _SQUARE) for colour in COLOURS)
    for row, (kind, type_) in enumerate(ROWS):
        if row and row % len(TYPES) == 0:
            yield " " * _SHEET
        yield pen.write(f"{kind} {type_}", "", _ROW_NAME + 1) + "".join(
            squares[gem_at(row, column)] for column in range(len(COLOURS))
        )


def _belief_lines(options: Options, view: np.void, scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    """Lay out the panel for the wide drawing, or in a width."""
    try:
        panel = make_panel(options, view)
    except IntricateError:
        yield pen.write("The deals that fit what you know cannot be counted", BOLD)
        return
    if width:
        yield from compact_belief_lines(scene, panel, pen, width)
        return
    yield pen.write(panel.deals, BOLD)
    known = zip(scene.squares, panel.chances.tolist(), panel.proved.tolist(), strict=True)
    chances = [pen.write(*chance_words(*each), _SQUARE) for each in known]
    yield from _side_by_side(_sheet_lines(chances, pen), _prospect_lines(panel, pen))


def _prospect_lines(panel: Panel, pen: Pen) -> Iterator[str]:
    width = _NEWS - _BITS - _DECIDES
    columns = f"{'bits':>{_BITS}}{'decides':>{_DECIDES}}" if panel.prospects else ""
    yield pen.write(panel.heading, BOLD, width) + columns
    for question in panel.prospects:
        columns = f"{question.information:{_BITS}.2f}{percent(question.decides):>{_DECIDES}}"
        yield pen.write(question.name, "", width) + columns
    yield from [""] * (MOST_LISTED - len(panel.prospects))
    yield pen.write("%   chance to be missing   · proved not to be", DIM)
    yield pen.write("bits about what is missing   decides: chance to settle it", DIM)


def _news_lines(scene: Scene, pen: Pen) -> Iterator[str]:
    status = [part for line in scene.status for part in wrap(line, _NEWS)]
    yield from (pen.write(line, BOLD) for line in status)
    yield pen.write(scene.piles, DIM)
    yield from (f"{'now' if i == 0 else '   '} {event}" for i, event in enumerate(scene.events))
    for _ in range(len(status) + 1 + len(scene.events), 10):
        yield ""
    yield pen.write("1 2 .. may have it   ? may be missing   · cannot", DIM)
    yield pen.write("+1 has it   you have it   on the table", DIM)


def _player_line(seat: Seat, pen: Pen) -> str:
    sign = ">" if seat.has_turn else " "
    name = pen.write(f"{sign} {seat.label:<4}{seat.player}", BOLD if seat.has_turn else "", 17)
    cards = "".join(pen.write(card, card_code(card), 20) for card in seat.search_cards)
    return name + pen.write(seat.standing, "" if seat.in_play else DIM, 9) + cards


def _answer_lines(scene: Scene, pen: Pen) -> Iterator[str]:
    """Lay out all announced counts: a line for each player, a column for each question."""
    singles = "".join(f"{abbreviated(element):>3}" for element in ELEMENTS)
    firsts = ""
    seconds = ""
    for (first, gap), (_, others) in zip(_gaps(), BLOCKS, strict=True):
        firsts += pen.write(f" {first[:3]}", CODES.get(first, ""), 4) + " " * gap
        seconds += " " + "".join(other[0] for other in others) + " " * gap
    yield " " * (_LABEL + len(singles)) + firsts
    yield pen.write("Answers", BOLD, _LABEL) + singles + seconds
    yield from (_answer_line(seat) for seat in scene.seats)


def _gaps() -> list[tuple[str, int]]:
    """Return the first element of each block of two-element questions, and the space after it."""
    return [(first, 2 if i in (3, 7) else 0) for i, (first, _) in enumerate(BLOCKS)]


def _answer_line(seat: Seat) -> str:
    counts = {question: int(count) for question, count in zip(QUESTIONS, seat.answers, strict=True)}
    words = ["·" if count < 0 else str(count) for count in counts.values()]
    single = "".join(f"{words[i]:>3}" for i in range(len(ELEMENTS)))
    at = len(ELEMENTS)
    blocks = ""
    for (_, gap), (_, seconds) in zip(_gaps(), BLOCKS, strict=True):
        blocks += " " + "".join(words[at : at + len(seconds)]) + " " * gap
        at += len(seconds)
    return f"{seat.label:<4}{seat.player:<{_LABEL - 4}}" + single + blocks
