"""Weights & Biases and MLflow: trackers, which are told what the curve of a run is told.

Each tracker works in a thread of its own, in the order of what it is told. So training waits for no
network, and whatever a library raises costs one line on stderr and never the training. What a
tracker calls the run is kept in `IDS` in the run folder, so that a resumed run goes on in the same
one. Both libraries are imported only when they are asked for.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol
from urllib.parse import quote

from sleuth_command import STOPPED, complain
from sleuth_env.checks import one_line
from sleuth_env.files import read_bytes, write_atomically

from .config import TRACKERS, ConfigError
from .train import installing

# What the run is called in each tracker, in the run folder.
IDS = "tracking.json"
MOST_ID_BYTES = 1 << 16
# The project of Weights & Biases and the experiment of MLflow where the environment names none.
PROJECT = "sleuth-env"
# Exit codes, from which trackers tell how a run has ended: 0 well; above `STOPPED` by a signal.
WELL = 0
FAILED = 1
# Seconds that the end of a run waits for a tracker, and that it waits where it was told to stop at once.
PATIENCE = 60.0
HURRY = 5.0
# Seconds at a time that it waits: a signal that comes just before a wait is seen only after it.
TICK = 0.1
# What the libraries read, as it is here unless it is set already. They send their makers no reports of
# themselves, say nothing at the terminal, ask nothing there, and give up on a network in half a minute.
SETTINGS = {
    "wandb": {
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_SILENT": "true",
        "WANDB_INIT_TIMEOUT": "30",
        "WANDB_FINISH_TIMEOUT": "50",
    },
    "mlflow": {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3"},
}
# Longer names, values and lists of them MLflow refuses.
LONGEST_NAME = 250
LONGEST_VALUE = 6000
MOST_AT_ONCE = 100
DATABASE = "mlflow.db"
ARTIFACTS = "mlartifacts"


class Tracker(Protocol):
    """A tracker; each method may raise whatever it likes."""

    def begin(self, folder: Path, settings: Mapping[str, Any], known: str | None) -> tuple[str, str]:
        """Begin to track a run, or go on.

        Args:
            folder: of the run.
            settings: its configuration, as plain values.
            known: what the tracker calls the run, where it goes on.

        Returns:
            What it calls the run, and where the run can be seen.
        """
        ...

    def log(self, row: Mapping[str, float], steps: int) -> None:
        """Take a row of the curve."""
        ...

    def keep(self, path: Path) -> None:
        """Take a file of the run folder, or its new content."""
        ...

    def finish(self, code: int) -> None:
        """Close the run, which ends with an exit code."""
        ...


class Wandb:
    """Weights & Biases, with its files in the run folder; its own environment variables hold."""

    def begin(self, folder: Path, settings: Mapping[str, Any], known: str | None) -> tuple[str, str]:
        """Begin or go on."""
        import wandb

        quiet = wandb.Settings(
            console="off",
            # Links would lead nowhere once the folder is moved.
            symlink=False,
            save_code=False,
            finish_timeout_raises=True,
        )
        self.run = wandb.init(
            project=os.environ.get("WANDB_PROJECT") or PROJECT,
            name=folder.name,
            dir=str(folder),
            id=known,
            resume="allow" if known else None,
            # Another run of this process stays as it is.
            reinit="create_new",
            settings=quiet,
        )
        self.run.config.update(settings, allow_val_change=True)
        # Not its own count of steps, which may not go back to the checkpoint that a run is resumed from.
        self.run.define_metric("*", step_metric="time/total_timesteps")
        return str(self.run.id), f"offline, in {folder / 'wandb'}" if self.run.offline else str(self.run.url)

    def log(self, row: Mapping[str, float], steps: int) -> None:
        """Take a row."""
        self.run.log(dict(row))

    def keep(self, path: Path) -> None:
        """Take a file."""
        self.run.save(str(path), base_path=str(path.parent), policy="now", glob=False)

    def finish(self, code: int) -> None:
        """Close the run; the library's process ends with this one."""
        self.run.finish(exit_code=code)


