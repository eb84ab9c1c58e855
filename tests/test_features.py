"""The observation: every number comes from the layout table, and says what the view says."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from sleuth_env import layout
from sleuth_env.sleuth import features
from sleuth_env.sleuth.belief import belief
from sleuth_env.sleuth.cards import ALL_GEMS, ALLOWED, QUESTIONS, Options, make_rules, num_actions, question_gems
from sleuth_env.sleuth.clues import read_sheet
from sleuth_env.sleuth.features import RECORDS, Observer, observation_layout, observation_size, write_observations
from sleuth_env.sleuth.rules import legal, step
from sleuth_env.sleuth.state import FINISHED, LEFT, SECOND, TURN, deal, new_states
from sleuth_env.sleuth.view import VIEW, view
from tests.support.strategies import option_name

# Of four players, by record. A change makes every policy file unreadable.
DIGESTS = ["c87dd53489ff8fe9", "03b113e27d3c8e9f", "7f0365de806bac09"]
VARIANTS = [
    Options(3),
    Options(4),
    Options(5),
    Options(6),
    Options(7),
    Options(3, missing=3, winners=2, double_interrogation=True),
    Options(4, missing=2, winners=3, announce_result=False, super_sleuth=True),
    Options(7, winners=6, double_interrogation=True, max_turns=40),
    Options(5, accuse="own_turn", last_survivor_wins=True),
]
# Counting all deals of seven players takes its time.
each_case = pytest.mark.parametrize(
    ("options", "record"),
    [
        pytest.param(
            options,
            record,
            id=f"{option_name(options)}-{record}",
            marks=[pytest.mark.slow] * (record == "exact" and options.num_players == 7),
        )
        for options in VARIANTS
        for record in RECORDS
    ],
)


def bits(mask: int, width: int) -> list[float]:
    return [float(int(mask) >> i & 1) for i in range(width)]


def one_hot(number: int, width: int, base: int = 0) -> list[float]:
    return [float(number - base == i) for i in range(width)]


def views_of_random_play(options: Options, games: int = 24, steps: int = 90, seed: int = 5) -> np.ndarray:
    """Views of every seat at many moments of random games in which few accuse."""
    rng = np.random.default_rng(seed)
    rules = make_rules(options)
    states = new_states(games)
    deal(rules, states, rng.integers(0, 2**63, games).astype(np.uint64))
    marks = np.zeros((games, num_actions(options)), np.uint8)
    taken = np.zeros(games, np.uint8)
    found = []
    for i in range(steps):
        legal(rules, states, marks)
        worth = rng.random(marks.shape) * marks
        worth[:, -37:-1] *= 0.02
        step(rules, states, worth.argmax(1), taken, np.zeros((len(taken), 7)))
        views = np.zeros(games, VIEW)
        view(rules, states, np.full(games, i % options.num_players), views)
        found.append(views)
    return np.concatenate(found)


def observe(options: Options, views: np.ndarray, record: str) -> np.ndarray:
    out = np.full((views.size, observation_size(options, record)), np.nan, np.float32)
    write_observations(make_rules(options), views, out, record)
    return out


@each_case
def test_every_number_is_written_and_lies_between_0_and_1(options: Options, record: str) -> None:
    observations = observe(options, views_of_random_play(options), record)
    assert observations.dtype == np.float32
    assert observations.min() >= 0
    assert observations.max() <= 1


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("num_players", range(3, 8))
def test_the_blocks_fill_the_observation_without_gap_or_overlap(num_players: int, record: str) -> None:
    layout = observation_layout(Options(num_players), record)
    end = 0
    for block in layout:
        assert layout[block.name] == slice(end, end + block.size)
        end += block.size
    assert end == layout.size == observation_size(Options(num_players), record)
    assert len({block.name for block in layout}) == len(layout.blocks)


@pytest.mark.parametrize("record", RECORDS)
def test_only_views_that_are_there_are_written_and_only_where_that_is_allowed(record: str) -> None:
    options = VARIANTS[0]
    views = views_of_random_play(options)[:2].copy()
    observer = Observer(make_rules(options), views, record)
    out = np.zeros((40, observation_size(options, record)), np.float32)
    for number in (40, -1):
        with pytest.raises(ValueError, match=f"number must be an integer from 0 to 2, got {number}"):
            observer.write_first(number, out[:number])
    observer.write_first(1, out[:1])
    assert (out[:1] == observe(options, views[:1], record)).all()
    assert (out[1:] == 0).all()
    out.flags.writeable = False
    with pytest.raises(ValueError, match="cannot be written to"):
        observer.write(out[:2])


@each_case
def test_every_block_says_what_the_view_says(options: Options, record: str) -> None:
    views = views_of_random_play(options)[::37].copy()
    blocks = observation_layout(options, record).views(observe(options, views, record))
    for i in range(views.size):
        expected = expected_blocks(options, views[i], record)
        assert set(expected) == set(blocks)
        for name, block in blocks.items():
            np.testing.assert_allclose(
                block[i], np.reshape(expected[name], block[i].shape), rtol=1e-6, atol=1e-9, err_msg=name
            )


def expected_blocks(options: Options, v: np.void, record: str) -> dict[str, object]:
    """Spell every block out by hand from the fields of one view."""
    n = options.num_players
    events = v["events"][:n]
    expected: dict[str, object] = {name: bits(v[name], 36) for name in ("hand", "table", "accusing", "accused")}
    expected |= {name: [bits(v[name][k], 54) for k in range(n)] for name in ("search", "spent")}
    if record == "sheet":
        sheet = read_sheet(make_rules(options), np.array([v]))[0]
        expected["certain_yes"] = [bits(sheet["has"][h], 36) for h in range(n)]
        expected["certain_no"] = [bits(ALL_GEMS & ~sheet["can"][h], 36) for h in range(n)]
    elif record == "exact":
        expected |= counted_blocks(options, v)
    else:
        expected["seen"] = [bits(v["seen"][k], 36) for k in range(n)]
        expected["missing_gems"] = bits(v["missing_gems"], 36)
    return expected | {
        "answer_known": v["answers"][:n] >= 0,
        "answer_count": np.maximum(v["answers"][:n], 0) / 12,
        "askers": [[bits(v["askers"][k, q], n) for q in range(43)] for k in range(n)],
        "seen_by": [bits(v["seen_by"][k], 36) for k in range(n)],
        "discards": bits(v["discards"], 54),
        "pile_size": v["pile_size"] / 54,
        "exchanges": v["exchanges"][:n] / options.max_turns,
        "in_contention": v["standing"][:n] == 0,
        "out": v["standing"][:n] == 1,
        "right": v["standing"][:n] == 2,
        "place": v["place"][:n] / n,
        "turn": one_hot(v["turn"], n),
        "phase": one_hot(v["phase"], 5),
        "to_act": v["to_act"],
        "first_target": one_hot(v["first_target"], n),
        "first_elements": one_hot(v["first_elements"], 2, base=1),
        "event_kind": [one_hot(event[0], 6, base=1) for event in events],
        "event_asker": [one_hot(event[1], n) for event in events],
        "event_target": [one_hot(event[2], n) for event in events],
        "event_question": [one_hot(event[3], 43) for event in events],
        "event_card": [one_hot(event[4], 54) for event in events],
        "event_count": [max(event[5], 0) / 12 for event in events],
        "turn_number": v["turn_number"] / options.max_turns,
    }


def counted_blocks(options: Options, v: np.void) -> dict[str, object]:
    """Spell out what a count of all deals says, question by question."""
    worlds = belief(make_rules(options), np.array([v]))
    information = np.zeros((options.num_players - 1, 43))
    for holder, question in product(range(options.num_players - 1), range(43)):
        payable = any(QUESTIONS[question] in ALLOWED[card] for card in range(54) if int(v["search"][0]) >> card & 1)
        elements = len(QUESTIONS[question])
        other = v["first_target"] != holder + 1 and v["first_elements"] != elements
        if payable and v["to_act"] and not v["accusing"] and (v["phase"] == TURN or (v["phase"] == SECOND and other)):
            cards = [gem for gem in range(36) if question_gems(question) >> gem & 1]
            information[holder, question] = worlds.information(
                holder, cards, elements == 2 and not options.super_sleuth
            )
    return {"chance": worlds.holders.T, "information": information / math.log2(math.comb(36, options.missing))}


def test_the_games_that_are_checked_have_everything_in_them() -> None:
    """Guard the tests above against games in which nothing happens."""
    views = np.concatenate([views_of_random_play(options) for options in VARIANTS])
    assert (views["phase"] == FINISHED).any()
    assert {0, 1, 2, 3, 4} <= set(views["phase"].tolist())
    assert {0, 1, 2, LEFT} <= set(views["standing"].ravel().tolist())
    assert {0, 1, 2, 3, 4, 5, 6} <= set(views["events"][..., 0].ravel().tolist())
    assert views["accusing"].any()
    assert (views["first_elements"] == 2).any()
    assert (views["discards"] > 0).any()
    assert views["seen"].any()
    assert views["seen_by"].any()


def test_the_named_blocks_are_views_of_the_observation() -> None:
    options = Options(3)
    observation = observe(options, views_of_random_play(options, games=1, steps=1), "sheet")[0]
    blocks = observation_layout(options).views(observation)
    blocks["hand"][0] = 0.5
    assert observation[observation_layout(options)["hand"]][0] == 0.5


def test_the_digest_tells_layouts_apart() -> None:
    digests = {
        observation_layout(Options(n, max_turns=turns), record).digest
        for n in range(3, 8)
        for turns in (100, 300)
        for record in RECORDS
    }
    assert len(digests) == 30
    # How many bits are missing is what information is measured by.
    assert (
        len(
            {
                observation_layout(Options(3, missing=missing), record).digest
                for missing in (1, 2, 3)
                for record in RECORDS
            }
        )
        == 5
    )


def test_the_sizes_are_those_of_the_cards_and_of_the_states() -> None:
    assert (features.LARGEST_COUNT, features.LARGEST_QUESTION) == (12, 2)
    shapes = {block.name: block.shape for block in observation_layout(Options(4))}
    assert (shapes["phase"], shapes["first_elements"], shapes["event_kind"]) == ((5,), (2,), (4, 6))


def test_the_layout_of_the_usual_game_is_the_one_that_policy_files_name() -> None:
    assert [observation_layout(Options(4), record).digest for record in RECORDS] == DIGESTS


def test_an_unknown_record_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(ValueError, match=r"'sheet', 'raw', 'exact', got 'secret'"):
        observation_layout(Options(3), "secret")


@pytest.mark.parametrize("wrong", [[], {}, ["sheet"], np.array("sheet"), np.array(["sheet", "raw"]), 3])
def test_what_is_not_even_a_text_is_refused_as_an_unknown_record(wrong: Any) -> None:
    options = Options(3)
    views = views_of_random_play(options, games=1, steps=1)
    doors: list[Callable[[], Any]] = [
        lambda: observation_layout(options, wrong),
        lambda: observation_size(options, wrong),
        lambda: Observer(make_rules(options), views, wrong),
        lambda: write_observations(make_rules(options), views, np.zeros((1, 1), np.float32), wrong),
    ]
    for door in doors:
        with pytest.raises(ValueError, match="record must be one of 'sheet', 'raw', 'exact', got "):
            door()


def test_a_wrong_shape_is_refused_before_anything_is_written() -> None:
    options = Options(3)
    views = views_of_random_play(options, games=1, steps=1)
    out = np.full((1, 7), 0.25, np.float32)
    with pytest.raises(
        ValueError, match=r"out must be float32 or int8 of the shape \(1, \d+\), got float32 of the shape \(1, 7\)"
    ):
        write_observations(make_rules(options), views, out)
    assert (out == 0.25).all()
    few = np.zeros((0, observation_size(options)), np.float32)
    with pytest.raises(ValueError, match=r"of the shape \(1, \d+\), got float32 of the shape \(0, \d+\)"):
        write_observations(make_rules(options), views, few)
    with pytest.raises(ValueError, match="numbers of this layout in its last axis"):
        observation_layout(options).views(out)


def test_no_encoding_is_left_unused() -> None:
    used = {block.encoding for n in (3, 7) for record in RECORDS for block in observation_layout(Options(n), record)}
    assert used == {
        layout.BITS,
        layout.CLEAR_BITS,
        layout.ONE_HOT,
        layout.EQUALS,
        layout.KNOWN,
        layout.NUMBER,
        layout.FRACTION,
    }


@pytest.mark.parametrize("record", RECORDS)
def test_no_views_give_no_observations(record: str) -> None:
    out = np.zeros((0, observation_size(Options(3), record)), np.float32)
    write_observations(make_rules(Options(3)), np.zeros(0, VIEW), out, record)
    assert out.size == 0


@pytest.mark.parametrize(
    ("dtype", "said"),
    [
        (np.dtype([("a", "u1", 8)]), "a must be signed integers at a multiple of their size"),
        (np.dtype([("a", "f8")]), "a must be signed integers"),
        (np.dtype([("x", "i1"), ("a", "i8"), ("pad", "i1", 7)]), "a must be signed integers at a multiple"),
        (np.dtype([("a", "i4")]), "the view must have a multiple of 8 bytes, got 4: use align=True"),
    ],
)
def test_a_view_that_the_kernels_cannot_read_is_refused(dtype: np.dtype, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        layout.Layout([layout.Block("a", "a", (1,))], dtype)
