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
from sleuth_env.web.curves_page import Level, Line, curves_page
from sleuth_env.web.curves_page import Panel as PagePanel

from .config import ConfigError, read_config
from .curve import EVALUATION, SECONDS, STEPS, read_rows
from .terminal import Parser, failed, say

DESCRIPTION = """\
Draw the learning curves of training runs as a PNG file, or as a page for a browser: the win share in
each evaluation, one panel for each opponent, next to the share of equally good players. The numbers
are those of progress.csv in the run folders.

examples:
  sleuth plot runs/smoke
  sleuth plot runs/four_players runs/four_players-2 --hours --out curves.png
  sleuth plot runs/smoke --html curves.html

Exit codes: 0 done; 1 something could not be written; 2 a mistake in the command, or a folder
without a curve (one line); 130 Ctrl-C."""
# Over decisions, or over hours.
AXES = ("decisions of the learner", "hours of training")
PICTURE = "curve.png"
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


def page_of(runs: Sequence[Evaluations], hours: bool = False) -> str:
    """Return the curves of runs as a page, see `draw`."""
    opponents = list(dict.fromkeys(name for run in runs for name in run.shares))
    panels = [page_panel(opponent, runs, hours) for opponent in opponents]
    return curves_page("Learning curves", AXES[hours], panels)


def page_panel(opponent: str, runs: Sequence[Evaluations], hours: bool) -> PagePanel:
    """Return the curves against one opponent, over all places at which any run was evaluated."""
    known = [_known(opponent, run, hours) for run in runs]
    places = sorted({place for shares in known for place in shares})
    lines = [
        Line(one_line(run.label), [shares.get(place) for place in places])
        for run, shares in zip(runs, known, strict=True)
    ]
    levels = [Level(fair_words(players), 1 / players) for players in sorted({run.num_players for run in runs})]
    return PagePanel(f"against {one_line(opponent)}", places, lines, levels)


def _known(opponent: str, run: Evaluations, hours: bool) -> dict[float, float]:
    """Return the shares of a run against an opponent by their places, those that are numbers."""
    shares = run.shares.get(opponent, np.full(len(run.steps), np.nan))
    places = run.hours if hours else run.steps
    return {float(place): float(share) for place, share in zip(places, shares, strict=True) if not np.isnan(share)}


def fair_words(players: int) -> str:
    """Return what the share of equally good players is called."""
    return f"equally good players: {1 / players:.1%} with {players} players"


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
        lines[fair_words(players)] = panel.axhline(1 / players, **style)
    panel.set_title(f"against {shortened(opponent)}", parse_math=False)
    panel.set_xlabel(AXES[hours])
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
        metavar="FILE",
        help=f"the picture, which replaces an existing one; its name ends in .png [{PICTURE}, unless there is --html]",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="a page for a browser, with all figures, which replaces an existing one; its name ends in .html",
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
        picture = PICTURE if given.out is None and given.html is None else given.out
        out = checked_name("--out", picture, ".png")
        page = checked_name("--html", given.html, ".html")
        # A run that is given twice is drawn once.
        runs = [read_evaluations(Path(run)) for run in dict.fromkeys(given.runs)]
    except (ValueError, OSError) as error:
        return failed(error, 2)
    try:
        if out is not None:
            write_atomically(out, draw(runs, given.hours))
            say(f"drawn: {out}")
        if page is not None:
            write_atomically(page, page_of(runs, given.hours).encode())
            say(f"drawn: {page}")
    except OSError as error:
        return failed(error, 1)
    return 0


def checked_name(flag: str, name: str | None, suffix: str) -> Path | None:
    """Return the file that a flag names, None without one.

    Raises:
        ConfigError: it cannot be written.
    """
    if name is None:
        return None
    path = Path(name)
    if path.suffix != suffix or "\0" in name or path.is_dir() or not path.parent.is_dir():
        raise ConfigError(one_line(f"{flag} must be a file that ends in {suffix}, in an existing folder, got {name!r}"))
    return path
