"""Sleuth in OpenSpiel: information-set Monte Carlo tree search against players who move at random.

Run it with ``pip install "sleuth-env[openspiel]"``:

    python examples/with_openspiel.py --games 9 --simulations 400

The search is OpenSpiel's own. It asks for states that its player cannot tell from the true one
(`resample_from_infostate`); they are drawn by the exact counts of all consistent deals. Playouts are
those of OpenSpiel, which move at random. The last survivor wins here, and players who move at random
soon accuse somebody wrongly: with 400 simulations a decision the search lets them, and wins.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

import sleuth_env.envs.openspiel  # noqa: F401  (registers python_sleuth and python_holmes)

PLAYERS = 3


def search_bot(game: pyspiel.Game, simulations: int, rng: np.random.RandomState) -> pyspiel.Bot:
    """Return OpenSpiel's search, which takes so many simulations a decision."""
    return ismcts.ISMCTSBot(
        game,
        mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng),
        uct_c=1.0,
        max_simulations=simulations,
        random_state=rng,
    )


def play(game: pyspiel.Game, search: pyspiel.Bot, seat: int, rng: np.random.RandomState) -> float:
    """Return what the search gets in one game, the others and chance drawing lots."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            action = rng.choice(outcomes, p=chances)
        elif state.current_player() == seat:
            action = search.step(state)
        else:
            action = rng.choice(state.legal_actions())
        state.apply_action(int(action))
    return float(state.returns()[seat])


def main() -> None:
    """Play, and print what the search gets."""
    parser = argparse.ArgumentParser(description="IS-MCTS against random players")
    parser.add_argument("--games", type=int, default=9)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    game = pyspiel.load_game("python_sleuth", {"players": PLAYERS, "last_survivor_wins": True})
    rng = np.random.RandomState(given.seed)
    search = search_bot(game, given.simulations, rng)
    mean = np.mean([play(game, search, number % PLAYERS, rng) for number in range(given.games)])
    print(f"IS-MCTS gets {mean:+.2f} a game against random players, {given.games} games")


if __name__ == "__main__":
    main()
