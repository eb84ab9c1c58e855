"""Warm start: a policy learns to decide like a teacher, a bot or a policy file.

`collect` lets the teacher play from every seat. Four decisions in five may be offers that are
declined. Only a share of those is kept, and each of them then weighs as much as those left out with
it, so that how often the teacher accepts is learned as it is. A game belongs to the learner or is
held out, with all of its decisions. A decision of Sleuth takes about 2 kB with four players (200
numbers that are not zero, the legal actions in bits), and twice that while the parts are joined.

`train` minimises the cross-entropy of the teacher's actions over the legal ones; `examine` tells on
games that were held out how often both agree. The policy is saved for `training.train` to start
from.
Axis letters: ``B`` games, ``D`` decisions, ``K`` some of them, ``A`` actions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sleuth_env.cli.arguments import real, whole
from sleuth_env.envs.binding import bound
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.game import Bot, Game, opaque
from sleuth_env.matches.players import make_player
from sleuth_env.matches.seating import MatchError, remembers
from sleuth_env.matches.shards import Pool, open_pool
from sleuth_env.policies.policy import save_policy
from sleuth_env.policies.policy_file import SUFFIX, PolicyError
from sleuth_env.policies.trained import names_model

from .checkpoint import package_versions
from .config import Config, ConfigError, read_config
from .decisions import first_offered, log_probs_of, masked_log_probs
from .network import device_of, make_network
from .sparse import SparseRows, observed
from .streams import generator_for, generators_for, number_of
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

Of the configuration, these keys count: which game, observation and network it is, and seed,
threads, device, num_envs (games side by side) and shards. Exit codes: 0 done; 1 failed (disk or memory
full); 2 the configuration or an option is wrong (one line a mistake); 130 interrupted by Ctrl-C and
143 by SIGTERM, and then nothing has been written."""

Ints = NDArray[np.int64]

# The kinds of decisions; a game without offers has only turns.
KINDS = ("turns", "offers accepted", "offers declined")
TURN, ACCEPTED, DECLINED = range(len(KINDS))
MOST_DECISIONS = 10_000_000
ROWS_EXAMINED = 4096  # at once
# What needs much of it.
MEMORY = "--decisions, --batch-size, num_envs or network.hidden"


@dataclass(frozen=True)
class Settings:
    """How to learn.

    Args:
        epochs: passes over the decisions.
        batch_size: decisions in a minibatch.
        learning_rate: Adam's step size at first; it falls linearly to 0.
        declined: the share of declined offers that is among the decisions.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    declined: float


@dataclass(frozen=True)
class Marks:
    """What an examination has shown of one kind of decisions.

    Args:
        kind: of which.
        number: how many there are.
        agreement: the share in which the policy's likeliest action is the teacher's.
        teacher: the share in which the teacher, asked again with other random bits, does the same.
        cross_entropy: of the teacher's actions, in nats.
    """

    kind: str
    number: int
    agreement: float
    teacher: float
    cross_entropy: float


# --- what a teacher decides ---


@dataclass(frozen=True)
class Lessons:
    """Decisions of a teacher.

    Args:
        observations: what was seen, D rows.
        legal: the legal actions in bits, u1 [D, A / 8].
        actions: what the teacher did, i8 [D].
        again: what it does in the same place with other random bits, i8 [D].
        kinds: i8 [D], see `KINDS`.
        held_out: whether it is of a game that is kept for the examination, bool [D].
    """

    observations: SparseRows
    legal: NDArray[np.uint8]
    actions: Ints
    again: Ints
    kinds: Ints
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of decisions, D."""
        return len(self.actions)

    def masks(self, rows: Ints, num_actions: int) -> NDArray[np.uint8]:
        """Return the legal actions of some of them (i8 [K]), u1 [K, A]."""
        return np.unpackbits(self.legal[rows], axis=1, count=num_actions)

    @classmethod
    def joined(cls, parts: Sequence[Lessons]) -> Lessons:
        """Put decisions behind one another."""
        names = ("legal", "actions", "again", "kinds", "held_out")
        return cls(
            SparseRows.joined([part.observations for part in parts]),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
        )


def collect(
    config: Config,
    teacher: Bot,
    number: int,
    declined: float,
    held_out: float,
    show: Callable[[int], None],
    pool: Pool | None = None,
) -> Lessons:
    """Let a teacher play until enough decisions are kept.

    Args:
        config: which game, observation, seed, how many games side by side, and in how many shards.
        teacher: sits in every seat.
        number: D.
        declined: the share of declined offers that is kept.
        held_out: the share of games that is held out.
        show: is told how many there are.
        pool: who plays the shards; None: this process.
    """
    play = partial(_collected, config, teacher, ceil(number / config.shards), declined, held_out)
    size = 0

    def done(_: int, part: Lessons) -> None:
        nonlocal size
        size += len(part)
        show(size)

    if pool is not None:
        parts = pool.map(play, range(config.shards), done)
    else:
        parts = []
        for shard in range(config.shards):
            parts.append(play(shard, lambda more: show(size + more)))
            done(shard, parts[-1])
    return parts[0] if len(parts) == 1 else Lessons.joined(parts)


