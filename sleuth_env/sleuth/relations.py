"""Which numbers of an observation are about which opponent, gem or question.

A network that treats all of them alike is given these. A **feature** is a number, or the sum of
some, of the observation. Every entity of a kind has the same features, so a network can use the
same weights for each; the number of features depends on the record, never on that of the players.
Axis letters: ``O`` opponents, ``C`` gem cards, ``Q`` questions, ``F`` features of a kind of entity,
``M`` features of all entities, ``B`` rows, ``N`` numbers of an observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..kernels import kernel
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
    card_kind,
)
from .cards import question_gems as gems_of
from .features import observation_layout

# Rises with every change of the features below: weights that were learned for others would play
# nonsense.
VERSION = 2
# Features about an opponent and a gem that version 1 did not have; they come last.
ADDED_TO_HELD = 12
# Sums over many numbers are divided by what they seldom exceed.
MANY = 1 / 8
SEARCH_CARDS = 1 / 4
# Sums over the questions about a gem, or the cards that pay for them, are divided by what they often are.
ABOUT_GEM = 1 / 3
# Sums over the gems of a question, or of a player, are divided by about how many there are.
GEMS = 1 / 12
# The best question tells a tenth of a bit more than the next, out of five: scaled so that it can be
# learned from.
INFORMATION = 20.0
EVENTS = MIN_PLAYERS  # the newest ones, which every observation has


@dataclass(frozen=True)
class Relations:
    """What the features of each entity are, and which entities an action is about.

    Args:
        opponents: number of opponents, O.
        shapes: of the features of each kind of entity, which lie one after another in M: held
            (O, C, F) about an opponent and a gem, gem (1, C, F), pair (O, Q, F) about an opponent
            and a question, question (1, Q, F), opponent (O, 1, F), context (1, 1, F) about none of
            them.
        starts: where the features of each number of the observation begin in the next two, and the
            end, i4 [N + 1].
        targets: features, i4.
        scales: with which the number is added to the feature, f4.
        constants: what the features begin with, f4 [M].
        groups: `GEMS` where a gem matches a question, else 0, f4 [C, Q].
        ask_question: the question of each way to ask an opponent, i8.
        ask_card_kind: whether its search card is plain, free for one element or free, i8.
    """

    opponents: int
    shapes: dict[str, tuple[int, int, int]]
    starts: np.ndarray
    targets: np.ndarray
    scales: np.ndarray
    constants: np.ndarray
    groups: np.ndarray
    ask_question: np.ndarray
    ask_card_kind: np.ndarray

    @property
    def sizes(self) -> dict[str, int]:
        """Number of features of each kind of entity."""
        return {name: shape[2] for name, shape in self.shapes.items()}

    def features(self, observations: np.ndarray) -> np.ndarray:
        """Return the features of all entities (f4 [B, M]) of observations (f4 [B, N])."""
        features = np.repeat(self.constants[None], len(observations), axis=0)
        _add_features(observations, self.starts, self.targets, self.scales, features)
        return features

    def by_entity(self, features: Any) -> dict[str, Any]:
        """Split features ([B, M], any kind of array) by kind of entity."""
        ends = np.cumsum([prod(shape) for shape in self.shapes.values()]).tolist()
        return {
            name: features[:, end - prod(shape) : end].reshape(features.shape[0], *shape)
            for (name, shape), end in zip(self.shapes.items(), ends, strict=True)
        }


@kernel
def _add_features(observations: Any, starts: Any, targets: Any, scales: Any, features: Any) -> None:
    for b in range(observations.shape[0]):
        for i in range(observations.shape[1]):
            value = observations[b, i]
            if value != 0.0:
                for t in range(starts[i], starts[i + 1]):
                    features[b, targets[t]] += value * scales[t]


class Feature(NamedTuple):
    """A feature of each entity of a kind.

    Args:
        numbers: the numbers of the observation that are summed (the last axis), i8, broadcast to
            the entities (the first two).
        scale: of the sum.
    """

    numbers: np.ndarray
    scale: float = 1.0


def _alone(numbers: np.ndarray) -> Feature:
    """Return a feature that is one number."""
    return Feature(numbers[..., None])


def _others_asked(askers: np.ndarray, asker: int) -> np.ndarray:
    """Return where it is seen what this seat has asked the viewer's other opponents (Q, seats).

    Args:
        askers: the numbers of the block of this name (seats, Q, askers).
        asker: the seat.
    """
    return np.delete(askers, [0, asker], axis=0)[:, :, asker].T


def _held(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    for name in ("certain_yes", "certain_no", "chance"):
        if name in at:
            yield _alone(at[name][: players - 1])
    if "seen" in at:
        yield _alone(at["seen"][1:])
    yield _alone(at["seen_by"][1:])
    yield from _interest(at, players)


def _interest(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    """Return what an opponent has asked, and been asked, about each gem, and can still ask.

    Whoever has a gem hardly asks for it, so this tells where gems lie, beyond what the answers prove.
    """
    asked = np.moveaxis(at["askers"], 2, 0)[1:]  # by each opponent, of each seat
    for elements in (1, 2):
        questions = _questions_about_gems(elements)
        yield Feature(asked[:, 0][:, questions], ABOUT_GEM)
        yield Feature(asked[:, 1:][:, :, questions].transpose(0, 2, 1, 3).reshape(players - 1, NUM_GEMS, -1), ABOUT_GEM)
        yield Feature(at["answer_known"][1:, :, 0][:, questions], ABOUT_GEM)
        yield Feature(at["answer_count"][1:, :, 0][:, questions])
        # A search card that asks one question has its number.
        yield Feature(at["search"][1:][:, questions], ABOUT_GEM)
        yield Feature(at["spent"][1:][:, questions], ABOUT_GEM)


def _questions_about_gems(elements: int) -> np.ndarray:
    """Return the questions about each gem with one element or with two, i8 [C, 3].

    A gem has three elements, of which two can be chosen in three ways.
    """
    of_size = [q for q in range(NUM_QUESTIONS) if len(QUESTIONS[q]) == elements]
    return np.array([[q for q in of_size if gems_of(q) >> gem & 1] for gem in range(NUM_GEMS)])


def _gem(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    for name in ("hand", "table", "accusing", "accused", "missing_gems"):
        if name in at:
            yield _alone(at[name][None])
    for name in ("certain_yes", "certain_no", "chance"):
        if name in at:
            yield _alone(at[name][players - 1 :])


def _pair(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    asked = at["askers"]
    yield _alone(at["answer_known"][1:, :, 0])
    yield _alone(at["answer_count"][1:, :, 0])
    yield _alone(asked[1:, :, 0])
    yield Feature(asked[1:, :, 1:])
    yield _alone(asked[0, :, 1:].T)
    yield Feature(np.stack([_others_asked(asked, k) for k in range(1, players)]))
    if "information" in at:
        yield Feature(at["information"][..., None], INFORMATION)


def _question(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    for name in ("answer_known", "answer_count"):
        yield _alone(at[name][:1, :, 0])
        yield Feature(at[name][1:, :, 0].T[None])
    yield Feature(at["askers"][:1, :, 1:])
    for event in range(EVENTS):
        yield _alone(at["event_question"][event][None])


def _seats(at: dict[str, np.ndarray], seats: slice) -> Iterator[Feature]:
    """Return what is known of any seat, one or several."""
    for name in ("in_contention", "out", "right", "place", "exchanges"):
        yield Feature(at[name][seats][:, None])
    for name in ("turn", "first_target"):
        yield Feature(at[name][seats][:, None, None])
    for event in range(EVENTS):
        for name in ("event_asker", "event_target"):
            yield Feature(at[name][event, seats][:, None, None])
    elements = np.array([len(ALLOWED[card][0]) if card < FIRST_FREE else 0 for card in range(NUM_SEARCH_CARDS)])
    cards = np.arange(NUM_SEARCH_CARDS)
    for kind in (elements == 1, elements == 2, (elements == 0) & (cards != PLAIN_FREE), cards == PLAIN_FREE):
        yield Feature(at["search"][seats][:, None, kind], SEARCH_CARDS)
    yield Feature(at["spent"][seats][:, None], MANY)
    yield Feature(at["answer_known"][seats, :, 0][:, None], MANY)
    yield Feature(np.moveaxis(at["askers"], 2, 0)[seats].reshape(-1, 1, at["askers"].shape[0] * NUM_QUESTIONS), MANY)


def _opponent(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    yield from _seats(at, slice(1, players))


def _context(at: dict[str, np.ndarray], players: int) -> Iterator[Feature]:
    yield from _seats(at, slice(0, 1))
    single = [at[name] for name in ("phase", "to_act", "first_elements", "pile_size", "turn_number")]
    single += [at[name][:EVENTS].ravel() for name in ("event_kind", "event_count")]
    for number in np.concatenate(single):
        yield Feature(np.full((1, 1, 1), number))


# Who is in a kind of entity: opponents or one for all; gems, questions or one for all.
ENTITIES = {
    "held": (True, NUM_GEMS, _held),
    "gem": (False, NUM_GEMS, _gem),
    "pair": (True, NUM_QUESTIONS, _pair),
    "question": (False, NUM_QUESTIONS, _question),
    "opponent": (True, 1, _opponent),
    "context": (False, 1, _context),
}


def _constants(name: str, opponents: int) -> np.ndarray:
    """Return the features that are the same in every observation.

    They are the kind of a question, and the number of opponents.
    """
    if name == "question":
        kinds = [
            tuple(any(element in values for element in question) for values in CATEGORIES) for question in QUESTIONS
        ]
        return np.array([[kind == other for other in dict.fromkeys(kinds)] for kind in kinds], np.float32)[None]
    return np.full((1, 1, 1), 1 / opponents, np.float32) if name == "context" else np.zeros((1, 1, 0), np.float32)


@lru_cache(maxsize=64)
def relations(options: Options, record: str) -> Relations:
    """Return the relations of a game's observations; see `observation_layout` for the record."""
    layout = observation_layout(options, record)
    players = options.num_players
    numbers = np.arange(layout.size)
    at: dict[str, Any] = {block.name: numbers[layout[block.name]].reshape(block.shape) for block in layout}
    shapes = {}
    columns = []
    targets = []
    scales = []
    constants = []
    size = 0
    for name, (each_opponent, items, features_of) in ENTITIES.items():
        features = list(features_of(at, players))
        constant = _constants(name, players - 1)
        rows = players - 1 if each_opponent else 1
        shape = (rows, items, len(features) + constant.shape[2])
        shapes[name] = shape
        place = size + np.arange(prod(shape)).reshape(shape)
        for i, feature in enumerate(features):
            summed = np.broadcast_to(feature.numbers, (rows, items, feature.numbers.shape[-1]))
            columns.append(summed.ravel())
            targets.append(np.repeat(place[:, :, i].ravel(), summed.shape[2]))
            scales.append(np.full(summed.size, feature.scale))
        begin = np.zeros(shape, np.float32)
        begin[:, :, len(features) :] = constant
        constants.append(begin.ravel())
        size += begin.size
    column = np.concatenate(columns)
    order = np.argsort(column, kind="stable")
    matches = [[gems_of(question) >> gem & 1 for question in range(NUM_QUESTIONS)] for gem in range(NUM_GEMS)]
    return Relations(
        opponents=players - 1,
        shapes=shapes,
        starts=np.searchsorted(column[order], np.arange(layout.size + 1)).astype(np.int32),
        targets=np.concatenate(targets)[order].astype(np.int32),
        scales=np.concatenate(scales)[order].astype(np.float32),
        constants=np.concatenate(constants),
        groups=np.array(matches, np.float32) * np.float32(GEMS),
        ask_question=np.array([question for question, _ in PAIRS]),
        ask_card_kind=np.array([card_kind(card) for _, card in PAIRS]),
    )
