"""How exploitable a player is, at least: what the best of some responders wins against a table of its copies.

The responders play the same deals, by which the best of them is chosen. What the best one won there
is too high, because luck helped to choose it; so it plays other deals, and only these count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..game import Game
from .match import play_match
from .rating import Entry, Failure, MatchResult


@dataclass(frozen=True)
class Bound:
    """A lower bound of how exploitable a player is.

    Args:
        player: who sits in all seats but one.
        tried: the match of each responder, over the deals by which the best one was chosen.
        responder: the name of the best one.
        match: its match over other deals.
        copies: a match of the player with itself, in all seats, over the deals of `match`.
    """

    player: str
    tried: tuple[MatchResult, ...]
    responder: str
    match: MatchResult
    copies: MatchResult

    @property
    def best(self) -> Entry:
        """What the best responder won: the bound."""
        return self.match.entries[0]

    @property
    def copy_share(self) -> float:
        """The win share of a copy of the player in one seat, among copies: the fair share, or less by nobody's wins."""
        return self.copies.entries[0].win_share / self.copies.entries[0].seats

    @property
    def copy_reward(self) -> float:
        """The mean reward of a copy: 0 where rewards add up to zero in every game."""
        return self.copies.entries[0].mean_reward

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Programs that failed in the games that count; bots have played for them, so these bound nothing."""
        return (*self.match.failures, *self.copies.failures)

    @property
    def exploitable(self) -> bool:
        """Whether the whole interval of what the best responder won lies above its fair share."""
        return self.best.win_low > self.best.fair_share and not self.failures

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        best = self.best
        figures = {
            "win_share": best.win_share,
            "win_low": best.win_low,
            "win_high": best.win_high,
            "fair_share": best.fair_share,
            "mean_reward": best.mean_reward,
            "copy_share": self.copy_share,
            "copy_reward": self.copy_reward,
            "exploitable": self.exploitable,
        }
        return {"player": self.player, "responder": self.responder, **figures, **self._matches()}

    def _matches(self) -> dict[str, Any]:
        return {
            "match": asdict(self.match),
            "copies": asdict(self.copies),
            "tried": [asdict(match) for match in self.tried],
        }


def games_of_bound(responders: int, players: int, num_deals: int) -> int:
    """Return the number of games that `lower_bound` plays.

    >>> games_of_bound(2, 3, 100)
    1000
    """
    return num_deals * (players * (responders + 1) + 1)


def lower_bound(
    game: Game,
    options: Any,
    player: tuple[str, Any],
    responders: Sequence[tuple[str, Any]],
    num_deals: int,
    seeds: tuple[int, int],
    progress: Callable[[int], object] | None = None,
) -> Bound:
    """Let responders play in one seat against copies of a player, and the best of them once more.

    Args:
        game: a game module.
        options: its options.
        player: its name in the result, and what `play_match` takes for a seat.
        responders: the same of each; at least one.
        num_deals: number of deals of each match; each is played once from every seat.
        seeds: of the deals by which the best is chosen, and of those that count.
        progress: is called with the number of games finished since the last call.

    Raises:
        MatchError: see `play_match`.

    >>> from sleuth_env import Options, sleuth
    >>> responders = [("random", "random"), ("sheet", "sheet")]
    >>> found = lower_bound(sleuth, Options(num_players=3), ("random", "random"), responders, 20, (1, 2))
    >>> found.responder, found.best.fair_share < found.best.win_low, found.exploitable
    ('sheet', True, True)
    """
    name, copy = player
    others = options.num_players - 1

    def played(responder: tuple[str, Any], seed: int) -> MatchResult:
        names = [responder[0], *[name] * others]
        return play_match(game, options, [responder[1], *[copy] * others], num_deals, seed, progress, names=names)

    tried = [played(responder, seeds[0]) for responder in responders]
    # The first of several equals.
    at = max(range(len(tried)), key=lambda number: tried[number].entries[0].win_share)
    match = played(responders[at], seeds[1])
    seats = [copy] * options.num_players
    copies = play_match(game, options, seats, num_deals, seeds[1], progress, names=[name] * len(seats))
    return Bound(name, tuple(tried), responders[at][0], match, copies)
