"""Networks that were trained elsewhere, as players: torch networks and models of Stable-Baselines3.

`policy_from_torch` and `policy_from_sb3` turn the weights into a `Policy`, which `save_policy` writes
as a file that holds no code. `load_model` reads a model's zip file, which does: unpickling runs what
is in it, so it is asked for expressly.
Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import copy
import errno
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_text, shown
from ..doors import decision
from ..game import DEFAULT_GAME, Game, OfGame, check_game, check_options, game_of, load_game
from .mlp import Layer, Mlp
from .policy import Policy, choose
from .policy_file import PolicyError

MODEL_SUFFIX = ".zip"
ALLOW = "allow_pickle=True (--allow-pickle on the command line)"
# What may lie between linear layers, by the names of the classes of torch and what `Mlp` calls them.
_ACTIVATIONS = {"ReLU": "relu", "Tanh": "tanh"}
_PASSED_OVER = ("Identity", "Flatten", "Dropout")
# Observations by which a network is compared with the policy that is made of it, and how far its
# logits may differ: by a share of how far they are apart, and by one of their size.
NUM_PROBES = 8
SAME = 1e-3
ROUNDING = 1e-5
# The keys of observations that are dictionaries.
OBSERVATION = "observation"
ACTION_MASK = "action_mask"


def names_model(text: str) -> bool:
    """Return whether a player's name means a model of Stable-Baselines3."""
    return text.endswith(MODEL_SUFFIX)


def _game_for(options: Any, game: Game | None) -> Game:
    """Return a game that was named, or else that of some options."""
    return load_game(game_of(options) or DEFAULT_GAME) if game is None else check_game(game)


def policy_from_torch(
    network: Any,
    options: Any,
    record: str | None = None,
    game: Game | None = None,
    name: str = "policy",
    steps: int = 0,
) -> Policy:
    """Return a perceptron of torch as a policy that plays with NumPy alone and can be saved.

    Args:
        network: a ``torch.nn.Sequential``, also one of several, of linear layers with ReLU or Tanh
            (the same everywhere) between them; it takes observations and returns one logit an
            action.
        options: those that it was trained for.
        record: the kind of observation; default: the game's first.
        game: the game module; default: that of the options.
        name: how tables call it.
        steps: decisions it was trained on.

    Raises:
        PolicyError: it has other layers, computes something else than these one after the other, or
            does not fit the observation and the actions.

    >>> from sleuth_env import Options, policy_from_torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Linear(1852, 64), nn.ReLU(), nn.Linear(64, 448))
    >>> policy_from_torch(network, Options(num_players=3), "sheet").network.architecture()["hidden"]
    [64]
    """
    game = _game_for(options, game)
    check_text("name", name, PolicyError)
    record = game.RECORDS[0] if record is None else record
    policy = Policy(game, options, record, _mlp([network], name), False, steps, name)
    _check_same(policy, lambda observations: _applied(network, observations, name))
    return policy


def policy_from_sb3(
    model: Any, options: Any, record: str | None = None, game: Game | None = None, name: str = "policy"
) -> Policy:
    """Return the policy of a Stable-Baselines3 or sb3-contrib model as one that can be saved.

    Args:
        model: such as ``MaskablePPO("MlpPolicy", env)``: a perceptron, of PPO, A2C or MaskablePPO.
        options: those that it was trained for.
        record: the kind of observation; default: that of the size of the model's.
        game: the game module; default: that of the options.
        name: how tables call it.

    Raises:
        PolicyError: its network is not a perceptron, it does not fit the game, or it was trained on
            normalised observations.
    """
    game = _game_for(options, game)
    check_text("name", name, PolicyError)
    if not hasattr(getattr(model, "policy", model), "observation_space"):
        raise PolicyError(f"model must be one of Stable-Baselines3 or sb3-contrib, got {shown(model)}")
    normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
    if normalised is not None and normalised.norm_obs:
        raise PolicyError(f"{name} was trained on observations that VecNormalize changes; train it with norm_obs=False")
    policy = getattr(model, "policy", model)
    record = _record(game, options, policy.observation_space, name) if record is None else record
    steps = int(getattr(model, "num_timesteps", 0))
    return _plain(game, options, record, policy, False, steps, name)


