"""Play games of I Say, Holmes! between bots and watch every decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sleuth_env.game import opaque
from sleuth_env.holmes.bots import make_bot
from sleuth_env.holmes.bots.base import Bot
from sleuth_env.holmes.cards import Options, make_rules, num_actions
from sleuth_env.holmes.cases import deal
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.state import STATE, new_states
from sleuth_env.holmes.view import VIEW, view


class Decisions(NamedTuple):
    """What one bot decided at once, in some games of a batch."""

    bot: Bot
    rows: np.ndarray  # the games, i8 [B]
    states: np.ndarray  # STATE [B], before the actions
    views: np.ndarray  # VIEW [B]
    legal: np.ndarray  # u1 [B, A]
    seeds: np.ndarray  # u8 [B]
    actions: np.ndarray  # i8 [B]


class HolmesBotGames:
    """Some games of one kind, with bots in the seats.

    Args:
        options: the game.
        seats: the names of the bots, [B, P] or [P].
        num_games: the number of games that are played at once.
        seed: settles the deals and the bots' choices.
        deals: u8 [B], the seeds of the deals, if they are not to be settled so.
    """

    def __init__(
        self,
        options: Options,
        seats: Sequence[str] | np.ndarray,
        num_games: int,
        seed: int = 0,
        deals: np.ndarray | None = None,
    ) -> None:
        self.options = options
        self.rules = make_rules(options)
        self.rng = np.random.default_rng(seed)
        self.seats = np.broadcast_to(np.asarray(seats), (num_games, options.num_players))
        self.bots = {str(name): make_bot(str(name), options) for name in np.unique(self.seats)}
        self.states = new_states(num_games)
        self.rewards = np.zeros((num_games, options.num_players))
        seeds = self.rng.integers(0, 2**64, num_games, np.uint64)
        deal(self.rules, self.states, seeds if deals is None else deals)

    def play(self, limit: int = 100_000) -> Iterator[Decisions]:
        """Play on to the end (or for a number of rounds), and yield every decision."""
        for _ in range(limit):
            going_on = np.flatnonzero(self.states["actor"] >= 0)
            if not going_on.size:
                return
            deciding = self.seats[going_on, self.states["actor"][going_on]]
            for name, bot in self.bots.items():
                rows = going_on[deciding == name]
                if rows.size:
                    yield self._decide(bot, rows)

    def _decide(self, bot: Bot, rows: np.ndarray) -> Decisions:
        states = opaque(self.states)[rows].view(STATE)
        before = states.copy()
        views = np.zeros(rows.size, VIEW)
        marks = np.zeros((rows.size, num_actions(self.options)), "u1")
        taken = np.zeros(rows.size, "u1")
        rewards = np.zeros((rows.size, self.options.num_players))
        view(self.rules, states, states["actor"].astype("i8"), views)
        legal(self.rules, states, marks)
        seeds = self.rng.integers(0, 2**64, rows.size, np.uint64)
        actions = bot.act(views, marks, seeds)
        step(self.rules, states, actions, taken, rewards)
        assert taken.all(), f"{bot.name} chose illegal actions {actions[taken == 0]}"
        opaque(self.states)[rows] = opaque(states)
        self.rewards[rows] += rewards
        return Decisions(bot, rows, before, views, marks, seeds, actions)


def share_won(options: Options, one: str, others: str, num_deals: int, seed: int = 0) -> tuple[float, float]:
    """Return the share of the single cases that one seat closes, and half its 95 % interval.

    Each deal is played once with the one bot in each seat.
    """
    players = options.num_players
    rows = num_deals * players
    mine = np.arange(rows) % players
    seats = np.full((rows, players), others, dtype="U10")
    seats[np.arange(rows), mine] = one
    deals = np.random.default_rng(seed).integers(0, 2**64, num_deals, np.uint64).repeat(players)
    games = HolmesBotGames(options, seats, rows, seed, deals)
    for _ in games.play():
        pass
    won = games.rewards[np.arange(rows), mine] > 0
    return float(won.mean()), float(1.96 * won.std() / rows**0.5)
