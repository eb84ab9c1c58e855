"""What the bots have in common.

That is how they are called, how they read a sheet, when they accuse, how they choose among
questions whose worth is known, and what they do when there is nothing to ask.
"""

from __future__ import annotations

import numpy as np

from ...bits import advance, below, members, mixed, popcount
from ...deduction.evidence import EVIDENCE
from ...deduction.sheet import LEVEL, SHEET, propagate
from ...doors import deciding
from ...game_doors import BuiltInBot
from ...kernels import inner, kernel
from ..cards import NUM_PAIRS, NUM_SEARCH_CARDS, Options, card_kind, make_rules
from ..checked import checked_views
from ..clues import clues
from ..state import MUST_ACCUSE, OFFER
from ..view import VIEW


class BotError(ValueError):
    """A bot was asked for by an unknown name, or with a wrong setting; the message lists the right ones."""


# What a bot sets against the worth of a question, in the same unit.
COSTS = np.dtype(
    [
        ("turn", "f8"),  # a question that is worth no more than this is not asked
        ("cards", "f8", NUM_SEARCH_CARDS),  # the price of spending each search card
        ("tie_break", "f8"),  # a random multiple of this, below 1024, is added to settle ties
    ],
    align=True,
)


def make_costs(turn: float, free_element: float, free: float, tie_break: float) -> np.ndarray:
    """Return the costs of a bot (COSTS [1]); search cards for a single question cost nothing.

    Args:
        turn: a question that is worth no more than this is not asked.
        free_element: the price of a card for any question with its element.
        free: the price of the card for any question.
        tie_break: a random multiple of this, below 1024, is added to settle ties.
    """
    costs = np.zeros(1, COSTS)
    costs["turn"] = turn
    costs["cards"] = [(0.0, free_element, free)[card_kind(card)] for card in range(NUM_SEARCH_CARDS)]
    costs["tie_break"] = tie_break
    return costs


@inner
def any_legal(row, bits):
    """Choose one of the legal actions (row: u1 [A]), -1 where there is none."""
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
    """Choose the next gem to accuse: a proved one, else the one with the fewest other places."""
    last = int(v["num_players"]) - 1
    best = -1
    fewest = 1e9
    for gem in members(sheet["can"][last] & ~v["accusing"]):
        places = 0.0
        for h in range(last):
            places += (sheet["can"][h] >> gem & 1) / max(popcount(sheet["can"][h]), 1)
        places = -1.0 if sheet["has"][last] >> gem & 1 else places
        if places < fewest:
            best = gem
            fewest = places
    return best


@inner
def accusation_or_pass(rules, v, sheet):
    """Accuse where it is proved or must be done, else decline an offer; -1 where there is neither."""
    proved = popcount(sheet["has"][v["num_players"] - 1])
    if v["phase"] == MUST_ACCUSE or v["accusing"] != 0 or proved == v["missing"]:
        return int(rules["accuse_at"]) + _next_accused(v, sheet)
    return int(rules["pass_at"]) if v["phase"] == OFFER else -1


@kernel
def accuse_or_decline(rules, views, sheets, actions):
    """Accuse where it is proved or must be done, else decline an offer.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        sheets: SHEET [B].
        actions: i8 [B], changed where it is -1 and there is something to accuse or to decline.
    """
    for b in range(views.size):
        if actions[b] < 0:
            actions[b] = accusation_or_pass(rules[0], views[b], sheets[b])


@inner
def best_ask(rules, v, legal, bits, worths, costs):
    """Return the ask that is worth most after the price of its card, -1 if none is worth a turn.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, settles ties.
        worths: f8 [H - 1, Q], what each question is worth; NaN is worth nothing.
        costs: one COSTS record.
    """
    best = -1
    most = -1e9
    opponents = rules["num_players"] - 1
    for card in members(v["search"][0]):
        for i in range(rules["num_card_pairs"][card] * opponents):
            holder = i % opponents
            pair = rules["card_pairs"][card, i // opponents]
            action = holder * NUM_PAIRS + pair
            worth = worths[holder, rules["pair_question"][pair]]
            bits = advance(bits)
            value = worth - costs["cards"][card] + costs["tie_break"] * below(mixed(bits), 1024)
            if legal[action] and worth > costs["turn"] and value > most:
                best = action
                most = value
    return best


@kernel
def bonuses(rules, views, legal, seeds, costs, bonus):
    """Find what `best_ask` adds to the worth of each question before it compares them.

    That is less the price of the search card, and what settles ties; the most of it where several
    cards pay for a question.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B], they settle ties.
        costs: COSTS [1].
        bonus: f8 [B, H - 1, Q], overwritten; -inf where a question is not legal.
    """
    bonus[:] = -np.inf
    opponents = rules[0]["num_players"] - 1
    for b in range(views.size):
        bits = seeds[b]
        # In the order of `best_ask`, for the sake of the same draws.
        for card in members(views[b]["search"][0]):
            for i in range(rules[0]["num_card_pairs"][card] * opponents):
                holder = i % opponents
                pair = rules[0]["card_pairs"][card, i // opponents]
                bits = advance(bits)
                if legal[b, holder * NUM_PAIRS + pair]:
                    question = rules[0]["pair_question"][pair]
                    extra = costs[0]["tie_break"] * below(mixed(bits), 1024) - costs[0]["cards"][card]
                    bonus[b, holder, question] = max(bonus[b, holder, question], extra)


@kernel
def ask_most(rules, views, legal, seeds, worths, costs, actions):
    """Ask what is worth most after the price of its search card, if it is worth a turn.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B], they settle ties.
        worths: f8 [B, H - 1, Q], what each question is worth; NaN is worth nothing.
        costs: COSTS [1].
        actions: i8 [B], changed where it is -1 and there is such a question.
    """
    for b in range(views.size):
        if actions[b] < 0:
            actions[b] = best_ask(rules[0], views[b], legal[b], seeds[b], worths[b], costs[0])


@inner
def what_remains(rules, legal, bits, action):
    """Return an action, or what is done in its place, see `fall_back` (legal: u1 [A])."""
    if action < 0:
        action = int(rules["pass_at"] if legal[rules["pass_at"]] else rules["exchange_at"])
    return action if legal[action] else any_legal(legal, mixed(bits))


@kernel
def fall_back(rules, legal, seeds, actions):
    """Pass (after one of two questions) or else exchange, and never do what is illegal.

    Args:
        rules: RULES [1].
        legal: u1 [B, A].
        seeds: u8 [B], they choose among the legal actions in the place of an illegal one.
        actions: i8 [B], changed where it is -1 or illegal; -1 remains where nothing is legal.
    """
    for b in range(actions.size):
        actions[b] = what_remains(rules[0], legal[b], seeds[b], actions[b])


def evidence_and_sheets(rules: np.ndarray, views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what some views (VIEW [B]) say about the gems, as EVIDENCE [B] and as SHEET [B]."""
    evidence = np.empty(views.size, EVIDENCE)
    sheets = np.empty(views.size, SHEET)
    clues(rules, views, evidence)
    propagate(evidence, sheets, LEVEL)
    return evidence, sheets


# Every `act` is behind it.
checking = deciding(VIEW, checked_views)


class Bot(BuiltInBot):
    """A player with a name who knows the rules of Sleuth."""

    options: Options
    make_rules = staticmethod(make_rules)
