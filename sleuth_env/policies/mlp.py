"""Multi-layer perceptrons in NumPy, which give one logit an action.

One may have a **card network** next to it: a second, small perceptron that gives one score for each
card (or whatever a game's `SCORED` axis lists) from the inputs that are about it, with the same
weights for every card. The scores join the last hidden layer, so what is learned about one card
holds for all.
Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation, ``C`` cards, ``K`` inputs
of a card.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_choice, shown
from ..doors import ANY, ArrayError, array
from ..kernels import kernel
from .policy_file import PolicyError

ACTIVATIONS = ("relu", "tanh")
MOST_LAYERS = 16
MOST_LOGIT = 1e30  # far from where single precision overflows
# What files call the card network: the key of its hidden sizes and the beginning of its tensors'
# names, and the tensor of its inputs.
CARD_KEY = "cells"
CARD_INPUTS_KEY = "cell_inputs"

Layer = tuple[NDArray[np.float32], NDArray[np.float32]]
Layers = Sequence[Layer]


class Mlp:
    """The network as a part of a `Policy`.

    Args:
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer; the last one gives
            the logits.
        activation: "relu" or "tanh", after every layer but the last.
        card_layers: the layers of the card network, the last one with a single output; () where
            there is none.
        card_inputs: which numbers of the observation it is given for each card, i4 [C, K].

    Raises:
        PolicyError: an unknown activation; `fit` raises it where the layers do not fit one another,
            the observation or the actions, are not finite, or could give a logit that is not.
    """

    kind = "mlp"
    may_differ: tuple[str, ...] = ()
    integer_tensors: tuple[str, ...] = (CARD_INPUTS_KEY,)

    def __init__(
        self,
        layers: Layers,
        activation: str = "relu",
        card_layers: Layers = (),
        card_inputs: NDArray[np.int32] | None = None,
    ) -> None:
        self.activation: str = check_choice("activation", activation, ACTIVATIONS, PolicyError)
        no_inputs = np.zeros((0, 0), np.int32)
        self.layers = _float32(layers)
        self.card_layers = _float32(card_layers)
        self.card_inputs = no_inputs if card_inputs is None else _inputs(card_inputs)

    def fit(self, game: Any, options: Any, record: str) -> None:
        """Check that it plays this game, and get ready."""
        size = game.observation_layout(options, record).size
        _check_layers("layer", self.layers, size, game.num_actions(options), len(self.card_inputs))
        if self.card_layers:
            _check_card_network(self.card_layers, self.card_inputs, size)
        self._check_logits(size)
        # Transposed, an input's weights lie side by side: the kernel skips the inputs that are
        # zero, which most are.
        self._layers = _transposed(self.layers)
        self._card_layers = _transposed(self.card_layers)

    def _check_logits(self, size: int) -> None:
        """Check that no observation can make a logit, or a number on the way to one, overflow.

        All numbers of an observation are from 0 to 1.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            most = self._most(np.ones(size), self.layers[:-1])
            if self.card_layers:
                hidden = self._most(np.ones(self.card_inputs.shape[1]), self.card_layers[:-1])
                score = _most_of_layer(hidden, self.card_layers[-1])
                most = np.concatenate([most, np.repeat(score, len(self.card_inputs))])
            check_most(_most_of_layer(most, self.layers[-1]))

    def _most(self, most: NDArray[np.float64], layers: Layers) -> NDArray[np.float64]:
        """Bound the size of hidden layers' outputs, where ``most`` bounds that of their inputs."""
        for layer in layers:
            most = _most_of_layer(most, layer)
            check_most(most)
            most = most if self.activation == "relu" else np.minimum(most, 1)
        return most

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the network's output (f4 [B, A]) for observations (f4 [B, N])."""
        values = self._hidden_values(observations, self._layers[:-1])
        if self.card_layers:
            gathered = observations[:, self.card_inputs].reshape(-1, self.card_inputs.shape[1])
            scores = _applied(self._hidden_values(gathered, self._card_layers[:-1]), self._card_layers[-1])
            values = np.concatenate(
                [values, scores.reshape(len(observations), len(self.card_inputs) * scores.shape[1])], axis=1
            )
        return _applied(values, self._layers[-1])

    def _hidden_values(self, values: NDArray[np.float32], layers: Layers) -> NDArray[np.float32]:
        for layer in layers:
            values = _applied(values, layer)
            values = np.maximum(values, 0) if self.activation == "relu" else np.tanh(values)
        return values

    def architecture(self) -> dict[str, Any]:
        """Return its description for a file."""
        return {
            "kind": self.kind,
            "hidden": _hidden_sizes(self.layers),
            CARD_KEY: _hidden_sizes(self.card_layers),
            "activation": self.activation,
        }

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return its weights for a file."""
        tensors = _named("layers", self.layers) | _named(CARD_KEY, self.card_layers)
        return tensors | ({CARD_INPUTS_KEY: self.card_inputs} if self.card_layers else {})

    @classmethod
    def built(cls, architecture: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> Mlp:
        """Build what a file describes.

        Nobody has checked the tensors yet; those that are used are taken out.
        """
        hidden = architecture["hidden"]
        card_hidden = architecture[CARD_KEY]
        if not isinstance(hidden, list) or not isinstance(card_hidden, list):
            raise PolicyError(f"unknown architecture {dict(architecture)!r}: hidden and {CARD_KEY} must be lists")
        layers = _taken("layers", len(hidden) + 1, tensors)
        card_inputs = tensors.pop(CARD_INPUTS_KEY, None)
        has_card_network = card_inputs is not None or card_hidden
        card_layers = _taken(CARD_KEY, len(card_hidden) + 1, tensors) if has_card_network else []
        sizes = {"hidden": _hidden_sizes(layers), CARD_KEY: _hidden_sizes(card_layers)}
        # As texts, because true == 1.
        wrong = [key for key in sizes if json.dumps(architecture[key]) != json.dumps(sizes[key])]
        if wrong:
            raise PolicyError(
                f"its architecture says {wrong[0]} = {architecture[wrong[0]]}, its weights are of {sizes[wrong[0]]}"
            )
        return cls(layers, architecture["activation"], card_layers, card_inputs)


def _taken(network: str, number: int, tensors: dict[str, NDArray[Any]]) -> list[Layer]:
    """Take the layers of a network out of a file's tensors."""
    return [(tensors.pop(f"{network}.{i}.weight"), tensors.pop(f"{network}.{i}.bias")) for i in range(number)]


