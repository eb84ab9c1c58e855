"""Print how long exact counting takes, over whole games of 3 to 7 players.

The games are played by the bots `sheet` (greedy questions) and `cautious` (random questions). A
position is that of whoever has the turn. Printed for each are the joint states, the share of
positions counted exactly, and CPU milliseconds: of the kernel that counts ("posterior"), of
`belief` with all its Python ("belief"), of the posterior with all questions that the mover's cards
allow ("all"), and of the posterior with the best of these, as the bot `entropy` looks for it
("move"). Then follows how many turns later than the exact count the sheet proves the
missing gem, looked at after every answer and for every seat.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator

import numpy as np

from sleuth_env.cli.arguments import whole
from sleuth_env.deduction.automata import PLAN
from sleuth_env.deduction.counting import CAP, KEEP, measure, room_for
from sleuth_env.deduction.evidence import EVIDENCE
from sleuth_env.deduction.graph import RESULT
from sleuth_env.deduction.sheet import LEVEL, SHEET, propagate
from sleuth_env.sleuth import (
    FINISHED,
    VIEW,
    Options,
    deal,
    legal,
    make_bot,
    make_rules,
    new_states,
    num_actions,
    step,
    view,
)
from sleuth_env.sleuth.belief import ORDERS, Beliefs, belief, beliefs
from sleuth_env.sleuth.bots.entropy import seek_most
from sleuth_env.sleuth.cards import NUM_GEMS
from sleuth_env.sleuth.clues import clues
from sleuth_env.sleuth.rebuild import rebuild
from sleuth_env.sleuth.state import OFFER, TURN


def play(options: Options, bot: str, games: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Play games; yield the states and everybody's views before every step.

    Yields:
        STATE [games] and VIEW [P, games]; the same arrays each time, overwritten by the next step.
    """
    rules = make_rules(options)
    states = new_states(games)
    rng = np.random.default_rng(seed)
    player = make_bot(bot, options)
    views = np.zeros((options.num_players, games), VIEW)
    deal(rules, states, rng.integers(0, 2**63, games).astype(np.uint64))
    mask = np.zeros((games, num_actions(options)), np.uint8)
    taken = np.zeros(games, np.uint8)
    rewards = np.zeros((games, options.num_players))
    while (states["phase"] != FINISHED).any():
        for seat in range(options.num_players):
            view(rules, states, np.full(games, seat), views[seat])
        yield states, views
        legal(rules, states, mask)
        own = views[np.maximum(states["actor"], 0), np.arange(games)]
        seeds = rng.integers(0, 2**63, games).astype(np.uint64)
        going = states["actor"] >= 0
        actions = np.full(games, -1)
        actions[going] = player.act(own[going], mask[going], seeds[going])
        step(rules, states, actions, taken, rewards)


