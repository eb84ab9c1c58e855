"""A server for tests, in this process, and people who play at it through real connections."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
import websockets
from websockets.asyncio.client import ClientConnection

from sleuth_env.web.lobby import Allowed, Limits, Lobby
from sleuth_env.web.server import make_app

PATIENCE = 40  # seconds: kernels may have to be compiled first
Message = dict[str, Any]
Chooser = Callable[[Message], str]


@contextmanager
def serving(
    folder: Path, allowed: Allowed | None = None, limits: Limits | None = None, origins: Sequence[str] = ()
) -> Iterator[str]:
    """Serve the games of a folder, and yield the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    app: Any = make_app(Lobby(folder, allowed, limits), origins)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, ws_max_size=65_536, timeout_graceful_shutdown=1, lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def make_table(address: str, game: str, seats: Sequence[str], seed: int | None = 1, **options: Any) -> list[str]:
    """Make a table, and return the links of the people."""
    wish = {"game": game, "players": len(seats), "options": options, "seats": list(seats), "seed": seed}
    answer = httpx.post(f"{address}/tables", json=wish, timeout=PATIENCE)
    assert answer.status_code == 201, answer.text
    return [seat["link"] for seat in answer.json()["seats"]]


def connect(address: str, link: str, **settings: Any) -> Any:
    """Return a connection to a seat, to be used by ``async with``."""
    url = f"{address.replace('http', 'ws', 1)}{link}/socket"
    return websockets.connect(url, max_size=None, open_timeout=PATIENCE, **settings)


async def received(connection: ClientConnection) -> Message:
    """Return the next message."""
    message: Message = json.loads(await asyncio.wait_for(connection.recv(), PATIENCE))
    return message


async def next_of(connection: ClientConnection, kind: str) -> Message:
    """Return the next message of a kind."""
    while (message := await received(connection))["type"] != kind:
        pass
    return message


async def until_the_end(connection: ClientConnection) -> list[Message]:
    """Return all messages that come before the connection ends."""
    messages = []
    try:
        while True:
            messages.append(await received(connection))
    except websockets.ConnectionClosed:
        return messages


async def decide(connection: ClientConnection, decision: Any, action: Any) -> None:
    """Send a decision."""
    await connection.send(json.dumps({"type": "act", "decision": decision, "action": action}))


def at_random(seed: int, rash: float = 0.02) -> Chooser:
    """Return somebody who does what is not doubtful, at random, and rarely something else."""
    rng = random.Random(seed)

    def choose(table: Message) -> str:
        sound = [name for name in table["legal"] if name not in table["doubts"]]
        chosen: str = rng.choice(sound if sound and rng.random() >= rash else table["legal"])
        return chosen

    return choose


async def play(address: str, link: str, choose: Chooser, most: int = 10_000) -> list[str]:
    """Play in a seat to the end of the game, or for a number of decisions; return all tables received as they were."""
    tables: list[str] = []
    async with connect(address, link) as connection:
        while True:
            text = await asyncio.wait_for(connection.recv(), PATIENCE)
            message = json.loads(text)
            assert message["type"] in ("hello", "table"), message
            if message["type"] == "hello":
                continue
            tables.append(text)
            if message["ended"] is not None:
                return tables
            if message["decision"] is not None:
                if message["decision"] >= most:
                    return tables
                await decide(connection, message["decision"], choose(message))


def play_all(address: str, links: Sequence[str], seed: int = 0, most: int = 10_000) -> list[list[str]]:
    """Let people play in all their seats at once, see `play`."""

    async def everybody() -> list[list[str]]:
        return await asyncio.gather(*(play(address, link, at_random(seed + k), most) for k, link in enumerate(links)))

    return asyncio.run(everybody())
