"""The learner of sb3-contrib, MaskablePPO: one seat of every game learns, others are opponents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch import nn

from sleuth_env.envs.sb3 import vec_env_class
from sleuth_env.policies.policy import Policy

from .checkpoint import restore_optimizer
from .config import Config, ConfigError
from .learner import Episode, Learned, Opponents
from .network import begin_logits, device_of, linear_layers, make_card_network, num_scores, numpy_policy, perceptron
from .streams import number_of


class Hidden(nn.Module):
    """The hidden layers of policy and value; Stable-Baselines3 puts a linear layer on each."""

    def __init__(self, size: int, config: Config) -> None:
        super().__init__()
        network = config.network
        self.policy_net = perceptron([size, *network.hidden], network.activation, last=True)
        self.value_net = perceptron([size, *network.hidden], network.activation, last=True)
        self.card_network = make_card_network(config)
        self.latent_dim_pi = network.hidden[-1] + num_scores(config)
        self.latent_dim_vf = network.hidden[-1]

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last hidden layers of policy and value."""
        return self.forward_actor(observations), self.forward_critic(observations)

    def forward_actor(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the policy's last hidden layer, to which the score of each card is joined."""
        hidden: torch.Tensor = self.policy_net(observations)
        return hidden if self.card_network is None else torch.cat([hidden, self.card_network(observations)], dim=1)

    def forward_critic(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the value's last hidden layer."""
        hidden: torch.Tensor = self.value_net(observations)
        return hidden


class CardPolicy(MaskableActorCriticPolicy):
    """Stable-Baselines3's policy with these hidden layers."""

    def __init__(self, *arguments: Any, config: Config, **named: Any) -> None:
        self.config = config
        super().__init__(*arguments, **named)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = Hidden(self.features_dim, self.config).to(self.device)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        begin_logits(self.action_net, self.config)

    def player(self, steps: int) -> Policy:
        """Return the policy as a player that needs no torch."""
        layers = linear_layers(self.mlp_extractor.policy_net)
        return numpy_policy(self.config, layers, self.action_net, self.mlp_extractor.card_network, steps)


class Watch(BaseCallback):
    """Note the episodes of a rollout, and end the rollout when a signal has come."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        super().__init__()
        self.stopped = stopped
        self.episodes: list[Episode] = []

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                self.episodes.append(Episode(info["episode"]["r"], info["episode"]["l"], info["win_share"]))
        return not self.stopped()


class MaskableLearner:
    """Learn by MaskablePPO; see `training.learner.Learner`."""

    def __init__(self, config: Config) -> None:
        # The checks of every distribution cost a tenth of the time and can only fail where weights
        # have stopped being numbers.
        torch.distributions.Distribution.set_default_validate_args(False)
        self.config = config
        self.progress = 0.0
        game = config.module
        vec_env = vec_env_class(game, f"{game.NAME.title()}VecEnv")
        # Nobody plays before `set_opponents`.
        self.env = vec_env(config.num_envs, game.DEFAULT_BOT, record=config.record, **asdict(config.options))
        self.model = self._make_model()
        self.model.set_logger(Logger(None, []))
        self.env.seed(number_of(config.seed, "training", "games"))

    def _make_model(self) -> MaskablePPO:
        ppo = self.config.ppo
        return MaskablePPO(
            CardPolicy,
            self.env,
            # Functions of this run's progress: Stable-Baselines3 knows only that of the latest call
            # of `learn`.
            learning_rate=lambda _: ppo.at("learning_rate", self.progress),
            clip_range=lambda _: ppo.at("clip_range", self.progress),
            n_steps=ppo.rollout_steps,
            batch_size=ppo.batch_size,
            n_epochs=ppo.epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            vf_coef=ppo.value_weight,
            max_grad_norm=ppo.max_grad_norm,
            target_kl=ppo.target_kl,
            policy_kwargs={"config": self.config},
            seed=number_of(self.config.seed, "training", "network", bits=32),
            device=device_of(self.config),
        )

    @property
    def network(self) -> CardPolicy:
        """Policy and value."""
        policy: CardPolicy = self.model.policy
        return policy

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        return int(self.model.num_timesteps)

    @property
    def updates(self) -> int:
        """Passes over rollouts so far."""
        return int(self.model._n_updates)

    def learn(self, progress: float, stopped: Callable[[], bool]) -> Learned | None:
        """Collect one rollout and learn from it; None where it was stopped."""
        before = self.steps
        updates = self.updates
        watch = Watch(stopped)
        self.progress = progress
        self.model.ent_coef = self.config.ppo.at("entropy", progress)
        size = self.config.ppo.rollout_steps * self.config.num_envs
        self.model.learn(size, callback=watch, log_interval=None, reset_num_timesteps=False)
        if self.updates == updates:
            self.model.num_timesteps = before
            return None
        statistics = {key: value for key, value in self.model.logger.name_to_value.items() if key.startswith("train/")}
        self.model.logger.dump()
        return Learned(watch.episodes, statistics)

    def load(self, policy: Policy) -> None:
        """Refuse: the value would begin untrained and spoil the policy in the first updates."""
        raise ConfigError(
            "start: only algorithm ppo can begin with a policy (it learns the value first), got maskable_ppo"
        )

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw opponents from these."""
        players = [player for player, _ in opponents.values()]
        self.env.set_opponents(players, [share for _, share in opponents.values()])

    @property
    def seated(self) -> tuple[str, ...]:
        """Nobody: games under way are not stored."""
        return ()

    def policy(self) -> Policy:
        """Return the learner as it is now as a player that needs no torch."""
        return self.network.player(self.steps)

    def state(self) -> dict[str, Any]:
        """Return weights and optimiser.

        Stable-Baselines3 offers neither its generators nor the games under way.
        """
        return {"parameters": self.model.get_parameters()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["parameters"]["policy"])
        restore_optimizer(self.network.optimizer, state["parameters"]["policy.optimizer"])
        self.model.num_timesteps = state["steps"]
        self.model._n_updates = state["updates"]
        # Generators begin again, at every number of steps others.
        seed = self.config.seed
        self.model.set_random_seed(number_of(seed, "training", "network", self.steps, bits=32))
        self.env.seed(number_of(seed, "training", "games", self.steps))

    def close(self) -> None:
        """Do nothing: it has no processes."""
