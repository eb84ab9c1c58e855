"""The command ``sleuth evaluate``: one player against tables full of each baseline."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import takewhile

from ..game import make_options
from ..matches.match import evaluate
from ..matches.players import trained_options
from ..version import __version__
from .arguments import LISTED, check_no_player, check_writable, given_options, listed
from .parser import Parser, add_game, add_options, add_sizes, add_workers, chosen_game, command_parser, seats_help
from .report import evaluation_lines, progress_bar, put

DESCRIPTION = (
    "Let a policy file play against tables of bots. The player has one seat, the baseline all the others; "
    "one row for each baseline, over the same deals. See also: sleuth match."
)


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command; of the words only ``--game`` is read here."""
    game = chosen_game(words)
    examples = [
        "runs/smoke/best.safetensors",
        f"{game.DEFAULT_BOT} --against {next(iter(game.BOTS))} --games 600 --options num_players=3",
    ]
    parser = command_parser("evaluate", DESCRIPTION, examples)
    parser.add_argument(
        "player", metavar="FILE", help=f"the player: {seats_help(game)}; a file brings the options it was trained for"
    )
    # A game lists its bots from weak to strong: these are those up to the default opponent.
    baselines = [*takewhile(lambda bot: bot != game.DEFAULT_BOT, game.BOTS), game.DEFAULT_BOT]
    parser.add_argument("--against", default=",".join(baselines), metavar="NAMES", help=f"baselines, {LISTED}")
    add_game(parser)
    add_sizes(parser, " for each baseline")
    add_workers(parser)
    add_options(parser, game, fixed=(), more="; a policy file brings its own, which these change")
    return parser


def run(args: argparse.Namespace) -> int:
    """Play the matches and show how the player did."""
    check_writable(args.json)
    baselines = list(dict.fromkeys(listed(args.against, "--against")))
    check_no_player(args.json, args.game, [args.player, *baselines])
    given = given_options(args.game, args.options)
    options = make_options(args.game, {**trained_options(args.player, args.game), **given})
    rotations = options.num_players
    deals = -(-args.games // rotations)
    with progress_bar(deals * rotations * len(baselines)) as progress:
        files = {"greedy": args.greedy, "allow_pickle": args.allow_pickle}
        by = {"workers": args.workers, "ray": args.ray}
        results = evaluate(args.game, options, args.player, baselines, deals, args.seed, progress, **files, **by)
    content = {
        "version": __version__,
        "player": args.player,
        "games_asked": args.games,
        "greedy": args.greedy,
        "matches": [result.as_dict() for result in results],
    }
    put(args.json, evaluation_lines(args.game, args.player, baselines, results, args.games), content)
    return 0
