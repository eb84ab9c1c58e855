"""Two deduction games as environments for reinforcement learning: Sleuth by Sid Sackson, and I Say, Holmes!

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

from .version import __version__

GYMNASIUM_ID = "sleuth_env/Sleuth-v0"
SELF_PLAY_ID = "sleuth_env/SleuthSelfPlay-v0"
HOLMES_ID = "sleuth_env/Holmes-v0"
HOLMES_SELF_PLAY_ID = "sleuth_env/HolmesSelfPlay-v0"

# The public names and the modules that they live in; a module is its own.
_HOMES = {
    "AnswerError": "sleuth_env.words",
    "Argument": "sleuth_env.doors",
    "ArrayError": "sleuth_env.doors",
    "Beliefs": "sleuth_env.sleuth",
    "Bot": "sleuth_env.game",
    "BotError": "sleuth_env.sleuth",
    "Contradiction": "sleuth_env.deduction",
    "Entry": "sleuth_env.matches.rating",
    "EvidenceError": "sleuth_env.deduction.evidence",
    "Failure": "sleuth_env.matches.rating",
    "Game": "sleuth_env.game",
    "GameEnv": "sleuth_env.envs.aec",
    "GameError": "sleuth_env.game",
    "GameSoloEnv": "sleuth_env.envs.solo",
    "GameSoloVectorEnv": "sleuth_env.envs.solo",
    "GameVectorEnv": "sleuth_env.envs.vector",
    "HolmesVecEnv": "sleuth_env.holmes_v0",
    "HolmesVectorEnv": "sleuth_env.holmes_v0",
    "IllegalAction": "sleuth_env.actions",
    "Kernels": "sleuth_env.game",
    "Layout": "sleuth_env.layout",
    "LearnerGames": "sleuth_env.envs.sb3",
    "MatchError": "sleuth_env.matches.seating",
    "MatchResult": "sleuth_env.matches.rating",
    "Mlp": "sleuth_env.policies.mlp",
    "NotationError": "sleuth_env.naming",
    "Observer": "sleuth_env.layout",
    "OptionError": "sleuth_env.options",
    "Options": "sleuth_env.sleuth",
    "Player": "sleuth_env.matches.players",
    "Policy": "sleuth_env.policies.policy",
    "PolicyError": "sleuth_env.policies.policy_file",
    "RebuildError": "sleuth_env.sleuth",
    "Remembering": "sleuth_env.matches.seating",
    "SleuthVecEnv": "sleuth_env.sleuth_v0",
    "SleuthVectorEnv": "sleuth_env.sleuth_v0",
    "SoloEnv": "sleuth_env.sleuth_v0",
    "SoloVectorEnv": "sleuth_env.sleuth_v0",
    "Sought": "sleuth_env.sleuth",
    "Table": "sleuth_env.matches.table",
    "TextEnv": "sleuth_env.envs.text",
    "TextStep": "sleuth_env.envs.text",
    "TournamentResult": "sleuth_env.matches.crosstable",
    "UnknownOptionError": "sleuth_env.options",
    "WeightedBelief": "sleuth_env.sleuth",
    "Worlds": "sleuth_env.deduction",
    "belief": "sleuth_env.sleuth",
    "belief_in_game": "sleuth_env.sleuth",
    "beliefs": "sleuth_env.sleuth",
    "bound": "sleuth_env.envs.binding",
    "compile_kernels": "sleuth_env.compilation",
    "door": "sleuth_env.doors",
    "holmes": "sleuth_env",
    "holmes_v0": "sleuth_env",
    "kernel": "sleuth_env.kernels",
    "kernels_of": "sleuth_env.game",
    "load_game": "sleuth_env.game",
    "load_policy": "sleuth_env.policies.policy",
    "make_bot": "sleuth_env.sleuth",
    "make_evidence": "sleuth_env.deduction",
    "make_player": "sleuth_env.matches.players",
    "open_pool": "sleuth_env.matches.shards",
    "openenv_app": "sleuth_env.envs.openenv",
    "openenv_environment": "sleuth_env.envs.openenv",
    "option": "sleuth_env.options",
    "play_match": "sleuth_env.matches.match",
    "play_tournament": "sleuth_env.matches.tournament",
    "policy_from_sb3": "sleuth_env.policies.trained",
    "policy_from_torch": "sleuth_env.policies.trained",
    "read_answer": "sleuth_env.words",
    "rebuild": "sleuth_env.sleuth",
    "rules_text": "sleuth_env.words",
    "save_policy": "sleuth_env.policies.policy",
    "sleuth": "sleuth_env",
    "sleuth_v0": "sleuth_env",
    "solve": "sleuth_env.deduction",
    "text_observation": "sleuth_env.words",
    "to_onnx": "sleuth_env.policies.export",
    "to_torch": "sleuth_env.policies.export",
    "weighted_belief": "sleuth_env.sleuth",
    "wrap_policy": "sleuth_env.policies.wrapped",
}
if TYPE_CHECKING:
    # The same names for type checkers, which do not look into `_HOMES`: to them, `as` makes one public.
    from . import holmes as holmes
    from . import holmes_v0 as holmes_v0
    from . import sleuth as sleuth
    from . import sleuth_v0 as sleuth_v0
    from .actions import IllegalAction as IllegalAction
    from .compilation import compile_kernels as compile_kernels
    from .deduction import Contradiction as Contradiction
    from .deduction import Worlds as Worlds
    from .deduction import make_evidence as make_evidence
    from .deduction import solve as solve
    from .deduction.evidence import EvidenceError as EvidenceError
    from .doors import Argument as Argument
    from .doors import ArrayError as ArrayError
    from .doors import door as door
    from .envs.aec import GameEnv as GameEnv
    from .envs.binding import bound as bound
    from .envs.openenv import openenv_app as openenv_app
    from .envs.openenv import openenv_environment as openenv_environment
    from .envs.sb3 import LearnerGames as LearnerGames
    from .envs.solo import GameSoloEnv as GameSoloEnv
    from .envs.solo import GameSoloVectorEnv as GameSoloVectorEnv
    from .envs.text import TextEnv as TextEnv
    from .envs.text import TextStep as TextStep
    from .envs.vector import GameVectorEnv as GameVectorEnv
    from .game import Bot as Bot
    from .game import Game as Game
    from .game import GameError as GameError
    from .game import Kernels as Kernels
    from .game import kernels_of as kernels_of
    from .game import load_game as load_game
    from .holmes_v0 import HolmesVecEnv as HolmesVecEnv
    from .holmes_v0 import HolmesVectorEnv as HolmesVectorEnv
    from .kernels import kernel as kernel
    from .layout import Layout as Layout
    from .layout import Observer as Observer
    from .matches.crosstable import TournamentResult as TournamentResult
    from .matches.match import play_match as play_match
    from .matches.players import Player as Player
    from .matches.players import make_player as make_player
    from .matches.rating import Entry as Entry
    from .matches.rating import Failure as Failure
    from .matches.rating import MatchResult as MatchResult
    from .matches.seating import MatchError as MatchError
    from .matches.seating import Remembering as Remembering
    from .matches.shards import open_pool as open_pool
    from .matches.table import Table as Table
    from .matches.tournament import play_tournament as play_tournament
    from .naming import NotationError as NotationError
    from .options import OptionError as OptionError
    from .options import UnknownOptionError as UnknownOptionError
    from .options import option as option
    from .policies.export import to_onnx as to_onnx
    from .policies.export import to_torch as to_torch
    from .policies.mlp import Mlp as Mlp
    from .policies.policy import Policy as Policy
    from .policies.policy import load_policy as load_policy
    from .policies.policy import save_policy as save_policy
    from .policies.policy_file import PolicyError as PolicyError
    from .policies.trained import policy_from_sb3 as policy_from_sb3
    from .policies.trained import policy_from_torch as policy_from_torch
    from .policies.wrapped import wrap_policy as wrap_policy
    from .sleuth import Beliefs as Beliefs
    from .sleuth import BotError as BotError
    from .sleuth import Options as Options
    from .sleuth import RebuildError as RebuildError
    from .sleuth import Sought as Sought
    from .sleuth import WeightedBelief as WeightedBelief
    from .sleuth import belief as belief
    from .sleuth import belief_in_game as belief_in_game
    from .sleuth import beliefs as beliefs
    from .sleuth import make_bot as make_bot
    from .sleuth import rebuild as rebuild
    from .sleuth import weighted_belief as weighted_belief
    from .sleuth_v0 import SleuthVecEnv as SleuthVecEnv
    from .sleuth_v0 import SleuthVectorEnv as SleuthVectorEnv
    from .sleuth_v0 import SoloEnv as SoloEnv
    from .sleuth_v0 import SoloVectorEnv as SoloVectorEnv
    from .words import AnswerError as AnswerError
    from .words import read_answer as read_answer
    from .words import rules_text as rules_text
    from .words import text_observation as text_observation

__all__ = ["GYMNASIUM_ID", "HOLMES_ID", "HOLMES_SELF_PLAY_ID", "SELF_PLAY_ID", "__version__", *_HOMES]


# Of a module with this function, type checkers would believe any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'sleuth_env' has no attribute {name!r}")
        home = _HOMES[name]
        return import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def _register() -> None:
    """Register the environments with Gymnasium, once."""
    from gymnasium.envs.registration import register, registry

    for name, self_play, module, game in (
        (GYMNASIUM_ID, SELF_PLAY_ID, "sleuth_env.sleuth_v0", "Sleuth"),
        (HOLMES_ID, HOLMES_SELF_PLAY_ID, "sleuth_env.holmes_v0", "Holmes"),
    ):
        if name not in registry:
            register(name, f"{module}:SoloEnv", vector_entry_point=f"{module}:SoloVectorEnv")
        if self_play not in registry:
            register(self_play, vector_entry_point=f"{module}:{game}VectorEnv")


_register()
