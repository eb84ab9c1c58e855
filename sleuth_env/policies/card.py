"""The model card of a policy file: a page of Markdown that says what the file says of itself.

It has the form of model cards on the Hugging Face Hub: metadata in YAML between two lines of dashes,
then text. What is not in the file is left out. A file is not trusted: what is quoted of it stands in
code, on one line, without control characters, and is cut. Equal files of one name have equal cards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..game import DEFAULT_GAME, GAMES
from .policy_file import PRETRAINED, SUFFIX, read_policy_file

CARD_SUFFIX = ".md"
# Of the policies that come with the package, as `pyproject.toml` has it.
LICENCE = "MIT"
# Characters of a name or a value, and how many settings are listed.
MOST_SHOWN = 100
MOST_SETTINGS = 200
# Sections within sections of settings that have lines of their own.
MOST_DEPTH = 4
MOST_NUMBERS = 10**9
# What is not escaped by being code: the ends of code, and of a cell of a table.
ENDING = ("`", "|")
# The names that a file may have in the commands of a card.
PLAIN_NAME = re.compile(rf"[\w.-]{{1,{MOST_SHOWN}}}", re.ASCII)


def card_path(path: Path) -> Path:
    """Return where the card of a policy file lies.

    >>> card_path(Path("runs/smoke/best.safetensors")).as_posix()
    'runs/smoke/best.md'
    """
    return path.with_suffix(CARD_SUFFIX)


def write_card(path: Path) -> None:
    """Write the card of a policy file next to it.

    Raises:
        PolicyError: see `model_card`.
        OSError: it cannot be written.
    """
    write_atomically(card_path(path), model_card(path).encode())


def model_card(path: str | Path, game: str = DEFAULT_GAME) -> str:
    """Return the card of a policy file.

    Args:
        path: the file, or the name of one that comes with the package, such as
            ``pretrained:sleuth-4p``.
        game: the name of the game of which ``pretrained:4p`` is the short form.

    Raises:
        PolicyError: it is not a policy file of this format, or it is damaged.

    >>> [line for line in model_card("pretrained:sleuth-4p").splitlines() if line.startswith("# ")]
    ['# A policy for the game `sleuth` with 4 players']
    """
    metadata, tensors = read_policy_file(path, game)
    bundled = str(path).startswith(PRETRAINED)
    name = str(path) if bundled else Path(path).name
    weights = sum(array.size for array in tensors.values() if array.dtype.kind == "f")
    sections = [
        *_front_matter(metadata, name, bundled),
        *_policy(metadata, weights),
        *_settings("Options", "It was trained under these options of the game:", metadata["options"]),
        *_training(metadata),
        *_evaluation(metadata),
        *_use(metadata, name),
        *_limits(metadata),
        *_settings("Versions", "It was made with these packages:", metadata["versions"]),
        *_licence(bundled),
    ]
    return "\n".join(sections) + "\n"


# --- what a file says, made harmless ---


def _harmless(text: str, most: int = MOST_SHOWN) -> str:
    """Return a text on one line, cut, of printable characters only, and without what would end code."""
    cut = text[:most]
    line = "".join(
        letter if letter.isprintable() and letter not in ENDING else f"\\x{ord(letter):02x}"
        for letter in cut.replace("\\", "\\\\")
    )
    return line + ("..." if len(text) > most else "")


def _code(value: Any) -> str:
    """Return a value as code within a line.

    >>> _code("a|`b`"), _code(True), _code(" ")
    ('`a\\\\x7c\\\\x60b\\\\x60`', '`true`', '`" "`')
    """
    text = value if isinstance(value, str) and value.strip() == value != "" else _plain(value)
    return f"`{_harmless(text)}`"


def _plain(value: Any) -> str:
    """Return a value as YAML and JSON have it."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deeply"


def _lines(settings: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[str]:
    """Iterate over settings, one a line, those of sections by dotted paths."""
    for key, value in settings.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping) and value and depth < MOST_DEPTH:
            yield from _lines(value, f"{path}.", depth + 1)
        else:
            yield f"{_harmless(path)}: {_harmless(_plain(value))}"


def _settings(title: str, said: str, settings: Mapping[str, Any]) -> Iterator[str]:
    """Write a section of settings; nothing where there are none."""
    lines = list(_lines(settings))
    if not lines:
        return
    left = len(lines) - MOST_SETTINGS
    more = [f"... and {left} more"] if left > 0 else []
    # No line of them can begin with what ends such a block, which is not harmless.
    yield from [f"## {title}", "", said, "", "```text", *lines[:MOST_SETTINGS], *more, "```", ""]


