"""The command ``sleuth info``: what a report of a fault should say of the machine and what is installed."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llvmlite.binding import get_host_cpu_name
from numba.core import config

from ..files import read_bytes
from ..game import GAMES
from ..kernel_cache import kept_kernels
from ..policies.policy_file import pretrained_names, version_of
from ..trainer import PACKAGE, configurations
from ..version import __version__
from .parser import Parser, add_json, command_parser
from .report import put

DESCRIPTION = "Print versions, threads, processor and the folders of compiled kernels: put it into reports of faults."
REQUIRED = (
    "numpy",
    "numba",
    "llvmlite",
    "cloudpickle",
    "gymnasium",
    "pettingzoo",
    "pillow",
    "prompt_toolkit",
    "rich",
    "safetensors",
)
OPTIONAL = (
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "pydantic",
    "matplotlib",
    "tensorboard",
    "onnx",
    "choix",
    "ray",
    "open_spiel",
    "openenv-core",
    "wandb",
    "mlflow",
)
# What decides about threads and compiled code.
VARIABLES = (
    *("NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "NUMBA_CPU_NAME"),
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
)
CPU_FILE = Path("/proc/cpuinfo")
MOST_CPU_BYTES = 1 << 22


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command."""
    parser = command_parser("info", DESCRIPTION, ["", "--json info.json"])
    add_json(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Print it."""
    content = information()
    rows = [(name, value) for section in content.values() for name, value in section.items()]
    width = max(len(name) for name, _ in rows) + 2
    lines = [f"{name:<{width}}{value}" for name, value in rows]
    put(args.json, lines, content)
    return 0


def information() -> dict[str, dict[str, Any]]:
    """Return what is printed: names and values, by section."""
    return {
        "package": {"sleuth-env": __version__, "installed in": str(PACKAGE)},
        "machine": {
            "Python": f"{platform.python_implementation()} {platform.python_version()}",
            "system": platform.platform(),
            "processor": _processor(),
            "cores": f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}"
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
            "compiled for": getattr(config, "CPU_NAME", None) or get_host_cpu_name(),
            "threads of numba": getattr(config, "NUMBA_NUM_THREADS", None),
        },
        "packages": {name: version_of(name) for name in (*REQUIRED, *OPTIONAL)},
        "variables": {name: os.environ.get(name, "not set") for name in VARIABLES},
        "kernels": {
            f"kernels in {folder}": f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB{_reading(folder)}"
            for folder, sizes in kept_kernels(PACKAGE).items()
        },
        "contents": {
            "games": ", ".join(GAMES),
            "policies": ", ".join(name for game in GAMES for name in pretrained_names(game)),
            "configurations": ", ".join(configurations()),
        },
    }


def _reading(folder: Path) -> str:
    """Say of a folder that nothing new can be written there, where that is so."""
    return "" if os.access(folder, os.W_OK) else ", not writable" if folder.exists() else ", not there yet"


def _processor() -> str:
    """Return the processor's name, which Python does not know on Linux."""
    try:
        text = read_bytes(CPU_FILE, MOST_CPU_BYTES).decode(errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, platform.machine())