def load_model(
    path: str | Path, options: Any, game: Game | None = None, greedy: bool = False, allow_pickle: bool = False
) -> Policy | TorchPolicy:
    """Return the model in a zip file of Stable-Baselines3 or sb3-contrib as a player.

    It is given the observation whose size it was trained on, and draws from its probabilities, or
    takes its best action, among the legal ones, whether or not it was trained with a mask.

    Args:
        path: the file.
        options: of the game that it is to play; the file does not say which it was trained for.
        game: the game module; default: that of the options.
        greedy: whether to take the best action instead of drawing one by its probability; what
            learned values of actions (DQN) always does.
        allow_pickle: whether what is pickled in the file may run.

    Raises:
        PolicyError: it may not, the file cannot be read, or the model does not fit the game.
    """
    game = _game_for(options, game)
    if not os.path.lexists(path):
        raise PolicyError(f"{path} cannot be read: {os.strerror(errno.ENOENT)}")
    if not allow_pickle:
        raise PolicyError(
            f"{path} is a model of Stable-Baselines3, and reading it runs whatever code is pickled in it: if you trust "
            f"the file, allow it by {ALLOW}; save_policy writes files without code"
        )
    name = Path(path).name.removesuffix(MODEL_SUFFIX)
    policy = _unpickled(Path(path))
    check_options(game, options)
    record = _record(game, options, policy.observation_space, str(path))
    size = game.num_actions(options)
    if getattr(policy.action_space, "n", None) != size:
        raise PolicyError(f"{path} was trained for other actions: {policy.action_space}, and this game has {size}")
    try:
        return _plain(game, options, record, policy, greedy, 0, name)
    except PolicyError:
        # Another architecture, such as one with features of its own: played by torch.
        return TorchPolicy(game, options, record, policy, greedy, name)


def _unpickled(path: Path) -> Any:
    """Read a model's policy, for whichever algorithm it was trained."""
    try:
        from stable_baselines3.common.save_util import load_from_zip_file
    except ImportError as error:
        raise PolicyError(f'{path} needs Stable-Baselines3: pip install "sleuth-env[train]"') from error
    try:
        if not path.is_file():
            raise OSError("there is no such file" if not path.exists() else "it is not a regular file")
        data, parameters, _ = load_from_zip_file(path, device="cpu")
        data = data or {}
        kind = data["policy_class"]
        named = dict(data["policy_kwargs"])
        policy = kind(data["observation_space"], data["action_space"], lambda _: 0.0, **named)
        policy.load_state_dict(parameters["policy"])
    # Whatever is in the file: unpickling can fail in any way.
    except Exception as error:
        raise PolicyError(f"{path} cannot be read as a model of Stable-Baselines3: {error!r}") from error
    _must_not_remember(policy, str(path))
    policy.set_training_mode(False)
    return policy


def _must_not_remember(policy: Any, name: str) -> None:
    """Raise PolicyError if a policy of Stable-Baselines3 is recurrent: its answers depend on those before."""
    if hasattr(policy, "lstm_actor"):
        raise PolicyError(
            f"{name} is a recurrent model, which remembers its games: it cannot be played by itself; "
            "write a player with a method act_in that keeps its states, one for each game"
        )


def _record(game: Game, options: Any, space: Any, name: str) -> str:
    """Return the kind of observation that a model was trained on, which its size tells."""
    plain = space[OBSERVATION] if _is_dictionary(space) else space
    sizes = {record: game.observation_layout(options, record).size for record in game.RECORDS}
    found = [record for record, size in sizes.items() if plain.shape == (size,)]
    if not found:
        known = ", ".join(f"{size} ({record})" for record, size in sizes.items())
        raise PolicyError(
            f"{name} was trained on observations of the shape {plain.shape}; in this game they are {known}"
        )
    return found[0]


