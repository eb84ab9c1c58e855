"""One training run: MaskablePPO against the pool, with a learning curve, evaluations and checkpoints in a run folder.

The folder holds ``config.yaml`` (resolved), ``progress.csv``, ``tensorboard/``, ``checkpoints/``, ``pool/`` (past selves),
``last.safetensors`` and ``best.safetensors``.
"""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from sleuth_env import sleuth
from sleuth_env.match import evaluate
from sleuth_env.policy import Policy, make_player, save_policy
from sleuth_env.policy_file import PolicyError, read_metadata, write_atomically
from sleuth_env.sb3 import SleuthVecEnv

from .checkpoint import all_finite, locked, read_checkpoint
from .config import Config, ConfigError
from .curve import STEPS, Screen, make_logger
from .network import CellPolicy, numpy_policy
from .pool import Pool
from .versions import package_versions


class Watch(BaseCallback):
    """Note the episodes of a rollout, and end the rollout when a signal has come."""

    def __init__(self) -> None:
        super().__init__()
        self.episodes: list[dict[str, Any]] = []
        self.signal = 0

    def _on_rollout_start(self) -> None:
        self.episodes = []

    def _on_step(self) -> bool:
        self.episodes += [info["episode"] for info in self.locals["infos"] if "episode" in info]
        return not self.signal


