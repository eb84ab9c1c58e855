"""Self-play with SuperSuit: one policy of MaskablePPO plays every seat of many games.

python examples/with_supersuit.py --game holmes
"""

from __future__ import annotations

import torch
from sb3_contrib import MaskablePPO
from tasks import TASKS, Task, arguments

from sleuth_env.envs.supersuit import SeatsVecEnv

NUM_GAMES = 8


def train(task: Task, steps: int, seed: int) -> MaskablePPO:
    """Return a learner that has learned from so many decisions of all seats."""
    envs = SeatsVecEnv(task.environments.raw_env(**task.options), NUM_GAMES)
    seats = envs.num_envs // NUM_GAMES
    about = {"n_steps": 128, "batch_size": 512, "n_epochs": 4, "learning_rate": 1e-3, "ent_coef": 0.003, "gamma": 1.0}
    model = MaskablePPO("MlpPolicy", envs, seed=seed, **about)
    model.policy.action_net.bias.data += torch.from_numpy(task.bias())
    # In every step one seat of each game decides, and the others wait.
    model.learn(steps * seats)
    return model


def main() -> None:
    """Train, and play against `random` bots."""
    given = arguments(__doc__)
    model = train(TASKS[given.game], given.steps, given.seed)

    def choose(observations, masks):
        return model.predict(observations, action_masks=masks > 0)[0]

    print(TASKS[given.game].judged(choose, given.deals))


if __name__ == "__main__":
    main()
