"""The command line of training: options from the schema of the configuration, then a new run or a
resumed one.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from sleuth_env.checks import one_line
from sleuth_env.policies.policy_file import PolicyError

from .config import ConfigError, keys, make_config
from .config_file import read_file, read_yaml

DESCRIPTION = """Train a policy by self-play: python -m training.train configs/smoke.yaml, and later --resume runs/smoke.

Every key of the configuration is also an option of the command line (--ppo.learning-rate 1e-3). Exit codes: 0 done; 1 training
failed (disk or memory full, weights that are no numbers any more); 2 the configuration or the folder is not right (one line a
mistake); 130 interrupted by Ctrl-C and 143 by SIGTERM, after saving a checkpoint if training had begun."""

MOST_SAID = 200

# What the system says where there is no room for a file.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# What needs much of it.
MEMORY = "num_envs, ppo.rollout_steps, ppo.batch_size or network.hidden"

# What the network, the checkpoint's numbers and the curve mean depends on these.


class Parser(argparse.ArgumentParser):
    """Show the description as it is written, take no abbreviations, and say what is wrong in one
    line.
    """

    def __init__(self, prog: str, description: str, usage: str | None = None) -> None:
        super().__init__(
            prog, usage, description, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise ConfigError(f"command line: {message}; --help lists everything")


def make_parser() -> Parser:
    """Make a parser with one option for each key of the schema."""
    parser = Parser("python -m training.train", DESCRIPTION, "%(prog)s [-h] (CONFIG | --resume RUN) [--KEY VALUE ...]")
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="a YAML file, for instance configs/smoke.yaml")
    parser.add_argument(
        "--resume",
        metavar="RUN",
        help="go on with the run in this folder, from its latest checkpoint, instead of CONFIG",
    )
    add_keys(parser)
    return parser


def add_keys(parser: Parser) -> None:
    """Add one option for each key of the schema."""
    group = parser.add_argument_group(
        "keys of the configuration", "they win over the file; values are YAML, e.g. --network.hidden '[64, 64]'"
    )
    for path, text, default in keys():
        shown = "null" if default is None else str(default).lower() if isinstance(default, bool) else default
        group.add_argument(
            f"--{path}".replace("_", "-"),
            dest=path,
            metavar="VALUE",
            default=argparse.SUPPRESS,
            help=f"{text} [{shown}]".replace("%", "%%"),
        )


def parsed(parser: Parser, arguments: Sequence[str] | None) -> dict[str, Any]:
    """Read the command line.

    Raises:
        ConfigError: an unknown option, or one without its value.
    """
    words = [word.split("=") for word in (sys.argv[1:] if arguments is None else arguments)]
    # --ppo.learning_rate is --ppo.learning-rate.
    known, unknown = parser.parse_known_args(
        ["=".join([name.replace("_", "-") if name[:2] == "--" else name, *value]) for name, *value in words]
    )
    if unknown:
        near = difflib.get_close_matches(
            unknown[0].split("=")[0], [name for action in parser._actions for name in action.option_strings], 1
        )
        parser.error(f"{unknown[0]} is unknown" + (f", did you mean {near[0]}?" if near else ""))
    return vars(known)


def overridden(mapping: dict[str, Any], overrides: dict[str, str]) -> dict[str, Any]:
    """Put the command line's values into a configuration that nobody has validated yet."""
    result = dict(mapping)
    for path, text in overrides.items():
        *sections, key = path.split(".")
        place = result
        for section in sections:
            inner = place.get(section)
            if inner is not None and not isinstance(inner, dict):
                raise ConfigError(f"{section}: must be a mapping of keys to values, got {inner!r}")
            place[section] = dict(inner or {})
            place = place[section]
        # A folder may be called 2024.
        place[key] = text if path == "run" else read_yaml(text, f"--{path}")
    return result


def free_name(path: Path, suffix: str = "") -> Path:
    """Give a path itself, or the next one that is not there: smoke-2, smoke-3, ... (before the
    suffix of a file).
    """
    number = 2
    free = path
    while os.path.lexists(free):
        free = path.with_name(f"{path.name.removesuffix(suffix)}-{number}{suffix}")
        number = number + 1
    return free


