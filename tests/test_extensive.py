"""Chance as a player, without OpenSpiel: what it draws, what is noticed, and that the library is optional."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from sleuth_env import holmes, sleuth
from sleuth_env.game import Extensive, Game, load_game
from tests.support.spiel import TWINS, Twin

VARIANTS = [
    ("sleuth", sleuth.Options(3)),
    ("sleuth", sleuth.Options(4, missing=2, winners=2, double_interrogation=True)),
    ("sleuth", sleuth.Options(7, accuse="own_turn", max_turns=40)),
    ("holmes", holmes.Options(3, max_turns=60)),
    ("holmes", holmes.Options(5, fast_play=True, reward="case", max_turns=60)),
]
DECISIONS = 60


def played(game: Game, form: Extensive, options: Any, seed: int) -> np.ndarray:
    """Let chance and players draw lots; return the states in which somebody decides, one after the other."""
    chance = np.random.default_rng(seed)
    state, draws = form.begin(options)
    rewards = np.zeros((1, options.num_players))
    legal = np.zeros((1, game.num_actions(options)), np.uint8)
    states = []
    while len(states) < DECISIONS:
        while draws:
            numbers, chances = zip(*form.outcomes(options, state, draws), strict=True)
            assert sum(chances) == pytest.approx(1)
            draws = form.draw(options, state, draws, int(chance.choice(numbers, p=chances)), rewards)
        states.append(state.copy())
        game.legal(game.make_rules(options), state, legal)
        if not legal.any():
            break
        weights = legal[0] * chance.random(legal.size)
        for block, actions in game.action_blocks(options).items():
            # Accusations end games of Sleuth.
            weights[actions] *= 1e-3 if block in ("final", "accuse") else 1
        found = form.act(options, state, int(weights.argmax()), rewards)
        assert found is not None
        draws = found
    return np.concatenate(states)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_chance_deals_sound_games_that_hold_nothing_undrawn(name: str, options: Any) -> None:
    game = load_game(name)
    states = played(game, game.extensive, options, seed=1)  # type: ignore[attr-defined]
    assert len(states) > 5
    assert game.problems(game.make_rules(options), states) == []
    assert not states["rng"].any()
    for state in states:
        pile = state["pile"][: state["pile_size"]].tolist()
        assert pile == sorted(pile)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_an_illegal_action_is_refused_and_changes_nothing(name: str, options: Any) -> None:
    game = load_game(name)
    form: Extensive = game.extensive  # type: ignore[attr-defined]
    states = played(game, form, options, seed=2)[:5]
    for at in range(len(states)):
        state = states[at : at + 1].copy()
        legal = np.zeros((1, game.num_actions(options)), np.uint8)
        game.legal(game.make_rules(options), state, legal)
        before = state.tobytes()
        for action in (*np.flatnonzero(legal[0] == 0)[:20].tolist(), -1, game.num_actions(options)):
            assert form.act(options, state, action, np.zeros((1, options.num_players))) is None
            assert state.tobytes() == before


@pytest.mark.parametrize("options", [holmes.Options(3), holmes.Options(4, fast_play=True)], ids=str)
def test_what_is_noticed_in_holmes_does_not_tell_into_how_many_decisions_a_turn_is_divided(options: Any) -> None:
    rules = holmes.make_rules(options)
    states = played(holmes, holmes.extensive, options, seed=3)  # type: ignore[arg-type]
    told = holmes.extensive.noticed
    divided = 0
    for seat in range(options.num_players):
        views = np.zeros(len(states), holmes.VIEW)
        holmes.view(rules, states, np.full(len(states), seat), views)
        for at in range(1, len(states) - 1):
            before, between, after = views[at - 1 : at + 2]
            noticed = [*told(options, before, between), *told(options, between, after)]
            assert noticed == told(options, before, after)
            divided += len(noticed) > 0
    assert divided > 50


@pytest.mark.parametrize("reward", ["winner", "rank", "points", "case"])
def test_nobody_gets_more_or_less_in_holmes_than_is_said(reward: str) -> None:
    options = holmes.Options(3, reward=reward, cases=3)
    least, most = holmes.extensive.payoffs(options)
    for seed in range(5):
        twin = TWINS["holmes"](load_game("holmes"), options, seed)
        total = np.zeros(3)
        while twin.legal():
            twin.take(twin.choose())
            total += twin.rewards[0]
        assert (total >= least).all()
        assert (total <= most).all()


@pytest.mark.parametrize("winners", [1, 2, 3])
def test_the_least_and_the_most_that_somebody_gets_in_sleuth_are_reached(winners: int) -> None:
    options = sleuth.Options(4, winners=winners)
    totals = [final(options, right) for right in range(winners + 1)]
    least, most = sleuth.extensive.payoffs(options)
    assert min(total.min() for total in totals) == pytest.approx(least)
    assert max(total.max() for total in totals) == pytest.approx(most)


def final(options: Any, right: int) -> np.ndarray:
    """Return what everybody gets when so many accuse rightly, and all others wrongly."""
    twin: Twin = TWINS["sleuth"](load_game("sleuth"), options, 1)
    accuse = sleuth.action_blocks(options)["accuse"].start
    missing = int(twin.states["missing_gems"][0]).bit_length() - 1
    while twin.legal():
        gem = missing if twin.states["num_right"][0] < right else (missing + 1) % 36
        twin.take(accuse + gem)
    return twin.rewards[0]


WITHOUT_OPENSPIEL = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "pyspiel":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
try:
    import sleuth_env.envs.openspiel
except ModuleNotFoundError as error:
    print(error)
"""


def test_without_openspiel_the_extra_is_named_in_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_OPENSPIEL], capture_output=True, text=True, check=True)
    assert done.stdout == 'sleuth_env.envs.openspiel needs OpenSpiel: pip install "sleuth-env[openspiel]"\n'
