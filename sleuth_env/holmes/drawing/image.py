"""The drawing of a game as one player sees it, as an image made with Pillow.

It needs no window system and has the same pixels every time.
"""

from __future__ import annotations

import numpy as np

from ...drawing.canvas import BAR, CARD, FAINT, GOLD, INK, LINE, PAPER, RGB, SOFT, WHITE, Canvas, mixed
from ..cards import VILLAINS, Options
from .scene import NO, YES, Card, Scene, Seat, make_scene

WIDTH = 1180
EDGE = 20
HEAD = 52
TOP = 66
# The Current card, beside it what has happened.
CURRENT = 190
NEWS = 430
TABLE_TOP = TOP + CURRENT + 14
ROW = 34
VILLAIN = 64
TABLE_HEAD = 30
# Cards of the hand.
HAND_ROWS = 3
HAND_COLUMNS = 8
CARD_WIDTH = 136
CARD_HEIGHT = 40
CARD_GAP = 6
MOST_EVENTS = 7
EVENT = 21

PAINT: dict[str, RGB] = {
    "travel": (66, 133, 150),
    "city": (72, 94, 158),
    "country": (86, 140, 68),
    "information": (206, 150, 46),
    "action": (196, 78, 60),
    "i-say": (137, 84, 158),
    "interrupt": (70, 76, 92),
    "villain": (122, 24, 36),
    "start": (160, 120, 60),
}


def draw_rgb(options: Options, view: np.void) -> np.ndarray:
    """Draw what one player knows as an image.

    >>> from sleuth_env.holmes import VIEW, deal, make_rules, new_states, view
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(make_rules(options), states, np.array([0]), views)
    >>> draw_rgb(options, views[0]).shape
    (656, 1180, 3)

    Args:
        options: the options of the game.
        view: VIEW, one record.

    Returns:
        u1 [height, width, 3]; its shape depends on the number of players only.

    Raises:
        ArrayError: the view is something else, of another kind of game, or has a field out of its range.
    """
    scene = make_scene(options, view)
    table = TABLE_HEAD + (options.num_players + 1) * ROW + 8
    hand_top = TABLE_TOP + table + 14
    hand = 34 + HAND_ROWS * (CARD_HEIGHT + CARD_GAP) + 8
    canvas = Canvas(WIDTH, hand_top + hand + 18)
    _draw_head(canvas, scene)
    _draw_current(canvas, scene)
    _draw_news(canvas, scene)
    _draw_table(canvas, scene, table)
    _draw_hand(canvas, scene, hand_top, hand)
    return canvas.pixels()


def _draw_head(canvas: Canvas, scene: Scene) -> None:
    canvas.box(0, 0, WIDTH, HEAD, BAR, radius=0)
    canvas.text(EDGE, HEAD / 2, "I SAY, HOLMES!", 24, GOLD, bold=True)
    canvas.text(EDGE + 222, HEAD / 2 + 1, scene.title, 17, WHITE)
    canvas.fitted(WIDTH - EDGE, HEAD / 2 + 1, scene.variants, 480, 14, fill=mixed(WHITE, BAR, 0.75), anchor="rm")


# --- the Current card and what has happened ---


def _draw_current(canvas: Canvas, scene: Scene) -> None:
    width = WIDTH - 2 * EDGE - NEWS - 14
    canvas.box(EDGE, TOP, width, CURRENT, CARD, LINE, radius=8)
    canvas.box(EDGE, TOP, width, 40, BAR, radius=8)
    canvas.fitted(EDGE + 14, TOP + 20, scene.status, width - 28, 16, fill=GOLD, bold=True)
    paint = PAINT[scene.category]
    canvas.box(EDGE + 14, TOP + 52, 176, 122, mixed(paint, WHITE, 0.18), paint, radius=9)
    canvas.box(EDGE + 14, TOP + 52, 176, 26, paint, radius=9)
    canvas.text(EDGE + 102, TOP + 65, scene.category, 12, WHITE, "mm")
    canvas.text(EDGE + 102, TOP + 116, scene.current, 17, INK, "mm", bold=True)
    canvas.text(EDGE + 102, TOP + 154, "Current card", 11, SOFT, "mm")
    x = EDGE + 208
    wide = width - 208 - 14
    canvas.text(x, TOP + 64, "may be followed by", 12, SOFT)
    words = scene.follows.split(", ")
    half = (len(words) + 1) // 2 if len(words) > 3 else len(words)
    canvas.fitted(x, TOP + 84, ", ".join(words[:half]), wide, 14)
    canvas.fitted(x, TOP + 104, ", ".join(words[half:]), wide, 14)
    canvas.box(x, TOP + 122, 84, 22, PAINT[scene.location], radius=11)
    canvas.text(x + 42, TOP + 133, scene.location, 13, WHITE, "mm", bold=True)
    canvas.text(x + 94, TOP + 133, "on the Location marker", 12, SOFT)
    canvas.text(x, TOP + 158, scene.piles, 12, SOFT)
    canvas.fitted(x, TOP + 174, f"left: {scene.supply}", wide, 11, fill=SOFT)


def _draw_news(canvas: Canvas, scene: Scene) -> None:
    x = WIDTH - EDGE - NEWS
    canvas.box(x, TOP, NEWS, CURRENT, CARD, LINE, radius=8)
    canvas.text(x + 14, TOP + 18, "Last events", 14, SOFT, bold=True)
    for i, event in enumerate(scene.events[:MOST_EVENTS]):
        fill = INK if i == 0 else mixed(INK, SOFT, 0.4)
        canvas.fitted(x + 14, TOP + 43 + i * EVENT, event, NEWS - 28, 13, fill=fill, bold=i == 0)


