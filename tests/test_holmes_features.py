"""The observations of the second game say what section "Observations" of the manual says, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from sleuth_env.doors import ArrayError
from sleuth_env.holmes.cards import (
    BOOKS,
    COPIES,
    NUM_HAND_TITLES,
    TITLES,
    VILLAINS,
    Options,
    action_blocks,
    make_rules,
)
from sleuth_env.holmes.features import RECORDS, Observer, observation_layout, observation_size, write_observations
from sleuth_env.holmes.state import EVENT_KINDS, FINISHED, KIND, PHASES, PILE, PLAYER, TARGET, TITLE
from sleuth_env.holmes.view import VIEW, view
from tests.support.holmes_bot_games import HolmesBotGames

SIZES = {"sheet": (1187, 1516, 1853, 2198, 2551, 2912), "raw": (860, 1080, 1308, 1544, 1788, 2040)}
VALUES = np.array(COPIES[:NUM_HAND_TITLES])


@pytest.mark.parametrize(("record", "place"), list(product(RECORDS, range(6))))
def test_observations_have_the_sizes_of_the_specification(record: str, place: int) -> None:
    assert observation_size(Options(3 + place), record) == SIZES[record][place]


def test_an_unknown_record_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'sheet', 'raw', got 'exact'"):
        observation_layout(Options(), "exact")


def test_the_titles_to_be_chosen_are_those_of_the_blocks() -> None:
    choose = action_blocks(Options(4))["choose"]
    sizes = {block.axes[-1]: block.shape[-1] for block in observation_layout(Options(4))}
    assert sizes["title"] == choose.stop - choose.start == NUM_HAND_TITLES


# --- a second, slow way to say the same ---


def one_hot(number: int, size: int) -> np.ndarray:
    """Return an array with 1 at a place, none where the number is negative."""
    row = np.zeros(size)
    if number >= 0:
        row[number] = 1
    return row


def relative(options: Options, viewer: int, seat: int) -> int:
    """Return a seat as the viewer counts it."""
    return -1 if seat < 0 else (seat - viewer) % options.num_players


def shares(copies: np.ndarray) -> np.ndarray:
    """Return copies of each title as shares of those in the game."""
    return np.minimum(copies[..., :NUM_HAND_TITLES] / VALUES, 1)


def expected(options: Options, state: Any, viewer: int, record: str) -> dict[str, np.ndarray]:
    """Return every block of an observation, from the state."""
    n = options.num_players
    seats = [(viewer + k) % n for k in range(n)]
    others = seats[1:]
    acts = state["actor"] == viewer
    holders = [*others, PILE]
    least = state["least"][viewer][holders][:, :NUM_HAND_TITLES]
    most = state["most"][viewer][holders][:, :NUM_HAND_TITLES]
    turns = np.array([state["look_turn"][viewer, seat] for seat in seats])
    events = state["events"][: 2 * n]
    phase = state["phase"] if acts or state["phase"] == FINISHED else -1
    blocks = {
        "hand": state["hands"][viewer][:NUM_HAND_TITLES] > 0,
        "hand_copies": shares(state["hands"][viewer]),
        "current": one_hot(state["current"], len(TITLES)),
        "city": state["city"],
        "hand_sizes": np.minimum(state["hand_sizes"][seats] / 20, 1),
        "pile_size": state["pile_size"] / 125,
        "discards": shares(state["discards"]),
        "seen_by": np.array([shares(state["looks"][seat, viewer]) for seat in seats]),
        "say_tokens": state["say"][seats] > 0,
        "books": [[state["books"][book] == seat for book in range(len(BOOKS))] for seat in seats],
        "villain_tokens": [[state["villains"][v] == seat for v in range(len(VILLAINS))] for seat in seats],
        "telegrams": [(state["telegrams"] == seat).sum() / 8 for seat in seats],
        "say_pool": state["say_sizes"] / 5,
        "telegram_pool": state["telegram_size"] / 8,
        "turn": one_hot(relative(options, viewer, state["turn"]), n),
        "phase": one_hot(phase, len(PHASES)),
        "to_act": acts,
        "card": one_hot(state["card"] if acts else -1, len(TITLES)),
        "player": one_hot(relative(options, viewer, state["player"]) if acts else -1, n),
        "target": one_hot(relative(options, viewer, state["target"]) if acts else -1, n),
        "tried": [acts and seat in state["tried"] for seat in seats],
        "drawn": one_hot(state["drawn"] if acts else -1, NUM_HAND_TITLES),
        "event_kind": [one_hot(event[KIND], len(EVENT_KINDS)) for event in events],
        "event_player": [one_hot(relative(options, viewer, event[PLAYER]), n) for event in events],
        "event_target": [one_hot(relative(options, viewer, event[TARGET]), n) for event in events],
        "event_title": [one_hot(event[TITLE], len(TITLES)) for event in events],
        "case_number": min(state["case_number"] / 20, 1),
        "turn_number": state["turn_number"] / options.max_turns,
    }
    if record == "raw":
        blocks["shown"] = np.array([shares(state["looks"][viewer, seat]) for seat in seats])
        blocks["shown_whole"] = [state["look_whole"][viewer, seat] for seat in seats]
        blocks["shown_age"] = np.where(turns > 0, 1 / (1 + state["turn_number"] - turns), 0)
    else:
        blocks |= {"certain_yes": least > 0, "certain_no": most == 0, "least": shares(least), "most": shares(most)}
    return {name: np.asarray(block, np.float64).ravel() for name, block in blocks.items()}


def moments(options: Options, limit: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Iterate over states (STATE [1]) of random games, the last one included."""
    games = HolmesBotGames(options, ["random"] * options.num_players, 1, seed)
    for decisions in games.play(limit):
        yield decisions.states
    yield games.states


