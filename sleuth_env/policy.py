"""A policy file as a player: safetensors with metadata, played without torch.

A file holds the weights of a network, which gives one logit an action, and says for which game, options and observation it was
trained. Nothing in it is executed or unpickled, and everything is checked before it is used.
The network is a multi-layer perceptron. It may have **cells** beside it: a second, small perceptron that gives one score for each
cell (in Sleuth: each gem card) from the inputs that are about this cell, with the same weights for every cell. The scores join the
last hidden layer, so what is learned about one gem holds for all.
A policy plays under the options it was trained for. Only those of `MAY_DIFFER` may be others: they change neither the size of
anything nor what an accusation is worth.
Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation, ``G`` cells, ``K`` inputs of a cell.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bits import kernel
from .policy_file import FORMAT, FORMAT_VERSION, SUFFIX, PolicyError, names_file, pretrained_names, read_policy_file, write_atomically

MAY_DIFFER = ("first_player", "offer_order", "max_turns")
ACTIVATIONS = ("relu", "tanh")
MOST_LAYERS = 16
MOST_LOGIT = 1e30  # far from where single precision overflows
TWO_TO_MINUS_53 = 2.0**-53


Layers = Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]


class Policy:
    """Play a network: a bot.

    Args:
        game: the game module.
        options: the options it was trained for.
        record: the kind of observation it was trained on.
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer; the last one gives the logits.
        activation: "relu" or "tanh", after every layer but the last.
        cells: the layers of the network that all cells share, the last one with a single output; () where there is none.
        cell_inputs: which numbers of the observation each cell's network is given, i4 [G, K].
        greedy: whether to take the best action instead of drawing one by its probability.
        steps: decisions it was trained on.
        name: how tables call it.

    Raises:
        PolicyError: the layers do not fit one another, the observation or the actions, are not finite, or could give a logit that is not.
    """

    def __init__(
        self,
        game: Any,
        options: Any,
        record: str,
        layers: Layers,
        activation: str = "relu",
        cells: Layers = (),
        cell_inputs: NDArray[np.int32] | None = None,
        greedy: bool = False,
        steps: int = 0,
        name: str = "policy",
    ) -> None:
        self.game, self.options, self.record, self.activation = game, options, record, activation
        self.greedy, self.steps, self.name = greedy, steps, name
        if activation not in ACTIVATIONS:
            raise PolicyError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
        size = game.observation_size(options, record)
        self.cell_inputs = np.zeros((0, 0), np.int32) if cell_inputs is None else np.ascontiguousarray(cell_inputs, np.int32)
        self.layers, self.cells = _float32(layers), _float32(cells)
        _check_layers("layer", self.layers, size, game.num_actions(options), len(self.cell_inputs))
        if cells:
            _check_cells(self.cells, self.cell_inputs, size)
        self._check_logits(size)
        self._rules = game.make_rules(options)
        # Transposed, an input's weights lie side by side: the kernel skips the inputs that are zero, which most are.
        self._layers, self._cells = _transposed(self.layers), _transposed(self.cells)

    def _check_logits(self, size: int) -> None:
        """Check that no observation, whose numbers are all from 0 to 1, can make a logit overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            most = self._most(np.ones(size), self.layers[:-1])
            if self.cells:
                score = _most_of_layer(self._most(np.ones(self.cell_inputs.shape[1]), self.cells[:-1]), self.cells[-1])
                most = np.concatenate([most, np.repeat(score, len(self.cell_inputs))])
            # Not a number is not below either.
            if not (_most_of_layer(most, self.layers[-1]) < MOST_LOGIT).all():
                raise PolicyError("the weights are so large that the network's output could overflow")

    def _most(self, most: NDArray[np.float64], layers: Layers) -> NDArray[np.float64]:
        for layer in layers:
            most = _most_of_layer(most, layer)
            most = most if self.activation == "relu" else np.minimum(most, 1)
        return most

    def act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose one legal action a row.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: 64 random bits a row, u8 [B]; the same bits choose the same action.

        Returns:
            Actions, i8 [B]; -1 where nothing is legal.
        """
        if not len(views):
            return np.zeros(0, np.int64)
        observations = np.zeros((len(views), self.game.observation_size(self.options, self.record)), np.float32)
        self.game.write_observations(self._rules, views, observations, self.record)
        actions = np.zeros(len(views), np.int64)
        # Beyond the turns it was trained for an input would leave [0, 1].
        _choose(self.logits(np.minimum(observations, 1)), legal, seeds, self.greedy, actions)
        return actions

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the network's output (f4 [B, A]) for observations (f4 [B, N])."""
        values = self._hidden_values(observations, self._layers[:-1])
        if self.cells:
            gathered = observations[:, self.cell_inputs].reshape(-1, self.cell_inputs.shape[1])
            scores = _applied(self._hidden_values(gathered, self._cells[:-1]), self._cells[-1])
            values = np.concatenate([values, scores.reshape(len(observations), -1)], axis=1)
        return _applied(values, self._layers[-1])

    def _hidden_values(self, values: NDArray[np.float32], layers: Layers) -> NDArray[np.float32]:
        for layer in layers:
            values = _applied(values, layer)
            values = np.maximum(values, 0) if self.activation == "relu" else np.tanh(values)
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "game": self.game.__name__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=import_module(state["game"]))

    def seated(self, options: Any) -> Policy:
        """Give this policy as a player of a game with these options.

        Raises:
            PolicyError: it was trained for other ones.
        """
        trained, asked = dataclasses.asdict(self.options), dataclasses.asdict(options)
        others = [key for key in trained if trained[key] != asked[key] and key not in MAY_DIFFER]
        if others:
            wanted = ", ".join(f"{key}={trained[key]!r} (this game has {asked[key]!r})" for key in others)
            raise PolicyError(f"{self.name} was trained for {wanted}; only {', '.join(MAY_DIFFER)} may differ")
        return self


