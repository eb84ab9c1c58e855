"""Compile beforehand everything that a game compiles at its first use.

numba compiles a function for the types of arguments that it is called with. So this does, in small,
what environments, players, beliefs and training do; whatever is compiled by that is kept.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from .envs.aec import GameEnv
from .envs.binding import bound
from .envs.sb3 import vec_env_class
from .envs.solo import GameSoloEnv, GameSoloVectorEnv
from .envs.vector import HIGHEST, GameVectorEnv
from .envs.wrappers import wrapped
from .game import (
    DEFAULT_GAME,
    Believes,
    Drawn,
    Game,
    Rebuilds,
    Told,
    Transcribed,
    check_game,
    has_part,
    load_game,
    needed,
)
from .kernels import Compiled, compiling
from .matches.table import Table
from .policies.mlp import Mlp
from .policies.policy import Policy, load_policy
from .policies.policy_file import pretrained_names
from .trainer import PACKAGE

# Decisions in an environment: every kernel has been called by then.
DECISIONS = 12
# Games in which players meet, so that their rarer choices occur.
GAMES = 4

Step = tuple[str, Callable[[], object]]


def compile_kernels(game: Game | None = None, progress: Callable[[str, int, int], object] | None = None) -> Compiled:
    """Compile everything of a game now, so that later starts compile nothing; it takes some minutes.

    It takes about two minutes of a processor's time for Sleuth and three for I Say, Holmes!. What has
    been compiled already is found, and costs a few seconds.

    >>> from sleuth_env import compile_kernels, sleuth
    >>> compile_kernels(sleuth).lost  # why some could not be kept for later starts
    ()

    Args:
        game: a game module; default: `DEFAULT_GAME`.
        progress: is told the name of each step before it begins, its number from 0, and the number
            of steps; without it, stderr is told once that it takes long.

    Returns:
        The `number` of kernels that this process had to compile, 0 where all were there, and in
            `lost` why some of them could not be kept.

    Raises:
        GameError: it is not a game.
    """
    game = load_game(DEFAULT_GAME) if game is None else check_game(game)
    steps = list(_steps(game))
    with compiling(announced=progress is None) as compiled:
        for number, (name, work) in enumerate(steps):
            if progress is not None:
                progress(name, number, len(steps))
            work()
    return compiled


def _steps(game: Game) -> Iterator[Step]:
    """Iterate over what is to be done, the most important first."""
    options = game.Options()
    for record in game.RECORDS:
        yield f"environments, {record} observations", partial(_use_environments, game, options, record)
    for bot in game.BOTS:
        yield f"the bot {bot}", partial(_play, game, options, game.make_bot(bot, options))
    yield "policies", partial(_use_policies, game, options)
    yield "texts, drawings and beliefs", partial(_tell, game, options)
    # Where all that training needs is installed. It is a program of its own.
    if all(map(find_spec, ("torch", "pydantic", "yaml"))):
        # Also where this package is found by a path that only this process has.
        place = f"import sys; sys.path.append({str(PACKAGE.parent)!r})"
        code = f"{place}; from sleuth_env.trainer import training_module; training_module('ppo').compile_kernels()"
        yield "training", partial(subprocess.run, [sys.executable, "-c", code], check=True)


def _use_environments(game: Game, options: Any, record: str) -> None:
    """Begin a game in each environment."""
    named = {"record": record, "num_players": options.num_players}
    env = wrapped(bound(GameEnv, game)(**named))
    env.reset(seed=0)
    for _ in env.agent_iter(DECISIONS):
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else int(np.flatnonzero(observation["action_mask"])[0]))
    env.unwrapped.state()
    env.unwrapped.set_state(env.unwrapped.get_state())
    solo = bound(GameSoloEnv, game)(**named)
    solo.reset(seed=0)
    solo.step(int(np.flatnonzero(solo.action_masks())[0]))
    solo.set_state(solo.get_state())
    many: list[Any] = [bound(GameSoloVectorEnv, game)(num_envs=2, **named)]
    many += [bound(GameVectorEnv, game)(num_envs=2, dtype=dtype, **named) for dtype in HIGHEST]
    for envs in many:
        envs.reset(seed=0)
        for _ in range(DECISIONS):
            envs.step(envs.action_masks().argmax(axis=1))
        envs.set_state(envs.get_state())
    if find_spec("stable_baselines3"):
        learners: Any = vec_env_class(game, f"{game.NAME.title()}VecEnv")(
            num_envs=2, opponents=[game.DEFAULT_BOT], **named
        )
        learners.reset()
        learners.step(learners.action_masks().argmax(axis=1))


def _play(game: Game, options: Any, player: Any, rounds: int | None = None) -> None:
    """Let a player play against itself, to the end or for some decisions."""
    table = Table(game, options, GAMES, [player], 0)
    table.deal(range(GAMES), range(GAMES))
    # Tables pass over the checks of what a player is handed.
    player.act(table.views(0), table.legal(0), np.zeros(1, np.uint64))
    if rounds is None:
        table.play_on()
    else:
        for _ in range(rounds):
            table.play_round()
    table.standings(range(GAMES))


def _use_policies(game: Game, options: Any) -> None:
    """Play with the package's policies, and with one of each kind of observation."""
    for name in pretrained_names(game.NAME):
        policy = load_policy(name, game)
        # Not every one plays with every number of players.
        _play(game, policy.options, policy, DECISIONS)
    rng = np.random.default_rng(0)
    for record in game.RECORDS:
        sizes = (game.observation_layout(options, record).size, 8, game.num_actions(options))
        weights = [rng.normal(size=(of, to)).astype(np.float32) for to, of in pairwise(sizes)]
        network = Mlp([(weight, np.zeros(len(weight), np.float32)) for weight in weights])
        for greedy in (False, True):
            _play(game, options, Policy(game, options, record, network, greedy), 2)


def _tell(game: Game, options: Any) -> None:
    """Write, read, draw and tell the beginning of a game, and say what may be believed."""
    table = Table(game, options, 1)
    table.deal(0, 0)
    first = table.states[0].copy()
    actions = []
    for _ in range(DECISIONS):
        if table.finished[0]:
            break
        # The last is that of a game which goes on.
        views = table.views(0, 0)
        actions.append(int(table.legal(0)[0].argmax()))
        table.step(0, actions[-1])
    if has_part(game, Believes):
        belief = needed(game, Believes).belief(table.rules, views)
        _believe(belief)
        if has_part(game, Rebuilds):
            rng = np.random.default_rng(0)
            needed(game, Rebuilds).rebuild(table.rules, views, belief.sample(1, rng), rng)
    if has_part(game, Drawn):
        needed(game, Drawn).draw_ansi(options, views[0])
    if not has_part(game, Transcribed):
        return
    transcribed = needed(game, Transcribed)
    record = transcribed.parse_game(transcribed.game_text(options, first, actions))
    if has_part(game, Told):
        telling = needed(game, Told).telling
        for viewpoint in (None, 0):
            list(telling.tell_game(record, viewpoint, viewpoint is None, None, None))
        if has_part(game, Believes):
            telling.draw_odds(options, views[0])
            list(telling.review(record, 0))


def _believe(worlds: Any) -> None:
    """Ask a distribution whatever it answers by compiled code, as far as it is that of `deduction`."""
    for name in ("count", "missing", "missing_sets", "certain", "error"):
        getattr(worlds, name, None)
    if hasattr(worlds, "sample"):
        worlds.sample(1, np.random.default_rng(0))
    if hasattr(worlds, "information"):
        worlds.information(0, [0])
        worlds.question(0, [0])
