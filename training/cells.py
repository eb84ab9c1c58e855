"""The network that all gem cards share: what is learned about one gem holds for all (see `sleuth_env.mlp`).

Axis letters: ``B`` rows, ``N`` numbers of an observation, ``G`` gem cards, ``K`` inputs of a cell, ``U`` different cells.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from sleuth_env import sleuth

from .config import Config, verb_of
from .sparse import SparseRows

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def perceptron(sizes: list[int], activation: str, last: bool) -> nn.Sequential:
    """Make linear layers with an activation after each, or (not ``last``) after each but the last."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
    return nn.Sequential(*layers if last else layers[:-1])


def accusations(config: Config) -> list[int]:
    """List the actions that accuse a gem card, in the order of the gem cards."""
    return [action for action in range(sleuth.num_actions(config.options)) if verb_of(action, config.options) == "accuse"]


def gem_inputs(config: Config) -> NDArray[np.int32]:
    """List the inputs that are about each gem card (i4 [G, K]): all blocks of the observation whose last axis is the gem cards."""
    layout, number = sleuth.observation_layout(config.options, config.record), len(accusations(config))
    places = [np.arange(layout.size)[layout[block.name]].reshape(-1, number) for block in layout if block.shape[-1] == number]
    return np.concatenate(places).T.astype(np.int32)


class Cells(nn.Module):
    """One small network with the same weights for every gem card, which gives each a score."""

    def __init__(self, config: Config, hidden: list[int]) -> None:
        super().__init__()
        inputs = gem_inputs(config)
        self.layers = perceptron([inputs.shape[1], *hidden, 1], config.network.activation, last=False)
        self.register_buffer("inputs", torch.as_tensor(inputs, dtype=torch.long), persistent=False)
        # Where each number of the observation goes among the inputs of all cells, -1 where nowhere.
        self.places = np.full(sleuth.observation_size(config.options, config.record), -1, np.int32)
        self.places[inputs] = np.arange(inputs.size).reshape(inputs.shape)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Give the scores (f4 [B, G]) for observations (f4 [B, N])."""
        scores: torch.Tensor = self.layers(observations[:, self.inputs]).squeeze(-1)
        return scores

    def of_rows(self, observations: SparseRows) -> torch.Tensor:
        """Give the scores (f4 [B, G]) for observations without their zeros; what many gem cards have in common is worked out once."""
        different, which = (torch.from_numpy(array).to(self.inputs.device) for array in observations.cells(self.places, *self.inputs.shape))
        return self.layers(different)[:, 0].index_select(0, which.flatten()).view(which.shape)


def make_cells(config: Config) -> Cells | None:
    """Make the cell network if the configuration has one."""
    return None if config.network.cells is None else Cells(config, config.network.cells)


def num_scores(config: Config) -> int:
    """Count the scores that join the policy's last hidden layer."""
    return 0 if config.network.cells is None else len(accusations(config))
