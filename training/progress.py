"""The file ``progress.csv`` of a run, read without trust: the rows of its learning curve."""

from __future__ import annotations

import csv
from pathlib import Path

from sleuth_env.policy_file import one_line

from .config import MOST_STEPS, ConfigError

STEPS, SECONDS, EVALUATION = "time/total_timesteps", "time/seconds", "eval/"


def read_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Give the columns and the rows of a curve, each cell a number or empty; half a line at the end, which a process that was killed may have left, is none.

    Raises:
        ConfigError: the file cannot be read or is no curve.
    """
    try:
        text = path.read_text(encoding="utf-8")
        reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
        columns, rows = list(reader.fieldnames or []), list(reader)
        for number, row in enumerate(rows, 2):
            if STEPS not in row or len(row) != len(columns) or None in row.values():
                raise ValueError(f"line {number} has other cells than a {STEPS} and the columns of the first line")
            for cell in row.values():
                float(cell or 0)
            if not 0 <= int(row[STEPS]) <= 2 * MOST_STEPS:
                raise ValueError(f"line {number} has no {STEPS} that can be")
    except (ValueError, OSError, csv.Error) as error:
        raise ConfigError(one_line(f"{path} is not the curve of a run ({getattr(error, 'strerror', None) or error})")) from error
    return columns, rows
