"""What has just happened in a game of Sleuth, in words: for everybody, or with what one player knows besides.

A line for everybody is made of public events alone. What a player knows besides is read from his view, so that a line can tell
him nothing that he may not know.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .sleuth.cards import Options, make_rules
from .sleuth.names import gem_names, player_name
from .sleuth.notation import event_text
from .sleuth.state import ACCUSED_EVENT, ASK_EVENT, FINAL_EVENT, FINISHED, RIGHT_EVENT, STATE, WRONG_EVENT
from .sleuth.view import VIEW, view

ACCUSATIONS = (RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT)


def counted(number: int, noun: str) -> str:
    """Write a number of things: 1 turn, 2 turns."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def view_of(options: Options, state: Any, seat: int) -> np.void:
    """Give what a seat knows of one game (STATE record) as one VIEW record."""
    states, views = np.zeros(1, STATE), np.zeros(1, VIEW)
    states[0] = state
    view(make_rules(options), states, np.array([seat], np.int64), views)
    return views[0]  # type: ignore[no-any-return]


def is_public(options: Options, state: Any, action: int) -> bool:
    """Tell whether an action was announced: not a pass, nor a gem of an accusation of which more are to be named.

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
    """Name the seats in the numbering of a view (one VIEW record); `you` is the viewer's name, if not the usual one."""
    count, seat = int(seen["num_players"]), int(seen["seat"])
    names = [player_name((seat + k) % count) for k in range(count)]
    return [you, *(f"{name} (+{k})" for k, name in enumerate(names[1:], 1))] if you else names


def private_lines(options: Options, seen: Any, names: list[str]) -> list[str]:
    """Tell what the viewer knows of the last public event besides (VIEW record, after it); names as of `seat_names`."""
    kind, asker, target, question, _, _ = (int(field) for field in seen["events"][0])
    if kind in ACCUSATIONS:
        return _accusation_lines(seen, asker, names)
    elements = make_rules(options)["num_elements"][0, question]
    if kind not in (ASK_EVENT, FINAL_EVENT) or elements == 1 or options.super_sleuth or 0 not in (asker, target):
        return []
    # A hand never changes, so what the asker has ever seen of it and what matches are the cards shown now.
    held = seen["hand"] if target == 0 else seen["seen"][target]
    shown = gem_names(int(held) & int(make_rules(options)["question_gems"][0, question]))
    return [f"shown by {names[target]} to {names[asker]}: {', '.join(shown) or 'nothing'}"]


def _accusation_lines(seen: Any, asker: int, names: list[str]) -> list[str]:
    lines = [f"named by {names[0]}: {', '.join(gem_names(seen['accused']))}"] if asker == 0 else []
    if seen["missing_gems"] and (asker == 0 or seen["phase"] == FINISHED):
        lines.append(f"missing: {', '.join(gem_names(seen['missing_gems']))}")
    return lines
