"""A second implementation of the rules, slow and obvious: words, sets, lists, dictionaries.

It is written from the rule book and shares nothing with the kernels but ``Options`` and the random
numbers that a seed gives. Tests play both and compare everything. Seats are absolute; the top of a
pile is the end of its list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sleuth_env.sleuth.cards import Options

COLOURS = ["red", "blue", "green", "yellow"]
KINDS = ["diamond", "pearl", "opal"]
TYPES = ["solitaire", "pair", "cluster"]
ELEMENTS = COLOURS + KINDS + TYPES

GEMS = [f"{colour}-{kind}-{type_}" for colour in COLOURS for kind in KINDS for type_ in TYPES]
QUESTIONS = (
    ELEMENTS
    + [f"{colour}-{kind}" for colour in COLOURS for kind in KINDS]
    + [f"{colour}-{type_}" for colour in COLOURS for type_ in TYPES]
    + [f"{kind}-{type_}" for kind in KINDS for type_ in TYPES]
)
SEARCH_CARDS = QUESTIONS + [f"free-{element}" for element in ELEMENTS] + ["free"]
CARDS_IN_HAND = {3: 11, 4: 8, 5: 7, 6: 5, 7: 5}


def words(name: str) -> set[str]:
    """Return the words of a card's or a question's name."""
    return set(name.split("-"))


def matching(question: str, gems: Iterable[str]) -> set[str]:
    """Return those of the gems that have every element of the question."""
    return {gem for gem in gems if words(question) <= words(gem)}


def may_ask(card: str) -> list[str]:
    """Return the questions that a search card allows."""
    if card == "free":
        return QUESTIONS
    if card.startswith("free-"):
        return [question for question in QUESTIONS if card.removeprefix("free-") in words(question)]
    return [card]


# An action in words: its verb, and what it is about. Opponents are counted to the actor's left.
PAID_QUESTIONS = [(question, card) for question in QUESTIONS for card in SEARCH_CARDS if question in may_ask(card)]
ACTIONS = {
    n: [("ask", k, question, card) for k in range(1, n) for question, card in PAID_QUESTIONS]
    + [("final", k, question) for k in range(1, n) for question in QUESTIONS]
    + [("exchange",)]
    + [("accuse", gem) for gem in GEMS]
    + [("pass",)]
    for n in range(3, 8)
}
NUMBERS = {n: {action: number for number, action in enumerate(actions)} for n, actions in ACTIONS.items()}
# The numbers of the questions that a card pays for, and of the actions that need no card: the same
# in every game.
PAID_BY = {
    n: {card: {i for i, a in enumerate(actions) if a[0] == "ask" and a[3] == card} for card in SEARCH_CARDS}
    for n, actions in ACTIONS.items()
}
UNPAID = {n: {i for i, a in enumerate(actions) if a[0] in ("final", "exchange")} for n, actions in ACTIONS.items()}


class Generator:
    """SplitMix64, as published."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        """Return 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, limit: int) -> int:
        """Return a random number from 0 to limit - 1."""
        return (self.next() >> 32) * limit >> 32

    def shuffled(self, items: Sequence) -> list:
        """Return the items in a random order (Fisher and Yates)."""
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


@dataclass
class Event:
    """One thing that everybody sees; ``shown`` alone is for the asker's and the target's eyes."""

    verb: str  # "ask", "final", "exchange", "right", "wrong", "accused" (the result is not announced)
    actor: int
    target: int | None = None
    question: str | None = None
    card: str | None = None
    count: int | None = None
    shown: set[str] = field(default_factory=set)


