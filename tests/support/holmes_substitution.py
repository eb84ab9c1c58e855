"""Change all that a seat cannot know of a game of I Say, Holmes!, within the bounds of its sheet."""

from __future__ import annotations

import numpy as np

from sleuth_env.holmes.cards import AFOOT, NUM_SAY_TYPES, NUM_TITLES, Options
from sleuth_env.holmes.state import DRAWN, PILE, P

SWAPS = 100


def substituted(options: Options, states: np.ndarray, viewer: int, rng: np.random.Generator) -> np.ndarray:
    """Return a game (STATE [1]) with other hidden cards, tokens and thoughts, as possible for a viewer.

    Cards are exchanged between the hands of others and the draw pile as long as the viewer's sheet
    allows it.
    """
    changed = states.copy()
    s = changed[0]
    others = [seat for seat in range(options.num_players) if seat != viewer]
    copies = np.vstack([s["hands"], np.bincount(s["pile"][: s["pile_size"]], minlength=NUM_TITLES)]).astype(int)
    least, most = (s[name][viewer, :, :NUM_TITLES] for name in ("least", "most"))
    _shuffle_cards(copies, [*others, PILE], least, most, rng)
    s["hands"] = copies[:P]
    s["held"] = (copies[:P] > 0) @ (np.int64(1) << np.arange(NUM_TITLES))
    pile = np.repeat(np.arange(NUM_TITLES), copies[PILE])
    s["pile"][: s["pile_size"]] = rng.permutation(pile)
    _change_thoughts(s, others, rng)
    _change_tokens(s, rng)
    return changed


def _shuffle_cards(
    copies: np.ndarray, holders: list[int], least: np.ndarray, most: np.ndarray, rng: np.random.Generator
) -> None:
    """Exchange cards between holders at random, within bounds (all of them [H, T])."""
    free = [h for h in holders if copies[h].sum() > 0]
    for _ in range(SWAPS if len(free) > 1 else 0):
        one, other = rng.choice(free, 2, replace=False)
        here = np.flatnonzero((copies[one] > least[one]) & (copies[other] < most[other]))
        there = np.flatnonzero((copies[other] > least[other]) & (copies[one] < most[one]))
        if here.size and there.size:
            given = rng.choice(here)
            got = rng.choice(there)
            if given != got:
                copies[one, given] -= 1
                copies[one, got] += 1
                copies[other, got] -= 1
                copies[other, given] += 1


def _change_thoughts(s: np.void, others: list[int], rng: np.random.Generator) -> None:
    """Change what others have set down, know and have been asked."""
    s["rng"] = rng.integers(0, 2**64, dtype=np.uint64)
    for seat in others:
        if s["set_down"][seat] >= 0:
            s["set_down"][seat] = rng.choice(np.flatnonzero(s["hands"][seat]))
        s["declined"][seat] = rng.integers(0, 2)
        s["least"][seat] = rng.integers(0, 2, s["least"][seat].shape)
        s["most"][seat] = rng.integers(2, 9, s["most"][seat].shape)
        for third in others:
            s["looks"][seat, third] = rng.integers(0, 2, NUM_TITLES)
            s["look_whole"][seat, third] = rng.integers(0, 2)
            s["look_turn"][seat, third] = rng.integers(0, 9)
    if s["phase"] == DRAWN and s["actor"] in others:
        s["drawn"] = rng.integers(0, AFOOT)


def _change_tokens(s: np.void, rng: np.random.Generator) -> None:
    """Change which tokens of a kind, whose points nobody knows, lie where."""
    for kind in range(NUM_SAY_TYPES):
        there = [*(s["say"][seat, kind] for seat in range(P)), *s["say_pool"][kind]]
        worth = iter(rng.permutation([int(number) for number in there if number > 0]))
        changed = [int(next(worth)) if number > 0 else 0 for number in there]
        s["say"][:, kind] = changed[:P]
        s["say_pool"][kind] = changed[P:]
    order = rng.permutation(len(s["telegrams"]))
    s["telegrams"] = s["telegrams"][order]
    stock = rng.permutation(np.flatnonzero(s["telegrams"] < 0))
    s["telegram_stock"][: s["telegram_size"]] = stock
