"""Whole games as text that replays to the same records, so that a bug report is a text file.

A game text holds everything: the options, the deal, the state of the random generator, the actions
and the result. Each line is checked against the rules as it is read; nothing in it is ever
executed. Its length is bounded, and only the actions are kept, not the state after each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..naming import alternatives
from ..transcripts import MAX_TEXT as MAX_TEXT
from ..transcripts import (
    Lines,
    PlayedGame,
    Transcription,
    check_fresh,
    fail,
    option_words,
    read_generator,
    read_header,
    read_options,
    write_game,
)
from ..transcripts import Move as Move
from .cards import NUM_SEARCH_CARDS, SEARCH_HAND, Options, make_rules
from .checked import one_state
from .notation import (
    NotationError,
    action_name,
    gem_name,
    gem_names,
    parse_action,
    parse_gem,
    parse_search_card,
    player_name,
    search_card_name,
    search_card_names,
)
from .rules import legal, step
from .state import COUNT, FINISHED, RIGHT, STATE, TURN, new_states

HEADER = "sleuth game 1"


def winner_names(state: np.void) -> list[str]:
    """Return the names of the players who were right (or survived), in order of place."""
    seats = [seat for seat in range(len(state["place"])) if state["place"][seat] > 0]
    return [player_name(seat) for seat in sorted(seats, key=lambda seat: int(state["place"][seat]))]


def pile_names(state: np.void) -> list[str]:
    """Return the names of the cards of the draw pile, the next one first."""
    return [search_card_name(int(card)) for card in state["pile"][: int(state["pile_size"])][::-1]]


def result_text(state: np.void) -> str:
    """Return how a game stands or ended: ``player_2 wins``, ``unfinished, player_0 to decide``."""
    if state["phase"] != FINISHED:
        return f"unfinished, {player_name(int(state['actor']))} to decide"
    winners = winner_names(state)
    won = f"{', '.join(winners) or 'nobody'} {'win' if len(winners) > 1 else 'wins'}"
    return f"truncated, {won}" if state["truncated"] else won


def announcement(options: Options, move: Move) -> str:
    """Return what a game text says of an action besides its name, "" if nothing.

    That is the answer to a question, or whether an accusation was right.
    """
    if move.action < make_rules(options)["exchange_at"][0]:
        return str(move.after["events"][0, COUNT])
    seat = int(move.before["actor"])
    if move.after["accused"][seat]:
        return "right" if move.after["standing"][seat] == RIGHT else "wrong"
    return ""


class Step(NamedTuple):
    """What was announced at one moment of a game, and what went on in silence until the next announcement.

    Steps are what everybody counts alike, whoever looks on. Whatever is told to a player about a step
    is taken from ``after``: who passed before whom can be seen in the states between, and nowhere else.
    """

    number: int  # from 1; 0 is the deal
    move: Move | None  # the announced action; None: the deal
    silent: list[Move]  # passes, and gems of an accusation of which more are to be named
    after: np.void  # STATE in which the next announced action is taken, or the last one


def is_public(options: Options, state: Any, action: int) -> bool:
    """Return whether an action was announced.

    A pass is not, nor is a gem of an accusation of which more are to be named.

    Args:
        options: of the game.
        state: STATE record, after the action.
        action: its number.
    """
    return bool(action != make_rules(options)["pass_at"][0] and state["accusing"] == 0)


@dataclass(frozen=True, eq=False)
class GameRecord(PlayedGame):
    """A game of Sleuth read from its text, see `PlayedGame`."""

    transcription = Transcription(
        state_type=STATE,
        make_rules=make_rules,
        legal=legal,
        step=step,
        action_name=action_name,
        parse_action=parse_action,
        one_state=one_state,
        result_text=lambda options, state: result_text(state),
        announcement=announcement,
        announced="the answer",
    )

    options: Options

    def steps(self) -> Iterator[Step]:
        """Replay the game, announcement by announcement; the deal comes first, as step 0."""
        number = 0
        announced = None
        silent: list[Move] = []
        after = self.first_state
        for move in self.moves():
            if is_public(self.options, move.after, move.action):
                yield Step(number, announced, silent, after)
                number += 1
                announced = move
                silent = []
            else:
                silent.append(move)
            after = move.after
        yield Step(number, announced, silent, after)


checked_record = GameRecord.checked


# --- writing ---


def _deal_lines(options: Options, state: np.void) -> Iterator[str]:
    yield HEADER
    yield f"options: {option_words(options)}"
    yield f"missing: {' '.join(gem_names(state['missing_gems']))}"
    for seat in range(options.num_players):
        yield f"hand {player_name(seat)}: {' '.join(gem_names(state['hands'][seat]))}"
    yield f"table: {' '.join(gem_names(state['table'])) or 'none'}"
    for seat in range(options.num_players):
        yield f"search {player_name(seat)}: {' '.join(search_card_names(state['search'][seat]))}"
    yield f"pile: {' '.join(pile_names(state))}"
    yield f"first: {player_name(int(state['turn']))}"
    yield f"generator: 0x{int(state['rng']):016x}"
    yield ""


def game_text(options: Options, first_state: Any, actions: Iterable[int]) -> str:
    """Write a game, finished or not, as a text that `parse_game` replays to the same states.

    >>> from sleuth_env.sleuth import deal
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> text = game_text(options, states, [parse_action("exchange", options)])
    >>> text.splitlines()[-3:]
    ['player_0: exchange', '', 'result: unfinished, player_1 to decide']

    Args:
        options: the options of the game.
        first_state: STATE, one record (or an array of one), as `deal` left it.
        actions: the actions taken since, in order.

    Raises:
        NotationError: the state is not a fresh deal of these options, or an action is illegal.
        ArrayError: it is not one STATE record, or no game is like that.
    """
    first = one_state(options, first_state, "first_state")
    head = list(_deal_lines(options, first[0]))
    check_fresh("first_state must be a fresh deal, as deal left it", first, head, _read_deal)
    return write_game(GameRecord.transcription, options, first[0], head, actions)


# --- reading ---


class _Deal:
    """The cards of one kind, each of which may be dealt once."""

    def __init__(self, lines: Lines, parse: Any, name: Any) -> None:
        self._lines = lines
        self._parse = parse
        self._name = name
        self._dealt: dict[int, int] = {}

    def read(self, key: str, size: int) -> list[int]:
        """Read a line of `size` cards, none of which any line before has."""
        number, line, value = self._lines.value(key)
        words = [] if value == "none" else value.split(" ")
        if len(words) != size:
            fail(number, line, f"{key} must have {size} cards, has {len(words)}")
        return [self._card(number, line, word) for word in words]

    def _card(self, number: int, line: str, word: str) -> int:
        try:
            card: int = self._parse(word)
        except NotationError as error:
            fail(number, line, str(error))
        if card in self._dealt:
            fail(number, line, f"{self._name(card)} is dealt twice, first in line {self._dealt[card]}")
        self._dealt[card] = number
        return card


def _mask(cards: Iterable[int]) -> int:
    return sum(1 << card for card in cards)


def _read_deal(lines: Lines) -> tuple[Options, np.ndarray]:
    """Read a game as dealt: its options and STATE [1]."""
    read_header(lines, HEADER)
    options = read_options(lines, Options)
    states = new_states(1)
    state = states[0]
    seats = range(options.num_players)
    gems = _Deal(lines, parse_gem, gem_name)
    state["missing_gems"] = _mask(gems.read("missing", options.missing))
    for seat in seats:
        state["hands"][seat] = _mask(gems.read(f"hand {player_name(seat)}", options.hand_size))
    state["table"] = _mask(gems.read("table", options.table_size))
    cards = _Deal(lines, parse_search_card, search_card_name)
    for seat in seats:
        state["search"][seat] = _mask(cards.read(f"search {player_name(seat)}", SEARCH_HAND))
    pile = cards.read("pile", NUM_SEARCH_CARDS - SEARCH_HAND * options.num_players)
    state["pile"][: len(pile)] = pile[::-1]
    state["pile_size"] = len(pile)
    state["phase"] = TURN
    state["turn"] = state["actor"] = _read_first(lines, options)
    state["rng"] = read_generator(lines)
    return options, states


def _read_first(lines: Lines, options: Options) -> int:
    number, line, value = lines.value("first")
    first = 1 if options.first_player == "seat_0" else options.num_players
    names = [player_name(seat) for seat in range(first)]
    if value not in names:
        fail(number, line, f"the first player must be {alternatives(value, names)}")
    return names.index(value)


def parse_game(text: str) -> GameRecord:
    """Read a game text and replay it.

    >>> from sleuth_env.sleuth import deal
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> record = parse_game(game_text(options, states, [parse_action("exchange", options)]))
    >>> [action_name(action, record.options) for action in record.actions]
    ['exchange']

    The answers after ``->`` may be left out; those given are checked, and so is the result that
    ends the text.

    Raises:
        NotationError: the text is wrong; the message has the number of the line, quotes it and says
            what is right.
    """
    return GameRecord.read(text, _read_deal)
