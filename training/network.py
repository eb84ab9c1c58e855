"""The learner's networks, each a policy and a value: perceptrons with or without a card network, and
a game's own.

The value of a game's own network has embeddings of its own and nothing else of the policy's layers,
which cost most. Nothing here knows a game.
Axis letters: ``B`` rows, ``N`` numbers of an observation, ``H`` units of the first hidden layer,
``A`` actions, ``C`` cards (or what else is scored), ``K`` inputs of a card; for a game's own network
see `sleuth_env.policies.operations`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from sleuth_env.policies.mlp import CARD_KEY, Layer, Mlp
from sleuth_env.policies.operations import GameNetwork, LayerParts
from sleuth_env.policies.policy import Policy
from sleuth_env.policies.policy_file import PolicyError
from sleuth_env.policies.torch_module import TensorOperations, set_layer

from .config import Config, ConfigError, differences
from .sparse import Product, SparseRows

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}
# Columns of the first layer's matrix that lie together: a block of them fits the processor's second
# cache, where a sparse product picks out its rows.
BLOCK = 128
# Rows that a game's own network takes at once: what lies between features and logits then stays in
# that cache, forwards and backwards.
ROWS_AT_ONCE = 128


def make_network(config: Config) -> ActorCritic | RelationalActorCritic:
    """Make the network that a configuration describes.

    Raises:
        ConfigError: its game has no network of this kind, or nothing that a card network could
            score.
    """
    kind = config.network.kind
    if kind == Mlp.kind:
        return ActorCritic(config)
    if kind not in config.module.NETWORKS:
        known = ", ".join([Mlp.kind, *config.module.NETWORKS])
        raise ConfigError(f"network.kind: the game {config.module.NAME!r} has no network {kind!r}, only {known}")
    return RelationalActorCritic(config, config.module.NETWORKS[kind])


def device_of(config: Config) -> torch.device:
    """Return the device on which torch computes.

    Raises:
        ConfigError: there is none of this kind.
    """
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: torch finds no GPU here, got 'cuda'; use 'cpu' or 'auto'")
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if config.device == "auto" else config.device)


# --- what both learners' networks are made of ---


def perceptron(sizes: list[int], activation: str, last: bool) -> nn.Sequential:
    """Make linear layers with an activation after each; after the last one only if ``last``."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
    return nn.Sequential(*layers if last else layers[:-1])


def layer_of(module: nn.Linear) -> Layer:
    """Return a linear layer's weight (f4 [outputs, inputs]) and bias (f4 [outputs])."""
    return module.weight.detach().cpu().numpy().copy(), module.bias.detach().cpu().numpy().copy()


def linear_layers(modules: Iterable[nn.Module]) -> list[Layer]:
    """Return weight (f4 [outputs, inputs]) and bias (f4 [outputs]) of each linear layer."""
    return [layer_of(module) for module in modules if isinstance(module, nn.Linear)]


def begin_logits(last: nn.Linear, config: Config) -> None:
    """Begin the policy's last layer: initial biases, and each card's score added to its logit."""
    blocks = config.module.action_blocks(config.options)
    with torch.no_grad():
        for name, bias in config.network.initial_bias.items():
            last.bias[blocks[name]] += bias
        if config.network.card_network is not None:
            _, actions = scored(config)
            hidden = config.network.hidden[-1]
            numbers = torch.arange(actions.stop - actions.start)
            last.weight[actions.start + numbers, hidden + numbers] = 1.0


def scored(config: Config) -> tuple[str, slice]:
    """Return the axis of the cards that a card network scores, and the actions about each of them.

    Raises:
        ConfigError: the game has no such axis, or several.
    """
    axes = list(config.module.SCORED.items())
    if len(axes) != 1:
        found = f"several ({', '.join(axis for axis, _ in axes)})" if axes else "none"
        raise ConfigError(
            "network.card_network: needs a game with one kind of cards that each have an action, "
            f"{config.module.NAME!r} has {found}"
        )
    axis, block = axes[0]
    return axis, config.module.action_blocks(config.options)[block]


def card_inputs(config: Config) -> NDArray[np.int32]:
    """Return the inputs about each card (i4 [C, K]): all blocks whose last axis is the cards."""
    axis, _ = scored(config)
    layout = config.module.observation_layout(config.options, config.record)
    numbers = np.arange(layout.size)
    blocks = [
        numbers[layout[block.name]].reshape(-1, block.shape[-1]) for block in layout if block.axes[-1:] == (axis,)
    ]
    return np.concatenate(blocks).T.astype(np.int32)


