"""All that one seat knows of a game of I Say, Holmes!, as plain data in the notation and in words.

Both say everything that a view says, and nothing else: it is what programs and language models are
told (see `sleuth_env.words`). The words are written from the data. Axis letters: ``P`` seats, ``T``
titles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..game import names_from
from .cards import BOOKS, LOCATIONS, NUM_BOOKS, SAY_TYPES, TITLES, VILLAINS, Options
from .drawing.scene import follows_words, seat_labels, status_words
from .notation import event_text, title_name
from .records import one_view
from .state import PHASES, TURN

# Nothing that many actions have in common has a name of its own.
NOUNS: dict[str, tuple[tuple[str, ...], str]] = {}
PILE = "draw pile"


# --- as data ---


def facts(options: Options, seen: Any) -> dict[str, Any]:
    """Return all that a viewer knows as plain data: texts of the notation, numbers, lists and dictionaries.

    A seat is called "you", or "+1", "+2", ... by its distance to the left, as in actions. Cards are
    numbers of copies by title.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Raises:
        ArrayError: the view is something else, of another kind of game, or has a field out of its range.
    """
    seen = one_view(options, seen, "seen")[0]
    labels = seat_labels(options)
    phase = int(seen["phase"])
    return {
        "seat": int(seen["seat"]),
        "players": dict(zip(labels, names_from(int(seen["seat"]), options.num_players), strict=True)),
        "case_number": int(seen["case_number"]),
        "turn_number": int(seen["turn_number"]),
        "turn": labels[int(seen["turn"])],
        "to_act": bool(seen["to_act"]),
        "phase": PHASES[phase] if phase >= 0 else None,
        "truncated": bool(seen["truncated"]),
        "card": _title(seen["card"]),
        "player": _label(labels, seen["player"]),
        "target": _label(labels, seen["target"]),
        "tried": _members(seen["tried"], labels),
        "drawn": _title(seen["drawn"]),
        "current": title_name(int(seen["current"])),
        "location": LOCATIONS[0 if seen["city"] else 1],
        "hand": _copies(seen["hand"]),
        "draw_pile": int(seen["pile_size"]),
        "discards": _copies(seen["discards"]),
        "say_pool": dict(zip(SAY_TYPES, seen["say_pool"].tolist(), strict=True)),
        "telegram_pool": int(seen["telegram_pool"]),
        "last_case": _last_case(seen, labels),
        "seats": {label: _seat(seen, k) for k, label in enumerate(labels)},
        "holders": {
            label: {"least": _copies(seen["least"][holder]), "most": _copies(seen["most"][holder])}
            for holder, label in enumerate([*labels[1:], PILE])
        },
        "events": [text for event in seen["events"] if (text := event_text(event, labels))],
    }


def _title(title: Any) -> str | None:
    return title_name(int(title)) if title >= 0 else None


def _label(labels: list[str], seat: Any) -> str | None:
    return labels[int(seat)] if seat >= 0 else None


def _members(mask: Any, names: Any) -> list[str]:
    return [name for number, name in enumerate(names) if int(mask) >> number & 1]


def _copies(copies: np.ndarray) -> dict[str, int]:
    """Return numbers of copies by title, of those titles of which there are any."""
    return {TITLES[title]: int(copies[title]) for title in np.flatnonzero(copies).tolist()}


def _last_case(seen: np.void, labels: list[str]) -> dict[str, Any] | None:
    if seen["last_closer"] < 0:
        return None
    book = int(seen["last_book"])
    return {
        "closer": labels[int(seen["last_closer"])],
        "accused": _label(labels, seen["last_accused"]),
        "total": int(seen["last_total"]) if seen["last_accused"] >= 0 else None,
        "book": BOOKS[book] if book >= 0 else None,
        "escaped": _members(seen["last_escaped"], VILLAINS),
    }


def _seat(seen: np.void, k: int) -> dict[str, Any]:
    turn = int(seen["shown_turn"][k])
    return {
        "cards": int(seen["hand_sizes"][k]),
        "closed": int(seen["closed"][k]),
        "books": _members(seen["books"][k], BOOKS[:NUM_BOOKS]),
        "villain_tokens": _members(seen["villain_tokens"][k], VILLAINS),
        "say_tokens": _members(seen["say_tokens"][k], SAY_TYPES),
        "telegrams": int(seen["telegrams"][k]),
        "shown_to_you": _look(seen["shown"][k], seen["shown_whole"][k]) | {"turn_number": turn} if turn else None,
        "was_shown": _look(seen["seen_by"][k], seen["seen_by_whole"][k]),
    }


def _look(copies: np.ndarray, whole: Any) -> dict[str, Any]:
    return {"cards": _copies(copies), "whole": bool(whole)}


# --- in words ---


def words(options: Options, seen: Any, known: dict[str, Any] | None = None) -> list[str]:
    """Return all that a viewer knows in words, line by line.

    Args:
        options: of the game.
        seen: VIEW, one record.
        known: its `facts`, where they have been made already.

    Raises:
        ArrayError: see `facts`.
    """
    known = facts(options, seen) if known is None else known
    return [
        *_table_lines(options, seen, known),
        f"Your hand: {_counted(known['hand'])}",
        *_seat_lines(known["seats"]),
        *_holder_lines(known["holders"]),
        *_supply_lines(known),
        *(["Last events, the newest first: " + "; ".join(known["events"])] if known["events"] else []),
    ]


def _table_lines(options: Options, seen: np.void, known: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over lines that say who is who, where the game stands and what is to be decided."""
    others = ", ".join(f"{label} is {name}" for label, name in known["players"].items() if label != "you")
    yield f"You are {known['players']['you']}; {others}."
    of_cases = f" of {options.cases}" if options.cases else ""
    turn = f"Case {known['case_number']}{of_cases}, turn {known['turn_number']} of {options.max_turns}"
    whose = "your turn" if known["turn"] == "you" else f"the turn of {known['turn']}"
    # Which cards can be played is said by the legal actions.
    plain = known["to_act"] and known["phase"] == PHASES[TURN]
    status = "" if plain else f" {status_words(options, seen, list(known['players']))}."
    yield f"{turn}, {whose}.{status}"
    follows = follows_words(int(seen["current"]), bool(seen["city"]))
    yield f"Current card: {known['current']}. Location: {known['location']}. It may be followed by {follows}."
    if known["tried"]:
        yield f"This Impromptu Arrest was countered by {', '.join(known['tried'])}."


