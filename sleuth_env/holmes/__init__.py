"""The game module of I Say, Holmes!: everything that others ask of a game, see `sleuth_env.game.Game`."""

from __future__ import annotations

from typing import Any

from ..options import OptionError
from . import board, extensive, telling, wording
from .belief import Belief, belief
from .bots import BOTS, DEFAULT_BOT, BotError, make_bot, playing
from .cards import (
    BOOKS,
    CARDS,
    DECLINE,
    DIGEST,
    OFFERED,
    RECONSTRUCTED,
    SAY_TYPES,
    SCORED,
    TELEGRAMS,
    TITLES,
    VILLAINS,
    CardsError,
    Options,
    action_blocks,
    make_rules,
    num_actions,
)

# VIEW from there, too: to type checkers, an import from `.view` makes `view` that module.
from .doors import VIEW, counts, deal, drop_sheets, ends, legal, problems, settled, standings, step, view
from .drawing import draw_ansi, draw_odds, draw_rgb
from .features import RECORDS, Observer, observation_layout, observation_size, write_observations
from .notation import (
    NotationError,
    action_name,
    book_name,
    event_text,
    parse_action,
    parse_book,
    parse_say_type,
    parse_telegram,
    parse_title,
    say_type_name,
    telegram_name,
    title_name,
)
from .reveal import reveal
from .set_up import SetUpError, set_up
from .state import EVENT_KINDS, PHASES, STATE, new_states
from .transcript import game_text, parse_game

NAME = "holmes"
CHEAPEST_RECORD = "raw"
NETWORKS: dict[str, Any] = {}

__all__ = [
    "BOOKS",
    "BOTS",
    "CARDS",
    "CHEAPEST_RECORD",
    "DECLINE",
    "DEFAULT_BOT",
    "DIGEST",
    "EVENT_KINDS",
    "NAME",
    "NETWORKS",
    "OFFERED",
    "PHASES",
    "RECONSTRUCTED",
    "RECORDS",
    "SAY_TYPES",
    "SCORED",
    "STATE",
    "TELEGRAMS",
    "TITLES",
    "VIEW",
    "VILLAINS",
    "Belief",
    "BotError",
    "CardsError",
    "NotationError",
    "Observer",
    "OptionError",
    "Options",
    "SetUpError",
    "action_blocks",
    "action_name",
    "belief",
    "board",
    "book_name",
    "counts",
    "deal",
    "draw_ansi",
    "draw_odds",
    "draw_rgb",
    "drop_sheets",
    "ends",
    "event_text",
    "extensive",
    "game_text",
    "legal",
    "make_bot",
    "make_rules",
    "new_states",
    "num_actions",
    "observation_layout",
    "observation_size",
    "parse_action",
    "parse_book",
    "parse_game",
    "parse_say_type",
    "parse_telegram",
    "parse_title",
    "playing",
    "problems",
    "reveal",
    "say_type_name",
    "set_up",
    "settled",
    "standings",
    "step",
    "telegram_name",
    "telling",
    "title_name",
    "view",
    "wording",
    "write_observations",
]
