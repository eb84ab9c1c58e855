"""Games that a learner plays: who sits where, and what is decided; one shard of a rollout.

Shards have random streams of their own and nothing in common but the network, so they may be played
one after the other, or at the same time in other processes, with the same numbers.
Axis letters: ``B`` games, ``K`` some of them, ``P`` seats, ``A`` actions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sleuth_env.envs.binding import bound
from sleuth_env.envs.snapshot import Snapshot, generator_of
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.game import Bot, Records, opaque
from sleuth_env.matches.rating import win_shares
from sleuth_env.matches.seating import Copies, remembers
from sleuth_env.threads import Threads

from .config import Config
from .decisions import Decisions, by_width, first_offered, legal_choice, log_probs_of, masked_log_probs, sampled
from .learner import Episode, Opponents
from .opponents import LEARNER_PLAYER, results_of
from .rollout import Collected, Rollout
from .sparse import SparseRows, observed

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Rewards = NDArray[np.float64]

LEARNER_NUMBER = 0  # who sits in a seat; the opponents are counted from 1


class Actor:
    """The learner's network as it plays.

    Args:
        config: the run's.
        network: policy and value, see `training.network.make_network`.
    """

    def __init__(self, config: Config, network: torch.nn.Module) -> None:
        self.config = config
        self.network = network
        self.device = next(network.parameters()).device
        self.first_offered = first_offered(config)

    def on_cpu(self) -> Actor:
        """Return one that plays the same on the CPU, where all processes compute alike."""
        is_there = self.device.type == "cpu"
        return self if is_there else Actor(self.config, copy.deepcopy(self.network).cpu())

    def decide(self, views: Records, legal: NDArray[np.uint8], uniform: Floats) -> Decisions:
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

    def values(self, observations: SparseRows) -> Floats:
        """Return the network's value of each observation (f4 [B])."""
        with torch.inference_mode():
            return np.asarray(self.network(observations)[1].cpu())

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)


