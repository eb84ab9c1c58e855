"""What all bots have in common: how they are called, when they accuse, what they do when there is
nothing to ask.
"""

from __future__ import annotations

import numpy as np

from ...bits import below, lowest, mixed, popcount
from ...kernels import inner, kernel
from ..cards import Options, make_rules
from ..state import MUST_ACCUSE, OFFER


@inner
def any_legal(row, bits):
    """Choose one of the legal actions, -1 where there is none."""
    count = 0
    for action in range(row.size):
        count += row[action]
    skip = below(bits, count)
    for action in range(row.size):
        if row[action]:
            if skip == 0:
                return action
            skip -= 1
    return -1


@inner
def _next_accused(v, sheet):
    """Choose the next gem to accuse: a proved one if any, else the one with the fewest other places
    to be.
    """
    last = int(v["num_players"]) - 1
    best = -1
    fewest = 1e9
    todo = sheet["can"][last] & ~v["accusing"]
    while todo:
        gem = lowest(todo)
        todo &= todo - 1
        places = 0.0
        for h in range(last):
            places += (sheet["can"][h] >> gem & 1) / max(popcount(sheet["can"][h]), 1)
        places = -1.0 if sheet["has"][last] >> gem & 1 else places
        if places < fewest:
            best = gem
            fewest = places
    return best


@kernel
def accuse_or_decline(rules, views, sheets, actions):
    """Where nothing is chosen yet and no question is to be chosen: accuse when proved or forced to,
    else decline an offer.
    """
    for b in range(views.size):
        if actions[b] >= 0:
            continue
        v = views[b]
        proved = popcount(sheets[b]["has"][views[b]["num_players"] - 1])
        if v["phase"] == MUST_ACCUSE or v["accusing"] != 0 or proved == v["missing"]:
            actions[b] = rules[0]["accuse_at"] + _next_accused(v, sheets[b])
        elif v["phase"] == OFFER:
            actions[b] = rules[0]["pass_at"]


@kernel
def fall_back(rules, legal, seeds, actions):
    """Where nothing is chosen yet, pass (after one of two questions), else exchange; and never do
    what is illegal.
    """
    for b in range(actions.size):
        if actions[b] < 0:
            actions[b] = rules[0]["pass_at"] if legal[b, rules[0]["pass_at"]] else rules[0]["exchange_at"]
        if not legal[b, actions[b]]:
            actions[b] = any_legal(legal[b], mixed(seeds[b]))


class Bot:
    """A player with a name who knows the rules of his game."""

    name = ""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.rules = make_rules(options)

    def seated(self, options: Options) -> Bot:
        """Give this bot as a player of a game with these options."""
        return self if options == self.options else type(self)(options)

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game.

        Args:
            views: VIEW [B], each of the seat that has to act.
            legal: u1 [B, A].
            seeds: u8 [B], fresh random bits; a row's choice depends on nothing but its view, legal
                actions and seed.

        Returns:
            i8 [B]; -1 where nothing is legal.
        """
        raise NotImplementedError
