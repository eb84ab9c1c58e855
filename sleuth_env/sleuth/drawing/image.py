"""The drawing of a game as one player sees it, as an image made with Pillow.

It needs no window system and has the same pixels every time.
"""

from __future__ import annotations

import numpy as np

from ...drawing.canvas import BAR, CARD, FAINT, GOLD, INK, LINE, PAPER, RGB, SOFT, WHITE, Canvas, mixed
from ..cards import COLOURS, ELEMENTS, QUESTIONS, TYPES, Options
from .scene import HELD, MISSING, OPEN, ROWS, TABLE, YOURS, Scene, Seat, Square, gem_at, make_scene

WIDTH = 1180
EDGE = 20
HEAD = 52
SHEET_TOP = 68
ROW = 38
COLUMN = 134
ROW_NAME = 138
GROUP_GAP = 6
SHEET_RIGHT = EDGE + ROW_NAME + len(COLOURS) * COLUMN
SHEET_BOTTOM = SHEET_TOP + 26 + len(ROWS) * ROW + 2 * GROUP_GAP
PLAYERS_TOP = SHEET_BOTTOM + 14
PLAYER = 32
ANSWER = 24
ANSWER_HEAD = 46
EVENT = 25

PAINT: dict[str, RGB] = {"red": (207, 62, 62), "blue": (56, 116, 203), "green": (52, 145, 82), "yellow": (219, 165, 32)}


def _paint(name: str) -> RGB:
    """Return the colour of a gem, question or search card by its name; grey when it has none."""
    return next((PAINT[word] for word in name.split("-") if word in PAINT), SOFT)


def draw_rgb(options: Options, view: np.void) -> np.ndarray:
    """Draw what one player knows as an image.

    >>> from sleuth_env.sleuth import VIEW, deal, make_rules, new_states, view
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(make_rules(options), states, np.array([0]), views)
    >>> draw_rgb(options, views[0]).shape
    (722, 1180, 3)

    Args:
        options: the options of the game.
        view: VIEW, one record.

    Returns:
        u1 [height, width, 3]; its shape depends on the number of players only.

    Raises:
        ArrayError: the view is something else, of another kind of game, or has a field out of its range.
    """
    scene = make_scene(options, view)
    answers_top = PLAYERS_TOP + options.num_players * PLAYER + 24
    canvas = Canvas(WIDTH, answers_top + ANSWER_HEAD + options.num_players * ANSWER + 22)
    _draw_head(canvas, scene)
    _draw_sheet(canvas, scene)
    _draw_news(canvas, scene)
    _draw_players(canvas, scene)
    _draw_answers(canvas, scene, answers_top)
    return canvas.pixels()


def _draw_head(canvas: Canvas, scene: Scene) -> None:
    canvas.box(0, 0, WIDTH, HEAD, BAR, radius=0)
    canvas.text(EDGE, HEAD / 2, "SLEUTH", 24, GOLD, bold=True)
    canvas.text(EDGE + 118, HEAD / 2 + 1, scene.title, 17, WHITE)
    canvas.fitted(WIDTH - EDGE, HEAD / 2 + 1, scene.variants, 560, 14, fill=mixed(WHITE, BAR, 0.75), anchor="rm")


# --- the information sheet ---


def _draw_sheet(canvas: Canvas, scene: Scene) -> None:
    for column, colour in enumerate(COLOURS):
        x = EDGE + ROW_NAME + column * COLUMN
        canvas.box(x + 2, SHEET_TOP, COLUMN - 4, 22, PAINT[colour])
        canvas.text(x + COLUMN / 2, SHEET_TOP + 11, colour, 14, WHITE, "mm", bold=True)
    for row, (kind, type_) in enumerate(ROWS):
        y = SHEET_TOP + 26 + row * ROW + row // len(TYPES) * GROUP_GAP
        _draw_gem(canvas, EDGE + 22, y + ROW / 2, kind, type_, SOFT)
        canvas.text(EDGE + 48, y + ROW / 2 - 7, kind, 13, bold=True)
        canvas.text(EDGE + 48, y + ROW / 2 + 8, type_, 12, SOFT)
        for column, colour in enumerate(COLOURS):
            x = EDGE + ROW_NAME + column * COLUMN
            _draw_square(canvas, x + 2, y + 1, scene.squares[gem_at(row, column)], PAINT[colour], (kind, type_))


