"""All that is written as text: the names of things, events, the whole hidden state, whole games.

The names are made in `names`, the game texts in `transcript`; this module is where to import them from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .cards import Options
from .names import (
    PHASE_NAMES,
    STANDING_NAMES,
    NotationError,
    action_name,
    action_names,
    element_name,
    gem_name,
    gem_names,
    parse_action,
    parse_element,
    parse_gem,
    parse_player,
    parse_question,
    parse_search_card,
    player_name,
    question_name,
    search_card_name,
    search_card_names,
)
from .state import ACCUSED_EVENT, ASK_EVENT, EXCHANGE_EVENT, FINAL_EVENT, IN, RIGHT_EVENT, WRONG_EVENT
from .transcript import GameRecord, game_text, parse_game, pile_names, result_text, winner_names

__all__ = [
    "PHASE_NAMES",
    "STANDING_NAMES",
    "GameRecord",
    "NotationError",
    "action_name",
    "action_names",
    "element_name",
    "event_text",
    "game_text",
    "gem_name",
    "gem_names",
    "parse_action",
    "parse_element",
    "parse_game",
    "parse_gem",
    "parse_player",
    "parse_question",
    "parse_search_card",
    "player_name",
    "question_name",
    "result_text",
    "reveal",
    "search_card_name",
    "search_card_names",
]

_RESULTS = {RIGHT_EVENT: "accused: right", WRONG_EVENT: "accused: wrong", ACCUSED_EVENT: "accused", EXCHANGE_EVENT: "exchanged search cards"}


def event_text(event: np.ndarray, names: Sequence[str]) -> str:
    """Tell a public event in one line; "" for none.

    Args:
        event: i1 [6], a row of the events of a state or a view: kind, asker, target, question, card, count.
        names: the names of the seats, in the numbering of the event (absolute in a state, relative in a view).
    """
    kind, asker, target, question, card, count = (int(field) for field in event)
    if kind == ASK_EVENT:
        return f"{names[asker]} asked {names[target]} {question_name(question)} with {search_card_name(card)}: {count}"
    if kind == FINAL_EVENT:
        return f"{names[asker]} asked {names[target]} as final question {question_name(question)}: {count}"
    return f"{names[asker]} {_RESULTS[kind]}" if kind in _RESULTS else ""


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
