"""Train with both algorithms, in turns, and print how fast each learns, and what it wins.

    python benchmarks/learners.py [--seconds 30] [--turns 3] [--players 4] [--threads 1] [--deals 0]
                                  [--seeds 1] [--learner 0.5] [--config FILE]

Speed is the number of decisions a second that an algorithm learns from. Everything is counted:
games, opponents, rollouts and updates; what compiles and warms up, and the matches, are not. The
settings are the same for both: those of the configuration, or the network [256, 256], four passes,
and `sheet` bots as opponents. Where each algorithm takes seats differs: MaskablePPO learns in one
seat of a game, `ppo` in every seat that falls to it. ``--deals 100`` plays a match against the
game's default bot (`sheet` in Sleuth) after every turn, and prints when each algorithm first won
60, 75 and 90 % of the most that both did, three turns together. ``--seeds 3`` lets three of each
learn, from the configuration's seed on, and takes the mean. Turns are taken alternately, so that a
busy machine is fair to both.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import track

from sleuth_env.cli.arguments import real, whole
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.players import make_player

# The folder `training` lies next to that of this script, and is not installed.
sys.path.append(str(Path(__file__).parents[1]))

from training.config import Config, ConfigError, make_config
from training.config_file import read_file
from training.learner import Learner
from training.maskable import MaskableLearner
from training.ppo import PpoLearner

LEARNERS = {"maskable_ppo": MaskableLearner, "ppo": PpoLearner}
# Turns in a row whose mean is compared: a single match is too noisy to say who was first.
WINDOW = 3
SETTINGS: dict[str, Any] = {
    "num_envs": 512,
    "network": {"hidden": [256, 256], "initial_bias": {"accuse": -7, "final": -3}},
    "ppo": {
        "rollout_steps": 16,
        "batch_size": 2048,
        "epochs": 4,
        "learning_rate": 6e-4,
        "entropy": 0.003,
        "gae_lambda": 0.97,
    },
    "opponents": {"bots": {"sheet": 0.5}, "past_selves": 0, "learner": 0.5},
}


class Course:
    """One learner, how long it has learned, and what it won after how many seconds."""

    def __init__(self, learner: Learner, config: Config) -> None:
        self.learner = learner
        self.config = config
        bots = config.opponents.bots
        players = {name: make_player(name, config.options, config.module) for name in bots}
        learner.set_opponents({name: (player, bots[name]) for name, player in players.items()})
        self.seconds = 0.0
        self.busy = 0.0
        self.steps = 0
        self.matches: list[tuple[float, float]] = []
        # Off the clock: what compiles and warms up.
        self.learner.learn(0.0, lambda: False)

    def go_on(self, seconds: float) -> None:
        """Learn until this many seconds have been learned in all."""
        torch.set_num_threads(self.config.torch_threads)
        began = time.perf_counter() - self.seconds
        before = self.learner.steps
        worked = time.process_time()
        while self.seconds < seconds:
            self.learner.learn(0.0, lambda: False)
            self.seconds = time.perf_counter() - began
        self.steps += self.learner.steps - before
        self.busy += time.process_time() - worked

    def match(self, deals: int) -> None:
        """Play against copies of the game's default bot."""
        game = self.config.module
        (result,) = evaluate(game, self.config.options, self.learner.policy(), [game.DEFAULT_BOT], deals, seed=1)
        self.matches.append((self.seconds, result.entries[0].win_share))


Courses = dict[str, list[Course]]  # by algorithm


