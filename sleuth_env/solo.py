"""Gymnasium's face of a game: one learner, the other seats played by bots or policies.

`SoloEnv` is what ``gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0", ...)`` makes and what MaskablePPO trains on: `reset` deals and lets the
others play until the learner has to decide, `step` takes his decision and lets them play on until he has to decide again.
`SoloVectorEnv` plays many such games at once (``gymnasium.make_vec``), the same games as one `SoloEnv` each would.

| | |
|---|---|
| Observation | ``Box(0, 1, (N,), float32)``: the learner's observation, the same vector as in the PettingZoo environment; no mask in it |
| Actions | ``Discrete(A)``, opponents counted from the learner's left; `action_masks` gives the legal ones |
| Rewards | the learner's part of the game's outcome, in the last step, whatever happens between his decisions and after he is out |
| Ends | terminated: somebody has won or everybody is out; truncated: the turn limit |
| Illegal action | ends the episode with -1, or is refused (``illegal="raise"``) |
| Info | empty; ``{"illegal_action": True}`` where an illegal action has ended the episode |

A game may end before the learner has decided anything. He is not spared it: the first observation is then that of the finished
game, every action is allowed, and whichever is chosen ends the episode with the outcome.
Axis letters: ``B`` games, ``A`` actions, ``N`` numbers of an observation.
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

from .game import NO_RENDER_MODE, RENDER_MODES, Bot, IllegalAction, action_number, check_choice, load_game, make_options, refusal, render_view
from .match import LEARNER, Table, make_players

ILLEGAL_REWARD = -1.0
Opponents = str | Bot | Sequence[str | Bot]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class LearnerTable(Table):
    """Play a batch of games with one learner in each; `learners` are their seats (i8 [B]).

    Args:
        num_games: B.
        opponents, learner_seat, record, game, **options: see `SoloEnv`.
    """

    def __init__(self, num_games: int, opponents: Opponents, learner_seat: int | str, record: str | None, game: str, **options: Any) -> None:
        module = load_game(game)
        self.game_name = game
        super().__init__(module, make_options(module, options), num_games)
        self.record: str = module.RECORDS[0] if record is None else record
        check_choice("record", self.record, module.RECORDS)
        self.learner_seat = self._checked_seat(learner_seat)
        self.bots = make_players(module, self.options, self._checked_opponents(opponents))
        self.num_actions = module.num_actions(self.options)
        self.size = module.observation_size(self.options, self.record)
        self.learners = np.zeros(num_games, np.int64)

    def _checked_seat(self, seat: int | str) -> int | str:
        if seat == "random" or (isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and seat in range(self.num_players)):
            return seat
        raise ValueError(f'learner_seat must be "random" or a seat from 0 to {self.num_players - 1}, got {seat!r}')

    def _checked_opponents(self, opponents: Opponents) -> list[Any]:
        number = self.num_players - 1
        players: list[Any] = list(opponents) if isinstance(opponents, (list, tuple)) else [opponents] * number
        if len(players) != number:
            raise ValueError(f"opponents must be one for all, or a list of {number}, got a list of {len(players)}")
        for player in players:
            if not isinstance(player, str) and not callable(getattr(player, "act", None)):
                raise ValueError(f"an opponent is a bot's name, the path of a policy file or an object with act(views, legal, seeds), got {player!r}")
        return players

    def begin(self, row: int, generator: np.random.Generator) -> None:
        """Seat the learner and deal a new game in a row; nobody plays yet."""
        seat = generator.integers(self.num_players) if self.learner_seat == "random" else self.learner_seat
        self.learners[row] = seat
        self.seats[row] = np.roll([LEARNER, *range(self.num_players - 1)], int(seat))
        self.deal(row, generator.integers(0, 2**64, 1, np.uint64))

    def learner_views(self) -> NDArray[np.void]:
        """Give what each learner knows (VIEW [B])."""
        return self.views(np.arange(self.num_games), self.learners)

    def observations(self) -> NDArray[np.float32]:
        """Give each learner's observation (f4 [B, N])."""
        out = np.empty((self.num_games, self.size), np.float32)
        self.game.write_observations(self.rules, self.learner_views(), out, self.record)
        return out

    def action_masks(self, over: Bools) -> Bools:
        """Give each learner's legal actions (bool [B, A]); all of them where the game is finished or the episode is over."""
        masks: Bools = self.legal(np.arange(self.num_games)) > 0
        masks[over | self.finished] = True
        return masks

    def refusal(self, row: int, action: int) -> Exception:
        """Say why a learner's action is refused."""
        return refusal(self.game, self.options, action, self.legal(row)[0], f"player_{self.learners[row]}")

    # A module cannot be copied or pickled; its name can.
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "game"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=load_game(state["game_name"]))


