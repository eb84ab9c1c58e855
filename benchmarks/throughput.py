"""Print how many decisions a second the environments take, next to those of peers.

    python benchmarks/throughput.py [--game sleuth] [--players 4] [--games 256] [--seconds 1]
    [--repeat 5] [--threads 1] [--parts]

On one thread by default. Play is random and legal, so most games are over after a few decisions: in
the lines that say "plays on" nobody accuses or asks a final question where something else may be
done, and games are as long as real ones. What the caller does, choosing actions, is not counted.
Each figure is the median of some repeats, taken in turn, so that a busy machine is fair to all; the
last column is the ratio to PettingZoo's tictactoe without wrappers in the same run. Of environments
for one learner only the learner's decisions count, and the time of the bots' is part of theirs: some
play a game to its end though the learner be out of it. Peers are those that are installed:
``pip install "sleuth-env[bench]"``. ``--parts`` prints instead where the time of a decision with the
batched environment goes.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np

from sleuth_env import holmes, holmes_v0, sleuth, sleuth_v0
from sleuth_env.cli.arguments import real, whole
from sleuth_env.game import Game, kernels_of
from sleuth_env.options import OptionError


@dataclass(frozen=True)
class Faces:
    """A game and its environments.

    Args:
        game: the game module.
        module: that of its environments.
        vector: its batched environment.
        vec: the name of that for Stable-Baselines3.
        rare: blocks of actions that end a game and are drawn only so often where something else may
            be done.
        last: those with which a learner leaves the game, and which it draws as rarely if it plays on.
        unseen: lets states be played on at which nobody looks, where a game has that.
    """

    game: Game
    module: Any
    vector: Any
    vec: str
    rare: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    unseen: Callable[[np.ndarray], None] | None = None


GAMES = {
    "sleuth": Faces(
        sleuth, sleuth_v0, sleuth_v0.SleuthVectorEnv, "SleuthVecEnv", rare=("exchange", "accuse"), last=("final",)
    ),
    "holmes": Faces(holmes, holmes_v0, holmes_v0.HolmesVectorEnv, "HolmesVecEnv", unseen=holmes.drop_sheets),
}
# How often one of the rare actions is drawn, so that games go on for a while.
RARELY = 0.002


class Clock:
    """Count steps and the time that they take."""

    def __init__(self) -> None:
        self.steps = 0
        self.spent = 0.0

    def run(self, work: Callable[[], Any], steps: int = 0) -> Any:
        """Do something, on the clock."""
        began = time.perf_counter()
        result = work()
        self.spent += time.perf_counter() - began
        self.steps += steps
        return result


class Chooser:
    """Draw legal actions of a game at random."""

    def __init__(self, faces: Faces, players: int, plays_on: bool = False) -> None:
        blocks = faces.game.action_blocks(faces.game.Options(num_players=players))
        self.rare = [blocks[name] for name in faces.rare + faces.last * plays_on]
        self.rng = np.random.default_rng(0)

    def actions(self, masks: np.ndarray) -> np.ndarray:
        """Draw a legal action of every row of masks (u1 [B, A])."""
        weights = masks * self.rng.random(masks.shape, np.float32)
        for block in self.rare:
            weights[:, block] *= RARELY
        return weights.argmax(axis=1)


def play_rules(
    faces: Faces, players: int, games: int, unseen: Callable[[np.ndarray], None] | None = None
) -> Callable[[float], Clock]:
    """Play with the kernels alone: legal actions and steps; see `Faces` for ``unseen``."""
    game = faces.game
    kernels = kernels_of(game)
    options = game.Options(num_players=players)
    rules = game.make_rules(options)
    chosen = Chooser(faces, players)
    masks = np.zeros((games, game.num_actions(options)), np.uint8)
    taken = np.zeros(games, np.uint8)
    rewards = np.zeros((games, players))

    def dealt(number: int) -> np.ndarray:
        states: np.ndarray = game.new_states(number)
        kernels.deal(rules, states, chosen.rng.integers(0, 2**64, number, np.uint64))
        if unseen:
            unseen(states)
        return states

    states = dealt(games)

    def play(seconds: float) -> Clock:
        clock = Clock()
        while clock.spent < seconds:
            clock.run(lambda: kernels.legal(rules, states, masks))
            actions = chosen.actions(masks)
            clock.run(lambda actions=actions: kernels.step(rules, states, actions, taken, rewards), games)
            over = np.flatnonzero(states["actor"] < 0)
            if len(over):
                states[over] = dealt(len(over))
        return clock

    return play


def play_vector(
    faces: Faces, players: int, games: int, threads: int, record: str, plays_on: bool = False
) -> Callable[[float], Clock]:
    """Play with the batched environment: step, observation and mask of every game."""
    envs = faces.vector(games, num_players=players, record=record, copy=False, threads=threads)
    chosen = Chooser(faces, players, plays_on)
    envs.reset(seed=0)

    def play(seconds: float) -> Clock:
        clock = Clock()
        while clock.spent < seconds:
            actions = chosen.actions(clock.run(envs.action_masks))
            clock.run(lambda actions=actions: envs.step(actions), games)
        return clock

    return play


def print_parts(faces: Faces, players: int, games: int, record: str, seconds: float) -> None:
    """Print the nanoseconds of each part of a decision with the batched environment on one thread."""
    envs = faces.vector(games, num_players=players, record=record, copy=False)
    chosen = Chooser(faces, players)
    spent = dict[str, float]()
    under_way = list[str]()

    def timed(home: Any, name: str, part: str) -> None:
        work = getattr(home, name)

        def run(*arguments: Any) -> Any:
            began = time.perf_counter()
            under_way.append(part)
            result = work(*arguments)
            under_way.pop()
            # What is done for games that have ended counts only there.
            if len(under_way) < 2:
                spent[part] = spent.get(part, 0.0) + time.perf_counter() - began
            return result

        setattr(home, name, run)

    envs.reset(seed=0)
    # In the place of its own: the same kernels, on the clock.
    kernels_on_clock = SimpleNamespace(**vars(envs._kernels))
    envs._kernels = kernels_on_clock
    kernels = {"step": "step", "ends": "ended games: how they ended", "view": "view", "legal": "legal actions"}
    for name, part in kernels.items():
        timed(kernels_on_clock, name, part)
    timed(envs._observers[0], "write", "observation")
    timed(envs, "_end", "ended games: what was seen last, the next deal")
    timed(envs, "step", "in all")
    turns = 0
    began = time.perf_counter()
    while time.perf_counter() - began < seconds or turns < 200:
        envs.step(chosen.actions(envs.action_masks()))
        turns += 1
        if turns == 100:
            # What compiles and warms up.
            spent.clear()
    print(f"{faces.vector.__name__} of {games}, {players} players, {record}: nanoseconds a decision")
    for part, total in spent.items():
        print(f"{part:52s} {1e9 * total / games / (turns - 100):8,.0f}")


def play_aec(env: Any) -> Callable[[float], Clock]:
    """Play a PettingZoo environment with `last` and `step`."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def play(seconds: float) -> Clock:
        clock = Clock()
        while clock.spent < seconds:
            observation, _, terminated, truncated, _ = clock.run(env.last)
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            # The first legal actions of Sleuth are questions; of the peers' games any will do.
            action = int(legal[int(rng.random() ** 3 * len(legal))])
            clock.run(lambda action=action: env.step(action), 1)
        return clock

    return play


