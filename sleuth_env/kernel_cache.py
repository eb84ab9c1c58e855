"""Compiled kernels on disk, each in a file that is named by everything it was compiled from.

numba's own cache names a kernel by its source file alone, so that it goes on using old code when a
constant or a callee in another file has changed, and it fails where a file is damaged or cannot be
written. Here a kernel is known by its code, by the code of all that it calls and by the values of
the globals that these read, as they are in this process; nothing depends on the times or places of
source files. Whatever is wrong with a file costs a line on stderr, and the kernel is compiled again.

numba finds a function that `numba.extending.overload` or `intrinsic` has taught it by the module of
the function that is overloaded: whatever stands in that module counts.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum, EnumMeta
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.caching import NullCache, _CacheLocator
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc
from numba.stencils.stencil import StencilFunc

from .files import read_bytes

SUFFIX = ".kernel"
CHECKSUM_SIZE = sha256().digest_size
# Of the file of a kernel: hundreds of times those of the largest ones.
MOST_FILE_BYTES = 1 << 30
# What shapes machine code besides the source and the processor.
VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
SWITCHES = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML")
# Known by their versions; nothing in them is looked at.
LIBRARIES = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
ADVICE = "set NUMBA_CACHE_DIR to a folder that can be written"
# Seconds after which what another process has not finished writing was given up.
ABANDONED = 3600.0


class UnknownValueError(ValueError):
    """A kernel reads a value of a kind of which it cannot be told whether it has changed."""


class KernelCache(NullCache):
    """Take a kernel's compiled code from a file, and keep it in one; never fail.

    Files are read from the folder that ``NUMBA_CACHE_DIR`` names; without it from the folder
    ``__pycache__`` beside the source and from the user's own cache, and written to the first of them
    that can be written. A package that was prepared by one user thus serves another one who may not
    write there.

    Args:
        dispatcher: numba's, of the kernel.
        warn: is told what is wrong with the files, and whether the kernel is lost for later starts.
    """

    def __init__(self, dispatcher: Any, warn: Callable[[str, bool], object]) -> None:
        self._dispatcher = dispatcher
        self._warn = warn

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for a signature, None if it is nowhere."""
        target_context.refresh()
        try:
            name = self._file_name(sig, target_context.codegen())
        except UnknownValueError:
            return None  # it is said when the kernel cannot be kept
        bad: list[tuple[Path, str]] = []
        for folder in self._folders:
            path = folder / name
            try:
                content = read_bytes(path, MOST_FILE_BYTES)
                parts = pickle.loads(_checked(content))
                compiled = CompileResult._rebuild(target_context, *parts)  # type: ignore[no-untyped-call]
            except (FileNotFoundError, NotADirectoryError):
                continue
            # Whatever is in the file, or whatever stands in its place.
            except Exception as error:
                bad.append((path, _reason(error)))
            else:
                self._replace(bad, path, content)
                return compiled
        for path, reason in bad:
            self._warn(f"{path} cannot be used and is compiled again: {reason}", False)
        return None

    def _replace(self, bad: list[tuple[Path, str]], good: Path, content: bytes) -> None:
        """Write the content of a good file in the place of bad ones, so that they are not met at every start."""
        for path, reason in bad:
            try:
                _write(path, content)
            except Exception:
                self._warn(f"{path} cannot be used, and {good} is instead: {reason}", False)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was compiled for a signature."""
        # Such code holds addresses of this process.
        if data.library.has_dynamic_globals:
            return
        try:
            content: bytes = dumps(data._reduce())  # type: ignore[no-untyped-call]
            name = self._file_name(sig, data.codegen)
        except Exception as error:
            self._warn(f"{self._name} cannot be kept: {_reason(error)}", True)
            return
        reasons = []
        for folder in self._folders:
            try:
                _write(folder / name, sha256(content).digest() + content)
            except Exception as error:
                reasons.append(f"{folder}: {_reason(error)}")
            else:
                _remove_outdated(folder, name)
                return
        self._warn(f"compiled kernels cannot be kept for later starts: {'; '.join(reasons)}; {ADVICE}", True)

    @cached_property
    def _name(self) -> str:
        function = self._dispatcher.py_func
        return f"{function.__module__}.{function.__qualname__}"

    @cached_property
    def _folders(self) -> list[Path]:
        source = self._dispatcher.py_func.__code__.co_filename
        # It names the folder of the source, so that installations side by side keep apart.
        below = _CacheLocator.get_suitable_cache_subpath(source)  # type: ignore[no-untyped-call]
        chosen = getattr(config, "CACHE_DIR", "")
        if chosen:
            return [Path(chosen, below)]
        users = AppDirs(appname="numba", appauthor=False)  # type: ignore[no-untyped-call]
        own = Path(users.user_cache_dir, below)
        beside = Path(source).absolute().parent
        return [beside / "__pycache__", own] if beside.is_dir() else [own]

    @cached_property
    def _source(self) -> str:
        return source_digest(self._dispatcher)

    def _file_name(self, sig: Any, codegen: Any) -> str:
        """Return KERNEL-SETTING-SOURCE.kernel: of each setting only the file of the latest source is kept."""
        switches = [getattr(config, switch, None) for switch in SWITCHES]
        setting = [self._name, _signature(sig), codegen.magic_tuple(), VERSIONS, switches]
        readable = "".join(letter for letter in self._name[-60:] if letter.isalnum() or letter in "._")
        return f"{readable}-{_digest(setting)}-{self._source}{SUFFIX}"


def kept_kernels(package: Path) -> dict[Path, list[int]]:
    """Return the sizes of the files of kernels that are kept for later starts, by the folder below which they lie.

    Args:
        package: the folder of the kernels' sources.
    """
    chosen = getattr(config, "CACHE_DIR", "")
    users = AppDirs(appname="numba", appauthor=False)  # type: ignore[no-untyped-call]
    folders = [Path(chosen)] if chosen else [package, Path(users.user_cache_dir)]
    return {folder: list(_sizes(folder)) for folder in folders}


def _sizes(folder: Path) -> Iterator[int]:
    for path in folder.rglob(f"*{SUFFIX}"):
        # Another process may have replaced it.
        with suppress(OSError):
            yield path.stat().st_size


# --- files ---


def _checked(content: bytes) -> bytes:
    """Return what follows the checksum of a file, which would crash the process if a bit of it were wrong."""
    if sha256(content[CHECKSUM_SIZE:]).digest() != content[:CHECKSUM_SIZE]:
        raise ValueError("the file is damaged")
    return content[CHECKSUM_SIZE:]


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; others may write the same one at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _remove_outdated(folder: Path, name: str) -> None:
    """Remove a kernel's files of other sources, and what was never finished."""
    with suppress(OSError):
        for path in folder.glob(f"{name.rpartition('-')[0]}-*"):
            whole = path.suffix == SUFFIX
            if path.name != name and (whole or path.stat().st_mtime < time.time() - ABANDONED):
                path.unlink()


