"""Print what a shard of a rollout costs, and from it how many workers a learner can keep busy.

One process plays the shards of a rollout as workers do, from bytes to bytes, and learns from them. All
seconds are of its processor, so that other programs on the machine do not count. docs/scaling.md says
what follows from the figures.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from sleuth_env.cli.arguments import whole
from sleuth_env.matches.players import make_player
from sleuth_env.matches.tasks import answer, packed

# `training` lies next to this folder and belongs to no installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))
from training.config import Config, ConfigError, read_config
from training.games import collected_apart
from training.ppo import PpoLearner
from training.rollout import Collected

# Bytes that a network of a gigabit carries in a second.
GIGABIT = 1e9 / 8


@dataclass(frozen=True)
class Cost:
    """What a rollout costs.

    Args:
        decisions: of the learner.
        broadcast: bytes that go to each worker once an update: the weights and the opponents.
        task: bytes that go to a worker with each shard.
        result: bytes that come back from it.
        shard: seconds of the worker for a shard.
        learner: seconds of the learner to send and to take in all shards, and to learn from them.
    """

    decisions: float
    broadcast: float
    task: float
    result: float
    shard: float
    learner: float


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds that some work takes, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def cost_of(learner: PpoLearner, config: Config) -> Cost:
    """Play a rollout as workers would, learn from it, and return what it cost."""
    opponents = learner.shards[0].opponents

    def prepared() -> tuple[bytes, list[bytes]]:
        play = partial(collected_apart, config, learner.actor.network, opponents)
        return packed(play), [packed(games.position()) for games in learner.shards]

    def learned(answers: list[bytes]) -> int:
        found = [pickle.loads(content)[1] for content in answers]
        for games, (_, position) in zip(learner.shards, found, strict=True):
            games.return_to(position)
        collected = Collected.joined([part for part, _ in found])
        learner._update(collected, 0.0)
        return collected.fresh

    sending, (function, tasks) = timed(prepared)
    playing, answers = timed(lambda: [answer(function, task) for task in tasks])
    learning, decisions = timed(lambda: learned(answers))
    each = len(tasks)
    return Cost(
        decisions,
        len(function),
        sum(map(len, tasks)) / each,
        sum(map(len, answers)) / each,
        playing / each,
        sending + learning,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", default="three_players", metavar="CONFIG", help="default: three_players")
    parser.add_argument("--shards", type=whole(1, 1024), default=8, help="shards of a rollout (default: 8)")
    parser.add_argument("--repeats", type=whole(1, 1000), default=3, help="rollouts to measure (default: 3)")
    args = parser.parse_args()
    given = {"shards": str(args.shards), "algorithm": "ppo", "start": "null"}
    try:
        config = read_config(args.config, given)
    except ConfigError as error:
        parser.error(str(error))
    learner = PpoLearner(config)
    bots = config.opponents.bots
    learner.set_opponents(
        {name: (make_player(name, config.options, config.module), share) for name, share in bots.items()}
    )
    # The first compiles, loads, and begins all games at once.
    costs = [cost_of(learner, config) for _ in range(1 + args.repeats)][1:]
    cost = Cost(*(statistics.median(getattr(one, field.name) for one in costs) for field in fields(Cost)))
    print(f"{args.config}, {config.num_envs} games in {args.shards} shards, {cost.decisions:,.0f} decisions a rollout")
    print(f"once an update to each worker: {cost.broadcast:12,.0f} bytes")
    print(f"a shard, to the worker:        {cost.task:12,.0f} bytes")
    print(f"a shard, from the worker:      {cost.result:12,.0f} bytes")
    print(f"a shard, of the worker:        {cost.shard:12.3f} s")
    print(f"a rollout, of the learner:     {cost.learner:12.3f} s")
    limit = args.shards * cost.shard / cost.learner
    print(f"the learner is the limit from  {limit:12.1f} workers on")
    traffic = args.shards * (cost.broadcast + cost.task + cost.result)
    print(f"a gigabit network carries it in {traffic / GIGABIT:11.3f} s")


if __name__ == "__main__":
    main()
