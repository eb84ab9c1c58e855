"""The game module of Sleuth: everything that others ask of a game, see `sleuth_env.game.Game`."""

from __future__ import annotations

from ..options import OptionError
from . import board, extensive, telling, wording
from .belief import Beliefs, Sought, belief, belief_in_game, beliefs
from .bots import BOTS, BotError, make_bot, playing
from .bots.weighing import WeightedBelief, weighted_belief
from .cards import DECLINE, OFFERED, SCORED, Options, action_blocks, make_rules, num_actions

# VIEW from there, too: to type checkers, an import from `.view` makes `view` that module.
from .doors import VIEW, counts, deal, ends, legal, problems, settled, standings, step, view
from .drawing import draw_ansi, draw_belief, draw_rgb
from .features import RECORDS, Observer, observation_layout, observation_size, write_observations
from .notation import (
    NotationError,
    action_name,
    gem_name,
    parse_action,
    parse_gem,
    parse_question,
    parse_search_card,
    question_name,
    search_card_name,
)
from .rebuild import RebuildError, rebuild
from .relational import Relational
from .relations import relations
from .state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    EXCHANGE_EVENT,
    FINAL_EVENT,
    FINISHED,
    IN,
    LEFT,
    MUST_ACCUSE,
    NO_EVENT,
    OFFER,
    OUT,
    RIGHT,
    RIGHT_EVENT,
    SECOND,
    STATE,
    TURN,
    WRONG_EVENT,
    new_states,
)
from .telling import reveal
from .transcript import game_text, parse_game

NAME = "sleuth"
CHEAPEST_RECORD = "raw"
DEFAULT_BOT = "sheet"
NETWORKS = {Relational.kind: Relational}

__all__ = [
    "ACCUSED_EVENT",
    "ASK_EVENT",
    "BOTS",
    "CHEAPEST_RECORD",
    "DECLINE",
    "DEFAULT_BOT",
    "EXCHANGE_EVENT",
    "FINAL_EVENT",
    "FINISHED",
    "IN",
    "LEFT",
    "MUST_ACCUSE",
    "NAME",
    "NETWORKS",
    "NO_EVENT",
    "OFFER",
    "OFFERED",
    "OUT",
    "RECORDS",
    "RIGHT",
    "RIGHT_EVENT",
    "SCORED",
    "SECOND",
    "STATE",
    "TURN",
    "VIEW",
    "WRONG_EVENT",
    "Beliefs",
    "BotError",
    "NotationError",
    "Observer",
    "OptionError",
    "Options",
    "RebuildError",
    "Sought",
    "WeightedBelief",
    "action_blocks",
    "action_name",
    "belief",
    "belief_in_game",
    "beliefs",
    "board",
    "counts",
    "deal",
    "draw_ansi",
    "draw_belief",
    "draw_rgb",
    "ends",
    "extensive",
    "game_text",
    "gem_name",
    "legal",
    "make_bot",
    "make_rules",
    "new_states",
    "num_actions",
    "observation_layout",
    "observation_size",
    "parse_action",
    "parse_game",
    "parse_gem",
    "parse_question",
    "parse_search_card",
    "playing",
    "problems",
    "question_name",
    "rebuild",
    "relations",
    "reveal",
    "search_card_name",
    "settled",
    "standings",
    "step",
    "telling",
    "view",
    "weighted_belief",
    "wording",
    "write_observations",
]
