"""Play the kernels and the oracle side by side and say where they differ."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sleuth_env import sleuth as kernels
from sleuth_env.game import GOING_ON, TERMINATED, TRUNCATED
from sleuth_env.sleuth.cards import Options, make_rules
from tests.support.oracle import ACTIONS, GEMS, QUESTIONS, SEARCH_CARDS, Event, Oracle, words

GEM_BIT = {gem: 1 << i for i, gem in enumerate(GEMS)}
CARD_BIT = {card: 1 << i for i, card in enumerate(SEARCH_CARDS)}
QUESTION_INDEX = {question: i for i, question in enumerate(QUESTIONS)}
CARD_INDEX = {card: i for i, card in enumerate(SEARCH_CARDS)}
PHASE_NUMBER = {"turn": 0, "second": 1, "offer": 2, "must accuse": 3, "finished": 4}
STANDING_NUMBER = {"in": 0, "out": 1, "right": 2, "left": 3}
EVENT_NUMBER = {"ask": 1, "final": 2, "exchange": 3, "right": 4, "wrong": 5, "accused": 6}
# Fields that hold leftovers beyond the part that is in use; only that part is compared.
PARTLY_USED = ("pile", "offers", "num_offers", "offer_at")


def gem_mask(gems: Iterable[str]) -> int:
    """Return the kernel's mask of a set of gems."""
    return sum(GEM_BIT[gem] for gem in gems)


def card_mask(cards: Iterable[str]) -> int:
    """Return the kernel's mask of a set of search cards."""
    return sum(CARD_BIT[card] for card in cards)


def event_row(event: Event) -> list[int]:
    """Return the kernel's row of a public event."""
    numbers = (event.target, QUESTION_INDEX.get(event.question), CARD_INDEX.get(event.card), event.count)
    return [EVENT_NUMBER[event.verb], event.actor, *(-1 if number is None else number for number in numbers)]


class Duel:
    """One game of the oracle, with the state that the kernel should have.

    Args:
        options: the game that is played.
        seed: the seed of the deal.
        expected: STATE [1], kept up to date; a new one if it is not given.
    """

    def __init__(self, options: Options, seed: int, expected: np.ndarray | None = None) -> None:
        self.oracle = Oracle(options, seed)
        self.expected = kernels.new_states(1) if expected is None else expected
        self.events_copied = 0
        self._copy_deal()
        self._copy()

    def step(self, action: int) -> bool:
        """Take an action in the oracle's game."""
        taken = self.oracle.step(action)
        self._copy()
        return taken

    def _copy_deal(self) -> None:
        game = self.oracle
        row = self.expected[0]
        row["hands"][: game.n] = [gem_mask(hand) for hand in game.hands]
        row["missing_gems"] = gem_mask(game.missing)
        row["table"] = gem_mask(game.table)

    def _copy(self) -> None:
        game = self.oracle
        row = self.expected[0]
        row["rng"] = game.random.state
        row["search"][: game.n] = [card_mask(cards) for cards in game.search]
        row["discards"] = card_mask(game.discards)
        row["turn"] = game.turn
        row["turn_number"] = game.turn_number
        row["actor"] = -1 if game.actor is None else game.actor
        row["phase"] = PHASE_NUMBER[game.phase]
        row["accusing"] = gem_mask(game.naming)
        row["truncated"] = game.truncated
        row["num_right"] = len(game.right)
        row["pile_size"] = len(game.pile)
        self._copy_interrogations()
        self._copy_players()
        for event in game.events[self.events_copied :]:
            self._copy_event(event)

    def _copy_interrogations(self) -> None:
        asked = self.oracle.interrogations
        row = self.expected[0]
        row["asked"] = len(asked)
        row["first_target"], row["first_elements"] = (asked[0][0], len(words(asked[0][1]))) if asked else (-1, 0)

    def _copy_players(self) -> None:
        game = self.oracle
        row = self.expected[0]
        for seat, gems in game.accusations.items():
            row["accused"][seat] = gem_mask(gems)
            row["standing"][seat] = STANDING_NUMBER[game.standing_seen_by(seat, seat)]
        for seat, place in game.places().items():
            row["place"][seat] = place

    def _copy_event(self, event: Event) -> None:
        row = self.expected[0]
        n = self.oracle.n
        self.events_copied += 1
        row["events"][1:n] = row["events"][: n - 1].copy()
        row["events"][0] = event_row(event)
        if event.verb == "exchange":
            row["exchanges"][event.actor] += 1
        if event.card is not None:
            row["spent"][event.actor] |= CARD_BIT[event.card]
        if event.question is not None:
            question = QUESTION_INDEX[event.question]
            row["answers"][event.target, question] = event.count
            row["askers"][event.target, question] |= 1 << event.actor
            row["seen"][event.actor, event.target] |= gem_mask(event.shown)

    def pile_and_queue(self) -> tuple[list[int], list[int]]:
        """Return the draw pile, next card last, and the seats in the queue of offers."""
        game = self.oracle
        queue = [game.actor, *game.queue] if game.phase == "offer" else []
        return [CARD_INDEX[card] for card in game.pile], queue


def pile_and_queue(state: np.void) -> tuple[list[int], list[int]]:
    """Return the same of a kernel's state."""
    queue = state["offers"][state["offer_at"] : state["num_offers"]].tolist() if state["phase"] == kernels.OFFER else []
    return state["pile"][: state["pile_size"]].tolist(), queue


