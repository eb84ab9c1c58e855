"""A game text told step by step, from the viewpoint of the public, of one player, or with every
hidden card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .cards import Options, make_rules
from .drawing.text import draw_ansi
from .notation import PHASE_NAMES, action_name, event_text, gem_names, player_name, search_card_names
from .state import ACCUSED_EVENT, ASK_EVENT, FINAL_EVENT, FINISHED, IN, RIGHT_EVENT, STATE, WRONG_EVENT
from .transcript import GameRecord, Move, pile_names, result_text, winner_names
from .view import VIEW, view


def tell_game(
    record: GameRecord,
    viewpoint: int | None = None,
    reveal: bool = False,
    steps: range | None = None,
    colour: bool = False,
    odds: bool = False,
) -> Iterator[str]:
    """Tell a game, one text (of one or more lines) a step.

    Args:
        record: the game, as `parse_game` gives it.
        viewpoint: the seat whose private knowledge and drawing are added; None: public events only.
        reveal: whether to show the hidden deal and every action, passes and accused gems too.
        steps: which steps to tell, see `told_moves`, from 1; default: all.
        colour: whether the drawings are coloured.
        odds: whether the drawings show what the viewpoint may believe, too.
    """
    draw = partial(draw_ansi, record.options, colour=colour, belief=odds)
    if reveal:
        yield "\n".join(revealed(record))
    if viewpoint is not None and (steps is None or 1 in steps):
        yield draw(view_of(record.options, record.first_state, viewpoint))
    number = 0
    for number, move in enumerate(told_moves(record, viewpoint, reveal), 1):
        if steps is None or number in steps:
            yield "\n".join(_step_lines(record.options, number, move, viewpoint, reveal, draw))
    if steps is None or number in steps:
        yield from _result_lines(record, reveal)


def told_moves(record: GameRecord, viewpoint: int | None, reveal: bool) -> Iterator[Move]:
    """Give the actions that are steps of a story: those that the viewpoint notices, or all where
    everything is revealed.

    Only these are counted: a gap in the numbers would tell how many others declined to accuse, and
        so the order of the offers.
    """
    for move in record.moves():
        if reveal or is_public(record.options, move.after, move.action) or viewpoint == move.before["actor"]:
            yield move


def revealed(record: GameRecord) -> Iterator[str]:
    """Tell the hidden deal of a game, line by line."""
    for key, value in reveal(record.options, record.first_state).items():
        if key in ("missing", "table", "draw_pile"):
            yield f"{key}: {', '.join(value) or 'none'}"
        elif key in ("hands", "search_cards"):
            yield from (f"{key} of {player}: {', '.join(cards)}" for player, cards in value.items())


def _result_lines(record: GameRecord, reveal: bool) -> Iterator[str]:
    """Tell how the game stands at the end of the text; whose offer it is, in an unfinished one, is
    hidden.
    """
    state = record.last_state
    finished = state["phase"] == FINISHED
    yield f"result: {result_text(state) if finished or reveal else 'unfinished'}"
    if finished and record.options.winners == 1 and record.options.announce_result and state["num_right"]:
        yield f"missing: {', '.join(gem_names(state['missing_gems']))}"


def _step_lines(
    options: Options, number: int, move: Move, viewpoint: int | None, reveal: bool, draw: Callable[[Any], str]
) -> Iterator[str]:
    """Tell one action: a heading with what everybody saw, then what the viewpoint knows besides,
    and its drawing if that may have changed.
    """
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
    else:
        yield f"{heading}{player_name(actor)}: {action_name(action, options.num_players)}, which nobody else knows"
    if viewpoint is not None and (public or viewpoint == actor):
        view = view_of(options, state, viewpoint)
        yield from (f"    {line}" for line in private_lines(options, view, seat_names(view)) if public)
        yield draw(view)


ACCUSATIONS = (RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT)


def counted(number: int, noun: str) -> str:
    """Write a number of things: 1 turn, 2 turns."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def view_of(options: Options, state: Any, seat: int) -> np.void:
    """Give what a seat knows of one game (STATE record) as one VIEW record."""
    states = np.zeros(1, STATE)
    views = np.zeros(1, VIEW)
    states[0] = state
    view(make_rules(options), states, np.array([seat], np.int64), views)
    return views[0]


def is_public(options: Options, state: Any, action: int) -> bool:
    """Tell whether an action was announced: not a pass, nor a gem of an accusation of which more
    are to be named.

    Args:
        options: of the game.
        state: STATE record, after the action.
        action: its number.
    """
    return bool(action != make_rules(options)["pass_at"][0] and state["accusing"] == 0)


def public_line(state: Any, num_players: int) -> str:
    """Tell the last public event (STATE record) as everybody saw it."""
    return event_text(state["events"][0], [player_name(seat) for seat in range(num_players)])


def seat_names(seen: Any, you: str = "") -> list[str]:
    """Name the seats in the numbering of a view (one VIEW record); `you` is the viewer's name, if
    not the usual one.
    """
    count = int(seen["num_players"])
    seat = int(seen["seat"])
    names = [player_name((seat + k) % count) for k in range(count)]
    return [you, *(f"{name} (+{k})" for k, name in enumerate(names[1:], 1))] if you else names


def private_lines(options: Options, seen: Any, names: list[str]) -> list[str]:
    """Tell what the viewer knows of the last public event besides (VIEW record, after it); names as
    of `seat_names`.
    """
    kind, asker, target, question, _, _ = (int(field) for field in seen["events"][0])
    if kind in ACCUSATIONS:
        return _accusation_lines(seen, asker, names)
    elements = make_rules(options)["num_elements"][0, question]
    if kind not in (ASK_EVENT, FINAL_EVENT) or elements == 1 or options.super_sleuth or 0 not in (asker, target):
        return []
    # A hand never changes, so what the asker has ever seen of it and what matches are the cards
    # shown now.
    held = seen["hand"] if target == 0 else seen["seen"][target]
    shown = gem_names(int(held) & int(make_rules(options)["question_gems"][0, question]))
    return [f"shown by {names[target]} to {names[asker]}: {', '.join(shown) or 'nothing'}"]


def _accusation_lines(seen: Any, asker: int, names: list[str]) -> list[str]:
    lines = [f"named by {names[0]}: {', '.join(gem_names(seen['accused']))}"] if asker == 0 else []
    if seen["missing_gems"] and (asker == 0 or seen["phase"] == FINISHED):
        lines.append(f"missing: {', '.join(gem_names(seen['missing_gems']))}")
    return lines


def reveal(options: Options, state: np.void) -> dict[str, Any]:
    """Tell the whole hidden state of a game in names, as a plain dict, for debugging and analysis.

    Args:
        options: the options of the game.
        state: STATE, one record.
    """
    seats = range(options.num_players)
    return {
        "missing": gem_names(state["missing_gems"]),
        "hands": {player_name(seat): gem_names(state["hands"][seat]) for seat in seats},
        "table": gem_names(state["table"]),
        "search_cards": {player_name(seat): search_card_names(state["search"][seat]) for seat in seats},
        "draw_pile": pile_names(state),
        "discards": search_card_names(state["discards"]),
        "turn": player_name(int(state["turn"])),
        "phase": PHASE_NAMES[state["phase"]],
        "in_contention": [player_name(seat) for seat in seats if state["standing"][seat] == IN],
        "winners": winner_names(state),
        "turn_number": int(state["turn_number"]),
    }
