"""Print how long a server takes to answer a move while people play at many tables, and that its memory stays flat.

At every table sits one person with three bots, who moves once a second; tables begin one after the
other, so that moves are spread over the second. A move is answered when the next table has come that
asks for a decision, or the end, with all that the bots have done in between. The server is a process
of its own on one thread; the clients are light, they look for the few words that they need. Memory is
that of the server after every few hundred short games that were played to their ends, one after the
other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import websockets
from websockets.asyncio.client import ClientConnection

from sleuth_env.cli.arguments import whole

SEATS = ["person", "sheet", "sheet", "sheet"]
DECISION = re.compile(r'"decision":(\d+),"legal":\[(.*?)\],"doubts":\{(.*?)\},"unsaid"', re.S)
OVER = '"ended":{'
# Games between two looks at the memory.
EVERY = 200
# Turns of these games.
SHORT = 4
# The server, with limits that all these people on one machine do not reach.
SERVER = """\
import sys
from sleuth_env.cli.commands import main
from sleuth_env.web import server
server.TABLES = server.MESSAGES = (1e9, 1e9)
sys.exit(main(sys.argv[1:]))
"""


@contextmanager
def serving(folder: str) -> Iterator[tuple[str, int]]:
    """Run a server, and yield its address and the number of its process."""
    words = [sys.executable, "-c", SERVER, "serve", "--port", "0", "--folder", folder, "--tables", "1000"]
    one_thread = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **one_thread}) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "http://" in line)
        try:
            yield line.split()[3].rstrip("/"), process.pid
        finally:
            process.terminate()


async def make_table(address: str, seed: int, **options: int) -> str:
    """Make a table, and return the link of the person."""
    wish = {"game": "sleuth", "players": len(SEATS), "seats": SEATS, "seed": seed, "options": options}
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{address}/tables", json=wish, timeout=60)
        return str(answer.json()["seats"][0]["link"])


def connect(address: str, link: str) -> websockets.connect:
    return websockets.connect(f"{address.replace('http', 'ws', 1)}{link}/socket", max_size=None, compression=None)


async def next_decision(connection: ClientConnection) -> tuple[int, list[str]] | None:
    """Return the number of the next decision and harmless actions; None at the end."""
    while True:
        text = str(await connection.recv())
        found = DECISION.search(text)
        if found:
            legal = json.loads(f"[{found[2]}]")
            # A name stands first in the doubts as well as in the list.
            return int(found[1]), [name for name in legal if f'"{name}":' not in found[3]] or legal
        if OVER in text:
            return None


async def act(connection: ClientConnection, decision: tuple[int, list[str]], rng: random.Random) -> None:
    number, names = decision
    await connection.send(json.dumps({"type": "act", "decision": number, "action": rng.choice(names)}))


# --- moves ---


async def play(address: str, seed: int, until: float, times: list[float], measured_from: float) -> None:
    """Play at tables, a move a second, and note how long each took to be answered."""
    rng = random.Random(seed)
    number = 0
    while time.monotonic() < until:
        link = await make_table(address, 1000 * seed + number)
        number += 1
        async with connect(address, link) as connection:
            decision = await next_decision(connection)
            due = time.monotonic() + rng.random()
            while decision is not None and time.monotonic() < until:
                await asyncio.sleep(max(due - time.monotonic(), 0))
                due += 1
                began = time.perf_counter()
                await act(connection, decision, rng)
                decision = await next_decision(connection)
                if time.monotonic() > measured_from:
                    times.append(time.perf_counter() - began)


async def measure_moves(address: str, pid: int, tables: int, seconds: int) -> tuple[list[float], float]:
    """Return the seconds until each move was answered, and the server's processor time for all of them."""
    times: list[float] = []
    # Tables are made before the first move counts.
    measured_from = time.monotonic() + 5 + tables / 20
    until = measured_from + seconds
    tasks = []
    for seed in range(tables):
        tasks.append(asyncio.create_task(play(address, seed, until, times, measured_from)))
        await asyncio.sleep(0.03)
    await asyncio.sleep(measured_from - time.monotonic())
    before = cpu_seconds(pid)
    await asyncio.gather(*tasks)
    return times, cpu_seconds(pid) - before


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, 0.0 where the system does not tell."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def print_moves(tables: int, seconds: int) -> None:
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (address, pid):
        times, spent = asyncio.run(measure_moves(address, pid, tables, seconds))
    if len(times) < 2:
        print(f"{tables:6}  no move was answered")
        return
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    print(f"{tables:6}{len(times):8}{1000 * cuts[49]:10.1f}{1000 * cuts[98]:10.1f}{1000 * spent / len(times):16.2f}")


# --- memory ---


def resident(pid: int) -> float:
    """Return the memory of a process in MB; nan where the system does not tell."""
    with suppress(OSError):
        found = re.search(r"^VmRSS:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
        return int(found[1]) / 1024 if found else float("nan")
    return float("nan")


async def play_out(address: str, link: str, seed: int) -> None:
    rng = random.Random(seed)
    async with connect(address, link) as connection:
        while (decision := await next_decision(connection)) is not None:
            await act(connection, decision, rng)


def print_memory(games: int) -> None:
    print(f"\n{'games':>6}{'MB':>8}")
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (address, pid):
        for number in range(1, games + 1):
            link = asyncio.run(make_table(address, number, max_turns=SHORT))
            asyncio.run(play_out(address, link, number))
            if number % EVERY == 0 or number == games:
                print(f"{number:6}{resident(pid):8.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=whole(1, 900), nargs="+", default=[50, 100, 200])
    parser.add_argument("--seconds", type=whole(1, 3600), default=30)
    parser.add_argument("--games", type=whole(0, 100_000), default=2000, help="for the memory")
    args = parser.parse_args()
    print(f"{'tables':>6}{'moves':>8}{'p50 ms':>10}{'p99 ms':>10}{'server ms/move':>16}")
    for tables in args.tables:
        print_moves(tables, args.seconds)
    if args.games:
        print_memory(args.games)


if __name__ == "__main__":
    main()