class Mlflow:
    """MLflow, with a database in the run folder unless ``MLFLOW_TRACKING_URI`` names another store."""

    def begin(self, folder: Path, settings: Mapping[str, Any], known: str | None) -> tuple[str, str]:
        """Begin or go on."""
        from mlflow import MlflowClient

        for name in ("mlflow", "alembic"):
            # They tell of every table that they make, and of every time that they try.
            logging.getLogger(name).setLevel(logging.ERROR)
        given = os.environ.get("MLFLOW_TRACKING_URI")
        place = folder.absolute()
        if known and not given and not (place / DATABASE).exists():
            raise OSError(f"there is no {folder / DATABASE}: set MLFLOW_TRACKING_URI as when the run began")
        self.client = MlflowClient(tracking_uri=given or f"sqlite:///{quote(str(place / DATABASE))}")
        if known:
            artifacts = self.client.get_run(known).info.artifact_uri
            self.client.update_run(known, status="RUNNING")
            self.id = known
        else:
            about = self.client.create_run(
                self._experiment(None if given else (place / ARTIFACTS).as_uri()), run_name=folder.name
            ).info
            self.id = about.run_id
            artifacts = about.artifact_uri
            self._describe(settings)
        # It stores absolute paths, so in a folder that was moved it would write where the folder was.
        self.takes_files = bool(given) or artifacts.startswith((place / ARTIFACTS).as_uri())
        return self.id, f"run {self.id}" + ("" if given else f" in {folder / DATABASE}")

    def _experiment(self, artifacts: str | None) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
        found = self.client.get_experiment_by_name(name)
        return str(found.experiment_id if found else self.client.create_experiment(name, artifacts))

    def _describe(self, settings: Mapping[str, Any]) -> None:
        from mlflow.entities import Param

        params = [Param(legal_name(key), value[:LONGEST_VALUE]) for key, value in flat(settings).items()]
        for at in range(0, len(params), MOST_AT_ONCE):
            self.client.log_batch(self.id, params=params[at : at + MOST_AT_ONCE])

    def log(self, row: Mapping[str, float], steps: int) -> None:
        """Take a row."""
        from mlflow.entities import Metric

        now = time.time_ns() // 1_000_000
        metrics = [Metric(legal_name(key), float(value), now, steps) for key, value in row.items()]
        self.client.log_batch(self.id, metrics=metrics)

    def keep(self, path: Path) -> None:
        """Take a file."""
        if self.takes_files:
            self.client.log_artifact(self.id, str(path))

    def finish(self, code: int) -> None:
        """Close the run."""
        status = "FINISHED" if code == WELL else "KILLED" if code > STOPPED else "FAILED"
        self.client.set_terminated(self.id, status)


