"""What a drawing shows, before it is laid out in letters or pixels.

A `Scene` is what a player knows: the Current card, their hand with what may be played, what is known
of the others, the tokens, the last events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..cards import (
    BOOKS,
    CARDS,
    CATEGORY,
    LOCATIONS,
    NUM_BOOKS,
    NUM_SAY_TYPES,
    NUM_VILLAINS,
    SAY_TYPES,
    TITLES,
    VILLAIN_TITLES,
    VILLAINS,
    Options,
    make_rules,
)
from ..notation import event_text, names_in, player_name, title_name
from ..records import one_view
from ..state import (
    DISCARD,
    DRAWN,
    ESCAPE,
    FINISHED,
    FOG,
    GIVE,
    HAND_ON,
    IMPROMPTU,
    RESPOND,
    SECOND,
    SHOW,
    SOURCE,
    TOKEN,
    TURN,
    VERDICT,
)

# Whether somebody holds a Villain, as far as the viewer knows.
NO, MAY, YES = range(3)


# --- what may be done ---


def playable_mask(options: Options, view: np.void) -> int:
    """Return the mask of the titles of a viewer's hand that the Current card lets them play."""
    rules = make_rules(options)[0]
    current = int(view["current"])
    follows = int(rules["suitable"][current, int(view["city"])]) | int(rules["permissible"][current])
    return int(view["held"]) & follows


def suitable_mask(options: Options, view: np.void) -> int:
    """Return the mask of the titles of a viewer's hand that are Suitable: while there are any they may not draw."""
    rules = make_rules(options)[0]
    return int(view["held"]) & int(rules["suitable"][int(view["current"]), int(view["city"])])


def may_escape(options: Options, view: np.void) -> bool:
    """Return whether a viewer's hand is at least one Villain, and nothing else but Interrupts."""
    rules = make_rules(options)[0]
    held = int(view["held"])
    villains = int(rules["villains"])
    return bool(held & villains) and not held & ~(villains | int(rules["interrupts"]))


def follows_words(title: int, city: bool) -> str:
    """Return what may follow a card, as its list says.

    >>> follows_words(TITLES.index("train"), city=True)
    'dissimilar-location (country), dense-fog'
    """
    words = []
    for word in CARDS["titles"][title]["follows"] or ():
        kind = {"similar-location": not city, "dissimilar-location": city}.get(word)
        words.append(word if kind is None else f"{word} ({LOCATIONS[kind]})")
    return ", ".join(words)


# --- the scene ---


@dataclass(frozen=True)
class Card:
    """Cards of one title in the viewer's hand.

    Args:
        name: of the title.
        copies: how many.
        category: of the title.
        playable: whether the Current card lets it be played.
    """

    name: str
    copies: int
    category: str
    playable: bool

    @property
    def words(self) -> str:
        """The name, with the number of copies if there are several."""
        return self.name if self.copies == 1 else f"{self.name} {self.copies}"


@dataclass(frozen=True)
class Seat:
    """What the viewer knows of a player.

    Args:
        label: "you" or "+1", ...
        player: the player's name at the table, "player_0", ...
        has_turn: whether it is this player's turn.
        cards: number of cards in hand.
        closed: number of cases that the player has closed.
        villains: NO, MAY or YES for each Villain.
        certain: what the player surely holds, "clue 2", ...; [] for the viewer.
        look: what the viewer was last shown of the hand; "" if nothing.
        tokens: the names of what lies before the player.
    """

    label: str
    player: str
    has_turn: bool
    cards: int
    closed: int
    villains: list[int]
    certain: list[str]
    look: str
    tokens: list[str]


