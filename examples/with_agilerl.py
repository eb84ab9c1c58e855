"""Evolution of PPO learners in AgileRL: each plays one seat of many games against `random` bots.

python examples/with_agilerl.py --game holmes
"""

from __future__ import annotations

import random

import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.algorithms.core.registry import HyperparameterConfig, RLParameter
from agilerl.hpo.mutation import Mutations
from agilerl.hpo.tournament import TournamentSelection
from agilerl.training.train_on_policy import train_on_policy
from tasks import OPPONENT, TASKS, Task, arguments
from torch import nn

NUM_GAMES = 32
BATCH = 1024
POPULATION = 2
HIDDEN = {"hidden_size": [64]}
SETTINGS = {"net_config": {"encoder_config": HIDDEN, "head_config": HIDDEN}, "lr": 1e-3, "gamma": 1.0}
SETTINGS |= {"num_envs": NUM_GAMES, "learn_step": BATCH, "batch_size": 256, "ent_coef": 0.003}


def train(task: Task, steps: int, seed: int) -> PPO:
    """Return the better one of two learners, each of which has learned from so many decisions."""
    for set_seed in (random.seed, np.random.seed, torch.manual_seed):
        set_seed(seed)
    # AgileRL takes masks from infos, and must be shown the next game at once. No mask can be passed over:
    about = {"opponents": OPPONENT, "illegal": "raise", "autoreset_mode": "SameStep", **task.options}
    envs = task.environments.SoloVectorEnv(NUM_GAMES, **about)
    envs.reset(seed=seed)  # the games that AgileRL asks for later follow
    learners = [
        PPO(
            envs.single_observation_space,
            envs.single_action_space,
            index=index,
            hp_config=HyperparameterConfig(lr=RLParameter(min=3e-4, max=3e-3)),
            **SETTINGS,
        )
        for index in range(POPULATION)
    ]
    for learner in learners:
        last = [layer for layer in learner.actor.modules() if isinstance(layer, nn.Linear)][-1]
        last.bias.data += torch.from_numpy(task.bias())
    learners, fitness = train_on_policy(
        envs,
        env_name=task.game.NAME,
        algo="PPO",
        pop=learners,
        max_steps=steps,
        evo_steps=min(steps, 4 * BATCH),
        eval_steps=256,
        selection_strategy=TournamentSelection(2, elitism=True, population_size=POPULATION),
        # Learning rates only: a network that changes its shape would be another one to judge.
        mutation=Mutations(0.5, 0, 0, parameters=0, activation=0, rl_hp=0.5, rand_seed=seed),
        verbose=False,
    )
    print("mean reward of a game", *(f"{one:+.2f}" for one in fitness))
    return learners[int(np.argmax(fitness))]


def main() -> None:
    """Train, and play against what was learned against."""
    given = arguments(__doc__)
    learner = train(TASKS[given.game], given.steps, given.seed)

    def choose(observations, masks):
        return learner.get_action(observations, action_mask=masks)[0]

    print(TASKS[given.game].judged(choose, given.deals))


if __name__ == "__main__":
    main()
