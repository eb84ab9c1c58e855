"""The networks of policies as graphs of ONNX; imported where a file is asked for.

A network of a game's own writes its forward pass once over `operations.Operations`; here the
operations, and the few things that it does with values besides, add nodes to a graph.
Axis letters: see `operations`.
"""

from __future__ import annotations

import dataclasses
import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ..files import write_atomically
from .mlp import Layers, Mlp
from .operations import LayerParts
from .policy import Policy
from .policy_file import PolicyError

# What a graph is given, and what it returns.
INPUT = "observations"
OUTPUT = "logits"
OPSET = 18
IR_VERSION = 10  # which the runtimes of that opset read


class Graph:
    """Nodes and constants, as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def constant(self, value: Any, dtype: Any) -> str:
        """Add a constant and return its name; the same one stands there once."""
        array = np.asarray(value, dtype)
        for name, other in self.constants.items():
            if other.dtype == array.dtype and np.array_equal(other, array):
                return name
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def integers(self, *values: int) -> str:
        """Add a constant of integers, i8 [number]."""
        return self.constant(values, np.int64)

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name


class Value:
    """A value of a graph, with what the forward pass of a network does with arrays.

    Args:
        graph: to which nodes are added.
        name: of the value.
        shape: its shape; the length of the first axis, the rows, is not known and stands as -1.
    """

    def __init__(self, graph: Graph, name: str, shape: tuple[int, ...]) -> None:
        self.graph = graph
        self.name = name
        self.shape = shape

    def __len__(self) -> int:
        raise TypeError("the number of rows is not known")

    def __add__(self, other: Value) -> Value:
        shape = (-1, *np.broadcast_shapes(self.shape[1:], other.shape[1:]))
        return Value(self.graph, self.graph.node("Add", self.name, other.name), shape)

    def reshape(self, *shape: int) -> Value:
        """Return the same numbers in another shape, whose first axis stays the rows."""
        to = self.graph.integers(0, *shape[1:])
        return Value(self.graph, self.graph.node("Reshape", self.name, to), (-1, *shape[1:]))

    def __getitem__(self, index: Any) -> Value:
        """Return a part: by full slices, and one number, array of numbers or range, as in NumPy."""
        places = list(index) if isinstance(index, tuple) else [index]
        if Ellipsis in [place for place in places if not isinstance(place, np.ndarray)]:
            at = next(i for i, place in enumerate(places) if place is Ellipsis)
            places[at : at + 1] = [slice(None)] * (len(self.shape) - len(places) + 1)
        chosen = [(axis, place) for axis, place in enumerate(places) if not _is_full(place)]
        if not chosen:
            return self
        ((axis, place),) = chosen
        length = self.shape[axis]
        if isinstance(place, slice):
            place = np.arange(length)[place]
        numbers = np.asarray(place, np.int64)
        shape = (*self.shape[:axis], *numbers.shape, *self.shape[axis + 1 :])
        name = self.graph.node("Gather", self.name, self.graph.constant(numbers, np.int64), axis=axis)
        return Value(self.graph, name, shape)


def _is_full(place: Any) -> bool:
    return isinstance(place, slice) and place == slice(None)


class Nodes:
    """The operations as nodes of a graph; see `operations.Operations`.

    Args:
        graph: to which nodes are added.
        layers: (weight f4 [outputs, inputs], bias f4 [outputs]) of each layer.
        parts: the shape of each.
        groups: the weight of each item in each group, f4 [S, G].
    """

    def __init__(self, graph: Graph, layers: Any, parts: LayerParts, groups: NDArray[np.float32]) -> None:
        self.graph = graph
        self.layers = layers
        self.parts = parts
        self.groups = groups

    def linear(self, name: str, *parts: Value) -> Value:
        """Apply the layer of this name to the parts of its inputs, broadcast to one another."""
        outputs, sizes = self.parts[name]
        weight, bias = self.layers[name]
        products = []
        for part, block in zip(parts, np.split(weight.T, np.cumsum(sizes)[:-1]), strict=True):
            product = self.graph.node("MatMul", part.name, self.graph.constant(block, np.float32))
            products.append(Value(self.graph, product, (*part.shape[:-1], outputs)))
        total = products[0]
        for product_value in products[1:]:
            total = total + product_value
        return Value(self.graph, self.graph.node("Add", total.name, self.graph.constant(bias, np.float32)), total.shape)

    def relu(self, values: Value) -> Value:
        """Replace negative numbers by zero."""
        return Value(self.graph, self.graph.node("Relu", values.name), values.shape)

    def sum(self, values: Value, axis: int, scale: float) -> Value:
        """Sum over an axis, which stays with a length of 1, and scale."""
        total = self.graph.node("ReduceSum", values.name, self.graph.integers(axis), keepdims=1)
        shape = (*values.shape[:axis], 1, *values.shape[axis + 1 :])
        return Value(self.graph, self.graph.node("Mul", total, self.graph.constant(scale, np.float32)), shape)

    def grouped(self, values: Value) -> Value:
        """Sum over the items of each group, [B, R, S, U] to [B, R, G, U]."""
        groups = self.graph.constant(self.groups.T, np.float32)
        shape = (*values.shape[:2], self.groups.shape[1], values.shape[3])
        return Value(self.graph, self.graph.node("MatMul", groups, values.name), shape)

    def join(self, parts: list[Value]) -> Value:
        """Flatten arrays [B, ...] and put them behind one another, [B, A]."""
        flat = [self.graph.node("Flatten", part.name, axis=1) for part in parts]
        width = sum(prod(part.shape[1:]) for part in parts)
        return Value(self.graph, self.graph.node("Concat", *flat, axis=1), (-1, width))


def write(policy: Policy, path: Path) -> None:
    """Write a policy's network, see `export.to_onnx`."""
    write_atomically(path, model_of(policy).SerializeToString())


