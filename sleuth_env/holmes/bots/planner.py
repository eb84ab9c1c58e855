"""The bot `planner`: it plays every action out in deals that agree with its view, and takes the best.

In a deal drawn at random (`redeal`), an action is taken and the case played to its end by `counter`
in all seats. The number of cases played out for a decision is its budget. It is shared out by
sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits",
2013): all actions are tried equally often, then the better half of them, and so on. All actions of a
decision are tried in the same deals, which makes them easier to compare.
Axis letters: ``B`` games, ``A`` actions, ``N`` cases played out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...bits import GAMMA, advance, mixed, mixed_rows
from ...checks import check_number
from ...doors import deciding
from ...game import opaque
from ...kernels import kernel
from ..cards import CASE, Options
from ..checked import dealable_views
from ..redeal import redeal
from ..results import points
from ..rules import legal as mark_legal
from ..rules import step
from ..state import FINISHED, STATE
from ..view import VIEW, view
from .base import Bot
from .counter import CounterBot, count_and_choose

# Cases that are played out for a decision.
BUDGET = 128
# Decisions after which a case that is still open is left.
HORIZON = 120
# So many cases are played out at once at most.
MOST_AT_ONCE = 2048
# Deals in which each action may be tried to say what it is worth.
MOST_DEALS = 1024


@kernel
def _play_cases(rules, states, actions, seeds, seats, paid, actor, seen, marks, taken, rewards):
    """Take an action in every game, and let `counter` play on in all seats to the end of the case.

    Args:
        rules: RULES [1].
        states: STATE [N], changed.
        actions: i8 [N], overwritten.
        seeds: u8 [N].
        seats: i8 [N], whose rewards are summed up.
        paid: f8 [N], written.
        actor: i8 [1], scratch, as are all that follow.
        seen: VIEW [1].
        marks: u1 [1, A].
        taken: u1 [1].
        rewards: f8 [1, P].
    """
    for b in range(states.size):
        game = states[b : b + 1]
        case = game[0]["case_number"]
        stream = seeds[b]
        paid[b] = 0.0
        for _ in range(HORIZON):
            step(rules, game, actions[b : b + 1], taken, rewards)
            paid[b] += rewards[0, seats[b]]
            if game[0]["phase"] == FINISHED or game[0]["case_number"] != case:
                break
            actor[0] = game[0]["actor"]
            view(rules, game, actor, seen)
            mark_legal(rules, game, marks)
            stream = advance(stream)
            actions[b] = count_and_choose(rules[0], seen[0], marks[0], mixed(mixed(stream)))


@dataclass
class _Tries:
    """What is known of the actions of one decision.

    Args:
        row: of the decision.
        actions: i8 [A], those that are still tried.
        totals: f8 [A], the sum of what each was worth.
        number: how often each was tried.
    """

    row: int
    actions: np.ndarray
    totals: np.ndarray
    number: int = 0


class PlannerBot(Bot):
    """Play every action out in deals that agree with the view, and take the best.

    Args:
        options: the game.
        budget: number of cases that are played out for a decision.
    """

    name = "planner"

    def __init__(self, options: Options, budget: int = BUDGET) -> None:
        super().__init__(options)
        self.budget = budget
        self._counter = CounterBot(options)

    def seated(self, options: Options) -> PlannerBot:
        """Return this bot as a player of a game with these options."""
        return self if options == self.options else type(self)(options, self.budget)

    @deciding(VIEW, dealable_views)
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions: np.ndarray = CounterBot.act.kernel(self._counter, views, legal, seeds)
        tries = [self._begin(row, legal[row], int(actions[row])) for row in range(views.size)]
        open_ = [one for one in tries if one.actions.size > 1]
        at_once = max(1, MOST_AT_ONCE // self.budget)
        for first in range(0, len(open_), at_once):
            for one in self._plan(views, seeds, open_[first : first + at_once]):
                actions[one.row] = one.actions[0]
        return actions

    @deciding(VIEW, dealable_views)
    def worths(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, deals: int) -> np.ndarray:
        """Return what each legal action is worth on average; see `training.lessons.Weighing`.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: u8 [B].
            deals: in how many each action is tried, from 1 to `MOST_DEALS`, the same for all actions of
                a decision.

        Returns:
            f8 [B, A]; 0 where an action is illegal.

        Raises:
            ArrayError: an argument has another dtype or shape, or values that are out of range.
            ValueError: ``deals`` is not such a number.
        """
        deals = check_number("deals", deals, 1, MOST_DEALS)
        found = np.zeros(legal.shape)
        tries = [self._begin(row, legal[row], int(legal[row].argmax())) for row in range(views.size)]
        at_once = max(1, MOST_AT_ONCE // (deals * legal.shape[1]))
        for first in range(0, len(tries), at_once):
            some = tries[first : first + at_once]
            for one, totals in zip(some, self._try(views, seeds, some, [deals] * len(some)), strict=True):
                found[one.row, one.actions] = totals / deals
        return found

    def _begin(self, row: int, legal: np.ndarray, first: int) -> _Tries:
        """Return the actions of a decision; what `counter` does comes first, and so wins ties."""
        actions = np.flatnonzero(legal)
        actions = np.concatenate([[first], actions[actions != first]]).astype(np.int64)
        return _Tries(row, actions, np.zeros(actions.size))

    def _plan(self, views: np.ndarray, seeds: np.ndarray, tries: list[_Tries]) -> list[_Tries]:
        """Try the actions of some decisions until one of each is left."""
        rounds = {one.row: max(1, int(np.ceil(np.log2(one.actions.size)))) for one in tries}
        open_ = tries
        while open_:
            shares = [max(1, self.budget // (rounds[one.row] * one.actions.size)) for one in open_]
            worths = self._try(views, seeds, open_, shares)
            for one, share, worth in zip(open_, shares, worths, strict=True):
                one.totals += worth
                one.number += share
                # Stable: the earlier of equals stays.
                best = np.argsort(-one.totals, kind="stable")[: (one.actions.size + 1) // 2]
                one.actions = one.actions[best]
                one.totals = one.totals[best]
            open_ = [one for one in open_ if one.actions.size > 1]
        return tries

    def _try(self, views: np.ndarray, seeds: np.ndarray, tries: list[_Tries], shares: list[int]) -> list[np.ndarray]:
        """Return what each action of some decisions was worth in all, tried in as many deals as its share."""
        rows = np.concatenate(
            [np.full(one.actions.size * share, one.row) for one, share in zip(tries, shares, strict=True)]
        )
        actions = np.concatenate([one.actions.repeat(share) for one, share in zip(tries, shares, strict=True)])
        deals = np.concatenate(
            [np.tile(one.number + np.arange(share), one.actions.size) for one, share in zip(tries, shares, strict=True)]
        )
        chosen = mixed_rows(seeds[rows] + (1 + deals.astype(np.uint64)) * GAMMA)
        worth = self._play_out(opaque(views)[rows].view(VIEW), actions, chosen)
        ends = np.cumsum([one.actions.size * share for one, share in zip(tries, shares, strict=True)])
        return [
            part.reshape(one.actions.size, share).sum(1)
            for one, share, part in zip(tries, shares, np.split(worth, ends[:-1]), strict=True)
        ]

    def _play_out(self, views: np.ndarray, actions: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return what actions were worth, each in a deal drawn for a view (f8 [N])."""
        states = np.empty(views.size, STATE)
        redeal(self.rules, views, seeds, states)
        seats = views["seat"].astype(np.int64)
        paid = np.zeros(views.size)
        _play_cases(
            self.rules,
            states,
            actions.copy(),
            seeds,
            seats,
            paid,
            np.zeros(1, np.int64),
            np.zeros(1, VIEW),
            np.zeros((1, int(self.rules["num_actions"][0])), np.uint8),
            np.zeros(1, np.uint8),
            np.zeros((1, self.options.num_players)),
        )
        return paid if self.rules["reward"][0] == CASE else self._lead(states, seats)

    def _lead(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return by how much each seat's points are above those of the others on average (f8 [N])."""
        players = self.options.num_players
        scored = np.zeros((states.size, players), np.int32)
        points(self.rules, states, scored)
        own = scored[np.arange(states.size), seats]
        return own - (scored.sum(1) - own) / (players - 1)
