"""Folders that one process uses at a time.

It needs filelock, which comes with the extras that need a lock.
"""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

LOCK = "lock"


class LockError(OSError):
    """A folder cannot be locked; `strerror` says why."""


def locked(folder: Path, use: str) -> BaseFileLock:
    """Take the lock of a folder until it is released, in whatever thread.

    The system releases it however the process ends.

    Args:
        folder: the folder.
        use: what another process that has the lock does, such as "is training in it".

    Raises:
        LockError: another process has it, or it is not a file of its own.
    """
    path = folder / LOCK
    # The lock opens what it finds: a link could lead to a file of somebody else's.
    if path.is_symlink() or (path.exists() and not stat.S_ISREG(path.stat().st_mode)):
        raise LockError(errno.EINVAL, f"{path} is not a regular file: remove it if no other process {use}")
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise LockError(errno.EBUSY, f"{folder} is in use: another process {use}") from error
    return lock
