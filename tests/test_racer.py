"""The bot `racer` takes a risk exactly where it is likelier to be right than to win by waiting."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.matches.match import play_match
from sleuth_env.sleuth.belief import belief, beliefs
from sleuth_env.sleuth.bots import make_bot, racer
from sleuth_env.sleuth.bots.racer import CHANCE, FEATURES, Daring, RacerBot, outlook, situations, variant
from sleuth_env.sleuth.cards import Options
from sleuth_env.sleuth.state import MUST_ACCUSE, OFFER, OUT
from tests.support.bot_games import BotGames
from tests.support.strategies import EVERY_VARIANT, option_name
from training import fit_racer

GAMES = [Options(3), Options(4, missing=2), Options(4, super_sleuth=True, double_interrogation=True)]


def outlook_of(options: Options) -> dict[str, np.ndarray]:
    kind = variant(options.missing, options.super_sleuth, options.double_interrogation)
    return outlook(options.num_players, kind)


def racer_expecting(chance: float, options: Options) -> RacerBot:
    """A racer that thinks it always has the same chance to win later."""
    weights = np.zeros(len(FEATURES))
    weights[0] = np.log(chance / (1 - chance))
    return RacerBot(options, {"offer": weights, "turn": weights})


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_a_racer_sure_to_win_later_plays_like_entropy(options: Options) -> None:
    games = BotGames(options, ("entropy",), 4, seed=2)
    patient = racer_expecting(1 - 1e-12, options)
    for decisions in games.play():
        assert patient.act(decisions.views, decisions.legal, decisions.seeds).tolist() == decisions.actions.tolist()


@pytest.mark.parametrize(
    "options", [GAMES[0], pytest.param(GAMES[1], marks=pytest.mark.slow), GAMES[2]], ids=option_name
)
def test_it_takes_a_risk_exactly_where_being_right_is_likelier_than_winning_later(options: Options) -> None:
    games = BotGames(options, ("entropy", "sheet"), 4, seed=3)
    bold = racer_expecting(0.4, options)
    ventured = 0
    final_at, exchange_at, accuse_at, pass_at = (
        int(games.rules[name][0]) for name in ("final_at", "exchange_at", "accuse_at", "pass_at")
    )
    for decisions in games.play():
        if decisions.bot.name != "entropy":
            continue
        actions = bold.act(decisions.views, decisions.legal, decisions.seeds)
        rightly = beliefs(games.rules, decisions.views, everything=True).worths["rightly"]
        for row, action in enumerate(actions):
            view = decisions.views[row]
            if view["phase"] == MUST_ACCUSE or view["accusing"]:
                continue
            accuses = accuse_at <= action < pass_at
            asks_finally = final_at <= action < exchange_at
            ventured += accuses or asks_finally
            likeliest = belief(games.rules, decisions.views[row : row + 1]).missing_sets[1].max()
            if view["phase"] == OFFER:
                assert accuses == (likeliest > 0.4)
            elif likeliest < 1 and decisions.legal[row, final_at]:
                assert asks_finally == (rightly[row].max() > 0.4)
                if asks_finally:
                    assert rightly[row].ravel()[action - final_at] == rightly[row].max()
    assert ventured > 3


def test_who_is_left_alone_has_all_the_time() -> None:
    options = Options(4)
    games = BotGames(Options(4), ("sheet",), 1, seed=1)
    decisions = next(games.play())
    views = np.repeat(decisions.views, 3)
    missing = np.repeat(belief(games.rules, decisions.views).missing[None], 3, axis=0)
    views["standing"][1, 1:3] = OUT
    views["standing"][2, 1:4] = OUT
    chances = Daring(options).prospects("turn", situations(views, missing))
    assert chances[0] < chances[1] < chances[2] == 1


def test_the_race_is_told_in_numbers() -> None:
    options = Options(4, missing=2)
    games = BotGames(options, ("cautious",), 3, seed=5)
    for decisions in games.play():
        missing = beliefs(games.rules, decisions.views).holders[:, :, -1]
        race = situations(decisions.views, missing)
        for row, view in enumerate(decisions.views):
            worlds = belief(games.rules, decisions.views[row : row + 1])
            assert race[row, CHANCE] >= worlds.missing_sets[1].max() - 1e-12
            turns = 0 if view["phase"] != OFFER else 4 if view["turn"] == 0 else 4 - int(view["turn"])
            assert race[row, FEATURES.index("wait")] == turns / 4
            assert race[row, FEATURES.index("told")] == (view["answers"][0] >= 0).sum() / 4
            assert race[row, FEATURES.index("rivals")] == np.log(3)


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_every_game_has_an_outlook(options: Options) -> None:
    assert {moment: weights.size for moment, weights in outlook_of(options).items()} == {
        "offer": len(FEATURES),
        "turn": len(FEATURES),
    }


def test_what_was_not_fitted_takes_the_outlook_that_comes_closest() -> None:
    same = [
        (Options(7), Options(5)),
        (Options(4, missing=3), Options(4)),
        (Options(5, double_interrogation=True), Options(5)),
        (Options(3, winners=2), Options(3)),
    ]
    for given, fitted in same:
        assert all((outlook_of(given)[moment] == outlook_of(fitted)[moment]).all() for moment in ("offer", "turn"))
    assert not (outlook_of(Options(3))["turn"] == outlook_of(Options(4))["turn"]).all()


@pytest.mark.slow
def test_it_beats_entropy() -> None:
    result = play_match(sleuth, Options(3), ["racer", "entropy", "entropy"], num_deals=700, seed=3)
    assert result.entries[0].win_low > result.entries[0].fair_share


# --- The script that fits it ---


def test_the_regression_finds_the_weights_that_made_the_data() -> None:
    rng = np.random.default_rng(1)
    true = np.array([0.5, -0.4, 2.0, 0.3, 0.0, -0.6, -1.0])
    races = np.column_stack([np.ones(40_000), rng.normal(size=(40_000, 5)), np.log(rng.integers(1, 4, 40_000))])
    won = rng.random(40_000) < 1 / (1 + np.exp(-races @ true))
    assert fit_racer.regress(races, won) == pytest.approx(true, abs=0.07)


def test_a_fit_plays_games_and_adds_to_the_file(tmp_path: Path) -> None:
    out = str(tmp_path / "outlook.json")
    assert (
        fit_racer.main(["--variants", "base,missing", "--players", "3", "--games", "20", "--rounds", "1", "--out", out])
        == 0
    )
    fitted = json.loads((tmp_path / "outlook.json").read_text())
    assert {name: list(fits) for name, fits in fitted.items()} == {"base": ["3"], "missing": ["3"]}
    assert fitted["base"]["3"]["games"] == 20
    assert len(fitted["missing"]["3"]["turn"]) == len(FEATURES)
    assert fitted["base"]["3"]["turn"][-1] == -1


def test_too_few_games_to_learn_from_leave_the_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = {moment: (np.zeros((0, len(FEATURES))), np.zeros(0, bool)) for moment in fit_racer.MOMENTS}
    monkeypatch.setattr(fit_racer, "play", lambda *_: nothing)
    assert (
        fit_racer.main(
            ["--variants", "base", "--players", "3", "--games", "1", "--out", str(tmp_path / "outlook.json")]
        )
        == 0
    )
    assert "the file stays as it is" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            (["--games", wrong], "argument --games: must be a whole number from 1 to 999999999, got")
            for wrong in ("0", "1.5", "x", "")
        ),
        *(
            ([f"--{name}=-1"], f"argument --{name}: must be a whole number from")
            for name in ("games", "rounds", "batch", "seed")
        ),
        (
            ["--variants", "nope"],
            "argument --variants: must be some of base, super_sleuth, double_interrogation, missing, "
            "separated by commas, got 'nope'",
        ),
        *(
            (["--players", wrong], "argument --players: must be some of 3, 4, 5, 6, 7, separated by commas, got")
            for wrong in ("9", "x", "", "3,")
        ),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_a_game_is_played(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit_racer.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_an_explorer_refrains_now_and_then_and_notes_what_it_waited_for() -> None:
    options = Options(3)
    explorer = fit_racer.Explorer(options, racer_expecting(0.3, options).daring.outlook)
    race = np.tile(np.eye(len(FEATURES))[0], (1000, 1))
    race[:, CHANCE] = 0.6
    dares = explorer.dares("turn", race, np.random.default_rng(1).integers(0, 2**64, 1000, np.uint64))
    assert dares.mean() == pytest.approx(1 - fit_racer.REFRAINING, abs=0.05)
    assert len(explorer.waited) == 1000 - dares.sum()
    race[:, CHANCE] = 1.0
    assert explorer.dares("turn", race, np.zeros(1000, np.uint64)).all()


def test_the_outlooks_are_those_of_the_script() -> None:
    fitted = json.loads(racer.OUTLOOKS.read_text())
    assert set(fitted) <= set(fit_racer.VARIANTS)
    assert make_bot("racer", Options(3)).daring.outlook["turn"].tolist() == fitted["base"]["3"]["turn"]
