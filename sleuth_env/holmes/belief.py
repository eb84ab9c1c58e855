"""What a seat may believe about hidden cards: bounds that are proved, and an estimate of where the Villains lie.

The bounds are those of the sheet, which is exact in what it says but does not say all that could be
proved. The chances are estimated: a Villain whose holder is not known lies with each holder who can
have it in proportion to the number of cards. Source: docs/holmes.md, "Bots". Axis letters: ``H`` = P
holders (the opponents to the left, then the draw pile), ``T`` = 37 titles, ``V`` = 5 villains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import inner, kernel
from .cards import NUM_HAND_TITLES, NUM_VILLAINS
from .checked import checked_rules, checked_views


@inner
def _size(v, num_players, holder):
    return v["hand_sizes"][holder + 1] if holder < num_players - 1 else v["pile_size"]


@inner
def chance_to_hold(rules, v, holder, villain):
    """Estimate the chance that a holder has a Villain.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        holder: k - 1 for the opponent k to the left, n - 1 for the draw pile.
        villain: its number, 0 to 4.
    """
    title = rules["villain_title"][villain]
    if v["least"][holder, title] > 0:
        return 1.0
    if v["most"][holder, title] <= 0:
        return 0.0
    num_players = int(rules["num_players"])
    total = 0
    for h in range(num_players):
        if v["most"][h, title] > 0:
            total += _size(v, num_players, h)
    return _size(v, num_players, holder) / total if total > 0 else 0.0


@inner
def chance_of_guilt(rules, v, k):
    """Estimate the chance that the opponent k to the left has any Villain."""
    innocent = 1.0
    for villain in range(NUM_VILLAINS):
        innocent *= 1.0 - chance_to_hold(rules, v, k - 1, villain)
    return 1.0 - innocent


@kernel
def _estimate(rules, views, chances):
    for b in range(views.size):
        for h in range(rules[0]["num_players"]):
            for villain in range(NUM_VILLAINS):
                chances[b, h, villain] = chance_to_hold(rules[0], views[b], h, villain)


@dataclass(frozen=True)
class Belief:
    """What a seat may believe; the holders are the opponents to the left, then the draw pile.

    Args:
        least: i1 [H, T], copies of each title that a holder has at least: proved.
        most: i1 [H, T], copies that a holder has at most: proved.
        chance: f8 [H, V], chance of each Villain to lie with a holder: an estimate.
        exact: whether the chances are exact; they are not.
    """

    least: np.ndarray
    most: np.ndarray
    chance: np.ndarray
    exact: bool = False


def belief(rules: np.ndarray, views: np.ndarray) -> Belief:
    """Return what a seat may believe: proved bounds of copies, and an estimate of where the Villains lie.

    >>> from sleuth_env.holmes.cards import Options, make_rules
    >>> from sleuth_env.holmes.cases import deal
    >>> from sleuth_env.holmes.state import new_states
    >>> from sleuth_env.holmes.view import VIEW, view
    >>> rules = make_rules(Options(num_players=3))
    >>> states = new_states(1)
    >>> deal(rules, states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(rules, states, np.array([0]), views)
    >>> found = belief(rules, views)
    >>> found.least.shape, found.chance.shape, found.exact
    ((3, 37), (3, 5), False)
    >>> float(found.chance[:, 4].sum().round(9)) in (0.0, 1.0)  # milverton is always dealt
    True

    Args:
        rules: RULES [1].
        views: VIEW [1].

    Raises:
        ValueError: these are not rules or not one view, or the view is of another kind of game.
    """
    rules = checked_rules(rules)
    views = checked_views(rules, views)
    if views.size != 1:
        raise ValueError(f"belief is given one view, got {views.size}")
    players = int(rules["num_players"][0])
    chances = np.zeros((1, players, NUM_VILLAINS))
    _estimate(rules, views, chances)
    least, most = (views[name][0, :players, :NUM_HAND_TITLES].copy() for name in ("least", "most"))
    return Belief(least, most, chances[0])
