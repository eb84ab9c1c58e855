"""The frame of a policy file: safetensors with metadata, read without trust.

Nothing in a file is executed or unpickled. Sizes come first, then the metadata, then the tensors, and
then the checksum of them all; what they mean is `policy`'s affair.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..checks import one_line, shown
from ..files import read_bytes
from ..game import DEFAULT_GAME

SUFFIX = ".safetensors"
# The policies that come with the package: `pretrained:sleuth-4p` is sleuth-4p.safetensors in this
# folder, and `pretrained:4p` its short form where the game is known.
PRETRAINED = "pretrained:"
PRETRAINED_FOLDER = Path(__file__).parents[1] / "pretrained"
FORMAT = "sleuth-env policy"
FORMAT_VERSION = "1"
# Keys of the header, and of the metadata in it: files of other tools and of older versions have no checksum.
METADATA = "__metadata__"
CHECKSUM = "sha256"
MOST_HEADER_BYTES = 1 << 20
MOST_FILE_BYTES = 1 << 30
# What a file may say of each evaluation: against whom, how many games and which deals, and the win share
# with its interval.
EVALUATION = {
    "against": str,
    "games": int,
    "seed": int,
    "win_share": float,
    "win_low": float,
    "win_high": float,
    "fair_share": float,
}
MOST_EVALUATIONS = 64
# Of both together, of which the header must have room for more.
MOST_TOLD_BYTES = 1 << 18


def version_of(package: str) -> str:
    """Return the version of a package, as files say with what they were made."""
    # Late: nobody who plays needs it.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


class PolicyError(ValueError):
    """A policy file cannot be read, or cannot play this game; the message says why.

    Files are not trusted, nor is what a message quotes of them: it is cut to one line of printable
    characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def other_game(path: str | Path, found: str, wanted: str) -> PolicyError:
    """Return the refusal of a policy of another game."""
    return PolicyError(f"{path} is a policy for the game {found!r}, not for {wanted!r}: name its game (--game {found})")


def names_file(text: str) -> bool:
    """Return whether a player's name means a policy file: one of this package, or one by its path."""
    return text.startswith(PRETRAINED) or text.endswith(SUFFIX)


def pretrained_names(game: str = "") -> list[str]:
    """Return the names of the policies that come with the package: those of a game, or all.

    >>> pretrained_names("holmes")
    ['pretrained:holmes-3p', 'pretrained:holmes-4p']
    """
    files = PRETRAINED_FOLDER.glob(f"{game}-*{SUFFIX}" if game else f"*{SUFFIX}")
    return sorted(f"{PRETRAINED}{path.name.removesuffix(SUFFIX)}" for path in files)


def located(path: str | Path, game: str = DEFAULT_GAME) -> str | Path:
    """Return the path of a policy file, which may be named as one that comes with the package.

    Args:
        path: the path, or such as ``pretrained:sleuth-4p`` or, of the game, ``pretrained:4p``.
        game: the game's name.

    Raises:
        PolicyError: this is no name of a file, or the package has not got a policy of this name.
    """
    if not isinstance(path, (str, os.PathLike)):
        kind = type(path).__name__
        raise PolicyError(f"{shown(path)} cannot be read: expected str, bytes or os.PathLike object, not {kind}")
    text = str(path)
    if not text.startswith(PRETRAINED):
        return path
    short = text.removeprefix(PRETRAINED)
    names = pretrained_names()
    for full in (short, f"{game}-{short}"):
        if f"{PRETRAINED}{full}" in names:
            return PRETRAINED_FOLDER / f"{full}{SUFFIX}"
    included = ", ".join(names) or "none"
    raise PolicyError(f"there is no bundled policy {text[:100]!r}; this version includes {included}")


def sealed(content: bytes) -> bytes:
    """Return a safetensors file with the header's entries in order, and with its checksum among its metadata.

    The library writes metadata in another order each time.
    """
    size = int.from_bytes(content[:8], "little")
    body = content[8 + size :]
    header = json.loads(content[8 : 8 + size])
    header[METADATA][CHECKSUM] = checksum(header, body)
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def checksum(header: Mapping[str, Any], body: bytes | memoryview) -> str:
    """Return the SHA-256 of what a safetensors file holds, in hexadecimal digits.

    It is over the metadata without the checksum and the types and shapes of the tensors, as JSON in ASCII
    with sorted keys and without spaces, and then over the bytes of the tensors in the order of their names.
    So it does not depend on the order in which somebody has written them.

    Args:
        header: of a file that the library can read.
        body: what follows the header.
    """
    names = sorted(header.keys() - {METADATA})
    said = {
        METADATA: {key: text for key, text in header[METADATA].items() if key != CHECKSUM},
        **{name: {key: header[name][key] for key in ("dtype", "shape")} for name in names},
    }
    digest = sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode())
    for name in names:
        begin, end = header[name]["data_offsets"]
        digest.update(body[begin:end])
    return digest.hexdigest()


