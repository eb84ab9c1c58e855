"""The observation with record="exact": what a count of all deals says, or what stands in for it."""

from __future__ import annotations

import functools
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from sleuth_env.deduction.automata import INTRICATE, NO_DEAL
from sleuth_env.deduction.counting import BROKEN
from sleuth_env.deduction.evidence import Contradiction
from sleuth_env.sleuth import FINISHED, OUT, Options, legal, make_rules, num_actions, view
from sleuth_env.sleuth.belief import Beliefs, beliefs, odds
from sleuth_env.sleuth.cards import NUM_PAIRS, PAIRS
from sleuth_env.sleuth.clues import read_sheet
from sleuth_env.sleuth.features import observation_layout, write_observations
from sleuth_env.sleuth.state import SECOND, TURN
from sleuth_env.sleuth.view import VIEW
from sleuth_env.sleuth_v0 import SleuthVectorEnv
from tests.support.positions import positions
from tests.support.strategies import KNOWING, PATIENT, option_name
from tests.support.substitution import play

# The package has a function of this name too.
module = import_module("sleuth_env.sleuth.belief")
GAMES = [
    Options(3),
    Options(4),
    Options(4, missing=2, winners=3, double_interrogation=True, announce_result=False, super_sleuth=True),
]
each_game = pytest.mark.parametrize("options", GAMES, ids=option_name)


def observe(options: Options, views: np.ndarray) -> np.ndarray:
    out = np.full((views.size, observation_layout(options, "exact").size), np.nan, np.float32)
    write_observations(make_rules(options), views, out, "exact")
    return out


