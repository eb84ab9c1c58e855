"""What a seat has seen others choose: the questions that they asked, and the offers that they declined.

A moment says what was known to everybody when somebody chose, so that it can be asked how well a deal
of the hidden gems explains the choice (see `weighing`). Seats are relative to the viewer.
"""

from __future__ import annotations

import numpy as np

from ...doors import ArrayError
from ...kernels import kernel
from ..cards import NUM_QUESTIONS, NUM_SEARCH_CARDS
from ..rules import is_shown
from ..state import (
    ASK_EVENT,
    ASKER,
    CARD,
    EXCHANGE_EVENT,
    FINAL_EVENT,
    IN,
    KIND,
    MUST_ACCUSE,
    NO_EVENT,
    OFFER,
    QUESTION,
    TARGET,
    P,
)

# The target of a moment in which somebody declined to accuse.
DECLINED = -1

MOMENT = np.dtype(
    [
        ("seat", "i4"),  # who chose
        ("target", "i4"),  # who was asked; DECLINED: an accusation was declined
        ("question", "i4"),  # what was asked
        ("card", "i4"),  # the search card that paid
        ("first_target", "i4"),  # who had been asked in the same turn, -1 nobody
        ("first_elements", "i4"),  # number of elements of that question
        ("search", "i8"),  # mask of the search cards of who chose
        ("told", "i8", P),  # [P] mask of the questions that a seat had answered
        ("shown", "i8", P),  # [P] mask of the questions whose cards a seat had shown to who chose
    ],
    align=True,
)


@kernel
def shown_questions(rules):
    """Return the mask of the questions at which the asker sees the cards (rules: RULES [1])."""
    questions = np.int64(0)
    for question in range(NUM_QUESTIONS):
        questions |= np.int64(is_shown(rules[0], question)) << question
    return questions


def check_events(views: np.ndarray) -> None:
    """Check that what others were seen to do names players, questions and cards that there are.

    Args:
        views: VIEW [K], at least one, all of games with the same number of players.

    Raises:
        ArrayError: an event of some view does not.
    """
    events = views["events"]
    players = int(views["num_players"][0])
    asks = np.isin(events[:, :, KIND], (ASK_EVENT, FINAL_EVENT))
    checks = (
        ("asker", events[:, :, KIND] != NO_EVENT, ASKER, players),
        ("target", asks, TARGET, players),
        ("question", asks, QUESTION, NUM_QUESTIONS),
        ("search card", events[:, :, KIND] == ASK_EVENT, CARD, NUM_SEARCH_CARDS),
    )
    for name, happened, column, number in checks:
        found = events[:, :, column]
        for row, event in np.argwhere(happened & ((found < 0) | (found >= number)))[:1]:
            raise ArrayError(
                f"views must be of a game of {players} players, but in row {row} the {name} of event {event} "
                f"is {found[row, event]}, and not from 0 to {number - 1}"
            )


class Watcher:
    """Notes what others choose, from the views that one seat has of one game, oldest first.

    Args:
        rules: RULES [1].
    """

    def __init__(self, rules: np.ndarray) -> None:
        self._rules = rules[0]
        self._all_shown = int(shown_questions(rules))
        self._asked: list[np.ndarray] = []
        self._before: np.ndarray | None = None
        self._declined: dict[int, np.ndarray] = {}

    def asked(self, first: int = 0) -> np.ndarray:
        """Return the questions that others have asked, in their order (MOMENT [M]), from one on."""
        return np.concatenate([np.zeros(0, MOMENT), *self._asked[first:]])

    def declined(self) -> np.ndarray:
        """Return when each rival who may still accuse has last declined to (MOMENT [M])."""
        return np.concatenate([np.zeros(0, MOMENT), *self._declined.values()])

    def watch(self, views: np.ndarray) -> None:
        """Note what has happened since the last view (views: VIEW [1], of the same seat and game)."""
        table = _Table(self._rules, self._all_shown, views[0] if self._before is None else self._before[0])
        events = _new_events(self._before, views)
        if self._before is None:
            table.take_back(views[0], events)
        latest = table.told.copy()
        for event in events:
            latest = table.told.copy()
            if event[KIND] == ASK_EVENT and event[ASKER] != 0 and table.search[event[ASKER]] >> int(event[CARD]) & 1:
                self._asked.append(table.moment(int(event[ASKER]), event))
            table.follow(event)
        self._note_refusals(table, latest, views[0])
        self._before = views.copy()

    def _note_refusals(self, table: _Table, earlier: np.ndarray, now: np.void) -> None:
        """Note what was known when each rival last declined (earlier: before the last question)."""
        if not self._rules["any_time"]:
            return
        players = int(now["num_players"])
        for seat in range(1, players):
            if now["standing"][seat] != IN:
                self._declined.pop(seat, None)
                continue
            moment = table.moment(seat)
            waits = now["phase"] == OFFER and not _was_offered(self._rules, seat, now)
            if waits or now["phase"] == MUST_ACCUSE:
                moment["told"] = earlier
                moment["shown"] &= earlier
            self._declined[seat] = moment


