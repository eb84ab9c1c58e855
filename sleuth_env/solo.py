"""Gymnasium's face of a game: one learner, the other seats played by bots or policies.

`SoloEnv` is what ``gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0", ...)`` makes and what MaskablePPO trains on: `reset` deals and lets the
others play until the learner has to decide, `step` takes his decision and lets them play on until he has to decide again.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .game import NO_RENDER_MODE, RENDER_MODES, Bot, action_number, check_choice, load_game, make_options, refusal, render_view
from .match import LEARNER, Table, make_players

ILLEGAL_REWARD = -1.0
Step = tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]


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
        opponents: str | Bot | Sequence[str | Bot] = "sheet",
        learner_seat: int | str = "random",
        record: str | None = None,
        render_mode: str | None = None,
        illegal: str = "end",
        game: str = "sleuth_env.sleuth",
        **options: Any,
    ) -> None:
        self._game_name, self._game = game, load_game(game)
        self.options = make_options(self._game, options)
        self.record: str = self._game.RECORDS[0] if record is None else record
        check_choice("record", self.record, self._game.RECORDS)
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        check_choice("illegal", illegal, ("end", "raise"))
        self.render_mode, self.illegal = render_mode, illegal
        self.learner_seat = self._checked_seat(learner_seat)
        self._num_actions = self._game.num_actions(self.options)
        self._size = self._game.observation_size(self.options, self.record)
        self.observation_space = spaces.Box(0.0, 1.0, (self._size,), np.float32)
        self.action_space = spaces.Discrete(self._num_actions)  # type: ignore[assignment]
        self._sit_down(opponents)
        self.seat = 0
        self._over = True

    def _checked_seat(self, seat: int | str) -> int | str:
        seats = range(self.options.num_players)
        if seat == "random" or (isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and seat in seats):
            return seat
        raise ValueError(f'learner_seat must be "random" or a seat from 0 to {seats[-1]}, got {seat!r}')

    def _sit_down(self, opponents: str | Bot | Sequence[str | Bot]) -> None:
        """Make every bot once and note who plays the seats to the learner's left."""
        num_opponents = self.options.num_players - 1
        players: list[Any] = list(opponents) if isinstance(opponents, (list, tuple)) else [opponents] * num_opponents
        if len(players) != num_opponents:
            raise ValueError(f"opponents must be one for all, or a list of {num_opponents}, got a list of {len(players)}")
        for player in players:
            if not isinstance(player, str) and not callable(getattr(player, "act", None)):
                raise ValueError(f"an opponent is a bot's name, the path of a policy file or an object with act(views, legal, seeds), got {player!r}")
        bots = make_players(self._game, self.options, players)
        self._left = np.array([LEARNER, *range(num_opponents)], np.int32)
        self._table = Table(self._game, self.options, 1, bots)

    # --- the episode ---

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal a new game and let the others play until the learner decides.

        Args:
            seed: begins the stream from which this and the following games are dealt; None continues it.
            options: ignored; a game's options are fixed when the environment is made.
        """
        super().reset(seed=seed)
        seat = self.np_random.integers(self.options.num_players) if self.learner_seat == "random" else self.learner_seat
        self.seat = int(seat)
        self._table.seats[0] = np.roll(self._left, self.seat)
        self._table.deal(0, self.np_random.integers(0, 2**64, 1, np.uint64))
        self._table.play_on()
        self._over = False
        self._show()
        return self._observation(), {}

    def step(self, action: int) -> Step:
        """Take the learner's decision and let the others play until he decides again or the game is finished.

        Raises:
            IllegalAction: the action is no action at all, or it is illegal and ``illegal="raise"``; nothing has changed.
        """
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset()")
        number = action_number(action, self._num_actions)
        if not self._table.finished[0]:
            if not self._table.step(0, number)[0]:
                return self._refuse(number)
            self._table.play_on()
        self._show()
        if not self._table.finished[0]:
            return self._observation(), 0.0, False, False, {}
        self._over = True
        rewards, terminated, truncated = self._table.outcome()
        return self._observation(), float(rewards[0, self.seat]), bool(terminated[0]), bool(truncated[0]), {}

    def _refuse(self, action: int) -> Step:
        if self.illegal == "raise":
            raise refusal(self._game, self.options, action, self._table.legal(0)[0], f"player_{self.seat}")
        self._over = True
        return self._observation(), ILLEGAL_REWARD, True, False, {"illegal_action": True}

    # --- what is seen ---

    def action_masks(self) -> NDArray[np.bool_]:
        """Give the legal actions (bool [A]); all of them when the episode is over, so that it is never all False."""
        if self._over or self._table.finished[0]:
            return np.ones(self._num_actions, np.bool_)
        mask: NDArray[np.bool_] = self._table.legal(0)[0] > 0
        return mask

    def _observation(self) -> NDArray[np.float32]:
        observation = np.empty(self._size, np.float32)
        self._game.write_observations(self._table.rules, self._table.views(0, self.seat), observation[None], self.record)
        return observation

    def reveal(self) -> dict[str, Any]:
        """Give the whole hidden state in the game's words, for debugging and analysis."""
        return self._game.reveal(self.options, self._table.states[0])

    def render(self) -> Any:
        """Draw what the learner knows: text ("ansi"), an image (u1 [height, width, 3]), or text on the standard output ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        view = self._table.views(0, self.seat)[0]
        return render_view(self._game, self.options, view, self.render_mode)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    # --- copies: a module cannot be copied or pickled, its name can ---

    def __getstate__(self) -> dict[str, Any]:
        table = {name: value for name, value in vars(self._table).items() if name != "game"}
        return {name: value for name, value in vars(self).items() if name not in ("_game", "_table")} | {"_table": table}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._game = load_game(self._game_name)
        self._table = Table.__new__(Table)
        vars(self._table).update(state["_table"], game=self._game)