def _float32(layers: Layers) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    return [(np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(bias, np.float32)) for weight, bias in layers]


def _transposed(layers: Layers) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    return [(np.ascontiguousarray(weight.T), bias) for weight, bias in layers]


def _check_layers(name: str, layers: Layers, inputs: int, outputs: int, joined: int = 0) -> None:
    """Check that layers lead from ``inputs`` to ``outputs`` numbers, ``joined`` more of which join the last layer's inputs."""
    if not 1 <= len(layers) <= MOST_LAYERS:
        raise PolicyError(f"a network has 1 to {MOST_LAYERS} layers, got {len(layers)}")
    sizes = [inputs, *(bias.size for _, bias in layers[:-1])]
    for number, ((weight, bias), before, after) in enumerate(zip(layers, sizes, [*sizes[1:], outputs], strict=True)):
        before += joined if number + 1 == len(layers) else 0
        if weight.shape != (after, before) or bias.shape != (after,):
            raise PolicyError(f"{name} {number} must have weights {(after, before)} and biases {(after,)}, got {weight.shape} and {bias.shape}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise PolicyError(f"{name} {number} has weights that are not finite numbers")


def _most_of_layer(most: NDArray[np.float64], layer: tuple[NDArray[np.float32], NDArray[np.float32]]) -> NDArray[np.float64]:
    """Bound the size of a layer's outputs, where ``most`` (f8 [inputs]) bounds that of its inputs."""
    weight, bias = layer
    return np.asarray(np.abs(weight.astype(np.float64)) @ most + np.abs(bias))


def _check_cells(cells: Layers, inputs: NDArray[np.int32], size: int) -> None:
    if inputs.ndim != 2 or not inputs.size or inputs.min() < 0 or inputs.max() >= size:
        raise PolicyError(f"the cells' inputs must be numbers from 0 to {size - 1} in rows, got the shape {inputs.shape}")
    _check_layers("cell layer", cells, inputs.shape[1], 1)


def _applied(values: NDArray[np.float32], layer: tuple[NDArray[np.float32], NDArray[np.float32]]) -> NDArray[np.float32]:
    outputs = np.empty((len(values), layer[1].size), np.float32)
    _apply_layer(values, *layer, outputs)
    return outputs


@kernel
def _apply_layer(inputs: Any, weight: Any, bias: Any, outputs: Any) -> None:
    """Write inputs @ weight + bias, each row alone and in a fixed order: a matrix product would round by the size of the batch."""
    for b in range(inputs.shape[0]):
        row = outputs[b]
        row[:] = bias
        for i in range(inputs.shape[1]):
            value = inputs[b, i]
            if value != 0.0:
                for j in range(row.size):
                    row[j] += value * weight[i, j]


@kernel
def _choose(logits: Any, legal: Any, seeds: Any, greedy: Any, actions: Any) -> None:
    """Draw from the softmax over the legal actions by inverting its distribution function, or take the best one."""
    chances = np.empty(logits.shape[1])
    for b in range(logits.shape[0]):
        best = -1
        for a in range(logits.shape[1]):
            if legal[b, a] and (best < 0 or logits[b, a] > logits[b, best]):
                best = a
        actions[b] = best
        if greedy or best < 0:
            continue
        total = 0.0
        for a in range(logits.shape[1]):
            chances[a] = math.exp(np.float64(logits[b, a]) - np.float64(logits[b, best])) if legal[b, a] else 0.0
            total += chances[a]
        left = np.float64(seeds[b] >> np.uint64(11)) * TWO_TO_MINUS_53 * total
        for a in range(logits.shape[1]):
            # Strictly, so that an action without a chance is never drawn, not even by the last rounding.
            if left < chances[a]:
                actions[b] = a
                break
            left -= chances[a]


# --- files ---


def save_policy(policy: Policy, path: str | Path, versions: Mapping[str, str], win_share: float | None = None) -> None:
    """Write a policy file, replacing one that is there in a single step.

    Args:
        policy: what to write.
        path: where; ends in ``.safetensors``.
        versions: of the packages that made it.
        win_share: the mean of its win shares in an evaluation.
    """
    from safetensors.numpy import save

    layout = policy.game.observation_layout(policy.options, policy.record)
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": policy.game.NAME,
        "options": json.dumps(dataclasses.asdict(policy.options)),
        "num_players": str(policy.options.num_players),
        "record": policy.record,
        "observation": _blocks(layout),
        "observation_hash": layout.digest,
        "architecture": json.dumps(
            {"kind": "mlp", "hidden": _hidden_sizes(policy.layers), "cells": _hidden_sizes(policy.cells), "activation": policy.activation}
        ),
        "steps": str(policy.steps),
        "versions": json.dumps(dict(versions)),
        "win_share": json.dumps(win_share),
    }
    tensors = _named("layers", policy.layers) | _named("cells", policy.cells)
    if policy.cells:
        tensors["cell_inputs"] = policy.cell_inputs
    write_atomically(Path(path), save(tensors, metadata))


