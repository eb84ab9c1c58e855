"""The built-in bots by name.

They are given views, never states, and all their randomness comes from the seeds that they are
handed. ``random`` takes any legal action. ``cautious`` asks random useful questions and accuses
only when the sheet proves the missing gems. ``sheet`` asks what it expects to tell most about the
undecided cells of the sheet, exchanges cards that tell nothing, and asks a final question when
every possible answer would prove the missing gems. ``entropy`` counts the deals instead. ``racer``
asks like ``entropy``, but guesses where waiting for a proof is the greater risk.
"""

from __future__ import annotations

from ...checks import shown
from ..cards import Options
from .base import Bot
from .entropy import EntropyBot
from .racer import RacerBot
from .sheet import SheetBot
from .simple import CautiousBot, RandomBot


class BotError(ValueError):
    """A bot was asked for by an unknown name; the message lists the known ones."""


BOTS: dict[str, type[Bot]] = {bot.name: bot for bot in (RandomBot, CautiousBot, SheetBot, EntropyBot, RacerBot)}


def make_bot(name: str, options: Options) -> Bot:
    """Make a bot by its name.

    >>> make_bot("sheet", Options(num_players=3)).name
    'sheet'

    Raises:
        BotError: the name is unknown.
    """
    if not isinstance(name, str) or name not in BOTS:
        raise BotError(f"there is no bot {shown(name)}; the bots are {', '.join(BOTS)}")
    return BOTS[name](options)
