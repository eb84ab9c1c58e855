"""What a page in a browser shows of one seat's view besides its facts: sheet, odds and questions, as plain data.

All of it is made of a view alone, ready for JSON. Seats are called "you", "+1", "+2", ... as in
`wording.facts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..game import CANNOT, HAS, MAY
from .belief import belief
from .cards import GEMS, Options, make_rules
from .checked import one_view
from .drawing.scene import HELD, MISSING, OPEN, TABLE, YOURS, Square, make_panel, make_scene
from .notation import gem_name
from .wording import seat_labels

TITLE = "Sleuth"
CHANCE = "chance that the likeliest gem is missing"


def sheet(options: Options, seen: Any) -> dict[str, Any]:
    """Return what a viewer can tell of every gem card without counting deals, as plain data.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Returns:
        ``places``: the seats, then "missing" and "table"; ``items``: for each gem a text with one
        sign a place, `HAS`, `MAY` or `CANNOT`.

    Raises:
        ArrayError: the view is something else, or of another kind of game.
    """
    scene = make_scene(options, seen)
    return {
        "places": [*seat_labels(options), "missing", "table"],
        "items": {gem_name(gem): _signs(square, options.num_players) for gem, square in enumerate(scene.squares)},
    }


def _signs(square: Square, num_players: int) -> str:
    places = num_players + 2
    known = {YOURS: 0, HELD: square.holder, MISSING: num_players, TABLE: num_players + 1}
    if square.kind == OPEN:
        return CANNOT + "".join(MAY if possible else CANNOT for possible in square.possible) + CANNOT
    return "".join(HAS if place == known[square.kind] else CANNOT for place in range(places))


def odds(options: Options, seen: Any) -> dict[str, Any]:
    """Return how likely every gem card is to be anywhere, as plain data, see `belief`.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Returns:
        ``places``: as in `sheet`; ``items``: for each gem its probabilities, one a place; ``exact``:
        whether they are exact and not estimated.

    Raises:
        ArrayError: the view is something else, or of another kind of game.
        IntricateError: the deals cannot be counted.
    """
    views = one_view(options, seen)
    worlds = belief(make_rules(options), views)
    chances = np.zeros((len(GEMS), options.num_players + 2))
    chances[:, 1:-1] = worlds.holders
    for place, mask in ((0, views["hand"][0]), (options.num_players + 1, views["table"][0])):
        chances[:, place] = [int(mask) >> gem & 1 for gem in range(len(GEMS))]
    return {
        "places": [*seat_labels(options), "missing", "table"],
        "items": {gem_name(gem): row for gem, row in enumerate(chances.round(4).tolist())},
        "exact": worlds.exact,
    }


def questions(options: Options, seen: Any) -> list[dict[str, Any]]:
    """Return the questions that tell a viewer most, the best first, as plain data.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Returns:
        Mappings with ``name``, such as ``ask +1 blue``, ``information``, the bits that its answer is
        expected to tell about what is missing, and ``decides``, the chance that it settles that.

    Raises:
        ArrayError: the view is something else, or of another kind of game.
        IntricateError: the deals cannot be counted.
    """
    return [
        {"name": name, "information": round(information, 4), "decides": round(decides, 4)}
        for name, information, decides in make_panel(options, seen).prospects
    ]


def best_chance(odds: Mapping[str, Any]) -> float:
    """Return the chance that the gem is missing that most probably is.

    >>> best_chance({"places": ["you", "missing"], "items": {"red-opal-pair": [0, 0.25], "blue-opal-pair": [1, 0]}})
    0.25

    Args:
        odds: as the function of that name returns them.
    """
    at = odds["places"].index("missing")
    return float(max(row[at] for row in odds["items"].values()))
