"""Deals that are drawn for a view agree with it, and can be played."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sleuth_env.holmes.cards import NUM_TITLES, Options, make_rules, num_actions
from sleuth_env.holmes.invariants import problems
from sleuth_env.holmes.redeal import redeal
from sleuth_env.holmes.rules import legal
from sleuth_env.holmes.state import PHASES, new_states
from sleuth_env.holmes.view import VIEW, view
from tests.support.holmes_bot_games import HolmesBotGames

# What a view shows beyond what a deal takes over: what was shown before, and what happened.
FORGOTTEN = ("shown", "seen_by", "shown_turn", "shown_whole", "seen_by_whole", "events")
FORGOTTEN_CASES = ("last_closer", "last_accused", "last_total", "last_book", "last_escaped")
VARIANTS = [Options(3), Options(4, fast_play=True), Options(6, must_arrest=True), Options(8, cases=2)]
NUM_DEALS = 6


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_whoever_decides_sees_the_same_in_every_deal(options: Options) -> None:
    rules = make_rules(options)
    phases: Counter[str] = Counter()
    number = unsound = 0
    seeds = np.arange(NUM_DEALS, dtype=np.uint64)
    for decisions in HolmesBotGames(options, ["random"] * options.num_players, 2, seed=4).play(150):
        views = decisions.views[:1].repeat(NUM_DEALS)
        states = new_states(NUM_DEALS)
        redeal(rules, views, seeds, states)
        phase = PHASES[views["phase"][0]]
        phases[phase] += 1
        found = problems(rules, states)
        number += NUM_DEALS
        unsound += len(found)
        # Where a few trials find no deal within the bounds, they are not kept; nothing else is wrong.
        assert all(problem.endswith("not bounds that hold of the cards") for problem in found), (phase, found)
        again = np.zeros(NUM_DEALS, VIEW)
        view(rules, states, views["seat"].astype("i8"), again)
        for name in VIEW.names or ():
            if name not in FORGOTTEN + FORGOTTEN_CASES:
                assert (again[name] == views[name]).all(), (phase, name)
        marks = np.zeros((NUM_DEALS, num_actions(options)), "u1")
        legal(rules, states, marks)
        assert (marks == decisions.legal[:1]).all(), phase
        assert (states["pile"] != states["pile"][0]).any()
    assert phases["turn"] > 20
    assert unsound <= 0.02 * number


def test_hidden_cards_are_dealt_in_all_ways() -> None:
    options = Options(3)
    rules = make_rules(options)
    decisions = next(HolmesBotGames(options, ["random"] * 3, 1).play())
    states = new_states(400)
    redeal(rules, decisions.views[:1].repeat(400), np.arange(400, dtype=np.uint64), states)
    viewer = int(decisions.views["seat"][0])
    for other in {0, 1, 2} - {viewer}:
        hands = states["hands"][:, other]
        least, most = (decisions.states[name][0, viewer, other, :NUM_TITLES] for name in ("least", "most"))
        assert (hands >= least).all()
        assert (hands <= most).all()
        # Whatever one copy of may lie there lies there in some deals.
        assert ((hands.max(0) > 0) == (most > 0)).all()
