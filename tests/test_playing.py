"""Bots that play on in a kernel play the same games, action by action, as when they are asked one by one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from sleuth_env import holmes, holmes_v0, sleuth, sleuth_v0
from sleuth_env.actions import IllegalAction
from sleuth_env.deduction.evidence import EVIDENCE
from sleuth_env.deduction.sheet import KEPT, SHEET, WORK, fill_in_again
from sleuth_env.kernels import kernel
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.table import LEARNER_SEAT, Table
from sleuth_env.sleuth.clues import clues, read_sheet
from tests.support.strategies import EVERY_VARIANT, option_name

HOLMES_VARIANTS = [
    holmes.Options(3),
    holmes.Options(4, fast_play=True, cases=2, must_arrest=True),
    holmes.Options(5, new_case_location="city", fast_play=True),
    holmes.Options(6, cases=1, reward="case", after_alibi="left_of_alibi"),
    holmes.Options(8, guilty_hand="discarded", max_turns=60),
]
PLAYING = [sleuth.playing, holmes.playing]
NUM_GAMES = 12


class Asked:
    """A bot of the game, which is asked like any other player."""

    def __init__(self, bot: Any) -> None:
        self.bot = bot
        self.name = bot.name
        self.asked = 0

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose as the bot does."""
        self.asked += len(views)
        chosen: np.ndarray = self.bot.act(views, legal, seeds)
        return chosen


def bots_of(game: Any, options: Any) -> list[Any]:
    return [kind(options) for kind in game.playing.BOTS]


def tables(game: Any, options: Any, kinds: list[int] | None = None) -> list[Table]:
    """Return twice the same games: of bots in a kernel, and of bots who are asked. `kinds` are asked in both."""
    made = []
    for always in (kinds or [], [0, 1, 2]):
        bots = [Asked(bot) if number in always else bot for number, bot in enumerate(bots_of(game, options))]
        seats = np.random.default_rng(5).integers(0, 3, (NUM_GAMES, options.num_players)).astype(np.int32)
        table = Table(game, options, NUM_GAMES, bots, seats)
        table.deal(range(NUM_GAMES), np.arange(NUM_GAMES) + 100)
        made.append(table)
    return made


