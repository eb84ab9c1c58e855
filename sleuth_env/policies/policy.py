"""A policy file as a player: safetensors with metadata, played without torch.

A file holds the weights of a network, which gives one logit an action, and says for which game,
options and observation it was trained. Nothing in it is executed or unpickled, and everything is
checked before it is used. The network is a multi-layer perceptron (`mlp`) or one of the game's own
(`Game.NETWORKS`). A policy plays under the options it was trained for, but for those that are called
minor (`options.Described`) and those that its network does not depend on.
Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..checks import check_choice, check_number, check_path, check_text, shown
from ..doors import ANY, ArrayError, array, decision, is_array
from ..files import write_atomically
from ..game import GAMES, Game, OfGame, check_game, check_options, load_game
from ..kernels import kernel
from ..layout import INT8_ONE
from ..options import described
from .mlp import Mlp
from .policy_file import (
    FORMAT,
    FORMAT_VERSION,
    MOST_TOLD_BYTES,
    SUFFIX,
    PolicyError,
    check_evaluation,
    other_game,
    read_policy_file,
    sealed,
)

TWO_TO_MINUS_53 = 2.0**-53


class Network(Protocol):
    """What a policy plays: it is built of a file's tensors, fitted to a game, and gives logits."""

    kind: str  # what a file calls it
    may_differ: tuple[str, ...]  # options of the game that it does not depend on
    integer_tensors: tuple[str, ...]  # those that are i4; all others are f4

    def fit(self, game: Game, options: Any, record: str) -> None:
        """Check that it plays this game, and get ready.

        Raises:
            PolicyError: it does not, or its weights are not usable.
        """
        ...

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the output (f4 [B, A]) for observations (f4 [B, N])."""
        ...

    def architecture(self) -> dict[str, Any]:
        """Return its description for a file."""
        ...

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return its weights for a file."""
        ...


class Policy(OfGame):
    """Play a network: a bot.

    Args:
        game: the game module.
        options: the options it was trained for.
        record: the kind of observation it was trained on.
        network: what gives the logits.
        greedy: whether to take the best action instead of drawing one by its probability.
        steps: decisions it was trained on.
        name: how tables call it.

    Raises:
        PolicyError: the network does not fit the observation or the actions, or its weights are not
            usable; or another argument is not of its kind.
    """

    def __init__(
        self,
        game: Game,
        options: Any,
        record: str,
        network: Network,
        greedy: bool = False,
        steps: int = 0,
        name: str = "policy",
    ) -> None:
        check_options(check_game(game), options)
        if not hasattr(network, "fit") or not hasattr(network, "logits"):
            raise PolicyError(f"network must be an Mlp or one of the game's NETWORKS, got {shown(network)}")
        self.game = game
        self.options = options
        self.record: str = check_choice("record", record, game.RECORDS, PolicyError)
        self.network = network
        self.greedy: bool = check_choice("greedy", greedy, (False, True), PolicyError)
        self.steps = check_number("steps", steps, 0, error=PolicyError)
        self.name = check_text("name", name, PolicyError)
        network.fit(game, options, record)
        self.rules = game.make_rules(options)
        self._num_actions = game.num_actions(options)
        self._size: int = game.observation_layout(options, record).size

    def act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose one legal action a row.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: 64 random bits a row, u8 [B]; the same bits choose the same action.

        Returns:
            Actions, i8 [B].

        Raises:
            ArrayError: something has another dtype or shape, the views are not of this policy's
                kind of game, or nothing is legal in some row.
        """
        given = decision(views, legal, seeds, self.game.VIEW, self._num_actions)
        self.game.Observer(self.rules, given[0], self.record).check()
        return self._act(*given)

    def _act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose as `act` does, without a look at what is given; -1 where nothing is legal."""
        if not len(views):
            return np.zeros(0, np.int64)
        observations = self.game.Observer(self.rules, views, self.record).written()
        actions = np.zeros(len(views), np.int64)
        # Beyond the turns it was trained for an input would leave [0, 1].
        choose(self.logits(np.minimum(observations, 1)), legal, seeds, self.greedy, actions)
        return actions

    def probabilities(self, views: NDArray[np.void], legal: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return with which probability each action is drawn where a policy is not greedy.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].

        Returns:
            f8 [B, A], 0 for what is illegal.

        Raises:
            ArrayError: see `act`.
        """
        # Who is nobody's view has no seed either; what they are is checked next.
        seeds = np.zeros(len(views) if is_array(views) and views.ndim else 0, np.uint64)
        views, legal, _ = decision(views, legal, seeds, self.game.VIEW, self._num_actions)
        observer = self.game.Observer(self.rules, views, self.record)
        observer.check()
        logits = np.where(legal, self.logits(np.minimum(observer.written(), 1)), -np.inf).astype(np.float64)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    # Tables call what is behind the checks (see `doors.unchecked`).
    act.kernel = _act  # type: ignore[attr-defined]

    def logits(self, observations: NDArray[np.float32] | NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the network's output (f4 [B, A]) for observations (f4 [B, N], or i1 [B, N], in which 127 is 1).

        Raises:
            ArrayError: they have another shape, or another dtype.
        """
        shape = (ANY, self._size)
        if is_array(observations) and observations.dtype.kind in "iu":
            if observations.dtype != np.int8:
                raise ArrayError(
                    f"observations must be float32, or int8 in which {INT8_ONE} is 1, got {observations.dtype}"
                )
            scaled = array("observations", observations, np.int8, shape).astype(np.float32)
            return self.network.logits(scaled / np.float32(INT8_ONE))
        return self.network.logits(array("observations", observations, np.float32, shape))

    def seated(self, options: Any) -> Policy:
        """Return this policy as a player of a game with these options.

        Raises:
            PolicyError: it was trained for other ones.
        """
        check_options(self.game, options)
        trained = dataclasses.asdict(self.options)
        asked = dataclasses.asdict(options)
        minor = tuple(about.name for about in described(self.options) if about.minor)
        may_differ = minor + self.network.may_differ
        others = [key for key in trained if trained[key] != asked[key] and key not in may_differ]
        if others:
            wanted = ", ".join(f"{key}={trained[key]!r} (this game has {asked[key]!r})" for key in others)
            raise PolicyError(f"{self.name} was trained for {wanted}; only {', '.join(may_differ)} may differ")
        changes = {key: asked[key] for key in self.network.may_differ if trained[key] != asked[key]}
        if not changes:
            return self
        network = copy.copy(self.network)
        return Policy(
            self.game,
            dataclasses.replace(self.options, **changes),
            self.record,
            network,
            self.greedy,
            self.steps,
            self.name,
        )


