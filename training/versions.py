"""Which versions made a file."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("sleuth-env", "numpy", "numba", "torch", "stable_baselines3", "sb3_contrib")


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Give Python's version and those of the packages that training depends on."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
