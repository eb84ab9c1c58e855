"""The learner of RLlib, PPO of its new API stack: self-play of one policy, games played by several processes.

Every seat of a game is the learner's or an opponent's, as in `training.ppo`; which, and the opponents' moves,
is up to the environment (`sleuth_env.envs.rllib`). The network is that of `training.network`, so that its
policies are the same files. Ray is started by the first rollout and stopped by `RllibLearner.close`.
Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, LEARNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from sleuth_env.checks import one_line
from sleuth_env.envs.rllib import LEARNER, FinishedGame, MaskedModule, RllibEnv
from sleuth_env.policies.policy import Policy
from sleuth_env.trainer import IS_INSTALLED, PLACE

from .checkpoint import restore_optimizer
from .config import Config, ConfigError, make_config
from .learner import Episode, Learned, Opponents, Result
from .network import device_of, make_network
from .sparse import SparseRows
from .streams import number_of

# The policy that all learners' seats share.
POLICY = "shared"
# RLlib's names of what an update tells, and those of the curves.
CURVES = {
    "total_loss": "loss",
    "policy_loss": "policy_gradient_loss",
    "vf_loss": "value_loss",
    "vf_explained_var": "explained_variance",
}
# Where Ray looks for the address of a cluster.
ADDRESS = "RAY_ADDRESS"
# Of RLlib. What goes wrong is said by the run, in one line.
LOG_LEVEL = "CRITICAL"
# Bytes of the store through which processes hand one another decisions and weights, at the least.
STORE_BYTES = 200 * 2**20
# Ray gives up after half a minute, which its first start on a busy machine may take.
RAY_ATTEMPTS = 3


class NetworkModule(MaskedModule):
    """The network of a configuration, which stands in ``model_config``, as a module of RLlib."""

    def setup(self) -> None:
        """Make the network."""
        self.network = make_network(make_config(self.model_config["config"]))

    def evaluate(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits of all actions (f4 [B, A]) and values (f4 [B]) for observations (f4 [B, N])."""
        logits, values = self.network(SparseRows.of(observations.cpu().numpy()))
        return logits, values


class ScheduledLearner(PPOTorchLearner):  # type: ignore[misc]
    """RLlib's learner, which takes each update's settings from where the run is at its beginning."""

    def before_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Set the learning rate and the entropy's weight.

        RLlib sets them after an update, for the next one, and would begin a resumed run with their
        first values.
        """
        super().before_gradient_based_update(timesteps=timesteps)
        self.after_gradient_based_update(timesteps=timesteps)


class SelfPlay(PPO):  # type: ignore[misc]
    """RLlib's PPO, which seats opponents, and drops a rollout in which the run is stopped.

    Before each `train` set what is known then: `opponents`, a number that changes with them and the
    stored arguments of `RllibEnv.set_opponents`; `stopped`; and `steps`, the decisions of the run until
    then. After it `decisions` says how many were learned from, 0 where they were dropped, and
    `finished` how games have ended.
    """

    opponents: tuple[int, Any]
    stopped: Callable[[], bool]
    steps: int
    decisions: int
    finished: list[FinishedGame]

    def _setup_logdir(self) -> None:
        # It would be made in the user's home. Nothing is written there: a run has a curve of its own.
        self._logdir = tempfile.mkdtemp()

    def training_step(self) -> None:
        """Play a rollout and learn from it: PPO's own step, with what a run needs in between."""
        self.decisions = 0
        parts = self._rollout()
        self.finished = [game for part in parts for game in part.games]
        if self.stopped():
            return
        episodes = [episode for part in parts for episode in part.episodes]
        self.metrics.aggregate([part.counts for part in parts], key=ENV_RUNNER_RESULTS)
        learned = self.learner_group.update(
            episodes=episodes,
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.steps},
            num_epochs=self.config.num_epochs,
            minibatch_size=self.config.minibatch_size,
            shuffle_batch_per_epoch=self.config.shuffle_batch_per_epoch,
        )
        self.metrics.aggregate(learned, key=LEARNER_RESULTS)
        self.hand_out_weights()
        self.decisions = sum(episode.env_steps() for episode in episodes)

    def _rollout(self) -> list[Part]:
        """Let each process play its part of a rollout.

        Raises:
            Exception: what has gone wrong in one of them, such as an opponent's mistake.
            ConnectionError: all of them are lost.
        """
        parts = self.env_runner_group.foreach_env_runner(
            # Each time with the opponents: a process may have taken the place of a lost one.
            partial(play, *self.opponents),
            local_env_runner=not self.config.num_env_runners,
        )
        for part in parts:
            if part.failure is not None:
                raise part.failure
        if not parts:
            raise ConnectionError("none of the processes that play has answered")
        return list(parts)

    def hand_out_weights(self) -> None:
        """Send the learner's weights to the processes that play."""
        self.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.learner_group, policies=[POLICY], inference_only=True
        )