def _blocks(layout: Any) -> str:
    return json.dumps([[block.name, list(block.shape)] for block in layout])


def _hidden_sizes(layers: Layers) -> list[int]:
    return [bias.size for _, bias in layers[:-1]]


def _named(network: str, layers: Layers) -> dict[str, NDArray[Any]]:
    return {f"{network}.{number}.{part}": array for number, layer in enumerate(layers) for part, array in zip(("weight", "bias"), layer, strict=True)}


def load_policy(path: str | Path, game: Any = None, greedy: bool = False) -> Policy:
    """Read a policy file.

    Args:
        path: the file; ``pretrained:4p`` is the one for four players that comes with the package.
        game: the game module; default: Sleuth.
        greedy: see `Policy`.

    Raises:
        PolicyError: it is no policy file, it is damaged, or it is for another game, other options or another observation.
    """
    game = game or import_module("sleuth_env.sleuth")
    metadata, tensors = read_policy_file(path)
    if metadata["game"] != game.NAME:
        raise PolicyError(f"{path} is a policy for the game {metadata['game']!r}, not for {game.NAME!r}")
    try:
        options = game.Options(**metadata["options"])
        layout = game.observation_layout(options, metadata["record"])
    except (TypeError, ValueError) as error:
        raise PolicyError(f"{path}: its options or its kind of observation are not known here: {error}") from error
    if layout.digest != metadata["observation_hash"]:
        raise PolicyError(f"{path} was trained on another observation than this version's ({metadata['observation_hash']}, here {layout.digest})")
    if metadata["num_players"] != options.num_players or json.dumps(metadata["observation"]) != _blocks(layout):
        raise PolicyError(f"{path} contradicts itself: its num_players or its observation is not that of its options")
    try:
        return _built(game, options, metadata, tensors, greedy, Path(path).name.removesuffix(SUFFIX))
    except KeyError as error:
        raise PolicyError(f"{path} lacks {error}") from error
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from error


def _built(game: Any, options: Any, metadata: dict[str, Any], tensors: dict[str, Any], greedy: bool, name: str) -> Policy:
    """Build the network that the metadata describes of tensors that nobody has checked yet."""
    architecture = metadata["architecture"]
    kind, hidden, cells = architecture["kind"], architecture["hidden"], architecture["cells"]
    if kind != "mlp" or not isinstance(hidden, list) or not isinstance(cells, list):
        raise PolicyError(f"unknown architecture {architecture!r}; this version plays 'mlp'")
    layers = [(tensors.pop(f"layers.{number}.weight"), tensors.pop(f"layers.{number}.bias")) for number in range(len(hidden) + 1)]
    cell_inputs, cell_layers = tensors.pop("cell_inputs", None), []
    if cell_inputs is not None or cells:
        cell_layers = [(tensors.pop(f"cells.{number}.weight"), tensors.pop(f"cells.{number}.bias")) for number in range(len(cells) + 1)]
    if tensors:
        raise PolicyError(f"unknown tensors {', '.join(tensors)}")
    sizes = {"hidden": _hidden_sizes(layers), "cells": _hidden_sizes(cell_layers)}
    # As texts, because true == 1.
    wrong = [key for key in sizes if json.dumps(architecture[key]) != json.dumps(sizes[key])]
    if wrong:
        raise PolicyError(f"its architecture says {wrong[0]} = {architecture[wrong[0]]}, its weights are of {sizes[wrong[0]]}")
    return Policy(game, options, metadata["record"], layers, architecture["activation"], cell_layers, cell_inputs, greedy, metadata["steps"], name)


def make_player(text: str, options: Any, game: Any = None, greedy: bool = False) -> Any:
    """Make a player of a bot's name or of a policy file: its path, which ends in ``.safetensors``, or such as ``pretrained:4p``.

    Raises:
        PolicyError: there is no such bot, or the file cannot be read or cannot play with these options.
    """
    game = game or import_module("sleuth_env.sleuth")
    if not isinstance(text, str):
        raise PolicyError(f"a player is named by a text, the name of a bot or the path of a policy file (*{SUFFIX}), got {text!r}")
    if names_file(text):
        return load_policy(text, game, greedy).seated(options)
    if text not in game.BOTS:
        known = ", ".join([*game.BOTS, *pretrained_names()])
        raise PolicyError(f"there is no bot {text[:100]!r}: a player is one of the bots {known}, or a policy file, whose name ends in {SUFFIX}")
    return game.make_bot(text, options)
