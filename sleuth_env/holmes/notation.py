"""The names of titles, tokens, players and actions, and public events in words.

They are strict both ways: ``x_name`` returns the one text of a value, and ``parse_x`` reads that
text and no other, neither in another case nor with spaces around it. Errors quote the text and say
what would be right. Whole games as text are in `transcript`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..checks import is_collection, shown
from ..doors import ArrayError, array
from ..game import player_name as any_player_name
from ..naming import ActionNames, Names
from ..naming import NotationError as NotationError
from .cards import (
    AFOOT,
    AIMED_TITLES,
    BOOKS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_HAND_TITLES,
    NUM_TITLES,
    PLAIN_TITLES,
    SAY_TYPES,
    TELEGRAMS,
    TITLES,
    Options,
)
from .state import (
    ARRESTED,
    COUNTERED,
    DISCARDED,
    DREW,
    ESCAPED,
    IMPROMPTU_ARREST,
    INNOCENT,
    NUM_EVENT_KINDS,
    PLAYED,
    TOOK_TELEGRAM,
    TOOK_TOKEN,
)

_TITLES = Names("a title", TITLES)
_BOOKS = Names("a book", BOOKS)
_SAY_TYPES = Names("a type of I Say tokens", SAY_TYPES)
_TELEGRAMS = Names("a telegram", TELEGRAMS)
_PLAYERS = Names("a player", [any_player_name(seat) for seat in range(MAX_PLAYERS)])


def title_name(title: int) -> str:
    """Return the name of a title.

    >>> title_name(3), title_name(16)
    ('foot-chase', 'suspicion')
    """
    return _TITLES.name(title)


def parse_title(text: str) -> int:
    """Return the title of a name.

    >>> parse_title("suspicion")
    16
    """
    return _TITLES.parse(text)


def title_names(copies: Iterable[int]) -> list[str]:
    """Return the names of cards in the order of their titles, one for each copy.

    >>> title_names([0, 2, 1])
    ['train', 'train', 'boat']

    Args:
        copies: the number of copies of each title, from the first on.
    """
    return [_TITLES.names[title] for title, number in enumerate(copies) for _ in range(int(number))]


def names_in(mask: int) -> list[str]:
    """Return the names of the titles of a mask, in their order."""
    return [name for title, name in enumerate(_TITLES.names) if int(mask) >> title & 1]


def book_name(book: int) -> str:
    """Return the name of a Book token.

    >>> book_name(0)
    'last-bow'
    """
    return _BOOKS.name(book)


def parse_book(text: str) -> int:
    """Return the Book token of a name.

    >>> parse_book("four")
    4
    """
    return _BOOKS.parse(text)


def say_type_name(say_type: int) -> str:
    """Return the name of a type of I Say tokens.

    >>> say_type_name(1)
    'hat'
    """
    return _SAY_TYPES.name(say_type)


def parse_say_type(text: str) -> int:
    """Return the type of I Say tokens of a name.

    >>> parse_say_type("glass")
    2
    """
    return _SAY_TYPES.parse(text)


def telegram_name(telegram: int) -> str:
    """Return the name of a Telegram token, which says what it scores and for whom.

    >>> telegram_name(4)
    'left-2'
    """
    return _TELEGRAMS.name(telegram)


def parse_telegram(text: str) -> int:
    """Return the Telegram token of a name.

    >>> parse_telegram("own-3")
    3
    """
    return _TELEGRAMS.parse(text)


def player_name(seat: int) -> str:
    """Return the name of a seat, such as ``player_0``."""
    return _PLAYERS.name(seat)


def parse_player(text: str) -> int:
    """Return the seat of a name."""
    return _PLAYERS.parse(text)


# --- actions ---


def _all_actions(num_players: int) -> list[str]:
    opponents = range(1, num_players)
    names = [f"play {TITLES[title]}" for title in PLAIN_TITLES]
    names += [f"play {TITLES[title]} on +{k}" for k in opponents for title in AIMED_TITLES]
    names += [f"choose {name}" for name in TITLES[:NUM_HAND_TITLES]]
    names += [f"arrest +{k}" for k in opponents]
    names += [f"from +{k}" for k in range(num_players)]
    names += [f"token {name}" for name in SAY_TYPES]
    names += [f"token {name} from +{k}" for k in opponents for name in SAY_TYPES]
    return [*names, "draw", "escape", "pass"]


def _forms_of_actions(num_players: int) -> str:
    return (
        "play TITLE, play TITLE on +K, choose TITLE, arrest +K, from +K, token TYPE, token TYPE from +K, "
        f"draw, escape, pass; K from 1 to {num_players - 1}, from +0 is oneself"
    )


_ACTIONS = ActionNames(Options, MIN_PLAYERS, MAX_PLAYERS, _all_actions, _forms_of_actions)


def action_names(game: int | Options) -> tuple[str, ...]:
    """Return the names of all actions of a game, in their order.

    Args:
        game: the number of players, or the options of the game.

    Raises:
        NotationError: there cannot be a game of this number of players.
    """
    return _ACTIONS.of(game).names


def action_name(action: int, game: int | Options) -> str:
    """Return the name of an action; ``+k`` is the k-th player to the left of whoever decides, ``+0`` themselves.

    >>> action_name(0, 4), action_name(124, Options(num_players=4))
    ('play hansom-cab', 'pass')

    Args:
        action: its number.
        game: the number of players, or the options of the game.

    Raises:
        NotationError: there is no such action.
    """
    return _ACTIONS.name(action, game)


def parse_action(text: str, game: int | Options) -> int:
    """Return the number of an action.

    >>> parse_action("play suspicion on +2", 4)
    41
    >>> parse_action("token hat from +2", Options(num_players=4))
    117

    Args:
        text: the name of the action.
        game: the number of players, or the options of the game.

    Raises:
        NotationError: the text does not name an action of this game; the message shows the forms
            and the nearest names.
    """
    return _ACTIONS.parse(text, game)


# --- events ---


def event_text(event: Any, names: Sequence[str]) -> str:
    """Return a public event in words, on one line; "" for none.

    >>> event_text([PLAYED, 1, 2, parse_title("clue")], ["you", "+1", "+2"])
    '+1 played clue on +2'

    Args:
        event: i1 [4], a row of the events of a state or a view: kind, player, target, title.
        names: the names of the seats, in the numbering of the event (absolute in a state, relative
            in a view).

    Raises:
        ArrayError: this is not an event.
        ValueError: these are not names of all seats.
    """
    kind, player, target, title = array("event", event, np.int64, (4,)).tolist()
    if kind < 0:
        return ""
    names = list(names) if is_collection(names) else []
    if not all(isinstance(name, str) for name in names) or not 0 <= player < len(names) or target >= len(names):
        raise ValueError(
            f"names must be texts, one for each seat of the event, {player} and {target}, got {shown(names)}"
        )
    if kind >= NUM_EVENT_KINDS or title >= NUM_TITLES:
        raise ArrayError(f"event must be of a game, got {[kind, player, target, title]}")
    who = names[player]
    other = names[target] if target >= 0 else ""
    card = TITLES[title] if title >= 0 else ""
    if kind == PLAYED and title == AFOOT:
        return f"{who} began the case with {card}"
    texts: dict[int, str] = {
        int(PLAYED): f"{who} played {card}{' on ' if other else ''}{other}",
        int(DREW): f"{who} drew a card",
        int(COUNTERED): f"{who} countered {other} with {card}",
        int(IMPROMPTU_ARREST): f"{who} made an Impromptu Arrest of {other}",
        int(INNOCENT): f"{who} found {other} Innocent",
        int(ARRESTED): f"{who} found {other} Guilty and closed the case",
        int(ESCAPED): f"{who} escaped and closed the case",
        int(DISCARDED): f"{who} discarded {card}",
        int(TOOK_TOKEN): f"{who} got an I Say token{' from ' if other else ''}{other}",
        int(TOOK_TELEGRAM): f"{who} got a Telegram{' from ' if other else ''}{other}",
    }
    return texts[kind]
