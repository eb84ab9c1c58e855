"""The bot `entropy` knows what the exact count proves, and asks what it values most."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.deduction.automata import INTRICATE
from sleuth_env.deduction.graph import RESULT
from sleuth_env.deduction.questions import WORTH
from sleuth_env.deduction.worlds import IntricateError
from sleuth_env.matches.match import play_match
from sleuth_env.sleuth.belief import Beliefs, belief, beliefs
from sleuth_env.sleuth.bots import make_bot
from sleuth_env.sleuth.bots.entropy import ENTROPY_COSTS, decline_early
from sleuth_env.sleuth.cards import ALLOWED, FIRST_FREE, NUM_GEMS, NUM_PAIRS, NUM_QUESTIONS, PAIRS, QUESTIONS, Options
from sleuth_env.sleuth.clues import read_sheet
from sleuth_env.sleuth.state import MUST_ACCUSE, OFFER, OUT, TURN
from tests.support.bot_games import BotGames
from tests.support.comparison import gem_mask
from tests.support.situation import Situation
from tests.support.strategies import option_name
from tests.test_bots import choice, reveal_all_but
from tests.test_imports import loaded_after

GAMES = [
    Options(3),
    Options(4, missing=2),
    Options(3, missing=3, super_sleuth=True),
    Options(4, double_interrogation=True, super_sleuth=True),
]


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_it_accuses_as_soon_as_the_count_proves_the_missing_gems_and_never_wrongly(options: Options) -> None:
    games = BotGames(options, ("entropy", "cautious"), 6, seed=2)
    accused = 0
    accuse_at = int(games.rules["accuse_at"][0])
    pass_at = int(games.rules["pass_at"][0])
    for decisions in games.play():
        if decisions.bot.name != "entropy":
            continue
        for row in range(decisions.rows.size):
            v = decisions.views[row : row + 1]
            action = decisions.actions[row]
            proved = int((belief(games.rules, v).missing == 1).sum()) == options.missing
            assert proved == (accuse_at <= action < pass_at) or v["phase"][0] == MUST_ACCUSE
            accused += proved
    assert accused
    assert not (games.states["standing"] == OUT).any()


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_it_asks_what_tells_most_after_the_price_of_the_card(options: Options) -> None:
    games = BotGames(options, ("entropy", "cautious"), 3, seed=3)
    asked = 0
    for decisions in games.play():
        if decisions.bot.name != "entropy":
            continue
        worth = beliefs(games.rules, decisions.views).worths["information"]
        least = ENTROPY_COSTS["turn"][0]
        price = ENTROPY_COSTS["cards"][0, FIRST_FREE]
        for row, action in enumerate(decisions.actions):
            asks = [a for a in np.flatnonzero(decisions.legal[row]) if a < games.rules["final_at"][0]]
            told = {a: worth[row, a // NUM_PAIRS, PAIRS[a % NUM_PAIRS][0]] for a in asks}
            value = {a: told[a] - price * dearness(PAIRS[a % NUM_PAIRS][1]) for a in asks if told[a] > least}
            if action in told:
                asked += 1
                assert value[action] >= max(value.values()) - 1e-6
            elif decisions.views["phase"][row] == TURN and action == games.rules["exchange_at"][0]:
                assert not value
    assert asked > 10


def dearness(card: int) -> int:
    return {1: 0, len(QUESTIONS): 2}.get(len(ALLOWED[card]), 1)


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2), Options(4, super_sleuth=True)], ids=option_name)
def test_its_final_questions_always_decide(options: Options) -> None:
    games = BotGames(options, ("entropy", "cautious"), 12, seed=6)
    finals = 0
    for decisions in games.play():
        for row in np.flatnonzero(decisions.views["phase"] == MUST_ACCUSE):
            if decisions.bot.name == "entropy" and not decisions.views["accusing"][row]:
                assert int((belief(games.rules, decisions.views[row : row + 1]).missing == 1).sum()) == options.missing
                finals += 1
    assert finals > 0


def test_what_is_to_be_guessed_is_the_likeliest_set() -> None:
    hidden = ["red-opal-pair", "red-opal-cluster", "blue-pearl-solitaire", "green-pearl-pair"]
    game = Situation(Options(4, missing=2), hidden[:2], {1: hidden[2:3], 2: hidden[3:]})
    reveal_all_but(game, 0, hidden)
    assert game.do("final", 3, "yellow")
    sets, chances = belief(game.rules, np.array([game.seen_by(0)])).missing_sets
    named = []
    for _ in range(2):
        verb, gem = choice(game, "entropy")
        assert verb == "accuse"
        named.append(gem)
        assert game.do("accuse", gem)
    assert chances[sets.tolist().index(gem_mask(named))] == chances.max()


def test_at_an_offer_it_accuses_or_declines() -> None:
    games = BotGames(Options(3), ("entropy",), 4, seed=9)
    accuse_at = int(games.rules["accuse_at"][0])
    pass_at = int(games.rules["pass_at"][0])
    for decisions in games.play():
        offered = decisions.actions[decisions.views["phase"] == OFFER]
        assert ((accuse_at <= offered) & (offered <= pass_at)).all()


@pytest.mark.parametrize(
    "options", [Options(3, super_sleuth=True), Options(4, super_sleuth=True), Options(4)], ids=option_name
)
def test_among_its_like_somebody_asks(options: Options) -> None:
    games = BotGames(options, ("entropy",), 2, seed=1)
    for _ in games.play():
        pass
    assert (games.states["place"] == 1).any(axis=1).all()


def test_it_beats_sheet() -> None:
    result = play_match(sleuth, Options(3), ["entropy", "sheet", "sheet"], num_deals=400, seed=1)
    assert result.entries[0].win_low > result.entries[0].fair_share


@pytest.mark.parametrize(
    "options", [Options(3), Options(4, super_sleuth=True), Options(5), Options(4, missing=2)], ids=option_name
)
def test_what_it_declines_early_is_never_proved(options: Options) -> None:
    games = BotGames(options, ("sheet",), 2, seed=5)
    early = 0
    for decisions in games.play():
        rows = np.flatnonzero(decisions.views["phase"] == OFFER)[:3]
        views = decisions.views[rows]
        actions = np.full(rows.size, -1)
        decline_early(games.rules, views, np.ones(rows.size, bool), actions)
        for row in np.flatnonzero(actions >= 0):
            early += 1
            assert (belief(games.rules, views[row : row + 1]).missing == 1).sum() < options.missing
    assert early > 50


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2)], ids=option_name)
def test_where_the_count_is_too_intricate_it_plays_by_the_sheet(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_intricate(*_: object, **__: object) -> None:
        raise IntricateError

    def nothing_found(rules: np.ndarray, views: np.ndarray, **_: object) -> Beliefs:
        holders = np.full((views.size, NUM_GEMS, options.num_players), np.nan)
        worths = np.full((views.size, options.num_players - 1, NUM_QUESTIONS), np.nan).astype(WORTH)
        results = np.zeros(views.size, RESULT)
        results["code"] = INTRICATE
        return Beliefs(holders, worths, results)

    monkeypatch.setattr("sleuth_env.sleuth.bots.entropy.belief", too_intricate)
    monkeypatch.setattr("sleuth_env.sleuth.bots.entropy.beliefs", nothing_found)
    games = BotGames(options, ("entropy",), 4, seed=8)
    sheet = make_bot("sheet", options)
    alike = 0
    for decisions in games.play():
        instead = sheet.act(decisions.views, decisions.legal, decisions.seeds)
        no_final = (instead < games.rules["final_at"][0]) | (instead >= games.rules["exchange_at"][0])
        assert (decisions.actions == instead)[no_final].all()
        alike += no_final.sum()
    assert alike > 100


def test_a_thinned_count_proves_nothing_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def thinned(rules: np.ndarray, views: np.ndarray, **_: object) -> Beliefs:
        return beliefs(rules, views, cap=0, keep=8)

    monkeypatch.setattr("sleuth_env.sleuth.bots.entropy.beliefs", thinned)
    games = BotGames(Options(3), ("entropy",), 6, seed=8)
    for decisions in games.play():
        for row in np.flatnonzero(
            (decisions.actions >= games.rules["accuse_at"][0]) & (decisions.actions < games.rules["pass_at"][0])
        ):
            assert read_sheet(games.rules, decisions.views[row : row + 1])["has"][0, 2]


def test_it_asks_nothing_that_tells_nothing() -> None:
    games = BotGames(Options(4), ("entropy", "sheet"), 4, seed=7)
    asked = 0
    for decisions in games.play():
        for row, action in enumerate(decisions.actions):
            if decisions.bot.name == "entropy" and action < games.rules["final_at"][0]:
                question = int(games.rules["pair_question"][0, action % NUM_PAIRS])
                cards = [gem for gem in range(NUM_GEMS) if games.rules["question_gems"][0, question] >> gem & 1]
                worlds = belief(games.rules, decisions.views[row : row + 1])
                asked += 1
                assert (
                    worlds.information(action // NUM_PAIRS, cards, bool(games.rules["num_elements"][0, question] == 2))
                    > 0.0009
                )
    assert asked > 20


COUNTED = """
from sleuth_env import Options, play_match, sleuth
from sleuth_env.deduction import counting
play_match(sleuth, Options(num_players=3), ["sheet"] * 3, 2)
print("counted", bool(getattr(counting.survey, "signatures", None)))
"""


def test_nothing_of_the_count_is_compiled_for_those_who_play_without_it() -> None:
    assert {"counted", "False"} <= loaded_after(COUNTED)