def _draw_square(canvas: Canvas, x: float, y: float, square: Square, paint: RGB, gem: tuple[str, str]) -> None:
    width = COLUMN - 4
    height = ROW - 2
    hidden = square.kind in (OPEN, HELD)
    grounds = {OPEN: mixed(paint, WHITE, 0.13), HELD: mixed(paint, WHITE, 0.36), MISSING: GOLD}
    ground = grounds.get(square.kind, mixed(SOFT, PAPER, 0.12))
    canvas.box(x, y, width, height, ground, mixed(paint, WHITE, 0.45 if hidden else 0.2))
    gem_paint = paint if hidden or square.kind == MISSING else mixed(paint, PAPER, 0.45)
    _draw_gem(canvas, x + 20, y + height / 2, *gem, gem_paint)
    middle = x + 39 + (width - 39) / 2
    if square.kind == OPEN:
        _draw_possible(canvas, middle, y + height / 2, square.possible)
    elif square.kind == HELD:
        canvas.box(middle - 19, y + 7, 38, height - 14, INK, radius=9)
        canvas.text(middle, y + height / 2, f"+{square.holder}", 14, WHITE, "mm", bold=True)
    else:
        words, fill = {YOURS: ("yours", SOFT), TABLE: ("on table", SOFT), MISSING: ("MISSING", INK)}[square.kind]
        canvas.text(middle, y + height / 2, words, 14, fill, "mm", bold=square.kind == MISSING)


def _draw_possible(canvas: Canvas, x: float, y: float, possible: tuple[bool, ...]) -> None:
    """Draw the holders that are possible side by side, a dot for those that are not."""
    signs = [*(str(k) for k in range(1, len(possible))), "?"]
    step = min(18.0, 84 / len(signs))
    for i, (sign, may) in enumerate(zip(signs, possible, strict=True)):
        at = x + (i - (len(signs) - 1) / 2) * step
        if not may:
            canvas.dot(at, y, 1.4, FAINT)
        elif sign == "?":
            canvas.dot(at, y, 7, GOLD)
            canvas.text(at, y, sign, 13, INK, "mm", bold=True)
        else:
            canvas.text(at, y, sign, 14, INK, "mm")


def _draw_gem(canvas: Canvas, x: float, y: float, kind: str, type_: str, fill: RGB) -> None:
    """Draw one, two or three stones."""
    places = {"solitaire": [(0, 0)], "pair": [(-7, 0), (7, 0)], "cluster": [(-7, 5), (7, 5), (0, -7)]}[type_]
    size = 8.5 if type_ == "solitaire" else 6.5
    for dx, dy in places:
        _draw_stone(canvas, x + dx, y + dy, size, kind, fill)


def _draw_stone(canvas: Canvas, x: float, y: float, size: float, kind: str, fill: RGB) -> None:
    light = mixed(WHITE, fill, 0.55)
    dark = mixed(INK, fill, 0.3)
    if kind == "diamond":
        canvas.shape([(x, y - size), (x + size, y), (x, y + size), (x - size, y)], dark)
        canvas.shape([(x, y - size + 1.2), (x + size - 1.2, y), (x, y + size - 1.2), (x - size + 1.2, y)], fill)
        canvas.shape([(x, y - size + 1.2), (x, y), (x - size + 1.2, y)], light)
    elif kind == "pearl":
        canvas.dot(x, y, size * 0.9, dark)
        canvas.dot(x, y, size * 0.9 - 1, fill)
        canvas.dot(x - size * 0.3, y - size * 0.3, size * 0.28, light)
    else:
        side = size * 0.82
        canvas.box(x - side, y - side, 2 * side, 2 * side, dark, radius=size * 0.35)
        canvas.box(x - side + 1, y - side + 1, 2 * side - 2, 2 * side - 2, fill, radius=size * 0.3)
        canvas.shape([(x - side + 2, y + side - 3), (x - side + 2, y - side + 2), (x + side - 3, y - side + 2)], light)


# --- what is going on ---


def _draw_news(canvas: Canvas, scene: Scene) -> None:
    x = SHEET_RIGHT + 16
    width = WIDTH - EDGE - SHEET_RIGHT - 16
    height = 16 + 24 * 3
    canvas.box(x, SHEET_TOP, width, height, BAR, radius=8)
    for i, line in enumerate(scene.status):
        size, fill = (16, GOLD) if i == 0 else (14, WHITE)
        canvas.fitted(x + 14, SHEET_TOP + 20 + 24 * i, line, width - 28, size, fill=fill, bold=i == 0)
    top = SHEET_TOP + height + 10
    canvas.box(x, top, width, SHEET_BOTTOM - top, CARD, LINE, radius=8)
    canvas.text(x + 14, top + 18, "Last events", 14, SOFT, bold=True)
    canvas.text(WIDTH - EDGE - 14, top + 18, scene.piles, 12, SOFT, "rm")
    for i, event in enumerate(scene.events):
        fill = INK if i == 0 else mixed(INK, SOFT, 0.4)
        canvas.fitted(x + 14, top + 44 + i * EVENT, event, width - 28, 14, fill=fill)
    _draw_legend(canvas, x + 14, SHEET_BOTTOM - 22)


