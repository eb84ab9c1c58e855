"""Play games between bots and watch every decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.bots import make_bot
from sleuth_env.sleuth.bots.base import Bot
from sleuth_env.sleuth.cards import Options, make_rules, num_actions
from sleuth_env.sleuth.view import VIEW, view


class Decisions(NamedTuple):
    """What one bot decided at once, in some games of a batch."""

    bot: Bot
    rows: np.ndarray  # the games, i8 [B]
    states: np.ndarray  # STATE [B], before the actions
    views: np.ndarray  # VIEW [B]
    legal: np.ndarray  # u1 [B, A]
    seeds: np.ndarray  # u8 [B]
    actions: np.ndarray  # i8 [B]


class BotGames:
    """Some games of one kind, with the same bots in the same seats.

    Args:
        options: the game.
        names: a bot for each seat; they are repeated if there are fewer.
        num_games: the number of games that are played at once.
        seed: settles the deals and the bots' choices.
    """

    def __init__(self, options: Options, names: Sequence[str], num_games: int, seed: int = 0) -> None:
        self.options = options
        self.rules = make_rules(options)
        self.rng = np.random.default_rng(seed)
        bots = {name: make_bot(name, options) for name in names}
        self.seats = [bots[names[seat % len(names)]] for seat in range(options.num_players)]
        self.states = kernels.new_states(num_games)
        kernels.deal(self.rules, self.states, self.rng.integers(0, 2**64, num_games, np.uint64))

    def play(self, limit: int = 100_000) -> Iterator[Decisions]:
        """Play on to the end (or for a number of rounds), and yield every decision."""
        for _ in range(limit):
            actors = self.states["actor"].copy()
            if (actors < 0).all():
                return
            for bot in dict.fromkeys(self.seats):
                rows = np.flatnonzero([actor >= 0 and self.seats[actor] is bot for actor in actors])
                if rows.size:
                    yield self._decide(bot, rows)

    def _decide(self, bot: Bot, rows: np.ndarray) -> Decisions:
        states = self.states[rows]
        views = np.zeros(rows.size, VIEW)
        legal = np.zeros((rows.size, num_actions(self.options)), "u1")
        taken = np.zeros(rows.size, "u1")
        view(self.rules, states, states["actor"].astype("i8"), views)
        kernels.legal(self.rules, states, legal)
        seeds = self.rng.integers(0, 2**64, rows.size, np.uint64)
        decisions = Decisions(bot, rows, states.copy(), views, legal, seeds, bot.act(views, legal, seeds))
        kernels.step(self.rules, states, decisions.actions, taken, np.zeros((len(taken), 7)))
        assert taken.all(), f"{bot.name} chose illegal actions {decisions.actions[taken == 0]}"
        self.states[rows] = states
        return decisions
