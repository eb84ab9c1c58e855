"""The command ``sleuth``: matches between bots and policy files, replays of game texts, and a game
in the terminal.

Whatever a user gets wrong is answered by one line on stderr and exit code 2; Ctrl-C by one line and
exit code 130. What takes time to import is imported where it is needed. The script itself is
`sleuth_command`, which answers Ctrl-C while this is imported.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import secrets
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from .. import __version__
from .arguments import (
    OPTION_VALUES,
    CommandError,
    check_writable,
    file_name,
    listed,
    named_options,
    one_line,
    options_last,
    steps,
    whole,
)
from .streams import WriteError, called, prepare_streams, read_line, read_text, write_text

FAILED = 1
MISTAKEN = 2
INTERRUPTED = 130
EXIT_CODES = "exit codes: 0 done; 1 the output could not be written, or memory is short; 2 a mistake in the command or in a file; 130 Ctrl-C"
MOST_GAMES = 10**7
BASELINES = "random,cautious,sheet"
BOTS = "random, cautious, sheet, entropy, racer"


class _Parser(argparse.ArgumentParser):
    """Answer a mistake by one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise CommandError(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write, and do not hide that it cannot be written."""
        (file or sys.stdout).write(message)


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Show defaults that say something, and examples and tables, which are indented, as they are
    written.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(line if line.startswith(" ") else textwrap.fill(line, width) for line in text.splitlines())

    def _get_help_string(self, action: argparse.Action) -> str | None:
        says_nothing = action.default is None or action.default is False or action.default == []
        return action.help if says_nothing else super()._get_help_string(action)


# --- the command line ---


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the command line."""
    parser = _Parser(
        prog="sleuth",
        description="Play and evaluate the deduction card game Sleuth.",
        epilog=EXIT_CODES,
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"sleuth-env {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_match(commands)
    _add_evaluate(commands)
    _add_replay(commands)
    _add_play(commands)
    return parser


def _add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str, more: str, example: str
) -> argparse.ArgumentParser:
    examples = "examples:\n" + "\n".join(f"  sleuth {line}" for line in example.split("\n"))
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {more}",
        epilog=examples,
        formatter_class=_Help,
    )
    parser.set_defaults(run=run)
    return parser


def _add_options(parser: argparse.ArgumentParser, fixed: Sequence[str] = ("num_players",), more: str = "") -> None:
    from ..sleuth.cards import Options

    parser.add_argument(
        "--options",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help=f"options of the game, see below{more}",
    )
    defaults = {field.name: field.default for field in dataclasses.fields(Options) if field.name not in fixed}
    rows = [f"  {f'{name}={value}':<28} {OPTION_VALUES[name]}" for name, value in defaults.items()]
    parser.epilog = "\n".join(
        [parser.epilog or "", "", "options of the game, with the usual value and the legal ones:", *rows]
    )


def _seats() -> str:
    """Say for the help what a seat can be."""
    from ..policies.policy_file import SUFFIX, pretrained_names

    pretrained = ", ".join(pretrained_names())
    return (
        f"a bot ({BOTS}), "
        + (f"a policy that comes with the package ({pretrained}), " if pretrained else "")
        + f"or a policy file (*{SUFFIX})"
    )


def _add_greedy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--greedy",
        action="store_true",
        help="policy files take their best action instead of drawing one by its probability",
    )


def _add_match(commands: Any) -> None:
    more = "Every deal is played in each rotation of the seats that gives a new table, so that the luck of the deal cancels."
    examples = "match sheet random random --games 300 --seed 1\nmatch policy.safetensors sheet sheet cautious --options winners=2 super_sleuth=true"
    parser = _add_command(commands, "match", _match, "let bots and policy files play many games", more, examples)
    parser.add_argument("seats", nargs="+", metavar="SEAT", help=f"3 to 7 seats, in the order of play: {_seats()}")
    _add_sizes(parser)
    _add_options(parser)


