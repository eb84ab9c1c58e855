"""Tables of games and matches over equal deals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import SoloEnv, sleuth
from sleuth_env.actions import IllegalAction
from sleuth_env.cli.commands import main
from sleuth_env.game import load_game
from sleuth_env.matches.match import evaluate, num_rotations, play_match
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.table import LEARNER_SEAT, Table
from sleuth_env.sleuth import Options, make_bot

THREE = Options(num_players=3)
DEALS = np.arange(40, dtype=np.uint64)


class Named:
    """A bot under another name, which notes from which seat it was asked."""

    def __init__(self, name: str, bot: str = "sheet", options: Options = THREE) -> None:
        self.name = name
        self.bot = make_bot(bot, options)
        self.seats: list[int] = []

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        self.seats += views["seat"].tolist()
        return self.bot.act(views, legal, seeds)


class Fixed:
    """A bot that always chooses the same action."""

    name = "fixed"

    def __init__(self, action: int) -> None:
        self.action = action

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        return np.full(len(views), self.action, np.int64)


def table_of(bots: list[Any], seats: Any, num_games: int = len(DEALS), options: Options = THREE) -> Table:
    return Table(sleuth, options, num_games, bots, seats)


def mixed_bots() -> list[Any]:
    return [make_bot("random", THREE), make_bot("cautious", THREE), make_bot("sheet", THREE)]


# --- tables ---


def test_a_game_is_the_same_alone_and_in_any_batch() -> None:
    together = table_of(mixed_bots(), [0, 1, 2])
    alone = table_of(mixed_bots(), [0, 1, 2], 1)
    together.deal(np.arange(len(DEALS)), DEALS)
    together.play_on()
    for row, seed in enumerate(DEALS):
        alone.deal(0, seed)
        alone.play_on()
        assert alone.states[0].tobytes() == together.states[row].tobytes()
        assert alone.decisions[0].tolist() == together.decisions[row].tolist()


def test_games_that_are_not_dealt_are_neither_played_nor_waiting() -> None:
    table = table_of(mixed_bots(), [0, 1, LEARNER_SEAT])
    assert table.finished.all()
    assert not table.waiting.any()
    assert not table.play_round()


def test_a_dealt_game_leaves_the_others_alone() -> None:
    table = table_of(mixed_bots(), [0, 1, 2])
    table.deal(np.arange(len(DEALS)), DEALS)
    before = table.states.copy()
    table.deal([3, 5], [7, 8])
    others = np.setdiff1d(np.arange(len(DEALS)), [3, 5])
    assert table.states[others].tobytes() == before[others].tobytes()
    assert table.states[3] != before[3]


def test_bots_play_until_a_learner_is_to_act() -> None:
    table = table_of(mixed_bots(), [2, LEARNER_SEAT, 1])
    table.deal(np.arange(len(DEALS)), DEALS)
    table.play_on()
    assert (table.waiting ^ table.finished).all()
    assert (table.actors[table.waiting] == 1).all()


def test_a_learner_who_plays_like_the_bot_gets_the_bots_game() -> None:
    bot = make_bot("cautious", THREE)
    learners = table_of([bot], [0, LEARNER_SEAT, 0])
    bots = table_of([bot], [0, 0, 0])
    for table in (learners, bots):
        table.deal(np.arange(len(DEALS)), DEALS)
        table.play_on()
    while learners.waiting.any():
        rows = np.flatnonzero(learners.waiting)
        actions = bot.act(learners.views(rows), learners.legal(rows), learners.decision_seeds(rows))
        assert learners.step(rows, actions).all()
        learners.play_on()
    assert learners.states.tobytes() == bots.states.tobytes()


def test_an_illegal_action_of_a_learner_changes_nothing() -> None:
    table = table_of([], LEARNER_SEAT, 2)
    table.deal([0, 1], [1, 2])
    before = table.states.copy()
    taken = table.step([0, 1], [sleuth.num_actions(THREE) - 1, sleuth.parse_action("exchange", 3)])
    assert taken.tolist() == [False, True]
    assert table.states[0].tobytes() == before[0].tobytes()
    assert table.decisions.sum(axis=1).tolist() == [0, 1]
    assert table.last_actions.tolist() == [-1, sleuth.parse_action("exchange", 3)]


def test_opponents_can_be_exchanged_in_the_middle_of_a_game() -> None:
    first = Named("first")
    second = Named("second")
    table = table_of([first, second], [0, 0, 0], 1)
    table.deal(0, 5)
    table.play_round()
    asked = len(first.seats)
    table.seats[0] = [1, 1, 1]
    table.play_on()
    assert len(first.seats) == asked == 1
    assert len(second.seats) == table.decisions[0].sum() - 1


def test_a_bots_illegal_action_is_an_error_in_the_games_words() -> None:
    table = table_of([Fixed(sleuth.parse_action("pass", 3))], [0, 0, 0], 1)
    table.deal(0, 1)
    with pytest.raises(IllegalAction, match=r"bot 'fixed' in seat \d of game 0 .* \(pass\)"):
        table.play_on()
    assert not table.decisions.any()


def test_a_bots_action_out_of_range_is_an_error() -> None:
    table = table_of([Fixed(-1)], [0, 0, 0], 1)
    table.deal(0, 1)
    with pytest.raises(IllegalAction, match=r"bot 'fixed'.*from 0 to 447, got -1"):
        table.play_on()


def test_views_are_of_the_actor_or_of_the_seat_asked_for() -> None:
    table = table_of([], LEARNER_SEAT)
    rows = np.arange(len(DEALS))
    table.deal(rows, DEALS)
    assert (table.views(rows)["seat"] == table.actors).all()
    assert (table.views(rows, 2)["seat"] == 2).all()
    assert (table.views(rows, 2)["hand"] == table.states["hands"][:, 2]).all()


def test_the_bots_random_bits_are_not_those_that_dealt_the_cards() -> None:
    table = table_of([], LEARNER_SEAT, 1)
    table.deal(0, 5)
    dealing = set()
    generator = 5
    for _ in range(200):
        generator = (generator + 0x9E3779B97F4A7C15) % 2**64
        dealing.add(generator)
    bits = []
    for decision in range(100):
        table.decisions[0] = decision
        bits.append(int(table.decision_seeds(np.array([0]))[0]))
    assert len(set(bits)) == 100
    assert not dealing & set(bits)


# --- matches ---


def test_copies_of_one_bot_win_exactly_their_fair_share() -> None:
    result = play_match(sleuth, THREE, [Named("a"), Named("b"), Named("c")], 20)
    assert result.rotations == 3
    assert result.nobody_won == 0
    for entry in result.entries:
        assert entry.win_share == pytest.approx(entry.fair_share)
        assert entry.mean_reward == pytest.approx(0)
        assert entry.win_low < entry.fair_share < entry.win_high


def test_copies_of_a_random_bot_win_equally_often() -> None:
    result = play_match(sleuth, THREE, [Named("a", "random"), Named("b", "random"), Named("c", "random")], 200)
    assert len({entry.wins for entry in result.entries}) == 1
    assert sum(entry.win_share for entry in result.entries) + result.nobody_won == pytest.approx(1)


def test_everybody_sits_in_every_seat_equally_often() -> None:
    options = Options(num_players=4, max_turns=1)
    bots = [Named(name, "cautious", options) for name in "abcd"]
    play_match(sleuth, options, bots, 6)
    for bot in bots:
        counts = np.bincount(bot.seats, minlength=4)
        assert (counts > 0).all()


def test_rotations_that_repeat_a_table_are_left_out() -> None:
    assert [num_rotations(seats) for seats in ("aaa", "abab", "abb", "abcd", "aabaab")] == [1, 2, 3, 4, 3]
    assert play_match(sleuth, THREE, ["sheet", "sheet", "sheet"], 4).games == 4


def test_a_match_depends_on_its_seed_alone() -> None:
    seats = ["sheet", "random", "cautious"]
    first, again, other = (play_match(sleuth, THREE, seats, 15, seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize("batch_size", [1, 7, 45])
def test_a_match_does_not_depend_on_the_batch_size(batch_size: int) -> None:
    seats = ["sheet", "random", "cautious"]
    assert play_match(sleuth, THREE, seats, 15, 3, batch_size=batch_size) == play_match(sleuth, THREE, seats, 15, 3)


def test_the_same_bot_in_two_seats_is_one_entry() -> None:
    result = play_match(sleuth, THREE, ["sheet", "random", "random"], 30, seed=1)
    assert [(entry.name, entry.seats) for entry in result.entries] == [("sheet", 1), ("random", 2)]
    assert [entry.fair_share for entry in result.entries] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert sum(entry.wins for entry in result.entries) + result.nobody_won * result.games == pytest.approx(result.games)


def test_different_bots_of_one_name_are_different_entries() -> None:
    result = play_match(sleuth, THREE, [Named("twin"), Named("twin"), Named("other")], 1)
    assert result.seats == ("twin", "twin #2", "other")


def test_the_sheet_bot_beats_random_bots_and_accuses_rightly() -> None:
    sheet, random = play_match(sleuth, THREE, ["sheet", "random", "random"], 40, seed=2).entries
    assert sheet.win_low > 0.6
    assert sheet.counts["wrong_accusations"] == 0
    assert random.counts["wrong_accusations"] > 1


def test_a_win_is_the_first_place_where_more_are_played_for() -> None:
    result = play_match(sleuth, Options(num_players=4, winners=3), ["sheet", "sheet", "cautious", "cautious"], 10)
    assert sum(entry.wins for entry in result.entries) == result.games
    assert sum(entry.mean_reward * entry.seats for entry in result.entries) == pytest.approx(0, abs=1e-9)


def test_truncated_games_are_counted_and_won_by_nobody() -> None:
    result = play_match(sleuth, Options(num_players=3, max_turns=2), ["sheet", "cautious", "cautious"], 5)
    assert result.truncated == result.nobody_won == 1
    assert result.counts["turns"] == 2
    assert [entry.win_share for entry in result.entries] == [0, 0]


def test_progress_counts_every_game_once() -> None:
    finished: list[int] = []
    result = play_match(sleuth, THREE, ["sheet", "random", "random"], 20, progress=finished.append, batch_size=16)
    assert sum(finished) == result.games == 60


def test_a_result_survives_json() -> None:
    result = play_match(sleuth, THREE, ["sheet", "random", "random"], 3, seed=9).as_dict()
    read = json.loads(json.dumps(result))
    assert read["options"]["num_players"] == 3
    assert (read["game"], read["seed"], read["deals"], read["rotations"], read["games"]) == ("sleuth", 9, 3, 3, 9)
    assert read["seats"] == ["sheet", "random", "random"]
    assert read["entries"][0]["name"] == "sheet"


@pytest.mark.parametrize(
    ("seats", "deals", "seed", "message"),
    [
        (["sheet", "sheet"], 1, 0, "needs 3 seats, got 2"),
        (3, 1, 0, "seats must be a list of 3, got 3"),
        ("sheet", 1, 0, "seats must be a list of 3, got 'sheet'"),
        (["sheet", "sheet", "sheet"], 0, 0, "num_deals must be an integer from 1 to .*, got 0"),
        (["sheet", "sheet", "sheet"], 1, -1, "seed must be an integer from 0"),
        (["sheet", "sheet", "sheet"], 1, 2**64, "seed must be an integer from 0"),
    ],
)
def test_a_match_that_cannot_be_played_is_refused(seats: list[str], deals: int, seed: int, message: str) -> None:
    with pytest.raises(MatchError, match=message):
        play_match(sleuth, THREE, seats, deals, seed)


def test_an_evaluation_is_a_match_against_each_baseline_over_the_same_deals() -> None:
    results = evaluate(sleuth, THREE, "sheet", ["random", "sheet"], 10, seed=1)
    assert [result.seats for result in results] == [("sheet", "random", "random"), ("sheet", "sheet #2", "sheet #2")]
    assert results[0] == play_match(sleuth, THREE, ["sheet", "random", "random"], 10, seed=1)
    assert results[1].entries[0].win_share == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"names": {"a": 1, "b": 2, "c": 3}}, "names must be a list of 3, got {'a': 1"),
        ({"names": [1, 2, 3]}, "names must be texts, got [1, 2, 3]"),
        ({"progress": 3}, "progress must be a function of a number of games, or None, got 3"),
    ],
    ids=str,
)
def test_what_a_match_is_told_with_is_checked_before_it_is_played(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(MatchError, match=re.escape(message)):
        play_match(sleuth, THREE, ["random"] * 3, 10**6, **wrong)


def test_seats_that_are_of_no_bot_and_no_learner_are_refused() -> None:
    table = Table(sleuth, THREE, 1, [make_bot("random", THREE)])
    table.deal(0, 1)
    table.seats[:] = -5
    with pytest.raises(MatchError, match="seats must be numbers of bots, or -1 for learners, got -5"):
        table.play_on()


def test_a_list_of_players_may_be_an_array() -> None:
    env = SoloEnv(num_players=3, opponents=np.array(["random", "sheet"]))
    assert [bot.name for bot in env.table.bots] == ["random", "sheet"]


# --- games that are saved ---


def test_every_game_that_is_over_is_saved_once_with_those_who_played_it() -> None:
    saved: dict[int, tuple[str, list[str]]] = {}

    def save(number: int, text: str, players: list[str]) -> None:
        assert number not in saved
        saved[number] = text, players

    seats = ["sheet", "random", "cautious"]
    result = play_match(sleuth, THREE, seats, 5, 3, batch_size=4, save=save)
    assert result == play_match(sleuth, THREE, seats, 5, 3)
    assert sorted(saved) == list(range(15))
    won = dict.fromkeys(seats, 0)
    first_states = []
    for number, (text, players) in sorted(saved.items()):
        assert players == np.roll(seats, number % 3).tolist()
        record = sleuth.parse_game(text)
        assert record.last_state["actor"] < 0
        for seat in np.flatnonzero(record.last_state["place"]):
            won[players[seat]] += 1
        first_states.append(record.first_state.tobytes())
    assert won == {entry.name: round(entry.win_share * 15) for entry in result.entries}
    # A deal is that of all its rotations, and of no other deal.
    assert [first_states.index(state) // 3 for state in first_states] == [number // 3 for number in range(15)]


@pytest.mark.parametrize("game", ["sleuth", "holmes"])
def test_saved_games_are_the_same_by_any_number_of_workers(game: str, tmp_path: Path) -> None:
    bots = list(load_game(game).BOTS)[:3]
    words = ["match", *bots, "--game", game, "--games", "9", "--seed", "2", "--options", "max_turns=60"]
    for workers in (1, 2):
        assert main([*words, "--workers", str(workers), "--save-games", str(tmp_path / str(workers))]) == 0
    one, two = (sorted((tmp_path / name).iterdir()) for name in "12")
    assert [path.name for path in one] == [f"{number}.txt" for number in range(1, 10)]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert one[1].read_text().endswith(f"# players: {bots[2]},{bots[0]},{bots[1]}\n")
    assert main(["replay", str(one[1]), "--reveal"]) == 0


def test_a_folder_that_is_there_and_one_of_a_match_that_cannot_be_played_stay_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there").mkdir()
    for name, bot, why in (
        ("there", "sheet", "there exists and was left as it is: choose another name for --save-games"),
        ("none/new", "sheet", "none is not a writable folder"),
        ("new", "nobody", "there is no bot 'nobody'"),
    ):
        assert main(["match", "sheet", "sheet", bot, "--games", "1", "--save-games", str(tmp_path / name)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert why in line
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
