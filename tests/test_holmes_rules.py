"""The kernels of the second game: worked cases, invariants of random games, batches, and what is to be expected."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env.holmes.cards import (
    AFOOT,
    BOOKS,
    COPIES,
    LOCATION_TITLES,
    MASTERMIND,
    NUM_SAY_TYPES,
    NUM_TITLES,
    SAY_TITLES,
    SAY_TOKENS,
    TITLES,
    VILLAIN_TITLES,
    Options,
    make_rules,
    num_actions,
    title_mask,
)
from sleuth_env.holmes.cases import deal
from sleuth_env.holmes.results import counts, ends, standings
from sleuth_env.holmes.reveal import reveal
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.set_up import SetUpError, set_up
from sleuth_env.holmes.state import FINISHED, STATE, TURN, new_states
from tests.support.holmes_cases import Case, problems, read_cases
from tests.support.holmes_comparison import action_texts

VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "single case": {"cases": 1, "reward": "case"},
    "fast play": {"fast_play": True, "reward": "points"},
    "other readings": {
        "new_case_location": "city",
        "after_alibi": "left_of_alibi",
        "must_arrest": True,
        "guilty_hand": "discarded",
        "reward": "rank",
    },
    "short": {"max_turns": 25, "fast_play": True, "reward": "case"},
}


class KernelPlayer:
    """The kernels behind the names of the notation."""

    def set_up(self, options: Mapping[str, Any], position: Mapping[str, Any], /) -> None:
        """Begin a game in a position."""
        self.options = Options(**options)
        self.rules = make_rules(self.options)
        self.texts = action_texts(self.options.num_players)
        self.states = set_up(self.options, position)
        self.pay = np.zeros((1, self.options.num_players))

    def legal(self) -> Sequence[str]:
        """Return the legal actions."""
        mask = np.zeros((1, len(self.texts)), np.uint8)
        legal(self.rules, self.states, mask)
        return [self.texts[action] for action in np.flatnonzero(mask[0])]

    def act(self, text: str, /) -> None:
        """Take an action."""
        taken = np.zeros(1, np.uint8)
        step(self.rules, self.states, np.array([self.texts.index(text)]), taken, self.pay)
        assert taken[0]

    def reveal(self) -> Mapping[str, Any]:
        """Return the whole hidden state."""
        return reveal(self.options, self.states[0])

    def rewards(self) -> Sequence[float]:
        """Return what the last action paid each player."""
        return self.pay[0].tolist()

    def ended(self) -> bool:
        """Return whether the game is over."""
        return bool(self.states["phase"][0] == FINISHED)

    def truncated(self) -> bool:
        """Return whether the turn limit has stopped it."""
        return bool(self.states["truncated"][0])

    def total(self) -> int | None:
        """Return the Grand Total of the case closed last."""
        return int(self.states["last_total"][0])


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: str(case.number))
def test_every_worked_case_comes_out_as_it_must(case: Case) -> None:
    assert not problems(case, KernelPlayer())


# --- positions ---


def test_a_position_is_revealed_as_it_was_set_up() -> None:
    for case in read_cases():
        options = Options(**case.options)
        told = reveal(options, set_up(options, case.position)[0])
        given = {**case.position, "discards": sorted(case.position.get("discards", ()), key=TITLES.index)}
        given["hands"] = {name: sorted(hand, key=TITLES.index) for name, hand in case.position["hands"].items()}
        pile = given.pop("draw_pile", [])
        assert {name: told[name] for name in given} == given
        assert told["draw_pile"][: len(pile)] == pile
        assert reveal(options, set_up(options, told)[0]) == told


def test_a_deal_that_is_set_up_again_is_the_same_game() -> None:
    for num_players in range(3, 9):
        options = Options(num_players)
        states = new_states(1)
        deal(make_rules(options), states, np.array([7], np.uint64))
        again = set_up(options, reveal(options, states[0]))
        # The generator and the events are not part of a position.
        for field in ("rng", "events"):
            again[field] = states[field]
        assert again.tobytes() == states.tobytes()


def test_a_position_that_cannot_be_is_refused_by_name() -> None:
    options = Options(3)
    sound = read_position(options)
    faults: list[tuple[dict[str, Any], str]] = [
        ({"current": "alibis"}, "'alibis'"),
        ({"current": "moriarty"}, "'moriarty'"),
        ({"location": "country"}, "'city' for london"),
        ({"turn": "player_3"}, "'player_3'"),
        ({"hands": {"player_0": ["clue"]}}, "player_2"),
        ({"discards": ["moriarty", "moriarty"]}, "at most 1 moriarty, got 2"),
        ({"phase": "respond"}, "'respond'"),
        ({"turn_number": 0}, "turn_number"),
        ({"tokens": {"player_0": {"books": ["folio"]}}}, "'folio'"),
        ({"tokens": {"player_0": {"villains": ["clay"]}, "player_1": {"villains": ["clay"]}}}, "'clay'"),
        ({"tokens": {"player_0": {"say": {"pipe": 3}}, "player_1": {"say": {"pipe": 3}}}}, "pipe tokens of 3"),
        ({"weather": "fog"}, "'weather'"),
    ]
    for change, words in faults:
        with pytest.raises(SetUpError, match=words):
            set_up(options, {**sound, **change})
    with pytest.raises(SetUpError, match="'turn'"):
        set_up(options, {name: value for name, value in sound.items() if name != "turn"})


def read_position(options: Options) -> dict[str, Any]:
    """Return a small sound position."""
    hands = {f"player_{seat}": ["clue", "train"] for seat in range(options.num_players)}
    return {"hands": hands, "current": "london", "location": "city", "turn": "player_0"}


# --- random games ---


@dataclass
class Games:
    """A batch of games that are played at random, all seats alike.

    Args:
        options: of the games.
        seeds: of the deals and of the choices.
    """

    options: Options
    seeds: np.ndarray

    def __post_init__(self) -> None:
        self.rules = make_rules(self.options)
        size = len(self.seeds)
        self.states = new_states(size)
        deal(self.rules, self.states, self.seeds)
        self.mask = np.zeros((size, num_actions(self.options)), np.uint8)
        self.taken = np.zeros(size, np.uint8)
        self.rewards = np.zeros((size, self.options.num_players))
        self.rngs = [np.random.default_rng(int(seed)) for seed in self.seeds]

    def step(self) -> None:
        """Take a random legal action in each game that goes on."""
        legal(self.rules, self.states, self.mask)
        actions = np.full(len(self.seeds), -1)
        for row in np.flatnonzero(self.mask.any(1)):
            actions[row] = self.rngs[row].choice(np.flatnonzero(self.mask[row]))
        step(self.rules, self.states, actions, self.taken, self.rewards)
        assert (self.taken == (actions >= 0)).all()

    def moments(self, most: int = 100_000) -> Iterator[np.ndarray]:
        """Iterate over the states at every decision, then those at the end."""
        for _ in range(most):
            yield self.states
            if (self.states["actor"] < 0).all():
                return
            self.step()


def check_cards(states: np.ndarray) -> None:
    """Check that all cards are somewhere, and where they may be."""
    placed = states["hands"].sum(1, dtype=np.int64) + states["discards"]
    for row, state in enumerate(states):
        placed[row] += np.bincount(state["pile"][: state["pile_size"]], minlength=NUM_TITLES)
        for field in ("current", "in_play", "drawn"):
            if state[field] >= 0:
                placed[row, state[field]] += 1
        placed[row, AFOOT] += state["current"] != AFOOT
        assert (state["pile"][state["pile_size"] :] == -1).all()
    assert (placed == COPIES).all()
    assert (states["hands"].sum(2) == states["hand_sizes"]).all()
    held = (states["hands"] > 0) @ (np.int64(1) << np.arange(NUM_TITLES))
    assert (held == states["held"]).all()
    assert not np.isin(states["current"], [*SAY_TITLES, *VILLAIN_TITLES, MASTERMIND]).any()
    located = states[np.isin(states["current"], LOCATION_TITLES)]
    city = [TITLES.index(name) for name in ("london", "baker-street", "scotland-yard", "west-end", "fleet-street")]
    assert (located["city"] == np.isin(located["current"], city)).all()


def check_tokens(rules: np.ndarray, states: np.ndarray) -> None:
    """Check that all tokens are somewhere, and the last Book where it must be."""
    for kind in range(NUM_SAY_TYPES):
        worth = np.concatenate([states["say"][:, :, kind], states["say_pool"][:, kind]], axis=1)
        assert (np.sort(worth)[:, -SAY_TOKENS:] == rules["say_points"][0, kind]).all()
        assert (np.sort(worth)[:, :-SAY_TOKENS] == 0).all()
        assert ((states["say_pool"][:, kind] > 0).sum(1) == states["say_sizes"][:, kind]).all()
    assert ((states["telegrams"] < 0).sum(1) == states["telegram_size"]).all()
    assert (states["books"][states["phase"] != FINISHED, BOOKS.index("last-bow")] < 0).all()


def check_turns(num_players: int, states: np.ndarray) -> None:
    """Check what holds whenever a turn begins."""
    begun = states[states["phase"] == TURN]
    for field in ("in_play", "drawn", "set_down", "tried", "card", "player", "target", "arrester", "got"):
        assert (begun[field] == -1).all()
    only = ~title_mask([TITLES.index("alibi"), MASTERMIND])
    # Nobody has an empty hand, or only Interrupts; random games never make 50 Impromptu Arrests in a turn.
    assert ((begun["held"][:, :num_players] & only) != 0).all()
    for state in states:
        assert (np.diff(np.flatnonzero(state["tried"] >= 0)) == 1).all()
        assert not state["moved"].any()
        assert not state["padding"].any()


def check_sheets(states: np.ndarray) -> None:
    """Check that the bounds of every sheet hold the truth, in phase DRAWN the drawn card being one of the pile."""
    for state in states[states["phase"] != FINISHED]:
        pile = np.bincount(state["pile"][: state["pile_size"]], minlength=NUM_TITLES)
        for viewer in np.flatnonzero(state["hand_sizes"] >= 0):
            truth = np.vstack([state["hands"], pile])
            truth[viewer] = 0
            if state["drawn"] >= 0 and viewer != state["turn"]:
                truth[-1, state["drawn"]] += 1
            if state["most"][viewer].any():
                assert (state["least"][viewer, :, :NUM_TITLES] <= truth).all()
                assert (truth <= state["most"][viewer, :, :NUM_TITLES]).all()


def check_everything(games: Games) -> None:
    """Check the invariants of a batch at one moment."""
    states = games.states
    check_cards(states)
    check_tokens(games.rules, states)
    check_turns(games.options.num_players, states)
    check_sheets(states)
    legal(games.rules, states, games.mask)
    number = games.mask.sum(1)
    assert ((number == 0) == (states["phase"] == FINISHED)).all()
    assert (number[(states["phase"] != TURN) & (states["phase"] != FINISHED)] > 1).all()
    assert np.allclose(games.rewards.sum(1), 0.0)


@pytest.mark.parametrize("named", VARIANTS.values(), ids=VARIANTS)
def test_invariants_hold_at_every_decision(named: dict[str, Any]) -> None:
    for num_players in range(3, 9):
        games = Games(Options(num_players, **named), np.arange(2, dtype=np.uint64))
        for _ in games.moments(150):
            check_everything(games)


@pytest.mark.slow
@pytest.mark.parametrize("num_players", range(3, 9))
@pytest.mark.parametrize("named", VARIANTS.values(), ids=VARIANTS)
def test_invariants_hold_in_many_games(named: dict[str, Any], num_players: int) -> None:
    games = Games(Options(num_players, **named), np.arange(20, dtype=np.uint64))
    for _ in games.moments():
        check_everything(games)
    ended = np.zeros(20, np.uint8)
    ends(games.rules, games.states, ended)
    assert ended.all()
    places = np.zeros((20, num_players), np.int32)
    standings(games.rules, games.states, places)
    assert (places.min(1) == 1).all()


def test_whoever_closes_the_only_case_wins_where_cases_are_paid_for() -> None:
    games = Games(Options(4, cases=1, reward="case"), np.arange(100, dtype=np.uint64))
    for _ in games.moments():
        pass
    places = np.zeros((100, 4), np.int32)
    standings(games.rules, games.states, places)
    closers = games.states["last_closer"]
    assert (closers >= 0).all()
    assert ((places == 1) == (np.arange(4) == closers[:, None])).all()
    assert (places[places != 1] == 2).all()


def test_a_row_of_a_batch_is_a_batch_of_one() -> None:
    options = Options(5, fast_play=True)
    seeds = np.array([3, 1, 4, 15, 9], np.uint64)
    batch = Games(options, seeds)
    singles = [Games(options, seeds[row : row + 1]) for row in range(len(seeds))]
    for _ in batch.moments(200):
        assert batch.states.tobytes() == b"".join(single.states.tobytes() for single in singles)
        for single in singles:
            single.step()


def digest_of_random_games() -> str:
    """Return a digest of all states, masks and rewards of some random games."""
    found = hashlib.sha256()
    for num_players, named in ((3, {"reward": "points"}), (5, {"fast_play": True, "max_turns": 40})):
        games = Games(Options(num_players, **named), np.arange(2, dtype=np.uint64))
        for states in games.moments(60):
            for part in (states, games.mask, games.rewards):
                found.update(part.tobytes())
    return found.hexdigest()


def test_the_same_source_without_compilation_gives_the_same_bytes() -> None:
    root = Path(__file__).parent.parent
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    program = "from tests.test_holmes_rules import digest_of_random_games as d; print(d())"
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.stdout.split() == [digest_of_random_games()], done.stderr


def test_an_illegal_action_changes_nothing() -> None:
    games = Games(Options(4), np.array([11], np.uint64))
    pay = np.ones((1, 4))
    for states in games.moments(60):
        legal(games.rules, states, games.mask)
        before = states.tobytes()
        for action in [-1, games.mask.size, *np.flatnonzero(games.mask[0] == 0)]:
            step(games.rules, states, np.array([action]), games.taken, pay)
            assert not games.taken[0]
            assert not pay.any()
            assert states.tobytes() == before


def test_every_byte_of_a_state_is_of_a_field() -> None:
    assert sum(STATE[name].itemsize for name in STATE.names or ()) == STATE.itemsize


def test_what_a_match_counts_adds_up() -> None:
    games = Games(Options(4), np.arange(3, dtype=np.uint64))
    for _ in games.moments():
        pass
    found = counts(games.rules, games.states)
    assert (found["closed"].sum(1) == found["cases"]).all()
    assert (found["arrests"].sum(1) == found["books"].sum(1)).all()
    told = [list(reveal(games.options, state)["points"].values()) for state in games.states]
    assert found["points"].tolist() == told


# --- what is to be expected of random games ---

# For each number of players: means over many random games, with the half-width of their 99 % interval.
EXPECTED: dict[int, dict[str, tuple[float, float]]] = {
    3: {
        "turns": (309, 23),
        "decisions": (429, 33),
        "cases": (5.84, 0.29),
        "arrests": (0.774, 0.024),
        "hand": (6.40, 0.15),
    },
    4: {
        "turns": (302, 19),
        "decisions": (442, 29),
        "cases": (6.22, 0.22),
        "arrests": (0.841, 0.021),
        "hand": (5.87, 0.09),
    },
    5: {
        "turns": (326, 20),
        "decisions": (496, 32),
        "cases": (6.93, 0.17),
        "arrests": (0.848, 0.019),
        "hand": (5.67, 0.06),
    },
    6: {
        "turns": (382, 20),
        "decisions": (611, 33),
        "cases": (7.22, 0.17),
        "arrests": (0.830, 0.020),
        "hand": (5.47, 0.04),
    },
    7: {
        "turns": (406, 20),
        "decisions": (673, 34),
        "cases": (7.24, 0.17),
        "arrests": (0.828, 0.020),
        "hand": (5.39, 0.04),
    },
    8: {
        "turns": (425, 21),
        "decisions": (761, 38),
        "cases": (7.23, 0.18),
        "arrests": (0.830, 0.020),
        "hand": (5.42, 0.04),
    },
}
MORE: dict[int, dict[str, tuple[float, float]]] = {
    3: {"total": (34.3, 1.3), "winner": (16.2, 0.9), "stuck": (0.523, 0.011)},
    4: {"total": (39.0, 1.0), "winner": (15.8, 0.7), "stuck": (0.456, 0.010)},
    5: {"total": (47.8, 0.9), "winner": (16.1, 0.6), "stuck": (0.408, 0.008)},
    6: {"total": (57.4, 0.8), "winner": (15.8, 0.6), "stuck": (0.403, 0.007)},
    7: {"total": (67.9, 0.8), "winner": (15.1, 0.5), "stuck": (0.383, 0.005)},
    8: {"total": (78.6, 0.8), "winner": (14.8, 0.5), "stuck": (0.371, 0.005)},
}


def measured(num_players: int, size: int) -> dict[str, float]:
    """Play random games and return the means."""
    games = Games(Options(num_players), np.arange(size, dtype=np.uint64))
    draw_at = int(games.rules["draw_at"][0])
    decisions = 0
    hands: list[int] = []
    stuck: list[int] = []
    totals: list[int] = []
    before = games.states["arrests"].sum(1)
    for states in games.moments():
        going = states["actor"] >= 0
        decisions += int(going.sum())
        begun = states[states["phase"] == TURN]
        hands += begun["hand_sizes"][np.arange(len(begun)), begun["turn"]].tolist()
        legal(games.rules, states, games.mask)
        stuck += games.mask[states["phase"] == TURN, draw_at].tolist()
        after = states["arrests"].sum(1)
        totals += states["last_total"][after > before].tolist()
        before = after
    found = counts(games.rules, games.states)
    return {
        "turns": float(found["turns"].mean()),
        "decisions": decisions / size,
        "cases": float(found["cases"].mean()),
        "arrests": float(found["arrests"].sum() / found["closed"].sum()),
        "hand": float(np.mean(hands)),
        "stuck": float(np.mean(stuck)),
        "total": float(np.mean(totals)),
        "winner": float(found["points"].max(1).mean()),
    }


@pytest.mark.slow
@pytest.mark.parametrize("num_players", range(3, 9))
def test_random_games_look_as_they_should(num_players: int) -> None:
    found = measured(num_players, 1000)
    for name, (mean, half_width) in {**EXPECTED[num_players], **MORE[num_players]}.items():
        assert abs(found[name] - mean) <= 2 * half_width, (name, found[name], mean)
