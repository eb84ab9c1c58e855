"""Players in Python files and modules that a user names: ``file.py:attribute``, ``module:attribute``.

Nothing but what is named here is imported. Whatever goes wrong in it, while it is imported or while
it plays, is said in one line with file and line number.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import importlib.util
import inspect
import os
import pickle
import sys
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import called_by, nearest, shown, takes
from ..files import read_bytes
from ..game import Game, Records, check_options
from ..policies.policy_file import PolicyError
from ..policies.wrapped import wrap_policy
from .neighbours import MOST_FILE_BYTES, PACKAGE, PLAYER, PYTHON, Neighbours, neighbours, search_current_folder
from .seating import WHAT_PLAYS, MatchError, has, is_player, remembers, seated, weighs

FORMS = "FILE.py:NAME or MODULE:NAME"
# Of the modules of files.
_NEIGHBOURS: dict[str, Neighbours] = {}


def names_code(text: str) -> bool:
    """Return whether a player's name means something in a Python file or module.

    >>> names_code("bots/mine.py:Careful"), names_code("mine:Careful"), names_code("sheet")
    (True, True, False)
    """
    return text.endswith(PYTHON) or all(_parts(text))


def _parts(text: str) -> tuple[str, str]:
    """Split a name into the file or module and what is meant in it; "" where it is none."""
    place, _, name = text.rpartition(":")
    is_place = place.endswith(PYTHON) or all(part.isidentifier() for part in place.split("."))
    is_name = all(part.isidentifier() for part in name.split("."))
    return (place, name) if is_place and is_name else ("", "")


def file_of(text: str) -> Path | None:
    """Return the Python file that a player's name means, without importing it; None where there is none.

    Raises:
        PolicyError: it is not of one of the forms, or a package that the module is in has failed.
    """
    place, _ = _checked_parts(text)
    if place.endswith(PYTHON):
        return Path(place)
    search_current_folder()
    # The packages that the module is in are imported.
    with _told(text, None):
        try:
            found = importlib.util.find_spec(place)
        except (ImportError, ValueError):
            return None
    # Neither a module of the interpreter nor a folder of modules is a file.
    return Path(found.origin) if found is not None and found.has_location and found.origin is not None else None


def in_file(text: str) -> bool:
    """Return whether a player's name means something in a Python file, not in a module.

    >>> in_file("bots/mine.py:Careful"), in_file("mine:Careful"), in_file("sheet")
    (True, False, False)
    """
    return _parts(text)[0].endswith(PYTHON)


def moved(text: str, path: Path) -> str:
    """Return the name of the same player in another copy of its file.

    >>> moved("bots/mine.py:Careful", Path("copy.py"))
    'copy.py:Careful'
    """
    return f"{path}:{_parts(text)[1]}"


def import_player(text: str, options: Any, game: Game) -> Imported:
    """Return the player that a text such as ``mine.py:Careful`` means.

    Args:
        text: names a player, a class, which is made with the options if its first argument is called
            so or is needed, or a function with an attribute `record`, see `wrap_policy`.
        options: of the game that it is to play.
        game: the game module.

    Raises:
        PolicyError: there is nothing of this name, it is none of these, or its code has failed; the
            message says where.
    """
    place, name = _checked_parts(text)
    check_options(game, options)
    module = _module(text, place)
    file = getattr(module, "__file__", None)
    with _told(text, file), _at_hand(module.__name__):
        player = _made(_attribute(module, name, file or f"the module {place}"), options, game)
        player = seated(player, options, game, f"player {text}")
    if remembers(player):
        kind: type[Imported] = ImportedRememberingWeighing if weighs(player) else ImportedRemembering
    else:
        kind = ImportedWeighing if weighs(player) else Imported
    return kind(player, text, module, options)


def _checked_parts(text: str) -> tuple[str, str]:
    place, name = _parts(text)
    if not name:
        raise PolicyError(f"a player in Python is named {FORMS}, got {text[:100]!r}")
    return place, name


def _module(text: str, place: str) -> ModuleType:
    if place.endswith(PYTHON):
        return _from_file(text, Path(place))
    search_current_folder()
    try:
        # By the file, so that the message can name a line of it.
        with _told(text, str(file_of(text) or "")):
            return importlib.import_module(place)
    except PolicyError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and f"{place}.".startswith(f"{cause.name}."):
            raise PolicyError(f"player {text}: there is no module {cause.name!r}") from cause
        raise


def _from_file(text: str, path: Path) -> ModuleType:
    """Import a Python file, once for each content of it and of what it imports from beside it."""
    try:
        if not path.is_file():
            raise OSError("there is no such file" if not path.exists() else "it is not a regular file")
        content = read_bytes(path, MOST_FILE_BYTES)
        full = path.resolve()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PolicyError(f"player {text}: {str(path)!r} cannot be read: {reason}") from error
    with _told(text, str(full)):
        beside = neighbours(content, full.parent)
    digest = hashlib.blake2b(digest_size=8)
    for part in (os.fsencode(full), content, repr(sorted(beside.items())).encode()):
        digest.update(b"%d\0" % len(part) + part)
    name = PLAYER + digest.hexdigest()
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(full)
    # Dataclasses, and whoever copies a player, look for the module there.
    sys.modules[name] = module
    try:
        with _told(text, str(full)):
            _NEIGHBOURS[name] = Neighbours(content, full.parent)
        with _told(text, str(full)), _NEIGHBOURS[name].at_hand():
            exec(compile(content, str(full), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        _NEIGHBOURS.pop(name, None)
        raise
    return module


def _attribute(module: ModuleType, name: str, called: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            own = [other for other in dir(found) if not other.startswith("_")]
            near = nearest(part, own, 3)
            perhaps = f", perhaps {' or '.join(near)}" if near else ""
            raise PolicyError(f"{called} has no {name!r}{perhaps}")
        found = getattr(found, part)
    return found


def _made(found: Any, options: Any, game: Game) -> Any:
    """Make a player of what a name stands for."""
    if isinstance(found, type):
        found = _instance(found, options)
    elif inspect.isroutine(found):
        record = getattr(found, "record", None)
        if record is None:
            kinds = ", ".join(map(repr, game.RECORDS))
            raise PolicyError(
                f"the function does not say which observation it wants: give it an attribute record, "
                f"one of {kinds}, or wrap it by sleuth_env.wrap_policy"
            )
        found = wrap_policy(found, record, game)
    if not is_player(found):
        raise PolicyError(
            f"it must be {WHAT_PLAYS}, a class of such objects, or a function with an attribute record, "
            f"got {shown(found)}"
        )
    return found


def _instance(kind: type, options: Any) -> Any:
    """Make a player of a class, with the options if it has an argument of this name, or one that it needs."""
    try:
        found = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        # Of a class in C: its signature is not known.
        return kind()
    by_place = [one for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    with_options = by_place and (by_place[0].name == "options" or by_place[0].default is inspect.Parameter.empty)
    given = [options] if with_options else []
    if not takes(kind, len(given)):
        raise PolicyError(
            f"the class must be made with nothing, or with the options of the game alone, "
            f"got {called_by(kind.__name__, kind)}"
        )
    return kind(*given)


def _at_hand(module: str) -> AbstractContextManager[None]:
    """Let code of a module run that has been imported, with what lies beside it if it is a file's."""
    return _NEIGHBOURS[module].at_hand() if module in _NEIGHBOURS else nullcontext()


