"""Proximal policy optimisation by self-play.

Every seat of a game is the learner's or an opponent's. A `PpoLearner` draws who sits where, plays a
rollout (see `training.rollout`), updates its network by it, and can be stored.

Schulman, Wolski, Dhariwal, Radford, Klimov, "Proximal policy optimization algorithms", 2017.
Axis letters: ``B`` games, ``K`` some of them, ``P`` seats, ``A`` actions, ``N`` numbers of an
observation, ``D`` decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sleuth_env.envs.snapshot import generator_of
from sleuth_env.kernels import compiling
from sleuth_env.matches.shards import Pool
from sleuth_env.matches.tasks import StoppedError
from sleuth_env.policies.policy import Policy
from sleuth_env.threads import Threads

from .checkpoint import each_array, restore_optimizer
from .config import Config
from .decisions import Decisions, by_width, entropies, log_probs_of, masked_log_probs
from .games import Actor, Games, collected_apart
from .learner import Learned, Opponents
from .network import check_same, device_of, make_network
from .rollout import ENDED, OPEN, Collected, advantages_of
from .sparse import SparseRows
from .streams import generator_for, generators_for, number_of, words_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# What the curves of a minibatch are called, as in Stable-Baselines3.
CURVES = ("loss", "policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction")


class PpoLearner:
    """Learn from every seat; see `training.learner.Learner`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.game = config.module
        self.steps = 0
        self.updates = 0
        torch.manual_seed(number_of(config.seed, "training", "network"))
        self.device = device_of(config)
        self.network = make_network(config).to(self.device)
        self.actor = Actor(config, self.network)
        self._begin_optimizer()
        self.threads = Threads(config.threads)
        # Who plays the shards; None: this process.
        self.pool: Pool | None = None
        self._begin_streams([])

    def _begin_streams(self, weights: list[int]) -> None:
        """Begin the generators of a training that starts from some weights (see `words_of`), and deal."""
        seed = self.config.seed
        number = self.config.shards
        self.rng, bot_rng = (generator_for(seed, "training", of, weights=weights) for of in ("games", "bots"))
        # A single shard draws from the learner's own.
        rngs = [self.rng], [bot_rng]
        if number > 1:
            rngs = tuple(generators_for(seed, "training", of, number, weights) for of in ("games", "bots"))
        size = self.config.num_envs // number
        self.shards = [Games(self.config, size, *pair) for pair in zip(*rngs, strict=True)]
        for games in self.shards:
            games.deal()

    def _begin_optimizer(self) -> None:
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)

    def load(self, policy: Policy) -> None:
        """Begin with a policy's weights, and with games of its own."""
        check_same(policy, self.policy())
        self.network.load(policy)
        self.network.sharpen(self.config.network.sharpness)
        self._begin_streams(words_of(policy))

    # --- who plays ---

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw the players of games dealt from now on from the learner and these, see `Games.set_opponents`."""
        for games in self.shards:
            games.set_opponents(opponents)

    @property
    def seated(self) -> list[str]:
        """The names of the opponents who sit in games under way."""
        return list(dict.fromkeys(name for games in self.shards for name in games.seated))

    # --- a rollout ---

    def _collect(self, stopped: Callable[[], bool]) -> Collected | None:
        """Play a rollout of every shard; None, with all as before, where it was stopped."""
        # Shards are to be the same wherever they are played.
        actor = self.actor if len(self.shards) == 1 else self.actor.on_cpu()
        if self.pool is not None:
            return self._collect_apart(self.pool, actor, stopped)
        before = [games.position() for games in self.shards]
        parts = []
        for games in self.shards:
            part = games.collect(actor, stopped)
            if part is None:
                for played, position in zip(self.shards, before, strict=True):
                    played.return_to(position)
                return None
            parts.append(part)
        return Collected.joined(parts)

    def _collect_apart(self, pool: Pool, actor: Actor, stopped: Callable[[], bool]) -> Collected | None:
        """Let other processes play, see `_collect`: the network goes to each of them once."""
        opponents = {name: bot for games in self.shards for name, bot in games.opponents.items()}
        play = partial(collected_apart, self.config, actor.network, opponents)
        try:
            found = pool.map(play, [games.position() for games in self.shards], stopped=stopped)
        except StoppedError:
            return None
        for games, (_, position) in zip(self.shards, found, strict=True):
            games.return_to(position)
        return Collected.joined([part for part, _ in found])

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    # --- an update ---

    @property
    def only_value(self) -> bool:
        """Whether only the value is learned yet.

        A policy to start from comes without one, and advantages by an untrained value would spoil
        it.
        """
        return self.config.start is not None and self.steps < self.config.ppo.value_first

    def learn(self, progress: float, stopped: Callable[[], bool]) -> Learned | None:
        """Collect one rollout and learn from it; None, with all as before, where it was stopped."""
        collected = self._collect(stopped)
        if collected is None:
            return None
        statistics = self._update(collected, progress)
        only_value = self.only_value
        self.steps += collected.fresh
        if only_value and not self.only_value:
            # Its count of steps must be that of the policy's weights, too, or the first ones would
            # be several times too long.
            self._begin_optimizer()
        return Learned(collected.episodes, statistics, collected.results)

    def _update(self, collected: Collected, progress: float) -> dict[str, float]:
        """Learn from the decisions that are complete; return the statistics."""
        ppo = self.config.ppo
        decisions = collected.decisions
        followers = collected.followers
        advantages = advantages_of(
            collected.rewards,
            decisions.values,
            collected.final_values,
            followers,
            ppo.gamma,
            ppo.gae_lambda,
        )
        returns = advantages + decisions.values
        complete = np.flatnonzero(followers != OPEN)
        if not len(complete):
            return {}
        settings = {name: ppo.at(name, progress) for name in ("learning_rate", "clip_range", "entropy")}
        means = torch.stack(self._optimise(decisions, advantages, returns, complete, settings)).mean(dim=0).tolist()
        unexplained = float(np.var(advantages[complete]) / (np.var(returns[complete]) + 1e-12))
        statistics = dict(zip(CURVES, means, strict=True)) | {
            "n_updates": self.updates,
            "learning_rate": settings["learning_rate"],
            "clip_range": settings["clip_range"],
            "explained_variance": 1 - unexplained,
        }
        return {f"train/{name}": value for name, value in statistics.items()}

    def _optimise(
        self, decisions: Decisions, advantages: Floats, returns: Floats, complete: Ints, settings: dict[str, float]
    ) -> list[torch.Tensor]:
        """Pass over the decisions in minibatches of about equal size, with a step of Adam for each.

        Args:
            decisions: D of them.
            advantages: f4 [D].
            returns: f4 [D].
            complete: the decisions to learn from, i8 [K].
            settings: "learning_rate", "clip_range" and "entropy", its weight.

        Returns:
            What `CURVES` names, the mean over each minibatch.
        """
        ppo = self.config.ppo
        normalised = (advantages - advantages[complete].mean()) / (advantages[complete].std() + 1e-8)
        parameters = list(self.network.parameters())
        for group in self.optimizer.param_groups:
            group["lr"] = settings["learning_rate"]

        def gradients_of(part: Ints, size: int) -> tuple[tuple[torch.Tensor | None, ...], torch.Tensor]:
            """Return a thread's share of the gradients, and of what `CURVES` names."""
            loss, sums = self._loss(decisions, normalised, returns, part, settings)
            return torch.autograd.grad(loss / size, parameters, allow_unused=True), sums / size

        curves = []
        for _ in range(ppo.epochs):
            self.updates += 1
            for batch in np.array_split(self.rng.permutation(complete), ceil(len(complete) / ppo.batch_size)):
                parts = self.threads.split(batch)
                gradients, means = zip(*self.threads.each(gradients_of, parts, [len(batch)] * len(parts)), strict=True)
                for parameter, *shares in zip(parameters, *gradients, strict=True):
                    parameter.grad = None if shares[0] is None else reduce(torch.Tensor.add_, shares)
                torch.nn.utils.clip_grad_norm_(parameters, ppo.max_grad_norm)
                self.optimizer.step()
                curves.append(reduce(torch.add, means))
                if ppo.target_kl is not None and float(curves[-1][CURVES.index("approx_kl")]) > 1.5 * ppo.target_kl:
                    return curves
        return curves

    def _loss(
        self, decisions: Decisions, advantages: Floats, returns: Floats, batch: Ints, settings: dict[str, float]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss and what `CURVES` names, both summed over some decisions (i8 [K])."""
        widths = by_width(decisions.legal, self.actor.first_offered, batch)
        parts = []
        for rows, first in widths:
            logits, value = self.network(decisions.observations.take(rows), first)
            all_log_probs = masked_log_probs(logits, self._tensor(decisions.legal[rows, first:]).float())
            actions = self._tensor(decisions.actions[rows] - first)
            parts.append((log_probs_of(actions, all_log_probs), entropies(all_log_probs), value))
        log_probs, entropy, values = map(torch.cat, zip(*parts, strict=True))
        order = np.concatenate([rows for rows, _ in widths])
        old_log_probs = self._tensor(decisions.log_probs[order])
        advantage = self._tensor(advantages[order])

        log_ratio = log_probs - old_log_probs
        ratio = log_ratio.exp()
        clip_range = settings["clip_range"]
        clipped_ratio = ratio.clamp(1 - clip_range, 1 + clip_range)
        policy_loss = -torch.min(ratio * advantage, clipped_ratio * advantage).sum()
        value_loss = (values - self._tensor(returns[order])).square().sum()
        entropy_loss = -entropy.sum()
        loss = self.config.ppo.value_weight * value_loss
        if not self.only_value:
            loss = loss + (policy_loss + settings["entropy"] * entropy_loss)

        # This estimate of the divergence is never negative; Schulman, "Approximating KL
        # divergence", 2020.
        approx_kl = (ratio - 1 - log_ratio).sum()
        clip_fraction = ((ratio - 1).abs() > clip_range).float().sum()
        return loss, torch.stack([loss, policy_loss, value_loss, entropy_loss, approx_kl, clip_fraction]).detach()

    # --- what is stored ---

    def policy(self) -> Policy:
        """Return the learner as it is now as a player that needs no torch."""
        return self.network.policy(self.config, self.steps)

    def state(self) -> dict[str, Any]:
        """Return weights, optimiser, generators, games under way and the decisions that wait."""
        # A single shard has the learner's generator.
        games = self.shards[0].state()
        if len(self.shards) > 1:
            games = {"rng": self.rng.bit_generator.state, "shards": [shard.state() for shard in self.shards]}
        return {
            "parameters": {"policy": self.network.state_dict(), "optimizer": self.optimizer.state_dict()},
            "games": each_array(torch.from_numpy, games),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; where it has another number of games, new ones are dealt."""
        self.network.load_state_dict(state["parameters"]["policy"])
        restore_optimizer(self.optimizer, state["parameters"]["optimizer"])
        self.steps = state["steps"]
        self.updates = state["updates"]
        games = each_array(lambda tensor: tensor.cpu().numpy(), state["games"])
        stored = games.get("shards", [games])
        if len(stored) != len(self.shards):
            raise ValueError(f"it has {len(stored)} shards, and the configuration {len(self.shards)}")
        self.rng.bit_generator.state = generator_of(games["rng"]).bit_generator.state
        for shard, state_of_shard in zip(self.shards, stored, strict=True):
            shard.restore(state_of_shard)

    def close(self) -> None:
        """Do nothing: it has no processes."""


def compile_kernels() -> None:
    """Call every kernel of training with the types of arguments that it is called with."""
    # Whoever calls this says so.
    with compiling(announced=False):
        rows = SparseRows.of(np.ones((2, 4), np.float32))
        rows.take(np.arange(2))
        rows.transposed(4)
        rows.distinct_parts(np.arange(4, dtype=np.int32), 2, 2)
        numbers = np.zeros(2, np.float32)
        advantages_of(numbers, numbers, numbers, np.full(2, ENDED), 1.0, 0.95)
