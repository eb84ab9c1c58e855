"""What a game text says, in a comment, of how it was played: the words of the command that played it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from ..checks import one_line
from ..matches.program import names_program, program_name
from ..web.messages import PERSON
from .arguments import joined, listed

REMARK = re.compile(r"^# sleuth play (.*)$", re.M)
SEATED = re.compile(r"^# players: (.*)$", re.M)


class Remark(NamedTuple):
    """How a saved game was played, as its text says."""

    seat: int
    seed: int
    opponents: list[str]
    greedy: bool


def written(opponents: Sequence[str], greedy: bool) -> str:
    """Return what a text says of the opponents, as the words of a command.

    >>> print(written(["sheet", "a, b.safetensors"], True))
    --opponents 'sheet,"a, b.safetensors"' --greedy
    """
    return f"--opponents {shlex.quote(joined(map(one_line, opponents)))}{' --greedy' * greedy}"


def remark_of(words: str, num_players: int) -> Remark | None:
    """Read what a text says of how it was played; None for what nobody has written.

    >>> remark_of('--seat 0 --seed 7 --opponents "sheet,random"', 3)
    Remark(seat=0, seed=7, opponents=['sheet', 'random'], greedy=False)
    >>> remark_of("--seat 0 --seed x --opponents sheet,random", 3)
    """
    try:
        parts = shlex.split(words)
        seat, seed, opponents = parts[1:6:2]
        names = listed(opponents, "--opponents")
    except ValueError:
        return None
    numbers = re.fullmatch(r"\d{1,3} \d{1,20}", f"{seat} {seed}", re.ASCII)
    rest = parts[6:]
    if parts[:6:2] != ["--seat", "--seed", "--opponents"] or not numbers or rest not in ([], ["--greedy"]):
        return None
    if len(names) != num_players - 1:
        return None
    return Remark(int(seat), int(seed) % 2**64, names, bool(rest))


def seated(players: Sequence[str]) -> str:
    """Return the line of a text that says who played in each seat; programs without what follows their names.

    >>> print(seated(["sheet", "a, b.safetensors"]), end="")
    # players: sheet,"a, b.safetensors"
    """
    names = (program_name(name) if names_program(name) else name for name in players)
    return f"# players: {joined(map(one_line, names))}\n"


def players_in(text: str, num_players: int) -> list[str]:
    """Return who played in each seat of a game, as its text says; [] where it does not.

    >>> players_in("# sleuth play --seat 1 --seed 7 --opponents sheet,random", 3)
    ['random', 'person', 'sheet']
    >>> players_in(seated(["sheet", "a, b.safetensors", "sheet"]), 3)
    ['sheet', 'a, b.safetensors', 'sheet']
    """
    found = SEATED.search(text)
    if found:
        return _listed(found[1], num_players)
    line = REMARK.search(text)
    remark = remark_of(line[1], num_players) if line else None
    if remark is None or remark.seat >= num_players:
        return []
    from_seat = [PERSON, *remark.opponents]
    return [from_seat[(seat - remark.seat) % num_players] for seat in range(num_players)]


def _listed(names: str, num_players: int) -> list[str]:
    """Return names that a text lists for the seats; [] for what nobody has written."""
    try:
        found = listed(names, "players")
    except ValueError:
        return []
    return found if len(found) == num_players else []
