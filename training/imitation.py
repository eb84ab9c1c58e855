"""Warm start: a policy learns to decide like a teacher, a bot or a policy file, or better.

`training.lessons` collects what the teacher says of places in games. `train` minimises the
cross-entropy of the teacher's actions over the legal ones; where the teacher has said what actions
are worth, it maximises the mean worth of what the policy does, as a policy gradient would that
knew the return of every action. `examine` tells on games that were held out how often policy and
teacher agree, or what the policy's actions are worth. The policy is saved for `training.train` to
start from.
Axis letters: ``D`` decisions, ``K`` some of them, ``A`` actions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sleuth_env.actions import IllegalAction
from sleuth_env.cli.arguments import real, whole
from sleuth_env.game import Game
from sleuth_env.matches.players import make_player
from sleuth_env.matches.program import ProgramPlayer, close_programs
from sleuth_env.matches.seating import MatchError, weighs
from sleuth_env.matches.shards import Pool, open_pool
from sleuth_env.policies.policy import Policy, save_policy
from sleuth_env.policies.policy_file import SUFFIX, PolicyError
from sleuth_env.policies.trained import names_model

from .checkpoint import package_versions
from .config import Config, ConfigError, read_config
from .decisions import entropies, log_probs_of, masked_log_probs
from .lessons import KINDS, Lessons, Teaching, collect, weights_of
from .network import check_same, device_of, make_network
from .streams import generator_for, number_of
from .terminal import (
    CONFIG_HELP,
    Parser,
    Screen,
    add_keys,
    add_workers,
    check_workers,
    failed,
    free_name,
    game_of,
    parsed,
    say,
)
from .values import NO_MODEL

DESCRIPTION = """\
Let the policy of a configuration learn to decide like a teacher, and save it to start training:

  sleuth imitate four_players --teacher racer --out runs/racer4.safetensors
  sleuth train four_players --start runs/racer4.safetensors

Or to do what is worth most to a teacher that can say so, as the bot planner of holmes can:

  sleuth imitate holmes_three --teacher planner --worths 3 --player counter --out runs/worths3.safetensors

Of the configuration, these keys count: which game, observation and network it is, and seed,
threads, device, num_envs (games side by side) and shards. Exit codes: 0 done; 1 failed (disk or memory
full); 2 the configuration or an option is wrong (one line a mistake); 130 interrupted by Ctrl-C and
143 by SIGTERM, and then nothing has been written."""

Ints = NDArray[np.int64]

MOST_DEALS = 1024
MOST_DECISIONS = 10_000_000
ROWS_EXAMINED = 4096  # at once
ENTROPY = 0.05
# By this much the logits are multiplied in the end: what the entropy's weight has left of chance in the
# policy served to learn, and costs wins.
SHARPNESS = 4.0
# What needs much memory.
MEMORY = "--decisions, --batch-size, num_envs or network.hidden"


@dataclass(frozen=True)
class Settings:
    """How to learn.

    Args:
        epochs: passes over the decisions.
        batch_size: decisions in a minibatch.
        learning_rate: Adam's step size at first; it falls linearly to 0.
        declined: the share of declined offers that is among the decisions.
        entropy: what a nat of the policy's entropy is worth at first where worths are learned, so
            that among actions of nearly equal worth none is preferred for the noise of a few deals;
            it falls linearly to 0.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    declined: float
    entropy: float = ENTROPY


@dataclass(frozen=True)
class Marks:
    """What an examination has shown of one kind of decisions.

    Args:
        kind: of which.
        number: how many there are.
        figures: by the names of the columns, see `AGREEMENT` and `WORTHS`.
    """

    kind: str
    number: int
    figures: dict[str, float]


# The columns of an examination, and what they are: of lessons that say what the teacher does, and
# of those that say what actions are worth.
AGREEMENT = {
    "agreement": "how often the policy's likeliest action is the teacher's.",
    "teacher": "how often the teacher does the same again with other random bits.",
    "cross-entropy": "of the teacher's actions, in nats.",
}
WORTHS = {
    "policy": "what the policy's likeliest action is worth on average.",
    "player": "what the action of who played is worth.",
    "any": "what any legal action is worth.",
}


# --- learning ---