@dataclass(frozen=True)
class Scene:
    """What the viewer knows, ready to be drawn.

    Args:
        title: whose view it is, and when.
        variants: the options that differ from the default.
        status: what is being decided, or that the game is over.
        current: the name of the Current card.
        category: of the Current card.
        location: what the Location marker shows.
        follows: what may follow the Current card.
        hand: the viewer's cards.
        seats: [P], the viewer first.
        pile: NO, MAY or YES for each Villain to lie in the draw pile.
        gone: the names of the Villains in the discard pile.
        piles: how many cards are in the draw pile and in the discard pile.
        supply: which tokens nobody has.
        events: the last public events, newest first.
    """

    title: str
    variants: str
    status: str
    current: str
    category: str
    location: str
    follows: str
    hand: list[Card]
    seats: list[Seat]
    pile: list[int]
    gone: list[str]
    piles: str
    supply: str
    events: list[str]


def make_scene(options: Options, view: np.void) -> Scene:
    """Return what the viewer knows, ready to be drawn.

    Args:
        options: the options of the game.
        view: VIEW, one record.

    Raises:
        ArrayError: it is something else, such as a STATE, or of another kind of game.
    """
    view = one_view(options, view)[0]
    labels = seat_labels(options)
    seats = [_seat(options, view, k, label) for k, label in enumerate(labels)]
    last = "" if options.max_turns > 10**6 else f" of {options.max_turns}"
    of_cases = f" of {options.cases}" if options.cases else ""
    current = int(view["current"])
    return Scene(
        title=f"{seats[0].player}, case {int(view['case_number'])}{of_cases}, turn {int(view['turn_number'])}{last}",
        variants=_variants(options),
        status=status_words(options, view, labels),
        current=title_name(current),
        category=CATEGORY[current],
        location=LOCATIONS[0 if view["city"] else 1],
        follows=follows_words(current, bool(view["city"])),
        hand=hand_cards(options, view),
        seats=seats,
        pile=_villains_with(view, options.num_players - 1),
        gone=[name for name in VILLAINS if view["discards"][TITLES.index(name)]],
        piles=f"draw pile {int(view['pile_size'])}, discarded {int(view['discards'].sum())}",
        supply=_supply(view),
        events=[text for event in view["events"] if (text := event_text(event, labels))],
    )


def seat_labels(options: Options) -> list[str]:
    """Return what drawings call the seats, the viewer first."""
    return ["you", *(f"+{k}" for k in range(1, options.num_players))]


def hand_cards(options: Options, view: np.void) -> list[Card]:
    """Return the viewer's cards in the order of their titles."""
    playable = playable_mask(options, view)
    return [
        Card(TITLES[title], int(view["hand"][title]), CATEGORY[title], bool(playable >> title & 1))
        for title in np.flatnonzero(view["hand"]).tolist()
    ]


def counted(copies: np.ndarray) -> list[str]:
    """Return titles with their number of copies, in the order of the titles: "clue 2", "london"."""
    found = [(TITLES[title], int(copies[title])) for title in np.flatnonzero(copies).tolist()]
    return [name if number == 1 else f"{name} {number}" for name, number in found]


def _villains_with(view: np.void, holder: int) -> list[int]:
    return [
        YES if view["least"][holder, title] else MAY if view["most"][holder, title] else NO for title in VILLAIN_TITLES
    ]


def _seat(options: Options, view: np.void, k: int, label: str) -> Seat:
    own = [YES if view["hand"][title] else NO for title in VILLAIN_TITLES]
    return Seat(
        label=label,
        player=player_name((int(view["seat"]) + k) % options.num_players),
        has_turn=int(view["turn"]) == k and view["phase"] != FINISHED,
        cards=int(view["hand_sizes"][k]),
        closed=int(view["closed"][k]),
        villains=_villains_with(view, k - 1) if k else own,
        certain=counted(view["least"][k - 1]) if k else [],
        look=look_words(view, k) if k else "",
        tokens=token_words(view, k),
    )


def look_words(view: np.void, k: int) -> str:
    """Return what the viewer was last shown of a seat's hand, "" if nothing."""
    turn = int(view["shown_turn"][k])
    if turn == 0:
        return ""
    whole = "whole hand, " if view["shown_whole"][k] else ""
    return f"{', '.join(counted(view['shown'][k])) or 'no card'} ({whole}turn {turn})"


