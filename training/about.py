"""What a policy file says of the training that it comes from: the configuration, and evaluations.

A policy file travels, so it holds neither paths nor commands: of files and programs only the names are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sleuth_env.matches.program import names_program, program_name
from sleuth_env.matches.rating import MatchResult

from .config import Config

# What a training does not depend on, and what the file says already.
LEFT_OUT = {"run", "tracking", "options"}
# Characters of a player's name.
LONGEST_NAME = 200


def training_of(config: Config) -> dict[str, Any]:
    """Return the configuration, with all its defaults but without the options of the game, as plain values."""
    settings = config.model_dump(mode="json", exclude=LEFT_OUT)
    names = _names_in(config)
    if config.start is not None:
        settings["start"] = names[config.start]
    settings["opponents"]["bots"] = {names[bot]: share for bot, share in config.opponents.bots.items()}
    settings["evaluation"]["against"] = [names[player] for player in config.evaluation.against]
    return settings


def evaluation_of(config: Config, results: Mapping[str, MatchResult]) -> list[dict[str, Any]]:
    """Return the results of an evaluation, by the players in the other seats, as `save_policy` takes them."""
    names = _names_in(config)
    return [
        {
            "against": names[player],
            "games": result.games,
            "seed": result.seed,
            "win_share": result.entries[0].win_share,
            "win_low": result.entries[0].win_low,
            "win_high": result.entries[0].win_high,
            "fair_share": result.entries[0].fair_share,
        }
        for player, result in results.items()
    ]


def names_of(players: Iterable[str]) -> dict[str, str]:
    """Return what players are called in a policy file: all different, without folders and arguments.

    >>> names_of(["sheet", "a/best.safetensors", "b/best.safetensors"])
    {'sheet': 'sheet', 'a/best.safetensors': 'best.safetensors', 'b/best.safetensors': 'best.safetensors #2'}
    >>> list(names_of(["exec:./player --level 1", "exec:./player --level 2"]).values())
    ['exec:player', 'exec:player #2']
    """
    names: dict[str, str] = {}
    for player in dict.fromkeys(players):
        name = program_name(player) if names_program(player) else re.split(r"[/\\]", player)[-1]
        name = name[-LONGEST_NAME:]
        number = 1
        while (numbered := name if number == 1 else f"{name} #{number}") in names.values():
            number += 1
        names[player] = numbered
    return names


def _names_in(config: Config) -> dict[str, str]:
    """Return the names of all players of a configuration, so that one has the same name wherever it is told of."""
    start = [] if config.start is None else [config.start]
    return names_of([*start, *config.opponents.bots, *config.evaluation.against])