def _was_offered(rules: np.void, seat: int, now: np.void) -> bool:
    """Whether somebody has declined in this round for certain: clockwise from the asker before the viewer."""
    players = int(now["num_players"])
    turn = int(now["turn"])
    return not rules["offers_random"] and (seat - turn) % players < -turn % players


def _new_events(before: np.ndarray | None, views: np.ndarray) -> list[np.ndarray]:
    """Return what has happened between two views, oldest first; without the first, in the present turn.

    More events than a view holds may have happened; the older ones are unknown then.
    """
    now = views[0]
    newest_first = now["events"][: int(now["num_players"])]
    if before is None:
        events = []
        for event in newest_first:
            if event[KIND] != ASK_EVENT or event[ASKER] != now["turn"] or now["phase"] not in (OFFER, MUST_ACCUSE):
                break
            events.append(event)
        return events[::-1]
    known = before[0]["events"][: len(newest_first)]
    for new in range(len(newest_first)):
        if np.array_equal(newest_first[new:], known[: len(known) - new]):
            return list(newest_first[:new][::-1])
    return [event for event in newest_first[::-1] if event[KIND] != NO_EVENT]


class _Table:
    """What lies open while events are followed."""

    def __init__(self, rules: np.void, all_shown: int, seen: np.void) -> None:
        self._rules = rules
        self._all_shown = all_shown
        self.told = seen["told"].copy()
        self.search = seen["search"].copy()
        # [seat who asked, seat who answered] masks of questions
        self.between = np.zeros((P, P), np.int64)
        for seat in range(int(seen["num_players"])):
            bits = seen["askers"] >> seat & 1
            self.between[seat] = (bits.astype(np.int64) << np.arange(NUM_QUESTIONS)).sum(axis=1)
        # Who has asked whom first in the present turn, and the number of elements of that.
        self._first = (-1, -1, 0)
        if rules["double_interrogation"]:
            self._first = (int(seen["turn"]), int(seen["first_target"]), int(seen["first_elements"]))

    def take_back(self, now: np.void, events: list[np.ndarray]) -> None:
        """Go back to before the events of the present turn."""
        self._first = (-1, -1, 0)
        for event in events:
            mask = ~(np.int64(1) << int(event[QUESTION]))
            self.told[event[TARGET]] &= mask
            self.between[event[ASKER], event[TARGET]] &= mask
            self.search[event[ASKER]] |= np.int64(1) << int(event[CARD])

    def moment(self, seat: int, event: np.ndarray | None = None) -> np.ndarray:
        """Return the moment in which a seat asks, or declines."""
        moment = np.zeros(1, MOMENT)
        moment["seat"] = seat
        moment["target"] = DECLINED
        if event is not None:
            moment["target"], moment["question"], moment["card"] = event[TARGET], event[QUESTION], event[CARD]
        asker, first_target, first_elements = self._first
        follows = asker == seat
        moment["first_target"] = first_target if follows else -1
        moment["first_elements"] = first_elements if follows else 0
        moment["search"] = self.search[seat]
        moment["told"] = self.told
        moment["shown"] = self.between[seat] & self._all_shown
        return moment

    def follow(self, event: np.ndarray) -> None:
        """Do to the table what an event does."""
        kind, seat, target, question, card = (int(event[i]) for i in (KIND, ASKER, TARGET, QUESTION, CARD))
        if kind in (ASK_EVENT, FINAL_EVENT):
            self.told[target] |= np.int64(1) << question
            self.between[seat, target] |= np.int64(1) << question
        if kind == ASK_EVENT:
            self.search[seat] &= ~(np.int64(1) << card)
        if kind in (ASK_EVENT, FINAL_EVENT, EXCHANGE_EVENT):
            asks_again = self._rules["double_interrogation"] and kind == ASK_EVENT and self._first[0] != seat
            self._first = (seat, target, int(self._rules["num_elements"][question])) if asks_again else (-1, -1, 0)
