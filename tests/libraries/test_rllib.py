"""RLlib with both games: the environment, the module that knows masks, and runs with ``algorithm: rllib``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("ray", reason='needs Ray: pip install "sleuth-env[rllib]"')

import gymnasium
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from sleuth_env import load_policy, policy_from_torch, save_policy
from sleuth_env.actions import IllegalAction
from sleuth_env.envs.rllib import ALL, LEARNER, MaskedModule, RllibEnv
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.players import make_player
from sleuth_env.policies.policy_file import read_metadata
from tests.support.policies import VERSIONS
from tests.test_train import TINY, curve, steps_of, the_line
from training.config import make_config, read_config
from training.rllib import NetworkModule
from training.run import Run
from training.train import main

ROOT = Path(__file__).parents[2]
GAMES = [
    {"num_players": 3},
    {"num_players": 7, "opponents": ["random", "sheet"], "learner_share": 2.0},
    {"game": "sleuth", "record": "raw", "num_players": 4, "max_turns": 9},
    {"game": "holmes", "num_players": 4, "cases": 1, "reward": "case"},
    {"game": "holmes", "num_players": 3, "cases": 1, "opponents": "counter"},
]
every_game = pytest.mark.parametrize("config", GAMES, ids=str)
RLLIB: dict[str, Any] = TINY | {"algorithm": "rllib", "rllib": {"env_runners": 0}}


def legal(observation: dict[str, Any], random: np.random.Generator) -> int:
    return int(random.choice(np.flatnonzero(observation["action_mask"])))


def played(env: RllibEnv, random: np.random.Generator, seed: int | None = None) -> Iterator[Any]:
    """Play a game at random; return what `reset`, without rewards and flags, and each `step` returned."""
    observations, infos = env.reset(seed=seed)
    yield observations, {}, {}, {}, infos
    over = False
    while not over:
        ((agent, observation),) = observations.items()
        step = env.step({agent: legal(observation, random)})
        yield step
        observations, _, terminateds, truncateds, _ = step
        over = terminateds[ALL] or truncateds[ALL]


# --- the environment ---


@every_game
def test_rllib_finds_nothing_wrong_with_the_environment(config: dict[str, Any]):
    env = RllibEnv(config)
    for _ in range(3):
        check_multiagent_environments(env)


@every_game
def test_only_who_decides_is_asked_and_all_end_together(config: dict[str, Any]):
    env = RllibEnv(config)
    random = np.random.default_rng(1)
    for seed in range(5):
        *going_on, last = played(env, random, seed)
        decided = set()
        for observations, rewards, terminateds, truncateds, infos in going_on:
            (agent,) = observations
            assert set(infos) == {agent}
            assert set(rewards) <= {agent}
            assert not any(terminateds.values())
            assert not any(truncateds.values())
            assert env.observation_spaces[agent].contains(observations[agent])
            decided.add(agent)
        observations, rewards, terminateds, truncateds, infos = last
        assert set(observations) == set(rewards) == set(infos) == decided
        assert set(terminateds) == set(truncateds) == {*decided, ALL}
        assert terminateds[ALL] != truncateds[ALL]
        for agent in decided:
            assert terminateds[agent] != truncateds[agent]
            assert infos[agent]["settled"] == terminateds[agent]
            assert observations[agent]["action_mask"].all()
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step({next(iter(decided)): 0})


@every_game
def test_what_a_seat_gets_between_its_decisions_is_summed(config: dict[str, Any]):
    env = RllibEnv(config)
    random = np.random.default_rng(2)
    numbers = 0
    for seed in range(5):
        given: dict[str, float] = defaultdict(float)
        decisions: dict[str, int] = defaultdict(int)
        before: dict[str, float] = {}
        env.take_finished()
        observations, _ = env.reset(seed=seed)
        over = False
        while not over:
            ((agent, observation),) = observations.items()
            seat = env.possible_agents.index(agent)
            before.setdefault(agent, env.table.returns[0, seat])
            decisions[agent] += 1
            observations, rewards, terminateds, truncateds, _ = env.step({agent: legal(observation, random)})
            for name, reward in rewards.items():
                given[name] += reward
            over = terminateds[ALL] or truncateds[ALL]
        game = env.take_finished()[-1]
        for agent, number in decisions.items():
            seat = env.possible_agents.index(agent)
            assert game.players[seat] == LEARNER
            assert game.decisions[seat] == number
            # What it had got before its first decision belongs to none.
            assert before[agent] + given[agent] == pytest.approx(game.returns[seat])
            numbers += 1
    assert numbers >= 5


def test_a_game_that_is_cut_off_is_truncated_for_whose_reward_is_not_settled():
    env = RllibEnv({"num_players": 3, "max_turns": 1})
    random = np.random.default_rng(3)
    ends = [list(played(env, random, seed))[-1] for seed in range(40)]
    cut_off = [(terminateds, truncateds) for _, _, terminateds, truncateds, _ in ends if truncateds[ALL]]
    assert cut_off
    # Whoever has accused wrongly has nothing to wait for.
    assert any(flag for terminateds, _ in cut_off for flag in terminateds.values())


def test_a_seed_settles_everything_and_processes_have_games_of_their_own():
    def told(config: Any) -> bytes:
        env = RllibEnv(config)
        steps = played(env, np.random.default_rng(4), seed=5)
        return b"".join(part["observation"].tobytes() for step in steps for part in step[0].values())

    config = {"num_players": 3, "opponents": "random"}
    assert told(config) == told(config)

    class Context(dict):  # type: ignore[type-arg]
        worker_index = 2

    assert told(Context(config)) != told(config)


def test_games_that_opponents_end_before_a_learner_decides_are_told_and_followed_by_another():
    env = RllibEnv({"num_players": 3, "opponents": "random", "learner_share": 0.0})
    random = np.random.default_rng(6)
    for _ in range(60):
        list(played(env, random))
    games = env.take_finished()
    assert len(games) > 60
    assert all(game.players.count(LEARNER) == 1 for game in games)
    undecided = [game for game in games if not game.decisions[game.players.index(LEARNER)]]
    assert len(undecided) == len(games) - 60


def test_an_illegal_action_ends_the_game_or_is_refused():
    env = RllibEnv({"num_players": 3})
    observations, _ = env.reset(seed=1)
    ((agent, observation),) = observations.items()
    wrong = int(np.flatnonzero(observation["action_mask"] == 0)[0])
    _, rewards, terminateds, _, infos = env.step({agent: wrong})
    assert rewards == {agent: -1.0}
    assert terminateds == {agent: True, ALL: True}
    assert infos == {agent: {"settled": True}}

    env = RllibEnv({"num_players": 3, "illegal": "raise"})
    env.reset(seed=1)
    before = env.table.states.tobytes()
    for actions, error, said in (
        ({agent: wrong}, IllegalAction, f"{agent} may not choose action {wrong}"),
        ({agent: 448}, IllegalAction, "action must be an integer from 0 to 447, got 448"),
        ({}, ValueError, f"it is {agent}'s turn: step takes {{'{agent}': action}}, got {{}}"),
        ({agent: 0, "player_9": 0}, ValueError, f"it is {agent}'s turn"),
    ):
        with pytest.raises(error, match=said.replace("{", r"\{").replace("}", r"\}")):
            env.step(actions)
    assert env.table.states.tobytes() == before


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"opponent": "sheet"}, "unexpected keyword argument 'opponent', did you mean opponents"),
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"num_players": 2}, "num_players"),
        ({"record": "all"}, "record must be one of"),
        ({"illegal": "ignore"}, "illegal must be one of 'end', 'raise', got 'ignore'"),
        ({"opponents": "nobody"}, "there is no bot 'nobody'"),
        ({"opponents": "sheet", "shares": [1, 2]}, "each opponent need a share, not negative, got 1 opponents"),
        ({"opponents": "sheet", "shares": [-1]}, "each opponent need a share, not negative, got 1 opponents"),
    ],
    ids=str,
)
def test_what_a_configuration_may_not_say_is_refused(config: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        RllibEnv(config)


class Recorder(RllibEnv):
    """Take down what each agent did and got in each game, without RLlib."""

    games: list[dict[str, list[Any]]]

    def reset(self, **named: Any) -> Any:
        self.game_now: dict[str, list[Any]] = defaultdict(list)
        return super().reset(**named)

    def step(self, action_dict: Any) -> Any:
        ((agent, action),) = action_dict.items()
        self.game_now[agent].append([int(action), 0.0, False])
        step = super().step(action_dict)
        _, rewards, terminateds, truncateds, _ = step
        for name, reward in rewards.items():
            if name in self.game_now:
                self.game_now[name][-1][1:] = [pytest.approx(reward), terminateds[name]]
        if terminateds[ALL] or truncateds[ALL]:
            RECORDED.append(dict(self.game_now))
        return step


RECORDED: list[dict[str, list[Any]]] = []


@pytest.mark.parametrize(
    "config",
    [
        {"num_players": 3, "max_turns": 12, "opponents": "random", "learner_share": 2.0},
        {"game": "holmes", "num_players": 3, "cases": 1, "reward": "case"},
    ],
    ids=str,
)
def test_rllib_learns_from_every_decision_once_with_its_reward_however_rollouts_cut_games(config: dict[str, Any]):
    RECORDED.clear()
    runner = MultiAgentEnvRunner(
        config=PPOConfig()
        .environment(Recorder, env_config=config, disable_env_checking=True)
        .multi_agent(policies={"one"}, policy_mapping_fn=lambda agent, episode, **more: "one")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [8]}))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=3)
        .debugging(seed=1),
        worker_index=0,
    )
    found: dict[str, Any] = defaultdict(lambda: defaultdict(list))
    finished = []
    while len(finished) < 4:
        for episode in runner.sample(num_timesteps=11):
            for agent, part in episode.agent_episodes.items():
                actions = part.get_actions().tolist()
                assert len(part.get_extra_model_outputs("action_logp")) == len(actions)
                masks = part.get_observations()["action_mask"][: len(actions)]
                assert masks[np.arange(len(actions)), actions].all()
                found[episode.id_][agent] += [
                    [action, reward, False] for action, reward in zip(actions, part.get_rewards().tolist(), strict=True)
                ]
                found[episode.id_][agent][-1][2] = part.is_terminated
            if episode.is_done:
                finished.append(dict(found[episode.id_]))
    assert sorted(finished, key=str) == sorted(RECORDED, key=lambda game: str(plain(game)))


def plain(game: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {agent: [[action, reward.expected, end] for action, reward, end in part] for agent, part in game.items()}


# --- the module ---


def made(module_class: type, config: dict[str, Any], model_config: dict[str, Any]) -> tuple[Any, RllibEnv]:
    env = RllibEnv(config)
    spaces = {"observation_space": env.observation_spaces["player_0"], "action_space": env.action_spaces["player_0"]}
    return module_class(**spaces, model_config=model_config), env


def seen_in(env: RllibEnv, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return observations, masks and views of decisions."""
    random = np.random.default_rng(7)
    views, seen = [], []
    while len(seen) < number:
        observations, _ = env.reset(seed=0 if not seen else None)
        over = False
        while not over:
            ((agent, observation),) = observations.items()
            seen.append(observation)
            views.append(env.table.views(0))
            observations, _, terminateds, truncateds, _ = env.step({agent: legal(observation, random)})
            over = terminateds[ALL] or truncateds[ALL]
    stacked = (np.stack([one[key] for one in seen]) for key in ("observation", "action_mask"))
    return *stacked, np.concatenate(views)


