"""Reading YAML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from sleuth_env.checks import one_line

from .config import ConfigError, shown

MOST_FILE_BYTES = 1 << 20


class _Loader(yaml.SafeLoader):
    """YAML 1.2's numbers (``3e-4`` is one; PyYAML reads it as text) and no key twice; safe like
    yaml.safe_load.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases: a few lines of them can stand for more values than fit in memory."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not allowed", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Read a value; what its kind (``!!int foo``, the 45th of a month) does not have gets a
        place in the message.
        """
        try:
            value = super().construct_object(node, deep)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            kind = node.tag.rsplit(":", 1)[-1]
            raise yaml.constructor.ConstructorError(
                None, None, f"{shown(node.value)} is no {kind}", node.start_mark
            ) from error
        if isinstance(value, int) and value.bit_length() > 64:
            raise yaml.constructor.ConstructorError(None, None, "a whole number of more than 64 bits", node.start_mark)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Read a mapping, if no key is there twice."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d[\d_]*\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def read_yaml(text: str, name: str) -> Any:
    """Parse YAML text; ``name`` is the file or the key that the message names.

    Raises:
        ConfigError: the text is not YAML.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(one_line(f"{name}{where}: not YAML: {getattr(error, 'problem', None) or error}")) from error
    except RecursionError as error:
        raise ConfigError(f"{name}: nested too deeply") from error


def read_file(path: str | Path) -> dict[str, Any]:
    """Read a configuration file into a mapping that nobody has validated yet.

    Raises:
        ConfigError: there is no such file, or it is not a YAML mapping.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
        text = content.decode()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: cannot be read as a configuration file: {getattr(error, 'strerror', None) or error}"
        ) from error
    if len(content) > MOST_FILE_BYTES:
        raise ConfigError(f"{path}: larger than any configuration file ({MOST_FILE_BYTES} bytes)")
    mapping = read_yaml(text, str(path))
    if not isinstance(mapping, dict):
        raise ConfigError(f"{path}: must be a mapping of keys to values, got {shown(mapping)}")
    return mapping
