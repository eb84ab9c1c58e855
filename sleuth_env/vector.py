"""Many games at once for a learner: the Stable-Baselines3 face.

`SleuthVecEnv` is a `stable_baselines3.common.vec_env.VecEnv` with a learner in one seat of each of ``B`` games; the other seats are
played inside, in batches. sb3-contrib's MaskablePPO takes it as it is. Stable-Baselines3 is imported when the class is first
asked for, so that this module, and the package, work without it.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .match import LEARNER, Table, make_players


class LearnerGames:
    """The methods of `SleuthVecEnv`; see there. A class of its own because its base class is imported late.

    Args:
        game: the game module.
        options: its options.
        num_envs: B.
        opponents: names of bots, policy files, or players.
        shares: how often each of them is drawn (any positive scale); default: all alike. Every seat of every game is drawn anew.
        learner_seat: "random" (drawn for every game) or a seat number.
        record: the kind of observation.
        seed: settles deals, seats and opponents.

    Observations are float32 [B, N], rewards what the learner's seat has got since its last decision, and a finished game
    is followed by the next at once (``terminal_observation`` and ``TimeLimit.truncated`` are in its info, as Stable-Baselines3 wants).
    A game that ends before the learner's first decision is dealt again. Where there is only one winner, a learner who is out has
    got his reward whatever the others still do, so his game ends there.
    An illegal action raises ValueError: learners choose among `action_masks`.
    """

    render_mode = None

    def __init__(
        self,
        game: Any,
        options: Any,
        num_envs: int,
        opponents: Sequence[Any] = ("random",),
        shares: Sequence[float] | None = None,
        learner_seat: str | int = "random",
        record: str = "sheet",
        seed: int = 0,
    ) -> None:
        if learner_seat != "random" and learner_seat not in range(options.num_players):
            raise ValueError(f"learner_seat must be 'random' or 0 to {options.num_players - 1}, got {learner_seat!r}")
        if record not in game.RECORDS:
            raise ValueError(f"record must be one of {', '.join(map(repr, game.RECORDS))}, got {record!r}")
        self.game, self.options, self.record, self.learner_seat = game, options, record, learner_seat
        self.table = Table(game, options, num_envs)
        self._rows = np.arange(num_envs)
        self._learners = np.zeros(num_envs, np.int64)
        self._lengths = np.zeros(num_envs, np.int64)
        self._actions = np.zeros(num_envs, np.int64)
        self._masks = np.zeros((num_envs, game.num_actions(options)), np.bool_)
        self._random = np.random.default_rng(seed)
        self._began = time.time()
        self.set_opponents(opponents, shares)
        size = game.observation_size(options, record)
        observations = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)
        super().__init__(num_envs, observations, gymnasium.spaces.Discrete(game.num_actions(options)))  # type: ignore[call-arg]

    def set_opponents(self, opponents: Sequence[Any], shares: Sequence[float] | None = None) -> None:
        """Draw the opponents of games dealt from now on from these; games under way keep theirs."""
        weights = np.ones(len(opponents)) if shares is None else np.asarray(shares, float)
        if not len(opponents) or weights.shape != (len(opponents),) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            raise ValueError(f"opponents need one share each, not negative and not all zero, got {len(opponents)} opponents with shares {weights.tolist()}")
        drawn = make_players(self.game, self.options, opponents)
        seated = [bot for number, bot in enumerate(self.table.bots) if (self.table.seats == number).any()]
        bots = list({id(bot): bot for bot in [*drawn, *seated]}.values())
        number_of = {id(bot): number for number, bot in enumerate(bots)}
        moved = np.array([number_of.get(id(bot), LEARNER) for bot in self.table.bots] + [LEARNER])
        self.table.seats[:] = moved[self.table.seats]
        self.table.bots = bots
        self._drawn = np.array([number_of[id(bot)] for bot in drawn])
        self._shares = weights / weights.sum()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed deals, seats and opponents of all games to come."""
        self._random = np.random.default_rng(seed)
        return [seed] * len(self._rows)

    def reset(self) -> NDArray[np.float32]:
        """Deal every game anew and play up to the learner's first decisions."""
        self._deal(self._rows)
        return self._observe(self._rows)

    def step_async(self, actions: Any) -> None:
        """Take note of the learner's actions (int [B])."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the actions and play on to the learner's next decisions: observations, rewards, dones, infos."""
        self._take()
        lost = self._lost()
        # A lost game is over for the learner; nobody needs to see it played out.
        self.table.states["actor"][lost] = -1
        self.table.play_on()
        rewards, dones = np.zeros(len(self._rows), np.float32), self.table.finished
        infos: list[dict[str, Any]] = [{} for _ in self._rows]
        ended = np.flatnonzero(dones)
        if len(ended):
            totals, _, truncated = self.table.outcome(ended)
            rewards[ended] = np.where(lost[ended], -1 / (self.options.num_players - 1), totals[np.arange(len(ended)), self._learners[ended]])
            last = self._observe(ended, masks=False)
            for i, row in enumerate(ended.tolist()):
                episode = {"r": float(rewards[row]), "l": int(self._lengths[row]), "t": round(time.time() - self._began, 6)}
                infos[row] = {"episode": episode, "terminal_observation": last[i], "TimeLimit.truncated": bool(truncated[i])}
            self._deal(ended)
        return self._observe(self._rows), rewards, dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Give the legal actions of the decisions that wait (bool [B, A])."""
        return self._masks.copy()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of this object; ``action_masks`` gives one row for each environment."""
        rows = self._indices(indices)
        if method_name == "action_masks":
            return list(self._masks[rows])
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

    def _take(self) -> None:
        """Take the learner's actions, all legal or none."""
        actions = self._actions
        legal = (actions >= 0) & (actions < self._masks.shape[1])
        legal[legal] = self._masks[self._rows[legal], actions[legal]]
        if not legal.all():
            row = int(np.flatnonzero(~legal)[0])
            in_range = 0 <= actions[row] < self._masks.shape[1]
            name = self.game.action_name(int(actions[row]), self.options.num_players) if in_range else "out of range"
            raise ValueError(f"action {actions[row]} ({name}) of environment {row} is illegal; choose where action_masks() is true")
        self.table.step(self._rows, actions)
        self._lengths += 1

    def _lost(self) -> NDArray[np.bool_]:
        if self.options.winners > 1:
            return np.zeros(len(self._rows), np.bool_)
        out: NDArray[np.bool_] = self.table.states["standing"][self._rows, self._learners] == self.game.OUT
        return out & ~self.table.finished

    def _deal(self, rows: NDArray[np.int64]) -> None:
        """Deal games, draw who sits where, and play up to the learner's first decision."""
        while len(rows):
            shape = (len(rows), self.options.num_players)
            seats = self._random.choice(self._drawn, shape, p=self._shares)
            learners = self._random.integers(shape[1], size=shape[0]) if self.learner_seat == "random" else np.full(shape[0], self.learner_seat)
            seats[np.arange(len(rows)), learners] = LEARNER
            self.table.seats[rows], self._learners[rows], self._lengths[rows] = seats, learners, 0
            self.table.deal(rows, self._random.integers(2**64, size=shape[0], dtype=np.uint64))
            self.table.play_on()
            rows = rows[self.table.finished[rows]]

    def _observe(self, rows: NDArray[np.int64], masks: bool = True) -> NDArray[np.float32]:
        """Write fresh observations (f4 [K, N]) of the learner's seats; keep the masks for `action_masks`."""
        views = self.table.views(rows, self._learners[rows])
        observations = np.zeros((len(rows), self.game.observation_size(self.options, self.record)), np.float32)
        self.game.write_observations(self.table.rules, views, observations, self.record)
        if masks:
            self._masks[rows] = self.table.legal(rows)
        return observations


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