@each_game
def test_a_question_has_information_where_it_is_a_legal_action_and_nowhere_else(options: Options) -> None:
    rules = make_rules(options)
    seen = np.zeros(1, VIEW)
    phases = set()
    for states in play(options, 3, PATIENT).states[:60]:
        marks = np.zeros((1, num_actions(options)), np.uint8)
        legal(rules, states, marks)
        for seat in range(options.num_players):
            view(rules, states, np.array([seat]), seen)
            allowed = np.zeros((options.num_players - 1, 43), bool)
            for action in (
                np.flatnonzero(marks[0, : allowed.shape[0] * NUM_PAIRS]) if states["actor"][0] == seat else ()
            ):
                allowed[action // NUM_PAIRS, PAIRS[action % NUM_PAIRS][0]] = True
            np.testing.assert_array_equal(
                odds(rules, seen).information[0], np.where(allowed, beliefs(rules, seen).worths["information"][0], 0)
            )
            phases |= {int(seen["phase"][0])} if allowed.any() else set()
    assert phases == ({TURN, SECOND} if options.double_interrogation else {TURN})


@each_game
def test_a_row_of_a_batch_is_what_it_is_alone(options: Options) -> None:
    views = positions(options, "sheet", 2, seed=3)[::3].copy()
    together = observe(options, views)
    assert observe(options, views[::-1].copy())[::-1].tobytes() == together.tobytes()
    for row in range(0, views.size, 5):
        assert observe(options, views[row : row + 1])[0].tobytes() == together[row].tobytes()


@each_game
def test_every_gem_lies_somewhere_and_every_hand_is_full(options: Options) -> None:
    views = positions(options, "cautious", 1, seed=5)
    chance = observation_layout(options, "exact").views(observe(options, views))["chance"]
    for row, seen in enumerate(views):
        hidden = [gem for gem in range(36) if not int(seen["hand"] | seen["table"]) >> gem & 1]
        expected = np.zeros(36)
        expected[hidden] = 1
        np.testing.assert_allclose(chance[row].sum(axis=0), expected, atol=1e-5)
        np.testing.assert_allclose(
            chance[row].sum(axis=1), [options.hand_size] * (options.num_players - 1) + [options.missing], rtol=1e-5
        )


def test_who_has_looked_at_the_missing_gem_is_sure_of_it_and_asks_nothing() -> None:
    options = Options(3)
    looked = 0
    layout = observation_layout(options, "exact")
    seen = np.zeros(1, VIEW)
    for seed in range(6):
        for states in play(options, seed, KNOWING).states[-3:]:
            for seat in range(3):
                view(make_rules(options), states, np.array([seat]), seen)
                if seen["missing_gems"][0]:
                    blocks = layout.views(observe(options, seen))
                    assert blocks["chance"][0, -1].tolist() == [
                        float(int(seen["missing_gems"][0]) >> gem & 1) for gem in range(36)
                    ]
                    assert not blocks["information"].any()
                    looked += bool(seen["standing"][0, 0] == OUT or seen["phase"][0] == FINISHED)
    assert looked >= 6


@each_game
def test_where_deals_are_too_many_to_count_the_estimate_is_written(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = make_rules(options)
    views = positions(options, "cautious", 1, seed=2)[::4].copy()
    exact = observe(options, views)
    rough = beliefs(rules, views, now=True, cap=1, keep=20)
    assert not rough.results["exact"].all()
    monkeypatch.setattr(module, "beliefs", functools.partial(beliefs, cap=1, keep=20))
    blocks = observation_layout(options, "exact").views(observe(options, views))
    counted = rough.results["code"] == 0
    np.testing.assert_allclose(blocks["chance"][counted], rough.holders[counted].transpose(0, 2, 1), atol=1e-6)
    monkeypatch.undo()
    assert observe(options, views).tobytes() == exact.tobytes()


@pytest.mark.parametrize("options", [*GAMES, pytest.param(Options(7), marks=pytest.mark.slow)], ids=option_name)
@pytest.mark.parametrize("keep", [1, 3])
def test_the_poorest_estimate_gives_numbers_between_0_and_1(
    options: Options, keep: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "beliefs", functools.partial(beliefs, cap=1, keep=keep))
    observations = observe(options, positions(options, "cautious", 2, seed=2)[::4].copy())
    assert observations.min() >= 0
    assert observations.max() <= 1


@each_game
def test_where_nothing_can_be_counted_all_that_the_sheet_leaves_open_is_equally_likely(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = make_rules(options)
    views = positions(options, "sheet", 1, seed=2)

    def too_intricate(rules: np.ndarray, views: np.ndarray, now: bool, exactly: bool) -> Beliefs:
        found = beliefs(rules, views, now=now, exactly=exactly)
        found.results["code"] = INTRICATE
        found.holders[:] = np.nan
        found.worths["information"] = np.nan
        return found

    monkeypatch.setattr(module, "beliefs", too_intricate)
    blocks = observation_layout(options, "exact").views(observe(options, views))
    for row, sheet in enumerate(read_sheet(rules, views)):
        for gem in range(36):
            holders = [h for h in range(options.num_players) if int(sheet["can"][h]) >> gem & 1]
            np.testing.assert_allclose(
                blocks["chance"][row, :, gem],
                [(h in holders) / max(len(holders), 1) for h in range(options.num_players)],
            )
    assert not blocks["information"].any()


@pytest.mark.parametrize("code", [BROKEN, NO_DEAL], ids=["by the sheet", "by the count"])
def test_a_view_that_is_found_to_fit_no_deal_is_refused_with_the_reason(code: int) -> None:
    options = Options(4)
    rules = make_rules(options)
    views = positions(options, "sheet", 4, seed=1)
    for row, seen in enumerate(views):
        told = np.argwhere(seen["answers"][1:] > 0)
        if len(told):
            k, question = told[(7 * row + 1) % len(told)]
            seen["answers"][k + 1, question] -= 1
    (row, *_) = np.flatnonzero(beliefs(rules, views, now=True).results["code"] == code)
    with pytest.raises(Contradiction, match="holder 0"):
        observe(options, views[[0, row]])


def test_threads_change_nothing() -> None:
    runs = [SleuthVectorEnv(6, num_players=3, record="exact", threads=threads) for threads in (1, 3)]
    together = [envs.reset(seed=4)[0].tobytes() for envs in runs]
    for _ in range(12):
        assert together[0] == together[1]
        together = [envs.step(envs.action_masks().argmax(axis=1))[0].tobytes() for envs in runs]


def test_the_usual_record_does_without_the_count() -> None:
    code = (
        "from sleuth_env import sleuth_v0\nfrom sleuth_env.deduction import counting\n"
        "env = sleuth_v0.env(num_players=3, record={!r})\nenv.reset(seed=1)\nenv.last()\n"
        "print(len(counting.survey.signatures))"
    )
    for record, compiled in (("sheet", "0"), ("raw", "0"), ("exact", "1")):
        run = subprocess.run([sys.executable, "-c", code.format(record)], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == compiled
