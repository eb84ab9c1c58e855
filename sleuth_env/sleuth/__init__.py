"""The game module of Sleuth: everything that an adapter or a player may ask of the game (see `sleuth_env.game.Game`)."""

from __future__ import annotations

from .bots import BOTS, BotError, make_bot
from .cards import OptionError, Options, make_rules, num_actions
from .drawing import draw_ansi, draw_rgb
from .features import RECORDS, observation_layout, observation_size, write_observations
from .notation import (
    NotationError,
    action_name,
    game_text,
    gem_name,
    parse_action,
    parse_game,
    parse_gem,
    parse_question,
    parse_search_card,
    question_name,
    reveal,
    search_card_name,
)
from .rules import legal, outcome, step
from .state import FINISHED, STATE, deal, new_states
from .view import VIEW, view

NAME = "sleuth"

__all__ = [
    "BOTS",
    "FINISHED",
    "NAME",
    "RECORDS",
    "STATE",
    "VIEW",
    "BotError",
    "NotationError",
    "OptionError",
    "Options",
    "action_name",
    "deal",
    "draw_ansi",
    "draw_rgb",
    "game_text",
    "gem_name",
    "legal",
    "make_bot",
    "make_rules",
    "new_states",
    "num_actions",
    "observation_layout",
    "observation_size",
    "outcome",
    "parse_action",
    "parse_game",
    "parse_gem",
    "parse_question",
    "parse_search_card",
    "question_name",
    "reveal",
    "search_card_name",
    "step",
    "view",
    "write_observations",
]
