"""A belief that reads the table: deals weighted by how well they explain what rivals have chosen.

All deals that fit a view are equally likely by the cards alone. But whoever holds a gem hardly asks
for it, and whoever can name the missing gem does not go on asking. `weighted_belief` draws deals and
weighs each by how likely a model of the rivals would have chosen what they have chosen, had they held
what the deal gives them. So it is evidence about players, not about cards: it proves nothing, and is
as good as the model. Axis letters: ``N`` deals, ``M`` moments, ``C`` gem cards, ``H`` holders:
opponents in turn order, then "missing", ``K`` views.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...bits import members, popcount
from ...checks import check_choice, check_number
from ...deduction.evidence import EVIDENCE, MAX_HOLDERS
from ...deduction.sheet import KEPT, SHEET, WORK, fill_in_again
from ...doors import ArrayError, described
from ...kernels import inner, kernel
from ..belief import affordable, belief
from ..cards import NUM_GEMS, NUM_QUESTIONS
from ..checked import checked_rules, checked_views
from ..clues import read_clues
from ..estimates import estimate, estimating_space, information, information_space, normalise_missing
from ..rules import is_shown, may_ask
from ..state import SECOND, TURN, P
from ..view import VIEW
from .base import COSTS
from .entropy import ENTROPY_COSTS
from .moments import DECLINED, Watcher, check_events
from .sheet import FITTING_ROUNDS, SHEET_COSTS, sheet_worth
from .simple import is_useful

# By what a model compares questions.
ANY_USEFUL, BY_SHEET, BY_INFORMATION = range(3)
MODEL = np.dtype(
    [
        ("by", "i8"),  # one of these
        ("rounds", "i8"),  # how often probabilities are fitted, see `estimate`
        ("costs", COSTS),  # what is set against the worth of a question
        ("temperature", "f8"),  # questions are asked in proportion to exp(value / temperature)
        ("slip", "f8"),  # how often any question is asked instead, and a proved accusation is let pass
    ],
    align=True,
)


def _model(by: int, rounds: int, costs: np.ndarray, temperature: float, slip: float) -> np.ndarray:
    model = np.zeros(1, MODEL)
    model["by"] = by
    model["rounds"] = rounds
    model["costs"] = costs[0]
    model["temperature"] = temperature
    model["slip"] = slip
    return model


_CAUTIOUS = _model(ANY_USEFUL, 0, SHEET_COSTS, 1.0, 0.02)
_SHEET = _model(BY_SHEET, FITTING_ROUNDS, SHEET_COSTS, 0.1, 0.1)
# It stands for the exact count: more rounds hardly change which question comes out best.
_COUNTING = _model(BY_INFORMATION, 8, ENTROPY_COSTS, 0.03, 0.15)
# How players are thought to choose, by the name of a bot (MODEL [K]); where there are several models,
# each rival is one of them, all equally likely before anything is seen. Of `random`, which has none,
# nothing is learned.
MODELS = {
    "random": np.zeros(0, MODEL),
    "cautious": _CAUTIOUS,
    "sheet": _SHEET,
    "entropy": _COUNTING,
    "racer": _COUNTING,
    "any": np.concatenate([_CAUTIOUS, _SHEET, _COUNTING]),
}
DEFAULT_MODEL = "any"
# What the weights say counts for so much, the rest is what the cards alone say: so nothing that is
# possible is ruled out. It counts for less where few deals carry the weights.
TRUST = 0.95
FEW_DEALS = 10.0
MOST_DEALS = 1_000_000


@inner
def _see_as(rules, now, moment, hands, v):
    """Write what somebody knew at a moment, as far as `read_clues`, `affordable` and `may_ask` read it.

    Args:
        rules: one RULES record.
        now: one VIEW record, the viewer's present view.
        moment: one MOMENT record.
        hands: i8 [P], the viewer's gems and those that others have in a deal.
        v: one VIEW record, changed.
    """
    players = int(rules["num_players"])
    seat = int(moment["seat"])
    first = int(moment["first_target"])
    v["num_players"] = players
    v["missing"] = rules["missing"]
    v["hand"] = hands[seat]
    v["table"] = now["table"]
    v["missing_gems"] = 0
    v["accusing"] = 0
    v["search"][0] = moment["search"]
    v["phase"] = SECOND if first >= 0 else TURN
    v["first_target"] = (first - seat) % players if first >= 0 else -1
    v["first_elements"] = moment["first_elements"]
    for k in range(players):
        other = (seat + k) % players
        v["told"][k] = moment["told"][other]
        for question in members(moment["told"][other]):
            v["answers"][k, question] = now["answers"][other, question]
        seen = np.int64(0)
        for question in members(moment["shown"][other]):
            seen |= hands[other] & rules["question_gems"][question]
        v["seen"][k] = seen


@inner
def _appraise(rules, model, v, e, sheet, space, worths):
    """Write what the questions that can be paid for are worth to somebody (f8 [H, Q])."""
    counts, totals, probabilities, cells = space
    if model["by"] != ANY_USEFUL:
        estimate(e, sheet, model["rounds"], counts, totals, probabilities)
    last = e["num_holders"] - 1
    if model["by"] == BY_INFORMATION:
        normalise_missing(e, probabilities)
    for question in members(affordable(rules, v)):
        shown = is_shown(rules, question)
        for holder in range(last):
            if model["by"] == ANY_USEFUL:
                worth = 1.0 if is_useful(e, sheet, holder, question, shown) else -math.inf
            elif model["by"] == BY_SHEET:
                worth = sheet_worth(e, sheet, probabilities, holder, question, shown)
            else:
                worth = information(e, sheet, probabilities, holder, question, shown, cells)
            worths[holder, question] = worth


@inner
def _chance_to_ask(rules, model, v, moment, worths):
    """Return how likely somebody asks what they have asked, of all that they could ask."""
    players = int(rules["num_players"])
    asked = (int(moment["target"]) - int(moment["seat"])) % players - 1
    best = -math.inf
    mine = -math.inf
    legal = 0
    # Twice over the same: the best comes first, so that no exponential is too large.
    total = 0.0
    for summing in range(2):
        for card in members(v["search"][0]):
            for i in range(rules["num_card_pairs"][card]):
                question = int(rules["pair_question"][rules["card_pairs"][card, i]])
                for holder in range(players - 1):
                    if not may_ask(rules, v, holder + 1, question):
                        continue
                    value = worths[holder, question]
                    if model["by"] != ANY_USEFUL:
                        value -= model["costs"]["cards"][card]
                    if summing:
                        total += math.exp((value - best) / model["temperature"])
                        continue
                    legal += 1
                    best = max(best, value)
                    if holder == asked and question == moment["question"] and card == moment["card"]:
                        mine = value
        if best == -math.inf:
            return 1.0 / max(legal, 1)
    chosen = math.exp((mine - best) / model["temperature"]) / total
    return (1.0 - model["slip"]) * chosen + model["slip"] / legal


@kernel
def _explain(rules, models, now, moments, deals, logs):
    """Write how likely each model would have chosen in the moments of each seat what was chosen, in each deal.

    Args:
        rules: RULES [1].
        models: MODEL [K].
        now: VIEW [1], the viewer's present view.
        moments: MOMENT [M].
        deals: i1 [N, C], see `Worlds.sample`.
        logs: f8 [N, P, K], overwritten with the logarithm of it.
    """
    views = np.zeros(1, VIEW)
    evidence = np.empty(1, EVIDENCE)
    sheets = np.empty(1, SHEET)
    work = np.empty(1, WORK)
    kept = np.zeros(P, KEPT)
    worths = np.empty((MAX_HOLDERS, NUM_QUESTIONS))
    space = (*estimating_space(), information_space())
    hands = np.zeros(P, np.int64)
    v = views[0]
    last = int(rules[0]["num_players"]) - 1
    logs[:] = 0.0
    for n in range(deals.shape[0]):
        hands[:] = 0
        hands[0] = now[0]["hand"]
        for c in range(NUM_GEMS):
            if 0 <= deals[n, c] < last:
                hands[deals[n, c] + 1] |= np.int64(1) << c
        for m in range(moments.size):
            moment = moments[m]
            seat = int(moment["seat"])
            _see_as(rules[0], now[0], moment, hands, v)
            read_clues(rules[0], v, evidence[0])
            fill_in_again(evidence[0], kept[seat], work[0], sheets[0])
            if sheets[0]["broken"]:
                # Only views that nobody can have lead there.
                continue
            declined = moment["target"] == DECLINED
            proved = popcount(sheets[0]["has"][last]) == rules[0]["missing"]
            for k in range(models.size):
                model = models[k]
                if not declined:
                    _appraise(rules[0], model, v, evidence[0], sheets[0], space, worths)
                    logs[n, seat, k] += math.log(_chance_to_ask(rules[0], model, v, moment, worths))
                elif proved:
                    logs[n, seat, k] += math.log(model["slip"])


class WeightedBelief(NamedTuple):
    """What a seat may believe that also reads what its rivals have chosen."""

    # i1 [N, C] the holder of each gem, -1 where it lies open to the viewer; all fit what the viewer knows
    deals: np.ndarray
    # f8 [N] they add up to 1
    weights: np.ndarray
    # f8 [C, H] probability that a gem lies with opponent h + 1 or, last, is missing; 1 only where that is proved
    holders: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Probability that each gem is missing, f8 [C]."""
        return self.holders[:, -1]

    @property
    def effective(self) -> float:
        """Effective sample size: how many deals of equal weight would say as much (Kong, 1992)."""
        return effective_size(self.weights)