# --- the players ---


def _draw_table(canvas: Canvas, scene: Scene, height: float) -> None:
    canvas.box(EDGE, TABLE_TOP, WIDTH - 2 * EDGE, height, CARD, LINE, radius=8)
    y = TABLE_TOP + TABLE_HEAD / 2 + 2
    places = {"cards": 142, "closed": 188}
    for word, x in places.items():
        canvas.text(EDGE + x, y, word, 11, SOFT, "mm")
    for v, name in enumerate(VILLAINS):
        canvas.text(_villain_x(v), y, name, 11, PAINT["villain"], "mm")
    canvas.text(EDGE + 560, y, "surely holds, and was last shown to you", 11, SOFT)
    canvas.text(EDGE + 900, y, "tokens", 11, SOFT)
    for k, seat in enumerate(scene.seats):
        _draw_seat(canvas, seat, TABLE_TOP + TABLE_HEAD + k * ROW)
    top = TABLE_TOP + TABLE_HEAD + len(scene.seats) * ROW
    canvas.line(EDGE + 8, top, WIDTH - 2 * EDGE - 16)
    canvas.text(EDGE + 14, top + ROW / 2, "draw pile", 13, SOFT)
    for v, sign in enumerate(scene.pile):
        _draw_sign(canvas, _villain_x(v), top + ROW / 2, sign)
    if scene.gone:
        canvas.text(EDGE + 560, top + ROW / 2, f"discarded: {', '.join(scene.gone)}", 13, SOFT)


def _villain_x(villain: int) -> float:
    return EDGE + 244 + villain * VILLAIN


def _draw_seat(canvas: Canvas, seat: Seat, top: float) -> None:
    y = top + ROW / 2
    if seat.has_turn:
        canvas.box(EDGE + 4, top + 1, WIDTH - 2 * EDGE - 8, ROW - 2, mixed(GOLD, CARD, 0.3))
    canvas.line(EDGE + 8, top, WIDTH - 2 * EDGE - 16)
    canvas.text(EDGE + 14, y, seat.label, 14, bold=True)
    canvas.text(EDGE + 50, y, seat.player, 13, SOFT)
    canvas.text(EDGE + 142, y, str(seat.cards), 14, INK, "mm")
    canvas.text(EDGE + 188, y, str(seat.closed), 14, INK, "mm")
    for v, sign in enumerate(seat.villains):
        _draw_sign(canvas, _villain_x(v), y, sign)
    both = 9 if seat.certain and seat.look else 0
    if seat.certain:
        canvas.fitted(EDGE + 560, y - both * 0.9, ", ".join(seat.certain), 330, 12, bold=True)
    if seat.look:
        canvas.fitted(EDGE + 560, y + both * 0.9, seat.look, 330, 12, fill=SOFT)
    canvas.fitted(EDGE + 900, y, ", ".join(seat.tokens), WIDTH - 2 * EDGE - 914, 13)


def _draw_sign(canvas: Canvas, x: float, y: float, sign: int) -> None:
    """Draw whether somebody has a Villain."""
    if sign == NO:
        canvas.dot(x, y, 1.6, FAINT)
    elif sign == YES:
        canvas.box(x - 19, y - 10, 38, 20, PAINT["villain"], radius=9)
        canvas.text(x, y, "yes", 13, WHITE, "mm", bold=True)
    else:
        canvas.dot(x, y, 9, mixed(GOLD, CARD, 0.7))
        canvas.text(x, y, "?", 13, INK, "mm")


# --- the hand ---


def _draw_hand(canvas: Canvas, scene: Scene, top: float, height: float) -> None:
    canvas.box(EDGE, top, WIDTH - 2 * EDGE, height, mixed(BAR, PAPER, 0.1), LINE, radius=8)
    number = sum(card.copies for card in scene.hand)
    canvas.text(EDGE + 14, top + 18, f"Your hand: {number} card{'' if number == 1 else 's'}", 14, SOFT, bold=True)
    canvas.text(WIDTH - EDGE - 14, top + 18, "bright: may follow the Current card", 12, SOFT, "rm")
    room = HAND_ROWS * HAND_COLUMNS
    shown = scene.hand if len(scene.hand) <= room else scene.hand[: room - 1]
    for i, card in enumerate(shown):
        x, y = _card_place(i, top)
        _draw_card(canvas, x, y, card)
    if len(shown) < len(scene.hand):
        x, y = _card_place(room - 1, top)
        canvas.text(x + CARD_WIDTH / 2, y + CARD_HEIGHT / 2, f"and {len(scene.hand) - len(shown)} more", 14, SOFT, "mm")


def _card_place(number: int, top: float) -> tuple[float, float]:
    row, column = divmod(number, HAND_COLUMNS)
    return EDGE + 10 + column * (CARD_WIDTH + CARD_GAP), top + 34 + row * (CARD_HEIGHT + CARD_GAP)


def _draw_card(canvas: Canvas, x: float, y: float, card: Card) -> None:
    paint = PAINT[card.category]
    ground = paint if card.playable else mixed(paint, WHITE, 0.16)
    canvas.box(x, y, CARD_WIDTH, CARD_HEIGHT, ground, paint)
    ink = WHITE if card.playable else INK
    canvas.fitted(x + 10, y + 14, card.name, CARD_WIDTH - 20, 14, fill=ink, bold=card.playable)
    canvas.text(x + 10, y + 30, card.category, 10, mixed(ink, ground, 0.75))
    if card.copies > 1:
        canvas.text(x + CARD_WIDTH - 10, y + 28, f"x {card.copies}", 14, ink, "rm", bold=True)