def _add_evaluate(commands: Any) -> None:
    more = "The player has one seat, the baseline all the others; one row for each baseline, over the same deals. See also: sleuth match."
    examples = "evaluate runs/smoke/best.safetensors\nevaluate sheet --against random,cautious --games 600 --options num_players=3"
    parser = _add_command(
        commands, "evaluate", _evaluate, "let a policy file play against tables of bots", more, examples
    )
    parser.add_argument(
        "player", metavar="FILE", help=f"the player: {_seats()}; a file brings the options it was trained for"
    )
    parser.add_argument("--against", default=BASELINES, metavar="NAMES", help="baselines, separated by commas")
    _add_sizes(parser, " for each baseline")
    _add_options(parser, fixed=(), more="; a policy file brings its own, which these change")


def _add_sizes(parser: argparse.ArgumentParser, each: str = "") -> None:
    parser.add_argument(
        "--games",
        type=whole(1, MOST_GAMES),
        default=300,
        metavar="N",
        help=f"games{each}, rounded up to whole deals in all rotations",
    )
    parser.add_argument(
        "--seed",
        type=whole(0, 2**64 - 1),
        default=0,
        metavar="N",
        help="settles the deals and the bots' random choices",
    )
    _add_greedy(parser)
    text = "also write the result to this file as JSON, replacing it; - for stdout, then without a table"
    parser.add_argument("--json", type=file_name, metavar="FILE", help=text)


def _add_replay(commands: Any) -> None:
    more = "Shows public events only, unless a viewpoint is chosen or everything is revealed."
    examples = "replay game.txt\nreplay game.txt --viewpoint player_1 --odds --steps 10:20\nreplay game.txt --reveal"
    parser = _add_command(commands, "replay", _replay, "tell a game text step by step", more, examples)
    parser.add_argument("file", type=file_name, metavar="FILE", help="a game text; - for stdin")
    parser.add_argument(
        "--viewpoint",
        default="none",
        metavar="PLAYER",
        help="player_0, player_1, ...: add what that player knows; none: public events only",
    )
    text = (
        "with a viewpoint: show its odds, too, that is each gem's chance to be missing and the questions that tell most"
    )
    parser.add_argument("--odds", action="store_true", help=text)
    parser.add_argument("--reveal", action="store_true", help="show the hidden deal and every action")
    parser.add_argument(
        "--steps", type=steps, metavar="FROM:TO", help="only these steps, from 1; either end may be left out"
    )
    parser.add_argument("--pause", action="store_true", help="wait for Enter after each step")


def _add_play(commands: Any) -> None:
    more = (
        "Actions are typed in the notation; help, sheet, odds and legal help. Nothing hidden is shown before the end."
    )
    examples = "play\nplay --players 4 --opponents sheet,cautious,policy.safetensors --seat 2 --seed 7 --save game.txt"
    parser = _add_command(commands, "play", _play, "play a game in the terminal", more, examples)
    parser.add_argument("--players", type=whole(3, 7), default=3, metavar="N", help="players, 3 to 7, you among them")
    parser.add_argument(
        "--opponents",
        default="sheet",
        metavar="NAMES",
        help=f"separated by commas, from your left on; one name fills all seats; {_seats()}",
    )
    parser.add_argument("--seat", type=whole(0, 6), default=0, metavar="K", help="your seat, from 0")
    parser.add_argument(
        "--seed", type=whole(0, 2**64 - 1), metavar="N", help="settles deal and bots; drawn and shown if left out"
    )
    _add_options(parser)
    _add_greedy(parser)
    parser.add_argument(
        "--save",
        type=file_name,
        metavar="FILE",
        help="write the game text here at the end, however the game ends, replacing the file",
    )


# --- match and evaluate ---


