"""The sheets of the second game hold the truth, are tightened as far as they can be, and know what was seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from sleuth_env.holmes.bounds import tighten
from sleuth_env.holmes.cards import AFOOT, COPIES, NUM_TITLES, TITLES, Options, make_rules
from sleuth_env.holmes.invariants import problems
from sleuth_env.holmes.rules import step
from sleuth_env.holmes.set_up import set_up
from sleuth_env.holmes.state import FINISHED, PILE
from sleuth_env.kernels import kernel
from tests.support.holmes_bot_games import HolmesBotGames
from tests.support.holmes_comparison import action_texts

VARIANTS = [{}, {"fast_play": True, "cases": 2}, {"after_alibi": "left_of_alibi", "must_arrest": True}]


def holders_of(num_players: int, viewer: int) -> list[int]:
    """Return the holders that a viewer's sheet speaks of."""
    return [seat for seat in range(num_players) if seat != viewer] + [PILE]


def truth(state: np.void) -> np.ndarray:
    """Return the copies with each holder, [H, T]; a drawn card is one of the pile."""
    copies = np.vstack([state["hands"], np.bincount(state["pile"][: state["pile_size"]], minlength=NUM_TITLES)])
    if state["drawn"] >= 0:
        copies[PILE, state["drawn"]] += 1
    return copies


