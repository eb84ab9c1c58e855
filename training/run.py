"""One training run: a learner against the pool, with evaluations, in a run folder.

The folder holds ``config.yaml`` (with every key), ``progress.csv`` and ``tensorboard/`` (the
learning curve), ``checkpoints/``, ``pool/`` (past selves), ``inputs/`` (copies of the policy files
that it was started with), ``league.csv`` (ratings),
``last.safetensors``, and ``best.safetensors`` with its model card, ``best.md``. Trackers (see
`training.tracking`) leave there what they call the run, and what is theirs.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from filelock import BaseFileLock

from sleuth_command import STOPPED, TYPED, complain, handled
from sleuth_env.checks import one_line
from sleuth_env.files import write_atomically
from sleuth_env.locks import LockError, locked
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.program import Failure, failures_of
from sleuth_env.matches.seating import remembers
from sleuth_env.matches.shards import Pool as Players
from sleuth_env.matches.shards import open_pool
from sleuth_env.policies.card import card_path, write_card
from sleuth_env.policies.policy import Policy, save_policy
from sleuth_env.policies.policy_file import PolicyError, read_metadata

from .about import evaluation_of, training_of
from .checkpoint import DamagedError, all_finite, package_versions, read_checkpoint, write_checkpoint
from .config import Config, ConfigError, EvaluationConfig, differences
from .curve import EVALUATION, SECONDS, STEPS, make_logger
from .inputs import Inputs
from .learner import Learned, Learner, Opponents
from .opponents import League, Pool
from .streams import number_of
from .terminal import FULL, OutputError, Screen, out_of_memory
from .tracking import FAILED, HURRY, PATIENCE, WELL, Tracking
from .train import missing

CONFIG = "config.yaml"
PICTURE = "curve.png"
BEST = "best.safetensors"
LAST = "last.safetensors"
# What a line of progress shows of a row of the curve.
SHOWN = {
    "time/fps": "{:,.0f} steps/s",
    "rollout/win_share": "won {:.1%}",
    "rollout/ep_len_mean": "{:.0f} decisions a game",
}


def taken(folder: Path) -> BaseFileLock:
    """Take the lock of a run folder, see `locked`.

    Raises:
        ConfigError: another process trains in this folder, or its lock is not a file of its own.
    """
    try:
        return locked(folder, "is training in it")
    except LockError as error:
        raise ConfigError(error.strerror) from error


@dataclass
class EarlyStop:
    """Watch the mean win shares of evaluations, which may end a run before its last step.

    Whether to stop depends on nothing but the settings and the two numbers, so a resumed run stops
    where an unbroken one does, and one that has stopped goes on with other settings. With other
    matches the numbers mean something else, and begin again.

    Args:
        settings: of the run.
        best: the best mean win share until now; minus infinity before the first.
        since_best: number of evaluations since then.
    """

    settings: EvaluationConfig
    best: float = float("-inf")
    since_best: int = 0

    def note(self, score: float) -> None:
        """Take note of an evaluation's mean win share."""
        self.since_best = 0 if score > self.best else self.since_best + 1
        self.best = max(self.best, score)

    @property
    def reason(self) -> str:
        """Why to stop; empty where the run goes on."""
        stop_at = self.settings.stop_at
        patience = self.settings.patience
        if stop_at is not None and self.best >= stop_at:
            return f"the mean win share {self.best:.1%} has reached evaluation.stop_at = {stop_at}"
        if patience is not None and self.since_best >= patience:
            return (
                f"{self.since_best} evaluations have not been better than {self.best:.1%}, "
                f"evaluation.patience = {patience}"
            )
        return ""

    @property
    def matches(self) -> dict[str, Any]:
        """What the win shares are of: only those of the same matches can be compared."""
        return self.settings.model_dump(include={"against", "deals", "seed"})

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs."""
        return {"best": self.best, "since_best": self.since_best, "matches": self.matches}

    def restore(self, state: dict[str, Any]) -> bool:
        """Go on from a state if it is of the same matches, and return whether it is.

        Whatever does not fit raises an error of any kind.
        """
        best = float(state["best"])
        since_best = int(state["since_best"])
        same: bool = state.get("matches", self.matches) == self.matches  # older checkpoints have none
        if same:
            self.best = best
            self.since_best = since_best
        return same


class Run:
    """Train; everything that a checkpoint must hold is an attribute here.

    Args:
        config: what to do.
        folder: the run folder; made by `start` or read by `resume`.
        workers: processes that play the shards of rollouts and of evaluations; 1: this one.
        ray: see `open_pool`.

    Raises:
        ValueError: an opponent cannot be loaded, or the device is missing.
    """

    def __init__(self, config: Config, folder: Path, workers: int = 1, ray: str | None = None) -> None:
        self.config = config
        self.folder = folder
        self.workers = workers
        self.ray = ray
        self.players: Players | None = None  # who plays instead of this process
        torch.set_num_threads(config.torch_threads)
        self.inputs = Inputs(config, folder)
        self.pool = Pool(config, folder, self.inputs, ray is not None)
        self.baselines = {name: self.inputs.player(name) for name in config.evaluation.against}
        self.iterations = 0
        self.seconds = 0.0
        self.best_score = -np.inf  # of the file; the checkpoint may know less
        self.early_stop = EarlyStop(config.evaluation)
        self.league = League()
        self.same_matches = True  # as those in which the run was evaluated before
        self.lock: BaseFileLock | None = None
        self.signal = 0
        self.opponents: Opponents = {}  # who may sit at the learner's tables
        self._warned: set[tuple[str, str]] = set()  # of which programs, and with which consequence
        self.tracking = Tracking(config.tracking, folder)
        self.learner = self._make_learner()

    def _make_learner(self) -> Learner:
        # Late: each imports what the others do without.
        if self.config.algorithm == "ppo":
            from .ppo import PpoLearner

            return PpoLearner(self.config)
        if self.config.algorithm == "rllib":
            try:
                from .rllib import RllibLearner
            except ModuleNotFoundError as error:
                raise ConfigError(f"algorithm: rllib needs {missing(str(error.name), 'rllib')}") from error

            return RllibLearner(self.config)
        from .maskable import MaskableLearner

        return MaskableLearner(self.config)

    @property
    def steps(self) -> int:
        """Decisions of the learner until now."""
        return self.learner.steps

    @property
    def ended(self) -> str:
        """Why the run has ended; empty where it goes on."""
        return f"{self.steps:,} steps" if self.steps >= self.config.total_steps else self.early_stop.reason

    def policy(self) -> Policy:
        """Return the learner as it is now as a player that needs no torch."""
        return self.learner.policy()

    # --- beginning ---

    def start(self) -> None:
        """Make the run folder, take the first snapshot and write the first checkpoint.

        A failure leaves no folder.

        Raises:
            ValueError: the policy to start from is missing or does not fit, or the folder cannot be
                made.
            OSError: the disk is full.
        """
        if self.config.start is not None:
            self.learner.load(self.inputs.player(self.config.start))
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            if error.errno in FULL:
                raise
            raise ConfigError(f"run: {self.folder} cannot be made: {error.strerror}") from error
        try:
            self.lock = taken(self.folder)
            (self.folder / "checkpoints").mkdir()
            self.inputs.keep()
            self.write_config()
            self.pool.add(self.policy())
            self.checkpoint()
            self._begin()
            self._track()
        except BaseException:
            self.close(patience=HURRY)
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def resume(self) -> None:
        """Take up the latest checkpoint that is whole, and say what it was started from has changed.

        Raises:
            ConfigError: there is none, it is of another network, or another process trains in the
                folder.
            ValueError: a file of the run is missing or damaged.
            OSError: a file cannot be read.
            MemoryError: there is not enough memory for the checkpoint.
        """
        self.lock = taken(self.folder)
        try:
            for leftover in self.folder.rglob("*.partial"):
                # Of a process that was killed while it wrote.
                leftover.unlink()
            self._restore_latest()
            self.inputs.keep()
            for line in self.inputs.changed():
                sys.stderr.write(f"note: {one_line(line)}\n")
            best = self.folder / BEST
            # The file may be newer than the checkpoint.
            share = read_metadata(best)["win_share"] if best.exists() and self.same_matches else None
            self.best_score = -np.inf if share is None else share
            if share is not None:
                # A process may have been killed between the two files; older versions wrote none.
                write_card(best)
            if self.pool.settings.past_selves and not self.pool.past_selves:
                self.pool.add(self.policy())
            self._begin()
            if not self.ended:
                self._track()
        except BaseException:
            self.close(patience=HURRY)
            raise

    def _restore_latest(self) -> None:
        damaged: list[tuple[Path, DamagedError]] = []
        for path in sorted((self.folder / "checkpoints").glob("*.pt"), reverse=True):
            try:
                state = read_checkpoint(path, "cpu")
            except DamagedError as error:
                damaged.append((path, error))
                continue
            # Whatever goes wrong now says nothing against the checkpoint, and to go on from an older
            # one would lose what was learned since.
            self._restore(path, state)
            for other, found in damaged:
                # Out of the way: its name would make it the latest one forever.
                other.rename(other.with_suffix(".damaged"))
                sys.stderr.write(f"warning: {found}; going on from {path.name}\n")
            return
        if damaged:
            raise damaged[0][1]
        raise ConfigError(
            f"{self.folder} has no checkpoint to resume from; delete the folder, or train into another --run folder"
        )

    def _restore(self, path: Path, state: dict[str, Any]) -> None:
        try:
            # Older checkpoints have only the options, or not even those, and neither a state of
            # early stopping nor a league.
            stored = state.get("fixed", {f"options.{name}": value for name, value in state.get("options", {}).items()})
            fixed = self.config.fixed()
            differing = differences(stored, {key: fixed.get(key) for key in stored}, "in config.yaml")
            if differing:
                raise ConfigError(differing)
            self.learner.restore(state)
            self.same_matches = self.early_stop.restore(state.get("early_stop", self.early_stop.state()))
            self.league.restore(state.get("league", self.league.state()))
        except Exception as error:
            if isinstance(error, OSError) or out_of_memory(error):
                raise
            raise ConfigError(f"{path} cannot be resumed: {' '.join(str(error).split())[:300]}") from error
        self.iterations = state["iterations"]
        self.seconds = state["seconds"]
        self.pool.restore(state["pool"], state.get("pool_digests", {}), state.get("pool_weights", {}))

    def _begin(self) -> None:
        self.logger = make_logger(self.folder, self.steps)
        opponents = self.pool.opponents()
        seated = self.learner.seated
        left = [name for name in seated if name not in opponents]
        # They play the games to the end that they were seated at.
        self._set_opponents({name: (self.pool.player(name), 0.0) for name in left})
        forgetful = [name for name in seated if remembers(self.opponents[name][0])]
        if forgetful:
            sys.stderr.write(
                f"note: {one_line(', '.join(forgetful))}: what was remembered of games under way is gone; "
                "new ones begin, so the numbers are not those of an unbroken run\n"
            )

    def _set_opponents(self, leaving: Opponents | None = None) -> None:
        opponents = {**self.pool.opponents(), **(leaving or {})}
        self.league.enter(opponents)
        self.opponents = opponents
        self.learner.set_opponents(opponents)

    def _track(self) -> None:
        self.tracking.begin(self.config.model_dump(mode="json"))
        self.tracking.keep(CONFIG)

    def close(self, code: int = FAILED, patience: float = PATIENCE) -> None:
        """Tell the trackers with which exit code the run ends; end the learner's processes, and let others train."""
        try:
            self.tracking.finish(code, patience)
            self.learner.close()
        finally:
            if self.lock is not None:
                self.lock.release()

    # --- training ---

    def train(self) -> int:
        """Train to the end, or to a signal; return the signal's number, 0 at the end.

        It may be called in any thread; signals reach the main one only.

        Raises:
            OutputError: nobody can read what is shown any more; a checkpoint has been saved.
        """
        if not self.same_matches:
            self._begin_matches()
        screen = Screen(self.config.total_steps, self.steps)
        began = time.monotonic() - self.seconds
        failed = True
        patience = PATIENCE
        with self._signals(), self._open_pool():
            try:
                while not self.ended and not self.signal:
                    before = self.steps
                    learned = self._learn()
                    if learned is not None:
                        self.seconds = time.monotonic() - began
                        self._after_update(before, learned, screen)
                if self.ended:
                    self.signal = 0  # it came too late to interrupt anything
                if self.signal:
                    self.checkpoint()
                failed = False
                self._keep_picture()
            except OutputError:
                self.checkpoint()
                raise
            except KeyboardInterrupt:
                patience = HURRY
                raise
            finally:
                screen.close()
                self.close(STOPPED + self.signal if self.signal else FAILED if failed else WELL, patience)
        self.logger.close()
        return self.signal

    @contextmanager
    def _open_pool(self) -> Iterator[None]:
        """Let other processes play meanwhile, where that was asked for."""
        if self.workers == 1 and self.ray is None:
            yield
            return
        with open_pool(self.workers, self.ray) as self.players:
            self.learner.pool = self.players
            yield

    def _begin_matches(self) -> None:
        """Put the best policy of other matches aside, for its score cannot be compared.

        The checkpoint makes that hold after a kill, too.
        """
        best = self.folder / BEST
        if best.exists():
            aside = best.with_name(f"best-{self.steps:012d}.safetensors")
            best.replace(aside)
            card_path(best).unlink(missing_ok=True)
            # A damaged file is put aside, too.
            with suppress(PolicyError):
                write_card(aside)
        self.checkpoint()

    def _learn(self) -> Learned | None:
        """Collect one rollout and learn from it; None, and no change, where a signal ended it."""
        learned = self.learner.learn(self.steps / self.config.total_steps, lambda: bool(self.signal))
        if learned is not None and not all_finite(list(self.learner.network.parameters())):
            raise PolicyError(
                f"after step {self.steps} the weights are not finite numbers any more: "
                "go on from the last checkpoint with a smaller learning_rate"
            )
        return learned

    def _after_update(self, before: int, learned: Learned, screen: Screen) -> None:
        """Do what is due: a snapshot, an evaluation, a row of the curve, a checkpoint."""
        config = self.config

        def due(every: int) -> bool:
            """Return whether the rollout has gone over a multiple of this number of steps."""
            return self.steps // every > before // every

        self.iterations += 1
        failures = failures_of(player for player, _ in self.opponents.values())
        self._warn_of(failures, "its games do not count any more")
        gone = {failure.player for failure in failures}
        self.league.count(result for result in learned.results if gone.isdisjoint(result.players))
        if due(config.opponents.snapshot_every):
            self.pool.add(self.policy())
            self.league.enter(self.pool.past_selves)
            self.pool.weigh(self.league.chance)
            self._set_opponents()
        scores = self.evaluate() if self.baselines and (self.ended or due(config.evaluation.every)) else {}
        self._log(before, learned, scores, screen)
        if self.ended or due(config.checkpoints.every):
            self.checkpoint()

    def _warn_of(self, failures: Iterable[Failure], consequence: str) -> None:
        """Say once of each program, for each consequence, that a bot plays for it."""
        for failure in failures:
            if (failure.player, consequence) not in self._warned:
                self._warned.add((failure.player, consequence))
                complain(
                    f"warning: {one_line(failure.player)} has failed: {one_line(failure.reason)}; "
                    f"{failure.stand_in} plays for it, and {consequence}\n"
                )

    def evaluate(self) -> dict[str, float]:
        """Play the evaluation's matches, keep the policy if it is best, return the win shares."""
        config = self.config
        settings = config.evaluation
        policy = self.policy()
        opponents = list(self.baselines.values())
        seed = number_of(settings.seed, "evaluation", "games")
        played = evaluate(config.module, config.options, policy, opponents, settings.deals, seed, pool=self.players)
        results = dict(zip(self.baselines, played, strict=True))
        # What a bot has done in a program's place says nothing about the program.
        shares = {name: result.entries[0].win_share for name, result in results.items() if not result.failures}
        rows = {f"{EVALUATION}{name}": share for name, share in shares.items()}
        if len(shares) < len(results):
            self._warn_of([one for result in played for one in result.failures], "the evaluation has no score")
            return rows
        score = float(np.mean(list(shares.values())))
        self.early_stop.note(score)
        if score > self.best_score:
            self.best_score = score
            best = self.folder / BEST
            about = (training_of(config), evaluation_of(config, results))
            save_policy(policy, best, package_versions(), score, *about)
            write_card(best)
            self.tracking.keep(BEST, card_path(best).name)
        return rows

    def _log(self, before: int, learned: Learned, scores: dict[str, float], screen: Screen) -> None:
        """Write a row of the curve, and a line of progress."""
        row: dict[str, Any] = {
            STEPS: self.steps,
            "time/iterations": self.iterations,
            SECONDS: round(self.seconds, 2),
            "time/fps": round(self.steps / max(self.seconds, 1e-9)),
            **learned.statistics,
            **scores,
            **self.league.row(),
            "train/entropy_weight": self.config.ppo.at("entropy", before / self.config.total_steps),
        }
        if learned.episodes:
            rewards, lengths, win_shares = np.array(learned.episodes).T
            row["rollout/ep_rew_mean"] = float(rewards.mean())
            row["rollout/ep_len_mean"] = float(lengths.mean())
            row["rollout/win_share"] = float(win_shares.mean())
            row["rollout/episodes"] = len(rewards)
        for key, value in row.items():
            self.logger.record(key, value)
        self.logger.dump(self.steps)
        self.tracking.log(row, self.steps)
        parts = [text.format(row[key]) for key, text in SHOWN.items() if key in row]
        parts += [f"{key} {share:.1%}" for key, share in scores.items()]
        screen.show(self.steps, "   ".join(parts), always=bool(scores))

    def _keep_picture(self) -> None:
        """Draw the curves for the trackers; without an evaluation there are none."""
        if self.tracking:
            # Late: nobody else needs it.
            from .figure import draw, read_evaluations

            with suppress(ConfigError, OSError):
                write_atomically(self.folder / PICTURE, draw([read_evaluations(self.folder)]))
                self.tracking.keep(PICTURE)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let the first signal to stop end the run in good order, and a further Ctrl-C at once."""

        def stop(number: int, frame: Any) -> None:
            """Note the signal; a further one that a person typed meets the handler of before."""
            if not self.signal:
                self.signal = number
                complain("stopping after the current step, with a checkpoint; a second Ctrl-C stops at once\n")
            elif number in TYPED:
                handler = before[number]
                if callable(handler):
                    handler(number, frame)
                raise KeyboardInterrupt

        with handled(stop) as before:
            yield

    # --- what is kept ---

    def checkpoint(self) -> None:
        """Write what `resume` needs, and the last policy, each in one step; let old ones go."""
        state = {
            **self.learner.state(),
            "steps": self.steps,
            "updates": self.learner.updates,
            "iterations": self.iterations,
            "seconds": float(self.seconds),
            "pool": list(self.pool.past_selves),
            "pool_digests": self.pool.digests([*self.pool.past_selves, *self.learner.seated]),
            "pool_weights": self.pool.weights,
            "fixed": self.config.fixed(),
            "early_stop": self.early_stop.state(),
            "league": self.league.state(),
        }
        folder = self.folder / "checkpoints"
        write_checkpoint(folder / f"{self.steps:012d}.pt", state)
        save_policy(self.policy(), self.folder / LAST, package_versions(), training=training_of(self.config))
        self.league.write(self.folder / "league.csv")
        for old in sorted(folder.glob("*.pt"))[: -self.config.checkpoints.keep]:
            old.unlink()

    def write_config(self) -> None:
        """Write the configuration with all its defaults."""
        text = yaml.safe_dump(self.config.model_dump(mode="json"), sort_keys=False)
        write_atomically(self.folder / CONFIG, text.encode())
