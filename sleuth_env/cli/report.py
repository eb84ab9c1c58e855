"""Results of matches as aligned text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from unicodedata import combining, east_asian_width

from ..matches.rating import Entry, MatchResult
from ..sleuth.cards import Options
from ..sleuth.telling import counted
from .arguments import one_line

LONGEST_NAME = 32
NOTES = (
    "Intervals: Wilson's, clustered by deal. fair: the win share of equally good players.",
    "reward: of a seat in a game. wrong: wrong accusations in a game, all its seats together.",
)


def match_lines(result: MatchResult, games_asked: int) -> list[str]:
    """Write the result of a match, one row an entry."""
    head = ["player", "seats", "wins", "win share", "95 % interval", "fair", "reward", "wrong"]
    rows = [_match_row(entry) for entry in result.entries]
    sums = f"{result.counts['turns']:.1f} turns and {result.counts['wrong_accusations']:.2f} wrong accusations a game; nobody won {_percent(result.nobody_won)} of the games"
    return [
        *_heading(result, games_asked),
        "",
        *_aligned([head, *rows]),
        "",
        f"{sums}, {_percent(result.truncated)} were truncated.",
        *NOTES,
    ]


def _match_row(entry: Entry) -> list[str]:
    return [
        _short(entry.name),
        str(entry.seats),
        f"{entry.wins:g}",
        *_shares(entry),
        f"{entry.mean_reward:+.3f}",
        f"{entry.counts['wrong_accusations']:.2f}",
    ]


def evaluation_lines(
    player: str, baselines: Sequence[str], results: Sequence[MatchResult], games_asked: int
) -> list[str]:
    """Write how a player did against each baseline, one row a baseline."""
    head = ["against", "win share", "95 % interval", "fair", "reward", "turns", "nobody", "wrong"]
    rows = [[_short(baseline), *_evaluation_row(result)] for baseline, result in zip(baselines, results, strict=True)]
    cut = [
        f"{_percent(result.truncated)} against {baseline}"
        for baseline, result in zip(baselines, results, strict=True)
        if result.truncated
    ]
    truncated = [f"Games truncated: {', '.join(cut)}."] if cut else []
    return [
        f"{one_line(player)} in one seat against each baseline in the others",
        *_heading(results[0], games_asked),
        "",
        *_aligned([head, *rows]),
        "",
        *truncated,
        *NOTES,
    ]


def _evaluation_row(result: MatchResult) -> list[str]:
    mine = result.entries[0]
    rest = [f"{result.counts['turns']:.1f}", _percent(result.nobody_won), f"{mine.counts['wrong_accusations']:.2f}"]
    return [*_shares(mine), f"{mine.mean_reward:+.3f}", *rest]


def _heading(result: MatchResult, games_asked: int) -> list[str]:
    rounded = f" (rounded up from {games_asked})" if result.games != games_asked else ""
    usual = {field.name: field.default for field in fields(Options)}
    changed = [
        f"{name}={value}" for name, value in result.options.items() if value != usual[name] and name != "num_players"
    ]
    turned = (
        f"in {result.rotations} rotations of the seats"
        if result.rotations > 1
        else "once each, as every rotation of the seats is the same table"
    )
    games = f"{counted(result.games, 'game')}{rounded}: {counted(result.deals, 'deal')} {turned}"
    return [
        f"{len(result.seats)} players, seed {result.seed}, {games}",
        *([f"options: {' '.join(changed)}"] if changed else []),
    ]


def _shares(entry: Entry) -> list[str]:
    return [
        _percent(entry.win_share),
        f"{100 * entry.win_low:.1f} to {_percent(entry.win_high)}",
        _percent(entry.fair_share),
    ]


def _short(name: str) -> str:
    """Give a name as printable characters, of a long path the end."""
    return one_line(name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns, the first to the left, the others to the right."""
    first = max(_columns(row[0]) for row in rows)
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[1:]]
    numbers = ("  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths, strict=True)) for row in rows)
    return [f"{row[0]}{' ' * (first - _columns(row[0]))}  {rest}" for row, rest in zip(rows, numbers, strict=True)]


def _columns(name: str) -> int:
    """Count the columns that a name takes on a terminal: two for a wide letter, none for an accent
    that stands by itself.
    """
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in name)
