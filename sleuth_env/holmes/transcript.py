"""Whole games as text that replays to the same records, so that a bug report is a text file.

A game text holds everything: the options, which data of the cards it was played with, the first
deal, the state of the random generator, the actions and the result; later deals come from the
generator. Each line is checked against the rules as it is read; nothing in it is ever executed. Its
length is bounded, and only the actions are kept, not the state after each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..naming import NotationError
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
from .cards import AFOOT, COPIES, DIGEST, HAND_SIZE, NUM_TELEGRAMS, SAY_TOKENS, SAY_TYPES, Options, make_rules
from .notation import (
    action_name,
    book_name,
    names_in,
    parse_action,
    parse_telegram,
    parse_title,
    player_name,
    telegram_name,
    title_name,
    title_names,
)
from .records import one_state
from .results import standings
from .rules import legal, step
from .set_up import set_up
from .state import (
    ARRESTED,
    DRAWN,
    DREW,
    ESCAPED,
    FINISHED,
    INNOCENT,
    KIND,
    PLAYED,
    STATE,
    TITLE,
)

HEADER = "holmes game 1"


class Turn(NamedTuple):
    """One turn of a game, which is what everybody counts alike, whoever looks on.

    Who decided what in silence, and how often, can be seen in the moves and nowhere else.
    """

    number: int  # from 1
    moves: list[Move]
    before: np.void  # STATE at its beginning
    after: np.void  # STATE when it is over, at the beginning of the next one, or the last one


# --- what is announced ---


def new_events(options: Options, before: Any, after: Any) -> list[np.ndarray]:
    """Return the public events of one action or of several, the oldest first (each i1 [4]).

    Of a great many only the last 2n are known.

    Args:
        options: of the game.
        before: what has the events before: a state, or a view of whoever has the other one.
        after: the same, afterwards.
    """
    number = 2 * options.num_players
    old = before["events"][:number]
    new = after["events"][:number]
    count = next(k for k in range(number + 1) if np.array_equal(new[k:], old[: number - k]))
    return [event.copy() for event in new[:count][::-1]]


def winner_names(options: Options, state: np.void) -> list[str]:
    """Return the names of the players who have won a finished game; nobody while it goes on."""
    if state["phase"] != FINISHED:
        return []
    places = np.zeros((1, options.num_players), np.int32)
    standings(make_rules(options), np.frombuffer(bytearray(state.tobytes()), STATE), places)
    return [player_name(int(seat)) for seat in np.flatnonzero(places[0] == 1)]


def result_text(options: Options, state: np.void) -> str:
    """Return how a game stands or ended: ``player_2 wins``, ``unfinished, player_0 to decide``."""
    if state["phase"] != FINISHED:
        return f"unfinished, {player_name(int(state['actor']))} to decide"
    winners = winner_names(options, state)
    won = f"{', '.join(winners)} {'draw' if len(winners) > 1 else 'wins'}"
    return f"truncated, {won}" if state["truncated"] else won


def closing_text(state: Any, names: Sequence[str]) -> str:
    """Return how the last case was closed: ``player_1 arrests player_3: 47, four``, ``player_2 escapes: moran``.

    Args:
        state: STATE record in which at least one case has been closed.
        names: of the seats.
    """
    closer = names[int(state["last_closer"])]
    if state["last_accused"] < 0:
        return f"{closer} escapes: {', '.join(escaped_names(state))}"
    book = int(state["last_book"])
    taken = book_name(book) if book >= 0 else "none"
    return f"{closer} arrests {names[int(state['last_accused'])]}: {int(state['last_total'])}, {taken}"


def escaped_names(state: Any) -> list[str]:
    """Return the names of the Villains with whom the last case was closed by an escape."""
    titles = make_rules(Options())["villain_title"][0].tolist()
    return names_in(sum(1 << title for v, title in enumerate(titles) if int(state["last_escaped"]) >> v & 1))


def announcement(options: Options, move: Move) -> str:
    """Return what a game text says of an action besides its name, "" if nothing.

    That is whether a drawn card was kept or which was played, whether somebody was Innocent, and how
    a case was closed.
    """
    after = move.after
    events = new_events(options, move.before, after)
    said = []
    for number, event in enumerate(events):
        kind = event[KIND]
        if kind == DREW and after["phase"] != DRAWN:
            played = [int(e[TITLE]) for e in events[number + 1 :] if e[KIND] == PLAYED and e[TITLE] != AFOOT]
            said.append(f"plays {title_name(played[0])}" if played else "kept")
        elif kind == INNOCENT:
            said.append("innocent")
        elif kind in (ARRESTED, ESCAPED):
            said.append(closing_text(after, [player_name(seat) for seat in range(options.num_players)]))
    return "; ".join(said)


# --- replaying ---


@dataclass(frozen=True, eq=False)
class GameRecord(PlayedGame):
    """A game of I Say, Holmes! read from its text, see `PlayedGame`."""

    transcription = Transcription(
        state_type=STATE,
        make_rules=make_rules,
        legal=legal,
        step=step,
        action_name=action_name,
        parse_action=parse_action,
        one_state=one_state,
        result_text=result_text,
        announcement=announcement,
        announced="what was announced",
    )

    options: Options

    def turns(self) -> Iterator[Turn]:
        """Replay the game, turn by turn; the last one may not be over."""
        number = int(self.first_state["turn_number"])
        before = after = self.first_state
        moves: list[Move] = []
        for move in self.moves():
            moves.append(move)
            after = move.after
            if after["turn_number"] != number:
                yield Turn(number, moves, before, after)
                number = int(after["turn_number"])
                before = after
                moves = []
        if moves or number == 1:
            yield Turn(number, moves, before, after)


checked_record = GameRecord.checked


# --- writing ---


def _deal_lines(options: Options, state: np.void) -> Iterator[str]:
    """Iterate over the lines of a deal; whoever played afoot holds it there."""
    yield HEADER
    yield f"options: {option_words(options)}"
    yield f"cards: {DIGEST}"
    first = (int(state["turn"]) - 1) % options.num_players
    for seat in range(options.num_players):
        hand = state["hands"][seat].copy()
        hand[AFOOT] += seat == first
        yield f"hand {player_name(seat)}: {' '.join(title_names(hand))}"
    yield f"pile: {' '.join(title_name(int(title)) for title in state['pile'][: int(state['pile_size'])][::-1])}"
    for kind, name in enumerate(SAY_TYPES):
        yield f"say {name}: {' '.join(str(points) for points in state['say_pool'][kind][::-1])}"
    yield f"telegrams: {' '.join(telegram_name(int(token)) for token in state['telegram_stock'][::-1])}"
    yield f"generator: 0x{int(state['rng']):016x}"
    yield ""


def _check_fresh(options: Options, first: np.ndarray) -> None:
    """Raise NotationError unless reading the deal back gives the same state."""
    wrong = "first_state must be a fresh deal of these options, as deal left it"
    state = first[0]
    sizes = [*state["say_sizes"], state["telegram_size"]]
    if sizes != [SAY_TOKENS] * len(SAY_TYPES) + [NUM_TELEGRAMS] or not 0 <= state["turn"] < options.num_players:
        raise NotationError(f"{wrong}; this game is already under way, or has not begun")
    check_fresh(wrong, first, _deal_lines(options, state), _read_deal)


def game_text(options: Options, first_state: Any, actions: Iterable[int]) -> str:
    """Write a game, finished or not, as a text that `parse_game` replays to the same states.

    >>> from sleuth_env.holmes import deal, new_states
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> text = game_text(options, states, [parse_action("draw", options)])
    >>> text.splitlines()[-3:]
    ['player_2: draw', '', 'result: unfinished, player_2 to decide']

    Args:
        options: the options of the game.
        first_state: STATE, one record (or an array of one), as `deal` left it.
        actions: the actions taken since, in order.

    Raises:
        NotationError: the state is not a fresh deal of these options, or an action is illegal.
        ArrayError: it is not one STATE record, or no game is like that.
    """
    first = one_state(options, first_state, "first_state")
    _check_fresh(options, first)
    return write_game(GameRecord.transcription, options, first[0], _deal_lines(options, first[0]), actions)


# --- reading ---


def _read_cards_used(lines: Lines) -> None:
    number, line, value = lines.value("cards")
    if value != DIGEST:
        fail(number, line, f"the game was played with other data of the cards; those of this package are {DIGEST}")


class _Deck:
    """Cards that are dealt line by line, a number of copies of each title."""

    def __init__(self, lines: Lines, copies: Sequence[int], name: str) -> None:
        self._lines = lines
        self._copies = list(copies)
        self._left = list(copies)
        self._name = name

    def read(self, key: str, size: int) -> list[str]:
        """Read a line of ``size`` cards."""
        number, line, value = self._lines.value(key)
        words = value.split(" ")
        if len(words) != size:
            fail(number, line, f"{key} must have {size} cards, has {len(words)}")
        for word in words:
            try:
                title = parse_title(word)
            except NotationError as error:
                fail(number, line, str(error))
            self._left[title] -= 1
            if self._left[title] < 0:
                fail(number, line, f"{self._name} has {self._copies[title]} {word}, and this is one more")
        return words


def _read_points(lines: Lines, key: str, wanted: list[int]) -> list[int]:
    """Read a line of the points of I Say tokens."""
    number, line, value = lines.value(key)
    shown = " ".join(map(str, wanted))
    words = value.split(" ")
    if sorted(words) != sorted(shown.split(" ")):
        fail(number, line, f"{key} must be {shown}, in any order")
    return [int(word) for word in words]


def _read_telegrams(lines: Lines) -> list[str]:
    number, line, value = lines.value("telegrams")
    words = value.split(" ")
    try:
        tokens = sorted(map(parse_telegram, words))
    except NotationError as error:
        fail(number, line, str(error))
    if tokens != list(range(NUM_TELEGRAMS)):
        fail(number, line, f"telegrams must be all {NUM_TELEGRAMS}, each of them once")
    return words


def _read_deal(lines: Lines) -> tuple[Options, np.ndarray]:
    """Read a game as dealt: its options and STATE [1]."""
    read_header(lines, HEADER)
    options: Options = read_options(lines, Options)
    _read_cards_used(lines)
    stack = make_rules(options)["stack"][0].tolist()
    deck = _Deck(lines, stack, f"the Deal Out Stack of {options.num_players} players")
    names = [player_name(seat) for seat in range(options.num_players)]
    hands = {name: deck.read(f"hand {name}", HAND_SIZE) for name in names}
    rest = [number - dealt for number, dealt in zip(COPIES, stack, strict=True)]
    pile = _Deck(lines, rest, "the draw pile").read("pile", sum(rest))
    supply = make_rules(options)["say_points"][0]
    say = {name: _read_points(lines, f"say {name}", supply[kind].tolist()) for kind, name in enumerate(SAY_TYPES)}
    telegrams = _read_telegrams(lines)
    generator = read_generator(lines)
    afoot = title_name(AFOOT)
    first = next(seat for seat, name in enumerate(names) if afoot in hands[name])
    hands[names[first]].remove(afoot)
    position = {
        "hands": hands,
        "draw_pile": pile,
        "current": afoot,
        "location": "city",
        "turn": names[(first + 1) % options.num_players],
        "pools": {"say": say, "telegrams": telegrams},
    }
    states = set_up(options, position, generator)
    states["events"][0, 0] = (PLAYED, first, -1, AFOOT)
    return options, states


def parse_game(text: str) -> GameRecord:
    """Read a game text and replay it.

    >>> from sleuth_env.holmes import deal, new_states
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> record = parse_game(game_text(options, states, [parse_action("draw", options)]))
    >>> [action_name(action, record.options) for action in record.actions]
    ['draw']

    What was announced, after ``->``, may be left out; where it is given it is checked, and so is the
    result that ends the text.

    Raises:
        NotationError: the text is wrong; the message has the number of the line, quotes it and says
            what is right.
    """
    return GameRecord.read(text, _read_deal)
