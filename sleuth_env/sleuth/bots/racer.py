"""The bot ``racer``: it asks like `entropy`, but guesses where waiting for a proof is the greater
risk.

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
from ..belief import Beliefs, belief, beliefs
from ..cards import NUM_QUESTIONS, Options
from ..state import IN, OFFER
from .entropy import SURE, EntropyBot

# What the chance to win later is estimated from, see `situations`.
FEATURES = ("one", "bits", "chance", "wait", "rounds", "told", "rivals")
CHANCE = FEATURES.index("chance")
# The best final question hardly ever multiplies the chance of the likeliest gem by more than this.
MOST_GAIN = 4.0
# Joint states that are counted to appraise all final questions, and kept of each layer where there
# are more. With so many the chances are hardly ever good enough, and an estimate tells it.
CAP = 10_000
KEEP = 200


@cache
def _outlooks() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_name("outlook.json").read_text())
    return found


def variant(options: Options) -> str:
    """Name the kind of game that is closest: the first that applies, whatever the other options
    are.
    """
    if options.missing > 1:
        return "missing"
    return (
        "super_sleuth" if options.super_sleuth else "double_interrogation" if options.double_interrogation else "base"
    )


def outlook(options: Options) -> dict[str, np.ndarray]:
    """Give the weights of `FEATURES` at an "offer" and on a "turn", f8 [F] each.

    They are those of the game's `variant` where it was fitted for so many players, else those of
    the base game for so many or the next below.
    """
    fitted = _outlooks().get(variant(options), {})
    base = _outlooks()["base"]
    below = str(max(number for number in map(int, base) if number <= options.num_players))
    found = fitted.get(str(options.num_players), base[below])
    return {moment: np.array(found[moment]) for moment in ("offer", "turn")}


def situations(views: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Say in numbers how the race stands for some seats.

    Args:
        views: VIEW [B].
        missing: f8 [B, C], probability of each gem to be missing.

    Returns:
        f8 [B, F], the `FEATURES`: 1; open bits about a missing gem; the chance to be right now, in
        place of which stands the most that it can be at an offer; turns of others before the next
        own, turns so far, and answers given to others, these three in rounds; the logarithm of the
        number of rivals still in contention.
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


class RacerBot(EntropyBot):
    """Ask what tells most; accuse, or ask a final question, when being right is likelier than
    winning later.

    Args:
        options: the game.
        weights: to be taken in the place of the game's `outlook`.
    """

    name = "racer"

    def __init__(self, options: Options, weights: dict[str, np.ndarray] | None = None) -> None:
        super().__init__(options)
        self.outlook = outlook(options) if weights is None else weights

    def dares(self, moment: str, race: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Tell where to accuse at once or to ask a final question.

        Args:
            moment: "offer" or "turn".
            race: f8 [B, F], see `situations`.
            seeds: u8 [B], unused here: those of the decisions.

        Returns:
            bool [B].
        """
        return (race[:, CHANCE] > SURE) | (race[:, CHANCE] > self.prospects(moment, race))

    def prospects(self, moment: str, race: np.ndarray) -> np.ndarray:
        """Estimate the chances to win by waiting, f8 [B]; who is left alone has all the time."""
        return 1.0 / (1.0 + np.exp(-race @ self.outlook[moment]))

    def _decline_early(self, views: np.ndarray, open_rows: np.ndarray, actions: np.ndarray) -> None:
        """Leave every offer to be weighed."""

    def _venture(self, views: np.ndarray, seeds: np.ndarray, found: Beliefs, actions: np.ndarray) -> None:
        """At an offer, accuse the likeliest gems where that is worth the risk."""
        rows = np.flatnonzero((actions < 0) & (views["phase"] == OFFER) & (found.results["code"] == 0))
        race = situations(views[rows], found.holders[rows, :, -1])
        hopeful = race[:, CHANCE] > self.prospects("offer", race)
        chances, gems = self._likeliest(views[rows], found.holders[rows, :, -1], hopeful)
        race[:, CHANCE] = chances
        dares = self.dares("offer", race, seeds[rows])
        actions[rows[dares]] = self.rules["accuse_at"][0] + gems[dares]

    def _likeliest(self, views: np.ndarray, missing: np.ndarray, hopeful: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the chance of the likeliest set of missing gems (f8 [B], 0 where there is no hope)
        and one gem of it (i8 [B]).
        """
        if self.options.missing == 1:
            return missing.max(axis=1), missing.argmax(axis=1)
        chances = np.zeros(views.size)
        gems = np.zeros(views.size, np.int64)
        for row in np.flatnonzero(hopeful):
            sets, shares = belief(self.rules, views[row : row + 1]).missing_sets
            chances[row] = shares.max()
            gems[row] = lowest(int(sets[shares.argmax()]))
        return chances, gems

    def _ask_finally(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, found: Beliefs, actions: np.ndarray
    ) -> None:
        """Where a turn is still open, ask the final question after which the accusation is
        likeliest to be right, if that is worth the risk.
        """
        final_at = int(self.rules["final_at"][0])
        rows = np.flatnonzero((actions < 0) & (legal[:, final_at] != 0) & (found.results["code"] == 0))
        race = situations(views[rows], found.holders[rows, :, -1])
        hopeful = MOST_GAIN * race[:, CHANCE] > self.prospects("turn", race)
        chances = np.zeros(rows.size)
        asks = np.zeros(rows.size, np.int64)
        asked = beliefs(self.rules, views[rows[hopeful]], everything=True, cap=CAP, keep=KEEP)
        rightly = asked.worths["rightly"].reshape(-1, (self.options.num_players - 1) * NUM_QUESTIONS)
        chances[hopeful] = rightly.max(axis=1)
        asks[hopeful] = rightly.argmax(axis=1)
        race[:, CHANCE] = chances
        dares = self.dares("turn", race, seeds[rows])
        actions[rows[dares]] = final_at + asks[dares]