def _reason(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    return str(reason).partition("\n")[0]


# --- what a kernel is compiled from ---


def source_digest(kernel: Any) -> str:
    """Return a digest of everything that a kernel (or a plain function) is compiled from."""
    described: dict[FunctionType, str] = {}
    waiting = [kernel]
    while waiting:
        value = waiting.pop()
        function = _function_of(value)
        if function not in described:
            described[function], callees = _described(function)
            waiting += callees
    options = _text(getattr(kernel, "targetoptions", {}))
    return _digest([described.pop(_function_of(kernel)), options, *sorted(described.values())])


@cache
def _described(function: FunctionType) -> tuple[str, list[Any]]:
    """Return what a function is made of as text, and the functions that it may call."""
    closure = (cell.cell_contents for cell in function.__closure__ or ())
    values = [*_globals_of(function), *zip(function.__code__.co_freevars, closure, strict=True)]
    callees = [*_functions_among([value for _, value in values]), *_functions_among(function.__defaults__)]
    for value in callees.copy():
        if isinstance(value, FunctionType) and not _in_library(value):
            # Kernels can call it only as it was overloaded, and that stands in its module.
            callees += _functions_in(value.__module__)
    parts = [
        f"{function.__module__}.{function.__qualname__}",
        _code(function.__code__, function.__doc__),
        _text(function.__defaults__),
        *sorted(f"{name}={_text(value)}" for name, value in values),
    ]
    return _digest(parts), [callee for callee in callees if not _in_library(callee)]


def _functions_among(value: Any) -> list[Any]:
    """Return the functions that a value is, or that it holds."""
    if isinstance(value, (tuple, list)):
        return [function for part in value for function in _functions_among(part)]
    compiled_class = getattr(value, "class_type", None)
    if isinstance(compiled_class, numba.types.ClassType):
        accessors = [of for accessor in compiled_class.jit_props.values() for of in accessor.values()]
        return [*compiled_class.jit_methods.values(), *compiled_class.jit_static_methods.values(), *accessors]
    return [value] if _function_of(value) else []


def _functions_in(module: str) -> list[Any]:
    """Return the functions that were defined in a module."""
    values = vars(sys.modules[module]).values() if module in sys.modules else ()
    return [value for value in values if getattr(_function_of(value), "__module__", None) == module]


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Iterate over the globals that a function may read, and over what it may read of modules."""
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    for name in names:
        if name in function.__globals__:
            yield from _read_of(name, function.__globals__[name], names)


def _read_of(name: str, value: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Iterate over a value and, if it is a module, over those of some names that are in it."""
    yield name, value
    if isinstance(value, ModuleType) and not _in_library(value):
        for of in names:
            # A module that knows one that knows it would never end: a name is read once on the way.
            if hasattr(value, of) and of not in name.split("."):
                yield from _read_of(f"{name}.{of}", getattr(value, of), names)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Iterate over a code object and those of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code(code: CodeType, doc: str | None = None) -> str:
    """Return a code object as text, without its places in the file and its docstring."""
    constants = [None if constant is doc else constant for constant in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    exceptions = getattr(code, "co_exceptiontable", b"")
    return f"{code.co_code!r} {exceptions!r} {names} {numbers} {_text(constants)}"


def _text(value: Any) -> str:
    """Return a value as text: the same for the same value, in any process."""
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}{getattr(value, '_fields', '')}({', '.join(map(_text, value))})"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({', '.join(sorted(map(_text, value)))})"
    if isinstance(value, dict):
        return f"dict({', '.join(sorted(f'{_text(key)}: {_text(of)}' for key, of in value.items()))})"
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}={_text(value.value)}"
    if isinstance(value, EnumMeta):
        return f"{value.__qualname__}({', '.join(map(_text, value))})"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype!r} {value.shape} {value.strides} {_digest([value.tobytes()])}"
    if isinstance(value, CodeType):
        return _code(value)
    if value is None or value is ... or isinstance(value, (bool, int, float, complex, str, bytes, np.dtype)):
        return repr(value)
    function = _function_of(value)
    if function and not _in_library(value):
        options = _text([getattr(value, "targetoptions", {}), _loops(value)])
        return f"{function.__module__}.{function.__qualname__} {options} {_digest([_code(function.__code__)])}"
    return _name_of(value)