def play_solo(env: Any, chosen: Chooser) -> Callable[[float], Clock]:
    """Play a learner's environment, of one game or many, with the bots' decisions on the clock."""
    games = getattr(env, "num_envs", 1)
    if hasattr(env, "step_wait"):
        # Stable-Baselines3's way.
        env.seed(0)
        env.reset()
    else:
        env.reset(seed=0)

    def play(seconds: float) -> Clock:
        clock = Clock()
        while clock.spent < seconds:
            masks = np.atleast_2d(clock.run(env.action_masks))
            actions = chosen.actions(masks)
            result = clock.run(lambda actions=actions: env.step(actions if games > 1 else int(actions[0])), games)
            if games == 1 and (result[2] or result[3]):
                clock.run(env.reset)
        return clock

    return play


def peers() -> dict[str, Callable[[], Callable[[float], Clock]]]:
    """Return the ways to play the games of other packages."""

    def pettingzoo(name: str, face: str) -> Callable[[float], Clock]:
        return play_aec(getattr(importlib.import_module(f"pettingzoo.classic.{name}"), face)())

    def open_spiel() -> Callable[[float], Clock]:
        return play_open_spiel(importlib.import_module("pyspiel").load_game("hanabi"))

    found: dict[str, Callable[[], Callable[[float], Clock]]] = {
        f"PettingZoo {name}, {face}": partial(pettingzoo, name, face)
        for name in ("tictactoe_v3", "connect_four_v3", "hanabi_v5")
        for face in ("raw_env", "env")
    }
    return {**found, "OpenSpiel hanabi, with tensor": open_spiel}


