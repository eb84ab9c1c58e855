"""The server of ``sleuth serve``, used as browsers and others use it: through its addresses and connections."""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import websockets
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from sleuth_env import holmes, sleuth
from sleuth_env.cli.commands import main
from sleuth_env.web.connections import impatient, most_connections
from sleuth_env.web.guards import Rate, Rates, host_name
from sleuth_env.web.kept import REMARK, Folder, parse_token
from sleuth_env.web.lobby import Allowed, Limits, Lobby
from sleuth_env.web.offers import games_offered
from tests.support.terminal import said
from tests.support.web import (
    PATIENCE,
    Message,
    at_random,
    connect,
    decide,
    make_table,
    next_of,
    play,
    play_all,
    received,
    serving,
    until_the_end,
)

GAMES: list[tuple[str, list[str], dict[str, Any]]] = [
    ("sleuth", ["person", "sheet", "sheet"], {}),
    ("sleuth", ["cautious", "person", "random", "person"], {"missing": 2, "double_interrogation": True}),
    ("sleuth", ["sheet", "sheet", "person", "sheet", "person"], {"winners": 3, "announce_result": False}),
    ("sleuth", ["random", "sheet", "person", "sheet", "racer", "sheet", "person"], {"max_turns": 6}),
    ("holmes", ["person", "counter", "counter"], {"cases": 1}),
    ("holmes", ["person", "person", "random", "counter"], {"cases": 1, "fast_play": True, "must_arrest": True}),
    ("holmes", ["counter"] * 7 + ["person"], {"max_turns": 40, "after_alibi": "left_of_alibi"}),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests do at once what people do in minutes."""
    monkeypatch.setattr("sleuth_env.web.server.TABLES", (1000, 1000))
    monkeypatch.setattr("sleuth_env.web.server.MESSAGES", (10_000, 10_000))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path) as found:
        yield found


def token_of(link: str) -> str:
    return link.removeprefix("/table/")


# --- games ---


@pytest.mark.parametrize(("game", "seats", "options"), GAMES, ids=[f"{g}-{len(s)}" for g, s, _ in GAMES])
def test_whole_games_are_played(
    game: str, seats: list[str], options: dict[str, Any], address: str, tmp_path: Path
) -> None:
    links = make_table(address, game, seats, **options)
    assert len(links) == seats.count("person")
    everything = play_all(address, links)
    module: Any = {"sleuth": sleuth, "holmes": holmes}[game]
    for link, tables in zip(links, everything, strict=True):
        last = json.loads(tables[-1])
        assert last["ended"]["lines"]
        text = httpx.get(f"{address}{link}/text")
        assert text.status_code == 200
        record = module.parse_game(text.text)
        assert record.last_state["actor"] < 0
        assert last["ended"]["deal"] == module.reveal(record.options, record.last_state)
        assert last["ended"]["seed"] == "1"
        # With seven players it takes a core for a minute.
        if len(seats) < 7:
            assert httpx.get(f"{address}{last['ended']['replay']}", timeout=PATIENCE).status_code == 200
    (name,) = {parse_token(token_of(link))[0] for link in links}
    assert [path.name for path in tmp_path.glob("*.txt")] == [f"{name}-1.over.txt"]


def test_a_connection_begins_with_the_rules_and_the_table(address: str) -> None:
    (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])

    async def begin() -> list[Message]:
        async with connect(address, link) as connection:
            return [await received(connection), await received(connection)]

    hello, table = asyncio.run(begin())
    options = sleuth.Options(3)
    assert hello == {
        "type": "hello",
        "version": 1,
        "rules": sleuth.telling.rules(options),
        "forms": sleuth.telling.FORMS,
        "link": link,
    }
    assert table["type"] == "table"
    assert table["seat"] == 0


@pytest.mark.parametrize(("game", "bot"), [("sleuth", "sheet"), ("holmes", "counter")])
def test_coming_back_shows_the_same_table(game: str, bot: str, address: str) -> None:
    (link,) = make_table(address, game, ["person", bot, bot])
    before = asyncio.run(play(address, link, at_random(1, 0), 3))[-1]
    for _ in range(2):
        assert asyncio.run(_table_now(address, link)) == before


def test_all_windows_of_a_seat_show_the_same(address: str) -> None:
    (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])

    async def watch() -> tuple[Message, Message]:
        async with connect(address, link) as one, connect(address, link) as other:
            table = await next_of(one, "table")
            while table["decision"] is None:
                table = await received(one)
            await decide(one, table["decision"], table["legal"][0])
            answers = []
            for connection in (one, other):
                message = await next_of(connection, "table")
                while message["decision"] in (None, table["decision"]):
                    message = await received(connection)
                answers.append(message)
            return answers[0], answers[1]

    one, other = asyncio.run(watch())
    assert one == other


def test_a_new_game_with_the_same_or_another_seed(address: str) -> None:
    (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"], 7, max_turns=2)

    async def three_games() -> list[Message]:
        first = []
        async with connect(address, link) as connection:
            for seed in (None, 8, None):
                table = await next_of(connection, "table")
                first.append(table)
                while table["ended"] is None:
                    if table["decision"] is not None:
                        await decide(connection, table["decision"], at_random(1, 0)(table))
                    table = await next_of(connection, "table")
                async with httpx.AsyncClient() as client:
                    answer = await client.post(f"{address}{link}/again", json={"seed": seed}, timeout=PATIENCE)
                    assert answer.status_code == 201, answer.text
        return first

    first, same, other = asyncio.run(three_games())
    assert same["facts"]["hand"] == first["facts"]["hand"]
    assert other["facts"]["hand"] != first["facts"]["hand"]
    for number in (1, 2, 3):
        assert httpx.get(f"{address}{link}/text?game={number}").status_code == 200
    assert httpx.get(f"{address}{link}/text?game=4").status_code == 400
    assert httpx.get(f"{address}{link}/text?game=5").status_code == 404


def test_a_game_of_several_people_is_not_given_up_by_one(address: str) -> None:
    links = make_table(address, "sleuth", ["person", "person", "sheet"])
    answer = httpx.post(f"{address}{links[0]}/again", json={"seed": None}, timeout=PATIENCE)
    assert answer.status_code == 400
    assert "not over" in answer.json()["error"]
    (alone,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
    assert httpx.post(f"{address}{alone}/again", json={"seed": None}, timeout=PATIENCE).status_code == 201


def test_seeds_are_drawn_by_the_server_from_more_than_anybody_can_try(address: str, tmp_path: Path) -> None:
    links = [make_table(address, "sleuth", ["person", "sheet", "sheet"], None)[0] for _ in range(8)]
    kept = [json.loads(path.read_text().rpartition(REMARK)[2]) for path in tmp_path.glob("*.txt")]
    assert max(about["seed"] for about in kept) > 2**56
    assert len({about["seed"] for about in kept}) == len(links)


def test_where_several_people_play_nobody_chooses_the_next_seed(address: str) -> None:
    links = make_table(address, "sleuth", ["person", "person", "sheet"], str(2**64 - 1), max_turns=2)

    def again(seed: Any) -> httpx.Response:
        return httpx.post(f"{address}{links[1]}/again", json={"seed": seed}, timeout=PATIENCE)

    first = json.loads(play_all(address, links)[0][-1])
    assert first["ended"]["seed"] == str(2**64 - 1)
    for seed in (None, 8, "8"):
        answer = again(seed)
        assert answer.status_code == 400
        assert 'seed must be "new" where several people play' in answer.json()["error"]
    assert again("new").status_code == 201
    second = json.loads(play_all(address, links)[0][-1])
    assert second["ended"]["seed"] != first["ended"]["seed"]
    assert second["facts"]["hand"] != first["facts"]["hand"]


def test_what_is_not_over_is_not_shown(address: str) -> None:
    (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
    for page in ("text", "replay", "text?game=1"):
        answer = httpx.get(f"{address}{link}/{page}")
        assert answer.status_code == 400
        assert "hands" not in answer.text


# --- who may come in ---


def test_nobody_comes_in_without_the_token(address: str) -> None:
    links = make_table(address, "sleuth", ["person", "person", "sheet"])
    name, secret = parse_token(token_of(links[0]))
    other = parse_token(token_of(links[1]))[1]
    assert secret != other
    assert len(secret) == 24
    wrong = [
        "x",
        name,
        f"{name}{'x' * 24}",
        f"{name}{secret[:-1]}",
        f"{name}{secret}x",
        f"{'0' * 16}{secret}",
        f"..%2f{name}{secret}",
        f"{name}{secret.swapcase()}",
        "%00",
        "é" * 40,
    ]
    for token in wrong:
        for page in ("", "/text", "/replay"):
            assert httpx.get(f"{address}/table/{token}{page}").status_code == 404, token
        assert httpx.post(f"{address}/table/{token}/again", json={}).status_code == 404
        if "%2f" in token:
            # An address of another form.
            continue
        with pytest.raises(websockets.ConnectionClosed) as caught:
            asyncio.run(_two_messages(address, f"/table/{token}"))
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 4404


async def _two_messages(address: str, link: str) -> None:
    async with connect(address, link) as connection:
        assert (await received(connection))["type"] == "closed"
        await received(connection)


def test_tokens_and_games_are_for_the_owner_of_the_folder_only(tmp_path: Path) -> None:
    with serving(tmp_path / "games") as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
        asyncio.run(play(address, link, at_random(1), 2))
        (path,) = (tmp_path / "games").glob("*.txt")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        # The name of a file alone opens nothing.
        assert parse_token(token_of(link))[1] not in path.name
        assert parse_token(token_of(link))[1] in path.read_text()


def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    wish = {"game": "sleuth", "players": 3, "seats": ["person", "sheet", "sheet"]}
    with serving(tmp_path, origins=["https://games.example"]) as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
        own = address.removeprefix("http://")
        port = own.rpartition(":")[2]
        for origin, allowed in [
            (address, True),
            ("https://games.example", True),
            ("https://evil.example", False),
            ("null", False),
            (f"http://localhost:{port}", False),
            (f"http://127.0.0.1.evil.example:{port}", False),
            (f"{address}.evil.example", False),
            ("http://127.0.0.1:1", False),
        ]:
            answer = httpx.post(f"{address}/tables", json=wish, headers={"Origin": origin}, timeout=PATIENCE)
            assert answer.status_code == (201 if allowed else 403), origin
            assert asyncio.run(_lets_in(address, link, origin)) == allowed, origin
        for host, allowed in [
            (own, True),
            (f"localhost:{port}", True),
            ("games.example", True),
            (f"[::1]:{port}", True),
            (f"evil.example:{port}", False),
            ("", False),
            (f"127.0.0.1.evil.example:{port}", False),
            ("a b", False),
        ]:
            answer = httpx.get(f"{address}/games", headers={"Host": host})
            assert (answer.status_code == 200) == allowed, host


async def _lets_in(address: str, link: str, origin: str) -> bool:
    try:
        async with connect(address, link, origin=origin) as connection:
            return (await received(connection))["type"] == "hello"
    except websockets.InvalidStatus as error:
        return error.response.status_code != 403


def test_every_answer_tells_browsers_to_be_careful(address: str) -> None:
    (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
    for page in ("/", "/games", link, "/nothing", "/static/nothing.js", f"{link}/text"):
        headers = httpx.get(f"{address}{page}").headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert httpx.get(f"{address}{link}").headers["Cache-Control"] == "no-store"
    assert httpx.get(f"{address}{link}/text").headers["Cache-Control"] == "no-store"


# --- what is asked for wrongly ---

WRONG_WISHES: list[tuple[Any, str]] = [
    ({"game": "chess"}, "game must be one of"),
    ({"game": ["sleuth"]}, "game must be one of"),
    ({"game": "os.path"}, "game must be one of"),
    ({"players": 2}, "3 to 7"),
    ({"players": "3"}, "num_players"),
    ({"players": None}, "players and options must be"),
    ({"players": [3]}, "players and options must be"),
    ({"options": {"winners": 9}}, "winners"),
    ({"options": {"num_players": 4}}, "options must be an object"),
    ({"options": {"nothing": 1}}, "nothing"),
    ({"options": {"winners": {}}}, "players and options must be"),
    ({"options": []}, "options must be an object"),
    ({"seats": ["person", "sheet"]}, "seats must be a list of 3 names"),
    ({"seats": ["sheet"] * 3}, "at least one seat"),
    ({"seats": ["person", "sheet", 3]}, "seats must be a list"),
    ({"seats": "abc"}, "seats must be a list"),
    ({"seats": ["person", "sheet", "nobody"]}, "a seat is one of"),
    ({"seats": ["person", "sheet", "exec:touch /tmp/x"]}, "a seat is one of"),
    ({"seats": ["person", "sheet", "os:system"]}, "a seat is one of"),
    ({"seats": ["person", "sheet", "/etc/passwd.safetensors"]}, "a seat is one of"),
    ({"seats": ["person", "sheet", "pretrained:holmes-3p"]}, "a seat is one of"),
    ({"seed": -1}, "seed must be"),
    ({"seed": 2**53}, "seed must be"),
    ({"seed": True}, "seed must be"),
    ({"seed": "x"}, "seed must be"),
    ({"seed": "new"}, "seed must be"),
    ({"seed": "-1"}, "seed must be"),
    ({"seed": str(2**64)}, "seed must be"),
    ({"seed": "1" * 100}, "seed must be"),
    ({"seed": 1.0}, "seed must be"),
    ({"more": 1}, "a request is a JSON object with"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_WISHES, ids=[str(change) for change, _ in WRONG_WISHES])
def test_a_wish_that_cannot_be_met_is_refused_in_words(
    change: dict[str, Any], message: str, tmp_path: Path, one_address: str
) -> None:
    wish = {"game": "sleuth", "players": 3, "seats": ["person", "sheet", "sheet"], "options": {}} | change
    answer = httpx.post(f"{one_address}/tables", json=wish, timeout=PATIENCE)
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


@pytest.fixture(scope="module")
def one_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sleuth_env.web.server.TABLES", (1000, 1000))
        with serving(tmp_path_factory.mktemp("games")) as found:
            yield found


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"1", b"\xff", b'{"game": "sleuth"}', b"[" * 10_000, b'{"a": NaN}']
)
def test_a_request_that_is_no_wish_is_refused(content: bytes, one_address: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = httpx.post(f"{one_address}/tables", content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("a request is a JSON object")


def test_a_request_is_not_larger_than_any_wish_and_is_json(one_address: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = httpx.post(f"{one_address}/tables", content=b" " * 1_000_000, headers=headers)
    assert answer.status_code == 400
    assert "at most" in answer.json()["error"]
    # What a form of another site can send without asking.
    answer = httpx.post(f"{one_address}/tables", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 400
    assert httpx.get(f"{one_address}/tables").status_code == 405


def test_no_file_but_those_of_the_pages_is_served(one_address: str) -> None:
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static//etc/passwd"):
        answer = httpx.get(f"{one_address}{path}")
        assert answer.status_code in (400, 404)
        assert "import" not in answer.text


RUBBISH: list[str | bytes] = [
    "",
    "{",
    "null",
    "[]",
    '"act"',
    "1e999",
    "[" * 2000,
    "{}",
    '{"type": null}',
    '{"type": "table"}',
    '{"type": ["act"]}',
    '{"type": "act"}',
    '{"type": "act", "decision": 0}',
    '{"type": "act", "decision": 0, "action": null}',
    '{"type": "act", "decision": {}, "action": {}}',
    '{"type": "act", "decision": 1e400, "action": "exchange"}',
    '{"type": "act", "decision": 99, "action": "exchange"}',
    '{"type": "act", "decision": -1, "action": "exchange"}',
    '{"type": "act", "decision": 0, "action": "accuse everything"}',
    '{"type": "act", "decision": "0", "action": "exchange"}',
    '{"type": "act", "decision": 0, "action": "\\ud800"}',
]


@pytest.mark.parametrize("text", RUBBISH)
def test_a_message_that_means_nothing_is_answered_and_changes_nothing(text: str, one_address: str) -> None:
    links = make_table(one_address, "sleuth", ["person", "person", "sheet"], first_player="seat_0")

    async def send() -> tuple[Message, list[Message]]:
        async with connect(one_address, links[0]) as connection, connect(one_address, links[1]) as other:
            before = [await next_of(one, "table") for one in (connection, other)]
            await connection.send(text)
            answer = await received(connection)
            after = []
            for link in links:
                async with connect(one_address, link) as again:
                    after.append(await next_of(again, "table"))
            assert before == after
            await decide(connection, before[0]["decision"], "exchange")
            # Nothing is owed to the other, and the first answer to come is to what was right.
            return answer, [await received(connection), await next_of(other, "table")]

    answer, after = asyncio.run(send())
    assert answer["type"] == "refused"
    assert len(answer["why"]) < 300
    assert [table["type"] for table in after] == ["table", "table"]
    assert after[1]["log"]


@pytest.mark.parametrize("content", [b"{}", b"\x00" * 100, "x" * 2049, "x" * 1_000_000], ids=lambda c: str(len(c)))
def test_bytes_and_long_messages_end_a_connection_and_nothing_else(content: str | bytes, one_address: str) -> None:
    (link,) = make_table(one_address, "sleuth", ["person", "sheet", "sheet"])

    async def send() -> Message:
        async with connect(one_address, link) as connection:
            before = await next_of(connection, "table")
            await connection.send(content)
            await until_the_end(connection)
        async with connect(one_address, link) as connection:
            assert await next_of(connection, "table") == before or before["decision"] is None
        return before

    asyncio.run(send())


def test_random_messages_never_break_a_game(one_address: str) -> None:
    rng = random.Random(1)
    (link,) = make_table(one_address, "sleuth", ["person", "sheet", "sheet"])

    def any_value(depth: int = 0) -> Any:
        values = [None, True, -1, 0, 1, 2**70, 1e308, "", "act", "odds", "exchange", "pass", "\x00", "é" * 30]
        if depth < 3 and rng.random() < 0.4:
            return [any_value(depth + 1) for _ in range(rng.randrange(3))]
        return rng.choice(values)

    async def talk() -> None:
        async with connect(one_address, link) as connection:
            table = await next_of(connection, "table")
            while table["decision"] is None:
                table = await received(connection)
            for _ in range(150):
                message = {name: any_value() for name in ("type", "decision", "action") if rng.random() < 0.9}
                if (message.get("type"), message.get("decision")) == ("act", table["decision"]):
                    continue
                await connection.send(json.dumps(message))
                assert (await received(connection))["type"] in ("refused", "odds")
        async with connect(one_address, link) as connection:
            assert await next_of(connection, "table") == table

    asyncio.run(talk())


def test_odds_come_when_they_are_asked_for(one_address: str) -> None:
    for game, bot in (("sleuth", "sheet"), ("holmes", "counter")):
        (link,) = make_table(one_address, game, ["person", bot, bot])

        async def ask(link: str = link) -> tuple[Message, Message]:
            async with connect(one_address, link) as connection:
                table = await next_of(connection, "table")
                await connection.send('{"type": "odds"}')
                return table, await next_of(connection, "odds")

        table, odds = asyncio.run(ask())
        assert odds["odds"]["places"] == table["board"]["places"]
        assert odds["odds"]["items"].keys() == table["board"]["items"].keys() or game == "holmes"
        assert table["odds"] is None


# --- how much ---


def test_who_sends_too_much_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth_env.web.server.MESSAGES", (5, 0.001))
    with serving(tmp_path) as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])

        async def flood() -> list[str]:
            async with connect(address, link) as connection:
                await next_of(connection, "table")
                for _ in range(10):
                    await connection.send("{}")
                kinds = [message["type"] for message in await until_the_end(connection)]
            return kinds

        kinds = asyncio.run(flood())
        assert kinds.count("closed") == 1
        assert kinds.count("refused") <= 5


def test_who_makes_too_many_tables_has_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth_env.web.server.TABLES", (2, 0.001))
    wish = {"game": "sleuth", "players": 3, "seats": ["person", "sheet", "sheet"]}
    with serving(tmp_path) as address:
        codes = [httpx.post(f"{address}/tables", json=wish, timeout=PATIENCE).status_code for _ in range(4)]
    assert codes == [201, 201, 503, 503]


def test_there_are_no_more_tables_listeners_and_games_than_allowed(tmp_path: Path) -> None:
    limits = Limits(tables=2, kept=4, listeners=3, listeners_of_seat=2)
    with serving(tmp_path, limits=limits) as address:
        links = [make_table(address, "sleuth", ["person", "sheet", "sheet"])[0] for _ in range(4)]

        async def come() -> list[str]:
            why = []
            async with connect(address, links[0]) as one, connect(address, links[0]) as two:
                await next_of(one, "table")
                await next_of(two, "table")
                async with connect(address, links[0]) as third:
                    why.append((await next_of(third, "closed"))["why"])
                async with connect(address, links[1]) as third:
                    await next_of(third, "table")
                    async with connect(address, links[2]) as fourth:
                        why.append((await next_of(fourth, "closed"))["why"])
                # Somebody has left, and there is room again.
                async with connect(address, links[2]) as third:
                    await next_of(third, "table")
            return why

        assert asyncio.run(come()) == [
            "this seat is open in too many windows",
            "people play at 2 tables now, and there can be no more",
        ]
        # The oldest game makes room for a new one.
        make_table(address, "sleuth", ["person", "sheet", "sheet"])
        assert len(list(tmp_path.glob("*.txt"))) == 4


def test_a_rate_allows_some_at_once_and_then_some_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("sleuth_env.web.guards.time.monotonic", lambda: now)
    rate = Rate(3, 0.5)
    assert [rate.allows() for _ in range(5)] == [True] * 3 + [False] * 2
    now = 2.0
    assert [rate.allows() for _ in range(2)] == [True, False]
    now = 1000.0
    assert [rate.allows() for _ in range(4)] == [True] * 3 + [False]
    rates = Rates(1, 0)
    assert [rates.allows(name) for name in "aabba"] == [True, False, True, False, False]


def test_the_addresses_whose_rates_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth_env.web.guards.MOST_KNOWN", 3)
    rates = Rates(1, 0)
    for number in range(100):
        assert rates.allows(str(number))
    assert len(rates._rates) == 3


@pytest.mark.parametrize("netloc", ["", "[", "[::1", "a b:c", ":80", "@", "a@b:x"])
def test_rubbish_for_a_host_is_no_name(netloc: str) -> None:
    assert isinstance(host_name(netloc), str)


# --- what a table can be made of ---


def test_the_games_on_offer_are_described_by_their_options(one_address: str) -> None:
    offered = httpx.get(f"{one_address}/games").json()
    assert offered == json.loads(json.dumps(games_offered()))
    for game, module in zip(offered["games"], (sleuth, holmes), strict=True):
        assert game["name"] == module.NAME
        assert game["bots"] == list(module.BOTS)
        for players in game["players"]:
            assert module.Options(num_players=players)
        for option in game["options"]:
            choices = option.get("choices") or [option["default"], max(option["least"], 1)]
            assert option["default"] in choices
            more = {"winners": 2} if option["name"] == "announce_result" else {}
            for choice in choices:
                assert module.Options(**{option["name"]: choice, **more})


def test_other_players_may_be_chosen_only_where_the_server_was_started_with_them(tmp_path: Path) -> None:
    command = f"exec:{sys.executable} {Path(__file__).parent / 'support' / 'odd_player.py'} last"
    allowed = Allowed.named([command])
    (label,) = allowed.names
    assert str(Path(__file__).parent) not in label
    with serving(tmp_path, allowed) as address:
        games = httpx.get(f"{address}/games").json()["games"]
        assert all(label in game["policies"] for game in games)
        (link,) = make_table(address, "sleuth", ["person", label, "sheet"], max_turns=3)
        tables = asyncio.run(play(address, link, at_random(1, 0)))
        assert json.loads(tables[-1])["players"][1]["who"] == label
        assert command not in tables[-1]
        wish = {"game": "sleuth", "players": 3, "seats": ["person", command, "sheet"]}
        assert httpx.post(f"{address}/tables", json=wish, timeout=PATIENCE).status_code == 400


# --- what is kept ---


@contextmanager
def process(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command itself, and yield it with its address."""
    command = [sys.executable, "-m", "sleuth_env", "serve", "--port", "0", "--folder", str(folder), *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        # Whatever happens, nobody waits for ever.
        timer = threading.Timer(PATIENCE, run.kill)
        timer.start()
        try:
            assert run.stdout is not None
            line = next((line for line in run.stdout if "http://" in line), "")
            yield run, line.split("http://")[1].split("/")[0].join(["http://", ""])
        finally:
            timer.cancel()
            run.kill()


async def _table_now(address: str, link: str) -> str:
    async with connect(address, link) as connection:
        await next_of(connection, "hello")
        text = str(await asyncio.wait_for(connection.recv(), PATIENCE))
        while json.loads(text)["decision"] is None:
            text = str(await asyncio.wait_for(connection.recv(), PATIENCE))
        return text


@pytest.mark.parametrize(("game", "bot"), [("sleuth", "sheet"), ("holmes", "counter")])
def test_a_server_that_is_killed_goes_on_with_the_same_tables(game: str, bot: str, tmp_path: Path) -> None:
    with process(tmp_path) as (run, address):
        links = [make_table(address, game, ["person", bot, bot], seed)[0] for seed in (1, 2)]
        seen = [asyncio.run(play(address, link, at_random(3, 0), 4))[-1] for link in links]
        run.kill()
        assert run.wait(PATIENCE) == -signal.SIGKILL
    with process(tmp_path) as (run, address):
        assert [asyncio.run(_table_now(address, link)) for link in links] == seen
        tables = asyncio.run(play(address, links[0], at_random(4, 0), 8))
        assert json.loads(tables[-1])["decision"] == 8


def test_text_that_is_none_ends_a_connection_without_a_word_in_the_log(tmp_path: Path) -> None:
    with process(tmp_path) as (run, address):
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])

        async def send() -> None:
            async with connect(address, link) as connection:
                await next_of(connection, "table")
                await connection.send(b"\xff\xfe", text=True)
                await until_the_end(connection)
                assert connection.close_code == 1007

        asyncio.run(send())
        run.send_signal(signal.SIGTERM)
        assert run.wait(PATIENCE) == 143
        assert run.stderr is not None
        assert run.stderr.read().splitlines() == ["sleuth: interrupted"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_server_ends_when_it_is_asked_to(number: int, code: int, tmp_path: Path) -> None:
    with process(tmp_path) as (run, address):
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
        seen = asyncio.run(play(address, link, at_random(3, 0), 2))[-1]

        async def stay() -> None:
            async with connect(address, link) as connection:
                await next_of(connection, "table")
                run.send_signal(number)
                await until_the_end(connection)

        asyncio.run(stay())
        assert run.wait(PATIENCE) == code
        assert run.stderr is not None
        assert run.stderr.read().splitlines()[-1] == "sleuth: interrupted"
    with serving(tmp_path) as address:
        assert asyncio.run(_table_now(address, link)) == seen


def damaged_folder(folder: Path) -> tuple[list[str], list[Path]]:
    """Fill a folder with sound games and damaged ones; return the links of the sound ones, and the files."""
    with serving(folder) as address:
        links = [make_table(address, "sleuth", ["person", "sheet", "sheet"], seed)[0] for seed in range(9)]
        for link in links:
            asyncio.run(play(address, link, at_random(1, 0), 1))
    paths = [folder / f"{parse_token(token_of(link))[0]}-1.txt" for link in links]
    texts = [path.read_text() for path in paths]
    paths[1].write_text("")
    paths[2].write_text(texts[2][:200])
    paths[3].write_bytes(b"\xff\xfe" * 100)
    paths[4].write_text(texts[4].replace('"version": 1', '"version": 2'))
    paths[5].write_text(texts[5].replace("sleuth game 1", "sleuth game 7"))
    paths[6].write_text(texts[6].replace('"game": "sleuth"', '"game": "os"'))
    paths[7].write_text(texts[7].replace('"sheet", "sheet"', '"sheet"'))
    paths[8].write_text(texts[8].rpartition("# sleuth")[0] + "# sleuth serve: " + "[" * 50_000)
    return links, paths


def test_a_damaged_file_costs_a_line_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links, paths = damaged_folder(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / f"{'0' * 16}-1.txt").mkdir()
    before = {path: path.read_bytes() for path in paths}
    capsys.readouterr()
    lobby = Lobby(tmp_path)
    assert lobby.check() == 1
    lobby.folder.close()
    lines = said(capsys)[1].splitlines()
    assert len(lines) == 9
    assert all(line.startswith("sleuth: the game of table ") for line in lines)
    with serving(tmp_path) as address:
        asyncio.run(_table_now(address, links[0]))
        for link in links[1:]:
            with pytest.raises(websockets.ConnectionClosed):
                asyncio.run(_two_messages(address, link))
    assert {path: path.read_bytes() for path in paths} == before
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_of_too_many_games_the_oldest_go_first_and_before_them_those_that_are_over(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"])
    folder = Folder(tmp_path, 4)
    kept = folder.read(parse_token(token_of(link))[0])
    assert kept is not None

    def write(number: int, over: bool) -> None:
        folder.write(f"{number:016x}", 1, over, kept.about, kept.text)
        os.utime(next(tmp_path.glob(f"{number:016x}-*")), (number, number))

    for number, over in enumerate([False, True, True, False]):
        write(number, over)
    folder.make_room([])
    assert sorted(path.name[15] for path in tmp_path.glob("00*")) == ["0", "3"]
    write(4, False)
    # The oldest one is being played.
    folder.make_room([f"{0:016x}"])
    assert sorted(path.name[15] for path in tmp_path.glob("00*")) == ["0", "4"]


def test_where_nothing_can_be_written_no_table_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "x")

    wish = {"game": "sleuth", "players": 3, "seats": ["person", "sheet", "sheet"]}
    with serving(tmp_path) as address:
        monkeypatch.setattr(Folder, "write", full)
        answer = httpx.post(f"{address}/tables", json=wish, timeout=PATIENCE)
        assert answer.status_code == 503


def test_a_game_that_cannot_be_written_is_kept_in_memory_and_people_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Folder.write

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr("sleuth_env.web.lobby.IDLE", 0.0)
    monkeypatch.setattr("sleuth_env.web.lobby.SWEEP", 0.1)

    async def to_the_end(address: str, link: str) -> list[Message]:
        heard = []
        async with connect(address, link) as connection:
            while not heard or heard[-1].get("ended") is None:
                heard.append(await received(connection))
                if heard[-1].get("decision") is not None:
                    await decide(connection, heard[-1]["decision"], at_random(1, 0)(heard[-1]))
        return heard

    with serving(tmp_path) as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"], max_turns=4)
        monkeypatch.setattr(Folder, "write", full)
        heard = asyncio.run(to_the_end(address, link))
        told = [message["why"] for message in heard if message["type"] == "refused"]
        assert told == ["this game cannot be kept at the moment, and would be lost with the server"]
        time.sleep(0.5)
        # Nobody listens any more, and it is still there, to its end.
        text = httpx.get(f"{address}{link}/text")
        assert text.status_code == 200
        assert sleuth.parse_game(text.text).last_state["actor"] < 0
        monkeypatch.setattr(Folder, "write", usual)
        time.sleep(0.5)
        assert [path.name.endswith(".over.txt") for path in tmp_path.glob("*.txt")] == [True]


def test_new_games_at_a_table_make_room_for_themselves(tmp_path: Path) -> None:
    with serving(tmp_path, None, Limits(kept=3)) as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"], max_turns=1)
        for seed in range(6):
            asyncio.run(play(address, link, at_random(1, 0)))
            answer = httpx.post(f"{address}{link}/again", json={"seed": seed}, timeout=PATIENCE)
            assert answer.status_code == 201, answer.text
            assert len(list(tmp_path.glob("*.txt"))) <= 3
        assert make_table(address, "sleuth", ["person", "sheet", "sheet"])


def test_what_a_killed_server_has_begun_to_write_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "x.1-2.partial").write_text("half")
    with serving(tmp_path):
        assert list(tmp_path.glob("*.partial")) == []