def new_run(source: str, overrides: dict[str, str]) -> Any:
    """Start a run in a folder of its own."""
    config = make_config(overridden(read_file(source), overrides), source)
    folder = Path(config.run)
    if not folder.name or "\0" in config.run:
        raise ConfigError(f"run: must be the name of a new folder, got {config.run!r}")
    if os.path.lexists(folder):
        raise ConfigError(
            f"run: {folder} is there already and is never overwritten; use --run {free_name(folder)}, or --resume {folder}"
        )
    from .run import Run

    run = Run(config, folder)
    run.start()
    return run


def resumed_run(folder: Path, overrides: dict[str, str]) -> Any:
    """Take up a run where its latest checkpoint was written."""
    source = folder / "config.yaml"
    if "run" in overrides:
        raise ConfigError("command line: --resume RUN goes on in the folder RUN, so --run means nothing with it")
    if not source.exists():
        raise ConfigError(f"{folder} is no run folder: it has no config.yaml")
    stored = read_file(source)
    before = make_config(stored, str(source))
    config = make_config(overridden(stored, overrides), str(source))
    fixed = before.fixed()
    changed = [key for key, value in config.fixed().items() if value != fixed[key]]
    if changed:
        raise ConfigError(f"{changed[0]}: cannot change when a run is resumed; start a new run")
    from .run import Run

    run = Run(config, folder)
    run.resume()
    if run.ended:
        run.close()
        more = (
            "a larger --total-steps"
            if run.steps >= config.total_steps
            else "--evaluation.stop-at null --evaluation.patience null"
        )
        raise ConfigError(f"{folder} is complete ({run.ended}): go on with {more}")
    if config != before:
        run.write_config()
    return run


def command(arguments: Sequence[str] | None, came: Sequence[int]) -> int:
    """Run the command; give its exit code. `came` are the signals to stop, also those that a
    library has swallowed while it was imported.
    """
    try:
        given = parsed(make_parser(), arguments)
        source = given.pop("config")
        folder = given.pop("resume")
        if (source is None) == (folder is None):
            raise ConfigError("command line: give either a CONFIG file or --resume RUN; --help lists everything")
        run = new_run(source, given) if folder is None else resumed_run(Path(folder), given)
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        return failed(error, 2)
    run.signal = came[-1] if came else 0
    try:
        say(f"training in {run.folder}: from step {run.steps:,} to {run.config.total_steps:,}")
        number = run.train()
        say(ended(run, number))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped at once; nothing is lost up to the last checkpoint in {run.folder}") from None
    except (OSError, MemoryError, RuntimeError, PolicyError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            error.strerror = f"{error.strerror}; go on later with: python -m training.train --resume {run.folder}"
        return failed(error, 1)
    return 128 + number if number else 0


def ended(run: Any, number: int) -> str:
    """Say how a run has ended: by itself, or by the signal of this number."""
    if number:
        return f"interrupted: checkpoint saved at step {run.steps:,}; go on with: python -m training.train --resume {run.folder}"
    return f"done ({run.ended}), {run.seconds:.0f} s of training in all; the policies are {' and '.join(map(str, sorted(run.folder.glob('*.safetensors'))))}"


def failed(error: Exception, code: int, memory: str = MEMORY) -> int:
    """Say what went wrong, one line a mistake; give the exit code. Of the settings ``memory`` one
    should be lower where it runs out.

    Raises:
        RuntimeError: the program's own mistake.
    """
    text = str(error)
    if isinstance(error, BrokenPipeError):
        # Whoever read stdout has gone. What is left in the buffer must not be written when Python
        # closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, OSError):
        text = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        code = 1 if error.errno in FULL else code
    elif isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and re.search("out of memory|alloc", text)):
        said = " ".join(text.split())[:MOST_SAID]
        code = 1
        text = f"out of memory: lower {memory}{said and f' ({said})'}"
    elif isinstance(error, RuntimeError):
        raise error
    sys.stderr.write("".join(f"error: {one_line(line)}\n" for line in text.splitlines()))
    return code


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
