"""Baseline players: they are given views, never states, and all their randomness comes from the seeds.

``random`` takes any legal action. ``cautious`` asks random useful questions and accuses only when the sheet proves the
missing gems. ``sheet`` asks what promises to tell most about the cells still open, exchanges cards that tell nothing, and
asks a final question when every answer to it must decide.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..bits import advance, below, kernel, lowest, mixed, popcount
from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import SHEET, propagate
from .cards import FIRST_FREE, MAX_PLAYERS, NUM_GEMS, NUM_PAIRS, PLAIN_FREE, Options, make_rules
from .clues import clues
from .scoring import best_guess, deciding_question, estimate, worth
from .state import MUST_ACCUSE, OFFER

# A free search card is worth keeping: what an asker would give up, in bits, not to spend it.
FREE_COST, PLAIN_FREE_COST = 0.3, 0.6
# Asks that tell less, in bits, are not worth a turn: better to exchange.
WORTHLESS = 0.2
TIE_BREAK = 1e-6


class BotError(ValueError):
    """There is no bot of that name; the message lists the known ones."""


class Bot(Protocol):
    """What plays a seat."""

    name: str

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game.

        Args:
            views: VIEW [B], each of the seat that has to act.
            legal: u1 [B, A].
            seeds: u8 [B], fresh random bits; a row's choice depends on nothing but its view, legal actions and seed.

        Returns:
            i8 [B], -1 where nothing is legal.
        """
        ...


@kernel
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


@kernel
def _proved_accusation(rules, v, sheet, row):
    """Name the next missing gem once all of them are proved, else -1."""
    proved = sheet["has"][v["num_players"] - 1]
    todo = proved & ~v["accusing"]
    if popcount(proved) < v["missing"] or todo == 0:
        return -1
    action = rules["accuse_at"] + lowest(todo)
    return action if row[action] else -1


@kernel
def _asked_in_vain(rules, v, k, question):
    """A number that is known tells nothing; the cards behind it would."""
    return v["answers"][k, question] >= 0 and (rules["num_elements"][question] == 1 or rules["super_sleuth"])


@kernel
def _useful_asks(rules, v, e, sheet, row, useful):
    """List the legal asks that touch an undecided cell; gives how many there are (useful: i8 [A])."""
    count, cards = 0, v["search"][0]
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        for i in range(rules["num_card_pairs"][card]):
            pair = rules["card_pairs"][card, i]
            question = rules["pair_question"][pair]
            for k in range(1, v["num_players"]):
                action = (k - 1) * NUM_PAIRS + pair
                undecided = e["sets"][question] & sheet["can"][k - 1] & ~sheet["has"][k - 1]
                if row[action] and undecided and not _asked_in_vain(rules, v, k, question):
                    useful[count] = action
                    count += 1
    return count


@kernel
def _random_ask(rules, v, e, sheet, row, bits):
    """Choose one of the legal asks that touch an undecided cell, all equally likely; -1 where there is none."""
    useful = np.empty(row.size, np.int64)
    count = _useful_asks(rules, v, e, sheet, row, useful)
    return useful[below(bits, count)] if count else -1


@kernel
def _price(card):
    return PLAIN_FREE_COST if card == PLAIN_FREE else (FREE_COST if card >= FIRST_FREE else 0.0)


@kernel
def _best_ask(rules, v, e, sheet, chances, row, bits):
    """Find the legal ask that promises most after the price of its card, -1 where none tells enough."""
    best, best_value, cards = -1, -1e9, v["search"][0]
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        for i in range(rules["num_card_pairs"][card]):
            pair = rules["card_pairs"][card, i]
            question = rules["pair_question"][pair]
            shown = rules["num_elements"][question] == 2 and not rules["super_sleuth"]
            for k in range(1, v["num_players"]):
                action = (k - 1) * NUM_PAIRS + pair
                told = worth(e, sheet, chances, k - 1, question, shown) if row[action] else 0.0
                bits = advance(bits)
                value = told - _price(card) + TIE_BREAK * below(mixed(bits), 1024)
                if told > WORTHLESS and value > best_value:
                    best, best_value = action, value
    return best


@kernel
def _best_question(rules, v, e, sheet, chances, row, bits, trial, trial_sheet):
    """Find a final question that must decide, else the best ask; -1 where neither is to be had."""
    if row[rules["final_at"]]:
        final = deciding_question(rules, e, sheet, trial, trial_sheet)
        if final >= 0:
            return rules["final_at"] + final
    return _best_ask(rules, v, e, sheet, chances, row, bits)


@kernel
def _decide(rules, v, row, bits, e, sheet, chances, trial, trial_sheet, careful):
    """Accuse when proved, or forced to; decline offers otherwise; else ask (cautious: at random), exchange or pass."""
    action = _proved_accusation(rules, v, sheet, row)
    if action >= 0 or sheet["broken"]:
        return action
    if v["phase"] == OFFER and v["accusing"] == 0:
        return rules["pass_at"]
    forced = v["phase"] == MUST_ACCUSE or v["accusing"] != 0
    if forced or not careful:
        estimate(e, sheet, chances)
    if forced:
        return rules["accuse_at"] + best_guess(sheet, chances, v["num_players"] - 1, v["accusing"])
    if careful:
        action = _random_ask(rules, v, e, sheet, row, bits)
    else:
        action = _best_question(rules, v, e, sheet, chances, row, bits, trial, trial_sheet)
    if action < 0:
        action = rules["pass_at"] if row[rules["pass_at"]] else rules["exchange_at"]
    return action


@kernel
def _choose(rules, views, legal, seeds, evidence, sheets, careful, actions):
    """Choose for each row; ``evidence`` and ``sheets`` ([2] each) are working space: what is known, and what if."""
    chances = np.empty((MAX_PLAYERS, NUM_GEMS), np.float64)
    known, trial = evidence[:1], evidence[1:]
    sheet, trial_sheet = sheets[:1], sheets[1:]
    for b in range(views.size):
        bits = mixed(seeds[b])
        clues(rules, views[b : b + 1], known)
        propagate(known, sheet)
        action = _decide(rules[0], views[b], legal[b], bits, known[0], sheet[0], chances, trial, trial_sheet, careful)
        actions[b] = action if action >= 0 and legal[b, action] else _any_legal(legal[b], bits)


class RandomBot:
    """Take any legal action, all equally likely."""

    name = "random"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.rules = make_rules(options)

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot`."""
        actions = np.empty(len(views), np.int64)
        _choose_any(legal, seeds, actions)
        return actions


class SheetBot(RandomBot):
    """Ask what promises to tell most, exchange worthless cards, accuse when the missing gems are proved."""

    name = "sheet"
    careful = False

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot`."""
        actions = np.empty(len(views), np.int64)
        _choose(self.rules, views, legal, seeds, np.zeros(2, EVIDENCE), np.zeros(2, SHEET), self.careful, actions)
        return actions


class CautiousBot(SheetBot):
    """Ask random questions of some use, accuse when the missing gems are proved."""

    name = "cautious"
    careful = True


BOTS: dict[str, type[RandomBot]] = {bot.name: bot for bot in (RandomBot, CautiousBot, SheetBot)}


def make_bot(name: str, options: Options) -> Bot:
    """Make a bot by its name.

    Raises:
        BotError: the name is unknown.
    """
    if name not in BOTS:
        raise BotError(f"there is no bot {name!r}; the bots are {', '.join(BOTS)}")
    return BOTS[name](options)
