"""The server that the tests of the pages talk with: that of the package, or the small one beside this file."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start a server of games; return its address, and end it afterwards.

    Args:
        folder: where it may keep games.
    """
    start = serve if find_spec("sleuth_env.web.server") else stand_in
    with start(folder) as address:
        yield address


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Run ``sleuth serve``."""
    command = [sys.executable, "-m", "sleuth_env", "serve", "--port", "0", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield address_in(process.stdout or ())
        finally:
            process.terminate()


def address_in(lines: Iterable[str]) -> str:
    """Return the address that a server says it has."""
    found = (re.search(r"(http://\S+?)/? ", line) for line in lines)
    return next(match[1] for match in found if match)


@contextmanager
def stand_in(folder: Path) -> Iterator[str]:
    """Run the small server in a thread."""
    import uvicorn

    from .stand_in import app

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