class Oracle:
    """Play one game by the letter of the rules.

    Args:
        options: the game that is played.
        seed: the state from which the game's generator starts.
    """

    def __init__(self, options: Options, seed: int) -> None:
        self.options = options
        self.n = options.num_players
        self.random = Generator(seed)
        self._deal_gems()
        self._deal_search_cards()
        self.turn = self.random.below(self.n) if options.first_player == "random" else 0
        self.actor: int | None = self.turn
        self.phase = "turn"
        self.turn_number = 1
        self.interrogations: list[tuple[int, str]] = []  # of this turn: whom, what
        self.final_question = False
        self.queue: list[int] = []  # who is still to be offered to accuse
        self.naming: set[str] = set()  # the gems of an accusation that is not complete yet
        self.accusations: dict[int, set[str]] = {}
        self.right: list[int] = []  # in the order of their places
        self.out: list[int] = []
        self.survivor: int | None = None
        self.truncated = False
        self.events: list[Event] = []  # oldest first

    def _deal_gems(self) -> None:
        gems = self.random.shuffled(GEMS)
        size = CARDS_IN_HAND[self.n]
        missing = self.options.missing
        self.missing = set(gems[:missing])
        self.hands = [set(gems[missing + size * seat : missing + size * (seat + 1)]) for seat in range(self.n)]
        self.table = set(gems[missing + size * self.n :])

    def _deal_search_cards(self) -> None:
        cards = self.random.shuffled(SEARCH_CARDS)
        self.search = [set(cards[4 * seat : 4 * seat + 4]) for seat in range(self.n)]
        self.pile = cards[4 * self.n :]
        self.discards: set[str] = set()

    # What is known of the players

    def in_contention(self, seat: int) -> bool:
        """Return whether a seat may still accuse."""
        return seat not in self.out and seat not in self.right

    def contenders_from(self, seat: int) -> list[int]:
        """Return the seats in contention clockwise from a seat, itself included."""
        clockwise = [(seat + k) % self.n for k in range(self.n)]
        return [other for other in clockwise if self.in_contention(other)]

    # What may be done

    def legal(self) -> set[int]:
        """Return the numbers of the actions that the actor may take."""
        if self.phase == "finished":
            return set()
        accusations = {NUMBERS[self.n]["accuse", gem] for gem in GEMS if gem not in self.naming}
        no_more = {NUMBERS[self.n]["pass",]}
        if self.naming or self.phase == "must accuse":
            return accusations
        if self.phase == "offer":
            return accusations | no_more
        paid = set().union(*(PAID_BY[self.n][card] for card in self.search[self.actor]))
        if self.phase == "second":
            return accusations | no_more | {number for number in paid if self._is_second_question(number)}
        return accusations | paid | UNPAID[self.n]

    def _is_second_question(self, number: int) -> bool:
        _, k, question, _ = ACTIONS[self.n][number]
        first_target, first_question = self.interrogations[0]
        return (self.turn + k) % self.n != first_target and len(words(question)) != len(words(first_question))

    # What happens

    def step(self, number: int) -> bool:
        """Take an action; one that is not legal changes nothing and gives False."""
        if number not in self.legal():
            return False
        verb, *about = ACTIONS[self.n][number]
        {
            "ask": self._ask,
            "final": self._final,
            "exchange": self._exchange,
            "accuse": self._accuse,
            "pass": self._pass,
        }[verb](*about)
        return True

    def _ask(self, k: int, question: str, card: str) -> None:
        self.search[self.actor].remove(card)
        self.discards.add(card)
        self._answer("ask", k, question, card)
        self.interrogations.append((self.events[-1].target, question))
        self._open_offers()

    def _final(self, k: int, question: str) -> None:
        self._answer("final", k, question, None)
        self.final_question = True
        self.phase = "must accuse"

    def _answer(self, verb: str, k: int, question: str, card: str | None) -> None:
        target = (self.actor + k) % self.n
        matches = matching(question, self.hands[target])
        shown = matches if len(words(question)) == 2 and not self.options.super_sleuth else set()
        self.events.append(Event(verb, self.actor, target, question, card, len(matches), shown))

    def _exchange(self) -> None:
        self.events.append(Event("exchange", self.actor))
        self.discards |= self.search[self.actor]
        self.search[self.actor] = set()
        self._end_turn()

    def _pass(self) -> None:
        if self.phase == "offer":
            self._next_offer()
        else:
            self._end_turn()

    def _accuse(self, gem: str) -> None:
        self.naming.add(gem)
        if len(self.naming) < self.options.missing:
            return
        accuser = self.actor
        right = self.naming == self.missing
        self.accusations[accuser] = self.naming
        self.naming = set()
        (self.right if right else self.out).append(accuser)
        announced = ("right" if right else "wrong") if self.options.announce_result else "accused"
        self.events.append(Event(announced, accuser))
        if self._game_is_over():
            self._finish()
        elif self.phase == "offer":
            self._next_offer()
        elif self.phase == "must accuse":
            self._open_offers()
        else:
            self._end_turn()

    def _game_is_over(self) -> bool:
        left_in = [seat for seat in range(self.n) if self.in_contention(seat)]
        if self.options.last_survivor_wins and len(left_in) == 1 and not self.right:
            self.survivor = left_in[0]
        return len(self.right) == self.options.winners or not left_in or self.survivor is not None

    def _finish(self) -> None:
        self.phase = "finished"
        self.actor = None
        self.queue = []

    def _open_offers(self) -> None:
        self.queue = self.contenders_from(self.turn) if self.options.accuse == "any_time" else []
        if self.options.offer_order == "random":
            self.queue = self.random.shuffled(self.queue)
        self._next_offer()

    def _next_offer(self) -> None:
        if self.queue:
            self.phase = "offer"
            self.actor = self.queue.pop(0)
        elif self.in_contention(self.turn) and self.options.double_interrogation and len(self.interrogations) == 1:
            self.phase = "second"
            self.actor = self.turn
        else:
            self._end_turn()

    def _end_turn(self) -> None:
        if self.in_contention(self.turn):
            self._draw(self.turn)
        if self.turn_number == self.options.max_turns:
            self.truncated = True
            self._finish()
            return
        self.turn_number += 1
        self.turn = next(seat for seat in self.contenders_from((self.turn + 1) % self.n))
        self.phase = "turn"
        self.actor = self.turn
        self.interrogations = []
        self.final_question = False

    def _draw(self, seat: int) -> None:
        while len(self.search[seat]) < 4:
            if not self.pile:
                self.pile = self.random.shuffled(sorted(self.discards, key=SEARCH_CARDS.index))
                self.discards = set()
            self.search[seat].add(self.pile.pop())

    # How it ends

    def places(self) -> dict[int, int]:
        """Return the places of those who won something, 1 for the first."""
        winners = self.right if self.survivor is None else [self.survivor]
        return {seat: place for place, seat in enumerate(winners, start=1)}

    def rewards(self) -> list[float]:
        """Return every seat's reward: nothing before the game is finished."""
        if self.phase != "finished":
            return [0.0] * self.n
        won = {seat: 1 - (place - 1) / self.options.winners for seat, place in self.places().items()}
        if self.truncated:
            others = {seat: -1 / (self.n - 1) if seat in self.out else 0.0 for seat in range(self.n)}
        elif won:
            others = dict.fromkeys(range(self.n), -sum(won.values()) / (self.n - len(won)))
        else:
            others = dict.fromkeys(range(self.n), -1 / (self.n - 1))
        return [won.get(seat, others[seat]) for seat in range(self.n)]

    # What a seat knows (absolute seats)

    def shown_to(self, asker: int, target: int) -> set[str]:
        """Return the gems of the target's hand that the asker has ever been shown."""
        return set().union(*(event.shown for event in self.events if (event.actor, event.target) == (asker, target)))

    def answers(self) -> dict[tuple[int, str], int]:
        """Return every announced number, by seat and question."""
        return {(event.target, event.question): event.count for event in self.events if event.question}

    def askers(self) -> dict[tuple[int, str], set[int]]:
        """Return who has asked a seat a question."""
        known: dict[tuple[int, str], set[int]] = {}
        for event in self.events:
            if event.question:
                known.setdefault((event.target, event.question), set()).add(event.actor)
        return known

    def cards_spent(self, seat: int) -> set[str]:
        """Return the search cards with which a seat has ever paid for a question."""
        return {event.card for event in self.events if event.actor == seat and event.card}

    def exchanges(self, seat: int) -> int:
        """Count how often a seat has exchanged its search cards."""
        return sum(event.verb == "exchange" for event in self.events if event.actor == seat)

    def knows_missing(self, seat: int) -> bool:
        """Return whether a seat has seen the missing gems: it accused, or a winner shows them."""
        revealed = self.options.winners == 1 and bool(self.right)
        return seat in self.accusations or revealed

    def standing_seen_by(self, seat: int, other: int) -> str:
        """Return how another stands as a seat knows it: "in", "out", "right" or "left".

        "left" is a player who has accused without an announced result.
        """
        if self.in_contention(other):
            return "in"
        if seat != other and not self.options.announce_result:
            return "left"
        return "right" if other in self.right else "out"

    def place_seen_by(self, seat: int, other: int) -> int:
        """Return the place of a player as far as a seat knows it, 0 if none is known.

        Where results are not announced nobody is told their own place before the game is over and
        the rewards are given: it would tell how many of those who left before them were right.
        """
        if not self.options.announce_result and (seat != other or self.phase != "finished"):
            return 0 if self.survivor != other else 1
        return self.places().get(other, 0)