def sums(state: np.void, viewer: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many copies of each title a viewer does not see [T], and the size of each holder [H]."""
    copies = truth(state)
    if state["drawn"] >= 0 and viewer == state["turn"]:
        copies[PILE, state["drawn"]] -= 1
    copies[viewer] = 0
    return copies.sum(0), copies.sum(1)


def narrowed(least: np.ndarray, most: np.ndarray, unseen: np.ndarray, sizes: np.ndarray) -> tuple:
    """Return bounds [H, T] that agree better with the sums over holders and over titles."""
    for axis, total in ((0, unseen), (1, sizes)):
        whole = np.expand_dims(total, axis)
        rest_most = most.sum(axis, keepdims=True) - most
        rest_least = least.sum(axis, keepdims=True) - least
        least, most = np.maximum(least, whole - rest_most), np.minimum(most, whole - rest_least)
    return least, most


def moments(options: Options, limit: int, seed: int = 0) -> Iterator[np.void]:
    """Iterate over states of random games before each decision."""
    for decisions in HolmesBotGames(options, ["random"] * options.num_players, 2, seed).play(limit):
        yield from decisions.states


@pytest.mark.parametrize("named", VARIANTS, ids=str)
@pytest.mark.parametrize("num_players", range(3, 9))
def test_every_sheet_holds_the_truth_and_is_tight(num_players: int, named: dict) -> None:
    for state in moments(Options(num_players, **named), 60):
        for viewer in range(num_players):
            rows = holders_of(num_players, viewer)
            unseen, sizes = sums(state, viewer)
            copies = truth(state)
            if state["drawn"] >= 0 and viewer == state["turn"]:
                copies[PILE, state["drawn"]] -= 1
            least, most = (state[name][viewer, :, :NUM_TITLES].astype(int) for name in ("least", "most"))
            assert (least[rows] <= copies[rows]).all()
            assert (copies[rows] <= most[rows]).all()
            again = narrowed(least[rows], most[rows], unseen, sizes[rows])
            assert (again[0] == least[rows]).all()
            assert (again[1] == most[rows]).all()
            others = [holder for holder in range(PILE + 1) if holder not in rows]
            assert not most[others].any()
            assert not state["most"][viewer, :, AFOOT:].any()


# --- a position in which all deals can be listed ---

SMALL = {
    "hands": {"player_0": ["clue", "detective"], "player_1": ["alibi", "clue"], "player_2": ["london"]},
    "current": "suspicion",
    "location": "city",
    "turn": "player_0",
}


def small_position(pile: list[str]) -> dict:
    """Return a position in which all but a few cards lie in the discards."""
    placed = [*pile, SMALL["current"], *(card for hand in SMALL["hands"].values() for card in hand)]
    discards = []
    for title, name in enumerate(TITLES[:AFOOT]):
        discards += [name] * (COPIES[title] - placed.count(name))
    return {**SMALL, "draw_pile": pile, "discards": discards}


def splits(cards: tuple[int, ...], sizes: list[int]) -> set[tuple[tuple[int, ...], ...]]:
    """Return all ways to deal cards to holders of some sizes, as sorted hands."""
    deals = set()
    for owners in product(range(len(sizes)), repeat=len(cards)):
        if [owners.count(holder) for holder in range(len(sizes))] == sizes:
            deals.add(tuple(tuple(c for c, o in zip(cards, owners, strict=True) if o == h) for h in range(len(sizes))))
    return deals


@pytest.mark.parametrize("pile", [[], ["clue"], ["clue", "manor", "moran"]], ids=len)
def test_the_bounds_of_a_position_are_those_of_all_its_deals(pile: list[str]) -> None:
    options = Options(3)
    state = set_up(options, small_position(pile))[0]
    for viewer in range(3):
        rows = holders_of(3, viewer)
        unseen, sizes = sums(state, viewer)
        cards = tuple(np.repeat(np.arange(NUM_TITLES), unseen).tolist())
        counted = np.array(
            [[np.bincount(hand, minlength=NUM_TITLES) for hand in deal] for deal in splits(cards, sizes[rows].tolist())]
        )
        assert (state["least"][viewer][rows, :NUM_TITLES] == counted.min(0)).all()
        assert (state["most"][viewer][rows, :NUM_TITLES] == counted.max(0)).all()


# --- what single events tell ---


def after(position: dict, *actions: str) -> np.void:
    """Return the state after some actions in a position of three players."""
    options = Options(3)
    states = set_up(options, position)
    texts = action_texts(3)
    taken = np.zeros(1, "u1")
    for action in actions:
        step(make_rules(options), states, np.array([texts.index(action)]), taken, np.zeros((1, 3)))
        assert taken[0], action
    return states[0]


def bounds(state: np.void, viewer: int, holder: int, name: str) -> tuple[int, int]:
    """Return the bounds of the copies of a title."""
    title = TITLES.index(name)
    return int(state["least"][viewer, holder, title]), int(state["most"][viewer, holder, title])


def position(hands: list[str], current: str, **more: object) -> dict:
    """Return a position of three players, player_0 to move in a city."""
    dealt = {f"player_{seat}": hand.split() for seat, hand in enumerate(hands)}
    return {"hands": dealt, "current": current, "location": "city", "turn": "player_0", **more}


def test_a_draw_proves_that_there_was_no_suitable_card() -> None:
    state = after(position(["alibi clue", "train clue", "clue clue"], "telegram", draw_pile=["manor"]), "draw")
    assert bounds(state, 1, 0, "train")[1] == 0
    assert bounds(state, 2, 0, "hansom-cab")[1] == 0
    assert bounds(state, 1, 0, "manor") == (0, 1)


def test_a_hand_that_was_shown_is_known_exactly() -> None:
    state = after(position(["clue manor", "detective alibi", "train train"], "london"), "play clue on +1")
    assert bounds(state, 0, 1, "detective") == (1, 1)
    assert bounds(state, 0, 1, "clue") == (0, 0)
    assert bounds(state, 0, 2, "detective")[1] == 2
    assert bounds(state, 2, 1, "detective") == (0, 2)


def test_nothing_lies_above_the_highest_card_that_was_shown() -> None:
    state = after(
        position(["disguise manor", "alibi detective train", "train train"], "london"),
        "play disguise on +1",
    )
    assert bounds(state, 0, 1, "detective") == (1, 3)
    assert bounds(state, 0, 1, "moriarty") == (0, 0)


def test_the_giver_and_the_receiver_know_the_card_that_was_given() -> None:
    state = after(
        position(["constabulary moran manor", "train clue", "train train"], "suspicion"),
        "play constabulary on +1",
        "choose moran",
    )
    assert bounds(state, 0, 1, "moran") == (1, 1)
    assert bounds(state, 1, 0, "moran") == (0, 0)
    assert bounds(state, 2, 1, "moran") == (0, 1)


def test_an_innocent_hand_holds_no_villain() -> None:
    state = after(
        position(["arrest clue", "train clue", "train train"], "suspicion", draw_pile=["moran", "clay"]),
        "play arrest on +1",
    )
    assert state["phase"] != FINISHED
    # The hand of the accused lies with the arrester now, and they have drawn two unknown cards.
    assert bounds(state, 2, 0, "moriarty") == (0, 1)
    assert bounds(state, 1, 0, "train") == (1, 2)


# --- what might be too much ---


@kernel
def tightened(states: np.ndarray, holders: int) -> None:
    tighten(states[0], np.int64(0), holders, holders)


def test_bounds_that_contradict_each_other_come_to_an_end() -> None:
    states = set_up(Options(3), position(["clue", "train", "manor"], "london"))
    states["counted"][0, 1] = 0
    states["least"][0, 1, :5] = 1
    tightened(states, 0b110 | 1 << PILE)


@pytest.mark.parametrize("answer", ["pass", "play mastermind"])
def test_notes_of_a_huge_hand_that_moves_find_room(answer: str) -> None:
    innocent = [name for name, copies in zip(TITLES, COPIES, strict=True) for _ in range(copies // 2)]
    hands = ["arrest clue", " ".join(["mastermind", *innocent]), "train train"]
    state = after(position(hands, "london"), "play arrest on +1", answer)
    assert state["hand_sizes"].max() >= len(innocent)
    assert problems(make_rules(Options(3)), state[None]) == []