# --- in the processes that play ---


class Part(NamedTuple):
    """What a process has played of a rollout.

    Args:
        episodes: RLlib's, of games under way too.
        counts: what RLlib counts.
        games: how games have ended.
        failure: what has gone wrong.
    """

    episodes: list[Any]
    counts: dict[str, Any]
    games: list[FinishedGame]
    failure: BaseException | None = None


def play(number: int, stored: Any, runner: Any) -> Part:
    """Play a process's part of a rollout.

    Args:
        number: of the opponents; another one means others.
        stored: Ray's reference to the arguments of `RllibEnv.set_opponents`.
        runner: RLlib's part of the process.
    """
    envs = [env.unwrapped for env in runner.env.envs]
    try:
        if getattr(runner, "opponents_number", 0) != number:
            arguments = ray.get(stored)
            for env in envs:
                env.set_opponents(**arguments)
            runner.opponents_number = number
        episodes = runner.sample()
    # RLlib would end the process.
    except Exception as error:
        # Of a step RLlib says only that it has failed.
        hidden = error.__cause__ if type(error) is RuntimeError and not error.args else None
        return Part([], {}, [], hidden or error)
    return Part(episodes, runner.get_metrics(), [game for env in envs for game in env.take_finished()])


def shared_policy(agent: str, episode: Any, **more: Any) -> str:
    """Return the policy that an agent plays: the same for all."""
    return POLICY


# --- the learner ---


