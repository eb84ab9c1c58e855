"""Random positions of *I Say, Holmes!* in which rare things are frequent: small hands and piles, few tokens left."""

from __future__ import annotations

import random
from typing import Any

from sleuth_env.holmes.cards import Options
from tests.support.holmes_oracle import (
    BOOKS,
    CARDS,
    INTERRUPTS,
    LOCATIONS,
    SAY_POINTS,
    TELEGRAMS,
    VILLAIN_POINTS,
    VILLAINS,
    category,
    in_order,
)


def random_position(chance: random.Random, options: Options) -> dict[str, Any]:
    """Return a sound position at the start of a turn, in the form of what ``reveal`` returns."""
    cards = [title for title, entry in CARDS.items() for _ in range(entry["copies"]) if title != "afoot"]
    chance.shuffle(cards)
    players = [f"player_{seat}" for seat in range(options.num_players)]
    hands = _hands(chance, cards, len(players))
    current = next(card for card in cards if _may_be_current(card))
    cards.remove(current)
    left = chance.choice((0, 1, 3, 8, len(cards)))
    location = category(current) if category(current) in LOCATIONS else chance.choice(LOCATIONS)
    return {
        "hands": {name: in_order(hand) for name, hand in zip(players, hands, strict=True)},
        "draw_pile": cards[:left],
        "discards": in_order(cards[left:]),
        "current": current,
        "location": location,
        "turn": chance.choice(players),
        "turn_number": chance.randint(1, max(1, min(30, options.max_turns - 1))),
        "case_number": 1,
        **_tokens(chance, players),
    }


def _may_be_current(card: str) -> bool:
    return category(card) not in ("i-say", "villain") and card != "mastermind"


def _hands(chance: random.Random, cards: list[str], num_players: int) -> list[list[str]]:
    """Take hands from the cards: many Interrupts, Villains and I Say cards, nobody with Interrupts alone."""
    wanted = [card for card in cards if category(card) in ("i-say", "villain", "interrupt") or card == "dense-fog"]
    chance.shuffle(wanted)
    hands = []
    for _ in range(num_players):
        hand: list[str] = []
        for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 8))):
            pool = [card for card in wanted if card in cards] if chance.random() < 0.6 else cards
            hand.append((pool or cards)[0])
            cards.remove(hand[-1])
        while set(hand) <= set(INTERRUPTS):
            other = next(card for card in cards if card not in INTERRUPTS)
            cards.remove(other)
            hand.append(other)
        hands.append(hand)
    return hands


def _tokens(chance: random.Random, players: list[str]) -> dict[str, Any]:
    """Lay tokens before the players and in the pools."""
    tokens: dict[str, Any] = {name: {"books": [], "villains": [], "say": {}, "telegrams": []} for name in players}
    books = [book for book in BOOKS if book == "last-bow" or not _taken(chance, tokens, "books", book)]
    villains = [title for title in VILLAIN_POINTS if not _taken(chance, tokens, "villains", title)]
    full = chance.random() < 0.5
    telegrams = [name for name in TELEGRAMS if not _taken(chance, tokens, "telegrams", name, 0.95 if full else 0.3)]
    chance.shuffle(telegrams)
    say = {}
    for kind, points in SAY_POINTS.items():
        say[kind] = chance.sample(points, len(points))
        for name in chance.sample(players, len(players)):
            if say[kind] and chance.random() < (0.9 if full else 0.3):
                tokens[name]["say"][kind] = say[kind].pop()
    for name in players:
        for kind, order in (("books", BOOKS), ("villains", VILLAINS), ("telegrams", TELEGRAMS)):
            tokens[name][kind].sort(key=list(order).index)
    return {
        "tokens": tokens,
        "pools": {"books": books, "villains": villains, "say": say, "telegrams": telegrams},
    }


def _taken(chance: random.Random, tokens: dict[str, Any], kind: str, name: str, often: float = 0.4) -> bool:
    if chance.random() > often:
        return False
    tokens[chance.choice(list(tokens))][kind].append(name)
    return True
