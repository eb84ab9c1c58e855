"""Tianshou's face of a game: one learner's games, and networks that know of the masks.

Tianshou looks for the legal actions in ``obs.mask``, which only its methods of learned values (DQN)
read by themselves: an actor takes `MaskedActor`, and every network that a game's observations go
into begins with an `ObservationNet`.

Its own way of many agents in one environment, `PettingZooEnv` and `MultiAgentOnPolicyAlgorithm`,
takes the step after a decision for what the same agent sees next, and the rewards of that step
for all that the decision has brought. In these games others decide in between, and most games end
by somebody else's decision, so that learners would miss most rewards. Here the others play inside of
the environment, whose rewards are what the learner has got since its last decision.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .solo import GameSoloEnv

try:
    import torch
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.discrete import DiscreteActor
except ModuleNotFoundError as error:
    lacking = str(error.name).partition(".")[0]
    message = f'{__name__} needs {lacking}, which is not installed: pip install "sleuth-env[tianshou]"'
    raise ModuleNotFoundError(message, name=lacking) from error


class TianshouEnv(gymnasium.ObservationWrapper[dict[str, Any], int, Any]):
    """One learner's game, as Tianshou wants it: observations are ``{"obs": f4 [N], "mask": bool [A]}``.

    Args:
        env: such as ``sleuth_v0.SoloEnv(opponents="sheet")``, with either kind of observation.

    >>> from sleuth_env import sleuth_v0
    >>> from sleuth_env.envs.tianshou import TianshouEnv
    >>> env = TianshouEnv(sleuth_v0.SoloEnv(num_players=3))
    >>> observation, info = env.reset(seed=1)
    >>> observation["obs"].shape, observation["mask"].shape
    ((1852,), (448,))
    """

    def __init__(self, env: GameSoloEnv) -> None:
        super().__init__(env)
        self._solo = env
        self.observation_space = spaces.Dict(
            {
                "obs": spaces.Box(0.0, 1.0, (env.table.size,), np.float32),
                "mask": spaces.Box(0, 1, (env.table.num_actions,), np.bool_),
            }
        )

    def observation(self, observation: Any) -> dict[str, Any]:
        """Return an observation of the environment inside, in Tianshou's words."""
        vector = observation["observation"] if self._solo.observation == "dict" else observation
        return {"obs": vector, "mask": self._solo.action_masks()}


class ObservationNet(Net):  # type: ignore[misc] # Tianshou's types are not looked at
    """Tianshou's `Net` on the vector of an observation; the mask is not put into it."""

    def forward(self, obs: Any, state: Any = None, info: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Return what the network makes of observations (``obs.obs``, f4 [B, N]), and the state as it was."""
        return super().forward(obs.obs, state, info)  # type: ignore[no-any-return]


class MaskedActor(DiscreteActor):  # type: ignore[misc] # Tianshou's types are not looked at
    """Tianshou's `DiscreteActor` by which illegal actions have the probability zero.

    Make it with ``softmax_output=False`` of an `ObservationNet`.
    """

    def forward(self, obs: Any, state: Any = None, info: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Return the logits of actions (f4 [B, A]), minus infinity where they are illegal (``obs.mask``)."""
        logits, state = super().forward(obs, state, info)
        legal = torch.as_tensor(obs.mask, dtype=torch.bool, device=logits.device)
        return logits.masked_fill(~legal, -torch.inf), state
