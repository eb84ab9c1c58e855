"""Checkpoints, read without trust; the versions of packages.

A checkpoint is what ``torch.save`` writes, followed by `TRAILER` with the SHA-256 of all that; torch
reads it as if that were not there.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import torch

from sleuth_env.files import read_bytes, write_atomically
from sleuth_env.policies.policy_file import version_of

from .config import ConfigError
from .terminal import out_of_memory

# The name of a past self, by the steps of the learner.
SNAPSHOT = r"\d{12,}"
PACKAGES = ("sleuth-env", "numpy", "numba", "torch", "stable_baselines3", "sb3_contrib")
# What every checkpoint has, and of which type.
KINDS = {"parameters": dict, "steps": int, "updates": int, "iterations": int, "seconds": float, "pool": list}

TRAILER = b"sha256 %s\n"
TRAILER_BYTES = len(TRAILER % (b"0" * 64))
# The end of a zip file without a comment: older checkpoints have no trailer.
ZIP_END = b"PK\x05\x06"
ZIP_END_BYTES = 22


class DamagedError(ConfigError):
    """The content of a checkpoint is proved not to be what was written."""


def read_checkpoint(path: Path, device: Any) -> dict[str, Any]:
    """Read a checkpoint.

    Raises:
        DamagedError: its content is not what was written.
        ConfigError: it is whole but holds something else than a checkpoint does.
        OSError: it cannot be read, which says nothing of its content.
        MemoryError: there is not enough memory for it.
    """
    content = read_bytes(path)
    _check_whole(path, content)
    try:
        # weights_only: a checkpoint is numbers and plain containers, nothing that unpickling could
        # run.
        state = torch.load(BytesIO(content), map_location=device, weights_only=True)
    except Exception as error:
        if isinstance(error, OSError) or out_of_memory(error):
            raise
        # torch would advise running its code.
        raise ConfigError(f"{path} cannot be resumed: it holds more than numbers and plain containers") from error
    wrong = [key for key, kind in KINDS.items() if not isinstance(state, dict) or type(state.get(key)) is not kind]
    if wrong:
        raise ConfigError(f"{path} cannot be resumed: its {wrong[0]} is missing or of the wrong kind")
    if min(state["steps"], state["updates"], state["iterations"]) < 0 or not 0 <= state["seconds"] < math.inf:
        raise ConfigError(f"{path} cannot be resumed: its counters are out of range")
    if not all(isinstance(name, str) and re.fullmatch(SNAPSHOT, name) for name in state["pool"]):
        raise ConfigError(f"{path} cannot be resumed: its pool names something that is not a snapshot")
    if not all_finite(state["parameters"]):
        raise ConfigError(f"{path} cannot be resumed: its weights are not finite numbers")
    digests = state.get("pool_digests", {})
    if not isinstance(digests, dict) or not all(isinstance(digest, str) for digest in digests.values()):
        raise ConfigError(f"{path} cannot be resumed: its pool_digests are not texts")
    return dict(state)


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint with its checksum in one step."""
    stored = BytesIO()
    torch.save(state, stored)
    content = stored.getvalue()
    write_atomically(path, content + TRAILER % sha256(content).hexdigest().encode())


def _check_whole(path: Path, content: bytes) -> None:
    """Check that a file is what was written.

    Raises:
        DamagedError: it is not.
    """
    body = content[:-TRAILER_BYTES]
    if content[-TRAILER_BYTES:] == TRAILER % sha256(body).hexdigest().encode():
        return
    if content[-ZIP_END_BYTES:].startswith(ZIP_END):
        # Of an older version, with no more than the checksums of a zip file's parts. A file with a
        # trailer never ends like this, whichever of its bits are changed.
        try:
            with ZipFile(BytesIO(content)) as parts:
                if parts.testzip() is None:
                    return
        except MemoryError:
            raise
        except Exception as error:
            raise DamagedError(f"{path} cannot be resumed: it is damaged ({error})") from error
    raise DamagedError(f"{path} cannot be resumed: it is damaged, its content does not have its checksum")


def all_finite(tree: Any) -> bool:
    """Return whether all numbers in nested containers are finite."""
    if isinstance(tree, torch.Tensor):
        return bool(torch.isfinite(tree).all())
    if isinstance(tree, dict):
        return all(map(all_finite, tree.values()))
    if isinstance(tree, (list, tuple)):
        return all(map(all_finite, tree))
    return not isinstance(tree, float) or math.isfinite(tree)


def restore_optimizer(optimizer: torch.optim.Optimizer, stored: dict[str, Any]) -> None:
    """Take over what Adam has learned of each parameter; its settings stay the configuration's.

    Raises:
        ValueError: that does not fit the parameters; Adam does not look, and would read and write
            beyond its arrays.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state = {}
    for number, moments in stored["state"].items():
        if not isinstance(number, int) or not 0 <= number < len(parameters):
            raise ValueError("its optimiser knows other parameters")
        shapes = {"step": torch.Size(()), "exp_avg": parameters[number].shape, "exp_avg_sq": parameters[number].shape}
        tensors = {
            name: moment
            for name, moment in moments.items()
            if isinstance(moment, torch.Tensor) and moment.dtype == torch.float32
        }
        if {name: moment.shape for name, moment in tensors.items()} != shapes or len(moments) > len(shapes):
            raise ValueError("its optimiser does not fit the parameters")
        if (tensors["step"] < 0).any() or (tensors["exp_avg_sq"] < 0).any():
            raise ValueError("its optimiser has numbers out of range")
        # Copied: a tensor that was read may hold one number for all its places.
        state[number] = {name: torch.empty(shape).copy_(tensors[name]) for name, shape in shapes.items()}
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def each_array(change: Callable[[Any], Any], tree: Any) -> Any:
    """Change every array or tensor in nested dicts and lists."""
    if isinstance(tree, dict):
        return {key: each_array(change, value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [each_array(change, value) for value in tree]
    return change(tree) if isinstance(tree, (np.ndarray, torch.Tensor)) else tree


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that training depends on."""
    return {"python": platform.python_version()} | {package: version_of(package) for package in PACKAGES}
