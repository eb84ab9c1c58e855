"""How many connections a server takes, and how long one may wait to say what it wants.

Every connection takes one of the files that a process may have open, and without any left games
could not be kept.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

# Seconds in which a connection must have asked for something.
PATIENCE = 10.0
# Open files that are left for games and for everything else, and the most that are asked for.
SPARE = 200
MOST_FILES = 65_536
# Connections where the system does not say how many files may be open.
UNKNOWN = 500


def most_connections() -> int:
    """Return how many connections there may be, after the system was asked to allow more open files."""
    try:
        import resource
    except ImportError:  # Windows
        return UNKNOWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    files = MOST_FILES if soft == resource.RLIM_INFINITY else soft
    return max(files - SPARE, files // 2)


def is_our_fault(record: logging.LogRecord) -> bool:
    """Return whether a line of uvicorn's log is about more than what somebody has sent wrongly.

    Text that is none ends its connection with a code that says so. Whoever sends it shall not fill the log.
    """
    return record.exc_info is None or not isinstance(record.exc_info[1], UnicodeDecodeError)


def impatient(protocol: Any, most: int, patience: float = PATIENCE) -> type:
    """Return a protocol of uvicorn that closes connections that are too many, or that ask for nothing.

    Args:
        protocol: the class of uvicorn's that speaks HTTP.
        most: connections.
        patience: seconds.
    """

    class Impatient(protocol):  # type: ignore[misc]
        """It speaks HTTP, but not forever."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            """Take a connection, unless there are too many."""
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.close()
            else:
                self.loop.call_later(patience, self._close_if_silent)

        def _close_if_silent(self) -> None:
            # One that has become a websocket belongs to another protocol now.
            is_mine = self.transport.get_protocol() is self
            if is_mine and self.cycle is None and not self.transport.is_closing():
                self.transport.close()

    return Impatient
