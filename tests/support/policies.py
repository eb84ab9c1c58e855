"""Policies with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleuth_env import sleuth
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy
from sleuth_env.sleuth import Options

THREE = Options(num_players=3)
VERSIONS = {"python": "3", "numpy": "2"}


def random_policy(
    options: Options = THREE, record: str = "sheet", cells: bool = True, seed: int = 0, **named: Any
) -> Policy:
    random = np.random.default_rng(seed)

    def layer(inputs: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
        return random.normal(0, 0.3, (outputs, inputs)).astype(np.float32), random.normal(0, 0.3, outputs).astype(
            np.float32
        )

    size = sleuth.observation_size(options, record)
    inputs = random.integers(size, size=(36, 5), dtype=np.int32)
    layers = [layer(size, 32), layer(32, 16), layer(16 + 36 * cells, sleuth.num_actions(options))]
    network = Mlp(layers, cells=[layer(5, 8), layer(8, 1)] if cells else (), cell_inputs=inputs if cells else None)
    return Policy(sleuth, options, record, network, **named)
