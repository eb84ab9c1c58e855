"""What a drawing shows, before it is laid out in letters or pixels.

A `Scene` is what a player knows: the information sheet, the players with their cards and answers,
the last events. A `Panel` is what they may believe besides: how likely each gem is to be missing
and which questions tell most, by a count of all deals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...deduction.worlds import Worlds
from ..belief import belief, list_asks
from ..cards import COLOURS, GEMS, KINDS, NUM_GEMS, NUM_QUESTIONS, TYPES, Options, make_rules
from ..checked import one_view
from ..clues import read_sheet
from ..notation import event_text, gem_names, player_name, question_name, search_card_names
from ..state import FINISHED, IN, LEFT, MUST_ACCUSE, OFFER, OUT, RIGHT, SECOND, TURN

# Where a gem is, as far as the viewer knows.
OPEN, YOURS, TABLE, HELD, MISSING = range(5)
# The rows of the information sheet; its columns are the colours.
ROWS = tuple((kind, type_) for kind in KINDS for type_ in TYPES)
MOST_LISTED = 8  # questions in a panel
NEGLIGIBLE = 1e-9  # bits that are rounding errors
_STANDINGS = {IN: "in", OUT: "out", RIGHT: "right", LEFT: "accused"}
_PLACES = ("", "1st", "2nd", "3rd", "4th", "5th", "6th")


def gem_at(row: int, column: int) -> int:
    """Return the gem card in a row (kind and type) and column (colour) of the information sheet."""
    return GEMS.index((COLOURS[column], *ROWS[row]))


# --- the scene: what the viewer knows ---


@dataclass(frozen=True)
class Square:
    """What the viewer knows of one gem card, drawn as a square of the information sheet.

    Args:
        kind: OPEN, YOURS, TABLE, HELD or MISSING.
        holder: HELD: the opponent who has it, from 1.
        possible: for each opponent, then for "missing", whether it may be there.
    """

    kind: int
    holder: int
    possible: tuple[bool, ...]


@dataclass(frozen=True)
class Seat:
    """What everybody sees of a player.

    Args:
        label: "you" or "+1", ...
        player: the player's name at the table, "player_0", ...
        standing: in, out, right or accused, in words.
        in_play: whether the player is still in contention.
        has_turn: whether it is this player's turn.
        search_cards: the names of the face-up search cards.
        answers: i1 [43], the announced counts, -1 where nobody asked.
    """

    label: str
    player: str
    standing: str
    in_play: bool
    has_turn: bool
    search_cards: list[str]
    answers: np.ndarray


@dataclass(frozen=True)
class Scene:
    """What the viewer knows, ready to be drawn.

    Args:
        title: whose view it is, and when.
        variants: the options that differ from the default.
        status: what is being decided, or how the game ended; one or more lines.
        squares: [36], one a gem card.
        seats: [P], the viewer first.
        events: the last public events, newest first.
        piles: how many search cards are in the draw pile and in the discard pile.
    """

    title: str
    variants: str
    status: list[str]
    squares: list[Square]
    seats: list[Seat]
    events: list[str]
    piles: str


def make_scene(options: Options, view: np.void) -> Scene:
    """Return what the viewer knows, ready to be drawn.

    Args:
        options: the options of the game.
        view: VIEW, one record.

    Raises:
        ArrayError: it is something else, such as a STATE, or of another kind of game.
    """
    views = one_view(options, view)
    view = views[0]
    labels = ["you", *(f"+{k}" for k in range(1, options.num_players))]
    seats = [_seat(options, view, k, label) for k, label in enumerate(labels)]
    last = "" if options.max_turns > 10**6 else f" of {options.max_turns}"
    return Scene(
        title=f"{seats[0].player}'s information sheet, turn {int(view['turn_number'])}{last}",
        variants=_variants(options),
        status=status_lines(options, view, labels),
        squares=_squares(options, views),
        seats=seats,
        events=[text for event in view["events"] if (text := event_text(event, labels))],
        piles=f"draw pile {int(view['pile_size'])}, discarded {int(view['discards']).bit_count()}",
    )


def _squares(options: Options, views: np.ndarray) -> list[Square]:
    sheet = read_sheet(make_rules(options), views)[0]
    holders = range(options.num_players)
    known = [(views["hand"][0], YOURS, 0), (views["table"][0], TABLE, 0)]
    known += [(sheet["has"][k - 1], HELD, k) for k in range(1, options.num_players)]
    known.append((sheet["has"][options.num_players - 1], MISSING, 0))
    squares = []
    for gem in range(NUM_GEMS):
        kind, holder = next(((kind, k) for mask, kind, k in known if int(mask) >> gem & 1), (OPEN, 0))
        squares.append(Square(kind, holder, tuple(bool(int(sheet["can"][h]) >> gem & 1) for h in holders)))
    return squares


def _seat(options: Options, view: np.void, k: int, label: str) -> Seat:
    standing = int(view["standing"][k])
    place = int(view["place"][k])
    return Seat(
        label=label,
        player=player_name((int(view["seat"]) + k) % options.num_players),
        standing=_PLACES[place] if place and options.winners > 1 else _STANDINGS[standing],
        in_play=standing == IN,
        has_turn=int(view["turn"]) == k and view["phase"] != FINISHED,
        search_cards=search_card_names(view["search"][k]),
        answers=view["answers"][k],
    )


def _variants(options: Options) -> str:
    words = [f"{options.num_players} players"]
    words += [f"{options.missing} missing gems"] if options.missing > 1 else []
    words += [f"{options.winners} winners"] if options.winners > 1 else []
    words += ["additional interrogations"] if options.double_interrogation else []
    words += ["Super Sleuth"] if options.super_sleuth else []
    words += ["results secret"] if not options.announce_result else []
    words += ["accuse on own turn"] if options.accuse == "own_turn" else []
    words += ["last in wins"] if options.last_survivor_wins else []
    return ", ".join(words)


def status_lines(options: Options, view: np.void, labels: list[str]) -> list[str]:
    """Return what is being decided, or how the game ended, with what the viewer has accused and knows to be missing."""
    phase = int(view["phase"])
    lines = _result(options, view, labels) if phase == FINISHED else [_deciding(view, labels)]
    if view["accusing"]:
        lines.append(f"Accused so far: {', '.join(gem_names(view['accusing']))}")
    if view["accused"] and int(view["accused"]) != int(view["missing_gems"]):
        lines.append(f"You accused {', '.join(gem_names(view['accused']))}")
    if view["missing_gems"]:
        lines.append(f"Missing: {', '.join(gem_names(view['missing_gems']))}")
    return lines


def phase_of(view: np.void) -> int:
    """Return what is being decided: whoever has named one of several gems must name the others, whatever the phase."""
    return MUST_ACCUSE if view["accusing"] else int(view["phase"])


def _deciding(view: np.void, labels: list[str]) -> str:
    phase = phase_of(view)
    if view["to_act"]:
        return {
            TURN: "Your turn: ask, exchange, final question or accuse",
            SECOND: "You may ask once more, accuse or pass",
            OFFER: "You are offered to accuse: accuse or pass",
            MUST_ACCUSE: "You must accuse now",
        }[phase]
    turn = labels[int(view["turn"])]
    whose = "Your turn" if turn == "you" else f"Turn of {turn}"
    others = {
        TURN: "",
        SECOND: ": a second question is possible",
        OFFER: ": everybody in may accuse",
        MUST_ACCUSE: ": must accuse now",
    }
    return whose + others[phase]


def _result(options: Options, view: np.void, labels: list[str]) -> list[str]:
    standings = view["standing"][: len(labels)]
    places = [int(place) for place in view["place"][: len(labels)]]
    right = sorted((k for k, place in enumerate(places) if place), key=places.__getitem__)
    # A place without having accused: the last player left in, who wins whether or not results are
    # announced.
    survived = any(place and standing == IN for place, standing in zip(places, standings, strict=True))
    if (standings == LEFT).any() and not survived:
        end = "The game is over; the others' results are not announced"
        return [end, f"You are {_PLACES[places[0]]}"] if places[0] else [end]
    stopped = (standings == IN).any() and len(right) < options.winners and not survived
    end = f"The game was stopped after turn {int(view['turn_number'])}" if stopped else "The game is over"
    if not right:
        return [f"{end}: nobody wins"]
    if len(right) == 1:
        return [f"{end}: {'you win' if right[0] == 0 else f'{labels[right[0]]} wins'}"]
    return [f"{end}: " + ", ".join(f"{_PLACES[places[k]]} {labels[k]}" for k in right)]


# --- the panel: what the viewer may believe ---


class Prospect(NamedTuple):
    """A question that is worth asking."""

    name: str  # as it is typed, without the card that pays for it
    information: float  # bits that it is expected to tell about the missing gems
    decides: float  # the chance that its answer leaves only one possibility for them


@dataclass(frozen=True)
class Panel:
    """What the viewer may believe, ready to be drawn.

    Args:
        deals: how many deals fit what the viewer knows, in words.
        chances: f8 [36], the probability of each gem to be missing; 0 for open cards and the
            viewer's own.
        proved: i1 [36], 1 it is missing, 0 it is not, -1 neither is proved.
        heading: of the list of questions.
        prospects: the best questions, best first.
    """

    deals: str
    chances: np.ndarray
    proved: np.ndarray
    heading: str
    prospects: list[Prospect]


def make_panel(options: Options, view: np.void) -> Panel:
    """Return what the viewer may believe, ready to be drawn.

    Args:
        options: the options of the game.
        view: VIEW, one record.

    Raises:
        ArrayError: it is something else, such as a STATE, or of another kind of game.
        IntricateError: the deals cannot be counted, see `Worlds`.
    """
    views = one_view(options, view)
    worlds = belief(make_rules(options), views)
    return Panel(_deals(worlds), worlds.missing, worlds.certain[:, -1], *_prospects(options, views, worlds))


def _deals(worlds: Worlds) -> str:
    if not worlds.exact:
        estimated = f"the chances are estimates with an expected error of {worlds.error:.1%} in all"
        return f"About {worlds.count:.2g} deals fit what you know; {estimated}, and bits are overstated"
    return (
        "1 deal fits what you know"
        if worlds.count == 1
        else f"{worlds.count:,} deals fit what you know, each as likely as any other"
    )


def _prospects(options: Options, views: np.ndarray, worlds: Worlds) -> tuple[str, list[Prospect]]:
    """Return a heading and the best of the questions that the viewer may ask.

    On the turns of others they are those that the viewer's cards allow.
    """
    view = views[0]
    now = bool(view["to_act"] and view["phase"] in (TURN, SECOND))
    over = view["standing"][0] != IN or view["phase"] == FINISHED
    if over or view["accusing"] or (view["to_act"] and view["phase"] == MUST_ACCUSE):
        return "You ask nothing more", []
    asks, places, _ = list_asks(make_rules(options), views, now=now)
    worths = worlds.worths(asks["holder"], asks["cards"], asks["shown"])
    best = np.lexsort((places, -worths["decides"].round(9), -worths["information"].round(9)))
    telling = [i for i in best[:MOST_LISTED] if worths["information"][i] > NEGLIGIBLE]
    if not telling:
        return "None of your questions tells more about what is missing", []
    names = [f"ask +{places[i] // NUM_QUESTIONS + 1} {question_name(places[i] % NUM_QUESTIONS)}" for i in telling]
    prospects = [Prospect(name, *worths[i].tolist()[:2]) for name, i in zip(names, telling, strict=True)]
    return f"Best of {len(asks)} questions that {'you may ask now' if now else 'your cards allow'}", prospects
