"""The command ``sleuth replay``: a game text told step by step."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..game import DEFAULT_GAME, GAMES, Believes, Drawn, Game, Told, Transcribed, load_game, needed, player_name
from ..policies.policy import load_policy
from ..web.frames import num_frames
from ..web.replay_page import replay_page
from .arguments import CommandError, are_same, check_no_player, check_writable, file_name, steps
from .parser import Parser, add_game, command_parser
from .remark import players_in
from .report import progress_bar
from .screen import drawing_size, fitted
from .streams import called, in_colour, read_line, read_text, show, warn_of_a_narrow_terminal, write_text

# Characters. A longer text is not of a game.
MOST_TEXT = 10_000_000
DESCRIPTION = (
    "Tell a game text step by step. Shows public events only, unless a viewpoint is chosen or everything is revealed."
)
EXAMPLES = (
    "game.txt",
    "game.txt --viewpoint player_1 --odds --steps 10:20",
    "game.txt --reveal",
    "game.txt --review --viewpoint 0",
    "game.txt --html game.html --policy pretrained:sleuth-4p",
)
PAGE = ".html"


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command, which is the same whatever the words are."""
    parser = command_parser("replay", DESCRIPTION, EXAMPLES)
    parser.add_argument("file", type=file_name, metavar="FILE", help="a game text; - for stdin")
    add_game(parser, None, " (default: the one that the text names)")
    parser.add_argument(
        "--viewpoint",
        default="none",
        metavar="PLAYER",
        help="player_0, player_1, ..., or the number of a seat: add what that player knows; none: public events only",
    )
    text = "with a viewpoint: show its odds, too, that is what that player may believe about the hidden cards"
    parser.add_argument("--odds", action="store_true", help=text)
    parser.add_argument("--reveal", action="store_true", help="show the hidden deal and every action")
    parser.add_argument(
        "--steps", type=steps, metavar="FROM:TO", help="only these steps, from 1; either end may be left out"
    )
    text = "with a viewpoint: a table of what that player knew at their decisions"
    parser.add_argument("--review", action="store_true", help=text)
    parser.add_argument("--pause", action="store_true", help="wait for Enter after each step")
    parser.add_argument(
        "--html",
        type=file_name,
        metavar="FILE",
        help="write the game as one page for a browser instead, with every viewpoint, all odds and everything hidden, "
        "replacing this file",
    )
    parser.add_argument(
        "--policy",
        type=file_name,
        metavar="POLICY",
        help="with --html: show how likely this policy file, or policy of the package, was to take each legal action",
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the story of the game."""
    _check_asked(args)
    text = read_text(args.file, MOST_TEXT)
    game = game_of(text, called(args.file), args.game)
    needed(game, Told)
    if args.odds or args.review:
        needed(game, Believes)
    try:
        record = needed(game, Transcribed).parse_game(text)
    except ValueError as error:
        raise CommandError(f"{called(args.file)}: {error}") from error
    if args.html is not None:
        _write_page(args, game, record, text)
        return 0
    story = _story(args, game, record)
    pausing = args.pause
    for told in story:
        sys.stdout.write(fitted(told.rstrip("\n"), drawing_size()[0]) + "\n")
        if pausing:
            sys.stdout.flush()
            # The end of the input ends the pauses, not the replay.
            pausing = read_line() != ""
    return 0


def _check_asked(args: argparse.Namespace) -> None:
    """Raise CommandError where two arguments contradict each other."""
    if args.pause and args.file == "-":
        raise CommandError("--pause needs a file: stdin is the game text")
    if args.odds and args.viewpoint == "none":
        raise CommandError("--odds needs --viewpoint PLAYER: they are one player's")
    if args.review and args.viewpoint == "none":
        raise CommandError("--review needs --viewpoint PLAYER: it is one player's")
    if args.review and (args.odds or args.reveal or args.steps):
        raise CommandError("--review is a table of its own: it takes no --odds, --reveal or --steps")
    _check_page(args)


def _check_page(args: argparse.Namespace) -> None:
    """Raise CommandError where a page cannot be written, or what is asked besides is not for a page."""
    if args.policy is not None and args.html is None:
        raise CommandError("--policy needs --html FILE: only a page shows what a policy would have done")
    if args.html is None:
        return
    others = {name: getattr(args, name) for name in ("odds", "reveal", "steps", "review", "pause")}
    given = [f"--{name}" for name, value in {**others, "viewpoint": args.viewpoint != "none"}.items() if value]
    if given:
        raise CommandError(f"--html writes a page that shows everything: it takes no {given[0]}")
    if not args.html.endswith(PAGE):
        raise CommandError(f"--html must be a file that ends in {PAGE}, got {args.html[:60]!r}")
    if args.file != "-" and are_same(args.html, Path(args.file)):
        raise CommandError(f"{args.html} cannot be written: it is the game text")
    check_writable(args.html)


def _write_page(args: argparse.Namespace, game: Game, record: Any, text: str) -> None:
    """Write the game as a page."""
    check_no_player(args.html, game, [] if args.policy is None else [args.policy])
    policy = None if args.policy is None else load_policy(args.policy, game)
    players = players_in(text, record.options.num_players)
    with progress_bar(num_frames(record, game), "views") as progress:
        page = replay_page(record, policy, None, players, game, progress)
    write_text(args.html, page)
    show([f"The page is in {args.html}."])


def _story(args: argparse.Namespace, game: Game, record: Any) -> Iterator[str]:
    """Return what is written, text by text."""
    telling = needed(game, Told).telling
    viewpoint = _viewpoint(args.viewpoint, record.options.num_players)
    chosen = _chosen(args.steps, telling.num_steps(record)) if args.steps else None
    if viewpoint is None:
        return telling.tell_game(record, None, args.reveal, chosen, None)
    if args.review:
        return telling.review(record, viewpoint)
    warn_of_a_narrow_terminal(telling.COLUMNS)
    draw = partial(_drawing, game, record.options, args.odds)
    return telling.tell_game(record, viewpoint, args.reveal, chosen, draw)


def _drawing(game: Game, options: Any, odds: bool, view: Any) -> str:
    """Return the drawing of a view, with its odds below it."""
    size = drawing_size()
    drawing = needed(game, Drawn).draw_ansi(options, view, in_colour(), *size)
    return drawing + (needed(game, Told).telling.draw_odds(options, view, in_colour(), *size) if odds else "")


def game_of(text: str, name: str, given: Game | None) -> Game:
    """Return the game that was given, or that a text names in its first line, such as ``sleuth game 1``.

    Raises:
        CommandError: the text is of a game that no file may name.
    """
    if given is not None:
        return given
    lines = (line.partition("#")[0].strip() for line in io.StringIO(text))
    found = re.match(r"(\w+) game [0-9]", next(filter(None, lines), ""))
    # A text that names none is for the default game to refuse.
    game = found[1] if found else DEFAULT_GAME
    # A file is not trusted to name a module that would be imported.
    if game not in GAMES:
        raise CommandError(
            f"{name} is a text of the game {game[:40]!r}, which is not one of {', '.join(GAMES)}; "
            "--game names the module of another"
        )
    return load_game(game)


def _chosen(ends: tuple[int, int | None], count: int) -> range:
    """Return the steps between two ends, of which a game has a number."""
    first, last = ends
    if first > count:
        has = f"the steps 1 to {count}" if count else "no steps"
        raise CommandError(f"--steps begins with {first}, and the game has {has}")
    return range(first, min(last or count, count) + 1)


def _viewpoint(name: str, num_players: int) -> int | None:
    names = [player_name(seat) for seat in range(num_players)]
    if name == "none":
        return None
    seats = {**{name: seat for seat, name in enumerate(names)}, **{str(seat): seat for seat in range(num_players)}}
    if name not in seats:
        numbers = f"or the number of a seat, 0 to {num_players - 1}"
        raise CommandError(f"--viewpoint must be one of {', '.join(names)}, none, {numbers}, got {name[:40]!r}")
    return seats[name]