def _collected(
    config: Config,
    teacher: Bot,
    number: int,
    declined: float,
    held_out: float,
    shard: int,
    show: Callable[[int], object] = lambda _: None,
) -> Lessons:
    """Return a number of decisions of one shard, see `collect`."""
    parts: list[Lessons] = []
    size = 0
    for part in _played(config, teacher, declined, held_out, shard):
        parts.append(part)
        size += len(part)
        show(size)
        if size >= number:
            break
    return Lessons.joined(parts)


def _streams(config: Config, purpose: str) -> list[np.random.Generator]:
    """Return the generator of each shard."""
    if config.shards == 1:
        return [generator_for(config.seed, "imitation", purpose)]
    return generators_for(config.seed, "imitation", purpose, config.shards)


def _played(config: Config, teacher: Bot, declined: float, held_out: float, shard: int) -> Iterator[Lessons]:
    """Play the games of a shard forever; yield what is kept of each step."""
    game = config.module
    # The cheapest observation: what is kept gets its own, which may cost many times as much.
    envs = bound(GameVectorEnv, game)(
        config.num_envs // config.shards, record=game.CHEAPEST_RECORD, copy=False, **asdict(config.options)
    )
    # Two generators: from the bits that bots are handed nothing else can be told.
    rng, bot_rng = (_streams(config, purpose)[shard] for purpose in ("games", "bots"))
    envs.reset(seed=rng.integers(2**63, size=envs.num_envs).tolist())
    offered = first_offered(config)
    declining = declining_actions(config)
    held = rng.random(envs.num_envs) < held_out
    while True:
        views = envs.views()
        legal = envs.action_masks()
        actions = teacher.act(views, legal, bot_rng.integers(0, 2**64, len(views), np.uint64))
        kinds = kinds_of(legal, actions, offered, declining)
        kept = np.flatnonzero((kinds != DECLINED) | (rng.random(len(views)) < declined))
        asked = kept[held[kept]]
        again = actions.copy()
        if len(asked):
            bits = bot_rng.integers(0, 2**64, len(asked), np.uint64)
            again[asked] = teacher.act(opaque(views)[asked].view(game.VIEW), legal[asked], bits)
        yield Lessons(
            observed(config, opaque(views)[kept].view(game.VIEW)),
            np.packbits(legal[kept], axis=1),
            actions[kept],
            again[kept],
            kinds[kept],
            held[kept],
        )
        _, _, terminated, truncated, _ = envs.step(actions)
        over = np.flatnonzero(terminated | truncated)
        held[over] = rng.random(len(over)) < held_out


def declining_actions(config: Config) -> NDArray[np.bool_]:
    """Return which actions decline an offer, bool [A]."""
    declining = np.zeros(config.module.num_actions(config.options), np.bool_)
    if config.module.DECLINE:
        declining[config.module.action_blocks(config.options)[config.module.DECLINE]] = True
    return declining


def kinds_of(legal: NDArray[np.uint8], actions: Ints, offered: int, declining: NDArray[np.bool_]) -> Ints:
    """Return the kind of each decision, i8 [B].

    An offer is a decision at which only answers to offers are legal, among them to decline it. A
    turn may allow what declines an offer, too, and may require what accepts one.

    Args:
        legal: u1 [B, A].
        actions: what was done, i8 [B].
        offered: see `first_offered`.
        declining: see `declining_actions`.
    """
    offers = legal[:, declining].any(axis=1) & ~legal[:, :offered].any(axis=1)
    return np.where(offers, np.where(declining[actions], DECLINED, ACCEPTED), TURN)


# --- learning ---


def weights_of(kinds: Ints, declined: float) -> NDArray[np.float32]:
    """Return the weight of each decision (f4 [D]).

    A declined offer stands for those that were left out, too.
    """
    return np.where(kinds == DECLINED, 1 / declined, 1).astype(np.float32)


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
    device = next(network.parameters()).device
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)
    num_batches = ceil(len(rows) / settings.batch_size)
    number = 0
    for _ in range(settings.epochs):
        for batch in np.array_split(rng.permutation(rows), num_batches):
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * (1 - number / (settings.epochs * num_batches))
            weights = torch.from_numpy(weights_of(lessons.kinds[batch], settings.declined)).to(device)
            log_probs, _ = _judged(network, lessons, batch)
            loss = -(weights * log_probs).sum() / weights.sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            show(number, float(loss.detach()))


def _judged(network: Any, lessons: Lessons, rows: Ints) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the log-probability of the teacher's action (f4 [K]), and the likeliest (i8 [K])."""
    logits, _ = network(lessons.observations.take(rows))
    mask = torch.from_numpy(lessons.masks(rows, logits.shape[1])).to(logits.device)
    actions = torch.from_numpy(lessons.actions[rows]).to(logits.device)
    log_probs = masked_log_probs(logits, mask.float())
    return log_probs_of(actions, log_probs), log_probs.argmax(dim=1)


