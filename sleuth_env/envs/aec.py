"""PettingZoo's face of a game: an agent-environment-cycle environment that plays one game, a batch of one.

`GameEnv` knows the game only through its module; a version of a game's environment (`sleuth_v0`)
binds it and is the manual page.
Axis letters: ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv

from ..actions import IllegalAction, refusal
from ..checks import check_choice, check_flag, check_number, check_real, check_seed
from ..game import (
    NO_GAME,
    TERMINATED,
    TRUNCATED,
    Believes,
    Game,
    Records,
    Transcribed,
    has_part,
    kernels_of,
    make_options,
    needed,
    opaque,
    player_name,
    seat_of,
)
from .binding import Bound
from .rendering import NO_RENDER_MODE, RENDER_MODES, check_render_mode, render_view
from .snapshot import Fits, Snapshot, bytes_of, misfit, of_kind, snapshot_of, sound_records

Observation = dict[str, NDArray[Any]]
S = TypeVar("S", bound="spaces.Space[Any]")
FACE = "aec"
CLOSED_UNTIL_RESET = "this environment has been closed: reset() opens it again"


class _Buffers:
    """Working arrays for the kernels, which every copy of an environment makes for itself."""

    def __init__(self, game: Game, options: Any, record: str, states: Records) -> None:
        num_players = options.num_players
        self.kernels = kernels_of(game)
        self.rules = game.make_rules(options)
        self.actor = states["actor"]  # i4 [1], a view into the state
        self.action = np.zeros(1, np.int64)
        self.taken = np.zeros(1, np.uint8)
        self.rewards = np.zeros((1, num_players))
        self.ended = np.zeros(1, np.uint8)
        self.settled = np.zeros((1, num_players), np.uint8)
        self.told = b""  # what of it `infos` say
        self.nothing = self.rewards.tobytes()
        self.due = np.zeros((1, num_players))
        self.seat = np.zeros(1, np.int64)
        self.seats = np.arange(num_players)
        self.legal = np.zeros((1, game.num_actions(options)), np.uint8)
        self.mask = self.legal[0].view(np.int8)
        self.view = np.zeros(1, game.VIEW)
        self.views = np.zeros(num_players, game.VIEW)
        self.observer = game.Observer(self.rules, self.view, record)
        self.observers = game.Observer(self.rules, self.views, record)


class _Course(NamedTuple):
    """What a game has come to: its state (STATE [1]), what the last step paid, and what each seat has earned
    since its last decision."""

    states: Records
    rewards: list[float]
    earned: list[float]


class GameEnv(Bound, AECEnv[str, Observation, int]):  # type: ignore[misc] # PettingZoo has no type information
    """Play one game between ``player_0``, ``player_1``, ... (the seats, clockwise).

    Nobody terminates early: a player who is out stays in `agents`, is skipped, and all end in the
    same step. `agent_selection` is the player who decides, which may be anybody, several times in a
    row. `rewards` are those of the last step. At the turn limit all are truncated. `infos` hold
    "settled": whether the agent's reward cannot change any more. A learner estimates what would
    still have come only for those who are truncated and not settled.

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

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "is_parallelizable": False,
    }

    if TYPE_CHECKING:
        # PettingZoo's own, which has no type information.
        agent_selection: str
        rewards: dict[str, float]
        terminations: dict[str, bool]
        truncations: dict[str, bool]
        infos: dict[str, dict[str, Any]]

        def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]: ...

    def __init__(
        self,
        render_mode: str | None = None,
        record: str | None = None,
        viewpoint: str | int | None = None,
        max_cycles: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        check_render_mode(self.game, render_mode)
        self.options = make_options(self.game, options, max_cycles, type(self))
        self.record: str = self.game.RECORDS[0] if record is None else record
        check_choice("record", self.record, self.game.RECORDS)
        self.render_mode = render_mode
        self.possible_agents = [player_name(seat) for seat in range(self.options.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.viewpoint = viewpoint
        if viewpoint is not None:
            self._seat_of(viewpoint)
        self.agents: list[str] = []
        self.closed = False
        self._num_actions = self.game.num_actions(self.options)
        self._size: int = self.game.observation_layout(self.options, self.record).size
        self._make_spaces()
        self._states = self.game.new_states(1)
        self._first_states = self._states.copy()
        self._actions: list[int] = []
        self._np_random: np.random.Generator | None = None
        self._buffers = self._make_buffers()

    def _make_spaces(self) -> None:
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0.0, 1.0, (len(self.possible_agents) * self._size,), np.float32)

    def _observation_space(self) -> spaces.Dict:
        observation = spaces.Box(0.0, 1.0, (self._size,), np.float32)
        return spaces.Dict({"observation": observation, "action_mask": spaces.Box(0, 1, (self._num_actions,), np.int8)})

    def _make_buffers(self) -> _Buffers:
        return _Buffers(self.game, self.options, self.record, self._states)

    # --- the cycle ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: begins the stream from which this and the following games are dealt; None
                continues it.
            options: ignored; a game's options are fixed when the environment is made.

        Raises:
            ValueError: the seed is not a whole number; nothing has changed.
        """
        self.closed = False
        number = check_seed(seed)
        if number is not None or self._np_random is None:
            self._np_random, _ = seeding.np_random(number)
        buffers = self._buffers
        buffers.kernels.deal(buffers.rules, self._states, self._np_random.integers(0, 2**64, 1, np.uint64))
        opaque(self._first_states)[:] = opaque(self._states)
        self._actions = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._settle(always=True)
        self.agent_selection = self.possible_agents[buffers.actor[0]]
        self._skip_agent_selection = None
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of `agent_selection`; None, and nothing else, once the game is finished.

        Raises:
            IllegalAction: the action is None, or is not legal now; nothing has changed.
        """
        self._must_be_reset()
        if not self.agents:
            gymnasium.logger.warn("step() does nothing once every agent has left: call reset()")
            return
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = check_number("action", action, 0, self._num_actions - 1, IllegalAction)
        buffers = self._buffers
        buffers.action[0] = number
        buffers.kernels.step(buffers.rules, self._states, buffers.action, buffers.taken, buffers.rewards)
        if not buffers.taken[0]:
            raise self._refusal(number, agent)
        self._actions.append(number)
        self._settle()
        # What the agent got before this decision has been given to it.
        self._cumulative_rewards[agent] = 0.0
        # Mostly nobody gets anything, which the bytes tell soonest.
        if buffers.rewards.tobytes() == buffers.nothing:
            self._forget_rewards()
        else:
            self._pay(buffers.rewards[0].tolist())
        actor = int(buffers.actor[0])
        if actor < 0:
            self._finish()
        else:
            self.agent_selection = self.possible_agents[actor]
        if self.render_mode == "human":
            self.render()

    def _refusal(self, number: int, agent: str) -> Exception:
        error = refusal(self.game, self.options, number, self.action_mask(agent), agent)
        if has_part(self.game, Transcribed):
            # A game too long for a text is refused in the same words.
            with suppress(ValueError):
                error.game_text = self.game_text()
        return error

    def _pay(self, rewards: list[float]) -> None:
        """Set the rewards of a step, and add them to what each agent has got since its last decision."""
        if any(rewards):
            self.rewards = dict(zip(self.agents, rewards, strict=True))
            self._accumulate_rewards()
        else:
            self._forget_rewards()

    def _forget_rewards(self) -> None:
        """Set the rewards of a step in which nobody gets anything."""
        if any(self.rewards.values()):
            self._clear_rewards()

    def _finish(self) -> None:
        """End the game for everybody."""
        self._end(*self._flags_of(self._states))

    def _flags_of(self, states: Records) -> tuple[bool, bool]:
        """Return how a game (STATE [1]) has ended, for everybody: terminated and truncated."""
        buffers = self._buffers
        buffers.kernels.ends(buffers.rules, states, buffers.ended)
        return bool(buffers.ended[0] == TERMINATED), bool(buffers.ended[0] == TRUNCATED)

    def forfeit(self, reward: float) -> None:
        """End the game for everybody because of `agent_selection`, who gets this reward, the others 0.

        It is what `env` does after an illegal action.

        Raises:
            ValueError: the reward is not a finite number; nothing has changed.
        """
        self._must_be_reset()
        reward = check_real("reward", reward)
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._pay([reward if agent == self.agent_selection else 0.0 for agent in self.agents])
        # Both flags, as PettingZoo's own wrapper for illegal actions sets them.
        self._end(terminated=True, truncated=True)
        # That is all they get.
        self.infos = {agent: {"settled": True} for agent in self.agents}

    def _end(self, terminated: bool, truncated: bool) -> None:
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.agent_selection = self.agents[0]

    def _settle(self, always: bool = False) -> None:
        """Set the infos of all agents, whose reward is settled, if they have changed, or always."""
        buffers = self._buffers
        buffers.kernels.settled(buffers.rules, self._states, buffers.settled, buffers.due)
        settled = buffers.settled.tobytes()
        if always or settled != buffers.told:
            buffers.told = settled
            self.infos = {
                agent: {"settled": one == 1} for agent, one in zip(self.possible_agents, settled, strict=True)
            }

    def _clear_rewards(self) -> None:
        self.rewards = dict.fromkeys(self.rewards, 0.0)

    @property
    def has_reset(self) -> bool:
        """Whether there is a game: one has been dealt, or a snapshot put in."""
        return self._np_random is not None

    def _must_be_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError(CLOSED_UNTIL_RESET)

    def _must_be_reset(self) -> None:
        if self.closed or self._np_random is None:
            self._must_be_open()
            raise gymnasium.error.ResetNeeded(NO_GAME)

    # --- what is seen ---

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since it last acted, terminated, truncated and info of `agent_selection`.

        Raises:
            gymnasium.error.ResetNeeded: no game has begun, or every agent has left it.
            ValueError: ``observe`` is not True or False.
        """
        self._must_be_reset()
        if not self.agents:
            raise gymnasium.error.ResetNeeded("every agent has left: call reset() for a new game")
        return super().last(check_flag("observe", observe))  # type: ignore[no-any-return]

    def observation_space(self, agent: str | int) -> spaces.Dict:
        """Return the space of an agent's observations, the same object each time."""
        return self._space_of(agent, self.observation_spaces)

    def action_space(self, agent: str | int) -> spaces.Discrete:
        """Return the space of an agent's actions, the same object each time."""
        return self._space_of(agent, self.action_spaces)

    def _space_of(self, agent: str | int, by_agent: dict[str, S]) -> S:
        return by_agent[self._agent_of(agent)]

    def _agent_of(self, agent: str | int) -> str:
        """Return the name of a player, who may be given by the seat, too."""
        return self.possible_agents[self._seat_of(agent)]

    def observe(self, agent: str | int) -> Observation:
        """Return an agent's observation and action mask, at any time.

        The mask is zero for a player who is not to act, and all ones when the game is finished.
        """
        self._must_be_reset()
        seat = self._seat_of(agent)
        self._fill_view(seat)
        observation = self._buffers.observer.written()[0]
        return {"observation": observation, "action_mask": self._mask_of(self.possible_agents[seat])}

    def action_mask(self, agent: str | int) -> NDArray[np.int8]:
        """Return the action mask of an agent's observation (i1 [A]) alone."""
        self._must_be_reset()
        return self._mask_of(self._agent_of(agent))

    def _mask_of(self, agent: str) -> NDArray[np.int8]:
        # An agent who has left, or is about to, is in a finished game, though an illegal action may
        # have ended it.
        if self.terminations.get(agent, True) or self.truncations[agent]:
            return np.ones(self._num_actions, np.int8)
        if agent != self.agent_selection:
            return np.zeros(self._num_actions, np.int8)
        buffers = self._buffers
        buffers.kernels.legal(buffers.rules, self._states, buffers.legal)
        mask: NDArray[np.int8] = buffers.mask.copy()
        return mask

    def view(self, agent: str | int) -> Records:
        """Return all that an agent may know as a record, VIEW [1]: what bots are given."""
        self._must_be_reset()
        view: Records = opaque(self._fill_view(self._seat_of(agent))).copy().view(self.game.VIEW)
        return view

    def _fill_view(self, seat: int) -> Records:
        """Write what a seat may know into a buffer, which never leaves the environment."""
        buffers = self._buffers
        buffers.seat[0] = seat
        buffers.kernels.view(buffers.rules, self._states, buffers.seat, buffers.view)
        return buffers.view

    def belief(self, agent: str | int) -> Any:
        """Return the exact distribution of the hidden cards over all deals consistent with what an agent may know.

        It is uniform over consistent deals; what others chose to do is not taken as evidence about them.
        What it is made of is the game's own: for Sleuth a `sleuth_env.deduction.worlds.Worlds`, see
        `sleuth_env.sleuth.belief`.

        Raises:
            MissingPartError: the game has no exact beliefs.
        """
        return needed(self.game, Believes).belief(self._buffers.rules, self.view(agent))

    def state(self) -> NDArray[np.float32]:
        """Return everybody's observations, seat by seat, as one vector (f4 [P * N]).

        It holds every hand, and so the hidden cards: for centralised critics, never for a player.
        The order of a pile, and the random generator, are not in it.
        """
        self._must_be_reset()
        buffers = self._buffers
        states = opaque(self._states).repeat(len(buffers.views)).view(self._states.dtype)
        buffers.kernels.view(buffers.rules, states, buffers.seats, buffers.views)
        state: NDArray[np.float32] = buffers.observers.written().ravel()
        return state

    def _seat_of(self, agent: str | int) -> int:
        # A name is the usual case, and other things may have no hash.
        if isinstance(agent, str) and agent in self._seats:
            return self._seats[agent]
        return seat_of(agent, len(self._seats))

    def render(self) -> Any:
        """Draw what the viewpoint knows.

        Returns:
            "ansi": text; "rgb_array": an image (u1 [height, width, 3]); "human": None, the text goes
            to the standard output.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        self._must_be_reset()
        view = self._fill_view(self._seat_of(self.agent_selection if self.viewpoint is None else self.viewpoint))
        return render_view(self.game, self.options, view[0], self.render_mode)

    def close(self) -> None:
        """Let nothing be stepped before the next `reset`. May be called again."""
        self.closed = True

    # --- the whole game ---

    def reveal(self) -> dict[str, Any]:
        """Return the whole hidden state in the game's words, for debugging and analysis."""
        self._must_be_reset()
        return needed(self.game, Transcribed).reveal(self.options, self._states[0])

    def game_text(self) -> str:
        """Return the game so far as a text that replays exactly. It shows every hidden card."""
        self._must_be_reset()
        return needed(self.game, Transcribed).game_text(self.options, self._first_states[0], self._actions)

    def get_state(self) -> Snapshot:
        """Return a snapshot, of the random stream too: after `set_state` everything goes on as it did from here."""
        self._must_be_reset()
        assert self._np_random is not None
        more = {
            "first_states": bytes_of(self._first_states),
            "actions": self._actions.copy(),
            "agents": self.agents.copy(),
            "agent_selection": self.agent_selection,
            "skipped_selection": self._skip_agent_selection,
            "rewards": self.rewards.copy(),
            "cumulative_rewards": self._cumulative_rewards.copy(),
            "terminations": self.terminations.copy(),
            "truncations": self.truncations.copy(),
        }
        streams = [self._np_random.bit_generator.state]
        return Snapshot(FACE, self.game.NAME, asdict(self.options), bytes_of(self._states), streams, more).sealed()

    def set_state(self, state: Snapshot) -> None:
        """Go back to a snapshot that `get_state` took, here or in another environment of the same options.

        Raises:
            ValueError: it is not such a snapshot, one of a game with other options, or damaged;
                nothing has changed.
            ClosedEnvironmentError: after `close`, which only `reset` undoes.
        """
        self._must_be_open()
        snapshot = snapshot_of(state)
        (generator,) = snapshot.check(FACE, self.game, self.options, 1, self._parts())
        states = snapshot.records(self.game, self._buffers.rules)
        more = snapshot.more
        first = self._first_state_of(more["first_states"])
        self._check_course(more, states, first)
        self._np_random = generator
        opaque(self._states)[:] = opaque(states)
        opaque(self._first_states)[:] = opaque(first)
        self._actions = list(more["actions"])
        self.agents = list(more["agents"])
        self.agent_selection = more["agent_selection"]
        self._skip_agent_selection = more["skipped_selection"]
        self.rewards = dict(more["rewards"])
        self._cumulative_rewards = dict(more["cumulative_rewards"])
        self.terminations = dict(more["terminations"])
        self.truncations = dict(more["truncations"])
        self._settle(always=True)
        # An illegal action may have ended the game, and then all they get is settled.
        forfeited = any(self.terminations[agent] and self.truncations[agent] for agent in self.agents)
        self.infos = {agent: {"settled": True} if forfeited else self.infos[agent] for agent in self.agents}

    def _parts(self) -> dict[str, Fits]:
        """Return what a snapshot holds besides the game and its stream: whether it is of the right kind."""
        names = self.possible_agents

        def is_table(value: Any, is_cell: Fits) -> bool:
            return (
                isinstance(value, dict) and all(name in names for name in value) and all(map(is_cell, value.values()))
            )

        def are_numbers(value: Any) -> bool:
            return is_table(value, lambda number: type(number) in (int, float) and math.isfinite(number))

        def are_flags(value: Any) -> bool:
            return is_table(value, lambda flag: type(flag) is bool)

        return {
            "first_states": lambda value: of_kind(value, np.uint8, (1, self._states.itemsize)),
            "actions": lambda value: (
                isinstance(value, list) and all(type(n) is int and 0 <= n < self._num_actions for n in value)
            ),
            # They leave in their order.
            "agents": lambda value: isinstance(value, list) and value == names[len(names) - len(value) :],
            "agent_selection": lambda value: isinstance(value, str) and value in names,
            "skipped_selection": lambda value: value is None or (isinstance(value, str) and value in names),
            "rewards": are_numbers,
            "cumulative_rewards": are_numbers,
            "terminations": are_flags,
            "truncations": are_flags,
        }

    def _first_state_of(self, given: NDArray[np.uint8]) -> Records:
        """Return the first state of a snapshot's game (STATE [1]).

        Raises:
            ValueError: it is not that of a game just dealt, as far as that can be told.
        """
        # Whoever goes back within one game pays once for this.
        if self.has_reset and given.tobytes() == self._first_states.tobytes():
            return self._first_states
        first = sound_records(given, self.game, self._buffers.rules)
        if has_part(self.game, Transcribed):
            needed(self.game, Transcribed).game_text(self.options, first[0], [])
        return first

    def _check_course(self, more: Mapping[str, Any], states: Records, first: Records) -> None:
        """Check that all of a snapshot follows from the first state of its game and the actions since.

        Raises:
            ValueError: something does not.
        """
        course = self._replayed(first, more["actions"])
        if course is None or course.states.tobytes() != states.tobytes():
            raise misfit("actions", more["actions"])
        names = self.possible_agents
        agents = more["agents"]
        actor = int(states["actor"][0])
        flags = [more["terminations"], more["truncations"]]
        going_on = agents == names and not any(map(any, (table.values() for table in flags)))
        # After an illegal action both flags are set, though the game has not ended by itself.
        forfeited = actor >= 0 and not going_on
        if going_on:
            ends = [[False] * len(names)] * 2
            selected = [names[actor]] if actor >= 0 else []
        else:
            ends = [[True] * len(names)] * 2 if forfeited else [[flag] * len(names) for flag in self._flags_of(states)]
            selected = agents[:1] or names
        is_leaving = 0 < len(agents) < len(names)
        cleared = dict.fromkeys(agents, 0.0)
        paid = dict(zip(names, course.rewards, strict=True))
        rewards = [cleared] if len(agents) < len(names) else [paid]
        loser = names[actor] if forfeited else None
        if loser is not None and loser in agents:
            rewards = [{**cleared, loser: more["rewards"].get(loser)}]
        earned = {agent: total for agent, total in zip(names, course.earned, strict=True) if agent in agents}
        if loser is not None and loser in agents:
            earned[loser] = more["cumulative_rewards"].get(loser)
        right = {
            "agent_selection": more["agent_selection"] in selected,
            "skipped_selection": (more["skipped_selection"] is not None) == is_leaving
            and (not is_leaving or more["skipped_selection"] not in agents),
            "rewards": list(more["rewards"]) == agents and more["rewards"] in rewards,
            "cumulative_rewards": list(more["cumulative_rewards"]) == agents and more["cumulative_rewards"] == earned,
            **{
                name: table == {agent: end for agent, end in zip(names, ended, strict=True) if agent in agents}
                for name, table, ended in zip(("terminations", "truncations"), flags, ends, strict=True)
            },
        }
        for name, fits in right.items():
            if not fits:
                raise misfit(name, more[name])

    def _replayed(self, first: Records, actions: list[int]) -> _Course | None:
        """Return where some actions lead from a first state (STATE [1]); None where one is illegal."""
        states = opaque(first).copy().view(first.dtype)
        actors = states["actor"]
        action = np.zeros(1, np.int64)
        taken = np.zeros(1, np.uint8)
        paid = np.zeros((1, len(self.possible_agents)))
        rewards = [0.0] * paid.size
        earned = [0.0] * paid.size
        for number in actions:
            actor = int(actors[0])
            action[0] = number
            self._buffers.kernels.step(self._buffers.rules, states, action, taken, paid)
            if not taken[0]:
                return None
            earned[actor] = 0.0
            rewards = paid[0].tolist()
            if any(rewards):
                earned = [total + reward for total, reward in zip(earned, rewards, strict=True)]
        return _Course(states, rewards, earned)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_buffers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._buffers = self._make_buffers()
