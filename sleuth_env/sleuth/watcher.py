"""The bot ``watcher``: it plays like `racer`, but prefers questions that tell its rivals little.

What a rival knows depends on his hand and on the cards that he was shown, which are hidden. But in any deal that is possible they follow from
the public log: who asked whom what, and which numbers were announced. So some deals are drawn from the exact distribution, every
rival's view is imagined in each of them, and what he would learn from the announced number is what an `entropy` in his place would compute.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..bits import kernel
from .belief import Beliefs, belief, beliefs
from .cards import NUM_GEMS, NUM_QUESTIONS, Options, make_rules
from .racer import RacerBot
from .state import IN, OFFER
from .view import VIEW

# Deals in which the rivals' views are imagined.
DEALS = 4
# What a bit is worth that is told to all rivals, in own bits.
LEAK = 0.5


@kernel
def imagine(rules, views, deals, imagined):
    """Write down what the opponents of some viewers would know if the cards were dealt so, as far as `clues` reads it, and who may be asked what.

    Args:
        rules: RULES [1].
        views: VIEW [N].
        deals: i1 [N, C], the holder of each gem as in `belief`, -1 for those in the viewer's hand or on the table.
        imagined: VIEW [N, H - 1], overwritten in part: the view of opponent ``j + 1``, with the viewer's search cards as if they were his own.
    """
    r, players, hands = rules[0], rules[0]["num_players"], np.zeros(8, np.int64)
    for n in range(views.size):
        v = views[n]
        hands[:] = 0
        hands[0] = v["hand"]
        for card in range(NUM_GEMS):
            if deals[n, card] >= 0:
                hands[deals[n, card] + 1] |= np.int64(1) << card
        for j in range(1, players):
            w = imagined[n, j - 1]
            w["num_players"], w["missing"], w["missing_gems"] = players, v["missing"], 0
            w["hand"], w["table"], w["search"][0] = hands[j], v["table"], v["search"][0]
            for k in range(players):
                other = (j + k) % players
                w["seen"][k] = 0
                for question in range(NUM_QUESTIONS):
                    w["answers"][k, question] = v["answers"][other, question]
                    if v["askers"][other, question] >> j & 1 and r["num_elements"][question] == 2 and not r["super_sleuth"]:
                        w["seen"][k] |= r["question_gems"][question] & hands[other]


class WatcherBot(RacerBot):
    """Ask what tells much, but little to the rivals; take the risks that `racer` takes."""

    name = "watcher"

    def __init__(self, options: Options, weights: dict[str, np.ndarray] | None = None) -> None:
        super().__init__(options, weights)
        # For bystanders every game is a Super Sleuth: they hear numbers and see no cards.
        self._overheard = make_rules(replace(options, super_sleuth=True))

    def _values(self, views: np.ndarray, seeds: np.ndarray, found: Beliefs, actions: np.ndarray) -> np.ndarray:
        """Give the information of each question, and more for those that tell the rivals less than the most talkative one."""
        values = found.worths["information"].copy()
        values[~(values > self.taste[0])] = np.nan  # a question that tells next to nothing is not worth a turn, however discreet
        rows = np.flatnonzero((actions < 0) & (views["phase"] != OFFER) & (found.results["code"] == 0))
        if rows.size:
            leaks = self._leaks(views[rows], seeds[rows])
            values[rows] += LEAK * (leaks.max(axis=(1, 2), keepdims=True) - leaks)
        return values

    def _leaks(self, views: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Estimate the bits about the missing gems that each question tells a rival, in the mean over all opponents, f8 [B, H - 1, Q]."""
        opponents = self.options.num_players - 1
        drawn = [belief(self.rules, views[row : row + 1]).sample(DEALS, np.random.default_rng(seeds[row])) for row in range(views.size)]
        imagined = np.zeros((views.size * DEALS, opponents), VIEW)
        imagine(self.rules, np.repeat(views, DEALS), np.concatenate(drawn), imagined)
        told = np.nan_to_num(beliefs(self._overheard, imagined.reshape(-1)).worths["information"])
        told = told.reshape(views.size, DEALS, opponents, opponents, NUM_QUESTIONS).mean(axis=1)
        leaks = np.zeros((views.size, opponents, NUM_QUESTIONS))
        for rival in range(opponents):
            contends = (views["standing"][:, rival + 1] == IN)[:, None] / opponents
            for asked in range(opponents):
                # Who is asked learns nothing. Seen from the rival, the asked one sits so much further to the left.
                if asked != rival:
                    leaks[:, asked] += contends * told[:, rival, (asked - rival - 1) % (opponents + 1)]
        return leaks
