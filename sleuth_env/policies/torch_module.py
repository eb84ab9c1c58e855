"""The networks of policies as modules of torch; imported where torch is asked for.

Axis letters: see `operations`.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ..files import write_atomically
from ..layout import INT8_ONE
from .mlp import Layer, Layers, Mlp
from .operations import LayerParts
from .policy import Policy
from .policy_file import PolicyError


def module_of(policy: Policy) -> nn.Module:
    """Return a policy's network as a module, see `export.to_torch`.

    Raises:
        PolicyError: the network is of a kind that cannot be exported.
    """
    network: Any = policy.network
    if isinstance(network, Mlp):
        return Perceptron(network)
    if hasattr(network, "layer_parts") and hasattr(network, "forward"):
        return OfGame(network)
    raise PolicyError(f"{policy.name}: a network of the kind {network.kind!r} cannot be exported")


def write(module: nn.Module, policy: Policy, path: Path) -> None:
    """Write a module as a program of `torch.export` for any number of rows."""
    size = policy.game.observation_layout(policy.options, policy.record).size
    rows = {0: torch.export.Dim("rows")}
    program = torch.export.export(module.eval(), (torch.zeros(2, size),), dynamic_shapes=(rows,))
    content = io.BytesIO()
    torch.export.save(program, content)
    write_atomically(path, content.getvalue())


def set_layer(module: nn.Linear, layer: Layer) -> None:
    """Put weight and bias into a linear layer."""
    with torch.no_grad():
        for parameter, array in zip((module.weight, module.bias), layer, strict=True):
            parameter.copy_(torch.from_numpy(array))


def _linear(layer: Layer) -> nn.Linear:
    outputs, inputs = layer[0].shape
    module = nn.Linear(inputs, outputs)
    set_layer(module, layer)
    return module


def _sequence(layers: Layers, activation: str) -> nn.Sequential:
    """Return linear layers with an activation after each but the last."""
    kind = nn.ReLU if activation == "relu" else nn.Tanh
    modules = [module for layer in layers for module in (_linear(layer), kind())]
    return nn.Sequential(*modules[:-1])


def as_floats(observations: torch.Tensor) -> torch.Tensor:
    """Return observations as floats, which those of the batched environments with ``dtype="int8"`` are not."""
    return observations / INT8_ONE if observations.dtype == torch.int8 else observations


class Perceptron(nn.Module):
    """An `Mlp`."""

    card_inputs: torch.Tensor

    def __init__(self, network: Mlp) -> None:
        super().__init__()
        kind = nn.ReLU() if network.activation == "relu" else nn.Tanh()
        hidden = network.layers[:-1]
        self.hidden = nn.Sequential(*_sequence(hidden, network.activation), kind) if hidden else nn.Identity()
        self.last = _linear(network.layers[-1])
        self.cards = _sequence(network.card_layers, network.activation) if network.card_layers else None
        if network.card_layers:
            # torch cannot write an empty one.
            self.register_buffer("card_inputs", torch.from_numpy(network.card_inputs.astype(np.int64)))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return logits (f4 [B, A]) for observations (f4 [B, N], or i1 [B, N], in which 127 is 1)."""
        observations = as_floats(observations).clamp(max=1.0)
        values = self.hidden(observations)
        if self.cards is not None:
            # index_select, and not an index: the same for any number of rows when it is exported.
            gathered = observations.index_select(1, self.card_inputs.flatten())
            scores = self.cards(gathered.reshape(-1, *self.card_inputs.shape))
            values = torch.cat([values, scores.flatten(1)], dim=1)
        logits: torch.Tensor = self.last(values)
        return logits


class OfGame(nn.Module):
    """A network of a game's own (`operations.GameNetwork`)."""

    columns: torch.Tensor
    targets: torch.Tensor
    scales: torch.Tensor
    constants: torch.Tensor

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.inputs = network.inputs
        self._forward = network.forward
        parts = network.layer_parts(network.inputs.sizes, network.units)
        self.operations = Tensors(network.layers, parts, network.inputs.groups)
        columns = np.repeat(np.arange(len(network.inputs.starts) - 1), np.diff(network.inputs.starts))
        self.register_buffer("columns", torch.from_numpy(columns))
        self.register_buffer("targets", torch.from_numpy(network.inputs.targets.astype(np.int64)))
        self.register_buffer("scales", torch.from_numpy(network.inputs.scales.copy()))
        self.register_buffer("constants", torch.from_numpy(network.inputs.constants.copy()))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return logits (f4 [B, A]) for observations (f4 [B, N], or i1 [B, N], in which 127 is 1)."""
        numbers = as_floats(observations).clamp(max=1.0).index_select(1, self.columns) * self.scales
        begin = self.constants.expand(observations.shape[0], -1)
        features = torch.index_add(begin, 1, self.targets, numbers)
        entities = self.inputs.by_entity(features)
        logits: torch.Tensor = self._forward(self.operations, entities, self.inputs)
        return logits


class TensorOperations:
    """The operations with torch that need no layers; see `operations.Operations`."""

    groups: torch.Tensor  # f4 [G, S], the weight of each item in each group

    def sum(self, values: torch.Tensor, axis: int, scale: float) -> torch.Tensor:
        """Sum over an axis, which stays with a length of 1, and scale."""
        return values.sum(dim=axis, keepdim=True) * scale

    def grouped(self, values: torch.Tensor) -> torch.Tensor:
        """Sum over the items of each group, [B, R, S, U] to [B, R, G, U]."""
        return torch.matmul(self.groups, values)

    def join(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """Flatten arrays [B, ...] and put them behind one another, [B, A]."""
        return torch.cat([part.flatten(1) for part in parts], dim=1)


class Tensors(TensorOperations, nn.Module):
    """All operations, as plainly as can be.

    Args:
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer.
        parts: the shape of each.
        groups: the weight of each item in each group, f4 [S, G].
    """

    def __init__(self, layers: Any, parts: LayerParts, groups: NDArray[np.float32]) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({name: _linear(layers[name]) for name in parts})
        self.register_buffer("groups", torch.from_numpy(groups.T.copy()))

    def linear(self, name: str, *parts: torch.Tensor) -> torch.Tensor:
        """Apply the layer of this name to the parts of its inputs, broadcast to one another."""
        layer: Any = self.layers[name]
        weights = layer.weight.split([part.shape[-1] for part in parts], dim=1)
        total: torch.Tensor = layer.bias
        for part, weight in zip(parts, weights, strict=True):
            total = total + torch.matmul(part, weight.T)
        return total

    def relu(self, values: torch.Tensor) -> torch.Tensor:
        """Replace negative numbers by zero."""
        return values.relu()
