"""The learner's network: multi-layer perceptrons for policy and value, with the shared cell network of `sleuth_env.policy`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from sleuth_env import sleuth
from sleuth_env.policy import Policy

from .config import Config, verb_of

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def perceptron(sizes: list[int], activation: str, last: bool) -> nn.Sequential:
    """Make linear layers with an activation after each, or (not ``last``) after each but the last."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
    return nn.Sequential(*layers if last else layers[:-1])


def gem_inputs(config: Config) -> NDArray[np.int32]:
    """List the inputs that are about each gem card (i4 [36, K]): all blocks of the observation whose last axis is the gem cards."""
    layout, number = sleuth.observation_layout(config.options, config.record), len(accusations(config))
    places = [np.arange(layout.size)[layout[block.name]].reshape(-1, number) for block in layout if block.shape[-1] == number]
    return np.concatenate(places).T.astype(np.int32)


def accusations(config: Config) -> list[int]:
    """List the actions that accuse a gem card, in the order of the gem cards."""
    return [action for action in range(sleuth.num_actions(config.options)) if verb_of(action, config.options) == "accuse"]


class Hidden(nn.Module):
    """The hidden layers of policy and value; Stable-Baselines3 puts a linear layer on each."""

    def __init__(self, size: int, config: Config) -> None:
        super().__init__()
        network = config.network
        self.policy_net = perceptron([size, *network.hidden], network.activation, last=True)
        self.value_net = perceptron([size, *network.hidden], network.activation, last=True)
        self.cells: nn.Sequential | None = None
        inputs = gem_inputs(config)
        if network.cells is not None:
            self.cells = perceptron([inputs.shape[1], *network.cells, 1], network.activation, last=False)
        self.register_buffer("inputs", torch.as_tensor(inputs, dtype=torch.long), persistent=False)
        self.latent_dim_pi = network.hidden[-1] + (len(inputs) if self.cells is not None else 0)
        self.latent_dim_vf = network.hidden[-1]

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the last hidden layers of policy and value."""
        return self.forward_actor(observations), self.forward_critic(observations)

    def forward_actor(self, observations: torch.Tensor) -> torch.Tensor:
        """Give the policy's last hidden layer, with the score of each cell joined to it."""
        values: torch.Tensor = self.policy_net(observations)
        if self.cells is None:
            return values
        return torch.cat([values, self.cells(observations[:, self.inputs]).squeeze(-1)], dim=1)

    def forward_critic(self, observations: torch.Tensor) -> torch.Tensor:
        """Give the value's last hidden layer."""
        values: torch.Tensor = self.value_net(observations)
        return values


class CellPolicy(MaskableActorCriticPolicy):
    """Stable-Baselines3's policy with these hidden layers; at first a gem's score is added to the logit of accusing it."""

    def __init__(self, *arguments: Any, config: Config, **named: Any) -> None:
        self.config = config
        super().__init__(*arguments, **named)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = Hidden(self.features_dim, self.config).to(self.device)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        actions, network = accusations(self.config), self.config.network
        bias = [network.initial_bias.get(verb_of(a, self.config.options), 0.0) for a in range(sleuth.num_actions(self.config.options))]
        with torch.no_grad():
            self.action_net.bias += torch.tensor(bias, device=self.device)
            if self.mlp_extractor.cells is not None:
                self.action_net.weight[actions, torch.arange(network.hidden[-1], network.hidden[-1] + len(actions))] = 1.0


def numpy_policy(networks: CellPolicy, config: Config, steps: int) -> Policy:
    """Give a network as a player that needs no torch."""
    hidden = networks.mlp_extractor
    layers = [*_layers(hidden.policy_net), *_layers([networks.action_net])]
    cells = () if hidden.cells is None else _layers(hidden.cells)
    inputs = None if hidden.cells is None else hidden.inputs.cpu().numpy()
    return Policy(sleuth, config.options, config.record, layers, config.network.activation, cells, inputs, steps=steps)


def _layers(modules: Any) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    linear = [module for module in modules if isinstance(module, nn.Linear)]
    return [(layer.weight.detach().cpu().numpy().copy(), layer.bias.detach().cpu().numpy().copy()) for layer in linear]
