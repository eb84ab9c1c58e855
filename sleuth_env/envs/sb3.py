"""Many games at once for a learner: the Stable-Baselines3 face.

`SleuthVecEnv` is a `stable_baselines3.common.vec_env.VecEnv` with a learner in one seat of each of
``B`` games; the other seats are played inside, in batches. sb3-contrib's MaskablePPO takes it as it
is. Stable-Baselines3 is imported when the class is first asked for, so that this module, and the
package, work without it. Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an
observation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..checks import check_seed
from ..game import action_numbers
from ..matches.players import Players
from .learner_table import Bools, LearnerTable


class LearnerGames:
    """The methods of `SleuthVecEnv`; see there. A class of its own because its base class is
    imported late.

    Args:
        game: the game module.
        options: its options.
        num_envs: B.
        opponents: names of bots, policy files, or players; one of them, or a list. Every seat of
            every game is drawn anew.
        shares: how often each of them is drawn (any positive scale); default: all alike.
        learner_seat: "random" (drawn for every game) or a seat number.
        record: the kind of observation, one of the game's `RECORDS`; default the first.
        seed: settles deals, seats and opponents; row i's games are the same whatever B.

    Raises:
        ValueError: an argument has a value that is not legal.

    Observations are float32 [B, N], rewards what the learner's seat has got since its last
    decision, and a finished game is followed by the next at once (``terminal_observation`` and
    ``TimeLimit.truncated`` are in its info, as Stable-Baselines3 wants). A game that ends before
    the learner's first decision is an episode of one step: he sees it finished, every action is
    allowed, and whichever is chosen brings the outcome; to leave such games out would flatter him.
    Where there is only one winner, a learner who is out has got his reward whatever the others
    still do, so his game ends there. An illegal action raises `IllegalAction`: learners choose
    among `action_masks`. After any error nothing has changed.
    """

    render_mode = None

    def __init__(
        self,
        game: Any,
        options: Any,
        num_envs: int,
        opponents: Players = ("random",),
        shares: Sequence[float] | None = None,
        learner_seat: str | int = "random",
        record: str | None = None,
        seed: int | None = 0,
    ) -> None:
        self.table = LearnerTable(game, options, num_envs, learner_seat, record)
        self._rows = np.arange(self.table.num_games)
        self._lengths = np.zeros(self.table.num_games, np.int64)
        self._actions: NDArray[np.int64] | None = None
        self._began = time.time()
        self.set_opponents(opponents, shares)
        self.seed(seed)
        observations = gymnasium.spaces.Box(0.0, 1.0, (self.table.size,), np.float32)
        super().__init__(self.table.num_games, observations, gymnasium.spaces.Discrete(self.table.num_actions))  # type: ignore[call-arg]

    @property
    def options(self) -> Any:
        """The game's options."""
        return self.table.options

    @property
    def record(self) -> str:
        """The kind of observation."""
        return self.table.record

    def set_opponents(self, opponents: Players, shares: Sequence[float] | None = None) -> None:
        """Draw the opponents of games dealt from now on from these; games under way keep theirs."""
        self.table.draw_opponents(opponents, shares)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed deals, seats and opponents of all games to come."""
        number = check_seed(seed)
        sequences = [np.random.SeedSequence(number, spawn_key=(row,)) for row in self._rows.tolist()]
        self.table.streams = [np.random.default_rng(sequence) for sequence in sequences]
        return [number] * len(sequences)

    def reset(self) -> NDArray[np.float32]:
        """Deal every game anew and play up to the learner's first decisions."""
        with self.table.undone_on_error():
            self.table.renew(self._rows.tolist())
            self.table.play_on()
        self._lengths[:] = 0
        self._actions = None
        return self.table.observations()

    def step_async(self, actions: Any) -> None:
        """Take note of the learner's actions (int [B]).

        Raises:
            IllegalAction: one of them is illegal, or no action at all.
            ResetNeeded: no games have been dealt.
        """
        self.table.must_be_dealt()
        numbers = action_numbers(actions, self.table.num_games, self.table.num_actions)
        legal = self.table.action_masks()[self._rows, numbers]
        if not legal.all():
            raise self.table.refusal(numbers, legal)
        self._actions = numbers

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], Bools, list[dict[str, Any]]]:
        """Take the actions and play on to the learner's next decisions: observations, rewards,
        dones, infos.
        """
        table = self.table
        actions = self._actions
        self._actions = None
        if actions is None:
            raise RuntimeError("step_wait() takes the actions that step_async() was given: call that first")
        with table.undone_on_error():
            waiting = np.flatnonzero(~table.finished)
            table.step(waiting, actions[waiting])
            lost = self._lost()
            # A lost game is over for the learner; nobody needs to see it played out.
            table.states["actor"][lost] = -1
            table.play_on()
            dones = table.finished
            lengths = self._lengths + 1
            rewards, infos = self._ended(dones, lost, lengths)
            table.renew(np.flatnonzero(dones).tolist())
            table.play_on()
        self._lengths = np.where(dones, 0, lengths)
        return table.observations(), rewards, dones, infos

    def _lost(self) -> Bools:
        if self.options.winners > 1:
            return np.zeros(len(self._rows), np.bool_)
        out: Bools = self.table.states["standing"][self._rows, self.table.learners] == self.table.game.OUT  # type: ignore[attr-defined]
        return out & ~self.table.finished

    def _ended(
        self, dones: Bools, lost: Bools, lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], list[dict[str, Any]]]:
        """Give the rewards (f4 [B]), and the infos that tell how games have ended."""
        rewards = np.zeros(len(self._rows), np.float32)
        infos = [dict[str, Any]() for _ in self._rows]
        if dones.any():
            totals, _, truncated = self.table.outcome()
            paid = np.where(lost, -1 / (self.options.num_players - 1), totals[self._rows, self.table.learners])
            rewards[dones] = paid[dones]
            last = self.table.observations()
            for row in np.flatnonzero(dones).tolist():
                episode = {"r": float(rewards[row]), "l": int(lengths[row]), "t": round(time.time() - self._began, 6)}
                infos[row] = {
                    "episode": episode,
                    "terminal_observation": last[row].copy(),
                    "TimeLimit.truncated": bool(truncated[row, self.table.learners[row]]),
                }
        return rewards, infos

    def action_masks(self) -> Bools:
        """Give the legal actions of the decisions that wait (bool [B, A]); all of them where a game
        has ended before the first one.
        """
        return self.table.action_masks()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of this object; ``action_masks`` gives one row for each environment."""
        rows = self._indices(indices)
        if method_name == "action_masks":
            return list(self.action_masks()[rows])
        result = getattr(self, method_name)(*args, **kwargs)
        return [result for _ in rows]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Give an attribute, which all environments share, once for each."""
        value = getattr(self, attr_name)
        return [value for _ in self._indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute, which all environments share."""
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Say that no environment is wrapped."""
        return [False for _ in self._indices(indices)]

    def close(self) -> None:
        """Do nothing: there is nothing to let go."""

    def _indices(self, indices: Any) -> list[int]:
        chosen: list[int] = np.atleast_1d(self._rows if indices is None else self._rows[indices]).tolist()
        return chosen


@lru_cache(maxsize=1)
def _with_stable_baselines3() -> type:
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError as error:
        raise ImportError("SleuthVecEnv needs Stable-Baselines3: pip install stable-baselines3 sb3-contrib") from error
    return type("SleuthVecEnv", (LearnerGames, VecEnv), {"__doc__": LearnerGames.__doc__, "__module__": __name__})


def __getattr__(name: str) -> Any:
    if name == "SleuthVecEnv":
        return _with_stable_baselines3()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
