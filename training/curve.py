"""The learning curve: writers for Stable-Baselines3's logger, and a reader."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat, filter_excluded_keys
from torch.utils.tensorboard import SummaryWriter

from sleuth_env.checks import one_line
from sleuth_env.files import read_bytes, write_atomically

from .config import ConfigError
from .values import MOST_STEPS

# Names of columns; those of win shares begin with `EVALUATION`.
STEPS = "time/total_timesteps"
SECONDS = "time/seconds"
EVALUATION = "eval/"
MOST_FILE_BYTES = 1 << 28


def make_logger(folder: Path, steps: int) -> Logger:
    """Return a logger whose curves go on after ``steps``.

    What an interrupted run wrote after its checkpoint is dropped.
    """
    return Logger(
        str(folder), [CsvCurve(folder / "progress.csv", steps), TensorBoardCurve(folder / "tensorboard", steps)]
    )


class CsvCurve(KVWriter):
    """Write each row of the log as a line; an existing file is continued after ``steps``."""

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
        values = filter_excluded_keys(key_values, key_excluded, "csv")
        row = {key: value.item() if hasattr(value, "item") else value for key, value in values.items()}
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
    """Write TensorBoard's events; readers drop what an earlier process wrote after ``steps``."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)
        self._is_closed = False


def read_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the columns and the rows of a curve; each value is a number or empty.

    Half a line at the end, which a killed process may have left, is left out.

    Raises:
        ConfigError: the file cannot be read or is not a curve.
    """
    try:
        text = read_bytes(path, MOST_FILE_BYTES).decode()
        reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
        columns = list(reader.fieldnames or [])
        rows = list(reader)
        for number, row in enumerate(rows, 2):
            if STEPS not in row or len(row) != len(columns) or None in row.values():
                raise ValueError(f"line {number} does not have the columns of the first line, with {STEPS}")
            for value in row.values():
                float(value or 0)
            if not 0 <= int(row[STEPS]) <= 2 * MOST_STEPS:
                raise ValueError(f"line {number} has an impossible {STEPS}")
    except (ValueError, OSError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(one_line(f"{path} is not the curve of a run ({why})")) from error
    return columns, rows
