"""What a seat knows by the rules: the oracle's knowledge as a VIEW."""

from __future__ import annotations

import numpy as np

from sleuth_env.sleuth.view import VIEW
from tests.support.comparison import PHASE_NUMBER, QUESTION_INDEX, STANDING_NUMBER, card_mask, event_row, gem_mask
from tests.support.oracle import Oracle, words


def expected_view(game: Oracle, seat: int) -> np.ndarray:
    """Return what a seat knows of the oracle's game, as VIEW [1]."""
    known = np.zeros(1, VIEW)
    for field in ("answers", "events", "first_target"):
        known[field] = -1
    known["events"][..., 0] = 0
    _copy_table(game, seat, known[0])
    _copy_own(game, seat, known[0])
    _copy_seats(game, seat, known[0])
    _copy_history(game, seat, known[0])
    return known


def _left_of(game: Oracle, seat: int, other: int) -> int:
    return (other - seat) % game.n


def _copy_table(game: Oracle, seat: int, known: np.void) -> None:
    known["seat"] = seat
    known["num_players"] = game.n
    known["missing"] = game.options.missing
    known["turn"] = _left_of(game, seat, game.turn)
    known["turn_number"] = game.turn_number
    known["phase"] = PHASE_NUMBER[game.phase]
    if game.interrogations:
        target, question = game.interrogations[0]
        known["first_target"] = _left_of(game, seat, target)
        known["first_elements"] = len(words(question))
    known["pile_size"] = len(game.pile)
    known["discards"] = card_mask(game.discards)
    known["table"] = gem_mask(game.table)


def _copy_own(game: Oracle, seat: int, known: np.void) -> None:
    known["hand"] = gem_mask(game.hands[seat])
    known["to_act"] = game.actor == seat
    known["accusing"] = gem_mask(game.naming) if game.actor == seat else 0
    known["accused"] = gem_mask(game.accusations.get(seat, set()))
    known["missing_gems"] = gem_mask(game.missing) if game.knows_missing(seat) else 0


def _copy_seats(game: Oracle, seat: int, known: np.void) -> None:
    for other in range(game.n):
        k = _left_of(game, seat, other)
        known["search"][k] = card_mask(game.search[other])
        known["spent"][k] = card_mask(game.cards_spent(other))
        known["exchanges"][k] = game.exchanges(other)
        known["seen"][k] = gem_mask(game.shown_to(seat, other))
        known["seen_by"][k] = gem_mask(game.shown_to(other, seat))
        known["standing"][k] = STANDING_NUMBER[game.standing_seen_by(seat, other)]
        known["place"][k] = game.place_seen_by(seat, other)


def _copy_history(game: Oracle, seat: int, known: np.void) -> None:
    for (target, question), count in game.answers().items():
        known["answers"][_left_of(game, seat, target), QUESTION_INDEX[question]] = count
        known["told"][_left_of(game, seat, target)] |= 1 << QUESTION_INDEX[question]
    for (target, question), askers in game.askers().items():
        known["askers"][_left_of(game, seat, target), QUESTION_INDEX[question]] = sum(
            1 << _left_of(game, seat, asker) for asker in askers
        )
    for i, event in enumerate(reversed(game.events[-game.n :])):
        row = event_row(event)
        seats = [_left_of(game, seat, number) if number >= 0 else -1 for number in row[1:3]]
        known["events"][i] = [row[0], *seats, *row[3:]]
