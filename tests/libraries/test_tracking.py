"""Training tracked by Weights & Biases and MLflow themselves, without a network."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from tests.test_train import TINY, curve
from training.config import make_config
from training.curve import STEPS
from training.tracking import PROJECT, Tracking, flat

pytest.importorskip("wandb")
pytest.importorskip("mlflow")

ROOT = Path(__file__).parents[2]
PATIENCE = 600  # seconds: a process may have to compile the kernels first
# The log of an offline run: blocks of records, each with a checksum, its length and which part of a whole it is.
LOG_HEADER = 7
BLOCK = 1 << 15
WHOLE, LAST = 1, 4


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process that nobody has configured a tracker for, and that is offline."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("WANDB_", "MLFLOW_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "HOME": str(home), "WANDB_MODE": "offline", **more}


def train(folder: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    """Start to train in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "training.train", *words],
        cwd=folder,
        env=environment(folder, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def trained(folder: Path, *words: str, **more: str) -> tuple[int, str, str]:
    """Train in a folder; return the exit code and what was written to stdout and stderr."""
    process = train(folder, *words, **more)
    output, errors = process.communicate(timeout=PATIENCE)
    shown = "".join(line for line in errors.splitlines(True) if not line.startswith("sleuth-env: compiling"))
    return process.returncode, output, shown


def services() -> set[str]:
    """Return the processes of Weights & Biases."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"wandb-core" in path.read_bytes():
                found.add(path.parent.name)
        except OSError:
            pass
    return found


def offline_runs(run: Path) -> list[Path]:
    return sorted((run / "wandb").glob("offline-run-*"))


def wandb_records(offline_run: Path) -> Iterator[Any]:
    """Read the log of an offline run."""
    from wandb.proto.wandb_internal_pb2 import Record

    (path,) = offline_run.glob("*.wandb")
    content = path.read_bytes()
    at = LOG_HEADER
    body = b""
    while at + LOG_HEADER <= len(content):
        left = BLOCK - at % BLOCK
        if left < LOG_HEADER:
            at += left
            continue
        _, size, part = struct.unpack_from("<IHB", content, at)
        body += content[at + LOG_HEADER : at + LOG_HEADER + size]
        at += LOG_HEADER + size
        if part in (WHOLE, LAST):
            record = Record()
            record.ParseFromString(body)
            body = b""
            yield record


def wandb_told(offline_run: Path) -> dict[str, list[Any]]:
    """Return what an offline run holds: rows, settings, exit codes and names of files."""
    told: dict[str, list[Any]] = {"rows": [], "settings": [], "codes": [], "files": [], "runs": []}
    for record in wandb_records(offline_run):
        kind = record.WhichOneof("record_type")
        if kind == "history":
            items = {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
            told["rows"].append({key: value for key, value in items.items() if not key.startswith("_")})
        elif kind == "config":
            told["settings"].append({item.key: json.loads(item.value_json) for item in record.config.update})
        elif kind == "exit":
            told["codes"].append(record.exit.exit_code)
        elif kind == "files":
            told["files"] += [file.path for file in record.files.files]
        elif kind == "run":
            told["runs"].append((record.run.run_id, record.run.project))
    return told


def mlflow_client(store: Path) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=f"sqlite:///{quote(str(store))}")


def known(run: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((run / "tracking.json").read_text())
    return found


def steps_of(rows: list[dict[str, Any]]) -> list[int]:
    return [int(row[STEPS]) for row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, of a name that is hard to write in an address, with a configuration."""
    folder = tmp_path_factory.mktemp("tracked") / "a b%20c"
    folder.mkdir()
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY | {"run": "run", "tracking": ["wandb", "mlflow"]}))
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    """A run that was tracked by both."""
    before = services()
    code, output, errors = trained(folder, "tiny.yaml")
    assert (code, errors) == (0, "")
    assert services() <= before
    run = folder / "run"
    assert "tracked by wandb: offline, in run/wandb\n" in output
    assert f"tracked by mlflow: run {known(run)['mlflow']} in run/mlflow.db\n" in output
    return run


def test_weights_and_biases_has_the_curve_the_configuration_and_the_files(run: Path) -> None:
    (offline_run,) = offline_runs(run)
    told = wandb_told(offline_run)
    rows = curve(run)
    assert steps_of(told["rows"]) == [64, 128, 192, 256]
    for found, row in zip(told["rows"], rows, strict=True):
        assert found == pytest.approx({key: float(value) for key, value in row.items() if value})
    settings = {key: value for update in told["settings"] for key, value in update.items()}
    assert settings == yaml.safe_load((run / "config.yaml").read_text())
    assert set(told["files"]) >= {"config.yaml", "best.safetensors", "best.md", "curve.png"}
    for name in ("best.safetensors", "best.md", "curve.png"):
        kept = offline_run / "files" / name
        assert not kept.is_symlink()
        assert kept.read_bytes() == (run / name).read_bytes()
    assert told["runs"][0] == (known(run)["wandb"], PROJECT)
    assert told["codes"] == [0]


