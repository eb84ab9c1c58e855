"""A second implementation of *I Say, Holmes!*, slow and literal: words, lists, sets, dictionaries.

It is written from the rules and shares nothing with the kernels but the data of the cards, the options
and the random numbers that a seed gives. A game is one generator that reads like the rule book and
stops wherever somebody has to decide. Tests play both and compare everything. Seats are numbers; the
next card of a pile is the last of its list; actions are the texts of the notation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator as Story
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import sleuth_env
from sleuth_env.holmes.cards import Options
from tests.support.holmes_knowledge import Knowledge
from tests.support.oracle import Generator

DATA = json.loads((Path(sleuth_env.__file__).parent / "holmes" / "cards.json").read_text(encoding="utf-8"))
CARDS = {entry["title"]: entry for entry in DATA["titles"]}
TITLES = list(CARDS)
LOCATIONS = ("city", "country")
INTERRUPTS = ["alibi", "mastermind"]
VILLAINS = [title for title in TITLES if CARDS[title]["category"] == "villain"]
SAY_TYPES = list(DATA["say_types"])
BOOKS = {book["book"]: book for book in DATA["books"]}
VILLAIN_POINTS = {token["title"]: token["points"] for token in DATA["villain_tokens"]}
SAY_POINTS = {token["type"]: token["points"] for token in DATA["say_tokens"]}
TELEGRAMS = {token["telegram"]: token for token in DATA["telegrams"]}
MOST_IMPROMPTU_ARRESTS = 50  # in a turn

Asking = Story[None, str, str]
Happening = Story[None, str, None]


def category(title: str) -> str:
    """Return the category of a title."""
    return CARDS[title]["category"]


def value(title: str) -> int:
    """Return the case value of a title."""
    return CARDS[title]["value"]


def in_order(cards: Iterable[str]) -> list[str]:
    """Return cards in title order."""
    return sorted(cards, key=TITLES.index)


def different(cards: Iterable[str]) -> list[str]:
    """Return the titles among some cards."""
    return in_order(set(cards))


def suitable(current: str, location: str) -> set[str]:
    """Return the titles that may follow the Current card."""
    titles = set()
    for word in CARDS[current]["follows"] or ():
        if word == "any-travel":
            titles |= {title for title in TITLES if category(title) == "travel"}
        elif word == "similar-location":
            titles |= {title for title in TITLES if category(title) == location}
        elif word == "dissimilar-location":
            titles |= {title for title in TITLES if category(title) in LOCATIONS and category(title) != location}
        elif word != "i-say":
            titles.add(word)
    return titles


def permissible(title: str, current: str) -> bool:
    """Return whether a title is an I Say card whose restriction the Current card meets."""
    if category(title) != "i-say":
        return False
    moving = category(current) == "travel"
    return {"moving": moving, "not-moving": not moving, "city": category(current) == "city"}[CARDS[title]["permission"]]


@dataclass(frozen=True)
class Look:
    """The last look of one player at another's hand."""

    cards: tuple[str, ...] = ()
    whole: bool = False
    turn: int = 0  # 0: never


class Event(NamedTuple):
    """Something that everybody notices."""

    kind: str
    player: int
    target: int | None = None
    title: str | None = None


class CaseClosed(Exception):  # noqa: N818  # not an error
    """The case is closed, and with it the turn."""


