"""Ratings of players who met each other at tables of several, by choix.

By Luce's model of choice (1959) each player has a strength, and each seat wins a game in proportion
to the strength of its player. So of the games that one of two players won, each won a share in
proportion to its strength and number of seats, whoever else was there; games that nobody won say
nothing. That makes every game a comparison of its winner with each other seat, and a tournament a
matrix of comparisons, from which choix finds the most likely strengths (Maystre and Grossglauser,
"Fast and Accurate Inference of Plackett-Luce Models", 2015).
Axis letters: ``D`` deals, ``K`` players, ``R`` resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rating import Z_95, t_quantile

# Points of a rating that stand for a strength ten times as great, as in chess.
POINTS = 400
RESAMPLES = 400
# Wins of each player against each other in a deal that is made up: who has won nothing, or
# everything, has a strength and not 0 or infinity. It is drawn with the other deals, or not, so that
# the interval of such a player is as wide as it must be.
MADE_UP = 0.5
# What is left of it where it was not drawn: choix needs wins both ways.
LEAST = 0.01
MOST_STEPS = 10_000


@dataclass(frozen=True)
class Strength:
    """A player's rating.

    Args:
        rating: its logarithm of the strength; 400 more are ten wins to one. The mean strength of all
            players has the rating 0.
        low, high: the ends of the 95 % interval, by a bootstrap over deals. Of fewer than three deals
            it says little.
    """

    rating: float
    low: float
    high: float


def strengths(wins: NDArray[np.float64], seed: int) -> list[Strength] | None:
    """Return the rating of each player; None where choix is not installed.

    Args:
        wins: in each deal, how often a seat of one player won where one of another sat
            (f8 [D, K, K]: winner, loser).
        seed: settles which deals the bootstrap draws.
    """
    try:
        import choix
    except ImportError:
        return None
    deals, players, _ = wins.shape
    made_up = MADE_UP * (1 - np.eye(players))
    best = _fitted(choix, wins.sum(axis=0) + made_up)
    drawn = drawn_deals(deals, np.random.default_rng(seed))
    resampled = np.einsum("rd,dij->rij", drawn[:, :-1], wins)
    resampled += np.maximum(drawn[:, -1], LEAST / MADE_UP)[:, None, None] * made_up
    found = np.array([_rating(_fitted(choix, one, best)) for one in resampled])
    rating = _rating(best)
    # Few deals that were drawn from few are too much alike: as Student's t is wider than the normal
    # distribution, and the variance of a sample smaller than that of what it is drawn from.
    freedom = max(deals - 1, 1)
    wider = math.sqrt((freedom + 1) / freedom) * t_quantile(freedom) / Z_95
    low, high = rating + wider * (np.percentile(found, [2.5, 97.5], axis=0) - rating)
    # Rounded, as the last digits are those of the library that solves the equations.
    return [
        Strength(*(round(float(number), 2) for number in numbers))
        for numbers in zip(rating, np.minimum(low, rating), np.maximum(high, rating), strict=True)
    ]


def drawn_deals(deals: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each deal, and last the one that is made up, is drawn in each resample (f8 [R, D + 1])."""
    return rng.multinomial(deals, np.full(deals + 1, 1 / (deals + 1)), RESAMPLES).astype(np.float64)


def _fitted(choix: Any, wins: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the logarithm of each player's strength (f8 [K])."""
    found: NDArray[np.float64] = choix.ilsr_pairwise_dense(wins, initial_params=start, max_iter=MOST_STEPS, tol=1e-7)
    return found


def _rating(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ratings (f8 [K]), of which the mean strength has 0: one weak player moves no other's."""
    strongest = logarithms.max()
    mean = strongest + math.log(np.exp(logarithms - strongest).mean())
    ratings: NDArray[np.float64] = (logarithms - mean) * POINTS / math.log(10)
    return ratings
