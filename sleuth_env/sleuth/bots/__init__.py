"""The built-in bots by name."""

from __future__ import annotations

from ..cards import Options
from .base import Bot
from .entropy import EntropyBot
from .racer import RacerBot
from .sheet import SheetBot
from .simple import CautiousBot, RandomBot


class BotError(ValueError):
    """There is no bot of that name; the message lists the known ones."""


BOTS: dict[str, type[Bot]] = {bot.name: bot for bot in (RandomBot, CautiousBot, SheetBot, EntropyBot, RacerBot)}


def make_bot(name: str, options: Options) -> Bot:
    """Make a bot by its name.

    Raises:
        BotError: the name is unknown.
    """
    if name not in BOTS:
        raise BotError(f"there is no bot {name!r}; the bots are {', '.join(BOTS)}")
    return BOTS[name](options)