def seen(options: Options, states: np.ndarray) -> np.ndarray:
    """Return what every seat sees of one game, VIEW [P]."""
    views = np.zeros(options.num_players, VIEW)
    view(make_rules(options), states.repeat(options.num_players), np.arange(options.num_players), views)
    return views


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize(
    "options", [Options(3), Options(4, fast_play=True, max_turns=40), Options(6, cases=1), Options(8)], ids=str
)
def test_every_block_says_what_it_should(options: Options, record: str) -> None:
    layout = observation_layout(options, record)
    out = np.zeros((options.num_players, layout.size), "f4")
    for states in moments(options, 120):
        write_observations(make_rules(options), seen(options, states), out, record)
        assert out.min() >= 0
        assert out.max() <= 1
        for viewer in range(options.num_players):
            wanted = expected(options, states[0], viewer, record)
            assert set(wanted) == {block.name for block in layout}
            for name, block in wanted.items():
                found = out[viewer, layout[name]]
                assert np.array_equal(found, block.astype("f4")), (name, found, block)


@pytest.mark.parametrize("record", RECORDS)
def test_observations_in_bytes_are_the_same_rounded(record: str) -> None:
    options = Options(4)
    size = observation_size(options, record)
    numbers = np.zeros((4, size), "f4")
    small = np.zeros((4, size), "i1")
    for states in moments(options, 60):
        views = seen(options, states)
        Observer(make_rules(options), views, record).write(numbers)
        Observer(make_rules(options), views, record).write(small)
        assert np.abs(numbers - small / 127).max() <= 1 / 127
        assert ((small == 0) == (numbers == 0)).all()
        assert ((small == 127) == (numbers == 1)).all()


def test_a_row_is_written_as_it_would_be_alone_whatever_lay_there() -> None:
    options = Options(5)
    size = observation_size(options)
    for states in moments(options, 20):
        views = seen(options, states)
        together = np.full((5, size), 7, "f4")
        Observer(make_rules(options), views).write(together)
        for viewer in range(5):
            alone = np.zeros((1, size), "f4")
            write_observations(make_rules(options), views[viewer : viewer + 1], alone)
            assert (alone[0] == together[viewer]).all()


def test_who_is_not_to_act_does_not_learn_that_others_decide() -> None:
    for states in moments(Options(4), 200):
        views = seen(Options(4), states)
        others = views[np.arange(4) != states["actor"][0]]
        finished = states["phase"][0] == FINISHED
        assert (others["phase"] == (FINISHED if finished else -1)).all()
        for field in ("card", "player", "target", "drawn"):
            assert (others[field] == -1).all()
        assert not others["tried"].any()
        assert not others["to_act"].any()


def test_every_byte_of_a_view_is_of_a_field() -> None:
    assert sum(VIEW[name].itemsize for name in VIEW.names or ()) == VIEW.itemsize


def test_views_of_another_kind_of_game_are_refused() -> None:
    views = seen(Options(3), next(moments(Options(3), 1)))
    out = np.zeros((3, observation_size(Options(4))), "f4")
    with pytest.raises(ArrayError, match=r"num_players=\[3\]"):
        write_observations(make_rules(Options(4)), views, out)
