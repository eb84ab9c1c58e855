"""The command ``sleuth play``: a game in the terminal."""

from __future__ import annotations

import argparse
import re
import secrets
from collections.abc import Sequence
from typing import Any

from ..checks import check_number
from ..game import DEFAULT_GAME, Game, Transcribed, load_game, needed
from ..matches.players import make_players, names_bot
from ..matches.program import close_programs
from ..policies.policy_file import PolicyError, located
from .arguments import (
    LISTED,
    CommandError,
    check_no_player,
    check_writable,
    file_name,
    joined,
    listed,
    named_options,
    perhaps_whole,
)
from .parser import Parser, add_game, add_greedy, add_options, add_seed, chosen_game, command_parser, seats_help
from .remark import REMARK, remark_of, written
from .replay import MOST_TEXT, game_of
from .screen import drawing_size, fitted
from .session import SAVED, Begun, QuitError, Session, line_reader
from .streams import WriteError, called, in_colour, read_text, show, warn_of_a_narrow_terminal, write_text

DESCRIPTION = (
    "Play a game in the terminal. Actions are typed in the notation; help, rules, sheet, odds and legal help, "
    "undo takes a decision back. Nothing hidden is shown before the end. What may lose the game must be "
    "confirmed by yes, from a pipe, too."
)
PLAYERS = 3
TAKEN_BACK = re.compile(r"^# decisions taken back:(.*)$", re.M)
WAITED = re.compile(r"^# steps that wait took:(.*)$", re.M)


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command; of the words only ``--game`` is read here."""
    game = chosen_game(words)
    opponents = f"{game.DEFAULT_BOT},{next(iter(game.BOTS))},policy.safetensors"
    examples = ["", "--continue game.txt", f"--players 4 --opponents {opponents} --seat 2 --seed 7 --save game.txt"]
    parser = command_parser("play", DESCRIPTION, examples)
    parser.add_argument(
        "--players", type=perhaps_whole, metavar="N", help=f"number of players, you among them (default: {PLAYERS})"
    )
    parser.add_argument(
        "--opponents",
        metavar="NAMES",
        help=f"{LISTED}, from your left on; one name fills all seats; "
        f"each {seats_help(game)} (default: {game.DEFAULT_BOT})",
    )
    parser.add_argument(
        "--seat", type=seat_word, metavar="K", help="your seat, from 0; or player_0, player_1, ... (default: 0)"
    )
    add_seed(parser, None, "settles deal and bots; drawn and shown if left out")
    add_game(parser, None, f" (default: {DEFAULT_GAME}, or the one that the game text names)")
    add_options(parser, game)
    add_greedy(parser)
    parser.add_argument(
        "--save",
        type=file_name,
        metavar="FILE",
        help="write the game text here at the end, however the game ends, replacing the file",
    )
    parser.add_argument(
        "--continue",
        dest="continued",
        type=file_name,
        metavar="FILE",
        help="go on with a saved game, which settles players and options; seat, seed and bots are those it was played "
        "with unless others are named",
    )
    parser.add_argument(
        "--no-confirm",
        action="store_true",
        help="take what may lose the game, such as an accusation without proof, without asking whether it is meant",
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Play the game."""
    if args.save == "-":
        raise CommandError("--save needs a file: stdout shows the game")
    if args.continued is not None:
        session = _continued(args)
    else:
        args.game = args.game or load_game(DEFAULT_GAME)
        players = PLAYERS if args.players is None else args.players
        options = named_options(args.game, args.options, num_players=players)
        session = _session(args, options, _opponents(args))
    warn_of_a_narrow_terminal(session.telling.COLUMNS)
    try:
        _show(f"Seed {session.seed}.")
        session.run()
        session.look_back()
    except QuitError:
        _show("You have left the game.")
    except EOFError:
        _show("\nThe input has ended; the game is not over.")
    finally:
        close_programs(session.table.bots)
        if args.save:
            write_text(args.save, _text_of(session))
            _show(SAVED.format(args.save))
    return 0


def _text_of(session: Session) -> str:
    try:
        return session.text
    except ValueError as error:
        raise WriteError(f"the game cannot be saved: {error}") from error


def seat_word(text: str) -> int | str:
    """Read a seat: its number, or its name; what is neither stays text, for whoever knows the seats to refuse.

    >>> seat_word("2"), seat_word("player_2"), seat_word("x")
    (2, 2, 'x')
    """
    return perhaps_whole(text.removeprefix("player_"))


def _opponents(args: argparse.Namespace) -> str:
    """Return the names of the opponents as they are given, or the bot that plays where none are."""
    given: str = args.game.DEFAULT_BOT if args.opponents is None else args.opponents
    return given


