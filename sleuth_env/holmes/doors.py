"""The rules of I Say, Holmes! for users: the kernels behind checks of what they are given."""

from __future__ import annotations

from ..doors import Argument, door
from ..game import Kernels
from ..game_doors import make_doors
from . import cases, invariants, results, rules, sheet
from . import view as viewing
from .checked import checked_rules
from .state import BLANK, STATE
from .view import VIEW as VIEW

_DOORS = make_doors(
    Kernels(
        deal=cases.deal,
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
    invariants.problems_in_play,
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
drop_sheets = door(sheet.drop_sheets, [Argument("states", STATE, "B", "STATE", written=True)])
