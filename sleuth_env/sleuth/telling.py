"""A game of Sleuth told in words: step by step, or to a person who plays it.

It is what the command line knows of the game, see `sleuth_env.game.Telling`. A game is told from
the viewpoint of the public, of one player, or with every hidden card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from . import rules
from .cards import Options, make_rules
from .drawing.text import COLUMNS, draw_ansi, draw_belief
from .notation import PHASE_NAMES, action_name, event_text, gem_names, player_name, search_card_names
from .state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    FINAL_EVENT,
    FINISHED,
    IN,
    MUST_ACCUSE,
    OFFER,
    OUT,
    RIGHT,
    RIGHT_EVENT,
    SECOND,
    STATE,
    TURN,
    WRONG_EVENT,
)
from .transcript import GameRecord, Move, pile_names, result_text, winner_names
from .view import VIEW, view

__all__ = [
    "COLUMNS",
    "FORMS",
    "HEADINGS",
    "announcement",
    "draw_odds",
    "ending",
    "is_public",
    "meant",
    "news",
    "num_steps",
    "prompt",
    "reveal",
    "seat_names",
    "tell_game",
    "told_moves",
    "unsaid",
    "view_of",
]

FORMS = {
    "ask +K QUESTION with CARD": "ask the K-th player to your left, for instance: ask +1 blue-opal with free-blue",
    "final +K QUESTION": "final question: free, but you must accuse at once",
    "exchange": "exchange all four search cards",
    "accuse GEM": "for instance: accuse blue-opal-pair; with more missing gems name them one after the other",
    "pass": "decline an offer to accuse (Enter alone does too), or end the turn after one of two questions",
}
HEADINGS = {"wrong_accusations": "wrong"}
PROMPTS = {
    TURN: "your turn",
    SECOND: "second question, accuse or pass",
    OFFER: "accuse or pass (Enter: pass)",
    MUST_ACCUSE: "now accuse",
}
ACCUSATIONS = (RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT)


# --- a game text, step by step ---


def tell_game(
    record: GameRecord,
    viewpoint: int | None = None,
    reveal: bool = False,
    steps: range | None = None,
    colour: bool = False,
    odds: bool = False,
) -> Iterator[str]:
    """Iterate over the story of a game, one text (of one or more lines) a step.

    Args:
        record: the game, as `parse_game` returns it.
        viewpoint: the seat whose private knowledge and drawing are added; None: public events only.
        reveal: whether to show the hidden deal and every action, passes and accused gems too.
        steps: which steps to tell, see `told_moves`, from 1; default: all.
        colour: whether the drawings are coloured.
        odds: whether the drawings show what the viewpoint may believe, too.
    """
    draw = partial(draw_ansi, record.options, colour=colour, belief=odds)
    if reveal:
        yield "\n".join(_deal_lines(record))
    if viewpoint is not None and (steps is None or 1 in steps):
        yield draw(view_of(record.options, record.first_state, viewpoint))
    number = 0
    for number, move in enumerate(told_moves(record, viewpoint, reveal), 1):
        if steps is None or number in steps:
            yield "\n".join(_step_lines(record.options, number, move, viewpoint, reveal, draw))
    if steps is None or number in steps:
        yield from _result_lines(record, reveal)


def told_moves(record: GameRecord, viewpoint: int | None, reveal: bool) -> Iterator[Move]:
    """Iterate over the actions that the viewpoint notices, or all if everything is revealed.

    Only these are steps of a story: a gap in the numbers would tell how many others declined to
    accuse, and so the order of the offers.
    """
    for move in record.moves():
        if reveal or is_public(record.options, move.after, move.action) or viewpoint == move.before["actor"]:
            yield move


def num_steps(record: GameRecord, viewpoint: int | None, reveal: bool) -> int:
    """Return the number of steps of `tell_game`."""
    return sum(1 for _ in told_moves(record, viewpoint, reveal))


def _deal_lines(record: GameRecord) -> Iterator[str]:
    """Iterate over lines that show the hidden deal of a game."""
    for key, value in reveal(record.options, record.first_state).items():
        if key in ("missing", "table", "draw_pile"):
            yield f"{key}: {', '.join(value) or 'none'}"
        elif key in ("hands", "search_cards"):
            yield from (f"{key} of {player}: {', '.join(cards)}" for player, cards in value.items())


def _result_lines(record: GameRecord, reveal: bool) -> Iterator[str]:
    """Iterate over lines that say how the game stands at the end of the text.

    In an unfinished game it is hidden who has been offered to accuse.
    """
    state = record.last_state
    finished = state["phase"] == FINISHED
    yield f"result: {result_text(state) if finished or reveal else 'unfinished'}"
    if finished and record.options.winners == 1 and record.options.announce_result and state["num_right"]:
        yield f"missing: {', '.join(gem_names(state['missing_gems']))}"


def _step_lines(
    options: Options, number: int, move: Move, viewpoint: int | None, reveal: bool, draw: Callable[[Any], str]
) -> Iterator[str]:
    """Iterate over the lines of one action.

    First a heading with what everybody saw, then what else the viewpoint knows, and its drawing if
    that may have changed.
    """
    before, action, state = move
    public = is_public(options, state, action)
    actor = int(before["actor"])
    told = f"{player_name(actor)}: {action_name(action, options)}"
    event = event_text(state["events"][0], [player_name(seat) for seat in range(options.num_players)])
    if reveal:
        words = f"{told} | {event}" if public else told
    else:
        words = event if public else f"{told}, which nobody else knows"
    yield f"step {number}, turn {int(before['turn_number'])}: {words}"
    if viewpoint is not None and (public or viewpoint == actor):
        seen = view_of(options, state, viewpoint)
        yield from (f"    {line}" for line in private_lines(options, seen, seat_names(seen)) if public)
        yield draw(seen)


# --- what one seat is told ---


def view_of(options: Options, state: Any, seat: int) -> np.void:
    """Return what a seat knows of one game (STATE record) as one VIEW record."""
    states = np.zeros(1, STATE)
    views = np.zeros(1, VIEW)
    states[0] = state
    view(make_rules(options), states, np.array([seat], np.int64), views)
    return views[0]


def is_public(options: Options, state: Any, action: int) -> bool:
    """Return whether an action was announced.

    A pass is not, nor is a gem of an accusation of which more are to be named.

    Args:
        options: of the game.
        state: STATE record, after the action.
        action: its number.
    """
    return bool(action != make_rules(options)["pass_at"][0] and state["accusing"] == 0)


def is_shown(options: Options, question: int) -> bool:
    """Return whether the asker of a question sees the cards that match it.

    >>> is_shown(Options(), 6), is_shown(Options(), 15), is_shown(Options(super_sleuth=True), 15)
    (False, True, False)
    """
    # The plain function of the kernels' helper; where numba is switched off, it is that itself.
    rule = getattr(rules.is_shown, "py_func", rules.is_shown)
    return bool(rule(make_rules(options)[0], question))


def seat_names(seen: Any, you: str = "") -> list[str]:
    """Return the names of the seats in the numbering of a view (one VIEW record).

    ``you`` is the viewer's name, and then the others are called by their distance, too.
    """
    count = int(seen["num_players"])
    seat = int(seen["seat"])
    names = [player_name((seat + k) % count) for k in range(count)]
    return [you, *(f"{name} (+{k})" for k, name in enumerate(names[1:], 1))] if you else names


def private_lines(options: Options, seen: Any, names: list[str]) -> list[str]:
    """Return what the viewer alone knows of the last public event.

    Args:
        options: of the game.
        seen: VIEW, one record, after the event.
        names: as `seat_names` returns them.
    """
    kind, asker, target, question, _, _ = (int(field) for field in seen["events"][0])
    if kind in ACCUSATIONS:
        return _accusation_lines(seen, asker, names)
    if kind not in (ASK_EVENT, FINAL_EVENT) or 0 not in (asker, target) or not is_shown(options, question):
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


# --- a person at the table ---


def announcement(options: Options, seen: Any) -> list[str]:
    """Return what a person is told before deciding: the search cards, the gems named so far."""
    lines = []
    if seen["phase"] in (TURN, SECOND):
        cards = ", ".join(search_card_names(seen["search"][0]))
        lines.append(f"Turn {int(seen['turn_number'])} is yours; your search cards: {cards}.")
    if seen["accusing"]:
        named = ", ".join(gem_names(seen["accusing"]))
        lines.append(f"Named so far: {named}; name another of the {options.missing} missing gems.")
    return lines


def prompt(options: Options, seen: Any) -> str:
    """Return what a person is asked for."""
    return PROMPTS[int(seen["phase"])]


def unsaid(options: Options, seen: Any) -> str:
    """Return the name of the action that an empty line stands for: an offer may be declined so."""
    return "pass" if seen["phase"] == OFFER else ""


def meant(typed: str, names: Iterable[str]) -> list[str]:
    """Return those names of actions that a typed text can mean.

    The card of a question may be left out.

    >>> meant("ask +1 blue", ["ask +1 blue with blue", "ask +1 blue with free", "pass"])
    ['ask +1 blue with blue', 'ask +1 blue with free']
    """
    return [name for name in names if name == typed or name.startswith(f"{typed} with ")]


def news(options: Options, state: Any, action: int, seen: Any) -> list[str]:
    """Return what the viewer may know of the last action, line by line; nothing if hidden.

    Args:
        options: of the game.
        state: STATE record, after the action.
        action: its number.
        seen: VIEW record, after the action.
    """
    if not is_public(options, state, action):
        return []
    names = seat_names(seen, "you")
    lines = [f"  {event_text(seen['events'][0], names)}"]
    lines += [f"    {line}" for line in private_lines(options, seen, names)]
    actor = int(seen["events"][0, 1])
    own = int(seen["standing"][0])
    if actor == 0 and own in (OUT, RIGHT) and seen["phase"] != FINISHED:
        lines.append(f"You {'are out' if own == OUT else 'were right'}; the others play on.")
    return lines


def ending(options: Options, state: Any) -> list[str]:
    """Return what everybody is told when a game is over (STATE record)."""
    missing = ", ".join(gem_names(state["missing_gems"]))
    return [f"Game over in turn {int(state['turn_number'])}: {result_text(state)}.", f"Missing: {missing}."]


draw_odds = draw_belief


# --- everything ---


def reveal(options: Options, state: np.void) -> dict[str, Any]:
    """Return the whole hidden state of a game in names, for debugging and analysis.

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