def _session(args: argparse.Namespace, options: Any, opponents: str, begun: Begun | None = None) -> Session:
    """Make the session of a new game, or of one that is gone on with, see `Session`."""
    seat = 0 if args.seat is None else args.seat
    check_number("--seat", seat, 0, options.num_players - 1, CommandError)
    # More than a program among the opponents could try to find out how the cards lie.
    seed = secrets.randbits(64) if args.seed is None else args.seed
    names = _opponent_names(options, opponents)
    check_writable(args.save)
    check_no_player(args.save, args.game, names)
    bots = make_players(args.game, options, names, args.greedy, args.allow_pickle)
    reader = line_reader()
    return Session(
        args.game,
        options,
        bots,
        seat,
        seed,
        reader,
        _show,
        in_colour(),
        begun=begun,
        confirm=not args.no_confirm,
        remark=written(names, args.greedy),
    )


def _continued(args: argparse.Namespace) -> Session:
    """Make the session of a saved game."""
    if args.players is not None or args.options:
        raise CommandError("--continue takes no --players and no --options: the game text settles them")
    text = read_text(args.continued, MOST_TEXT)
    args.game = game_of(text, called(args.continued), args.game)
    try:
        record = needed(args.game, Transcribed).parse_game(text)
    except ValueError as error:
        raise CommandError(f"{called(args.continued)}: {error}") from error
    if record.last_state["actor"] < 0:
        raise CommandError(f"{called(args.continued)}: the game is over; sleuth replay tells it")
    line = REMARK.search(text)
    remark = remark_of(line[1], record.options.num_players) if line else None
    if line and not remark and None in (args.opponents, args.seat, args.seed):
        raise CommandError(
            f"{called(args.continued)}: this line does not say how the game was played: {line[0][:100]!r}; "
            "name --opponents, --seat and --seed"
        )
    opponents = _opponents(args)
    if remark:
        if args.opponents is None:
            _check_harmless(args.game, remark.opponents)
            opponents = joined(remark.opponents)
        # Of other opponents the text says nothing; a file of the same name may lie elsewhere now.
        same = _file_names(_opponent_names(record.options, opponents)) == _file_names(remark.opponents)
        args.greedy = args.greedy or (same and remark.greedy)
        args.seat = remark.seat if args.seat is None else args.seat
        args.seed = remark.seed if args.seed is None else args.seed
    name = called(args.continued)
    begun = Begun(record, _taken_back(text, name), _waited(text, record, name))
    return _session(args, record.options, opponents, begun)


def _taken_back(text: str, name: str) -> int:
    """Return how many decisions a text says have been taken back."""
    found = TAKEN_BACK.search(text)
    if not found:
        return 0
    if not re.fullmatch(r" \d{1,9}", found[1], re.ASCII):
        raise CommandError(f"{name}: this line does not name a number from 0 to 999999999: {found[0][:100]!r}")
    return int(found[1])


def _waited(text: str, record: Any, name: str) -> frozenset[int]:
    """Return which actions a text says that `wait` has taken, by their numbers from 0."""
    found = WAITED.search(text)
    words = found[1].split() if found else []
    steps = [int(word) if word.isdecimal() and len(word) <= len(str(len(record.actions))) else 0 for word in words]
    if found and not all(0 < step <= len(record.actions) for step in steps):
        raise CommandError(f"{name}: this line does not name steps from 1 to {len(record.actions)}: {found[0][:100]!r}")
    return frozenset(step - 1 for step in steps)


def _file_names(names: Sequence[str]) -> list[str]:
    return [re.split(r"[/\\]", name)[-1] for name in names]


def _check_harmless(game: Game, names: Sequence[str]) -> None:
    """Check that the opponents that a text names are not files: none is opened because a text says so."""
    foreign = [name for name in names if not names_bot(name, game) and not _is_bundled(name, game.NAME)]
    if foreign:
        raise CommandError(f"the game was played against {foreign[0][:40]!r}: name the opponents by --opponents")


def _is_bundled(name: str, game: str) -> bool:
    """Return whether a name is that of a policy which comes with the package, or its short form."""
    try:
        return located(name, game) != name
    except PolicyError:
        return False


def _show(text: str) -> None:
    show([fitted(text.rstrip("\n"), drawing_size()[0])])


def _opponent_names(options: Any, given: str) -> list[str]:
    names = listed(given, "--opponents")
    wanted = options.num_players - 1
    names = names * wanted if len(names) == 1 else names
    if len(names) != wanted:
        raise CommandError(
            f"a game of {options.num_players} players needs {wanted} opponents, "
            f"or one name for all of them, got {len(names)}"
        )
    return names