# --- replays ---


def test_a_replay_is_made_once_and_whoever_asks_meanwhile_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    go_on = threading.Event()

    def slowly(kept: Any) -> bytes:
        made.append((kept.table, kept.number))
        assert go_on.wait(PATIENCE)
        if len(made) == 1:
            raise RuntimeError("it fails")
        return b"<!doctype html><p>the replay</p>"

    monkeypatch.setattr("sleuth_env.web.server.made_apart", slowly)
    monkeypatch.setattr("sleuth_env.web.server.REPLAY_PATIENCE", 0.1)
    with serving(tmp_path) as address:
        (link,) = make_table(address, "sleuth", ["person", "sheet", "sheet"], max_turns=1)
        asyncio.run(play(address, link, at_random(1, 0)))

        def ask() -> httpx.Response:
            return httpx.get(f"{address}{link}/replay?game=1", timeout=PATIENCE)

        for _ in range(3):
            answer = ask()
            assert (answer.status_code, "is being made" in answer.text) == (200, True)
            assert "refresh" in answer.text
        assert len(made) == 1
        go_on.set()
        time.sleep(0.3)
        assert ask().status_code == 500
        while "is being made" in (answer := ask()).text:
            time.sleep(0.1)
        assert answer.text.endswith("the replay</p>")
        assert ask().text == answer.text
        assert len(made) == 2