def movers(options: Options, bot: str, games: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the views of whoever has the turn, whenever a turn begins, and what is legal then.

    Returns:
        VIEW [N] and u1 [N, A].
    """
    rules = make_rules(options)
    mask = np.zeros((games, num_actions(options)), np.uint8)
    seen = []
    allowed = []
    for states, views in play(options, bot, games, seed=1):
        rows = np.flatnonzero(states["phase"] == TURN)
        legal(rules, states, mask)
        seen.append(views[states["turn"][rows], rows])
        allowed.append(mask[rows])
    return np.concatenate(seen), np.concatenate(allowed)


def milliseconds(call: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    began = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - began) / 1e6


def spread(values: list[float], digits: int) -> str:
    """Return the median, 99th percentile and maximum as a text."""
    return " / ".join(f"{value:,.{digits}f}" for value in np.percentile(values, [50, 99, 100]))


def best_question(rules: np.ndarray, view: np.ndarray, allowed: np.ndarray) -> Beliefs:
    """Return what the bot `entropy` finds out before it asks (view: VIEW [1], allowed: u1 [1, A])."""
    sought = seek_most(rules, view, allowed, np.zeros(1, np.uint64))
    return beliefs(rules, view, sought=sought, exactly=False)


def print_costs(rules: np.ndarray, views: np.ndarray, masks: np.ndarray) -> None:
    """Measure some positions (VIEW [N], u1 [N, A]) one by one, and print the figures."""
    evidence = np.zeros(views.size, EVIDENCE)
    sheets = np.zeros(1, SHEET)
    plans = np.zeros(1, PLAN)
    results = np.zeros(1, RESULT)
    clues(rules, views, evidence)
    holders = np.zeros((NUM_GEMS, int(rules["num_players"][0])))
    room = room_for(CAP, KEEP)
    seed = np.uint64(0)
    posterior = []
    whole = []
    every = []
    move = []
    states = []
    exact = []
    for row in range(views.size):
        one = evidence[row : row + 1]
        seen = views[row : row + 1]
        posterior.append(
            milliseconds(lambda one=one: measure(one, ORDERS, seed, sheets, plans, results, holders, room))
        )
        states.append(float(results["states"][0]))
        exact.append(results["exact"][0])
        whole.append(milliseconds(lambda seen=seen: belief(rules, seen)))
        every.append(milliseconds(lambda seen=seen: beliefs(rules, seen)))
        mask = masks[row : row + 1]
        move.append(milliseconds(lambda seen=seen, mask=mask: best_question(rules, seen, mask)))
    print(f"  states {spread(states, 0)}, exact {np.mean(exact):.1%}; ms (p50 / p99 / max)", end="")
    print(f": posterior {spread(posterior, 3)}; belief {spread(whole, 3)};", end="")
    print(f" all {spread(every, 2)}; move {spread(move, 2)}", flush=True)


def print_rebuilt(rules: np.ndarray, views: np.ndarray) -> None:
    """Print how many games a second `rebuild` makes from views and random deals."""
    rng = np.random.default_rng(0)
    deals = np.concatenate([belief(rules, views[row : row + 1]).sample(100, rng) for row in range(views.size)])
    repeated = views.repeat(100)
    rebuild(rules, repeated[:1], deals[:1], rng)
    took = milliseconds(lambda: rebuild(rules, repeated, deals, rng))
    print(f"  rebuild {len(deals) / took:,.0f} k games/s", flush=True)


def proved_turns(options: Options, bot: str, games: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the turn at which each seat can prove the missing gem, by the sheet and by exact count.

    Returns:
        Two arrays f8 [P, games], inf where it never can.
    """
    rules = make_rules(options)
    by_sheet = np.full((options.num_players, games), np.inf)
    by_count = by_sheet.copy()
    evidence = np.zeros(games, EVIDENCE)
    sheets = np.zeros(games, SHEET)
    for states, views in play(options, bot, games, seed=2):
        answered = (states["phase"] == OFFER) & (states["offer_at"] == 0)
        for seat in range(options.num_players):
            clues(rules, views[seat], evidence)
            propagate(evidence, sheets, LEVEL)
            proved = answered & (sheets["has"][:, options.num_players - 1] != 0)
            by_sheet[seat, proved] = np.minimum(by_sheet[seat, proved], states["turn_number"][proved])
            by_count[seat, proved] = np.minimum(by_count[seat, proved], by_sheet[seat, proved])
            for row in np.flatnonzero(answered & (by_count[seat] == np.inf)):
                if belief(rules, views[seat, row : row + 1]).missing.max() == 1:
                    by_count[seat, row] = states["turn_number"][row]
    return by_sheet, by_count


def print_delay(players: int, bot: str, games: int) -> None:
    """Compare the sheet with the exact count, in games until all but one have solved it."""
    by_sheet, by_count = proved_turns(Options(num_players=players, winners=players - 1), bot, games)
    solved = by_count < np.inf
    later = by_sheet[solved] - by_count[solved]
    known = later[later < np.inf]
    print(f"  seats solved by the exact count: {solved.sum()}; of these, not yet by the sheet:", end=" ")
    print(f"{(later > 0).mean():.0%}, never by it in the game: {np.isinf(later).mean():.0%};", end=" ")
    print(f"where it gets there, it is {known.mean():.2f} turns later on average", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", type=whole(1, 10**6), default=10, help="games for each number of players and bot (default: 10)"
    )
    parser.add_argument(
        "--positions", type=whole(1, 10**6), default=300, help="positions measured of these (default: 300)"
    )
    parser.add_argument("--players", type=whole(3, 7), nargs="*", default=[3, 4, 5, 6, 7])
    arguments = parser.parse_args()
    for players in arguments.players:
        options = Options(num_players=players)
        rules = make_rules(options)
        for bot in ("sheet", "cautious"):
            views, masks = movers(options, bot, arguments.games)
            chosen = np.linspace(0, views.size - 1, min(arguments.positions, views.size)).astype(int)
            belief(rules, views[:1]), beliefs(rules, views[:1]), best_question(rules, views[:1], masks[:1])
            print(f"{players} players, {bot}: {views.size} positions, {chosen.size} measured")
            print_costs(rules, views[chosen], masks[chosen])
            print_rebuilt(rules, views[chosen])
            print_delay(players, bot, arguments.games)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
