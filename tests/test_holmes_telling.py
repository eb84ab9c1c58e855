"""I Say, Holmes! told in words and drawn: complete, small enough, and nothing that a seat may not know."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from sleuth_env.doors import ArrayError
from sleuth_env.game import Drawn, Told, has_part
from sleuth_env.holmes import (
    PHASES,
    STATE,
    VIEW,
    Options,
    action_name,
    draw_ansi,
    draw_odds,
    draw_rgb,
    game_text,
    num_actions,
    parse_action,
    parse_game,
    set_up,
    telling,
)
from sleuth_env.holmes.cards import make_rules
from sleuth_env.holmes.review import view_of
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.state import FINISHED, RESPOND, SECOND, TURN
from sleuth_env.holmes.transcript import GameRecord
from tests.support.holmes_substitution import substituted
from tests.test_holmes_transcript import VARIANTS, played

each_count = pytest.mark.parametrize("num_players", range(3, 9))
FOUR = Options()


def record_of(options: Options, seed: int, most: int = 10_000) -> GameRecord:
    first, actions, _ = played(options, seed, most)
    return parse_game(game_text(options, first, actions))


RECORDS = [record_of(options, 2, 150) for options in VARIANTS]
each_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.options.num_players}p")


def position(options: Options = FOUR, **changed: Any) -> Any:
    """Set a game up in which player_0 has the turn, and everybody holds a clue and a train but for what is given."""
    hands = {f"player_{seat}": ["clue", "train"] for seat in range(options.num_players)}
    hands |= changed.pop("hands", {})
    about = {"hands": hands, "current": "london", "location": "city", "turn": "player_0", **changed}
    return set_up(options, about)


def taken(options: Options, states: Any, *names: str) -> Any:
    """Return a game after some actions."""
    states = states.copy()
    for name in names:
        done = np.zeros(1, np.uint8)
        rewards = np.zeros((1, options.num_players))
        step(make_rules(options), states, np.array([parse_action(name, options)]), done, rewards)
        assert done[0], name
    return states


def names_of_legal(options: Options, states: Any) -> list[str]:
    out = np.zeros((1, num_actions(options)), np.uint8)
    legal(make_rules(options), states, out)
    return [action_name(int(action), options) for action in np.flatnonzero(out[0])]


def news(options: Options, before: Any, name: str, seat: int) -> list[str]:
    """Return what a seat is told of an action."""
    after = taken(options, before, name)
    seen = [view_of(options, states[0], seat) for states in (before, after)]
    return telling.news(options, after[0], parse_action(name, options), seen[1], seen[0])


# --- drawings ---


@each_record
def test_a_drawing_fits_eighty_columns_and_twenty_four_lines(record: GameRecord) -> None:
    for state in record.states[::7]:
        for seat in range(record.options.num_players):
            seen = view_of(record.options, state, seat)
            lines = draw_ansi(record.options, seen, False, 80, 24).splitlines()
            assert max(map(len, lines)) < 80
            assert len(lines) <= 22
            assert max(map(len, draw_ansi(record.options, seen).splitlines())) < 120


@each_record
def test_an_image_has_the_same_size_all_game_long(record: GameRecord) -> None:
    shapes = {draw_rgb(record.options, view_of(record.options, state, 0)).shape for state in record.states[::40]}
    assert len(shapes) == 1
    assert shapes.pop()[1:] == (1180, 3)


def test_a_drawing_shows_the_hand_and_marks_what_may_be_played() -> None:
    states = position(hands={"player_0": ["train", "clue", "clue", "suspicion", "sherlock-holmes", "alibi"]})
    drawing = draw_ansi(FOUR, view_of(FOUR, states[0], 0))
    assert "Your hand (6): *train   *clue 2   suspicion   *sherlock-holmes   alibi" in drawing
    assert "followed by: any-travel, clue, disguise, arrest, i-say" in drawing
    assert "Your turn: play a card that is marked *" in drawing


def test_colours_change_nothing_but_the_colour() -> None:
    seen = view_of(FOUR, position()[0], 0)
    coloured = draw_ansi(FOUR, seen, True)
    plain = "".join(part.partition("m")[2] if number else part for number, part in enumerate(coloured.split("\x1b[")))
    assert plain == draw_ansi(FOUR, seen)


def test_a_drawing_shows_who_certainly_holds_what() -> None:
    states = position(hands={"player_0": ["clue", "estate"], "player_2": ["moran", "castle"]})
    seen = view_of(FOUR, taken(FOUR, states, "play clue on +2")[0], 0)
    line = next(line for line in draw_ansi(FOUR, seen).splitlines() if line.startswith(" +2"))
    assert "yes" in line
    assert line.endswith("castle, moran")
    assert "+2: castle, moran (whole hand, turn 1)" in draw_ansi(FOUR, seen)


def test_tokens_are_drawn_without_their_points() -> None:
    tokens = {"player_1": {"books": ["four"], "villains": ["clay"], "say": {"hat": 3}, "telegrams": ["own-3", "own-1"]}}
    drawing = draw_ansi(FOUR, view_of(FOUR, position(tokens=tokens)[0], 0))
    assert "Tokens: +1: four, clay, hat, 2 telegrams" in drawing
    assert "own-3" not in drawing
    assert "telegrams 6" in drawing


def test_the_odds_of_every_opponent_and_the_pile_are_drawn() -> None:
    lines = draw_odds(FOUR, view_of(FOUR, position()[0], 0)).splitlines()
    assert [line.split("  ")[0] for line in lines[2:]] == ["+1", "+2", "+3", "draw pile"]
    assert "estimate" in lines[0]


@pytest.mark.parametrize("draw", [draw_ansi, draw_rgb, draw_odds])
def test_only_views_are_drawn(draw: Any) -> None:
    with pytest.raises(ArrayError, match="view must be one VIEW record"):
        draw(FOUR, position()[0])
    with pytest.raises(ArrayError, match="num_players"):
        draw(Options(num_players=5), view_of(FOUR, position()[0], 0))
    wrong = np.zeros(1, VIEW)
    wrong[0] = view_of(FOUR, position()[0], 0)
    wrong["current"] = 99
    with pytest.raises(ArrayError, match="current of a view must be from 0 to 37, got 99"):
        draw(FOUR, wrong)


# --- a person at the table ---


def test_the_game_can_be_told_and_drawn() -> None:
    import sleuth_env.holmes as game

    assert has_part(game, Told)
    assert has_part(game, Drawn)


@pytest.mark.parametrize("options", [FOUR, Options(num_players=3, cases=1, fast_play=True)])
def test_the_rules_begin_with_the_goal_in_three_sentences(options: Options) -> None:
    first = telling.rules(options)[0]
    assert first.replace("!", ".").count(". ") + 1 == 3
    assert "most points wins" in first
    assert ("1 case at the latest" in first) == (options.cases == 1)


def test_where_cases_are_paid_for_the_goal_is_to_close_them() -> None:
    first = telling.rules(Options(num_players=3, cases=1, reward="case"))[0]
    assert first.endswith("What counts is every case that you close, and nothing else.")
    assert "points" not in first


def test_only_whoever_types_is_told_how_the_drawn_sheet_is_read() -> None:
    assert "The sheet shows" in " ".join(telling.rules(FOUR, typed=True))
    assert "sheet" not in " ".join(telling.rules(FOUR))
    assert telling.rules(FOUR)[-1] == f"After {FOUR.max_turns} turns the game is stopped."


def test_every_phase_has_a_prompt() -> None:
    assert len(telling.PROMPTS) == len(PHASES)


def test_a_player_is_told_what_they_may_do_on_their_turn() -> None:
    seen = view_of(FOUR, position(hands={"player_0": ["moran", "alibi"]})[0], 0)
    assert telling.announcement(FOUR, seen) == ["Turn 1 is yours. You can play nothing; draw; or escape."]
    seen = view_of(FOUR, position(hands={"player_0": ["mrs-hudson", "suspicion"]})[0], 0)
    assert telling.announcement(FOUR, seen) == ["Turn 1 is yours. On london you may play mrs-hudson; or draw."]
    assert telling.prompt(FOUR, seen) == "your turn"
    assert telling.unsaid(FOUR, seen) == ""


def test_whoever_may_counter_is_told_against_what() -> None:
    states = position(hands={"player_0": ["arrest", "clue"], "player_2": ["alibi", "clue"]})
    seen = view_of(FOUR, taken(FOUR, states, "play arrest on +2")[0], 2)
    assert seen["phase"] == RESPOND
    assert telling.announcement(FOUR, seen) == ["player_0 (+2) plays arrest on you: counter it, or pass."]


@each_record
def test_every_decision_is_announced_and_its_phase_prompted(record: GameRecord) -> None:
    for state in record.states[:-1]:
        seen = view_of(record.options, state, int(state["actor"]))
        (line,) = telling.announcement(record.options, seen)
        assert line.endswith(".")
        assert telling.prompt(record.options, seen) in (
            telling.PROMPTS[int(state["phase"])],
            "play the drawn card, or pass",
        )
        unsaid = telling.unsaid(record.options, seen)
        assert unsaid in ("", *names_of_legal(record.options, _one(state)))


def _one(state: Any) -> np.ndarray:
    return np.frombuffer(bytearray(state.tobytes()), STATE)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("play clue on +2", ["play clue on +2"]),
        ("clue +2", ["play clue on +2"]),
        ("play clue 2", ["play clue on +2"]),
        ("clue", ["play clue on +1", "play clue on +2", "choose clue"]),
        ("choose clue", ["choose clue"]),
        ("train", ["play train"]),
        ("play", []),
        ("+2", ["arrest +2"]),
        ("hat", ["token hat", "token hat from +2"]),
        ("token hat from 2", ["token hat from +2"]),
        ("drw", []),
        ("", []),
    ],
)
def test_actions_may_be_shortened(typed: str, names: list[str]) -> None:
    known = ["play train", "play clue on +1", "play clue on +2", "choose clue", "arrest +2", "draw", "pass"]
    known += ["token hat", "token hat from +2"]
    assert telling.meant(typed, known) == names


@each_count
def test_the_full_name_of_an_action_means_that_action_alone(num_players: int) -> None:
    options = Options(num_players=num_players)
    names = [action_name(action, options) for action in range(num_actions(options))]
    for name in names:
        assert telling.meant(name, names) == [name]


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("suspicion", "suspicion cannot follow london, which may be followed by any-travel, clue, "),
        ("play suspicion on +1", "suspicion cannot follow london"),
        ("moran", "moran is a Villain: Villains are never played."),
        ("alibi", "alibi is an Interrupt: it only answers what somebody does to you."),
        ("irene-adler", "irene-adler may not be played while the Current card is london."),
        ("castle", "You do not hold castle; your hand: train, suspicion, irene-adler, alibi, moran."),
        ("draw", "You may draw only without a Suitable card; you hold train."),
        ("escape", "You may escape only with Villains in hand, and nothing else but Interrupts."),
        ("train", ""),
        ("nonsense", ""),
    ],
)
def test_a_hint_says_why_a_card_cannot_be_played(typed: str, hint: str) -> None:
    states = position(hands={"player_0": ["suspicion", "moran", "alibi", "irene-adler", "train"]})
    found = telling.hint(FOUR, view_of(FOUR, states[0], 0), typed)
    assert found.startswith(hint)
    assert bool(found) == bool(hint)


def test_an_arrest_that_would_lose_the_game_must_be_meant() -> None:
    books = {"player_1": {"books": ["scarlet", "four", "adventures"]}, "player_2": {"books": ["memoirs", "return"]}}
    states = position(hands={"player_0": ["arrest", "train"]}, tokens=books)
    action = parse_action("play arrest on +1", FOUR)
    seen = view_of(FOUR, states[0], 0)
    assert "you would have 2 points, another player has 18" in telling.doubt(FOUR, seen, action)
    assert telling.doubt(FOUR, seen, parse_action("play train", FOUR)) == ""
    early = view_of(FOUR, position(hands={"player_0": ["arrest", "train"]})[0], 0)
    assert telling.doubt(FOUR, early, action) == ""
    assert not telling.proved(FOUR, early)


# --- news ---


def test_what_somebody_was_shown_is_told_to_the_two_alone() -> None:
    states = position(hands={"player_0": ["clue", "estate"], "player_1": ["manor", "castle"]})
    told = [news(FOUR, states, "play clue on +1", seat) for seat in range(4)]
    assert told[0] == [
        "  you played clue on player_1 (+1)",
        "    you know of the hand of player_1 (+1): castle, manor (all of it)",
    ]
    assert told[1][1] == "    player_0 (+3) knows of your hand: castle, manor (all of it)"
    assert told[2] == ["  player_0 (+2) played clue on player_1 (+3)"]


def test_a_closed_case_is_told_with_what_it_brought() -> None:
    states = position(
        current="suspicion",
        hands={
            "player_0": ["arrest", "clay"],
            "player_1": ["moriarty", "clue", "london"],
            "player_2": ["moran", "clue"],
        },
    )
    lines = news(FOUR, states, "play arrest on +1", 3)
    assert "  player_0 (+1) found player_1 (+2) Guilty and closed the case" in lines
    assert any("the Grand Total was" in line and line.endswith("took return") for line in lines)
    assert any(line.startswith("  case 2 begins; dealt to you: ") for line in lines)


def test_an_escape_is_told_with_its_villains() -> None:
    lines = news(FOUR, position(hands={"player_0": ["moran", "milverton"]}), "escape", 1)
    assert "    player_0 (+3) escaped with moran, milverton" in lines


def test_a_card_passed_on_is_told_to_those_who_pass_it() -> None:
    states = position(
        current="clue",
        hands={
            "player_0": ["suspicion", "estate"],
            "player_1": ["alibi", "clue"],
            "player_2": ["manor"],
            "player_3": ["castle"],
        },
    )
    states = taken(FOUR, states, "play suspicion on +1")
    lines = news(FOUR, states, "play alibi", 0)
    assert "  player_1 (+1) countered you with alibi" in lines
    assert "    out of your hand: estate" in lines
    assert "    into your hand: clue" in lines


def test_what_is_decided_in_private_is_no_news() -> None:
    states = position(
        hands={"player_0": ["dense-fog", "clue"], "player_1": ["clue", "manor"], "player_2": ["clue", "castle"]}
    )
    states = taken(FOUR, states, "play dense-fog")
    assert states["actor"][0] == 1
    assert all(news(FOUR, states, "choose manor", seat) == [] for seat in range(4))


# --- whole games ---


@each_record
def test_a_story_has_a_step_for_every_turn(record: GameRecord) -> None:
    texts = list(telling.tell_game(record))
    turns = [text for text in texts if text.startswith("step ")]
    assert (
        len(turns)
        == telling.num_steps(record)
        == int(record.last_state["turn_number"])
        - (0 if record.last_state["phase"] != TURN or len(turns) == record.last_state["turn_number"] else 1)
    )
    assert "result: " in texts[len(turns)]
    few = list(telling.tell_game(record, None, False, range(3, 6), None))
    assert few == texts[2:5]


@each_record
def test_a_revealed_story_shows_every_action_and_the_hidden_cards(record: GameRecord) -> None:
    story = "\n".join(telling.tell_game(record, None, True, None, None))
    for action in record.actions.tolist():
        assert f": {action_name(action, record.options)}\n" in f"{story}\n"
    assert "    hand of player_0: " in story
    assert "    draw pile: " in story


@each_record
def test_the_ending_shows_all_points_and_hands(record: GameRecord) -> None:
    lines = telling.ending(record, 1)
    assert lines[0].startswith("Game over in turn ")
    assert sum(line.startswith("  you ") for line in lines) == 2
    assert sum(line.startswith("  player_") for line in lines) == 2 * record.options.num_players - 2


def test_a_review_has_a_row_for_every_decision() -> None:
    record = RECORDS[0]
    own = [move for move in record.moves() if move.before["actor"] == 1]
    rows = list(telling.review(record, 1))
    assert len(rows) == len(own) + 3
    for row, move in zip(rows[2:], own, strict=False):
        assert action_name(move.action, record.options) in row


def test_only_games_are_told() -> None:
    for tell in (
        telling.tell_game,
        telling.num_steps,
        partial(telling.review, seat=0),
        partial(telling.ending, seat=0),
    ):
        with pytest.raises(ArrayError, match="record must be a game, as parse_game returns it"):
            tell("holmes game 1")
    with pytest.raises(ArrayError, match="viewpoint must be an integer from 0 to 2"):
        telling.tell_game(RECORDS[0], 3)


# --- privacy ---


@each_record
def test_what_a_seat_cannot_know_changes_no_letter_of_what_it_is_told(record: GameRecord) -> None:
    options = record.options
    chances = np.random.default_rng(1)
    for move in list(record.moves())[::9]:
        for seat in range(options.num_players):
            told = []
            others = [substituted(options, _one(state), seat, chances)[0] for state in (move.before, move.after)]
            # Not `view_of`: what is changed need not be a game that can be.
            for before, after in ((move.before, move.after), others):
                seen = [_view(options, state, seat) for state in (before, after)]
                texts = [*telling.news(options, after, move.action, seen[1], seen[0])]
                for view in seen:
                    texts += [draw_ansi(options, view), draw_ansi(options, view, False, 80, 24)]
                    texts += [draw_odds(options, view), telling.prompt(options, view)]
                    texts += telling.announcement(options, view) if view["to_act"] else []
                told.append(texts)
            assert told[0] == told[1]


def _view(options: Options, state: Any, seat: int) -> Any:
    from sleuth_env.holmes.view import view

    views = np.zeros(1, VIEW)
    view(make_rules(options), _one(state), np.array([seat]), views)
    return views[0]


def test_a_story_from_no_viewpoint_shows_public_things_only() -> None:
    record = RECORDS[1]
    story = "\n".join(telling.tell_game(record))
    for move in record.moves():
        if move.before["phase"] not in (TURN, SECOND, RESPOND):
            assert f": {action_name(move.action, record.options)}" not in story
    assert "hand of" not in story
    assert record.last_state["phase"] == FINISHED or story.endswith("result: unfinished")
