"""The command ``sleuth match``: bots and policy files play many games over equal deals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..matches.match import num_rotations, play_match
from ..options import OptionError
from ..version import __version__
from .arguments import CommandError, check_no_player, check_writable, named_options
from .parser import Parser, add_game, add_options, add_sizes, add_workers, chosen_game, command_parser, seats_help
from .report import match_lines, progress_bar, put

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
    add_workers(parser)
    add_options(parser, game)
    return parser


def run(args: argparse.Namespace) -> int:
    """Play the match and show its result."""
    check_writable(args.json)
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
        result = play_match(args.game, options, args.seats, deals, args.seed, progress, **files, **by)
    content = {"version": __version__, "games_asked": args.games, "greedy": args.greedy, **result.as_dict()}
    put(args.json, match_lines(args.game, result, args.games), content)
    return 0
