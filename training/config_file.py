"""The text of a configuration: a YAML file and values of the command line, not validated yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sleuth_env.checks import one_line
from sleuth_env.files import read_bytes
from sleuth_env.trainer import configurations, names_instead

MOST_FILE_BYTES = 1 << 20
# Characters of a value that a message repeats.
MOST_QUOTED = 80
# Octal or decimal, and hours or text, depending on the version of YAML.
AMBIGUOUS = re.compile(r"[-+]?(0[\d_]|\d[\d_]*:)")


class ConfigError(ValueError):
    """A configuration is not legal; one line a mistake."""


def shown(value: Any) -> str:
    """Quote a value, which may be of any length."""
    text = repr(value)
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]} ..."


class Loader(yaml.SafeLoader):
    """Read YAML safely, with the numbers of YAML 1.2, without aliases and without repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases: a few lines of them can stand for more values than fit in memory."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not allowed", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Read a value; a message says where one is not of its kind (``!!int foo``)."""
        try:
            value = super().construct_object(node, deep)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            kind = node.tag.rsplit(":", 1)[-1]
            raise yaml.constructor.ConstructorError(
                None, None, f"{shown(node.value)} cannot be read as {kind}", node.start_mark
            ) from error
        if isinstance(value, int | float) and AMBIGUOUS.match(node.value):
            raise yaml.constructor.ConstructorError(
                None,
                None,
                f"{node.value} is not the same number in every YAML: write plain decimal digits",
                node.start_mark,
            )
        if isinstance(value, int) and value.bit_length() > 64:
            raise yaml.constructor.ConstructorError(None, None, "a whole number of more than 64 bits", node.start_mark)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Read a mapping, in which each key must be there once."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


# In YAML 1.2 ``3e-4`` is a number; PyYAML reads it as text.
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d[\d_]*\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def read_yaml(text: str, name: str) -> Any:
    """Parse YAML text; ``name`` is the file or the option that messages name.

    Raises:
        ConfigError: the text is not YAML.
    """
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(one_line(f"{name}{where}: not YAML: {getattr(error, 'problem', None) or error}")) from error
    except RecursionError as error:
        raise ConfigError(f"{name}: nested too deeply") from error


def file_of(source: str | Path) -> str | Path:
    """Return the file that is meant by its path, or by the name of a configuration that comes with the package.

    A file of that name in the current folder comes first.

    Raises:
        ConfigError: it is a mere name, and there is neither.
    """
    path = Path(source)
    if path.exists() or path.suffix or len(path.parts) != 1:
        return source
    known = configurations()
    if str(source) not in known:
        raise ConfigError(
            f"{source}: there is no such file, and no configuration of that name comes with the package"
            f"{names_instead(str(source))}"
        )
    return known[str(source)]


def read_file(path: str | Path) -> dict[str, Any]:
    """Read a configuration file.

    Raises:
        ConfigError: there is no such file, or it is not a YAML mapping.
    """
    try:
        text = read_bytes(path, MOST_FILE_BYTES).decode()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read as a configuration file: {why}") from error
    mapping = read_yaml(text, str(path))
    if not isinstance(mapping, dict):
        raise ConfigError(f"{path}: must be a mapping of keys to values, got {shown(mapping)}")
    return mapping


def option_of(path: str) -> str:
    """Return the option of the command line that sets a key.

    >>> option_of("ppo.learning_rate")
    '--ppo.learning-rate'
    """
    return f"--{path.replace('_', '-')}"


def given_value(path: str, text: str) -> Any:
    """Return the value that a text of the command line stands for.

    Args:
        path: the key as a dotted path.
        text: YAML; of the run folder, whose name may be 2024, and of the game the text itself.

    Raises:
        ConfigError: the text is not YAML.
    """
    return text if path in ("run", "game") else read_yaml(text, option_of(path))


def overridden(mapping: Mapping[str, Any], given: Mapping[str, str], source: str) -> dict[str, Any]:
    """Return a configuration in which values of the command line replace those of the file.

    Args:
        mapping: the file's.
        given: texts of the command line by dotted paths, see `given_value`.
        source: the file that messages name.

    Raises:
        ConfigError: a text is not YAML, or a section of the file is not a mapping.
    """
    result = dict(mapping)
    for path, text in given.items():
        *sections, key = path.split(".")
        place = result
        for section in sections:
            inner = place.get(section)
            if inner is not None and not isinstance(inner, dict):
                raise ConfigError(f"{source}: {section}: must be a mapping of keys to values, got {shown(inner)}")
            place[section] = dict(inner or {})
            place = place[section]
        place[key] = given_value(path, text)
    return result


def value_at(mapping: Mapping[str, Any], path: str) -> Any:
    """Return what a configuration has at a dotted path; None where it has nothing."""
    value: Any = mapping
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