def made(make: Callable[[], Callable[[float], Clock]]) -> Callable[[float], Clock] | None:
    """Return a way to play; None if it lacks a package."""
    try:
        return make()
    except ImportError:
        return None


def play_open_spiel(game: Any) -> Callable[[float], Clock]:
    """Play a game of OpenSpiel: information state, legal actions and step of the player to act."""
    rng = np.random.default_rng(0)

    def play(seconds: float) -> Clock:
        clock = Clock()
        state = game.new_initial_state()
        while clock.spent < seconds:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                actions, probabilities = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(actions, p=probabilities)))
            else:
                clock.run(lambda state=state: np.asarray(state.observation_tensor(), np.float32))
                legal = clock.run(state.legal_actions)
                action = legal[int(rng.random() * len(legal))]
                clock.run(lambda state=state, action=action: state.apply_action(action), 1)
        return clock

    return play


def own(faces: Faces, players: int, games: int, threads: int) -> dict[str, Callable[[], Callable[[float], Clock]]]:
    """Return the ways to play a game of this package."""
    module = faces.module
    bot = faces.game.DEFAULT_BOT
    records = faces.game.RECORDS
    batched = [record for record in records if record != "exact"]

    def solo(name: str, plays_on: bool, *number: int) -> Callable[[float], Clock]:
        make = getattr(module, name)
        return play_solo(make(*number, num_players=players, opponents=bot), Chooser(faces, players, plays_on))

    learning = (False, True) if faces.last else (False,)
    learners = {
        f"{name}{f' of {games}' * bool(number)}, {bot}{', plays on' * plays_on}": partial(solo, name, plays_on, *number)
        for plays_on in learning
        for name, number in (("SoloEnv", ()), ("SoloVectorEnv", (games,)), (faces.vec, (games,)))
    }

    unseen = {}
    if faces.unseen:
        unseen[f"rules only, {games} games without sheets"] = partial(play_rules, faces, players, games, faces.unseen)
    return {
        **unseen,
        f"rules only (legal and step), {games} games": lambda: play_rules(faces, players, games),
        **{
            f"{faces.vector.__name__} of {games}, {record}{', plays on' * plays_on}": partial(
                play_vector, faces, players, games, threads, record, plays_on
            )
            for plays_on in learning
            for record in batched
        },
        **{
            f"raw_env, {record}": lambda record=record: play_aec(module.raw_env(num_players=players, record=record))
            for record in records
        },
        f"env, {records[0]}": lambda: play_aec(module.env(num_players=players)),
        **learners,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=GAMES, default="sleuth")
    for name, default, least, most in (
        ("players", 4, 3, 8),
        ("games", 256, 1, 2**16),
        ("repeat", 5, 1, 1000),
        ("threads", 1, 1, 256),
    ):
        parser.add_argument(f"--{name}", type=whole(least, most), default=default)
    parser.add_argument("--seconds", type=real(0.001, 3600), default=1.0)
    parser.add_argument(
        "--parts",
        action="store_true",
        help="print where the time of a decision with the batched environment goes, on one thread",
    )
    args = parser.parse_args()
    faces = GAMES[args.game]
    n = args.players
    games = args.games
    try:
        faces.game.Options(num_players=n)
    except OptionError as error:
        parser.error(f"argument --players: {error}")
    if args.parts:
        if args.threads > 1:
            parser.error("--parts measures on one thread")
        for record in ("sheet", "raw"):
            print_parts(faces, n, games, record, args.seconds * args.repeat)
        return
    makers = {**own(faces, n, games, args.threads), **peers()}
    plays = {name: play for name, make in makers.items() if (play := made(make))}
    speeds: dict[str, list[float]] = {name: [] for name in plays}
    for turn in range(args.repeat + 1):
        for name, play in plays.items():
            clock = play(args.seconds if turn else 0.1)
            # The first turn compiles and warms up.
            if turn:
                speeds[name].append(clock.steps / clock.spent)
    measure = next((name for name in plays if "tictactoe" in name), "raw_env, sheet")
    threads = f"{args.threads} thread{'s' * (args.threads > 1)}"
    print(f"{args.game}, {n} players, {threads}, medians of {args.repeat}; ratio to {measure}")
    for name, values in speeds.items():
        print(f"{name:45s} {median(values):12,.0f} /s {median(values) / median(speeds[measure]):9.2f}")


if __name__ == "__main__":
    main()