def read_metadata(path: str | Path, game: str = DEFAULT_GAME) -> dict[str, Any]:
    """Read what a policy file says of itself, as plain values.

    Raises:
        PolicyError: it is not a policy file of this format, or it is damaged.
    """
    return read_policy_file(path, game)[0]


def read_policy_file(path: str | Path, game: str = DEFAULT_GAME) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a policy file's metadata, as plain values of the right types, and its tensors.

    Nobody has checked the tensors' shapes and numbers yet, but where the file has a checksum, they are those
    that were written.

    Raises:
        PolicyError: it is not a policy file of this format, or it is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    content = _read_bytes(located(path, game))
    header_size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 2 <= header_size <= min(MOST_HEADER_BYTES, len(content) - 8):
        raise PolicyError(f"{path} is not a policy file, or only the beginning of one")
    try:
        header = json.loads(content[8 : 8 + header_size])
        metadata = _metadata(header[METADATA])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PolicyError(f"{path} is not a policy file: it does not say what it is") from error
    if (metadata["format"], metadata["format_version"]) != (FORMAT, FORMAT_VERSION):
        raise PolicyError(
            f"{path} has the format {metadata['format']!r} {metadata['format_version']!r}; "
            f"this version reads {FORMAT!r} {FORMAT_VERSION!r}"
        )
    wrong = [key for key, entry in header.items() if key != METADATA and _dtype(entry) not in ("F32", "I32")]
    if wrong:
        raise PolicyError(f"{path}: the tensors {', '.join(wrong)} are not of the type that they should have")
    try:
        tensors = load(content)
    except (SafetensorError, ValueError, OverflowError) as error:
        raise PolicyError(f"{path} is damaged: {error}") from error
    # After the library has found the header to be whole.
    written = header[METADATA].get(CHECKSUM)
    if written is not None and written != checksum(header, memoryview(content)[8 + header_size :]):
        raise PolicyError(f"{path} is damaged: its content does not have its checksum")
    return metadata, tensors


def _dtype(entry: Any) -> Any:
    return entry.get("dtype") if isinstance(entry, dict) else None


def _read_bytes(path: str | Path) -> bytes:
    try:
        return read_bytes(path, MOST_FILE_BYTES)
    except (OSError, TypeError, ValueError) as error:
        raise PolicyError(f"{path!s} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _metadata(texts: Mapping[str, str]) -> dict[str, Any]:
    """Turn the metadata's texts into values; each key must be there and of its type."""
    plain = ("format", "format_version", "game", "record", "observation_hash")
    parsed = {
        "options": dict,
        "observation": list,
        "architecture": dict,
        "versions": dict,
        "steps": int,
        "num_players": int,
    }
    metadata: dict[str, Any] = {key: texts[key] for key in plain} | {key: json.loads(texts[key]) for key in parsed}
    # These came later, and whoever saves a policy need not know them.
    may_lack = ("win_share", "training", "evaluation")
    metadata |= {key: json.loads(texts.get(key, "null")) for key in may_lack}
    share = metadata["win_share"]
    # Exactly: true is an int too.
    if not all(type(metadata[key]) is str for key in plain) or not all(
        type(metadata[key]) is kind for key, kind in parsed.items()
    ):
        raise ValueError("metadata of the wrong type")
    if metadata["steps"] < 0 or not (share is None or (type(share) is float and 0 <= share <= 1)):
        raise ValueError("metadata out of range")
    if metadata["training"] is not None and type(metadata["training"]) is not dict:
        raise ValueError("metadata of the wrong type")
    if metadata["evaluation"] is not None:
        check_evaluation(metadata["evaluation"])
    return metadata


def check_evaluation(rows: Any) -> list[dict[str, Any]]:
    """Return what a file says, or is to say, of evaluations: a list of mappings with the keys of `EVALUATION`.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) > MOST_EVALUATIONS:
        raise ValueError(f"evaluation must be a list of at most {MOST_EVALUATIONS} mappings")
    for row in rows:
        # Exactly: true is an int too.
        if not isinstance(row, Mapping) or {key: type(value) for key, value in row.items()} != EVALUATION:
            raise ValueError(f"evaluation must be a list of mappings with the keys {', '.join(EVALUATION)}")
        if row["games"] < 1 or row["seed"] < 0:
            raise ValueError("evaluation needs games of at least 1 and a seed of at least 0")
        if not 0 <= row["win_low"] <= row["win_share"] <= row["win_high"] <= 1 or not 0 <= row["fair_share"] <= 1:
            raise ValueError("evaluation needs shares from 0 to 1, each win share inside its interval")
    return [dict(row) for row in rows]
