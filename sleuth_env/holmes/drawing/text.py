"""The drawing of a game as one player sees it, in letters for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten, wrap

import numpy as np

from ...drawing.pen import BOLD, DIM, Pen, checked_size, text_of
from ..belief import belief
from ..cards import VILLAINS, Options, make_rules
from ..records import one_view
from .scene import MAY, NO, YES, Scene, Seat, make_scene

# Columns of the wide drawing; no line of it is longer.
WIDE = 119
COLUMNS = 79  # the fewest that are enough; a terminal should have one more
# Lines that a prompt and what stands above it take.
_PROMPT = 2
_SIGN = 5
_LABEL = 5
_PLAYER = 10
# The colour of the cards of each category.
CODES = {
    "travel": "36",
    "city": "34",
    "country": "32",
    "information": "33",
    "action": "31",
    "i-say": "35",
    "interrupt": "1;34",
    "villain": "1;31",
    "start": "1",
}
SIGNS = {NO: "·", MAY: "?", YES: "yes"}
_LEGEND = "yes has it   ? may have it   · has it not   * may follow the Current card"


def draw_ansi(options: Options, view: np.void, colour: bool = False, columns: int = 0, lines: int = 0) -> str:
    """Draw what one player knows for a terminal: of 120 columns, or of 80 columns and 24 lines.

    >>> from sleuth_env.holmes import VIEW, deal, make_rules, new_states, view
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(make_rules(options), states, np.array([0]), views)
    >>> lines = draw_ansi(options, views[0]).splitlines()
    >>> lines[0].split("  ")[0]
    'player_0, case 1, turn 1 of 1500'
    >>> lines = draw_ansi(options, views[0], columns=80, lines=24).splitlines()
    >>> max(len(line) for line in lines) < 80, len(lines) < 23
    (True, True)

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
    scene = make_scene(options, view)
    width = _width(columns)
    return text_of(_laid_out(scene, Pen(colour), width, max(lines - _PROMPT, 1) if lines else 0))


def _width(columns: int) -> int:
    # Where a terminal breaks a line that fills it, the last column stays empty.
    return min(max(columns - 1, COLUMNS), WIDE) if columns else WIDE


def _laid_out(scene: Scene, pen: Pen, width: int, most: int) -> list[str]:
    """Lay a scene out in a width, and in a number of lines if it can be (0: in as many as it takes).

    Where lines are scarce, the oldest events are left out first, then what was shown and the tokens.
    """
    head = [*_head_lines(scene, pen, width), *_table_lines(scene, pen, width), *_hand_lines(scene, pen, width)]
    rest = [*_token_lines(scene, pen, width), *_look_lines(scene, pen, width)]
    events = list(_event_lines(scene, pen, width))
    if not most:
        return [*head, *rest, *events]
    fewest = 1 if events else 0
    room = max(most - len(head), 0)
    rest = rest[: max(room - fewest, 0)]
    return [*head, *rest, *events[: room - len(rest)]]


