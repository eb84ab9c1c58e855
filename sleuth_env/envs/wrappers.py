"""The wrappers around a game's PettingZoo environment, as the classic games have them.

They are PettingZoo's own but for two: one judges an illegal action by the game, the other looks
things up where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from ..actions import ILLEGAL_REWARD, IllegalAction
from ..checks import check_number
from .aec import GameEnv, Observation
from .snapshot import Snapshot

if TYPE_CHECKING:
    from gymnasium import spaces

E = TypeVar("E", bound=GameEnv)

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
            check_number("action", action, 0, raw.action_space(raw.agent_selection).n - 1, IllegalAction)
            EnvLogger.warn_on_illegal_move()
            raw.forfeit(ILLEGAL_REWARD)

    def __str__(self) -> str:
        return str(self.env)


class OrderEnforcing(wrappers.OrderEnforcingWrapper[str, Observation, int], Generic[E]):  # type: ignore[misc]
    """PettingZoo's wrapper, but putting a snapshot back counts as a reset."""

    if TYPE_CHECKING:
        # PettingZoo's own, which has no type information.
        agents: list[str]
        possible_agents: list[str]
        agent_selection: str
        rewards: dict[str, float]
        terminations: dict[str, bool]
        truncations: dict[str, bool]
        infos: dict[str, dict[str, Any]]

        @property
        def unwrapped(self) -> E: ...

        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None: ...

        def step(self, action: int | None) -> None: ...

        def observe(self, agent: str) -> Observation: ...

        def observation_space(self, agent: str) -> spaces.Dict: ...

        def action_space(self, agent: str) -> spaces.Discrete: ...

        def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]: ...

        def close(self) -> None: ...

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

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated and info of the agent to act, see `AECEnv.last`."""
        return self._raw.last(observe) if self._raw.has_reset else super().last(observe)  # type: ignore[no-any-return]

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


def wrapped(env: E) -> OrderEnforcing[E]:
    """Return a game's environment wrapped as PettingZoo's classic games are.

    An illegal action ends the game with -1 for its player.
    """
    return OrderEnforcing(wrappers.AssertOutOfBoundsWrapper(_TerminateIllegal(env)))
