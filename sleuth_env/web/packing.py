"""Plain data as a text for a page, small: of a row of values, what changes from one to the next, deflated.

A change is one of

- ``[value]``: another value;
- ``[keep, items]``: of a list the first ``keep`` items stay, and these follow;
- ``{key: change}``: of a dictionary some values change; 0 stands for a key that is gone.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Change = list[Any] | dict[str, Any]


def packed(value: Any) -> str:
    """Return plain data as JSON, deflated, in base64.

    >>> unpacked(packed({"one": [1, None]}))
    {'one': [1, None]}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> Any:
    """Return what `packed` was given."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def as_changes(values: Sequence[Any]) -> list[Change]:
    """Return a row of values as changes, the first one of nothing.

    >>> as_changes([{"a": 1, "log": ["x"]}, {"a": 1, "log": ["x", "y"]}])
    [[{'a': 1, 'log': ['x']}], {'log': [1, ['y']]}]
    """
    return [[values[0]], *(change(old, new) for old, new in pairwise(values))] if values else []


def change(old: Any, new: Any) -> Change:
    """Return what changes from one value to another; {} for nothing."""
    if isinstance(old, dict) and isinstance(new, dict):
        kept = [key for key in old if key in new]
        # The order of keys is part of a value: it may be the order in which people read them.
        if [*kept, *(key for key in new if key not in old)] == list(new):
            return {
                **{key: 0 for key in old if key not in new},
                **{key: [value] for key, value in new.items() if key not in old},
                **{key: change(old[key], new[key]) for key in kept if not _same(old[key], new[key])},
            }
    if isinstance(old, list) and isinstance(new, list):
        keep = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if not _same(one, other)), None)
        keep = min(len(old), len(new)) if keep is None else keep
        if keep:
            return [keep, new[keep:]]
    return [new]


def _same(old: Any, new: Any) -> bool:
    """Return whether two values are written alike, in the order of their keys, too."""
    return type(old) is type(new) and bool(old == new) and (not isinstance(old, dict) or list(old) == list(new))


def applied(old: Any, changes: Change) -> Any:
    """Return a value after a change.

    >>> applied({"a": 1, "b": [1, 2]}, {"a": 0, "b": [1, [3]], "c": [None]})
    {'b': [1, 3], 'c': None}
    """
    if isinstance(changes, dict):
        new = {key: value for key, value in old.items() if changes.get(key) != 0}
        new.update({key: applied(old.get(key), what) for key, what in changes.items() if what != 0})
        return new
    if len(changes) == 2:
        keep, items = changes
        return [*old[:keep], *items]
    return changes[0]


def from_changes(changes: Sequence[Change]) -> Iterator[Any]:
    """Iterate over the row of values that `as_changes` was given."""
    value: Any = None
    for what in changes:
        value = applied(value, what)
        yield value
