"""A game text told step by step, from the viewpoint of the public, of one player, or with every hidden card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .narration import is_public, private_lines, public_line, seat_names, view_of
from .sleuth.cards import Options
from .sleuth.drawing import draw_ansi
from .sleuth.names import action_name, gem_names, player_name
from .sleuth.notation import reveal as revealed_state
from .sleuth.state import FINISHED
from .sleuth.transcript import GameRecord, Move, result_text


def tell_game(
    record: GameRecord, viewpoint: int | None = None, reveal: bool = False, steps: range | None = None, colour: bool = False, odds: bool = False
) -> Iterator[str]:
    """Tell a game, one text (of one or more lines) a step.

    Args:
        record: the game, as `parse_game` gives it.
        viewpoint: the seat whose private knowledge and drawing are added; None: public events only.
        reveal: whether to show the hidden deal and every action, passes and accused gems too.
        steps: numbers of the actions to tell, from 1; default: all. Other players' passes are no steps of the public.
        colour: whether the drawings are coloured.
        odds: whether the drawings show what the viewpoint may believe, too.
    """
    draw = partial(draw_ansi, record.options, colour=colour, belief=odds)
    if reveal:
        yield "\n".join(revealed(record))
    if viewpoint is not None and (steps is None or 1 in steps):
        yield draw(view_of(record.options, record.first_state, viewpoint))
    wanted = steps or range(1, len(record.actions) + 1)
    for number, move in enumerate(record.moves(), 1):
        if number in wanted and (lines := list(_step_lines(record.options, number, move, viewpoint, reveal, draw))):
            yield "\n".join(lines)
    if steps is None or len(record.actions) in steps:
        yield from _result_lines(record, reveal)


def revealed(record: GameRecord) -> Iterator[str]:
    """Tell the hidden deal of a game, line by line."""
    for key, value in revealed_state(record.options, record.first_state).items():
        if key in ("missing", "table", "draw_pile"):
            yield f"{key}: {', '.join(value) or 'none'}"
        elif key in ("hands", "search_cards"):
            yield from (f"{key} of {player}: {', '.join(cards)}" for player, cards in value.items())


def _result_lines(record: GameRecord, reveal: bool) -> Iterator[str]:
    """Tell how the game stands at the end of the text; whose offer it is, in an unfinished one, is hidden."""
    state = record.last_state
    finished = state["phase"] == FINISHED
    yield f"result: {result_text(state) if finished or reveal else 'unfinished'}"
    if finished and record.options.winners == 1 and record.options.announce_result and state["num_right"]:
        yield f"missing: {', '.join(gem_names(state['missing_gems']))}"


def _step_lines(options: Options, number: int, move: Move, viewpoint: int | None, reveal: bool, draw: Callable[[Any], str]) -> Iterator[str]:
    """Tell one action: a heading with what everybody saw, then what the viewpoint knows besides, and its drawing if that may have changed."""
    before, action, state = move
    public = is_public(options, state, action)
    actor = int(before["actor"])
    heading = f"step {number}, turn {int(before['turn_number'])}: "
    if reveal:
        heading += f"{player_name(actor)}: {action_name(action, options.num_players)}{' | ' if public else ''}"
    if public:
        yield heading + public_line(state, options.num_players)
    elif reveal:
        yield heading
    elif viewpoint == actor:
        yield f"{heading}{player_name(actor)}: {action_name(action, options.num_players)}, which nobody else knows"
    if viewpoint is not None and (public or viewpoint == actor):
        view = view_of(options, state, viewpoint)
        yield from (f"    {line}" for line in private_lines(options, view, seat_names(view)) if public)
        yield draw(view)
