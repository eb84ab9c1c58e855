"""Privacy by substitution in the second game: what a seat cannot know changes nothing that it receives by a byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from sleuth_env.holmes.bots import BOTS, make_bot
from sleuth_env.holmes.cards import Options, make_rules, num_actions
from sleuth_env.holmes.features import RECORDS, observation_size, write_observations
from sleuth_env.holmes.rules import legal
from sleuth_env.holmes.state import FINISHED, NUM_PHASES, PHASES
from sleuth_env.holmes.view import VIEW, view
from tests.support.holmes_bot_games import HolmesBotGames
from tests.support.holmes_substitution import substituted

# The planner takes its time.
QUICK = [name for name in BOTS if name != "planner"]
VARIANTS = [
    *(Options(n) for n in range(3, 9)),
    Options(4, fast_play=True, must_arrest=True),
    Options(5, after_alibi="left_of_alibi", cases=2, reward="case"),
]


def moments(options: Options, limit: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Iterate over states (STATE [1]) of a random game."""
    for decisions in HolmesBotGames(options, ["random"] * options.num_players, 1, seed).play(limit):
        yield decisions.states


def received(options: Options, states: np.ndarray, viewer: int, names: Sequence[str] = QUICK) -> list[bytes]:
    """Return all that a seat is given: its view, its observations, its legal actions, and what bots make of them."""
    rules = make_rules(options)
    views = np.zeros(1, VIEW)
    view(rules, states, np.array([viewer]), views)
    found = [views.tobytes()]
    for record in RECORDS:
        out = np.zeros((1, observation_size(options, record)), "f4")
        write_observations(rules, views, out, record)
        found.append(out.tobytes())
    if states["actor"][0] == viewer:
        marks = np.zeros((1, num_actions(options)), "u1")
        legal(rules, states, marks)
        found.append(marks.tobytes())
        found += [make_bot(name, options).act(views, marks, np.array([5], "u8")).tobytes() for name in names]
    return found


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_no_seat_notices_a_change_of_what_it_cannot_know(options: Options) -> None:
    rng = np.random.default_rng(1)
    for moment, states in enumerate(moments(options, 50, seed=options.num_players)):
        # Whoever is to act, and somebody else in turn.
        for viewer in {int(states["actor"][0]), moment % options.num_players}:
            changed = substituted(options, states, viewer, rng)
            assert received(options, changed, viewer) == received(options, states, viewer)


def test_the_planner_plans_with_nothing_else() -> None:
    options = Options(4)
    rng = np.random.default_rng(6)
    for states in moments(options, 6):
        viewer = int(states["actor"][0])
        changed = substituted(options, states, viewer, rng)
        assert received(options, changed, viewer, ["planner"]) == received(options, states, viewer, ["planner"])


@pytest.mark.slow
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_nor_in_whole_games(options: Options) -> None:
    rng = np.random.default_rng(2)
    asked: Counter[int] = Counter()
    for seed in range(4):
        for states in moments(options, 100_000, seed):
            viewer = int(states["actor"][0])
            asked[int(states["phase"][0])] += 1
            changed = substituted(options, states, viewer, rng)
            assert received(options, changed, viewer) == received(options, states, viewer)
    missed = {PHASES[phase] for phase in range(NUM_PHASES) if not asked[phase]}
    assert missed <= {"finished", "source", "discard", "verdict", "give", "escape"}


def test_the_substitutions_do_change_what_is_hidden() -> None:
    options = Options(4)
    rng = np.random.default_rng(3)
    changes: Counter[str] = Counter()
    number = 0
    for states in moments(options, 100):
        assert states["phase"][0] != FINISHED
        viewer = int(states["actor"][0])
        changed = substituted(options, states, viewer, rng)
        number += 1
        changes.update(name for name in states.dtype.names if (states[name] != changed[name]).any())
        assert (changed["hands"][0, viewer] == states["hands"][0, viewer]).all()
        assert (changed["hands"][0].sum(1) == states["hand_sizes"][0]).all()
    for field in ("hands", "pile", "rng", "say_pool", "telegram_stock", "least", "looks"):
        assert changes[field] > 0.8 * number, field


def test_a_seat_that_peeks_would_be_caught() -> None:
    options = Options(4)
    rng = np.random.default_rng(4)
    states = next(moments(options, 1))
    changed = substituted(options, states, 0, rng)
    assert received(options, changed, 1) != received(options, states, 1)
