"""Print a digest of what bots deduce and do in fixed games, for compiled and plain kernels."""

from __future__ import annotations

import hashlib
import sys

from sleuth_env.sleuth.cards import Options
from sleuth_env.sleuth.clues import read_sheet
from tests.support.bot_games import BotGames

# The number of decisions for each game, times a factor.
GAMES = {Options(3): 60, Options(4, missing=2, double_interrogation=True): 20, Options(5, super_sleuth=True): 20}


def digest(factor: int) -> str:
    """Return a digest of the decisions of all games, of so many times their number."""
    everything = hashlib.sha256()
    for options, limit in GAMES.items():
        games = BotGames(options, ("sheet", "cautious", "random"), 1, seed=5)
        for decisions in games.play(factor * limit):
            everything.update(read_sheet(games.rules, decisions.views).tobytes() + decisions.actions.tobytes())
    return everything.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(int(sys.argv[1])))
