"""Curves as one page: a panel of lines to be read off by pointing at it, with a table of all figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape

from .page import make_page

STYLES = ("style.css", "replay.css", "board.css")
NO_VALUE = "\N{EN DASH}"
BODY = """\
<header class="top"><h1>{title}</h1></header>
<main class="page board">
<div class="panels" id="panels">
<noscript><p class="notice">The pictures need JavaScript; the figures are below.</p></noscript>
</div>
<section class="region">
<h2>Figures</h2>
{tables}
</section>
</main>"""


@dataclass(frozen=True)
class Line:
    """One line of a panel.

    Args:
        label: what it is called.
        values: one a place, each from 0 to 1; None where there is none.
    """

    label: str
    values: list[float | None]


@dataclass(frozen=True)
class Level:
    """A line from left to right, to compare others with: its height, from 0 to 1, and what it is."""

    label: str
    value: float


@dataclass(frozen=True)
class Panel:
    """Some lines over the same places.

    Args:
        title: of the panel.
        places: ascending numbers.
        lines: to be drawn.
        levels: to compare them with.
    """

    title: str
    places: list[float]
    lines: list[Line]
    levels: list[Level]


def curves_page(title: str, axis: str, panels: Sequence[Panel]) -> str:
    """Return panels of shares as one HTML page that needs no server and asks for nothing.

    Args:
        title: of the page.
        axis: what the places of all panels are.
        panels: one at least.
    """
    body = BODY.format(title=escape(title), tables="\n".join(_table(panel, axis) for panel in panels))
    data = {"axis": axis, "panels": [asdict(panel) for panel in panels]}
    return make_page(title, body, STYLES, "plot", {"plot-data": data})


def _table(panel: Panel, axis: str) -> str:
    heads = "".join(f'<th scope="col">{escape(line.label)}</th>' for line in panel.lines)
    title = escape(panel.title)
    return (
        f'<details><summary>{title}</summary><div class="scroll" tabindex="0" role="group" aria-label="{title}">'
        f'<table class="figures"><thead><tr><th scope="col">{escape(axis)}</th>{heads}</tr></thead><tbody>'
        f"{''.join(_rows(panel))}</tbody></table></div></details>"
    )


def _rows(panel: Panel) -> Iterator[str]:
    for at, place in enumerate(panel.places):
        values = (line.values[at] for line in panel.lines)
        cells = "".join(f"<td>{NO_VALUE if value is None else f'{100 * value:.1f} %'}</td>" for value in values)
        yield f'<tr><th scope="row">{_number(place)}</th>{cells}</tr>'


def _number(place: float) -> str:
    """Return a place in words.

    >>> _number(1500000.0), _number(0.25)
    ('1,500,000', '0.25')
    """
    return f"{place:,.0f}" if place == int(place) else f"{place:,.4g}"