def _name_of(value: Any) -> str:
    """Return the name of what numba knows no more of, with the fields of a named tuple or of a compiled class.

    Raises:
        UnknownValueError: it is something else.
    """
    if isinstance(value, numba.types.Type):
        return f"{type(value).__qualname__} {value}"
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if not hasattr(value, "__qualname__") and type(value).__module__.partition(".")[0] not in LIBRARIES:
        raise UnknownValueError(f"a value of the type {type(value).__qualname__} may have changed")
    fields = _text(getattr(getattr(value, "class_type", None), "struct", None))
    named = value if hasattr(value, "__qualname__") else type(value)
    name = getattr(value, "__name__", "")
    return f"{named.__module__}.{named.__qualname__} {name} {getattr(named, '_fields', '')} {fields}"


def _function_of(value: Any) -> Any:
    """Return the Python function behind a function, or what numba has made of one; None if it is none."""
    if isinstance(value, (DUFunc, GUFunc)):
        value = getattr(value, "_dispatcher", None) or getattr(value, "gufunc_builder", None)
    elif isinstance(value, StencilFunc):
        value = value.kernel_ir.func_id.func
    function = getattr(value, "py_func", None) or getattr(value, "_defn", None) or value
    return function if isinstance(function, FunctionType) else None


def _loops(value: Any) -> list[str]:
    """Return the types that a ufunc is compiled for, if these were named and it is not compiled as needed."""
    return list(value.types) if isinstance(value, DUFunc) and getattr(value, "_frozen", True) else []


def _in_library(value: Any) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(_function_of(value), "__module__", "")
    return (name or "").partition(".")[0] in LIBRARIES


def _signature(sig: Any) -> str:
    """Return the types of the arguments as text, with the fields that the names of some leave out."""
    return ", ".join(f"{of} {_text(getattr(of, 'fields', ()) if hasattr(of, 'instance_class') else ())}" for of in sig)


def _digest(parts: Any) -> str:
    return sha256("\0".join(part if isinstance(part, str) else repr(part) for part in parts).encode()).hexdigest()[:24]
