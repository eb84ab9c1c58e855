"""Bots play legally, from their view and seed alone, and accuse only what is proved."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sleuth_env.sleuth as sleuth
from sleuth_env.doors import ArrayError
from sleuth_env.matches.match import play_match
from sleuth_env.sleuth.bots import BOTS, BotError, make_bot
from sleuth_env.sleuth.cards import NUM_PAIRS, Options, num_actions
from sleuth_env.sleuth.clues import read_sheet
from sleuth_env.sleuth.rules import legal
from sleuth_env.sleuth.state import FINISHED, MUST_ACCUSE, OFFER, OUT
from tests.support import fixed_decisions
from tests.support.bot_games import BotGames
from tests.support.comparison import gem_mask
from tests.support.oracle import ACTIONS, GEMS
from tests.support.situation import Situation, gem_names
from tests.support.strategies import ALL_VARIANTS, PLAYER_COUNTS, QUICK_VARIANTS, option_name

THOUGHTFUL = tuple(BOTS)[1:]
# With few deals: it is not its strength that is tested here.
COUNTING = ("hunch", "entropy", "racer", "searcher:20")


def choice(game: Situation, bot: str, seed: int = 0) -> tuple:
    """Return in words what a bot does in the place of the actor."""
    marks = np.zeros((1, num_actions(game.options)), "u1")
    legal(game.rules, game.states, marks)
    action = make_bot(bot, game.options).act(np.array([game.seen_by(game.actor)]), marks, np.array([seed], "u8"))
    return ACTIONS[game.n][action[0]]


def proved(game: Situation, seat: int) -> set[str]:
    return gem_names(int(read_sheet(game.rules, np.array([game.seen_by(seat)]))[0]["has"][game.n - 1]))


def reveal_all_but(game: Situation, viewer: int, hidden: list[str]) -> None:
    """Let a seat have seen all gems of the others but the hidden ones."""
    for seat in range(game.n):
        if seat != viewer:
            game.states["seen"][0, viewer, seat] = int(game.hands[seat]) & ~gem_mask(hidden)


def fields(others: tuple[str, ...], counting: tuple[str, ...]) -> list:
    """Return every variant with a table of the others, and with one for each counting bot.

    Those of many players take long, see `QUICK_VARIANTS`.
    """
    cases = []
    for options, bot in product(ALL_VARIANTS, [None, *counting]):
        names = others if bot is None else (bot, *others)
        is_quick = options in QUICK_VARIANTS and (bot is None or options.num_players <= 4)
        marks = () if is_quick else pytest.mark.slow
        cases.append(pytest.param(options, names, marks=marks, id=f"{option_name(options)}-{names[0]}"))
    return cases


@pytest.mark.parametrize(("options", "names"), fields(("sheet", "cautious", "random"), COUNTING))
def test_bots_play_legally_to_the_end_and_a_row_decides_as_it_would_alone(
    options: Options, names: tuple[str, ...]
) -> None:
    games = BotGames(options, names, 3, seed=1)
    for moment, (bot, _, _, views, marks, seeds, actions) in enumerate(games.play()):
        if moment % 7 == 0:
            alone = [bot.act(views[b : b + 1], marks[b : b + 1], seeds[b : b + 1])[0] for b in range(views.size)]
            assert alone == actions.tolist()
    assert (games.states["phase"] == FINISHED).all()


@pytest.mark.parametrize(("options", "names"), fields(("sheet", "cautious"), ("entropy",)))
def test_careful_bots_accuse_only_what_is_proved(options: Options, names: tuple[str, ...]) -> None:
    games = BotGames(options, names, 4, seed=4)
    accused = 0
    accuse_at = int(games.rules["accuse_at"][0])
    for decisions in games.play():
        named = decisions.actions - accuse_at
        for b in np.flatnonzero((named >= 0) & (named < len(GEMS))):
            assert int(decisions.states["missing_gems"][b]) >> int(named[b]) & 1
            accused += 1
    assert not (games.states["standing"] == OUT).any()
    assert accused or options.max_turns < 10


@pytest.mark.parametrize("bot", THOUGHTFUL)
@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_proved_bot_names_all_missing_gems_on_its_turn(bot: str, missing: int) -> None:
    gems = ["red-opal-pair", "green-opal-pair", "yellow-pearl-cluster"][:missing]
    game = Situation(Options(3, missing=missing), gems)
    reveal_all_but(game, 0, gems)
    for gem in gems:
        assert choice(game, bot) == ("accuse", gem)
        assert game.do("accuse", gem)
    assert game.phase == FINISHED


@pytest.mark.parametrize("bot", THOUGHTFUL)
def test_a_proved_bot_accuses_at_an_offer_and_others_decline(bot: str) -> None:
    game = Situation(Options(4, offer_order="clockwise"), ["red-opal-pair"], search={0: ["red"]})
    reveal_all_but(game, 2, ["red-opal-pair"])
    assert game.do("ask", 1, "red", "red")
    for seat in (0, 1):
        assert (game.actor, game.phase) == (seat, OFFER)
        assert choice(game, bot) == ("pass",)
        assert game.do("pass")
    assert choice(game, bot) == ("accuse", "red-opal-pair")


@pytest.mark.parametrize("bot", THOUGHTFUL)
def test_after_somebody_elses_final_question_a_bot_that_must_accuse_names_a_gem_that_may_be_missing(bot: str) -> None:
    hidden = ["red-opal-pair", "red-opal-cluster", "blue-pearl-solitaire"]
    game = Situation(Options(4), hidden[:1], {1: hidden[1:2], 2: hidden[2:]})
    reveal_all_but(game, 0, hidden)
    assert game.do("final", 3, "yellow")
    assert game.phase == MUST_ACCUSE
    verb, gem = choice(game, bot)
    assert verb == "accuse"
    assert gem in hidden


@pytest.mark.parametrize("bot", ["sheet", "entropy"])
def test_a_final_question_decides_between_two_gems(bot: str) -> None:
    hidden = ["red-opal-pair", "green-pearl-cluster"]
    game = Situation(Options(4, winners=2), hidden[:1], {2: hidden[1:]})
    reveal_all_but(game, 0, hidden)
    verb, *_ = question = choice(game, bot)
    assert verb == "final"
    assert game.do(*question)
    assert proved(game, 0) == {"red-opal-pair"}
    assert choice(game, bot) == ("accuse", "red-opal-pair")


@pytest.mark.parametrize(
    "options",
    [Options(3), Options(4, missing=2), Options(5, super_sleuth=True), Options(4, double_interrogation=True)],
    ids=option_name,
)
def test_final_questions_of_sheet_always_decide(options: Options) -> None:
    games = BotGames(options, ("sheet", "cautious"), 40, seed=6)
    finals = 0
    for decisions in games.play():
        if decisions.bot.name == "sheet":
            must = decisions.views["phase"] == MUST_ACCUSE
            solved = (
                np.bitwise_count(read_sheet(games.rules, decisions.views)["has"][:, options.num_players - 1])
                == options.missing
            )
            assert solved[must].all()
            finals += must.sum()
    assert finals > 0


def useful(rules: np.ndarray, v: np.void, sheet: np.void, action: int) -> bool:
    """Whether an ask can tell anything that is not certain or announced, worked out by hand."""
    holder = action // NUM_PAIRS
    question = int(rules["pair_question"][0][action % NUM_PAIRS])
    shown = rules["num_elements"][0][question] == 2 and not rules["super_sleuth"][0]
    undecided = int(sheet["can"][holder]) & ~int(sheet["has"][holder]) & int(rules["question_gems"][0][question])
    return bool(undecided) and (bool(shown) or v["answers"][holder + 1, question] < 0)


@pytest.mark.parametrize(
    "options", [Options(3), Options(5), Options(4, super_sleuth=True, double_interrogation=True)], ids=option_name
)
def test_cautious_asks_what_is_of_some_use_and_exchanges_only_when_nothing_is(options: Options) -> None:
    games = BotGames(options, ("cautious",), 20, seed=3)
    asked = 0
    final_at = int(games.rules["final_at"][0])
    exchange_at = int(games.rules["exchange_at"][0])
    for decisions in games.play(limit=150):
        sheets = read_sheet(games.rules, decisions.views)
        for v, sheet, marks, action in zip(decisions.views, sheets, decisions.legal, decisions.actions, strict=True):
            if action < final_at:
                asked += 1
                assert useful(games.rules, v, sheet, action)
            if action == exchange_at:
                assert not any(useful(games.rules, v, sheet, ask) for ask in np.flatnonzero(marks[:final_at]))
    assert asked > 100


def test_cautious_chooses_among_useful_questions_evenly() -> None:
    game = Situation(Options(3), ["red-opal-pair"], search={0: ["red", "blue", "pair", "opal-pair"]})
    chosen = Counter(choice(game, "cautious", seed) for seed in range(800))
    assert len(chosen) == 8
    assert all(60 < number < 140 for number in chosen.values())


def test_random_takes_every_legal_action_equally_often() -> None:
    game = Situation(Options(3), ["red-opal-pair"], search={0: ["red"]})
    game.do("ask", 1, "red", "red")
    chosen = Counter(choice(game, "random", seed) for seed in range(37 * 60))
    assert set(chosen) == game.legal()
    assert all(30 < number < 95 for number in chosen.values())


@pytest.mark.parametrize("bot", BOTS)
def test_a_finished_game_is_refused(bot: str) -> None:
    game = Situation(Options(3), ["red-opal-pair"])
    game.accuse_rightly()
    marks = np.zeros((1, num_actions(game.options)), "u1")
    with pytest.raises(ArrayError, match="legal must mark a legal action in every row, got none in row 0"):
        make_bot(bot, game.options).act(np.array([game.seen_by(0)]), marks, np.zeros(1, "u8"))


def test_an_empty_batch_has_no_actions() -> None:
    options = Options(3)
    empty = np.zeros(0, sleuth.VIEW), np.zeros((0, num_actions(options)), "u1"), np.zeros(0, "u8")
    assert [make_bot(name, options).act(*empty).size for name in BOTS] == [0] * len(BOTS)


def test_an_unknown_bot_is_refused_with_the_known_ones() -> None:
    for wrong in ([], {}, np.array(["sheet", "racer"])):
        with pytest.raises(BotError, match=r"there is no bot .*; the bots are"):
            make_bot(wrong, Options(3))  # type: ignore[arg-type]
    with pytest.raises(BotError, match=f"there is no bot 'sheat'; the bots are {', '.join(BOTS)}"):
        make_bot("sheat", Options(3))


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize(("better", "worse"), [("sheet", "cautious"), ("cautious", "random")])
def test_sheet_beats_cautious_and_cautious_beats_random(players: int, better: str, worse: str) -> None:
    result = play_match(sleuth, Options(players), [better] + [worse] * (players - 1), num_deals=60, seed=1)
    assert result.entries[0].win_share > 1.25 / players


@pytest.mark.parametrize("factor", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_plain_python_and_compiled_kernels_decide_the_same(factor: int) -> None:
    root = Path(__file__).parent.parent
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    words = [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.support.fixed_decisions", str(factor)]
    plain = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert plain.stdout == fixed_decisions.digest(factor)
