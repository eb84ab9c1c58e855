"""The worked cases of *I Say, Holmes!*: positions, what is done in them, and what must come out.

``tests/games/holmes_cases.txt`` holds one case a line. `read_cases` turns it into values, and
`problems` plays a case on any implementation of the rules that stands behind a `Player` and says
where it comes out otherwise. How a line is read::

    number, Current card, Location marker, options that are not the defaults (n= is num_players)
    | the position: p0 london clue | pile manor | pile= manor | discards ... | say p0 hat=1; p1 ...
    | telegrams ... | villains ... | books ...
    | legal: exactly these actions; has, lacks: among others
    | > action => what then holds

A player who is not named holds a clue and a train. ``pile`` names the next cards of the draw pile;
with ``pile=`` it has no others, and all the rest lies in the discard pile. It is the turn of
player 0. No result depends on chance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import sleuth_env

CASES = Path(__file__).parent.parent / "games" / "holmes_cases.txt"
CARDS = Path(sleuth_env.__file__).parent / "holmes" / "cards.json"
HAND = ("clue", "train")  # of a player who is not named
VERBS = ("play", "choose", "arrest", "from", "token", "draw", "escape", "pass")  # with which actions begin
CLOSE = 1e-4  # rewards are written with four decimals


class Player(Protocol):
    """Whatever plays a case: an implementation of the rules behind the names of the notation."""

    def set_up(self, options: Mapping[str, Any], position: Mapping[str, Any], /) -> None:
        """Begin a game in a position, which has the form of what `reveal` returns."""
        ...

    def legal(self) -> Sequence[str]:
        """Return the legal actions."""
        ...

    def act(self, text: str, /) -> None:
        """Take an action for whoever decides."""
        ...

    def reveal(self) -> Mapping[str, Any]:
        """Return the whole hidden state."""
        ...

    def rewards(self) -> Sequence[float]:
        """Return what the last action paid each player."""
        ...

    def ended(self) -> bool:
        """Return whether the game is over, truncated or not."""
        ...

    def truncated(self) -> bool:
        """Return whether the turn limit has stopped it."""
        ...

    def total(self) -> int | None:
        """Return the Grand Total of the case closed last; None where nothing tells it any more."""
        ...


@dataclass(frozen=True)
class Check:
    """One thing that must hold, such as ``Check("phase", ("turn",))``: the first word, and the others."""

    about: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.about, *self.words))


@dataclass(frozen=True)
class Step:
    """An action, "" for none yet, and what holds after it."""

    action: str
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Case:
    """One worked case.

    Args:
        number: as in the list.
        line: as it stands there.
        options: those that are not the defaults, by name.
        position: in the form of what ``reveal`` returns, as ``set_up`` takes it.
        steps: in their order; the first takes no action.
    """

    number: int
    line: str
    options: Mapping[str, Any]
    position: Mapping[str, Any]
    steps: tuple[Step, ...]


@cache
def read_cases() -> tuple[Case, ...]:
    """Return all worked cases."""
    return tuple(_case(line) for line in CASES.read_text(encoding="utf-8").splitlines())


# --- how a line is read ---


def player(short: str) -> str:
    """Return the full name of a seat.

    >>> player("p2")
    'player_2'
    """
    return f"player_{int(short.removeprefix('p'))}"


def _case(line: str) -> Case:
    head, *segments = line.split(" | ")
    number, current, location, *named = head.split()
    options = dict(_option(text) for text in named)
    players = [f"player_{seat}" for seat in range(options.get("num_players", 4))]
    position: dict[str, Any] = {
        "hands": {name: list(HAND) for name in players},
        "current": current,
        "location": location,
        "turn": "player_0",
    }
    checks: list[Check] = []
    steps: list[Step] = []
    only = False
    for segment in segments:
        first, _, rest = segment.partition(" ")
        if first == ">":
            action, _, then = rest.partition(" => ")
            steps.append(Step(action, tuple(_checks(then))))
        elif first in ("legal", "has", "lacks"):
            checks.append(Check(first, tuple(rest.split(", "))))
        elif first in ("pile", "pile="):
            position["draw_pile"] = rest.split()
            only = first == "pile="
        elif first == "discards":
            position["discards"] = rest.split()
        elif first in ("say", "telegrams", "villains", "books"):
            _place_tokens(position, players, first, rest)
        else:
            position["hands"][player(first)] = rest.split()
    if only:
        position["discards"] = _all_others(position)
    return Case(int(number), line, options, position, (Step("", tuple(checks)), *steps))


def _option(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    values: dict[str, Any] = {"True": True, "False": False}
    return {"n": "num_players"}.get(name, name), int(value) if value.isdigit() else values.get(value, value)


def _place_tokens(position: dict[str, Any], players: list[str], kind: str, text: str) -> None:
    """Lay tokens before players: ``say p0 pipe=2 glass=1; p1 hat=3`` or ``villains p2 milverton``."""
    blank: dict[str, Any] = {name: {"books": [], "villains": [], "say": {}, "telegrams": []} for name in players}
    tokens = position.setdefault("tokens", blank)
    for owner, *names in (part.split() for part in text.split("; ")):
        if kind == "say":
            pairs = (name.split("=") for name in names)
            tokens[player(owner)]["say"] = {name: int(points) for name, points in pairs}
        else:
            tokens[player(owner)][kind] = names


def _all_others(position: Mapping[str, Any]) -> list[str]:
    """Return all copies that a position places nowhere, in title order."""
    titles = json.loads(CARDS.read_text(encoding="utf-8"))["titles"]
    placed = Counter([position["current"], "afoot", *position["draw_pile"]])
    for hand in position["hands"].values():
        placed.update(hand)
    return [entry["title"] for entry in titles for _ in range(entry["copies"] - placed[entry["title"]])]


def _checks(text: str) -> Iterator[Check]:
    """Iterate over what holds after an action; several legal actions have commas between them."""
    legal: list[str] = []
    for part in text.split(", ") if text else ():
        about, *words = part.split()
        if about == "legal":
            legal.append(" ".join(words))
        elif about in VERBS:
            legal.append(part)
        else:
            yield Check(about, tuple(words))
    if legal:
        yield Check("legal", tuple(legal))


# --- how a case is played ---


def problems(case: Case, play: Player) -> list[str]:
    """Play a case and return what came out otherwise, line by line; [] if all is well."""
    play.set_up(case.options, case.position)
    found = []
    for step in case.steps:
        if step.action:
            legal = play.legal()
            if step.action not in legal:
                return [*found, f"case {case.number}: {step.action} is not among {sorted(legal)}"]
            play.act(step.action)
        for check in step.checks:
            found += _problem(case, step, check, play)
    return found


def _problem(case: Case, step: Step, check: Check, play: Player) -> Iterator[str]:
    seen, wanted = _compared(check, play)
    if seen != wanted:
        after = f"after {step.action!r}" if step.action else "at first"
        yield f"case {case.number}: {after}, {check}: got {seen}, expected {wanted}\n    {case.line}"


def _compared(check: Check, play: Player) -> tuple[Any, Any]:
    """Return what is there, and what a check asks for, in a form that can be compared."""
    words = list(check.words)
    if check.about in BY_PLAYER:
        return BY_PLAYER[check.about](words, play)
    told = play.reveal()
    if check.about in BY_STATE:
        return BY_STATE[check.about](words, told)
    return _how_many_or_which(told["hands"][player(check.about)], words)


def _legal(words: list[str], play: Player) -> tuple[Any, Any]:
    return sorted(play.legal()), sorted(words)


def _has(words: list[str], play: Player) -> tuple[Any, Any]:
    return sorted(set(play.legal()) & set(words)), sorted(words)


def _lacks(words: list[str], play: Player) -> tuple[Any, Any]:
    return sorted(set(play.legal()) & set(words)), []


def _pay(words: list[str], play: Player) -> tuple[Any, Any]:
    due = [float(word) for word in words]
    paid = [float(reward) for reward in play.rewards()]
    near = len(paid) == len(due) and all(abs(a - b) <= CLOSE for a, b in zip(paid, due, strict=True))
    return (due if near else paid), due


def _total(words: list[str], play: Player) -> tuple[Any, Any]:
    due = int(words[0])
    reached = play.total()
    return (due if reached is None else reached), due


def _shown(words: list[str], told: Mapping[str, Any]) -> tuple[Any, Any]:
    viewer, other, how, *cards = words
    look = told["shown"][player(viewer)][player(other)]
    return (bool(look["whole"]), sorted(look["cards"])), (how == "whole", _named(cards))


def _book(words: list[str], told: Mapping[str, Any]) -> tuple[Any, Any]:
    owner, book = words
    return [taken for taken in told["tokens"][player(owner)]["books"] if taken == book], [book]


def _how_many_or_which(there: Any, words: list[str]) -> tuple[Any, Any]:
    if len(words) == 1 and words[0].isdigit():
        return len(there), int(words[0])
    return sorted(there), _named(words)


def _named(words: list[str]) -> list[str]:
    """Return the names that are given, in order; a hyphen stands for none."""
    return sorted(word for word in words if word != "-")


def _tokens(kind: str) -> Callable[[list[str], Mapping[str, Any]], tuple[Any, Any]]:
    return lambda words, told: _how_many_or_which(told["tokens"][player(words[0])][kind], words[1:])


BY_PLAYER: dict[str, Callable[[list[str], Player], tuple[Any, Any]]] = {
    "legal": _legal,
    "has": _has,
    "lacks": _lacks,
    "over": lambda _, play: (play.ended(), True),
    "truncated": lambda _, play: (play.truncated(), True),
    "pay": _pay,
    "total": _total,
}
BY_STATE: dict[str, Callable[[list[str], Mapping[str, Any]], tuple[Any, Any]]] = {
    "current": lambda words, told: (told["current"], words[0]),
    "phase": lambda words, told: (told["phase"], words[0]),
    "drawn": lambda words, told: (told["drawn"], words[0]),
    "turn": lambda words, told: (told["turn"], player(words[0])),
    "actor": lambda words, told: (told["actor"], player(words[0])),
    "city": lambda _, told: (told["location"], "city"),
    "country": lambda _, told: (told["location"], "country"),
    "case": lambda words, told: (told["case_number"], int(words[0])),
    "points": lambda words, told: (list(told["points"].values()), [int(word) for word in words]),
    "discards": lambda words, told: (sorted(told["discards"]), _named(words)),
    "pile": lambda words, told: (len(told["draw_pile"]), int(words[0])),
    "shown": _shown,
    "book": _book,
    "say": _tokens("say"),
    "telegrams": _tokens("telegrams"),
    "villains": _tokens("villains"),
}
