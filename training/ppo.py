"""Proximal policy optimisation by self-play: every seat of every game is a learner or a frozen
opponent.

From top to bottom: the **advantage estimate**; the **rollout**, in which decisions are collected;
    the **learner**, which draws players, plays,
updates its network, and can be stored.

A decision belongs to a trajectory: one seat's decisions in one game, in their order, however many
    others decide in between. A seat that is out
decides no more and gets its reward when the game ends; that belongs to its last decision. A
trajectory's last decision is complete when the same seat decides again or the game ends. Where a
rollout ends before that, the decision **waits**: its value bootstraps the one before it, and it is
learned from in the rollout that completes it, with the log-probability with which it was drawn. To
drop it instead would leave out most often the decisions whose outcome is long in coming, wrong
accusations above all.

Schulman, Wolski, Dhariwal, Radford, Klimov, "Proximal policy optimization algorithms", 2017;
Schulman, Moritz, Levine, Jordan, Abbeel, "High-dimensional continuous control using generalized
advantage estimation", 2016. Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of
an observation, ``D`` decisions.
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

from sleuth_env import sleuth
from sleuth_env.envs.snapshot import Snapshot
from sleuth_env.game import Bot, Records, opaque
from sleuth_env.kernels import kernel
from sleuth_env.matches.rating import win_shares
from sleuth_env.policies.policy import Policy
from sleuth_env.sleuth_v0 import SleuthVectorEnv
from sleuth_env.threads import Threads

from . import opponents as league
from .checkpoint import each_array, restore_optimizer
from .config import Config
from .decisions import Decisions, by_width, entropies, masked_log_probs, sampled
from .learner import Episode, Learned, Opponents, Result
from .network import accusations, check_same, device_of, make_network
from .sparse import SparseRows, observed

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# --- the advantage estimate ---

# Instead of the number of the decision that follows in a trajectory: it is not known yet; there is
# none, the game has ended.
OPEN = -1
ENDED = -2


@kernel
def advantages(rewards: Any, values: Any, final_values: Any, followers: Any, gamma: Any, gae_lambda: Any) -> Any:
    """Estimate the advantage of each decision over trajectories that lie between one another
    (generalised advantage estimate).

    Args:
        rewards: f4 [D], between a decision and the same seat's next one, or the game's end.
        values: f4 [D], the network's.
        final_values: f4 [D], the value after a game's truncation; zero after its end by the rules,
            and for who was out or right already.
        followers: i8 [D], the number of the trajectory's next decision, always a greater one, or
            `ENDED` or `OPEN`.
        gamma: the discount of a decision.
        gae_lambda: the estimate's lambda.

    Returns:
        f4 [D]; zero where the follower is `OPEN`, for nothing is known of what comes.
    """
    estimates = np.zeros(rewards.size, np.float32)
    for i in range(rewards.size - 1, -1, -1):
        follower = followers[i]
        if follower >= 0:
            estimates[i] = rewards[i] + gamma * values[follower] - values[i] + gamma * gae_lambda * estimates[follower]
        elif follower == ENDED:
            estimates[i] = rewards[i] + gamma * final_values[i] - values[i]
    return estimates


# --- the rollout ---


class Rollout:
    """Collect decisions and what follows each of them.

    `rewards`, `final_values` and `followers` are what `advantages` takes, with room for all; `last`
    is the number of the last decision of each seat of each game under way (i8 [B, P], -1 where
    there is none).

    Args:
        waiting: decisions of the rollout before that are not complete; they come first.
        last: whose they are.
        room: the most decisions that will be added.
    """

    def __init__(self, waiting: Decisions, last: Ints, room: int) -> None:
        self.waiting = len(waiting)
        self.parts = [waiting]
        self.size = len(waiting)
        self.last = last.copy()
        self.followers = np.full(self.size + room, OPEN, np.int64)
        self.rewards = np.zeros(self.size + room, np.float32)
        self.final_values = np.zeros(self.size + room, np.float32)
        self.episodes: list[Episode] = []
        self.results: list[Result] = []

    @property
    def fresh(self) -> int:
        """How many decisions were added."""
        return self.size - self.waiting

    def add(self, decisions: Decisions, games: Ints, seats: Ints) -> None:
        """Add decisions that seats (i8 [D]) of games (i8 [D], all different) have taken."""
        numbers = np.arange(self.size, self.size + len(decisions))
        before = self.last[games, seats]
        self.followers[before[before >= 0]] = numbers[before >= 0]
        self.last[games, seats] = numbers
        self.parts.append(decisions)
        self.size += len(decisions)

    def end(self, games: Ints, rewards: NDArray[np.float64], final_values: Floats) -> None:
        """End games (i8 [K]) with the rewards and the values after the end of all seats (both [K,
        P]).
        """
        numbers = self.last[games]
        there = numbers >= 0
        self.followers[numbers[there]] = ENDED
        self.rewards[numbers[there]] = rewards[there]
        self.final_values[numbers[there]] = final_values[there]
        self.last[games] = -1

    def left(self, decisions: Decisions) -> tuple[Decisions, Ints]:
        """Give those of all decisions that still wait, and whose they are (i8 [B, P]), for the next
        rollout.
        """
        numbers = np.flatnonzero(self.followers[: self.size] == OPEN)
        return decisions.take(numbers), np.where(self.last >= 0, np.searchsorted(numbers, self.last), -1)


# --- the learner ---

LEARNER = 0  # who sits in a seat; the others are the opponents, counted from 1
# What the curves of a minibatch are called, as in Stable-Baselines3.
CURVES = ("loss", "policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction")


class PpoLearner:
    """Learn from every seat; see `training.learner.Learner`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.steps = 0
        self.updates = 0
        torch.manual_seed(config.seed)
        self.device = device_of(config)
        self.network = make_network(config).to(self.device)
        self.late = accusations(config)[0]
        self._begin_optimizer()
        self.threads = Threads(config.threads)
        # The cheapest observation: the learner's own decisions get theirs, which may cost many
        # times as much.
        self.envs = SleuthVectorEnv(
            config.num_envs, record="raw", copy=False, threads=config.threads, **asdict(config.options)
        )
        # Two generators: from the bits that bots are handed nothing else can be told.
        self.chance, self.bits = (
            np.random.default_rng(sequence) for sequence in np.random.SeedSequence(config.seed).spawn(2)
        )
        self._names: list[str] = []
        self._opponents: list[Bot] = []
        self._shares = np.ones(1)
        self._deal()

    def _begin_optimizer(self) -> None:
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)

    def load(self, policy: Policy) -> None:
        """Begin with a policy's weights."""
        check_same(policy, self.policy())
        self.network.load(policy)

    def _deal(self) -> None:
        """Begin new games; all seats are the learner's until opponents are set."""
        shape = (self.config.num_envs, self.config.options.num_players)
        self.envs.reset(seed=self.chance.integers(2**63, size=shape[0]).tolist())
        self._rows = np.arange(shape[0])
        self._seated = False
        self._players = np.full(shape, LEARNER)
        self._lengths = np.zeros(shape, np.int64)
        self._last = np.full(shape, -1)
        self._waiting = Decisions.none(self.envs.num_actions)

    # Who plays.

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw the players of games dealt from now on from the learner and these; those under way
        keep theirs, but who has left is replaced.
        """
        number_of = {name: number for number, name in enumerate(opponents, 1)}
        moved = np.array([LEARNER, *(number_of.get(name, -1) for name in self._names)])
        self._names = list(opponents)
        self._opponents = [player for player, _ in opponents.values()]
        shares = np.array([self.config.opponents.learner, *(share for _, share in opponents.values())])
        self._shares = shares / shares.sum()
        self._players = moved[self._players]
        gone = np.flatnonzero(self._players < 0)
        self._players.flat[gone] = self.chance.choice(len(shares), len(gone), p=self._shares)
        if not self._seated:
            self._players = self._drawn(len(self._players))
            self._seated = True

    def _drawn(self, games: int) -> Ints:
        """Draw who sits in each seat of new games (i8 [games, P]); a game without the learner gets
        it into one seat.
        """
        players = self.chance.choice(len(self._shares), (games, self.config.options.num_players), p=self._shares)
        lacking = np.flatnonzero((players != LEARNER).all(axis=1))
        players[lacking, self.chance.integers(players.shape[1], size=len(lacking))] = LEARNER
        return players

    # A rollout.

    def _collect(self, stopped: Callable[[], bool]) -> Rollout | None:
        goal = self.config.ppo.rollout_steps * self.config.num_envs
        rollout = Rollout(self._waiting, self._last, goal + self.config.num_envs)
        while rollout.fresh < goal:
            if stopped():
                return None
            _, _, terminated, truncated, infos = self.envs.step(self._act(rollout))
            if (terminated | truncated).any():
                self._end(rollout, infos["truncations"], infos["rewards"])
        return rollout

    def _act(self, rollout: Rollout) -> Ints:
        """Let everybody choose in all games in which he is to act, and keep the learner's
        decisions; give the actions.
        """
        seats = self.envs.acting_seat
        players = self._players[self._rows, seats]
        actions = np.zeros(len(seats), np.int64)
        views = opaque(self.envs.views())
        legal = self.envs.action_masks()
        jobs = [
            (number, rows, self._random(number, rows))
            for number in np.unique(players)
            for rows in self.threads.split(np.flatnonzero(players == number))
        ]

        def chosen(number: int, rows: Ints, chance: NDArray[Any]) -> Ints | Decisions:
            choose = self._decide if number == LEARNER else self._opponents[number - 1].act
            return choose(views[rows].view(sleuth.VIEW), legal[rows], chance)

        for (_, rows, _), found in zip(jobs, self.threads.each(lambda job: chosen(*job), jobs), strict=True):
            if isinstance(found, Decisions):
                rollout.add(found, rows, seats[rows])
                self._lengths[rows, seats[rows]] += 1
            actions[rows] = found.actions if isinstance(found, Decisions) else found
        return actions

    def _random(self, player: int, rows: Ints) -> NDArray[Any]:
        """Draw what a player needs to choose in some games: the learner a number in [0, 1) for each
        (f4 [D, 1]), an opponent 64 bits (u8 [D]).
        """
        return (
            self.chance.random((len(rows), 1), np.float32)
            if player == LEARNER
            else self.bits.integers(0, 2**64, len(rows), np.uint64)
        )

    def _decide(self, views: Records, legal: NDArray[np.uint8], uniform: Floats) -> Decisions:
        """Let the learner choose in some games, one a row."""
        seen = observed(self.config, views)
        number = len(views)
        actions = np.zeros(number, np.int64)
        (drawn, values) = np.zeros((2, number), np.float32)
        for some, first in by_width(legal, self.late, np.arange(number)):
            allowed = self._tensor(legal[some, first:]).float()
            with torch.inference_mode():
                logits, worth = self.network(seen.take(some), first)
                log_probs = masked_log_probs(logits, allowed)
                chosen = sampled(log_probs, allowed, self._tensor(uniform[some]))
                given = chosen + first, log_probs.gather(1, chosen[:, None])[:, 0], worth
            actions[some], drawn[some], values[some] = (tensor.cpu().numpy() for tensor in given)
        return Decisions(seen, legal, actions, drawn, values)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _end(self, rollout: Rollout, truncated: NDArray[np.bool_], rewards: NDArray[np.float64]) -> None:
        """Pay the seats of games that have ended, and seat players at the next ones."""
        games, views = self.envs.final_views()
        cut = truncated[games]
        final_values = np.zeros(views.shape, np.float32)
        if cut.any():
            final_values[cut] = self._values(observed(self.config, opaque(views)[cut].view(sleuth.VIEW)))
        rollout.end(games, rewards[games], final_values)
        shares = win_shares(self.envs.final_standings()[1])
        rollout.results += league.results_of((league.LEARNER_PLAYER, *self._names), self._players[games], shares)
        learned = self._players[games] == LEARNER
        facts = (rewards[games], self._lengths[games], shares)
        rollout.episodes += map(Episode, *(array[learned].tolist() for array in facts))
        self._players[games] = self._drawn(len(games))
        self._lengths[games] = 0

    def _values(self, seen: SparseRows) -> Floats:
        with torch.inference_mode():
            return np.asarray(self.network(seen)[1].cpu())

    # An update.

    @property
    def only_value(self) -> bool:
        """Whether only the value is learned yet: a policy to start from comes without one, and
        advantages of no worth would spoil it.
        """
        return self.config.start is not None and self.steps < self.config.ppo.value_first

    def learn(self, progress: float, stopped: Callable[[], bool]) -> Learned | None:
        """Collect one rollout and learn from it; None where it was stopped, and then all is as
        before.
        """
        before = self._position()
        rollout = self._collect(stopped)
        if rollout is None:
            self._return_to(before)
            return None
        decisions = Decisions.joined(rollout.parts)
        if rollout.waiting:
            # These were valued by the network as it was before the last update.
            decisions.values[: rollout.waiting] = self._values(self._waiting.seen)
        statistics = self._update(decisions, rollout, progress)
        only_value = self.only_value
        self.steps = self.steps + rollout.fresh
        if only_value and not self.only_value:
            # Its count of steps must be that of the policy's weights, too, or the first ones would
            # be several times too long.
            self._begin_optimizer()
        self._waiting, self._last = rollout.left(decisions)
        return Learned(rollout.episodes, statistics, rollout.results)

    def _update(self, decisions: Decisions, rollout: Rollout, progress: float) -> dict[str, float]:
        """Learn from the decisions that are complete."""
        ppo = self.config.ppo
        size = len(decisions)
        arrays = rollout.rewards[:size], decisions.values, rollout.final_values[:size], rollout.followers[:size]
        estimates = advantages(*arrays, ppo.gamma, ppo.gae_lambda)
        complete = np.flatnonzero(rollout.followers[:size] != OPEN)
        if not len(complete):
            return {}
        settings = {name: ppo.at(name, progress) for name in ("learning_rate", "clip_range", "entropy")}
        unexplained = float(np.var(estimates[complete]) / (np.var((estimates + decisions.values)[complete]) + 1e-12))
        means = torch.stack(self._passes(decisions, estimates, complete, settings)).mean(dim=0).tolist()
        counts = {
            "n_updates": self.updates,
            "learning_rate": settings["learning_rate"],
            "clip_range": settings["clip_range"],
        }
        statistics = dict(zip(CURVES, means, strict=True)) | counts | {"explained_variance": 1 - unexplained}
        return {f"train/{name}": value for name, value in statistics.items()}

    def _passes(
        self, decisions: Decisions, estimates: Floats, complete: Ints, settings: dict[str, float]
    ) -> list[torch.Tensor]:
        """Pass over minibatches of about equal size, as often as the settings say; give what
        `CURVES` names for each.
        """
        ppo = self.config.ppo
        returns = estimates + decisions.values
        means = []
        goods = (estimates - estimates[complete].mean()) / (estimates[complete].std() + 1e-8)
        for group in self.optimizer.param_groups:
            group["lr"] = settings["learning_rate"]
        for _ in range(ppo.epochs):
            self.updates += 1
            for rows in np.array_split(self.chance.permutation(complete), ceil(len(complete) / ppo.batch_size)):
                means.append(self._minibatch(decisions, rows, goods, returns, settings))
                if ppo.target_kl is not None and float(means[-1][CURVES.index("approx_kl")]) > 1.5 * ppo.target_kl:
                    return means
        return means

    def _minibatch(
        self, decisions: Decisions, rows: Ints, goods: Floats, returns: Floats, settings: dict[str, float]
    ) -> torch.Tensor:
        """Take one step of the optimiser by some of the decisions; give what `CURVES` names."""

        def judged(part: Ints) -> tuple[tuple[torch.Tensor | None, ...], torch.Tensor]:
            loss, sums = self._sums(decisions, part, goods, returns, settings)
            return torch.autograd.grad(
                loss / len(rows), list(self.network.parameters()), allow_unused=True
            ), sums / len(rows)

        gradients, means = zip(*self.threads.each(judged, self.threads.split(rows)), strict=True)
        for parameter, *parts in zip(self.network.parameters(), *gradients, strict=True):
            parameter.grad = None if parts[0] is None else reduce(torch.Tensor.add_, parts)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.ppo.max_grad_norm)
        self.optimizer.step()
        return reduce(torch.add, means)

    def _sums(
        self, decisions: Decisions, rows: Ints, goods: Floats, returns: Floats, settings: dict[str, float]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the loss and what `CURVES` names, both summed over some decisions."""
        widths = by_width(decisions.legal, self.late, rows)
        clip = settings["clip_range"]
        log_probs, entropy, values = map(
            torch.cat, zip(*(self._judged(decisions.take(some), first) for some, first in widths), strict=True)
        )
        order = np.concatenate([some for some, _ in widths])
        old, good, target = (self._tensor(array[order]) for array in (decisions.log_probs, goods, returns))
        moved = log_probs - old
        ratio = moved.exp()
        policy_loss = -torch.min(ratio * good, ratio.clamp(1 - clip, 1 + clip) * good).sum()
        value_loss = (values - target).square().sum()
        of_policy = policy_loss - settings["entropy"] * entropy.sum()
        loss = self.config.ppo.value_weight * value_loss + (0 if self.only_value else of_policy)
        divergence = (ratio - 1 - moved).sum()
        clipped = ((ratio - 1).abs() > clip).float().sum()
        return loss, torch.stack([loss, policy_loss, value_loss, -entropy.sum(), divergence, clipped]).detach()

    def _judged(self, decisions: Decisions, first: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Give the log-probabilities of the actions taken, the entropies and the values, of
        decisions with no legal action before ``first``.
        """
        logits, values = self.network(decisions.seen, first)
        log_probs = masked_log_probs(logits, self._tensor(decisions.legal[:, first:]).float())
        return log_probs.gather(1, self._tensor(decisions.actions - first)[:, None])[:, 0], entropies(log_probs), values

    # What is stored.

    def policy(self) -> Policy:
        """Give the learner as it is now as a player that needs no torch."""
        return self.network.policy(self.config, self.steps)

    def state(self) -> dict[str, Any]:
        """Give weights, optimiser, generators, the games under way and the decisions that wait in
        them.
        """
        games = self._position() | {
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
        self.chance.bit_generator.state = games["chance"]
        self.bits.bit_generator.state = games["bits"]
        self._deal()
        if len(games["players"]) == self.config.num_envs:
            waiting = Decisions(**games["waiting"] | {"seen": SparseRows(**games["waiting"]["seen"])})
            self._check(games, waiting)
            self._return_to(games)
            self._seated = bool(games["seated"])
            self._names = games["names"]
            self._last = games["last"]
            self._waiting = waiting

    def _check(self, games: dict[str, Any], waiting: Decisions) -> None:
        """Raise ValueError where what was stored points outside of what there is; the bytes of the
        games themselves are taken as they are.
        """
        waiting.check(sleuth.observation_size(self.config.options, self.config.record), self.envs.num_actions)
        if not isinstance(games["names"], list) or not all(isinstance(name, str) for name in games["names"]):
            raise ValueError("its opponents have no names")
        ends = {"players": (LEARNER, len(games["names"])), "lengths": (0, np.inf), "last": (-1, len(waiting) - 1)}
        for name, (least, most) in ends.items():
            array = games[name]
            if (
                array.shape != self._players.shape
                or array.dtype != np.int64
                or not ((array >= least) & (array <= most)).all()
            ):
                raise ValueError(f"its {name} are out of range")

    def _position(self) -> dict[str, Any]:
        """Take down where the games and the generators are."""
        generators = {"chance": self.chance.bit_generator.state, "bits": self.bits.bit_generator.state}
        return generators | {
            "envs": asdict(self.envs.get_state()),
            "players": self._players.copy(),
            "lengths": self._lengths.copy(),
        }

    def _return_to(self, position: dict[str, Any]) -> None:
        """Go back to where they were."""
        self.chance.bit_generator.state = position["chance"]
        self.bits.bit_generator.state = position["bits"]
        self.envs.set_state(Snapshot(**position["envs"]))
        self._players = position["players"]
        self._lengths = position["lengths"]
