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
from typing import Any

__version__ = "0.1.0"

GYMNASIUM_ID = "sleuth_env/Sleuth-v0"
SELF_PLAY_ID = "sleuth_env/SleuthSelfPlay-v0"

# The public names and the modules that they live in.
_HOMES = {
    "Options": "sleuth_env.sleuth",
    "make_bot": "sleuth_env.sleuth",
    "SoloEnv": "sleuth_env.sleuth_v0",
    "SoloVectorEnv": "sleuth_env.sleuth_v0",
    "SleuthVectorEnv": "sleuth_env.sleuth_v0",
    "SleuthVecEnv": "sleuth_env.sleuth_v0",
    "Table": "sleuth_env.matches.table",
    "play_match": "sleuth_env.matches.match",
    "load_policy": "sleuth_env.policies.policy",
    "save_policy": "sleuth_env.policies.policy",
    "make_player": "sleuth_env.matches.players",
    "compile_kernels": "sleuth_env.compilation",
    "wrap_policy": "sleuth_env.policies.wrapped",
    "policy_from_torch": "sleuth_env.policies.trained",
    "policy_from_sb3": "sleuth_env.policies.trained",
}
__all__ = ["GYMNASIUM_ID", "SELF_PLAY_ID", "__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sleuth_env' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


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
