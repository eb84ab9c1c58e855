"""The learner's relational network: the way of `sleuth_env.relational` with torch, and a value
beside it.

The value has embeddings of its own, and no cells, which cost most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import linear

from sleuth_env import sleuth
from sleuth_env.policies.mlp import Layer
from sleuth_env.policies.policy import Policy
from sleuth_env.policies.policy_file import PolicyError
from sleuth_env.sleuth.relational import (
    EMBEDDINGS,
    GEMS,
    Relational,
    by_entity,
    embedded,
    features_of,
    layer_parts,
    logits_of,
)

from .config import Config
from .sparse import SparseRows

# Which outputs of which layers are biases of the logits of an action, by its first word.
BIASES = {
    "ask": ("score", 0),
    "final": ("score", 1),
    "accuse": ("accuse", 0),
    "exchange": ("other", 0),
    "pass": ("other", 1),
}
# What lies between features and logits then stays in the processor's cache, forwards and backwards.
ROWS_AT_ONCE = 128
# Small at first, so that nothing but the initial biases counts.
LAST = ("score", "price", "accuse", "other")


class Layers(nn.ModuleDict):
    """Linear layers whose inputs come in parts; see `sleuth_env.relational.Way`."""

    def __init__(self, parts: Mapping[str, tuple[int, tuple[int, ...]]], question_gems: np.ndarray[Any, Any]) -> None:
        super().__init__({name: nn.Linear(sum(inputs), outputs) for name, (outputs, inputs) in parts.items()})
        self.register_buffer(
            "question_gems", torch.from_numpy(question_gems.T.copy() * np.float32(GEMS)), persistent=False
        )
        for name, layer in self.items():
            nn.init.orthogonal_(layer.weight, 0.01 if name in LAST else 2**0.5)
            nn.init.zeros_(layer.bias)

    def mix(self, name: str, *parts: torch.Tensor) -> torch.Tensor:
        """Apply a layer to parts, each with its columns of the weights."""
        layer = self[name]
        weights = layer.weight.split([part.shape[-1] for part in parts], dim=1)
        shapes = [part.shape[1:3] for part in parts]
        most = torch.broadcast_shapes(*shapes)
        # Arrays of the full size are what costs time: one product makes it, and the sum of all that
        # is smaller is added in place.
        large = [i for i, shape in enumerate(shapes) if shape == most]
        found = (
            linear(
                torch.cat([parts[i] for i in large], dim=-1), torch.cat([weights[i] for i in large], dim=1), layer.bias
            )
            if large
            else None
        )
        small = [
            linear(parts[i], weights[i])
            for i in sorted(range(len(parts)), key=lambda i: shapes[i].numel())
            if i not in large
        ]
        if found is None:
            return sum(small, layer.bias)
        return found.add_(sum(small[1:], small[0])) if small else found

    def relu(self, values: torch.Tensor) -> torch.Tensor:
        """Replace what is negative by zero, in place: they come from `mix`, and nobody else has
        them.
        """
        return values.relu_()

    def total(self, values: torch.Tensor, axis: int, scale: float) -> torch.Tensor:
        """Sum over an axis, which stays, and scale."""
        return values.sum(dim=axis, keepdim=True) * scale

    def per_question(self, values: torch.Tensor) -> torch.Tensor:
        """Sum over the gems of each question, and scale."""
        return torch.matmul(self.question_gems, values)

    def join(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """Put arrays behind one another."""
        return torch.cat([part.flatten(1) for part in parts], dim=1)


class RelationalActorCritic(nn.Module):
    """Policy and value that share no weights; see `training.network.ActorCritic`."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.size = sleuth.observation_size(config.options, config.record)
        self.units = config.network.units
        self.relations = sleuth.relations(config.options, config.record)
        parts = layer_parts(self.relations.sizes, self.units)
        self.actor = Layers(parts, self.relations.question_gems)
        self.critic = Layers({name: parts[name] for name in EMBEDDINGS}, self.relations.question_gems)
        self.value = nn.Sequential(nn.Linear(self.units, self.units), nn.ReLU(), nn.Linear(self.units, 1))
        with torch.no_grad():
            for verb, bias in config.network.initial_bias.items():
                layer, output = BIASES[verb]
                self.actor[layer].bias[output] += bias

    def forward(self, observations: SparseRows, first: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the logits of the actions from ``first`` on (f4 [B, A - first]) and values (f4 [B])."""
        made = features_of(self.relations, observations.dense(self.size).numpy())
        features = torch.from_numpy(made).to(self.value[0].weight.device)
        parts = [self._part(part) for part in features.split(ROWS_AT_ONCE)]
        logits, values = zip(*parts, strict=True)
        return torch.cat(logits)[:, first:], torch.cat(values)

    def _part(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        entities = by_entity(self.relations, features)
        values = self.value(embedded(self.critic, entities)[-1]).flatten()
        return logits_of(self.actor, entities, self.relations), values

    def policy(self, config: Config, steps: int) -> Policy:
        """Give the policy as a player that needs no torch, after so many steps of a run."""
        layers = {name: layer_of(linear) for name, linear in self.actor.items()}
        return Policy(sleuth, config.options, config.record, Relational(layers, self.units), steps=steps)

    def load(self, policy: Policy) -> None:
        """Take over the weights of a policy, of whatever number of players; the value's stay as
        they are.

        Raises:
            PolicyError: it has another architecture.
        """
        network = policy.network
        if (
            not isinstance(network, Relational)
            or network.units != self.units
            or network.relations.sizes != self.relations.sizes
        ):
            raise PolicyError(f"{policy.name} has another network than the configuration's")
        for name, layer in network.layers.items():
            set_layer(self.actor[name], layer)


def layer_of(linear: nn.Linear) -> Layer:
    """Give a linear layer's weight (f4 [outputs, inputs]) and bias (f4 [outputs])."""
    return linear.weight.detach().cpu().numpy().copy(), linear.bias.detach().cpu().numpy().copy()


def set_layer(linear: nn.Linear, layer: Layer) -> None:
    """Put weight and bias into a linear layer."""
    with torch.no_grad():
        for parameter, array in zip((linear.weight, linear.bias), layer, strict=True):
            parameter.copy_(torch.from_numpy(array))