def _counted(copies: Mapping[str, int]) -> str:
    return ", ".join(title if number == 1 else f"{title} {number}" for title, number in copies.items()) or "none"


def _seat_lines(seats: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over lines that say what each seat has, has shown of its hand and has seen of the viewer's."""
    for label, seat in seats.items():
        tokens = [*seat["books"], *seat["villain_tokens"], *seat["say_tokens"]]
        tokens += [f"telegrams {seat['telegrams']}"] if seat["telegrams"] else []
        closed = f", cases closed: {seat['closed']}" if seat["closed"] else ""
        yield f"{label}: cards in hand: {seat['cards']}{closed}, tokens: {', '.join(tokens) or 'none'}"
        shown = seat["shown_to_you"]
        if shown:
            yield f"  showed you{_whole(shown)} in turn {shown['turn_number']}: {_counted(shown['cards'])}"
        if seat["was_shown"]["cards"] or seat["was_shown"]["whole"]:
            yield f"  last saw of yours{_whole(seat['was_shown'])}: {_counted(seat['was_shown']['cards'])}"


def _whole(look: Mapping[str, Any]) -> str:
    return " the whole hand" if look["whole"] else ""


def _holder_lines(holders: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the lines of a table of who may hold which cards: titles that are alike share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for title in TITLES:
        cells = tuple(_cell(bounds["least"].get(title, 0), bounds["most"].get(title, 0)) for bounds in holders.values())
        rows.setdefault(cells, []).append(title)
    # What nobody can hold needs no row.
    rows.pop(("0",) * len(holders), None)
    yield "Copies that the others and the draw pile may hold, at least-at most; titles that are left out: none"
    yield f"TITLE: {', '.join(holders)}"
    for cells, titles in rows.items():
        yield f"{' '.join(titles)}: {' '.join(cells)}"


def _cell(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}-{most}"


def _supply_lines(known: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over lines about what nobody has, and how the last case ended."""
    yield f"Draw pile: {known['draw_pile']} cards. Discarded: {_counted(known['discards'])}"
    say = ", ".join(f"{name} {number}" for name, number in known["say_pool"].items())
    yield f"In the pool: I Say tokens {say}; telegrams {known['telegram_pool']}"
    last = known["last_case"]
    if last and last["accused"]:
        yield f"Last case: {last['closer']} arrested {last['accused']}, total {last['total']}, book {last['book']}"
    elif last:
        yield f"Last case: {last['closer']} escaped with {', '.join(last['escaped'])}"
