"""All that one seat knows of a game of Sleuth, as plain data in the notation and in words.

Both say everything that a view says, and nothing else: it is what programs and language models are
told (see `sleuth_env.words`). The words are written from the data. Axis letters: ``P`` seats, ``Q``
questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..game import names_from
from .cards import ELEMENTS, GEMS, NUM_SEARCH_CARDS, QUESTIONS, Options
from .checked import one_view
from .drawing.scene import status_lines
from .notation import PHASE_NAMES, event_text, gem_name, gem_names, question_name, search_card_name, search_card_names
from .state import IN, LEFT, OUT, RIGHT

STANDINGS = {IN: "in", OUT: "out", RIGHT: "right", LEFT: "accused"}
# What many actions have in common in place of a word: its name, what it may be, and how it is written.
NOUNS = {
    "QUESTION": (
        tuple(question_name(question) for question in range(len(QUESTIONS))),
        "a colour, kind or type, or two of them in this order, such as opal or blue-pair",
    ),
    **{
        element.upper(): (
            tuple(question_name(q) for q, question in enumerate(QUESTIONS) if element in question),
            f"{element}, or two words with {element}",
        )
        for element in ELEMENTS
    },
    "GEM": (tuple(gem_name(gem) for gem in range(len(GEMS))), "COLOUR-KIND-TYPE, such as blue-opal-pair"),
}
CARD_NAMES = tuple(search_card_name(card) for card in range(NUM_SEARCH_CARDS))
# Seats in a table, the viewer first.
LETTERS = "abcdefg"


# --- as data ---


def facts(options: Options, seen: Any) -> dict[str, Any]:
    """Return all that a viewer knows as plain data: texts of the notation, numbers, lists and dictionaries.

    A seat is called "you", or "+1", "+2", ... by its distance to the left, as in actions.

    Args:
        options: of the game.
        seen: VIEW, one record.

    Raises:
        ArrayError: the view is something else, of another kind of game, or has a field out of its range.
    """
    seen = one_view(options, seen, "seen")[0]
    labels = seat_labels(options)
    asked = int(seen["first_target"])
    return {
        "seat": int(seen["seat"]),
        "players": dict(zip(labels, names_from(int(seen["seat"]), options.num_players), strict=True)),
        "turn_number": int(seen["turn_number"]),
        "turn": labels[int(seen["turn"])],
        "phase": PHASE_NAMES[int(seen["phase"])],
        "to_act": bool(seen["to_act"]),
        "asked_first": None if asked < 0 else {"target": labels[asked], "elements": int(seen["first_elements"])},
        "hand": gem_names(seen["hand"]),
        "table": gem_names(seen["table"]),
        "missing": gem_names(seen["missing_gems"]),
        "named": gem_names(seen["accusing"]),
        "accused": gem_names(seen["accused"]),
        "draw_pile": int(seen["pile_size"]),
        "discards": search_card_names(seen["discards"]),
        "seats": {label: _seat(seen, k, labels) for k, label in enumerate(labels)},
        "events": [text for event in seen["events"] if (text := event_text(event, labels))],
    }


def seat_labels(options: Options) -> list[str]:
    """Return what the seats are called, the viewer first."""
    return ["you", *(f"+{k}" for k in range(1, options.num_players))]


def _seat(seen: np.void, k: int, labels: list[str]) -> dict[str, Any]:
    answered = [question for question in range(len(QUESTIONS)) if seen["answers"][k, question] >= 0]
    return {
        "standing": STANDINGS[int(seen["standing"][k])],
        "place": int(seen["place"][k]),
        "search_cards": search_card_names(seen["search"][k]),
        "exchanges": int(seen["exchanges"][k]),
        "spent": search_card_names(seen["spent"][k]),
        "answers": {question_name(question): int(seen["answers"][k, question]) for question in answered},
        "askers": {question_name(question): _members(seen["askers"][k, question], labels) for question in answered},
        "shown_to_you": gem_names(seen["seen"][k]),
        "was_shown": gem_names(seen["seen_by"][k]),
    }


def _members(mask: Any, labels: list[str]) -> list[str]:
    return [label for k, label in enumerate(labels) if int(mask) >> k & 1]


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
        *_gem_lines(known),
        *_seat_lines(known),
        *_answer_lines(known),
        *(["Last events, the newest first: " + "; ".join(known["events"])] if known["events"] else []),
    ]


def _table_lines(options: Options, seen: np.void, known: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over lines that say who is who and what is to be decided."""
    letters = _letters(known["seats"])
    others = ", ".join(f"{label} ({letters[label]}) is {name}" for label, name in known["players"].items())
    yield f"{others}. Missing gems: {options.missing}.".replace("you (a) is", "You (a) are", 1)
    turn = f"Turn {known['turn_number']} of {options.max_turns}"
    yield f"{turn}. {'. '.join(status_lines(options, seen, list(known['players'])))}."
    if known["asked_first"]:
        asked = known["asked_first"]
        yield f"Asked first this turn: {asked['target']}, elements: {asked['elements']}."


