"""The bot `searcher`: budgets, its memory of games, and what it dares by weighed deals and play-outs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from sleuth_env import SoloEnv, sleuth
from sleuth_env.cli.commands import main
from sleuth_env.doors import ArrayError
from sleuth_env.matches.match import play_match
from sleuth_env.matches.players import make_player
from sleuth_env.policies.policy_file import PolicyError
from sleuth_env.sleuth.belief import belief
from sleuth_env.sleuth.bots import BotError, make_bot, playing
from sleuth_env.sleuth.bots import searcher as room
from sleuth_env.sleuth.bots.play_outs import play_outs
from sleuth_env.sleuth.bots.searcher import SearcherBot, parse_budget
from sleuth_env.sleuth.cards import NUM_GEMS, NUM_QUESTIONS, Options, make_rules, num_actions
from sleuth_env.sleuth.notation import gem_name, question_name
from sleuth_env.sleuth.rules import legal
from sleuth_env.sleuth.state import MUST_ACCUSE, OFFER, TURN, P
from tests.support.bot_games import BotGames
from tests.support.situation import Situation
from tests.support.strategies import option_name
from tests.test_bots import reveal_all_but

FEW = "40"


def test_a_budget_is_a_number_of_deals_or_of_milliseconds() -> None:
    assert parse_budget("1") == (1, 0)
    assert parse_budget("100000") == (100_000, 0)
    assert parse_budget("3600000ms") == (5000, 3_600_000)
    assert make_bot("searcher", Options(3)).name == "searcher"
    assert make_bot("searcher:2000", Options(3)).name == "searcher:2000"
    assert make_player("searcher:7ms", Options(4)).name == "searcher:7ms"


@pytest.mark.parametrize(
    "wrong", ["", "0", "-1", "1e3", "50 ms", "ms", "5s", "1.5", "100001", "3600001ms", "9" * 5000, "٣", "50MS"]
)
def test_what_is_not_a_budget_is_refused(wrong: str) -> None:
    with pytest.raises(
        BotError, match=r"a number of deals, 1 to 100000, or of milliseconds, 1ms to 3600000ms"
    ) as caught:
        make_bot(f"searcher:{wrong}", Options(3))
    assert len(str(caught.value)) < 400


def test_other_bots_take_no_budget() -> None:
    with pytest.raises(PolicyError, match="there is no bot 'sheet:5'; the bots are"):
        make_player("sheet:5", Options(3))


@pytest.mark.parametrize("command", ["match searcher:0 sheet sheet", "play --players 3 --opponents searcher:0,sheet"])
def test_a_command_says_what_a_budget_is(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 1
    assert "the budget of a searcher is a number of deals" in shown[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "shet"}, "model must be one of 'random', .*, got 'shet'"),
        ({"play_outs": -1}, "play_outs must be an integer from 0 to 100000, got -1"),
        ({"budget": 400}, "got 400"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BotError, match=message):
        SearcherBot(Options(3), **settings)


@pytest.mark.parametrize(
    "options",
    [
        Options(3),
        Options(4, super_sleuth=True, max_turns=9),
        Options(3, missing=2),
        Options(3, double_interrogation=True),
    ],
    ids=option_name,
)
def test_the_same_seed_gives_the_same_games_however_many_are_played_at_once(options: Options) -> None:
    seats = [f"searcher:{FEW}", *["hunch"] * (options.num_players - 1)]
    one, other, next_to = (
        play_match(sleuth, options, seats, 2, seed=seed, batch_size=size) for seed, size in ((3, 1), (3, 64), (4, 64))
    )
    assert one == other
    assert one != next_to


def test_a_game_is_remembered_until_it_is_forgotten_and_copies_have_a_memory_of_their_own() -> None:
    options = Options(3)
    bot = SearcherBot(options, FEW)
    games = BotGames(options, ("sheet",), 2, seed=1)
    for decisions in games.play(12):
        rows = decisions.rows
        if decisions.states["actor"][0] == 0:
            seats = decisions.states["actor"].astype(np.int64)
            bot.act_in(decisions.views, decisions.legal, decisions.seeds, rows + 5, seats)
    assert sorted(bot._games) == [5, 6]
    assert any(len(memory.watcher.asked()) for memory in bot._games.values())
    twin = copy.deepcopy(bot)
    bot.forget(np.array([5, 99]))
    assert sorted(bot._games) == [6]
    assert sorted(twin._games) == [5, 6]


def by_pickle(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle])
def test_copies_of_an_environment_go_on_with_what_it_remembers(copied: Any) -> None:
    def played(env: Any, decisions: int) -> list[Any]:
        seen = []
        for _ in range(decisions):
            mask = env.action_masks()
            # It declines where it can, and asks.
            action = mask.size - 1 if mask[-1] else int(mask.argmax())
            observation, *rest, _ = env.step(action)
            seen.append((observation.tobytes(), *rest))
            if rest[1] or rest[2]:
                break
        return seen

    env = SoloEnv(num_players=3, opponents=f"searcher:{FEW}", learner_seat=0)
    env.reset(seed=2)
    played(env, 4)
    twin = copied(env)
    assert played(twin, 30) == played(env, 30)


def test_a_seat_of_another_game_plays_it_with_the_same_settings() -> None:
    bot = SearcherBot(Options(3), FEW, "sheet", 8, make_bot("sheet", Options(3)))
    other = bot.seated(Options(4))
    assert (other.options, other.budget, other.model, other.play_outs) == (Options(4), FEW, "sheet", 8)
    assert (other.blueprint.name, other.blueprint.options) == ("sheet", Options(4))
    assert bot.seated(Options(3)) is bot


def test_where_it_does_not_dare_it_asks_what_its_blueprint_asks() -> None:
    options = Options(3)
    blueprint = make_bot("sheet", options)
    bot = SearcherBot(options, FEW, blueprint=blueprint)
    games = BotGames(options, ("sheet",), 3, seed=2)
    final_at = int(games.rules["final_at"][0])
    asked = 0
    for decisions in games.play(30):
        actions = bot.act(decisions.views, decisions.legal, decisions.seeds)
        planned = blueprint.act(decisions.views, decisions.legal, decisions.seeds)
        asks = actions < final_at
        assert (actions[asks] == planned[asks]).all()
        asked += np.count_nonzero(asks)
    assert asked > 10


def test_what_is_too_intricate_is_left_to_the_blueprint(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_intricate(*_: Any) -> None:
        raise room.IntricateError("too intricate")

    monkeypatch.setattr(room, "belief", too_intricate)
    options = Options(3)
    games = BotGames(options, ("racer",), 2, seed=2)
    for decisions in games.play(20):
        assert (
            make_bot("searcher", options).act(decisions.views, decisions.legal, decisions.seeds) == decisions.actions
        ).all()


@pytest.mark.parametrize("missing", [1, 2])
def test_whoever_must_accuse_names_gems_that_may_be_missing_together(missing: int) -> None:
    options = Options(4, missing=missing)
    hidden = ["red-opal-pair", "red-opal-cluster", "blue-pearl-solitaire"]
    game = Situation(options, hidden[:missing], {1: hidden[missing : missing + 1], 2: hidden[missing + 1 :]})
    reveal_all_but(game, 0, hidden)
    assert game.do("final", 3, "yellow")
    assert game.phase == MUST_ACCUSE
    named = 0
    while game.phase == MUST_ACCUSE and game.actor == 0 and named < missing:
        marks = np.zeros((1, num_actions(options)), "u1")
        legal(game.rules, game.states, marks)
        action = int(make_bot(f"searcher:{FEW}", options).act(np.array([game.seen_by(0)]), marks, np.zeros(1, "u8"))[0])
        gem = action - int(game.rules["accuse_at"][0])
        assert 0 <= gem < NUM_GEMS
        assert belief(game.rules, np.array([game.seen_by(0)])).missing[gem] > 0
        assert game.do("accuse", gem_name(gem))
        named += 1
    assert named == missing


def drawn_somewhere(options: Options, number: int, seed: int) -> tuple[BotGames, np.ndarray, np.ndarray]:
    """Return a view in which somebody is offered to accuse, and deals that fit it."""
    games = BotGames(options, ("sheet",), 1, seed=seed)
    offers = [decisions.views for decisions in games.play(25) if decisions.views["phase"][0] == OFFER]
    return games, offers[-1], belief(games.rules, offers[-1]).sample(number, np.random.default_rng(seed))


@pytest.mark.parametrize("options", [Options(3), Options(5, super_sleuth=True)], ids=option_name)
def test_play_outs_try_each_action_in_the_same_games(options: Options) -> None:
    games, views, deals = drawn_somewhere(options, 40, seed=2)
    kinds = np.full((40, P), 2, np.int32)
    last = options.num_players - 1
    accuse_at, pass_at = (int(games.rules[name][0]) for name in ("accuse_at", "pass_at"))
    gem = int(belief(games.rules, views).missing.argmax())
    actions = np.array([accuse_at + gem, pass_at, accuse_at + gem, pass_at])
    got = play_outs(games.rules, views, deals, kinds, actions, np.random.default_rng(1))
    assert (got[0] == got[2]).all()
    assert (got[1] == got[3]).all()
    # Who names the missing gem wins 1; who names another one, or sees somebody else win, pays a share of it.
    is_missing = deals[:, gem] == last
    assert np.allclose(got[0], np.where(is_missing, 1.0, -1.0 / last))
    assert set(got[1].round(9)) <= {1.0, round(-1.0 / last, 9), 0.0}
    assert got[1].min() < got[1].max()


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2), Options(5, super_sleuth=True)], ids=option_name)
def test_final_chances_are_those_counted_by_hand(options: Options) -> None:
    games, _, deals = drawn_somewhere(options, 25, seed=3)
    rules = games.rules
    last = options.num_players - 1
    weights = np.random.default_rng(1).random(len(deals))
    weights /= weights.sum()
    missing = [tuple(np.flatnonzero(deal == last)) for deal in deals]
    sets = sorted(set(missing))
    labels = np.array([sets.index(gems) for gems in missing])
    chances = np.empty((last, NUM_QUESTIONS))
    table = np.empty((room._num_answers(rules), len(sets)))
    room._final_chances(rules, deals, weights, labels, table, chances)
    for holder in range(last):
        for question in range(NUM_QUESTIONS):
            gems = [c for c in range(NUM_GEMS) if int(rules["question_gems"][0, question]) >> c & 1]
            answers: dict = {}
            for deal, weight, gone in zip(deals, weights, missing, strict=True):
                held = tuple(gem for gem in gems if deal[gem] == holder)
                is_shown = rules["num_elements"][0, question] == 2 and not options.super_sleuth
                masses = answers.setdefault(held if is_shown else len(held), {})
                masses[gone] = masses.get(gone, 0.0) + weight
            wanted = sum(max(masses.values()) for masses in answers.values())
            assert chances[holder, question] == pytest.approx(wanted), question_name(question)


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2), Options(5, super_sleuth=True)], ids=option_name)
def test_kept_deals_are_dropped_exactly_where_they_do_not_fit_any_more(options: Options) -> None:
    games = BotGames(options, ("sheet",), 1, seed=4)
    kept = None
    dropped = 0
    for decisions in games.play(40):
        if decisions.states["actor"][0] != 0:
            continue
        views = decisions.views
        drawn = belief(games.rules, views).sample(60, np.random.default_rng(1))
        fits = np.zeros(60, np.bool_)
        room._mark_fitting(games.rules, views, drawn, fits)
        assert fits.all()
        if kept is not None:
            room._mark_fitting(games.rules, views, kept, fits)
            for deal, does in zip(kept, fits, strict=True):
                assert does == fits_by_hand(games.rules, views[0], deal, options)
            dropped += np.count_nonzero(~fits)
        kept = drawn
    assert dropped > 10


def fits_by_hand(rules: np.ndarray, v: np.void, deal: np.ndarray, options: Options) -> bool:
    """Whether a deal agrees with all numbers and all gems that a seat has been told and shown."""
    for rival in range(1, options.num_players):
        hand = {c for c in range(NUM_GEMS) if deal[c] == rival - 1}
        if not {c for c in range(NUM_GEMS) if int(v["seen"][rival]) >> c & 1} <= hand:
            return False
        for question in range(NUM_QUESTIONS):
            gems = {c for c in range(NUM_GEMS) if int(rules["question_gems"][0, question]) >> c & 1}
            if v["answers"][rival, question] >= 0 and len(hand & gems) != v["answers"][rival, question]:
                return False
    return True


def test_rivals_play_on_as_what_they_are_likely_to_be() -> None:
    bot = SearcherBot(Options(3))
    names = [playing.BOTS[kind].name for kind in range(len(playing.BOTS))]
    models = np.zeros((2000, P, 3))
    models[:, 1] = [0.0, 1.0, 0.0]
    models[:, 2] = [0.5, 0.0, 0.5]
    kinds = bot._kinds(models, np.random.default_rng(1))
    assert {names[kind] for kind in kinds[:, 1]} == {"sheet"}
    shares = {names[kind]: np.mean(kinds[:, 2] == kind) for kind in set(kinds[:, 2].tolist())}
    assert shares == pytest.approx({"cautious": 0.5, "hunch": 0.5}, abs=0.05)
    nobody = SearcherBot(Options(3), model="random")._kinds(np.zeros((3, P, 0)), np.random.default_rng(1))
    assert {names[kind] for kind in nobody.ravel()} == {"hunch"}


def test_it_plays_with_a_budget_of_time() -> None:
    options = Options(3, max_turns=6)
    result = play_match(sleuth, options, ["searcher:1ms", "sheet", "sheet"], 2, seed=1)
    assert result.games == 6


@pytest.mark.parametrize(
    ("players", "deals"),
    [(3, 15), pytest.param(3, 200, marks=pytest.mark.slow), pytest.param(4, 150, marks=pytest.mark.slow)],
)
def test_it_beats_sheet_clearly(players: int, deals: int) -> None:
    result = play_match(sleuth, Options(players), ["searcher"] + ["sheet"] * (players - 1), deals, seed=1)
    entry = result.entries[0]
    # Few deals leave a wide interval.
    assert (entry.win_low if deals > 100 else entry.win_share / 1.2) > 1 / players


@pytest.mark.slow
def test_it_beats_racer() -> None:
    result = play_match(sleuth, Options(3), ["searcher", "racer", "racer"], 300, seed=2)
    assert result.entries[0].win_low > 1 / 3


def test_rules_say_how_many_answers_a_question_has() -> None:
    assert room._num_answers(make_rules(Options(3))) == 16
    assert room._num_answers(make_rules(Options(3, super_sleuth=True))) == 13


# --- what actions are worth ---


def seats_of(decisions: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return games and seats of decisions as one bot is told them: each seat of a game is a game to it."""
    seats = decisions.states["actor"].astype(np.int64)
    return P * decisions.rows + seats, seats


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=2), Options(5, super_sleuth=True)], ids=option_name)
def test_accusations_are_worth_their_chance_and_questions_what_they_tell(options: Options) -> None:
    bot = SearcherBot(options, FEW, "random")
    games = BotGames(options, ("sheet",), 3, seed=4)
    opponents = options.num_players - 1
    accuse_at, pass_at = (int(games.rules[name][0]) for name in ("accuse_at", "pass_at"))
    offers = turns = 0
    for decisions in games.play(16):
        where = seats_of(decisions)
        worths = bot.worths_in(decisions.views, decisions.legal, decisions.seeds, 2, *where)
        assert worths.shape == decisions.legal.shape
        assert not worths[decisions.legal == 0].any()
        for row, view in enumerate(decisions.views):
            found = belief(games.rules, decisions.views[row : row + 1])
            sets, chances = found.missing_sets
            if view["phase"] == OFFER:
                offers += 1
                gem = int(np.flatnonzero(found.missing)[0])
                chance = chances[sets >> gem & 1 == 1].max()
                # Nothing is learned from what they ask: all deals weigh the same.
                assert worths[row, accuse_at + gem] == pytest.approx(chance - (1 - chance) / opponents, abs=0.15)
                waited = worths[row, pass_at] - room.PATIENCE
                assert -1 / opponents - 1e-9 <= waited <= 1 + 1e-9
            elif view["phase"] == TURN:
                turns += 1
                asks = np.flatnonzero(decisions.legal[row, : games.rules["final_at"][0]])
                told = bot._told_by(decisions.views[row : row + 1], asks)
                # What tells more is worth more.
                order = np.argsort(told)
                assert (np.diff(worths[row, asks[order]]) >= -1e-9).all()
                assert np.ptp(worths[row, asks]) > 0
    assert offers > 10
    assert turns > 3


