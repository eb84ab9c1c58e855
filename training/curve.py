"""The learning curve: writers for Stable-Baselines3's logger that a resumed run continues."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat, filter_excluded_keys
from torch.utils.tensorboard import SummaryWriter

from sleuth_env.checks import one_line
from sleuth_env.files import write_atomically

from .config import MOST_STEPS, ConfigError


def make_logger(folder: Path, steps: int) -> Logger:
    """Make a logger whose curves go on after ``steps``: what an interrupted run wrote beyond its
    checkpoint is dropped.
    """
    return Logger(
        str(folder), [CsvCurve(folder / "progress.csv", steps), TensorBoardCurve(folder / "tensorboard", steps)]
    )


class CsvCurve(KVWriter):
    """Write one line a row of the log; a file that is there is continued after ``steps``."""

    def __init__(self, path: Path, steps: int) -> None:
        self.path = path
        self.columns: list[str] = []
        self.rows: list[dict[str, Any]] = []
        if path.exists():
            try:
                self.columns, rows = read_rows(path)
            except ConfigError as error:
                raise ConfigError(f"{error}; move it away to begin a new one") from error
            self.rows = [row for row in rows if int(row[STEPS]) <= steps]
            self._rewrite()

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append a row, with new columns where there are new keys."""
        row = {
            key: getattr(value, "item", lambda v=value: v)()
            for key, value in filter_excluded_keys(key_values, key_excluded, "csv").items()
        }
        self.rows.append(row)
        fresh = sorted(row.keys() - set(self.columns))
        self.columns += fresh
        if fresh:
            self._rewrite()
        else:
            with self.path.open("a", newline="") as file:
                csv.DictWriter(file, self.columns, restval="").writerow(row)

    def close(self) -> None:
        """Do nothing: the file is closed after every row."""

    def _rewrite(self) -> None:
        text = StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, restval="")
        writer.writeheader()
        writer.writerows(self.rows)
        write_atomically(self.path, text.getvalue().encode())


class TensorBoardCurve(TensorBoardOutputFormat):
    """Write TensorBoard's events; readers drop what an earlier process wrote beyond ``steps``."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)
        self._is_closed = False


STEPS = "time/total_timesteps"
SECONDS = "time/seconds"
EVALUATION = "eval/"


def read_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Give the columns and the rows of a curve, each cell a number or empty; half a line at the
    end, which a process that was killed may have left, is none.

    Raises:
        ConfigError: the file cannot be read or is no curve.
    """
    try:
        text = path.read_text(encoding="utf-8")
        reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
        columns = list(reader.fieldnames or [])
        rows = list(reader)
        for number, row in enumerate(rows, 2):
            if STEPS not in row or len(row) != len(columns) or None in row.values():
                raise ValueError(f"line {number} has other cells than a {STEPS} and the columns of the first line")
            for cell in row.values():
                float(cell or 0)
            if not 0 <= int(row[STEPS]) <= 2 * MOST_STEPS:
                raise ValueError(f"line {number} has no {STEPS} that can be")
    except (ValueError, OSError, csv.Error) as error:
        raise ConfigError(
            one_line(f"{path} is not the curve of a run ({getattr(error, 'strerror', None) or error})")
        ) from error
    return columns, rows
