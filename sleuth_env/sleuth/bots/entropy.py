"""The bot `entropy`: it counts all deals that its view allows.

It asks what is expected to tell most about the missing gems, and accuses as soon as they are proved
by the exact count, which is earlier than the sheet can prove them. Where even the count is too much
(see `Worlds`) its choices rest on estimates, its accusations on the sheet.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...bits import lowest
from ...deduction.worlds import IntricateError
from ...kernels import kernel
from ..belief import Sought, belief, beliefs
from ..cards import NUM_GEMS, NUM_QUESTIONS, Options
from ..state import MUST_ACCUSE, OFFER
from .base import Bot, accuse_or_decline, ask_most, bonuses, checking, evidence_and_sheets, fall_back, make_costs
from .sheet import SHEET_COSTS, play_by_sheet

# A final question is looked for only while no more gems than this may be missing: more are hardly
# ever told apart by one answer.
MAX_CANDIDATES = 6
# Joint states of each layer in the hasty count that mostly saves the exact one at an offer.
SKETCH = 32
# Probabilities that are 1 but for rounding.
SURE = 1.0 - 1e-9
# In bits: more than an answer leaves open that is `SURE` to tell the missing gem.
LEFT_OVER = 1e-7
# In bits. At first a question may tell no more than 0.01: a bot that did not ask it would wait for
# others to, and all of them forever.
ENTROPY_COSTS = make_costs(turn=0.001, free_element=0.03, free=0.06, tie_break=1e-10)

# A choice for some of the seats at once. It is given RULES [1], VIEW [N], the probability of each
# gem to be missing (f8 [N, C]) and the seeds of the decisions (u8 [N]), and returns i8 [N], -1
# where it chooses nothing.
Choice = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@kernel
def _sharpen(holders, results, sheets):
    """Replace what the sheets (SHEET [B]) know by what the exact counts prove; see `Beliefs`."""
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


def decline_early(rules: np.ndarray, views: np.ndarray, undecided: np.ndarray, actions: np.ndarray) -> None:
    """Decline an offer where a small part of the deals already shows that nothing is proved.

    A thinned count still counts only deals that fit; where the missing gems differ in these, they
    are not proved.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        undecided: bool [B], where to look.
        actions: i8 [B], changed where an offer is declined.
    """
    rows = np.flatnonzero(undecided & (views["phase"] == OFFER))
    some = views[rows]
    some["search"] = 0  # nothing can be asked now, so no question is appraised
    possible = beliefs(rules, some, cap=0, keep=SKETCH).holders[:, :, -1] > 0.0
    actions[rows[possible.sum(axis=1) > some["missing"]]] = rules["pass_at"][0]


def accuse_likeliest(rules: np.ndarray, views: np.ndarray, actions: np.ndarray) -> None:
    """Name the next gem of the likeliest set, where gems must be named.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        actions: i8 [B], changed where a gem is named.
    """
    for row in np.flatnonzero((views["phase"] == MUST_ACCUSE) | (views["accusing"] != 0)):
        named = int(views["accusing"][row])
        try:
            sets, probabilities = belief(rules, views[row : row + 1]).missing_sets
        except IntricateError:
            continue
        fitting = np.flatnonzero(sets & named == named)
        if fitting.size:
            best = fitting[np.argmax(probabilities[fitting])]
            actions[row] = int(rules["accuse_at"][0]) + lowest(int(sets[best]) & ~named)


def seek_most(rules: np.ndarray, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> Sought:
    """Return how to seek the question that `ask_most` would choose, with its arguments."""
    bonus = np.empty((views.size, int(rules["num_players"][0]) - 1, NUM_QUESTIONS))
    bonuses(rules, views, legal, seeds, ENTROPY_COSTS, bonus)
    return Sought(bonus, np.full(views.size, ENTROPY_COSTS["turn"][0]))


def seek_all(rules: np.ndarray, missing: np.ndarray) -> Sought:
    """Return how to seek questions that tell all about the missing gem.

    Args:
        rules: RULES [1].
        missing: f8 [N, C], probability of each gem to be missing.
    """
    certain = np.where(missing > 0.0, missing, 1.0)
    bits = -(certain * np.log2(certain)).sum(axis=1)
    bonus = np.zeros((len(missing), int(rules["num_players"][0]) - 1, NUM_QUESTIONS))
    return Sought(bonus, bits - LEFT_OVER, slack=LEFT_OVER)


def deciding_question(rules: np.ndarray, views: np.ndarray, missing: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Choose a final question whose every answer would prove all missing gems, see `Choice`."""
    chosen = np.full(views.size, -1)
    candidates = (missing > 0.0).sum(axis=1)
    rows = np.flatnonzero((candidates > 0) & (candidates <= MAX_CANDIDATES))
    if rows.size:
        asked = beliefs(rules, views[rows], everything=True, sought=seek_all(rules, missing[rows]))
        proved = (asked.results["code"] == 0) & (asked.results["exact"] != 0)
        deciding = (asked.worths["decides"] > SURE).reshape(rows.size, -1) & proved[:, None]
        some = deciding.any(axis=1)
        chosen[rows[some]] = deciding.argmax(axis=1)[some]
    return chosen


