"""The command ``sleuth check-player``: whether a program plays by the protocol of docs/protocol.md."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..checks import one_line
from ..game import Game, make_options
from ..matches.match import play_match
from ..matches.program import (
    PREFIX,
    ProgramError,
    Talk,
    check_program,
    names_program,
    parse_program,
)
from ..matches.rating import MatchResult
from ..matches.table import Table
from ..options import OptionError
from ..version import __version__
from .arguments import check_writable, given_options, whole
from .parser import MOST_GAMES, Parser, add_game, add_json, add_options, add_seed, chosen_game, command_parser
from .report import put

DESCRIPTION = (
    "Find out whether a program keeps the protocol of players (docs/protocol.md): hello, decisions, many at once, "
    "lines that it does not know, whole games with the fewest, the usual and the most players, and its end."
)
OK = "ok"
FAILED = "FAILED"
NOTE = "note"
FAILED_CODE = 2
# Games that are asked about at once.
MANY = 16
# More players than any game has.
MOST_PLAYERS = 20
UNKNOWN = '{"type": "of-another-version", "what": "to be ignored"}'
LONGEST_STDERR = 2000


@dataclass(frozen=True)
class Check:
    """What came out of one check.

    Args:
        name: what was checked.
        result: OK, FAILED, or NOTE for what is allowed but worth knowing.
        why: what is wrong, "" if nothing is.
    """

    name: str
    result: str
    why: str = ""


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command; of the words only ``--game`` is read here."""
    game = chosen_game(words)
    examples = ['"python3 my_player.py"', '"exec:2s:node player.mjs" --game holmes --games 20']
    parser = command_parser("check-player", DESCRIPTION, examples)
    parser.add_argument("command", metavar="CMD", help="the command, in one word (quotes); with or without exec:")
    add_game(parser)
    parser.add_argument(
        "--games", type=whole(1, MOST_GAMES), default=10, metavar="N", help="games for each number of players, at least"
    )
    add_seed(parser, 0, "settles the deals and the seeds that the program is sent")
    add_json(parser)
    add_options(parser, game, fixed=())
    return parser


def run(args: argparse.Namespace) -> int:
    """Check the program and show what came out."""
    check_writable(args.json)
    player = args.command if names_program(args.command) else PREFIX + args.command
    check_program(player)
    named = given_options(args.game, args.options)
    checks, errors = check_player(args.game, player, named, args.games, args.seed)
    passed = not any(check.result == FAILED for check in checks)
    content = {
        "version": __version__,
        "player": player,
        "game": args.game.NAME,
        "checks": [asdict(check) for check in checks],
        "stderr": errors,
        "passed": passed,
    }
    put(args.json, [*_lines(checks, errors), "", "It keeps the protocol." if passed else "It fails."], content)
    return 0 if passed else FAILED_CODE


def _lines(checks: Sequence[Check], errors: str) -> Iterator[str]:
    yield from (f"{check.result:<8}{check.name}{': ' * bool(check.why)}{one_line(check.why)}" for check in checks)
    lines = [one_line(line) for line in errors[-LONGEST_STDERR:].splitlines() if line.strip()]
    if lines:
        yield ""
        yield "The end of what it has written to stderr:"
        yield from (f"  {line}" for line in lines)


def check_player(game: Game, player: str, named: dict[str, Any], num_games: int, seed: int) -> tuple[list[Check], str]:
    """Return what came out of each check, and the end of the program's stderr.

    Args:
        game: the game module.
        player: its name, ``exec:COMMAND``.
        named: options of the game by name.
        num_games: games for each number of players, at least.
        seed: of the deals.
    """
    options = make_options(game, named)
    limit, command = parse_program(player)
    try:
        talk = Talk(command, game, options, 0, limit)
    except ProgramError as error:
        return [Check("it starts, and says hello", FAILED, str(error))], ""
    called = f" ({talk.name})" if talk.name else ""
    checks = [Check(f"it starts, and says hello{called}", OK)]
    try:
        checks += _check_talk(talk, seed)
    finally:
        errors = talk.process.errors
        talk.process.stop(0)
    if checks[-1].result == OK:
        checks += _check_games(game, player, named, num_games, seed)
    return checks, errors


def _check_talk(talk: Talk, seed: int) -> Iterator[Check]:
    """Iterate over the checks of one process, until one fails."""
    table = Table(talk.game, talk.options, MANY)
    table.deal(np.arange(MANY), np.arange(MANY, dtype=np.uint64) + np.uint64(seed))
    steps: list[tuple[str, Callable[[], None] | None, int]] = [
        ("it answers a decision by a legal action", None, 1),
        ("it ignores lines of a type that it does not know", lambda: talk.process.send(UNKNOWN), 1),
        ("it answers many decisions that are asked at once", None, MANY),
        ("it hears that games are over", lambda: talk.forget(range(MANY)), 1),
    ]
    for name, before, number in steps:
        if before is not None:
            before()
        try:
            _ask(talk, table, number)
        except ProgramError as error:
            yield Check(name, FAILED, str(error))
            return
        yield Check(name, OK)
    name = "it ends by itself when its stdin ends"
    ended = talk.process.stop(talk.limit)
    yield Check(name, OK) if ended else Check(name, FAILED, f"it still ran {talk.limit:g} s later")


def _ask(talk: Talk, table: Table, number: int) -> None:
    """Ask about a number of games of a table; nothing is done with the answers."""
    rows = np.arange(number)
    for _ in talk.decide(table.views(rows), table.legal(rows), table.decision_seeds(rows), rows.tolist()):
        pass


def _check_games(game: Game, player: str, named: dict[str, Any], num_games: int, seed: int) -> Iterator[Check]:
    """Iterate over the checks of whole games."""
    for options in _tables(game, named):
        result = _match(game, player, options, -(-num_games // options.num_players), seed)
        name = f"it plays {result.games} games of {options.num_players} to the end"
        if result.failures:
            yield Check(name, FAILED, f"seat {result.failures[0].seat}: {result.failures[0].reason}")
            return
        yield Check(name, OK)
    usual = make_options(game, named)
    results = [_match(game, player, usual, 1, seed, batch_size=size) for size in (MANY, 1)]
    name = "it decides alike when it is asked again, one decision at a time"
    if _figures(results[0]) == _figures(results[1]):
        yield Check(name, OK)
    else:
        why = "it does not, so its matches cannot be repeated: draw random numbers from the seed of a request only"
        yield Check(name, NOTE, why)


def _match(game: Game, player: str, options: Any, deals: int, seed: int, batch_size: int = 512) -> MatchResult:
    """Return the result of a match of the program against the game's weakest bot."""
    seats = [player] + [next(iter(game.BOTS))] * (options.num_players - 1)
    return play_match(game, options, seats, deals, seed, batch_size=batch_size)


def _figures(result: MatchResult) -> Any:
    return result.entries, result.counts


def _tables(game: Game, named: dict[str, Any]) -> Iterator[Any]:
    """Iterate over options for the fewest, the usual and the most players, or for those that were asked for."""
    usual = make_options(game, named)
    found = [usual]
    for number in range(2, MOST_PLAYERS) if "num_players" not in named else ():
        try:
            found.append(make_options(game, {**named, "num_players": number}))
        except OptionError:
            continue
    found.sort(key=lambda options: int(options.num_players))
    yield from {options.num_players: options for options in (found[0], usual, found[-1])}.values()
