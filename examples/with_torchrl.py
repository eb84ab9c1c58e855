"""PPO in TorchRL: one learner against `random` bots, in many games at once.

python examples/with_torchrl.py --game holmes
"""

from __future__ import annotations

import torch
from tasks import OPPONENT, TASKS, Task, arguments
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, TransformedEnv
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

NUM_GAMES = 32
STEPS_A_GAME = 32


def make_env(task: Task, seed: int) -> TransformedEnv:
    """Return games, the next of which TorchRL itself deals; no mask can be passed over, which is an error."""
    about = {"observation": "dict", "autoreset_mode": "Disabled", "illegal": "raise", **task.options}
    games = task.environments.SoloVectorEnv(NUM_GAMES, OPPONENT, **about)
    masks = Compose(DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]), ActionMask())
    env = TransformedEnv(GymWrapper(games, categorical_action_encoding=True), masks)
    env.set_seed(seed)
    return env


def train(task: Task, steps: int, seed: int) -> nn.Module:
    """Return a network from observations to logits that has learned from so many decisions."""
    torch.manual_seed(seed)
    env = make_env(task, seed)
    size = env.observation_spec["observation"].shape[-1]
    bias = torch.from_numpy(task.bias())
    network = MLP(size, len(bias), num_cells=[64, 64])
    network[-1].bias.data += bias
    actor = ProbabilisticActor(
        TensorDictModule(network, ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(size, 1, num_cells=[64, 64]))
    advantages = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.003)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    about = {"frames_per_batch": NUM_GAMES * STEPS_A_GAME, "auto_register_policy_transforms": False}
    for data in Collector(env, actor, total_frames=steps, **about):
        with torch.no_grad():
            advantages(data)
        rows = data.flatten()
        for _ in range(4):
            for chosen in torch.randperm(len(rows)).split(256):
                parts = loss(rows[chosen])
                optimizer.zero_grad()
                (parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]).backward()
                optimizer.step()
        print(f"mean reward of a game {data['next', 'reward'][data['next', 'done']].mean().item():+.2f}")
    return network


def main() -> None:
    """Train, and play against what was learned against."""
    given = arguments(__doc__)
    network = train(TASKS[given.game], given.steps, given.seed)

    def choose(observations, masks):
        with torch.no_grad():
            logits = network(torch.from_numpy(observations))
        return MaskedCategorical(logits=logits, mask=torch.from_numpy(masks) > 0).sample().numpy()

    print(TASKS[given.game].judged(choose, given.deals))


if __name__ == "__main__":
    main()
