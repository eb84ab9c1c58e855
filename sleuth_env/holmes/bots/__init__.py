"""The built-in bots by name.

They are given views, never states, and all their randomness comes from the seeds that they are
handed. ``random`` takes any legal action. ``cautious`` plays at random, but arrests only whom the
sheet proves guilty, and keeps its Villains. ``counter`` estimates who has a Villain, arrests whoever
is likely to have one, and looks where one is likely to be found. ``planner`` plays its actions out in
deals that agree with what it knows, and takes the best.
"""

from __future__ import annotations

from ...checks import shown
from ..cards import Options
from .base import Bot
from .counter import CounterBot
from .planner import PlannerBot
from .simple import CautiousBot, RandomBot


class BotError(ValueError):
    """A bot was asked for by an unknown name; the message lists the known ones."""


BOTS: dict[str, type[Bot]] = {bot.name: bot for bot in (RandomBot, CautiousBot, CounterBot, PlannerBot)}
DEFAULT_BOT = CounterBot.name


def make_bot(name: str, options: Options) -> Bot:
    """Make a bot by its name.

    >>> make_bot("counter", Options(num_players=3)).name
    'counter'

    Raises:
        BotError: the name is unknown.
    """
    if not isinstance(name, str) or name not in BOTS:
        raise BotError(f"there is no bot {shown(name)}; the bots are {', '.join(BOTS)}")
    return BOTS[name](options)
