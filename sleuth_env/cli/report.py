"""Results of matches in a terminal: a bar while games are played, aligned tables, JSON."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..checks import one_line
from ..game import Game, Told, has_part, needed
from ..matches.bound import Bound
from ..matches.crosstable import PlayerResult, Share, TournamentResult
from ..matches.rating import Entry, MatchResult
from ..options import described
from .streams import show, write_text

LONGEST_NAME = 32
# No row of a table is broken, whatever the width of the terminal.
WIDEST_TABLE = 1000
NOTES = (
    "Intervals: Wilson's, clustered by deal. fair: the win share of equally good players.",
    "reward: of a seat in a game.",
)
RATED = (
    "Ratings: 400 points are ten wins to one, and 0 is the mean strength;",
    "their intervals: a bootstrap over deals.",
)
UNRATED = 'There are no ratings: they need choix: pip install "sleuth-env[tournament]"'


@contextmanager
def progress_bar(total: int, what: str = "games") -> Iterator[Callable[[int], object] | None]:
    """Show a progress bar while games are played, or something else is made, if stderr is a terminal.

    It is not the bar of training: it leaves stdout to the result, vanishes at the end, and is
    silent where nobody watches.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda number: bar.advance(task, number)


@contextmanager
def step_bar() -> Iterator[Callable[[str, int, int], object]]:
    """Show a progress bar of named steps on stderr; where that is not a terminal, a line for each."""
    if not sys.stderr.isatty():
        yield lambda name, number, total: sys.stderr.write(f"{number + 1}/{total} {name}\n")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda name, number, total: bar.update(task, description=name, completed=number, total=total)


def put(name: str | None, lines: Sequence[str], content: dict[str, Any]) -> None:
    """Show a result, and write it as JSON where that was asked for.

    Neither is lost where the other cannot be written.
    """
    text = json.dumps(content, indent=2) + "\n"
    if name == "-":
        sys.stdout.write(text)
        return
    try:
        show(lines)
        sys.stdout.flush()
    finally:
        if name is not None:
            write_text(name, text)


def match_lines(game: Game, result: MatchResult, games_asked: int) -> list[str]:
    """Return the result of a match as text, one row an entry."""
    counts = _seat_counts(result)
    head = ["player", "seats", "wins", "win share", "95 % interval", "fair", "reward", *_headings(game, counts)]
    rows = [_match_row(entry) for entry in result.entries]
    means = (f"{_mean(result, name)} {_words(name)}" for name in result.counts)
    shares = f"nobody won {_percent(result.nobody_won)} of the games, {_percent(result.truncated)} were truncated."
    return [
        *_heading(game, result, games_asked),
        "",
        *_aligned([head, *rows]),
        "",
        f"{' and '.join(means)} a game; {shares}" if result.counts else f"{shares[0].upper()}{shares[1:]}",
        *_notes(game, counts),
        *_failure_lines([result]),
    ]


def _match_row(entry: Entry) -> list[str]:
    return [
        _short(entry.name),
        str(entry.seats),
        f"{entry.wins:g}",
        *_shares(entry),
        f"{entry.mean_reward:+.3f}",
        *(f"{number:.2f}" for number in entry.counts.values()),
    ]


def evaluation_lines(
    game: Game, player: str, baselines: Sequence[str], results: Sequence[MatchResult], games_asked: int
) -> list[str]:
    """Return how a player did against each baseline as text, one row a baseline."""
    of_seats = _seat_counts(results[0])
    of_games = [name for name in results[0].counts if name not in of_seats]
    head = ["against", "win share", "95 % interval", "fair", "reward"]
    head += [*_headings(game, of_games), "nobody", *_headings(game, of_seats)]
    against = list(zip(baselines, results, strict=True))
    rows = [[_short(baseline), *_evaluation_row(result, of_games)] for baseline, result in against]
    cut = [f"{_percent(result.truncated)} against {baseline}" for baseline, result in against if result.truncated]
    return [
        f"{one_line(player)} in one seat against each baseline in the others",
        *_heading(game, results[0], games_asked),
        "",
        *_aligned([head, *rows]),
        "",
        *([f"Games truncated: {', '.join(cut)}."] if cut else []),
        *_notes(game, of_seats),
        *_failure_lines(results),
    ]


def _evaluation_row(result: MatchResult, of_games: Sequence[str]) -> list[str]:
    mine = result.entries[0]
    return [
        *_shares(mine),
        f"{mine.mean_reward:+.3f}",
        *(_mean(result, name) for name in of_games),
        _percent(result.nobody_won),
        *(f"{number:.2f}" for number in mine.counts.values()),
    ]