def effective_size(weights: np.ndarray) -> float:
    """Return how many deals of equal weight would say as much as these (f8 [N], which add up to 1)."""
    return float(1.0 / np.square(weights).sum())


def trust(weights: np.ndarray) -> float:
    """Return for how much the weights of some deals (f8 [N]) are to count, the cards alone for the rest."""
    size = effective_size(weights)
    return TRUST * size / (size + FEW_DEALS)


def explain(
    rules: np.ndarray, views: np.ndarray, moments: np.ndarray, deals: np.ndarray, models: np.ndarray
) -> np.ndarray:
    """Return how likely models of the rivals would have chosen what was chosen; nothing is checked.

    Args:
        rules: RULES [1].
        views: VIEW [1], the present view.
        moments: MOMENT [M], see `moments.Watcher`.
        deals: i1 [N, C].
        models: MODEL [K].

    Returns:
        f8 [N, P, K], the logarithm of it, for each seat over all its moments.
    """
    logs = np.zeros((len(deals), P, len(models)))
    if moments.size:
        _explain(rules, models, views, moments, deals, logs)
    return logs


def weights_of(logs: np.ndarray) -> np.ndarray:
    """Return the weights of deals (f8 [N]) of which `explain` has returned this (f8 [N, P, K]).

    Each rival plays like one of the models, each as likely as the others.
    """
    if not logs.shape[2]:
        return np.full(len(logs), 1.0 / len(logs))
    weights = np.logaddexp.reduce(logs, axis=2).sum(axis=1)
    weights = np.exp(weights - weights.max())
    return weights / weights.sum()


