"""A game in text: all that a seat knows is told in words, and an answer in words is its action.

`TextEnv` is for language models: one in every seat, or one against bots and programs. It is made of
`sleuth_env.words`, which says what is told and how answers are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..actions import ILLEGAL_REWARD
from ..checks import check_number, check_seed, shown
from ..game import DEFAULT_GAME, NO_GAME, TERMINATED, TRUNCATED, Game, check_game, load_game, make_options, player_name
from ..matches.players import Players, listed, make_players
from ..matches.program import close_programs, warn_of_failures
from ..matches.table import LEARNER_SEAT, Table
from ..words import AnswerError, read_answer, rules_text, text_observation

# Answers in a row that mean no legal action before the game ends.
MOST_REFUSED = 3


@dataclass(frozen=True)
class TextStep:
    """What a step of a game in text brings.

    Args:
        agent: who is to act; at the end, who was to act last.
        text: what it is told.
        rewards: what each agent has got by this step.
        terminated: whether the game is over by the rules, or by answers that mean no legal action.
        truncated: whether the turn limit has stopped it.
        refused: why the last answer was not taken; "" if it was.
    """

    agent: str
    text: str
    rewards: dict[str, float] = field(default_factory=dict)
    terminated: bool = False
    truncated: bool = False
    refused: str = ""

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.terminated or self.truncated


class TextEnv:
    """A game in text, for one agent in every seat, or for one agent against others.

    >>> from sleuth_env import TextEnv
    >>> env = TextEnv("sleuth", num_players=3, opponents="random", seat=0)
    >>> step = env.reset(seed=1)
    >>> step.agent, step.text.splitlines()[0]
    ('player_0', 'You (a) are player_0, +1 (b) is player_1, +2 (c) is player_2. Missing gems: 1.')
    >>> env.step("I cannot decide").refused.partition(".")[0]
    "'I cannot decide' is not an action"
    >>> env.step("I choose to exchange.").refused
    ''

    Args:
        game: a game module, or its name.
        opponents: who plays the other seats: one for all, or a list from the agent's left on, see
            `make_player`; None: nobody, there is an agent in every seat.
        seat: of the agent, where there are opponents.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    def __init__(
        self, game: Game | str = DEFAULT_GAME, opponents: Players | None = None, seat: int = 0, **options: Any
    ) -> None:
        played: Game = load_game(game) if isinstance(game, str) else check_game(game)
        self.options = make_options(played, options, taker=type(self))
        count = self.options.num_players
        self.agents = [player_name(number) for number in range(count)]
        own = check_number("seat", seat, 0, count - 1)
        bots: list[Any] = []
        seats = np.full(count, LEARNER_SEAT)
        if opponents is not None:
            players = listed(opponents, count - 1)
            if len(players) != count - 1:
                raise ValueError(f"opponents must be one for all, or a list of {count - 1}, got {shown(opponents)}")
            bots = make_players(played, self.options, players)
            seats[(own + np.arange(1, count)) % count] = np.arange(count - 1)
        self.table = Table(played, self.options, 1, bots, seats)
        self._stream = np.random.default_rng()
        self._refused = 0
        self._warned: set[tuple[str, int]] = set()
        self._last: TextStep | None = None

    @property
    def game(self) -> Game:
        """The game module. The table holds it, which can be copied and pickled with it."""
        return self.table.game

    @property
    def rules(self) -> str:
        """The rules in brief, with the forms of the actions: what an agent is told once."""
        return rules_text(self.options, self.game)

    def observe(self, agent: str) -> str:
        """Return all that an agent knows now, with its legal actions if it is to act.

        Raises:
            ValueError: there is no such agent, or no game.
        """
        if self._last is None:
            raise ValueError(NO_GAME)
        if not isinstance(agent, str) or agent not in self.agents:
            raise ValueError(f"agent must be one of {', '.join(self.agents)}, got {shown(agent)}")
        seat = self.agents.index(agent)
        acts = int(self.table.actors[0]) == seat and not self._last.done
        legal = self.table.legal(0)[0] if acts else None
        return text_observation(self.table.views(0, seat)[0], self.options, legal, self.game)

    def reset(self, seed: int | None = None) -> TextStep:
        """Deal a new game, and let opponents play until an agent is to act.

        Args:
            seed: settles the game, and those that follow; None: they follow from the last seed.
        """
        number = check_seed(seed)
        if number is not None:
            self._stream = np.random.default_rng(number)
        self.table.deal([0], self._stream.integers(0, 2**64, 1, np.uint64))
        self._refused = 0
        self._last = TextStep(self.agents[0], "")
        return self._go_on(np.zeros(len(self.agents)))

    def step(self, answer: str) -> TextStep:
        """Take the action that an answer means, see `read_answer`, and let opponents play on.

        An answer that means none changes nothing, and the same agent is asked again; after
        `MOST_REFUSED` in a row the game ends with -1 for it, and 0 for the others.

        Raises:
            ValueError: no game has been dealt, or it is over.
        """
        if self._last is None or self._last.done:
            raise ValueError(NO_GAME if self._last is None else "the game is over: call reset() for another one")
        seat = int(self.table.actors[0])
        view = self.table.views(0)[0]
        try:
            action = read_answer(answer, self.options, self.table.legal(0)[0], view, self.game)
        except AnswerError as error:
            return self._refuse(seat, str(error))
        self._refused = 0
        before = self.table.returns[0].copy()
        self.table.step([0], [action])
        return self._go_on(before)

    def _refuse(self, seat: int, why: str) -> TextStep:
        self._refused += 1
        agent = self.agents[seat]
        over = self._refused == MOST_REFUSED
        rewards = dict.fromkeys(self.agents, 0.0)
        if over:
            rewards[agent] = ILLEGAL_REWARD
            why = f"{why}. The game is over: {MOST_REFUSED} answers in a row were no legal actions"
            self.table.leave([0])
        text = why if over else f"{why}.\n{self.observe(agent)}"
        self._last = TextStep(agent, text, rewards, terminated=over, refused=why)
        return self._last

    def _go_on(self, before: Any) -> TextStep:
        """Let opponents play until an agent is to act; ``before`` (f8 [P]) is what everybody had got before."""
        assert self._last is not None
        self.table.play_on()
        warn_of_failures(self.table.bots, self._warned, stacklevel=3)
        ended = int(self.table.ends()[0])
        actor = int(self.table.actors[0])
        rewards = dict(zip(self.agents, (self.table.returns[0] - before).tolist(), strict=True))
        agent = self.agents[actor] if actor >= 0 else self._own_agent()
        self._last = TextStep(agent, "", rewards, ended == TERMINATED, ended == TRUNCATED)
        self._last = TextStep(agent, self.observe(agent), rewards, ended == TERMINATED, ended == TRUNCATED)
        return self._last

    def _own_agent(self) -> str:
        """Return who is told that the game is over: the agent who acted last, or the only one."""
        assert self._last is not None
        own = np.flatnonzero(self.table.seats[0] == LEARNER_SEAT)
        return self.agents[int(own[0])] if len(own) == 1 else self._last.agent

    def close(self) -> None:
        """End the programs among the opponents."""
        close_programs(self.table.bots)
