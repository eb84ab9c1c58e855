"""Who needs only the best question finds the same one as among all questions."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env.sleuth import Options, make_bot, make_rules
from sleuth_env.sleuth.belief import Beliefs, Sought, beliefs
from sleuth_env.sleuth.bots import entropy, racer
from sleuth_env.sleuth.bots.entropy import seek_most
from tests.support.bot_games import BotGames
from tests.support.positions import positions
from tests.support.strategies import option_name

GAMES = [
    Options(3),
    Options(4, super_sleuth=True),
    Options(5, accuse="own_turn"),
    Options(4, missing=2),
    Options(3, missing=3, double_interrogation=True),
    Options(4, double_interrogation=True, super_sleuth=True, winners=2),
]
LONG_GAMES = [
    *(Options(players) for players in range(3, 8)),
    *(Options(players, super_sleuth=True) for players in range(3, 8)),
    *(Options(players, double_interrogation=True) for players in range(3, 8)),
    *(Options(players, accuse="own_turn", winners=2) for players in range(3, 8)),
    *(Options(players, missing=2) for players in (3, 4)),
    Options(3, missing=3),
]


def full_appraisal(
    rules: np.ndarray, views: np.ndarray, sought: Sought | None = None, exactly: bool = True, **more: object
) -> Beliefs:
    return beliefs(rules, views, **more)


def compare_choices(options: Options, num_games: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Check in whole games that the bots choose as by the full appraisal, and return the number of choices."""
    games = BotGames(options, ("entropy", "sheet", "racer", "cautious"), num_games, seed)
    bots = [make_bot(name, options) for name in ("entropy", "racer")]
    choices = 0
    for decisions in games.play():
        own = (decisions.views, decisions.legal, decisions.seeds)
        found = [bot.act(*own) for bot in bots]
        with monkeypatch.context() as patch:
            patch.setattr(entropy, "beliefs", full_appraisal)
            patch.setattr(racer, "beliefs", full_appraisal)
            for bot, actions in zip(bots, found, strict=True):
                assert actions.tolist() == bot.act(*own).tolist()
                choices += actions.size
    return choices


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_bots_choose_as_by_the_full_appraisal(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_choices(options, 1, 11, monkeypatch) > 50


@pytest.mark.slow
@pytest.mark.parametrize("options", LONG_GAMES, ids=option_name)
def test_bots_choose_as_by_the_full_appraisal_in_many_games(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_choices(options, 4 if options.num_players < 6 else 2, 12, monkeypatch) > 100


@pytest.mark.parametrize("cap", [150_000, 1])
@pytest.mark.parametrize("options", [*GAMES[:3], GAMES[5], Options(6)], ids=option_name)
def test_what_questions_share_is_counted_as_for_each_alone(options: Options, cap: int) -> None:
    rules = make_rules(options)
    seen = positions(options, "sheet", 1, seed=6)
    views = seen[:: max(len(seen) // 6, 1)]
    exact = beliefs(rules, views, everything=True, cap=cap, keep=40)
    found = beliefs(rules, views, everything=True, cap=cap, keep=40, exactly=False)
    assert (exact.results["exact"] == (cap > 1)).any()
    assert found.holders.tobytes() == exact.holders.tobytes()
    for name in ("information", "rightly", "surprise"):
        np.testing.assert_allclose(found.worths[name], exact.worths[name], rtol=0, atol=1e-12)
    assert np.isnan(found.worths["decides"]).any()


def test_the_only_question_that_may_be_asked_is_the_only_one_appraised() -> None:
    options = Options(4)
    rules = make_rules(options)
    view = positions(options, "sheet", 1, seed=8)[:1]
    exact = beliefs(rules, view, everything=True).worths["information"]
    bonus = np.full(exact.shape, -np.inf)
    bonus[0, 2, 7] = 0.0
    for exactly in (True, False):
        sought = Sought(bonus, np.zeros(1))
        found = beliefs(rules, view, everything=True, sought=sought, exactly=exactly).worths["information"]
        assert np.argwhere(~np.isnan(found)).tolist() == [[0, 2, 7]]
        assert found[0, 2, 7] == pytest.approx(exact[0, 2, 7], rel=0, abs=1e-12)


@pytest.mark.parametrize("by", ["information", "rightly"])
@pytest.mark.parametrize("options", [Options(3), Options(5), Options(4, super_sleuth=True)], ids=option_name)
def test_the_best_are_appraised_exactly_and_what_is_left_out_is_worse(options: Options, by: str) -> None:
    rules = make_rules(options)
    views = positions(options, "sheet", 1, seed=7)[::7]
    exact = beliefs(rules, views, everything=True)
    bonus = np.random.default_rng(2).choice([0.0, 0.01], exact.worths.shape)
    sought = Sought(bonus, np.full(len(views), -np.inf), by=by)
    found = beliefs(rules, views, everything=True, sought=sought)
    assert found.holders.tobytes() == exact.holders.tobytes()
    known = ~np.isnan(found.worths[by])
    assert found.worths[known].tobytes() == exact.worths[known].tobytes()
    value = exact.worths[by] + bonus
    best = value.max(axis=(1, 2))
    left_out = np.where(known, -np.inf, value).max(axis=(1, 2))
    assert known.any(axis=(1, 2)).all()
    assert (left_out < best).all()


def test_all_that_are_equally_good_are_appraised() -> None:
    options = Options(5)
    rules = make_rules(options)
    view = positions(options, "sheet", 1, seed=8)[:1]
    exact = beliefs(rules, view, everything=True).worths
    sought = Sought(np.zeros(exact.shape), np.zeros(1))
    found = beliefs(rules, view, everything=True, sought=sought).worths
    equal = exact["information"] > exact["information"].max() - 1e-12
    assert equal.sum() >= 4  # nothing is known yet that tells the opponents apart
    assert found[equal].tobytes() == exact[equal].tobytes()
    assert np.isnan(found["information"]).sum() > found.size / 2


def test_questions_that_are_worth_no_more_than_the_least_are_left_out() -> None:
    options = Options(4)
    rules = make_rules(options)
    views = positions(options, "sheet", 1, seed=9)[::9]
    exact = beliefs(rules, views, everything=True).worths["information"]
    most = exact.max(axis=(1, 2))
    bonus = np.where(exact > most[:, None, None] / 2, 0.0, 100.0)
    found = beliefs(rules, views, everything=True, sought=Sought(bonus, most / 2)).worths["information"]
    best = np.isclose(exact, most[:, None, None], rtol=0, atol=1e-12)
    assert np.isnan(found[bonus > 0]).all()
    assert not np.isnan(found[best]).any()


def test_of_several_missing_gems_all_that_may_be_asked_is_appraised() -> None:
    options = Options(4, missing=2)
    games = BotGames(options, ("sheet",), 2, seed=10)
    decisions = next(games.play())
    own = (games.rules, decisions.views, decisions.legal, decisions.seeds)
    exact = beliefs(*own[:2]).worths
    found = beliefs(*own[:2], sought=seek_most(*own)).worths
    assert found.tobytes() == exact.tobytes()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bonus": np.zeros((2, 2, 43))}, "bonus must be float64"),
        ({"least": np.zeros(2)}, "least must be float64"),
        ({"by": "decides"}, "by must be one of"),
    ],
)
def test_what_is_sought_must_be_of_the_views(wrong: dict[str, object], message: str) -> None:
    options = Options(3)
    view = positions(options, "sheet", 1, seed=8)[:1]
    sought = Sought(np.zeros((1, 2, 43)), np.zeros(1))._replace(**wrong)
    with pytest.raises(ValueError, match=message):
        beliefs(make_rules(options), view, sought=sought)