def test_the_same_seed_says_the_same_of_actions_whatever_is_asked_besides() -> None:
    options = Options(3)
    games = BotGames(options, ("sheet",), 2, seed=5)
    both, one = SearcherBot(options, FEW), SearcherBot(options, FEW)
    for decisions in games.play(12):
        where = seats_of(decisions)
        given = decisions.views, decisions.legal, decisions.seeds
        together = both.worths_in(*given, 2, *where)
        alone = one.worths_in(*(array[-1:] for array in given), 2, *(array[-1:] for array in where))
        assert (together[-1] == alone[0]).all()


def test_what_is_too_intricate_is_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_intricate(*_: Any) -> None:
        raise room.IntricateError("too intricate")

    games = BotGames(Options(3), ("racer",), 1, seed=2)
    decisions = next(iter(games.play(1)))
    monkeypatch.setattr(room, "belief", too_intricate)
    given = decisions.views, decisions.legal, decisions.seeds
    assert not SearcherBot(Options(3)).worths_in(*given, 2, *seats_of(decisions)).any()


def test_worths_need_a_number_of_deals() -> None:
    games = BotGames(Options(3), ("racer",), 1, seed=2)
    decisions = next(iter(games.play(1)))
    row = np.zeros(1, np.int64)
    with pytest.raises(BotError, match="deals must be an integer from 1 to 100000, got 0"):
        SearcherBot(Options(3)).worths_in(decisions.views, decisions.legal, decisions.seeds, 0, row, row)


@pytest.mark.parametrize(
    ("games", "seats", "message"),
    [
        (None, None, "games must be integers"),
        ([0.5, 1], None, "games must be integers"),
        ([[0], [1]], None, "games must be integers"),
        ([0], None, "games must be integers"),
        ([0, 0], None, "games must be different numbers"),
        ([0, 1], [9, 9], "seats must be those of the views"),
    ],
)
def test_games_and_seats_are_checked(games: Any, seats: Any, message: str) -> None:
    decisions = next(iter(BotGames(Options(3), ("racer",), 2, seed=2).play(1)))
    own = decisions.states["actor"].astype(np.int64) if seats is None else seats
    given = decisions.views, decisions.legal, decisions.seeds
    bot = SearcherBot(Options(3), FEW)
    with pytest.raises(ArrayError, match=message):
        bot.act_in(*given, games, own)
    with pytest.raises(ArrayError, match=message):
        bot.worths_in(*given, 2, games, own)
    assert not bot._games
