"""A network of a game's own with torch, and a value next to it.

It runs the forward pass of `sleuth_env.policies.operations.GameNetwork` on tensors; the value has
embeddings of its own and nothing else of the policy's layers, which cost most. Nothing here knows a
game.
Axis letters: see `sleuth_env.policies.operations`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from sleuth_env.policies.mlp import Layer
from sleuth_env.policies.operations import GameNetwork, LayerParts
from sleuth_env.policies.policy import Policy
from sleuth_env.policies.policy_file import PolicyError
from sleuth_env.policies.torch_module import TensorOperations, set_layer

from .config import Config
from .sparse import SparseRows

# What lies between features and logits then stays in the processor's cache, forwards and backwards.
ROWS_AT_ONCE = 128


class Tensors(TensorOperations, nn.ModuleDict):
    """The operations with torch; see `sleuth_env.policies.operations.Operations`.

    Args:
        parts: the shape of each layer.
        groups: the weight of each item in each group, f4 [S, G].
        small: the layers that begin with small weights.
    """

    def __init__(self, parts: LayerParts, groups: NDArray[np.float32], small: tuple[str, ...]) -> None:
        super().__init__({name: nn.Linear(sum(inputs), outputs) for name, (outputs, inputs) in parts.items()})
        self.register_buffer("groups", torch.from_numpy(groups.T.copy()), persistent=False)
        for name, layer in self.items():
            nn.init.orthogonal_(layer.weight, 0.01 if name in small else 2**0.5)
            nn.init.zeros_(layer.bias)

    def linear(self, name: str, *parts: torch.Tensor) -> torch.Tensor:
        """Apply the layer of this name to the parts of its inputs, broadcast to one another."""
        layer = self[name]
        weights = layer.weight.split([part.shape[-1] for part in parts], dim=1)
        shapes = [part.shape[1:3] for part in parts]
        full = torch.broadcast_shapes(*shapes)
        # Arrays of the full size are what costs time: one product makes it, and the sum of all that
        # is smaller is added in place.
        large = [i for i, shape in enumerate(shapes) if shape == full]
        others = sorted((i for i in range(len(parts)) if i not in large), key=lambda i: shapes[i].numel())
        small = [functional.linear(parts[i], weights[i]) for i in others]
        if not large:
            return sum(small, layer.bias)
        joined = torch.cat([parts[i] for i in large], dim=-1)
        total = functional.linear(joined, torch.cat([weights[i] for i in large], dim=1), layer.bias)
        return total.add_(sum(small[1:], small[0])) if small else total

    def relu(self, values: torch.Tensor) -> torch.Tensor:
        """Replace negative numbers by zero, in place: nobody else has what comes from `linear`."""
        return values.relu_()


class RelationalActorCritic(nn.Module):
    """Policy and value that share no weights; see `training.network.ActorCritic`.

    Args:
        config: the run's.
        network_class: the policy's, one of the game's `NETWORKS`.
    """

    def __init__(self, config: Config, network_class: type[GameNetwork]) -> None:
        super().__init__()
        self.network_class = network_class
        self.size = config.module.observation_layout(config.options, config.record).size
        self.units = config.network.units
        self.inputs = network_class.make_inputs(config.options, config.record)
        parts = network_class.layer_parts(self.inputs.sizes, self.units)
        embeddings = {name: parts[name] for name in network_class.EMBEDDINGS}
        self.actor = Tensors(parts, self.inputs.groups, network_class.SMALL_LAYERS)
        self.critic = Tensors(embeddings, self.inputs.groups, network_class.SMALL_LAYERS)
        self.value = nn.Sequential(nn.Linear(self.units, self.units), nn.ReLU(), nn.Linear(self.units, 1))
        with torch.no_grad():
            for block, bias in config.network.initial_bias.items():
                layer, output = network_class.BIASES[block]
                self.actor[layer].bias[output] += bias

    def forward(self, observations: SparseRows, first: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits of actions from ``first`` on (f4 [B, A - first]), and values (f4 [B])."""
        features = torch.from_numpy(self.inputs.features(observations.dense(self.size).numpy()))
        parts = features.to(self.value[0].weight.device).split(ROWS_AT_ONCE)
        logits, values = zip(*map(self._forward, parts), strict=True)
        return torch.cat(logits)[:, first:], torch.cat(values)

    def _forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits (f4 [B, A]) and values (f4 [B]) by the features (f4 [B, M])."""
        entities = self.inputs.by_entity(features)
        values = self.value(self.network_class.embed(self.critic, entities)[-1]).flatten()
        return self.network_class.forward(self.actor, entities, self.inputs), values

    def policy(self, config: Config, steps: int) -> Policy:
        """Return the policy, after ``steps`` decisions, as a player that needs no torch."""
        layers = {name: layer_of(module) for name, module in self.actor.items()}
        network: Any = self.network_class(layers, self.units)
        return Policy(config.module, config.options, config.record, network, steps=steps)

    def load(self, policy: Policy) -> None:
        """Take over the weights of a policy; the value's stay as they are.

        Raises:
            PolicyError: it has another architecture.
        """
        network: Any = policy.network
        if (
            not isinstance(network, self.network_class)
            or network.units != self.units
            or network.inputs.sizes != self.inputs.sizes
        ):
            raise PolicyError(f"{policy.name} has another network than the configuration's")
        for name, layer in network.layers.items():
            set_layer(self.actor[name], layer)


def layer_of(module: nn.Linear) -> Layer:
    """Return a linear layer's weight (f4 [outputs, inputs]) and bias (f4 [outputs])."""
    return module.weight.detach().cpu().numpy().copy(), module.bias.detach().cpu().numpy().copy()
