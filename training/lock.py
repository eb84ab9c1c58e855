"""The lock of a run folder."""

from __future__ import annotations

import stat
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from .config_file import ConfigError

LOCK = "lock"


def locked(folder: Path) -> BaseFileLock:
    """Take the lock of a run folder until it is released, in whatever thread.

    The system releases it however the process ends.

    Raises:
        ConfigError: another process trains in this folder, or its lock is not a file of its own.
    """
    path = folder / LOCK
    # The lock opens what it finds: a link could lead to a file of somebody else's.
    if path.is_symlink() or (path.exists() and not stat.S_ISREG(path.stat().st_mode)):
        raise ConfigError(f"{path} is not a regular file: remove it if no process is training in {folder}")
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ConfigError(f"{folder} is in use: another process is training in it") from error
    return lock