class Oracle:
    """Play one game by the letter of the rules.

    Args:
        options: the game that is played.
        seed: the state from which the game's generator starts.
        knowing: whether to keep the sheets, which takes most of the time.
    """

    def __init__(self, options: Options, seed: int, knowing: bool = True) -> None:
        self._blank(options, seed, knowing)
        self.location = "city"
        self._deal_case()
        self.say_pool = {kind: self.random.shuffled(SAY_POINTS[kind]) for kind in SAY_TYPES}
        self.telegram_pool = self.random.shuffled(TELEGRAMS)
        self._begin()

    @classmethod
    def set_up(cls, options: Options, position: Mapping[str, Any], seed: int = 0, knowing: bool = True) -> Oracle:
        """Return a game in a position, in the form of `reveal`, at the start of a turn."""
        game = cls.__new__(cls)
        game._blank(options, seed, knowing)
        game._place(position)
        game._begin()
        return game

    def _blank(self, options: Options, seed: int, knowing: bool) -> None:
        self.options = options
        self.n = options.num_players
        self.seats = list(range(self.n))
        self.random = Generator(seed)
        self.knowledge = Knowledge(self.n, [title for title in TITLES if title != "afoot"]) if knowing else None
        self.turn_number = 1
        self.case_number = 1
        self.books: list[list[str]] = [[] for _ in self.seats]
        # Cases that each seat has closed.
        self.closed = [0 for _ in self.seats]
        self.villain_tokens: list[list[str]] = [[] for _ in self.seats]
        self.say: list[dict[str, int]] = [{} for _ in self.seats]
        self.telegrams: list[list[str]] = [[] for _ in self.seats]
        self.events: list[Event] = []  # oldest first
        self.pay = [0.0] * self.n  # by the last action
        self.total: int | None = None  # Grand Total of the case closed last
        self.truncated = False
        self._clear_case()

    def _clear_case(self) -> None:
        self.in_play: str | None = None
        self.drawn: str | None = None
        self.card: str | None = None
        self.player: int | None = None
        self.target: int | None = None
        self.tried: list[int] = []
        self.set_down: dict[int, str] = {}
        self.declined: set[int] = set()  # who has declined to escape with the hand as it is
        self.looks = {viewer: {other: Look() for other in self.seats if other != viewer} for viewer in self.seats}

    def _deal_case(self) -> None:
        dealt = {title: sum(CARDS[title]["set_up"][: self.n - DATA["min_players"] + 1]) for title in TITLES}
        stack = [title for title in TITLES for _ in range(dealt[title])]
        others = [title for title in TITLES for _ in range(CARDS[title]["copies"] - dealt[title])]
        size = DATA["hand_size"]
        stack = self.random.shuffled(stack)
        self.hands = [stack[size * seat : size * (seat + 1)] for seat in self.seats]
        self.pile = self.random.shuffled(others)
        self.discards: list[str] = []
        self.aside: list[str] = []
        beginner = next(seat for seat in self.seats if "afoot" in self.hands[seat])
        self.hands[beginner].remove("afoot")
        self.current = "afoot"
        self.turn = self.left(beginner)
        self._event("played", beginner, None, "afoot")
        if self.knowledge:
            self.knowledge.deal(self.hands, self.pile)

    def _place(self, position: Mapping[str, Any]) -> None:
        seat = {f"player_{seat}": seat for seat in self.seats}
        self.hands = [in_order(position["hands"][name]) for name in seat]
        self.current = position["current"]
        self.location = position["location"]
        self.turn = seat[position["turn"]]
        self.aside = [] if self.current == "afoot" else ["afoot"]
        self.discards = in_order(position.get("discards", ()))
        self.turn_number = position.get("turn_number", 1)
        self.case_number = position.get("case_number", 1)
        upper = list(position.get("draw_pile", ()))
        placed = Counter([self.current, *self.aside, *self.discards, *upper, *chain(*self.hands)])
        rest = [title for title in TITLES for _ in range(CARDS[title]["copies"] - placed[title])]
        self.pile = (upper + rest)[::-1]
        tokens = position.get("tokens", {})
        for name, number in seat.items():
            lying = tokens.get(name, {})
            self.books[number] = list(lying.get("books", ()))
            self.villain_tokens[number] = list(lying.get("villains", ()))
            self.say[number] = dict(lying.get("say", {}))
            self.telegrams[number] = list(lying.get("telegrams", ()))
        pools = position.get("pools", {})
        self.say_pool = {}
        for kind in SAY_TYPES:
            left = Counter(SAY_POINTS[kind]) - Counter(says[kind] for says in self.say if kind in says)
            self.say_pool[kind] = list(pools.get("say", {}).get(kind, sorted(left.elements())))[::-1]
        taken = set(chain(*self.telegrams))
        self.telegram_pool = list(pools.get("telegrams", [name for name in TELEGRAMS if name not in taken]))[::-1]
        for viewer, others in position.get("shown", {}).items():
            for other, look in others.items():
                self.looks[seat[viewer]][seat[other]] = Look(tuple(look["cards"]), look["whole"], look["turn"])
        if self.knowledge:
            begin = self.knowledge.deal if self._is_deal() else self.knowledge.begin
            begin(self.hands, self.pile)

    def _is_deal(self) -> bool:
        """Return whether the position is that after a deal."""
        dealt = {title: sum(CARDS[title]["set_up"][: self.n - DATA["min_players"] + 1]) for title in TITLES}
        held = Counter([self.current, *chain(*self.hands)])
        sizes = [DATA["hand_size"] - (self.left(seat) == self.turn) for seat in self.seats]
        return (
            self.current == "afoot"
            and not self.discards
            and held == Counter({title: copies for title, copies in dealt.items() if copies})
            and sizes == [len(hand) for hand in self.hands]
        )

    def _begin(self) -> None:
        self.next_turn = self.left(self.turn)
        self.phase = ""
        self.actor: int | None = None
        self.choices: list[str] = []
        self._story = self._game()
        next(self._story)

    # Seats

    def left(self, seat: int) -> int:
        """Return the left neighbour."""
        return (seat + 1) % self.n

    def right(self, seat: int) -> int:
        """Return the right neighbour."""
        return (seat - 1) % self.n

    def opponents(self, seat: int) -> list[int]:
        """Return the others, clockwise."""
        return [(seat + k) % self.n for k in range(1, self.n)]

    def clockwise(self) -> list[int]:
        """Return all seats from the player on whose turn it is."""
        return [self.turn, *self.opponents(self.turn)]

    def distance(self, seat: int, other: int) -> int:
        """Return how many seats to the left another sits."""
        return (other - seat) % self.n

    # What may be done, and doing it

    def legal(self) -> set[str]:
        """Return the actions that the actor may take."""
        return set(self.choices)

    def act(self, text: str) -> bool:
        """Take an action; one that is not legal changes nothing and gives False."""
        if text not in self.choices:
            return False
        self.pay = [0.0] * self.n
        try:
            self._story.send(text)
        except StopIteration:
            self._finish()
        return True

    def _ask(self, phase: str, seat: int, choices: Sequence[str]) -> Asking:
        """Let a player choose; outside of a turn's beginning a single possibility is no question."""
        if phase != "turn" and len(choices) == 1:
            return choices[0]
        assert choices
        self.phase = phase
        self.actor = seat
        self.choices = list(choices)
        return (yield)

    def _finish(self) -> None:
        self.phase = "finished"
        self.actor = None
        self.choices = []
        if self.options.reward != "case":
            self.pay = self._shares()

    # The course of a game

    def _game(self) -> Happening:
        while True:
            closed = False
            try:
                yield from self._turn()
            except CaseClosed:
                closed = True
                if self._is_over():
                    return
            if self.turn_number == self.options.max_turns:
                self.truncated = True
                return
            self.turn_number += 1
            if closed:
                self._new_case()
            else:
                self.turn = self.next_turn
            self.next_turn = self.left(self.turn)

    def _is_over(self) -> bool:
        last = any(BOOKS[book].get("ends_game") for books in self.books for book in books)
        return last or self.case_number == self.options.cases

    def _new_case(self) -> None:
        self.case_number += 1
        self._clear_case()
        if self.options.new_case_location == "city":
            self.location = "city"
        self._deal_case()

    def _turn(self) -> Happening:
        me = self.turn
        self.impromptu_arrests = 0
        self.turn_is_over = False
        began_with = len(self.hands[me])
        choice = yield from self._ask("turn", me, self._first_choices())
        if choice == "escape":
            self._escape(me)
        if choice == "draw":
            yield from self._draw_on_turn(me)
            return
        played = yield from self._play(choice, self.hands[me])
        second = began_with >= DATA["deduction_hand"]
        while not self.turn_is_over and (self._goes_on(played) if self.options.fast_play else second):
            second = False
            choice = yield from self._ask("second", me, [*self._plays(me, self.hands[me]), "pass"])
            if choice == "pass":
                return
            played = yield from self._play(choice, self.hands[me])

    def _goes_on(self, played: str) -> bool:
        return category(played) != "travel"

    def _first_choices(self) -> list[str]:
        me = self.turn
        choices = self._plays(me, self.hands[me])
        if not set(self.hands[me]) & self.suitable():
            choices.append("draw")
        if self._may_escape(me):
            choices.append("escape")
        return choices

    def suitable(self) -> set[str]:
        """Return the titles that are Suitable now."""
        return suitable(self.current, self.location)

    def _plays(self, me: int, cards: Iterable[str]) -> list[str]:
        """Return in which ways some cards may be played."""
        choices = []
        for title in different(cards):
            if title not in self.suitable() and not permissible(title, self.current):
                continue
            targets = self.opponents(me)
            aim = CARDS[title]["target"]
            if aim != "one":
                choices.append(f"play {title}")
            if aim in ("none", "all"):
                continue
            if title == "fleet-street":
                lacking = [other for other in targets if len(self.say[other]) < len(SAY_TYPES)]
                targets = lacking or targets
            if title == "constabulary" and not self._has_another(me, title):
                targets = []
            choices += [f"play {title} on +{self.distance(me, other)}" for other in targets]
        return choices

    def _has_another(self, me: int, title: str) -> bool:
        """Return whether a card would be left after one is played."""
        return len(self.hands[me]) > (self.drawn != title)

    def _draw_on_turn(self, me: int) -> Happening:
        self._event("drew", me)
        if self.knowledge:
            self.knowledge.lacks(me, self.suitable())
        card = self._top_card()
        if card is not None:
            if self.knowledge:
                self.knowledge.takes(me, card)
            self.drawn = card
            choices = self._plays(me, [card])
            if card not in self.suitable():
                choices.append("pass")
            choice = yield from self._ask("drawn", me, choices)
            if choice != "pass":
                yield from self._play(choice, None)
                return
            self.drawn = None
            if self.knowledge:
                self.knowledge.drawn_is_kept(me, self.suitable())
            self._receive(me, card)
        yield from self._settle()

    def _play(self, choice: str, hand: list[str] | None) -> Story[None, str, str]:
        """Play a card from a hand, or the drawn card, with all that it causes."""
        me = self.turn
        _, title, *aim = choice.split()
        self.target = (me + int(aim[1])) % self.n if aim else None
        self.player = me
        self.card = title
        if hand is None:
            self.drawn = None
            if self.knowledge:
                self.knowledge.drawn_is_played(me, title)
        else:
            self._lose(me, title)
            if self.knowledge:
                self.knowledge.shows(me, title)
        self._event("played", me, self.target, title)
        if category(title) == "i-say":
            self.in_play = title
            if "i-say" in CARDS[self.current]["follows"]:
                yield from self._give_say_token(me, me)
        else:
            self._becomes_current(title)
        yield from self._carry_out(title, me, self.target)
        if self.in_play:
            self.discards.append(self.in_play)
            self.in_play = None
        self.card = self.player = self.target = None
        yield from self._settle()
        return title

    def _becomes_current(self, title: str) -> None:
        (self.aside if self.current == "afoot" else self.discards).append(self.current)
        self.current = title
        if category(title) in LOCATIONS:
            self.location = category(title)

    # Cards come and go

    def _receive(self, seat: int, card: str) -> None:
        self.hands[seat].append(card)
        self.declined.discard(seat)

    def _lose(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.declined.discard(seat)

    def _top_card(self) -> str | None:
        """Take the next card of the draw pile; None if there is none anywhere."""
        if not self.pile and self.discards:
            self._shuffle_into_pile()
        return self.pile.pop() if self.pile else None

    def _shuffle_into_pile(self) -> None:
        if self.knowledge:
            self.knowledge.into_pile(self.discards)
        self.pile = self.random.shuffled(in_order(self.pile + self.discards))
        self.discards = []

    def _draw(self, seat: int, count: int) -> None:
        """Somebody draws cards that nobody else sees."""
        for _ in range(count):
            card = self._top_card()
            if card is None:
                return
            if self.knowledge:
                self.knowledge.takes(seat, card)
                self.knowledge.drawn_is_kept(seat)
            self._receive(seat, card)

    # Instructions

    def _carry_out(self, title: str, me: int, target: int | None) -> Happening:
        aim = CARDS[title]["target"]
        if title == "irregulars":
            self._draw(me, DATA["draws"][title])
        if aim == "optional" and target is None:
            return
        for seat in self.opponents(me) if aim == "all" else [target] if target is not None else []:
            counters = [card for card in INTERRUPTS if CARDS[title][card] and card in self.hands[seat]]
            if (yield from self._answers(seat, counters, me)):
                return
        if title in DATA["draws"] and target is not None:
            self._draw(target, DATA["draws"][title])
        named = {
            "dense-fog": self._dense_fog,
            "fleet-street": self._fleet_street,
            "clue": self._clue,
            "disguise": self._disguise,
            "telegram": self._telegram,
            "arrest": self._arrest_card,
            "constabulary": self._constabulary,
            "sherlock-holmes": self._examine,
            "dr-watson": self._examine,
            "inspector-lestrade": self._lestrade,
            "mycroft-holmes": self._mycroft,
            "irene-adler": self._irene,
            "irregulars": self._irregulars,
            "mrs-hudson": self._hudson,
            "prime-minister": self._prime_minister,
        }
        if title in named:
            yield from named[title](me, target)

    def _answers(self, seat: int, counters: list[str], whom: int) -> Story[None, str, bool]:
        """Let somebody answer with an Interrupt; return whether they did."""
        choice = yield from self._ask("respond", seat, [*(f"play {card}" for card in counters), "pass"])
        if choice == "pass":
            return False
        yield from self._interrupt(seat, choice.removeprefix("play "), whom)
        return True

    def _interrupt(self, seat: int, card: str, whom: int) -> Happening:
        if self.card is None:
            self.tried.append(seat)
        self._event("countered", seat, whom, card)
        self._lose(seat, card)
        if self.knowledge:
            self.knowledge.shows(seat, card)
        self.turn_is_over = True
        if card == "alibi":
            self._becomes_current(card)
            if self.options.after_alibi == "left_of_alibi":
                self.next_turn = self.left(seat)
            yield from self._hand_on()
        else:
            self.discards.append(card)
            self.next_turn = seat
            before = [list(hand) for hand in self.hands]
            self._move_hands({seat: self.left(seat) for seat in self.seats})
            for seat in self.seats:
                self._look(seat, self.right(seat), before[seat], True)

    def _move_hands(self, giver: dict[int, int]) -> None:
        """Give some players the whole hands of others."""
        before = [list(hand) for hand in self.hands]
        for seat, source in giver.items():
            if before[seat] or before[source]:
                self.declined.discard(seat)
            self.hands[seat] = list(before[source])
        if self.knowledge:
            self.knowledge.hands_move(before, giver)

    def _put_down(self, phase: str) -> Story[None, str, dict[int, str]]:
        """Let everybody who has cards choose one, clockwise; the cards stay in the hands."""
        self.set_down = {}
        for seat in self.clockwise():
            if self.hands[seat]:
                self.set_down[seat] = yield from self._choose(phase, seat, self.hands[seat])
        put_down = self.set_down
        self.set_down = {}
        return put_down

    def _choose(self, phase: str, seat: int, cards: Iterable[str]) -> Asking:
        """Let a player choose among titles."""
        choice = yield from self._ask(phase, seat, [f"choose {title}" for title in different(cards)])
        return choice.removeprefix("choose ")

    def _hand_on(self) -> Happening:
        passed = yield from self._put_down("hand_on")
        for seat, card in passed.items():
            self._lose(seat, card)
        for seat, card in passed.items():
            self._receive(self.right(seat), card)
            self._add_to_look(seat, self.right(seat), [card])
        if self.knowledge:
            self.knowledge.hand_on(passed)

    def _dense_fog(self, me: int, target: int | None) -> Happening:
        put_down = yield from self._put_down("fog")
        shuffled = self.random.shuffled(list(put_down.values()))
        got_back = dict(zip(put_down, shuffled, strict=True))
        for seat, card in put_down.items():
            self._lose(seat, card)
        for seat, card in got_back.items():
            self._receive(seat, card)
        if self.knowledge:
            self.knowledge.fog(put_down, got_back)

    def _give_say_token(self, chooser: int, receiver: int) -> Happening:
        """Somebody gets an I Say token of a type that they lack: from the pool or, if it is used up, an opponent."""
        choices = []
        for kind in SAY_TYPES:
            if kind in self.say[receiver]:
                continue
            if self.say_pool[kind]:
                choices.append(f"token {kind}")
            else:
                owners = [seat for seat in self.opponents(chooser) if seat != receiver and kind in self.say[seat]]
                choices += [f"token {kind} from +{self.distance(chooser, seat)}" for seat in owners]
        if not choices:
            return
        choice = yield from self._ask("token", chooser, choices)
        _, kind, *source = choice.split()
        owner = (chooser + int(source[1])) % self.n if source else None
        points = self.say_pool[kind].pop() if owner is None else self.say[owner].pop(kind)
        self.say[receiver][kind] = points
        self._event("token", receiver, owner)

    def _fleet_street(self, me: int, target: int) -> Happening:
        yield from self._give_say_token(me, target)

    def _clue(self, me: int, target: int) -> Happening:
        hand = in_order(self.hands[target])
        count = DATA["clue_cards"]
        if len(hand) <= count:
            self._show(me, target, hand)
        else:
            self._show(me, target, [hand.pop(self.random.below(len(hand))) for _ in range(count)])
        return
        yield

    def _disguise(self, me: int, target: int) -> Happening:
        if not self.hands[target]:
            self._show(me, target, [])
            return
        highest = max(value(card) for card in self.hands[target])
        title = yield from self._choose("show", target, [c for c in self.hands[target] if value(c) == highest])
        self._show(me, target, [title], [other for other in TITLES if value(other) > highest])

    def _irregulars(self, me: int, target: int | None) -> Happening:
        for seat in self.opponents(me):
            yield from self._disguise(me, seat)

    def _telegram(self, me: int, target: int) -> Happening:
        source = None
        if self.telegram_pool:
            token = self.telegram_pool.pop()
        else:
            owners = [seat for seat in [me, *self.opponents(me)] if seat != target and self.telegrams[seat]]
            if not owners:
                return
            choice = yield from self._ask("source", me, [f"from +{self.distance(me, seat)}" for seat in owners])
            source = (me + int(choice.removeprefix("from +"))) % self.n
            tokens = sorted(self.telegrams[source], key=list(TELEGRAMS).index)
            token = tokens[self.random.below(len(tokens))] if len(tokens) > 1 else tokens[0]
            self.telegrams[source].remove(token)
        self.telegrams[target].append(token)
        self._event("telegram", target, source)

    def _constabulary(self, me: int, target: int) -> Happening:
        if not self.hands[me]:
            return
        title = yield from self._choose("give", me, self.hands[me])
        self._lose(me, title)
        self._receive(target, title)
        self._add_to_look(me, target, [title])
        if self.knowledge:
            self.knowledge.gives(me, target, title)

    def _lestrade(self, me: int, target: int) -> Happening:
        self._show(me, target, self.hands[target])
        return
        yield

    def _examine(self, me: int, target: int) -> Happening:
        """Sherlock Holmes and Dr. Watson look at a hand and may arrest whoever is Guilty."""
        self._show(me, target, self.hands[target])
        if not self._is_guilty(target):
            return
        choices = [f"arrest +{self.distance(me, target)}", "pass"]
        choice = yield from self._ask("verdict", me, choices[:1] if self.options.must_arrest else choices)
        if choice != "pass":
            self._arrest(me, target)

    def _mycroft(self, me: int, target: int) -> Happening:
        given = {me: list(self.hands[me]), target: list(self.hands[target])}
        self._move_hands({me: target, target: me})
        self._look(me, target, given[me], True)
        self._look(target, me, given[target], True)
        return
        yield

    def _irene(self, me: int, target: int | None) -> Happening:
        villains = [card for card in self.hands[me] if card in VILLAINS]
        if not villains:
            if self.knowledge:
                self.knowledge.lacks(me, VILLAINS)
            return
        title = yield from self._choose("discard", me, villains)
        self._lose(me, title)
        self.discards.append(title)
        self._event("discarded", me, None, title)
        if self.knowledge:
            self.knowledge.shows(me, title)

    def _hudson(self, me: int, target: int | None) -> Happening:
        self._shuffle_into_pile()
        return
        yield

    def _prime_minister(self, me: int, target: int | None) -> Happening:
        for seat in self.opponents(me):
            self._draw(seat, DATA["draws"]["prime-minister"])
        return
        yield

    def _arrest_card(self, me: int, target: int) -> Happening:
        self._arrest(me, target)
        return
        yield

    # Looks

    def _show(self, viewer: int, other: int, cards: Sequence[str], never: Iterable[str] = ()) -> None:
        """A player is shown cards of another's hand."""
        whole = len(cards) == len(self.hands[other])
        self._look(viewer, other, cards, whole)
        if self.knowledge:
            self.knowledge.looks(viewer, other, cards, whole, never)

    def _look(self, viewer: int, other: int, cards: Iterable[str], whole: bool) -> None:
        self.looks[viewer][other] = Look(tuple(in_order(cards)), whole, self.turn_number)

    def _add_to_look(self, viewer: int, other: int, cards: Iterable[str]) -> None:
        self._look(viewer, other, [*self.looks[viewer][other].cards, *cards], False)

    # Arrests, emptied hands, escapes

    def _is_guilty(self, seat: int) -> bool:
        return any(card in VILLAINS for card in self.hands[seat])

    def _arrest(self, arrester: int, accused: int) -> None:
        if self._is_guilty(accused):
            self._close_by_arrest(arrester, accused)
        self._event("innocent", arrester, accused)
        hand = list(self.hands[accused])
        if self.knowledge:
            self.knowledge.innocent(arrester, accused, hand, VILLAINS)
        for card in hand:
            self._lose(accused, card)
            self._receive(arrester, card)
        self._add_to_look(accused, arrester, hand)
        self.looks[arrester][accused] = Look()
        self._draw(accused, len(hand))

    def _settle(self) -> Happening:
        """Ask for Impromptu Arrests and offer escapes until nobody has either to do."""
        afresh = True
        while afresh:
            afresh = False
            for seat in self.clockwise():
                if self._must_arrest(seat):
                    afresh = yield from self._impromptu_arrest(seat)
                    if afresh:
                        break
                elif self._may_escape(seat) and seat not in self.declined:
                    choice = yield from self._ask("escape", seat, ["escape", "pass"])
                    if choice == "escape":
                        self._escape(seat)
                    self.declined.add(seat)

    def _must_arrest(self, seat: int) -> bool:
        return set(self.hands[seat]) <= set(INTERRUPTS) and self.impromptu_arrests < MOST_IMPROMPTU_ARRESTS

    def _may_escape(self, seat: int) -> bool:
        return self._is_guilty(seat) and set(self.hands[seat]) <= {*VILLAINS, *INTERRUPTS}

    def _impromptu_arrest(self, arrester: int) -> Story[None, str, bool]:
        """Let somebody name opponents until one does not counter; return whether anybody could be named."""
        named = False
        self.tried = []
        while True:
            with_cards = [seat for seat in self.opponents(arrester) if self.hands[seat]]
            if not with_cards:
                break
            if set(with_cards) <= set(self.tried):
                self.tried = []
            choices = [f"arrest +{self.distance(arrester, seat)}" for seat in with_cards if seat not in self.tried]
            choice = yield from self._ask("impromptu", arrester, choices)
            accused = (arrester + int(choice.removeprefix("arrest +"))) % self.n
            self._event("impromptu", arrester, accused)
            if not named:
                named = True
                self.impromptu_arrests += 1
                if self.knowledge:
                    self.knowledge.lacks(arrester, [title for title in TITLES if title not in INTERRUPTS])
            if arrester == self.turn:
                self.turn_is_over = True
            self.player = arrester
            self.target = accused
            allowed = DATA["impromptu_arrest"]
            counters = [card for card in INTERRUPTS if allowed[card] and card in self.hands[accused]]
            countered = yield from self._answers(accused, counters, arrester)
            self.player = self.target = None
            if not countered:
                self._arrest(arrester, accused)
                break
        self.tried = []
        return named

    # Cases end

    def _close_by_arrest(self, arrester: int, accused: int) -> None:
        self._event("arrested", arrester, accused)
        held = [title for seat in self.seats if seat != arrester for title in self.hands[seat]]
        villains = [card for card in self.hands[accused] if card in VILLAINS]
        counting = [card for card in held if card not in VILLAINS] + villains
        if self.options.guilty_hand == "discarded":
            for card in self.hands[accused]:
                if card not in VILLAINS:
                    counting.remove(card)
        self.total = sum(value(card) for card in counting)
        left = [book for book in BOOKS if not any(book in taken for taken in self.books)]
        fitting = [book for book in left if BOOKS[book]["threshold"] <= self.total]
        if fitting:
            self.books[arrester].append(max(fitting, key=lambda book: BOOKS[book]["threshold"]))
        self._close(arrester)

    def _escape(self, seat: int) -> None:
        self._event("escaped", seat)
        for villain in [card for card in self.hands[seat] if card in VILLAINS]:
            for other in self.seats:
                if villain in self.villain_tokens[other]:
                    self.villain_tokens[other].remove(villain)
            self.villain_tokens[seat].append(villain)
        self._close(seat)

    def _close(self, closer: int) -> None:
        self.closed[closer] += 1
        if self.options.reward == "case":
            self.pay = [1.0 if seat == closer else -1 / (self.n - 1) for seat in self.seats]
        if self.in_play:
            self.discards.append(self.in_play)
            self.in_play = None
        self.card = self.player = self.target = None
        self.tried = []
        raise CaseClosed

    # How it ends

    def points(self) -> list[int]:
        """Return every seat's points as they stand."""
        points = [0] * self.n
        for seat in self.seats:
            points[seat] += sum(BOOKS[book]["points"] for book in self.books[seat])
            points[seat] += sum(VILLAIN_POINTS[villain] for villain in self.villain_tokens[seat])
            points[seat] += sum(self.say[seat].values())
            for token in self.telegrams[seat]:
                points[seat] += TELEGRAMS[token]["owner"]
                points[self.left(seat)] += TELEGRAMS[token]["left"]
                points[self.right(seat)] += TELEGRAMS[token]["right"]
        return points

    def places(self) -> list[int]:
        """Return every seat's place as things stand; equals share one."""
        if self.options.reward == "case":
            return [1 + sum(other > own for other in self.closed) for own in self.closed]
        points = self.points()
        merits = [
            (points[seat], len(self.books[seat]), len(self.villain_tokens[seat]), len(self.say[seat]))
            for seat in self.seats
        ]
        return [1 + sum(other > merit for other in merits) for merit in merits]

    def _shares(self) -> list[float]:
        """Return the rewards at the end."""
        points = self.points()
        if self.options.reward == "points":
            return [(own - sum(points) / self.n) / 10 for own in points]
        if self.options.reward == "winner":
            of_place = [1.0] + [-1 / (self.n - 1)] * (self.n - 1)
        else:
            of_place = [1 - 2 * place / (self.n - 1) for place in range(self.n)]
        places = self.places()
        filled = {place: of_place[place - 1 : place - 1 + places.count(place)] for place in places}
        return [sum(filled[place]) / len(filled[place]) for place in places]

    def winners(self) -> list[int]:
        """Return who has won: nobody before the end."""
        return [seat for seat in self.seats if self.places()[seat] == 1] if self.phase == "finished" else []

    # What everybody notices

    def _event(self, kind: str, player: int, target: int | None = None, title: str | None = None) -> None:
        self.events.append(Event(kind, player, target, title))

    def last_events(self) -> list[Event]:
        """Return the last events, two for each player, newest first."""
        return self.events[: -2 * self.n - 1 : -1]

    # The whole hidden state

    def reveal(self) -> dict[str, Any]:
        """Return the whole hidden state in names, as the game's own `reveal` does."""
        name = {seat: f"player_{seat}" for seat in self.seats} | {None: None}
        taken = {title for titles in self.villain_tokens for title in titles}
        chosen = {book for books in self.books for book in books}
        return {
            "hands": {name[seat]: in_order(self.hands[seat]) for seat in self.seats},
            "draw_pile": self.pile[::-1],
            "discards": in_order(self.discards),
            "current": self.current,
            "aside": list(self.aside),
            "in_play": self.in_play,
            "drawn": self.drawn,
            "location": self.location,
            "turn": name[self.turn],
            "next_turn": name[self.next_turn],
            "actor": name[self.actor],
            "phase": self.phase,
            "card": self.card,
            "player": name[self.player],
            "target": name[self.target],
            "tried": [name[seat] for seat in self.tried],
            "set_down": {name[seat]: title for seat, title in self.set_down.items()},
            "tokens": {
                name[seat]: {
                    "books": [book for book in BOOKS if book in self.books[seat]],
                    "villains": [title for title in VILLAIN_POINTS if title in self.villain_tokens[seat]],
                    "say": {kind: self.say[seat][kind] for kind in SAY_TYPES if kind in self.say[seat]},
                    "telegrams": [token for token in TELEGRAMS if token in self.telegrams[seat]],
                }
                for seat in self.seats
            },
            "pools": {
                "books": [book for book in BOOKS if book not in chosen],
                "villains": [title for title in VILLAIN_POINTS if title not in taken],
                "say": {kind: self.say_pool[kind][::-1] for kind in SAY_TYPES},
                "telegrams": self.telegram_pool[::-1],
            },
            "shown": {
                name[viewer]: {
                    name[other]: {"cards": list(look.cards), "whole": look.whole, "turn": look.turn}
                    for other, look in looks.items()
                }
                for viewer, looks in self.looks.items()
            },
            "turn_number": self.turn_number,
            "case_number": self.case_number,
            "points": {name[seat]: points for seat, points in enumerate(self.points())},
            "winners": [name[seat] for seat in self.winners()],
            "truncated": self.truncated,
        }

    # What a seat knows

    def sheet(self, viewer: int) -> dict[str, dict[str, tuple[int, int]]]:
        """Return the least and most copies of each title with every opponent and in the draw pile."""
        assert self.knowledge is not None
        sheet = self.knowledge.sheets[viewer]
        holders = [f"player_{seat}" for seat in self.opponents(viewer)] + ["pile"]
        return {
            holder: {
                title: (int(sheet.least[row, number]), int(sheet.most[row, number]))
                for number, title in enumerate(sheet.titles)
            }
            for row, holder in enumerate(holders)
        }