def assert_same(one: Table, other: Table) -> None:
    assert one.states.tobytes() == other.states.tobytes()
    for name in ("decisions", "last_actions", "returns"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def same_rounds(one: Table, other: Table) -> int:
    """Play both round by round, and return the number of rounds."""
    rounds = 0
    assert_same(one, other)
    while one.play_round():
        assert other.play_round()
        assert_same(one, other)
        rounds += 1
    assert not other.play_round()
    return rounds


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_sleuth_action_by_action(options: sleuth.Options) -> None:
    one, other = tables(sleuth, options)
    assert same_rounds(one, other) > 2
    assert one.finished.all()


@pytest.mark.parametrize("options", HOLMES_VARIANTS, ids=str)
def test_holmes_action_by_action(options: holmes.Options) -> None:
    one, other = tables(holmes, options)
    assert same_rounds(one, other) > 20
    assert one.finished.all()


@pytest.mark.parametrize("game", [sleuth, holmes])
def test_who_is_in_a_kernel_and_who_is_asked_may_sit_together(game: Any) -> None:
    for kinds in ([0], [1, 2]):
        one, other = tables(game, game.Options(4), kinds)
        rounds = same_rounds(one, other)
        assert rounds == one.decisions.sum(axis=1).max()  # once a round in every game
        again, _ = tables(game, game.Options(4), kinds)
        again.play_on()
        assert_same(one, again)
        asked = [bot.asked for bot in again.bots if isinstance(bot, Asked)]
        seats = [number for number, bot in enumerate(again.bots) if isinstance(bot, Asked)]
        assert sum(asked) == again.decisions[np.isin(again.seats, seats)].sum()  # and nobody else was asked


@pytest.mark.parametrize("game", [sleuth, holmes])
def test_learners_are_waited_for(game: Any) -> None:
    one, other = tables(game, game.Options(3))
    for table in (one, other):
        table.seats[:, 1] = LEARNER_SEAT
    rng = np.random.default_rng(2)
    for _ in range(60):
        for table in (one, other):
            table.play_on()
        assert_same(one, other)
        assert (one.actors[~one.finished] == 1).all()
        rows = np.flatnonzero(one.waiting)
        legal = one.legal(rows)
        actions = (legal * rng.random(legal.shape)).argmax(axis=1)
        for table in (one, other):
            assert table.step(rows, actions).all()
    one.leave(range(NUM_GAMES))
    before = one.states.copy()
    one.seats[:] = 0
    assert not one.play_round()
    one.play_on()
    assert one.states.tobytes() == before.tobytes()


@pytest.mark.parametrize("game", [sleuth, holmes])
def test_only_the_games_own_bots_of_these_options_play_in_a_kernel(game: Any) -> None:
    options = game.Options(3)
    bot = bots_of(game, options)[0]

    class Heir(type(bot)):  # type: ignore[misc]
        """Who inherits may decide otherwise."""

        def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
            raise RuntimeError("asked")

    def asked(*_: Any) -> np.ndarray:
        raise RuntimeError("asked")

    patched = type(bot)(options)
    patched.act = asked  # type: ignore[method-assign]
    for player in (Heir(options), patched):
        table = Table(game, options, 2, [player], 0)
        table.deal([0, 1], [0, 1])
        with pytest.raises(RuntimeError, match="asked"):
            table.play_on()
        with pytest.raises(RuntimeError, match="asked"):
            table.play_round()
    # Bots may be put there by hand, too.
    table = Table(game, options, 2, [bot], 0)
    table.deal([0, 1], [0, 1])
    table.play_round()
    table.bots[0] = patched
    with pytest.raises(RuntimeError, match="asked"):
        table.play_round()


@pytest.mark.parametrize("game", [sleuth, holmes])
@pytest.mark.parametrize(("number", "message"), [(7, r"there are [34] bots, and a seat of number 7"), (-2, "got -2")])
def test_seats_of_nobody_are_refused(game: Any, number: int, message: str) -> None:
    for play in ("play_on", "play_round"):
        table, _ = tables(game, game.Options(3))
        table.seats[1, :] = number
        with pytest.raises(MatchError, match=message):
            getattr(table, play)()


@pytest.mark.parametrize("game", [sleuth, holmes])
def test_what_is_illegal_is_refused_and_the_others_play_on(game: Any) -> None:
    table, other = tables(game, game.Options(3))
    other.play_on()
    illegal = int(np.flatnonzero(table.legal(0)[0] == 0)[0])
    first = np.full(NUM_GAMES, -1)
    first[0] = illegal
    before = table.states[0].copy()
    table.seats[0] = LEARNER_SEAT
    table._play_on(first)
    assert first[0] == illegal
    assert table.states[0].tobytes() == before.tobytes()
    assert table.states[1:].tobytes() == other.states[1:].tobytes()


def test_a_bot_that_would_do_something_illegal_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = tables(sleuth, sleuth.Options(3))

    class Playing:
        """A kernel that gets stuck."""

        BOTS = sleuth.playing.BOTS
        MEMORY = sleuth.playing.MEMORY

        @staticmethod
        def play_on(*_: Any) -> tuple[int, int]:
            return 0, 1

    monkeypatch.setattr(table, "_playing", Playing)
    monkeypatch.setattr(sleuth.playing.BOTS[1], "act", lambda self, views, legal, seeds: np.full(len(views), 10_000))
    with pytest.raises(IllegalAction, match="bot 'cautious' in seat"):
        table.play_on()


def test_what_is_kept_of_a_seat_changes_nothing() -> None:
    # Of other games, of later moments of the same ones, and of none.
    options = sleuth.Options(4)
    _, other = tables(sleuth, options)
    other.play_on()
    kept, _ = tables(sleuth, options)
    kept.play_on()
    for memory in (kept._memory, np.roll(kept._memory, 1, axis=0), np.roll(kept._memory, 1, axis=1)):
        table, _ = tables(sleuth, options)
        table._memory[:] = memory
        table.play_on()
        assert_same(table, other)
        # Dealt again, with whatever has been kept now.
        table.deal(range(NUM_GAMES), np.arange(NUM_GAMES) + 100)
        table.play_on()
        assert table.states.tobytes() == other.states.tobytes()


@kernel
def _fill_in_all(evidence: np.ndarray, places: np.ndarray, kept: np.ndarray, work: np.ndarray, sheets: Any) -> None:
    for b in range(evidence.size):
        fill_in_again(evidence[b], kept[places[b]], work[0], sheets[b])


@pytest.mark.parametrize("num_players", [3, 4, 7])
def test_a_sheet_that_is_filled_in_again_is_the_same(num_players: int) -> None:
    options = sleuth.Options(num_players)
    bots = [sleuth.make_bot("cautious", options)]
    table = Table(sleuth, options, NUM_GAMES, bots, 0)
    table.deal(range(NUM_GAMES), np.arange(NUM_GAMES))
    kept = np.zeros(NUM_GAMES, KEPT)
    views: list[np.ndarray] = []
    while not table.finished.all():
        views.append(table.views(range(NUM_GAMES), 1))
        table.play_round()
    rng = np.random.default_rng(num_players)
    # Forwards, with gaps, backwards and across games.
    moments = [*range(len(views)), *range(0, len(views), 9), *rng.permutation(len(views))[:60].tolist()]
    for number, moment in enumerate(moments):
        evidence = np.zeros(NUM_GAMES, EVIDENCE)
        clues(table.rules, views[moment], evidence)
        sheets = np.zeros(NUM_GAMES, SHEET)
        places = np.arange(NUM_GAMES) if number % 7 else rng.permutation(NUM_GAMES)
        _fill_in_all(evidence, places, kept, np.zeros(1, WORK), sheets)
        assert sheets.tobytes() == read_sheet(table.rules, views[moment]).tobytes()


def test_a_contradiction_is_found_again_and_nothing_is_kept_of_it() -> None:
    options = sleuth.Options(3)
    table = Table(sleuth, options, 1, [sleuth.make_bot("cautious", options)], 0)
    table.deal(0, 0)
    for _ in range(12):
        table.play_round()
    good = table.views(0, 0)
    bad = good.copy()
    bad["answers"][0, 1] = 9
    bad["told"][0, 1] = (1 << 43) - 1
    kept = np.zeros(1, KEPT)
    sheets = np.zeros(1, SHEET)
    evidence = np.zeros(1, EVIDENCE)
    for views, broken in ((good, False), (bad, True), (bad, True), (good, False)):
        clues(table.rules, views, evidence)
        _fill_in_all(evidence, np.zeros(1, np.int64), kept, np.zeros(1, WORK), sheets)
        assert bool(sheets["broken"][0]) == broken
    assert sheets.tobytes() == read_sheet(table.rules, good).tobytes()


@pytest.mark.parametrize("game", [sleuth, holmes])
def test_copies_and_pickles_of_a_table_play_on(game: Any) -> None:
    one, _ = tables(game, game.Options(4))
    for _ in range(5):
        one.play_round()
    copies = [copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    one.play_on()
    for table in copies:
        table.play_on()
        assert_same(one, table)


@pytest.mark.parametrize("module", [sleuth_v0, holmes_v0])
def test_environments_for_one_learner_play_the_same_games(module: Any) -> None:
    game = module.GAME
    options = game.Options(4)
    for kind in game.playing.BOTS:
        for illegal in ("end", "raise"):
            seen = []
            for opponent in (kind(options), Asked(kind(options))):
                envs = module.SoloVectorEnv(
                    num_envs=8, opponents=opponent, num_players=4, illegal=illegal, max_turns=40
                )
                rng = np.random.default_rng(3)
                observations, infos = envs.reset(seed=4)
                for _ in range(40):
                    mask = infos["action_mask"]
                    actions = (mask * rng.random(mask.shape)).argmax(axis=1)
                    if illegal == "end":
                        actions[rng.random(8) < 0.05] = 0
                    observations, rewards, terminated, truncated, infos = envs.step(actions)
                    seen.append([observations.tobytes(), rewards.tobytes(), terminated.tobytes(), truncated.tobytes()])
                seen.append(envs.table.states.tobytes())
            half = len(seen) // 2
            assert seen[:half] == seen[half:]
