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
        assert flags_of(self.rules, self.states) == 0

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


def flags_of(rules: np.ndarray, states: np.ndarray) -> int:
    """Return the flags of the invariants that a game breaks."""
    flags = np.full(1, -1)
    kernels.problems(rules, states, flags)
    return int(flags[0])


# --- every invariant that is broken is noticed ---

OPTIONS = Options(3, winners=2, super_sleuth=True)
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


def lowest_bit(mask: int) -> int:
    return int(mask) & -int(mask)


BREAKERS: list[tuple[str, str, Breaker]] = [
    ("TURN", "GEMS_LOST", give_a_gem_twice),
    ("TURN", "GEMS_LOST", lose_a_gem_of_the_table),
    ("TURN", "HANDS_WRONG", pass_a_gem_on),
    ("TURN", "HANDS_WRONG", keep_a_missing_gem),
    ("TURN", "SEARCH_LOST", draw_a_card_twice),
    ("TURN", "SEARCH_LOST", change("discards", None, 1 << 53 | 1 << 52 | 1 << 51)),
    ("TURN", "SEARCH_LOST", change("pile_size", None, 3)),
    ("TURN", "SEARCH_WRONG", give_a_card_away),
    ("TURN", "SEARCH_WRONG", discard_a_card_too_much),
    ("TURN", "ACTOR_WRONG", change("actor", None, -1)),
    ("TURN", "ACTOR_WRONG", change("actor", None, 2)),
    ("TURN", "ACTOR_WRONG", change("actor", None, 5)),
    ("FINISHED", "ACTOR_WRONG", change("actor", None, 0)),
    ("OFFER", "OFFERS_WRONG", change("offer_at", None, 6)),
    ("OFFER", "OFFERS_WRONG", change("num_offers", None, 0)),
    ("OFFER", "ANSWER_WRONG", announce),
    ("OFFER", "ANSWER_WRONG", forget_an_asker),
    ("TURN", "ANSWER_WRONG", change("answers", (1, 0), 0)),
    ("TURN", "SEEN_WRONG", change("seen", (0, 1), ALL_GEMS)),
    ("TURN", "STANDING_WRONG", change("standing", 1, kernels.OUT)),
    ("TURN", "STANDING_WRONG", change("standing", 1, kernels.RIGHT)),
    ("TURN", "STANDING_WRONG", change("accused", 1, 1)),
    ("TURN", "STANDING_WRONG", change("num_right", None, 1)),
    ("FINISHED", "STANDING_WRONG", change("place", slice(None), 0)),
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
    ("phase", "flag", "breaker"), BREAKERS, ids=[f"{flag}-{i}" for i, (_, flag, _) in enumerate(BREAKERS)]
)
def test_a_broken_invariant_is_noticed(phase: str, flag: str, breaker: Breaker) -> None:
    rules = make_rules(OPTIONS)
    states = sound_game(phase)
    assert flags_of(rules, states) == 0
    breaker(states[0])
    assert flags_of(rules, states) & getattr(invariants, flag)


def test_every_flag_is_tried() -> None:
    names = {
        name
        for name, value in vars(invariants).items()
        if name.endswith(("_LOST", "_WRONG")) and isinstance(value, int)
    }
    assert {flag for _, flag, _ in BREAKERS} == names


def test_the_flags_are_different_bits() -> None:
    names = {flag for _, flag, _ in BREAKERS}
    bits = [getattr(invariants, name) for name in names]
    assert len(set(bits)) == len(bits)
    assert all(bit.bit_count() == 1 for bit in bits)


def test_unused_seats_stay_empty() -> None:
    states = kernels.new_states(50)
    kernels.deal(make_rules(Options(3)), states, np.arange(50, dtype="u8"))
    assert not states["hands"][:, 3:].any()
    assert not states["search"][:, 3:].any()
    assert (states["answers"] == -1).all()
    assert [int(hand).bit_count() for hand in states["hands"][0, :3]] == [CARDS_IN_HAND[3]] * 3