def print_speed(config: Config, courses: Courses) -> None:
    """Print how many decisions a second each learned from."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{config.options.num_players} players, network {config.network.hidden}, {config.ppo.epochs} passes, "
        f"{config.threads} threads; load of the machine {load}"
    )
    steps = {name: sum(course.steps for course in of_seeds) for name, of_seeds in courses.items()}
    speeds = {name: steps[name] / sum(course.seconds for course in courses[name]) for name in courses}
    for name, speed in speeds.items():
        of_a_core = steps[name] / sum(course.busy for course in courses[name])
        ratio = speed / speeds["maskable_ppo"]
        print(f"{name:14s} {speed:10,.0f} decisions/s {ratio:8.2f} {of_a_core:10,.0f} per second of a core")


def print_strength(courses: Courses) -> None:
    """Print what each won after every turn, and when it first won 60, 75 and 90 % of the most."""
    bot = courses["ppo"][0].config.module.DEFAULT_BOT
    seconds = {}
    shares = {}
    for name, of_seeds in courses.items():
        seconds[name], shares[name] = np.mean([course.matches for course in of_seeds], axis=0).T
        won = [f"{share:.1%} ({after:.0f} s)" for after, share in zip(seconds[name], shares[name], strict=True)]
        print(f"{name:14s} won against {bot}: {' '.join(won)}")
    window = min(WINDOW, len(shares["ppo"]))
    means = {name: np.convolve(of_turns, np.full(window, 1 / window), "valid") for name, of_turns in shares.items()}
    most = min(mean.max() for mean in means.values())
    for level in (0.6 * most, 0.75 * most, 0.9 * most) if most > 0 else ():
        after = {name: seconds[name][window - 1 + int((mean >= level).argmax())] for name, mean in means.items()}
        found = ", ".join(f"{name} after {when:.0f} s" for name, when in after.items())
        ratio = after["maskable_ppo"] / after["ppo"]
        print(f"first won {level:.1%} in {window} turns together: {found}; ratio {ratio:.2f}")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--turns", type=whole(1, 1000), default=3, help="in which both learn alternately")
    add("--players", type=whole(3, 7), help="with the settings of this script, default 4")
    add("--threads", type=whole(1, 256), help="default: those of the configuration")
    add("--deals", type=whole(0, 10**6), default=0, help="of a match after every turn; 0 for none")
    add("--seeds", type=whole(1, 100), default=1, help="runs of each, with seeds that follow one another")
    add("--seconds", type=real(0.001, 10**6), default=30.0, help="of learning, for each")
    add(
        "--learner",
        type=real(0.001, 1),
        help="share of the seats that are the learner's with `ppo`, the others are `sheet` bots'",
    )
    add("--config", help="a configuration file instead of the settings of this script")
    return parser


def configs(args: argparse.Namespace) -> dict[str, list[Config]]:
    """Return the configurations of both algorithms, one for each seed.

    Raises:
        ConfigError: they cannot learn by the same settings.
    """
    if args.config is not None and args.players:
        raise ConfigError("--players is of the settings of this script, a configuration file has its own")
    if args.config is None:
        settings = SETTINGS | {"options": {"num_players": args.players or 4}}
    else:
        settings = read_file(args.config)
    if settings.get("start") is not None:
        raise ConfigError(f"{args.config}: start means nothing to MaskablePPO: leave it out")
    return {algorithm: _of_seeds(args, {**settings, "algorithm": algorithm}) for algorithm in LEARNERS}


def _of_seeds(args: argparse.Namespace, settings: dict[str, Any]) -> list[Config]:
    changed: dict[str, Any] = {} if args.threads is None else {"threads": args.threads}
    if args.learner is not None:
        # MaskablePPO learns in one seat of a game and needs somebody in the others.
        bots = 1 - args.learner if settings["algorithm"] == "ppo" else 1.0
        changed["opponents"] = {"bots": {"sheet": bots}, "past_selves": 0, "learner": args.learner}
    source = args.config or "settings"
    first = make_config(settings | changed, source)
    if first.opponents.past_selves:
        raise ConfigError(f"{source}: opponents.past_selves must be 0, nobody takes snapshots here")
    return [make_config({**settings, **changed, "seed": first.seed + number}, source) for number in range(args.seeds)]


def main() -> None:
    """Print the figures."""
    parser = make_parser()
    args = parser.parse_args()
    try:
        made = configs(args)
        courses = {
            name: [Course(LEARNERS[name](config), config) for config in of_seeds] for name, of_seeds in made.items()
        }
    except ValueError as error:
        parser.error(str(error))
    for turn in track(
        range(1, args.turns + 1), "turns", console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ):
        for course in chain(*zip(*courses.values(), strict=True)):
            course.go_on(args.seconds * turn / args.turns)
            if args.deals:
                course.match(args.deals)
    print_speed(made["ppo"][0], courses)
    if args.deals:
        print_strength(courses)


if __name__ == "__main__":
    main()
