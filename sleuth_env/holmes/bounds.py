"""Bounds of the copies of each title with each holder, and how they are tightened.

Over all holders the copies of a title add up to those that the viewer does not see, over all titles
the copies of a holder to the number of its cards. Each bound leaves to the others what remains of
these sums; the bounds are tight when none can be narrowed by it.

Arrays of titles are i1 [N], the columns of a sheet; those behind the titles are always 0. No bound is
ever above the number of copies in the game, so that all sums fit into a byte. Loops over columns
compute in bytes, with few arrays each: the compiler turns them into instructions for 32 columns at
once, as long as it can tell that the arrays are apart.

``spare`` [N] are the copies of a title that the viewer does not see, less the sum of the lower bounds
of all holders: by that number may a holder have more than its least. ``excess`` [N] is the sum of the upper
bounds, less the copies that the viewer does not see: by that number may a holder have fewer than its most.
"""

from __future__ import annotations

import numpy as np

from ..bits import members
from ..kernels import inner
from .cards import NUM_CARDS, NUM_COLUMNS
from .state import NUM_HOLDERS

# More rounds than there are copies by which bounds can be narrowed; only where they contradict each other might there
# be no end to it.
MAX_ROUNDS = NUM_HOLDERS * NUM_CARDS


@inner
def _sums(least, most):
    """Return the sums of the bounds of a holder over titles."""
    low = np.int8(0)
    high = np.int8(0)
    for t in range(NUM_COLUMNS):
        low = np.int8(low + least[t])
        high = np.int8(high + most[t])
    return low, high


@inner
def _is_wide(least, most, gap):
    """Return whether any bounds of a holder are further apart than ``gap``."""
    found = np.int8(0)
    for t in range(NUM_COLUMNS):
        found = np.int8(found | np.int8(np.int8(most[t] - least[t]) > gap))
    return found != 0


@inner
def _is_wider(least, most, spare, excess):
    """Return whether any bounds of a holder are further apart than the other holders leave room for."""
    found = np.int8(0)
    for t in range(NUM_COLUMNS):
        gap = np.int8(most[t] - least[t])
        found = np.int8(found | np.int8(gap > spare[t]) | np.int8(gap > excess[t]))
    return found != 0


@inner
def _narrow_row(s, viewer, holder, row_spare, row_excess):
    """Narrow the bounds of one holder to what its other titles leave."""
    least = s["least"][viewer, holder]
    most = s["most"][viewer, holder]
    spare = s["spare"][viewer]
    excess = s["excess"][viewer]
    for t in range(NUM_COLUMNS):
        lower = least[t]
        upper = most[t]
        new_lower = max(lower, np.int8(upper - row_excess))
        new_upper = min(upper, np.int8(lower + row_spare))
        least[t] = new_lower
        most[t] = new_upper
        spare[t] = np.int8(spare[t] - np.int8(new_lower - lower))
        excess[t] = np.int8(excess[t] - np.int8(upper - new_upper))


@inner
def _narrow_columns(s, viewer, holder):
    """Narrow the bounds of one holder to the copies that the other holders leave."""
    least = s["least"][viewer, holder]
    most = s["most"][viewer, holder]
    spare = s["spare"][viewer]
    excess = s["excess"][viewer]
    for t in range(NUM_COLUMNS):
        lower = least[t]
        upper = most[t]
        new_lower = max(lower, np.int8(upper - excess[t]))
        new_upper = min(upper, np.int8(lower + spare[t]))
        least[t] = new_lower
        most[t] = new_upper
        spare[t] = np.int8(spare[t] - np.int8(new_lower - lower))
        excess[t] = np.int8(excess[t] - np.int8(upper - new_upper))


@inner
def tighten(s, viewer, holders, rows):
    """Tighten the bounds of a viewer's sheet to their fixed point.

    Args:
        s: one STATE record.
        viewer: whose sheet.
        holders: mask of the holders that the sheet speaks of.
        rows: mask of those whose bounds or size have changed; the others were tight.
    """
    is_tight = False
    for _ in range(MAX_ROUNDS):
        for h in members(rows):
            low, high = _sums(s["least"][viewer, h], s["most"][viewer, h])
            size = s["counted"][viewer, h]
            row_spare = np.int8(size - low)
            row_excess = np.int8(high - size)
            if _is_wide(s["least"][viewer, h], s["most"][viewer, h], min(row_spare, row_excess)):
                _narrow_row(s, viewer, h, row_spare, row_excess)
                is_tight = False
        if is_tight:
            return
        # When all columns have been narrowed, it is only for the rows that some of them may be wide again.
        is_tight = True
        rows = 0
        for h in members(holders):
            if _is_wider(s["least"][viewer, h], s["most"][viewer, h], s["spare"][viewer], s["excess"][viewer]):
                _narrow_columns(s, viewer, h)
                rows |= 1 << h
