"""Points, what each seat gets, how a game has ended, and what a match counts.

Source: docs/holmes.md, "Rewards". Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import numpy as np

from ..game import GOING_ON, TERMINATED, TRUNCATED
from ..kernels import inner, kernel
from .cards import CASE, NUM_BOOKS, NUM_SAY_TYPES, NUM_TELEGRAMS, NUM_VILLAINS, POINTS, RANK
from .state import ARRESTED, ESCAPED, FINISHED, KIND


@inner
def _telegram_points(rules, s, seat):
    """Return what all Telegram tokens are worth to a seat: its own, and those of its neighbours."""
    num_players = int(rules["num_players"])
    points = 0
    for token in range(NUM_TELEGRAMS):
        owner = int(s["telegrams"][token])
        # Among three players and more nobody is both neighbours of the owner.
        if owner == seat:
            points += int(rules["telegram_points"][token, 0])
        elif owner >= 0 and (owner + 1) % num_players == seat:
            points += int(rules["telegram_points"][token, 1])
        elif owner >= 0 and (seat + 1) % num_players == owner:
            points += int(rules["telegram_points"][token, 2])
    return points


@inner
def points_of(rules, s, seat):
    """Return the points of a seat as they stand."""
    points = _telegram_points(rules, s, seat)
    for book in range(NUM_BOOKS):
        if s["books"][book] == seat:
            points += int(rules["book_points"][book])
    for villain in range(NUM_VILLAINS):
        if s["villains"][villain] == seat:
            points += int(rules["villain_points"][villain])
    for kind in range(NUM_SAY_TYPES):
        points += int(s["say"][seat, kind])
    return points


@inner
def _merit(rules, s, seat):
    """Return a number that orders the players: by points, Books, Villain tokens and I Say tokens.

    Points lie between -1000 and 1000; of a kind of tokens there are fewer than 16. Where closed
    cases are paid for, they alone count.
    """
    if rules["reward"] == CASE:
        return int(s["closed"][seat])
    books = 0
    for book in range(NUM_BOOKS):
        books += s["books"][book] == seat
    villains = 0
    for villain in range(NUM_VILLAINS):
        villains += s["villains"][villain] == seat
    say = 0
    for kind in range(NUM_SAY_TYPES):
        say += s["say"][seat, kind] > 0
    return ((points_of(rules, s, seat) * 16 + books) * 16 + villains) * 16 + say


@inner
def _share(rules, first, number):
    """Return what each of some equals gets who fill the places from ``first`` on."""
    num_players = int(rules["num_players"])
    if rules["reward"] == RANK:
        return 1.0 - (2.0 * (first - 1) + (number - 1)) / (num_players - 1)
    if first > 1:
        return -1.0 / (num_players - 1)
    return (num_players - number) / (number * (num_players - 1))


@inner
def _final_rewards(rules, s, row):
    """Write what each seat gets at the end of a game."""
    num_players = int(rules["num_players"])
    if rules["reward"] == POINTS:
        total = 0
        for seat in range(num_players):
            total += points_of(rules, s, seat)
        for seat in range(num_players):
            row[seat] = (points_of(rules, s, seat) - total / num_players) / 10.0
        return
    for seat in range(num_players):
        merit = _merit(rules, s, seat)
        first = 1
        number = 0
        for other in range(num_players):
            others = _merit(rules, s, other)
            first += others > merit
            number += others == merit
        row[seat] = _share(rules, first, number)


@inner
def pay(rules, s, row):
    """Write what each seat gets by a step that has ended the game or closed a case."""
    if rules["reward"] != CASE:
        if s["phase"] == FINISHED:
            _final_rewards(rules, s, row)
        return
    newest = s["events"][0, KIND]
    if s["phase"] == FINISHED and newest != ARRESTED and newest != ESCAPED:
        # A case that was cut off pays nobody.
        return
    for seat in range(rules["num_players"]):
        row[seat] = 1.0 if seat == s["last_closer"] else -1.0 / (int(rules["num_players"]) - 1)


@kernel
def ends(rules, states, ended):
    """Write how each game has ended, the same for everybody.

    Args:
        rules: RULES [1].
        states: STATE [B].
        ended: u1 [B], written: `GOING_ON`, `TERMINATED` where it is over by the rules, `TRUNCATED`
            where the turn limit has ended it.
    """
    for b in range(states.size):
        if states[b]["phase"] != FINISHED:
            ended[b] = GOING_ON
        else:
            ended[b] = TRUNCATED if states[b]["truncated"] else TERMINATED


@kernel
def settled(rules, states, settled, due):
    """Mark the seats whose reward cannot change any more: everybody, in a finished game.

    A truncated one has been paid as it stands.

    Args:
        rules: RULES [1].
        states: STATE [B].
        settled: u1 [B, P], written.
        due: f8 [B, P], written: zeros, for all has been paid.
    """
    for b in range(states.size):
        for seat in range(rules[0]["num_players"]):
            settled[b, seat] = states[b]["phase"] == FINISHED
            due[b, seat] = 0.0


@kernel
def standings(rules, states, places):
    """Write each seat's place as things stand.

    Args:
        rules: RULES [1].
        states: STATE [B].
        places: i4 [B, P], written: 1 for the first; equals share the best of their places.
    """
    for b in range(states.size):
        for seat in range(rules[0]["num_players"]):
            merit = _merit(rules[0], states[b], seat)
            place = 1
            for other in range(rules[0]["num_players"]):
                place += _merit(rules[0], states[b], other) > merit
            places[b, seat] = place


@kernel
def points(rules, states, out):
    """Write each seat's points as they stand, those of hidden tokens included.

    Args:
        rules: RULES [1].
        states: STATE [B].
        out: i4 [B, P], written.
    """
    for b in range(states.size):
        for seat in range(rules[0]["num_players"]):
            out[b, seat] = points_of(rules[0], states[b], seat)


def counts(rules: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a match counts besides places and rewards.

    Args:
        rules: RULES [1].
        states: STATE [B].

    Returns:
        "turns", "cases": i4 [B], the number of the turn and of the case; "points": i4 [B, P] as they
        stand; "books": i4 [B, P]; "closed", "arrests": i4 [B, P], cases that each seat has closed, and
        those of them that it closed by an arrest.
    """
    players = int(rules["num_players"][0])
    scored = np.zeros((states.size, players), np.int32)
    points(rules, states, scored)
    books = (states["books"][:, None, :] == np.arange(players, dtype=np.int8)[None, :, None]).sum(2, dtype=np.int32)
    return {
        "turns": states["turn_number"].copy(),
        "cases": states["case_number"].copy(),
        "points": scored,
        "books": books,
        "closed": states["closed"][:, :players].copy(),
        "arrests": states["arrests"][:, :players].copy(),
    }
