"""The result of a tournament as one page: the cross table in colours, and the ratings with their intervals.

Nothing on it moves, so it has no script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from ..checks import one_line
from ..matches.crosstable import PlayerResult, Share, TournamentResult
from ..matches.program import PREFIX, names_program
from .page import make_page

STYLES = ("style.css", "board.css")
# Names that lead to files: whoever reads the page need not know in which folders they lie.
FILE = re.compile(r"\.(?:safetensors|zip)$|\.py:\w+$")
FOLDERS = re.compile(r"[^\s:'\"]*[/\\](?=[^\s/\\])")
# The scale of the intervals: its height a player, and where it begins and ends in a picture of this width.
ROW = 26
WIDTH = 480
ENDS = (14.0, 466.0)
BODY = """\
<header class="top"><h1>{title}</h1></header>
<main class="page board">
<p class="muted">{about}</p>
<section class="region">
<h2>Cross table</h2>
<p class="muted">The win share of the row against the column, in per cent, with its 95 % interval.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Cross table">
<table class="cross">
<thead><tr><th scope="col">player</th>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
</section>
<section class="region">
<h2>{merit}</h2>
<p class="muted">{merit_about}</p>
<div class="scroll" tabindex="0" role="group" aria-label="{merit}">
<table class="ratings">
<thead><tr><th scope="col">player</th><th scope="col">{unit}</th><th scope="col">95 % interval</th>\
<th scope="col">against each</th>{among_head}<th scope="col">mean reward</th>\
<th scope="col"><span class="unseen">picture of the interval</span></th></tr></thead>
<tbody>
{ratings}
</tbody>
</table>
</div>
</section>
{failures}</main>"""
FAILURES = """<section class="region">
<h2>Failures</h2>
<p>Some programs have failed; bots played in their place from then on, and the shares above are theirs, too.</p>
<ul class="failures">
{lines}
</ul>
</section>
"""


def tournament_page(result: TournamentResult) -> str:
    """Return the result of a tournament as one HTML page that needs no server and asks for nothing.

    Without ratings, for which choix must be installed, players are compared by their mean win share
    against each of the others.
    """
    rated = result.players[0].rating is not None
    called = shown_names([player.name for player in result.players])
    title = f"Tournament of {result.game}"
    options = ", ".join(f"{name} {value}" for name, value in result.options.items())
    among = any(player.among_all is not None for player in result.players)
    body = BODY.format(
        title=escape(title),
        about=escape(
            f"{result.games:,} games: {result.deals:,} deals, {result.games_of_a_pair:,} games of each two players, "
            f"{result.games_of_all:,} of all together. Seed {result.seed}. Options: {options}."
        ),
        heads="".join(f'<th scope="col">{number}</th>' for number in range(1, len(result.players) + 1)),
        rows="\n".join(_cross_rows(result, called)),
        merit="Ratings" if rated else "Win shares",
        merit_about="400 points are ten wins to one, 0 is the mean strength; intervals by a bootstrap over deals."
        if rated
        else "Of all games against each of the others. Ratings need the extra sleuth-env[tournament].",
        unit="rating" if rated else "win share",
        among_head='<th scope="col">among all</th>' if among else "",
        ratings="\n".join(_rating_rows(result, among, called)),
        failures=_failures(result, called),
    )
    return make_page(title, body, STYLES)


def shown_names(names: Sequence[str]) -> dict[str, str]:
    """Return what players are called on the page: files without their folders, unless two are the same then.

    >>> shown_names(["sheet", "runs/one/best.safetensors", "bots/mine.py:Bot", "exec:python bots/one.py"])
    ... # doctest: +NORMALIZE_WHITESPACE
    {'sheet': 'sheet', 'runs/one/best.safetensors': 'best.safetensors', 'bots/mine.py:Bot': 'mine.py:Bot',
    'exec:python bots/one.py': 'exec:python one.py'}
    >>> shown_names(["one/best.safetensors", "two/best.safetensors"])
    {'one/best.safetensors': 'one/best.safetensors', 'two/best.safetensors': 'two/best.safetensors'}
    """
    short = {name: _without_folders(name) for name in names}
    counts = Counter(short.values())
    return {name: called if counts[called] == 1 else name for name, called in short.items()}


def _without_folders(name: str) -> str:
    if names_program(name):
        return PREFIX + FOLDERS.sub("", name.removeprefix(PREFIX))
    return re.split(r"[/\\]", name)[-1] if FILE.search(name) else name


def _cross_rows(result: TournamentResult, called: dict[str, str]) -> Iterator[str]:
    for number, player in enumerate(result.players, 1):
        cells = "".join(_cross_cell(result, player.name, other.name) for other in result.players)
        yield f'<tr><th scope="row">{number} {_name(called[player.name])}</th>{cells}</tr>'


def _cross_cell(result: TournamentResult, name: str, other: str) -> str:
    if name == other:
        return '<td class="cross-self"><span aria-hidden="true">·</span><span class="unseen">itself</span></td>'
    share = result.share(name, other)
    # How far from equal, in fifths of the way, and to which side.
    step = min(int(abs(share.share - 0.5) * 10), 4)
    side = "win" if share.share >= 0.5 else "loss"
    return (
        f'<td class="cross-{side}-{step}"><b>{_percent(share.share)}</b>'
        f"<small>{_percent(share.low)} to {_percent(share.high)}</small></td>"
    )


def _rating_rows(result: TournamentResult, among: bool, called: dict[str, str]) -> Iterator[str]:
    merits = [_merit(player) for player in result.players]
    least = min(low for _, low, _ in merits)
    most = max(high for _, _, high in merits)
    rated = result.players[0].rating is not None
    names = [_name(called[player.name]) for player in result.players]
    for name, player, (value, low, high) in zip(names, result.players, merits, strict=True):
        words = [f"{number:+.0f}" if rated else f"{number:.1f} %" for number in (value, low, high)]
        of_all = "" if not among else f"<td>{'' if player.among_all is None else _interval(player.among_all)}</td>"
        yield (
            f'<tr><th scope="row">{name}</th><td><b>{words[0]}</b></td><td>{words[1]} to {words[2]}</td>'
            f"<td>{_interval(player.against_each)}</td>{of_all}<td>{player.mean_reward:+.3f}</td>"
            f"<td>{_picture(value, low, high, least, most)}</td></tr>"
        )


def _merit(player: PlayerResult) -> tuple[float, float, float]:
    """Return what players are ranked by, with its interval: the rating, or the win share in per cent."""
    if player.rating is not None:
        return player.rating.rating, player.rating.low, player.rating.high
    share = player.against_each
    return 100 * share.share, 100 * share.low, 100 * share.high


def _picture(value: float, low: float, high: float, least: float, most: float) -> str:
    """Return an interval as a picture, on a scale that all rows share."""
    scale = (ENDS[1] - ENDS[0]) / ((most - least) or 1)
    left, middle, right = (f"{ENDS[0] + (number - least) * scale:.1f}" for number in (low, value, high))
    at = ROW // 2
    return (
        f'<svg class="interval" viewBox="0 0 {WIDTH} {ROW}" aria-hidden="true">'
        f'<line class="interval-scale" x1="0" x2="{WIDTH}" y1="{at}" y2="{at}"/>'
        f'<line class="interval-line" x1="{left}" x2="{right}" y1="{at}" y2="{at}"/>'
        f'<circle class="interval-dot" cx="{middle}" cy="{at}" r="6"/></svg>'
    )


def _interval(share: Share) -> str:
    return f"{_percent(share.share)} % <small>({_percent(share.low)} to {_percent(share.high)})</small>"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _name(name: str) -> str:
    return escape(one_line(name))


def _failures(result: TournamentResult, called: dict[str, str]) -> str:
    """Return the programs that have failed, each with its reason once."""
    said = dict.fromkeys(
        f"{one_line(called.get(failure.player, failure.player))}: {one_line(failure.reason)}; "
        f"{failure.stand_in} played."
        for failure in result.failures
    )
    lines = "\n".join(f"<li>{escape(line)}</li>" for line in said)
    return FAILURES.format(lines=lines) if lines else ""
