"""Drawings for the terminal and as images, of positions of the golden games."""

import re
from pathlib import Path

import numpy as np
import pytest

from sleuth_env.doors import ArrayError
from sleuth_env.sleuth.cards import GEMS, NUM_GEMS, NUM_QUESTIONS, PAIRS, Options, make_rules, question_gems
from sleuth_env.sleuth.clues import read_sheet
from sleuth_env.sleuth.drawing import COLUMNS, draw_ansi, draw_belief, draw_rgb
from sleuth_env.sleuth.drawing.scene import HELD, MISSING, OPEN, ROWS, TABLE, YOURS, gem_at, make_scene
from sleuth_env.sleuth.notation import gem_name, parse_question
from sleuth_env.sleuth.state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    EXCHANGE_EVENT,
    FINAL_EVENT,
    FINISHED,
    IN,
    OUT,
    RIGHT,
    RIGHT_EVENT,
    WRONG_EVENT,
    deal,
    new_states,
)
from sleuth_env.sleuth.transcript import parse_game
from sleuth_env.sleuth.view import VIEW, view
from tests.support.strategies import KNOWING, LIVELY, PLAYER_COUNTS, RASH
from tests.support.substitution import play

GAMES = Path(__file__).parent / "games"
FILES = sorted(set(GAMES.glob("*.txt")) - set(GAMES.glob("holmes_*.txt")))
each_game = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
each_count = pytest.mark.parametrize("num_players", range(3, 8))
LONG = {
    "missing": 2,
    "winners": 3,
    "announce_result": False,
    "double_interrogation": True,
    "super_sleuth": True,
    "accuse": "own_turn",
    "last_survivor_wins": True,
}


def seen(options, state, seat):
    """Return what a seat knows of a state, VIEW [1]."""
    states = np.zeros(1, state.dtype)
    views = np.zeros(1, VIEW)
    states[0] = state
    view(make_rules(options), states, np.array([seat]), views)
    return views


def dealt(options, seed=1):
    states = new_states(1)
    deal(make_rules(options), states, np.array([seed], np.uint64))
    return seen(options, states[0], 0)[0]


def positions(file, every=7):
    """Yield options and views of a golden game.

    They are those of every seventh position and the last, from seats in turn.
    """
    game = parse_game(file.read_text())
    for t in [*range(0, len(game.states), every), len(game.states) - 1]:
        yield game.options, seen(game.options, game.states[t], t % game.options.num_players)[0]


def last_view(name, seat=0):
    game = parse_game(next(file for file in FILES if file.stem == name).read_text())
    return game.options, seen(game.options, game.last_state, seat)[0]


# --- what is shown ---


@each_game
def test_every_gem_is_marked_as_the_sheet_has_it(file):
    for options, seat_view in positions(file):
        sheet = read_sheet(make_rules(options), seat_view.reshape(1))[0]
        scene = make_scene(options, seat_view)
        missing = options.num_players - 1
        for gem, square in enumerate(scene.squares):
            bit = 1 << gem
            assert (square.kind == YOURS) == bool(seat_view["hand"] & bit)
            assert (square.kind == TABLE) == bool(seat_view["table"] & bit)
            assert (square.kind == MISSING) == bool(sheet["has"][missing] & bit)
            assert (square.kind == HELD) == any(sheet["has"][h] & bit for h in range(missing))
            if square.kind == HELD:
                assert sheet["has"][square.holder - 1] & bit
            if square.kind == OPEN:
                assert square.possible == tuple(bool(sheet["can"][h] & bit) for h in range(options.num_players))
                assert sum(square.possible) > 1


def test_the_squares_of_the_sheet_are_the_36_gems():
    assert sorted(gem_at(row, column) for row in range(9) for column in range(4)) == list(range(NUM_GEMS))
    assert gem_name(gem_at(0, 1)) == "blue-diamond-solitaire"


@each_count
def test_the_drawing_shows_own_and_open_cards_where_they_are(num_players):
    options = Options(num_players=num_players)
    seat_view = dealt(options)
    lines = {line[:20].strip(): line[20:56] for line in draw_ansi(options, seat_view).splitlines()}
    for gem, (colour, kind, type_) in enumerate(GEMS):
        column = ("red", "blue", "green", "yellow").index(colour)
        mark = lines[f"{kind} {type_}"][9 * column : 9 * column + 9].strip()
        place = (
            "you"
            if seat_view["hand"] >> gem & 1
            else "table"
            if seat_view["table"] >> gem & 1
            else "123456"[: num_players - 1] + "?"
        )
        assert mark == place


@each_game
def test_everybodys_search_cards_and_answers_are_drawn(file):
    for options, seat_view in positions(file, every=20):
        text = draw_ansi(options, seat_view)
        scene = make_scene(options, seat_view)
        for seat in scene.seats:
            (line,) = [
                line
                for line in text.splitlines()
                if line[2:].startswith(f"{seat.label:<4}{seat.player}") and seat.standing in line
            ]
            assert line.split()[-len(seat.search_cards) :] == seat.search_cards if seat.search_cards else True
            answers = [line for line in text.splitlines() if line.startswith(f"{seat.label:<4}{seat.player}")][-1][13:]
            known = "".join(str(count) for count in seat.answers if count >= 0)
            assert re.sub(r"[ ·]", "", answers) == known


