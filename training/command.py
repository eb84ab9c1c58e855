"""The command ``sleuth train``: begin a run from a configuration, or resume one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sleuth_command import STOPPED
from sleuth_env.actions import IllegalAction
from sleuth_env.game import Game
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.shards import check_ray
from sleuth_env.policies.policy_file import PolicyError

from .config import Config, ConfigError, read_config, read_resumed
from .terminal import (
    CONFIG_HELP,
    FULL,
    OutputError,
    Parser,
    add_keys,
    add_workers,
    check_workers,
    failed,
    free_name,
    game_of,
    parsed,
    say,
)
from .tracking import check_installed

DESCRIPTION = """\
Train a policy by self-play: sleuth train smoke, and later sleuth train --resume runs/smoke.

Every key of the configuration is also an option of the command line (--ppo.learning-rate 1e-3).
Exit codes: 0 done; 1 training failed (disk or memory full, weights that are not numbers any more,
nobody reads the output: a checkpoint is saved); 2 the configuration or the folder is not right (one
line a mistake); 130 interrupted by Ctrl-C, 143 by SIGTERM and 129 by a closed terminal, after saving
a checkpoint if training had begun."""
RESUME = "sleuth train --resume"
# What a run folder holds before its first checkpoint.
BEGINNING = {"lock", "checkpoints", "inputs", "pool", "config.yaml"}


def make_parser(game: Game) -> Parser:
    """Return a parser with one option for each key of the schema."""
    parser = Parser("sleuth train", DESCRIPTION, "%(prog)s [-h] (CONFIG | --resume RUN) [--KEY VALUE ...]")
    parser.add_argument("config", nargs="?", metavar="CONFIG", help=CONFIG_HELP)
    parser.add_argument(
        "--resume",
        metavar="RUN",
        help="go on with the run in this folder, from its latest checkpoint, instead of CONFIG",
    )
    add_workers(parser)
    add_keys(parser, game)
    return parser


def command(arguments: Sequence[str] | None, came: Sequence[int]) -> int:
    """Run the command; return its exit code.

    Args:
        arguments: of the command line; None for those of this process.
        came: the signals to stop that have come, also those that a library swallowed while it was
            imported.
    """
    try:
        given = parsed(make_parser(game_of(arguments)), arguments)
        source = given.pop("config")
        folder = given.pop("resume")
        if (source is None) == (folder is None):
            raise ConfigError("command line: either a CONFIG or --resume RUN is needed; --help lists everything")
        by = {name: given.pop(name) for name in ("workers", "ray")}
        run = new_run(source, given, **by) if folder is None else resumed_run(Path(folder), given, **by)
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        return failed(error, 2)
    return trained(run, came)


def trained(run: Any, came: Sequence[int], resume: str = RESUME) -> int:
    """Train a run that has been started or taken up, to its end or to a signal; return the exit code.

    Args:
        run: the run.
        came: see `command`.
        resume: the command that goes on with it, without the folder.
    """
    run.signal = came[0] if came else 0
    try:
        say(f"training in {run.folder}: from step {run.steps:,} to {run.config.total_steps:,}")
        for place in run.tracking.places:
            say(f"tracked by {place}")
        number = run.train()
        say(ended(run, number, resume))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped at once; nothing is lost up to the last checkpoint in {run.folder}") from None
    # The last two are of opponents.
    except (OSError, MemoryError, RuntimeError, PolicyError, MatchError, IllegalAction) as error:
        if isinstance(error, OutputError) or (isinstance(error, OSError) and error.errno in FULL):
            error.strerror = f"{error.strerror}; go on later with: {resume} {run.folder}"
        code = failed(error, 1)
        # The terminal has been closed: nobody could be told that all went well.
        return STOPPED + run.signal if run.signal and isinstance(error, OutputError) else code
    finally:
        # Where it failed before it began to train.
        run.close()
    return STOPPED + number if number else 0


def new_run(source: str, given: Mapping[str, str], workers: int = 1, ray: str | None = None) -> Any:
    """Start a run in a folder of its own.

    Args:
        source: the configuration file.
        given: values of the command line by dotted paths.
        workers: see `Run`.
        ray: see `Run`.
    """
    return begun(read_config(source, given), workers, ray)


def begun(config: Config, workers: int = 1, ray: str | None = None) -> Any:
    """Start a run of a configuration, see `new_run`."""
    _check_workers(config, workers, ray)
    folder = Path(config.run)
    if not folder.name or "\0" in config.run:
        raise ConfigError(f"run: must be the name of a new folder, got {config.run!r}")
    check_installed(config.tracking)
    if os.path.lexists(folder):
        raise ConfigError(
            f"run: {folder} already exists and will not be overwritten; "
            f"use --run {free_name(folder)}, {_or_else(folder)}"
        )
    # Late, for it imports torch, which takes seconds: mistakes are said before.
    from .run import Run

    run = Run(config, folder, workers, ray)
    run.start()
    return run


def _check_workers(config: Config, workers: int, ray: str | None) -> None:
    """Check that several processes can play the games of a run.

    Raises:
        ConfigError: they cannot.
    """
    if workers == 1 and ray is None:
        return
    given = "--workers" if ray is None else "--ray"
    if config.algorithm != "ppo":
        raise ConfigError(f"command line: {given} needs algorithm 'ppo', got {config.algorithm!r}")
    if ray is not None:
        check_ray()
    check_workers(config, workers)


def _or_else(folder: Path) -> str:
    """Return what to do about a folder that is there instead of choosing another."""
    if (folder / "config.yaml").is_file() and any((folder / "checkpoints").glob("*.pt")):
        return f"or --resume {folder}"
    if folder.is_dir() and {path.name for path in folder.iterdir()} <= BEGINNING:
        return "or delete it: it holds the beginning of a run that was killed before its first checkpoint"
    return "for it holds no run that could be resumed"


def resumed_run(folder: Path, given: Mapping[str, str], workers: int = 1, ray: str | None = None) -> Any:
    """Take up a run where its latest checkpoint was written.

    Args:
        folder: the run folder.
        given: values of the command line by dotted paths, which win over those of the folder.
        workers: see `Run`.
        ray: see `Run`.
    """
    source = folder / "config.yaml"
    if "run" in given:
        raise ConfigError("command line: --resume RUN goes on in the folder RUN, so --run means nothing with it")
    if not source.exists():
        raise ConfigError(f"{folder} is not a run folder: it has no config.yaml")
    config = read_resumed(source, given)
    run = taken_up(config, folder, workers, ray)
    if run.ended:
        run.close()
        more = "--evaluation.stop-at null --evaluation.patience null"
        if run.steps >= config.total_steps:
            more = "a larger --total-steps"
        raise ConfigError(f"{folder} is complete ({run.ended}): go on with {more}")
    if given:
        run.write_config()
    return run


def taken_up(config: Config, folder: Path, workers: int = 1, ray: str | None = None) -> Any:
    """Take up a run, which may be complete, by a configuration that has been read, see `resumed_run`."""
    check_installed(config.tracking)
    _check_workers(config, workers, ray)
    from .run import Run

    run = Run(config, folder, workers, ray)
    run.resume()
    return run


def ended(run: Any, number: int, resume: str = RESUME) -> str:
    """Say how a run has ended: by itself (0), or by the signal of this number."""
    if number:
        return f"interrupted: checkpoint saved at step {run.steps:,}; go on with: {resume} {run.folder}"
    policies = " and ".join(str(path) for path in sorted(run.folder.glob("*.safetensors")))
    return f"done ({run.ended}), {run.seconds:.0f} s of training in all; the policies are {policies}"
