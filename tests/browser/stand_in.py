"""A small server of real games for the tests of the pages: one process, games in memory, nothing kept.

It speaks what `sleuth serve` speaks with a browser, and is used where that is not to be had. It checks
nothing that a person cannot do by clicking.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

import sleuth_env
from sleuth_env.game import GAMES, load_game
from sleuth_env.matches.players import make_player
from sleuth_env.matches.table import LEARNER_SEAT, Table
from sleuth_env.options import described
from sleuth_env.policies.policy_file import pretrained_names

STATIC = Path(sleuth_env.__file__).parent / "web" / "static"
PERSON = "person"
PLAYERS = {"sleuth": range(3, 8), "holmes": range(3, 9)}
TITLES = {"sleuth": "Sleuth", "holmes": "I Say, Holmes!"}
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class Room:
    """One game at a table: seats of people and of bots.

    Args:
        name: of the game.
        options: of the game.
        seats: what sits in each seat, `PERSON` or the name of a player.
        seed: settles the game.
    """

    def __init__(self, name: str, options: Any, seats: list[str], seed: int) -> None:
        self.game: Any = load_game(name)
        self.name = name
        self.options = options
        self.seats = seats
        self.tokens = {secrets.token_urlsafe(16): seat for seat, who in enumerate(seats) if who == PERSON}
        self.sockets: dict[int, list[WebSocket]] = {seat: [] for seat in self.tokens.values()}
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Deal a game, and let the bots play until a person is to act."""
        names = sorted({who for who in self.seats if who != PERSON})
        bots = [make_player(who, self.options, self.game) for who in names]
        numbers = [LEARNER_SEAT if who == PERSON else names.index(who) for who in self.seats]
        self.table = Table(self.game, self.options, 1, bots, numbers)
        self.table.deal(0, seed)
        self.seed = seed
        self.first_state = self.table.states[0].copy()
        self.actions: list[int] = []
        self.log: dict[int, list[str]] = {seat: [] for seat in self.tokens.values()}
        self.sent: dict[int, str] = {}
        self._play_on()

    def view(self, seat: int) -> Any:
        """Return what a seat knows (VIEW record)."""
        return self.table.views(0, seat)[0]

    def act(self, seat: int, decision: int, name: str) -> str:
        """Take an action of a seat; return why not, "" where it was taken."""
        if self.decision(seat) != decision:
            return "that was a decision of some time ago"
        if name not in self.legal(seat):
            return f"{name} is not legal now"
        self._follow(lambda: self.table.step(0, self.game.parse_action(name, self.options)))
        self._play_on()
        return ""

    def _play_on(self) -> None:
        while not self.table.finished[0] and not self.table.waiting[0]:
            self._follow(self.table.play_round)

    def _follow(self, step: Any) -> None:
        """Take a step, and write down what each person is told of it."""
        before = {seat: self.view(seat) for seat in self.log}
        step()
        action = int(self.table.last_actions[0])
        self.actions.append(action)
        for seat, log in self.log.items():
            state = self.table.states[0]
            log += self.game.telling.news(self.options, state, action, self.view(seat), before[seat])

    def decision(self, seat: int) -> int | None:
        """Return the number of the decision that a seat is to take; None if it is to take none."""
        return int(self.table.decisions[0, seat]) if int(self.table.actors[0]) == seat else None

    def legal(self, seat: int) -> list[str]:
        """Return the names of the legal actions of a seat."""
        if self.decision(seat) is None:
            return []
        return [self.game.action_name(int(a), self.options) for a in np.flatnonzero(self.table.legal(0)[0])]

    def message(self, seat: int) -> dict[str, Any]:
        """Return the picture of the table for a seat."""
        game, options, seen = self.game, self.options, self.view(seat)
        legal = self.legal(seat)
        telling = game.telling
        doubts = {name: telling.doubt(options, seen, game.parse_action(name, options)) for name in legal}
        facts = game.wording.facts(options, seen)
        labels = facts["players"]
        count = options.num_players
        return {
            "type": "table",
            "game": self.name,
            "title": TITLES[self.name],
            "options": {about.name: getattr(options, about.name) for about in described(options)},
            "seat": seat,
            "players": [
                {"label": label, "name": name, "who": "you" if label == "you" else self.seats[(seat + k) % count]}
                for k, (label, name) in enumerate(labels.items())
            ],
            "facts": facts,
            "board": game.board.sheet(options, seen),
            "announcement": telling.announcement(options, seen) if legal else [],
            "prompt": telling.prompt(options, seen) if legal or self.table.finished[0] else "",
            "log": self.log[seat],
            "decision": self.decision(seat),
            "legal": legal,
            "doubts": {name: why for name, why in doubts.items() if why},
            "unsaid": telling.unsaid(options, seen) if legal else "",
            "odds": None,
            "questions": None,
            "policy": None,
            "ended": self.ended(seat),
        }

    def ended(self, seat: int) -> dict[str, Any] | None:
        """Return what is told when the game is over."""
        if not self.table.finished[0]:
            return None
        record = self.game.parse_game(self.text())
        token = next(token for token, other in self.tokens.items() if other == seat)
        lines = self.game.telling.ending(record, seat)
        deal = self.game.reveal(self.options, self.table.states[0])
        return {"lines": lines, "deal": deal, "replay": f"/table/{token}/replay", "seed": str(self.seed)}

    def text(self) -> str:
        """Return the game text."""
        return str(self.game.game_text(self.options, self.first_state, self.actions))

    def hello(self, token: str) -> dict[str, Any]:
        """Return what a browser is told first."""
        telling = self.game.telling
        return {
            "type": "hello",
            "version": 1,
            "rules": telling.rules(self.options),
            "forms": dict(telling.FORMS),
            "link": f"/table/{token}",
        }

    def odds(self, seat: int) -> dict[str, Any]:
        """Return how likely everything is to a seat."""
        board, seen = self.game.board, self.view(seat)
        return {
            "type": "odds",
            "odds": board.odds(self.options, seen),
            "questions": board.questions(self.options, seen),
        }

    async def broadcast(self) -> None:
        """Send every person the table, where it has changed for them."""
        for seat, sockets in self.sockets.items():
            text = json.dumps(self.message(seat))
            if self.sent.get(seat) != text:
                self.sent[seat] = text
                for socket in sockets:
                    await socket.send_text(text)


