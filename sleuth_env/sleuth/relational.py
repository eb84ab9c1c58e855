"""A network that treats all opponents alike, and all gems, and all questions: what is learned of
one holds for each.

It is given the features of `relations`. Each opponent-and-gem is embedded with the weights of all
others, then each gem, each opponent and the whole; an opponent-and-question, a **cell**, is scored
from its own features, from its gems and from what is around it. So turning the opponents round
turns the logits of their actions round, and nothing in the weights depends on how many opponents
there are. The way from features to logits is written once, for any kind of array: with `Arrays`
here, and with torch in the training. Axis letters: ``B`` rows, ``O`` opponents, ``C`` gem cards,
``Q`` questions, ``E`` units of an embedding, ``A`` actions. All arrays between are [B, O or 1, C or
Q or 1, units].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..game import Game
from ..kernels import kernel
from ..policies.mlp import Layer, apply_layer, check_finite, check_most
from ..policies.policy_file import PolicyError
from .relations import relations

MOST_UNITS = 1024
ROWS_AT_ONCE = 256  # what lies between features and logits then fits in memory, however many rows there are
# Sums over the gems of a question or of everybody are divided by about how many there are.
GEMS = 1 / 12


def layer_parts(sizes: Mapping[str, int], units: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Give the outputs of each layer and the sizes of the parts that its inputs consist of.

    Args:
        sizes: how many features each kind of entity has.
        units: of a cell; embeddings have half as many.
    """
    half = units // 2
    return {
        "held": (half, (sizes["held"], sizes["gem"])),
        "gem": (half, (sizes["gem"], half)),
        "opponent": (half, (sizes["opponent"], half, sizes["context"])),
        "context": (units, (sizes["context"], half, half)),
        "cell": (units, (sizes["cell"], half, sizes["question"], half, half, units)),
        "score": (2, (units,)),
        "price": (3, (units,)),
        "verdict": (half, (half, units)),
        "accuse": (1, (half,)),
        "choice": (units, (units, units)),
        "other": (2, (units,)),
    }


EMBEDDINGS = ("held", "gem", "opponent", "context")


class Way(Protocol):
    """A kind of array and what is done with it."""

    def mix(self, name: str, *parts: Any) -> Any:
        """Apply the layer of this name to parts, which are broadcast to one another and lie one
        behind another in its inputs.
        """
        ...

    def relu(self, values: Any) -> Any:
        """Replace what is negative by zero."""
        ...

    def total(self, values: Any, axis: int, scale: float) -> Any:
        """Sum over an axis, which stays with a length of 1, and scale."""
        ...

    def per_question(self, values: Any) -> Any:
        """Sum over the gems of each question, [B, ., C, E] to [B, ., Q, E], and scale."""
        ...

    def join(self, parts: list[Any]) -> Any:
        """Put arrays [B, ...] behind one another, [B, A]."""
        ...


