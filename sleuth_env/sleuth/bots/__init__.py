"""The built-in bots by name.

They are given views, never states, and all their randomness comes from the seeds that they are
handed. ``random`` takes any legal action. ``cautious`` asks random useful questions and accuses
only when the sheet proves the missing gems. ``sheet`` asks what it expects to tell most about the
undecided cells of the sheet, exchanges cards that tell nothing, and asks a final question when
every possible answer would prove the missing gems. ``entropy`` counts the deals instead. ``racer``
asks like ``entropy``, but guesses where waiting for a proof is the greater risk; ``hunch`` does the
same by estimates, in microseconds. ``searcher`` also reads from what its rivals choose where
the gems lie; ``searcher:2000`` and ``searcher:50ms`` give it another budget.
"""

from __future__ import annotations

from ...checks import shown
from ..cards import Options
from .base import Bot, BotError
from .entropy import EntropyBot
from .hunch import HunchBot
from .racer import RacerBot
from .searcher import SearcherBot
from .sheet import SheetBot
from .simple import CautiousBot, RandomBot

__all__ = ["BOTS", "BotError", "make_bot", "playing"]

BOTS: dict[str, type[Bot]] = {
    bot.name: bot for bot in (RandomBot, CautiousBot, SheetBot, HunchBot, EntropyBot, RacerBot, SearcherBot)
}


def make_bot(name: str, options: Options) -> Bot:
    """Make a bot by its name; after a colon `searcher` takes a budget.

    >>> make_bot("sheet", Options(num_players=3)).name
    'sheet'
    >>> make_bot("searcher:50ms", Options(num_players=3)).name
    'searcher:50ms'

    Raises:
        BotError: the name is unknown, or this is not a budget.
    """
    bot, colon, budget = name.partition(":") if isinstance(name, str) else ("", "", "")
    if bot == SearcherBot.name and colon:
        return SearcherBot(options, budget)
    if bot not in BOTS or colon:
        raise BotError(f"there is no bot {shown(name)}; the bots are {', '.join(BOTS)}")
    return BOTS[bot](options)
