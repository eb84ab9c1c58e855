"""Learning curves as a picture: win shares in the evaluations of one or more runs, one panel for
each opponent.
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

from .command import Parser, failed, say
from .config import ConfigError, make_config
from .config_file import read_file
from .curve import EVALUATION, SECONDS, STEPS, read_rows

DESCRIPTION = """Draw the learning curves of training runs as a PNG file: the win share in each evaluation, one panel for each opponent, next to the
share of equally good players. The numbers are those of progress.csv in the run folders.

examples:
  python -m training.plot runs/smoke
  python -m training.plot runs/four_players runs/four_players-2 --hours --out curves.png

Exit codes: 0 done; 1 the picture could not be written; 2 a mistake in the command, or a folder without a curve (one line); 130 Ctrl-C."""
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
        ConfigError: it is no run folder, or there is no evaluation in it.
    """
    for name in ("config.yaml", "progress.csv"):
        if not (folder / name).exists():
            raise ConfigError(one_line(f"{folder} is no run folder with a curve: it has no {name}"))
    config = make_config(read_file(folder / "config.yaml"), str(folder / "config.yaml"))
    columns, rows = read_rows(folder / "progress.csv")
    # In the order of the configuration; after a resumption there may be others.
    named = [EVALUATION + name for name in config.evaluation.against]
    opponents = [
        column for column in dict.fromkeys([*named, *columns]) if column.startswith(EVALUATION) and column in columns
    ]
    rows = [row for row in rows if any(row[column] for column in opponents)]
    if not rows:
        raise ConfigError(one_line(f"{folder / 'progress.csv'} has no evaluation yet"))
    shares = {column.removeprefix(EVALUATION): numbers(rows, column) for column in opponents}
    return Evaluations(
        str(folder), config.options.num_players, numbers(rows, STEPS), numbers(rows, SECONDS) / 3600, shares
    )


def numbers(rows: Sequence[dict[str, str]], column: str) -> NDArray[np.float64]:
    """Give a column of the curve; not a number where there is none."""
    return np.array([float(row.get(column) or "nan") for row in rows])


def draw(runs: Sequence[Evaluations], hours: bool = False) -> bytes:
    """Draw the curves of runs over decisions, or over hours of training; give the PNG file."""
    opponents = list(dict.fromkeys(name for run in runs for name in run.shares))
    columns = min(len(opponents), MOST_COLUMNS)
    rows = -(-len(opponents) // columns)
    # Without pyplot: no window, whatever the surroundings.
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
        # A letter of a folder's name that the font has not got.
        warnings.simplefilter("ignore")
        figure.savefig(content, format="png")
    return content.getvalue()


def draw_panel(panel: Any, opponent: str, runs: Sequence[Evaluations], hours: bool) -> dict[str, Any]:
    """Draw the curves against one opponent; give the lines by their labels."""
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
    """Give a name of which the end can be read; a legend leaves names out that begin with an
    underscore.
    """
    name = one_line(name)
    name = name if len(name) <= LONGEST_LABEL else f"…{name[1 - LONGEST_LABEL :]}"
    return f"./{name}" if name.startswith("_") else name


def make_parser() -> Parser:
    """Make the parser of the command line."""
    parser = Parser("python -m training.plot", DESCRIPTION)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder; several are drawn in one picture")
    parser.add_argument(
        "--out",
        default="curve.png",
        metavar="FILE",
        help="the picture, which is replaced if it is there; its name ends in .png [curve.png]",
    )
    parser.add_argument(
        "--hours", action="store_true", help="over hours of training instead of decisions of the learner"
    )
    return parser


def command(arguments: Sequence[str] | None, came: Sequence[int]) -> int:
    """Run the command; give its exit code. `came` are the signals to stop, also those that a
    library has swallowed while it was imported.
    """
    if came:
        raise KeyboardInterrupt
    try:
        given = make_parser().parse_args(arguments)
        out = Path(given.out)
        if out.suffix != ".png" or "\0" in given.out or out.is_dir() or not out.parent.is_dir():
            raise ConfigError(
                one_line(f"--out must be a file that ends in .png, in a folder that is there, got {given.out!r}")
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
