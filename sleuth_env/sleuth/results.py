"""What each seat gets, how a game has ended, and what a match counts.

Source: docs/game.md, "Rewards". Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import numpy as np

from ..game import GOING_ON, TERMINATED, TRUNCATED
from ..kernels import inner, kernel
from .state import FINISHED, IN, OUT


@inner
def final_rewards(rules, s, row):
    """Write what each seat has got in a finished game.

    The j-th right player gets 1 - (j-1)/winners, the others share the negative sum; if nobody was
    right everybody gets -1/(n-1). In a truncated game right players get the same, players who are
    out -1/(n-1), players still in 0.
    """
    num_players = int(rules["num_players"])
    paid = 0.0
    num_paid = 0
    for seat in range(num_players):
        if s["place"][seat] > 0:
            row[seat] = 1.0 - (s["place"][seat] - 1) / rules["winners"]
            paid += row[seat]
            num_paid += 1
    for seat in range(num_players):
        if s["place"][seat] == 0:
            if s["truncated"]:
                row[seat] = -1.0 / (num_players - 1) if s["standing"][seat] == OUT else 0.0
            else:
                row[seat] = -paid / (num_players - num_paid) if num_paid > 0 else -1.0 / (num_players - 1)


@inner
def _is_settled(rules, s, seat):
    """Return whether a seat's reward cannot change any more.

    A place is kept, and where there is one winner whoever is out has lost. The turn limit leaves
    open what those would have got who were still in.
    """
    if s["phase"] == FINISHED:
        return not (s["truncated"] and s["standing"][seat] == IN)
    if s["place"][seat] > 0:
        return True
    return s["standing"][seat] == OUT and rules["winners"] == 1


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
    """Mark the seats whose reward cannot change any more.

    Args:
        rules: RULES [1].
        states: STATE [B].
        settled: u1 [B, P], written: 1 for a seat that has a place, that is out where there is one
            winner, for every seat of a game that is over by the rules, and for every seat of a
            truncated one but those still in.
        due: f8 [B, P], written: what a settled seat is still to get; 0 in a finished game, where
            all has been paid.
    """
    for b in range(states.size):
        s = states[b]
        for seat in range(rules[0]["num_players"]):
            settled[b, seat] = _is_settled(rules[0], s, seat)
            due[b, seat] = 0.0
            if settled[b, seat] and s["phase"] != FINISHED:
                place = s["place"][seat]
                lost = -1.0 / (rules[0]["num_players"] - 1)
                due[b, seat] = 1.0 - (place - 1) / rules[0]["winners"] if place > 0 else lost


@kernel
def standings(rules, states, places):
    """Write each seat's place.

    Args:
        rules: RULES [1].
        states: STATE [B].
        places: i4 [B, P], written: 1 for the first right player, 2 for the second, ...; 0 for a
            player who was not right. Nobody shares one.
    """
    for b in range(states.size):
        for seat in range(rules[0]["num_players"]):
            places[b, seat] = states[b]["place"][seat]


def counts(rules: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a match counts besides places and rewards.

    Args:
        rules: RULES [1].
        states: STATE [B].

    Returns:
        "turns": i4 [B]; "wrong_accusations": bool [B, P].
    """
    players = int(rules["num_players"][0])
    wrong = (states["accused"][:, :players] != 0) & (states["place"][:, :players] == 0)
    return {"turns": states["turn_number"].copy(), "wrong_accusations": wrong}
