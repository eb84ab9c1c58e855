"""The names of elements, gems, questions, search cards, players, actions and events.

They are strict both ways: ``x_name`` returns the one text of a value, and ``parse_x`` reads that
text and no other, neither in another case nor with spaces around it. Errors quote the text and say
what would be right. Whole games as text are in `transcript`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..game import player_name as any_player_name
from ..naming import ActionNames, Names
from ..naming import NotationError as NotationError
from .cards import ELEMENTS, GEMS, MAX_PLAYERS, MIN_PLAYERS, PAIRS, QUESTIONS, Options
from .state import ACCUSED_EVENT, ASK_EVENT, EXCHANGE_EVENT, FINAL_EVENT, RIGHT_EVENT, WRONG_EVENT

_ELEMENTS = Names("an element", ELEMENTS)
_GEMS = Names("a gem", ["-".join(gem) for gem in GEMS])
_QUESTIONS = Names("a question", ["-".join(question) for question in QUESTIONS])
_SEARCH_CARDS = Names("a search card", [*_QUESTIONS.names, *(f"free-{element}" for element in ELEMENTS), "free"])
_PLAYERS = Names("a player", [any_player_name(seat) for seat in range(MAX_PLAYERS)])

PHASE_NAMES = ("turn", "second", "offer", "must_accuse", "finished")


def element_name(element: int) -> str:
    """Return the name of an element, such as ``blue``."""
    return _ELEMENTS.name(element)


def parse_element(text: str) -> int:
    """Return the element of a name."""
    return _ELEMENTS.parse(text)


def gem_name(gem: int) -> str:
    """Return the name of a gem card.

    >>> gem_name(16)
    'blue-opal-pair'
    """
    return _GEMS.name(gem)


def parse_gem(text: str) -> int:
    """Return the gem card of a name.

    >>> parse_gem("blue-opal-pair")
    16
    """
    return _GEMS.parse(text)


def gem_names(mask: int) -> list[str]:
    """Return the names of the gem cards of a mask, in the order of the cards."""
    return [name for c, name in enumerate(_GEMS.names) if int(mask) >> c & 1]


def question_name(question: int) -> str:
    """Return the name of a question: an element, or two in the order colour, kind, type.

    >>> question_name(6), question_name(15)
    ('opal', 'blue-opal')
    """
    return _QUESTIONS.name(question)


def parse_question(text: str) -> int:
    """Return the question of a name.

    >>> parse_question("blue-opal")
    15
    """
    return _QUESTIONS.parse(text)


def search_card_name(card: int) -> str:
    """Return the name of a search card: its question, ``free-`` and its element, or ``free``.

    >>> search_card_name(15), search_card_name(44), search_card_name(53)
    ('blue-opal', 'free-blue', 'free')
    """
    return _SEARCH_CARDS.name(card)


def parse_search_card(text: str) -> int:
    """Return the search card of a name.

    >>> parse_search_card("free-blue")
    44
    """
    return _SEARCH_CARDS.parse(text)


def search_card_names(mask: int) -> list[str]:
    """Return the names of the search cards of a mask, in the order of the cards."""
    return [name for card, name in enumerate(_SEARCH_CARDS.names) if int(mask) >> card & 1]


def player_name(seat: int) -> str:
    """Return the name of a seat, such as ``player_0``."""
    return _PLAYERS.name(seat)


def parse_player(text: str) -> int:
    """Return the seat of a name."""
    return _PLAYERS.parse(text)


def _all_actions(num_players: int) -> list[str]:
    opponents = range(1, num_players)
    asks = [f"ask +{k} {_QUESTIONS.names[q]} with {_SEARCH_CARDS.names[card]}" for k in opponents for q, card in PAIRS]
    finals = [f"final +{k} {question}" for k in opponents for question in _QUESTIONS.names]
    accusations = [f"accuse {gem}" for gem in _GEMS.names]
    return [*asks, *finals, "exchange", *accusations, "pass"]


def _forms_of_actions(num_players: int) -> str:
    return f"ask +K QUESTION with CARD, final +K QUESTION, exchange, accuse GEM, pass; K from 1 to {num_players - 1}"


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
    """Return the name of an action; ``+k`` is the k-th player to the actor's left.

    >>> action_name(0, 4), action_name(615, Options(num_players=4))
    ('ask +1 red with red', 'exchange')

    Args:
        action: its number.
        game: the number of players, or the options of the game.

    Raises:
        NotationError: there is no such action.
    """
    return _ACTIONS.name(action, game)


def parse_action(text: str, game: int | Options) -> int:
    """Return the number of an action.

    >>> parse_action("ask +2 blue-opal with free-blue", 4)
    213
    >>> parse_action("pass", Options(num_players=4))
    652

    Args:
        text: the name of the action.
        game: the number of players, or the options of the game.

    Raises:
        NotationError: the text does not name an action of this game; the message shows the forms
            and the nearest names.
    """
    return _ACTIONS.parse(text, game)


_RESULTS = {
    RIGHT_EVENT: "accused: right",
    WRONG_EVENT: "accused: wrong",
    ACCUSED_EVENT: "accused",
    EXCHANGE_EVENT: "exchanged search cards",
}


def event_text(event: np.ndarray, names: Sequence[str]) -> str:
    """Return a public event in words, on one line; "" for none.

    Args:
        event: i1 [6], a row of the events of a state or a view: kind, asker, target, question,
            card, count.
        names: the names of the seats, in the numbering of the event (absolute in a state, relative
            in a view).
    """
    kind, asker, target, question, card, count = (int(field) for field in event)
    if kind == ASK_EVENT:
        return f"{names[asker]} asked {names[target]} {question_name(question)} with {search_card_name(card)}: {count}"
    if kind == FINAL_EVENT:
        return f"{names[asker]} asked {names[target]} as final question {question_name(question)}: {count}"
    return f"{names[asker]} {_RESULTS[kind]}" if kind in _RESULTS else ""
