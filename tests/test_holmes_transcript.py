"""Game texts of I Say, Holmes!: they replay byte for byte, and every wrong line is refused by its number."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sleuth_env.doors import ArrayError
from sleuth_env.holmes import DIGEST, STATE, Options, game_text, make_rules, new_states, num_actions, parse_game
from sleuth_env.holmes.cases import deal
from sleuth_env.holmes.notation import NotationError, parse_action
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.state import FINISHED
from sleuth_env.holmes.transcript import result_text
from sleuth_env.transcripts import MAX_TEXT

each_count = pytest.mark.parametrize("num_players", range(3, 9))
VARIANTS = [
    Options(num_players=3, cases=1),
    Options(num_players=4, cases=2, fast_play=True),
    Options(num_players=5, cases=2, after_alibi="left_of_alibi", guilty_hand="discarded"),
    Options(num_players=6, cases=2, new_case_location="city", must_arrest=True, reward="case"),
    Options(num_players=7, max_turns=20),
    Options(num_players=8, cases=1, fast_play=True, reward="rank"),
]


def dealt(options: Options, seed: int = 1) -> np.ndarray:
    states = new_states(1)
    deal(make_rules(options), states, np.array([seed], np.uint64))
    return states


def played(options: Options, seed: int, most: int = 10_000) -> tuple[np.ndarray, list[int], list[bytes]]:
    """Play a game at random; return its first state, its actions and all its states as bytes."""
    chance = random.Random(seed)
    rules = make_rules(options)
    states = dealt(options, seed)
    first = states.copy()
    actions: list[int] = []
    course = [states.tobytes()]
    out = np.zeros((1, num_actions(options)), np.uint8)
    taken = np.zeros(1, np.uint8)
    while states["actor"][0] >= 0 and len(actions) < most:
        legal(rules, states, out)
        actions.append(chance.choice(np.flatnonzero(out[0]).tolist()))
        step(rules, states, np.array(actions[-1:]), taken, np.zeros((1, options.num_players)))
        assert taken[0]
        course.append(states.tobytes())
    return first, actions, course


GAME = played(VARIANTS[0], 2)
TEXT = game_text(VARIANTS[0], GAME[0], GAME[1])
LINES = TEXT.splitlines()


def change(old: str, new: str) -> str:
    """Return the game text with the first text of a kind replaced by another one."""
    assert old in TEXT
    return TEXT.replace(old, new, 1)


# --- writing and reading ---


@pytest.mark.parametrize("seed", range(5))
@each_count
def test_a_deal_is_read_back_byte_for_byte(num_players: int, seed: int) -> None:
    options = Options(num_players=num_players)
    states = dealt(options, seed)
    game = parse_game(game_text(options, states, []))
    assert game.options == options
    assert game.states.tobytes() == states.tobytes()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: f"{options.num_players}p")
def test_a_random_game_replays_byte_for_byte(options: Options, seed: int) -> None:
    first, actions, course = played(options, seed)
    text = game_text(options, first, actions)
    game = parse_game(text)
    assert game.options == options
    assert game.states.tobytes() == b"".join(course)
    assert game.last_state.tobytes() == course[-1]
    assert game_text(game.options, game.first_state, game.actions) == text


@pytest.mark.parametrize("length", [0, 1, 7, 30])
def test_the_beginning_of_a_game_is_a_game_text(length: int) -> None:
    options = VARIANTS[2]
    first, actions, course = played(options, 3, length)
    text = game_text(options, first, actions)
    assert "result: unfinished, player_" in text
    assert parse_game(text).states.tobytes() == b"".join(course)


def test_what_was_announced_may_be_left_out() -> None:
    bare = "\n".join(line.partition(" -> ")[0] for line in LINES)
    assert bare != TEXT
    assert parse_game(bare).last_state.tobytes() == GAME[2][-1]


def test_empty_lines_and_comments_are_skipped() -> None:
    text = "# a game\n\n" + TEXT.replace("\n", "  # seen\n\n")
    assert parse_game(text).last_state.tobytes() == GAME[2][-1]


def test_the_cards_of_a_hand_may_be_named_in_any_order() -> None:
    line = next(line for line in LINES if line.startswith("hand player_1"))
    key, _, cards = line.partition(": ")
    turned = f"{key}: {' '.join(cards.split(' ')[::-1])}"
    assert parse_game(change(line, turned)).last_state.tobytes() == GAME[2][-1]


def test_the_text_says_what_everybody_may_know_of_an_action() -> None:
    told = {line.partition(" -> ")[2].split(" ")[0] for line in LINES if " -> " in line}
    assert {"kept", "plays"} <= told
    texts = [game_text(options, *played(options, seed)[:2]) for options in VARIANTS[1:4] for seed in range(3)]
    said = "\n".join(texts)
    for words in (" -> innocent", " arrests player_", " escapes: "):
        assert words in said


def test_the_last_line_says_who_has_won() -> None:
    assert LINES[-1] == f"result: {result_text(VARIANTS[0], parse_game(TEXT).last_state)}"
    assert LINES[-1].startswith("result: player_")
    first, actions, _ = played(VARIANTS[4], 1)
    assert "result: truncated, player_" in game_text(VARIANTS[4], first, actions)


def test_the_turns_of_a_game_hold_all_its_moves_in_order() -> None:
    game = parse_game(TEXT)
    turns = list(game.turns())
    assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
    assert [move.action for turn in turns for move in turn.moves] == game.actions.tolist()
    assert all(turn.before.tobytes() == turn.moves[0].before.tobytes() for turn in turns)
    assert turns[-1].after["phase"] == FINISHED


# --- what is refused ---


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("holmes game 1", "holmes game 2", "line 1: this version of the format is unknown, only 1 can be read"),
        ("holmes game 1", "a game", "line 1: a game text starts with 'holmes game 1'"),
        ("num_players=3", "num_player=3", "line 2: unknown option 'num_player'"),
        ("cases=1", "cases=-1", "line 2: cases must be an integer from 0 to"),
        (DIGEST, "0" * 16, f"line 3: the game was played with other data of the cards; .* {DIGEST}"),
        ("hand player_0: ", "hand player_0: clue ", "line 4: hand player_0 must have 6 cards, has 7"),
        ("hand player_1", "hand player_2", "line 5: expected 'hand player_1: ...'"),
        ("afoot", "moriarty", "the Deal Out Stack of 3 players has 0 moriarty, and this is one more"),
        ("milverton", "milvertn", "'milvertn' is not a title; .*milverton"),
        ("pile: ", "pile: clue ", "line 7: pile must have 107 cards, has 108"),
        ("moriarty", "moran", "line 7: the draw pile has 1 moran, and this is one more"),
        ("say pipe: ", "say pipe: 1 ", "line 8: say pipe must be 1 1 2 2 3, in any order"),
        ("own-0", "own-1", "line 11: telegrams must be all 8, each of them once"),
        ("own-0", "own0", "line 11: 'own0' is not a telegram"),
        ("generator: 0x", "generator: 0X", "line 12: the generator must be 0x and 16 hexadecimal digits"),
        (" -> kept", " -> plays train", "what was announced must be kept, not 'plays train'"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(old: str, new: str, message: str) -> None:
    with pytest.raises(NotationError, match=message):
        parse_game(change(old, new))


def test_a_wrong_action_is_refused_with_what_is_legal() -> None:
    player, name = LINES[13].partition(" -> ")[0].split(": ")
    other = "player_2" if player != "player_2" else "player_1"
    with pytest.raises(NotationError, match=f"line 14: expected '{player}: ACTION', who decides here"):
        parse_game(change(f"{player}: {name}", f"{other}: {name}"))
    with pytest.raises(NotationError, match=r"line 14: illegal action; legal here: .*play "):
        parse_game(change(f"{player}: {name}", f"{player}: escape"))
    with pytest.raises(NotationError, match=r"line 14: 'ply train' is not an action of a game of 3.*play train"):
        parse_game(change(f"{player}: {name}", f"{player}: ply train"))


def test_a_wrong_end_is_refused() -> None:
    with pytest.raises(NotationError, match="the result must be 'player_"):
        parse_game(TEXT.replace(LINES[-1], "result: nobody wins"))
    with pytest.raises(NotationError, match="nothing may follow the result"):
        parse_game(TEXT + "player_0: draw\n")
    with pytest.raises(NotationError, match="the text ends where an action or 'result: "):
        parse_game("\n".join(LINES[:-1]))
    with pytest.raises(NotationError, match="the game is finished"):
        parse_game(TEXT.replace(LINES[-1], f"player_0: draw\n{LINES[-1]}"))


@pytest.mark.parametrize(
    "text", [None, 3, b"holmes game 1", ["holmes game 1"], "", "\0", "#" * 99, "x" * (MAX_TEXT + 1)]
)
def test_what_is_no_game_text_is_refused(text: Any) -> None:
    with pytest.raises(NotationError):
        parse_game(text)


def test_no_line_can_be_left_out() -> None:
    for number in range(12):
        with pytest.raises(NotationError, match="line "):
            parse_game("\n".join([*LINES[:number], *LINES[number + 1 :]]))


def test_only_a_fresh_deal_can_be_written() -> None:
    options = VARIANTS[0]
    states = dealt(options)
    with pytest.raises(ArrayError, match="first_state must be one STATE record"):
        game_text(options, np.zeros(2, STATE), [])
    with pytest.raises(ArrayError, match="first_state must be of a sound game"):
        game_text(Options(num_players=8), states, [])
    later = played(options, 1, 5)
    game = parse_game(game_text(options, later[0], later[1]))
    with pytest.raises(NotationError, match="first_state must be a fresh deal"):
        game_text(options, game.last_state, [])


def test_an_illegal_action_is_not_written() -> None:
    options = VARIANTS[0]
    with pytest.raises(NotationError, match=r"action 0 \(escape\) is illegal where it stands .*; legal here: "):
        game_text(options, dealt(options), [parse_action("escape", options)])
    with pytest.raises(NotationError, match="an action of a game of 3 must be an integer"):
        game_text(options, dealt(options), [999])
