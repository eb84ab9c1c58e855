"""Many games at once, every seat of which is a learner's: `GameVectorEnv`.

One call takes a decision in every game and returns the observation and the legal actions of whoever
has to decide next, which may be anybody. Nobody plays inside: self-play, or opponents, are the
caller's, who sees by `acting_seat` whose decision each row is.

Observation
    ``Box(0, 1, (B, N), float32)``: what the seat to act knows, the same vector as in the PettingZoo
    environment; or in int8, see ``dtype``. With ``observation="dict"`` the same dictionary as there:
    "observation" and "action_mask" (i1 [B, A]).
Actions
    ``MultiDiscrete([A] * B)``, relative to the seat to act; `action_masks` returns the legal ones,
    others are refused.
Rewards
    What the seat that has just acted got by it; the info "rewards" (f8 [B, P]) holds what every seat
    has got since its last decision.
Ends
    Terminated: the game is over by the rules; truncated: the turn limit has stopped it. The info
    "settled" says whose reward was decided all the same.
Autoreset
    ``SAME_STEP``, where nothing else is asked for: a finished game is followed by the next at once.
    ``NEXT_STEP``: by the next step, which ignores its action and gives no reward. ``DISABLED``: by
    `reset` with a ``reset_mask``. Until then the seat that has acted last is shown how the game
    ended, and every action is legal. What everybody saw last is in `final_observations`.
Info
    "acting_seat" (i8 [B]) and "action_mask" (i1 [B, A]) of the decisions that come; of all seats
    "rewards" (f8 [B, P]) and "settled" (bool [B, P]), both of the games as the step left them,
    before the next ones are dealt. With ``SAME_STEP``, where games have ended, "final_obs", what the
    seat that has acted last saw, and "final_info": who that was, "acting_seat", and "rewards" and
    "settled" once more; "_final_obs" and "_final_info" say where.

Game ``i`` is the game of a PettingZoo environment that was reset with ``seed + i`` and, after each
end, without a seed: the same deals, whatever ``B`` and the number of threads.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..actions import action_numbers, refusal
from ..checks import check_choice, check_number, shown
from ..game import (
    CLOSED,
    GOING_ON,
    NO_GAME,
    TERMINATED,
    TRUNCATED,
    Records,
    Transcribed,
    kernels_of,
    make_options,
    needed,
    opaque,
    player_name,
)
from ..memory import check_fits
from ..threads import Threads
from .binding import Bound
from .learner_table import Bools
from .observing import OBSERVATIONS, observation_space, presented
from .rendering import NO_RENDER_MODE, RENDER_MODES, check_render_mode, render_view
from .resetting import check_autoreset, check_autoreset_done, row_seeds, rows_to_reset
from .snapshot import Snapshot, bytes_of, like, misfit, snapshot_of

Floats = NDArray[np.float64]
Observations = NDArray[Any]
# The types of observations and what is 1 in them.
HIGHEST = {"float32": 1, "int8": 127}
FACE = "vector"


class GameVectorEnv(Bound, VectorEnv[Any, NDArray[np.int64], Any]):
    """Play ``B`` games, each seat of which is a learner's.

    Args:
        num_envs: B.
        record: how the observation records the past, one of the game's `RECORDS`; default the
            first.
        render_mode: None, "ansi" or "rgb_array" (`render` returns tuples, one of each game) or
            "human" (text on the standard output); all show what the seat to act knows.
        dtype: "float32", or "int8" for observations in a quarter of the memory: 127 is 1, fractions
            are rounded to 127ths, never to 0 or 1.
        copy: whether observations and masks are returned as copies; otherwise the next step
            overwrites them.
        threads: into how many parts the batch is split, each played by a thread.
        max_cycles: PettingZoo's name of the option ``max_turns``.
        observation: "vector", or "dict" for a dictionary of the vector and the action mask.
        autoreset_mode: what follows a finished game, a `gymnasium.vector.AutoresetMode` or its value.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        record: str | None = None,
        render_mode: str | None = None,
        dtype: str = "float32",
        copy: bool = True,
        threads: int = 1,
        max_cycles: int | None = None,
        observation: str = "vector",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        **options: Any,
    ) -> None:
        check_render_mode(self.game, render_mode)
        check_choice("dtype", dtype, tuple(HIGHEST))
        if not isinstance(copy, bool):
            raise ValueError(f"copy must be True or False, got {shown(copy)}")
        self.render_mode = render_mode
        self.dtype = np.dtype(dtype)
        self.copy = copy
        self.observation = check_choice("observation", observation, OBSERVATIONS)
        self.autoreset_mode = check_autoreset(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.options = make_options(self.game, options, max_cycles, type(self))
        self.record: str = self.game.RECORDS[0] if record is None else record
        check_choice("record", self.record, self.game.RECORDS)
        number = check_number("num_envs", num_envs, 1)
        self.num_actions = self.game.num_actions(self.options)
        self.size: int = self.game.observation_layout(self.options, self.record).size
        records = np.dtype(self.game.STATE).itemsize + 2 * np.dtype(self.game.VIEW).itemsize
        copies = 1 + copy
        bytes_each = records + copies * (self.num_actions + self.size * self.dtype.itemsize)
        self.num_envs = check_fits("num_envs", number, bytes_each)
        self._make_spaces()
        self._make_arrays()
        self._split(min(check_number("threads", threads, 1), self.num_envs))

    def _make_spaces(self) -> None:
        highest = HIGHEST[self.dtype.name]
        self.single_observation_space = observation_space(
            self.observation, self.size, self.num_actions, highest, self.dtype
        )
        self.single_action_space = spaces.Discrete(self.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _make_arrays(self) -> None:
        number = self.num_envs
        self._rules = self.game.make_rules(self.options)
        self._states = self.game.new_states(number)
        self._views = np.zeros(number, self.game.VIEW)
        self._streams: list[Any] = [None] * number  # a bit generator for each game that has been dealt
        self._rows = np.arange(number)
        self._actions = np.zeros(number, np.int64)
        self._seats = np.zeros(number, np.int64)
        self._observations: Observations = np.zeros((number, self.size), self.dtype)
        self._masks = np.zeros((number, self.num_actions), np.uint8)
        self._taken = np.zeros(number, np.uint8)
        self._rewards = np.zeros((number, self.options.num_players))  # f8 [B, P] by the last step
        self._earned = np.zeros_like(self._rewards)  # f8 [B, P] since each seat's last decision
        self._ended = np.zeros(number, np.uint8)
        self._settled = np.zeros(self._rewards.shape, np.uint8)
        self._due = np.zeros_like(self._rewards)
        # Where each game begins in the flattened [B, P] and [B, A], in which NumPy finds places faster.
        self._first_seat = self._rows * self.options.num_players
        self._first_action = self._rows * self.num_actions
        self._over = np.zeros(number, np.bool_)  # whose game is over and has not been followed by another
        self._waits = False  # whether there are any
        self._keep_ends(self._rows[:0])

    def _keep_ends(self, rows: NDArray[np.int64]) -> None:
        """Keep games (i8 [K]) as those that have ended last, as they are now."""
        self._final_rows = rows
        self._final_states = opaque(self._states)[rows].view(self._states.dtype)

    def _split(self, threads: int) -> None:
        self._kernels = kernels_of(self.game)
        edges = np.linspace(0, self.num_envs, threads + 1).astype(int).tolist()
        self._parts = [slice(start, end) for start, end in pairwise(edges)]
        self._observers = [
            self.game.Observer(self._rules, self._views[part], self.record).remember() for part in self._parts
        ]
        # Of games that have ended: kept, for making them again costs as much as using them.
        self._last_views = np.zeros(self.num_envs, self.game.VIEW)
        self._last_observer = self.game.Observer(self._rules, self._last_views, self.record)
        self._threads = Threads(threads)

    def _each_part(self, work: Callable[[int], None]) -> None:
        """Do work for every part of the batch, given by its number; the kernels let go of the GIL."""
        self._threads.each(work, range(len(self._parts)))

    # --- games ---

    @property
    def acting_seat(self) -> NDArray[np.int64]:
        """Whose decision each row is (i8 [B])."""
        self._must_be_dealt()
        return self._seats.copy()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Deal new games.

        Args:
            seed: of the first game, the others follow; or one of each game; None continues the
                streams.
            options: ``{"reset_mask": bool [B]}`` resets these games only.

        Raises:
            ValueError: seeds or mask are not of this kind; nothing has changed.
            ResetNeeded: the first reset leaves games out.
            ClosedEnvironmentError: after `close`.
        """
        self._must_be_open()
        dealt = np.array([stream is not None for stream in self._streams])
        seeds = row_seeds(seed, self.num_envs)
        rows = np.flatnonzero(rows_to_reset(options, dealt))
        for row in rows.tolist():
            if seeds[row] is not None or not dealt[row]:
                self._streams[row] = seeding.np_random(seeds[row])[0].bit_generator
        self._deal(rows)
        self._set_over(self._over & ~np.isin(self._rows, rows))
        self._keep_ends(np.flatnonzero(self._over))
        self._each_part(self._observe)
        self._each_part(self._settle)
        self._show()
        return self._observed(), self._infos(self._earned.copy())

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Take a decision in every game (int [B]), each of its `acting_seat`.

        Raises:
            IllegalAction: one of them is illegal, or not an action at all; nothing has changed.
            ResetNeeded: no games have been dealt.
            ClosedEnvironmentError: after `close`.
        """
        self._must_be_dealt()
        if self._waits:
            check_autoreset_done(self.autoreset_mode, self._over)
        numbers = action_numbers(actions, self.num_envs, self.num_actions)
        legal = self._masks.take(self._first_action + numbers)
        if not legal.all():
            raise self._refusal(numbers, legal > 0)
        self._actions[:] = numbers
        acted = self._seats.copy()
        self._each_part(self._step_part)
        if self._waits:
            self._renew()
        # What the seat got before this decision has been given to it.
        own = self._first_seat + acted
        self._earned.ravel()[own] = 0.0
        self._earned += self._rewards
        earned = self._earned.copy()
        rewards = earned.take(own)
        terminated = self._ended == TERMINATED
        truncated = self._ended == TRUNCATED
        over = np.flatnonzero(self._ended)
        infos = self._end(over, acted, earned) if len(over) else {}
        self._each_part(self._observe)
        self._show()
        return self._observed(), rewards, terminated, truncated, self._infos(earned) | infos

    def _step_part(self, number: int) -> None:
        part = self._parts[number]
        states = self._states[part]
        self._kernels.step(self._rules, states, self._actions[part], self._taken[part], self._rewards[part])
        self._kernels.ends(self._rules, states, self._ended[part])
        self._settle(number)

    def _settle(self, number: int) -> None:
        """Write down whose reward cannot change any more."""
        part = self._parts[number]
        self._kernels.settled(self._rules, self._states[part], self._settled[part], self._due[part])

    def _observe(self, number: int) -> None:
        """Write down whose decision it is, what they know and what they may do."""
        part = self._parts[number]
        states = self._states[part]
        if self._waits:
            np.copyto(self._seats[part], states["actor"], where=~self._over[part])
        else:
            self._seats[part] = states["actor"]
        self._kernels.view(self._rules, states, self._seats[part], self._views[part])
        self._kernels.legal(self._rules, states, self._masks[part])
        if self._waits:
            self._masks[part][self._over[part]] = 1
        self._observers[number].write(self._observations[part])

    def _deal(self, rows: NDArray[np.int64]) -> None:
        """Deal the next game of each row, from its stream."""
        # The same as integers(0, 2**64, dtype=np.uint64) of the generator, at a tenth of the cost.
        seeds = [self._streams[row].random_raw() for row in rows.tolist()]
        states = np.empty(len(rows), self._states.dtype)
        self._kernels.deal(self._rules, states, np.array(seeds, np.uint64))
        opaque(self._states)[rows] = opaque(states)
        self._earned[rows] = 0.0

    def _set_over(self, over: Bools) -> None:
        self._over = over
        self._waits = bool(over.any())

    def _renew(self) -> None:
        """Deal the games that follow those that are over; the step gives them nothing."""
        self._deal(np.flatnonzero(self._over))
        self._ended[self._over] = GOING_ON
        self._rewards[self._over] = 0.0
        self._settled[self._over] = 0
        self._set_over(np.zeros_like(self._over))

    def _end(self, rows: NDArray[np.int64], acted: NDArray[np.int64], earned: Floats) -> dict[str, Any]:
        """Keep the games that have ended; observe them, deal the next ones and return the infos, if it is time."""
        self._keep_ends(rows)
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._set_over(self._ended != GOING_ON)
            return {}
        self._kernels.view(self._rules, self._final_states, acted[rows], self._last_views[: len(rows)])
        last = np.empty((len(rows), self.size), self.dtype)
        self._last_observer.write_first(len(rows), last)
        final = np.full(self.num_envs, None, object)
        final[rows] = np.fromiter(last, object, len(rows))
        has_ended = self._ended != GOING_ON
        if self.observation == "dict":
            # Of a finished game every action is legal.
            masks = np.ones((len(rows), self.num_actions), np.int8)
            final[rows] = [{"observation": one, "action_mask": mask} for one, mask in zip(last, masks, strict=True)]
        self._deal(rows)
        about = {"acting_seat": acted, "rewards": earned, "settled": self._settled > 0}
        about |= {f"_{name}": has_ended for name in about}
        return {"final_obs": final, "_final_obs": has_ended, "final_info": about, "_final_info": has_ended}

    def final_observations(self) -> tuple[NDArray[np.int64], Observations]:
        """Return which games have ended last and what each of their seats saw then.

        Returns:
            Rows (i8 [K], all in one step) and observations ([K, P, N]).
        """
        rows, views = self.final_views()
        return rows, self._observations_of(views.ravel()).reshape(*views.shape, self.size)

    def final_views(self) -> tuple[NDArray[np.int64], Records]:
        """Return the same as records (VIEW [K, P])."""
        self._must_be_dealt()
        players = self.options.num_players
        states = opaque(self._final_states).repeat(players).view(self._states.dtype)
        seats = np.tile(np.arange(players), len(self._final_rows))
        views = np.zeros(len(states), self.game.VIEW)
        self._kernels.view(self._rules, states, seats, views)
        return self._final_rows.copy(), views.reshape(-1, players)

    def final_standings(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return which games have ended last (rows, i8 [K]) and each seat's place (i4 [K, P], see `Game.standings`)."""
        self._must_be_dealt()
        places = np.zeros((len(self._final_rows), self.options.num_players), np.int32)
        self._kernels.standings(self._rules, self._final_states, places)
        return self._final_rows.copy(), places

    def _observations_of(self, views: Records) -> Observations:
        out = np.empty((len(views), self.size), self.dtype)
        self.game.Observer(self._rules, views, self.record).write(out)
        return out

    def get_state(self) -> Snapshot:
        """Return a snapshot of the games and of the streams from which the next ones are dealt."""
        self._must_be_dealt()
        streams = [stream.state for stream in self._streams]
        states = bytes_of(self._states)
        more = {"earned": self._earned.copy(), "seats": self._seats.copy()}
        return Snapshot(FACE, self.game.NAME, asdict(self.options), states, streams, more).sealed()

    def set_state(self, state: Snapshot) -> None:
        """Go back to a snapshot that `get_state` took, here or in an environment of the same options and size.

        Raises:
            ValueError: it is of other options or another number of games, damaged, or not a snapshot;
                nothing has changed.
            ClosedEnvironmentError: after `close`.
        """
        self._must_be_open()
        snapshot = snapshot_of(state)
        parts = {"earned": like(self._earned), "seats": like(self._seats, 0, self.options.num_players - 1)}
        streams = snapshot.check(FACE, self.game, self.options, self.num_envs, parts)
        states = snapshot.records(self.game, self._rules)
        over = states["actor"] < 0
        # A finished game has been followed by the next.
        if over.any() and self.autoreset_mode is AutoresetMode.SAME_STEP:
            raise misfit("actor", states["actor"])
        self._streams = [stream.bit_generator for stream in streams]
        opaque(self._states)[:] = opaque(states)
        self._earned[:] = snapshot.more["earned"]
        self._seats[:] = snapshot.more["seats"]
        self._set_over(over)
        self._keep_ends(np.flatnonzero(over))
        self._each_part(self._observe)

    # --- what is returned ---

    def action_masks(self) -> NDArray[np.uint8]:
        """Return the legal actions of whoever is to act (u1 [B, A]); without ``copy`` they cannot be written to."""
        self._must_be_dealt()
        return self._masks_out()

    def _masks_out(self) -> NDArray[np.uint8]:
        masks = self._masks.copy() if self.copy else self._masks.view()
        # What is legal is judged by these.
        masks.flags.writeable = self.copy
        return masks

    def views(self) -> Records:
        """Return what whoever is to act knows, as records (VIEW [B]): what bots are given."""
        self._must_be_dealt()
        views: Records = opaque(self._views).copy().view(self.game.VIEW)
        return views

    @property
    def earned(self) -> Floats:
        """What each seat has got since its last decision (f8 [B, P]), in the games that go on."""
        return self._earned.copy()

    def _observed(self) -> Any:
        observations = self._observations.copy() if self.copy else self._observations
        return observations if self.observation == "vector" else presented("dict", observations, self._masks_out())

    def _infos(self, earned: Floats) -> dict[str, Any]:
        return {
            "acting_seat": self._seats.copy(),
            "action_mask": self._masks_out().view(np.int8),
            "rewards": earned,
            "settled": self._settled > 0,
        }

    def _must_be_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError(CLOSED)

    def _must_be_dealt(self) -> None:
        self._must_be_open()
        if self._streams[0] is None:
            raise gymnasium.error.ResetNeeded(NO_GAME)

    def _refusal(self, numbers: NDArray[np.int64], legal: Bools) -> Exception:
        row = int(np.flatnonzero(~legal)[0])
        player = f"{player_name(int(self._seats[row]))} of game {row}"
        return refusal(self.game, self.options, int(numbers[row]), self._masks[row], player)

    def reveal(self) -> tuple[dict[str, Any], ...]:
        """Return the whole hidden state of each game in the game's words, for debugging and analysis."""
        self._must_be_dealt()
        transcribed = needed(self.game, Transcribed)
        return tuple(transcribed.reveal(self.options, state) for state in self._states)

    def render(self) -> Any:
        """Draw what the seat to act knows in each game, see ``render_mode``."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return (None,) * self.num_envs
        self._must_be_dealt()
        return tuple(render_view(self.game, self.options, view, self.render_mode) for view in self._views)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    # Threads cannot be copied or pickled, and the observers hold views of arrays, which copies of theirs would not be.
    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_threads", "_observers", "_last_observer", "_kernels")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # Kernels would be compiled once more for a copy, which can be written into.
        self._rules = self.game.make_rules(self.options)
        self._split(len(self._parts))

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        self._threads.close()
