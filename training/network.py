"""The learner's network: multi-layer perceptrons for policy and value, with the shared cell network
of `training.cells`.

Axis letters: ``B`` rows, ``N`` numbers of an observation, ``H`` units of the first hidden layer,
    ``A`` actions.
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
from torch.nn.functional import linear

from sleuth_env import sleuth
from sleuth_env.policies.mlp import Layer, Mlp
from sleuth_env.policies.policy import Policy
from sleuth_env.policies.policy_file import PolicyError

from .config import Config, ConfigError, differences
from .relational import RelationalActorCritic, layer_of, set_layer
from .sparse import Product, SparseRows

# Columns of the first layer's matrix that lie together: a block of them fits the processor's second
# cache, where a sparse product picks out its rows.
BLOCK = 128


def begin_logits(last: nn.Linear, config: Config) -> None:
    """Put the initial biases into the policy's last layer, and let a gem's score be added to the
    logit of accusing it.
    """
    actions = accusations(config)
    network = config.network
    bias = [0.0] * sleuth.num_actions(config.options)
    for block, some in config.module.action_blocks(config.options).items():
        bias[some] = [network.initial_bias.get(block, 0.0)] * (some.stop - some.start)
    with torch.no_grad():
        last.bias += torch.tensor(bias, device=last.bias.device)
        if network.card_network is not None:
            last.weight[actions, torch.arange(network.hidden[-1], network.hidden[-1] + len(actions))] = 1.0


class ActorCritic(nn.Module):
    """Policy and value, two perceptrons that share no weights, for observations without their
    zeros.

    Their first layers lie side by side in one matrix, so that the sparse product is done once:
        `first`, [N, 2 H] in blocks of columns, the policy's half first.
    Weights begin orthogonal, those of the policy's last layer small, so that at first nothing but
    the initial biases counts.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        network = config.network
        number = sleuth.num_actions(config.options)
        self.size = sleuth.observation_size(config.options, config.record)
        self.units = network.hidden[0]
        self.widths = [len(part) for part in np.array_split(range(self.units), ceil(self.units / BLOCK))]
        self.first = nn.ParameterList(torch.zeros(self.size, width) for width in 2 * self.widths)
        self.first_bias = nn.Parameter(torch.zeros(2 * self.units))
        self.activation = ACTIVATIONS[network.activation]()
        self.policy_net = perceptron(network.hidden, network.activation, last=True)
        self.value_net = perceptron(network.hidden, network.activation, last=True)
        self.cells = make_cells(config)
        self.action_net = nn.Linear(network.hidden[-1] + num_scores(config), number)
        self.last_value = nn.Linear(network.hidden[-1], 1)
        self._begin(config)

    def _begin(self, config: Config) -> None:
        gain = 2**0.5
        with torch.no_grad():
            for half in self._halves():
                set_blocks(half, nn.init.orthogonal_(torch.empty(self.units, self.size), gain))
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, {self.action_net: 0.01, self.last_value: 1.0}.get(layer, gain))
                nn.init.zeros_(layer.bias)
        begin_logits(self.action_net, config)

    def forward(self, observations: SparseRows, first: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the logits of the actions from ``first`` on (f4 [B, A - first]) and values (f4 [B])."""
        both = self.activation(Product.apply(observations, *self.first) + self.first_bias)
        hidden = self.policy_net(both[:, : self.units])
        if self.cells is not None:
            hidden = torch.cat([hidden, self.cells.of_rows(observations)], dim=1)
        logits = linear(hidden, self.action_net.weight[first:], self.action_net.bias[first:])
        return logits, self.last_value(self.value_net(both[:, self.units :])).squeeze(-1)

    def _halves(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """Give the policy's blocks of the first layer's matrix, and the value's."""
        blocks = list(self.first)
        return blocks[: len(self.widths)], blocks[len(self.widths) :]

    def layers(self) -> list[Layer]:
        """Give the policy's layers but the last."""
        first = torch.cat(self._halves()[0], dim=1).detach().cpu().numpy().T.copy()
        return [(first, self.first_bias[: self.units].detach().cpu().numpy().copy()), *linear_layers(self.policy_net)]

    def policy(self, config: Config, steps: int) -> Policy:
        """Give the policy as a player that needs no torch, after so many steps of a run."""
        return numpy_policy(config, self.layers(), self.action_net, self.cells, steps)

    def load(self, policy: Policy) -> None:
        """Take over the weights of a policy; the value's stay as they are.

        Raises:
            PolicyError: it has another architecture.
        """
        network = policy.network
        cells = [] if self.cells is None else linear_layers(self.cells.layers)
        mine = [*self.layers(), *linear_layers([self.action_net])], cells
        if not isinstance(network, Mlp) or _shapes(*mine) != _shapes(network.layers, network.cells):
            raise PolicyError(f"{policy.name} has another network than the configuration's")
        (first, bias), *others = network.layers
        set_blocks(self._halves()[0], torch.from_numpy(first))
        with torch.no_grad():
            self.first_bias[: self.units] = torch.from_numpy(bias)
        _set_linear([*self.policy_net, self.action_net], others)
        if self.cells is not None:
            _set_linear(self.cells.layers, network.cells)


def set_blocks(blocks: list[nn.Parameter], weight: torch.Tensor) -> None:
    """Put a linear layer's weight (f4 [outputs, inputs]) into blocks of the columns of its
    transpose.
    """
    with torch.no_grad():
        for block, part in zip(blocks, weight.split([block.shape[1] for block in blocks]), strict=True):
            block.copy_(part.T)


def _shapes(*networks: Iterable[Layer]) -> list[list[tuple[int, ...]]]:
    return [[weight.shape for weight, _ in layers] for layers in networks]


def _set_linear(modules: Iterable[nn.Module], layers: Iterable[Layer]) -> None:
    """Put weights into linear layers, see `linear_layers`."""
    for module, layer in zip(_linear(modules), layers, strict=True):
        set_layer(module, layer)


def _linear(modules: Iterable[nn.Module]) -> list[nn.Linear]:
    return [module for module in modules if isinstance(module, nn.Linear)]


def make_network(config: Config) -> ActorCritic | RelationalActorCritic:
    """Make the network that a configuration describes."""
    return RelationalActorCritic(config) if config.network.kind == "relational" else ActorCritic(config)


def device_of(config: Config) -> torch.device:
    """Give the device on which torch computes.

    Raises:
        ConfigError: there is none of this kind.
    """
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: torch finds no GPU here, got 'cuda'; use 'cpu' or 'auto'")
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if config.device == "auto" else config.device)


