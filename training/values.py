"""The types of a configuration's values: what is legal, and what is said of a value that is not.

Mistakes that pydantic finds are put into words by their type and their context, which are its
interface. The names of players, the options, and the kinds of observation and of network are a
game's; the game is the context of a validation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from sleuth_env.checks import did_you_mean
from sleuth_env.game import DEFAULT_GAME, Game, load_game
from sleuth_env.matches.imported import FORMS
from sleuth_env.matches.players import names_bot, names_player
from sleuth_env.options import described
from sleuth_env.policies.policy_file import SUFFIX, names_file, pretrained_names
from sleuth_env.policies.trained import names_model

from .config_file import MOST_QUOTED, shown

# Far above what anybody needs, and below what overflows, or hides a slip of the keyboard until
# memory or patience ends.
MOST_STEPS = 10**12
# Of players whose files would have to be unpickled.
NO_MODEL = (
    "must not be a model of Stable-Baselines3, which training does not unpickle: "
    "policy_from_sb3 and save_policy make a policy file of it"
)
# The kind of network that plays every game; the others are the game's.
MLP = "mlp"

# --- mistakes, in words ---

# What pydantic's types of mistakes mean in a file; the names in braces are those of their context.
WORDS = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "invalid_key": "keys must be texts",
    "literal_error": "must be {expected}",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_too_short": "must have at least {min_length} characters",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
}
# The type of mistakes that say themselves where they are, with a message that has the value.
LINE = "line"


def mistake(path: str, text: str) -> PydanticCustomError:
    """Return an error whose message stands for itself, see `explained`."""
    return PydanticCustomError(LINE, "{text}", {"path": path, "text": text})


def unknown_key(key: str, known: Sequence[str]) -> str:
    """Say that a key is unknown, what was probably meant, and what there is."""
    return f"unknown key{did_you_mean(key, known)}; known here: {', '.join(known)}"


def explained(found: Any, root: type[BaseModel]) -> tuple[str, str]:
    """Return where a mistake is, the key as a dotted path, and what is legal, with the value.

    Args:
        found: what pydantic says of it (`ErrorDetails`).
        root: the schema.
    """
    kind = found["type"]
    if kind == LINE:
        return found["ctx"]["path"], found["ctx"]["text"]
    # Pydantic adds "[key]" where the key is wrong and not its value.
    path = ".".join(str(name)[:MOST_QUOTED] for name in found["loc"] if name != "[key]")
    if kind == "extra_forbidden":
        section: Any = root
        for name in found["loc"][:-1]:
            section = section.model_fields[name].annotation
        return path, unknown_key(str(found["loc"][-1]), list(section.model_fields))
    limits = {name: rounded(limit) for name, limit in found.get("ctx", {}).items()}
    text = WORDS[kind].format(**limits) if kind in WORDS else found["msg"]
    return path, f"{text}, got {shown(found['input'])}"


# --- types ---


def rounded(value: Any) -> Any:
    """Return a whole float (``1e6``, which stands for a million) as an int, all else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def whole(least: int, most: int, step: int | None = None) -> Any:
    """Return the type of a whole number from ``least`` to ``most``, a multiple of ``step``."""
    return Annotated[int, BeforeValidator(rounded), Field(ge=least, le=most, multiple_of=step)]


Count = whole(1, MOST_STEPS)
Units = whole(1, 4096)
Seed = whole(0, 2**32 - 1)
Share = Annotated[float, Field(ge=0, le=1e6)]
Bias = Annotated[float, Field(ge=-1e3, le=1e3)]


def game_of(info: ValidationInfo) -> Game:
    """Return the game that is configured: the context of the validation."""
    game: Game = info.context or load_game(DEFAULT_GAME)
    return game


def networks_of(game: Game) -> Sequence[str]:
    """Return the kinds of network that can play a game."""
    return (MLP, *game.NETWORKS)


def players_of(game: Game) -> Sequence[str]:
    """Return the names of the players that come with a game: bots and bundled policies."""
    return (*game.BOTS, *pretrained_names(game.NAME))


def each_once(values: list[str]) -> list[str]:
    """Check that a list names nothing twice."""
    twice = next((value for at, value in enumerate(values) if value in values[:at]), None)
    if twice is not None:
        raise PydanticCustomError("twice", "must name {name} once", {"name": repr(twice)})
    return values


def one_of(choices: Callable[[Game], Sequence[str]]) -> Any:
    """Return the type of a text that is one of some that the game has."""

    def check(value: Any, info: ValidationInfo) -> Any:
        legal = choices(game_of(info))
        if value not in legal:
            raise PydanticCustomError(
                "choice", "must be one of {legal} in this game", {"legal": ", ".join(map(repr, legal))}
            )
        return value

    return Annotated[str, BeforeValidator(check)]


def player_name(value: Any, info: ValidationInfo) -> Any:
    """Check that a text names a bot or a policy file; what is in a file shows when it is loaded."""
    game = game_of(info)
    if isinstance(value, str) and names_model(value):
        raise PydanticCustomError("model", NO_MODEL)
    if isinstance(value, str) and not names_bot(value, game) and not names_player(value):
        raise PydanticCustomError(
            "player",
            "must be one of {names}, a file that ends in {suffix}, or a player of yours, {forms}",
            {"names": ", ".join(players_of(game)), "suffix": SUFFIX, "forms": FORMS},
        )
    return value


def policy_file(value: Any) -> Any:
    """Check that a text names a policy file; what is in the file shows when it is loaded."""
    if isinstance(value, str) and not names_file(value):
        raise PydanticCustomError("file", "must be a policy file, whose name ends in {suffix}", {"suffix": SUFFIX})
    return value


def options_of(value: Any, info: ValidationInfo) -> Any:
    """Turn a mapping into the game's options, whose own checks are the only ones."""
    game = game_of(info)
    if isinstance(value, game.Options):
        return value
    if not isinstance(value, dict):
        raise PydanticCustomError("mapping", "must be a mapping of keys to values")
    known = [about.name for about in described(game.Options)]
    for key in value:
        if key not in known:
            raise mistake(f"options.{str(key)[:MOST_QUOTED]}", unknown_key(str(key), known))
    try:
        return game.Options(**value)
    except ValueError as error:
        option = getattr(error, "option", "")
        raise mistake(f"options.{option}" if option else "options", str(error)) from error


PlayerName = Annotated[str, BeforeValidator(player_name)]
PolicyFile = Annotated[str, BeforeValidator(policy_file)]