def model_of(policy: Policy) -> Any:
    """Return a policy's network as a checked ``onnx.ModelProto``.

    Raises:
        PolicyError: the network is of a kind that cannot be exported.
    """
    network: Any = policy.network
    graph = Graph()
    # Beyond the turns it was trained for an input would leave [0, 1].
    observations = graph.node("Min", INPUT, graph.constant(1.0, np.float32))
    if isinstance(network, Mlp):
        logits = _perceptron(graph, network, observations)
    elif hasattr(network, "layer_parts") and hasattr(network, "forward"):
        logits = _of_game(graph, network, observations)
    else:
        raise PolicyError(f"{policy.name}: a network of the kind {network.kind!r} cannot be exported")
    graph.nodes.append(helper.make_node("Identity", [logits], [OUTPUT]))
    layout = policy.game.observation_layout(policy.options, policy.record)
    rows: list[Any] = ["rows"]
    made = helper.make_graph(
        graph.nodes,
        "policy",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [*rows, layout.size])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [*rows, policy.game.num_actions(policy.options)])],
        [numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(made, producer_name="sleuth-env", opset_imports=[opset], ir_version=IR_VERSION)
    metadata = {
        "game": policy.game.NAME,
        "options": json.dumps(dataclasses.asdict(policy.options)),
        "record": policy.record,
        "observation_hash": layout.digest,
        "steps": str(policy.steps),
    }
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    return model


def _perceptron(graph: Graph, network: Mlp, observations: str) -> str:
    hidden = _applied(graph, network.layers[:-1], network.activation, observations)
    if network.card_layers:
        inputs = graph.constant(network.card_inputs, np.int64)
        gathered = graph.node("Gather", observations, inputs, axis=1)
        last_but_one = _applied(graph, network.card_layers[:-1], network.activation, gathered)
        scores = graph.node("Flatten", _layer(graph, network.card_layers[-1], last_but_one), axis=1)
        hidden = graph.node("Concat", hidden, scores, axis=1)
    return _layer(graph, network.layers[-1], hidden)


def _applied(graph: Graph, layers: Layers, activation: str, values: str) -> str:
    for layer in layers:
        values = graph.node("Relu" if activation == "relu" else "Tanh", _layer(graph, layer, values))
    return values


def _layer(graph: Graph, layer: Any, values: str) -> str:
    weight, bias = layer
    product = graph.node("MatMul", values, graph.constant(weight.T, np.float32))
    return graph.node("Add", product, graph.constant(bias, np.float32))


def _of_game(graph: Graph, network: Any, observations: str) -> str:
    inputs = network.inputs
    parts = network.layer_parts(inputs.sizes, network.units)
    features = _features(graph, inputs, observations)
    nodes = Nodes(graph, network.layers, parts, inputs.groups)
    logits: Value = network.forward(nodes, inputs.by_entity(features), inputs)
    return logits.name


def _features(graph: Graph, inputs: Any, observations: str) -> Value:
    """Add the sums of numbers of the observation that are the features.

    Features of equally many numbers are summed by the same nodes, so that each index of a ScatterND
    stands there once: runtimes add from several threads at a time, and of two additions to the same
    place one may be lost.
    """
    columns = np.repeat(np.arange(len(inputs.starts) - 1), np.diff(inputs.starts))
    size = len(inputs.constants)
    counts = np.bincount(inputs.targets, minlength=size)
    terms = np.argsort(inputs.targets, kind="stable")  # those of a feature stand next to each other
    firsts = np.cumsum(counts) - counts
    # Turned, so that one index stands for a feature of all rows.
    rows = graph.node("Shape", observations, start=0, end=1)
    shape = graph.node("Concat", graph.integers(size), rows, axis=0)
    summed = graph.node("Expand", graph.constant(inputs.constants[:, None], np.float32), shape)
    for count in np.unique(counts[counts > 0]).tolist():
        features = np.flatnonzero(counts == count)
        chosen = terms[firsts[features][:, None] + np.arange(count)]
        gathered = graph.node("Gather", observations, graph.constant(columns[chosen], np.int64), axis=1)
        numbers = graph.node("Mul", gathered, graph.constant(inputs.scales[chosen], np.float32))
        sums = graph.node("ReduceSum", numbers, graph.integers(2), keepdims=0)
        turned = graph.node("Transpose", sums, perm=[1, 0])
        at = graph.constant(features[:, None], np.int64)
        summed = graph.node("ScatterND", summed, at, turned, reduction="add")
    return Value(graph, graph.node("Transpose", summed, perm=[1, 0]), (-1, size))