def _number(number: int) -> str:
    return _harmless(f"{number:,}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# --- the sections ---


def _front_matter(metadata: Mapping[str, Any], name: str, bundled: bool) -> Iterator[str]:
    """Write what the Hub reads: texts as JSON writes them, which YAML reads, too."""

    def quoted(text: str) -> str:
        return json.dumps(_harmless(text), ensure_ascii=False)

    yield "---"
    yield "library_name: sleuth-env"
    if bundled:
        yield f"license: {LICENCE.lower()}"
    yield "pipeline_tag: reinforcement-learning"
    tags = ["reinforcement-learning", "multi-agent", "imperfect-information", "card-game", metadata["game"]]
    yield from ["tags:", *(f"- {quoted(tag)}" for tag in tags)]
    if metadata["evaluation"]:
        yield from ["model-index:", f"- name: {quoted(name.removesuffix(SUFFIX))}", "  results:"]
    for row in metadata["evaluation"] or ():
        table = f"{metadata['game']}, {metadata['num_players']} players, against {row['against']}"
        yield from [
            "  - task:",
            "      type: reinforcement-learning",
            "      name: reinforcement-learning",
            "    dataset:",
            f"      type: {quoted(metadata['game'])}",
            f"      name: {quoted(table)}",
            "    metrics:",
            "    - type: win_share",
            "      name: win share",
            f"      value: {round(row['win_share'], 4)}",
            "      verified: false",
        ]
    yield from ["---", ""]


def _policy(metadata: Mapping[str, Any], weights: int) -> Iterator[str]:
    players = metadata["num_players"]
    yield f"# A policy for the game {_code(metadata['game'])} with {_number(players)} players"
    yield ""
    yield "A network that chooses the actions of one player from what that player knows. It is played by the"
    yield "Python package sleuth-env, with NumPy only, and kept in a safetensors file."
    yield ""
    size = sum(_size(block) for block in metadata["observation"])
    rows = {
        "game": _code(metadata["game"]),
        "players": _number(players),
        "observation": f"{_code(metadata['record'])}, {size:,} numbers, layout {_code(metadata['observation_hash'])}",
        "network": _code(metadata["architecture"]),
        "weights": f"{weights:,}",
        "decisions it was trained on": _number(metadata["steps"]),
    }
    yield from ["| | |", "|---|---|", *(f"| {row} | {text} |" for row, text in rows.items()), ""]


def _size(block: Any) -> int:
    """Return how many numbers a block of the observation has; 0 where what the file says makes no sense."""
    size = 1
    shape = block[1] if isinstance(block, list) and len(block) == 2 and isinstance(block[1], list) else [0]
    for length in shape:
        size *= length if type(length) is int and 0 <= length <= MOST_NUMBERS else 0
        size = min(size, MOST_NUMBERS)
    return size


def _training(metadata: Mapping[str, Any]) -> Iterator[str]:
    if metadata["training"]:
        said = "The rest of its configuration, with all defaults; of files and programs only the names are kept:"
        yield from _settings("Training", said, metadata["training"])


def _evaluation(metadata: Mapping[str, Any]) -> Iterator[str]:
    rows: Sequence[Mapping[str, Any]] = metadata["evaluation"] or ()
    share = metadata["win_share"]
    if not rows and share is None:
        return
    yield from ["## Evaluation", ""]
    if rows:
        yield from [
            "| all other seats | win share | 95 % interval | fair share | games | seed |",
            "|---|--:|---|--:|--:|--:|",
        ]
    for row in rows:
        interval = f"{_percent(row['win_low'])} to {_percent(row['win_high'])}"
        numbers = [
            _percent(row["win_share"]),
            interval,
            _percent(row["fair_share"]),
            _number(row["games"]),
            _harmless(str(row["seed"])),
        ]
        yield f"| {' | '.join([_code(row['against']), *numbers])} |"
    if rows:
        yield from [
            "",
            "It had one seat, the named player all others; every deal was played from every seat. Intervals are",
            "Wilson's, clustered by deal. The fair share is what equally good players win. `sleuth evaluate`",
            "plays the same games again with `--against`, `--games` and `--seed` of a row.",
        ]
    if rows and share is not None:
        yield ""
    if share is not None:
        yield f"The mean win share was {_percent(share)}."
        if metadata["training"]:
            yield "It was the best among the evaluations of this training, which are all over the same deals. The best"
            yield "of several is partly luck: expect a little less over other deals."
    yield ""


def _use(metadata: Mapping[str, Any], name: str) -> Iterator[str]:
    yield from ["## Use", ""]
    if metadata["game"] not in GAMES:
        yield "Its game is not one of sleuth-env's own: hand in the game's module, `load_policy(FILE, game)`."
        yield ""
        return
    plain = name if PLAIN_NAME.fullmatch(name.removeprefix(PRETRAINED)) else f"policy{SUFFIX}"
    yield from [
        "```python",
        "from sleuth_env import load_policy, play_match",
        f'policy = load_policy("{plain}")',
        'print(play_match(policy.game, policy.options, [policy, *["random"] * (policy.options.num_players - 1)], 10))',
        "```",
        "",
        f"`sleuth evaluate {plain} --game {metadata['game']}` plays it against bots, and "
        f"`sleuth match` against whom you name.",
        "",
    ]


def _limits(metadata: Mapping[str, Any]) -> Iterator[str]:
    yield from [
        "## Limits",
        "",
        "- It plays under the options it was trained for; those that may differ are few, and others are refused.",
        "- It draws its actions by their probabilities, unless it is loaded with `greedy=True`.",
        "- Nothing is known here of how it plays against players who are not named above, such as people.",
        "",
    ]


def _licence(bundled: bool) -> Iterator[str]:
    yield from ["## Licence", ""]
    if bundled:
        yield f"It comes with sleuth-env, under the {LICENCE} licence."
    else:
        yield f"The file does not name one: whoever trained it settles that. sleuth-env has the {LICENCE} licence."