def _hidden_sizes(layers: Layers) -> list[int]:
    return [bias.size for _, bias in layers[:-1]]


def _named(network: str, layers: Layers) -> dict[str, NDArray[Any]]:
    return {
        f"{network}.{number}.{part}": array
        for number, layer in enumerate(layers)
        for part, array in zip(("weight", "bias"), layer, strict=True)
    }


def _inputs(card_inputs: Any) -> NDArray[np.int32]:
    """Return the inputs about each card, i4 [C, K].

    Raises:
        PolicyError: they are not such numbers.
    """
    try:
        return np.ascontiguousarray(array("card_inputs", card_inputs, np.int32, (ANY, ANY)))
    except ArrayError as error:
        raise PolicyError(str(error)) from None


def _float32(layers: Layers) -> list[Layer]:
    """Return layers in the form that kernels take.

    Raises:
        PolicyError: they are not pairs of arrays of numbers.
    """
    try:
        arrays = [(np.asarray(weight), np.asarray(bias)) for weight, bias in layers]
        are_numbers = all(array.dtype.kind in "fiu" for layer in arrays for array in layer)
    except (TypeError, ValueError):
        are_numbers = False
    if not are_numbers:
        raise PolicyError(f"layers must be pairs of a weight and a bias, arrays of real numbers, got {shown(layers)}")
    return [
        (np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(bias, np.float32)) for weight, bias in arrays
    ]


def _transposed(layers: Layers) -> list[Layer]:
    return [(np.ascontiguousarray(weight.T), bias) for weight, bias in layers]


def _check_layers(name: str, layers: Layers, inputs: int, outputs: int, joined: int = 0) -> None:
    """Check that layers lead from ``inputs`` to ``outputs`` numbers.

    Args:
        name: of a layer.
        layers: what is checked.
        inputs: of the first layer.
        outputs: of the last layer.
        joined: number of inputs that the last layer has besides.
    """
    if not 1 <= len(layers) <= MOST_LAYERS:
        raise PolicyError(f"a network has 1 to {MOST_LAYERS} layers, got {len(layers)}")
    sizes = [inputs, *(bias.size for _, bias in layers[:-1])]
    for number, ((weight, bias), before, after) in enumerate(zip(layers, sizes, [*sizes[1:], outputs], strict=True)):
        before += joined if number + 1 == len(layers) else 0
        check_finite(f"{name} {number}", (weight, bias), after, before)


def check_finite(name: str, layer: Layer, outputs: int, inputs: int) -> None:
    """Check the shape of a layer, and that its weights are finite."""
    weight, bias = layer
    if weight.shape != (outputs, inputs) or bias.shape != (outputs,):
        raise PolicyError(
            f"{name} must have weights {(outputs, inputs)} and biases {(outputs,)}, got {weight.shape} and {bias.shape}"
        )
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise PolicyError(f"{name} has weights that are not finite numbers")


def check_most(most: NDArray[np.float64]) -> None:
    """Check that bounds of the size of logits are far from where numbers overflow."""
    # Not a number is not below either.
    if not (most < MOST_LOGIT).all():
        raise PolicyError("the weights are so large that the network's output could overflow")


def _most_of_layer(most: NDArray[np.float64], layer: Layer) -> NDArray[np.float64]:
    """Bound the size of a layer's outputs, where ``most`` (f8 [inputs]) bounds its inputs."""
    weight, bias = layer
    return np.asarray(np.abs(weight.astype(np.float64)) @ most + np.abs(bias))


def _check_card_network(layers: Layers, inputs: NDArray[np.int32], size: int) -> None:
    if inputs.ndim != 2 or not inputs.size or inputs.min() < 0 or inputs.max() >= size:
        raise PolicyError(
            f"the card network's inputs must be numbers from 0 to {size - 1} in rows, got the shape {inputs.shape}"
        )
    _check_layers("card layer", layers, inputs.shape[1], 1)


def _applied(values: NDArray[np.float32], layer: Layer) -> NDArray[np.float32]:
    outputs = np.empty((len(values), layer[1].size), np.float32)
    apply_layer(values, *layer, outputs)
    return outputs


@kernel
def apply_layer(inputs: Any, weight: Any, bias: Any, outputs: Any) -> None:
    """Write inputs @ weight + bias.

    Each row is computed alone and in a fixed order: a matrix product would round by the size of the
    batch.
    """
    for b in range(inputs.shape[0]):
        row = outputs[b]
        row[:] = bias
        for i in range(inputs.shape[1]):
            value = inputs[b, i]
            if value != 0.0:
                for j in range(row.size):
                    row[j] += value * weight[i, j]
