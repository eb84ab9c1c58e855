"""Results of matches as aligned text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from .rating import Entry, MatchResult
from .sleuth.cards import Options

NOTE_CLUSTERED = "Intervals: 95 %, Wilson, clustered by deal."
NOTE_BY_DEAL = "* All deals came out alike, so every deal counts as one game in this interval."


def match_lines(result: MatchResult, games_asked: int) -> list[str]:
    """Write the result of a match, one row an entry."""
    head = ["player", "seats", "wins", "win share", "95 % interval", "fair share", "mean reward", "wrong accusations/game"]
    rows = [_match_row(entry) for entry in result.entries]
    sums = (
        f"{result.mean_turns:.1f} turns a game; nobody won {_percent(result.nobody_won)} of the games; "
        f"{_percent(result.truncated)} were truncated; {result.wrong_accusations:.2f} wrong accusations a game."
    )
    return [*_heading(result, games_asked), "", *_aligned([head, *rows]), "", sums, *_notes([result])]


def _match_row(entry: Entry) -> list[str]:
    return [entry.name, str(entry.seats), str(entry.wins), *_shares(entry), f"{entry.mean_reward:+.3f}", f"{entry.wrong_accusations:.2f}"]


def evaluation_lines(player: str, results: Sequence[MatchResult], games_asked: int) -> list[str]:
    """Write how a player did against each baseline, one row a baseline."""
    head = ["against", "win share", "95 % interval", "fair share", "mean reward", "turns", "nobody won", "truncated", "wrong accusations/game"]
    rows = [_evaluation_row(result) for result in results]
    title, *options = _heading(results[0], games_asked)
    return [f"{player}, {title} against each baseline", *options, "", *_aligned([head, *rows]), "", *_notes(results)]


def _evaluation_row(result: MatchResult) -> list[str]:
    mine = result.entries[0]
    against = result.entries[-1].name
    rest = [f"{result.mean_turns:.1f}", _percent(result.nobody_won), _percent(result.truncated), f"{mine.wrong_accusations:.2f}"]
    return [against, *_shares(mine), f"{mine.mean_reward:+.3f}", *rest]


def _heading(result: MatchResult, games_asked: int) -> list[str]:
    rounded = f" (rounded up from {games_asked})" if result.games != games_asked else ""
    usual = {field.name: field.default for field in fields(Options)}
    changed = [f"{name}={value}" for name, value in result.options.items() if value != usual[name] and name != "num_players"]
    games = f"{result.games} games{rounded}: {result.deals} deals in {result.rotations} rotations of the seats"
    return [f"{len(result.seats)} players, seed {result.seed}, {games}", *([f"options: {' '.join(changed)}"] if changed else [])]


def _shares(entry: Entry) -> list[str]:
    star = "*" if entry.interval == "wilson-by-deal" else ""
    return [_percent(entry.win_share), f"{100 * entry.win_low:.1f} to {_percent(entry.win_high)}{star}", _percent(entry.fair_share)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _notes(results: Sequence[MatchResult]) -> list[str]:
    starred = any(entry.interval == "wilson-by-deal" for result in results for entry in result.entries)
    return [NOTE_CLUSTERED, *([NOTE_BY_DEAL] if starred else [])]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]) for row in rows]
