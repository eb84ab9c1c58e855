"""Parsers of commands, and the arguments that they share; their help describes the chosen game."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from ..game import DEFAULT_GAME, GAMES, Game
from ..matches.imported import FORMS
from ..matches.program import FORM
from ..options import described
from ..policies.policy_file import SUFFIX, pretrained_names
from .arguments import CommandError, file_name, game_named, perhaps_whole, whole

MOST_GAMES = 10**7
MOST_SEED = 2**64 - 1


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviations and answers a mistake by one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise CommandError(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write, and do not hide that it cannot be written."""
        (file or sys.stdout).write(message)


class Help(argparse.ArgumentDefaultsHelpFormatter):
    """Show indented lines, such as examples, as they are, and defaults that say something."""

    def add_argument(self, action: argparse.Action) -> None:
        """Add an argument; the names of commands are indented by more than argparse makes room for."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += self._indent_increment

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(line if line.startswith(" ") else textwrap.fill(line, width) for line in text.splitlines())

    def _get_help_string(self, action: argparse.Action) -> str | None:
        says_nothing = action.default is None or action.default is False or action.default == []
        return action.help if says_nothing else super()._get_help_string(action)


def command_parser(name: str, description: str, examples: Sequence[str]) -> Parser:
    """Return the parser of a command, without arguments yet.

    Args:
        name: of the command.
        description: what it does.
        examples: the words after its name.
    """
    lines = ["examples:", *(f"  sleuth {name} {example}".rstrip() for example in examples)]
    return Parser(prog=f"sleuth {name}", description=description, epilog="\n".join(lines), formatter_class=Help)


def chosen_game(words: Sequence[str]) -> Game:
    """Return the game that the words of a command choose: help and defaults depend on it.

    Raises:
        CommandError: there is no such game.
    """
    parser = Parser(add_help=False)
    add_game(parser)
    game: Game = parser.parse_known_args(words)[0].game
    return game


def add_game(parser: Parser, default: str | None = DEFAULT_GAME, more: str = "") -> None:
    """Add ``--game``."""
    parser.add_argument(
        "--game",
        type=game_named,
        default=default,
        metavar="NAME",
        help=f"the game: {', '.join(GAMES)}, or the full name of a game module, "
        f"also of one in the current folder{more}",
    )


def add_options(parser: Parser, game: Game, fixed: Sequence[str] = ("num_players",), more: str = "") -> None:
    """Add ``--options``, and the options of a game to the help.

    Args:
        parser: of the command.
        game: a game module.
        fixed: options that the command settles itself.
        more: what the help says besides.
    """
    parser.add_argument(
        "--options",
        action="append",
        default=[],
        metavar="NAME=VALUE...",
        help=f"options of the game, one or several, see below{more}",
    )
    rows = {f"  {about.name}={about.default}": about for about in described(game.Options) if about.name not in fixed}
    indent = max(map(len, rows)) + 2
    width = max(shutil.get_terminal_size().columns - 2, indent + 20)
    lines = ["", "options of the game, each with its default:"]
    for row, about in rows.items():
        text = f"{about.meaning}: {about.values}"
        lines += textwrap.wrap(
            text, width, initial_indent=row.ljust(indent), subsequent_indent=" " * indent, break_on_hyphens=False
        )
    parser.epilog = "\n".join([parser.epilog or "", *lines])


def seats_help(game: Game) -> str:
    """Return what a seat can be, for the help."""
    pretrained = ", ".join(pretrained_names(game.NAME))
    bundled = f"a policy that comes with the package ({pretrained}), " if pretrained else ""
    yours = f"a player of yours ({FORMS}), or a program ({FORM})"
    return f"a bot ({', '.join(game.BOTS)}), {bundled}a policy file (*{SUFFIX}), {yours}"


def add_sizes(parser: Parser, each: str = "") -> None:
    """Add the arguments of commands that play many games."""
    parser.add_argument(
        "--games",
        type=whole(1, MOST_GAMES),
        default=300,
        metavar="N",
        help=f"games{each}, rounded up to whole deals in all rotations",
    )
    add_seed(parser, 0, "settles the deals and the bots' random choices")
    add_greedy(parser)
    add_json(parser)


def add_workers(parser: Parser) -> None:
    """Add ``--workers`` and ``--ray``: who plays the games."""
    text = "processes that play, which changes the speed and not the result"
    parser.add_argument("--workers", type=perhaps_whole, default=1, metavar="N", help=text)
    text = "play on a Ray cluster, by its address, or local for one on this machine, instead of by --workers"
    parser.add_argument("--ray", metavar="ADDRESS", help=text)


def add_json(parser: Parser) -> None:
    """Add ``--json``."""
    text = "also write the result to this file as JSON, replacing it; - for stdout, then without a table"
    parser.add_argument("--json", type=file_name, metavar="FILE", help=text)


def add_seed(parser: Parser, default: int | None, text: str) -> None:
    """Add ``--seed``."""
    parser.add_argument("--seed", type=whole(0, MOST_SEED), default=default, metavar="N", help=text)


def add_greedy(parser: Parser) -> None:
    """Add ``--greedy`` and ``--allow-pickle``: how files play."""
    text = "policy files take their best action instead of drawing one by its probability"
    parser.add_argument("--greedy", action="store_true", help=text)
    text = "also read models of Stable-Baselines3 (*.zip), which runs whatever code is pickled in them"
    parser.add_argument("--allow-pickle", action="store_true", help=text)
