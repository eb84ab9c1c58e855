"""The command ``sleuth``: which of its commands is meant, and what is said of mistakes.

Each command is a module of its own here, with a function `make_parser` and a function `run`, or a
script of training, and is imported when it is chosen: what it needs takes a second to import.
Whatever a user gets wrong is answered by one line on stderr and exit code 2; Ctrl-C by one line and
exit code 130. The script itself is `sleuth_command`, which answers Ctrl-C while this is imported.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from sleuth_command import complain, silence

from ..checks import one_line
from ..game import GAMES, MissingPartError
from ..options import OptionError, UnknownOptionError
from ..trainer import training_module
from ..version import __version__
from .arguments import CommandError, one_option_each
from .parser import Help, Parser
from .streams import WriteError, prepare_streams

FAILED = 1
MISTAKEN = 2
INTERRUPTED = 130
EXIT_CODES = (
    "exit codes: 0 done; 1 the output could not be written, workers could not be started, or memory is short; "
    "2 a mistake in the command or in a file; 130 Ctrl-C, 143 SIGTERM, 129 a closed terminal"
)
# The commands, which are modules here, and what each does.
COMMANDS = {
    "match": "let bots and policy files play many games",
    "evaluate": "let a policy file play against tables of bots",
    "tournament": "let everybody play against everybody, and rate them",
    "replay": "tell a game text step by step",
    "play": "play a game in the terminal",
    "serve": "let people play in their browsers",
    "compile": "compile everything beforehand, for quick starts later",
    "export": "write a policy file's network for ONNX or torch",
    "card": "write what a policy file says of itself, as a model card",
    "train": "train a policy by self-play",
    "imitate": "let a policy learn to decide like a bot",
    "plot": "draw how trainings went",
    "exploit": "train an opponent against a player, show what it wins",
    "check-player": "find out whether a program plays by the protocol",
    "info": "print versions, threads and processor, for reports of faults",
    "configs": "list the configurations that come along, or show one",
}
# Those that are scripts of training, which read their arguments themselves.
OF_TRAINING = ("train", "imitate", "plot")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command ``sleuth``.

    Args:
        argv: the words after it; default: those of the process.

    Returns:
        The exit code: 0, 2 after a mistake of the user, 130 after Ctrl-C, 1 where the output cannot
            be written, workers cannot be started or memory is short.
    """
    try:
        prepare_streams()
        return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return _end("interrupted", INTERRUPTED)
    except WriteError as error:
        return _end(str(error), FAILED)
    except MemoryError:
        return _end("there is not enough memory; fewer games need less", FAILED)
    except OSError as error:
        if message := _not_of_the_output(error):
            return _end(message, FAILED)
        silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return FAILED
        return _end(f"the output cannot be written: {error.strerror or error}", FAILED)
    except ValueError as error:
        if not isinstance(error, _mistakes()):
            raise
        return _end(str(error), MISTAKEN)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what the words after ``sleuth`` mean.

    Returns:
        The arguments of a command, and in `run` the command itself.

    Raises:
        CommandError: they mean nothing.
        SystemExit: they ask for help, which has been written, or for the version.
    """
    first = words[0] if words else ""
    at = next((at for at, word in enumerate(words) if word in COMMANDS), None)
    # Only options may stand before the command.
    if at is None or (at > 0 and not first.startswith("-")):
        return _overview().parse_args(words)
    others = [*words[:at], *words[at + 1 :]]
    if words[at] in OF_TRAINING:
        return argparse.Namespace(run=lambda _: training_module(words[at]).main(others))
    command = import_module(f".{words[at].replace('-', '_')}", __package__)
    parser: Parser = command.make_parser(others)
    parser.set_defaults(run=command.run)
    return parser.parse_intermixed_args(list(one_option_each(others)))


def _overview() -> Parser:
    """Make the parser that lists the commands, and knows no more of them."""
    description = f"Play and evaluate card games of deduction: {', '.join(GAMES)}."
    parser = Parser(prog="sleuth", description=description, epilog=EXIT_CODES, formatter_class=Help)
    parser.add_argument("--version", action="version", version=f"sleuth-env {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser


def _run(words: Sequence[str]) -> int:
    try:
        # Whoever types nothing else wants to know what there is.
        args = parse(words or ["--help"])
        code: int = args.run(args)
    finally:
        # After --help, and before an error is reported, too.
        sys.stdout.flush()
    return code


def _mistakes() -> tuple[type[ValueError], ...]:
    """Return the errors that are the user's, not the program's."""
    # Imported only now, as the overview does without players.
    from ..actions import IllegalAction
    from ..matches.seating import MatchError
    from ..policies.policy_file import PolicyError

    return CommandError, MissingPartError, UnknownOptionError, OptionError, PolicyError, MatchError, IllegalAction


def _not_of_the_output(error: OSError) -> str:
    """Return what could not be done where that was not to write the output; empty where it was."""
    # An error of the output names no file.
    if error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    # Imported only now, as in _mistakes.
    from ..matches.tasks import StartError

    return str(error.strerror) if isinstance(error, StartError) else ""


def _end(message: str, code: int) -> int:
    complain(f"sleuth: {one_line(message)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
