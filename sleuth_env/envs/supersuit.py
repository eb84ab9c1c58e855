"""Self-play of every seat for Stable-Baselines3, joined by SuperSuit: `SeatsVecEnv`.

SuperSuit makes one vectorised environment of many games of PettingZoo, with a row for each seat. What
is foreign to it is added here: action masks, seeds, and that a game which the turn limit has
stopped is not lost.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from ..checks import check_number, check_seed

try:
    import supersuit
    from stable_baselines3.common.vec_env import VecEnvWrapper
except ModuleNotFoundError as error:
    lacking = str(error.name).partition(".")[0]
    message = f'{__name__} needs {lacking}, which is not installed: pip install "sleuth-env[supersuit]"'
    raise ModuleNotFoundError(message, name=lacking) from error

MASKS = "action_masks"
SETTLED = "settled"
AT_THE_END = "settled_at_the_end"


class _TurnsInParallel(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc] # PettingZoo has no type information
    """PettingZoo's wrapper, but whose reward was settled is said by another name, too.

    SuperSuit puts the infos of the next game over those of the one that has ended.
    """

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        """Take the action of whoever is to act."""
        *outcome, infos = super().step(actions)
        return (*outcome, {agent: {**info, AT_THE_END: info[SETTLED]} for agent, info in infos.items()})


class SeatsVecEnv(VecEnvWrapper):
    """All seats of ``B`` games, one row each, for MaskablePPO: ``B * P`` rows, game by game.

    Whoever has nothing to decide has one legal action, the first, which nothing comes of: its
    probability is 1 whatever the policy, so that nothing is learned about it, while the reward of
    each step still reaches all seats that wait for it. A game is followed by the next at once.

    Args:
        env: such as ``sleuth_v0.raw_env(num_players=3)``, or one in wrappers of SuperSuit that leave
            its dictionaries of observations and masks as they are; every game is a copy of it.
        num_games: B.
        seed: of the first game, the others follow, as those of PettingZoo environments do.

    Raises:
        ValueError: one of the numbers is not of this kind.

    >>> from sleuth_env import sleuth_v0
    >>> from sleuth_env.envs.supersuit import SeatsVecEnv
    >>> envs = SeatsVecEnv(sleuth_v0.raw_env(num_players=3), num_games=4)
    >>> envs.reset().shape, envs.action_masks().shape
    ((12, 1852), (12, 448))
    """

    def __init__(self, env: AECEnv[str, Any, Any], num_games: int = 1, seed: int | None = 0) -> None:
        number = check_number("num_games", num_games, 1)
        games = supersuit.pettingzoo_env_to_vec_env_v1(_TurnsInParallel(env))
        joined = supersuit.concat_vec_envs_v1(games, number, base_class="stable_baselines3")
        super().__init__(joined, env.observation_space(env.possible_agents[0])["observation"])
        # Its own wrapper for Stable-Baselines3 hands no seed on, and tells the two ends of a game apart no more.
        self._games: Any = joined.venv
        self._masks: NDArray[np.bool_] = np.zeros((self.num_envs, joined.action_space.n), np.bool_)
        self.seed(seed)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed all games, and deal them again."""
        number = check_seed(seed)
        self._vectors(self._games.reset(seed=number)[0])
        return [number] * self.num_envs

    def reset(self) -> NDArray[np.float32]:
        """Deal every game again; return what each seat sees (f4 [B * P, N])."""
        return self._vectors(self._games.reset()[0])

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Return observations (f4 [B * P, N]), what each seat got by this step, which games have ended, and infos."""
        observations, rewards, terminated, truncated, infos = self._games.step_wait()
        done = (terminated > 0) | (truncated > 0)
        told = [{**info, SETTLED: info[AT_THE_END]} for info in infos]
        for row in np.flatnonzero(done).tolist():
            about = told[row]
            about["terminal_observation"] = about["terminal_observation"]["observation"]
            about["TimeLimit.truncated"] = bool(truncated[row] and not terminated[row] and not about[SETTLED])
        return self._vectors(observations), rewards, done, told

    def _vectors(self, observations: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Keep the masks of observations, and return the vectors."""
        self._masks = observations["action_mask"] > 0
        self._masks[:, 0] |= ~self._masks.any(axis=1)
        vectors: NDArray[np.float32] = observations["observation"].copy()
        return vectors

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of each seat (bool [B * P, A])."""
        return self._masks.copy()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the games have something of this name: `action_masks` is all that learners ask for."""
        return attr_name == MASKS or bool(super().has_attr(attr_name))

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Return what `action_masks` gives for each row, or for those of ``indices``.

        Raises:
            AttributeError: it is another method; the games have no others.
        """
        if method_name != MASKS:
            raise AttributeError(f"the games of a {type(self).__name__} have no method {method_name!r} of their own")
        return list(self.action_masks()[list(self._get_indices(indices))])
