"""Print how much faster a match is played by several worker processes, and what a worker costs to start.

The same match is played by one process and by several, in turns. The start of a worker, which loads the
package and the compiled kernels, is measured by matches of one deal, and is part of the other figures too.
Seconds of the clock say what a user waits for where as many cores are idle; seconds of the processor say
what the work costs in all, also where other programs run.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from dataclasses import dataclass

from sleuth_env import sleuth
from sleuth_env.cli.arguments import whole
from sleuth_env.matches.match import play_match
from sleuth_env.matches.shards import MOST_WORKERS
from sleuth_env.sleuth import Options

SEATS = ("racer", "sheet", "sheet")


@dataclass(frozen=True)
class Cost:
    """What a match cost.

    Args:
        clock: seconds.
        processor: seconds, of all processes together.
    """

    clock: float
    processor: float


def processor_seconds() -> float:
    """Return the time that this process and those that have ended before have computed."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def cost_of(deals: int, workers: int) -> Cost:
    """Play a match and return what it cost."""
    began = time.perf_counter()
    before = processor_seconds()
    play_match(sleuth, Options(num_players=len(SEATS)), SEATS, deals, seed=1, workers=workers)
    return Cost(time.perf_counter() - began, processor_seconds() - before)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=whole(1, 10**7), default=6000, help="games of a match (default: 6000)")
    parser.add_argument("--workers", type=whole(2, MOST_WORKERS), default=2, help="processes (default: 2)")
    parser.add_argument("--repeats", type=whole(1, 1000), default=3, help="matches of each (default: 3)")
    args = parser.parse_args()
    deals = -(-args.games // len(SEATS))
    cost_of(1, 1)
    numbers = (1, args.workers)
    turns = [{workers: cost_of(deals, workers) for workers in numbers} for _ in range(args.repeats)]
    starts = [cost_of(1, args.workers) for _ in range(args.repeats)]
    print(f"{' '.join(SEATS)}: {deals * len(SEATS)} games, median of {args.repeats}")
    for workers in numbers:
        clock = statistics.median(turn[workers].clock for turn in turns)
        processor = statistics.median(turn[workers].processor for turn in turns)
        speed = deals * len(SEATS) / clock
        print(f"workers {workers}: {speed:8.1f} games/s, {clock:6.1f} s, of the processor {processor:6.1f} s")
    faster = statistics.median(turn[1].clock / turn[args.workers].clock for turn in turns)
    more = statistics.median(turn[args.workers].processor / turn[1].processor for turn in turns)
    print(f"{args.workers} workers are {faster:.2f} times as fast, for {more:.2f} times the processor's time")
    print(
        f"to start a worker: {statistics.median(start.clock for start in starts):.2f} s, "
        f"of the processor {statistics.median(start.processor for start in starts):.2f} s"
    )


if __name__ == "__main__":
    main()