# --- connections ---


@contextmanager
def answering(most: int, patience: float) -> Iterator[int]:
    """Run a server with few connections, and yield its port."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await asyncio.sleep(4 * patience)
            await send({"type": "websocket.send", "text": "still here"})
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    listening = socket.create_server(("127.0.0.1", 0))
    http = impatient(AutoHTTPProtocol, most, patience)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", http=http, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_connection_that_asks_for_nothing_is_closed(said: bytes) -> None:
    with answering(100, 0.3) as port, socket.create_connection(("127.0.0.1", port), PATIENCE) as silent:
        silent.sendall(said)
        assert silent.recv(100) == b""
        assert httpx.get(f"http://127.0.0.1:{port}/").status_code == 200


def test_a_connection_that_has_asked_stays() -> None:
    async def listen(port: int) -> str:
        async with websockets.connect(f"ws://127.0.0.1:{port}/") as connection:
            return str(await connection.recv())

    with answering(100, 0.2) as port:
        assert asyncio.run(listen(port)) == "still here"


def test_of_too_many_connections_the_last_are_closed_at_once() -> None:
    with answering(3, PATIENCE) as port:
        first = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(3)]
        time.sleep(0.2)
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as late:
            assert late.recv(100) == b""
        for one in first:
            one.close()
        time.sleep(0.2)
        assert httpx.get(f"http://127.0.0.1:{port}/").status_code == 200


def test_files_are_left_for_games() -> None:
    most = most_connections()
    assert most >= 100
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > most


# --- the command ---


def test_a_port_in_use_is_said_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        port = address.rpartition(":")[2]
        assert main(["serve", "--port", port, "--folder", str(tmp_path / "other")]) == 2
    message = f"sleuth: cannot listen at 127.0.0.1:{port}: Address already in use; --port chooses another\n"
    assert said(capsys) == ("", message)


def test_a_folder_has_one_server_at_a_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with serving(tmp_path):
        assert main(["serve", "--port", "0", "--folder", str(tmp_path)]) == 2
    why = f"{tmp_path} is in use: another process keeps its games there"
    assert said(capsys) == ("", f"sleuth: --folder {tmp_path}: games cannot be kept there: {why}\n")
    with serving(tmp_path) as address:
        assert httpx.get(f"{address}/games").status_code == 200


WRONG_WORDS: list[tuple[Sequence[str], str]] = [
    (["--port", "65536"], "argument --port"),
    (["--host", "nowhere.invalid"], "cannot listen at nowhere.invalid:8000"),
    (["--allow-origin", "games.example"], "--allow-origin must be like"),
    (["--allow-origin", "https://games.example/page"], "--allow-origin must be like"),
    (["--allow-player", "sheet"], "everybody may choose bots anyway"),
    (["--allow-player", "exec:nothing-of-this-name"], "there is no program"),
    (["--allow-player", "nobody"], "--allow-player: "),
    (["--allow-player", "nothing.safetensors"], "--allow-player: "),
    (["--folder", "/dev/null/games"], "games cannot be kept there"),
    (["--tables", "0"], "argument --tables"),
]


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS, ids=[" ".join(words) for words, _ in WRONG_WORDS])
def test_a_mistake_in_the_command_is_said_in_one_line(
    words: Sequence[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["serve", "--folder", str(tmp_path), *words]) == 2
    output, errors = said(capsys)
    assert output == ""
    assert message in errors
    assert errors.count("\n") == 1


def test_without_the_extra_it_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth_env.cli.serve.find_spec", lambda name: None)
    assert main(["serve"]) == 2
    assert 'pip install "sleuth-env[web]"' in said(capsys)[1]


def test_others_than_this_machine_are_let_in_with_a_warning(tmp_path: Path) -> None:
    with process(tmp_path, "--host", "0.0.0.0") as (run, address):
        assert httpx.get(f"{address}/games").status_code == 200
        run.terminate()
        run.wait(PATIENCE)
        assert run.stderr is not None
        warning = run.stderr.read().splitlines()[0]
    assert warning.startswith("sleuth: everybody who can reach this machine can use this server")
