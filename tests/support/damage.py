"""Damage snapshots, put them into environments, and play what is taken to the end.

    python -m tests.support.damage GAME FACE NUMBER SEED

A process of its own, so that its death is seen. It prints how many snapshots were refused and how
many were taken, and fails where one does anything else than to be refused by a ValueError, with the
environment as it was, or to be played on.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sleuth_env.envs.aec import GameEnv
from sleuth_env.envs.binding import bound
from sleuth_env.envs.sb3 import vec_env_class
from sleuth_env.envs.snapshot import Snapshot
from sleuth_env.envs.solo import GameSoloEnv, GameSoloVectorEnv
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.envs.wrappers import wrapped
from tests.support.games import TRIED

JUNK = (None, True, -1, 10**30, 2**31 - 1, float("nan"), float("inf"), "player_0", "", [], {}, b"\0", [[]], {"a": {}})
FACES: dict[str, Callable[..., Any]] = {
    "aec": lambda game, options: bound(GameEnv, game)(**options),
    "wrapped": lambda game, options: wrapped(bound(GameEnv, game)(**options)),
    "solo": lambda game, options: bound(GameSoloEnv, game)(opponents="random", **options),
    "solo_vector": lambda game, options: bound(GameSoloVectorEnv, game)(2, opponents="random", **options),
    "vector": lambda game, options: bound(GameVectorEnv, game)(
        2, record="raw" if game.NAME == "sleuth" else None, **options
    ),
    "sb3": lambda game, options: vec_env_class(game, "VecEnv")(2, ["random"], **options),
}


def damaged_array(array: np.ndarray, chance: random.Random) -> Any:
    """Return an array with a bit, eight bytes or a number changed, or of another form."""
    kind = chance.randrange(12)
    if kind == 0:
        return chance.choice([array[:0], array.astype(np.int64), array.tolist(), array.T[::2], array.astype(object)])
    if kind == 1:
        return np.full_like(array, chance.choice([0, 1]))
    copied = array.copy()
    cells = copied.reshape(-1).view(np.uint8)
    at = chance.randrange(len(cells))
    if kind < 7:
        cells[at] ^= 1 << chance.randrange(8)
    elif kind < 9:
        cells[at : at + 8] = list(chance.randbytes(len(cells[at : at + 8])))
    else:
        at -= at % 4
        cells[at : at + 4] = list(
            chance.choice([-2, -1, 0, 1, 2, 3, 5, 77, 10**7, 2**31 - 1]).to_bytes(4, "little", signed=True)
        )[: len(cells) - at]
    return copied


def damaged(part: Any, chance: random.Random) -> Any:
    """Return a part of a snapshot, damaged somewhere."""
    if chance.random() < 0.05:
        return chance.choice(JUNK)
    if isinstance(part, np.ndarray):
        return damaged_array(part, chance)
    if isinstance(part, dict) and part:
        changed = dict(part)
        key = chance.choice(list(part))
        if chance.random() < 0.2:
            del changed[key]
        else:
            changed[key] = damaged(part[key], chance)
        return changed
    if isinstance(part, list) and part:
        at = chance.randrange(len(part))
        return chance.choice([part[:at], part + part[at:], [*part[:at], damaged(part[at], chance), *part[at + 1 :]]])
    if isinstance(part, bool):
        return not part
    if isinstance(part, int):
        return part ^ 1 << chance.randrange(70)
    if isinstance(part, float):
        return chance.choice([part + 1, -1.0, 1e300, float("nan"), 0.5])
    return chance.choice([*JUNK, "player_1", "player_2"])


def damaged_snapshot(snapshot: Snapshot, chance: random.Random) -> Snapshot:
    """Return a snapshot that is damaged somewhere, in most cases one whose digest does not tell."""
    digest = snapshot.digest if chance.random() < 0.1 else ""
    whole = {name: getattr(snapshot, name) for name in ("face", "game", "options", "streams", "more")}
    if chance.random() < 0.5:
        return replace(snapshot, states=damaged_array(snapshot.states, chance), digest=digest)
    name = chance.choice(["more"] * 6 + ["streams", "options", "face", "game"])
    return replace(snapshot, **{name: damaged(whole[name], chance), "digest": digest})


def shown(env: Any) -> list[Any]:
    """Touch all that an environment shows of its games."""
    raw = getattr(env, "unwrapped", env)
    parts: list[Any] = []
    if isinstance(raw, GameEnv):
        parts += [[raw.observe(agent), raw.view(agent)] for agent in raw.possible_agents]
        parts += [raw.state(), raw.rewards, raw.infos, raw.agents, raw.agent_selection]
        if raw.game.NAME == "sleuth":
            parts += [raw.reveal(), raw.game_text()]
            view = raw.view(raw.agent_selection)[0]
            parts += [raw.game.draw_ansi(raw.options, view)]
    else:
        parts += [raw.action_masks(), raw.get_state().digest]
        if isinstance(raw, GameVectorEnv):
            parts += [raw.views(), raw.final_observations(), raw.final_standings(), raw.earned]
        else:
            parts += [raw.table.observations(), raw.table.ends(), raw.table.settled(), raw.table.standings()]
        if hasattr(raw, "reveal") and raw.game.NAME == "sleuth":
            parts.append(raw.reveal())
    return parts


def moved(env: Any, rng: np.random.Generator) -> bool:
    """Take legal actions at random; return whether the game is over."""
    raw = getattr(env, "unwrapped", env)
    if isinstance(raw, GameEnv):
        if not raw.agents:
            return True
        over = raw.terminations[raw.agent_selection] or raw.truncations[raw.agent_selection]
        mask = raw.action_mask(raw.agent_selection)
        env.step(None if over else int(rng.choice(np.flatnonzero(mask))))
        return False
    masks = np.atleast_2d(raw.action_masks())
    actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
    if isinstance(raw, GameSoloEnv):
        if raw._over:
            return True
        found = env.step(int(actions[0]))
        return bool(found[2] or found[3])
    return bool(np.any(env.step(actions)[2]))


def run(game: str, face: str, number: int, seed: int) -> tuple[int, int]:
    """Return how many of ``number`` damaged snapshots were refused and taken."""
    tried = TRIED[game]
    chance = random.Random(seed)
    rng = np.random.default_rng(seed)
    refused = 0
    taken = 0
    some = 250
    for start in range(0, number, some):
        options = asdict(chance.choice(tried.options))
        env = FACES[face](tried.game, options)
        env.reset(seed=chance.randrange(2**32)) if face != "sb3" else (env.seed(chance.randrange(2**32)), env.reset())
        for _ in range(chance.randrange(25)):
            # Mostly by questions: the games shall last.
            before = copy.deepcopy(env)
            if moved(env, rng):
                env = before
                break
        snapshot = env.get_state()
        shown(env)
        for _ in range(min(some, number - start)):
            try:
                env.set_state(damaged_snapshot(snapshot, chance))
            except ValueError:
                refused += 1
                assert env.get_state().digest == snapshot.digest, "a refused snapshot has changed the environment"
                continue
            taken += 1
            shown(env)
            # What is wrong shows itself soon, if at all; some games are played to their end.
            for _ in range(10_000 if chance.random() < 0.02 else 20):
                if moved(env, rng):
                    break
            shown(env)
            env.set_state(snapshot)
    return refused, taken


if __name__ == "__main__":
    game, face, number, seed = sys.argv[1:]
    sys.stdout.write("{} {}\n".format(*run(game, face, int(number), int(seed))))