def batch_of(observations: np.ndarray, masks: np.ndarray) -> dict[str, Any]:
    return {
        Columns.OBS: {"observation": torch.from_numpy(observations), "action_mask": torch.from_numpy(masks)},
    }


def check_same_decisions(module: Any, env: RllibEnv, policy: Any, path: Path) -> None:
    """Check that a module of RLlib and the policy file that is made of it have the same logits and actions."""
    save_policy(policy, path, VERSIONS)
    loaded = load_policy(path)
    loaded.greedy = True
    observations, masks, views = seen_in(env, 200)
    output = module.forward_inference(batch_of(observations, masks))
    distribution = module.get_inference_action_dist_cls().from_logits(output[Columns.ACTION_DIST_INPUTS])
    ours = np.where(masks > 0, loaded.logits(observations), np.finfo(np.float32).min)
    assert np.abs(ours - distribution.logits.numpy()).max() < 1e-4
    probabilities = torch.softmax(distribution.logits, dim=1).numpy()
    assert (probabilities[masks == 0] == 0).all()
    best = distribution.to_deterministic().sample().numpy()
    actions = loaded.act(views, masks.view(np.uint8), np.zeros(len(views), np.uint64))
    clear = np.diff(np.sort(ours, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4
    assert clear.any()
    assert (actions == best)[clear].all()


@every_game
def test_the_modules_policy_is_a_policy_file(config: dict[str, Any], tmp_path: Path):
    torch.manual_seed(1)
    module, env = made(MaskedModule, config, {"hidden": [16, 8], "activation": "tanh"})
    policy = policy_from_torch(module.policy_net, env.options, env.record)
    check_same_decisions(module, env, policy, tmp_path / "policy.safetensors")


@pytest.mark.parametrize(
    ("game", "network"),
    [
        ({"options": {"num_players": 3}}, {"hidden": [16], "card_network": [8], "initial_bias": {"accuse": -2}}),
        ({"options": {"num_players": 4}, "record": "exact"}, {"kind": "relational", "units": 8}),
        ({"game": "holmes", "options": {"num_players": 3, "cases": 1}}, {"hidden": [16, 8], "activation": "tanh"}),
    ],
    ids=str,
)
def test_the_policy_of_a_run_plays_as_rllibs_module_does(game: dict[str, Any], network: dict[str, Any], tmp_path: Path):
    config = make_config({"algorithm": "rllib", **game, "network": network})
    torch.manual_seed(2)
    environment = {"game": config.game, "record": config.record, **game["options"]}
    module, env = made(NetworkModule, environment, {"config": config.model_dump(mode="json")})
    with torch.no_grad():
        for weights in module.parameters():
            weights += 0.1 * torch.randn_like(weights)
    check_same_decisions(module, env, module.network.policy(config, 5), tmp_path / "policy.safetensors")


def test_values_are_those_of_the_forward_pass():
    module, env = made(MaskedModule, {"num_players": 3}, {"hidden": [8]})
    observations, masks, _ = seen_in(env, 20)
    batch = batch_of(observations, masks)
    output = module.forward_train(batch)
    alone = module.compute_values(batch)
    assert alone.shape == (len(observations),)
    assert torch.equal(module.compute_values(batch, output[Columns.EMBEDDINGS]), alone)


def test_an_unknown_activation_is_refused():
    with pytest.raises(ValueError, match="activation must be one of 'relu', 'tanh', got 'gelu'"):
        made(MaskedModule, {"num_players": 3}, {"activation": "gelu"})


def test_the_example_of_the_manual_runs(tmp_path: Path):
    page = (ROOT / "docs" / "rllib.md").read_text()
    (example,) = re.findall(r"^```{code-block} python\n(.*?)^```", page, re.M | re.S)
    paths = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env=os.environ | paths,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert load_policy(tmp_path / "learned.safetensors").network.architecture()["hidden"] == [64, 64]


# --- runs ---


def written(folder: Path, config: dict[str, Any]) -> str:
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(config | {"run": str(folder / "run")}))
    return str(path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in two processes that play."""
    folder = tmp_path_factory.mktemp("finished")
    assert main([written(folder, RLLIB), "--rllib.env-runners", "2"]) == 0
    assert not ray.is_initialized()
    return folder / "run"


def test_a_run_leaves_the_same_files_as_the_other_algorithms(finished: Path):
    assert {path.name for path in finished.iterdir()} == {
        *("config.yaml", "progress.csv", "league.csv", "best.safetensors", "best.md", "last.safetensors"),
        *("inputs", "lock", "checkpoints", "pool", "tensorboard"),
    }
    steps = steps_of(finished)
    assert all(64 <= after - before < 96 for before, after in zip([0, *steps], steps, strict=False))
    last = curve(finished)[-1]
    names = {"rollout/win_share", "eval/random", "league/rating", "train/loss", "train/explained_variance"}
    assert all(last[name] for name in names)
    assert float(last["train/learning_rate"]) < float(curve(finished)[0]["train/learning_rate"]) == 1e-3
    assert read_metadata(finished / "last.safetensors")["steps"] == steps[-1]


def test_past_selves_and_bots_play_too(finished: Path):
    league = (finished / "league.csv").read_text()
    assert all(f"\n{name}," in league for name in ("learner", "random", "000000000000"))


WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "ray", "stable_baselines3", "sb3_contrib", "tensorboard"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from sleuth_env import Options, play_match, sleuth
match = play_match(sleuth, Options(num_players=3, max_turns=40), [sys.argv[1], "random", "random"], 2)
print(match.games)
"""


def test_the_policy_file_plays_without_ray_and_torch(finished: Path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(finished / "last.safetensors")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr


def test_a_run_goes_on_from_its_weights_its_optimiser_and_its_schedules(tmp_path: Path):
    config = make_config(RLLIB | {"total_steps": 128})
    run = Run(config, tmp_path / "run")
    run.start()
    run.train()
    resumed = Run(config.model_copy(update={"total_steps": 256}), tmp_path / "run")
    resumed.resume()
    before = {name: weights.clone() for name, weights in resumed.learner.network.state_dict().items()}
    for name, weights in run.learner.network.state_dict().items():
        assert torch.equal(weights, before[name])
    moments = resumed.learner.optimizer.state_dict()["state"]
    assert moments[0]["step"] == run.learner.optimizer.state_dict()["state"][0]["step"] > 0
    resumed.train()
    assert resumed.steps >= 256
    assert resumed.learner.updates > run.learner.updates
    assert any(not torch.equal(weights, before[name]) for name, weights in resumed.learner.network.state_dict().items())
    rates = [float(row["train/learning_rate"]) for row in curve(tmp_path / "run")]
    assert rates[-1] == pytest.approx(1e-3 * (1 - steps_of(tmp_path / "run")[-2] / 256))
    # RLlib's own optimiser is the one that learns.
    assert resumed.learner.optimizer.param_groups[0]["lr"] == pytest.approx(rates[-1])


def test_the_same_seed_makes_the_same_run(tmp_path: Path):
    policies = []
    for name in "ab":
        run = Run(make_config(RLLIB | {"total_steps": 64}), tmp_path / name)
        run.start()
        run.train()
        policies.append(run.policy().network.tensors())
    for key, tensor in policies[0].items():
        assert (tensor == policies[1][key]).all()


def test_a_run_of_the_other_game(tmp_path: Path):
    config = {
        **{key: value for key, value in RLLIB.items() if key != "network"},
        "game": "holmes",
        "options": {"num_players": 3, "cases": 1, "reward": "case"},
        "opponents": {"bots": {"random": 1.0}, "snapshot_every": 64},
        "network": {"hidden": [16]},
        "total_steps": 128,
    }
    assert main([written(tmp_path, config)]) == 0
    assert read_metadata(tmp_path / "run" / "last.safetensors")["game"] == "holmes"


def test_a_policy_to_start_from_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([written(tmp_path, RLLIB), "--start=pretrained:sleuth-3p"]) == 2
    assert "start: only algorithm ppo can begin with a policy" in the_line(capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("runners", [0, 1])
def test_what_goes_wrong_in_an_opponent_is_one_line(
    runners: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def failing(observations, masks):\n    return masks.argmax(axis=1) + nothing\nfailing.record = 'raw'\n"
    )
    path = written(tmp_path, RLLIB | {"opponents": {"bots": {"mine.py:failing": 1.0}, "past_selves": 0}})
    assert main([path, f"--rllib.env-runners={runners}"]) == 1
    assert "mine.py:2: NameError: name 'nothing' is not defined" in the_line(capsys)
    assert not ray.is_initialized()


def ray_processes() -> set[int]:
    """Return the processes of Ray's nodes that there are."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().strip() in ("raylet", "gcs_server"):
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes there")
def test_ctrl_c_saves_a_checkpoint_and_leaves_no_process(tmp_path: Path):
    others = ray_processes()
    path = written(tmp_path, RLLIB | {"total_steps": 10**6, "rllib": {"env_runners": 1}})
    # As a terminal does it: to the whole group of processes.
    process = subprocess.Popen(
        [sys.executable, "-m", "training.train", path],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    assert next(lines).startswith("training in")
    next(lines)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "interrupted: checkpoint saved at step" in out
    assert "stopping after the current step" in err
    assert ray_processes() <= others
    assert list((tmp_path / "run" / "checkpoints").glob("*.pt"))


@pytest.mark.slow
def test_the_configuration_that_comes_with_the_package_beats_random_bots(tmp_path: Path):
    run = tmp_path / "run"
    assert main([str(ROOT / "configs" / "rllib.yaml"), "--run", str(run)]) == 0
    config = read_config(ROOT / "configs" / "rllib.yaml")
    policy = load_policy(run / "best.safetensors")
    opponent = make_player("random", config.options, config.module)
    (result,) = evaluate(config.module, config.options, policy, [opponent], 100, 7)
    # A third is what equally good players win.
    assert result.entries[0].win_low > 0.4