def _head_lines(scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    if len(scene.title) + len(scene.variants) < width:
        yield pen.write(scene.title, BOLD, width - len(scene.variants)) + scene.variants
    else:
        yield pen.write(scene.title, BOLD)
        yield shorten(scene.variants, width, placeholder=" …")
    place = f"  location {scene.location}   {scene.piles}"
    card = f"Current card: {scene.current}"
    yield (
        pen.write("Current card: ", "")
        + pen.write(scene.current, CODES[scene.category])
        + (place if len(card) + len(place) <= width else "")
    )
    yield pen.write(shorten(f"followed by: {scene.follows}", width, placeholder=" …"), DIM)
    yield from (pen.write(line, BOLD) for line in wrap(scene.status, width, break_on_hyphens=False))


# --- who may hold what ---


def _table_lines(scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    """Lay out the players with their cards and what is known of them, a line for each."""
    names = "".join(f"{name[: _SIGN - 1]:>{_SIGN}}" for name in VILLAINS)
    label = f"{'':<{_LABEL + 1 + (_PLAYER if width == WIDE else 0)}}"
    yield pen.write(f"{label}cards closed {names}  surely holds", DIM)
    for seat in scene.seats:
        yield _seat_line(seat, pen, width)
    gone = f"  discarded: {', '.join(scene.gone)}" if scene.gone else ""
    yield f"{'draw pile':<{len(label) + 13}}" + _signs(scene.pile, pen) + gone


def _seat_line(seat: Seat, pen: Pen, width: int) -> str:
    name = f"{'>' if seat.has_turn else ' '}{seat.label:<{_LABEL}}"
    if width == WIDE:
        name += f"{seat.player:<{_PLAYER}}"
    numbers = f"{seat.cards:>5} {seat.closed:>6} "
    left = len(name) + len(numbers) + _SIGN * len(VILLAINS) + 2
    certain = shorten(", ".join(seat.certain), width - left, placeholder=" …")
    return pen.write(name, BOLD if seat.has_turn else "") + numbers + _signs(seat.villains, pen) + "  " + certain


def _signs(villains: list[int], pen: Pen) -> str:
    codes = {NO: DIM, MAY: "", YES: CODES["villain"]}
    return "".join(" " * (_SIGN - len(SIGNS[one])) + pen.write(SIGNS[one], codes[one]) for one in villains)


# --- the hand, the tokens, what was shown ---


def _hand_lines(scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    """Lay out the viewer's hand; what may be played is marked."""
    heading = f"Your hand ({sum(card.copies for card in scene.hand)}): "
    indent = " " * 4
    line = pen.write(heading, BOLD)
    used = len(heading)
    for number, card in enumerate(scene.hand):
        words = f"{'*' if card.playable else ''}{card.words}"
        gap = "   " if number else ""
        if used + len(gap) + len(words) > width:
            yield line
            line = indent
            used = len(indent)
            gap = ""
        line += gap + pen.write(words, CODES[card.category])
        used += len(gap) + len(words)
    yield line
    yield pen.write(_LEGEND, DIM)


def _paragraph(heading: str, parts: list[str], pen: Pen, width: int) -> list[str]:
    """Lay out a heading and some parts, with a bar between two of them."""
    lines = wrap(f"{heading} {' | '.join(parts)}", width, subsequent_indent="  ", break_on_hyphens=False)
    return [pen.write(heading, BOLD) + lines[0][len(heading) :], *lines[1:]]


def _token_lines(scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    parts = [f"{seat.label}: {', '.join(seat.tokens)}" for seat in scene.seats if seat.tokens]
    yield from _paragraph("Tokens:", parts or ["nobody has any"], pen, width)
    yield from _paragraph("Left:", [scene.supply], pen, width)


def _look_lines(scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    parts = [f"{seat.label}: {seat.look}" for seat in scene.seats if seat.look]
    if parts:
        yield from _paragraph("Last shown to you:", parts, pen, width)


def _event_lines(scene: Scene, pen: Pen, width: int) -> Iterator[str]:
    for number, event in enumerate(scene.events):
        yield f"{'now' if number == 0 else '  -'} {shorten(event, width - 4, placeholder=' …')}"


# --- what may be believed ---


def draw_odds(options: Options, view: np.void, colour: bool = False, columns: int = 0, lines: int = 0) -> str:
    """Draw how likely each Villain is to lie with each player, by the estimate of `belief`.

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
    found = belief(make_rules(options), one_view(options, view))
    scene = make_scene(options, view)
    pen = Pen(colour)
    size = 11
    rows = [pen.write("Chance of each Villain to be there, by an estimate", BOLD)]
    rows.append(f"{'':<10}" + "".join(f"{name:>{size}}" for name in VILLAINS) + f"{'any':>{size}}")
    labels = [*(seat.label for seat in scene.seats[1:]), "draw pile"]
    for label, chances in zip(labels, found.chance, strict=True):
        some = 1 - float(np.prod(1 - chances))
        cells = [f"{_percent(float(chance)):>{size}}" for chance in [*chances, some]]
        rows.append(f"{label:<10}{''.join(cells)}")
    return text_of(rows)


def _percent(chance: float) -> str:
    """Return a probability in words; one that is not exactly 0 or 1 is never rounded to that."""
    if chance in (0, 1):
        return f"{chance:.0%}"
    words = f"{chance:.1%}"
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(words, words)