def bound_lines(game: Game, bound: Bound, games_asked: int, steps: int, seed: int) -> list[str]:
    """Return a lower bound of how exploitable a player is as text, with what each exploiter won.

    Args:
        game: a game module.
        bound: what was found.
        games_asked: of each match.
        steps: decisions from which the trained exploiter has learned.
        seed: the one from which the seeds of the deals were made.
    """
    head = ["win share", "95 % interval", "fair", "reward"]
    tried = [_exploiter_row(match.entries[0]) for match in bound.tried]
    return [
        f"Exploiters in one seat against {one_line(bound.player)} in all others; trained by {steps:,} decisions",
        *_heading(game, bound.tried[0], games_asked, seed),
        "",
        *_aligned([["exploiter", *head], *tried]),
        "",
        f"The best, {_short(bound.exploiter)}, over other deals, which count; and a copy among copies",
        "",
        *_aligned([["in one seat", *head], _exploiter_row(bound.best), _copy_row(bound)]),
        "",
        *_said_of(bound),
        "",
        "The first table bounds nothing: which one is best there is also a matter of luck.",
        NOTES[0],
        NOTES[1],
        *_failure_lines([*bound.tried, bound.match, bound.copies]),
    ]


def _exploiter_row(entry: Entry) -> list[str]:
    return [_short(entry.name), *_shares(entry), f"{entry.mean_reward:+.3f}"]


def _copy_row(bound: Bound) -> list[str]:
    """Return what one copy of the player won, of all that sat in the seats."""
    copies = bound.copies.entries[0]
    return [
        _short(bound.player),
        _percent(bound.copy_share),
        f"{100 * copies.win_low / copies.seats:.1f} to {_percent(copies.win_high / copies.seats)}",
        _percent(bound.best.fair_share),
        f"{bound.copy_reward:+.3f}",
    ]


def _said_of(bound: Bound) -> list[str]:
    """Return in words what was found."""
    best = bound.best
    if bound.failures:
        return ["There is no bound: a program failed, and a bot played for it, see below."]
    fair = _percent(best.fair_share)
    if not bound.exploitable:
        interval = f"95 % interval {100 * best.win_low:.1f} to {_percent(best.win_high)}"
        return [
            f"No exploiter was found: {_percent(best.win_share)} ({interval}) is not clearly above the fair {fair}.",
            "A better one, such as one trained for longer, may still win more.",
        ]
    above, low, high = (100 * (share - best.fair_share) for share in (best.win_share, best.win_low, best.win_high))
    reward = best.mean_reward - bound.copy_reward
    return [
        f"Lower bound of its exploitability: {above:.1f} points of win share (95 % interval {low:.1f} to {high:.1f}).",
        f"The best exploiter wins {_percent(best.win_share)}, and {fair} is fair; "
        f"its mean reward is {reward:+.3f} compared with a copy's.",
    ]


def _heading(game: Game, result: MatchResult, games_asked: int, seed: int | None = None) -> list[str]:
    """Return what was played, with another seed than the match's where it was made from that one."""
    rounded = f" (rounded up from {games_asked})" if result.games != games_asked else ""
    if result.rotations > 1:
        turned = f"in {result.rotations} rotations of the seats"
    else:
        turned = "once each, as every rotation of the seats is the same table"
    games = f"{_counted(result.games, 'game')}{rounded}: {_counted(result.deals, 'deal')} {turned}"
    said = result.seed if seed is None else seed
    return [f"{len(result.seats)} players, seed {said}, {games}", *_changed(game, result.options)]


def _changed(game: Game, options: dict[str, Any]) -> list[str]:
    """Return a line with the options that are not the defaults; none where all are."""
    defaults = {about.name: about.default for about in described(game.Options)}
    changed = [
        f"{name}={value}" for name, value in options.items() if value != defaults[name] and name != "num_players"
    ]
    return [f"options: {' '.join(changed)}"] if changed else []


