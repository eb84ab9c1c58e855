"""A forward pass that is written once and runs on several kinds of array.

A network of a game's own (`GameNetwork`) describes its layers, and writes its forward pass over
`Operations`: with `Arrays` it plays, with `Bounds` it is checked that nothing can overflow, and the
training has a counterpart with torch. Nothing here knows a game.
Axis letters: ``B`` rows, ``R`` and ``S`` what a network treats alike, ``U`` units, ``G`` groups of
the items of S, ``A`` actions, ``N`` numbers of an observation, ``M`` features. Arrays are
[B, R or 1, S or 1, U].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .mlp import Layer, apply_layer, check_most

# Of each layer: its outputs, and the sizes of the parts that its inputs consist of.
LayerParts = Mapping[str, tuple[int, tuple[int, ...]]]

MOST_UNITS = 1024


class Operations(Protocol):
    """What a forward pass does with a kind of array."""

    def linear(self, name: str, *parts: Any) -> Any:
        """Apply the layer of this name to the parts of its inputs, broadcast to one another."""
        ...

    def relu(self, values: Any) -> Any:
        """Replace negative numbers by zero."""
        ...

    def sum(self, values: Any, axis: int, scale: float) -> Any:
        """Sum over an axis, which stays with a length of 1, and scale."""
        ...

    def grouped(self, values: Any) -> Any:
        """Sum over the items of each group, [B, R, S, U] to [B, R, G, U]."""
        ...

    def join(self, parts: list[Any]) -> Any:
        """Flatten arrays [B, ...] and put them behind one another, [B, A]."""
        ...


class Inputs(Protocol):
    """How the features that a network takes are made of the observations of a game."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Number of features of each kind of entity."""
        ...

    @property
    def groups(self) -> NDArray[np.float32]:
        """The weight of each item in each group, f4 [S, G]."""
        ...

    @property
    def constants(self) -> NDArray[np.float32]:
        """What the features begin with, f4 [M]."""
        ...

    @property
    def starts(self) -> NDArray[np.int32]:
        """Where each number of the observation begins in the next two, and the end, i4 [N + 1]."""
        ...

    @property
    def targets(self) -> NDArray[np.int32]:
        """The features to which numbers of the observation are added, i4."""
        ...

    @property
    def scales(self) -> NDArray[np.float32]:
        """By what the numbers are multiplied before, f4."""
        ...

    def features(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the features of all entities (f4 [B, M]) of observations (f4 [B, N])."""
        ...

    def by_entity(self, features: Any) -> dict[str, Any]:
        """Split features ([B, M], any kind of array) by kind of entity."""
        ...


class GameNetwork(Protocol):
    """What a `policy.Network` of a game's own has so that it can be learned."""

    kind: str
    EMBEDDINGS: tuple[str, ...]  # the layers of `embed`; a value network has its own
    SMALL_LAYERS: tuple[str, ...]  # begin with small weights, so that only the initial biases count
    # Action block -> the layer, and the output of it, whose bias is added to the block's logits.
    BIASES: Mapping[str, tuple[str, int]]
    layers: Mapping[str, Layer]
    units: int
    inputs: Inputs

    def __init__(self, layers: Mapping[str, Layer], units: int) -> None: ...

    @staticmethod
    def make_inputs(options: Any, record: str) -> Inputs:
        """Return how features are made of a game's observations."""
        ...

    @staticmethod
    def layer_parts(sizes: Mapping[str, int], units: int) -> LayerParts:
        """Return the shape of each layer, by the number of features of each kind of entity."""
        ...

    @staticmethod
    def embed(ops: Operations, entities: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the embeddings of entities; the last one is of the whole, [B, 1, 1, U]."""
        ...

    @staticmethod
    def forward(ops: Operations, entities: Mapping[str, Any], inputs: Any) -> Any:
        """Return the logits of all actions, [B, A]."""
        ...


class Arrays:
    """The operations in NumPy, each row alone.

    Args:
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer.
        parts: the shape of each.
        groups: the weight of each item in each group, f4 [S, G].
    """

    def __init__(self, layers: Mapping[str, Layer], parts: LayerParts, groups: NDArray[np.float32]) -> None:
        self.weights = {
            name: [np.ascontiguousarray(weight) for weight in np.split(layers[name][0].T, np.cumsum(sizes)[:-1])]
            for name, (_, sizes) in parts.items()
        }
        self.biases = {name: layers[name][1] for name in parts}
        self.groups = groups

    def product(self, values: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
        """Multiply the last axis by a matrix and add a bias."""
        outputs = np.empty((values.size // values.shape[-1], weight.shape[1]), weight.dtype)
        apply_layer(np.ascontiguousarray(values).reshape(-1, values.shape[-1]), weight, bias, outputs)
        return outputs.reshape(*values.shape[:-1], weight.shape[1])

    def linear(self, name: str, *parts: Any) -> Any:
        """See `Operations`."""
        weights = self.weights[name]
        bias = self.biases[name]
        total = self.product(parts[0], weights[0], bias)
        for part, weight in zip(parts[1:], weights[1:], strict=True):
            total = total + self.product(part, weight, np.zeros_like(bias))
        return total

    def relu(self, values: Any) -> Any:
        """See `Operations`."""
        return np.maximum(values, 0)

    def sum(self, values: Any, axis: int, scale: float) -> Any:
        """See `Operations`; in a fixed order: NumPy's sums round by the shape of the batch."""
        total = np.zeros_like(values.take([0], axis))
        for i in range(values.shape[axis]):
            total += values.take([i], axis)
        return total * total.dtype.type(scale)

    def grouped(self, values: Any) -> Any:
        """See `Operations`."""
        no_bias = np.zeros(self.groups.shape[1], values.dtype)
        return np.moveaxis(self.product(np.moveaxis(values, 2, 3), self.groups, no_bias), 3, 2)

    def join(self, parts: list[Any]) -> Any:
        """See `Operations`."""
        # Not -1, which no rows do not settle.
        return np.concatenate([part.reshape(len(part), math.prod(part.shape[1:])) for part in parts], axis=1)


class Bounds(Arrays):
    """The operations on bounds of the size of all numbers; what could overflow is refused."""

    def product(self, values: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
        """Bound a product.

        Raises:
            PolicyError: the bound is too large.
        """
        most = np.asarray(values @ np.abs(weight.astype(np.float64)) + np.abs(bias.astype(np.float64)))
        check_most(most)
        return most
