"""The bot `hunch`: it plays like `racer` by estimates, at a small part of its price.

It asks what it estimates to tell most about the missing gem, and guesses where its estimated chance to
be right beats `racer`'s estimate of the chance to win later. No deal is counted, so it plays on in a
kernel (see `playing`) among learners and in play-outs.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ...bits import members
from ...deduction.evidence import MAX_HOLDERS
from ...kernels import inner, kernel
from ..belief import affordable
from ..cards import NUM_GEMS, NUM_QUESTIONS, Options
from ..estimates import (
    chance_after,
    estimate,
    estimating_space,
    information,
    information_space,
    normalise_missing,
)
from ..rules import is_shown
from ..state import IN, OFFER
from .base import Bot, accusation_or_pass, best_ask, checking, evidence_and_sheets, what_remains
from .entropy import ENTROPY_COSTS
from .racer import FEATURES, MOST_GAIN, outlook, variant

# More rounds of fitting hardly change which question comes out best.
ROUNDS = 8
NUM_FEATURES = len(FEATURES)
ONE, BITS, CHANCE, WAIT, SINCE, TOLD, RIVALS = range(NUM_FEATURES)


@inner
def hunch_space():
    """Return what the choices below write into: what estimates do, f8 [H, Q] and f8 [F]."""
    return (
        estimating_space(),
        information_space(),
        np.empty((MAX_HOLDERS, NUM_QUESTIONS), np.float64),
        np.empty(NUM_FEATURES, np.float64),
    )


@inner
def _situation(rules, v, missing, race):
    """Write how the race stands (f8 [F]), as `racer.situations` does, by the chance of each gem (missing: f8 [C])."""
    players = float(rules["num_players"])
    bits = 0.0
    chance = 0.0
    for c in range(NUM_GEMS):
        if missing[c] > 0.0:
            bits -= missing[c] * math.log2(missing[c])
        chance = max(chance, missing[c])
    told = 0
    for question in range(NUM_QUESTIONS):
        told += v["answers"][0, question] >= 0
    rivals = 0
    for k in range(1, rules["num_players"]):
        rivals += v["standing"][k] == IN
    wait = (rules["num_players"] - v["turn"] - 1) % rules["num_players"] + 1 if v["phase"] == OFFER else 0
    race[ONE] = 1.0
    race[BITS] = bits
    race[CHANCE] = chance
    race[WAIT] = wait / players
    race[SINCE] = v["turn_number"] / players
    race[TOLD] = told / players
    race[RIVALS] = math.log(rivals) if rivals > 0 else -math.inf


@inner
def _prospects(race, weights):
    """Estimate the chance to win by waiting, see `racer.Daring.prospects` (race, weights: f8 [F])."""
    total = 0.0
    for i in range(race.size):
        total += race[i] * weights[i]
    return 1.0 / (1.0 + math.exp(min(-total, 700.0)))


@inner
def _final_question(rules, e, sheet, probabilities, cells):
    """Return the final question after which an accusation is likeliest to be right, and how likely that is."""
    best = 0
    most = 0.0
    for at in range((int(rules["num_players"]) - 1) * NUM_QUESTIONS):
        holder = at // NUM_QUESTIONS
        question = at % NUM_QUESTIONS
        shown = is_shown(rules, question)
        chance = chance_after(e, sheet, probabilities, holder, question, shown, cells)
        if chance > most:
            best = at
            most = chance
    return best, most


@inner
def choose_by_hunch(rules, v, legal, bits, e, sheet, costs, weights, space):
    """Choose one action as `hunch` does.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, settles ties.
        e: one EVIDENCE record from `clues`.
        sheet: its SHEET record.
        costs: one COSTS record.
        weights: f8 [2, F], those of the `racer.outlook` at an offer and on a turn.
        space: from `hunch_space`.
    """
    action = accusation_or_pass(rules, v, sheet)
    offered = v["phase"] == OFFER
    guesses = rules["missing"] == 1
    if action >= 0 and not (offered and guesses and action == rules["pass_at"]):
        return what_remains(rules, legal, bits, action)
    (counts, totals, probabilities), cells, worths, race = space
    estimate(e, sheet, ROUNDS, counts, totals, probabilities)
    normalise_missing(e, probabilities)
    last = int(rules["num_players"]) - 1
    _situation(rules, v, probabilities[last], race)
    if offered:
        if race[CHANCE] > _prospects(race, weights[0]):
            action = int(rules["accuse_at"]) + int(probabilities[last].argmax())
        return what_remains(rules, legal, bits, action)
    if guesses and legal[rules["final_at"]] and MOST_GAIN * race[CHANCE] > _prospects(race, weights[1]):
        final, race[CHANCE] = _final_question(rules, e, sheet, probabilities, cells)
        if race[CHANCE] > _prospects(race, weights[1]):
            return int(rules["final_at"]) + final
    for question in members(affordable(rules, v)):
        shown = is_shown(rules, question)
        for holder in range(last):
            worths[holder, question] = information(e, sheet, probabilities, holder, question, shown, cells)
    return what_remains(rules, legal, bits, best_ask(rules, v, legal, bits, worths, costs))


@kernel
def _choose(rules, views, legal, seeds, evidence, sheets, costs, weights, actions):
    """Choose in every game (actions: i8 [B], written)."""
    space = hunch_space()
    for b in range(views.size):
        actions[b] = choose_by_hunch(
            rules[0], views[b], legal[b], seeds[b], evidence[b], sheets[b], costs[0], weights, space
        )


def weights_by_rules(rules: np.ndarray) -> np.ndarray:
    """Return the weights of `racer.outlook` at an offer and on a turn (f8 [2, F]) for some rules (RULES [1])."""
    names = ["num_players", "missing", "super_sleuth", "double_interrogation"]
    return _weights(*rules[names][0].item())


@cache
def _weights(num_players: int, missing: int, super_sleuth: int, double_interrogation: int) -> np.ndarray:
    found = outlook(num_players, variant(missing, bool(super_sleuth), bool(double_interrogation)))
    return np.stack([found["offer"], found["turn"]])


class HunchBot(Bot):
    """Ask what is estimated to tell most; guess where that is estimated to be likelier to win than waiting."""

    name = "hunch"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.weights = weights_by_rules(self.rules)

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        evidence, sheets = evidence_and_sheets(self.rules, views)
        actions = np.empty(views.size, np.int64)
        _choose(self.rules, views, legal, seeds, evidence, sheets, ENTROPY_COSTS, self.weights, actions)
        return actions
