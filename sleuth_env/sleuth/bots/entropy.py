"""The bot ``entropy``: it counts all deals that its view allows, and asks what is expected to tell
most about the missing gems.

It accuses as soon as they are proved by the exact count, which is earlier than the sheet can prove
them. Where even the count is too much (see `Worlds`) its choices rest on estimates, its accusations
on the sheet.
"""

from __future__ import annotations

import numpy as np

from ...bits import advance, below, lowest, mixed
from ...deduction.evidence import EVIDENCE
from ...deduction.sheet import SHEET, propagate
from ...deduction.worlds import IntricateError
from ...kernels import inner, kernel
from ..belief import Beliefs, belief, beliefs
from ..cards import FIRST_FREE, NUM_GEMS, NUM_PAIRS, NUM_QUESTIONS, PLAIN_FREE
from ..clues import clues
from ..state import MUST_ACCUSE, OFFER
from .base import Bot, accuse_or_decline, fall_back
from .sheet import ask_best

# A final question is looked for only while so few gems may still be missing: more are hardly ever
# told apart by one answer.
MAX_CANDIDATES = 6
# Joint states of each layer in the hasty count that mostly saves the exact one at an offer.
SKETCH = 32
# Probabilities that are 1 but for rounding.
SURE = 1.0 - 1e-9
TIE_BREAK = 1e-10


@kernel
def _sharpen(holders, results, sheets):
    """Replace what the sheets know by what the exact counts prove."""
    for b in range(results.size):
        if results[b]["code"] != 0 or not results[b]["exact"]:
            continue
        for h in range(holders.shape[2]):
            can = np.int64(0)
            has = np.int64(0)
            for card in range(NUM_GEMS):
                can |= np.int64(holders[b, card, h] > 0.0) << card
                has |= np.int64(holders[b, card, h] == 1.0) << card
            sheets[b]["can"][h] = can
            sheets[b]["has"][h] = has


@inner
def _dearness(card):
    """Order search cards by how much they can be used for: 0 one question, 1 those with an element,
    2 all.
    """
    return 2 if card == PLAIN_FREE else (1 if card >= FIRST_FREE else 0)


