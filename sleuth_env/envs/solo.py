"""Gymnasium's face of a game: one learner, the other seats played by bots or policies.

`GameSoloEnv` plays one game: `reset` deals and lets the others play until the learner has to decide,
`step` takes the learner's decision and lets them play on until it has to decide again.
`GameSoloVectorEnv` plays many such games at once, the same games as one `GameSoloEnv` each would. A
version of a game's environments (`sleuth_v0`) binds them to the game.

Observation
    ``Box(0, 1, (N,), float32)``: the learner's observation, the same vector as in the PettingZoo
    environment; with ``observation="dict"`` the same dictionary as there, ``{"observation": Box,
    "action_mask": Box(0, 1, (A,), int8)}``.
Actions
    ``Discrete(A)``, opponents counted from the learner's left; `action_masks` returns the legal ones.
Rewards
    What the learner's seat has got since its last decision, whatever happens in between; a player
    who is out gets the rest in the last step.
Ends
    Terminated: the game is over by the rules; truncated: the turn limit has stopped it.
Illegal action
    Ends the episode with -1, or is refused (``illegal="raise"``).
Info
    "action_mask": the legal actions (i1 [A]), such as ``action_space.sample`` takes. "settled":
    whether the learner's reward cannot change any more; a learner estimates what would still have
    come only where it is truncated and not settled. "illegal_action": True, and nothing otherwise,
    where an illegal action has ended the episode.

A game may end before the learner has decided anything. The episode is not skipped: the first
observation is then that of the finished game, every action is allowed, and whichever is chosen ends
the episode with the outcome.
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

from ..actions import ILLEGAL_REWARD, ON_ILLEGAL, IllegalAction, action_numbers
from ..checks import check_choice, check_number, check_seed, check_text, shown
from ..game import NO_ACTION, TERMINATED, TRUNCATED, Transcribed, make_options, needed
from ..matches.players import Players
from .binding import Bound
from .learner_table import Bools, LearnerTable
from .observing import OBSERVATIONS, observation_space, presented
from .rendering import NO_RENDER_MODE, RENDER_MODES, check_render_mode, render_view
from .resetting import check_autoreset, check_autoreset_done, row_seeds, rows_to_reset
from .snapshot import Snapshot, like

Floats = NDArray[np.float64]
SOLO_FACE = "solo"
SOLO_VECTOR_FACE = "solo vector"


class _Solo(Bound):
    """What both environments have in common: a table with one learner a game, and its drawings."""

    render_mode: str | None
    illegal: str
    observation: str
    table: LearnerTable

    def _make_table(
        self,
        num_games: int,
        opponents: Players | None,
        learner_seat: int | str,
        record: str | None,
        max_cycles: int | None,
        options: dict[str, Any],
    ) -> None:
        made = make_options(self.game, options, max_cycles, type(self))
        self.table = LearnerTable(self.game, made, num_games, learner_seat, record)
        self.table.seat_opponents(self.game.DEFAULT_BOT if opponents is None else opponents)

    def close(self, **kwargs: Any) -> None:
        """Let nothing be reset or stepped from now on. May be called again."""
        self.table.close()
        super().close(**kwargs)  # type: ignore[misc]

    def _settings(self, render_mode: str | None, illegal: str, observation: str) -> None:
        check_render_mode(self.game, render_mode)
        check_choice("illegal", illegal, ON_ILLEGAL)
        self.observation = check_choice("observation", observation, OBSERVATIONS)
        self.render_mode = render_mode
        self.illegal = illegal

    @property
    def options(self) -> Any:
        """The game's options."""
        return self.table.options

    def _space(self) -> Any:
        return observation_space(self.observation, self.table.size, self.table.num_actions)

    def _reveal(self) -> tuple[dict[str, Any], ...]:
        self.table.must_be_dealt()
        transcribed = needed(self.game, Transcribed)
        return tuple(transcribed.reveal(self.options, state) for state in self.table.states)

    def _drawings(self) -> tuple[Any, ...]:
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return (None,) * self.table.num_games
        self.table.must_be_dealt()
        views = self.table.learner_views()
        return tuple(render_view(self.game, self.options, view, self.render_mode) for view in views)

    def _show(self) -> None:
        if self.render_mode == "human":
            self._drawings()