@kernel
def choose(logits: Any, legal: Any, seeds: Any, greedy: Any, actions: Any) -> None:
    """Draw from the softmax over the legal actions by inverting its distribution function, or take the best one."""
    weights = np.empty(logits.shape[1])
    for b in range(logits.shape[0]):
        best = -1
        for a in range(logits.shape[1]):
            if legal[b, a] and (best < 0 or logits[b, a] > logits[b, best]):
                best = a
        actions[b] = best
        if greedy or best < 0:
            continue
        total = 0.0
        for a in range(logits.shape[1]):
            weights[a] = math.exp(np.float64(logits[b, a]) - np.float64(logits[b, best])) if legal[b, a] else 0.0
            total += weights[a]
        left = np.float64(seeds[b] >> np.uint64(11)) * TWO_TO_MINUS_53 * total
        for a in range(logits.shape[1]):
            # Strictly, so that an action of probability 0 is never drawn, not even by the last rounding.
            if left < weights[a]:
                actions[b] = a
                break
            left -= weights[a]


# --- files ---


def save_policy(
    policy: Policy,
    path: str | Path,
    versions: Mapping[str, str],
    win_share: float | None = None,
    training: Mapping[str, Any] | None = None,
    evaluation: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Write a policy file with its checksum, replacing an existing one in a single step.

    Args:
        policy: what to write.
        path: where; ends in ``.safetensors``.
        versions: of the packages that made it.
        win_share: the mean of its win shares in an evaluation, from 0 to 1.
        training: how it was trained, for its model card: names and plain values, such as a
            configuration.
        evaluation: its results, for its model card: for each opponent a mapping with the keys of
            `policy_file.EVALUATION`.

    Raises:
        PolicyError: it is not a policy that can be saved, the name does not end so, or what the file
            is to say besides is not of its kind or too long; nothing has been written.
        OSError: it cannot be written.

    >>> from sleuth_env import load_policy, save_policy
    >>> save_policy(load_policy("pretrained:4p"), "copy.safetensors", versions={})  # doctest: +SKIP
    """
    check_policy(policy)
    check_path("path", path, PolicyError)
    if Path(path).suffix != SUFFIX:
        raise PolicyError(f"the name of a policy file must end in {SUFFIX}, got {str(path)!r}")
    from safetensors.numpy import save

    texts = [*versions, *versions.values()] if isinstance(versions, Mapping) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise PolicyError(f"versions must map names of packages to texts, got {shown(versions)}")
    layout = policy.game.observation_layout(policy.options, policy.record)
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": policy.game.NAME,
        "options": json.dumps(dataclasses.asdict(policy.options)),
        "num_players": str(policy.options.num_players),
        "record": policy.record,
        "observation": _blocks(layout),
        "observation_hash": layout.digest,
        "architecture": json.dumps(policy.network.architecture()),
        "steps": str(policy.steps),
        "versions": json.dumps(dict(versions)),
        "win_share": json.dumps(None if win_share is None else _share(win_share)),
        **_told(training, evaluation),
    }
    write_atomically(Path(path), sealed(save(policy.network.tensors(), metadata)))


def _told(training: Any, evaluation: Any) -> dict[str, str]:
    """Return what a file says for its model card; nothing where there is nothing to say."""
    told: dict[str, Any] = {}
    if training is not None:
        if not isinstance(training, Mapping) or not all(isinstance(key, str) for key in training):
            raise PolicyError(f"training must map names to plain values, got {shown(training)}")
        told["training"] = dict(training)
    try:
        if evaluation is not None:
            told["evaluation"] = check_evaluation(evaluation)
        texts = {key: json.dumps(value, allow_nan=False) for key, value in told.items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise PolicyError(f"training or evaluation cannot be written: {error}") from error
    if sum(map(len, texts.values())) > MOST_TOLD_BYTES:
        raise PolicyError(f"training and evaluation are longer than {MOST_TOLD_BYTES} bytes as JSON")
    return texts


def check_policy(policy: Any) -> None:
    """Check that something is a policy whose network can be written.

    Raises:
        PolicyError: it is not.
    """
    if not isinstance(policy, Policy):
        raise PolicyError(f"policy must be a Policy, got {shown(policy)}")


def _share(value: Any) -> float:
    """Return a win share as a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
        raise PolicyError(f"win_share must be a number from 0 to 1, or None, got {shown(value)}")
    return float(value)


def _blocks(layout: Any) -> str:
    return json.dumps([[block.name, list(block.shape)] for block in layout])


def load_policy(path: str | Path, game: Game | None = None, greedy: bool = False) -> Policy:
    """Read a policy file.

    Args:
        path: the file; ``pretrained:sleuth-4p`` is the one for four players that comes with the
            package.
        game: the game module that it must be of; default: the game of this package that the file
            names.
        greedy: see `Policy`.

    Raises:
        PolicyError: it is not a policy file, it is damaged, or it is for another game, other options
            or another observation.

    >>> from sleuth_env import load_policy
    >>> policy = load_policy("pretrained:sleuth-4p")
    >>> policy.game.NAME, policy.options.num_players, policy.record
    ('sleuth', 4, 'exact')
    """
    metadata, tensors = read_policy_file(path, *([] if game is None else [check_game(game).NAME]))
    found = metadata["game"]
    if game is None:
        # A file is not trusted to name a module that would be imported.
        if found not in GAMES:
            raise PolicyError(
                f"{path} is a policy for the game {found!r}, which is none of {', '.join(GAMES)}: "
                "hand in its module as game"
            )
        game = load_game(found)
    if found != game.NAME:
        raise other_game(path, found, game.NAME)
    try:
        options = game.Options(**metadata["options"])
        layout = game.observation_layout(options, metadata["record"])
    except (TypeError, ValueError) as error:
        raise PolicyError(f"{path}: its options or its kind of observation are not known here: {error}") from error
    if layout.digest != metadata["observation_hash"]:
        raise PolicyError(
            f"{path} was trained on another observation than this version's "
            f"({metadata['observation_hash']}, here {layout.digest})"
        )
    if metadata["num_players"] != options.num_players or json.dumps(metadata["observation"]) != _blocks(layout):
        raise PolicyError(f"{path} contradicts itself: its num_players or its observation is not that of its options")
    try:
        return _built(game, options, metadata, tensors, greedy, Path(path).name.removesuffix(SUFFIX))
    except KeyError as error:
        raise PolicyError(f"{path} lacks {error}") from error
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from error


def _built(
    game: Game, options: Any, metadata: dict[str, Any], tensors: dict[str, Any], greedy: bool, name: str
) -> Policy:
    """Build the network that the metadata describes from tensors that nobody has checked yet."""
    architecture = metadata["architecture"]
    networks = {Mlp.kind: Mlp, **game.NETWORKS}
    kind = architecture["kind"]
    if not isinstance(kind, str) or kind not in networks:
        raise PolicyError(f"unknown architecture {architecture!r}; this version plays {', '.join(map(repr, networks))}")
    integers = networks[kind].integer_tensors
    wrong = [key for key, array in tensors.items() if (array.dtype == np.int32) != (key in integers)]
    if wrong:
        raise PolicyError(f"the tensors {', '.join(wrong)} are not of the type that they should have")
    network = networks[kind].built(architecture, tensors)
    if tensors:
        raise PolicyError(f"unknown tensors {', '.join(tensors)}")
    return Policy(game, options, metadata["record"], network, greedy, metadata["steps"], name)
