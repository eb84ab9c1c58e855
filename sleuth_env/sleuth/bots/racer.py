"""The bot `racer`: it asks like `entropy`, but guesses where waiting is the greater risk.

At an offer its chance is that of the likeliest missing gems; on its turn that of the best final
question, whose answer it sees before it must accuse. The chance to win later by waiting instead is
estimated from how much it knows and for how long the game has gone on, by a logistic function
fitted to games of a racer among `entropy` bots (``outlook.json``, which ``training/fit_racer.py``
makes). Among slower bots it therefore guesses too early, and wins less than `entropy` does.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...bits import lowest
from ..belief import Sought, belief, beliefs
from ..cards import NUM_QUESTIONS, Options
from ..state import IN, OFFER
from .entropy import SURE, CountingBot

LARGEST_EXPONENT = 700.0
OUTLOOKS = Path(__file__).with_name("outlook.json")
# What the chance to win later is estimated from, see `situations`.
FEATURES = ("one", "bits", "chance", "wait", "rounds", "told", "rivals")
BITS = FEATURES.index("bits")
CHANCE = FEATURES.index("chance")
# The best final question hardly ever multiplies the chance of the likeliest gem by more than this.
MOST_GAIN = 4.0
# Joint states that are counted to appraise all final questions, and kept of each layer where there
# are more. Where there are more the chances are hardly ever good enough, and an estimate shows it.
CAP = 10_000
KEEP = 200


@cache
def _outlooks() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(OUTLOOKS.read_text())
    return found


def variant(missing: int, super_sleuth: bool, double_interrogation: bool) -> str:
    """Return the name of the closest kind of game for these options: the first that applies."""
    if missing > 1:
        return "missing"
    if super_sleuth:
        return "super_sleuth"
    return "double_interrogation" if double_interrogation else "base"


def outlook(num_players: int, kind: str) -> dict[str, np.ndarray]:
    """Return the weights of `FEATURES` at an "offer" and on a "turn", f8 [F] each.

    They are those of the game's kind (see `variant`) where it was fitted for this number of players,
    else those of the base game for this number or the next below.
    """
    fitted = _outlooks().get(kind, {})
    base = _outlooks()["base"]
    below = str(max(number for number in map(int, base) if number <= num_players))
    found = fitted.get(str(num_players), base[below])
    return {moment: np.array(found[moment]) for moment in ("offer", "turn")}


def situations(views: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return in numbers how the race stands for some seats.

    Args:
        views: VIEW [B].
        missing: f8 [B, C], probability of each gem to be missing.

    Returns:
        f8 [B, F], the `FEATURES`: 1; open bits about a missing gem; the chance to be right now, in
        place of which stands the most that it can be at an offer; turns of others before the next
        own, turns until now, and answers given to others, these three in rounds; the logarithm of
        the number of rivals still in contention.
    """
    players = views["num_players"]
    rows = np.arange(views.size)
    seated = np.arange(1, views["standing"].shape[1]) < players[:, None]
    certain = np.where(missing > 0.0, missing, 1.0)
    bits = -(certain * np.log2(certain)).sum(axis=1) / views["missing"]
    likeliest = np.sort(missing, axis=1)[rows, -views["missing"]]
    wait = np.where(views["phase"] == OFFER, (players - views["turn"] - 1) % players + 1, 0)
    told = (views["answers"][:, 0] >= 0).sum(axis=1)
    rivals = ((views["standing"][:, 1:] == IN) & seated).sum(axis=1)
    with np.errstate(divide="ignore"):
        pursuit = np.log(rivals)  # of nobody: minus infinity, and the chance to win later is 1
    return np.column_stack(
        [np.ones(views.size), bits, likeliest, wait / players, views["turn_number"] / players, told / players, pursuit]
    )


