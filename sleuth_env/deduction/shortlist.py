"""Which questions may be the best: only these need be appraised one by one.

All are first appraised by `moments`, which is much faster and exact but for rounding. What decides
between questions that are worth the same but for rounding is the appraisal of `questions`: who
looks for the best one finds it by the same numbers as among all of them.
"""

from __future__ import annotations

import numpy as np

from ..kernels import inner
from .moments import appraise_by_moments
from .questions import set_columns

# Which questions are to be appraised: all, or only those that may be the best.
AIM = np.dtype(
    [
        ("by", "i4"),  # EVERY, INFORMATION or RIGHTLY: all, or those with the most of this
        ("exactly", "i4"),  # 0: where nothing depends on it, worths may be exact but for rounding
        ("slack", "f8"),  # the others come close if they are worth less by no more than this
    ],
    align=True,
)
EVERY = 0
INFORMATION = 1
RIGHTLY = 2


@inner
def shortlist(plan, result, live, edges, frame, aim, asks, bonus, least, worths, wanted):
    """Find the questions that may be the best, by numbers that are exact but for rounding.

    Args:
        plan: one PLAN record.
        result: one RESULT record.
        live: LIVE [N + 1], the graph's nodes.
        edges: EDGE [E], the graph's edges.
        frame: one FRAME record, scratch.
        aim: one AIM record.
        asks: ASK [N].
        bonus: f8 [N], is added to the worth of a question before it is compared; -inf: leave it out.
        least: a question that is worth no more than this, without the bonus, is left out.
        worths: WORTH [N], overwritten: NaN unless a question may be the best one, and in all that is
            not known but for rounding.
        wanted: bool [N], overwritten: whether a question must be appraised exactly.
    """
    for n in range(asks.size):
        know_nothing(worths[n])
        wanted[n] = aim["by"] == EVERY or bonus[n] > -np.inf
    if (aim["by"] == EVERY and aim["exactly"]) or plan["missing"] != 1:
        return
    set_columns(plan, frame)
    if not appraise_by_moments(plan, result["exact"] != 0, result["begin"], live, edges, frame, asks, worths):
        return
    if aim["by"] == EVERY:
        wanted[:] = False
        return
    slack = aim["slack"]
    best = -np.inf
    for n in range(asks.size):
        worth = worths[n]["information"] if aim["by"] == INFORMATION else worths[n]["rightly"]
        # What is worth hardly more than the least may be worth no more when it is appraised exactly.
        if worth > least + slack:
            best = max(best, worth + bonus[n])
    close = 0
    for n in range(asks.size):
        worth = worths[n]["information"] if aim["by"] == INFORMATION else worths[n]["rightly"]
        value = worth + bonus[n]
        wanted[n] = worth > least - slack and value > -np.inf and value >= best - slack
        close += wanted[n]
        if not wanted[n]:
            know_nothing(worths[n])
    if close == 1 and best > -np.inf and not aim["exactly"]:
        wanted[:] = False


@inner
def know_nothing(worth):
    """Fill in one WORTH record with NaN."""
    worth["information"] = np.nan
    worth["decides"] = np.nan
    worth["rightly"] = np.nan
    worth["surprise"] = np.nan