@contextmanager
def _told(text: str, file: str | None) -> Iterator[None]:
    """Turn whatever fails in a user's code into one line that says where."""
    start = f"player {text}"
    try:
        yield
    # A module that ends the process while it is imported is a mistake, too; so is whatever else stops no process.
    except (Exception, SystemExit, GeneratorExit) as error:
        # The package's own complaints are in the user's terms already.
        known = isinstance(error, (PolicyError, MatchError))
        if known and str(error).startswith(start):
            raise PolicyError(str(error)) from error
        what = str(error) if known else f"{type(error).__name__}: {error}"
        raise PolicyError(": ".join(part for part in (start, _place_of(error, file), what) if part)) from error


def _place_of(error: BaseException, file: str | None) -> str:
    """Return file and line where an error comes from: in the user's own file, if it passed through it.

    "" stands for a line of this package, or of Python's import: nobody has to look there.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    frame = [*frames, *(frame for frame in frames if frame.filename == file)][-1]
    ours = frame.filename.startswith("<frozen ") or Path(frame.filename).is_relative_to(PACKAGE)
    return "" if ours and frame.filename != file else f"{frame.filename}:{frame.lineno}"


class Imported:
    """A player that was imported by its name; its errors say where in its file they come from.

    Args:
        player: the player.
        text: its name.
        module: that it comes from.
        options: of the game that it was made for.
    """

    def __init__(self, player: Any, text: str, module: ModuleType, options: Any) -> None:
        self.player = player
        self.text = text
        self.module = module.__name__
        self.file: str | None = getattr(module, "__file__", None)
        self.options = options
        self.name: str = player.name

    def __reduce__(self) -> Any:
        # In another process the file is imported first: it and its neighbours have what the player is made of.
        with _at_hand(self.module):
            content = pickle.dumps(vars(self))
        return _unpickled, (type(self), self.text, self.file, self.module, content)

    def __deepcopy__(self, memo: dict[int, Any]) -> Imported:
        other = type(self).__new__(type(self))
        with _at_hand(self.module):
            vars(other).update(copy.deepcopy(vars(self), memo))
        return other

    def act(self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose one legal action a row, see `game.Bot`."""
        with _told(self.text, self.file), _at_hand(self.module):
            actions: NDArray[np.int64] = self.player.act(views, legal, seeds)
            return actions


