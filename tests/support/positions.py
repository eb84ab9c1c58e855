"""Positions of whole games for tests of deduction, and all deals of a position by enumeration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sleuth_env.deduction.evidence import EVIDENCE, cards_of
from sleuth_env.sleuth import (
    FINISHED,
    VIEW,
    Options,
    deal,
    legal,
    make_bot,
    make_rules,
    new_states,
    num_actions,
    step,
    view,
)
from sleuth_env.sleuth.clues import clues


def positions(options: Options, bot: str, games: int, seed: int) -> np.ndarray:
    """Play games; return the views of whoever had to decide, VIEW [N], in the order of play."""
    rules = make_rules(options)
    states = new_states(games)
    rng = np.random.default_rng(seed)
    player = make_bot(bot, options)
    seen = []
    deal(rules, states, rng.integers(0, 2**63, games).astype(np.uint64))
    mask = np.zeros((games, num_actions(options)), np.uint8)
    taken = np.zeros(games, np.uint8)
    rewards = np.zeros((games, options.num_players))
    while (states["phase"] != FINISHED).any():
        going = states["phase"] != FINISHED
        views = np.zeros(games, VIEW)
        legal(rules, states, mask)
        view(rules, states, np.maximum(states["actor"], 0).astype(np.int64), views)
        seen.append(views[going])
        seeds = rng.integers(0, 2**63, games).astype(np.uint64)
        actions = np.full(games, -1)
        actions[going] = player.act(views[going], mask[going], seeds[going])
        step(rules, states, actions, taken, rewards)
    return np.concatenate(seen)


def evidence_of(options: Options, views: np.ndarray) -> np.ndarray:
    """Return the evidence of some views, EVIDENCE [N]."""
    evidence = np.zeros(views.shape, EVIDENCE)
    clues(make_rules(options), views, evidence)
    return evidence


def all_deals(evidence: np.void, limit: int) -> list[dict[int, int]] | None:
    """List every deal (holder by card), or None if there are more than ``limit``.

    All hands that each holder's bounds allow are joined. It knows nothing but the definition: each
    card lies with one holder who may have it, and their bounds must hold.
    """
    hands = sorted(
        ((all_hands(evidence, holder).tolist(), holder) for holder in range(int(evidence["num_holders"]))),
        key=lambda some: len(some[0]),
    )
    found: list[dict[int, int]] = []
    for own in _joined(int(evidence["cards"]), [some for some, _ in hands[:-1]], frozenset(hands[-1][0])):
        found.append({card: holder for (_, holder), hand in zip(hands, own, strict=True) for card in cards_of(hand)})
        if len(found) > limit:
            return None
    return found


def all_hands(evidence: np.void, holder: int) -> np.ndarray:
    """List all sets of cards (masks, i8) that one holder's own bounds allow."""
    bounds = bounds_of(evidence, holder)
    hands = np.zeros(1, np.int64)
    left = int(evidence["possible"][holder]) & int(evidence["cards"])
    for card in cards_of(left):
        left &= ~(1 << card)
        hands = np.concatenate([hands, hands | 1 << card])
        for cards, least, most in bounds:
            if cards >> card & 1:
                hands = hands[
                    (np.bitwise_count(hands & cards) <= most) & (np.bitwise_count((hands | left) & cards) >= least)
                ]
    return hands[may_hold(evidence, holder, hands)]


def bounds_of(evidence: np.void, holder: int) -> list[tuple[int, int, int]]:
    """List a holder's bounds that exclude anything: cards, least, most."""
    bounds = zip(
        evidence["sets"].tolist(), evidence["least"][holder].tolist(), evidence["most"][holder].tolist(), strict=True
    )
    return [bound for bound in list(bounds)[: evidence["num_sets"]] if bound[1] > 0 or bound[2] < bound[0].bit_count()]


def may_hold(evidence: np.void, holder: int, hands: np.ndarray) -> np.ndarray:
    """Return whether one holder may have each of some sets of cards (masks, i8 [N]), u1 [N]."""
    fits = hands & ~evidence["possible"][holder] == 0
    for cards, least, most in bounds_of(evidence, holder):
        number = np.bitwise_count(hands & cards)
        fits &= (least <= number) & (number <= most)
    return fits


def _joined(left: int, hands: list[list[int]], last: frozenset[int]) -> Iterator[list[int]]:
    """Yield every choice of disjoint hands, one for each holder, that takes all the cards left."""
    if not hands:
        if left in last:
            yield [left]
        return
    for hand in hands[0]:
        others = [[other for other in some if not other & hand] for some in hands[1:]]
        for own in _joined(left & ~hand, others, last):
            yield [hand, *own]
