"""A game looked back on: where every gem was, when it could have been proved, what a player knew."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ..deduction.worlds import IntricateError
from ..game_doors import checked_seat
from .belief import belief, list_asks
from .cards import COLOURS, NUM_QUESTIONS, PAIRS, Options, action_blocks, make_rules
from .checked import one_state
from .clues import read_sheet
from .drawing.scene import ROWS, gem_at
from .notation import gem_names, player_name, question_name
from .state import FINISHED, SECOND, TURN
from .transcript import GameRecord, Step, checked_record, result_text
from .view import VIEW, view

_COLUMN = 12
_ROW_NAME = 20
_ROW = "{:>4} {:>4} {:>8}  {:<24}{:>5}  {:<21}{:>5}"


def view_of(options: Options, state: Any, seat: int) -> np.void:
    """Return what a seat knows of one game (STATE record) as one VIEW record.

    Raises:
        ArrayError: the state is something else, or the game has no such seat.
    """
    states = one_state(options, state)
    views = np.zeros(1, VIEW)
    view(make_rules(options), states, np.array([checked_seat(options, seat)], np.int64), views)
    return views[0]


# --- what can be proved ---


def known_missing(options: Options, seen: Any) -> tuple[int, int]:
    """Return the gems that a player (one VIEW record) can prove missing, and those that may be, as masks."""
    views = np.zeros(1, VIEW)
    views[0] = seen
    return _known_missing(options, views.tobytes())


# A player may be asked about each of their legal actions, and all that depends on the view is the same.
@lru_cache(maxsize=16)
def _known_missing(options: Options, content: bytes) -> tuple[int, int]:
    """Return the same of the bytes of a view."""
    views = np.frombuffer(content, VIEW).copy()
    seen = views[0]
    if seen["missing_gems"]:
        return int(seen["missing_gems"]), int(seen["missing_gems"])
    rules = make_rules(options)
    sheet = read_sheet(rules, views)[0]
    last = options.num_players - 1
    on_sheet = int(sheet["has"][last]), int(sheet["can"][last])
    if on_sheet[0].bit_count() == options.missing:
        return on_sheet[0], on_sheet[0]
    try:
        certain = belief(rules, views).certain[:, -1].tolist()
    except IntricateError:
        return on_sheet
    proved = sum(1 << gem for gem, sure in enumerate(certain) if sure == 1)
    excluded = sum(1 << gem for gem, sure in enumerate(certain) if sure == 0)
    # Of gems that the player holds or that lie open nothing is counted.
    return proved & on_sheet[1], on_sheet[1] & ~excluded


def can_prove(options: Options, seen: Any) -> bool:
    """Return whether a player (one VIEW record) can prove what is missing."""
    return known_missing(options, seen)[0].bit_count() == options.missing


def first_proof(record: GameRecord, seat: int) -> Step | None:
    """Return the first step after which a player could prove what is missing, without having looked at it."""
    steps = []
    for step in record.steps():
        if step.after["accused"][seat] or step.after["phase"] == FINISHED:
            break
        steps.append(step)
    # Nothing is ever forgotten.
    at = bisect_left(steps, True, key=lambda step: can_prove(record.options, view_of(record.options, step.after, seat)))
    return steps[at] if at < len(steps) else None


# --- the end of a game ---


def ending(record: GameRecord, seat: int) -> list[str]:
    """Return what a player is told when a game is over, line by line: the result, and everything hidden.

    Args:
        record: the game.
        seat: the player, who is called "you".

    Raises:
        ArrayError: this is not a game, or it has no such seat.
    """
    options = checked_record(record).options
    seat = checked_seat(options, seat)
    state = record.last_state
    names = [_label(options, seat, other) for other in range(options.num_players)]
    return [
        f"Game over in turn {int(state['turn_number'])}: {result_text(state)}.",
        f"Missing: {', '.join(gem_names(state['missing_gems']))}.",
        "Where every gem was:",
        *_whereabouts(state, names),
        *proof_lines(record, seat),
    ]


def _label(options: Options, seat: int, other: int) -> str:
    return "you" if other == seat else f"+{(other - seat) % options.num_players}"


def _whereabouts(state: Any, names: list[str]) -> Iterator[str]:
    """Lay out the sheet with the holder of every gem."""
    yield " " * _ROW_NAME + "".join(f"{colour:<{_COLUMN}}" for colour in COLOURS).rstrip()
    holders = {"MISSING": state["missing_gems"], "table": state["table"]}
    holders |= {name: state["hands"][other] for other, name in enumerate(names)}
    for row, (kind, type_) in enumerate(ROWS):
        gems = (gem_at(row, column) for column in range(len(COLOURS)))
        places = [next(name for name, cards in holders.items() if int(cards) >> gem & 1) for gem in gems]
        yield f"{f'{kind} {type_}':<{_ROW_NAME}}" + "".join(f"{place:<{_COLUMN}}" for place in places).rstrip()


def proof_lines(record: GameRecord, seat: int) -> Iterator[str]:
    """Iterate over lines that say from when on each player could have proved what was missing, one player first."""
    for k in range(record.options.num_players):
        other = (seat + k) % record.options.num_players
        who = "You" if k == 0 else f"{player_name(other)} (+{k})"
        step = first_proof(record, other)
        if step is None:
            yield f"{who} could never prove what was missing."
        elif step.move is None:
            yield f"{who} could prove what was missing from the start."
        else:
            yield f"{who} could prove what was missing from step {step.number}, turn {_turn(step)}, on."


def _turn(step: Step) -> int:
    return int(step.move.before["turn_number"]) if step.move is not None else 1


# --- a review ---


def review(record: GameRecord, seat: int) -> Iterator[str]:
    """Iterate over lines that say what a player knew whenever they took a turn or accused, and what was best to ask.

    Args:
        record: the game.
        seat: the player.

    Raises:
        ArrayError: this is not a game, or it has no such seat.
    """
    return _review_lines(record, checked_seat(checked_record(record).options, seat))


def _review_lines(record: GameRecord, seat: int) -> Iterator[str]:
    yield f"What {player_name(seat)} knew before each of their questions and accusations:"
    yield _ROW.format("step", "turn", "may be", "what they did", "bits", "most telling question", "bits")
    for step in record.steps():
        if step.move is not None and step.move.before["actor"] == seat:
            yield _review_row(record.options, step, seat).rstrip()
    yield "may be: gems that might still be missing. bits: what the question was expected to tell."
    yield from (line.replace("You", player_name(seat), 1) for line in list(proof_lines(record, seat))[:1])


def _review_row(options: Options, step: Step, seat: int) -> str:
    assert step.move is not None
    before, action, _ = step.move
    seen = view_of(options, before, seat)
    views = np.zeros(1, VIEW)
    views[0] = seen
    blocks = action_blocks(options)
    possible = known_missing(options, seen)[1].bit_count()
    turn = int(before["turn_number"])
    done = "exchange"
    place = -1
    if action < blocks["ask"].stop:
        opponent, pair = divmod(action, len(PAIRS))
        place = opponent * NUM_QUESTIONS + PAIRS[pair][0]
    elif action < blocks["final"].stop:
        place = action - blocks["final"].start
    if place >= 0:
        final = "final " if action >= blocks["final"].start else ""
        done = f"{final}{_question_words(place)}"
    try:
        worlds = belief(make_rules(options), views)
    except IntricateError:
        return _ROW.format(step.number, turn, possible, done, "", "", "")
    if blocks["accuse"].start <= action < blocks["accuse"].stop:
        chance = worlds.missing[action - blocks["accuse"].start]
        done = "accuse" if options.missing > 1 else f"accuse, right by {chance:.0%}"
    if before["phase"] not in (TURN, SECOND):
        return _ROW.format(step.number, turn, possible, done, "", "", "")
    return _ROW.format(step.number, turn, possible, done, *_worths(options, views, worlds, place))


def _worths(options: Options, views: np.ndarray, worlds: Any, place: int) -> tuple[str, str, str]:
    """Return what a question was worth, which of those that could be asked tells most, and how much."""
    asks, places, _ = list_asks(make_rules(options), views, now=True)
    if not len(places):
        return "", "", ""
    information = worlds.worths(asks["holder"], asks["cards"], asks["shown"])["information"]
    best = int(information.argmax())
    own = [f"{information[at]:.2f}" for at in np.flatnonzero(places == place)[:1]]
    return own[0] if own else "", _question_words(int(places[best])), f"{information[best]:.2f}"


def _question_words(place: int) -> str:
    opponent, question = divmod(place, NUM_QUESTIONS)
    return f"+{opponent + 1} {question_name(question)}"