class GameSoloEnv(_Solo, gymnasium.Env[Any, int]):
    """Let one learner play against bots.

    Args:
        opponents: who plays the other seats: a name of the game's bots, a policy file (its path, or
            such as ``pretrained:4p``), or an object with `name` and `act`; one for all of them, or a
            list, the first to the learner's left. None: the game's `DEFAULT_BOT`.
        learner_seat: the learner's seat number, or "random" for another one each game.
        record: how the observation records the past, one of the game's `RECORDS`; default the
            first.
        render_mode: None, "ansi", "rgb_array" or "human" (text on the standard output); all show
            what the learner knows.
        illegal: what an illegal action does: "end" ends the episode with -1, "raise" raises
            `IllegalAction`.
        observation: "vector", or "dict" for a dictionary of the vector and the action mask.
        max_cycles: PettingZoo's name of the option ``max_turns``.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponents: Players | None = None,
        learner_seat: int | str = "random",
        record: str | None = None,
        render_mode: str | None = None,
        illegal: str = "end",
        max_cycles: int | None = None,
        observation: str = "vector",
        **options: Any,
    ) -> None:
        self._settings(render_mode, illegal, observation)
        self._make_table(1, opponents, learner_seat, record, max_cycles, options)
        self.observation_space = self._space()
        self.action_space = spaces.Discrete(self.table.num_actions)  # type: ignore[assignment]
        self._over = True

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return int(self.table.learners[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game and let the others play until the learner decides.

        Args:
            seed: begins the stream from which this and the following games are dealt; None
                continues it.
            options: ignored; a game's options are fixed when the environment is made.

        Raises:
            ValueError: the seed is not a whole number; nothing has changed.
        """
        self.table.must_be_open()
        super().reset(seed=check_seed(seed))
        # Should an opponent fail here, nothing can be stepped.
        self._over = True
        self.table.begin([0], [self.np_random])
        self.table.play_on()
        self._over = False
        self._show()
        mask = self.action_masks()
        return self._observed(mask), self._info(mask)

    def _observed(self, mask: Bools) -> Any:
        return presented(self.observation, self.table.observations()[0], mask)

    def _info(self, mask: Bools) -> dict[str, Any]:
        return {"action_mask": mask.astype(np.int8), "settled": bool(self.table.learners_settled()[0][0])}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's decision and let the others play until it decides again or the game is finished.

        Raises:
            IllegalAction: the action is not one at all, or it is illegal and ``illegal="raise"``.
                After this, and after any error of an opponent, nothing has changed: the learner is
                where it was and may decide again.
        """
        table = self.table
        self.table.must_be_open()
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset()")
        number = check_number("action", action, 0, table.num_actions - 1, IllegalAction)
        # In a game that is over everything is legal.
        legal = np.ones(1, np.bool_)
        if not table.finished[0]:
            with table.undone_on_error():
                legal = table.advance(np.array([number]))
        if not legal[0]:
            if self.illegal == "raise":
                raise table.refusal(np.array([number]), legal)
            self._over = True
            self._show()
            mask = self.action_masks()
            info = self._info(mask) | {"settled": True, "illegal_action": True}
            return self._observed(mask), ILLEGAL_REWARD, True, False, info
        self._over = bool(table.finished[0])
        self._show()
        ended = table.ends()[0]
        reward = float(table.take_rewards()[0])
        mask = self.action_masks()
        return self._observed(mask), reward, bool(ended == TERMINATED), bool(ended == TRUNCATED), self._info(mask)

    def action_masks(self) -> Bools:
        """Return the legal actions (bool [A]); all of them when the episode is over, so that it is never all False."""
        mask: Bools = self.table.action_masks(np.array([self._over]))[0]
        return mask

    def reveal(self) -> dict[str, Any]:
        """Return the whole hidden state in the game's words, for debugging and analysis."""
        return self._reveal()[0]

    def render(self) -> Any:
        """Draw what the learner knows.

        Returns:
            "ansi": text; "rgb_array": an image (u1 [height, width, 3]); "human": None, the text goes
            to the standard output.
        """
        return self._drawings()[0]

    def get_state(self) -> Snapshot:
        """Return a snapshot, of the random stream too: after `set_state` everything goes on as it did from here.

        But for opponents that remember games, such as `searcher`: they have forgotten what was before it.
        """
        self.table.streams[0] = self.np_random
        return self.table.snapshot(SOLO_FACE, over=self._over)

    def set_state(self, state: Snapshot) -> None:
        """Go back to a snapshot that `get_state` took, here or in an environment with the same options and opponents.

        Raises:
            ValueError: it is not such a snapshot, or somebody in it does not play here; nothing has
                changed.
            ClosedEnvironmentError: after `close`.
        """
        snapshot = self.table.restore(state, SOLO_FACE, {"over": lambda over: type(over) is bool})
        assert self.table.streams[0] is not None
        self.np_random = self.table.streams[0]
        self._over = snapshot.more["over"]