class Daring:
    """Accuse, or ask a final question, when being right is likelier than winning later.

    `gem_to_risk` and `final_question` are what a `CountingBot` is given.

    Args:
        options: the game.
        weights: to be taken in the place of the game's `outlook`.
    """

    def __init__(self, options: Options, weights: dict[str, np.ndarray] | None = None) -> None:
        kind = variant(options.missing, options.super_sleuth, options.double_interrogation)
        self.outlook = outlook(options.num_players, kind) if weights is None else weights

    def dares(self, moment: str, race: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Decide where to accuse at once or to ask a final question.

        Args:
            moment: "offer" or "turn".
            race: f8 [B, F], see `situations`.
            seeds: u8 [B], those of the decisions; unused here.

        Returns:
            bool [B].
        """
        return (race[:, CHANCE] > SURE) | (race[:, CHANCE] > self.prospects(moment, race))

    def prospects(self, moment: str, race: np.ndarray) -> np.ndarray:
        """Estimate the chances to win by waiting, f8 [B]; 1 for a player who is left alone."""
        # Beyond that NumPy warns; only views that nobody can have lead there.
        return 1.0 / (1.0 + np.exp(np.minimum(-race @ self.outlook[moment], LARGEST_EXPONENT)))

    def gem_to_risk(self, rules: np.ndarray, views: np.ndarray, missing: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose a gem of the likeliest set where that is worth the risk, see `entropy.Choice`."""
        race = situations(views, missing)
        hopeful = race[:, CHANCE] > self.prospects("offer", race)
        race[:, CHANCE], gems = _likeliest(rules, views, missing, hopeful)
        return np.where(self.dares("offer", race, seeds), gems, -1)

    def final_question(
        self, rules: np.ndarray, views: np.ndarray, missing: np.ndarray, seeds: np.ndarray
    ) -> np.ndarray:
        """Choose the question after which an accusation is likeliest to be right, if worth it.

        See `entropy.Choice`.
        """
        race = situations(views, missing)
        hopeful = MOST_GAIN * race[:, CHANCE] > self.prospects("turn", race)
        race[:, CHANCE] = 0.0
        questions = np.zeros(views.size, np.int64)
        number = np.count_nonzero(hopeful)
        bonus = np.zeros((number, int(rules["num_players"][0]) - 1, NUM_QUESTIONS))
        sought = Sought(bonus, np.full(number, -np.inf), by="rightly")
        asked = beliefs(rules, views[hopeful], everything=True, cap=CAP, keep=KEEP, sought=sought)
        rightly = asked.worths["rightly"].reshape(-1, (int(rules["num_players"][0]) - 1) * NUM_QUESTIONS)
        rightly = np.nan_to_num(rightly)  # where nothing is known, some other question is better
        race[hopeful, CHANCE] = rightly.max(axis=1)
        questions[hopeful] = rightly.argmax(axis=1)
        return np.where(self.dares("turn", race, seeds), questions, -1)


def _likeliest(
    rules: np.ndarray, views: np.ndarray, missing: np.ndarray, hopeful: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance of the likeliest set of missing gems and one gem of it.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        missing: f8 [B, C], probability of each gem to be missing.
        hopeful: bool [B], where to look if several gems are missing.

    Returns:
        f8 [B], 0 where nothing was looked for, and i8 [B].
    """
    if rules["missing"][0] == 1:
        return missing.max(axis=1), missing.argmax(axis=1)
    chances = np.zeros(views.size)
    gems = np.zeros(views.size, np.int64)
    for row in np.flatnonzero(hopeful):
        sets, shares = belief(rules, views[row : row + 1]).missing_sets
        chances[row] = shares.max()
        gems[row] = lowest(int(sets[shares.argmax()]))
    return chances, gems


class RacerBot(CountingBot):
    """Ask what tells most; accuse, or ask a final question, where `Daring` does.

    Args:
        options: the game.
        weights: to be taken in the place of the game's `outlook`.
    """

    name = "racer"

    def __init__(self, options: Options, weights: dict[str, np.ndarray] | None = None) -> None:
        self.daring = Daring(options, weights)
        super().__init__(options, self.daring.final_question, self.daring.gem_to_risk)
