"""A game looked back on: where all points and cards were, and what a player knew at their decisions."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import numpy as np

from ..game import names_from
from ..game_doors import checked_seat
from .belief import belief
from .cards import VILLAINS, Options, make_rules
from .drawing.scene import counted
from .notation import action_name, player_name
from .records import one_state
from .reveal import plain_data
from .state import PHASES
from .transcript import GameRecord, checked_record, result_text
from .view import VIEW, view

_ROW = "{:>4} {:>4}  {:<9}  {:<32}  {:<11}  {:>6}"


def view_of(options: Options, state: Any, seat: int) -> np.void:
    """Return what a seat knows of one game (STATE record) as one VIEW record.

    Raises:
        ArrayError: the state is something else, or the game has no such seat.
    """
    states = one_state(options, state)
    views = np.zeros(1, VIEW)
    view(make_rules(options), states, np.array([checked_seat(options, seat)], np.int64), views)
    return views[0]


# --- the end of a game ---


def ending(record: GameRecord, seat: int) -> list[str]:
    """Return what a player is told when a game is over, line by line: the result, and everything hidden.

    Args:
        record: the game.
        seat: the player, who is called "you".

    Raises:
        ArrayError: this is not a game, or it has no such seat.
    """
    options = checked_record(record).options
    seat = checked_seat(options, seat)
    state = record.last_state
    revealed = plain_data(options, state)
    order = [(seat + k) % options.num_players for k in range(options.num_players)]
    labels = names_from(seat, options.num_players, "you")
    lines = [
        f"Game over in turn {revealed['turn_number']}, case {revealed['case_number']}: {result_text(options, state)}.",
        "The points:",
    ]
    for label, other in zip(labels, order, strict=True):
        player = player_name(other)
        tokens = "; ".join(_token_words(revealed["tokens"][player])) or "no tokens"
        lines.append(f"  {label:<14}{revealed['points'][player]:>3}  {tokens}")
    lines.append("The hands at the end:")
    for label, other in zip(labels, order, strict=True):
        cards = ", ".join(counted(state["hands"][other])) or "no card"
        lines += wrap(cards, 79, initial_indent=f"  {label:<14}", subsequent_indent=" " * 16, break_on_hyphens=False)
    return lines


def _token_words(tokens: dict[str, Any]) -> Iterator[str]:
    if tokens["books"]:
        yield f"Books {', '.join(tokens['books'])}"
    if tokens["villains"]:
        yield f"Villains {', '.join(tokens['villains'])}"
    if tokens["say"]:
        yield f"I Say {', '.join(f'{kind} {points}' for kind, points in tokens['say'].items())}"
    if tokens["telegrams"]:
        yield f"Telegrams {', '.join(tokens['telegrams'])}"


# --- a review ---


def review(record: GameRecord, seat: int) -> Iterator[str]:
    """Iterate over lines that say what a player did at each decision, and who was likeliest to hold a Villain.

    Args:
        record: the game.
        seat: the player.

    Raises:
        ArrayError: this is not a game, or it has no such seat.
    """
    return _review_lines(record, checked_seat(checked_record(record).options, seat))


def _review_lines(record: GameRecord, seat: int) -> Iterator[str]:
    yield f"What {player_name(seat)} decided, and whom they could think likeliest to hold a Villain:"
    yield _ROW.format("turn", "case", "decision", "what they did", "likeliest", "chance").rstrip()
    for move in record.moves():
        state = move.before
        if state["actor"] != seat:
            continue
        likeliest, chance = _likeliest(record.options, view_of(record.options, state, seat))
        yield _ROW.format(
            int(state["turn_number"]),
            int(state["case_number"]),
            PHASES[int(state["phase"])],
            action_name(move.action, record.options),
            f"+{likeliest}",
            f"{chance:.0%}",
        )
    yield "likeliest, chance: by an estimate from the player's sheet, see odds."


def _likeliest(options: Options, seen: np.void) -> tuple[int, float]:
    """Return the opponent who is likeliest to hold any Villain, and the estimated chance."""
    views = np.frombuffer(bytearray(seen.tobytes()), VIEW)
    chances = belief(make_rules(options), views).chance[: options.num_players - 1]
    assert chances.shape == (options.num_players - 1, len(VILLAINS))
    guilty = 1 - np.prod(1 - chances, axis=1)
    k = int(guilty.argmax())
    return k + 1, float(guilty[k])
