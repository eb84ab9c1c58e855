"""What the commands of training share at the terminal: options, progress, and error messages."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from sleuth_command import complain, silence
from sleuth_env.checks import did_you_mean, nearest, one_line
from sleuth_env.cli.arguments import whole
from sleuth_env.game import DEFAULT_GAME, Game, load_game
from sleuth_env.matches.shards import MOST_WORKERS

from .config import Config, ConfigError, game_in, keys
from .config_file import file_of, read_file

CONFIG_HELP = "a YAML file, or the name of a configuration that comes with the package (sleuth configs lists them)"
# What the system says where a file does not fit.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# The settings that need much memory.
MEMORY = "num_envs, ppo.rollout_steps, ppo.batch_size or network.hidden"
# Characters of a library's message that are repeated.
MOST_SAID = 200
SECONDS_BETWEEN_LINES = 5


# --- the command line ---


class Parser(argparse.ArgumentParser):
    """Show the description as written, take no abbreviations, say what is wrong in one line."""

    def __init__(self, prog: str, description: str, usage: str | None = None) -> None:
        super().__init__(
            prog, usage, description, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise ConfigError(f"command line: {message}; --help lists everything")


def add_keys(parser: Parser, game: Game) -> None:
    """Add one option for each key of the schema."""
    group = parser.add_argument_group(
        "keys of the configuration",
        "They win over the file; values are YAML, e.g. --network.hidden '[64, 64]'. The options are\n"
        f"those of the game {game.NAME!r}; another configuration or --game has its own.",
    )
    for path, text, default in keys(game):
        shown = "null" if default is None else str(default).lower() if isinstance(default, bool) else default
        group.add_argument(
            f"--{path}".replace("_", "-"),
            dest=path,
            metavar="VALUE",
            default=argparse.SUPPRESS,
            help=f"{text} [{shown}]".replace("%", "%%"),
        )


def add_workers(parser: Parser) -> None:
    """Add ``--workers`` and ``--ray``."""
    text = "processes that play, as far as there are shards, which changes the speed and no number [1]"
    parser.add_argument("--workers", type=whole(1, MOST_WORKERS), default=1, metavar="N", help=text)
    text = "play on a Ray cluster, by its address, or local for one on this machine, instead of by --workers"
    parser.add_argument("--ray", metavar="ADDRESS", help=text)


def check_workers(config: Config, workers: int) -> None:
    """Check that there is something to do for each worker.

    Raises:
        ConfigError: there are fewer shards.
    """
    if workers > config.shards:
        raise ConfigError(
            f"command line: --workers must be at most shards = {config.shards}, got {workers}; more shards "
            "are another run, with other numbers"
        )


def game_of(arguments: Sequence[str] | None) -> Game:
    """Return the game whose options a command line may set.

    It is that of ``--game``, or of the configuration or the run folder that is named, or the
    default. A file that cannot be read is refused later; so is a game where help is asked for.

    Raises:
        ConfigError: there is no such game, or its module fails; options could not be told apart.
    """
    given: dict[str, str] = {}
    words = iter(_words(arguments))
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            given.setdefault("CONFIG", word)
        elif name in ("-h", "--help"):
            given["--help"] = ""
        else:
            given[name] = value if equals else next(words, "")
    source = str(Path(given["--resume"]) / "config.yaml") if "--resume" in given else given.get("CONFIG", "")
    try:
        if "--game" in given:
            mapping: dict[str, Any] = {"game": given["--game"] or DEFAULT_GAME}
        else:
            mapping = read_file(file_of(source)) if source else {}
    except ConfigError:
        return load_game(DEFAULT_GAME)
    try:
        return game_in(mapping, source, ["game"] if "--game" in given else ())
    except ConfigError:
        if "--help" in given:
            return load_game(DEFAULT_GAME)
        raise


def parsed(parser: Parser, arguments: Sequence[str] | None) -> dict[str, Any]:
    """Read the command line, in which --ppo.learning_rate is --ppo.learning-rate.

    Raises:
        ConfigError: an unknown option, or one without its value.
    """
    words = []
    for word in _words(arguments):
        name, equals, value = word.partition("=")
        words.append((name.replace("_", "-") if name.startswith("--") else name) + equals + value)
    known, unknown = parser.parse_known_args(words)
    if unknown:
        options = [name for action in parser._actions for name in action.option_strings]
        parser.error(f"{unknown[0]} is unknown{meant(unknown[0].partition('=')[0], options)}")
    return vars(known)


def meant(option: str, options: Sequence[str]) -> str:
    """Return a question after the option that an unknown one probably stands for, or nothing.

    What options have in common, the dashes and the section, says nothing of what is meant.

    >>> meant("--ppo.gama", ["--ppo.gamma", "--ppo.entropy"])
    ', did you mean --ppo.gamma?'
    >>> meant("--ppo.lr", ["--ppo.gamma", "--ppo.entropy"])
    ''
    """
    section, dot, key = option.removeprefix("--").rpartition(".")
    if dot:
        start = f"--{section}."
        keys = [other.removeprefix(start) for other in options if other.startswith(start)]
        if found := nearest(key, keys):
            return f", did you mean {start}{found[0]}?"
        if keys:
            return ""
    names = [other.removeprefix("--") for other in options if other.startswith("--")]
    guess = did_you_mean(f"{section}{dot}{key}", names)
    return guess.replace("did you mean ", "did you mean --")


def _words(arguments: Sequence[str] | None) -> Sequence[str]:
    return sys.argv[1:] if arguments is None else arguments


def free_name(path: Path, suffix: str = "") -> Path:
    """Return a path itself, or the next one that does not exist: smoke-2, smoke-3, ...

    The number stands before the suffix of a file.
    """
    number = 2
    free = path
    while os.path.lexists(free):
        free = path.with_name(f"{path.name.removesuffix(suffix)}-{number}{suffix}")
        number += 1
    return free


# --- progress and messages ---


class OutputError(OSError):
    """Nobody can read the standard output any more: its reader has gone, or the terminal."""


class Output:
    """The standard output until it is lost, and then nothing; a process may have none from the start."""

    def __init__(self) -> None:
        self.lost: OSError | ValueError | None = None

    def write(self, text: str) -> int:
        """Write a text."""
        self._try("write", text)
        return len(text)

    def flush(self) -> None:
        """Write what has been held back."""
        self._try("flush")

    def _try(self, method: str, *arguments: str) -> None:
        if self.lost is None and sys.stdout is not None:
            try:
                getattr(sys.stdout, method)(*arguments)
            # ValueError: it has been closed by the program around this one.
            except (OSError, ValueError) as error:
                self.lost = error

    def check(self) -> None:
        """Say that the output is lost.

        Raises:
            OutputError: it is.
        """
        if self.lost is not None:
            number = getattr(self.lost, "errno", None) or errno.EBADF
            raise OutputError(number, getattr(self.lost, "strerror", None) or os.strerror(number)) from self.lost

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return sys.stdout is not None and not sys.stdout.closed and sys.stdout.isatty()

    def __getattr__(self, name: str) -> Any:
        """Return what else is asked for, such as the encoding."""
        return getattr(sys.stdout, name)


class Screen:
    """Show progress: a bar on a terminal, else a plain line now and then.

    Args:
        total: how much there is to do.
        done: how much of it is done already.
        unit: of what.
    """

    def __init__(self, total: int, done: int = 0, unit: str = "steps") -> None:
        self.total = total
        self.unit = unit
        self._last_line = 0.0
        self._bar: Progress | None = None
        self._output = Output()
        if self._output.isatty():
            columns = (
                BarColumn(),
                TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {unit}"),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
            )
            console = Console(file=self._output)  # type: ignore[arg-type]
            self._bar = Progress(*columns, console=console)
            self._task = self._bar.add_task("", total=total, completed=done)
            self._bar.start()

    def show(self, done: int, text: str, always: bool = False) -> None:
        """Show how much is done, and a text; ``always`` even if the last line was a moment ago.

        Raises:
            OutputError: nobody can read it any more.
        """
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=text)
            self._output.check()
        elif always or time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            say(f"{done:>12,} of {max(done, self.total):,} {self.unit}   {text}")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


def say(text: str) -> None:
    """Print a line at once.

    Raises:
        OutputError: nobody can read it any more.
    """
    output = Output()
    output.write(text + "\n")
    output.flush()
    output.check()


def out_of_memory(error: Exception) -> bool:
    """Return whether an error means that memory ran out; torch has no class of its own for it."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and re.search("out of memory|alloc", str(error)) is not None
    )


def failed(error: Exception, code: int, memory: str = MEMORY) -> int:
    """Say what went wrong, one line a mistake.

    Args:
        error: what went wrong.
        code: the exit code.
        memory: the settings of which one should be lower where memory runs out.

    Returns:
        The exit code; 1 where the disk or the memory is full.

    Raises:
        RuntimeError: the program's own mistake.
    """
    text = str(error)
    if isinstance(error, OutputError):
        silence(sys.stdout)
    if isinstance(error, OSError):
        text = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        code = 1 if error.errno in FULL else code
    elif out_of_memory(error):
        said = " ".join(text.split())[:MOST_SAID]
        text = f"out of memory: lower {memory}" + (f" ({said})" if said else "")
        code = 1
    elif isinstance(error, RuntimeError):
        raise error
    complain("".join(f"error: {one_line(line)}\n" for line in text.splitlines()))
    return code
