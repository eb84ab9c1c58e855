"""Files: read up to a size, and written so that nothing is lost."""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

# Characters of a file's name in the name of its unfinished copy: names have a longest length.
KEPT = 60


def read_bytes(path: str | Path, most: int) -> bytes:
    """Read a file that may be anything.

    Args:
        path: of the file.
        most: bytes. What is larger, which its size says, is not read.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger.
    """
    about = Path(path).stat()
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(about.st_mode):
        # Opening a pipe would wait for somebody who writes to it, reading a device might never end.
        raise OSError("it is not a regular file")
    content = b""
    if about.st_size <= most:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)
    if max(about.st_size, len(content)) > most:
        raise OSError(f"it is larger than any such file ({most} bytes)")
    return content


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that its name means the whole old content or the whole new one, whatever happens.

    A file that was there keeps its permissions.
    """
    partial = path.with_name(f"{path.name[:KEPT]}.{os.getpid()}-{threading.get_ident()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
        partial.replace(path)
    except OSError as error:
        # A full disk does not say which file it had no room for.
        error.filename = error.filename or str(path)
        raise
    finally:
        # In a folder that has gone, or may not be written, there is none.
        with suppress(OSError):
            partial.unlink()
