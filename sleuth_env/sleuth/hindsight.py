"""What a player could believe at any moment of a game that is written down."""

from __future__ import annotations

import numpy as np

from ..deduction.worlds import Worlds
from .belief import belief
from .cards import make_rules
from .names import NotationError, alternatives, player_name
from .transcript import GameRecord, parse_game
from .view import VIEW, view


def belief_in_game(game: str | GameRecord, player: str | int, step: int | None = None) -> Worlds:
    """Give all deals that are consistent with what a player of a game text could know, see `belief`.

    Args:
        game: the text, or what `parse_game` makes of it.
        player: a name (``player_1``) or a seat.
        step: after how many actions, from 0; None: where the text ends.

    Raises:
        NotationError: the text is wrong, or it has no such player or step.
    """
    if not isinstance(game, (str, GameRecord)):
        raise NotationError(f"a game is a text or what parse_game makes of one, got {game!r:.100}")
    record = parse_game(game) if isinstance(game, str) else game
    names, last = [player_name(seat) for seat in range(record.options.num_players)], len(record.actions)
    seat = names.index(player) if player in names else player
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or seat not in range(len(names)):
        raise NotationError(f"the player must be {alternatives(str(player), names)}")
    if step is not None and step not in range(last + 1):
        raise NotationError(f"the game has the steps 0 to {last}, got {step!r}")
    at = last if step is None else int(step)
    rules, views = make_rules(record.options), np.zeros(1, VIEW)
    view(rules, record.states[at : at + 1], np.array([seat], np.int64), views)
    return belief(rules, views)