def train(
    network: Any, lessons: Lessons, settings: Settings, rng: np.random.Generator, show: Callable[[int, float], None]
) -> None:
    """Learn from the lessons that are not held out.

    Args:
        network: policy and value; see `training.network.make_network`.
        lessons: what a teacher decided.
        settings: how to learn.
        rng: draws the minibatches.
        show: is told the number of minibatches that are done, and the latest loss.
    """
    rows = np.flatnonzero(~lessons.held_out)
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)
    num_batches = ceil(len(rows) / settings.batch_size)
    number = 0
    for _ in range(settings.epochs):
        for batch in np.array_split(rng.permutation(rows), num_batches):
            left = 1 - number / (settings.epochs * num_batches)
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * left
            loss = _loss(network, lessons, batch, settings.declined, settings.entropy * left)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            show(number, float(loss.detach()))


def _loss(network: Any, lessons: Lessons, rows: Ints, declined: float, entropy: float) -> torch.Tensor:
    """Return the loss of some decisions (i8 [K]); ``entropy`` is what a nat of the policy's is worth."""
    log_probs = _judged(network, lessons, rows)
    weights = torch.from_numpy(weights_of(lessons.kinds[rows], declined)).to(log_probs.device)
    if lessons.weigh:
        worths = torch.from_numpy(lessons.worths[rows]).to(log_probs.device)
        goal = (torch.softmax(log_probs, dim=-1) * worths).sum(dim=-1) + entropy * entropies(log_probs)
    else:
        goal = log_probs_of(torch.from_numpy(lessons.actions[rows]).to(log_probs.device), log_probs)
    return -(weights * goal).sum() / weights.sum()


def _judged(network: Any, lessons: Lessons, rows: Ints) -> torch.Tensor:
    """Return the log-probabilities of all actions in some decisions (i8 [K]), f4 [K, A]."""
    logits, _ = network(lessons.observations.take(rows))
    mask = torch.from_numpy(lessons.masks(rows, logits.shape[1])).to(logits.device)
    return masked_log_probs(logits, mask.float())


def examine(network: Any, lessons: Lessons, declined: float) -> list[Marks]:
    """Compare policy and teacher on the games that were held out.

    Returns:
        The marks of each kind of decisions, and of all as often as they come in games.
    """
    rows = np.flatnonzero(lessons.held_out)
    parts = []
    with torch.inference_mode():
        for at in range(0, len(rows), ROWS_EXAMINED):
            some = rows[at : at + ROWS_EXAMINED]
            log_probs = _judged(network, lessons, some).cpu()
            parts.append(_worth(lessons, some, log_probs) if lessons.weigh else _agreement(lessons, some, log_probs))
    figures = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    kinds = lessons.kinds[rows]
    weights = weights_of(kinds, declined)
    groups = {name: kinds == kind for kind, name in enumerate(KINDS)} | {"all": np.ones(len(rows), np.bool_)}
    return [
        Marks(
            name,
            int(group.sum()),
            {column: float(np.average(figure[group], weights=weights[group])) for column, figure in figures.items()},
        )
        for name, group in groups.items()
        if group.any()
    ]


def _agreement(lessons: Lessons, rows: Ints, log_probs: torch.Tensor) -> dict[str, NDArray[Any]]:
    """Return the columns `AGREEMENT` of some decisions, [K] each."""
    actions = lessons.actions[rows]
    likeliest = log_probs.argmax(dim=1).numpy()
    entropy = -log_probs_of(torch.from_numpy(actions), log_probs).numpy()
    return dict(zip(AGREEMENT, (likeliest == actions, lessons.again[rows] == actions, entropy), strict=True))


def _worth(lessons: Lessons, rows: Ints, log_probs: torch.Tensor) -> dict[str, NDArray[Any]]:
    """Return the columns `WORTHS` of some decisions, [K] each."""
    worths = lessons.worths[rows]
    which = np.arange(len(rows))
    likeliest = worths[which, log_probs.argmax(dim=1).numpy()]
    any_ = worths.sum(axis=1) / lessons.masks(rows, worths.shape[1]).sum(axis=1)
    return dict(zip(WORTHS, (likeliest, worths[which, lessons.actions[rows]], any_), strict=True))