def test_the_last_events_are_drawn_newest_first():
    options, seat_view = last_view("unfinished_offer")
    text = draw_ansi(options, seat_view)
    scene = make_scene(options, seat_view)
    assert scene.events
    places = [text.index(event) for event in scene.events]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "seat", "said"),
    [
        ("three_players", 2, "The game is over: you win"),
        ("three_players", 1, "The game is over: +1 wins"),
        ("three_players", 0, "Missing: "),
        ("nobody_wins", 0, "The game is over: nobody wins"),
        ("truncated", 0, "The game was stopped after turn 15: nobody wins"),
        ("three_winners", 2, "The game is over: 1st you, 2nd +1, 3rd +4"),
        ("results_secret", 2, "the others' results are not announced"),
        ("results_secret", 1, "You are 1st"),
        ("last_survivor", 2, "The game is over: you win"),
        ("unfinished_offer", 0, "You are offered to accuse"),
        ("unfinished_offer", 1, "everybody in may accuse"),
        ("unfinished_accusation", 0, "Accused so far: "),
    ],
)
def test_what_is_decided_and_how_it_ended_is_said(name, seat, said):
    options, seat_view = last_view(name, seat)
    assert said in " ".join(make_scene(options, seat_view).status)
    assert said in draw_ansi(options, seat_view)


def ended(options, places, standings, truncated=0, seat=0):
    """Return how a game that ended so looks to a seat, one VIEW record."""
    states = new_states(1)
    deal(make_rules(options), states, np.array([1], np.uint64))
    state = states[0]
    state["phase"] = FINISHED
    state["actor"] = -1
    state["truncated"] = truncated
    state["num_right"] = standings.count(RIGHT)
    state["place"][: len(places)] = places
    state["standing"][: len(standings)] = standings
    for k, standing in enumerate(standings):
        state["accused"][k] = {IN: 0, OUT: 1, RIGHT: state["missing_gems"]}[standing]
    return seen(options, state, seat)[0]


@pytest.mark.parametrize(("seat", "said"), [(0, "+1 wins"), (1, "you win"), (2, "+2 wins")])
def test_a_survivor_wins_although_results_are_not_announced(seat, said):
    options = Options(num_players=3, winners=2, announce_result=False, last_survivor_wins=True)
    status = make_scene(options, ended(options, [0, 1, 0], [OUT, IN, OUT], seat=seat)).status
    assert status[0] == f"The game is over: {said}"
    assert not any("not announced" in line for line in status)


def test_a_game_that_was_stopped_is_not_over_because_one_player_was_right():
    options = Options(num_players=4, winners=2, last_survivor_wins=True, max_turns=1)
    status = make_scene(options, ended(options, [0, 1, 0, 0], [IN, RIGHT, IN, OUT], truncated=1)).status
    assert status[0] == "The game was stopped after turn 1: +1 wins"


def test_nobody_has_the_turn_in_a_finished_game():
    options, seat_view = last_view("three_players")
    assert seat_view["phase"] == FINISHED
    assert not any(seat.has_turn for seat in make_scene(options, seat_view).seats)


# --- how it is drawn ---


def widest(options, seat_view):
    return max(len(line) for line in draw_ansi(options, seat_view).splitlines())


def possible_events(options):
    """Yield every kind of event with every question and card.

    The viewer is the asker, the target, or neither.
    """
    most = [min(question_gems(q).bit_count(), options.hand_size) for q in range(NUM_QUESTIONS)]
    for asker, target in (
        (0, options.num_players - 1),
        (options.num_players - 1, 0),
        (options.num_players - 2, options.num_players - 1),
    ):
        yield from ((ASK_EVENT, asker, target, q, card, most[q]) for q, card in PAIRS)
        yield from ((FINAL_EVENT, asker, target, q, -1, most[q]) for q in range(NUM_QUESTIONS))
        yield from ((kind, asker, -1, -1, -1, -1) for kind in (EXCHANGE_EVENT, RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT))


@each_game
def test_no_line_is_longer_than_a_terminal_of_120_columns(file):
    for options, seat_view in positions(file):
        assert widest(options, seat_view) <= COLUMNS < 120


@each_game
@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (100, 30), (130, 24)])
def test_the_drawing_and_a_prompt_fit_a_small_terminal(file, columns, lines):
    for options, seat_view in positions(file):
        drawn = draw_ansi(options, seat_view, columns=columns, lines=lines).splitlines()
        assert max(map(len, drawn)) < columns
        # The search cards and the prompt come below.
        assert len(drawn) + 2 <= lines


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("player", [LIVELY, RASH, KNOWING], ids=["lively", "rash", "knowing"])
def test_so_it_does_whatever_happens_and_with_however_many_players(players, player):
    options = Options(players, winners=2, double_interrogation=True, announce_result=False, last_survivor_wins=True)
    rules = make_rules(options)
    views = np.zeros(1, VIEW)
    for states in play(options, 1, player).states[::5]:
        for seat in range(players):
            view(rules, states, np.array([seat]), views)
            drawn = draw_ansi(options, views[0], columns=80, lines=24).splitlines()
            assert max(map(len, drawn)) < 80
            assert len(drawn) + 2 <= 24


