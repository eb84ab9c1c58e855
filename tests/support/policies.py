"""Policies with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleuth_env import sleuth
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy
from sleuth_env.sleuth import Options
from sleuth_env.sleuth.cards import NUM_GEMS

THREE = Options(num_players=3)
VERSIONS = {"python": "3", "numpy": "2"}


def random_policy(
    options: Options = THREE,
    record: str = "sheet",
    card_network: bool = True,
    seed: int = 0,
    activation: str = "relu",
    **named: Any,
) -> Policy:
    rng = np.random.default_rng(seed)

    def layer(inputs: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
        weight = rng.normal(0, 0.3, (outputs, inputs)).astype(np.float32)
        return weight, rng.normal(0, 0.3, outputs).astype(np.float32)

    size = sleuth.observation_size(options, record)
    inputs = rng.integers(size, size=(NUM_GEMS, 5), dtype=np.int32)
    layers = [layer(size, 32), layer(32, 16), layer(16 + NUM_GEMS * card_network, sleuth.num_actions(options))]
    card_layers = [layer(5, 8), layer(8, 1)] if card_network else []
    network = Mlp(layers, activation, card_layers, inputs if card_network else None)
    return Policy(sleuth, options, record, network, **named)
