"""Baseline players: they are given views, never states, and all their randomness comes from the seeds.

``random`` takes any legal action. ``cautious`` asks random useful questions and accuses only when the sheet proves the
missing gems. ``sheet`` asks what promises to tell most about the cells still open, exchanges cards that tell nothing, and
asks a final question when every answer to it must decide.
"""

from __future__ import annotations

import numpy as np

from ..bits import advance, below, inner, kernel, lowest, mixed, popcount
from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import SHEET, propagate
from .cards import NUM_PAIRS, Options, make_rules
from .clues import clues
from .scoring import ask_best, ask_deciding, is_shown
from .state import MUST_ACCUSE, OFFER


class BotError(ValueError):
    """There is no bot of that name; the message lists the known ones."""


@inner
def _any_legal(row, bits):
    """Choose one of the legal actions, -1 where there is none."""
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


@kernel
def _choose_any(legal, seeds, actions):
    for b in range(legal.shape[0]):
        actions[b] = _any_legal(legal[b], mixed(seeds[b]))


@inner
def _next_accused(v, sheet):
    """Choose the next gem to accuse: a proved one if any, else the one with the fewest other places to be."""
    last = int(v["num_players"]) - 1
    best, fewest = -1, 1e9
    todo = sheet["can"][last] & ~v["accusing"]
    while todo:
        gem = lowest(todo)
        todo &= todo - 1
        places = 0.0
        for h in range(last):
            places += (sheet["can"][h] >> gem & 1) / max(popcount(sheet["can"][h]), 1)
        places = -1.0 if sheet["has"][last] >> gem & 1 else places
        if places < fewest:
            best, fewest = gem, places
    return best


@kernel
def _accuse_or_decline(rules, views, sheets, actions):
    """Where no question is to be chosen, choose: accuse when proved or forced to, else decline an offer."""
    for b in range(views.size):
        v, proved = views[b], popcount(sheets[b]["has"][views[b]["num_players"] - 1])
        if v["phase"] == MUST_ACCUSE or v["accusing"] != 0 or proved == v["missing"]:
            actions[b] = rules[0]["accuse_at"] + _next_accused(v, sheets[b])
        elif v["phase"] == OFFER:
            actions[b] = rules[0]["pass_at"]


@kernel
def _ask_any_useful(rules, views, legal, seeds, evidence, sheets, actions):
    """Where nothing is chosen yet, ask at random among what touches an undecided cell and is not known."""
    for b in range(views.size):
        e, sheet, count, bits = evidence[b], sheets[b], 0, seeds[b]
        if actions[b] >= 0:
            continue
        for action in range(rules[0]["final_at"]):
            if legal[b, action]:
                holder, question = action // NUM_PAIRS, rules[0]["pair_question"][action % NUM_PAIRS]
                undecided = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
                number_known = e["least"][holder, question] == e["most"][holder, question]
                if undecided and (not number_known or is_shown(rules[0], question)):
                    count += 1
                    bits = advance(bits)
                    # The n-th replaces the one before with chance 1/n: so all are equally likely.
                    if below(mixed(bits), count) == 0:
                        actions[b] = action


@kernel
def _fall_back(rules, legal, seeds, actions):
    """Where nothing is chosen yet, pass (after one of two questions), else exchange; and never do what is illegal."""
    for b in range(actions.size):
        if actions[b] < 0:
            actions[b] = rules[0]["pass_at"] if legal[b, rules[0]["pass_at"]] else rules[0]["exchange_at"]
        if not legal[b, actions[b]]:
            actions[b] = _any_legal(legal[b], mixed(seeds[b]))


class Bot:
    """A player with a name who knows the rules of his game."""

    name = ""

    def __init__(self, options: Options) -> None:
        self.options, self.rules = options, make_rules(options)

    def seated(self, options: Options) -> Bot:
        """Give this bot as a player of a game with these options."""
        return self if options == self.options else type(self)(options)

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game.

        Args:
            views: VIEW [B], each of the seat that has to act.
            legal: u1 [B, A].
            seeds: u8 [B], fresh random bits; a row's choice depends on nothing but its view, legal actions and seed.

        Returns:
            i8 [B]; -1 where nothing is legal.
        """
        raise NotImplementedError


class RandomBot(Bot):
    """Take any legal action, all equally likely."""

    name = "random"

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.empty(views.size, np.int64)
        _choose_any(legal, seeds, actions)
        return actions


class CautiousBot(Bot):
    """Ask random questions of some use, accuse when the missing gems are proved."""

    name = "cautious"

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        evidence, sheets = np.empty(views.size, EVIDENCE), np.empty(views.size, SHEET)
        actions = np.full(views.size, -1)
        clues(self.rules, views, evidence)
        propagate(evidence, sheets)
        _accuse_or_decline(self.rules, views, sheets, actions)
        self._ask(views, legal, seeds, evidence, sheets, actions)
        _fall_back(self.rules, legal, seeds, actions)
        return actions

    def _ask(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, evidence: np.ndarray, sheets: np.ndarray, actions: np.ndarray) -> None:
        _ask_any_useful(self.rules, views, legal, seeds, evidence, sheets, actions)


class SheetBot(CautiousBot):
    """Ask what promises to tell most, exchange worthless cards, accuse when the missing gems are proved."""

    name = "sheet"

    def _ask(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, evidence: np.ndarray, sheets: np.ndarray, actions: np.ndarray) -> None:
        ask_deciding(self.rules, views, legal, evidence, sheets, np.empty(1, EVIDENCE), np.empty(1, SHEET), actions)
        ask_best(self.rules, views, legal, seeds, evidence, sheets, actions)


BOTS: dict[str, type[Bot]] = {bot.name: bot for bot in (RandomBot, CautiousBot, SheetBot)}


def make_bot(name: str, options: Options) -> Bot:
    """Make a bot by its name.

    Raises:
        BotError: the name is unknown.
    """
    if name not in BOTS:
        raise BotError(f"there is no bot {name!r}; the bots are {', '.join(BOTS)}")
    return BOTS[name](options)