def examine(network: Any, lessons: Lessons, declined: float) -> list[Marks]:
    """Compare policy and teacher on the games that were held out.

    Returns:
        The marks of each kind of decisions, and of all as often as they come in games.
    """
    rows = np.flatnonzero(lessons.held_out)
    log_probs = []
    likeliest = []
    with torch.inference_mode():
        for at in range(0, len(rows), ROWS_EXAMINED):
            found = _judged(network, lessons, rows[at : at + ROWS_EXAMINED])
            log_probs.append(found[0].cpu().numpy())
            likeliest.append(found[1].cpu().numpy())
    actions = lessons.actions[rows]
    kinds = lessons.kinds[rows]
    agree = np.concatenate(likeliest) == actions
    facts = (agree, lessons.again[rows] == actions, -np.concatenate(log_probs))
    weights = weights_of(kinds, declined)
    groups = {name: kinds == kind for kind, name in enumerate(KINDS)} | {"all": np.ones(len(rows), np.bool_)}
    return [
        Marks(name, int(group.sum()), *(float(np.average(fact[group], weights=weights[group])) for fact in facts))
        for name, group in groups.items()
        if group.any()
    ]


def lines(marks: Sequence[Marks]) -> list[str]:
    """Return an examination as lines of text."""
    head = f"{'held out':<16}{'decisions':>10}{'agreement':>11}{'teacher':>9}{'cross-entropy':>15}"
    rows = [
        f"{mark.kind:<16}{mark.number:>10,}{mark.agreement:>11.1%}{mark.teacher:>9.1%}{mark.cross_entropy:>15.4f}"
        for mark in marks
    ]
    notes = [
        "agreement: how often the policy's likeliest action is the teacher's.",
        "teacher: how often the teacher does the same again with other random bits.",
        "all: as often as each kind comes in games.",
    ]
    return [head, *rows, *notes]


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
    numbers = {
        "--decisions": (
            whole(1000, MOST_DECISIONS),
            500_000,
            "decisions to learn from and to be examined on; about 2 kB of memory each",
        ),
        "--epochs": (whole(1, 1000), 8, "passes over them"),
        "--batch-size": (whole(1, 2**20), 512, "decisions in a minibatch"),
        "--learning-rate": (real(1e-9, 1), 1e-3, "Adam's step size at first; it falls linearly to 0"),
        "--declined": (
            real(0.001, 1),
            0.05,
            "share of the teacher's declined offers that is kept; each weighs as much as those left out with it",
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
    *("config", "teacher", "out", "decisions", "epochs", "batch_size", "learning_rate", "declined", "held_out"),
    *("workers", "ray"),
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
        if names_model(own["teacher"]):
            raise ConfigError(f"command line: --teacher {NO_MODEL}, got {own['teacher']!r}")
        teacher = make_player(own["teacher"], config.options, config.module)
        if remembers(teacher):
            raise ConfigError(
                f"command line: --teacher {own['teacher']} remembers games, and a teacher is not told which game it is"
            )
    except (ValueError, OSError) as error:
        return failed(error, 2)
    if came:
        raise KeyboardInterrupt
    try:
        _imitate(config, teacher, own, out)
    except ConfigError as error:
        return failed(error, 2)
    except (OSError, MemoryError, RuntimeError, PolicyError, MatchError) as error:
        return failed(error, 1, MEMORY)
    return 0


def _opened(workers: int, ray: str | None) -> AbstractContextManager[Pool | None]:
    """Return who plays the shards; None where this process does."""
    return nullcontext() if workers == 1 and ray is None else open_pool(workers, ray)


def _imitate(config: Config, teacher: Any, own: dict[str, Any], out: Path) -> None:
    """Collect, learn, examine, save."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(number_of(config.seed, "imitation", "network"))
    settings = Settings(own["epochs"], own["batch_size"], own["learning_rate"], own["declined"])
    network = make_network(config).to(device_of(config))
    say(f"{teacher.name} plays {own['decisions']:,} decisions")
    screen = Screen(own["decisions"], unit="decisions")

    def show_decisions(number: int) -> None:
        screen.show(number, "")

    def show_loss(number: int, loss: float) -> None:
        screen.show(number, f"loss {loss:.4f}")

    try:
        with _opened(own["workers"], own["ray"]) as pool:
            how = own["decisions"], own["declined"], own["held_out"]
            lessons = collect(config, teacher, *how, show_decisions, pool)
    finally:
        screen.close()
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
    out.parent.mkdir(parents=True, exist_ok=True)
    out = free_name(out, SUFFIX)  # one may have come there while the work was done
    save_policy(network.policy(config, learned), out, package_versions())
    say("\n".join(lines(examine(network, lessons, settings.declined))))
    say(f"done; the policy is {out}")
