"""Many games at once for a learner: the Stable-Baselines3 face.

`LearnerGames` has the methods of a `stable_baselines3.common.vec_env.VecEnv` with a learner in one
seat of each of ``B`` games; the other seats are played inside, in batches. `vec_env_class` joins it
to that class and a game; sb3-contrib's MaskablePPO takes it as it is. Stable-Baselines3 is imported
when the class is first asked for, so that this module, and the package, work without it.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..actions import action_numbers
from ..checks import check_seed
from ..game import Game, load_game, make_options
from ..matches.players import Players
from ..matches.rating import win_shares
from .binding import Bound
from .learner_table import Bools, LearnerTable
from .snapshot import Snapshot, like

FACE = "vec_env"


class LearnerGames(Bound):
    """Let a learner play one seat of each of ``B`` games; a Stable-Baselines3 vectorised environment.

    Args:
        num_envs: B.
        opponents: names of bots, policy files, or players; one of them, or a list. Every seat of
            every game is drawn from these.
        shares: how often each of them is drawn (any positive scale); default: all alike.
        learner_seat: "random" (drawn for every game) or a seat number.
        record: the kind of observation, one of the game's `RECORDS`; default the first.
        seed: settles deals, seats and opponents; row i's games are the same whatever B.
        max_cycles: PettingZoo's name of the option ``max_turns``.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name, or a value that is not legal.

    Observations are float32 [B, N], rewards what the learner's seat has got since its last
    decision, and a finished game is followed by the next at once (``terminal_observation`` and
    ``TimeLimit.truncated`` are in its info, as Stable-Baselines3 wants, and ``win_share``, 1 for a
    game that the learner won). A game that ends before the learner's first decision is an episode
    of one step: the learner sees it finished, every action is allowed, and whichever is chosen
    brings the outcome; to leave such games out would flatter the learner. Once the learner's reward
    is settled, whatever the others still do, the game ends for it. An illegal action raises
    `IllegalAction`: learners choose among `action_masks`. After any error nothing has changed.
    """

    render_mode = None

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Players = ("random",),
        shares: Sequence[float] | None = None,
        learner_seat: str | int = "random",
        record: str | None = None,
        seed: int | None = 0,
        max_cycles: int | None = None,
        **options: Any,
    ) -> None:
        made = make_options(self.game, options, max_cycles)
        self.table = LearnerTable(self.game, made, num_envs, learner_seat, record)
        self._rows = np.arange(self.table.num_games)
        self._lengths = np.zeros(self.table.num_games, np.int64)
        self._actions: NDArray[np.int64] | None = None
        self._began = time.time()
        self.set_opponents(opponents, shares)
        self.seed(seed)
        observations = gymnasium.spaces.Box(0.0, 1.0, (self.table.size,), np.float32)
        actions = gymnasium.spaces.Discrete(self.table.num_actions)
        super().__init__(self.table.num_games, observations, actions)  # type: ignore[call-arg]

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
        """Deal every game again and play up to the learner's first decisions."""
        self.table.must_be_open()
        with self.table.undone_on_error():
            self.table.renew(self._rows.tolist())
            self.table.play_on()
        self._lengths[:] = 0
        self._actions = None
        return self.table.observations()

    def step_async(self, actions: Any) -> None:
        """Take note of the learner's actions (int [B]).

        Raises:
            IllegalAction: one of them is illegal, or not an action at all.
            ResetNeeded: no games have been dealt.
        """
        self.table.must_be_dealt()
        numbers = action_numbers(actions, self.table.num_games, self.table.num_actions)
        legal = self.table.action_masks()[self._rows, numbers]
        if not legal.all():
            raise self.table.refusal(numbers, legal)
        self._actions = numbers

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], Bools, list[dict[str, Any]]]:
        """Take the actions and play on to the learner's next decisions; return observations, rewards, dones, infos."""
        table = self.table
        actions = self._actions
        self._actions = None
        if actions is None:
            raise RuntimeError("step_wait() takes the actions that step_async() was given: call that first")
        with table.undone_on_error():
            waiting = np.flatnonzero(~table.finished)
            table.step(waiting, actions[waiting])
            due = self._leave_settled_games()
            table.play_on()
            dones = table.finished
            lengths = self._lengths + 1
            rewards = (table.take_rewards() + due).astype(np.float32)
            infos = self._infos(dones, due, lengths)
            table.renew(np.flatnonzero(dones).tolist())
            table.play_on()
        self._lengths = np.where(dones, 0, lengths)
        return table.observations(), rewards, dones, infos

    def _leave_settled_games(self) -> NDArray[np.float64]:
        """End the games that are settled for the learner; return what it is still to get (f8 [B])."""
        settled, due = self.table.settled()
        learners = self._rows, self.table.learners
        left = settled[learners] & ~self.table.finished
        # Nobody needs to see them played out.
        self.table.leave(left)
        return np.where(left, due[learners], 0.0)

    def _infos(self, dones: Bools, due: NDArray[np.float64], lengths: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Return the infos, which say how games have ended."""
        infos = [dict[str, Any]() for _ in self._rows]
        if dones.any():
            learners = self._rows, self.table.learners
            truncated = self.table.ends()[1][learners]
            shares = win_shares(self.table.standings())[learners]
            returns = self.table.returns[learners] + due
            last = self.table.observations()
            for row in np.flatnonzero(dones).tolist():
                infos[row] = {
                    "episode": {
                        "r": float(returns[row]),
                        "l": int(lengths[row]),
                        "t": round(time.time() - self._began, 6),
                    },
                    "win_share": float(shares[row]),
                    "terminal_observation": last[row].copy(),
                    "TimeLimit.truncated": bool(truncated[row]),
                }
        return infos

    def action_masks(self) -> Bools:
        """Return the legal actions of the decisions that wait (bool [B, A]).

        They are all of them where a game has ended before the first one.
        """
        return self.table.action_masks()

    def get_state(self) -> Snapshot:
        """Return a snapshot of all games, of the random streams too."""
        return self.table.snapshot(FACE, lengths=self._lengths.copy())

    def set_state(self, state: Snapshot) -> None:
        """Go back to a snapshot that `get_state` took, here or in one with the same options, size and opponents.

        Raises:
            ValueError: it is not such a snapshot; nothing has changed.
        """
        snapshot = self.table.restore(state, FACE, {"lengths": like(self._lengths, 0)})
        self._lengths = snapshot.more["lengths"].copy()
        self._actions = None

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of this object; ``action_masks`` returns one row for each environment."""
        rows = self._indices(indices)
        if method_name == "action_masks":
            return list(self.action_masks()[rows])
        result = getattr(self, method_name)(*args, **kwargs)
        return [result for _ in rows]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute, which all environments share, once for each."""
        value = getattr(self, attr_name)
        return [value for _ in self._indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute, which all environments share."""
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that no environment is wrapped."""
        return [False for _ in self._indices(indices)]

    def close(self) -> None:
        """Let nothing be reset or stepped from now on. May be called again."""
        self.table.closed = True

    def _indices(self, indices: Any) -> list[int]:
        chosen: list[int] = np.atleast_1d(self._rows if indices is None else self._rows[indices]).tolist()
        return chosen


def vec_env_class(game: Game, name: str) -> type:
    """Return the vectorised environment of a game for Stable-Baselines3, see `LearnerGames`.

    Args:
        game: the game module.
        name: of the class.

    Raises:
        ImportError: Stable-Baselines3 is not installed.
    """
    return _vec_env_class(game.__name__, name)


@cache
def _vec_env_class(game_name: str, name: str) -> type:
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError as error:
        raise ImportError(f"{name} needs Stable-Baselines3: pip install stable-baselines3 sb3-contrib") from error
    contents = {
        "game": load_game(game_name),
        "__doc__": LearnerGames.__doc__,
        "__module__": __name__,
        "made_by": (_vec_env_class, (game_name, name)),
    }
    return type(name, (LearnerGames, VecEnv), contents)
