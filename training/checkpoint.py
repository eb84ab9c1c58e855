"""Checkpoints, read without trust; the versions of packages."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .config import ConfigError

PACKAGES = ("sleuth-env", "numpy", "numba", "torch", "stable_baselines3", "sb3_contrib")
# What every checkpoint has, and of which type.
KINDS = {"parameters": dict, "steps": int, "updates": int, "iterations": int, "seconds": float, "pool": list}


def read_checkpoint(path: Path, device: Any) -> dict[str, Any]:
    """Read a checkpoint.

    Raises:
        ConfigError: it is damaged.
    """
    try:
        # weights_only: a checkpoint is numbers and plain containers, nothing that unpickling could
        # run.
        state = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:
        # torch would advise running its code.
        raise ConfigError(
            f"{path} cannot be resumed: it is damaged, or holds more than numbers and plain containers"
        ) from error
    wrong = [key for key, kind in KINDS.items() if not isinstance(state, dict) or type(state.get(key)) is not kind]
    if wrong:
        raise ConfigError(f"{path} cannot be resumed: its {wrong[0]} is missing or of the wrong kind")
    if min(state["steps"], state["updates"], state["iterations"]) < 0 or not 0 <= state["seconds"] < math.inf:
        raise ConfigError(f"{path} cannot be resumed: its counters are out of range")
    if not all(isinstance(name, str) and re.fullmatch(r"\d{12,}", name) for name in state["pool"]):
        raise ConfigError(f"{path} cannot be resumed: its pool names something that is not a snapshot")
    if not all_finite(state["parameters"]):
        raise ConfigError(f"{path} cannot be resumed: its weights are not finite numbers")
    return dict(state)


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
    """Change every array or tensor in nested dicts."""
    if isinstance(tree, dict):
        return {key: each_array(change, value) for key, value in tree.items()}
    return change(tree) if isinstance(tree, (np.ndarray, torch.Tensor)) else tree


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that training depends on."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
