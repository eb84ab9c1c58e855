"""The belief panel of a drawing: how likely each gem is to be missing and which questions tell most, by a count of all deals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..deduction.worlds import Worlds
from .belief import belief, payable_asks
from .cards import NUM_QUESTIONS, Options, make_rules
from .names import question_name
from .scene import one_view
from .state import FINISHED, IN, MUST_ACCUSE, SECOND, TURN

MOST = 8  # questions that are listed
NOTHING = 1e-9  # bits that are rounding errors


class Prospect(NamedTuple):
    """A question that is worth asking."""

    name: str  # as it is typed, without the card that pays for it
    information: float  # bits that it is expected to tell about the missing gems
    decides: float  # the chance that its answer leaves only one possibility for them


@dataclass(frozen=True)
class Panel:
    """Hold all that is drawn.

    Args:
        deals: how many deals fit what the viewer knows, in words.
        chances: f8 [36], the probability of each gem to be missing; 0 for open cards and the viewer's own.
        proved: i1 [36], 1 it is missing, 0 it is not, -1 neither is proved.
        heading: of the list of questions.
        prospects: the best questions, best first.
    """

    deals: str
    chances: np.ndarray
    proved: np.ndarray
    heading: str
    prospects: list[Prospect]


def make_panel(options: Options, view: np.void) -> Panel:
    """Tell what the viewer may believe, ready to be drawn.

    Args:
        options: the options of the game.
        view: VIEW, one record.

    Raises:
        TypeError: it is something else, such as a STATE.
        IntricateError: the deals cannot be counted, see `Worlds`.
    """
    views = one_view(view)
    worlds = belief(make_rules(options), views)
    return Panel(_deals(worlds), worlds.missing, worlds.certain[:, -1], *_questions(options, views, worlds))


def _deals(worlds: Worlds) -> str:
    if not worlds.exact:
        estimated = f"the chances are estimates with an expected error of {worlds.error:.1%} in all"
        return f"About {worlds.count:.2g} deals fit what you know; {estimated}, and bits are overstated"
    return "1 deal fits what you know" if worlds.count == 1 else f"{worlds.count:,} deals fit what you know, each as likely as any other"


def _questions(options: Options, views: np.ndarray, worlds: Worlds) -> tuple[str, list[Prospect]]:
    """Give the best of the questions that may be asked now or, on the turns of others, that the viewer's cards allow."""
    view = views[0]
    now = bool(view["to_act"] and view["phase"] in (TURN, SECOND))
    if view["standing"][0] != IN or view["phase"] == FINISHED or view["accusing"] or (view["to_act"] and view["phase"] == MUST_ACCUSE):
        return "You ask nothing more", []
    asks, places, _ = payable_asks(make_rules(options), views, now=now)
    worths = worlds.worths(asks["holder"], asks["cards"], asks["shown"])
    best = np.lexsort((places, -worths["decides"].round(9), -worths["information"].round(9)))
    telling = [i for i in best[:MOST] if worths["information"][i] > NOTHING]
    if not telling:
        return "None of your questions tells more about what is missing", []
    names = [f"ask +{places[i] // NUM_QUESTIONS + 1} {question_name(places[i] % NUM_QUESTIONS)}" for i in telling]
    prospects = [Prospect(name, *worths[i].tolist()[:2]) for name, i in zip(names, telling, strict=True)]
    return f"Best of {len(asks)} questions that {'you may ask now' if now else 'your cards allow'}", prospects