def token_words(view: np.void, k: int) -> list[str]:
    """Return the names of the tokens that lie before a seat."""
    words = [BOOKS[book] for book in range(NUM_BOOKS) if int(view["books"][k]) >> book & 1]
    words += [VILLAINS[v] for v in range(NUM_VILLAINS) if int(view["villain_tokens"][k]) >> v & 1]
    words += [SAY_TYPES[kind] for kind in range(NUM_SAY_TYPES) if int(view["say_tokens"][k]) >> kind & 1]
    telegrams = int(view["telegrams"][k])
    return [*words, *([f"{telegrams} telegram{'s' if telegrams > 1 else ''}"] if telegrams else [])]


def _supply(view: np.void) -> str:
    taken = 0
    for books in view["books"].tolist():
        taken |= books
    left = [name for book, name in enumerate(BOOKS) if not taken >> book & 1]
    say = [f"{name} {int(number)}" for name, number in zip(SAY_TYPES, view["say_pool"], strict=True)]
    return f"books {', '.join(left) or 'none'}; I Say {', '.join(say)}; telegrams {int(view['telegram_pool'])}"


def _variants(options: Options) -> str:
    words = [f"{options.num_players} players"]
    words += ["Fast Play"] if options.fast_play else []
    words += ["new cases begin in the city"] if options.new_case_location == "city" else []
    words += ["after an alibi its user's left"] if options.after_alibi == "left_of_alibi" else []
    words += ["the Guilty must be arrested"] if options.must_arrest else []
    words += ["Guilty hands do not count"] if options.guilty_hand == "discarded" else []
    return ", ".join(words)


# --- what is being decided ---


def status_words(options: Options, view: np.void, labels: list[str]) -> str:
    """Return what is being decided, in words, or that the game is over."""
    if view["phase"] == FINISHED:
        return "The game was stopped at the turn limit" if view["truncated"] else "The game is over"
    if view["to_act"]:
        return _deciding(options, view, labels)
    return "Your turn goes on" if view["turn"] == 0 else f"Turn of {labels[int(view['turn'])]}"


def _deciding(options: Options, view: np.void, labels: list[str]) -> str:
    phase = int(view["phase"])
    card = title_name(int(view["card"])) if view["card"] >= 0 else ""
    player = labels[int(view["player"])] if view["player"] >= 0 else ""
    target = labels[int(view["target"])] if view["target"] >= 0 else "all"
    if phase == TURN:
        return _turn_words(options, view)
    if phase == DRAWN:
        drawn = int(view["drawn"])
        must = "play it, or pass to keep it" if CATEGORY[drawn] == "i-say" else "it must be played"
        return f"You have drawn {title_name(drawn)}: {must}"
    if phase == RESPOND:
        what = f"{player} plays {card} on {target}" if card else f"{player} makes an Impromptu Arrest of you"
        return f"{what}: counter it, or pass"
    if phase == ESCAPE:
        return f"You may escape with {', '.join(_own_villains(view))}, or pass"
    return {
        SECOND: "You may play another card, or pass",
        TOKEN: "Choose an I Say token" + (f" for {target}" if target not in ("you", "all") else ""),
        HAND_ON: f"Choose a card to pass to your right neighbour, {labels[-1]}",
        FOG: "Choose a card to put down in the dense fog",
        GIVE: f"Choose a card to give to {target}",
        SHOW: f"Choose which of your highest cards {player} is shown",
        DISCARD: "Choose a Villain to discard",
        SOURCE: f"Choose from whom {target} gets a Telegram",
        VERDICT: f"{target} holds a Villain: arrest them, or pass",
        IMPROMPTU: "You must make an Impromptu Arrest: choose whom to arrest",
    }[phase]


def _turn_words(options: Options, view: np.void) -> str:
    ways = ["play a card that is marked *"] if playable_mask(options, view) else []
    ways += ["draw"] if not suitable_mask(options, view) else []
    ways += ["escape"] if may_escape(options, view) else []
    return f"Your turn: {', or '.join(ways)}"


def _own_villains(view: np.void) -> list[str]:
    return names_in(int(view["held"]) & sum(1 << title for title in VILLAIN_TITLES))
