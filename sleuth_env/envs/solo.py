"""Gymnasium's face of a game: one learner, the other seats played by bots or policies.

`SoloEnv` is what ``gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0", ...)`` makes and what
MaskablePPO trains on: `reset` deals and lets the others play until the learner has to decide,
`step` takes his decision and lets them play on until he has to decide again. `SoloVectorEnv` plays
many such games at once (``gymnasium.make_vec``), the same games as one `SoloEnv` each would.

| | |
|---|---|
| Observation | ``Box(0, 1, (N,), float32)``: the learner's observation, the same vector as in the PettingZoo environment; no mask in it |
| Actions | ``Discrete(A)``, opponents counted from the learner's left; `action_masks` gives the legal ones |
| Rewards | the learner's part of the game's outcome, in the last step, whatever happens between his decisions and after he is out |
| Ends | terminated: somebody has won or everybody is out, or, at the turn limit, the learner is out or was right; truncated: the turn limit, while he is in |
| Illegal action | ends the episode with -1, or is refused (``illegal="raise"``) |
| Info | empty; ``{"illegal_action": True}`` where an illegal action has ended the episode |

A game may end before the learner has decided anything. He is not spared it: the first observation
is then that of the finished game, every action is allowed, and whichever is chosen ends the episode
with the outcome. Axis letters: ``B`` games, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..checks import check_choice, check_seed
from ..game import ILLEGAL_REWARD, NO_RENDER_MODE, RENDER_MODES, action_number, action_numbers, render_view
from ..matches.players import Players
from .learner_table import Bools, make_table
from .vector import row_seeds, rows_to_reset

Floats = NDArray[np.float64]


class SoloEnv(gymnasium.Env[NDArray[np.float32], int]):
    """Let one learner play against bots.

    Args:
        opponents: who plays the other seats: a name of the game's bots, a policy file (its path, or
            ``pretrained:4p``), or an object with `name` and `act`; one for all of them, or a list,
            the first to the learner's left.
        learner_seat: the learner's seat number, or "random" for another one each game.
        record: how the observation records the past, one of the game's `RECORDS`; default the
            first.
        render_mode: None, "ansi", "rgb_array" or "human" (text on the standard output); all show
            what the learner knows.
        illegal: what an illegal action does: "end" ends the episode with -1, "raise" raises
            `IllegalAction`.
        game: the full name of the game module.
        max_cycles: PettingZoo's name of the option ``max_turns``.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponents: Players = "sheet",
        learner_seat: int | str = "random",
        record: str | None = None,
        render_mode: str | None = None,
        illegal: str = "end",
        game: str = "sleuth_env.sleuth",
        max_cycles: int | None = None,
        **options: Any,
    ) -> None:
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        check_choice("illegal", illegal, ("end", "raise"))
        self.render_mode = render_mode
        self.illegal = illegal
        self.table = make_table(game, options, max_cycles, 1, learner_seat, record, opponents)
        self.options = self.table.options
        self.observation_space = spaces.Box(0.0, 1.0, (self.table.size,), np.float32)
        self.action_space = spaces.Discrete(self.table.num_actions)  # type: ignore[assignment]
        self._over = True

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return int(self.table.learners[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal a new game and let the others play until the learner decides.

        Args:
            seed: begins the stream from which this and the following games are dealt; None
                continues it.
            options: ignored; a game's options are fixed when the environment is made.

        Raises:
            ValueError: the seed is no whole number; nothing has changed.
        """
        super().reset(seed=check_seed(seed))
        # Should an opponent fail here, there is no game to step.
        self._over = True
        self.table.begin(0, self.np_random)
        self.table.play_on()
        self._over = False
        self._show()
        return self.table.observations()[0], {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Take the learner's decision and let the others play until he decides again or the game is
        finished.

        Raises:
            IllegalAction: the action is no action at all, or it is illegal and ``illegal="raise"``.
                After this, and after any error of an opponent, nothing has changed: the learner is
                where he was and may decide again.
        """
        table = self.table
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset()")
        number = action_number(action, table.num_actions)
        legal = table.action_masks()[:, number]
        if not legal[0]:
            if self.illegal == "raise":
                raise table.refusal(np.array([number]), legal)
            self._over = True
            self._show()
            return table.observations()[0], ILLEGAL_REWARD, True, False, {"illegal_action": True}
        if not table.finished[0]:
            with table.undone_on_error():
                table.step(0, number)
                table.play_on()
        self._over = bool(table.finished[0])
        self._show()
        rewards, terminated, truncated = table.outcome()
        reward = float(rewards[0, self.seat]) if self._over else 0.0
        return table.observations()[0], reward, bool(terminated[0, self.seat]), bool(truncated[0, self.seat]), {}

    def action_masks(self) -> Bools:
        """Give the legal actions (bool [A]); all of them when the episode is over, so that it is
        never all False.
        """
        mask: Bools = self.table.action_masks(np.array([self._over]))[0]
        return mask

    def reveal(self) -> dict[str, Any]:
        """Give the whole hidden state in the game's words, for debugging and analysis."""
        self.table.must_be_dealt()
        return self.table.game.reveal(self.options, self.table.states[0])

    def render(self) -> Any:
        """Draw what the learner knows: text ("ansi"), an image (u1 [height, width, 3]), or text on
        the standard output ("human").
        """
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        self.table.must_be_dealt()
        return render_view(self.table.game, self.options, self.table.learner_views()[0], self.render_mode)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


class SoloVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], Any]):
    """Let ``B`` learners play against bots, each in a game of his own; the bots decide in batches.

    Game ``i`` is the game of a `SoloEnv` that was reset with ``seed + i``, whatever ``B``. A
    finished game is followed by the next at the next step, which ignores its action and gives no
    reward (`AutoresetMode.NEXT_STEP`).

    Args:
        num_envs: B.
        render_mode: None, "ansi" or "rgb_array" (`render` gives tuples, one of each game) or
            "human" (text on the standard output).
        **settings: see `SoloEnv`.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    metadata: dict[str, Any] = {**SoloEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Players = "sheet",
        learner_seat: int | str = "random",
        record: str | None = None,
        render_mode: str | None = None,
        illegal: str = "end",
        game: str = "sleuth_env.sleuth",
        max_cycles: int | None = None,
        **options: Any,
    ) -> None:
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        check_choice("illegal", illegal, ("end", "raise"))
        self.render_mode = render_mode
        self.illegal = illegal
        self.table = make_table(game, options, max_cycles, num_envs, learner_seat, record, opponents)
        self.options = self.table.options
        self.num_envs = self.table.num_games
        self.single_observation_space = spaces.Box(0.0, 1.0, (self.table.size,), np.float32)
        self.single_action_space = spaces.Discrete(self.table.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._over = np.ones(self.num_envs, np.bool_)

    @property
    def seat(self) -> NDArray[np.int64]:
        """Each learner's seat in his game (i8 [B])."""
        return self.table.learners.copy()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal new games and let the others play until all learners decide.

        Args:
            seed: of the first game, the others follow; or one of each game; None continues the
                streams.
            options: ``{"reset_mask": bool [B]}`` resets these games only.

        Raises:
            ValueError: seeds or mask are not of this kind. After this, and after any error of an
                opponent, nothing has changed.
            ResetNeeded: the first reset leaves games out.
        """
        table = self.table
        seeds = row_seeds(seed, self.num_envs)
        chosen = rows_to_reset(options, table.dealt)
        rows = np.flatnonzero(chosen).tolist()
        with table.undone_on_error():
            for row in rows:
                if seeds[row] is not None or table.streams[row] is None:
                    table.streams[row], _ = seeding.np_random(seeds[row])
            table.renew(rows)
            table.play_on()
        self._over[rows] = False
        self._show()
        return table.observations(), {}

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], Floats, Bools, Bools, dict[str, Any]]:
        """Take every learner's decision (int [B]) and let the others play until all learners decide
        again or are finished.

        Raises:
            IllegalAction: an action is no action at all, or one is illegal and ``illegal="raise"``.
                After this, and after any error of an opponent, nothing has changed.
        """
        table = self.table
        renewed = self._over.copy()
        table.must_be_dealt()
        numbers = action_numbers(actions, self.num_envs, table.num_actions)
        legal = table.action_masks(renewed)[np.arange(self.num_envs), numbers]
        if self.illegal == "raise" and not legal.all():
            raise table.refusal(numbers, legal)
        rows = np.flatnonzero(legal & ~renewed & ~table.finished)
        with table.undone_on_error():
            table.step(rows, numbers[rows])
            table.renew(np.flatnonzero(renewed).tolist())
            table.play_on()
        rewards, terminated, truncated = table.outcome()
        learners = np.arange(self.num_envs), table.learners
        over = (terminated[learners] & ~renewed) | ~legal
        cut = truncated[learners] & ~renewed
        paid = np.where(legal, rewards[learners], ILLEGAL_REWARD)
        self._over = over | cut
        infos: dict[str, Any] = {} if legal.all() else {"illegal_action": ~legal, "_illegal_action": ~legal}
        self._show()
        return table.observations(), np.where(self._over, paid, 0.0), over, cut, infos

    def action_masks(self) -> Bools:
        """Give the legal actions of each learner (bool [B, A]); all of them where an episode is
        over.
        """
        return self.table.action_masks(self._over)

    def reveal(self) -> tuple[dict[str, Any], ...]:
        """Give the whole hidden state of each game, see `SoloEnv.reveal`."""
        self.table.must_be_dealt()
        return tuple(self.table.game.reveal(self.options, state) for state in self.table.states)

    def render(self) -> Any:
        """Draw what each learner knows, see `SoloEnv.render`."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return (None,) * self.num_envs
        table = self.table
        table.must_be_dealt()
        return tuple(render_view(table.game, table.options, view, self.render_mode) for view in table.learner_views())

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Give what a public attribute or method of `SoloEnv` gives, for each game:
        ``call("action_masks")``, ``call("options")``.

        Raises:
            AttributeError: `SoloEnv` has none of that name, or it is one that moves a game, which
                goes for all games together only.
        """
        if name in ("action_masks", "reveal", "render"):
            return tuple(getattr(self, name)(*args, **kwargs))
        if name == "seat":
            return tuple(self.seat.tolist())
        shared = {
            "observation_space": self.single_observation_space,
            "action_space": self.single_action_space,
            "metadata": SoloEnv.metadata,
        }
        shared |= {"options": self.options, "render_mode": self.render_mode, "illegal": self.illegal}
        if name not in shared:
            raise AttributeError(f"the games of a SoloVectorEnv have no {name!r} of their own")
        return (shared[name],) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Give a public attribute of each game, see `call`. It cannot be set: the games share their
        settings.
        """
        return self.call(name)
