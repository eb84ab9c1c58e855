"""Whole games kept as text: each replays, ends as it says, and writes itself again."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from sleuth_env.sleuth.cards import Options, make_rules
from sleuth_env.sleuth.invariants import problems
from sleuth_env.sleuth.results import ends
from sleuth_env.sleuth.rules import step
from sleuth_env.sleuth.state import FINISHED, OFFER, RIGHT
from sleuth_env.sleuth.transcript import game_text, parse_game, result_text

GAMES = Path(__file__).parent / "games"
FILES = sorted(set(GAMES.glob("*.txt")) - set(GAMES.glob("holmes_*.txt")))
each_game = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@each_game
def test_a_golden_game_replays_and_writes_the_same_text(file):
    text = file.read_text()
    game = parse_game(text)
    assert game_text(game.options, game.first_state, game.actions) == text


@each_game
def test_a_golden_game_ends_as_its_last_line_says(file):
    text = file.read_text()
    last = parse_game(text).last_state
    assert text.splitlines()[-1] == f"result: {result_text(last)}"
    assert (last["phase"] == FINISHED) == ("unfinished" not in text and file.stem != "just_dealt")


@each_game
def test_no_position_of_a_golden_game_breaks_an_invariant(file):
    game = parse_game(file.read_text())
    assert problems(make_rules(game.options), game.states) == []


@each_game
def test_the_rewards_of_a_golden_game_come_with_its_end(file):
    game = parse_game(file.read_text())
    num_games = len(game.states)
    num_players = game.options.num_players
    rewards = np.zeros((num_games, 7))
    ended = np.zeros(num_games, np.uint8)
    rules = make_rules(game.options)
    ends(rules, game.states, ended)
    step(rules, game.states[:-1].copy(), game.actions, np.zeros(num_games - 1, np.uint8), rewards[1:])
    assert not rewards[:-1].any()
    assert not ended[:-1].any()
    winners = game.last_state["standing"][:num_players] == RIGHT
    assert (rewards[-1, :num_players][winners] > 0).all()


def test_the_golden_games_cover_every_player_count_and_the_other_value_of_every_option():
    played = [parse_game(file.read_text()).options for file in FILES]
    assert {options.num_players for options in played} == {3, 4, 5, 6, 7}
    assert {options.missing for options in played} == {1, 2, 3}
    for field in fields(Options):
        assert len({getattr(options, field.name) for options in played}) > 1, field.name


def test_the_golden_games_cover_every_way_to_end():
    last = [parse_game(file.read_text()).last_state for file in FILES]
    assert any(state["truncated"] for state in last)
    assert any(state["num_right"] > 1 for state in last)
    assert any(state["phase"] == FINISHED and not state["place"].any() for state in last)
    assert any(state["phase"] == FINISHED and state["place"].any() and not state["num_right"] for state in last)
    assert any(state["phase"] == OFFER for state in last)
    assert any(state["accusing"] for state in last)
