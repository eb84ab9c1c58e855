"""The server of ``sleuth serve``: pages on which tables are made and games are played.

The addresses are those of the table below `make_app`. A page of a seat is connected by a websocket,
which carries lines of JSON: see `messages`, and docs/serve.md.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import mimetypes
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketState

from ..matches.processes import open_processes
from .guards import App, Guard, Rate, Rates
from .kept import Kept
from .lobby import BusyError, Listener, Lobby, LobbyError, Place, UnknownTableError, complain, record_of
from .messages import closed, encoded, hello, refused
from .offers import games_offered
from .replay_page import replay_page
from .room import RefusedError

STATIC = Path(__file__).parent / "static"
# Bytes of a request, and of a message: a wish for a table and an action are far shorter.
MOST_BODY = 16_384
MOST_MESSAGE = 2_048
# Messages of one connection, tables and replays of one address: at once, and a second.
MESSAGES = (40, 10)
TABLES = (20, 0.5)
REPLAYS = (10, 0.2)
# Replays that are kept in memory, and those that wait to be made.
KEPT_REPLAYS = 8
MOST_WAITING = 16
# Seconds for which whoever asks for a replay waits before they are told that it is being made.
REPLAY_PATIENCE = 4.0
BEING_MADE = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="2"><title>Replay</title></head>
<body><p role="status">The replay is being made. With many players it takes a minute or two; this page shows it then.
</p></body></html>
"""
# Codes with which a connection is closed: it asks for too much, it may come back later, what it asks for is
# not there, something has failed here.
POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013
NOT_FOUND = 4404
FAILED = 1011
_SCRIPT = re.compile(rb"<script\b[^>]*>(.*?)</script>", re.S | re.I)


class Pages:
    """What the addresses of a server answer.

    Args:
        lobby: the tables.
    """

    def __init__(self, lobby: Lobby) -> None:
        self.lobby = lobby
        self._tables = Rates(*TABLES)
        self._replays = Rates(*REPLAYS)
        # A replay takes a core for seconds.
        self._one_replay = asyncio.Semaphore(1)
        # Those that are being made or have been, by table and number of the game, the newest last.
        self._made: OrderedDict[tuple[str, int], asyncio.Task[bytes]] = OrderedDict()
        self._offers = games_offered(lobby.allowed.playable)

    # --- pages ---

    async def start(self, request: Request) -> Response:
        """Return the page on which a table is made."""
        return _page("index.html")

    async def games(self, request: Request) -> Response:
        """Return what a table can be made of."""
        return JSONResponse(self._offers)

    async def make_table(self, request: Request) -> Response:
        """Make a table."""
        if not self._tables.allows(_address(request)):
            raise BusyError("too many tables have been made from here; wait a little")
        wish = await _read_object(request, {"game", "players", "options", "seats", "seed"}, {"options", "seed"})
        wish.setdefault("options", {})
        made = await self.lobby.make_table(**wish)
        seats = [{"seat": seat, "link": f"/table/{token}"} for seat, token in made]
        return JSONResponse({"seats": seats}, 201)

    async def seat(self, request: Request) -> Response:
        """Return the page of a seat."""
        await self.lobby.check_token(request.path_params["token"])
        return _page("play.html")

    async def again(self, request: Request) -> Response:
        """Begin a new game at a table."""
        if not self._tables.allows(_address(request)):
            raise BusyError("too many games have been begun from here; wait a little")
        wish = await _read_object(request, {"seed"}, {"seed"})
        await self.lobby.again(request.path_params["token"], wish.get("seed"))
        return JSONResponse({}, 201)

    async def replay(self, request: Request) -> Response:
        """Return the replay of a game that is over."""
        kept = await self._over(request)
        game = kept.table, kept.number
        making = self._made.get(game)
        if making is None:
            if not self._replays.allows(_address(request)):
                raise BusyError("too many replays have been asked for from here; wait a little")
            if sum(not other.done() for other in self._made.values()) >= MOST_WAITING:
                raise BusyError("too many replays are being made; wait a little")
            making = self._made[game] = asyncio.create_task(self._make(kept))
            self._forget_replays()
        self._made.move_to_end(game)
        # It goes on whether somebody waits for it or not: whoever asks again finds it.
        await asyncio.wait({making}, timeout=REPLAY_PATIENCE)
        if not making.done():
            return HTMLResponse(BEING_MADE)
        if making.exception() is not None:
            # Others may have waited for it, too.
            self._made.pop(game, None)
        content = making.result()
        return HTMLResponse(content, headers={"Content-Security-Policy": _policy_of(content)})

    async def _make(self, kept: Kept) -> bytes:
        """Make the replay of a game, one at a time."""
        async with self._one_replay:
            return await run_in_threadpool(lambda: made_apart(kept))

    def _forget_replays(self) -> None:
        """Let the oldest replays go from memory."""
        done = [game for game, making in self._made.items() if making.done()]
        for game in done[: max(len(self._made) - KEPT_REPLAYS, 0)]:
            del self._made[game]

    async def text(self, request: Request) -> Response:
        """Return the text of a game that is over."""
        return PlainTextResponse((await self._over(request)).text)

    async def _over(self, request: Request) -> Kept:
        number = request.query_params.get("game", "0")
        if not re.fullmatch(r"\d{1,6}", number, re.ASCII):
            raise UnknownTableError("there is no such game")
        return await self.lobby.finished_game(request.path_params["token"], int(number))

    # --- connections ---

    async def socket(self, connection: WebSocket) -> None:
        """Connect the page of a seat with its table, until either leaves."""
        await connection.accept()
        try:
            place, seat = await self.lobby.find(connection.path_params["token"])
            listener = await self.lobby.listen(place, seat)
        except LobbyError as error:
            code = NOT_FOUND if isinstance(error, UnknownTableError) else TRY_AGAIN_LATER
            await _end(connection, str(error), code)
            return
        try:
            link = f"/table/{connection.path_params['token']}"
            await connection.send_text(encoded(hello(place.room.game, place.room.options, link)))
            await self._talk(connection, place, listener)
        except Exception as error:
            # A connection may break off in the midst of a message.
            if WebSocketState.DISCONNECTED not in (connection.client_state, connection.application_state):
                complain(f"a connection has failed: {type(error).__name__}: {error}")
                await _end(connection, "something has failed; the game has been kept", FAILED)
        finally:
            self.lobby.leave(place, listener)

    async def _talk(self, connection: WebSocket, place: Place, listener: Listener) -> None:
        """Send what a listener is told, and take what they ask for, until one of both ends."""
        tasks = [
            asyncio.create_task(_send(connection, listener)),
            asyncio.create_task(self._receive(connection, place, listener)),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self, connection: WebSocket, place: Place, listener: Listener) -> None:
        rate = Rate(*MESSAGES)
        while True:
            message = await connection.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if not rate.allows():
                await _end(connection, "too many messages", POLICY_VIOLATION)
                return
            if text is None or len(text) > MOST_MESSAGE:
                await _end(connection, "a message is a short text", POLICY_VIOLATION)
                return
            try:
                await self._answer(text, place, listener)
            except RefusedError as error:
                listener.take(refused(str(error)))

    async def _answer(self, text: str, place: Place, listener: Listener) -> None:
        """Do what a message asks for.

        Raises:
            RefusedError: it cannot be done; nothing has changed.
        """
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "act":
            await self.lobby.act(place, listener.seat, message.get("decision"), message.get("action"))
        elif kind == "odds":
            listener.take(await self.lobby.odds(place, listener.seat))
        else:
            raise RefusedError('a message is a JSON object whose type is "act" or "odds"')


