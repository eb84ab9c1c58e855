"""The command ``sleuth play``: a game in the terminal."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from typing import Any

from ..checks import check_number
from ..game import Bot
from ..matches.players import make_players
from .arguments import LISTED, CommandError, check_writable, file_name, listed, named_options, perhaps_whole
from .parser import Parser, add_game, add_greedy, add_options, add_seed, chosen_game, command_parser, seats_help
from .session import SAVED, QuitError, Session, line_reader
from .streams import in_colour, show, warn_of_a_narrow_terminal, write_text

DESCRIPTION = (
    "Play a game in the terminal. Actions are typed in the notation; help, sheet, odds and legal help. "
    "Nothing hidden is shown before the end."
)


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command; of the words only ``--game`` is read here."""
    game = chosen_game(words)
    opponents = f"{game.DEFAULT_BOT},{next(iter(game.BOTS))},policy.safetensors"
    examples = ["", f"--players 4 --opponents {opponents} --seat 2 --seed 7 --save game.txt"]
    parser = command_parser("play", DESCRIPTION, examples)
    parser.add_argument(
        "--players", type=perhaps_whole, default=3, metavar="N", help="number of players, you among them"
    )
    parser.add_argument(
        "--opponents",
        default=game.DEFAULT_BOT,
        metavar="NAMES",
        help=f"{LISTED}, from your left on; one name fills all seats; each {seats_help(game)}",
    )
    parser.add_argument("--seat", type=perhaps_whole, default=0, metavar="K", help="your seat, from 0")
    add_seed(parser, None, "settles deal and bots; drawn and shown if left out")
    add_game(parser)
    add_options(parser, game)
    add_greedy(parser)
    parser.add_argument(
        "--save",
        type=file_name,
        metavar="FILE",
        help="write the game text here at the end, however the game ends, replacing the file",
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Play the game."""
    options = named_options(args.game, args.options, num_players=args.players)
    check_number("--seat", args.seat, 0, args.players - 1, CommandError)
    if args.save == "-":
        raise CommandError("--save needs a file: stdout shows the game")
    check_writable(args.save)
    seed = secrets.randbits(32) if args.seed is None else args.seed
    session = Session(args.game, options, _opponents(args, options), args.seat, seed, line_reader(), _show, in_colour())
    warn_of_a_narrow_terminal(session.telling.COLUMNS)
    try:
        _show(f"Seed {seed}.")
        session.run()
    except QuitError:
        _show("You have left the game.")
    except EOFError:
        _show("\nThe input has ended; the game is not over.")
    finally:
        if args.save:
            write_text(args.save, session.text)
            _show(SAVED.format(args.save))
    return 0


def _show(text: str) -> None:
    show([text.rstrip("\n")])


def _opponents(args: argparse.Namespace, options: Any) -> list[Bot]:
    names = listed(args.opponents, "--opponents")
    wanted = args.players - 1
    names = names * wanted if len(names) == 1 else names
    if len(names) != wanted:
        raise CommandError(
            f"a game of {args.players} players needs {wanted} opponents, or one name for all of them, got {len(names)}"
        )
    return make_players(args.game, options, names, args.greedy, args.allow_pickle)
