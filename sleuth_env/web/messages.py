"""What a page in a browser is sent of a game, as plain data ready for JSON.

All of it is made of one seat's view and of what that seat has been told; a state comes in only when
the game is over and everything is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..deduction.worlds import IntricateError
from ..game import Game, OnBoard, Told, Worded, name_of, needed, player_name

VERSION = 1
PERSON = "person"
YOU = "you"


def encoded(message: Mapping[str, Any]) -> str:
    """Return a message as a line of JSON."""
    return json.dumps(message, separators=(",", ":"))


def hello(game: Game, options: Any, link: str) -> dict[str, Any]:
    """Return what a page is told once: the rules, the forms of actions, and its own link."""
    telling = needed(game, Told).telling
    return {
        "type": "hello",
        "version": VERSION,
        "rules": telling.rules(options),
        "forms": dict(telling.FORMS),
        "link": link,
    }


def table_seen(game: Game, options: Any, seen: Any, seat: int, players: Sequence[str]) -> dict[str, Any]:
    """Return what a seat sees by its view, apart from what it has been told and may do.

    Args:
        game: the game module.
        options: of the game.
        seen: VIEW, one record.
        seat: the viewer's.
        players: who plays in each seat, [P].
    """
    telling = needed(game, Told).telling
    board = needed(game, OnBoard).board
    order = [(seat + k) % options.num_players for k in range(options.num_players)]
    return {
        "type": "table",
        "game": name_of(game),
        "title": board.TITLE,
        "options": asdict(options),
        "seat": seat,
        "players": [
            {"label": f"+{k}" if k else YOU, "name": player_name(other), "who": players[other] if k else YOU}
            for k, other in enumerate(order)
        ],
        "facts": needed(game, Worded).wording.facts(options, seen),
        "board": board.sheet(options, seen),
        "announcement": telling.announcement(options, seen),
        "prompt": telling.prompt(options, seen),
    }


def decision(game: Game, options: Any, seen: Any, number: int, legal: Mapping[str, int]) -> dict[str, Any]:
    """Return what a seat is asked for.

    Args:
        game: the game module.
        options: of the game.
        seen: VIEW, one record.
        number: how many decisions the seat has taken before.
        legal: the numbers of its legal actions by their names.
    """
    telling = needed(game, Told).telling
    doubts = {name: telling.doubt(options, seen, action) for name, action in legal.items()}
    return {
        "decision": number,
        "legal": list(legal),
        "doubts": {name: doubt for name, doubt in doubts.items() if doubt},
        "unsaid": telling.unsaid(options, seen),
    }


# What a seat is asked for that does not decide.
NO_DECISION: dict[str, Any] = {"decision": None, "legal": [], "doubts": {}, "unsaid": ""}


def odds(game: Game, options: Any, seen: Any) -> dict[str, Any]:
    """Return what a seat may believe, and which questions would tell it most (of its VIEW, one record)."""
    board = needed(game, OnBoard).board
    try:
        return {
            "type": "odds",
            "odds": board.odds(options, seen),
            "questions": board.questions(options, seen),
            "why": "",
        }
    except IntricateError as error:
        return {"type": "odds", "odds": None, "questions": None, "why": str(error)}


def refused(why: str) -> str:
    """Return the answer to a message that has changed nothing."""
    return encoded({"type": "refused", "why": why})


def closed(why: str) -> str:
    """Return the last message of a connection."""
    return encoded({"type": "closed", "why": why})