def _is_dictionary(space: Any) -> bool:
    return isinstance(getattr(space, "spaces", None), dict) and OBSERVATION in space.spaces


def _parts(policy: Any, name: str) -> list[Any]:
    """Return the modules of a policy of Stable-Baselines3 that lead to its logits."""
    _must_not_remember(policy, name)
    extractor: Any = getattr(policy, "mlp_extractor", None)
    features = type(getattr(policy, "pi_features_extractor", None)).__name__
    if (
        not hasattr(extractor, "policy_net")
        or features != "FlattenExtractor"
        or _is_dictionary(policy.observation_space)
    ):
        raise PolicyError(f"{name} is not a perceptron of plain observations")
    return [extractor.policy_net, policy.action_net]


def _plain(game: Game, options: Any, record: str, policy: Any, greedy: bool, steps: int, name: str) -> Policy:
    """Return a policy of Stable-Baselines3 as one that needs no torch.

    Raises:
        PolicyError: it is not a perceptron of plain observations.
    """
    plain = Policy(game, options, record, _mlp(_parts(policy, name), name), greedy, steps, name)
    by_torch = TorchPolicy(game, options, record, policy, greedy, name)
    all_legal = np.ones((NUM_PROBES, game.num_actions(options)), np.uint8)
    _check_same(plain, lambda observations: by_torch.logits(observations, all_legal))
    return plain


def _mlp(modules: list[Any], name: str) -> Mlp:
    """Return the perceptron that modules of torch make up, one after the other."""
    layers: list[Layer] = []
    activations: list[str] = []
    for module in chain.from_iterable(_leaves(part, name) for part in modules):
        kind = type(module).__name__
        if kind == "Linear":
            layers.append((_numbers(module.weight, name), _numbers(module.bias, name, len(module.weight))))
        elif kind in _ACTIVATIONS and len(activations) == len(layers) - 1:
            activations.append(_ACTIVATIONS[kind])
        elif kind not in _PASSED_OVER:
            raise PolicyError(f"{name} must have linear layers with ReLU or Tanh between them, got {module}")
    if len(set(activations)) > 1 or len(activations) != max(len(layers) - 1, 0):
        raise PolicyError(f"{name} must have the same activation between all its layers, got {activations}")
    return Mlp(layers, activations[0] if activations else "relu")


def _leaves(module: Any, name: str) -> Iterator[Any]:
    """Iterate over the layers of a module of torch in their order; one may be there several times."""
    try:
        from torch import nn
    except ImportError as error:
        raise PolicyError('a network of torch needs torch: pip install torch, or "sleuth-env[train]"') from error
    if not isinstance(module, nn.Module):
        raise PolicyError(f"{name} must be a torch.nn.Sequential of linear layers, got {shown(module)}")
    parts = list(module if isinstance(module, nn.Sequential) else module.children())
    if not parts and not isinstance(module, nn.Sequential):
        yield module
    for part in parts:
        yield from _leaves(part, name)


def _numbers(tensor: Any, name: str, size: int = 0) -> NDArray[np.float32]:
    """Return a tensor's numbers (f4); for None as many zeros as its size."""
    if tensor is None:
        return np.zeros(size, np.float32)
    try:
        numbers: NDArray[np.float32] = tensor.detach().cpu().float().numpy().copy()
    # Tensors without data, quantised ones, whatever else torch has.
    except (RuntimeError, NotImplementedError, TypeError) as error:
        raise PolicyError(f"{name} has weights that cannot be read as numbers: {error}") from error
    return numbers