def test_mlflow_has_the_curve_the_configuration_and_the_files(run: Path) -> None:
    client = mlflow_client(run / "mlflow.db")
    found = client.get_run(known(run)["mlflow"])
    assert found.info.status == "FINISHED"
    assert client.get_experiment(found.info.experiment_id).name == PROJECT
    for key in ("train/loss", "eval/random", "rollout/win_share"):
        history = client.get_metric_history(found.info.run_id, key)
        expected = {int(row[STEPS]): float(row[key]) for row in curve(run) if row[key]}
        assert {metric.step: metric.value for metric in history} == pytest.approx(expected)
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert found.data.params == flat(config)
    kept = {file.path for file in client.list_artifacts(found.info.run_id)}
    assert kept == {"config.yaml", "best.safetensors", "best.md", "curve.png"}


def test_a_run_that_was_moved_is_resumed_as_the_same_run_and_stopped_by_a_signal(
    run: Path, folder: Path, tmp_path: Path
) -> None:
    names = known(run)
    shutil.copytree(run, tmp_path / "moved")
    before = services()
    artifacts = sorted(path for path in (run / "mlartifacts").rglob("*"))
    process = train(tmp_path, "--resume", "moved", "--total-steps", "1e8", "--evaluation.every", "64")
    assert process.stdout is not None
    for line in process.stdout:
        if " of 100,000,000 steps" in line:
            process.send_signal(signal.SIGTERM)
            break
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert services() <= before
    moved = tmp_path / "moved"
    assert known(moved) == names
    _, second = offline_runs(moved)
    assert wandb_told(second)["runs"][0][0] == names["wandb"]
    assert wandb_told(second)["codes"] == [143]
    client = mlflow_client(moved / "mlflow.db")
    assert client.get_run(names["mlflow"]).info.status == "KILLED"
    rows = [int(row[STEPS]) for row in curve(moved)]
    assert rows[:5] == [64, 128, 192, 256, 320]
    assert [metric.step for metric in client.get_metric_history(names["mlflow"], "train/loss")] == rows
    # Nothing is written where the folder was.
    assert sorted(path for path in (run / "mlartifacts").rglob("*")) == artifacts


def test_mlflow_keeps_runs_in_the_store_that_the_environment_names(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    more = {
        "MLFLOW_TRACKING_URI": f"sqlite:///{store}",
        "MLFLOW_EXPERIMENT_NAME": "mine",
    }
    words = ["tiny.yaml", "--tracking", "[mlflow]", "--total-steps", "64", "--run", "elsewhere"]
    assert trained(folder, *words, **more)[0] == 0
    run = folder / "elsewhere"
    assert not (run / "mlflow.db").exists()
    client = mlflow_client(store)
    found = client.get_run(known(run)["mlflow"])
    assert (found.info.status, client.get_experiment(found.info.experiment_id).name) == ("FINISHED", "mine")
    # Without it the run is not to be found, and nothing is made in its place.
    code, _, errors = trained(folder, "--resume", "elsewhere", "--total-steps", "128")
    assert code == 2
    assert errors.startswith("error: tracking: mlflow cannot begin")
    assert "set MLFLOW_TRACKING_URI as when the run began" in errors
    assert errors.count("\n") == 1
    assert not (run / "mlflow.db").exists()


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("wandb", {"WANDB_MODE": "online"}, "No API key configured"),
        (
            "wandb",
            {
                "WANDB_MODE": "online",
                "WANDB_API_KEY": "a" * 40,
                "WANDB_BASE_URL": "http://127.0.0.1:9",
                "WANDB_INIT_TIMEOUT": "2",
            },
            "127.0.0.1:9",
        ),
        (
            "mlflow",
            {"MLFLOW_TRACKING_URI": "http://ann:secret@127.0.0.1:9", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"},
            "127.0.0.1",
        ),
    ],
)
def test_where_there_is_nobody_it_is_said_before_there_is_a_run(
    name: str, more: dict[str, str], said: str, folder: Path
) -> None:
    code, _, errors = trained(folder, "tiny.yaml", "--run", "none", "--tracking", f"[{name}]", **more)
    assert code == 2
    assert errors.startswith(f"error: tracking: {name} cannot begin")
    assert said in errors
    assert "secret" not in errors
    assert errors.count("\n") == 1
    assert not (folder / "none").exists()


def test_mlflow_that_fails_in_the_middle_costs_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    tracking = Tracking(["mlflow"], tmp_path)
    tracking.begin(make_config(TINY).model_dump(mode="json"))
    tracking.log({STEPS: 1, "train/loss": 0.5, "eval/../a+b": 0.25}, 1)
    # MLflow takes no text for a number.
    tracking.log({"train/loss": "no number"}, 2)
    tracking.log({"train/loss": 0.5}, 3)
    tracking.finish(1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tracking: mlflow has failed and is told nothing more:")
    client = mlflow_client(tmp_path / "mlflow.db")
    found = client.get_run(known(tmp_path)["mlflow"])
    assert found.info.status == "FAILED"
    assert found.data.metrics == {STEPS: 1, "train/loss": 0.5, "eval/a_b": 0.25}
