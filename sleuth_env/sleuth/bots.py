"""Baseline players: they are given views, never states, and all their randomness comes from the seeds.

``random`` takes any legal action; ``cautious`` asks random useful questions and accuses only when the sheet proves the
gems; ``sheet`` asks what tells most about the cells still open.
"""

from __future__ import annotations

import numpy as np

from ..bits import below, kernel, mixed
from .cards import Options, make_rules


class BotError(ValueError):
    """There is no bot of that name; the message lists the known ones."""


@kernel
def _choose_any(legal, seeds, actions):
    for b in range(legal.shape[0]):
        count = 0
        for action in range(legal.shape[1]):
            count += legal[b, action]
        skip = below(mixed(seeds[b]), count) if count else 0
        actions[b] = -1
        for action in range(legal.shape[1]):
            if legal[b, action]:
                if skip == 0:
                    actions[b] = action
                    break
                skip -= 1


class RandomBot:
    """Take any legal action, all equally likely."""

    name = "random"

    def __init__(self, options: Options) -> None:
        self.rules = make_rules(options)

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game.

        Args:
            views: VIEW [B], each of the seat that has to act.
            legal: u1 [B, A].
            seeds: u8 [B], fresh random bits.

        Returns:
            i8 [B], -1 where nothing is legal.
        """
        actions = np.empty(len(views), np.int64)
        _choose_any(legal, seeds, actions)
        return actions


BOTS: dict[str, type[RandomBot]] = {bot.name: bot for bot in (RandomBot,)}


def make_bot(name: str, options: Options) -> RandomBot:
    """Make a bot by its name.

    Raises:
        BotError: the name is unknown.
    """
    if name not in BOTS:
        raise BotError(f"there is no bot {name!r}; the bots are {', '.join(BOTS)}")
    return BOTS[name](options)
