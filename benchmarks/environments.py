"""Print how many steps a second the environments take, on one thread.

    python benchmarks/environments.py [--seconds 2]

A step of the PettingZoo environments is `last` and `step`; one of the learner's environments is `action_masks` and `step`, the
bots' decisions in between included. Actions are legal ones, drawn before the clock starts or by a generator of its own; accusations
are rare, so that games last.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sleuth_env import sleuth, sleuth_v0
from sleuth_env.solo import SoloEnv, SoloVectorEnv

FROM_EXCHANGE = 38  # the last actions: exchange, accuse one of 36 gems, pass


def quiet_action(mask: np.ndarray, chance: np.random.Generator) -> int:
    """Choose a legal action: pass where one may, else ask something."""
    if mask[-1]:
        return len(mask) - 1
    asks = (len(mask) - FROM_EXCHANGE) * 162 // (162 + 43)
    legal = mask[:asks].nonzero()[0]
    return int(legal[int(chance.random() * len(legal))]) if len(legal) else int(mask.argmax())


def play_aec(env: Any, seconds: float) -> float:
    """Steps a second of a PettingZoo environment, the choice of the actions not counted."""
    chance, steps, spent = np.random.default_rng(0), 0, 0.0
    env.reset(seed=0)
    while spent < seconds:
        began = time.perf_counter()
        observation, _, terminated, truncated, _ = env.last()
        spent += time.perf_counter() - began
        if terminated or truncated:
            env.reset()
            continue
        action = quiet_action(observation["action_mask"], chance)
        began = time.perf_counter()
        env.step(action)
        spent += time.perf_counter() - began
        steps += 1
    return steps / spent


def play_solo(env: Any, seconds: float) -> float:
    """Learner's steps a second of a `SoloEnv`."""
    chance, steps, spent = np.random.default_rng(0), 0, 0.0
    env.reset(seed=0)
    while spent < seconds:
        began = time.perf_counter()
        mask = env.action_masks()
        spent += time.perf_counter() - began
        action = quiet_action(mask, chance)
        began = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
        spent += time.perf_counter() - began
        steps += 1
    return steps / spent


def play_vector(envs: Any, seconds: float) -> float:
    """Learners' steps a second of a `SoloVectorEnv`."""
    chance, steps, spent = np.random.default_rng(0), 0, 0.0
    envs.reset(seed=0)
    while spent < seconds:
        began = time.perf_counter()
        masks = envs.action_masks()
        spent += time.perf_counter() - began
        actions = np.array([quiet_action(mask, chance) for mask in masks])
        began = time.perf_counter()
        envs.step(actions)
        spent += time.perf_counter() - began
        steps += len(actions)
    return steps / spent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    seconds = parser.parse_args().seconds
    rows: list[tuple[str, Callable[[Any, float], float], Callable[[], Any]]] = []
    for n in (3, 4, 7):
        for record in sleuth.RECORDS:
            rows.append((f"raw_env, {n} players, {record}", play_aec, lambda n=n, r=record: sleuth_v0.raw_env(num_players=n, record=r)))
        rows.append((f"env (wrapped), {n} players, sheet", play_aec, lambda n=n: sleuth_v0.env(num_players=n)))
        for bot in ("cautious", "sheet"):
            rows.append((f"SoloEnv, {n} players against {bot}", play_solo, lambda n=n, b=bot: SoloEnv(num_players=n, opponents=b)))
            rows.append((f"SoloVectorEnv of 64, {n} players against {bot}", play_vector, lambda n=n, b=bot: SoloVectorEnv(64, num_players=n, opponents=b)))
    for name, play, make in rows:
        play(make(), 0.1)
        print(f"{name:50s} {play(make(), seconds):10,.0f} steps/s")


if __name__ == "__main__":
    main()