@kernel
def ask_most(rules, views, legal, seeds, values, taste, actions):
    """Where nothing is chosen yet, ask the question of the greatest value after the price of its
    card, if it is worth a turn.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B], they settle ties.
        values: f8 [B, H - 1, Q], what each question is worth; NaN is worth nothing.
        taste: f8 [2]: the least value worth a turn; what a card of the next dearer kind costs.
        actions: i8 [B], changed where it is -1 and there is such a question.
    """
    r = rules[0]
    opponents = rules[0]["num_players"] - 1
    for b in range(views.size):
        if actions[b] >= 0:
            continue
        best = -1e9
        bits = seeds[b]
        cards = views[b]["search"][0]
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            for i in range(r["num_card_pairs"][card] * opponents):
                holder = i % opponents
                pair = r["card_pairs"][card, i // opponents]
                action = holder * NUM_PAIRS + pair
                value = values[b, holder, r["pair_question"][pair]]
                bits = advance(bits)
                paid = value - taste[1] * _dearness(card) + TIE_BREAK * below(mixed(bits), 1024)
                if legal[b, action] and value > taste[0] and paid > best:
                    actions[b] = action
                    best = paid


class EntropyBot(Bot):
    """Ask what is expected to tell most about the missing gems, accuse when the exact count proves
    them.
    """

    name = "entropy"
    # Bits, see `ask_most`. At first a question may tell no more than 0.01: who did not ask it would
    # wait for others to, and all for ever.
    taste = (0.001, 0.03)

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.full(views.size, -1)
        evidence = np.empty(views.size, EVIDENCE)
        sheets = np.empty(views.size, SHEET)
        clues(self.rules, views, evidence)
        propagate(evidence, sheets)
        self._guess(views, actions)
        solved = np.bitwise_count(sheets["has"][:, self.rules["num_players"][0] - 1]) == views["missing"]
        self._decline_early(views, (actions < 0) & ~solved, actions)
        rows = np.flatnonzero((actions < 0) & ~solved & legal.any(axis=1))
        own = [records[rows] for records in (views, legal, seeds, evidence, sheets)]
        actions[rows] = self._deliberate(*own)
        accuse_or_decline(self.rules, views, sheets, actions)
        fall_back(self.rules, legal, seeds, actions)
        return actions

    def _decline_early(self, views: np.ndarray, open_rows: np.ndarray, actions: np.ndarray) -> None:
        """Decline an offer where a small part of the deals already shows that nothing is proved.

        A thinned count still counts nothing but deals that fit; where the missing gems differ in
        these, they are not proved.
        """
        rows = np.flatnonzero(open_rows & (views["phase"] == OFFER))
        some = views[rows]
        some["search"] = 0  # nothing can be asked now, so no question is appraised
        possible = beliefs(self.rules, some, cap=0, keep=SKETCH).holders[:, :, -1] > 0.0
        actions[rows[possible.sum(axis=1) > some["missing"]]] = self.rules["pass_at"][0]

    def _guess(self, views: np.ndarray, actions: np.ndarray) -> None:
        """Where gems must be named, choose the next of the likeliest set."""
        for row in np.flatnonzero((views["phase"] == MUST_ACCUSE) | (views["accusing"] != 0)):
            named = int(views["accusing"][row])
            try:
                sets, chances = belief(self.rules, views[row : row + 1]).missing_sets
            except IntricateError:
                continue
            fitting = np.flatnonzero(sets & named == named)
            if fitting.size:
                best = fitting[np.argmax(chances[fitting])]
                actions[row] = int(self.rules["accuse_at"][0]) + lowest(int(sets[best]) & ~named)

    def _deliberate(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, evidence: np.ndarray, sheets: np.ndarray
    ) -> np.ndarray:
        """Decide where the sheet does not prove the missing gems, on a turn or at an offer; -1
        where nothing is worth asking.
        """
        actions = np.full(views.size, -1)
        offered = views["phase"] == OFFER
        views["search"][offered] = 0  # as in `_decline_early`
        found = beliefs(self.rules, views)
        _sharpen(found.holders, found.results, sheets)
        self._venture(views, seeds, found, actions)
        accuse_or_decline(self.rules, views, sheets, actions)
        self._ask_finally(views, legal, seeds, found, actions)
        ask_most(self.rules, views, legal, seeds, found.worths["information"], np.array(self.taste), actions)
        rows = np.flatnonzero((found.results["code"] != 0) & (actions < 0))
        if rows.size:
            chosen = actions[rows]
            ask_best(self.rules, views[rows], legal[rows], seeds[rows], evidence[rows], sheets[rows], chosen)
            actions[rows] = chosen
        return actions

    def _venture(self, views: np.ndarray, seeds: np.ndarray, found: Beliefs, actions: np.ndarray) -> None:
        """Accuse what is not proved, where that is worth the risk: never."""

    def _ask_finally(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, found: Beliefs, actions: np.ndarray
    ) -> None:
        """Where a turn is still open, ask a final question whose every possible answer leaves all
        missing gems known.
        """
        last = int(self.rules["num_players"][0]) - 1
        final_at = int(self.rules["final_at"][0])
        candidates = (found.holders[:, :, -1] > 0.0).sum(axis=1)
        rows = np.flatnonzero(
            (actions < 0) & (legal[:, final_at] != 0) & (candidates > 0) & (candidates <= MAX_CANDIDATES)
        )
        if rows.size:
            asked = beliefs(self.rules, views[rows], everything=True)
            proved = (asked.results["code"] == 0) & (asked.results["exact"] != 0)
            deciding = (asked.worths["decides"] > SURE).reshape(rows.size, last * NUM_QUESTIONS) & proved[:, None]
            some = deciding.any(axis=1)
            actions[rows[some]] = final_at + deciding.argmax(axis=1)[some]