def embedded(way: Way, features: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Embed each opponent-and-gem, each gem, each opponent and the whole."""
    held = way.relu(way.mix("held", features["held"], features["gem"]))
    gem = way.relu(way.mix("gem", features["gem"], way.total(held, 1, 0.5)))
    opponent = way.relu(way.mix("opponent", features["opponent"], way.total(held, 2, GEMS), features["context"]))
    around = way.total(gem, 2, GEMS), way.total(opponent, 1, 1 / opponent.shape[1])
    return held, gem, opponent, way.relu(way.mix("context", features["context"], *around))


def logits_of(way: Way, features: Mapping[str, Any], relations: Any) -> Any:
    """Give the logits of all actions, [B, A]: for each opponent those of its pairs, for each its
    final questions, exchange, each gem, pass.
    """
    held, gem, opponent, context = embedded(way, features)
    around = way.per_question(held), features["question"], way.per_question(gem), opponent, context
    cell = way.relu(way.mix("cell", features["cell"], *around))
    score = way.mix("score", cell)
    price = way.mix("price", context)
    ask = score[..., 0][:, :, relations.pair_question] + price[:, :, 0][:, :, relations.pair_card_kind]
    accuse = way.mix("accuse", way.relu(way.mix("verdict", gem, context)))
    cells = way.total(way.total(cell, 2, 1 / cell.shape[2]), 1, 1 / cell.shape[1])
    other = way.mix("other", way.relu(way.mix("choice", context, cells)))
    return way.join([ask, score[..., 1], other[..., 0], accuse, other[..., 1]])


def features_of(relations: Any, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the features of all entities (f4 [B, M]) of observations (f4 [B, N])."""
    features = np.repeat(relations.constants[None], len(observations), axis=0)
    _add_features(observations, relations.starts, relations.targets, relations.scales, features)
    return features


def by_entity(relations: Any, features: Any) -> dict[str, Any]:
    """Split features ([B, M]) by kind of entity."""
    found = {}
    at = 0
    for name, shape in relations.shapes.items():
        end = at + shape[0] * shape[1] * shape[2]
        found[name] = features[:, at:end].reshape(len(features), *shape)
        at = end
    return found


@kernel
def _add_features(observations: Any, starts: Any, targets: Any, scales: Any, features: Any) -> None:
    for b in range(observations.shape[0]):
        for i in range(observations.shape[1]):
            value = observations[b, i]
            if value != 0.0:
                for t in range(starts[i], starts[i + 1]):
                    features[b, targets[t]] += value * scales[t]


class Arrays:
    """Go the way with arrays of NumPy, each row alone."""

    def __init__(
        self,
        layers: Mapping[str, Layer],
        parts: Mapping[str, tuple[int, tuple[int, ...]]],
        question_gems: NDArray[np.float32],
    ) -> None:
        self.weights = {name: np.split(layers[name][0].T, np.cumsum(sizes)[:-1]) for name, (_, sizes) in parts.items()}
        self.weights = {
            name: [np.ascontiguousarray(weight) for weight in weights] for name, weights in self.weights.items()
        }
        self.biases = {name: layers[name][1] for name in parts}
        self.question_gems = question_gems * np.float32(GEMS)

    def product(self, values: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
        """Multiply the last axis by a matrix and add a bias."""
        outputs = np.empty((values.size // values.shape[-1], weight.shape[1]), weight.dtype)
        apply_layer(np.ascontiguousarray(values).reshape(-1, values.shape[-1]), weight, bias, outputs)
        return outputs.reshape(*values.shape[:-1], -1)

    def mix(self, name: str, *parts: Any) -> Any:
        """See `Way`."""
        weights = self.weights[name]
        bias = self.biases[name]
        found = self.product(parts[0], weights[0], bias)
        for part, weight in zip(parts[1:], weights[1:], strict=True):
            found = found + self.product(part, weight, np.zeros_like(bias))
        return found

    def relu(self, values: Any) -> Any:
        """See `Way`."""
        return np.maximum(values, 0)

    def total(self, values: Any, axis: int, scale: float) -> Any:
        """See `Way`; one after another, for NumPy's own sums round by the shape of the batch."""
        found = np.zeros_like(values.take([0], axis))
        for i in range(values.shape[axis]):
            found += values.take([i], axis)
        return found * found.dtype.type(scale)

    def per_question(self, values: Any) -> Any:
        """See `Way`."""
        turned = self.product(
            np.moveaxis(values, 2, 3), self.question_gems, np.zeros(self.question_gems.shape[1], values.dtype)
        )
        return np.moveaxis(turned, 3, 2)

    def join(self, parts: list[Any]) -> Any:
        """See `Way`."""
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


class Bounds(Arrays):
    """Go the way with bounds of the size of all numbers: no layer may give one that could overflow."""

    def product(self, values: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
        """Bound the products of numbers."""
        most = np.asarray(values @ np.abs(weight.astype(np.float64)) + np.abs(bias.astype(np.float64)))
        check_most(most)
        return most


class Relational:
    """The network as a part of a `Policy`.

    Args:
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer of `layer_parts`.
        units: see there.
        features: the version of the features that it was trained on; None: the present one.

    Raises:
        PolicyError: it was trained on other features, or the layers do not fit the units or the
            features, are not finite, or could give a logit that is not.
    """

    kind = "relational"
    may_differ: tuple[str, ...] = ("num_players",)
    integer_tensors: tuple[str, ...] = ()

    def __init__(self, layers: Mapping[str, Layer], units: int, features: int | None = None) -> None:
        self.layers = {
            name: (np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(bias, np.float32))
            for name, (weight, bias) in layers.items()
        }
        self.units = units
        self.features = features

    def fit(self, game: Game, options: Any, record: str) -> None:
        """Check that it plays this game, and get ready."""
        self.relations = relations(options, record)
        self.features = self.relations.version if self.features is None else self.features
        if self.features != self.relations.version:
            raise PolicyError(
                f"it was trained on version {self.features!r} of a relational network's features, and this is version {self.relations.version}"
            )
        parts = layer_parts(self.relations.sizes, self.units)
        for name, (outputs, inputs) in parts.items():
            check_finite(f"layer {name}", self.layers[name], outputs, sum(inputs))
        self._way = Arrays(self.layers, parts, self.relations.question_gems)
        most = self.relations.constants.astype(np.float64)
        np.add.at(most, self.relations.targets, self.relations.scales)
        with np.errstate(over="ignore", invalid="ignore"):
            logits_of(
                Bounds(self.layers, parts, self.relations.question_gems),
                by_entity(self.relations, most[None]),
                self.relations,
            )

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the output (f4 [B, A]) for observations (f4 [B, N])."""
        starts = range(0, max(len(observations), 1), ROWS_AT_ONCE)
        return np.concatenate([self._logits(observations[first : first + ROWS_AT_ONCE]) for first in starts])

    def _logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        features = by_entity(self.relations, features_of(self.relations, observations))
        return np.asarray(logits_of(self._way, features, self.relations))

    def architecture(self) -> dict[str, Any]:
        """Describe it for a file."""
        return {"kind": self.kind, "units": self.units, "features": self.features}

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Give its weights for a file."""
        return {
            f"{name}.{part}": array
            for name, layer in self.layers.items()
            for part, array in zip(("weight", "bias"), layer, strict=True)
        }

    @classmethod
    def built(cls, architecture: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> Relational:
        """Build what a file describes of tensors that nobody has checked yet; takes those that it
        uses out.
        """
        units = architecture["units"]
        features = architecture["features"]
        if type(units) is not int or not 2 <= units <= MOST_UNITS or units % 2:
            raise PolicyError(f"units must be an even number from 2 to {MOST_UNITS}, got {units!r}")
        if type(features) is not int:
            raise PolicyError(f"features must be the version of the network's features, got {features!r}")
        names = layer_parts(dict.fromkeys(("held", "gem", "cell", "question", "opponent", "context"), 0), units)
        return cls(
            {name: (tensors.pop(f"{name}.weight"), tensors.pop(f"{name}.bias")) for name in names}, units, features
        )
