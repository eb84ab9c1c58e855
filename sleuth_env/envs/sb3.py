"""Many games at once for a learner: the Stable-Baselines3 face.

`LearnerGames` has the methods of a `stable_baselines3.common.vec_env.VecEnv` with a learner in one
seat of each of ``B`` games; the other seats are played inside, in batches. `vec_env_class` joins it
to that class and a game; sb3-contrib's MaskablePPO takes it as it is. Stable-Baselines3 is imported
when the class is first asked for, so that this module, and the package, work without it.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..actions import ILLEGAL_REWARD, ON_ILLEGAL, action_numbers
from ..checks import called_by, check_choice, check_seed, check_text, shown
from ..game import TRUNCATED, Game, Transcribed, load_game, make_options, needed
from ..matches.players import Players
from ..matches.rating import win_shares
from .binding import Bound
from .learner_table import Bools, LearnerTable
from .observing import OBSERVATIONS, observation_space, presented
from .rendering import NO_RENDER_MODE, check_render_mode, render_view
from .snapshot import Snapshot, like

FACE = "vec_env"
# Where no masks are shown.
_NO_MASKS = np.zeros((0, 0), np.bool_)


class LearnerGames(Bound):
    """Let a learner play one seat of each of ``B`` games; a Stable-Baselines3 vectorised environment.

    Args:
        num_envs: B.
        opponents: names of bots, policy files, or players; one of them, or a list. Every seat of
            every game is drawn from these.
        shares: how often each of them is drawn (any positive scale); default: all alike.
        learner_seat: "random" (drawn for every game) or a seat number.
        record: the kind of observation, one of the game's `RECORDS`; default the first.
        render_mode: None, "ansi", "rgb_array" or "human" (text on the standard output); all show
            what the learners know.
        illegal: what an illegal action does: "raise" raises `IllegalAction`, "end" ends the episode
            with -1.
        observation: "vector", or "dict" for a dictionary of the vector and the action mask.
        seed: settles deals, seats and opponents; row i's games are the same whatever B.
        max_cycles: PettingZoo's name of the option ``max_turns``.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name, or a value that is not legal.

    Observations are float32 [B, N], rewards what the learner's seat has got since its last
    decision, and a finished game is followed by the next at once (``terminal_observation`` and
    ``TimeLimit.truncated`` are in its info, as Stable-Baselines3 wants, and ``win_share``, 1 for a
    game that the learner won). By ``TimeLimit.truncated`` learners estimate what would still have
    come; it is False where the learner's reward was settled before the turn limit. ``settled`` is in
    every info. A game that ends before the learner's first decision is an episode
    of one step: the learner sees it finished, every action is allowed, and whichever is chosen
    brings the outcome; to leave such games out would flatter the learner. Once the learner's reward
    is settled, whatever the others still do, the game ends for it. An illegal action raises
    `IllegalAction`: learners choose among `action_masks`. After any error nothing has changed.
    """

    reset_infos: list[dict[str, Any]]  # of Stable-Baselines3

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Players = ("random",),
        shares: Sequence[float] | None = None,
        learner_seat: str | int = "random",
        record: str | None = None,
        seed: int | None = 0,
        max_cycles: int | None = None,
        render_mode: str | None = None,
        illegal: str = "raise",
        observation: str = "vector",
        **options: Any,
    ) -> None:
        check_render_mode(self.game, render_mode)
        self.render_mode = render_mode
        self.illegal = check_choice("illegal", illegal, ON_ILLEGAL)
        self.observation = check_choice("observation", observation, OBSERVATIONS)
        made = make_options(self.game, options, max_cycles, type(self))
        self.table = LearnerTable(self.game, made, num_envs, learner_seat, record)
        self._rows = np.arange(self.table.num_games)
        self._lengths = np.zeros(self.table.num_games, np.int64)
        # The actions that wait, and where they are legal (bool [B]).
        self._actions: tuple[NDArray[np.int64], Bools] | None = None
        self._began = time.time()
        self.set_opponents(opponents, shares)
        self.seed(seed)
        observations = observation_space(self.observation, self.table.size, self.table.num_actions)
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
        return self._seed_some(self._rows.tolist(), seed)

    def _seed_some(self, rows: list[int], seed: int | None = None) -> list[int | None]:
        number = check_seed(seed)
        for row in rows:
            self.table.streams[row] = np.random.default_rng(np.random.SeedSequence(number, spawn_key=(row,)))
        return [number] * len(rows)

    def reset(self) -> Any:
        """Deal every game again and play up to the learner's first decisions."""
        self.table.must_be_open()
        return self._reset(self._rows.tolist())

    def _reset(self, rows: list[int]) -> Any:
        """Deal some games again; return the observations of all, and forget actions that were not taken yet."""
        with self.table.undone_on_error():
            self.table.renew(rows)
            self.table.play_on()
        self._lengths[rows] = 0
        self._actions = None
        settled = self.table.learners_settled()[0].tolist()
        for row in rows:
            self.reset_infos[row] = {"settled": settled[row]}
        return self._observed()

    def _observed(self) -> Any:
        masks = self.table.action_masks() if self.observation == "dict" else _NO_MASKS
        return presented(self.observation, self.table.observations(), masks)

    def step_async(self, actions: Any) -> None:
        """Take note of the learner's actions (int [B]).

        Raises:
            IllegalAction: one of them is not an action at all, or it is illegal and
                ``illegal="raise"``.
            ResetNeeded: no games have been dealt.
        """
        self.table.must_be_dealt()
        numbers = action_numbers(actions, self.table.num_games, self.table.num_actions)
        legal: Bools = self.table.action_masks()[self._rows, numbers]
        if self.illegal == "raise" and not legal.all():
            raise self.table.refusal(numbers, legal)
        self._actions = numbers, legal

    def step_wait(self) -> tuple[Any, NDArray[np.float32], Bools, list[dict[str, Any]]]:
        """Take the actions and play on to the learner's next decisions; return observations, rewards, dones, infos."""
        table = self.table
        if self._actions is None:
            raise RuntimeError("step_wait() takes the actions that step_async() was given: call that first")
        actions, legal = self._actions
        self._actions = None
        with table.undone_on_error():
            waiting = np.flatnonzero(~table.finished & legal)
            table.step(waiting, actions[waiting])
            # Whoever has done something illegal has lost and sees no more.
            table.leave(~legal)
            due = self._leave_settled_games()
            table.play_on()
            dones = table.finished
            lengths = self._lengths + 1
            rewards = np.where(legal, table.take_rewards() + due, ILLEGAL_REWARD).astype(np.float32)
            infos = self._infos(dones, due, lengths, ~legal)
            table.renew(np.flatnonzero(dones).tolist())
            table.play_on()
        self._lengths = np.where(dones, 0, lengths)
        return self._observed(), rewards, dones, infos

    def _leave_settled_games(self) -> NDArray[np.float64]:
        """End the games that are settled for the learner; return what it is still to get (f8 [B])."""
        settled, due = self.table.learners_settled()
        left = settled & ~self.table.finished
        # Nobody needs to see them played out.
        self.table.leave(left)
        return np.where(left, due, 0.0)

    def _infos(
        self, dones: Bools, due: NDArray[np.float64], lengths: NDArray[np.int64], illegal: Bools
    ) -> list[dict[str, Any]]:
        """Return the infos, which say how games have ended."""
        settled = self.table.learners_settled()[0] | illegal
        infos: list[dict[str, Any]] = [{"settled": one} for one in settled.tolist()]
        if dones.any():
            learners = self._rows, self.table.learners
            cut_off = (self.table.ends() == TRUNCATED) & ~settled
            shares = win_shares(self.table.standings())[learners]
            returns = self.table.returns[learners] + np.where(illegal, ILLEGAL_REWARD, due)
            rows = np.flatnonzero(dones)
            last = self.table.observations_of(rows)
            masks = self.table.action_masks(dones)
            for row, seen in zip(rows.tolist(), last, strict=True):
                infos[row] |= {
                    "episode": {
                        "r": float(returns[row]),
                        "l": int(lengths[row]),
                        "t": round(time.time() - self._began, 6),
                    },
                    "win_share": float(shares[row]),
                    "terminal_observation": presented(self.observation, seen.copy(), masks[row].copy()),
                    "TimeLimit.truncated": bool(cut_off[row]),
                }
                if illegal[row]:
                    infos[row] |= {"illegal_action": True, "win_share": 0.0}
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

        Its games go on against those who were playing, also where others have been set since; games
        dealt later are against these.

        Raises:
            ValueError: it is not such a snapshot, or somebody does not play here any more; nothing
                has changed.
            ClosedEnvironmentError: after `close`.
        """
        snapshot = self.table.restore(state, FACE, {"lengths": like(self._lengths, 0)})
        self._lengths = snapshot.more["lengths"].copy()
        self._actions = None

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of some environments and return what each gives.

        ``reset`` (with ``seed``, or without) and ``seed`` touch these games only; ``action_masks``,
        ``render`` and ``reveal`` return what belongs to them. What they all share can be called for
        all of them only, such as ``set_opponents``.

        Raises:
            ValueError: a method that would touch the other environments, too.
            AttributeError: there is no such method.
        """
        rows = self._indices(indices)
        check_text("method_name", method_name)
        of_each: dict[str, Callable[..., Any]] = {
            "action_masks": lambda: self._of_some(rows, self.action_masks()),
            "render": lambda: self._of_some(rows, self._drawings()),
            "reveal": lambda: self._of_some(rows, self._reveal()),
            "seed": lambda seed=None: self._seed_some(rows, seed),
            "reset": lambda seed=None, options=None: self._reset_some(rows, seed),
        }
        method = of_each.get(method_name)
        if method is None:
            self._must_be_all(f"{method_name}()", rows)
            result = self._own(method_name)(*args, **kwargs)
            return [result for _ in rows]
        # Learners ask for masks in every step: without arguments nothing can be wrong with them.
        if args or kwargs:
            try:
                inspect.signature(method).bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{method_name}(): {error}; it is called as {called_by(method_name, method)}") from None
        return list(method(*args, **kwargs))

    @staticmethod
    def _of_some(rows: list[int], every: Any) -> list[Any]:
        every = list(every)
        return [every[row] for row in rows]

    def _reset_some(self, rows: list[int], seed: int | None) -> list[Any]:
        """Deal some games again, as ``reset`` of a single environment does; return observations and infos of each."""
        with self.table.undone_on_error():
            if seed is not None:
                self._seed_some(rows, seed)
            seen = self._reset(rows)
        return [(self._row_of(seen, row), dict(self.reset_infos[row])) for row in rows]

    def _row_of(self, seen: Any, row: int) -> Any:
        return seen[row] if self.observation == "vector" else {name: array[row] for name, array in seen.items()}

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of some environments; ``seat`` is each one's own, the others they share.

        Raises:
            ValueError: there are no such environments.
            AttributeError: they have no such attribute.
        """
        rows = self._indices(indices)
        if check_text("attr_name", attr_name) == "seat":
            return [int(seat) for seat in self.table.learners[rows]]
        value = self._own(attr_name)
        return [value for _ in rows]

    def _own(self, name: str) -> Any:
        """Return what all environments share."""
        if not hasattr(self, name):
            raise AttributeError(f"the games of a {type(self).__name__} have no {shown(name)}")
        return getattr(self, name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute, which all environments share and only all together can change.

        These have an effect: ``render_mode``, ``illegal``, and ``opponents``, which are drawn for games
        dealt from now on as by `set_opponents`.

        Raises:
            ValueError: it would do nothing, is another value than is legal, or was meant for some
                environments only.
        """
        rows = self._indices(indices)
        legal = "render_mode, illegal, opponents"
        if check_text("attr_name", attr_name) not in ("render_mode", "illegal", "opponents"):
            raise ValueError(f"{shown(attr_name)} cannot be set: what can be set is {legal}; got {shown(value)}")
        self._must_be_all(attr_name, rows)
        if attr_name == "opponents":
            self.set_opponents(value)
        elif attr_name == "illegal":
            self.illegal = check_choice("illegal", value, ON_ILLEGAL)
        else:
            check_render_mode(self.game, value)
            self.render_mode = value

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that no environment is wrapped."""
        return [False for _ in self._indices(indices)]

    def _must_be_all(self, what: str, rows: list[int]) -> None:
        if set(rows) != set(self._rows.tolist()):
            raise ValueError(
                f"{what} concerns all environments together, but indices name {len(set(rows))} of {len(self._rows)}"
            )

    # --- what is shown ---

    def render(self, mode: str | None = None) -> Any:
        """Draw what the learners know.

        Returns:
            "ansi": a tuple of texts; "rgb_array": one image of all of them; "human": None, the texts go
            to the standard output.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        if self.render_mode == "rgb_array":
            return super().render(mode)  # type: ignore[misc]
        drawn = self._drawings()
        return None if self.render_mode == "human" else drawn

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return an image of what each learner knows; Nones without ``render_mode="rgb_array"``."""
        return self._drawings() if self.render_mode == "rgb_array" else [None for _ in self._rows]

    def _drawings(self) -> tuple[Any, ...]:
        self.table.must_be_dealt()
        if self.render_mode is None:
            return (None,) * len(self._rows)
        return tuple(
            render_view(self.game, self.options, view, self.render_mode) for view in self.table.learner_views()
        )

    def _reveal(self) -> tuple[dict[str, Any], ...]:
        self.table.must_be_dealt()
        transcribed = needed(self.game, Transcribed)
        return tuple(transcribed.reveal(self.options, state) for state in self.table.states)

    def close(self) -> None:
        """Let nothing be reset or stepped from now on. May be called again."""
        self.table.close()

    def _indices(self, indices: Any) -> list[int]:
        """Return the environments that indices name: a number, several, a slice or a mask; None: all."""
        try:
            if isinstance(indices, (bool, np.bool_)):
                raise TypeError("NumPy takes it for another axis")
            chosen = np.atleast_1d(self._rows if indices is None else self._rows[indices])
            if chosen.ndim > 1:
                raise IndexError("several lists in one")
        except (IndexError, TypeError, ValueError, OverflowError):
            raise ValueError(
                f"indices must be environments from 0 to {len(self._rows) - 1}, got {shown(indices)}"
            ) from None
        rows: list[int] = chosen.tolist()
        return rows


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
