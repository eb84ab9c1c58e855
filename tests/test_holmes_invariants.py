"""The invariants of the second game hold in whatever is played, and what breaks one is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sleuth_env.holmes.cards import AFOOT, MASTERMIND, TITLES, Options, make_rules
from sleuth_env.holmes.cases import deal
from sleuth_env.holmes.invariants import problems
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.state import FINISHED, STATE, new_states
from tests.support.holmes_bot_games import HolmesBotGames

VARIANTS = [
    *(Options(n) for n in range(3, 9)),
    Options(3, fast_play=True, cases=2),
    Options(4, must_arrest=True, max_turns=30, after_alibi="left_of_alibi"),
    Options(5, cases=1, reward="case"),
]


def moments(options: Options, names: list[str], limit: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Iterate over the states of some games before each decision, and those in the end."""
    games = HolmesBotGames(options, [names[seat % len(names)] for seat in range(options.num_players)], 3, seed)
    for decisions in games.play(limit):
        yield decisions.states
    yield games.states


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_games_are_sound_at_every_decision(options: Options) -> None:
    rules = make_rules(options)
    for names in (["random"], ["random", "cautious", "counter"]):
        for states in moments(options, names, 200):
            assert problems(rules, states) == []


@pytest.mark.slow
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_whole_games_are_sound(options: Options) -> None:
    rules = make_rules(options)
    for seed in range(5):
        for states in moments(options, ["random"], 100_000, seed):
            assert problems(rules, states) == []


def dealt(options: Options, seed: int = 1) -> np.ndarray:
    """Return a new game, STATE [1]."""
    states = new_states(1)
    deal(make_rules(options), states, np.array([seed], np.uint64))
    return states


def test_blank_states_are_not_sound() -> None:
    assert problems(make_rules(Options()), new_states(2))[1].startswith("game 1: ")


DAMAGES: dict[str, tuple[str, Any, Any]] = {
    "phase": ("phase", (), 15),
    "turn": ("turn", (), 4),
    "actor": ("actor", (), -1),
    "turn number": ("turn_number", (), 0),
    "current Villain": ("current", (), TITLES.index("moriarty")),
    "current mastermind": ("current", (), MASTERMIND),
    "a hand with afoot": ("hands", (0, AFOOT), 1),
    "a card more": ("discards", (3,), 1),
    "held": ("held", (1,), 0),
    "hand size": ("hand_sizes", (2,), 7),
    "an unused seat": ("hand_sizes", (6,), 1),
    "pile": ("pile", (0,), 38),
    "pile size": ("pile_size", (), 126),
    "books": ("books", (0,), 4),
    "a Book that ends the game": ("books", (0,), 1),
    "say": ("say", (0, 0), 3),
    "telegrams": ("telegrams", (0,), 1),
    "drawn": ("drawn", (), 3),
    "in play": ("in_play", (), 3),
    "card": ("card", (), 0),
    "sheet": ("most", (0, 1, 0), 0),
    "a mark of sheets": ("keeps_sheets", (), 2),
    "sheets that are not kept": ("keeps_sheets", (), 0),
    "own sheet": ("most", (0, 0, 0), 1),
    "behind the titles of a sheet": ("most", (0, 1, 63), 1),
    "spare": ("spare", (0, 0), 100),
    "excess": ("excess", (0, 0), 100),
    "cards of a sheet": ("counted", (0, 1), 100),
    "notes": ("notes", (0,), 1),
    "number of notes": ("num_notes", (), 1),
    "looks": ("looks", (0, 1, 0), 1),
    "events": ("events", (0, 0), 10),
    "arrester": ("arrester", (), 0),
    "tried": ("tried", (0,), 1),
    "set down": ("set_down", (0,), 1),
    "moved": ("moved", (0,), 1),
    "last case": ("last_book", (), 1),
    "declined": ("declined", (0,), 2),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed(damage: str) -> None:
    options = Options(4)
    states = dealt(options)
    field, place, value = DAMAGES[damage]
    states[field][(0, *place)] = value
    assert len(problems(make_rules(options), states)) == 1


def test_what_is_wrong_is_said_in_words() -> None:
    states = dealt(Options(4))
    states["phase"] = 15
    assert problems(make_rules(Options(4)), states) == ["game 0: phase is 15: not a phase"]


def test_any_bytes_may_be_asked_about() -> None:
    rng = np.random.default_rng(5)
    rules = make_rules(Options(4))
    noise = rng.integers(0, 256, (50, STATE.itemsize), np.uint8).view(STATE).reshape(-1)
    assert len(problems(rules, noise)) == 50
    small = rng.integers(-1, 2, (50, STATE.itemsize)).astype(np.int8).view(STATE).reshape(-1)
    assert len(problems(rules, small)) == 50


def test_what_passes_with_a_changed_byte_can_be_played() -> None:
    options = Options(3, cases=2)
    rules = make_rules(options)
    rng = np.random.default_rng(6)
    passed = []
    for states in moments(options, ["random"], 300, 3):
        changed = states[:1].repeat(20)
        raw = changed.view(np.uint8).reshape(20, STATE.itemsize)
        raw[np.arange(20), rng.integers(0, STATE.itemsize, 20)] ^= rng.integers(1, 256, 20).astype(np.uint8)
        faulty = {int(problem.split()[1].rstrip(":")) for problem in problems(rules, changed)}
        passed.append(changed[[row for row in range(20) if row not in faulty]])
    states = np.concatenate(passed)
    assert states.size > 20
    marks = np.zeros((states.size, int(rules["num_actions"][0])), np.uint8)
    taken = np.zeros(states.size, np.uint8)
    for _ in range(30):
        legal(rules, states, marks)
        assert (marks.any(1) == (states["phase"] != FINISHED)).all()
        actions = np.array([rng.choice(np.flatnonzero(row)) if row.any() else -1 for row in marks])
        step(rules, states, actions, taken, np.zeros((states.size, 3)))
        assert (taken == (actions >= 0)).all()
    assert problems(rules, states) == []