def _applied(network: Any, observations: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """Return what a network of torch makes of observations (f4 [B, N]) when it does not train."""
    import torch

    try:
        with torch.no_grad():
            # A copy: neither its parameters nor whether it trains is changed.
            found = copy.deepcopy(network).cpu().float().eval()(torch.from_numpy(observations))
            return np.asarray(found, np.float32)
    # A forward pass of somebody else's.
    except Exception as error:
        raise PolicyError(f"{name} cannot be applied to observations: {error!r}") from error


def _check_same(policy: Policy, logits_of: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> None:
    """Check that a policy gives the probabilities that the network gives from which it was made.

    Raises:
        PolicyError: it does not: the network does more than apply its layers one after the other.
    """
    size = policy.game.observation_layout(policy.options, policy.record).size
    probes = np.random.default_rng(0).random((NUM_PROBES, size), np.float32)
    found = policy.logits(probes).astype(np.float64)
    wanted = logits_of(probes).astype(np.float64)
    if found.shape == wanted.shape:
        # What is added to all logits of a row changes no probability.
        rounding = ROUNDING * np.abs(found).max()
        found -= found.mean(axis=1, keepdims=True)
        wanted -= wanted.mean(axis=1, keepdims=True)
        if np.allclose(found, wanted, rtol=0, atol=SAME * np.abs(wanted).max() + rounding):
            return
    raise PolicyError(f"{policy.name} computes something else than its linear layers one after the other")


class TorchPolicy(OfGame):
    """Play a policy of Stable-Baselines3 by torch: a bot.

    Rows of a batch are computed together, so a logit may depend on its size in the last digit.

    Args:
        game: the game module.
        options: of the game.
        record: the kind of observation that it was trained on.
        policy: of Stable-Baselines3 or sb3-contrib.
        greedy: whether to take the best action instead of drawing one by its probability.
        name: how tables call it.

    Raises:
        PolicyError: it gives neither probabilities nor values of actions.
    """

    def __init__(self, game: Game, options: Any, record: str, policy: Any, greedy: bool, name: str) -> None:
        self.game = game
        self.options = options
        self.record = record
        self.policy = policy
        self.name = name
        has_values = hasattr(policy, "q_net") or hasattr(policy, "quantile_net")
        if not has_values and not hasattr(policy, "get_distribution"):
            raise PolicyError(f"{name} gives neither probabilities nor values of actions")
        self.greedy = greedy or has_values
        self.rules = game.make_rules(options)

    def act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose one legal action a row, see `game.Bot`.

        Raises:
            ArrayError: something has another dtype or shape, or nothing is legal in some row.
        """
        given = decision(views, legal, seeds, self.game.VIEW, self.game.num_actions(self.options))
        self.game.Observer(self.rules, given[0], self.record).check()
        return self._act(*given)

    def _act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose as `act` does, without a look at what is given."""
        observations = self.game.Observer(self.rules, views, self.record).written()
        actions = np.zeros(len(views), np.int64)
        choose(self.logits(observations, legal), legal, seeds, self.greedy, actions)
        return actions

    # Tables call what is behind the checks (see `doors.unchecked`).
    act.kernel = _act  # type: ignore[attr-defined]

    def logits(self, observations: NDArray[np.float32], legal: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return logits, or values, of all actions (f4 [B, A])."""
        import torch

        given: Any = observations
        if _is_dictionary(self.policy.observation_space):
            given = {OBSERVATION: observations, ACTION_MASK: legal.astype(np.int8)}
        with torch.no_grad():
            tensors, _ = self.policy.obs_to_tensor(given)
            if hasattr(self.policy, "quantile_net"):
                found = self.policy.quantile_net(tensors).mean(dim=1)
            elif hasattr(self.policy, "q_net"):
                found = self.policy.q_net(tensors)
            else:
                found = self.policy.get_distribution(tensors).distribution.logits
        return np.ascontiguousarray(found.cpu().numpy(), np.float32)

    def seated(self, options: Any) -> TorchPolicy:
        """Return this policy as a player of a game with these options.

        Raises:
            PolicyError: the observation or the actions have another size.
        """
        if options == self.options:
            return self
        check_options(self.game, options)
        record = _record(self.game, options, self.policy.observation_space, self.name)
        if self.game.num_actions(options) != self.policy.action_space.n:
            raise PolicyError(f"{self.name} was trained for other actions: {self.policy.action_space}")
        player = copy.copy(self)
        player.options = options
        player.record = record
        player.rules = self.game.make_rules(options)
        return player