def flat(settings: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Return settings by dotted paths, as JSON.

    >>> flat({"seed": 1, "ppo": {"epochs": 4}, "network": {"hidden": [8, 8], "initial_bias": {}}})
    {'seed': '1', 'ppo.epochs': '4', 'network.hidden': '[8, 8]', 'network.initial_bias': '{}'}
    """
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            found |= flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = json.dumps(value, ensure_ascii=False)
    return found


def legal_name(key: str) -> str:
    """Return a name as MLflow takes it: of some letters only, and a path that could not be shorter.

    >>> legal_name("eval/pretrained:sleuth-4p"), legal_name("eval/../runs//a+b.safetensors")
    ('eval/pretrained:sleuth-4p', 'eval/runs/a_b.safetensors')
    """
    colon = "" if os.name == "nt" else ":"
    letters = re.sub(rf"[^\w. /{colon}-]", "_", key)
    return "/".join(part for part in letters.split("/") if part not in ("", ".", ".."))[:LONGEST_NAME]


MAKERS: dict[str, type[Tracker]] = {"wandb": Wandb, "mlflow": Mlflow}


def check_installed(names: Sequence[str]) -> None:
    """Check before anything is started that the libraries of trackers are installed.

    Raises:
        ConfigError: one is not; the message names the extra.
    """
    for name in names:
        found = find_spec(name)
        # Without a file it is a folder of this name, such as one that a tracker has written here.
        if found is None or found.origin is None:
            raise ConfigError(f"tracking: {name} is not installed: {installing(name)}")


class Sender:
    """Tell a tracker everything in a thread, until it fails.

    Args:
        name: of the tracker.
        tracker: what is told.
    """

    def __init__(self, name: str, tracker: Tracker) -> None:
        self.name = name
        self._tracker = tracker
        self._calls: SimpleQueue[tuple[str, tuple[Any, ...]] | None] = SimpleQueue()
        self._begun: SimpleQueue[tuple[str, str] | BaseException] = SimpleQueue()
        self._failed = False
        self._thread = Thread(target=self._work, name=f"tracking by {name}", daemon=True)

    def begin(self, *arguments: Any) -> tuple[str, str]:
        """Begin, and wait for it; see `Tracker.begin`.

        Raises:
            ConfigError: it cannot.
        """
        self._calls.put(("begin", arguments))
        self._thread.start()
        while self._begun.empty():
            self._thread.join(TICK)
        found = self._begun.get()
        if isinstance(found, BaseException):
            why = f"tracking: {self.name} cannot begin (--tracking '[]' trains without it): {said(found)}"
            raise ConfigError(one_line(why)) from found
        return found

    def tell(self, method: str, *arguments: Any) -> None:
        """Call a method of the tracker as soon as what came before is done."""
        if not self._failed:
            self._calls.put((method, arguments))

    def end(self, code: int) -> None:
        """Close the run as soon as what came before is done."""
        self._calls.put(("finish", (code,)))
        self._calls.put(None)

    def wait(self, deadline: float) -> bool:
        """Wait until everything is done, or until a time of the clock; return whether it is."""
        while self._thread.is_alive() and (left := deadline - time.monotonic()) > 0:
            self._thread.join(min(left, TICK))
        return self._failed or not self._thread.is_alive()

    def fail(self, text: str) -> None:
        """Say that the tracker has failed, and tell it nothing more."""
        self._failed = True
        complain(one_line(f"tracking: {self.name} {text}; training is not affected") + "\n")

    def _work(self) -> None:
        for method, arguments in iter(self._calls.get, None):
            if self._failed and method != "finish":
                continue
            try:
                result = getattr(self._tracker, method)(*arguments)
            # Whatever it is, it is not the training's.
            except BaseException as error:
                if method == "begin":
                    self._begun.put(error)
                    return
                if not self._failed:
                    self.fail(f"has failed and is told nothing more: {said(error)}")
            else:
                if method == "begin":
                    self._begun.put(result)


def said(error: BaseException) -> str:
    """Return what an error says, without the password of an address, or else its name.

    >>> said(OSError("no answer from https://ann:secret@example.org/x"))
    'no answer from https://example.org/x'
    """
    return re.sub(r"//[^/@\s]*@", "//", str(error)) or type(error).__name__


class Tracking:
    """All trackers of a run.

    Args:
        names: of the trackers, see `MAKERS`.
        folder: of the run.
    """

    def __init__(self, names: Sequence[str], folder: Path) -> None:
        self.folder = folder
        self.places: list[str] = []
        self._senders = [Sender(name, MAKERS[name]()) for name in names]

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Begin to track, or go on with what was tracked.

        Raises:
            ConfigError: a tracker cannot begin, or `IDS` is not what it was.
        """
        ids = self._read_ids()
        for sender in self._senders:
            for name, value in SETTINGS.get(sender.name, {}).items():
                os.environ.setdefault(name, value)
            identifier, place = sender.begin(self.folder, settings, ids.get(sender.name))
            ids[sender.name] = identifier
            write_atomically(self.folder / IDS, (json.dumps(ids, indent=2) + "\n").encode())
            self.places.append(f"{sender.name}: {place}")

    def _read_ids(self) -> dict[str, str]:
        path = self.folder / IDS
        if not path.exists():
            return {}
        try:
            ids = json.loads(read_bytes(path, MOST_ID_BYTES))
        except (ValueError, RecursionError):
            ids = None
        texts = [*ids, *ids.values()] if isinstance(ids, dict) else [None]
        if not all(isinstance(text, str) for text in texts) or not ids.keys() <= set(TRACKERS):
            raise ConfigError(f"{path} does not map names of trackers to texts: remove it to be tracked as a new run")
        return dict(ids)

    def __bool__(self) -> bool:
        """Return whether there is a tracker."""
        return bool(self._senders)

    def log(self, row: Mapping[str, Any], steps: int) -> None:
        """Send a row of the curve."""
        # Numbers of NumPy as those of Python, as in `progress.csv`.
        plain = {key: value.item() if hasattr(value, "item") else value for key, value in row.items()}
        for sender in self._senders:
            sender.tell("log", plain, steps)

    def keep(self, *names: str) -> None:
        """Hand over files of the run folder."""
        for sender in self._senders:
            for name in names:
                sender.tell("keep", self.folder / name)

    def finish(self, code: int, patience: float = PATIENCE) -> None:
        """Close what is tracked; a second time does nothing.

        Args:
            code: the exit code with which the run ends.
            patience: seconds to wait for the trackers.
        """
        senders, self._senders = self._senders, []
        for sender in senders:
            sender.end(code)
        deadline = time.monotonic() + patience
        for sender in senders:
            if not sender.wait(deadline):
                sender.fail(f"has not taken everything within {patience:g} s")
