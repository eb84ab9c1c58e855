"""Proximal policy optimisation by self-play.

Every seat of a game is the learner's or an opponent's. A `PpoLearner` draws who sits where, plays a
rollout (see `training.rollout`), updates its network by it, and can be stored.

Schulman, Wolski, Dhariwal, Radford, Klimov, "Proximal policy optimization algorithms", 2017.
Axis letters: ``B`` games, ``K`` some of them, ``P`` seats, ``A`` actions, ``N`` numbers of an
observation, ``D`` decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import reduce
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sleuth_env.actions import any_refusal
from sleuth_env.envs.binding import bound
from sleuth_env.envs.snapshot import Snapshot, generator_of
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.game import Bot, Records, opaque
from sleuth_env.kernels import compiling
from sleuth_env.matches.rating import win_shares
from sleuth_env.matches.table import checked_actions
from sleuth_env.policies.policy import Policy
from sleuth_env.threads import Threads

from .checkpoint import each_array, restore_optimizer
from .config import Config
from .decisions import Decisions, by_width, entropies, first_offered, log_probs_of, masked_log_probs, sampled
from .learner import Episode, Learned, Opponents
from .network import check_same, device_of, make_network
from .opponents import LEARNER_PLAYER, results_of
from .rollout import ENDED, OPEN, Rollout, advantages_of
from .sparse import SparseRows, observed
from .streams import generator_for, number_of, words_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Rewards = NDArray[np.float64]

LEARNER_NUMBER = 0  # who sits in a seat; the opponents are counted from 1
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
        self.first_offered = first_offered(config)
        self._begin_optimizer()
        self.threads = Threads(config.threads)
        # The cheapest observation: the learner's own decisions get theirs, which may cost many
        # times as much.
        self.envs = bound(GameVectorEnv, self.game)(
            config.num_envs,
            record=self.game.CHEAPEST_RECORD,
            copy=False,
            threads=config.threads,
            **asdict(config.options),
        )
        self._opponents: dict[str, Bot] = {}  # those who may sit at the tables, in the order of their numbers
        self._names: list[str] = []  # of the opponents, also of those whom a restored game still waits for
        self._shares = np.ones(1)
        self._begin_streams([])

    def _begin_streams(self, weights: list[int]) -> None:
        """Begin the generators of a training that starts from some weights (see `words_of`), and deal."""
        # Two: from the bits that bots are handed nothing else can be told.
        self.rng, self.bot_rng = (
            generator_for(self.config.seed, "training", purpose, weights=weights) for purpose in ("games", "bots")
        )
        self._deal()

    def _begin_optimizer(self) -> None:
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)

    def load(self, policy: Policy) -> None:
        """Begin with a policy's weights, and with games of its own."""
        check_same(policy, self.policy())
        self.network.load(policy)
        self._begin_streams(words_of(policy))

    def _deal(self) -> None:
        """Begin new games; all seats are the learner's until opponents are set."""
        shape = (self.config.num_envs, self.config.options.num_players)
        self.envs.reset(seed=self.rng.integers(2**63, size=shape[0]).tolist())
        self._rows = np.arange(shape[0])
        self._seated = False
        self._players = np.full(shape, LEARNER_NUMBER)
        self._lengths = np.zeros(shape, np.int64)
        self._returns = np.zeros(shape)  # what each seat had got by its last decision
        self._last = np.full(shape, -1)
        self._waiting = Decisions.none(self.envs.num_actions)

    # --- who plays ---

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw the players of games dealt from now on from the learner and these.

        Games under way keep theirs to their end, so that what comes of a game belongs to who played
        it.
        """
        staying = [name for name in self.seated if name not in opponents]
        players = {name: player for name, (player, _) in opponents.items()}
        players |= {name: self._opponents[name] for name in staying}
        number_of_name = {name: number for number, name in enumerate(players, 1)}
        moved = np.array([LEARNER_NUMBER, *(number_of_name.get(name, LEARNER_NUMBER) for name in self._names)])
        self._players = moved[self._players]
        self._names = list(players)
        self._opponents = players
        shares = np.array([self.config.opponents.learner, *(share for _, share in opponents.values())])
        self._shares = np.append(shares / shares.sum(), np.zeros(len(staying)))
        if not self._seated:
            self._players = self._drawn(len(self._players))
            self._seated = True

    @property
    def seated(self) -> list[str]:
        """The names of the opponents who sit in games under way."""
        return [self._names[number - 1] for number in np.unique(self._players).tolist() if number != LEARNER_NUMBER]

    def _drawn(self, games: int) -> Ints:
        """Draw who sits in each seat of new games (i8 [games, P]), in each of them the learner."""
        players = self.rng.choice(len(self._shares), (games, self.config.options.num_players), p=self._shares)
        lacking = np.flatnonzero((players != LEARNER_NUMBER).all(axis=1))
        players[lacking, self.rng.integers(players.shape[1], size=len(lacking))] = LEARNER_NUMBER
        return players

    # --- a rollout ---

    def _collect(self, stopped: Callable[[], bool]) -> Rollout | None:
        goal = self.config.ppo.rollout_steps * self.config.num_envs
        rollout = Rollout(self._waiting, self._last, goal + self.config.num_envs)
        while rollout.fresh < goal:
            if stopped():
                return None
            _, _, terminated, truncated, infos = self.envs.step(self._act(rollout))
            if (terminated | truncated).any():
                self._end(rollout, truncated[:, None] & ~infos["settled"], infos["rewards"])
        return rollout

    def _act(self, rollout: Rollout) -> Ints:
        """Return the actions of whoever is to act in each game; keep the learner's decisions."""
        seats = self.envs.acting_seat
        players = self._players[self._rows, seats]
        rewards = self.envs.earned[self._rows, seats]
        self._returns[self._rows, seats] += rewards
        actions = np.zeros(len(seats), np.int64)
        views = opaque(self.envs.views())
        legal = self.envs.action_masks()
        jobs = [
            (number, rows, self._random(number, rows))
            for number in np.unique(players)
            for rows in self.threads.split(np.flatnonzero(players == number))
        ]

        def chosen(number: int, rows: Ints, random: NDArray[Any]) -> Ints | Decisions:
            seen = views[rows].view(self.game.VIEW)
            if number == LEARNER_NUMBER:
                return self._decide(seen, legal[rows], random)
            return self._choice_of(self._names[number - 1], seen, legal[rows], random)

        for (_, rows, _), found in zip(jobs, self.threads.each(lambda job: chosen(*job), jobs), strict=True):
            if isinstance(found, Decisions):
                rollout.add(found, rows, seats[rows], rewards[rows])
                self._lengths[rows, seats[rows]] += 1
            actions[rows] = found.actions if isinstance(found, Decisions) else found
        return actions

    def _choice_of(self, name: str, views: Records, legal: NDArray[np.uint8], bits: NDArray[np.uint64]) -> Ints:
        """Let an opponent choose in some games, one a row.

        Raises:
            IllegalAction: it has chosen an illegal action.
            MatchError: it has returned something else than one integer for each game.
        """
        bot = self._opponents[name]
        actions = checked_actions(bot, bot.act(views, legal, bits), len(views))
        inside = (actions >= 0) & (actions < legal.shape[1])
        is_legal = inside & (legal[np.arange(len(views)), np.where(inside, actions, 0)] > 0)
        for row in np.flatnonzero(~is_legal)[:1]:
            raise any_refusal(self.game, self.config.options, int(actions[row]), legal[row], f"opponent {name}")
        return actions

    def _random(self, number: int, rows: Ints) -> NDArray[Any]:
        """Draw what a player needs to choose in some games (i8 [K]).

        The learner gets a number in [0, 1) for each (f4 [K, 1]), an opponent 64 bits (u8 [K]).
        """
        if number == LEARNER_NUMBER:
            return self.rng.random((len(rows), 1), np.float32)
        return self.bot_rng.integers(0, 2**64, len(rows), np.uint64)

    def _decide(self, views: Records, legal: NDArray[np.uint8], uniform: Floats) -> Decisions:
        """Let the learner choose in some games, one a row."""
        observations = observed(self.config, views)
        actions = np.zeros(len(views), np.int64)
        log_probs = np.zeros(len(views), np.float32)
        values = np.zeros(len(views), np.float32)
        for rows, first in by_width(legal, self.first_offered, np.arange(len(views))):
            mask = self._tensor(legal[rows, first:]).float()
            with torch.inference_mode():
                logits, value = self.network(observations.take(rows), first)
                all_log_probs = masked_log_probs(logits, mask)
                action = sampled(all_log_probs, mask, self._tensor(uniform[rows]))
                actions[rows] = (action + first).cpu().numpy()
                log_probs[rows] = log_probs_of(action, all_log_probs).cpu().numpy()
                values[rows] = value.cpu().numpy()
        return Decisions(observations, legal, actions, log_probs, values)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _end(self, rollout: Rollout, unsettled: NDArray[np.bool_], rewards: Rewards) -> None:
        """Pay the seats of games that have ended, and seat players at the next ones.

        Args:
            rollout: is told of it.
            unsettled: whose game was cut off before their reward was settled, bool [B, P]: what
                would still have come is estimated.
            rewards: f8 [B, P].
        """
        games, views = self.envs.final_views()
        shares = win_shares(self.envs.final_standings()[1])
        cut = unsettled[games]
        final_values = np.zeros(views.shape, np.float32)
        if cut.any():
            final_values[cut] = self._values(observed(self.config, opaque(views)[cut].view(self.game.VIEW)))
        rollout.end(games, rewards[games], final_values)
        rollout.results += results_of((LEARNER_PLAYER, *self._names), self._players[games], shares)
        learned = self._players[games] == LEARNER_NUMBER
        returns = self._returns[games] + rewards[games]
        rollout.episodes += map(
            Episode, returns[learned].tolist(), self._lengths[games][learned].tolist(), shares[learned].tolist()
        )
        self._players[games] = self._drawn(len(games))
        self._lengths[games] = 0
        self._returns[games] = 0.0

    def _values(self, observations: SparseRows) -> Floats:
        with torch.inference_mode():
            return np.asarray(self.network(observations)[1].cpu())

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
        before = self._position()
        rollout = self._collect(stopped)
        if rollout is None:
            self._return_to(before)
            return None
        decisions = Decisions.joined(rollout.parts)
        if rollout.waiting:
            # These were valued by the network as it was before the last update.
            decisions.values[: rollout.waiting] = self._values(self._waiting.observations)
        statistics = self._update(decisions, rollout, progress)
        only_value = self.only_value
        self.steps += rollout.fresh
        if only_value and not self.only_value:
            # Its count of steps must be that of the policy's weights, too, or the first ones would
            # be several times too long.
            self._begin_optimizer()
        self._waiting, self._last = rollout.left(decisions)
        return Learned(rollout.episodes, statistics, rollout.results)

    def _update(self, decisions: Decisions, rollout: Rollout, progress: float) -> dict[str, float]:
        """Learn from the decisions that are complete; return the statistics."""
        ppo = self.config.ppo
        size = len(decisions)
        followers = rollout.followers[:size]
        advantages = advantages_of(
            rollout.rewards[:size],
            decisions.values,
            rollout.final_values[:size],
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
        widths = by_width(decisions.legal, self.first_offered, batch)
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
        position = self._position()
        games = position | {
            "envs": asdict(position["envs"]),
            "names": self._names,
            "seated": self._seated,
            "last": self._last,
            "waiting": asdict(self._waiting),
        }
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
        for generator, name in ((self.rng, "rng"), (self.bot_rng, "bot_rng")):
            generator.bit_generator.state = generator_of(games[name]).bit_generator.state
        self._deal()
        if len(games["players"]) == self.config.num_envs:
            waiting = games["waiting"]
            decisions = Decisions(**waiting | {"observations": SparseRows(**waiting["observations"])})
            self._check(games, decisions)
            self._return_to(games | {"envs": Snapshot(**games["envs"])})
            self._seated = games["seated"] is True
            self._names = games["names"]
            self._opponents = {}
            self._last = games["last"]
            self._waiting = decisions

    def _check(self, games: dict[str, Any], waiting: Decisions) -> None:
        """Check that what was stored points nowhere outside; the games are checked where they are put back.

        Raises:
            ValueError: it does.
        """
        size = self.game.observation_layout(self.config.options, self.config.record).size
        waiting.check(size, self.envs.num_actions)
        if not isinstance(games["names"], list) or not all(isinstance(name, str) for name in games["names"]):
            raise ValueError("its opponents have no names")
        ends = {
            "players": (np.int64, LEARNER_NUMBER, len(games["names"])),
            "lengths": (np.int64, 0, np.inf),
            "last": (np.int64, -1, len(waiting) - 1),
            "returns": (np.float64, -np.finfo(np.float64).max, np.finfo(np.float64).max),
        }
        for name, (dtype, least, most) in ends.items():
            array = games[name]
            if not isinstance(array, np.ndarray):
                raise ValueError(f"its {name} are no numbers")
            if array.shape != self._players.shape or array.dtype != dtype:
                raise ValueError(f"its {name} are out of range")
            if not ((array >= least) & (array <= most)).all():
                raise ValueError(f"its {name} are out of range")

    def _position(self) -> dict[str, Any]:
        """Take down where the games and the generators are."""
        return {
            "rng": self.rng.bit_generator.state,
            "bot_rng": self.bot_rng.bit_generator.state,
            "envs": self.envs.get_state(),
            "players": self._players.copy(),
            "lengths": self._lengths.copy(),
            "returns": self._returns.copy(),
        }

    def _return_to(self, position: dict[str, Any]) -> None:
        """Go back to where they were."""
        self.rng.bit_generator.state = position["rng"]
        self.bot_rng.bit_generator.state = position["bot_rng"]
        self.envs.set_state(position["envs"])
        self._players = position["players"]
        self._lengths = position["lengths"]
        self._returns = position["returns"]

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
