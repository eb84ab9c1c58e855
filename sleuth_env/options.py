"""The options of a game, described once as data and read by its docstring, ``--help``, the manual and configurations.

A game's options are a frozen dataclass whose fields are made by `option`. It checks itself.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from .checks import did_you_mean, shown

T = TypeVar("T")
WIDTH = 100  # of a docstring


class OptionError(ValueError):
    """An option has a value that the rules do not know; the message lists the legal ones.

    Attributes:
        option: its name; empty where the message is about none in particular.
    """

    def __init__(self, message: str, option: str = "") -> None:
        super().__init__(message)
        self.option = option


class UnknownOptionError(OptionError, TypeError):
    """An argument or an option has an unknown name; the message lists the known ones.

    It is a TypeError, worded as Python words it, for whoever tries out what a function takes.
    """


@dataclass(frozen=True)
class Described:
    """What is said of an option.

    Args:
        name: the option.
        default: its value where none is given.
        values: the legal values, in words.
        meaning: what it settles, one phrase.
        minor: whether a policy that was trained under one value can play under another: it changes
            neither the size of anything nor what an action does.
    """

    name: str
    default: Any
    values: str
    meaning: str
    minor: bool


def option(default: Any, values: str, meaning: str, minor: bool = False) -> Any:
    """Return a field of an options dataclass; see `Described`."""
    return dataclasses.field(default=default, metadata={"values": values, "meaning": meaning, "minor": minor})


def described(options: Any) -> list[Described]:
    """Return the description of each option of an options dataclass, or of an instance of one."""
    return [Described(field.name, field.default, **field.metadata) for field in dataclasses.fields(options)]


def documented(options: type[T]) -> type[T]:
    """Write the descriptions of the options into the docstring of their dataclass, in the place of ``{options}``."""
    lines: list[str] = []
    for about in described(options):
        text = f"{about.name}: {about.meaning} ({about.values}; default {about.default!r})."
        lines += textwrap.wrap(text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 12)
    options.__doc__ = (options.__doc__ or "").replace("        {options}", "\n".join(lines))
    _refuse_unknown(options)
    return options


def _refuse_unknown(options: Any) -> None:
    """Let an options dataclass list its options where it is given a name that it does not know."""
    make = options.__init__
    name = options.__qualname__
    known = [field.name for field in dataclasses.fields(options)]

    @wraps(make)
    def init(self: Any, *values: Any, **named: Any) -> None:
        check_names(options, named, f"{name}.__init__()", f"the options are {', '.join(known)}")
        make(self, *values, **named)

    options.__init__ = init


def check_names(options: Any, names: Mapping[str, Any], taker: str, legal: str, others: Sequence[str] = ()) -> None:
    """Check that each name is one of the options.

    Args:
        options: the dataclass.
        names: what was given.
        taker: what they were given to.
        legal: the end of the message, which lists what is legal.
        others: names of further arguments, which may have been meant.

    Raises:
        UnknownOptionError: one is not.
    """
    known = [field.name for field in dataclasses.fields(options)]
    for name in names:
        if name not in known:
            guess = did_you_mean(name, [*known, *others])
            raise UnknownOptionError(
                f"{taker} got an unexpected keyword argument {name!r}{guess or ';'} {legal}", option=name
            )


def parse_option(options: Any, name: str, text: str) -> int | bool | str:
    """Turn the text of an option into its type.

    What does not fit stays text, which the options refuse in their own words.
    """
    default = {field.name: field.default for field in dataclasses.fields(options)}.get(name)
    if isinstance(default, bool):
        return {"true": True, "True": True, "false": False, "False": False}.get(text, text)
    return int(text) if isinstance(default, int) and re.fullmatch("-?[0-9]{1,15}", text) else text


def no_options(game: str, given: Any) -> OptionError:
    """Return the error for what is handed in instead of a game's options.

    Args:
        game: the name of the game.
        given: what was handed in; of another game's options the module is named, for all are called alike.
    """
    place = f"{type(given).__module__}." if dataclasses.is_dataclass(given) and not isinstance(given, type) else ""
    return OptionError(f"options must be {game}.Options(num_players=..., ...), got {place}{shown(given)}")
