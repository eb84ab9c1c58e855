"""Files: read up to a size, and written so that nothing is lost."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path

# Characters of a file's name in the name of its unfinished copy: names have a longest length.
KEPT = 60
# Bytes of a file that the package has written itself: more than it writes.
MOST_BYTES = 1 << 34
# The permissions of a file that only its owner may read.
PRIVATE = 0o600


def read_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """Read a file that may be anything.

    Args:
        path: of the file.
        most: bytes. What is larger, which its size says, is not read.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger.
        TypeError: it is not a path.
    """
    # A number would be a file that is open already.
    path = os.fspath(path)
    # Opening a device may do something by itself.
    _check(path, os.stat(path), most)
    with open(path, "rb", opener=_open_at_once) as file:
        # Another file may have taken its place.
        _check(path, os.fstat(file.fileno()), most)
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(path, most)
    return content


def digest_of(path: str | Path) -> str:
    """Return the SHA-256 of a file that may be anything, however large it is, in hexadecimal digits.

    Args:
        path: of the file.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    _check(path, os.stat(path), sys.maxsize)
    with open(path, "rb", opener=_open_at_once) as file:
        # Another file may have taken its place.
        _check(path, os.fstat(file.fileno()), sys.maxsize)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe without waiting for somebody who writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


def _check(path: str | Path, about: os.stat_result, most: int) -> None:
    """Check that a file is one that can be read to its end."""
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(about.st_mode):
        # A pipe would be waited for, reading a device might never end.
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if about.st_size > most:
        raise _too_large(path, most)


def _too_large(path: str | Path, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than any such file ({most} bytes)", str(path))


def write_atomically(path: Path, content: bytes, private: bool = False, synced: bool = True) -> None:
    """Write a file so that its name means the whole old content or the whole new one, whatever happens.

    A file that was there keeps its permissions.

    Args:
        path: of the file.
        content: of it.
        private: whether only its owner may read it, already before anything is written to it.
        synced: whether it is on the disk at the end, which takes milliseconds; else the system writes
            it soon, and it is lost with the power of the machine, not with the process.

    Raises:
        OSError: it cannot be written, and is what it was.
    """
    partial = path.with_name(f"{path.name[:KEPT]}.{os.getpid()}-{threading.get_ident()}.partial")
    try:
        with open(partial, "wb", opener=_open_private if private else None) as file:
            file.write(content)
            file.flush()
            if synced:
                os.fsync(file.fileno())
        with suppress(OSError):
            partial.chmod(PRIVATE if private else stat.S_IMODE(path.stat().st_mode))
        partial.replace(path)
    except OSError as error:
        # A full disk does not say which file it had no room for, and the name of the copy is nobody's affair.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        # In a folder that has gone, or may not be written, there is none.
        with suppress(OSError):
            partial.unlink()
