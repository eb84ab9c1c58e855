"""Measure how much nearer to the truth a belief is that reads what the rivals choose.

    python benchmarks/reading.py [--players 3,4] [--bots sheet,racer] [--models any] [--games 200] [--deals 1000]

At the turns of one seat, after the first questions of others, it prints how surprising the missing
gem is (its log-loss, in bits) by the cards alone and by `weighted_belief`, how much less that is
(with a 95 % interval, clustered by game), how often the likeliest gem is missing, and the median of
the effective sample sizes. All seats are of the same bot.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
from rich.progress import Progress

from sleuth_env import sleuth
from sleuth_env.cli.arguments import some, whole
from sleuth_env.sleuth.bots.weighing import MODELS, weighted_belief

BOTS = ("cautious", "sheet", "hunch", "entropy", "racer")
# Questions of others before the first turn that counts.
FIRST = 4
SEED = 13


def turns(bot: str, players: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
    """Play a game; yield what seat 0 has seen until each of its turns (VIEW [K]), and which gem is missing."""
    options = sleuth.Options(num_players=players)
    rules = sleuth.make_rules(options)
    player = sleuth.make_bot(bot, options)
    rng = np.random.default_rng([SEED, seed])
    states = sleuth.new_states(1)
    sleuth.deal(rules, states, rng.integers(0, 2**64, 1, np.uint64))
    seen: list[np.ndarray] = []
    asked = 0
    legal = np.zeros((1, sleuth.num_actions(options)), np.uint8)
    taken = np.zeros(1, np.uint8)
    rewards = np.zeros((1, players))
    while states["phase"][0] != sleuth.FINISHED:
        view = np.zeros(1, sleuth.VIEW)
        sleuth.view(rules, states, states["actor"].astype(np.int64), view)
        sleuth.legal(rules, states, legal)
        if states["actor"][0] == 0:
            seen.append(view)
            if states["phase"][0] == sleuth.TURN and asked >= FIRST:
                yield np.concatenate(seen), int(states["missing_gems"][0]).bit_length() - 1
        action = player.act(view, legal, rng.integers(0, 2**64, 1, np.uint64))
        asked += bool(states["actor"][0] != 0 and action[0] < rules["final_at"][0])
        sleuth.step(rules, states, action, taken, rewards)


def measure(bot: str, players: int, model: str, games: int, deals: int) -> str:
    """Return a row of the table."""
    rules = sleuth.make_rules(sleuth.Options(num_players=players))
    found = []
    for game in range(games):
        for views, gem in turns(bot, players, game):
            plain = sleuth.belief(rules, views[-1:]).missing
            if plain[gem] > 1 - 1e-9:
                break
            weighed = weighted_belief(rules, views, model, deals, seed=game)
            losses = -np.log2(plain[gem]), -np.log2(weighed.missing[gem])
            hits = plain.argmax() == gem, weighed.missing.argmax() == gem
            found.append((game, *losses, *hits, weighed.effective))
    game, before, after, hit_before, hit_after, effective = np.array(found).T
    gain = before - after
    # Turns of one game depend on each other.
    strays = np.bincount(game.astype(np.int64), gain - gain.mean())
    error = 1.96 * np.sqrt(np.square(strays).sum()) / len(gain)
    cells = [
        str(players),
        f"`{bot}`",
        f"`{model}`",
        f"{len(gain):,}",
        f"{before.mean():.2f}",
        f"{after.mean():.2f}",
        f"{gain.mean():.2f} ± {error:.2f}",
        f"{hit_before.mean():.0%}",
        f"{hit_after.mean():.0%}",
        f"{np.median(effective):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=some(["3", "4", "5", "6", "7"]), default=["3", "4"])
    parser.add_argument("--bots", type=some(list(BOTS)), default=list(BOTS), help="who plays")
    parser.add_argument("--models", type=some(list(MODELS)), default=["any"], help="who they are thought to be")
    parser.add_argument("--games", type=whole(2, 1_000_000), default=200)
    parser.add_argument("--deals", type=whole(1, 1_000_000), default=1000, help="drawn at each turn")
    args = parser.parse_args()
    print("| players | bots | model | turns | bits | weighed | gain | likeliest | weighed | effective |")
    print("|--:|:--|:--|--:|--:|--:|--:|--:|--:|--:|")
    rows = list(product(map(int, args.players), args.bots, args.models))
    with Progress(transient=True) as progress:
        for players, bot, model in progress.track(rows, description="rows"):
            progress.console.print(measure(bot, players, model, args.games, args.deals), soft_wrap=True)


if __name__ == "__main__":
    main()
