"""A belief that reads the table: what others were seen to choose, and how well deals explain it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.doors import ArrayError
from sleuth_env.sleuth.belief import belief
from sleuth_env.sleuth.bots.moments import DECLINED, MOMENT, Watcher
from sleuth_env.sleuth.bots.weighing import MODELS, TRUST, explain, weighted_belief, weights_of
from sleuth_env.sleuth.cards import NUM_GEMS, NUM_QUESTIONS, Options
from sleuth_env.sleuth.state import OFFER, P
from sleuth_env.sleuth.view import view
from tests.support.bot_games import BotGames, Decisions
from tests.support.comparison import CARD_INDEX, QUESTION_INDEX
from tests.support.oracle import ACTIONS
from tests.support.strategies import option_name

GAMES = [
    Options(3),
    Options(5),
    Options(4, super_sleuth=True),
    Options(4, missing=2),
    Options(4, double_interrogation=True),
    Options(7, offer_order="clockwise"),
]


def seen_by(games: BotGames, states: np.ndarray, seat: int) -> np.ndarray:
    """Return what a seat sees in one game (VIEW [1])."""
    views = np.zeros(1, sleuth.VIEW)
    view(games.rules, states, np.array([seat]), views)
    return views


def true_deal(states: np.ndarray, seat: int, players: int) -> np.ndarray:
    """Return where the gems lie in one game, as deals drawn for a seat say it (i1 [1, C])."""
    deal = np.full((1, NUM_GEMS), -1, np.int8)
    for k in range(1, players):
        mask = int(states["hands"][0, (seat + k) % players])
        deal[0, [c for c in range(NUM_GEMS) if mask >> c & 1]] = k - 1
    mask = int(states["missing_gems"][0])
    deal[0, [c for c in range(NUM_GEMS) if mask >> c & 1]] = players - 1
    return deal


class Notes:
    """Keep what everybody asks, from the states, by hand."""

    def __init__(self, games: BotGames) -> None:
        self.games = games
        self.questions: list[dict] = []
        self.last: tuple[int, int, int] | None = None

    def note(self, decisions: Decisions) -> None:
        """Note a question before it is asked."""
        options = self.games.options
        players = options.num_players
        states = decisions.states
        words = ACTIONS[players][int(decisions.actions[0])]
        seat = int(states["actor"][0])
        if words[0] not in ("ask", "final", "exchange"):
            return
        elements = 0
        if words[0] != "exchange":
            target = (seat + words[1]) % players
            question = QUESTION_INDEX[words[2]]
            elements = int(self.games.rules["num_elements"][0, question])
        second = self.last is not None and self.last[0] == seat and states["phase"][0] == sleuth.SECOND
        if words[0] == "ask":
            shown = [0] * P
            told = [0] * P
            for other in self.questions:
                told[other["target"]] |= 1 << other["question"]
                is_two = self.games.rules["num_elements"][0, other["question"]] == 2
                if other["seat"] == seat and is_two and not options.super_sleuth:
                    shown[other["target"]] |= 1 << other["question"]
            self.questions.append(
                {
                    "seat": seat,
                    "target": target,
                    "question": question,
                    "card": CARD_INDEX[words[3]],
                    "first_target": self.last[1] if second else -1,
                    "first_elements": self.last[2] if second else 0,
                    "search": int(states["search"][0, seat]),
                    "told": told,
                    "shown": shown,
                }
            )
        self.last = (seat, target, elements) if words[0] == "ask" else None

    def seen_from(self, seat: int) -> list[dict]:
        """Return the questions of others, with seats relative to a viewer."""
        players = self.games.options.num_players
        found = []
        for question in self.questions:
            if question["seat"] == seat:
                continue
            turned = dict(question)
            for name in ("seat", "target"):
                turned[name] = (question[name] - seat) % players
            if question["first_target"] >= 0:
                turned["first_target"] = (question["first_target"] - seat) % players
            for name in ("told", "shown"):
                turned[name] = [question[name][(seat + k) % players] if k < players else 0 for k in range(P)]
            found.append(turned)
        return found


def watched(
    options: Options, bots: tuple[str, ...], seed: int, limit: int = 60
) -> Iterator[tuple[BotGames, Decisions, Notes, Watcher]]:
    """Play one game, and yield each decision with what its seat has watched until then."""
    games = BotGames(options, bots, 1, seed=seed)
    notes = Notes(games)
    watchers = [Watcher(games.rules) for _ in range(options.num_players)]
    for decisions in games.play(limit):
        seat = int(decisions.states["actor"][0])
        watchers[seat].watch(decisions.views)
        yield games, decisions, notes, watchers[seat]
        notes.note(decisions)


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_a_watcher_notes_each_question_as_it_was_asked(options: Options) -> None:
    compared = 0
    for seed in range(3):
        for games, decisions, notes, watcher in watched(options, ("sheet", "cautious"), seed):
            wanted = notes.seen_from(int(decisions.states["actor"][0]))
            found = watcher.asked()
            assert len(found) == len(wanted)
            for moment, other in zip(found, wanted, strict=True):
                for name, value in other.items():
                    assert np.array_equal(moment[name], value), name
                compared += 1
            assert (watcher.asked(2) == found[2:]).all()
            assert games.rules["any_time"][0]
    assert compared > 50


def test_a_watcher_notes_when_each_rival_has_last_declined() -> None:
    options = Options(4, offer_order="clockwise")
    seen = 0
    for _, decisions, _, watcher in watched(options, ("cautious",), seed=1):
        declined = watcher.declined()
        assert sorted(declined["seat"]) == [1, 2, 3]
        assert (declined["target"] == DECLINED).all()
        now = decisions.views[0]
        for moment in declined:
            # Clockwise from who asked: who comes before the viewer has declined after this question.
            turn = int(now["turn"])
            before = (int(moment["seat"]) - turn) % 4 < -turn % 4
            if now["phase"] == OFFER:
                knows_it = (moment["told"] == now["told"]).all()
                assert knows_it == before
                seen += 1
    assert seen > 20


def test_nobody_is_said_to_have_declined_where_only_own_turns_count() -> None:
    for _, _, _, watcher in watched(Options(3, accuse="own_turn"), ("cautious",), seed=1, limit=30):
        assert not watcher.declined().size


def a_moment(games: BotGames, states: np.ndarray, seat: int) -> np.ndarray:
    """Return the moment in which rival 1 of a seat is about to ask (MOMENT [1]), nothing filled in of its question."""
    now = seen_by(games, states, seat)
    watcher = Watcher(games.rules)
    watcher.watch(now)
    found = watcher.declined()
    moment = found[found["seat"] == 1].copy()
    moment["told"] = now["told"]
    return moment


@pytest.mark.parametrize("model", ["cautious", "sheet", "racer"])
@pytest.mark.parametrize(
    "options", [Options(3), Options(5, super_sleuth=True), Options(4, double_interrogation=True)], ids=option_name
)
def test_what_a_model_may_ask_adds_up_to_one(model: str, options: Options) -> None:
    compared = 0
    for games, decisions, _, _ in watched(options, ("sheet",), seed=3, limit=40):
        states = decisions.states
        actor = int(states["actor"][0])
        if states["phase"][0] != sleuth.TURN or compared > 4:
            continue
        players = options.num_players
        viewer = (actor - 1) % players
        moment = a_moment(games, states, viewer)
        final_at = int(games.rules["final_at"][0])
        moments = []
        for action in np.flatnonzero(decisions.legal[0, :final_at]):
            _, target, question, card = ACTIONS[players][int(action)]
            asked = moment.copy()
            asked["target"] = (1 + target) % players
            asked["question"] = QUESTION_INDEX[question]
            asked["card"] = CARD_INDEX[card]
            moments.append(asked)
        deal = true_deal(states, viewer, players)
        now = seen_by(games, states, viewer)
        chances = [np.exp(explain(games.rules, now, asked, deal, MODELS[model])[0, 1]).sum() for asked in moments]
        assert sum(chances) == pytest.approx(1)
        assert min(chances) > 0
        compared += 1
    assert compared > 2


def test_a_model_of_sheet_without_slips_explains_each_question_of_sheet_in_the_true_deal() -> None:
    options = Options(4)
    cold = MODELS["sheet"].copy()
    cold["temperature"] = 1e-3
    cold["slip"] = 1e-9
    warm = 0
    for games, decisions, _, watcher in watched(options, ("sheet",), seed=5):
        seat = int(decisions.states["actor"][0])
        asked = watcher.asked()
        if not asked.size:
            continue
        deal = true_deal(decisions.states, seat, 4)
        logs = explain(games.rules, decisions.views, asked[-1:], deal, cold)
        # Several questions may be worth as much; an exact tie of all of them is not seen here.
        assert np.exp(logs.sum()) > 0.02
        warm += 1
    assert warm > 20


def test_a_refusal_of_who_had_the_proof_counts_as_a_slip() -> None:
    options = Options(3)
    games = BotGames(options, ("cautious",), 1, seed=1)
    states = games.states
    # Rival 1 has been shown all that the viewer holds and all that rival 2 holds.
    moment = np.zeros(1, MOMENT)
    moment["seat"] = 1
    moment["target"] = DECLINED
    moment["first_target"] = -1
    now = seen_by(games, states, 0)
    moment["shown"][0, [0, 2]] = (1 << NUM_QUESTIONS) - 1
    deal = true_deal(states, 0, 3)
    model = MODELS["cautious"]
    assert explain(games.rules, now, moment, deal, model)[0, 1, 0] == pytest.approx(np.log(model["slip"][0]))
    moment["shown"] = 0
    assert explain(games.rules, now, moment, deal, model)[0, 1, 0] == 0


def test_each_rival_plays_like_one_of_the_models() -> None:
    rng = np.random.default_rng(1)
    logs = np.log(rng.random((5, P, 3)))
    likelihoods = np.zeros(5)
    for n in range(5):
        for kinds in product(range(3), repeat=P):
            likelihoods[n] += np.prod([np.exp(logs[n, seat, kind]) for seat, kind in enumerate(kinds)])
    assert weights_of(logs) == pytest.approx(likelihoods / likelihoods.sum())
    assert weights_of(np.zeros((4, P, 0))).tolist() == [0.25] * 4


def losses(options: Options, bots: tuple[str, ...], model: str, seeds: range) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-loss of the true missing gem in bits, by the cards alone and weighed, at the turns of a seat."""
    plain = []
    weighed = []
    for seed in seeds:
        history: list[np.ndarray] = []
        for games, decisions, _, watcher in watched(options, bots, seed, limit=100_000):
            if decisions.states["actor"][0] != 0:
                continue
            history.append(decisions.views)
            if decisions.states["phase"][0] != sleuth.TURN or len(watcher.asked()) < 6:
                continue
            truth = int(decisions.states["missing_gems"][0]).bit_length() - 1
            views = np.concatenate(history)
            found = weighted_belief(games.rules, views, model, deals=400, seed=seed)
            plain.append(-np.log2(belief(games.rules, views[-1:]).missing[truth]))
            weighed.append(-np.log2(found.missing[truth]))
    return np.array(plain), np.array(weighed)


