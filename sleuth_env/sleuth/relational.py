"""A network that treats all opponents alike, and all gems, and all questions.

What is learned of one holds for each. The network is given the features of `relations`. Each
opponent-and-gem is embedded with the weights of all others, then each gem, each opponent and the
whole; a **pair**, an opponent and a question, is scored from its own features, from its gems and
from what is around it. So turning the opponents round turns the logits of their actions round, and
nothing in the weights depends on how many opponents there are. The forward pass is written once,
for any kind of array (see `policies.operations`).
Axis letters: ``B`` rows, ``O`` opponents, ``C`` gem cards, ``Q`` questions, ``E`` units of an
embedding, ``A`` actions. All arrays between are [B, O or 1, C or Q or 1, units].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..policies.mlp import Layer, check_finite
from ..policies.operations import MOST_UNITS, Arrays, Bounds, LayerParts, Operations
from ..policies.policy_file import PolicyError
from .relations import ADDED_TO_HELD, GEMS, VERSION, Relations, relations

# What lies between features and logits then fits in memory, however many rows there are.
ROWS_AT_ONCE = 256
# What a policy file calls a layer, where that is not its name here.
FILE_NAMES = {"pair": "cell"}


class Relational:
    """The network as a part of a `Policy`, and a `policies.operations.GameNetwork` to be learned.

    Args:
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer of `layer_parts`.
        units: of a pair, see `layer_parts`.
        features: the version of the features that it was trained on; None: the present one.

    Raises:
        PolicyError: it was trained on other features, or the layers do not fit the units or the
            features, are not finite, or could give a logit that is not.
    """

    kind = "relational"
    may_differ: tuple[str, ...] = ("num_players",)
    integer_tensors: tuple[str, ...] = ()

    EMBEDDINGS: tuple[str, ...] = ("held", "gem", "opponent", "context")
    SMALL_LAYERS: tuple[str, ...] = ("score", "price", "accuse", "other")
    BIASES: Mapping[str, tuple[str, int]] = {
        "ask": ("score", 0),
        "final": ("score", 1),
        "exchange": ("other", 0),
        "accuse": ("accuse", 0),
        "pass": ("other", 1),
    }

    def __init__(self, layers: Mapping[str, Layer], units: int, features: int | None = None) -> None:
        self.layers: dict[str, Layer] = {
            name: (np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(bias, np.float32))
            for name, (weight, bias) in layers.items()
        }
        self.units = units
        self.features = features

    # --- the network, for any kind of array ---

    @staticmethod
    def make_inputs(options: Any, record: str) -> Relations:
        """Return how features are made of a game's observations."""
        return relations(options, record)

    @staticmethod
    def layer_parts(sizes: Mapping[str, int], units: int) -> LayerParts:
        """Return the outputs of each layer, and the sizes of the parts that its inputs consist of.

        Args:
            sizes: number of features of each kind of entity.
            units: of a pair; embeddings have half as many.
        """
        half = units // 2
        return {
            "held": (half, (sizes["held"], sizes["gem"])),
            "gem": (half, (sizes["gem"], half)),
            "opponent": (half, (sizes["opponent"], half, sizes["context"])),
            "context": (units, (sizes["context"], half, half)),
            "pair": (units, (sizes["pair"], half, sizes["question"], half, half, units)),
            "score": (2, (units,)),
            "price": (3, (units,)),
            "verdict": (half, (half, units)),
            "accuse": (1, (half,)),
            "choice": (units, (units, units)),
            "other": (2, (units,)),
        }

    @staticmethod
    def embed(ops: Operations, entities: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return the embeddings of each opponent-and-gem, each gem, each opponent and the whole."""
        held = ops.relu(ops.linear("held", entities["held"], entities["gem"]))
        gem = ops.relu(ops.linear("gem", entities["gem"], ops.sum(held, 1, 0.5)))
        opponent = ops.relu(ops.linear("opponent", entities["opponent"], ops.sum(held, 2, GEMS), entities["context"]))
        mean_opponent = ops.sum(opponent, 1, 1 / opponent.shape[1])
        context = ops.relu(ops.linear("context", entities["context"], ops.sum(gem, 2, GEMS), mean_opponent))
        return held, gem, opponent, context

    @staticmethod
    def forward(ops: Operations, entities: Mapping[str, Any], inputs: Relations) -> Any:
        """Return the logits of all actions, [B, A]."""
        held, gem, opponent, context = Relational.embed(ops, entities)
        around = (ops.grouped(held), entities["question"], ops.grouped(gem), opponent, context)
        pair = ops.relu(ops.linear("pair", entities["pair"], *around))
        score = ops.linear("score", pair)
        price = ops.linear("price", context)
        ask = score[..., 0][:, :, inputs.ask_question] + price[:, :, 0][:, :, inputs.ask_card_kind]
        accuse = ops.linear("accuse", ops.relu(ops.linear("verdict", gem, context)))
        mean_pair = ops.sum(ops.sum(pair, 2, 1 / pair.shape[2]), 1, 1 / pair.shape[1])
        other = ops.linear("other", ops.relu(ops.linear("choice", context, mean_pair)))
        # In the order of the action blocks: ask, final, exchange, accuse, pass.
        return ops.join([ask, score[..., 1], other[..., 0], accuse, other[..., 1]])

    # --- the network as a player ---

    def fit(self, game: Any, options: Any, record: str) -> None:
        """Check that it plays this game, and get ready."""
        self.inputs = relations(options, record)
        if self.features == 1:
            self._add_features()
        self.features = VERSION if self.features is None else self.features
        if self.features != VERSION:
            raise PolicyError(
                f"it was trained on version {self.features!r} of a relational network's features, "
                f"and this is version {VERSION}"
            )
        parts = self.layer_parts(self.inputs.sizes, self.units)
        for name, (outputs, inputs) in parts.items():
            check_finite(f"layer {FILE_NAMES.get(name, name)}", self.layers[name], outputs, sum(inputs))
        self._arrays = Arrays(self.layers, parts, self.inputs.groups)
        # Every number of an observation is at most 1.
        most = self.inputs.constants.astype(np.float64)
        np.add.at(most, self.inputs.targets, self.inputs.scales)
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = Bounds(self.layers, parts, self.inputs.groups)
            self.forward(bounds, self.inputs.by_entity(most[None]), self.inputs)

    def _add_features(self) -> None:
        """Make a network that was trained on version 1 of the features one that takes no notice of the others."""
        weight, bias = self.layers["held"]
        at = self.inputs.sizes["held"] - ADDED_TO_HELD
        if weight.ndim == 2 and weight.shape[1] >= at:
            self.layers["held"] = np.insert(weight, [at] * ADDED_TO_HELD, 0.0, axis=1), bias
        self.features = VERSION

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the output (f4 [B, A]) for observations (f4 [B, N])."""
        starts = range(0, max(len(observations), 1), ROWS_AT_ONCE)
        return np.concatenate([self._logits(observations[first : first + ROWS_AT_ONCE]) for first in starts])

    def _logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        entities = self.inputs.by_entity(self.inputs.features(observations))
        return np.asarray(self.forward(self._arrays, entities, self.inputs))

    # --- files ---

    def architecture(self) -> dict[str, Any]:
        """Return its description for a file."""
        return {"kind": self.kind, "units": self.units, "features": self.features}

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return its weights for a file."""
        return {
            f"{FILE_NAMES.get(name, name)}.{part}": array
            for name, layer in self.layers.items()
            for part, array in zip(("weight", "bias"), layer, strict=True)
        }

    @classmethod
    def built(cls, architecture: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> Relational:
        """Build what a file describes.

        Nobody has checked the tensors yet; those that are used are taken out.
        """
        units = architecture["units"]
        features = architecture["features"]
        if type(units) is not int or not 2 <= units <= MOST_UNITS or units % 2:
            raise PolicyError(f"units must be an even number from 2 to {MOST_UNITS}, got {units!r}")
        if type(features) is not int:
            raise PolicyError(f"features must be the version of the network's features, got {features!r}")
        no_sizes = dict.fromkeys(("held", "gem", "pair", "question", "opponent", "context"), 0)
        layers = {}
        for name in cls.layer_parts(no_sizes, units):
            prefix = FILE_NAMES.get(name, name)
            layers[name] = (tensors.pop(f"{prefix}.weight"), tensors.pop(f"{prefix}.bias"))
        return cls(layers, units, features)