class SoloEnv(gymnasium.Env[NDArray[np.float32], int]):
    """Let one learner play against bots.

    Args:
        opponents: who plays the other seats: a name of the game's bots, the path of a policy file, or an object with `act`; one for
            all of them, or a list, the first to the learner's left.
        learner_seat: the learner's seat number, or "random" for another one each game.
        record: how the observation records the past, one of the game's `RECORDS`; default the first.
        render_mode: None, "ansi", "rgb_array" or "human" (text on the standard output); all show what the learner knows.
        illegal: what an illegal action does: "end" ends the episode with -1, "raise" raises `IllegalAction`.
        game: the full name of the game module.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponents: Opponents = "sheet",
        learner_seat: int | str = "random",
        record: str | None = None,
        render_mode: str | None = None,
        illegal: str = "end",
        game: str = "sleuth_env.sleuth",
        **options: Any,
    ) -> None:
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        check_choice("illegal", illegal, ("end", "raise"))
        self.render_mode, self.illegal = render_mode, illegal
        self.table = LearnerTable(1, opponents, learner_seat, record, game, **options)
        self.options = self.table.options
        self.observation_space = spaces.Box(0.0, 1.0, (self.table.size,), np.float32)
        self.action_space = spaces.Discrete(self.table.num_actions)  # type: ignore[assignment]
        self._over = True

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return int(self.table.learners[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal a new game and let the others play until the learner decides.

        Args:
            seed: begins the stream from which this and the following games are dealt; None continues it.
            options: ignored; a game's options are fixed when the environment is made.
        """
        super().reset(seed=seed)
        self.table.begin(0, self.np_random)
        self.table.play_on()
        self._over = False
        self._show()
        return self.table.observations()[0], {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Take the learner's decision and let the others play until he decides again or the game is finished.

        Raises:
            IllegalAction: the action is no action at all, or it is illegal and ``illegal="raise"``; nothing has changed.
        """
        table = self.table
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset()")
        number = action_number(action, table.num_actions)
        if not table.finished[0]:
            if not table.step(0, number)[0]:
                if self.illegal == "raise":
                    raise table.refusal(0, number)
                self._over = True
                return table.observations()[0], ILLEGAL_REWARD, True, False, {"illegal_action": True}
            table.play_on()
        self._show()
        if not table.finished[0]:
            return table.observations()[0], 0.0, False, False, {}
        self._over = True
        rewards, terminated, truncated = table.outcome()
        return table.observations()[0], float(rewards[0, self.seat]), bool(terminated[0]), bool(truncated[0]), {}

    def action_masks(self) -> Bools:
        """Give the legal actions (bool [A]); all of them when the episode is over, so that it is never all False."""
        mask: Bools = self.table.action_masks(np.array([self._over]))[0]
        return mask

    def reveal(self) -> dict[str, Any]:
        """Give the whole hidden state in the game's words, for debugging and analysis."""
        return self.table.game.reveal(self.options, self.table.states[0])

    def render(self) -> Any:
        """Draw what the learner knows: text ("ansi"), an image (u1 [height, width, 3]), or text on the standard output ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        return render_view(self.table.game, self.options, self.table.learner_views()[0], self.render_mode)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


class SoloVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], Any]):
    """Let ``B`` learners play against bots, each in a game of his own; the bots decide in batches.

    Game ``i`` is the game of a `SoloEnv` that was reset with ``seed + i``, whatever ``B``. A finished game is followed by the next at
    the next step, which ignores its action and gives no reward (`AutoresetMode.NEXT_STEP`).

    Args:
        num_envs: B.
        render_mode: None, "ansi" or "rgb_array" (tuples, one of each game) or "human".
        **settings: see `SoloEnv`.
    """

    metadata: dict[str, Any] = {**SoloEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, illegal: str = "end", **settings: Any) -> None:
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        check_choice("illegal", illegal, ("end", "raise"))
        self.num_envs, self.render_mode, self.illegal = num_envs, render_mode, illegal
        one = {"opponents": "sheet", "learner_seat": "random", "record": None, "game": "sleuth_env.sleuth"}
        self.table = LearnerTable(num_envs, **one | settings)
        self.single_observation_space = spaces.Box(0.0, 1.0, (self.table.size,), np.float32)
        self.single_action_space = spaces.Discrete(self.table.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._over = np.ones(num_envs, np.bool_)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal new games.

        Args:
            seed: of the first game, the others follow; or one of each game; None continues the streams.
            options: ``{"reset_mask": bool [B]}`` resets these games only.
        """
        whole = isinstance(seed, (int, np.integer))
        seeds = [seed + i for i in range(self.num_envs)] if whole else [None] * self.num_envs if seed is None else list(seed)  # type: ignore
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed must be one number or one for each of {self.num_envs} games, got {len(seeds)}")
        rows = np.flatnonzero((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        for row in rows.tolist():
            if seeds[row] is not None or self._generators[row] is None:
                self._generators[row], _ = seeding.np_random(seeds[row])
        self._begin(rows)
        self.table.play_on()
        return self.table.observations(), {}

    def _begin(self, rows: NDArray[np.intp]) -> None:
        for row in rows.tolist():
            generator = self._generators[row]
            if generator is None:
                raise gymnasium.error.ResetNeeded("no game has been dealt: call reset()")
            self.table.begin(row, generator)
        self._over[rows] = False

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], Floats, Bools, Bools, dict[str, Any]]:
        """Take every learner's decision (int [B]) and let the others play until all learners decide again or are finished.

        Raises:
            IllegalAction: an action is no action at all, or one is illegal and ``illegal="raise"``; nothing has changed.
        """
        table = self.table
        numbers = self._numbers(actions)
        renewed = self._over.copy()
        legal = table.action_masks(renewed)[np.arange(self.num_envs), numbers]
        if self.illegal == "raise" and not legal.all():
            row = int(np.flatnonzero(~legal)[0])
            raise table.refusal(row, int(numbers[row]))
        rows = np.flatnonzero(legal & ~renewed & ~table.finished)
        table.step(rows, numbers[rows])
        self._begin(np.flatnonzero(renewed))
        table.play_on()
        rewards, terminated, truncated = table.outcome()
        terminated, truncated = (terminated & ~renewed) | ~legal, truncated & ~renewed
        paid = np.where(legal, rewards[np.arange(self.num_envs), table.learners], ILLEGAL_REWARD)
        self._over = terminated | truncated
        infos: dict[str, Any] = {} if legal.all() else {"illegal_action": ~legal, "_illegal_action": ~legal}
        return table.observations(), np.where(self._over, paid, 0.0), terminated, truncated, infos

    def _numbers(self, actions: Any) -> NDArray[np.int64]:
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,):
            raise IllegalAction(f"step takes one action for each of {self.num_envs} games, got {actions!r}")
        if numbers.dtype.kind not in "iu" or not ((numbers >= 0) & (numbers < self.table.num_actions)).all():
            numbers = np.array([action_number(action, self.table.num_actions) for action in actions])
        return numbers.astype(np.int64)

    def action_masks(self) -> Bools:
        """Give the legal actions of each learner (bool [B, A]); all of them where an episode is over."""
        return self.table.action_masks(self._over)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Give the result of a method row by row, as Gymnasium's other vector environments do: ``call("action_masks")``."""
        return tuple(getattr(self, name)(*args, **kwargs))

    def render(self) -> Any:
        """Draw what each learner knows, see `SoloEnv.render`."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        table = self.table
        return tuple(render_view(table.game, table.options, view, self.render_mode) for view in table.learner_views())
