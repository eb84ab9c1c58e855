"""The command ``sleuth tournament``: everybody against everybody, with ratings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..game import make_options
from ..matches.picture import check_can_draw, draw_tournament
from ..matches.schedule import games_a_deal
from ..matches.tournament import play_tournament
from ..version import __version__
from ..web.tournament_page import tournament_page
from .arguments import CommandError, are_same, check_no_player, check_writable, file_name, given_options
from .parser import Parser, add_game, add_options, add_sizes, add_workers, chosen_game, command_parser, seats_help
from .report import progress_bar, put, tournament_lines
from .streams import WriteError, write_text

DESCRIPTION = (
    "Let every player play against every other, and all of them together, over equal deals; show a cross table and "
    "ratings. For each two players there are tables with one of them among copies of the other, and half and half."
)
PICTURE = ".png"
PAGE = ".html"


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command; of the words only ``--game`` is read here."""
    game = chosen_game(words)
    bots = " ".join(game.BOTS)
    examples = [
        f"{bots} --games 120 --options num_players=3",
        f"{game.DEFAULT_BOT} a.safetensors b.safetensors --games 3000 --keep games.jsonl --png tournament.png",
    ]
    parser = command_parser("tournament", DESCRIPTION, examples)
    parser.add_argument("players", nargs="+", metavar="PLAYER", help=f"two players or more, each {seats_help(game)}")
    add_game(parser)
    add_sizes(parser, " of each two players")
    parser.add_argument(
        "--keep",
        type=file_name,
        metavar="FILE",
        help="keep the games in this file as they are played; the same command then goes on where it was "
        "interrupted, and with more --games plays only those that are new",
    )
    parser.add_argument(
        "--png", type=file_name, metavar="FILE", help="also draw the cross table and the ratings, replacing this file"
    )
    parser.add_argument(
        "--html",
        type=file_name,
        metavar="FILE",
        help="also write them as a page for a browser, replacing this file",
    )
    add_workers(parser)
    add_options(parser, game, fixed=())
    return parser


def run(args: argparse.Namespace) -> int:
    """Play the tournament and show its result."""
    _check_files(args)
    options = make_options(args.game, given_options(args.game, args.options))
    of_a_pair, of_all = games_a_deal(len(args.players), options.num_players)
    deals = -(-args.games // of_a_pair)
    pairs = len(list(combinations(args.players, 2)))
    with progress_bar(deals * (of_a_pair * pairs + of_all)) as progress:
        named: dict[str, Any] = {name: getattr(args, name) for name in ("greedy", "allow_pickle", "keep", "workers")}
        result = play_tournament(args.game, options, args.players, deals, args.seed, progress, ray=args.ray, **named)
    content = {"version": __version__, "games_asked": args.games, **result.as_dict()}
    try:
        put(args.json, tournament_lines(args.game, result, args.games), content)
    finally:
        try:
            if args.png is not None:
                _write_picture(args.png, draw_tournament(result))
        finally:
            if args.html is not None:
                write_text(args.html, tournament_page(result))
    return 0


def _check_files(args: argparse.Namespace) -> None:
    """Find out before a long run, not after it, that something cannot be written."""
    if args.keep == "-":
        raise CommandError("--keep must be a file, got '-'")
    named = {name: getattr(args, name) for name in ("json", "png", "html", "keep") if getattr(args, name) is not None}
    for name in named.values():
        check_writable(name)
        check_no_player(name, args.game, args.players)
    for (flag, name), (other, same) in combinations(named.items(), 2):
        if are_same(name, Path(same)):
            raise CommandError(f"--{flag} and --{other} must be different files, got {name} for both")
    if args.html is not None and not args.html.endswith(PAGE):
        raise CommandError(f"--html must be a file that ends in {PAGE}, got {args.html[:60]!r}")
    if args.png is not None:
        if not args.png.endswith(PICTURE):
            raise CommandError(f"--png must be a file that ends in {PICTURE}, got {args.png[:60]!r}")
        check_can_draw()


def _write_picture(name: str, content: bytes) -> None:
    try:
        write_atomically(Path(name), content)
    except OSError as error:
        raise WriteError(f"{name} cannot be written: {error.strerror or error}") from error