def _gem_lines(known: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over lines that say where gems are known to be."""
    letters = _letters(known["seats"])
    hand = []
    for gem in known["hand"]:
        to = "".join(letters[label] for label, seat in known["seats"].items() if gem in seat["was_shown"])
        hand.append(f"{gem} {to}".rstrip())
    who = " (and who was shown it)" if any(seat["was_shown"] for seat in known["seats"].values()) else ""
    yield f"Your hand{who}: {', '.join(hand)}"
    yield f"On the table: {' '.join(known['table']) or 'none'}"
    for label, seat in known["seats"].items():
        if seat["shown_to_you"]:
            yield f"Shown by {label}: {' '.join(seat['shown_to_you'])}"


def _seat_lines(known: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over lines that say how each seat stands."""
    for label, seat in known["seats"].items():
        place = f", place {seat['place']}" if seat["place"] else ""
        turn = ", has the turn" if label == known["turn"] else ""
        exchanges = f", exchanges {seat['exchanges']}" if seat["exchanges"] else ""
        cards = " ".join(seat["search_cards"])
        yield f"{label}: {seat['standing']}{place}{turn}{exchanges}; search cards {cards}"


def _answer_lines(known: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the lines of a table of all announced numbers, and of all search cards that were used.

    A search card has the name of its question; so a row is about both. Those with a free element follow.
    A question such as red-opal is found in the line of red- as opal.
    """
    seats = known["seats"]
    letters = _letters(seats)
    used = {card: _user(known, card, letters) for card in CARD_NAMES}
    asked = set().union(*(seat["answers"] for seat in seats.values()))
    rows = [name for name in NOUNS["QUESTION"][0] if name in asked or used[name] != "."]
    if rows:
        yield "Answers: who asked, and number of matching gems (. nobody). Card: who paid with it, * discarded."
        yield f"QUESTION {' '.join(seats)} card"
        yield from _rows(
            {name: [*(_cell(seat, name, letters) for seat in seats.values()), used[name]] for name in rows}
        )
    free = [f"{card} {used[card]}" for card in CARD_NAMES[len(QUESTIONS) :] if used[card] != "."]
    yield from [f"Cards: {', '.join(free)}"] if free else []
    yield f"Draw pile: {known['draw_pile']} search cards."


def _rows(rows: Mapping[str, list[str]]) -> Iterator[str]:
    """Iterate over the lines of a table; questions of two words share a line with those that begin alike."""
    pairs: dict[str, list[str]] = {}
    for name, cells in rows.items():
        first, _, second = name.partition("-")
        if second:
            pairs.setdefault(first, []).append(f"{second} {' '.join(cells)}")
        else:
            yield f"{name} {' '.join(cells)}"
    yield from (f"{first}-: {'; '.join(group)}" for first, group in pairs.items())


def _letters(seats: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip(seats, LETTERS, strict=False))


def _cell(seat: Mapping[str, Any], question: str, letters: Mapping[str, str]) -> str:
    if question not in seat["answers"]:
        return "."
    # Letters first: to tokenizers, a space is part of the letters that follow it, but not of a digit.
    return f"{''.join(letters[label] for label in seat['askers'][question])}{seat['answers'][question]}"


def _user(known: Mapping[str, Any], card: str, letters: Mapping[str, str]) -> str:
    """Return who has ever paid with a search card, and whether it is discarded; "." if neither."""
    who = "".join(letters[label] for label, seat in known["seats"].items() if card in seat["spent"])
    return who + ("*" if card in known["discards"] else "") or "."