@pytest.mark.parametrize(
    ("bot", "model"),
    [
        ("sheet", "sheet"),
        ("cautious", "any"),
        pytest.param("sheet", "any", marks=pytest.mark.slow),
        pytest.param("cautious", "cautious", marks=pytest.mark.slow),
        pytest.param("hunch", "any", marks=pytest.mark.slow),
        pytest.param("entropy", "entropy", marks=pytest.mark.slow),
        pytest.param("racer", "racer", marks=pytest.mark.slow),
        pytest.param("racer", "any", marks=pytest.mark.slow),
    ],
)
def test_it_says_more_of_the_missing_gem_than_the_cards_alone(bot: str, model: str) -> None:
    plain, weighed = losses(Options(3), (bot,), model, range(40))
    gain = plain - weighed
    assert len(gain) >= 30
    assert gain.mean() > 0


def test_of_players_at_random_nothing_is_learned() -> None:
    games = BotGames(Options(3), ("random",), 1, seed=1)
    now = seen_by(games, games.states, 0)
    found = weighted_belief(games.rules, now, "random", deals=200)
    assert np.allclose(found.weights, 1 / 200)
    assert found.effective == pytest.approx(200)


@pytest.mark.parametrize("options", GAMES, ids=option_name)
def test_nothing_is_certain_that_is_not_proved_and_nothing_possible_is_ruled_out(options: Options) -> None:
    history = []
    for games, decisions, _, _ in watched(options, ("sheet", "cautious"), seed=7, limit=40):
        if decisions.states["actor"][0] == 0:
            history.append(decisions.views)
            views = np.concatenate(history)
            worlds = belief(games.rules, views[-1:])
            found = weighted_belief(games.rules, views, deals=30, seed=len(history))
            possible = worlds.holders > 0
            assert ((found.holders > 0) == possible).all()
            assert ((found.holders >= 1 - 1e-9) == (worlds.holders >= 1 - 1e-9)).all()
            assert np.allclose(found.holders.sum(axis=1), worlds.holders.sum(axis=1))
            assert (found.holders >= (1 - TRUST) * worlds.holders - 1e-12).all()
            assert found.missing.sum() == pytest.approx(options.missing)
            held = found.deals[:, :, None] == np.arange(worlds.holders.shape[1])
            assert (possible | ~held.any(axis=0)).all()
            assert 1 <= found.effective <= 30
    assert len(history) > 3


