"""Files written so that nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that its name means the whole old content or the whole new one, whatever happens."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        # A full disk does not say which file it had no room for.
        error.filename = error.filename or str(path)
        raise
    finally:
        partial.unlink(missing_ok=True)
