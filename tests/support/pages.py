"""Games of bots to be shown on pages, and what lies in a page, read without a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np

from sleuth_env.game import load_game
from sleuth_env.matches.players import make_players
from sleuth_env.matches.table import Table
from sleuth_env.web.packing import from_changes, unpacked

# Quick ones that play well.
GOOD_BOTS = {"sleuth": "sheet", "holmes": "counter"}
SPACES = ("http://www.w3.org/2000/svg",)


@cache
def bot_game(name: str, bot: str, seed: int = 0, **options: Any) -> Any:
    """Return the record of a whole game that copies of a bot play."""
    game = load_game(name)
    chosen = game.Options(**options)
    table = Table(
        game, chosen, 1, make_players(game, chosen, [bot] * chosen.num_players), np.arange(chosen.num_players)
    )
    table.deal(np.array([0]), np.array([seed], np.uint64))
    first = table.states[0].copy()
    actions = []
    while not table.finished[0]:
        table.play_round()
        actions.append(int(table.last_actions[0]))
    return game.parse_game(game.game_text(chosen, first, actions))


def text_of(record: Any) -> str:
    """Return a record as a game text."""
    name = type(record).__module__.split(".")[1]
    text: str = load_game(name).game_text(record.options, record.first_state, record.actions.tolist())
    return text


def data_of(page: str, name: str = "replay-data") -> Any:
    """Return the data that lies in a page."""
    found = re.search(rf'<script type="text/plain" id="{name}">([\w+/=]*)</script>', page)
    assert found is not None
    return unpacked(found[1])


def replay_in(page: str) -> dict[str, Any]:
    """Return the data of a replay page, with every frame and deal in full."""
    data = data_of(page)
    data["deals"] = list(from_changes(data["deals"]))
    data["frames"] = [list(from_changes(of_seat)) for of_seat in zip(*data["frames"], strict=True)]
    return dict(data)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.found.append((tag, dict(attrs)))


def elements(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the elements of a page, each with its attributes."""
    parser = _Elements()
    parser.feed(page)
    return parser.found


def check_alone(page: str) -> None:
    """Check that a page asks for nothing: no address in it, no attribute or style that would load something."""
    code = page
    for space in SPACES:
        code = code.replace(space, "")
    assert not re.findall(r"https?://|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|import\(", code)
    for tag, attributes in elements(page):
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert not {"src", "href", "srcset", "action", "style"} & set(attributes), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