def lines(marks: Sequence[Marks]) -> list[str]:
    """Return an examination as lines of text."""
    notes = AGREEMENT if marks[0].figures.keys() == AGREEMENT.keys() else WORTHS
    widths = {name: max(len(name) + 2, 9) for name in notes}
    head = f"{'held out':<16}{'decisions':>10}" + "".join(f"{name:>{width}}" for name, width in widths.items())
    rows = [
        f"{mark.kind:<16}{mark.number:>10,}"
        + "".join(f"{_shown(name, mark.figures[name]):>{width}}" for name, width in widths.items())
        for mark in marks
    ]
    return [
        head,
        *rows,
        *(f"{name}: {text}" for name, text in notes.items()),
        "all: as often as each kind comes in games.",
    ]


def _shown(column: str, figure: float) -> str:
    """Return a figure of an examination as text."""
    return f"{figure:.1%}" if column in ("agreement", "teacher") else f"{figure:.4f}"


# --- the command line ---


def make_parser(game: Game) -> Parser:
    """Make a parser with the options of imitation and one for each key of the schema."""
    parser = Parser("sleuth imitate", DESCRIPTION, "%(prog)s [-h] CONFIG --teacher BOT --out FILE [--OPTION VALUE ...]")
    parser.add_argument("config", metavar="CONFIG", help=CONFIG_HELP)
    parser.add_argument(
        "--teacher", required=True, metavar="BOT", help=f"the name of a bot, or a policy file (*{SUFFIX})"
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help=f"the policy file to write (*{SUFFIX}), which must not exist yet",
    )
    parser.add_argument(
        "--player", metavar="BOT", help="who plays the games: the name of a bot, or a policy file [the teacher]"
    )
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="POLICY",
        help=f"a policy file (*{SUFFIX}) or the name of a policy that comes with the package, which learns further "
        "[a new policy]",
    )
    numbers = {
        "--decisions": (
            whole(1000, MOST_DECISIONS),
            500_000,
            "decisions to learn from and to be examined on; about 2 kB of memory each",
        ),
        "--epochs": (whole(1, 1000), 8, "passes over them"),
        "--batch-size": (whole(1, 2**20), 512, "decisions in a minibatch"),
        "--learning-rate": (real(1e-9, 1), 1e-3, "Adam's step size at first; it falls linearly to 0"),
        "--worths": (
            whole(0, MOST_DEALS),
            0,
            "deals in which the teacher tries each legal action, so that the policy learns what is worth most; 0: it "
            "learns what the teacher does",
        ),
        "--entropy": (
            real(0, 10),
            ENTROPY,
            "with --worths: what a nat of the policy's entropy is worth at first; it falls linearly to 0",
        ),
        "--strays": (real(0, 1), 0.0, "share of decisions at which any legal action is played"),
        "--declined": (
            real(0.001, 1),
            0.05,
            "share of the declined offers that is kept; each weighs as much as those left out with it",
        ),
        "--held-out": (
            real(0.001, 0.999),
            0.1,
            "share of the games that is not learned from but shows how often policy and teacher agree",
        ),
    }
    for name, (kind, default, text) in numbers.items():
        parser.add_argument(name, type=kind, default=default, metavar="VALUE", help=f"{text} [%(default)s]")
    add_workers(parser)
    add_keys(parser, game)
    return parser


def checked_out(text: str) -> Path:
    """Return the path of the file to write, after checking before the work that it can be written.

    Raises:
        ConfigError: it cannot.
    """
    out = Path(text)
    if out.suffix != SUFFIX or "\0" in text:
        raise ConfigError(
            f"command line: --out must be the name of a policy file, which ends in {SUFFIX}, got {text!r}"
        )
    if os.path.lexists(out):
        raise ConfigError(f"command line: --out {out} already exists and will not be overwritten")
    place = next(folder for folder in out.absolute().parents if folder.exists())
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise ConfigError(f"command line: --out {out} cannot be written: {place} is not a writable folder")
    return out


OWN_KEYS = (
    *("config", "teacher", "player", "begin", "out", "worths", "entropy", "strays", "declined", "held_out"),
    *("decisions", "epochs", "batch_size", "learning_rate", "workers", "ray"),
)


