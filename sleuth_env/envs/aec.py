"""PettingZoo's face of a game: an agent-environment-cycle environment that plays one game, a batch
of one.

`GameEnv` knows the game only through its module; a version of a game's environment (`sleuth_v0`)
binds it and is the manual page. Axis letters: ``P`` seats, ``A`` actions, ``N`` numbers of an
observation.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv

from ..checks import check_choice, check_seed, whole_number
from ..game import (
    NO_GAME,
    NO_RENDER_MODE,
    NO_SNAPSHOT,
    RENDER_MODES,
    Game,
    Records,
    action_number,
    check_snapshot,
    make_options,
    opaque,
    refusal,
    render_view,
)

Observation = dict[str, NDArray[Any]]
# Scratch arrays for the kernels, and views into the state: a copy of the environment makes its own.
_BUFFERS = (
    "_rules",
    "_actor",
    "_action",
    "_taken",
    "_seat",
    "_seats",
    "_view",
    "_views",
    "_observer",
    "_observers",
    "_legal",
    "_mask",
)
# What a snapshot holds, besides the random stream.
_RECORDS = ("_states", "_first_states")
_COPIED = ("_actions", "agents", "rewards", "_cumulative_rewards", "terminations", "truncations")
_KEPT = ("options", "agent_selection", "_skip_agent_selection")


class GameEnv(AECEnv[str, Observation, int]):  # type: ignore[misc] # PettingZoo has no type information
    """Play one game between ``player_0``, ``player_1``, ... (the seats, clockwise).

    Nobody terminates early: a player who is out stays in `agents`, is skipped, and all end in the
        same step, the only one that gives
    rewards. `agent_selection` is the player who decides, which may be anybody, several times in a
    row. `infos` are empty.

    Args:
        render_mode: None, "ansi" (`render` returns text), "rgb_array" (an image) or "human" (text
            on the standard output after every step).
        record: how observations record the past, one of the game's `RECORDS`; default the first.
        viewpoint: whose view is drawn, an agent's name or a seat number; None is the agent to act.
            A drawing shows what this one player knows and nothing else, so with None a game shown
            to all its players shows every hand in turn.
        max_cycles: another name of the option ``max_turns``.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    game: ClassVar[Game]
    metadata: ClassVar[dict[str, Any]]

    def __init__(
        self,
        render_mode: str | None = None,
        record: str | None = None,
        viewpoint: str | int | None = None,
        max_cycles: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self.options = make_options(self.game, options, max_cycles)
        self.record: str = self.game.RECORDS[0] if record is None else record
        check_choice("record", self.record, self.game.RECORDS)
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.options.num_players)]
        self.viewpoint = viewpoint
        if viewpoint is not None:
            self._seat_of(viewpoint)
        self.agents: list[str] = []
        self._make_spaces()
        self._states = self.game.new_states(1)
        self._first_states = self._states.copy()
        self._actions: list[int] = []
        self._np_random: np.random.Generator | None = None
        self._make_buffers()

    def _make_spaces(self) -> None:
        self._num_actions = self.game.num_actions(self.options)
        self._size = self.game.observation_size(self.options, self.record)
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0.0, 1.0, (len(self.possible_agents) * self._size,), np.float32)

    def _observation_space(self) -> Any:
        observation = spaces.Box(0.0, 1.0, (self._size,), np.float32)
        return spaces.Dict({"observation": observation, "action_mask": spaces.Box(0, 1, (self._num_actions,), np.int8)})

    def _make_buffers(self) -> None:
        num_players = len(self.possible_agents)
        self._rules = self.game.make_rules(self.options)
        self._actor = self._states["actor"]
        self._action = np.zeros(1, np.int64)
        self._taken = np.zeros(1, np.uint8)
        self._seat = np.zeros(1, np.int64)
        self._seats = np.arange(num_players)
        self._legal = np.zeros((1, self._num_actions), np.uint8)
        self._mask = self._legal[0].view(np.int8)
        self._view = np.zeros(1, self.game.VIEW)
        self._views = np.zeros(num_players, self.game.VIEW)
        self._observer, self._observers = (
            self.game.Observer(self._rules, views, self.record) for views in (self._view, self._views)
        )

    # --- the cycle ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: begins the stream from which this and the following games are dealt; None
                continues it.
            options: ignored; a game's options are fixed when the environment is made.

        Raises:
            ValueError: the seed is no whole number; nothing has changed.
        """
        number = check_seed(seed)
        if number is not None or self._np_random is None:
            self._np_random, _ = seeding.np_random(number)
        self.game.deal(self._rules, self._states, self._np_random.integers(0, 2**64, 1, np.uint64))
        opaque(self._first_states)[:] = opaque(self._states)
        self._actions = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self._actor[0]]
        self._skip_agent_selection = None
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of `agent_selection`; None, and nothing else, once the game is finished.

        Raises:
            IllegalAction: the action is none, or is not legal now; nothing has changed.
        """
        self._must_be_reset()
        if not self.agents:
            gymnasium.logger.warn("step() does nothing once every agent has left: call reset()")
            return
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = (
            action
            if type(action) is int and 0 <= action < self._num_actions
            else action_number(action, self._num_actions)
        )
        self._action[0] = number
        self.game.step(self._rules, self._states, self._action, self._taken)
        if not self._taken[0]:
            error = refusal(self.game, self.options, number, self.action_mask(agent), agent)
            error.game_text = self.game_text()
            raise error
        self._actions.append(number)
        self.infos = {name: {} for name in self.agents}
        actor = int(self._actor[0])
        if actor < 0:
            self._finish()
        else:
            self.agent_selection = self.possible_agents[actor]
        if self.render_mode == "human":
            self.render()

    def _finish(self) -> None:
        """Give the rewards, all in this step, and end the game for everybody."""
        rewards = np.zeros((1, len(self.agents)))
        terminated, truncated = np.zeros((2, *rewards.shape), np.uint8)
        self.game.outcome(self._rules, self._states, rewards, terminated, truncated)
        self._end(rewards[0].tolist(), (terminated[0] > 0).tolist(), (truncated[0] > 0).tolist())

    def forfeit(self, reward: float) -> None:
        """End the game for everybody because of `agent_selection`, who gets this reward, the others
        0: what `env` does after an illegal action.
        """
        self._must_be_reset()
        # Both flags, as PettingZoo's own wrapper for illegal actions sets them.
        both = [True] * len(self.agents)
        self._end([reward if agent == self.agent_selection else 0.0 for agent in self.agents], both, both)

    def _end(self, rewards: list[float], terminated: list[bool], truncated: list[bool]) -> None:
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = dict(zip(self.agents, terminated, strict=True))
        self.truncations = dict(zip(self.agents, truncated, strict=True))
        self.agent_selection = self.agents[0]

    def _clear_rewards(self) -> None:
        self.rewards = dict.fromkeys(self.rewards, 0.0)

    @property
    def has_reset(self) -> bool:
        """Whether there is a game: one has been dealt, or a snapshot put in."""
        return self._np_random is not None

    def _must_be_reset(self) -> None:
        if not self.has_reset:
            raise gymnasium.error.ResetNeeded(NO_GAME)

    # --- what is seen ---

    def last(self, observe: bool = True) -> Any:
        """Give observation, reward since it last acted, terminated, truncated and info of
        `agent_selection`.
        """
        self._must_be_reset()
        return super().last(observe)

    def observation_space(self, agent: str) -> Any:
        """Give the space of an agent's observations, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Give the space of an agent's actions, the same object each time."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Observation:
        """Give an agent's observation and action mask, at any time.

        The mask is zero for a player who is not to act, and all ones when the game is finished.
        """
        self._must_be_reset()
        self._look(agent)
        observation = np.empty((1, self._size), np.float32)
        self._observer.write(observation)
        return {"observation": observation[0], "action_mask": self.action_mask(agent)}

    def action_mask(self, agent: str) -> NDArray[np.int8]:
        """Give the action mask of an agent's observation (i1 [A]) alone."""
        self._must_be_reset()
        # An agent who has left, or is about to, is in a finished game, though an illegal action may
        # have ended it.
        if self.terminations.get(agent, True) or self.truncations[agent]:
            return np.ones(self._num_actions, np.int8)
        if agent != self.agent_selection:
            return np.zeros(self._num_actions, np.int8)
        self.game.legal(self._rules, self._states, self._legal)
        mask: NDArray[np.int8] = self._mask.copy()
        return mask

    def view(self, agent: str) -> Records:
        """Give all that an agent may know as a record, VIEW [1]: what bots are given."""
        self._must_be_reset()
        view: Records = opaque(self._look(agent)).copy().view(self.game.VIEW)
        return view

    def _look(self, agent: str) -> Records:
        """Write what an agent may know into a buffer, which never leaves the environment: the next
        call overwrites it.
        """
        self._seat[0] = self._seat_of(agent)
        self.game.view(self._rules, self._states, self._seat, self._view)
        return self._view

    def belief(self, agent: str) -> Any:
        """Give the exact distribution of the hidden cards over all deals consistent with what an
        agent may know, at any time.

        It is uniform over consistent deals; questions are not taken as evidence about the asker.
        What it is made of is the game's own: for Sleuth a `sleuth_env.deduction.worlds.Worlds`, see
        `sleuth_env.sleuth.belief`.
        """
        return self.game.belief(self._rules, self.view(agent))

    def state(self) -> NDArray[np.float32]:
        """Give everybody's observations, seat by seat, as one vector (f4 [P * N]).

        It holds every hand, and so the hidden cards: for centralised critics, never for a player.
            The order of a
        pile, and the random generator, are not in it.
        """
        self._must_be_reset()
        state = np.empty((len(self.possible_agents), self._size), np.float32)
        self.game.view(
            self._rules, opaque(self._states).repeat(len(state)).view(self._states.dtype), self._seats, self._views
        )
        self._observers.write(state)
        return state.ravel()

    def _seat_of(self, agent: str | int) -> int:
        names = self.possible_agents
        if isinstance(agent, str) and agent in names:
            return names.index(agent)
        seat = whole_number(agent)
        if seat is not None and 0 <= seat < len(names):
            return seat
        raise ValueError(
            f"{agent!r} is no player: the players are {', '.join(names)}, or their seats 0 to {len(names) - 1}"
        )

    def render(self) -> Any:
        """Draw what the viewpoint knows: text ("ansi"), an image (u1 [height, width, 3]), or text
        on the standard output ("human").
        """
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        self._must_be_reset()
        view = self._look(
            self.agent_selection if self.viewpoint is None else self.possible_agents[self._seat_of(self.viewpoint)]
        )
        return render_view(self.game, self.options, view[0], self.render_mode)

    def close(self) -> None:
        """Do nothing: no window is open. May be called again."""

    # --- the whole game ---

    def reveal(self) -> dict[str, Any]:
        """Give the whole hidden state in the game's words, for debugging and analysis."""
        self._must_be_reset()
        return self.game.reveal(self.options, self._states[0])

    def game_text(self) -> str:
        """Write the game so far as a text that replays exactly. It shows every hidden card."""
        self._must_be_reset()
        return self.game.game_text(self.options, self._first_states[0], self._actions)

    def get_state(self) -> dict[str, Any]:
        """Take a snapshot, of the random stream too: after `set_state` everything goes on as it did
        from here.
        """
        self._must_be_reset()
        assert self._np_random is not None
        records = {name: opaque(getattr(self, name)).copy().view(self.game.STATE) for name in _RECORDS}
        copied = {name: getattr(self, name).copy() for name in _COPIED}
        kept = {name: getattr(self, name) for name in _KEPT}
        return records | copied | kept | {"stream": self._np_random.bit_generator.state}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a snapshot that `get_state` took, here or in another environment of the same
        options.

        Raises:
            ValueError: it is no such snapshot, or one of a game with other options; nothing has
                changed.
        """
        self._check_snapshot(state)
        generator, _ = seeding.np_random(0)
        try:
            generator.bit_generator.state = state["stream"]
        except (TypeError, ValueError, KeyError) as error:
            raise ValueError(f"{NO_SNAPSHOT}: stream is no state of a generator") from error
        copies = {name: state[name].copy() for name in _COPIED}
        for name in _RECORDS:
            opaque(getattr(self, name))[:] = opaque(state[name])
        kept = {name: state[name] for name in _KEPT}
        self.__dict__.update(copies | kept, _np_random=generator, infos={agent: {} for agent in copies["agents"]})

    def _check_snapshot(self, state: Any) -> None:
        check_snapshot(state, (*_RECORDS, *_COPIED, *_KEPT, "stream"))
        if state["options"] != self.options:
            raise ValueError(f"the snapshot is of a game with {state['options']}, this one has {self.options}")
        for name in _RECORDS:
            if getattr(state[name], "dtype", None) != self._states.dtype or state[name].shape != (1,):
                raise ValueError(f"{NO_SNAPSHOT}: {name} is no record of a game")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _BUFFERS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_buffers()