class Run:
    """Train; everything that a checkpoint must hold is an attribute here.

    Args:
        config: what to do.
        folder: the run folder; made by `start` or read by `resume`.

    Raises:
        ValueError: an opponent cannot be loaded, or there is no such device.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder = config, folder
        if config.device == "cuda" and not torch.cuda.is_available():
            raise ConfigError("device: torch finds no GPU here, got 'cuda'; use 'cpu' or 'auto'")
        torch.set_num_threads(config.threads)
        # The checks of every distribution cost a tenth of the time and can only fail where weights are no numbers any more.
        torch.distributions.Distribution.set_default_validate_args(False)
        self.pool = Pool(config, folder)
        self.baselines = {name: make_player(name, config.options) for name in config.evaluation.against}
        env = SleuthVecEnv(sleuth, config.options, config.num_envs, ["random"], record=config.record)
        self.progress, self.iterations, self.seconds = 0.0, 0, 0.0
        self.best_score = -np.inf
        self.lock: IO[bytes] | None = None
        self.model = self._make_model(env)
        self.watch = Watch()

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        return int(self.model.num_timesteps)

    def _make_model(self, env: Any) -> MaskablePPO:
        ppo = self.config.ppo
        return MaskablePPO(
            CellPolicy,
            env,
            # Functions of this run's progress: Stable-Baselines3 knows only that of the latest call of learn.
            learning_rate=lambda _: ppo.at("learning_rate", self.progress),
            clip_range=lambda _: ppo.at("clip_range", self.progress),
            n_steps=ppo.rollout_steps,
            batch_size=ppo.batch_size,
            n_epochs=ppo.epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            vf_coef=ppo.value_weight,
            max_grad_norm=ppo.max_grad_norm,
            target_kl=ppo.target_kl,
            policy_kwargs={"config": self.config},
            seed=self.config.seed,
            device=self.config.device,
        )

    def start(self) -> None:
        """Make the run folder, take the first snapshot and write the first checkpoint; whatever fails leaves no folder.

        Raises:
            ConfigError: the folder cannot be made.
        """
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise ConfigError(f"run: {self.folder} cannot be made: {error.strerror}") from error
        try:
            self.lock = locked(self.folder)
            (self.folder / "checkpoints").mkdir()
            self.write_config()
            self.pool.add(self.policy())
            self.checkpoint()
            self._begin()
        except BaseException:
            self.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def resume(self) -> None:
        """Take up the latest checkpoint that is whole.

        Raises:
            ConfigError: there is none, it is of another network, or another process trains in the folder.
        """
        self.lock = locked(self.folder)
        try:
            self._restore_latest()
            best = self.folder / "best.safetensors"
            # The file may be newer than the checkpoint.
            share = read_metadata(best)["win_share"] if best.exists() else None
            self.best_score = -np.inf if share is None else share
            if self.pool.settings.past_selves and not self.pool.past_selves:
                self.pool.add(self.policy())
            # Generators begin anew, from a seed that is not the first one's.
            self.model.set_random_seed((self.config.seed + self.steps) % 2**32)
            self._begin()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others train in the folder."""
        if self.lock is not None:
            self.lock.close()

    def _restore_latest(self) -> None:
        damaged: list[tuple[Path, ValueError]] = []
        for path in sorted((self.folder / "checkpoints").glob("*.pt"), reverse=True):
            try:
                self._restore(path)
            except ValueError as error:
                damaged.append((path, error))
                continue
            for other, error in damaged:
                # Out of the way: its name would make it the latest one for ever.
                other.rename(other.with_suffix(".damaged"))
                sys.stderr.write(f"warning: {error}; going on from {path.name}\n")
            return
        if damaged:
            raise damaged[0][1]
        raise ConfigError(f"{self.folder} has no checkpoint to resume from; delete the folder, or train into another --run folder")

    def _restore(self, path: Path) -> None:
        state = read_checkpoint(path, self.model.device)
        try:
            self.model.set_parameters(state["parameters"])
        except Exception as error:
            raise ConfigError(f"{path} cannot be resumed: {' '.join(str(error).split())[:300]}") from error
        self.model.num_timesteps, self.model._n_updates = state["steps"], state["updates"]
        self.iterations, self.seconds = state["iterations"], state["seconds"]
        self.pool.restore(state["pool"])

    def _begin(self) -> None:
        self.model.set_logger(make_logger(self.folder, self.steps))
        self.model.env.set_opponents(*self.pool.opponents())

    def train(self) -> int:
        """Train to the end, or to a signal; give the signal's number, 0 at the end."""
        screen = Screen(self.config.total_steps, self.steps)
        began = time.monotonic() - self.seconds
        with self._signals():
            try:
                while self.steps < self.config.total_steps and not self.watch.signal:
                    before = self.steps
                    if self._learn():
                        self.seconds = time.monotonic() - began
                        self._after_update(before, screen)
                if self.watch.signal:
                    self.checkpoint()
            finally:
                screen.close()
                self.close()
        self.model.logger.close()
        return self.watch.signal

    def _learn(self) -> bool:
        """Collect one rollout and learn from it; False where a signal ended the rollout, and nothing has changed."""
        before, updates = self.steps, self.model._n_updates
        self.progress = self.steps / self.config.total_steps
        self.model.ent_coef = self.config.ppo.at("entropy", self.progress)
        size = self.config.ppo.rollout_steps * self.config.num_envs
        self.model.learn(size, callback=self.watch, log_interval=None, reset_num_timesteps=False)
        if self.model._n_updates == updates:
            self.model.num_timesteps = before
            return False
        if not all_finite(list(self.model.policy.parameters())):
            raise PolicyError(
                f"after step {self.steps} the weights are no finite numbers any more: go on from the last checkpoint with a smaller learning_rate"
            )
        return True

    def _after_update(self, before: int, screen: Screen) -> None:
        """Do what is due: a snapshot, an evaluation, a row of the curve, a checkpoint."""
        config, ended = self.config, self.steps >= self.config.total_steps

        def due(every: int) -> bool:
            """Tell whether the rollout has gone over a multiple of so many steps."""
            return self.steps // every > before // every

        self.iterations += 1
        if due(config.opponents.snapshot_every):
            self.pool.add(self.policy())
            self.model.env.set_opponents(*self.pool.opponents())
        scores = self.evaluate() if self.baselines and (ended or due(config.evaluation.every)) else {}
        self._log(scores, screen)
        if ended or due(config.checkpoints.every):
            self.checkpoint()

    def evaluate(self) -> dict[str, float]:
        """Play the evaluation's matches, keep the policy if it is the best so far, and give the win shares."""
        settings, policy = self.config.evaluation, self.policy()
        results = evaluate(sleuth, self.config.options, policy, list(self.baselines.values()), settings.deals, settings.seed)
        shares = {name: result.entries[0].win_share for name, result in zip(self.baselines, results, strict=True)}
        score = float(np.mean(list(shares.values())))
        if score > self.best_score:
            self.best_score = score
            save_policy(policy, self.folder / "best.safetensors", package_versions(), score)
        return {f"eval/{name}": share for name, share in shares.items()}

    def _log(self, scores: dict[str, float], screen: Screen) -> None:
        episodes = self.watch.episodes
        row: dict[str, Any] = {STEPS: self.steps, "time/iterations": self.iterations, "time/seconds": round(self.seconds, 2)}
        row |= {"time/fps": round(self.steps / max(self.seconds, 1e-9)), "train/entropy_weight": self.model.ent_coef, **scores}
        if episodes:
            rewards = np.array([episode["r"] for episode in episodes])
            row |= {"rollout/ep_rew_mean": float(rewards.mean()), "rollout/ep_len_mean": float(np.mean([episode["l"] for episode in episodes]))}
            row |= {"rollout/win_share": float((rewards > 0).mean()), "rollout/episodes": len(episodes)}
        for key, value in row.items():
            self.model.logger.record(key, value)
        self.model.logger.dump(self.steps)
        screen.show(row, always=bool(scores))

    def checkpoint(self) -> None:
        """Write what `resume` needs, and the last policy, each in one atomic step; let old checkpoints go."""
        state = {
            "parameters": self.model.get_parameters(),
            "steps": self.steps,
            "updates": self.model._n_updates,
            "iterations": self.iterations,
            "seconds": float(self.seconds),
            "pool": list(self.pool.past_selves),
        }
        content = BytesIO()
        torch.save(state, content)
        folder = self.folder / "checkpoints"
        write_atomically(folder / f"{self.steps:012d}.pt", content.getvalue())
        save_policy(self.policy(), self.folder / "last.safetensors", package_versions())
        kept = sorted(folder.glob("*.pt"))[-self.config.checkpoints.keep :]
        for path in set(folder.glob("*.pt")) - set(kept):
            path.unlink()

    def policy(self) -> Policy:
        """Give the learner as it is now as a player that needs no torch."""
        return numpy_policy(self.model.policy, self.config, self.steps)

    def write_config(self) -> None:
        """Write the resolved configuration."""
        import yaml

        write_atomically(self.folder / "config.yaml", yaml.safe_dump(self.config.model_dump(mode="json"), sort_keys=False).encode())

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let the first Ctrl-C (or SIGTERM) end the run in good order, and the second one at once."""

        def stop(number: int, _: Any) -> None:
            """Note the signal; the next one meets the handlers that were there before."""
            self.watch.signal = number
            for name, handler in before.items():
                signal.signal(name, handler)
            sys.stderr.write("stopping after the current step, with a checkpoint; a second Ctrl-C stops at once\n")

        before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
        for name in before:
            signal.signal(name, stop)
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)
