"""The wrappers around a game's PettingZoo environment, as the classic games have them.

They are PettingZoo's own but for two: one judges an illegal action by the game, the other looks
things up where they are.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from ..actions import ILLEGAL_REWARD, IllegalAction, action_number
from .aec import GameEnv, Observation
from .snapshot import Snapshot

# What every loop over the agents asks for.
_ASKED_FOR = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")


class _TerminateIllegal(wrappers.BaseWrapper[str, Observation, int]):  # type: ignore[misc]
    """End the game after an illegal action, as PettingZoo's wrapper of that name does.

    That one judges by the last mask that it has seen, which is not that of the moment after the
    environment inside went back to a snapshot, and which belongs to whoever observed it. This one
    asks the environment.
    """

    def step(self, action: int | None) -> None:
        """Take an action; an illegal one loses the game.

        Raises:
            IllegalAction: it is not an action at all; nothing has changed.
        """
        try:
            self.env.step(action)
        except IllegalAction:
            raw = self.unwrapped
            # Once more an error unless it is one of the actions.
            action_number(action, raw.action_space(raw.agent_selection).n)
            EnvLogger.warn_on_illegal_move()
            raw.forfeit(ILLEGAL_REWARD)

    def __str__(self) -> str:
        return str(self.env)


class _OrderEnforcing(wrappers.OrderEnforcingWrapper[str, Observation, int]):  # type: ignore[misc]
    """PettingZoo's wrapper, but putting a snapshot back counts as a reset."""

    def __init__(self, env: Any) -> None:
        self._raw = env.unwrapped
        super().__init__(env)
        self._has_updated = True

    def __getattr__(self, name: str) -> Any:
        """Look up what a loop over the agents asks for where it is.

        Every wrapper on the way costs as much as a step of the game.
        """
        if name in _ASKED_FOR and self._raw.has_reset:
            return getattr(self._raw, name)
        return super().__getattr__(name)

    def last(self, observe: bool = True) -> Any:
        """Return observation, reward, terminated, truncated and info of the agent to act, see `AECEnv.last`."""
        return self._raw.last(observe) if self._raw.has_reset else super().last(observe)

    @property
    def _has_reset(self) -> bool:
        return bool(self._raw.has_reset)

    @_has_reset.setter
    def _has_reset(self, value: bool) -> None:
        """Leave it to the environment, which knows."""

    def set_state(self, state: Snapshot) -> None:
        """Put a snapshot back; in a loop over the agents that counts as a step."""
        self.env.set_state(state)
        self._has_updated = True

    def __str__(self) -> str:
        return str(self.env)


def wrapped(env: GameEnv) -> Any:
    """Return a game's environment wrapped as PettingZoo's classic games are.

    An illegal action ends the game with -1 for its player.
    """
    return _OrderEnforcing(wrappers.AssertOutOfBoundsWrapper(_TerminateIllegal(env)))