class CountingBot(Bot):
    """Ask what is expected to tell most about the missing gems, by a count of all deals.

    It accuses what the exact count proves. What else it does to win, it is given.

    Args:
        options: the game.
        final_question: chooses a final question at the beginning of a turn, as opponent * Q +
            question.
        gem_to_risk: chooses a gem to accuse at an offer although it may not be proved; None: never
            do that, so that a hasty count is enough to decline most offers.
    """

    def __init__(self, options: Options, final_question: Choice, gem_to_risk: Choice | None = None) -> None:
        super().__init__(options)
        self._final_question = final_question
        self._gem_to_risk = gem_to_risk

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        evidence, sheets = evidence_and_sheets(self.rules, views)
        actions = np.full(views.size, -1)
        accuse_likeliest(self.rules, views, actions)
        solved = np.bitwise_count(sheets["has"][:, self.rules["num_players"][0] - 1]) == views["missing"]
        if self._gem_to_risk is None:
            decline_early(self.rules, views, (actions < 0) & ~solved, actions)
        rows = np.flatnonzero((actions < 0) & ~solved & legal.any(axis=1))
        actions[rows] = self._deliberate(views[rows], legal[rows], seeds[rows], evidence[rows], sheets[rows])
        accuse_or_decline(self.rules, views, sheets, actions)
        fall_back(self.rules, legal, seeds, actions)
        return actions

    def _deliberate(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, evidence: np.ndarray, sheets: np.ndarray
    ) -> np.ndarray:
        """Decide where the sheet does not prove the missing gems, on a turn or at an offer.

        The views (VIEW [N]) and sheets (SHEET [N]) are changed. Returns i8 [N], -1 where nothing is
        worth asking.
        """
        actions = np.full(views.size, -1)
        offered = views["phase"] == OFFER
        views["search"][offered] = 0  # as in `decline_early`
        sought = seek_most(self.rules, views, legal, seeds)
        found = beliefs(self.rules, views, sought=sought, exactly=False)
        missing = found.holders[:, :, -1]
        counted = found.results["code"] == 0
        _sharpen(found.holders, found.results, sheets)
        if self._gem_to_risk is not None:
            rows = np.flatnonzero(offered & counted)
            gems = self._gem_to_risk(self.rules, views[rows], missing[rows], seeds[rows])
            actions[rows] = np.where(gems >= 0, self.rules["accuse_at"][0] + gems, -1)
        accuse_or_decline(self.rules, views, sheets, actions)
        final_at = int(self.rules["final_at"][0])
        rows = np.flatnonzero((actions < 0) & counted & (legal[:, final_at] != 0))
        finals = self._final_question(self.rules, views[rows], missing[rows], seeds[rows])
        actions[rows] = np.where(finals >= 0, final_at + finals, -1)
        # Contiguous, so that this kernel is compiled for one layout only.
        worths = np.ascontiguousarray(found.worths["information"])
        ask_most(self.rules, views, legal, seeds, worths, ENTROPY_COSTS, actions)
        rows = np.flatnonzero(~counted & (actions < 0))
        if rows.size:
            chosen = actions[rows]
            own = (records[rows] for records in (views, legal, seeds, evidence, sheets))
            play_by_sheet(self.rules, *own, SHEET_COSTS, chosen)
            actions[rows] = chosen
        return actions


class EntropyBot(CountingBot):
    """Ask what is expected to tell most, accuse only what the exact count proves."""

    name = "entropy"

    def __init__(self, options: Options) -> None:
        super().__init__(options, deciding_question)
