"""What a page in a browser shows of one seat's view besides its facts: sheet and odds, as plain data.

All of it is made of a view alone, ready for JSON. Seats are called "you", "+1", "+2", ... as in
`wording.facts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..game import CANNOT, HAS, MAY
from .belief import belief
from .cards import NUM_HAND_TITLES, VILLAINS, Options, make_rules
from .drawing.scene import seat_labels
from .notation import title_name
from .records import one_view
from .wording import PILE

TITLE = "I Say, Holmes!"
CHANCE = "estimated chance that the likeliest opponent holds a Villain"


def sheet(options: Options, seen: Any) -> dict[str, Any]:
    """Return who holds copies of every title, may hold some, or cannot, as plain data.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Returns:
        ``places``: the seats, then the draw pile; ``items``: for each title a text with one sign a
        place, `HAS`, `MAY` or `CANNOT`. How many copies is said by ``holders`` of the facts.

    Raises:
        ArrayError: the view is something else, or of another kind of game.
    """
    view = one_view(options, seen)[0]
    most = view["most"][: options.num_players, :NUM_HAND_TITLES]
    least = view["least"][: options.num_players, :NUM_HAND_TITLES]
    signs = np.where(least > 0, HAS, np.where(most > 0, MAY, CANNOT))
    return {
        "places": [*seat_labels(options), PILE],
        "items": {
            title_name(title): (HAS if view["hand"][title] else CANNOT) + "".join(signs[:, title])
            for title in range(NUM_HAND_TITLES)
        },
    }


def odds(options: Options, seen: Any) -> dict[str, Any]:
    """Return how likely every Villain is to be anywhere, as plain data: an estimate, see `belief`.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Returns:
        ``places``: as in `sheet`; ``items``: for each Villain its probabilities, one a place;
        ``exact``: False.

    Raises:
        ArrayError: the view is something else, or of another kind of game.
    """
    views = one_view(options, seen)
    rules = make_rules(options)
    found = belief(rules, views)
    own = [float(views["hand"][0][title] > 0) for title in rules["villain_title"][0].tolist()]
    return {
        "places": [*seat_labels(options), PILE],
        "items": {
            name: [own[villain], *found.chance[:, villain].round(4).tolist()] for villain, name in enumerate(VILLAINS)
        },
        "exact": found.exact,
    }


def questions(options: Options, seen: Any) -> list[dict[str, Any]]:
    """Return nothing: nobody asks questions in this game.

    Args:
        options: of the game.
        seen: VIEW, one record.
    """
    return []


def best_chance(odds: Mapping[str, Any]) -> float:
    """Return the chance that the opponent who most probably holds a Villain does, an estimate like the odds.

    >>> items = {"moran": [0, 0.5, 0, 0.5], "milverton": [1, 0, 0, 0]}
    >>> best_chance({"places": ["you", "+1", "+2", "draw pile"], "items": items})
    0.5

    Args:
        odds: as the function of that name returns them.
    """
    chances = np.array(list(odds["items"].values()))[:, 1:-1]
    return float((1 - np.prod(1 - chances, axis=0)).max())
