"""The command ``sleuth match``: bots and policy files play many games over equal deals."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from ..matches.match import Save, num_rotations, play_match
from ..options import OptionError
from ..version import __version__
from .arguments import CommandError, check_no_player, check_writable, file_name, named_options
from .parser import Parser, add_game, add_options, add_sizes, add_workers, chosen_game, command_parser, seats_help
from .remark import seated
from .report import match_lines, progress_bar, put
from .streams import WriteError, write_text

DESCRIPTION = (
    "Let bots and policy files play many games. Every deal is played in each rotation of the seats "
    "that gives a new table, so that the luck of the deal cancels."
)


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command; of the words only ``--game`` is read here."""
    game = chosen_game(words)
    bot = game.DEFAULT_BOT
    other = next(iter(game.BOTS))
    examples = [
        f"{bot} {other} {other} --games 300 --seed 1",
        f"policy.safetensors {bot} {bot} {other} --options max_turns=100",
    ]
    parser = command_parser("match", DESCRIPTION, examples)
    parser.add_argument(
        "seats", nargs="+", metavar="SEAT", help=f"the seats, in the order of play, each {seats_help(game)}"
    )
    add_game(parser)
    add_sizes(parser)
    parser.add_argument(
        "--save-games",
        type=file_name,
        metavar="FOLDER",
        help="also write each game as a game text to this new folder; they show every hidden card",
    )
    add_workers(parser)
    add_options(parser, game)
    return parser


def check_new_folder(name: str | None) -> None:
    """Find out before a long run that a new folder cannot be made.

    Raises:
        CommandError: it cannot.
    """
    if name is None:
        return
    path = Path(name)
    if os.path.lexists(path):
        raise CommandError(f"{name} exists and was left as it is: choose another name for --save-games")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise CommandError(f"{name} cannot be made: {path.parent} is not a writable folder")


def saver(name: str, number: int) -> Save:
    """Return what writes games into a folder, which it makes with the first of them.

    Args:
        name: of the folder.
        number: of games.

    Raises:
        WriteError: (what is returned) the game cannot be written.
    """
    folder = Path(name)
    digits = len(str(number))

    def save(at: int, text: str, players: list[str]) -> None:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise WriteError(f"{name} cannot be made: {error.strerror or error}") from error
        write_text(str(folder / f"{at + 1:0{digits}}.txt"), f"{text}{seated(players)}", replace=False)

    return save


def run(args: argparse.Namespace) -> int:
    """Play the match and show its result."""
    check_writable(args.json)
    check_new_folder(args.save_games)
    check_no_player(args.json, args.game, args.seats)
    try:
        options = named_options(args.game, args.options, num_players=len(args.seats))
    except OptionError as error:
        if error.option != "num_players":
            raise
        raise CommandError(f"a match of {len(args.seats)} seats cannot be played: {error}") from error
    rotations = num_rotations(args.seats)
    deals = -(-args.games // rotations)
    with progress_bar(deals * rotations) as progress:
        files = {"greedy": args.greedy, "allow_pickle": args.allow_pickle}
        by = {"workers": args.workers, "ray": args.ray}
        save = None if args.save_games is None else saver(args.save_games, deals * rotations)
        result = play_match(args.game, options, args.seats, deals, args.seed, progress, save=save, **files, **by)
    content = {"version": __version__, "games_asked": args.games, "greedy": args.greedy, **result.as_dict()}
    put(args.json, match_lines(args.game, result, args.games), content)
    return 0
