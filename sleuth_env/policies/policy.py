"""A policy file as a player: safetensors with metadata, played without torch.

A file holds the weights of a network, which gives one logit an action, and says for which game,
options and observation it was trained. Nothing in it is executed or unpickled, and everything is
checked before it is used. The network is a multi-layer perceptron (`mlp`) or one that treats all
opponents, gems and questions alike (`relational`). A policy plays under the options it was trained
for. Only those of `MAY_DIFFER` may be others: they change neither the size of anything nor what an
accusation is worth. A relational network can sit at a table with another number of players too.
Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import write_atomically
from ..kernels import kernel
from ..sleuth.relational import Relational
from .mlp import Mlp
from .policy_file import FORMAT, FORMAT_VERSION, SUFFIX, PolicyError, in_order, read_policy_file

MAY_DIFFER = ("first_player", "offer_order", "max_turns")
NETWORKS: dict[str, type[Mlp] | type[Relational]] = {"mlp": Mlp, "relational": Relational}
TWO_TO_MINUS_53 = 2.0**-53


class Policy:
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
            usable.
    """

    def __init__(
        self,
        game: Any,
        options: Any,
        record: str,
        network: Mlp | Relational,
        greedy: bool = False,
        steps: int = 0,
        name: str = "policy",
    ) -> None:
        self.game = game
        self.options = options
        self.record = record
        self.network = network
        self.greedy = greedy
        self.steps = steps
        self.name = name
        network.fit(game, options, record)
        self._rules = game.make_rules(options)

    def act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose one legal action a row.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: 64 random bits a row, u8 [B]; the same bits choose the same action.

        Returns:
            Actions, i8 [B]; -1 where nothing is legal.
        """
        if not len(views):
            return np.zeros(0, np.int64)
        observations = np.zeros((len(views), self.game.observation_size(self.options, self.record)), np.float32)
        self.game.write_observations(self._rules, views, observations, self.record)
        actions = np.zeros(len(views), np.int64)
        # Beyond the turns it was trained for an input would leave [0, 1].
        _choose(self.logits(np.minimum(observations, 1)), legal, seeds, self.greedy, actions)
        return actions

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the network's output (f4 [B, A]) for observations (f4 [B, N])."""
        return self.network.logits(observations)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "game": self.game.__name__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=import_module(state["game"]))

    def seated(self, options: Any) -> Policy:
        """Give this policy as a player of a game with these options.

        Raises:
            PolicyError: it was trained for other ones.
        """
        trained = dataclasses.asdict(self.options)
        asked = dataclasses.asdict(options)
        may_differ = MAY_DIFFER + self.network.may_differ
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
def _choose(logits: Any, legal: Any, seeds: Any, greedy: Any, actions: Any) -> None:
    """Draw from the softmax over the legal actions by inverting its distribution function, or take
    the best one.
    """
    chances = np.empty(logits.shape[1])
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
            chances[a] = math.exp(np.float64(logits[b, a]) - np.float64(logits[b, best])) if legal[b, a] else 0.0
            total += chances[a]
        left = np.float64(seeds[b] >> np.uint64(11)) * TWO_TO_MINUS_53 * total
        for a in range(logits.shape[1]):
            # Strictly, so that an action without a chance is never drawn, not even by the last
            # rounding.
            if left < chances[a]:
                actions[b] = a
                break
            left -= chances[a]


# --- files ---


def save_policy(policy: Policy, path: str | Path, versions: Mapping[str, str], win_share: float | None = None) -> None:
    """Write a policy file, replacing one that is there in a single step.

    Args:
        policy: what to write.
        path: where; ends in ``.safetensors``.
        versions: of the packages that made it.
        win_share: the mean of its win shares in an evaluation.
    """
    from safetensors.numpy import save

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
        "win_share": json.dumps(win_share),
    }
    write_atomically(Path(path), in_order(save(policy.network.tensors(), metadata)))


def _blocks(layout: Any) -> str:
    return json.dumps([[block.name, list(block.shape)] for block in layout])


def load_policy(path: str | Path, game: Any = None, greedy: bool = False) -> Policy:
    """Read a policy file.

    Args:
        path: the file; ``pretrained:4p`` is the one for four players that comes with the package.
        game: the game module; default: Sleuth.
        greedy: see `Policy`.

    Raises:
        PolicyError: it is no policy file, it is damaged, or it is for another game, other options
            or another observation.
    """
    game = game or import_module("sleuth_env.sleuth")
    metadata, tensors = read_policy_file(path)
    if metadata["game"] != game.NAME:
        raise PolicyError(f"{path} is a policy for the game {metadata['game']!r}, not for {game.NAME!r}")
    try:
        options = game.Options(**metadata["options"])
        layout = game.observation_layout(options, metadata["record"])
    except (TypeError, ValueError) as error:
        raise PolicyError(f"{path}: its options or its kind of observation are not known here: {error}") from error
    if layout.digest != metadata["observation_hash"]:
        raise PolicyError(
            f"{path} was trained on another observation than this version's ({metadata['observation_hash']}, here {layout.digest})"
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
    game: Any, options: Any, metadata: dict[str, Any], tensors: dict[str, Any], greedy: bool, name: str
) -> Policy:
    """Build the network that the metadata describes of tensors that nobody has checked yet."""
    architecture = metadata["architecture"]
    kind = architecture["kind"]
    if not isinstance(kind, str) or kind not in NETWORKS:
        raise PolicyError(f"unknown architecture {architecture!r}; this version plays {', '.join(map(repr, NETWORKS))}")
    network = NETWORKS[kind].built(architecture, tensors)
    if tensors:
        raise PolicyError(f"unknown tensors {', '.join(tensors)}")
    return Policy(game, options, metadata["record"], network, greedy, metadata["steps"], name)