def command(arguments: Sequence[str] | None, came: Sequence[int]) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: of the command line; None: those of the process.
        came: the signals to stop, also those that a library has swallowed while it was imported.
    """
    try:
        given = parsed(make_parser(game_of(arguments)), arguments)
        own = {key: given.pop(key) for key in OWN_KEYS}
        config = read_config(own["config"], given)
        check_workers(config, own["workers"])
        out = checked_out(own["out"])
        teaching = _teaching(config, own)
        begin = None if own["begin"] is None else _policy(config, own["begin"])
    except (ValueError, OSError) as error:
        return failed(error, 2)
    if came:
        raise KeyboardInterrupt
    try:
        _imitate(config, teaching, begin, own, out)
    except ConfigError as error:
        return failed(error, 2)
    except (OSError, MemoryError, RuntimeError, PolicyError, MatchError, IllegalAction) as error:
        return failed(error, 1, MEMORY)
    return 0


def _teaching(config: Config, own: dict[str, Any]) -> Teaching:
    """Return who plays and who teaches what.

    Raises:
        ConfigError: one of them cannot.
        ValueError: there is no such player.
    """
    teacher = _made(config, "--teacher", own["teacher"])
    player = teacher if own["player"] is None else _made(config, "--player", own["player"])
    if own["worths"] and not weighs(teacher):
        able = [name for name, bot in config.module.BOTS.items() if weighs(bot)]
        raise ConfigError(
            "command line: --worths needs a teacher that says what actions are worth to it, of the bots of "
            f"{config.module.NAME} {' and '.join(able) or 'none'}, got {own['teacher']!r}"
        )
    return Teaching(teacher, player, own["worths"], own["declined"], own["held_out"], own["strays"])


def _made(config: Config, option: str, name: str) -> Any:
    """Return a player.

    Raises:
        ConfigError: it cannot play here.
        ValueError: there is none of this name.
    """
    if names_model(name):
        raise ConfigError(f"command line: {option} {NO_MODEL}, got {name!r}")
    player = make_player(name, config.options, config.module)
    if isinstance(player, ProgramPlayer):
        player.try_out()
    return player


def _policy(config: Config, name: str) -> Policy:
    """Return the policy that is to learn further.

    Raises:
        ConfigError: this is the name of another player.
        ValueError: there is none of this name, or it cannot play here.
    """
    player = _made(config, "--from", name)
    if not isinstance(player, Policy):
        raise ConfigError(f"command line: --from must be a policy, got {name!r}")
    return player


def _opened(workers: int, ray: str | None) -> AbstractContextManager[Pool | None]:
    """Return who plays the shards; None where this process does."""
    return nullcontext() if workers == 1 and ray is None else open_pool(workers, ray)


def _imitate(config: Config, teaching: Teaching, begin: Policy | None, own: dict[str, Any], out: Path) -> None:
    """Collect, learn, examine, save."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(number_of(config.seed, "imitation", "network"))
    settings = Settings(own["epochs"], own["batch_size"], own["learning_rate"], own["declined"], own["entropy"])
    network = make_network(config)
    if begin is not None:
        check_same(begin, network.policy(config, 0), "command line: --from")
        network.load(begin)
    network = network.to(device_of(config))
    say(f"{teaching.player.name} plays {own['decisions']:,} decisions")
    screen = Screen(own["decisions"], unit="decisions")

    def show_decisions(number: int) -> None:
        screen.show(number, "")

    def show_loss(number: int, loss: float) -> None:
        screen.show(number, f"loss {loss:.4f}")

    try:
        with _opened(own["workers"], own["ray"]) as pool:
            lessons = collect(config, teaching, own["decisions"], show_decisions, pool)
    finally:
        screen.close()
        close_programs([teaching.player, teaching.teacher])
    learned = int((~lessons.held_out).sum())
    if learned in (0, len(lessons)):
        raise ConfigError(
            f"command line: --held-out {own['held_out']} leaves no decisions to learn from "
            "or none to be examined on; use more --decisions"
        )
    screen = Screen(settings.epochs * ceil(learned / settings.batch_size), unit="minibatches")
    try:
        train(network, lessons, settings, generator_for(config.seed, "imitation", "minibatches"), show_loss)
    finally:
        screen.close()
    if lessons.weigh:
        network.sharpen(SHARPNESS)
    # Before it is written: whoever interrupts this is told that nothing has been.
    examined = lines(examine(network, lessons, settings.declined))
    out.parent.mkdir(parents=True, exist_ok=True)
    out = free_name(out, SUFFIX)  # one may have come there while the work was done
    save_policy(network.policy(config, learned), out, package_versions())
    say("\n".join(examined))
    say(f"done; the policy is {out}")