ROOMS: list[Room] = []


def room_of(token: str) -> Room | None:
    """Return the table of a token."""
    return next((room for room in ROOMS if token in room.tokens), None)


def page(name: str) -> Response:
    """Return one of the pages."""
    return FileResponse(STATIC / name, headers={"Content-Security-Policy": POLICY})


async def index(request: Request) -> Response:
    """Answer with the page on which a table is made."""
    return page("index.html")


async def games(request: Request) -> Response:
    """Answer with what can be played."""
    return JSONResponse({"games": [about_game(name) for name in GAMES]})


def about_game(name: str) -> dict[str, Any]:
    """Return what can be chosen for a game."""
    game: Any = load_game(name)
    options = [
        {
            "name": about.name,
            "kind": "flag"
            if isinstance(about.default, bool)
            else "number"
            if isinstance(about.default, int)
            else "text",
            "choices": None if isinstance(about.default, (bool, int)) else about.values.split(", "),
            "default": about.default,
            "values": about.values,
            "help": about.meaning,
        }
        for about in described(game.Options)
        if about.name != "num_players"
    ]
    return {
        "name": name,
        "title": TITLES[name],
        "players": list(PLAYERS[name]),
        "options": options,
        "bots": list(game.BOTS),
        "default_bot": game.DEFAULT_BOT,
        "policies": pretrained_names(name),
        "rules": game.telling.rules(game.Options()),
    }


async def make_table(request: Request) -> Response:
    """Make a table, and answer with the links of its people."""
    asked = await request.json()
    game: Any = load_game(asked["game"])
    try:
        options = game.Options(num_players=asked["players"], **asked["options"])
        seed = secrets.randbits(64) if asked["seed"] is None else int(asked["seed"])
        room = Room(asked["game"], options, asked["seats"], seed)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)
    ROOMS.append(room)
    seats = [{"seat": seat, "link": f"/table/{token}"} for token, seat in room.tokens.items()]
    return JSONResponse({"seats": seats}, 201)


async def seat_page(request: Request) -> Response:
    """Answer with the page of a seat."""
    return page("play.html") if room_of(request.path_params["token"]) else PlainTextResponse("no such table", 404)


async def again(request: Request) -> Response:
    """Begin a new game at the same table."""
    room = room_of(request.path_params["token"])
    if room is None:
        return PlainTextResponse("no such table", 404)
    seed = (await request.json())["seed"]
    room.begin(room.seed if seed is None else secrets.randbits(64) if seed == "new" else int(seed))
    await room.broadcast()
    return JSONResponse({})


async def text(request: Request) -> Response:
    """Answer with the game text."""
    room = room_of(request.path_params["token"])
    return PlainTextResponse(room.text() if room else "no such table")


async def replay(request: Request) -> Response:
    """Answer with something in the place of a replay."""
    return HTMLResponse("<!doctype html><html lang=en><title>Replay</title><h1>Replay</h1></html>")


async def socket(websocket: WebSocket) -> None:
    """Talk with the browser of a seat."""
    token = websocket.path_params["token"]
    room = room_of(token)
    if room is None:
        await websocket.close()
        return
    seat = room.tokens[token]
    await websocket.accept()
    room.sockets[seat].append(websocket)
    await websocket.send_json(room.hello(token))
    await websocket.send_json(room.message(seat))
    try:
        while True:
            await answer(room, seat, websocket, await websocket.receive_json())
    except WebSocketDisconnect:
        room.sockets[seat].remove(websocket)


async def answer(room: Room, seat: int, websocket: WebSocket, asked: dict[str, Any]) -> None:
    """Answer a message of a browser."""
    if asked["type"] == "odds":
        await websocket.send_json(room.odds(seat))
        return
    why = room.act(seat, asked["decision"], asked["action"])
    if why:
        await websocket.send_json({"type": "refused", "why": why})
    await room.broadcast()
    await asyncio.sleep(0)


app = Starlette(
    routes=[
        Route("/", index),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/games", games),
        Route("/tables", make_table, methods=["POST"]),
        Route("/table/{token}", seat_page),
        Route("/table/{token}/again", again, methods=["POST"]),
        Route("/table/{token}/text", text),
        Route("/table/{token}/replay", replay),
        WebSocketRoute("/table/{token}/socket", socket),
    ]
)
