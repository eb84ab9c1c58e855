"""The bot `watcher` imagines what its rivals know, and keeps from them what it can."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env.deduction.evidence import EVIDENCE, cards_of
from sleuth_env.sleuth.belief import belief
from sleuth_env.sleuth.bots import make_bot
from sleuth_env.sleuth.cards import NUM_GEMS, NUM_QUESTIONS, Options
from sleuth_env.sleuth.clues import clues
from sleuth_env.sleuth.state import IN, OUT, TURN
from sleuth_env.sleuth.view import VIEW, view
from sleuth_env.sleuth.watcher import DEALS, WatcherBot, imagine
from tests.bot_games import BotGames, Decisions
from tests.strategies import option_name

GAMES = [Options(3), Options(5), Options(4, missing=2), Options(4, super_sleuth=True, double_interrogation=True)]


def true_deals(decisions: Decisions) -> np.ndarray:
    """Give who holds each gem, counted from the viewer, i1 [B, C]; the missing gems lie with the last, -1 is known to the viewer."""
    players = int(decisions.views["num_players"][0])
    deals = np.full((decisions.rows.size, NUM_GEMS), -1, np.int8)
    for row, (state, seen) in enumerate(zip(decisions.states, decisions.views, strict=True)):
        for k in range(1, players):
            deals[row, cards_of(state["hands"][(seen["seat"] + k) % players])] = k - 1
        deals[row, cards_of(state["missing_gems"])] = players - 1
    return deals


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_in_the_true_deal_a_rivals_view_is_imagined_as_it_is(options: Options) -> None:
    games, opponents = BotGames(options, ("cautious", "sheet"), 3, seed=2), options.num_players - 1
    for moment, decisions in enumerate(games.play()):
        if moment % 5:
            continue
        imagined, true = np.zeros((decisions.rows.size, opponents), VIEW), np.zeros((decisions.rows.size, opponents), VIEW)
        imagine(games.rules, decisions.views, true_deals(decisions), imagined)
        for j in range(opponents):
            seats = (decisions.views["seat"].astype("i8") + j + 1) % options.num_players
            view(games.rules, decisions.states, seats, true[:, j])
            assert (imagined["seen"][:, j] == true["seen"][:, j]).all()
        guessed, known = np.zeros(imagined.size, EVIDENCE), np.zeros(imagined.size, EVIDENCE)
        clues(games.rules, imagined.ravel(), guessed)
        clues(games.rules, true.ravel(), known)
        assert all((guessed[field] == known[field]).all() for field in EVIDENCE.names or ())


def on_turns(options: Options, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Give views of seats whose turn it is, from some games of `sheet`, and the rules."""
    games, found = BotGames(options, ("sheet",), 2, seed=seed), []
    for decisions in games.play():
        found.append(decisions.views[decisions.views["phase"] == TURN])
    return np.concatenate(found), games.rules


@pytest.mark.parametrize("options", [Options(3), Options(4, super_sleuth=True)], ids=option_name)
def test_a_leak_is_what_the_rivals_would_learn_from_the_number(options: Options) -> None:
    views, rules = on_turns(options, 3)
    opponents, leaking = options.num_players - 1, 0
    for row in range(0, len(views), 9):
        one, seeds = views[row : row + 1], np.array([row + 5], np.uint64)
        leaks = WatcherBot(options)._leaks(one, seeds)[0]
        deals = belief(rules, one).sample(DEALS, np.random.default_rng(row + 5))
        imagined, expected = np.zeros((DEALS, opponents), VIEW), np.zeros((opponents, NUM_QUESTIONS))
        imagine(rules, np.repeat(one, DEALS), deals, imagined)
        for rival in range(opponents):
            worlds = [belief(rules, imagined[n, rival : rival + 1]) for n in range(DEALS)]
            for asked in set(range(opponents)) - {rival}:
                place = (asked - rival - 1) % options.num_players
                for question in np.flatnonzero(leaks[asked]):
                    cards = cards_of(rules["question_gems"][0, question])
                    expected[asked, question] += np.mean([some.information(place, cards) for some in worlds]) / opponents
                    leaking += 1
        assert np.allclose(leaks, expected)
    assert leaking > 20


def test_who_is_out_overhears_nothing_of_use() -> None:
    views, _ = on_turns(Options(3), 4)
    bot, one, seeds = WatcherBot(Options(3)), views[4:5].copy(), np.array([1], np.uint64)
    assert (one["standing"][0, :3] == IN).all()
    before = bot._leaks(one, seeds)
    one["standing"][0, 1] = OUT
    after = bot._leaks(one, seeds)
    assert before[0, 1].any()
    # Of two opponents, the one who is out was the only one to overhear what the other is asked.
    assert not after[0, 1].any()
    assert (after[0, 0] == before[0, 0]).all()


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2)], ids=option_name)
def test_a_watcher_that_does_not_care_plays_like_racer(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth_env.sleuth.watcher.LEAK", 0.0)
    games, careless = BotGames(options, ("racer",), 3, seed=6), make_bot("watcher", options)
    for decisions in games.play():
        assert careless.act(decisions.views, decisions.legal, decisions.seeds).tolist() == decisions.actions.tolist()


def test_it_asks_what_is_worth_most_after_what_it_leaks() -> None:
    options = Options(3)
    games, differently = BotGames(options, ("racer",), 6, seed=7), 0
    watcher = WatcherBot(options)
    for decisions in games.play():
        actions = watcher.act(decisions.views, decisions.legal, decisions.seeds)
        turns = decisions.views["phase"] == TURN
        assert (actions == decisions.actions)[~turns].all()
        differently += (actions != decisions.actions).sum()
    assert differently > 5