def assert_equal(field: str, found: np.ndarray, expected: np.ndarray) -> None:
    """Fail, naming the field, where two arrays differ."""
    if not (found == expected).all():
        np.testing.assert_array_equal(found, expected, err_msg=field)


def assert_states_agree(states: np.ndarray, expected: np.ndarray, duels: Sequence[Duel]) -> None:
    """Compare every field of every state with the oracle's game."""
    for field in states.dtype.names:
        if field not in PARTLY_USED:
            assert_equal(f"field {field}", states[field], expected[field])
    for state, duel in zip(states, duels, strict=True):
        assert pile_and_queue(state) == duel.pile_and_queue(), "draw pile, offers"


def assert_legal_actions_agree(options: Options, states: np.ndarray, duels: Sequence[Duel]) -> None:
    """Compare the marks of legal actions with the oracle's sets."""
    marks = np.full((states.size, len(ACTIONS[options.num_players])), 7, "u1")
    kernels.legal(make_rules(options), states, marks)
    expected = np.zeros_like(marks)
    for row, duel in zip(expected, duels, strict=True):
        row[list(duel.oracle.legal())] = 1
    assert_equal("legal actions", marks, expected)


def assert_outcomes_agree(options: Options, states: np.ndarray, duels: Sequence[Duel], returns: np.ndarray) -> None:
    """Compare what each seat got (f8 [B, 7]), how games ended, and the kernel's own invariants."""
    size = states.size
    rules = make_rules(options)
    ended = np.full(size, 7, "u1")
    settled = np.full((size, 7), 7, "u1")
    kernels.ends(rules, states, ended)
    kernels.settled(rules, states, settled, np.zeros((size, 7)))
    how = {True: TRUNCATED, False: TERMINATED}
    ends = [how[duel.oracle.truncated] if duel.oracle.phase == "finished" else GOING_ON for duel in duels]
    finished = np.array(ends) != GOING_ON
    seats = options.num_players
    # At the turn limit only what those still in would have got is left open.
    cut = np.array(
        [[duel.oracle.truncated and duel.oracle.in_contention(seat) for seat in range(seats)] for duel in duels]
    )
    expected = np.zeros((size, 7))
    expected[:, :seats] = [duel.oracle.rewards() for duel in duels]
    np.testing.assert_allclose(returns, expected, rtol=0, atol=1e-12, err_msg="rewards")
    assert_equal("ends", ended, np.array(ends))
    assert_equal("settled at the end", settled[finished, :seats], ~cut[finished])
    assert kernels.problems(rules, states) == []


Chooser = Callable[[Oracle, random.Random], int]


def play_batch(options: Options, seeds: Sequence[int], choose: Chooser) -> Counter[str]:
    """Play a batch of games to the end, comparing kernel and oracle after each step.

    Args:
        options: the game that is played.
        seeds: one game each; it seeds the deal and the choices.
        choose: gives an action for an oracle's game.

    Returns:
        What happened in these games and how often, see `happenings`.
    """
    rules = make_rules(options)
    size = len(seeds)
    states = kernels.new_states(size)
    expected = kernels.new_states(size)
    taken = np.zeros(size, "u1")
    rewards = np.zeros((size, 7))
    returns = np.zeros((size, 7))
    duels = [Duel(options, seed, expected[i : i + 1]) for i, seed in enumerate(seeds)]
    kernels.deal(rules, states, np.array(seeds, "u8"))
    chance = random.Random(seeds[0])
    happened: Counter[str] = Counter()
    while True:
        assert_states_agree(states, expected, duels)
        assert_legal_actions_agree(options, states, duels)
        assert_outcomes_agree(options, states, duels, returns)
        playing = [duel.oracle.phase != "finished" for duel in duels]
        if not any(playing):
            return happened
        anything = chance.randrange(len(ACTIONS[options.num_players]))
        actions = [
            choose(duel.oracle, chance) if going_on else anything for duel, going_on in zip(duels, playing, strict=True)
        ]
        kernels.step(rules, states, np.array(actions), taken, rewards)
        returns += rewards
        # A finished game takes no action at all.
        assert taken.tolist() == playing
        for i in np.flatnonzero(playing):
            happened.update(step_and_tell(duels[i], actions[i]))
        happened["steps"] += sum(playing)


def step_and_tell(duel: Duel, action: int) -> list[str]:
    """Take an action and give what happened, in words."""
    game = duel.oracle
    verb = ACTIONS[game.n][action][0]
    phase = game.phase
    before = (len(game.pile), set(game.discards), game.random.state, len(game.right), len(game.out))
    assert duel.step(action)
    told = [f"{verb} in {phase}"]
    if len(game.pile) > before[0]:
        told.append("reshuffle at a draw's start" if before[0] == 0 else "reshuffle in mid-draw")
    if len(game.right) > before[3]:
        told.append(f"place {len(game.right)}")
    if verb == "accuse" and game.naming:
        told.append(f"gem {len(game.naming)} of {game.options.missing} named")
    if len(game.out) > before[4]:
        told.append(
            f"out while it is {'his' if phase != 'offer' else 'another'} turn"
            if game.phase != "finished"
            else "out, and over"
        )
        told += (
            ["others are offered after a final question"] if phase == "must accuse" and game.phase == "offer" else []
        )
    if game.phase == "finished":
        told += ["finished", how_it_ended(game)]
    return told


def how_it_ended(game: Oracle) -> str:
    """Return why a game is over."""
    if game.truncated:
        return "truncated"
    if game.survivor is not None:
        return "last survivor wins"
    if len(game.right) == game.options.winners:
        return "all places taken"
    return "all out" if not game.right else "nobody left in, some right"
