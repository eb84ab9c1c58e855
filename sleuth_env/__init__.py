"""Sleuth, the deduction card game by Sid Sackson, as an environment for reinforcement learning.

PettingZoo, for all players; Gymnasium, for one learner, or for many games at once:

>>> from sleuth_env import sleuth_v0
>>> env = sleuth_v0.env(num_players=4)
>>> import gymnasium
>>> solo = gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0", num_players=4, opponents="sheet")
>>> many = gymnasium.make_vec("sleuth_env:sleuth_env/SleuthSelfPlay-v0", num_envs=64, num_players=4)
>>> many.reset(seed=1)[0].shape
(64, 2580)

Axis letters, used for every shape in this package: ``B`` games, ``P`` seats, ``A`` actions, ``C``
gem cards, ``Q`` questions, ``H`` holders of cards (opponents and the missing gems), ``N`` numbers of
an observation.

Importing this registers the Gymnasium environments and loads nothing else: the public names below
are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

GYMNASIUM_ID = "sleuth_env/Sleuth-v0"
SELF_PLAY_ID = "sleuth_env/SleuthSelfPlay-v0"

# The public names and the modules that they live in; a module is its own.
_HOMES = {
    "ArrayError": "sleuth_env.doors",
    "Contradiction": "sleuth_env.deduction",
    "EvidenceError": "sleuth_env.deduction.evidence",
    "GameError": "sleuth_env.game",
    "IllegalAction": "sleuth_env.actions",
    "MatchError": "sleuth_env.matches.table",
    "MatchResult": "sleuth_env.matches.rating",
    "NotationError": "sleuth_env.sleuth",
    "OptionError": "sleuth_env.options",
    "Options": "sleuth_env.sleuth",
    "PolicyError": "sleuth_env.policies.policy_file",
    "SleuthVecEnv": "sleuth_env.sleuth_v0",
    "SleuthVectorEnv": "sleuth_env.sleuth_v0",
    "SoloEnv": "sleuth_env.sleuth_v0",
    "SoloVectorEnv": "sleuth_env.sleuth_v0",
    "Table": "sleuth_env.matches.table",
    "UnknownOptionError": "sleuth_env.options",
    "Worlds": "sleuth_env.deduction",
    "belief": "sleuth_env.sleuth",
    "compile_kernels": "sleuth_env.compilation",
    "load_game": "sleuth_env.game",
    "load_policy": "sleuth_env.policies.policy",
    "make_bot": "sleuth_env.sleuth",
    "make_evidence": "sleuth_env.deduction",
    "make_player": "sleuth_env.matches.players",
    "play_match": "sleuth_env.matches.match",
    "policy_from_sb3": "sleuth_env.policies.trained",
    "policy_from_torch": "sleuth_env.policies.trained",
    "save_policy": "sleuth_env.policies.policy",
    "sleuth": "sleuth_env",
    "sleuth_v0": "sleuth_env",
    "wrap_policy": "sleuth_env.policies.wrapped",
}
if TYPE_CHECKING:
    # The same names for type checkers, which do not look into `_HOMES`: to them, `as` makes one public.
    from . import sleuth as sleuth
    from . import sleuth_v0 as sleuth_v0
    from .actions import IllegalAction as IllegalAction
    from .compilation import compile_kernels as compile_kernels
    from .deduction import Contradiction as Contradiction
    from .deduction import Worlds as Worlds
    from .deduction import make_evidence as make_evidence
    from .deduction.evidence import EvidenceError as EvidenceError
    from .doors import ArrayError as ArrayError
    from .game import GameError as GameError
    from .game import load_game as load_game
    from .matches.match import play_match as play_match
    from .matches.players import make_player as make_player
    from .matches.rating import MatchResult as MatchResult
    from .matches.table import MatchError as MatchError
    from .matches.table import Table as Table
    from .options import OptionError as OptionError
    from .options import UnknownOptionError as UnknownOptionError
    from .policies.policy import load_policy as load_policy
    from .policies.policy import save_policy as save_policy
    from .policies.policy_file import PolicyError as PolicyError
    from .policies.trained import policy_from_sb3 as policy_from_sb3
    from .policies.trained import policy_from_torch as policy_from_torch
    from .policies.wrapped import wrap_policy as wrap_policy
    from .sleuth import NotationError as NotationError
    from .sleuth import Options as Options
    from .sleuth import belief as belief
    from .sleuth import make_bot as make_bot
    from .sleuth_v0 import SleuthVecEnv as SleuthVecEnv
    from .sleuth_v0 import SleuthVectorEnv as SleuthVectorEnv
    from .sleuth_v0 import SoloEnv as SoloEnv
    from .sleuth_v0 import SoloVectorEnv as SoloVectorEnv

__all__ = ["GYMNASIUM_ID", "SELF_PLAY_ID", "__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sleuth_env' has no attribute {name!r}")
    home = _HOMES[name]
    return import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


def _register() -> None:
    """Register the environments with Gymnasium, once."""
    from gymnasium.envs.registration import register, registry

    if GYMNASIUM_ID not in registry:
        register(GYMNASIUM_ID, "sleuth_env.sleuth_v0:SoloEnv", vector_entry_point="sleuth_env.sleuth_v0:SoloVectorEnv")
    if SELF_PLAY_ID not in registry:
        register(SELF_PLAY_ID, vector_entry_point="sleuth_env.sleuth_v0:SleuthVectorEnv")


_register()
