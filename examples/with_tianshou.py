"""PPO in Tianshou: one learner against `random` bots.

python examples/with_tianshou.py --game holmes
"""

from __future__ import annotations

import numpy as np
import torch
from tasks import OPPONENT, TASKS, Task, arguments
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.discrete import DiscreteCritic

from sleuth_env.envs.tianshou import MaskedActor, ObservationNet, TianshouEnv

NUM_GAMES = 16
BATCH = 1024
HIDDEN = [64, 64]


def train(task: Task, steps: int, seed: int) -> DiscreteActorPolicy:
    """Return a policy that has learned from so many decisions."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # Tianshou shuffles with it

    def make_env() -> TianshouEnv:
        # An illegal action is an error, so that no mask can be passed over.
        return TianshouEnv(task.environments.SoloEnv(opponents=OPPONENT, illegal="raise", **task.options))

    envs = DummyVectorEnv([make_env] * NUM_GAMES)
    envs.seed(seed)
    spaces = make_env()
    size = spaces.observation_space["obs"].shape
    bias = torch.from_numpy(task.bias())
    network = ObservationNet(state_shape=size, hidden_sizes=HIDDEN)
    actor = MaskedActor(preprocess_net=network, action_shape=len(bias), softmax_output=False)
    actor.last.model[-1].bias.data += bias
    policy = DiscreteActorPolicy(actor=actor, action_space=spaces.action_space)
    algorithm = PPO(
        policy=policy,
        critic=DiscreteCritic(preprocess_net=ObservationNet(state_shape=size, hidden_sizes=HIDDEN)),
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        ent_coef=0.003,
    )
    collector = Collector(algorithm, envs, VectorReplayBuffer(BATCH, NUM_GAMES))
    params = OnPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=steps,
        collection_step_num_env_steps=BATCH,
        batch_size=256,
        update_step_num_repetitions=4,
        verbose=False,
        show_progress=False,
    )
    algorithm.run_training(params)
    return policy


def main() -> None:
    """Train, and play against what was learned against."""
    given = arguments(__doc__)
    policy = train(TASKS[given.game], given.steps, given.seed)

    def choose(observations, masks):
        with torch.no_grad():
            return policy(Batch(obs={"obs": observations, "mask": masks > 0}, info={})).act.numpy()

    print(TASKS[given.game].judged(choose, given.deals))


if __name__ == "__main__":
    main()