def tournament_lines(game: Game, result: TournamentResult, games_asked: int) -> list[str]:
    """Return the result of a tournament as text: a table of the players, and a cross table."""
    names = [player.name for player in result.players]
    rounded = f" (rounded up from {games_asked})" if result.games_of_a_pair != games_asked else ""
    together = f", {result.games_of_all} all together" if result.games_of_all else ""
    head = ["#", "player", *(["rating", "95 % interval"] if result.players[0].rating else [])]
    head += ["among all", "95 % interval"] if result.players[0].among_all else []
    rows = [[str(number), *_player_row(player)] for number, player in enumerate(result.players, 1)]
    cross_head = ["#", "player", *(str(number) for number in range(1, len(names) + 1)), "mean"]
    cross = [
        [str(number), _short(player.name), *_cross_row(result, player.name), f"{100 * player.against_each.share:.1f}"]
        for number, player in enumerate(result.players, 1)
    ]
    nobody, truncated = (
        sum(getattr(pair, name) for pair in result.pairs) / len(result.pairs) for name in ("nobody_won", "truncated")
    )
    return [
        f"{len(names)} players at tables of {result.options['num_players']}, seed {result.seed}, "
        f"{_counted(result.games, 'game')} over {_counted(result.deals, 'deal')}:",
        f"{result.games_of_a_pair} of each two players{rounded}{together}",
        *_changed(game, result.options),
        "",
        *_aligned([head, *rows], 2),
        "",
        "What the row won against the column, in percent:",
        "",
        *_aligned([cross_head, *cross], 2),
        "",
        f"Nobody won {_percent(nobody)} of the games of two players, {_percent(truncated)} were truncated.",
        *(RATED if result.players[0].rating else [UNRATED]),
        f"among all: won by a seat at the tables of all players; fair is {_percent(result.fair_share)}."
        if result.games_of_all
        else "There are no tables of all players: a pair's are those of two.",
        "Intervals of win shares: Wilson's, clustered by deal.",
        *_failure_lines([result]),
    ]


def _player_row(player: PlayerResult) -> list[str]:
    rating = player.rating
    rated = [] if rating is None else [f"{rating.rating:+.0f}", f"{rating.low:+.0f} to {rating.high:+.0f}"]
    among = [] if player.among_all is None else _in_percent(player.among_all)
    return [_short(player.name), *rated, *among]


def _cross_row(result: TournamentResult, name: str) -> list[str]:
    others = [player.name for player in result.players]
    return ["-" if name == other else f"{100 * result.share(name, other).share:.1f}" for other in others]


def _in_percent(share: Share) -> list[str]:
    return [f"{100 * share.share:.1f}", f"{100 * share.low:.1f} to {100 * share.high:.1f}"]


# --- what a game counts ---


def _seat_counts(result: MatchResult) -> list[str]:
    """Return the names of what is counted for each seat; the rest is counted for a game."""
    return list(result.entries[0].counts)


def _mean(result: MatchResult, name: str) -> str:
    """Return the mean of what is counted; of seats, whose counts are small, with one more digit."""
    return f"{result.counts[name]:.{2 if name in _seat_counts(result) else 1}f}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _headings(game: Game, counts: Sequence[str]) -> list[str]:
    """Return short names of what a game counts, where its telling has them."""
    short = needed(game, Told).telling.HEADINGS if has_part(game, Told) else {}
    return [short.get(name, name) for name in counts]


def _notes(game: Game, of_seats: Sequence[str]) -> list[str]:
    explained = [
        f"{heading}: {_words(name)} in a game, all its seats together."
        for heading, name in zip(_headings(game, of_seats), of_seats, strict=True)
    ]
    return [NOTES[0], " ".join([NOTES[1], *explained])]


def _failure_lines(results: Sequence[MatchResult | TournamentResult]) -> list[str]:
    """Return where programs have failed, and who played for them."""
    return [
        f"{_short(failure.player)} failed in seat {failure.seat} after {_counted(failure.answered, 'decision')}: "
        f"{one_line(failure.reason)}; {failure.stand_in} played there from then on "
        f"({_counted(failure.replaced, 'decision')})."
        for result in results
        for failure in result.failures
    ]


# --- words and columns ---


def _counted(number: int, noun: str) -> str:
    """Return a number of things: 1 game, 2 games."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shares(entry: Entry) -> list[str]:
    return [
        _percent(entry.win_share),
        f"{100 * entry.win_low:.1f} to {_percent(entry.win_high)}",
        _percent(entry.fair_share),
    ]


def _short(name: str) -> str:
    """Return a name as printable characters, of a long path the end."""
    return one_line(name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _aligned(rows: Sequence[Sequence[str]], names: int = 1) -> list[str]:
    """Align columns, those of the names to the left, the others to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for number in range(len(rows[0])):
        table.add_column(justify="left" if number < names else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    file = io.StringIO()
    Console(file=file, width=WIDEST_TABLE, color_system=None, legacy_windows=False).print(table)
    return file.getvalue().splitlines()
