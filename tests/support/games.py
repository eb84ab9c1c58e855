"""The games for which the tests of every game are run, and what such a test must know of each.

A game has its options to try, and `redealt`: another first state that a seat cannot tell from the
true one by all that it has seen, from which the same actions lead to the same public course.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleuth_env import holmes, sleuth
from sleuth_env.game import Game
from sleuth_env.holmes.cards import COPIES, NUM_TITLES
from sleuth_env.holmes.sheet import count_sheet
from sleuth_env.kernels import kernel
from tests.support import follow
from tests.support.holmes_substitution import substituted
from tests.support.replaying import Replay
from tests.support.strategies import LIVELY
from tests.support.substitution import History
from tests.support.substitution import play as play_sleuth


@dataclass(frozen=True)
class Tried:
    """A game with the options to try.

    Args:
        game: the module.
        options: some of its options.
        twice: plays the beginning of a game for a seed and a viewer; returns the last state (STATE
            [1]) of the true game and of one whose secrets were changed.
    """

    game: Game
    options: list[Any]
    twice: Callable[[Any, int, int], tuple[np.ndarray, np.ndarray]]


def sleuth_twice(options: Any, viewer: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Replay a beginning of a game of Sleuth with other hidden cards, see `substitution`."""
    history: History = play_sleuth(options, seed, LIVELY).cut(30)
    return history.states[-1], Replay(history, viewer, seed).history.states[-1]


def follow_twice(options: Any, viewer: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play a beginning of a game of Follow, and exchange the cards that others still hold."""
    rules = follow.make_rules(options)
    rng = random.Random(seed)
    states = follow.new_states(1)
    follow.deal(rules, states, np.array([seed], np.uint64))
    first = states.copy()
    actions = []
    for _ in range(rng.randrange(3 * options.num_players)):
        legal = np.zeros((1, follow.num_actions(options)), np.uint8)
        follow.legal(rules, states, legal)
        if not legal.any():
            break
        actions.append(rng.choice(np.flatnonzero(legal[0]).tolist()))
        _play(rules, states, actions[-1])
    others = [seat for seat in range(options.num_players) if seat != viewer]
    held = [card for seat in others for card in range(32) if int(states["hands"][0, seat]) >> card & 1]
    rng.shuffle(held)
    changed = first.copy()
    for seat in others:
        number = int(states["hands"][0, seat]).bit_count()
        # What has been played stays; what is still held comes from the others' cards.
        played = int(first["hands"][0, seat]) & ~int(states["hands"][0, seat])
        changed["hands"][0, seat] = played | sum(1 << held.pop() for _ in range(number))
    for action in actions:
        _play(rules, changed, action)
    return states, changed


def holmes_twice(options: Any, viewer: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play a beginning of a game of I Say, Holmes!, and change what a seat cannot know, see `holmes_substitution`."""
    rules = holmes.make_rules(options)
    rng = random.Random(seed)
    states = holmes.new_states(1)
    holmes.deal(rules, states, np.array([seed], np.uint64))
    legal = np.zeros((1, holmes.num_actions(options)), np.uint8)
    for _ in range(rng.randrange(120)):
        holmes.legal(rules, states, legal)
        if not legal.any():
            break
        action = rng.choice(np.flatnonzero(legal[0]).tolist())
        taken = np.zeros(1, np.uint8)
        holmes.step(rules, states, np.array([action]), taken, np.zeros((1, options.num_players)))
        assert taken[0]
    return states, holmes_changed(options, states, viewer, np.random.default_rng(seed))


def holmes_changed(options: Any, states: np.ndarray, viewer: int, chances: np.random.Generator) -> np.ndarray:
    """Return a sound game (STATE [1]) in which all is another that a seat cannot know, or the same if none is found."""
    for _ in range(20):
        changed = substituted(options, states, viewer, chances)
        _make_sound(options, states[0], changed[0], viewer)
        for other in (seat for seat in range(options.num_players) if seat != viewer):
            _count(holmes.make_rules(options), changed, other)
        # With other cards whoever decides might have nothing to decide.
        if not holmes.problems(holmes.make_rules(options), changed):
            return changed
    return states.copy()


@kernel
def _count(rules: Any, states: Any, viewer: int) -> None:
    """Sum a seat's sheet up."""
    count_sheet(rules[0], states[0], viewer)


def _make_sound(options: Any, true: np.void, changed: np.void, viewer: int) -> None:
    """Let what others think of a changed game be possible: doors let no other game pass."""
    seats = list(range(options.num_players))
    for field in ("drawn", "declined", "looks", "look_whole", "look_turn"):
        changed[field] = true[field]
    for other in (seat for seat in seats if seat != viewer):
        changed["least"][other] = 0
        changed["most"][other] = 0
        for holder in (*(seat for seat in seats if seat != other), -1):
            changed["most"][other, holder, : NUM_TITLES - 1] = COPIES[:-1]


def _play(rules: np.ndarray, states: np.ndarray, action: int) -> None:
    taken = np.zeros(1, np.uint8)
    follow.step(rules, states, np.array([action]), taken, np.zeros((1, int(rules["num_players"][0]))))
    assert taken[0]


TRIED = {
    "sleuth": Tried(
        sleuth,  # type: ignore[arg-type]
        [
            sleuth.Options(num_players=3),
            sleuth.Options(num_players=4, winners=2, announce_result=False, double_interrogation=True),
            sleuth.Options(num_players=4, missing=2, super_sleuth=True),
            sleuth.Options(num_players=7, last_survivor_wins=True, max_turns=9),
        ],
        sleuth_twice,
    ),
    "holmes": Tried(
        holmes,  # type: ignore[arg-type]
        [
            holmes.Options(num_players=3),
            holmes.Options(num_players=4, cases=2, fast_play=True, reward="points", after_alibi="left_of_alibi"),
            holmes.Options(num_players=5, cases=1, reward="case", must_arrest=True),
            holmes.Options(num_players=6, reward="rank", new_case_location="city", guilty_hand="discarded"),
            holmes.Options(num_players=7, max_turns=9),
            holmes.Options(num_players=8, max_turns=60, reward="case", fast_play=True),
        ],
        holmes_twice,
    ),
    "follow": Tried(follow, [follow.Options(num_players=n) for n in (3, 5, 8)], follow_twice),  # type: ignore[arg-type]
}
