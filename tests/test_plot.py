"""Learning curves as pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from tests.test_train import the_line
from training.config import ConfigError
from training.curve import SECONDS, STEPS
from training.figure import Evaluations, draw, draw_panel, make_parser, read_evaluations
from training.plot import main

ROOT = Path(__file__).parents[1]
HEADER = f"{STEPS},{SECONDS},eval/random,eval/sheet"


def run_folder(folder: Path, lines: list[str], **options: Any) -> Path:
    """Make a run folder with a curve."""
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump({"options": {"num_players": 3, **options}}))
    (folder / "progress.csv").write_text("".join(f"{line}\n" for line in lines))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_folder(tmp_path / "run", [HEADER, "64,1.5,,", "128,36,0.25,0.1", "192,40,,", "256,72,0.5,"])


def image(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


def test_the_evaluations_of_a_run_are_read(run: Path):
    read = read_evaluations(run)
    assert (read.label, read.num_players) == (str(run), 3)
    assert (read.steps.tolist(), read.hours.tolist()) == ([128, 256], [0.01, 0.02])
    assert read.shares["random"].tolist() == [0.25, 0.5]
    assert np.array_equal(read.shares["sheet"], [0.1, np.nan], equal_nan=True)


def test_the_picture_is_a_png_with_lines_in_it(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "curve.png"
    assert main([str(run), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"drawn: {out}\n"
    assert out.read_bytes().startswith(b"\x89PNG")
    height, width, _ = image(out).shape
    assert width > 600
    assert height > 300
    # Matplotlib's first colour.
    assert (np.abs(image(out).astype(int) - (31, 119, 180)).max(axis=2) < 8).sum() > 50


class Panel:
    """Note what is drawn."""

    def __init__(self) -> None:
        self.drawn: list[tuple[list[float], list[float]]] = []
        self.fair: list[float] = []
        self.xaxis = self.yaxis = self

    def plot(self, x: np.ndarray, y: np.ndarray, **_: Any) -> list[str]:
        """Note a curve."""
        self.drawn.append((x.tolist(), y.tolist()))
        return ["line"]

    def axhline(self, height: float, **_: Any) -> str:
        """Note a line."""
        self.fair.append(height)
        return "line"

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


def test_a_panel_shows_the_shares_against_one_opponent_and_the_fair_ones():
    runs = [
        Evaluations("one", 3, np.array([64.0, 128]), np.array([1.0, 2]), {"random": np.array([0.5, np.nan])}),
        Evaluations("two", 4, np.array([100.0]), np.array([3.0]), {"sheet": np.array([0.2])}),
    ]
    panel = Panel()
    over_hours = Panel()
    labels = draw_panel(panel, "random", runs, False)
    assert panel.drawn == [([64], [0.5]), ([], [])]
    assert panel.fair == [1 / 3, 1 / 4]
    assert list(labels) == [
        "one",
        "two",
        "equally good players: 33.3% with 3 players",
        "equally good players: 25.0% with 4 players",
    ]
    draw_panel(over_hours, "sheet", runs, True)
    assert over_hours.drawn == [([], []), ([3], [0.2])]


def test_several_runs_are_drawn_over_hours(run: Path, tmp_path: Path):
    other = run_folder(tmp_path / "_other $x^{", [HEADER, "128,36,0.25,0.1"], num_players=4)
    for number, words in enumerate(
        ([str(run)], [str(run), str(run)], [str(run), str(other)], [str(run), str(other), "--hours"])
    ):
        assert main([*words, "--out", str(tmp_path / f"{number}.png")]) == 0
    pictures = [(tmp_path / f"{number}.png").read_bytes() for number in range(4)]
    assert pictures[0] == pictures[1]
    assert len(set(pictures)) == 3


@pytest.mark.parametrize("opponents", [1, 2, 3, 4, 7])
def test_every_opponent_has_a_panel_however_many_there_are(opponents: int):
    shares = {f"bot {number}": np.array([0.1, 0.2]) for number in range(opponents)}
    picture = Image.open(BytesIO(draw([Evaluations("run", 3, np.array([1.0, 2]), np.array([1.0, 2]), shares)])))
    assert picture.height > 350 * -(-opponents // 3)


BAD = [
    (["nowhere"], "nowhere is not a run folder with a curve: it has no config.yaml"),
    (["--out", "x.png"], "the following arguments are required: RUN"),
    (
        ["RUN", "--out", "curve.pdf"],
        "--out must be a file that ends in .png, in an existing folder, got 'curve.pdf'",
    ),
    (["RUN", "--out", "nowhere/curve.png"], "got 'nowhere/curve.png'"),
    (["RUN", "--width", "3"], "unrecognized arguments: --width 3"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_a_wrong_command_is_one_line_and_exit_code_2(
    words: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(run) if word == "RUN" else word for word in words]) == 2
    assert message in the_line(capsys)


CURVES = [
    (None, "has no progress.csv"),
    (b"", "has no evaluation yet"),
    (f"{HEADER}\n64,1,,\n".encode(), "has no evaluation yet"),
    (f"{HEADER}\n64,1,0.5".encode(), "has no evaluation yet"),
    (b"\x89PNG\r\n\x1a\n\xff\n", "is not the curve of a run"),
    (b"date,price\n2020-01-01,3\n", "is not the curve of a run"),
    (f"{HEADER}\n{10**30},1,0.5,0.5\n".encode(), "is not the curve of a run"),
    (f"{HEADER}\n64,1,most,0.5\n".encode(), "is not the curve of a run"),
]


@pytest.mark.parametrize(("content", "message"), CURVES)
def test_a_folder_without_a_curve_is_one_line_and_exit_code_2(
    content: bytes | None, message: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (run / "progress.csv").unlink()
    if content is not None:
        (run / "progress.csv").write_bytes(content)
    assert main([str(run), "--out", str(tmp_path / "curve.png")]) == 2
    assert message in the_line(capsys)
    assert not (tmp_path / "curve.png").exists()


def test_a_picture_that_cannot_be_written_is_one_line(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "curve.png")

    monkeypatch.setattr("training.figure.write_atomically", full)
    assert main([str(run), "--out", "curve.png"]) == 1
    assert the_line(capsys) == "error: curve.png: No space left on device"


def test_a_configuration_that_is_not_legal_is_refused(run: Path):
    (run / "config.yaml").write_text("options: {num_players: 99}\n")
    with pytest.raises(ConfigError, match="num_players must be"):
        read_evaluations(run)


def test_the_script_draws_without_a_display_and_its_help_names_every_argument(run: Path, tmp_path: Path):
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"} | {"PYTHONPATH": str(ROOT)}
    script = [sys.executable, "-m", "training.plot"]
    done = subprocess.run(
        [*script, str(run)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "drawn: curve.png\n")
    said = subprocess.run([*script, "--help"], env=environment, capture_output=True, text=True, check=True).stdout
    assert all(option in said for action in make_parser()._actions for option in action.option_strings or ["RUN"])
