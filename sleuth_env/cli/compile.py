"""The command ``sleuth compile``: everything is compiled now, so that later starts compile nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..compilation import compile_kernels
from .parser import Parser, add_game, command_parser
from .report import step_bar
from .streams import WriteError, show

DESCRIPTION = (
    "Compile everything of a game beforehand: rules, observations, bots, policies and beliefs, and what "
    "training needs where it is installed. Of a processor's time that takes about two minutes for sleuth "
    "and three for holmes; later starts then compile nothing. "
    "The compiled code is kept beside the package or, where that cannot be written, in your own cache; "
    "NUMBA_CACHE_DIR names another folder."
)


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command."""
    parser = command_parser("compile", DESCRIPTION, [""])
    add_game(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Compile, and say whether everything could be kept."""
    with step_bar() as progress:
        compiled = compile_kernels(args.game, progress)
    if compiled.lost:
        raise WriteError(compiled.lost[0])
    new = f"{compiled.number} kernels compiled" if compiled.number else "all kernels had been compiled"
    show([f"{args.game.NAME}: {new}; starts are quick now."])
    return 0