def _match(args: argparse.Namespace) -> int:
    from ..game import load_game
    from ..matches.match import num_rotations, play_match
    from ..sleuth.cards import MAX_PLAYERS, MIN_PLAYERS
    from .report import match_lines

    if not MIN_PLAYERS <= len(args.seats) <= MAX_PLAYERS:
        raise CommandError(f"a match needs {MIN_PLAYERS} to {MAX_PLAYERS} seats, got {len(args.seats)}")
    check_writable(args.json)
    options = named_options(args.options, num_players=len(args.seats))
    deals = -(-args.games // num_rotations(args.seats))
    with _progress(deals * num_rotations(args.seats)) as progress:
        result = play_match(
            load_game("sleuth_env.sleuth"), options, args.seats, deals, args.seed, progress, greedy=args.greedy
        )
    _put(
        args.json,
        match_lines(result, args.games),
        {"version": __version__, "games_asked": args.games, "greedy": args.greedy, **result.as_dict()},
    )
    return 0


def _evaluate(args: argparse.Namespace) -> int:
    from ..game import load_game
    from ..matches.match import evaluate
    from .report import evaluation_lines

    check_writable(args.json)
    baselines = list(dict.fromkeys(listed(args.against, "--against")))
    options = _evaluation_options(args)
    rotations = options.num_players
    deals = -(-args.games // rotations)
    with _progress(deals * rotations * len(baselines)) as progress:
        results = evaluate(
            load_game("sleuth_env.sleuth"), options, args.player, baselines, deals, args.seed, progress, args.greedy
        )
    rows = [result.as_dict() for result in results]
    content = {
        "version": __version__,
        "player": args.player,
        "games_asked": args.games,
        "greedy": args.greedy,
        "matches": rows,
    }
    _put(args.json, evaluation_lines(args.player, baselines, results, args.games), content)
    return 0


def _evaluation_options(args: argparse.Namespace) -> Any:
    """The options that a policy file was trained for, or the usual ones, changed by those that are
    given.
    """
    from ..policies.policy import load_policy
    from ..policies.policy_file import names_file

    if not names_file(args.player):
        return named_options(args.options)
    trained = dataclasses.asdict(load_policy(args.player).options)
    given = {word.partition("=")[0] for word in args.options}
    kept = [f"{name}={value}" for name, value in trained.items() if name not in given]
    return named_options([*args.options, *kept])


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], object] | None]:
    """Show a progress bar on stderr while games are played, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=total)
        yield lambda number: bar.advance(task, number)


def _put(name: str | None, lines: Sequence[str], content: dict[str, Any]) -> None:
    """Show a result, and write it as JSON where that was asked for; neither is lost where the other
    cannot be written.
    """
    text = json.dumps(content, indent=2) + "\n"
    if name == "-":
        sys.stdout.write(text)
        return
    try:
        _show(lines)
        sys.stdout.flush()
    finally:
        if name is not None:
            write_text(name, text)


def _show(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


# --- replay and play ---


def _replay(args: argparse.Namespace) -> int:
    from ..sleuth.notation import NotationError
    from ..sleuth.telling import tell_game, told_moves
    from ..sleuth.transcript import MAX_TEXT, parse_game

    if args.pause and args.file == "-":
        raise CommandError("--pause needs a file: stdin is the game text")
    if args.odds and args.viewpoint == "none":
        raise CommandError("--odds needs --viewpoint PLAYER: they are one player's")
    try:
        record = parse_game(read_text(args.file, MAX_TEXT + 1))
    except NotationError as error:
        raise CommandError(f"{called(args.file)}: {error}") from error
    viewpoint = _viewpoint(args.viewpoint, record.options.num_players)
    chosen = _chosen(args.steps, sum(1 for _ in told_moves(record, viewpoint, args.reveal))) if args.steps else None
    if viewpoint is not None:
        _warn_of_a_narrow_terminal()
    for text in tell_game(record, viewpoint, args.reveal, chosen, _in_colour(), args.odds):
        sys.stdout.write(text.rstrip("\n") + "\n")
        if args.pause:
            sys.stdout.flush()
            # The end of the input ends the pauses, not the replay.
            args.pause = read_line() != ""
    return 0


def _chosen(ends: tuple[int, int | None], count: int) -> range:
    """Give the steps between two ends that a game of so many has."""
    first, last = ends
    if first > count:
        raise CommandError(
            f"--steps: the game has the steps 1 to {count}" if count else "--steps: the game has no steps"
        )
    return range(first, min(last or count, count) + 1)


def _viewpoint(name: str, num_players: int) -> int | None:
    names = [f"player_{seat}" for seat in range(num_players)]
    if name == "none":
        return None
    if name not in names:
        raise CommandError(f"--viewpoint must be one of {', '.join(names)}, none, got {name[:40]!r}")
    return names.index(name)


def _in_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _warn_of_a_narrow_terminal() -> None:
    """Say what would look broken otherwise."""
    from ..sleuth.drawing.text import COLUMNS

    columns = shutil.get_terminal_size((COLUMNS, 24)).columns
    if sys.stdout.isatty() and columns < COLUMNS:
        sys.stderr.write(
            f"sleuth: drawings are {COLUMNS} columns wide, this terminal has {columns}: make it wider, or its letters smaller\n"
        )


def _play(args: argparse.Namespace) -> int:
    from .play import SAVED, QuitError, Session, line_reader

    options = named_options(args.options, num_players=args.players)
    if args.seat >= args.players:
        raise CommandError(f"--seat must be a whole number from 0 to {args.players - 1}, got {args.seat}")
    if args.save == "-":
        raise CommandError("--save needs a file: stdout shows the game")
    check_writable(args.save)
    seed = secrets.randbits(32) if args.seed is None else args.seed
    _warn_of_a_narrow_terminal()
    session = Session(
        options,
        _opponents(args, options),
        args.seat,
        seed,
        line_reader(),
        lambda text: _show([text.rstrip("\n")]),
        _in_colour(),
    )
    try:
        _show([f"Seed {seed}."])
        session.run()
    except QuitError:
        _show(["You have left the game."])
    except EOFError:
        _show(["", "The input has ended; the game is not over."])
    finally:
        if args.save:
            write_text(args.save, session.text)
            _show([SAVED.format(args.save)])
    return 0


def _opponents(args: argparse.Namespace, options: Any) -> list[Any]:
    from ..game import load_game
    from ..matches.players import make_players

    names = listed(args.opponents, "--opponents")
    names = names * (args.players - 1) if len(names) == 1 else names
    if len(names) != args.players - 1:
        raise CommandError(
            f"a game of {args.players} players needs {args.players - 1} opponents, or one name for all of them, got {len(names)}"
        )
    return make_players(load_game("sleuth_env.sleuth"), options, names, args.greedy)


# --- errors ---


def _mistakes() -> tuple[type[ValueError], ...]:
    """The errors that are the user's, not the program's."""
    from ..matches.table import MatchError
    from ..options import OptionError, UnknownOptionError
    from ..policies.policy_file import PolicyError
    from ..sleuth.bots import BotError

    return UnknownOptionError, OptionError, BotError, PolicyError, MatchError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command ``sleuth``.

    Args:
        argv: the words after it; default: those of the process.

    Returns:
        The exit code: 0, 2 after a mistake of the user, 130 after Ctrl-C, 1 where the output cannot
            be written or memory is short.
    """
    try:
        prepare_streams()
        return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return _end("interrupted", INTERRUPTED)
    except (CommandError, WriteError) as error:
        return _end(str(error), MISTAKEN if isinstance(error, CommandError) else FAILED)
    except MemoryError:
        return _end("there is not enough memory; fewer games need less", FAILED)
    except OSError as error:
        # What is left in the buffer must not be written when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return (
            FAILED
            if isinstance(error, BrokenPipeError)
            else _end(f"the output cannot be written: {error.strerror or error}", FAILED)
        )
    except ValueError as error:
        if not isinstance(error, _mistakes()):
            raise
        return _end(str(error), MISTAKEN)


def _run(words: Sequence[str]) -> int:
    try:
        args = make_parser().parse_args(options_last(words))
        code: int = args.run(args)
    finally:
        # After --help, and before an error is told, too.
        sys.stdout.flush()
    return code


def _end(message: str, code: int) -> int:
    if sys.stderr is None:
        return code
    sys.stderr.write(f"sleuth: {one_line(message)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
