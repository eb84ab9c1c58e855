"""What a policy file says of the training that it comes from: the configuration, and evaluations.

A policy file travels, so it holds no paths: of files only the names are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sleuth_env.matches.rating import MatchResult

from .config import Config

# What a training does not depend on, and what the file says already.
LEFT_OUT = {"run", "tracking", "options"}
# Characters of a player's name.
LONGEST_NAME = 200


def training_of(config: Config) -> dict[str, Any]:
    """Return the configuration, with all its defaults but without the options of the game, as plain values."""
    settings = config.model_dump(mode="json", exclude=LEFT_OUT)
    if settings["start"] is not None:
        (settings["start"],) = names_of([settings["start"]])
    bots = settings["opponents"]["bots"]
    settings["opponents"]["bots"] = dict(zip(names_of(bots), bots.values(), strict=True))
    settings["evaluation"]["against"] = names_of(settings["evaluation"]["against"])
    return settings


def evaluation_of(results: Mapping[str, MatchResult]) -> list[dict[str, Any]]:
    """Return the results of an evaluation, by the players in the other seats, as `save_policy` takes them."""
    return [
        {
            "against": name + "".join(sorted({f" (failed: {one.stand_in} played)" for one in result.failures})),
            "games": result.games,
            "seed": result.seed,
            "win_share": result.entries[0].win_share,
            "win_low": result.entries[0].win_low,
            "win_high": result.entries[0].win_high,
            "fair_share": result.entries[0].fair_share,
        }
        for name, result in zip(names_of(results), results.values(), strict=True)
    ]


def names_of(players: Iterable[str]) -> list[str]:
    """Return the names of players without the folders of their files, each once.

    >>> names_of(["sheet", "runs/a/best.safetensors", "runs/b/best.safetensors", "pretrained:4p"])
    ['sheet', 'best.safetensors', 'best.safetensors (2)', 'pretrained:4p']
    """
    names: list[str] = []
    for player in players:
        name = re.split(r"[/\\]", player)[-1][-LONGEST_NAME:]
        number = 1
        while (numbered := name if number == 1 else f"{name} ({number})") in names:
            number += 1
        names.append(numbered)
    return names