class ImportedWeighing(Imported):
    """One that says what actions are worth, see `training.lessons.Weighing`."""

    def worths(self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64], deals: int) -> Any:
        """Return what each legal action is worth; whether it is that is for the caller to check."""
        with _told(self.text, self.file), _at_hand(self.module):
            return self.player.worths(views, legal, seeds, deals)


class ImportedRemembering(Imported):
    """One that remembers games, see `seating.Remembering`."""

    def act_in(
        self,
        views: Records,
        legal: NDArray[np.uint8],
        seeds: NDArray[np.uint64],
        games: NDArray[np.int64],
        seats: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose one legal action a row."""
        with _told(self.text, self.file), _at_hand(self.module):
            actions: NDArray[np.int64] = self.player.act_in(views, legal, seeds, games, seats)
            return actions

    def forget(self, games: NDArray[np.int64]) -> None:
        """Pass on which games (i8 [K]) nobody plays any further."""
        if has(self.player, "forget"):
            with _told(self.text, self.file), _at_hand(self.module):
                self.player.forget(games)


class ImportedRememberingWeighing(ImportedRemembering):
    """One that remembers games and says what actions are worth, see `training.lessons.Weighing`."""

    def worths_in(
        self,
        views: Records,
        legal: NDArray[np.uint8],
        seeds: NDArray[np.uint64],
        deals: int,
        games: NDArray[np.int64],
        seats: NDArray[np.int64],
    ) -> Any:
        """Return what each legal action is worth; whether it is that is for the caller to check."""
        with _told(self.text, self.file), _at_hand(self.module):
            return self.player.worths_in(views, legal, seeds, deals, games, seats)


def _unpickled(kind: type[Imported], text: str, file: str | None, module: str, content: bytes) -> Imported:
    """Return an imported player that has been pickled.

    Raises:
        PolicyError: its file is not there, or has changed.
    """
    if file is not None and in_file(text) and _from_file(text, Path(file)).__name__ != module:
        raise PolicyError(f"player {text}: {file}, or what it imports, has changed since the player was pickled")
    player = kind.__new__(kind)
    with _at_hand(module):
        vars(player).update(pickle.loads(content))
    return player