@each_game
def test_a_small_drawing_shows_every_square_answer_and_search_card(file):
    for options, seat_view in positions(file, every=20):
        scene = make_scene(options, seat_view)
        lines = draw_ansi(options, seat_view, columns=80, lines=24).splitlines()
        wide = draw_ansi(options, seat_view).splitlines()
        rows = {line[:18].strip(): line[18:50].split() for line in lines}
        known = {line[:20].strip(): line[20:56].split() for line in wide}
        for kind, type_ in ROWS:
            assert rows[f"{kind} {type_}"] == known[f"{kind} {type_}"]
        for seat, line in zip(
            scene.seats, lines[lines.index(next(r for r in lines if "dpo" in r)) + 1 :], strict=False
        ):
            counts = ["·" if count < 0 else str(count) for count in seat.answers.tolist()]
            assert "".join(line[4:].split()) == "".join(counts)
        if options.num_players < 5:
            assert all(any(card in line for line in lines) for seat in scene.seats for card in seat.search_cards)


@each_count
def test_no_event_makes_a_longer_line_and_the_longest_one_fills_it(num_players):
    options = Options(num_players=num_players)
    events = list(possible_events(Options(num_players=num_players)))
    seat_view = dealt(options)
    for at in range(0, len(events), num_players):
        for row, event in enumerate(events[at : at + num_players]):
            seat_view["events"][row] = event
        drawn = draw_ansi(options, seat_view).splitlines()
        assert max(map(len, drawn)) <= COLUMNS
        # Whole, and on one line each.
        assert all(
            sum(line.endswith(event) for line in drawn) == 1 for event in set(make_scene(options, seat_view).events)
        )
    longest = parse_question("diamond-solitaire")
    seat_view["events"][:1] = (ASK_EVENT, 1, 0, longest, longest, 4)
    (line,) = [
        line
        for line in draw_ansi(options, seat_view).splitlines()
        if "asked you diamond-solitaire with diamond-solitaire: 4" in line
    ]
    assert len(line) == COLUMNS


def test_no_line_is_longer_with_all_options_and_the_longest_names():
    options = Options(num_players=4, **LONG)
    seat_view = dealt(options)
    question = parse_question("diamond-solitaire")
    seat_view["events"][:4] = [1, 0, 2, question, question, 4]
    free = [gem for gem in range(NUM_GEMS) if not (seat_view["hand"] | seat_view["table"]) >> gem & 1]
    longest = sorted(free, key=lambda gem: -len(gem_name(gem)))
    seat_view["accused"] = 1 << longest[0] | 1 << longest[1]
    seat_view["missing_gems"] = 1 << longest[0] | 1 << longest[2]
    assert widest(options, seat_view) <= COLUMNS
    assert draw_rgb(options, seat_view).shape == draw_rgb(options, dealt(options, 2)).shape


@each_game
def test_colours_change_nothing_but_colours(file):
    for options, seat_view in positions(file, every=30):
        plain = draw_ansi(options, seat_view)
        coloured = draw_ansi(options, seat_view, colour=True)
        assert "\x1b" not in plain
        assert "\x1b[31m" in coloured
        bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        assert [line.rstrip() for line in bare.splitlines()] == plain.splitlines()


@each_game
def test_an_image_has_one_shape_and_is_the_same_every_time(file):
    images = []
    for options, seat_view in positions(file, every=100):
        images.append(draw_rgb(options, seat_view))
        assert images[-1].dtype == np.uint8
        assert images[-1].shape == images[0].shape
    assert np.array_equal(draw_rgb(options, seat_view), images[-1])


@each_count
def test_the_shape_of_an_image_depends_on_the_players_only(num_players):
    plain = Options(num_players=num_players)
    other = Options(num_players=num_players, winners=2, announce_result=False, super_sleuth=True, max_turns=10)
    assert draw_rgb(plain, dealt(plain)).shape == draw_rgb(other, dealt(other)).shape


def test_the_image_shows_what_changes():
    options = Options(num_players=3)
    seat_view = dealt(options)
    before = draw_rgb(options, seat_view)
    seat_view["answers"][1, 0] = 3
    assert not np.array_equal(before, draw_rgb(options, seat_view))


def test_a_drawing_leaves_the_view_as_it_is():
    options, seat_view = last_view("seven_players")
    before = seat_view.tobytes()
    draw_ansi(options, seat_view)
    draw_rgb(options, seat_view)
    assert seat_view.tobytes() == before


@pytest.mark.parametrize("draw", [draw_ansi, draw_belief, draw_rgb])
def test_a_state_cannot_be_drawn(draw):
    states = new_states(1)
    with pytest.raises(ArrayError, match="view must be one VIEW record"):
        draw(Options(), states[0])
