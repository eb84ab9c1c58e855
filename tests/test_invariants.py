"""The invariants of a game hold in whatever Hypothesis plays, and a broken one is noticed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sleuth_env import sleuth as kernels
from sleuth_env.game import GOING_ON, TERMINATED
from sleuth_env.sleuth import invariants
from sleuth_env.sleuth.cards import ALL_GEMS, Options, make_rules, num_actions
from tests.support.oracle import ACTIONS, CARDS_IN_HAND, NUMBERS
from tests.support.strategies import all_options

SHARE = st.floats(0, 1, exclude_max=True)


class GameMachine(RuleBasedStateMachine):
    """Play any legal and try any illegal actions."""

    @initialize(options=all_options(), seed=st.integers(0, 2**64 - 1))
    def deal(self, options: Options, seed: int) -> None:
        self.options = options
        self.rules = make_rules(options)
        self.states = kernels.new_states(1)
        self.taken = np.zeros(1, "u1")
        self.rewards = np.zeros((1, 7))
        kernels.deal(self.rules, self.states, np.array([seed], "u8"))
        self.turns_seen = 1

    def legal(self, *verbs: str) -> list[int]:
        """Return the legal actions, of some verbs if any are named."""
        marks = np.zeros((1, num_actions(self.options)), "u1")
        kernels.legal(self.rules, self.states, marks)
        return [
            int(i) for i in np.flatnonzero(marks[0]) if not verbs or ACTIONS[self.options.num_players][i][0] in verbs
        ]

    def take(self, actions: list[int], share: float) -> None:
        kernels.step(self.rules, self.states, np.array([actions[int(share * len(actions))]]), self.taken, self.rewards)
        assert self.taken[0] == 1

    @property
    def going_on(self) -> bool:
        return bool(self.states["phase"][0] != kernels.FINISHED)

    @precondition(lambda self: self.legal("ask", "pass", "exchange"))
    @rule(
        shares=st.lists(SHARE, min_size=1, max_size=40),
        verbs=st.sampled_from([("ask", "pass"), ("exchange", "pass"), ("ask", "pass", "exchange")]),
    )
    def play_without_accusing(self, shares: list[float], verbs: tuple[str, ...]) -> None:
        for share in shares:
            if self.legal(*verbs):
                self.take(self.legal(*verbs), share)
                self.nothing_is_broken()

    @precondition(lambda self: self.legal("final"))
    @rule(share=SHARE)
    def ask_a_final_question(self, share: float) -> None:
        self.take(self.legal("final"), share)

    @precondition(lambda self: self.going_on)
    @rule(share=SHARE, rightly=st.booleans())
    def accuse(self, share: float, rightly: bool) -> None:
        left_to_name = int(self.states["missing_gems"][0]) & ~int(self.states["accusing"][0])
        if rightly and left_to_name:
            gem = left_to_name.bit_length() - 1
            self.take([int(self.rules["accuse_at"][0]) + gem], 0)
        else:
            self.take(self.legal("accuse"), share)

    @precondition(lambda self: not self.going_on)
    @rule(seed=st.integers(0, 2**64 - 1))
    def deal_again(self, seed: int) -> None:
        kernels.deal(self.rules, self.states, np.array([seed], "u8"))
        self.rewards = np.zeros((1, 7))
        self.turns_seen = 1

    @rule(action=st.integers(-5, 1300))
    def try_an_illegal_action(self, action: int) -> None:
        if action not in self.legal():
            before = self.states.tobytes()
            kernels.step(self.rules, self.states, np.array([action]), self.taken, np.zeros((1, 7)))
            assert self.taken[0] == 0
            assert self.states.tobytes() == before

    @invariant()
    def nothing_is_broken(self) -> None:
        assert kernels.problems(self.rules, self.states) == []

    @invariant()
    def somebody_can_act_until_the_game_is_finished(self) -> None:
        assert bool(self.legal()) == self.going_on

    @invariant()
    def turns_never_go_back_nor_beyond_the_limit(self) -> None:
        turn = int(self.states["turn_number"][0])
        assert self.turns_seen <= turn <= self.options.max_turns
        self.turns_seen = turn

    @invariant()
    def rewards_add_up_to_nothing_unless_the_game_was_cut_short(self) -> None:
        rewards = self.rewards
        ended = np.zeros(1, "u1")
        kernels.ends(self.rules, self.states, ended)
        assert (ended[0] == GOING_ON) == self.going_on
        if ended[0] == TERMINATED and self.states["place"].any():
            assert abs(rewards.sum()) < 1e-9
        if self.going_on:
            assert not rewards.any()


TestGame = GameMachine.TestCase
TestGame.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


# --- every invariant that is broken is noticed ---

OPTIONS = Options(3, winners=2, super_sleuth=True, first_player="seat_0")
Breaker = Callable[[np.void], object]


def change(field: str, where: object, value: object) -> Breaker:
    """Break a state by writing a value into a field."""

    def breaker(state: np.void) -> None:
        if where is None:
            state[field] = value
        else:
            state[field][where] = value

    return breaker


def give_a_gem_twice(state: np.void) -> None:
    state["hands"][0] ^= lowest_bit(state["hands"][0]) | lowest_bit(state["hands"][1])


def lose_a_gem_of_the_table(state: np.void) -> None:
    state["table"] ^= lowest_bit(state["table"])


def pass_a_gem_on(state: np.void) -> None:
    gem = lowest_bit(state["hands"][0])
    state["hands"][0] ^= gem
    state["hands"][1] ^= gem


def keep_a_missing_gem(state: np.void) -> None:
    state["table"] |= state["missing_gems"]
    state["missing_gems"] = 0


def draw_a_card_twice(state: np.void) -> None:
    state["pile"][0] = state["pile"][1]


def give_a_card_away(state: np.void) -> None:
    card = lowest_bit(state["search"][0])
    state["search"][0] ^= card
    state["search"][1] ^= card


def discard_a_card_too_much(state: np.void) -> None:
    card = lowest_bit(state["search"][0])
    state["search"][0] ^= card
    state["discards"] |= card


def announce(state: np.void) -> None:
    target = int(np.flatnonzero(state["answers"].max(axis=1) >= 0)[0])
    question = int(np.flatnonzero(state["answers"][target] >= 0)[0])
    state["answers"][target, question] += 1


def forget_an_asker(state: np.void) -> None:
    state["askers"][...] = 0


def finish_too_early(state: np.void) -> None:
    state["phase"] = kernels.FINISHED
    state["actor"] = -1


def hand_the_turn_on(state: np.void) -> None:
    state["turn"] = state["actor"] = (state["turn"] + 1) % 3


def offer_twice(state: np.void) -> None:
    state["offers"][:3] = state["actor"]


def forget_the_events(state: np.void) -> None:
    state["events"][:] = -1
    state["events"][:, 0] = kernels.NO_EVENT


def lowest_bit(mask: int) -> int:
    return int(mask) & -int(mask)


# A phase, a way to break a game in it, and the fault that is found.
BREAKERS: list[tuple[str, str, Breaker]] = [
    ("TURN", "UNUSED_BYTES", change("padding", 1, 1)),
    ("TURN", "HANDS_RANGE", change("hands", 0, -1)),
    ("TURN", "HANDS_RANGE", change("hands", 6, 1 << 36)),
    ("TURN", "MISSING_RANGE", change("missing_gems", None, 1 << 40)),
    ("TURN", "TABLE_RANGE", change("table", None, -5)),
    ("TURN", "SEARCH_RANGE", change("search", 1, 1 << 54)),
    ("TURN", "DISCARDS_RANGE", change("discards", None, 1 << 62)),
    ("TURN", "PILE_SIZE_RANGE", change("pile_size", None, 10**7)),
    ("TURN", "PILE_SIZE_RANGE", change("pile_size", None, -1)),
    ("TURN", "PILE_RANGE", change("pile", 0, 54)),
    ("TURN", "PILE_RANGE", change("pile", 53, -1)),
    ("TURN", "PHASE_RANGE", change("phase", None, 5)),
    ("TURN", "TURN_RANGE", change("turn", None, 10**6)),
    ("TURN", "TURN_NUMBER_RANGE", change("turn_number", None, 0)),
    ("TURN", "TURN_NUMBER_RANGE", change("turn_number", None, 301)),
    ("TURN", "ACTOR_RANGE", change("actor", None, 2**31 - 1)),
    ("TURN", "ACTOR_RANGE", change("actor", None, -1)),
    ("TURN", "ACTOR_RANGE", change("actor", None, 3)),
    ("FINISHED", "ACTOR_RANGE", change("actor", None, 0)),
    ("TURN", "STANDING_RANGE", change("standing", 2, 3)),
    ("OFFER", "OFFERS_RANGE", change("offer_at", None, 6)),
    ("OFFER", "OFFERS_RANGE", change("offers", 6, 3)),
    ("OFFER", "OFFERS_RANGE", change("num_offers", None, 4)),
    ("TURN", "EVENTS_RANGE", change("events", (0, 1), 3)),
    ("TURN", "EVENTS_RANGE", change("events", (0, 3), 43)),
    ("TURN", "ANSWERS_RANGE", change("answers", (1, 0), -2)),
    ("TURN", "ASKERS_RANGE", change("askers", (1, 0), 8)),
    ("TURN", "ASKERS_RANGE", change("askers", (1, 0), 2)),
    ("TURN", "UNUSED_SEATS", change("hands", 3, 1)),
    ("TURN", "UNUSED_SEATS", change("answers", (4, 0), 0)),
    ("TURN", "GEMS_LOST", give_a_gem_twice),
    ("TURN", "GEMS_LOST", lose_a_gem_of_the_table),
    ("TURN", "HANDS_WRONG", pass_a_gem_on),
    ("TURN", "HANDS_WRONG", keep_a_missing_gem),
    ("TURN", "SEARCH_LOST", draw_a_card_twice),
    ("TURN", "SEARCH_LOST", change("discards", None, 1 << 53 | 1 << 52 | 1 << 51)),
    ("TURN", "SEARCH_LOST", change("pile_size", None, 3)),
    ("TURN", "SEARCH_WRONG", give_a_card_away),
    ("TURN", "SEARCH_WRONG", discard_a_card_too_much),
    ("TURN", "STANDING_WRONG", change("standing", 1, kernels.RIGHT)),
    ("TURN", "ACCUSED_WRONG", change("standing", 1, kernels.OUT)),
    ("TURN", "ACCUSED_WRONG", change("standing", slice(0, 3), kernels.OUT)),
    ("TURN", "ACCUSED_WRONG", change("accused", 1, 1)),
    ("TURN", "PLACE_WRONG", change("num_right", None, 1)),
    ("TURN", "PLACE_WRONG", change("place", 0, 1)),
    ("FINISHED", "PLACE_WRONG", change("place", slice(None), 0)),
    ("FINISHED", "TRUNCATED_WRONG", change("truncated", None, 1)),
    ("OFFER", "TRUNCATED_WRONG", change("truncated", None, 2)),
    ("TURN", "ENDED_WRONG", finish_too_early),
    ("TURN", "ACTOR_WRONG", change("actor", None, 2)),
    ("TURN", "TURN_WRONG", hand_the_turn_on),
    ("TURN", "ACCUSING_WRONG", change("accusing", None, 1)),
    ("OFFER", "SEARCH_WRONG", change("asked", None, 0)),
    ("OFFER", "ASKED_WRONG", change("asked", None, 2)),
    ("TURN", "ASKED_WRONG", change("phase", None, kernels.SECOND)),
    ("OFFER", "OFFERS_WRONG", change("num_offers", None, 0)),
    ("OFFER", "OFFERS_WRONG", change("num_offers", None, 2)),
    ("OFFER", "OFFERS_WRONG", offer_twice),
    ("OFFER", "ANSWERS_WRONG", announce),
    ("OFFER", "ANSWERS_WRONG", forget_an_asker),
    ("TURN", "ANSWERS_WRONG", change("answers", (1, 0), 0)),
    ("TURN", "SEEN_WRONG", change("seen", (0, 1), ALL_GEMS)),
    ("TURN", "SPENT_WRONG", change("spent", 2, 1)),
    ("TURN", "FIRST_ASKED_WRONG", change("first_target", None, 1)),
    ("OFFER", "FIRST_ASKED_WRONG", change("first_elements", None, 3)),
    ("TURN", "EVENTS_WRONG", change("events", (5, 2), 0)),
    ("OFFER", "EVENTS_WRONG", change("events", (0, 5), 0)),
    ("OFFER", "EVENTS_WRONG", change("events", (0, 0), kernels.EXCHANGE_EVENT)),
    ("OFFER", "EVENTS_WRONG", forget_the_events),
    ("TURN", "EXCHANGES_WRONG", change("exchanges", 1, 200)),
]


def sound_game(phase: str) -> np.ndarray:
    """Play to a moment of a phase at which nothing is wrong."""
    numbers = NUMBERS[3]
    rules = make_rules(OPTIONS)
    rng = np.random.default_rng(2)
    states = kernels.new_states(1)
    taken = np.zeros(1, "u1")
    marks = np.zeros((1, num_actions(OPTIONS)), "u1")
    kernels.deal(rules, states, np.array([9], "u8"))
    states["turn"] = states["actor"] = 0
    kernels.legal(rules, states, marks)
    for _ in range(300):
        if states["phase"][0] == getattr(kernels, phase):
            return states
        kernels.legal(rules, states, marks)
        asks = np.flatnonzero(marks[0, : numbers["final", 1, "red"]])
        named = numbers[
            "accuse",
            ACTIONS[3][numbers["accuse", "red-diamond-solitaire"] + int(states["missing_gems"][0]).bit_length() - 1][1],
        ]
        action = named if phase == "FINISHED" else int(rng.choice(asks))
        kernels.step(rules, states, np.array([action]), taken, np.zeros((1, 7)))
    raise AssertionError(f"no {phase}")


@pytest.mark.parametrize(
    ("phase", "fault", "breaker"), BREAKERS, ids=[f"{fault}-{i}" for i, (_, fault, _) in enumerate(BREAKERS)]
)
def test_a_broken_invariant_is_noticed(phase: str, fault: str, breaker: Breaker) -> None:
    rules = make_rules(OPTIONS)
    states = sound_game(phase)
    assert kernels.problems(rules, states) == []
    breaker(states[0])
    (found,) = kernels.problems(rules, states)
    field, wrong = invariants._SAID[getattr(invariants, fault)]
    assert found.startswith(f"game 0: {field} is ")
    assert found.endswith(f": {wrong}")


def test_every_fault_is_tried() -> None:
    numbers = {getattr(invariants, fault) for _, fault, _ in BREAKERS}
    assert numbers == set(invariants._SAID)


def test_every_unsound_game_of_a_batch_is_named() -> None:
    rules = make_rules(OPTIONS)
    states = kernels.new_states(4)
    kernels.deal(rules, states, np.arange(4, dtype="u8"))
    states["actor"][[1, 3]] = 77
    wrong = "actor is 77: not a seat, nor -1 in a finished game"
    assert kernels.problems(rules, states) == [f"game 1: {wrong}", f"game 3: {wrong}"]


def test_what_has_not_been_dealt_is_not_sound() -> None:
    assert kernels.problems(make_rules(OPTIONS), kernels.new_states(1))
    assert kernels.problems(make_rules(OPTIONS), np.ones(kernels.STATE.itemsize, "u1").view(kernels.STATE))


@pytest.mark.parametrize("whole", [True, False])
def test_random_bytes_are_looked_at_without_harm(whole: bool) -> None:
    """All bytes at random, or one field of a game."""
    rng = np.random.default_rng(1)
    rules = make_rules(OPTIONS)
    size = kernels.STATE.itemsize
    rows = sound_game("OFFER").repeat(5_000)
    cells = rows.view("u1").reshape(-1, size)
    cells.flags.writeable = True
    if whole:
        cells[:] = rng.integers(0, 256, cells.shape, "u1")
    else:
        at = rng.integers(8, size - 8, len(cells))
        for column in range(8):
            cells[np.arange(len(cells)), at + column] = rng.integers(0, 256, len(cells), "u1")
    assert len(kernels.problems(rules, rows)) >= 0.95 * len(rows)


def test_unused_seats_stay_empty() -> None:
    states = kernels.new_states(50)
    kernels.deal(make_rules(Options(3)), states, np.arange(50, dtype="u8"))
    assert not states["hands"][:, 3:].any()
    assert not states["search"][:, 3:].any()
    assert (states["answers"] == -1).all()
    assert [int(hand).bit_count() for hand in states["hands"][0, :3]] == [CARDS_IN_HAND[3]] * 3
