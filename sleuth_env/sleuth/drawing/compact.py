"""The drawing of a game as one player sees it, for a terminal of 80 columns and 24 lines.

Everything that the wide drawing shows is there. Search cards of a full table are abbreviated by the
letters that head the columns of the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import shorten, wrap

from ...drawing.pen import BOLD, DIM, Pen
from ..cards import COLOURS, ELEMENTS, QUESTIONS, TYPES
from .letters import BLOCKS, CODES, abbreviated, card_code, chance_words, square_words
from .scene import MOST_LISTED, ROWS, Panel, Scene, Seat, gem_at

# Widths in characters.
_SQUARE = 8
_ROW_NAME = 18
_SHEET = _ROW_NAME + len(COLOURS) * _SQUARE
_BAR = "│ "
_LABEL = 4
COLUMNS = 79  # the fewest that are enough; a terminal should have one more
# Lines that a prompt and what stands above it take.
_PROMPT = 2
# More players than these leave no room for the names of search cards in 24 lines.
_MOST_NAMED = 4
_FEWEST_NEWS = 1
_LEGEND = "12.. may have it   ? may be missing   · cannot   +1 has it   you have it"


def compact_lines(scene: Scene, pen: Pen, columns: int, lines: int) -> Iterator[str]:
    """Draw a scene in a number of columns (79 or more), and in a number of lines if it can be."""
    head = list(_title_lines(scene, pen, columns))
    yield from head
    sheet = list(sheet_lines([pen.write(*square_words(square), _SQUARE) for square in scene.squares], pen))
    width = columns - _SHEET - len(_BAR)
    status = [pen.write(line, BOLD) for text in scene.status for line in _wrapped(text, width)]
    answers = list(_answer_lines(scene, pen))
    named = len(scene.seats) <= _MOST_NAMED
    if named:
        beside = [*status, pen.write(scene.piles, DIM), *_event_lines(scene.events, width)]
        below = [_named_line(seat, pen) for seat in scene.seats]
    else:
        beside = [*(_abbreviated_line(seat, pen) for seat in scene.seats), *status]
        below = []
    yield from side_by_side(sheet, beside[: len(sheet)])
    room = lines - len(head) - len(sheet) - len(below) - len(answers) - _PROMPT if lines else None
    # Where there is next to no room, the news are more than what the signs mean.
    has_legend = room is None or room >= (1 if named else 1 + _FEWEST_NEWS)
    if has_legend:
        yield pen.write(_LEGEND, DIM)
    yield from below
    yield from answers
    if not named:
        news = [*beside[len(sheet) :], *_event_lines(scene.events, columns)]
        yield from news if room is None else news[: max(room - has_legend, _FEWEST_NEWS)]


def compact_belief_lines(scene: Scene, panel: Panel, pen: Pen, columns: int) -> Iterator[str]:
    """Draw a panel in a number of columns (79 or more)."""
    known = zip(scene.squares, panel.chances.tolist(), panel.proved.tolist(), strict=True)
    squares = [pen.write(*chance_words(*each), _SQUARE) for each in known]
    width = columns - _SHEET - len(_BAR)
    yield from wrap(panel.deals, columns)
    heading = [pen.write(line, BOLD) for line in wrap(panel.heading, width)]
    rows = [
        f"{question.name.removeprefix('ask '):<{width - 5}}{question.information:5.2f}" for question in panel.prospects
    ]
    yield from side_by_side(sheet_lines(squares, pen), [*heading, *rows[:MOST_LISTED]])
    yield pen.write("%  chance to be missing   · proved not to be   on the right: bits it tells", DIM)


def sheet_lines(squares: list[str], pen: Pen) -> Iterator[str]:
    """Lay out what is written in each square (36 texts of equal width)."""
    yield " " * _ROW_NAME + "".join(pen.write(colour, CODES[colour], _SQUARE) for colour in COLOURS)
    for row, (kind, type_) in enumerate(ROWS):
        cells = (squares[gem_at(row, column)] for column in range(len(COLOURS)))
        yield pen.write(f"{kind} {type_}", "", _ROW_NAME) + "".join(cells)


def side_by_side(left: Iterable[str], right: Iterable[str]) -> Iterator[str]:
    """Put lines of the sheet and other lines beside each other."""
    return ((sheet or " " * _SHEET) + _BAR + (other or "") for sheet, other in zip_longest(left, right))


def _title_lines(scene: Scene, pen: Pen, columns: int) -> Iterator[str]:
    if len(scene.title) + len(scene.variants) < columns:
        yield pen.write(scene.title, BOLD, columns - len(scene.variants)) + scene.variants
    else:
        yield pen.write(scene.title, BOLD)
        yield shorten(scene.variants, columns, placeholder=" …")


def _event_lines(events: Iterable[str], width: int) -> Iterator[str]:
    for number, event in enumerate(events):
        yield from _wrapped(f"{'now' if number == 0 else '  -'} {event}", width, "    ")


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


def _named_line(seat: Seat, pen: Pen) -> str:
    name = pen.write(f"{'>' if seat.has_turn else ' '}{seat.label:<{_LABEL}}", BOLD if seat.has_turn else "")
    standing = "" if seat.standing == "in" else f"{seat.standing} "
    cards = (pen.write(card, card_code(card)) for card in seat.search_cards)
    # The longest names fit 79 columns so; a player who is in has room for more.
    return name + pen.write(standing, DIM) + (" " if standing else "  ").join(cards)


def _abbreviated_line(seat: Seat, pen: Pen) -> str:
    name = pen.write(f"{seat.label:<{_LABEL - 1}}{'>' if seat.has_turn else ' '}", BOLD if seat.has_turn else "")
    cards = (pen.write(_short_card(card), card_code(card)) for card in seat.search_cards)
    return name + (" ".join(cards) if seat.in_play else pen.write(seat.standing, DIM))


def _short_card(card: str) -> str:
    """Return the abbreviation of a search card: ``bl-op`` of ``blue-opal``, ``f-bl`` of ``free-blue``."""
    if card == "free":
        return card
    return "-".join("f" if word == "free" else abbreviated(word) for word in card.split("-"))


def _answer_lines(scene: Scene, pen: Pen) -> Iterator[str]:
    """Lay out all announced counts: a line for each player, a column for each question."""
    singles = "".join(f"{abbreviated(element):>3}" for element in ELEMENTS)
    firsts = "".join(pen.write(f" {first[:3]}", CODES.get(first, ""), 4) for first, _ in BLOCKS)
    seconds = "".join(" " + "".join(other[0] for other in others) for _, others in BLOCKS)
    yield pen.write("Answers", BOLD, _LABEL + len(singles)) + firsts
    yield " " * _LABEL + singles + seconds
    yield from (_answer_line(seat) for seat in scene.seats)


def _answer_line(seat: Seat) -> str:
    words = ["·" if count < 0 else str(count) for count in seat.answers[: len(QUESTIONS)].tolist()]
    at = len(ELEMENTS)
    singles = "".join(f"{word:>3}" for word in words[:at])
    size = len(TYPES)
    blocks = ("".join(words[k : k + size]) for k in range(at, len(words), size))
    return f"{seat.label:<{_LABEL}}" + singles + "".join(f" {block}" for block in blocks)
