"""Ways to play the environments in tests, and how to compare what they show."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from sleuth_env.sleuth import Options

FROM_EXCHANGE = 38  # the last actions: exchange, accuse one of 36 gems, pass


def keywords(options: Options) -> dict[str, Any]:
    """Return options as the keyword arguments of an environment."""
    return dataclasses.asdict(options)


def choose(mask: np.ndarray, chance: random.Random, accuse: float = 0.02) -> int:
    """Choose a legal action at random.

    Accusations (and final questions) are rare, or games would be over at once.
    """
    legal = np.flatnonzero(mask).tolist()
    asks = (len(mask) - FROM_EXCHANGE) * 162 // (162 + 43)
    quiet = [action for action in legal if action < asks or action in (len(mask) - FROM_EXCHANGE, len(mask) - 1)]
    return chance.choice(quiet if quiet and chance.random() >= accuse else legal)


def play(env: Any, seed: int, limit: int = 10_000, accuse: float = 0.02) -> Iterator[tuple[str, int]]:
    """Play on until the game is finished; iterate over each agent and action before it is taken."""
    chance = random.Random(seed)
    for _ in range(limit):
        if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            return
        agent = env.agent_selection
        action = choose(env.observe(agent)["action_mask"], chance, accuse)
        yield agent, action
        env.step(action)


def play_out(env: Any, seed: int, limit: int = 10_000, accuse: float = 0.02) -> list[tuple[str, int]]:
    """Play as `play` does and give everything that was done."""
    return list(play(env, seed, limit, accuse))


def everything_shown(env: Any) -> list[Any]:
    """Return all that an environment shows of its game, to be compared with ==."""
    raw = env.unwrapped
    seen = [
        (raw.observe(agent)["observation"].tobytes(), raw.observe(agent)["action_mask"].tobytes())
        for agent in raw.possible_agents
    ]
    dicts = [dict(d) for d in (raw.rewards, raw.terminations, raw.truncations, raw.infos, raw._cumulative_rewards)]
    return [seen, dicts, raw.agents[:], raw.agent_selection, raw.state().tobytes(), raw.reveal(), raw.game_text()]


def a_legal_action(env: Any) -> int:
    """Return a legal action of the agent to act."""
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1])


def an_illegal_action(env: Any) -> int:
    """Return an illegal action of the agent to act."""
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


def episode(env: Any, seed: int | None, choice: int = 0, accuse: float = 0.05) -> list[Any]:
    """Play a game to its end and return its steps.

    A step is (observation, mask, action, reward, terminated, truncated, info).
    """
    chance = random.Random(choice)
    steps = []
    observation, _ = env.reset(seed=seed)
    while True:
        mask = env.unwrapped.action_masks()
        action = choose(mask, chance, accuse)
        following, reward, terminated, truncated, info = env.step(action)
        steps.append((observation.tobytes(), mask.tobytes(), action, reward, terminated, truncated, info))
        observation = following
        if terminated or truncated:
            return steps


def some_steps(env: Any, choice: int, number: int) -> list[Any]:
    """Play on, from one game into the next."""
    chance = random.Random(choice)
    steps = []
    for _ in range(number):
        steps.append(env.step(choose(env.unwrapped.action_masks(), chance, 0.0)))
        if steps[-1][2]:
            steps.append(env.reset())
    return steps


def digest(steps: Any) -> str:
    """Sum up anything that was played, for comparison."""
    return hashlib.sha256(repr(steps).encode()).hexdigest()