def check_same(found: Policy, wanted: Policy) -> None:
    """Check that two policies have the same observation and architecture.

    Raises:
        ConfigError: they have not; the message names what differs.
    """
    differing = differences(_described(found), _described(wanted))
    if differing:
        raise ConfigError(f"start: the policy {found.name} has another network: {differing}")


def _described(policy: Policy) -> dict[str, Any]:
    architecture = policy.network.architecture()
    if isinstance(policy.network, Mlp) and not policy.network.cells:
        architecture["cells"] = None  # as in a configuration, where [] is a cell network of one layer
    return {"record": policy.record} | {f"network.{key}": value for key, value in architecture.items()}


def numpy_policy(config: Config, layers: list[Layer], last: nn.Linear, cells: Cells | None, steps: int) -> Policy:
    """Give a network as a player that needs no torch.

    Args:
        config: the run's.
        layers: the policy's but the last.
        last: the one that gives the logits.
        cells: the cell network, if there is one.
        steps: decisions it was trained on.
    """
    shared = () if cells is None else linear_layers(cells.layers)
    inputs = None if cells is None else cells.inputs.cpu().numpy()
    network = Mlp([*layers, *linear_layers([last])], config.network.activation, shared, inputs)
    return Policy(sleuth, config.options, config.record, network, steps=steps)


def linear_layers(modules: Iterable[nn.Module]) -> list[Layer]:
    """Give weight (f4 [outputs, inputs]) and bias (f4 [outputs]) of each linear layer."""
    return [layer_of(module) for module in _linear(modules)]


ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def perceptron(sizes: list[int], activation: str, last: bool) -> nn.Sequential:
    """Make linear layers with an activation after each, or (not ``last``) after each but the last."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
    return nn.Sequential(*layers if last else layers[:-1])


def accusations(config: Config) -> list[int]:
    """List the actions that accuse a gem card, in the order of the gem cards."""
    some = config.module.action_blocks(config.options)["accuse"]
    return list(range(some.start, some.stop))


def gem_inputs(config: Config) -> NDArray[np.int32]:
    """List the inputs that are about each gem card (i4 [G, K]): all blocks of the observation whose
    last axis is the gem cards.
    """
    layout = sleuth.observation_layout(config.options, config.record)
    number = len(accusations(config))
    places = [
        np.arange(layout.size)[layout[block.name]].reshape(-1, number) for block in layout if block.shape[-1] == number
    ]
    return np.concatenate(places).T.astype(np.int32)


class Cells(nn.Module):
    """One small network with the same weights for every gem card, which gives each a score."""

    def __init__(self, config: Config, hidden: list[int]) -> None:
        super().__init__()
        inputs = gem_inputs(config)
        self.layers = perceptron([inputs.shape[1], *hidden, 1], config.network.activation, last=False)
        self.register_buffer("inputs", torch.as_tensor(inputs, dtype=torch.long), persistent=False)
        # Where each number of the observation goes among the inputs of all cells, -1 where nowhere.
        self.places = np.full(sleuth.observation_size(config.options, config.record), -1, np.int32)
        self.places[inputs] = np.arange(inputs.size).reshape(inputs.shape)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Give the scores (f4 [B, G]) for observations (f4 [B, N])."""
        scores: torch.Tensor = self.layers(observations[:, self.inputs]).squeeze(-1)
        return scores

    def of_rows(self, observations: SparseRows) -> torch.Tensor:
        """Give the scores (f4 [B, G]) for observations without their zeros; what many gem cards
        have in common is worked out once.
        """
        different, which = (
            torch.from_numpy(array).to(self.inputs.device)
            for array in observations.cells(self.places, *self.inputs.shape)
        )
        return self.layers(different)[:, 0].index_select(0, which.flatten()).view(which.shape)


def make_cells(config: Config) -> Cells | None:
    """Make the cell network if the configuration has one."""
    return None if config.network.card_network is None else Cells(config, config.network.card_network)


def num_scores(config: Config) -> int:
    """Count the scores that join the policy's last hidden layer."""
    return 0 if config.network.card_network is None else len(accusations(config))