class Games:
    """Games side by side, each seat of which is the learner's or an opponent's.

    Args:
        config: the run's.
        number: B.
        rng: draws deals, seats and the learner's choices.
        bot_rng: draws what opponents are handed: from it nothing else can be told.
    """

    def __init__(self, config: Config, number: int, rng: np.random.Generator, bot_rng: np.random.Generator) -> None:
        self.config = config
        self.game = config.module
        self.number = number
        self.rng = rng
        self.bot_rng = bot_rng
        self.threads = Threads(config.threads)
        # The cheapest observation: the learner's own decisions get theirs, which may cost many
        # times as much.
        self.envs = bound(GameVectorEnv, self.game)(
            number, record=self.game.CHEAPEST_RECORD, copy=False, threads=config.threads, **asdict(config.options)
        )
        self._rows = np.arange(number)
        self.opponents: Mapping[str, Bot] = {}  # those who may sit at the tables
        self._restored = False  # since opponents were set last
        self._names: list[str] = []  # in the order of their numbers, also of those whom a restored game still waits for
        self._shares = np.ones(1)

    def deal(self) -> None:
        """Begin new games; all seats are the learner's until opponents are set."""
        shape = (self.number, self.config.options.num_players)
        self.envs.reset(seed=self.rng.integers(2**63, size=shape[0]).tolist())
        self._seated = False
        self._players = np.full(shape, LEARNER_NUMBER)
        self._lengths = np.zeros(shape, np.int64)
        self._returns = np.zeros(shape)  # what each seat had got by its last decision
        self._last = np.full(shape, -1)
        self._waiting = Decisions.none(self.envs.num_actions)
        self._forget_all()

    def _forget_all(self) -> None:
        """Begin with players who remember nothing, and count the games, as they are told them, from 0."""
        self._dealt = self.number
        self._games = np.arange(self.number)
        self._copies = Copies()

    # --- who plays ---

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw the players of games dealt from now on from the learner and these.

        Games under way keep theirs to their end, so that what comes of a game belongs to who played
        it. Where somebody who remembers games sits in some that have been restored, all begin again:
        what they remembered is gone.
        """
        if self._restored and any(remembers(opponents[name][0]) for name in self.seated):
            self.deal()
        self._restored = False
        staying = [name for name in self.seated if name not in opponents]
        players = {name: player for name, (player, _) in opponents.items()}
        players |= {name: self.opponents[name] for name in staying}
        number_of_name = {name: number for number, name in enumerate(players, 1)}
        moved = np.array([LEARNER_NUMBER, *(number_of_name.get(name, LEARNER_NUMBER) for name in self._names)])
        self._players = moved[self._players]
        self._names = list(players)
        self.opponents = players
        self._copies.keep(players.values())
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

    def seat(self, opponents: Mapping[str, Bot]) -> None:
        """Say who plays under which name, and leave who sits where as it is."""
        self.opponents = opponents

    # --- a rollout ---

    def collect(self, actor: Actor, stopped: Callable[[], bool]) -> Collected | None:
        """Play a rollout; None where it was stopped, and then games and generators are somewhere in it."""
        rollout = self.play(actor, stopped)
        if rollout is None:
            return None
        decisions = Decisions.joined(rollout.parts)
        if rollout.waiting:
            # These were valued by the network as it was before the last update.
            decisions.values[: rollout.waiting] = actor.values(self._waiting.observations)
        self.keep(*rollout.left(decisions))
        return Collected.of(rollout, decisions)

    def play(self, actor: Actor, stopped: Callable[[], bool]) -> Rollout | None:
        """Play until the learner has decided often enough, see `collect`."""
        goal = self.config.ppo.rollout_steps * self.number
        rollout = Rollout(self._waiting, self._last, goal + self.number)
        while rollout.fresh < goal:
            if stopped():
                return None
            _, _, terminated, truncated, infos = self.envs.step(self._act(actor, rollout))
            if (terminated | truncated).any():
                self._end(actor, rollout, truncated[:, None] & ~infos["settled"], infos["rewards"])
        return rollout

    def keep(self, waiting: Decisions, last: Ints) -> None:
        """Keep the decisions that wait for the next rollout, and whose they are, see `Rollout`."""
        self._waiting = waiting
        self._last = last

    def _act(self, actor: Actor, rollout: Rollout) -> Ints:
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
            for rows in self._parts(number, np.flatnonzero(players == number))
        ]

        def chosen(number: int, rows: Ints, random: NDArray[Any]) -> Ints | Decisions:
            seen = views[rows].view(self.game.VIEW)
            if number == LEARNER_NUMBER:
                return actor.decide(seen, legal[rows], random)
            return self._choice_of(self._names[number - 1], seen, legal[rows], random, rows, seats[rows])

        for (_, rows, _), found in zip(jobs, self.threads.each(lambda job: chosen(*job), jobs), strict=True):
            if isinstance(found, Decisions):
                rollout.add(found, rows, seats[rows], rewards[rows])
                self._lengths[rows, seats[rows]] += 1
            actions[rows] = found.actions if isinstance(found, Decisions) else found
        return actions

    def _parts(self, number: int, rows: Ints) -> list[Ints]:
        """Return the parts of some games in which a player may decide at the same time."""
        # Who remembers is asked once for each seat.
        alone = number != LEARNER_NUMBER and remembers(self.opponents[self._names[number - 1]])
        return [rows] if alone else self.threads.split(rows)

    def _choice_of(
        self, name: str, views: Records, legal: NDArray[np.uint8], bits: NDArray[np.uint64], rows: Ints, seats: Ints
    ) -> Ints:
        """Let an opponent choose in some games, one a row.

        Raises:
            IllegalAction: it has chosen an illegal action.
            MatchError: it has returned something else than one integer for each game.
        """
        bot = self.opponents[name]
        if remembers(bot):
            chosen = self._copies.act(bot, views, legal, bits, self._games[rows], seats)
        else:
            # A copy: by what it writes there it is not judged.
            chosen = bot.act(views, legal.copy(), bits)
        return legal_choice(self.config, bot, f"opponent {name}", chosen, legal)

    def _random(self, number: int, rows: Ints) -> NDArray[Any]:
        """Draw what a player needs to choose in some games (i8 [K]).

        The learner gets a number in [0, 1) for each (f4 [K, 1]), an opponent 64 bits (u8 [K]).
        """
        if number == LEARNER_NUMBER:
            return self.rng.random((len(rows), 1), np.float32)
        return self.bot_rng.integers(0, 2**64, len(rows), np.uint64)

    def _end(self, actor: Actor, rollout: Rollout, unsettled: NDArray[np.bool_], rewards: Rewards) -> None:
        """Pay the seats of games that have ended, and seat players at the next ones.

        Args:
            actor: values what was cut off.
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
            final_values[cut] = actor.values(observed(self.config, opaque(views)[cut].view(self.game.VIEW)))
        rollout.end(games, rewards[games], final_values)
        rollout.results += results_of((LEARNER_PLAYER, *self._names), self._players[games], shares)
        learned = self._players[games] == LEARNER_NUMBER
        returns = self._returns[games] + rewards[games]
        rollout.episodes += map(
            Episode, returns[learned].tolist(), self._lengths[games][learned].tolist(), shares[learned].tolist()
        )
        self._players[games] = self._drawn(len(games))
        self._copies.forget(self._games[games])
        self._games[games] = self._dealt + np.arange(len(games))
        self._dealt += len(games)
        self._lengths[games] = 0
        self._returns[games] = 0.0

    # --- where they are ---

    def position(self) -> dict[str, Any]:
        """Return where the games and the generators are, as plain containers; opponents by their names."""
        return {
            "rng": self.rng.bit_generator.state,
            "bot_rng": self.bot_rng.bit_generator.state,
            "envs": self.envs.get_state(),
            "players": self._players.copy(),
            "lengths": self._lengths.copy(),
            "returns": self._returns.copy(),
            "last": self._last,
            "waiting": self._waiting,
            "names": self._names,
            "shares": self._shares,
            "seated": self._seated,
        }

    def return_to(self, position: dict[str, Any]) -> None:
        """Go back, or on, to where they were, here or in another process."""
        self.rng.bit_generator.state = position["rng"]
        self.bot_rng.bit_generator.state = position["bot_rng"]
        self.envs.set_state(position["envs"])
        self._players = position["players"]
        self._lengths = position["lengths"]
        self._returns = position["returns"]
        self._names = position["names"]
        self._shares = position["shares"]
        self._seated = position["seated"]
        self.keep(position["waiting"], position["last"])
        self._forget_all()

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as arrays and plain containers."""
        position = self.position()
        # Whoever restores games sets opponents, too.
        del position["shares"]
        return position | {"envs": asdict(position["envs"]), "waiting": asdict(position["waiting"])}

    def restore(self, games: dict[str, Any]) -> None:
        """Go on from a state; where it has another number of games, new ones are dealt.

        Raises:
            ValueError: it does not fit.
        """
        for generator, name in ((self.rng, "rng"), (self.bot_rng, "bot_rng")):
            generator.bit_generator.state = generator_of(games[name]).bit_generator.state
        self.deal()
        if len(games["players"]) == self.number:
            waiting = games["waiting"]
            decisions = Decisions(**waiting | {"observations": SparseRows(**waiting["observations"])})
            self._check(games, decisions)
            more = {"seated": games["seated"] is True, "shares": self._shares}
            self.return_to(games | more | {"envs": Snapshot(**games["envs"]), "waiting": decisions})
            self.opponents = {}
            self._restored = True

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


def collected_apart(
    config: Config, network: torch.nn.Module, opponents: Mapping[str, Bot], position: dict[str, Any]
) -> tuple[Collected, dict[str, Any]]:
    """Play a rollout of a shard in another process.

    Args:
        config: the run's.
        network: the learner's.
        opponents: all who sit in games under way or may do so, by their names.
        position: of the shard's games.

    Returns:
        What was collected, and the position after it.
    """
    torch.set_num_threads(config.torch_threads)
    games = Games(config, len(position["players"]), np.random.default_rng(0), np.random.default_rng(0))
    games.return_to(position)
    games.seat(opponents)
    collected = games.collect(Actor(config, network), lambda: False)
    assert collected is not None
    return collected, games.position()
