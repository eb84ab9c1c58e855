"""The command ``sleuth serve``: games in a browser, of people and bots."""

from __future__ import annotations

import argparse
import errno
import ipaddress
import logging
import os
import socket
import sys
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..checks import one_line
from ..game import DEFAULT_GAME, GAMES, load_game
from ..matches.program import check_program, names_program
from .arguments import CommandError, whole
from .parser import Parser, add_greedy, command_parser, seats_help

if TYPE_CHECKING:
    from ..web.lobby import Lobby

DESCRIPTION = (
    "Let people play in their browsers, against bots and one another. Whoever opens the page makes a table and "
    "passes the links of the other seats on. Games are kept in a folder, from which a later start takes them up again."
)
HOST = "127.0.0.1"
PORT = 8000
KEPT = 2000
TABLES = 200
NEEDED = ("filelock", "starlette", "uvicorn", "websockets")
# Bytes of a message that is received; what is too long for the protocol of pages is refused by them in words.
MOST_MESSAGE = 65_536
# Seconds that connections have to end at the end.
GRACE = 2


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command."""
    examples = [
        "--open",
        "--port 8080 --folder games",
        "--allow-player best.safetensors --allow-player 'exec:./player'",
    ]
    parser = command_parser("serve", DESCRIPTION, examples)
    parser.add_argument("--host", default=HOST, help="address to listen at; 0.0.0.0 lets other machines in")
    parser.add_argument("--port", type=whole(0, 65535), default=PORT, help="0 lets the system choose")
    parser.add_argument("--folder", metavar="FOLDER", help=f"where games are kept (default: {default_folder()})")
    parser.add_argument(
        "--allow-player",
        action="append",
        default=[],
        metavar="NAME",
        help="a player whom people may choose besides the bots and policies of the package, once or several times; "
        f"{seats_help(load_game(DEFAULT_GAME))}",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="an origin by which browsers reach this server through another one, such as https://games.example",
    )
    parser.add_argument("--open", action="store_true", help="also open the page in a browser")
    parser.add_argument(
        "--tables", type=whole(1, 100_000), default=TABLES, metavar="N", help="games that are played at the same time"
    )
    parser.add_argument(
        "--keep",
        type=whole(1, 1_000_000),
        default=KEPT,
        metavar="N",
        help="games in the folder; older ones are deleted",
    )
    add_greedy(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Serve until somebody ends it."""
    _check_installed()
    origins = [_origin(text) for text in args.allow_origin]
    lobby = _lobby(args)
    listening = _listening(args.host, args.port)
    host, port = listening.getsockname()[:2]
    if not _is_loopback(host):
        sys.stderr.write(
            "sleuth: everybody who can reach this machine can use this server, and what is sent is not encrypted\n"
        )
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"
    unfinished = lobby.check()
    if unfinished:
        sys.stdout.write(f"Unfinished games: {unfinished}, kept in {lobby.folder.path}.\n")
    sys.stdout.write(f"Sleuth is at {address} (Ctrl-C ends it).\n")
    sys.stdout.flush()
    if args.open:
        webbrowser.open(address)
    _serve(lobby, listening, origins, [args.host, socket.gethostname()])
    return 0


def default_folder() -> Path:
    """Return the folder in which games are kept unless another one is named."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "sleuth-env" / "tables"


def _check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CommandError(f'sleuth serve needs {", ".join(missing)}, which comes with: pip install "sleuth-env[web]"')


def _origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise CommandError(f"--allow-origin must be like https://games.example, got {text[:100]!r}")
    return text


def _lobby(args: argparse.Namespace) -> Lobby:
    from ..web.lobby import Allowed, Limits, Lobby

    for name in args.allow_player:
        if any(name in load_game(game).BOTS for game in GAMES):
            raise CommandError(f"--allow-player {name}: everybody may choose bots anyway")
        if names_program(name):
            check_program(name)
    allowed = Allowed.named(args.allow_player, args.greedy, args.allow_pickle)
    try:
        # Looked for now: later it would be said to whoever makes a table.
        _ = allowed.playable
    except ValueError as error:
        raise CommandError(f"--allow-player: {error}") from error
    folder = default_folder() if args.folder is None else Path(args.folder)
    try:
        return Lobby(folder, allowed, Limits(tables=args.tables, kept=args.keep))
    except OSError as error:
        raise CommandError(f"--folder {folder}: games cannot be kept there: {error.strerror}") from error


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that is bound already: whoever is shown its address can use it."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) and error.errno else 0
        why = os.strerror(number) if number in errno.errorcode else str(error)
        raise CommandError(f"cannot listen at {one_line(host)}:{port}: {why}; --port chooses another") from error


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _serve(lobby: Lobby, listening: socket.socket, origins: Sequence[str], hosts: Sequence[str]) -> None:
    """Answer requests until a signal comes, which is then handled as anywhere else."""
    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    from ..web.connections import impatient, is_our_fault, most_connections
    from ..web.server import make_app

    app: Any = make_app(lobby, origins, hosts)
    config = uvicorn.Config(
        app,
        http=impatient(AutoHTTPProtocol, most_connections()),
        # Whoever connects could say that they are somebody else.
        proxy_headers=False,
        log_level="error",
        access_log=False,
        server_header=False,
        ws_max_size=MOST_MESSAGE,
        # A table is sent as it is: to compress it takes longer than to send it.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GRACE,
        lifespan="on",
    )
    logging.getLogger("uvicorn.error").addFilter(is_our_fault)
    uvicorn.Server(config).run([listening])
