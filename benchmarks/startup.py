"""Print how long the first use takes, which compiles, and how long later starts take.

Each start is a new Python process that makes the PettingZoo environment, resets it and plays one
game with the `sheet` bot's deductions in its observations; the first has an empty folder for
compiled kernels.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from sleuth_env.cli.arguments import whole

PROGRAM = """
from sleuth_env import sleuth_v0
env = sleuth_v0.env(num_players=4)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    done = termination or truncation
    env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
"""


def seconds_of_a_start(cache: str) -> float:
    """Run the program in a new process; return its wall-clock seconds.

    Args:
        cache: the folder for compiled kernels.
    """
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=whole(1, 1000), default=5, help="later starts to measure (default: 5)")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as cache:
        print(f"first start, compiling: {seconds_of_a_start(cache):6.2f} s")
        later = [seconds_of_a_start(cache) for _ in range(repeats)]
    print(f"later starts, median:   {statistics.median(later):6.2f} s  (fastest {min(later):.2f} s, of {repeats})")


if __name__ == "__main__":
    main()
