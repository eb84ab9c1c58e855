"""The picture of a tournament: its cross table in colours, and the ratings with their intervals."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

from ..checks import one_line
from .crosstable import TournamentResult
from .seating import MatchError

DOTS_PER_INCH = 110
LONGEST_LABEL = 32
# Of the colours' middle, in which the numbers are dark.
MIDDLE = (0.2, 0.8)


def check_can_draw() -> None:
    """Refuse to draw where matplotlib is not installed.

    Raises:
        MatchError: it is not.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MatchError('a picture needs matplotlib: pip install "sleuth-env[tournament]"') from error


def draw_tournament(result: TournamentResult) -> bytes:
    """Return the picture of a tournament as a PNG file.

    To the left is the win share of each row against each column, to the right each player's rating
    with its interval; without ratings, the mean share against each of the others.

    Raises:
        MatchError: matplotlib is not installed.
    """
    check_can_draw()
    from matplotlib.figure import Figure

    number = len(result.players)
    # Without pyplot, which would open a window where it can.
    figure = Figure(figsize=(4.5 + 1.25 * number, 1.6 + 0.5 * number), dpi=DOTS_PER_INCH, layout="constrained")
    cross, ratings = figure.subplots(1, 2, width_ratios=(1, 0.8))
    _draw_cross_table(cross, result)
    _draw_ratings(ratings, result)
    figure.suptitle(
        f"{result.game}, {result.options['num_players']} seats, {result.deals} deals, "
        f"{result.games_of_a_pair} games of each two players",
        fontsize=10,
        parse_math=False,
    )
    content = BytesIO()
    with warnings.catch_warnings():
        # A letter of a name that the font lacks.
        warnings.simplefilter("ignore")
        figure.savefig(content, format="png")
    return content.getvalue()


def _draw_cross_table(panel: Any, result: TournamentResult) -> None:
    names = [player.name for player in result.players]
    equal = float("nan")
    shares = [[equal if row == column else result.share(row, column).share for column in names] for row in names]
    panel.imshow(shares, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    for row, line in enumerate(shares):
        for column, share in enumerate(line):
            if row != column:
                colour = "black" if MIDDLE[0] < share < MIDDLE[1] else "white"
                panel.text(column, row, f"{100 * share:.1f}", ha="center", va="center", color=colour, fontsize=9)
    panel.set_xticks(range(len(names)), [str(number) for number in range(1, len(names) + 1)])
    labels = [f"{number}  {_label(name)}" for number, name in enumerate(names, 1)]
    panel.set_yticks(range(len(names)), labels, parse_math=False)
    panel.tick_params(length=0, labeltop=True, labelbottom=False)
    panel.set_xlabel("win share of the row against the column, in percent")


def _draw_ratings(panel: Any, result: TournamentResult) -> None:
    for row, player in enumerate(result.players):
        rating = player.rating
        if rating is None:
            middle = 100 * player.against_each.share
            low, high = (100 * end for end in _ends(player.against_each))
        else:
            middle = rating.rating
            low, high = _ends(rating)
        panel.plot([low, high], [row, row], color="C0", linewidth=2, solid_capstyle="butt")
        panel.plot([middle], [row], color="C0", marker="o", markersize=5)
    is_rated = result.players[0].rating is not None
    panel.set_ylim(len(result.players) - 0.5, -0.5)
    panel.set_yticks(range(len(result.players)), [str(number) for number in range(1, len(result.players) + 1)])
    panel.set_xlabel("rating" if is_rated else "mean win share against each, in percent")
    panel.grid(axis="x", alpha=0.3)


def _ends(interval: Any) -> tuple[float, float]:
    return interval.low, interval.high


def _label(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= LONGEST_LABEL else f"…{name[1 - LONGEST_LABEL :]}"