def _draw_legend(canvas: Canvas, x: float, y: float) -> None:
    canvas.line(x, y - 16, WIDTH - EDGE - 14 - x)
    canvas.text(x, y, "1 2 ..", 12)
    canvas.text(x + 34, y, "may have it", 12, SOFT)
    canvas.dot(x + 122, y, 6, GOLD)
    canvas.text(x + 122, y, "?", 12, INK, "mm")
    canvas.text(x + 133, y, "may be missing", 12, SOFT)
    canvas.dot(x + 235, y, 1.6, FAINT)
    canvas.text(x + 243, y, "cannot", 12, SOFT)
    canvas.box(x + 296, y - 8, 26, 16, INK, radius=7)
    canvas.text(x + 309, y, "+1", 12, WHITE, "mm")
    canvas.text(x + 328, y, "has it", 12, SOFT)


def _draw_players(canvas: Canvas, scene: Scene) -> None:
    canvas.box(EDGE, PLAYERS_TOP, WIDTH - 2 * EDGE, len(scene.seats) * PLAYER + 10, CARD, LINE, radius=8)
    for k, seat in enumerate(scene.seats):
        y = PLAYERS_TOP + 5 + k * PLAYER
        if seat.has_turn:
            canvas.box(EDGE + 4, y + 1, WIDTH - 2 * EDGE - 8, PLAYER - 2, mixed(GOLD, CARD, 0.3))
        _draw_label(canvas, EDGE + 14, y + PLAYER / 2, seat)
        lost = not seat.in_play and seat.standing in ("out", "accused")
        paint = PAINT["red"] if lost else mixed(PAINT["green"], SOFT, 0.9)
        canvas.box(EDGE + 150, y + 7, 66, PLAYER - 14, paint, radius=9)
        canvas.text(EDGE + 183, y + PLAYER / 2, seat.standing, 12, WHITE, "mm")
        for i, card in enumerate(seat.search_cards):
            _draw_search_card(canvas, EDGE + 236 + i * 222, y + 4, card)


def _draw_label(canvas: Canvas, x: float, y: float, seat: Seat) -> None:
    canvas.text(x, y, seat.label, 14, bold=True)
    canvas.text(x + 40, y, seat.player, 14, SOFT)


def _draw_search_card(canvas: Canvas, x: float, y: float, card: str) -> None:
    paint = _paint(card)
    height = PLAYER - 8
    canvas.box(x, y, 212, height, mixed(paint, WHITE, 0.16), mixed(paint, WHITE, 0.5))
    canvas.box(x, y, 8, height, paint, radius=4)
    words = card.split("-")
    if words[0] == "free":
        canvas.box(x + 16, y + 4, 46, height - 8, GOLD, radius=7)
        canvas.text(x + 39, y + height / 2, "FREE", 12, INK, "mm", bold=True)
        words = words[1:] or ["choice"]
    canvas.text(x + (72 if card.startswith("free") else 20), y + height / 2, " ".join(words), 14)


# --- the answers ---


def _question_places() -> list[float]:
    """Return the x of each question's column.

    One-element questions are wide, the others stand in blocks with the same first element.
    """
    places = []
    x = EDGE + 148.0
    for question, nxt in zip(QUESTIONS, [*QUESTIONS[1:], ("",)], strict=True):
        places.append(x)
        x += 26 if len(question) == 1 else 18.5
        if len(nxt) == 2 and nxt[0] != question[0]:
            x += 9
    return places


def _draw_answers(canvas: Canvas, scene: Scene, top: float) -> None:
    height = ANSWER_HEAD + len(scene.seats) * ANSWER + 6
    canvas.box(EDGE, top, WIDTH - 2 * EDGE, height, CARD, LINE, radius=8)
    canvas.text(EDGE + 14, top + 24, "Answers", 14, SOFT, bold=True)
    places = _question_places()
    _draw_answer_heads(canvas, places, top)
    for k, seat in enumerate(scene.seats):
        y = top + ANSWER_HEAD + k * ANSWER + ANSWER / 2
        canvas.line(EDGE + 8, y - ANSWER / 2, WIDTH - 2 * EDGE - 16)
        _draw_label(canvas, EDGE + 14, y, seat)
        for x, question, count in zip(places, QUESTIONS, seat.answers, strict=True):
            if count < 0:
                canvas.dot(x, y, 1.2, FAINT)
                continue
            paint = _paint("-".join(question))
            canvas.box(x - 9, y - 9, 18, 18, mixed(paint, WHITE, 0.25), radius=4)
            canvas.text(x, y, str(count), 13, INK, "mm", bold=True)


def _draw_answer_heads(canvas: Canvas, places: list[float], top: float) -> None:
    for x, question in zip(places, QUESTIONS, strict=True):
        if len(question) == 1:
            paint = PAINT.get(question[0], INK)
            canvas.text(x, top + 34, question[0][:3], 11, paint, "mm", bold=question[0] in PAINT)
        else:
            canvas.text(x, top + 34, question[1][:2], 11, SOFT, "mm")
    for at in range(len(ELEMENTS), len(QUESTIONS), 3):
        first = QUESTIONS[at][0]
        canvas.text(places[at + 1], top + 15, first, 12, PAINT.get(first, INK), "mm", bold=True)