def num_scores(config: Config) -> int:
    """Return the number of scores that join the policy's last hidden layer."""
    return 0 if config.network.card_network is None else len(card_inputs(config))


class CardNetwork(nn.Module):
    """One small network with the same weights for every card, which gives each a score."""

    def __init__(self, config: Config, hidden: list[int]) -> None:
        super().__init__()
        inputs = card_inputs(config)
        self.layers = perceptron([inputs.shape[1], *hidden, 1], config.network.activation, last=False)
        self.register_buffer("inputs", torch.as_tensor(inputs, dtype=torch.long), persistent=False)
        # Where each number of the observation goes among the inputs of all cards, -1 where nowhere.
        size = config.module.observation_layout(config.options, config.record).size
        self.places = np.full(size, -1, np.int32)
        self.places[inputs] = np.arange(inputs.size).reshape(inputs.shape)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the scores (f4 [B, C]) for observations (f4 [B, N])."""
        scores: torch.Tensor = self.layers(observations[:, self.inputs]).squeeze(-1)
        return scores

    def of_rows(self, observations: SparseRows) -> torch.Tensor:
        """Return the scores (f4 [B, C]) for observations without their zeros.

        What many cards have in common is computed once.
        """
        distinct, which = (
            torch.from_numpy(array).to(self.inputs.device)
            for array in observations.distinct_parts(self.places, *self.inputs.shape)
        )
        return self.layers(distinct)[:, 0].index_select(0, which.flatten()).view(which.shape)


def make_card_network(config: Config) -> CardNetwork | None:
    """Make the card network if the configuration has one."""
    hidden = config.network.card_network
    return None if hidden is None else CardNetwork(config, hidden)


def numpy_policy(
    config: Config, layers: list[Layer], last: nn.Linear, card_network: CardNetwork | None, steps: int
) -> Policy:
    """Return a network as a player that needs no torch.

    Args:
        config: the run's.
        layers: the policy's but the last.
        last: the one that gives the logits.
        card_network: if there is one.
        steps: decisions it was trained on.
    """
    card_layers = () if card_network is None else linear_layers(card_network.layers)
    inputs = None if card_network is None else card_network.inputs.cpu().numpy()
    network = Mlp([*layers, *linear_layers([last])], config.network.activation, card_layers, inputs)
    return Policy(config.module, config.options, config.record, network, steps=steps)


# --- the perceptrons of `training.ppo` ---


class ActorCritic(nn.Module):
    """Policy and value: two perceptrons that share no weights.

    They take observations without their zeros. Their first layers lie side by side in one matrix,
    so that the sparse product is done once: `first`, [N, 2 H] in blocks of columns, the policy's
    half first. Weights begin orthogonal, those of the policy's last layer small, so that at first
    only the initial biases count.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        network = config.network
        self.size = config.module.observation_layout(config.options, config.record).size
        self.units = network.hidden[0]
        self.widths = [len(part) for part in np.array_split(range(self.units), ceil(self.units / BLOCK))]
        self.first = nn.ParameterList(torch.zeros(self.size, width) for width in 2 * self.widths)
        self.first_bias = nn.Parameter(torch.zeros(2 * self.units))
        self.activation = ACTIVATIONS[network.activation]()
        self.policy_net = perceptron(network.hidden, network.activation, last=True)
        self.value_net = perceptron(network.hidden, network.activation, last=True)
        self.card_network = make_card_network(config)
        num_actions = config.module.num_actions(config.options)
        self.action_net = nn.Linear(network.hidden[-1] + num_scores(config), num_actions)
        self.last_value = nn.Linear(network.hidden[-1], 1)
        self._begin(config)

    def _begin(self, config: Config) -> None:
        gain = 2**0.5
        with torch.no_grad():
            for half in self._halves():
                set_blocks(half, nn.init.orthogonal_(torch.empty(self.units, self.size), gain))
        gains = {self.action_net: 0.01, self.last_value: 1.0}
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, gains.get(module, gain))
                nn.init.zeros_(module.bias)
        begin_logits(self.action_net, config)

    def forward(self, observations: SparseRows, first: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits of actions from ``first`` on (f4 [B, A - first]), and values (f4 [B])."""
        both = self.activation(Product.apply(observations, *self.first) + self.first_bias)
        hidden = self.policy_net(both[:, : self.units])
        if self.card_network is not None:
            hidden = torch.cat([hidden, self.card_network.of_rows(observations)], dim=1)
        logits = functional.linear(hidden, self.action_net.weight[first:], self.action_net.bias[first:])
        return logits, self.last_value(self.value_net(both[:, self.units :])).squeeze(-1)

    def _halves(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """Return the policy's blocks of the first layer's matrix, and the value's."""
        blocks = list(self.first)
        return blocks[: len(self.widths)], blocks[len(self.widths) :]

    def layers(self) -> list[Layer]:
        """Return the policy's layers but the last."""
        weight = torch.cat(self._halves()[0], dim=1).detach().cpu().numpy().T.copy()
        bias = self.first_bias[: self.units].detach().cpu().numpy().copy()
        return [(weight, bias), *linear_layers(self.policy_net)]

    def sharpen(self, factor: float) -> None:
        """Multiply all logits: the likelier an action is, the more often it is played."""
        multiply([self.action_net], factor)

    def policy(self, config: Config, steps: int) -> Policy:
        """Return the policy, after ``steps`` decisions, as a player that needs no torch."""
        return numpy_policy(config, self.layers(), self.action_net, self.card_network, steps)

    def load(self, policy: Policy) -> None:
        """Take over the weights of a policy; the value's stay as they are.

        Raises:
            PolicyError: it has another architecture.
        """
        network = policy.network
        layers = [*self.layers(), *linear_layers([self.action_net])]
        card_layers = [] if self.card_network is None else linear_layers(self.card_network.layers)
        if (
            not isinstance(network, Mlp)
            or _shapes(network.layers) != _shapes(layers)
            or _shapes(network.card_layers) != _shapes(card_layers)
        ):
            raise PolicyError(f"{policy.name} has another network than the configuration's")
        (weight, bias), *others = network.layers
        set_blocks(self._halves()[0], torch.from_numpy(weight))
        with torch.no_grad():
            self.first_bias[: self.units] = torch.from_numpy(bias)
        _set_linear([*self.policy_net, self.action_net], others)
        if self.card_network is not None:
            _set_linear(self.card_network.layers, network.card_layers)


def set_blocks(blocks: list[nn.Parameter], weight: torch.Tensor) -> None:
    """Put a weight (f4 [outputs, inputs]) into blocks of the columns of its transpose."""
    with torch.no_grad():
        for block, part in zip(blocks, weight.split([block.shape[1] for block in blocks]), strict=True):
            block.copy_(part.T)


def multiply(layers: Iterable[nn.Module], factor: float) -> None:
    """Multiply the weights and biases of layers."""
    with torch.no_grad():
        for layer in layers:
            for parameter in layer.parameters():
                parameter.mul_(factor)


def _shapes(layers: Iterable[Layer]) -> list[tuple[int, ...]]:
    return [weight.shape for weight, _ in layers]


def _set_linear(modules: Iterable[nn.Module], layers: Iterable[Layer]) -> None:
    """Put weights into linear layers, see `linear_layers`."""
    linear_modules = [module for module in modules if isinstance(module, nn.Linear)]
    for module, layer in zip(linear_modules, layers, strict=True):
        set_layer(module, layer)


# --- a game's own network ---


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
    """Policy and value that share no weights; see `ActorCritic`.

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

    def sharpen(self, factor: float) -> None:
        """Multiply all logits, see `ActorCritic.sharpen`."""
        multiply([self.actor[name] for name in self.network_class.SMALL_LAYERS], factor)

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


# --- beginning with a policy ---


def check_same(found: Policy, wanted: Policy, given: str = "start:") -> None:
    """Check that two policies have the same observation and architecture.

    Args:
        found: the policy to begin with.
        wanted: what is configured.
        given: where it was named, for messages.

    Raises:
        ConfigError: they have not; the message names what differs.
    """
    differing = differences(described(found), described(wanted))
    if differing:
        raise ConfigError(f"{given} the policy {found.name} has another network: {differing}")


def described(policy: Policy) -> dict[str, Any]:
    """Return what a policy is in the words of a configuration."""
    architecture = policy.network.architecture()
    if isinstance(policy.network, Mlp) and not policy.network.card_layers:
        # In a configuration [] is a card network of one layer.
        architecture[CARD_KEY] = None
    keys = {key: "card_network" if key == CARD_KEY else key for key in architecture}
    return {"record": policy.record} | {f"network.{keys[key]}": value for key, value in architecture.items()}
