"""Learning curves as a picture: win shares in the evaluations of runs, one panel for each opponent.

Axis letters: ``E`` evaluations.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter
from numpy.typing import NDArray

from sleuth_env.checks import one_line
from sleuth_env.files import write_atomically

from .config import ConfigError, read_config
from .curve import EVALUATION, SECONDS, STEPS, read_rows
from .terminal import Parser, failed, say

DESCRIPTION = """\
Draw the learning curves of training runs as a PNG file: the win share in each evaluation, one panel
for each opponent, next to the share of equally good players. The numbers are those of progress.csv
in the run folders.

examples:
  sleuth plot runs/smoke
  sleuth plot runs/four_players runs/four_players-2 --hours --out curves.png

Exit codes: 0 done; 1 the picture could not be written; 2 a mistake in the command, or a folder
without a curve (one line); 130 Ctrl-C."""
MOST_COLUMNS = 3
LONGEST_LABEL = 60
DOTS_PER_INCH = 110
STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Evaluations:
    """What a run's curve says of its evaluations.

    Args:
        label: how the picture calls the run.
        num_players: of its game.
        steps: decisions of the learner at each row that has an evaluation (f8 [E]).
        hours: of training (f8 [E]).
        shares: win share against each opponent by its name (f8 [E], not a number where it was not
            played).
    """

    label: str
    num_players: int
    steps: NDArray[np.float64]
    hours: NDArray[np.float64]
    shares: dict[str, NDArray[np.float64]]


def read_evaluations(folder: Path) -> Evaluations:
    """Read the evaluations of a run.

    Raises:
        ConfigError: it is not a run folder, or there is not an evaluation in it.
    """
    for name in ("config.yaml", "progress.csv"):
        if not (folder / name).exists():
            raise ConfigError(one_line(f"{folder} is not a run folder with a curve: it has no {name}"))
    config = read_config(folder / "config.yaml")
    columns, rows = read_rows(folder / "progress.csv")
    played = [column for column in columns if column.startswith(EVALUATION)]
    # In the order of the configuration; a run that was resumed may have others besides.
    named = [EVALUATION + name for name in config.evaluation.against]
    opponents = [column for column in dict.fromkeys([*named, *played]) if column in played]
    rows = [row for row in rows if any(row[column] for column in opponents)]
    if not rows:
        raise ConfigError(one_line(f"{folder / 'progress.csv'} has no evaluation yet"))
    shares = {column.removeprefix(EVALUATION): numbers(rows, column) for column in opponents}
    return Evaluations(
        label=str(folder),
        num_players=config.options.num_players,
        steps=numbers(rows, STEPS),
        hours=numbers(rows, SECONDS) / 3600,
        shares=shares,
    )


def numbers(rows: Sequence[dict[str, str]], column: str) -> NDArray[np.float64]:
    """Return a column of the curve (f8 [E]); not a number where it is empty."""
    return np.array([float(row.get(column) or "nan") for row in rows])


def draw(runs: Sequence[Evaluations], hours: bool = False) -> bytes:
    """Draw the curves of runs over decisions, or over hours of training; return the PNG file."""
    opponents = list(dict.fromkeys(name for run in runs for name in run.shares))
    columns = min(len(opponents), MOST_COLUMNS)
    rows = -(-len(opponents) // columns)
    # Without pyplot, which would open a window where it can.
    figure = Figure(figsize=(max(4.5 * columns, 6), 3.4 * rows + 0.6), dpi=DOTS_PER_INCH, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    lines: dict[str, Any] = {}
    for panel, opponent in zip(panels, opponents, strict=False):
        lines |= draw_panel(panel, opponent, runs, hours)
    for panel in panels[len(opponents) :]:
        panel.set_visible(False)
    panels[0].set_ylim(bottom=0)
    for panel in panels[::columns]:
        panel.set_ylabel("win share")
    legend = figure.legend(
        lines.values(), lines.keys(), loc="outside lower center", ncols=1 if len(runs) > 3 else 2, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    content = BytesIO()
    with warnings.catch_warnings():
        # A letter of a folder's name that the font lacks.
        warnings.simplefilter("ignore")
        figure.savefig(content, format="png")
    return content.getvalue()


def draw_panel(panel: Any, opponent: str, runs: Sequence[Evaluations], hours: bool) -> dict[str, Any]:
    """Draw the curves against one opponent; return the lines by their labels."""
    lines = {}
    for number, run in enumerate(runs):
        shares = run.shares.get(opponent, np.full(len(run.steps), np.nan))
        style = {
            "color": f"C{number % 10}",
            "linestyle": STYLES[number // 10 % len(STYLES)],
            "marker": "o",
            "markersize": 3,
        }
        known = ~np.isnan(shares)
        (lines[shortened(run.label)],) = panel.plot((run.hours if hours else run.steps)[known], shares[known], **style)
    for number, players in enumerate(sorted({run.num_players for run in runs})):
        style = {"color": "0.4", "linestyle": STYLES[(number + 1) % len(STYLES)], "linewidth": 1.2}
        lines[f"equally good players: {1 / players:.1%} with {players} players"] = panel.axhline(1 / players, **style)
    panel.set_title(f"against {shortened(opponent)}", parse_math=False)
    panel.set_xlabel("hours of training" if hours else "decisions of the learner")
    panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    if not hours:
        panel.xaxis.set_major_formatter(EngFormatter())
    panel.grid(alpha=0.3)
    return lines


def shortened(name: str) -> str:
    """Return a name as a label, of which the end can be read."""
    name = one_line(name)
    if len(name) > LONGEST_LABEL:
        name = f"…{name[1 - LONGEST_LABEL :]}"
    # A legend leaves out labels that begin with an underscore.
    return f"./{name}" if name.startswith("_") else name


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser("sleuth plot", DESCRIPTION)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder; several are drawn in one picture")
    parser.add_argument(
        "--out",
        default="curve.png",
        metavar="FILE",
        help="the picture, which replaces an existing one; its name ends in .png [curve.png]",
    )
    parser.add_argument(
        "--hours", action="store_true", help="over hours of training instead of decisions of the learner"
    )
    return parser


def command(arguments: Sequence[str] | None, came: Sequence[int]) -> int:
    """Run the command; return its exit code.

    Args:
        arguments: of the command line; None for those of this process.
        came: the signals to stop that have come, also those that a library swallowed while it was
            imported.
    """
    if came:
        raise KeyboardInterrupt
    try:
        given = make_parser().parse_args(arguments)
        out = Path(given.out)
        if out.suffix != ".png" or "\0" in given.out or out.is_dir() or not out.parent.is_dir():
            raise ConfigError(
                one_line(f"--out must be a file that ends in .png, in an existing folder, got {given.out!r}")
            )
        # A run that is given twice is drawn once.
        runs = [read_evaluations(Path(run)) for run in dict.fromkeys(given.runs)]
    except (ValueError, OSError) as error:
        return failed(error, 2)
    try:
        write_atomically(out, draw(runs, given.hours))
    except OSError as error:
        return failed(error, 1)
    say(f"drawn: {out}")
    return 0