def test_it_is_the_same_with_the_same_seed_only() -> None:
    games = BotGames(Options(3), ("sheet",), 1, seed=1)
    now = seen_by(games, games.states, 0)
    same = [weighted_belief(games.rules, now, deals=50, seed=seed).deals for seed in (3, 3, 4)]
    assert (same[0] == same[1]).all()
    assert (same[0] != same[2]).any()


def test_what_is_wrong_is_named() -> None:
    games = BotGames(Options(3), ("sheet",), 2, seed=1)
    first, second = (seen_by(games, games.states[row : row + 1], 0) for row in range(2))
    with pytest.raises(ArrayError, match="views must be at least one"):
        weighted_belief(games.rules, first[:0])
    with pytest.raises(ArrayError, match=r"views must be of one seat in one game, but hand is \d+ in row 1"):
        weighted_belief(games.rules, np.concatenate([first, second]))
    with pytest.raises(ValueError, match=r"model must be one of 'random', 'cautious', 'sheet', .*, got 'shet'"):
        weighted_belief(games.rules, first, model="shet")
    with pytest.raises(ValueError, match="deals must be an integer from 1 to 1000000, got 0"):
        weighted_belief(games.rules, first, deals=0)
    with pytest.raises(ValueError, match="seed must be an integer from 0 to 18446744073709551615, got -1"):
        weighted_belief(games.rules, first, seed=-1)
    later = [decisions.views for decisions in games.play(40) if decisions.states["actor"][0] == 0]
    rows = [views[:1] for views in later if (views["hand"][0] == first["hand"][0])]
    with pytest.raises(ArrayError, match="views must be in the order of the game, but row 1 is before row 0"):
        weighted_belief(games.rules, np.concatenate([rows[-1], rows[0]]))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (1, 3, "the asker of event 0 is 3, and not from 0 to 2"),
        (1, 7, "the asker of event 0 is 7, and not from 0 to 2"),
        (2, -1, "the target of event 0 is -1, and not from 0 to 2"),
        (2, 42, "the target of event 0 is 42, and not from 0 to 2"),
        (3, 43, "the question of event 0 is 43, and not from 0 to 42"),
        (4, -1, "the search card of event 0 is -1, and not from 0 to 53"),
    ],
)
def test_an_event_of_nobody_or_nothing_is_refused(column: int, value: int, message: str) -> None:
    history = []
    for _, decisions, _, _ in watched(Options(3), ("sheet",), seed=1, limit=30):
        if decisions.states["actor"][0] == 0:
            history.append(decisions.views)
    views = np.concatenate(history)
    assert views["events"][-1, 0, 0] == sleuth.ASK_EVENT
    views["events"][-1, 0, column] = value
    with pytest.raises(ArrayError, match=message):
        weighted_belief(sleuth.make_rules(Options(3)), views)
    legal = np.ones((1, sleuth.num_actions(Options(3))), np.uint8)
    with pytest.raises(ArrayError, match=message):
        sleuth.make_bot("searcher", Options(3)).act(views[-1:], legal, np.zeros(1, np.uint64))