def weighted_belief(
    rules: np.ndarray, views: np.ndarray, model: str = DEFAULT_MODEL, deals: int = 1000, seed: int = 0
) -> WeightedBelief:
    """Return what a seat may believe that also reads what its rivals have chosen.

    Deals are drawn from all that fit the last view, and weighed by how likely rivals who play like a
    bot would have asked what they were seen to ask, and declined what they were seen to decline. What
    happened before the first view, and more than a view remembers between two of them, does not
    count. The numbers are estimates: see `WeightedBelief.effective` for how many deals carry them.

    >>> from sleuth_env.sleuth import Options, deal, make_rules, new_states, view
    >>> rules = make_rules(Options(num_players=3))
    >>> states = new_states(1)
    >>> deal(rules, states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(rules, states, np.array([0]), views)
    >>> found = weighted_belief(rules, views, deals=100)  # nobody has chosen anything yet
    >>> round(found.effective), float(found.missing.sum().round(9))
    (100, 1.0)

    Args:
        rules: RULES [1].
        views: VIEW [K], what one seat saw at its decisions in one game, oldest first; the last is now.
        model: how the rivals are thought to play, the name of a bot, see `MODELS`.
        deals: how many to draw.
        seed: of the draw, 0 to 2**64 - 1.

    Raises:
        ArrayError: these are not rules, or not views of one seat in one game in their order.
        ValueError: there is no such model, number or seed.
        Contradiction: a view that no deal satisfies; it cannot come from a game.
        IntricateError: the view is far too intricate.
    """
    rules = checked_rules(rules)
    views = checked_views(rules, views)
    _check_sequence(views)
    model = check_choice("model", model, tuple(MODELS))
    number = check_number("deals", deals, 1, MOST_DEALS)
    rng = np.random.default_rng(check_number("seed", seed, 0, 2**64 - 1))
    worlds = belief(rules, views[-1:])
    watcher = Watcher(rules)
    for row in range(len(views)):
        watcher.watch(views[row : row + 1])
    drawn = worlds.sample(number, rng)
    moments = np.concatenate([watcher.asked(), watcher.declined()])
    weights = weights_of(explain(rules, views[-1:], moments, drawn, MODELS[model]))
    share = trust(weights)
    weighed = ((drawn[:, :, None] == np.arange(worlds.holders.shape[1])) * weights[:, None, None]).sum(axis=0)
    return WeightedBelief(drawn, weights, share * weighed + (1.0 - share) * worlds.holders)


def _check_sequence(views: np.ndarray) -> None:
    """Check that views are of one seat in one game, oldest first, as far as can be told."""
    if not len(views):
        raise ArrayError(f"views must be at least one, got {described(views)}")
    check_events(views)
    for name in ("seat", "hand", "table"):
        other = np.flatnonzero(views[name] != views[name][0])
        if other.size:
            raise ArrayError(
                f"views must be of one seat in one game, but {name} is {views[name][other[0]]} in row {other[0]} "
                f"and {views[name][0]} in row 0"
            )
    for row in range(1, len(views)):
        forgotten = (views["told"][row - 1] & ~views["told"][row]).any()
        if forgotten or views["turn_number"][row] < views["turn_number"][row - 1]:
            raise ArrayError(f"views must be in the order of the game, but row {row} is before row {row - 1}")
