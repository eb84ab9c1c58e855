"""Game texts, and the revealed state."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth_env.doors import ArrayError
from sleuth_env.sleuth import notation
from sleuth_env.sleuth.cards import NUM_GEMS, NUM_SEARCH_CARDS, Options, make_rules
from sleuth_env.sleuth.notation import NotationError, parse_action
from sleuth_env.sleuth.rules import step
from sleuth_env.sleuth.state import STATE, deal, new_states
from sleuth_env.sleuth.telling import reveal
from sleuth_env.sleuth.transcript import MAX_TEXT, game_text, parse_game, result_text

each_count = pytest.mark.parametrize("num_players", range(3, 8))
GOLDEN = Path(__file__).parent / "games"
TEXT = (GOLDEN / "two_missing_gems.txt").read_text()
LINES = TEXT.splitlines()
REVEALED = (
    "missing",
    "hands",
    "table",
    "search_cards",
    "draw_pile",
    "discards",
    "turn",
    "phase",
    "in_contention",
    "winners",
    "turn_number",
)


def dealt(options, seed=1):
    states = new_states(1)
    deal(make_rules(options), states, np.array([seed], np.uint64))
    return states


def change(number, old, new):
    """Return the game text with one line changed; lines count from 1."""
    assert old in LINES[number - 1]
    return "\n".join([*LINES[: number - 1], LINES[number - 1].replace(old, new), *LINES[number:]]) + "\n"


# --- game texts ---


@pytest.mark.parametrize("seed", range(20))
@each_count
def test_a_deal_is_read_back_byte_for_byte(num_players, seed):
    options = Options(num_players=num_players)
    states = dealt(options, seed)
    game = parse_game(game_text(options, states, []))
    assert game.options == options
    assert game.states.tobytes() == states.tobytes()


def test_a_game_text_replays_to_the_same_states():
    game = parse_game(TEXT)
    states = np.frombuffer(bytearray(game.states[:1].tobytes()), STATE)
    for t, action in enumerate(game.actions):
        assert states.tobytes() == game.states[t].tobytes()
        taken = np.zeros(1, np.uint8)
        step(make_rules(game.options), states, np.array([action]), taken, np.zeros((1, 7)))
        assert taken[0]
    assert states.tobytes() == game.last_state.tobytes()


def test_every_beginning_of_a_game_is_a_game_text():
    game = parse_game(TEXT)
    for t in range(len(game.actions) + 1):
        again = parse_game(game_text(game.options, game.first_state, game.actions[:t]))
        assert again.states.tobytes() == game.states[: t + 1].tobytes()


def test_answers_comments_empty_lines_and_windows_line_ends_may_vary():
    bare = "\n\n".join(line.partition(" -> ")[0] + "  # so it was" for line in LINES)
    for text in (bare, TEXT.replace("\n", "\r\n"), TEXT.rstrip("\n")):
        assert parse_game(text).states.tobytes() == parse_game(TEXT).states.tobytes()


def test_only_a_fresh_deal_can_begin_a_game_text():
    game = parse_game(TEXT)
    with pytest.raises(NotationError, match="fresh deal"):
        game_text(game.options, game.states[3], game.actions[3:])
    with pytest.raises(ArrayError, match="first_state must be one STATE record"):
        game_text(game.options, game.states[:2], [])


def test_an_illegal_action_is_not_written():
    game = parse_game(TEXT)
    with pytest.raises(NotationError, match=r"action 0 \(pass\) is illegal"):
        game_text(game.options, game.first_state, [parse_action("pass", 3)])
    with pytest.raises(NotationError, match="no action is legal in a finished game"):
        game_text(game.options, game.first_state, [*game.actions, 0])


FIRST_ACTION = next(i for i, line in enumerate(LINES, 1) if ": ask" in line)
WRONG = {
    "another version": (
        change(1, "game 1", "game 2"),
        "line 1: this version of the format is unknown, only 1 can be read: 'sleuth game 2'",
    ),
    "not a game": (change(1, "sleuth", "chess"), "line 1: a game text starts with 'sleuth game 1': 'chess game 1'"),
    "an unknown option": (change(2, "missing", "mising"), "line 2: unknown option 'mising'; expected one of .*missing"),
    "an option out of range": (
        change(2, "missing=2", "missing=4"),
        "line 2: missing must be an integer from 1 to 3, got 4",
    ),
    "an option of another type": (
        change(2, "missing=2", "missing=two"),
        "line 2: missing must be an integer from 1 to 3, got 'two'",
    ),
    "a long number": (change(2, "missing=2", "missing=" + "9" * 5000), "line 2: missing must be an integer"),
    "an option twice": (change(2, "missing=2", "missing=2 missing=2"), "line 2: option missing is given twice"),
    "options that exclude each other": (
        change(2, "missing=2", "announce_result=False"),
        "line 2: announce_result=False needs winners > 1",
    ),
    "a wrong number of missing gems": (
        change(3, "missing: ", "missing: red-opal-pair "),
        "line 3: missing must have 2 cards, has 3",
    ),
    "a small hand": (change(4, LINES[3].split(" ")[2] + " ", ""), "line 4: hand player_0 must have 11 cards, has 10"),
    "a card twice": (
        change(5, LINES[4].split(" ")[2], LINES[3].split(" ")[2]),
        "line 5: .* is dealt twice, first in line 4",
    ),
    "a card that does not exist": (
        change(4, LINES[3].split(" ")[2], "pink-opal-pair"),
        "line 4: 'pink-opal-pair' is not a gem; expected .*opal-pair",
    ),
    "lines in another order": (change(4, "player_0", "player_1"), "line 4: expected 'hand player_0: ...'"),
    "a search card twice": (
        change(9, LINES[8].split(" ")[2], LINES[7].split(" ")[2]),
        "line 9: .* is dealt twice, first in line 8",
    ),
    "a pile with a card too few": (
        change(11, LINES[10].rpartition(" ")[2], ""),
        "line 11: pile must have 42 cards, has 41",
    ),
    "a first player who does not exist": (
        change(12, "player_", "player_9"),
        "line 12: the first player must be one of player_0, player_1, player_2",
    ),
    "a generator that is not a number": (
        change(13, "0x", "0xg"),
        "line 13: the generator must be 0x and 16 hexadecimal digits",
    ),
    "another player's action": (
        change(FIRST_ACTION, "player_", "player_1"),
        f"line {FIRST_ACTION}: expected 'player_.: ACTION', who decides here",
    ),
    "no action": (change(FIRST_ACTION, "ask", "tell"), f"line {FIRST_ACTION}: 'tell .* is not an action"),
    "an illegal action": (
        change(FIRST_ACTION, LINES[FIRST_ACTION - 1][10:], "pass"),
        f"line {FIRST_ACTION}: illegal action; legal here: one of ",
    ),
    "a wrong answer": (change(FIRST_ACTION, " -> ", " -> 1"), f"line {FIRST_ACTION}: the answer must be .*, not '1"),
    "a wrong result": (change(len(LINES), "wins", "loses"), f"line {len(LINES)}: the result must be 'player_0 wins'"),
    "a cut text": ("\n".join(LINES[:-1]), "the text ends where an action or 'result: player_0 wins' is expected"),
    "more after the result": (
        TEXT + "player_0: pass\n",
        f"line {len(LINES) + 1}: nothing may follow the result: 'player_0: pass'",
    ),
    "an action after the end": (
        change(len(LINES), "result", "player_0"),
        f"line {len(LINES)}: the game is finished .* expected 'result: ",
    ),
    "nothing": ("", "line 1: the text ends where 'sleuth game 1' is expected"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_game_text_is_refused_with_its_line_and_what_would_be_right(what):
    text, message = WRONG[what]
    with pytest.raises(NotationError, match=message) as caught:
        parse_game(text)
    assert len(str(caught.value)) < 1000


def test_the_first_player_must_be_the_one_that_the_options_name():
    options = Options(num_players=3, first_player="seat_0")
    text = game_text(options, dealt(options), [])
    with pytest.raises(NotationError, match="the first player must be one of player_0: 'first: player_1'"):
        parse_game(text.replace("first: player_0", "first: player_1"))


@pytest.mark.parametrize(
    "text",
    [
        None,
        3,
        b"sleuth game 1",
        "\0",
        "\ud800",
        "sleuth game 1\n" + "\u2028" * 1000,
        "#" * MAX_TEXT,
        "x" * (MAX_TEXT + 1),
        "\n" * MAX_TEXT,
    ],
)
def test_hostile_texts_are_refused(text):
    with pytest.raises(NotationError):
        parse_game(text)


def peak_of_reading(text):
    """Return the most memory that reading a text takes, in bytes per character, and the result."""
    tracemalloc.start()
    try:
        read = parse_game(text)
    except NotationError as error:
        read = error
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(text), read


def test_a_long_game_is_read_without_keeping_all_its_states():
    options = Options(num_players=3, max_turns=2**31 - 1, first_player="seat_0")
    actions = [parse_action("exchange", 3)] * 6000
    text = game_text(options, dealt(options), actions)
    peak, game = peak_of_reading(text)
    assert game.actions.tolist() == actions
    assert game.last_state["exchanges"][:3].tolist() == [2000] * 3
    assert game.states.nbytes / len(text) > 75
    assert peak < 20


@pytest.mark.parametrize("line", ["x", "xy", "#", ""])
def test_a_text_of_very_many_lines_is_refused_in_little_memory(line):
    peak, refused = peak_of_reading("sleuth game 1\n" + f"{line}\n" * (1_000_000 // (len(line) + 1)))
    assert isinstance(refused, NotationError)
    assert peak < 20


def test_the_moves_of_a_game_are_its_states_and_actions_in_order():
    game = parse_game(TEXT)
    moves = list(game.moves())
    assert [move.action for move in moves] == game.actions.tolist()
    assert b"".join(move.before.tobytes() for move in moves) + game.last_state.tobytes() == game.states.tobytes()
    assert game.first_state.tobytes() + b"".join(move.after.tobytes() for move in moves) == game.states.tobytes()


@given(st.integers(0, len(TEXT) - 1), st.integers(0, 40), st.text(max_size=20))
@settings(max_examples=150, deadline=None)
def test_a_damaged_text_is_read_or_refused_but_never_crashes(at, length, inserted):
    text = TEXT[:at] + inserted + TEXT[at + length :]
    try:
        game = parse_game(text)
    except NotationError as error:
        str(error).encode("utf-8")
    else:
        assert (
            parse_game(game_text(game.options, game.first_state, game.actions)).states.tobytes()
            == game.states.tobytes()
        )


@pytest.mark.parametrize("words", ["super_sleuth=true", "super_sleuth=True"])
def test_a_boolean_option_of_a_game_text_is_read_in_both_spellings(words):
    options = Options(num_players=3, super_sleuth=True)
    text = game_text(options, dealt(options), [])
    assert parse_game(text.replace("super_sleuth=True", words)).options == options


# --- the revealed state ---


def test_reveal_tells_the_whole_deal_in_names():
    options = Options(num_players=4, missing=2)
    revealed = reveal(options, dealt(options)[0])
    gems = revealed["missing"] + revealed["table"] + [gem for hand in revealed["hands"].values() for gem in hand]
    cards = (
        revealed["draw_pile"]
        + revealed["discards"]
        + [card for hand in revealed["search_cards"].values() for card in hand]
    )
    assert sorted(gems) == sorted(notation.gem_name(gem) for gem in range(NUM_GEMS))
    assert sorted(cards) == sorted(notation.search_card_name(card) for card in range(NUM_SEARCH_CARDS))
    assert list(revealed["hands"]) == ["player_0", "player_1", "player_2", "player_3"] == revealed["in_contention"]
    assert (revealed["phase"], revealed["winners"], revealed["turn_number"]) == ("turn", [], 1)


def test_reveal_gives_plain_values_that_json_takes():
    game = parse_game(TEXT)
    for state in game.states:
        revealed = reveal(game.options, state)
        assert json.loads(json.dumps(revealed)) == revealed
        assert tuple(revealed) == REVEALED


def test_the_draw_pile_is_revealed_with_the_next_card_first():
    options = Options(num_players=3)
    states = dealt(options)
    seat = int(states["turn"][0])
    first = reveal(options, states[0])
    exchange = parse_action("exchange", 3)
    step(make_rules(options), states, np.array([exchange]), np.zeros(1, np.uint8), np.zeros((1, 7)))
    assert set(reveal(options, states[0])["search_cards"][f"player_{seat}"]) == set(first["draw_pile"][:4])


def test_winners_are_revealed_in_order_of_place():
    game = parse_game((GOLDEN / "three_winners.txt").read_text())
    assert ", ".join(reveal(game.options, game.last_state)["winners"]) + " win" == result_text(game.last_state)
