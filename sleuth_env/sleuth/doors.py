"""Sleuth's rules for users: the kernels behind checks of what they are given."""

from __future__ import annotations

from ..game import Kernels
from ..game_doors import make_doors
from . import invariants, results, rules, state
from . import view as viewing
from .checked import checked_rules
from .state import BLANK
from .view import VIEW as VIEW

_DOORS = make_doors(
    Kernels(
        deal=state.deal,
        legal=rules.legal,
        step=rules.step,
        ends=results.ends,
        settled=results.settled,
        standings=results.standings,
        view=viewing.view,
    ),
    invariants.problems,
    results.counts,
    BLANK,
    VIEW,
    checked_rules,
)
deal = _DOORS.deal
legal = _DOORS.legal
step = _DOORS.step
ends = _DOORS.ends
settled = _DOORS.settled
standings = _DOORS.standings
problems = _DOORS.problems
counts = _DOORS.counts
view = _DOORS.view