async def _send(connection: WebSocket, listener: Listener) -> None:
    """Send a listener what they are told, to the last message."""
    while (message := await listener.messages.get()) is not None:
        await connection.send_text(message)
    await connection.close(TRY_AGAIN_LATER)


async def _end(connection: WebSocket, why: str, code: int) -> None:
    """Say why a connection ends, and end it; whoever has left need not be told."""
    with suppress(Exception):
        await connection.send_text(closed(why))
        await connection.close(code)


# --- answers ---


def _page(name: str) -> Response:
    return HTMLResponse((STATIC / name).read_bytes())


def made_apart(kept: Kept) -> bytes:
    """Return a replay that another process makes, which takes up to a minute: games go on here in the meantime."""
    with open_processes(1) as process:
        page: bytes = process.map(replay_of, [kept])[0]
    return page


def replay_of(kept: Kept) -> bytes:
    """Return the page that shows a game that is over."""
    return replay_page(record_of(kept), players=kept.about.seats).encode()


def _policy_of(page: bytes) -> str:
    """Return what a page of one file may do: run its own scripts, and use its own styles."""
    hashes = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _SCRIPT.findall(page))
    scripts = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {scripts or repr('none')}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


async def _read_object(request: Request, names: set[str], optional: set[str]) -> dict[str, Any]:
    """Return the JSON object of a request.

    Args:
        request: what was asked.
        names: that it may have.
        optional: those that may be missing.

    Raises:
        LobbyError: it is something else, or too large.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise LobbyError("a request is application/json")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BODY:
            raise LobbyError(f"a request has at most {MOST_BODY} bytes")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise LobbyError("a request is a JSON object") from error
    if not isinstance(found, dict) or not set(found) <= names or not names - optional <= set(found):
        raise LobbyError(f"a request is a JSON object with {', '.join(sorted(names))}")
    return found


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


async def _refuse(request: Request, error: Exception) -> Response:
    """Answer a request that cannot be met."""
    status = 404 if isinstance(error, UnknownTableError) else 503 if isinstance(error, BusyError) else 400
    # A person sees what a page answers, and a program what it has asked for.
    if request.method == "GET":
        return PlainTextResponse(f"{error}\n", status)
    return JSONResponse({"error": str(error)}, status)


async def _let_go(request: Request, error: Exception) -> Response:
    """Answer nobody: whoever asked has left."""
    return Response(status_code=400)


def make_app(lobby: Lobby, origins: Iterable[str] = (), hosts: Iterable[str] = ()) -> App:
    """Return the application.

    Args:
        lobby: the tables.
        origins: see `Guard`.
        hosts: see `Guard`.
    """
    pages = Pages(lobby)
    # Some systems believe that modules are plain text, which browsers do not run.
    mimetypes.add_type("text/javascript", ".js")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with lobby.open():
            yield

    app = Starlette(
        routes=[
            Route("/", pages.start),
            Route("/games", pages.games),
            Route("/tables", pages.make_table, methods=["POST"]),
            Route("/table/{token}", pages.seat),
            Route("/table/{token}/again", pages.again, methods=["POST"]),
            Route("/table/{token}/replay", pages.replay),
            Route("/table/{token}/text", pages.text),
            WebSocketRoute("/table/{token}/socket", pages.socket),
            Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
        ],
        exception_handlers={LobbyError: _refuse, ClientDisconnect: _let_go},
        lifespan=lifespan,
    )
    return Guard(app, origins, hosts)
