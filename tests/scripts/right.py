"""A script of a user: type checkers have nothing against it. It is not run."""

from pathlib import Path

import gymnasium
import numpy as np
from numpy.typing import NDArray

import sleuth_env
from sleuth_env import (
    Contradiction,
    Game,
    IllegalAction,
    OptionError,
    Options,
    Player,
    Policy,
    SleuthVecEnv,
    SleuthVectorEnv,
    SoloEnv,
    SoloVectorEnv,
    Table,
    Worlds,
    belief,
    load_policy,
    make_bot,
    make_evidence,
    make_player,
    play_match,
    save_policy,
    sleuth,
    sleuth_v0,
    wrap_policy,
)

options = Options(num_players=4, missing=2)
hand: int = options.hand_size
game: Game = sleuth

env = sleuth_v0.env(num_players=4, record="exact")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    action = None if termination or truncation else int(env.action_space(agent).sample(observation["action_mask"]))
    try:
        env.step(action)
    except IllegalAction as error:
        print(error)
worlds: Worlds = env.unwrapped.belief("player_0")
deals: int = worlds.count
chances: float = float(worlds.missing[0])
players: int = env.unwrapped.options.num_players
raw: sleuth_env.sleuth_v0.raw_env = sleuth_v0.raw_env(max_turns=9, viewpoint=1)
text: str = raw.game_text()

solo = SoloEnv(opponents=["sheet", "random"], num_players=3, winners=2)
seen, about = solo.reset(seed=1)
legal: NDArray[np.bool_] = solo.action_masks()
learners = (
    SoloVectorEnv(4, super_sleuth=True).options.num_players + SleuthVecEnv(num_envs=2, accuse="own_turn").num_envs
)
many = SleuthVectorEnv(64, num_players=5, threads=2)
_, rewards, terminated, truncated, _ = many.step(many.action_masks().argmax(axis=1))
made: gymnasium.Env[object, int] = gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0")

rules = sleuth.make_rules(options)
states = sleuth.new_states(1)
sleuth.deal(rules, states, np.array([1], np.uint64))
views = np.zeros(1, sleuth.VIEW)
sleuth.view(rules, states, np.array([0]), views)
likely: Worlds = belief(rules, views)

policy: Policy = load_policy(Path("mine.safetensors"))
save_policy(policy, "yours.safetensors", {})
seats: list[Player] = ["sheet", make_bot("random", options), make_player("racer", options), policy.seated(options)]
share: float = play_match(sleuth, options, seats, 10).entries[0].win_share


def first_legal(observations: NDArray[np.float32], masks: NDArray[np.uint8]) -> NDArray[np.intp]:
    actions: NDArray[np.intp] = masks.argmax(axis=1)
    return actions


name: str = wrap_policy(first_legal, name="first").name
table = Table(sleuth, options, 3)
try:
    Worlds(make_evidence(2, range(3), [(0, range(3), 2, 2), (1, range(3), 2, 2)]), num_cards=3)
except (Contradiction, OptionError) as problem:
    print(problem)