class RllibLearner:
    """Learn by RLlib's PPO; see `training.learner.Learner`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.steps = 0
        self.updates = 0
        torch.manual_seed(number_of(config.seed, "training", "network"))
        # RLlib's own take their place once there are any.
        self.network = make_network(config).to(device_of(config))
        self.optimizer: torch.optim.Optimizer = torch.optim.Adam(self.network.parameters())
        self._opponents: tuple[int, dict[str, Any]] = (0, {})
        self._algorithm: SelfPlay | None = None
        self._has_begun_ray = False

    def learn(self, progress: float, stopped: Callable[[], bool]) -> Learned | None:
        """Collect one rollout and learn from it; None where it was stopped.

        A rollout is played to its end before it is dropped.
        """
        if self._algorithm is None:
            try:
                self._algorithm = self._begun()
            except SystemExit:
                # Ray's own handler of this signal, while Ray was starting; now the run's is back.
                signal.raise_signal(signal.SIGTERM)
                return None
        algorithm = self._algorithm
        algorithm.steps = self.steps
        algorithm.stopped = stopped
        with lost_processes_said():
            result = algorithm.train()
        if not algorithm.decisions:
            return None
        self.steps += algorithm.decisions
        self.updates += self.config.ppo.epochs
        told = result[LEARNER_RESULTS][POLICY]
        statistics = {name: float(told[key]) for key, name in CURVES.items()} | {
            "entropy_loss": -float(told["entropy"]),
            "n_updates": self.updates,
            "learning_rate": self.config.ppo.at("learning_rate", progress),
            "clip_range": self.config.ppo.clip_range,
        }
        curves = {f"train/{name}": value for name, value in statistics.items()}
        return Learned(episodes_of(algorithm.finished), curves, results_of(algorithm.finished))

    def load(self, policy: Policy) -> None:
        """Refuse: the value would begin untrained and spoil the policy in the first updates."""
        raise ConfigError("start: only algorithm ppo can begin with a policy (it learns the value first), got rllib")

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw the players of games dealt from now on from the learner and these."""
        players, shares = zip(*opponents.values(), strict=True) if opponents else ((), ())
        arguments = {
            "opponents": list(players),
            "shares": list(shares),
            "learner_share": self.config.opponents.learner,
            "names": list(opponents),
        }
        self._opponents = self._opponents[0] + 1, arguments
        if self._algorithm is not None:
            self._hand_out_opponents(self._algorithm)

    def _hand_out_opponents(self, algorithm: SelfPlay) -> None:
        number, arguments = self._opponents
        algorithm.opponents = number, ray.put(arguments)

    @property
    def seated(self) -> tuple[str, ...]:
        """Nobody: games under way are not stored."""
        return ()

    def policy(self) -> Policy:
        """Return the learner as it is now as a player that needs neither torch nor Ray."""
        return self.network.policy(self.config, self.steps)

    def state(self) -> dict[str, Any]:
        """Return weights and optimiser; the games and generators of other processes are not stored."""
        return {"parameters": {"policy": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, with new games."""
        self.network.load_state_dict(state["parameters"]["policy"])
        restore_optimizer(self.optimizer, state["parameters"]["optimizer"])
        self.steps = state["steps"]
        self.updates = state["updates"]

    def close(self) -> None:
        """End Ray's processes, if it was this that began them; the learner stays as it is."""
        if self._algorithm is not None:
            self._algorithm.stop()
            shutil.rmtree(self._algorithm.logdir, ignore_errors=True)
            self._algorithm = None
        if self._has_begun_ray:
            ray.shutdown()
            self._has_begun_ray = False

    def _begun(self) -> SelfPlay:
        """Begin Ray, and make the algorithm, with the weights and the optimiser as they are."""
        with kept_handlers():
            if not ray.is_initialized():
                self._has_begun_ray = True
                begin_ray(ray_settings(self.config))
            with lost_processes_said():
                algorithm: SelfPlay = algorithm_config(self.config, self.steps).build_algo()
        learner = algorithm.learner_group._learner
        network = learner.module[POLICY].unwrapped().network
        optimizer = learner.get_optimizer(POLICY)
        network.load_state_dict(self.network.state_dict())
        restore_optimizer(optimizer, self.optimizer.state_dict())
        self.network = network
        self.optimizer = optimizer
        algorithm.hand_out_weights()
        self._hand_out_opponents(algorithm)
        return algorithm


def episodes_of(games: Sequence[FinishedGame]) -> list[Episode]:
    """Return what each of the learner's seats did in games that have ended."""
    return [
        Episode(reward, length, share)
        for game in games
        for player, reward, length, share in zip(*game, strict=True)
        if player == LEARNER
    ]


def results_of(games: Sequence[FinishedGame]) -> list[Result]:
    """Return how games ended that somebody has won."""
    return [Result(game.players, game.win_shares) for game in games if any(game.win_shares)]


# --- Ray and RLlib ---


@contextmanager
def kept_handlers() -> Iterator[None]:
    """Keep the handlers of signals: Ray sets one of its own, which would end the process at once."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


@contextmanager
def lost_processes_said() -> Iterator[None]:
    """Say in one line that a process has ended, such as one that was killed.

    Raises:
        ConnectionError: one has.
    """
    try:
        yield
    except ray.exceptions.RayActorError as error:
        raise ConnectionError(f"a process that plays has ended: {one_line(str(error))}") from error


def begin_ray(settings: dict[str, Any]) -> None:
    """Begin Ray, or join a cluster.

    Raises:
        ConnectionError: it cannot be done.
    """
    for left in reversed(range(RAY_ATTEMPTS)):
        try:
            ray.init(**settings)
        # Of many kinds, a plain Exception among them.
        except Exception as error:
            ray.shutdown()
            if not left:
                raise ConnectionError(f"Ray cannot be started: {one_line(str(error))}") from error
        else:
            return


def in_cluster() -> bool:
    """Return whether Ray's processes are those of a cluster that runs already, not of this machine alone."""
    return ADDRESS in os.environ


def ray_settings(config: Config) -> dict[str, Any]:
    """Return the arguments of ``ray.init``: processes of this machine, or those of a cluster."""
    # Nobody was asked whether to send reports about the use of Ray.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    logging.getLogger("ray.rllib").setLevel(LOG_LEVEL)
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if not IS_INSTALLED:
        # The processes import this module, and the clone need not be where Python looks for modules.
        paths = [str(PLACE), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings["runtime_env"] = {"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}}
    if in_cluster():
        return settings
    rollout = config.num_envs * config.ppo.rollout_steps
    numbers = config.module.observation_layout(config.options, config.record).size
    numbers += 2 * config.module.num_actions(config.options)
    store = max(STORE_BYTES, 2 * rollout * numbers * np.dtype(np.float32).itemsize)
    processes = max(config.rllib.env_runners, 1)
    # "local": it would join whatever cluster runs on this machine.
    return {
        **settings,
        "address": "local",
        "include_dashboard": False,
        "num_cpus": processes,
        "object_store_memory": store,
    }


def algorithm_config(config: Config, steps: int) -> PPOConfig:
    """Return what RLlib is to do.

    Args:
        config: the run's.
        steps: decisions until now; other games are dealt than those before.
    """
    ppo = config.ppo
    runners = config.rllib.env_runners
    described = config.model_dump(mode="json")
    environment = {"game": config.game, "record": config.record, "illegal": "raise", **asdict(config.options)}
    return (
        PPOConfig(algo_class=SelfPlay)
        .environment(RllibEnv, env_config=environment, disable_env_checking=True)
        .framework("torch")
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=config.num_envs // max(runners, 1),
            rollout_fragment_length=ppo.rollout_steps,
            sample_timeout_s=None,
        )
        # A cluster may lose a machine. Here whatever ends a process would end the next one, too.
        .fault_tolerance(restart_failed_env_runners=in_cluster())
        .learners(num_learners=0, num_gpus_per_learner=int(device_of(config).type == "cuda"))
        .multi_agent(policies={POLICY}, policy_mapping_fn=shared_policy)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=NetworkModule, model_config={"config": described}))
        .training(
            learner_class=ScheduledLearner,
            train_batch_size_per_learner=config.num_envs * ppo.rollout_steps,
            minibatch_size=ppo.batch_size,
            num_epochs=ppo.epochs,
            shuffle_batch_per_epoch=True,
            lr=schedule(config, "learning_rate"),
            entropy_coeff=schedule(config, "entropy"),
            clip_param=ppo.clip_range,
            gamma=ppo.gamma,
            lambda_=ppo.gae_lambda,
            vf_loss_coeff=ppo.value_weight,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=ppo.max_grad_norm,
            grad_clip_by="global_norm",
        )
        .debugging(seed=number_of(config.seed, "training", "games", steps, bits=31), log_level=LOG_LEVEL)
    )


def schedule(config: Config, name: str) -> list[list[float]]:
    """Return a setting of `PpoConfig` as RLlib takes it: by the decisions of the run."""
    return [[0, config.ppo.at(name, 0.0)], [config.total_steps, config.ppo.at(name, 1.0)]]