class GameSoloVectorEnv(_Solo, VectorEnv[Any, NDArray[np.int64], Any]):
    """Let ``B`` learners play against bots, each in a game of its own; the bots decide in batches.

    Game ``i`` is the game of a `GameSoloEnv` that was reset with ``seed + i``, whatever ``B``. Infos
    are those of the single games, joined as Gymnasium joins them, but with a mask in every row.

    Args:
        num_envs: B.
        render_mode: None, "ansi" or "rgb_array" (`render` returns tuples, one of each game) or
            "human" (text on the standard output).
        opponents: see `GameSoloEnv`, as for the arguments that are not listed here.
        autoreset_mode: what follows a finished game, as Gymnasium defines it, a
            `gymnasium.vector.AutoresetMode` or its value: NEXT_STEP deals the next one at the next
            step, which ignores its action and gives no reward; SAME_STEP at once, with the last
            observation in the info "final_obs" and the last info in "final_info"; DISABLED leaves it
            to `reset` with a ``reset_mask``.
        **options: the game's options.

    Raises:
        ValueError: an argument has an unknown name or value.
    """

    metadata: dict[str, Any] = {**GameSoloEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Players | None = None,
        learner_seat: int | str = "random",
        record: str | None = None,
        render_mode: str | None = None,
        illegal: str = "end",
        max_cycles: int | None = None,
        observation: str = "vector",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        self._settings(render_mode, illegal, observation)
        self.autoreset_mode = check_autoreset(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._make_table(num_envs, opponents, learner_seat, record, max_cycles, options)
        self.num_envs = self.table.num_games
        self.single_observation_space = self._space()
        self.single_action_space = spaces.Discrete(self.table.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._over = np.ones(self.num_envs, np.bool_)

    @property
    def seat(self) -> NDArray[np.int64]:
        """Each learner's seat in its game (i8 [B])."""
        return self.table.learners.copy()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
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
        table.must_be_open()
        seeds = row_seeds(seed, self.num_envs)
        rows = np.flatnonzero(rows_to_reset(options, table.dealt)).tolist()
        with table.undone_on_error():
            for row in rows:
                if seeds[row] is not None or table.streams[row] is None:
                    table.streams[row], _ = seeding.np_random(seeds[row])
            table.renew(rows)
            table.play_on()
        self._over[rows] = False
        self._show()
        masks = self.action_masks()
        return self._observed(masks), self._infos(masks, np.isin(np.arange(self.num_envs), rows))

    def _observed(self, masks: Bools) -> Any:
        return presented(self.observation, self.table.observations(), masks)

    def _infos(self, masks: Bools, told: Bools) -> dict[str, Any]:
        """Return the infos of some games (bool [B]), as Gymnasium joins those of single environments.

        The others have masks, too: of all that goes on, whoever chooses by them chooses what is legal.
        """
        return {
            "action_mask": masks.astype(np.int8),
            "_action_mask": told.copy(),
            "settled": self.table.learners_settled()[0],
            "_settled": told.copy(),
        }

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Take every learner's decision (int [B]) and let the others play until all decide again or are finished.

        Raises:
            IllegalAction: an action is not one at all, or one is illegal and ``illegal="raise"``.
                After this, and after any error of an opponent, nothing has changed.
        """
        table = self.table
        renewed = self._over.copy()
        table.must_be_dealt()
        check_autoreset_done(self.autoreset_mode, renewed)
        numbers = action_numbers(actions, self.num_envs, table.num_actions)
        if self.illegal == "raise":
            legal = table.action_masks(renewed)[np.arange(self.num_envs), numbers]
            if not legal.all():
                raise table.refusal(numbers, legal)
        # In a game that is over everything is legal, and nothing is done.
        numbers[renewed | table.finished] = NO_ACTION
        with table.undone_on_error():
            table.renew(np.flatnonzero(renewed).tolist())
            legal = table.advance(numbers)
            ended = table.ends()
            terminated = ((ended == TERMINATED) & ~renewed) | ~legal
            truncated = (ended == TRUNCATED) & ~renewed & legal
            rewards = np.where(legal, table.take_rewards(~renewed), ILLEGAL_REWARD)
            over = terminated | truncated
            last = self._last(over, ~legal) if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any() else {}
        self._over = np.zeros_like(over) if last else over
        masks = self.action_masks()
        infos = self._infos(masks, np.ones(self.num_envs, np.bool_)) | last
        if not last:
            self._mark_illegal(infos, ~legal)
        self._show()
        return self._observed(masks), rewards, terminated, truncated, infos

    def _mark_illegal(self, infos: dict[str, Any], illegal: Bools) -> None:
        """Write into the infos in which games (bool [B]) an illegal action has ended the episode."""
        if illegal.any():
            infos["settled"] |= illegal
            infos |= {"illegal_action": illegal, "_illegal_action": illegal.copy()}

    def _last(self, over: Bools, illegal: Bools) -> dict[str, Any]:
        """Deal the games that follow those that are over (bool [B]); return what was seen last of these, as infos."""
        masks = self.table.action_masks(over)
        rows = np.flatnonzero(over)
        final = np.full(self.num_envs, None, object)
        for row, seen in zip(rows.tolist(), self.table.observations_of(rows), strict=True):
            final[row] = presented(self.observation, seen.copy(), masks[row].copy())
        about = self._infos(masks, over)
        self._mark_illegal(about, illegal)
        self.table.renew(rows.tolist())
        self.table.play_on()
        return {"final_obs": final, "_final_obs": over.copy(), "final_info": about, "_final_info": over.copy()}

    def action_masks(self) -> Bools:
        """Return the legal actions of each learner (bool [B, A]); all of them where an episode is over."""
        return self.table.action_masks(self._over)

    def reveal(self) -> tuple[dict[str, Any], ...]:
        """Return the whole hidden state of each game, see `GameSoloEnv.reveal`."""
        return self._reveal()

    def render(self) -> Any:
        """Draw what each learner knows, see `GameSoloEnv.render`."""
        return self._drawings()

    def get_state(self) -> Snapshot:
        """Return a snapshot of all games, see `GameSoloEnv.get_state`."""
        return self.table.snapshot(SOLO_VECTOR_FACE, over=self._over.copy())

    def set_state(self, state: Snapshot) -> None:
        """Go back to a snapshot of as many games, see `GameSoloEnv.set_state`."""
        snapshot = self.table.restore(state, SOLO_VECTOR_FACE, {"over": like(self._over)})
        self._over = snapshot.more["over"].copy()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return what a public attribute or method of `GameSoloEnv` gives, for each game.

        For instance ``call("action_masks")``, ``call("options")``.

        Raises:
            ValueError: the name is no text.
            AttributeError: there is none of that name, or it is one that moves a game, which goes
                for all games together only.
        """
        if check_text("name", name) in ("action_masks", "reveal", "render"):
            return tuple(getattr(self, name)(*args, **kwargs))
        if name == "seat":
            return tuple(self.seat.tolist())
        shared = {
            "observation_space": self.single_observation_space,
            "action_space": self.single_action_space,
            "metadata": GameSoloEnv.metadata,
            "options": self.options,
            "render_mode": self.render_mode,
            "illegal": self.illegal,
            "observation": self.observation,
        }
        if name not in shared:
            raise AttributeError(f"the games of a {type(self).__name__} have no {shown(name)} of their own")
        return (shared[name],) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return a public attribute of each game, see `call`. It cannot be set: the games share their settings."""
        return self.call(name)
