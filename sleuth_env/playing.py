"""The loop in which bots play on without coming back to Python, the same for all games; see `game.Playing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .bits import numbered
from .game import NO_ACTION, NOBODY
from .kernels import inner


@inner
def _kind_of(seats, kinds, seat):
    """Return the kind of who plays a seat (seats: i4 [P]); -1 if it is none that plays here."""
    number = seats[seat]
    return kinds[number] if 0 <= number < kinds.size else -1


def playing_by(choose: Any, take: Any) -> Any:
    """Return what a kernel in which bots play on calls (compiled).

    It takes the arguments of `Playing.play_on`, then what ``choose`` writes into, and returns the same.

    Args:
        choose: compiled, returns the action of a bot; is given one RULES record, the kind of the bot,
            one STATE record, the seat, random bits, one MEMORY record and the space.
        take: compiled, takes an action and returns whether it was legal; is given one RULES record,
            one STATE record, the action and rewards (f8 [P]), which it writes.
    """

    # As a closure: a kernel that is handed functions could not be kept for later starts.
    @inner
    def play(
        rules,
        states,
        seats,
        kinds,
        closed,
        first,
        streams,
        decisions,
        last_actions,
        returns,
        memory,
        most,
        space,
    ):
        rewards = np.empty(returns.shape[1])
        total = 0
        waiting = 0
        for b in range(states.size):
            if closed[b]:
                continue
            s = states[b]
            given = first[b]
            for _ in range(most):
                seat = s["actor"]
                if seat < 0:
                    break
                action = given
                if given == NO_ACTION:
                    kind = _kind_of(seats[b], kinds, seat)
                    if kind < 0:
                        break
                    bits = numbered(streams[b, seat], decisions[b, seat] + 1)
                    action = choose(rules[0], kind, s, seat, bits, memory[b % memory.shape[0], seat], space)
                if not take(rules[0], s, action, rewards):
                    break
                given = first[b] = NO_ACTION
                for p in range(rewards.size):
                    returns[b, p] += rewards[p]
                decisions[b, seat] += 1
                last_actions[b] = action
                total += 1
            waiting += s["actor"] >= 0 and seats[b, s["actor"]] != NOBODY
        return total, waiting

    return play
