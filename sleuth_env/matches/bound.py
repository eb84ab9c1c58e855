"""A lower bound of how exploitable a player is: what the best of several exploiters wins against copies of it.

All exploiters play the same deals, by which the best of them is chosen. What that one won there is
too high, because luck helped to choose it; so it plays other deals, and only these count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..game import Game
from .match import play_match
from .players import make_players
from .rating import Entry, Failure, MatchResult


@dataclass(frozen=True)
class Bound:
    """A lower bound of how exploitable a player is.

    Args:
        player: who sits in all seats but one.
        tried: the match of each exploiter, over the deals by which the best one was chosen.
        exploiter: the name of the best one.
        match: its match over other deals.
        copies: a match of the player with itself, in all seats, over the deals of `match`.
    """

    player: str
    tried: tuple[MatchResult, ...]
    exploiter: str
    match: MatchResult
    copies: MatchResult

    @property
    def best(self) -> Entry:
        """What the best exploiter won: the bound."""
        return self.match.entries[0]

    @property
    def copy_share(self) -> float:
        """The win share of a copy of the player in one seat, among copies: the fair one where somebody always wins."""
        return self.copies.entries[0].win_share / self.copies.entries[0].seats

    @property
    def copy_reward(self) -> float:
        """The mean reward of a copy: 0 where rewards add up to zero in every game."""
        return self.copies.entries[0].mean_reward

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Programs that failed in the games that count: bots have played for them, so nothing is bounded."""
        return (*self.match.failures, *self.copies.failures)

    @property
    def exploitable(self) -> bool:
        """Whether the whole interval of the best exploiter's win share lies above the fair share."""
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
        return {"player": self.player, "exploiter": self.exploiter, **figures, **self._matches()}

    def _matches(self) -> dict[str, Any]:
        return {
            "match": asdict(self.match),
            "copies": asdict(self.copies),
            "tried": [asdict(match) for match in self.tried],
        }


def games_of_bound(exploiters: int, players: int, num_deals: int) -> int:
    """Return the number of games that `lower_bound` plays.

    >>> games_of_bound(2, 3, 100)
    1000
    """
    return num_deals * (players * (exploiters + 1) + 1)


def lower_bound(
    game: Game,
    options: Any,
    player: tuple[str, Any],
    exploiters: Sequence[tuple[str, Any]],
    num_deals: int,
    seeds: Sequence[int],
    progress: Callable[[int], object] | None = None,
) -> Bound:
    """Let exploiters play in one seat against copies of a player, and the best of them once more.

    Args:
        game: a game module.
        options: its options.
        player: its name in the result, and what `play_match` takes for a seat.
        exploiters: the same of each; at least one. An object among them must not be the player's.
        num_deals: number of deals of each match; each is played once from every seat.
        seeds: of the deals by which the best one is chosen, and of those that count.
        progress: is called with the number of games finished since the last call.

    Raises:
        ValueError: see `play_match`.

    >>> from sleuth_env import Options, sleuth
    >>> exploiters = [("random", "random"), ("sheet", "sheet")]
    >>> found = lower_bound(sleuth, Options(num_players=3), ("random", "random"), exploiters, 20, (1, 2))
    >>> found.exploiter, found.exploitable, found.best.win_share > 0.9
    ('sheet', True, True)
    """
    for_choice, that_count = seeds
    # Made apart, so that an exploiter of the player's name is another entry.
    copy = (player[0], make_players(game, options, [player[1]])[0])
    able = [(name, make_players(game, options, [exploiter])[0]) for name, exploiter in exploiters]

    def played(first: tuple[str, Any], seed: int) -> MatchResult:
        table = [first, *[copy] * (options.num_players - 1)]
        names = [name for name, _ in table]
        return play_match(game, options, [who for _, who in table], num_deals, seed, progress, names=names)

    tried = [played(exploiter, for_choice) for exploiter in able]
    # The first of equals.
    best = max(range(len(tried)), key=lambda number: tried[number].entries[0].win_share)
    match = played(able[best], that_count)
    return Bound(player[0], tuple(tried), able[best][0], match, played(copy, that_count))
