"""A game of several people and of bots, without a network: what each seat is sent, and when."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sleuth_env import holmes, sleuth
from sleuth_env.web.messages import PERSON
from sleuth_env.web.room import RefusedError, Room
from tests.support.web import at_random

SLEUTH = [
    sleuth.Options(3),
    sleuth.Options(4, missing=2, double_interrogation=True, offer_order="clockwise"),
    sleuth.Options(5, winners=3, announce_result=False),
    sleuth.Options(6, super_sleuth=True, accuse="own_turn", last_survivor_wins=True),
    sleuth.Options(7, max_turns=9),
]
HOLMES = [
    holmes.Options(3, cases=1),
    holmes.Options(4, cases=1, fast_play=True, after_alibi="left_of_alibi"),
    holmes.Options(5, cases=1, must_arrest=True, new_case_location="city"),
    holmes.Options(6, max_turns=30, guilty_hand="discarded"),
    holmes.Options(8, max_turns=20, reward="case"),
]
GAMES = [(sleuth, options) for options in SLEUTH] + [(holmes, options) for options in HOLMES]
each_game = pytest.mark.parametrize(("game", "options"), GAMES, ids=[str(options) for _, options in GAMES])


class Told:
    """A room, and all that it tells."""

    def __init__(self, game: Any, options: Any, people: Sequence[int], seed: int = 5, **settings: Any) -> None:
        bot = game.make_bot(game.DEFAULT_BOT, options)
        seats = [PERSON if seat in people else bot.name for seat in range(options.num_players)]
        players = [None if seat in people else bot for seat in range(options.num_players)]
        self.room = Room(game, options, seats, players, seed, **settings)
        self.sent: dict[int, list[str]] = {seat: [] for seat in people}
        self.texts: list[str] = []
        self.room.tell = lambda seat, text: self.sent[seat].append(text)
        self.room.keep = self.texts.append
        for seat in people:
            self.sent[seat].append(self.room.listen(seat))

    def play(self, choose: Callable[[Any], str], most: int = 10_000) -> None:
        """Play on, for a number of decisions of people, or to the end."""
        for _ in range(most):
            self.room.play_on()
            if self.room.finished:
                return
            seat = self.room.sitting.actor
            table = json.loads(self.sent[seat][-1])
            self.room.act(seat, table["decision"], choose(table))

    def tables(self, seat: int) -> list[Any]:
        return [json.loads(text) for text in self.sent[seat]]


@each_game
def test_people_and_bots_play_to_the_end(game: Any, options: Any) -> None:
    people = sorted({0, options.num_players // 2})
    told = Told(game, options, people)
    told.play(at_random(1))
    room = told.room
    assert room.finished
    assert room.text == room.sitting.text == told.texts[-1]
    assert game.parse_game(room.text).last_state == room.sitting.table.states[0]
    for seat in people:
        tables = told.tables(seat)
        decisions = [table["decision"] for table in tables if table["decision"] is not None]
        assert decisions == sorted(decisions)
        assert set(decisions) == set(range(int(room.sitting.table.decisions[0, seat])))
        assert tables[-1]["ended"]["deal"] == game.reveal(options, room.sitting.table.states[0])
        assert all(table["ended"] is None for table in tables[:-1])


@each_game
def test_a_person_alone_is_shown_one_table_for_each_decision(game: Any, options: Any) -> None:
    told = Told(game, options, [1])
    told.play(at_random(2), 12)
    tables = told.tables(1)
    # The first one may show the deal.
    assert all(table["decision"] is not None or table["ended"] for table in tables[1:])
    assert len({table["decision"] for table in tables[1:]}) == len(tables[1:])


@each_game
def test_a_log_holds_all_news_of_a_seat(game: Any, options: Any) -> None:
    told = Told(game, options, [0, 2])
    told.play(at_random(3), 15)
    record = game.parse_game(told.room.text)
    for seat in (0, 2):
        log: list[str] = []
        views = np.zeros(len(record.states), game.VIEW)
        seats = np.full(len(views), seat, np.int64)
        game.view(game.make_rules(options), record.states.copy(), seats, views)
        for at, action in enumerate(record.actions.tolist()):
            log += game.telling.news(options, record.states[at + 1], action, views[at + 1], views[at])
        assert json.loads(told.room.message(seat))["log"] == log


@each_game
def test_a_table_is_what_the_view_says(game: Any, options: Any) -> None:
    told = Told(game, options, [1])
    told.play(at_random(4), 6)
    room = told.room
    room.play_on()
    table = json.loads(room.message(1))
    seen = room.sitting.view(1)
    assert table["facts"] == json.loads(json.dumps(game.wording.facts(options, seen)))
    assert table["board"] == json.loads(json.dumps(game.board.sheet(options, seen)))
    assert table["prompt"] == game.telling.prompt(options, seen)
    assert table["legal"] == list(room.sitting.legal())
    assert [player["label"] for player in table["players"]] == game.wording.seat_labels(options)
    assert {table["title"], table["game"]} == {game.board.TITLE, game.NAME}
    doubtful = {
        name: game.telling.doubt(options, seen, action)
        for name, action in room.sitting.legal().items()
        if game.telling.doubt(options, seen, action)
    }
    assert table["doubts"] == doubtful


@each_game
def test_nobody_is_sent_what_they_have_been_sent_already(game: Any, options: Any) -> None:
    told = Told(game, options, [0, 1])
    told.play(at_random(5), 20)
    for sent in told.sent.values():
        assert all(one != other for one, other in pairwise(sent))


@each_game
def test_a_game_that_is_taken_up_again_shows_the_same_and_goes_on(game: Any, options: Any) -> None:
    told = Told(game, options, [0, 2])
    told.play(at_random(6), 9)
    again = Told(game, options, [0, 2], record=game.parse_game(told.texts[-1]))
    for seat in (0, 2):
        assert again.room.message(seat) == told.room.message(seat)
    for one in (told, again):
        one.play(at_random(7), 5)
    assert again.room.text == told.room.text


@each_game
def test_what_cannot_be_done_is_refused_and_changes_nothing(game: Any, options: Any) -> None:
    told = Told(game, options, [0, 2])
    told.play(at_random(8), 4)
    room = told.room
    room.play_on()
    actor = room.sitting.actor
    other = 2 if actor == 0 else 0
    table = json.loads(room.message(actor))
    number = table["decision"]
    name = table["legal"][0]
    before = (room.text, room.message(0), room.message(2), [len(sent) for sent in told.sent.values()])
    wrong: list[tuple[int, Any, Any]] = [
        (other, number, name),
        (actor, number + 1, name),
        (actor, number - 1, name),
        (actor, None, name),
        (actor, True, name),
        (actor, float(number), name),
        (actor, str(number), name),
        (actor, number, "ask +1 nobody"),
        (actor, number, ""),
        (actor, number, None),
        (actor, number, 0),
        (actor, number, [name]),
        (actor, number, {name: 1}),
        (actor, number, name.upper()),
        (actor, number, "x" * 100_000),
    ]
    for seat, decision, action in wrong:
        with pytest.raises(RefusedError) as caught:
            room.act(seat, decision, action)
        assert len(str(caught.value)) < 200
        assert (room.text, room.message(0), room.message(2), [len(s) for s in told.sent.values()]) == before
    room.act(actor, number, name)
    with pytest.raises(RefusedError):
        room.act(actor, number, name)


def test_a_game_that_is_over_takes_no_decision() -> None:
    told = Told(sleuth, sleuth.Options(3, max_turns=1), [0])
    told.play(at_random(9))
    with pytest.raises(RefusedError, match="the game is over"):
        told.room.act(0, 0, "exchange")


def test_for_a_seat_to_which_nobody_listens_no_message_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(sleuth, sleuth.Options(3), [0, 1])
    told.room.leave(1)
    before = len(told.sent[1])
    monkeypatch.setattr(told.room, "_picture", lambda seat, seen, decides: f"{seat}")
    told.room.play_on()
    for _ in range(4):
        seat = told.room.sitting.actor
        number = int(told.room.sitting.table.decisions[0, seat])
        legal = list(told.room.sitting.legal())
        told.room.act(seat, number, "pass" if "pass" in legal else legal[0])
        told.room.play_on()
    assert len(told.sent[1]) == before


def test_an_offer_is_shown_between_two_tables_without_it_where_others_are_asked_too() -> None:
    told = Told(sleuth, sleuth.Options(4), [0, 1, 2, 3])
    told.play(at_random(11, rash=0), 60)
    offers = 0
    for seat in range(4):
        tables = told.tables(seat)
        for before, table, after in zip(tables, tables[1:], tables[2:], strict=False):
            if table["decision"] is not None and table["unsaid"] == "pass":
                offers += 1
                for quiet in (before, after):
                    assert quiet["decision"] is None
                    assert quiet["log"] == table["log"]
                    assert quiet["board"] == table["board"]
    assert offers > 20


def test_odds_are_those_of_the_view() -> None:
    for game, options in (GAMES[0], GAMES[5]):
        told = Told(game, options, [1])
        told.play(at_random(12), 4)
        answer = json.loads(told.room.odds(1))
        seen = told.room.sitting.view(1)
        assert answer["type"] == "odds"
        assert answer["odds"] == json.loads(json.dumps(game.board.odds(options, seen)))
        assert answer["questions"] == json.loads(json.dumps(game.board.questions(options, seen)))


def test_a_game_is_the_same_however_often_it_is_shown() -> None:
    options = sleuth.Options(3)
    texts = []
    for stepwise in (False, True):
        told = Told(sleuth, options, [1], seed=8, stepwise=stepwise)
        told.play(at_random(13))
        texts.append(told.room.text)
    assert texts[0] == texts[1]
