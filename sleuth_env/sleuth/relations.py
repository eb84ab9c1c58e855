"""Which numbers of an observation are about which opponent, gem or question: what a network that
treats all of them alike is given.

A **feature** is a number, or the sum of some, of the observation. Every entity of a kind has the
same features, so a network can use the same weights for each; how many features there are depends
on the record, never on the number of players. Axis letters: ``O`` opponents, ``C`` gem cards, ``Q``
questions, ``F`` features of a kind of entity, ``M`` features of all entities, ``N`` numbers of an
observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .cards import (
    ALLOWED,
    CATEGORIES,
    FIRST_FREE,
    MIN_PLAYERS,
    NUM_GEMS,
    NUM_QUESTIONS,
    NUM_SEARCH_CARDS,
    PAIRS,
    PLAIN_FREE,
    QUESTIONS,
    Options,
)
from .cards import question_gems as gems_of
from .features import observation_layout

# Rises with every change of the features below, for weights that were learned for others would play
# nonsense.
VERSION = 1
# Sums over many numbers are divided by what they seldom exceed.
MANY = 1 / 8
SEARCH_CARDS = 1 / 4
# The best question tells a tenth of a bit more than the next, out of the five that there are: large
# enough to be learned from.
INFORMATION = 20.0
EVENTS = MIN_PLAYERS  # the newest ones, of which every observation has so many


@dataclass(frozen=True)
class Relations:
    """Say what the features of each entity are, and which entities an action is about.

    Args:
        opponents: how many, O.
        shapes: of the features of each kind of entity, which lie one after another in M: held (O,
            C, F) about an opponent and a gem, gem (1, C, F), cell (O, Q, F) about an opponent and a
            question, question (1, Q, F), opponent (O, 1, F), context (1, 1, F) about none of them.
        starts: where the features of each number of the observation begin in the next two, and the
            end, i4 [N + 1].
        targets: features, i4.
        scales: with which the number is added to the feature, f4.
        constants: what the features begin with, f4 [M].
        question_gems: 1 where a gem matches a question, f4 [C, Q].
        pair_question: the question of each pair of a question and a search card, i8.
        pair_card_kind: whether the card is plain, free for one element or free, i8.
        version: of the features.
    """

    opponents: int
    shapes: dict[str, tuple[int, int, int]]
    starts: np.ndarray
    targets: np.ndarray
    scales: np.ndarray
    constants: np.ndarray
    question_gems: np.ndarray
    pair_question: np.ndarray
    pair_card_kind: np.ndarray
    version: int = VERSION

    @property
    def sizes(self) -> dict[str, int]:
        """How many features each kind of entity has."""
        return {name: shape[2] for name, shape in self.shapes.items()}


# A feature: the numbers of the observation that are summed for each entity (the last axis; the axes
# before it are broadcast), and their scale.
Feature = tuple[np.ndarray, float]


def _alone(numbers: np.ndarray) -> Feature:
    return numbers[..., None], 1.0


def _others_asked(askers: np.ndarray, asker: int) -> np.ndarray:
    """Number the entries of ``askers`` (seats, Q, askers) in which this seat has asked an opponent
    of the viewer: Q, seats.
    """
    return np.delete(askers, [0, asker], axis=0)[:, :, asker].T


def _held(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    for name in ("certain_yes", "certain_no", "chance"):
        if name in at:
            yield _alone(at[name][: players - 1])
    if "seen" in at:
        yield _alone(at["seen"][1:])
    yield _alone(at["seen_by"][1:])


def _gem(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    for name in ("hand", "table", "accusing", "accused", "missing_gems"):
        if name in at:
            yield _alone(at[name][None])
    for name in ("certain_yes", "certain_no", "chance"):
        if name in at:
            yield _alone(at[name][players - 1 :])


def _cell(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    asked = at["askers"]
    yield _alone(at["answer_known"][1:, :, 0])
    yield _alone(at["answer_count"][1:, :, 0])
    yield _alone(asked[1:, :, 0])
    yield asked[1:, :, 1:], 1.0
    yield _alone(asked[0, :, 1:].T)
    yield np.stack([_others_asked(asked, k) for k in range(1, players)]), 1.0
    if "information" in at:
        yield at["information"][..., None], INFORMATION


def _question(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    for name in ("answer_known", "answer_count"):
        yield _alone(at[name][:1, :, 0])
        yield at[name][1:, :, 0].T[None], 1.0
    yield at["askers"][:1, :, 1:], 1.0
    for event in range(EVENTS):
        yield _alone(at["event_question"][event][None])


def _seats(at: dict[str, np.ndarray], seats: slice) -> Iterator[Feature]:
    """What is known of any seat, one or several."""
    for name in ("in_contention", "out", "right", "place", "exchanges"):
        yield at[name][seats][:, None], 1.0
    for name in ("turn", "first_target"):
        yield at[name][seats][:, None, None], 1.0
    for event in range(EVENTS):
        for name in ("event_asker", "event_target"):
            yield at[name][event, seats][:, None, None], 1.0
    elements = np.array([len(ALLOWED[card][0]) if card < FIRST_FREE else 0 for card in range(NUM_SEARCH_CARDS)])
    cards = np.arange(NUM_SEARCH_CARDS)
    for kind in (elements == 1, elements == 2, (elements == 0) & (cards != PLAIN_FREE), cards == PLAIN_FREE):
        yield at["search"][seats][:, None, kind], SEARCH_CARDS
    yield at["spent"][seats][:, None], MANY
    yield at["answer_known"][seats, :, 0][:, None], MANY
    yield np.moveaxis(at["askers"], 2, 0)[seats].reshape(-1, 1, at["askers"].shape[0] * NUM_QUESTIONS), MANY


def _opponent(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    yield from _seats(at, slice(1, players))


def _context(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    yield from _seats(at, slice(0, 1))
    single = [at[name] for name in ("phase", "to_act", "first_elements", "pile_size", "turn_number")]
    single += [at[name][:EVENTS].ravel() for name in ("event_kind", "event_count")]
    for number in np.concatenate(single):
        yield np.full((1, 1, 1), number), 1.0


# Who is in a kind of entity: opponents or one for all; gems, questions or one for all.
ENTITIES = {
    "held": (True, NUM_GEMS, _held),
    "gem": (False, NUM_GEMS, _gem),
    "cell": (True, NUM_QUESTIONS, _cell),
    "question": (False, NUM_QUESTIONS, _question),
    "opponent": (True, 1, _opponent),
    "context": (False, 1, _context),
}


def _constants(name: str, opponents: int) -> np.ndarray:
    """Give the features that are the same in every observation: the kind of a question, and how
    many opponents there are.
    """
    if name == "question":
        kinds = [
            tuple(any(element in values for element in question) for values in CATEGORIES) for question in QUESTIONS
        ]
        return np.array([[kind == other for other in dict.fromkeys(kinds)] for kind in kinds], np.float32)[None]
    return np.full((1, 1, 1), 1 / opponents, np.float32) if name == "context" else np.zeros((1, 1, 0), np.float32)


@lru_cache(maxsize=64)
def relations(options: Options, record: str) -> Relations:
    """Give the relations of a game's observations; see `observation_layout` for the record."""
    layout = observation_layout(options, record)
    players = options.num_players
    at: dict[str, Any] = {
        block.name: np.arange(layout.size)[layout[block.name]].reshape(block.shape) for block in layout
    }
    shapes = {}
    columns = []
    targets = []
    scales = []
    constants = []
    size = 0
    for name, (each, number, listed) in ENTITIES.items():
        features = list(listed(at, players))
        constant = _constants(name, players - 1)
        rows = players - 1 if each else 1
        shape = shapes[name] = (rows, number, len(features) + constant.shape[2])
        place = size + np.arange(rows * number * shape[2]).reshape(shape)
        for i, (numbers, scale) in enumerate(features):
            whole = np.broadcast_to(numbers, (rows, number, numbers.shape[-1]))
            columns.append(whole.ravel())
            targets.append(np.repeat(place[:, :, i].ravel(), whole.shape[2]))
            scales.append(np.full(whole.size, scale))
        begin = np.zeros(shape, np.float32)
        begin[:, :, len(features) :] = constant
        constants.append(begin.ravel())
        size += begin.size
    column = np.concatenate(columns)
    order = np.argsort(np.concatenate(columns), kind="stable")
    return Relations(
        players - 1,
        shapes,
        np.searchsorted(column[order], np.arange(layout.size + 1)).astype(np.int32),
        np.concatenate(targets)[order].astype(np.int32),
        np.concatenate(scales)[order].astype(np.float32),
        np.concatenate(constants),
        np.array([[gems_of(q) >> g & 1 for q in range(NUM_QUESTIONS)] for g in range(NUM_GEMS)], np.float32),
        np.array([question for question, _ in PAIRS]),
        np.array([(card >= FIRST_FREE) + (card == PLAIN_FREE) for _, card in PAIRS]),
    )
