"""RLlib's face of a game: an environment in which seats take turns, and a module that keeps to what is legal.

`RllibEnv` is a `MultiAgentEnv` of RLlib's new API stack, `MaskedModule` an `RLModule` for it. Both know
the game by its name in a configuration, so RLlib can make them in its worker processes::

    PPOConfig().environment(RllibEnv, env_config={"game": "sleuth", "num_players": 4})

Axis letters: ``B`` rows, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..actions import ILLEGAL_REWARD, ON_ILLEGAL, IllegalAction, refusal
from ..checks import check_choice, check_number, check_seed, shown
from ..game import DEFAULT_GAME, NO_GAME, TERMINATED, Game, check_game, load_game, make_options, player_name
from ..matches.players import Players, listed, make_players
from ..matches.rating import win_shares
from ..matches.table import LEARNER_SEAT, Table
from .observing import observation_space, presented

try:
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from torch import nn
except ModuleNotFoundError as error:
    lacking = str(error.name).partition(".")[0]
    raise ModuleNotFoundError(
        f'{__name__} needs {lacking}, which is not installed: pip install "sleuth-env[rllib]"', name=lacking
    ) from error

Observation = dict[str, NDArray[Any]]
# Observations, rewards, terminateds, truncateds and infos, by agent.
Step = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]
LEARNER = "learner"  # who sits in a seat that RLlib plays
ALL = "__all__"  # RLlib's name of all agents together


class FinishedGame(NamedTuple):
    """How a game has ended.

    Args:
        players: who sat in each seat: `LEARNER`, or the opponent's name.
        returns: what each seat got in the whole game.
        decisions: number of each seat's decisions.
        win_shares: the share of the win that each seat has; zeros where nobody has won.
    """

    players: list[str]
    returns: list[float]
    decisions: list[int]
    win_shares: list[float]


@dataclass(frozen=True)
class EnvConfig:
    """What the configuration of a `RllibEnv` may have besides the game's options.

    Args:
        game: the name of a game or its module.
        record: the kind of observation, one of the game's `RECORDS`; None is the first.
        opponents: see `RllibEnv.set_opponents`, as the next two.
        shares: of the opponents.
        learner_share: of learners.
        illegal: what an illegal action does: "end" ends the game for all, with a reward of -1 for
            whoever chose it; "raise" raises `IllegalAction`.
        max_cycles: another name of the option ``max_turns``.
    """

    game: str | Game = DEFAULT_GAME
    record: str | None = None
    opponents: Players = ()
    shares: Sequence[float] | None = None
    learner_share: float = 1.0
    illegal: str = "end"
    max_cycles: int | None = None


class RllibEnv(MultiAgentEnv):  # type: ignore[misc] # Ray has no type information that mypy could follow
    """Play one game between ``player_0``, ``player_1``, ... (the seats, clockwise); learners take turns.

    `reset` and `step` return what the one agent who decides next sees, as
    ``{"observation": float32 [N], "action_mask": int8 [A]}``, and `step` takes the action of this agent.
    With the observation comes the agent's reward: all that its seat has got since its last decision,
    whoever decided in between. What a seat gets before its first decision belongs to none and is
    left out. Nobody ends early: when the game is over, all who have decided in it end in the same
    step, terminated, or truncated where the turn limit cut the game off and their reward was not
    settled. Seats that fall to opponents are played inside, in no agent's sight.

    Args:
        config: a mapping, such as RLlib's ``env_config``, with any of the names of `EnvConfig` and the
            game's options.

    Raises:
        ValueError: a key is unknown, or has a value that is not legal.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        # RLlib writes into it.
        self.metadata: dict[str, Any] = {"render_modes": []}
        super().__init__()
        # RLlib gives the games of all its processes seeds that follow one another.
        self._process = int(getattr(config, "worker_index", 0) or 0)
        options = dict(config or {})
        own = [field.name for field in fields(EnvConfig) if field.name in options]
        given = EnvConfig(**{name: options.pop(name) for name in own})
        self.game = load_game(given.game) if isinstance(given.game, str) else check_game(given.game)
        self.illegal = check_choice("illegal", given.illegal, ON_ILLEGAL)
        self.table = Table(self.game, make_options(self.game, options, given.max_cycles, EnvConfig), 1)
        self.options = self.table.options
        self.record: str = self.game.RECORDS[0] if given.record is None else given.record
        check_choice("record", self.record, self.game.RECORDS)
        num_actions = self.game.num_actions(self.options)
        self._size: int = self.game.observation_layout(self.options, self.record).size
        self.possible_agents = [player_name(seat) for seat in range(self.options.num_players)]
        self.agents: list[str] = self.possible_agents[:]
        self.observation_spaces = {
            agent: observation_space("dict", self._size, num_actions) for agent in self.possible_agents
        }
        self.action_spaces = {agent: gymnasium.spaces.Discrete(num_actions) for agent in self.possible_agents}
        self._generator: np.random.Generator | None = None
        self._given = np.zeros(self.options.num_players)  # f8 [P] the part of the returns that has been paid out
        self._decided: set[str] = set()  # agents who have chosen something in this game
        self._over = True
        self._finished: list[FinishedGame] = []
        self.set_opponents(given.opponents, given.shares, given.learner_share)

    def set_opponents(
        self,
        opponents: Players,
        shares: Sequence[float] | None = None,
        learner_share: float = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:
        """Draw who sits in each seat of games dealt from now on: learners and these.

        At least one seat of every game is a learner's. The game under way keeps its players.

        Args:
            opponents: names of bots, policy files, or players; one of them, or a list.
            shares: how often each of them is drawn (any positive scale); default: 1 each.
            learner_share: how often a learner is drawn, on the same scale.
            names: what `FinishedGame` calls them; default: the names or files that were given, or
                those that the players have.

        Raises:
            ValueError: somebody cannot play this game, or the shares do not fit; nothing has changed.
        """
        given = listed(opponents)
        shares = [1.0] * len(given) if shares is None else list(shares)
        try:
            weights = np.asarray([learner_share, *shares], float)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if len(weights) != len(given) + 1 or not ((weights >= 0) & (weights < np.inf)).all():
            raise ValueError(
                "the learner and each opponent need a share, not negative, "
                f"got {len(given)} opponents with shares {shown(shares)} and learner_share {shown(learner_share)}"
            )
        players = make_players(self.game, self.options, given)
        self._names = [str(getattr(one, "name", one)) for one in given] if names is None else list(names)
        self._players = players
        # With nobody to draw all seats are the learner's.
        self._shares = weights / weights.sum() if weights.sum() > 0 else np.eye(1, len(weights))[0]

    # --- games ---

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Any]]:
        """Deal a new game and play up to a learner's first decision; return the observation and info of its agent.

        Games that opponents end before that are `take_finished`, and the next one is dealt.

        Args:
            seed: begins the stream from which this and the following games are dealt; None continues
                it.
            options: ignored; a game's options are fixed when the environment is made.

        Raises:
            ValueError: the seed is not a whole number; nothing has changed.
        """
        number = check_seed(seed)
        if number is not None or self._generator is None:
            self._generator = np.random.default_rng(np.random.SeedSequence(number, spawn_key=(self._process,)))
        self._begin(self._generator)
        while self._over:
            self._begin(self._generator)
        agent = self._acting()
        return {agent: self._observed(agent, self._mask())}, {agent: self._info(agent)}

    def _begin(self, generator: np.random.Generator) -> None:
        """Seat everybody, deal a game and play up to a learner's decision, or to its end."""
        number = self.options.num_players
        seats = generator.choice(len(self._shares), number, p=self._shares) - 1
        if (seats != LEARNER_SEAT).all():
            seats[generator.integers(number)] = LEARNER_SEAT
        self.table.bots = self._players
        self.table.seats[0] = seats
        self.table.deal(0, generator.integers(0, 2**64, 1, np.uint64))
        self._seated = [LEARNER if seat == LEARNER_SEAT else self._names[seat] for seat in seats.tolist()]
        self._given[:] = 0.0
        self._decided = set()
        self._over = False
        self.agents = [
            agent for agent, player in zip(self.possible_agents, self._seated, strict=True) if player == LEARNER
        ]
        self._play_on()

    def _play_on(self) -> None:
        self.table.play_on()
        if self.table.finished[0]:
            self._finish(self.table.returns[0], win_shares(self.table.standings())[0])

    def _finish(self, returns: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
        self._over = True
        decisions = self.table.decisions[0].tolist()
        self._finished.append(FinishedGame(self._seated, returns.tolist(), decisions, shares.tolist()))

    def take_finished(self) -> list[FinishedGame]:
        """Return how the games have ended that have done so since the last call."""
        finished = self._finished
        self._finished = []
        return finished

    def step(self, action_dict: Mapping[str, Any]) -> Step:
        """Take the action of the agent who decides, and play on to the next learner's decision.

        Args:
            action_dict: ``{agent: action}``.

        Returns:
            Observations, rewards, terminateds, truncateds and infos by agent.

        Raises:
            ValueError: these are not an action of this agent alone; nothing has changed.
            IllegalAction: the action is not legal now, and ``illegal="raise"``; nothing has changed.
            ResetNeeded: the game is over, or none has been dealt.
        """
        if self._over:
            raise gymnasium.error.ResetNeeded(NO_GAME)
        agent = self._acting()
        if set(action_dict) != {agent}:
            raise ValueError(f"it is {agent}'s turn: step takes {{{agent!r}: action}}, got {shown(dict(action_dict))}")
        mask = self._mask()
        action = check_number("action", action_dict[agent], 0, len(mask) - 1, IllegalAction)
        is_legal = bool(mask[action])
        if not is_legal and self.illegal == "raise":
            raise refusal(self.game, self.options, action, mask, agent)
        seat = self._seat(agent)
        if agent not in self._decided:
            self._decided.add(agent)
            self._given[seat] = self.table.returns[0, seat]
        if not is_legal:
            return self._forfeited(seat)
        self.table.step([0], [action])
        self._play_on()
        if not self._over:
            return self._going_on()
        return self._ended(self.table.settled()[0][0] | (self.table.ends()[0] == TERMINATED), self.table.returns[0])

    def _going_on(self) -> Step:
        agent = self._acting()
        seat = self._seat(agent)
        reward = 0.0
        if agent in self._decided:
            reward = float(self.table.returns[0, seat] - self._given[seat])
            self._given[seat] = self.table.returns[0, seat]
        flags = {agent: False, ALL: False}
        observations = {agent: self._observed(agent, self._mask())}
        return observations, {agent: reward}, flags, flags.copy(), {agent: self._info(agent)}

    def _ended(self, settled: NDArray[np.bool_], returns: NDArray[np.float64]) -> Step:
        """Return what `step` returns at the end of a game, to all who have decided in it.

        Args:
            settled: whose reward nothing could have changed any more, bool [P].
            returns: what each seat has got, f8 [P].
        """
        seats = {agent: self._seat(agent) for agent in self.agents if agent in self._decided}
        terminateds = {agent: bool(settled[seat]) for agent, seat in seats.items()}
        truncateds = {agent: not terminated for agent, terminated in terminateds.items()}
        cut_off = any(truncateds.values())
        everything = np.ones(self.game.num_actions(self.options), np.uint8)
        return (
            {agent: self._observed(agent, everything) for agent in seats},
            {agent: float(returns[seat] - self._given[seat]) for agent, seat in seats.items()},
            {**terminateds, ALL: not cut_off},
            {**truncateds, ALL: cut_off},
            {agent: {"settled": terminated} for agent, terminated in terminateds.items()},
        )

    def _forfeited(self, seat: int) -> Step:
        """End the game because of an illegal action in a seat."""
        returns = self.table.returns[0].copy()
        returns[seat] = self._given[seat] + ILLEGAL_REWARD
        self._finish(returns, np.zeros(len(returns)))
        return self._ended(np.ones(len(returns), np.bool_), returns)

    # --- what is seen ---

    def _acting(self) -> str:
        agent: str = self.possible_agents[self.table.actors[0]]
        return agent

    def _seat(self, agent: str) -> int:
        return self.possible_agents.index(agent)

    def _mask(self) -> NDArray[np.uint8]:
        mask: NDArray[np.uint8] = self.table.legal(0)[0]
        return mask

    def _observed(self, agent: str, mask: NDArray[np.uint8]) -> Observation:
        views = self.table.views(0, self._seat(agent))
        observation = np.empty((1, self._size), np.float32)
        self.game.Observer(self.table.rules, views, self.record).write(observation)
        seen: Observation = presented("dict", observation[0], mask.copy())
        return seen

    def _info(self, agent: str) -> dict[str, bool]:
        return {"settled": bool(self.table.settled()[0][0, self._seat(agent)])}


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """A policy and a value that see `RllibEnv`'s observations; illegal actions have a probability of zero.

    ``model_config`` may have ``hidden``, the units of the hidden layers (default ``[256, 256]``), and
    ``activation``, "relu" (the default) or "tanh". Policy and value share no weights. `policy_net` is a plain
    ``torch.nn.Sequential`` from observations to logits, of which `policy_from_torch` makes a policy file.
    A subclass with other networks overrides `setup` and `evaluate`.
    """

    def setup(self) -> None:
        """Make the networks."""
        config = dict(self.model_config or {})
        size: int = self.observation_space["observation"].shape[0]
        sizes = [size, *config.get("hidden", [256, 256])]
        activation = check_choice("activation", config.get("activation", "relu"), tuple(_ACTIVATIONS))
        self.policy_net = _perceptron([*sizes, int(self.action_space.n)], activation)
        self.value_net = _perceptron([*sizes, 1], activation)

    def evaluate(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits of all actions (f4 [B, A]) and values (f4 [B]) for observations (f4 [B, N])."""
        return self.policy_net(observations), self.value_net(observations).squeeze(-1)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, _ = self.evaluate(batch[Columns.OBS]["observation"])
        return {Columns.ACTION_DIST_INPUTS: masked(logits, batch[Columns.OBS]["action_mask"])}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, values = self.evaluate(batch[Columns.OBS]["observation"])
        return {
            Columns.ACTION_DIST_INPUTS: masked(logits, batch[Columns.OBS]["action_mask"]),
            # RLlib hands them to `compute_values`.
            Columns.EMBEDDINGS: values,
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the values (f4 [B]) of a batch's observations; ``embeddings`` are those of a forward pass."""
        values: torch.Tensor = self.evaluate(batch[Columns.OBS]["observation"])[1] if embeddings is None else embeddings
        return values


_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def _perceptron(sizes: Sequence[int], activation: str) -> nn.Sequential:
    """Make linear layers with an activation after each but the last."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), _ACTIVATIONS[activation]()]
    return nn.Sequential(*layers[:-1])


def masked(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return logits (f4 [B, A]) with which softmax gives illegal actions (``mask``, i1 [B, A], 0) exactly zero."""
    return torch.where(mask > 0, logits, torch.finfo(logits.dtype).min)
