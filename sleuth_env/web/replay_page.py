"""A game as one page, to be stepped through from the viewpoint of every player."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from ..game import Game
from ..policies.policy import Policy
from .frames import Replay, make_replay
from .packing import as_changes
from .page import make_page

STYLES = ("style.css", "replay.css")
BODY = """\
<header class="top">
<h1>{title}</h1>
</header>
<main class="page" id="replay">
<noscript><p class="notice">This page needs JavaScript.</p></noscript>
</main>"""
# Facts that the page does not show: the log says the same.
UNSHOWN = ("events",)
# Of the odds of a page, and the least share that they tell apart from nothing.
DECIMALS = 3
LEAST = 0.001


def replay_page(
    record: Any,
    policy: Policy | None = None,
    title: str | None = None,
    players: Sequence[str] = (),
    game: Game | None = None,
    progress: Callable[[int], object] | None = None,
) -> str:
    """Return a game as one HTML page that needs no server and asks for nothing.

    Args:
        record: the game, as `parse_game` returns it.
        policy: whose probabilities are shown at every decision.
        title: of the page; default: that of the game.
        players: who played in each seat; nobody knows without them.
        game: its module; default: the game of this package whose options it has.
        progress: is called with the number of frames made since the last call, see `num_frames`.

    Raises:
        ValueError: an argument is something else.
        MissingPartError: the game cannot be told, worded or shown on a board.
        PolicyError: the policy cannot play under the game's options.

    >>> from sleuth_env import sleuth
    >>> from sleuth_env.web.replay_page import replay_page
    >>> page = replay_page(sleuth.parse_game(open("game.txt").read()))  # doctest: +SKIP
    """
    replay = make_replay(record, policy, title, players, game, progress)
    return make_page(
        f"{replay.title}: replay",
        BODY.format(title=escape(f"{replay.title}: replay")),
        STYLES,
        "replay",
        {"replay-data": packed_replay(replay)},
    )


def packed_replay(replay: Replay) -> dict[str, Any]:
    """Return a replay as the page reads it: of frames and deals what changes from step to step, see `packing`.

    Frames are [S][P]: what changes at a step is much the same for all seats, and is deflated best where
    it stands together.
    """
    data = replay.as_dict()
    data["deals"] = as_changes(data["deals"])
    changes = [as_changes([_for_page(frame) for frame in of_seat]) for of_seat in data["frames"]]
    data["frames"] = [list(of_step) for of_step in zip(*changes, strict=True)]
    return data


def _for_page(frame: dict[str, Any]) -> dict[str, Any]:
    """Return a frame without what the page does not show, whose odds have no more digits than it can show."""
    facts = {key: fact for key, fact in frame["facts"].items() if key not in UNSHOWN}
    return _rounded({**frame, "facts": facts})


def _rounded(frame: dict[str, Any]) -> dict[str, Any]:
    if frame["odds"] is None:
        return frame
    items = {item: [_share(share) for share in shares] for item, shares in frame["odds"]["items"].items()}
    return {**frame, "odds": {**frame["odds"], "items": items}}


def _share(share: float) -> float:
    """Return a probability in few digits; one that is not quite 0 or 1 is never rounded to that.

    >>> _share(0.3333), _share(0.0001), _share(0.9999), _share(1.0)
    (0.333, 0.001, 0.999, 1)
    """
    if share in (0, 1):
        return int(share)
    return min(max(round(share, DECIMALS), LEAST), 1 - LEAST)
