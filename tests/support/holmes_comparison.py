"""Play the kernels of the second game and its oracle side by side, and say where they differ."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sleuth_env.game import GOING_ON, TERMINATED, TRUNCATED
from sleuth_env.holmes.cards import NUM_COLUMNS, Options, make_rules
from sleuth_env.holmes.cases import deal
from sleuth_env.holmes.results import ends, settled, standings
from sleuth_env.holmes.reveal import reveal
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.set_up import set_up
from sleuth_env.holmes.state import EVENT_KINDS, MAX_EVENTS, NUM_HOLDERS, PHASES, PILE, new_states
from tests.support.holmes_oracle import BOOKS, CARDS, SAY_TYPES, TELEGRAMS, TITLES, VILLAIN_POINTS, Event, Oracle

Player = Callable[[random.Random, Oracle], str]
P = 8
T = len(TITLES)


# --- how actions are numbered ---


def action_texts(num_players: int) -> list[str]:
    """Return all actions of a game in the order of their numbers."""
    seats = range(1, num_players)
    never = ("villain", "start")
    plain = [t for t in TITLES if CARDS[t]["target"] != "one" and CARDS[t]["category"] not in never]
    aimed = [t for t in TITLES if CARDS[t]["target"] in ("one", "optional")]
    return [
        *(f"play {title}" for title in plain),
        *(f"play {title} on +{k}" for k in seats for title in aimed),
        *(f"choose {title}" for title in TITLES if title != "afoot"),
        *(f"arrest +{k}" for k in seats),
        *(f"from +{k}" for k in range(num_players)),
        *(f"token {kind}" for kind in SAY_TYPES),
        *(f"token {kind} from +{k}" for k in seats for kind in SAY_TYPES),
        *("draw", "escape", "pass"),
    ]


# --- what the record of a game should be ---


def copies(cards: Sequence[str]) -> np.ndarray:
    """Return how many copies of each title there are."""
    return _copies(tuple(cards))


@lru_cache(maxsize=4096)
def _copies(cards: tuple[str, ...]) -> np.ndarray:
    count = Counter(cards)
    return np.array([count[title] for title in TITLES])


def number(seat: int | None) -> int:
    """Return a seat, -1 for nobody."""
    return -1 if seat is None else seat


def title_number(title: str | None) -> int:
    """Return the number of a title, -1 for none."""
    return -1 if title is None else TITLES.index(title)


def filled(numbers: Sequence[int], size: int, blank: int = -1) -> list[int]:
    """Return numbers and behind them blanks."""
    return [*numbers, *[blank] * (size - len(numbers))]


def event_row(event: Event) -> list[int]:
    """Return the row of an event."""
    return [EVENT_KINDS.index(event.kind), event.player, number(event.target), title_number(event.title)]


def owners(names: Sequence[str], tokens: Sequence[Sequence[str]]) -> list[int]:
    """Return who has each token, -1 for nobody."""
    having = {name: seat for seat, lying in enumerate(tokens) for name in lying}
    return [having.get(name, -1) for name in names]


def expected_fields(game: Oracle) -> dict[str, Any]:
    """Return what the fields of the kernels' record should be, but for those that serve the kernels alone."""
    hands = np.zeros((P, T), int)
    for seat, hand in enumerate(game.hands):
        hands[seat] = copies(hand)
    say = np.zeros((P, len(SAY_TYPES)), int)
    for seat, tokens in enumerate(game.say):
        say[seat] = [tokens.get(kind, 0) for kind in SAY_TYPES]
    events = [event_row(event) for event in game.last_events()]
    return {
        "rng": game.random.state,
        "turn": game.turn,
        "next_turn": game.next_turn,
        "actor": number(game.actor),
        "phase": PHASES.index(game.phase),
        "turn_number": game.turn_number,
        "case_number": game.case_number,
        "truncated": game.truncated,
        "current": title_number(game.current),
        "city": game.location == "city",
        "in_play": title_number(game.in_play),
        "drawn": title_number(game.drawn),
        "card": title_number(game.card),
        "player": number(game.player),
        "target": number(game.target),
        "tried": filled(game.tried, P),
        "set_down": [title_number(game.set_down.get(seat)) for seat in range(P)],
        "hands": hands,
        "held": [sum(1 << t for t in range(T) if hand[t]) for hand in hands],
        "hand_sizes": hands.sum(axis=1),
        "discards": copies(game.discards),
        "pile": filled([TITLES.index(card) for card in game.pile], sum(card["copies"] for card in CARDS.values())),
        "pile_size": len(game.pile),
        "books": owners(list(BOOKS), game.books),
        "villains": owners(list(VILLAIN_POINTS), game.villain_tokens),
        "telegrams": owners(list(TELEGRAMS), game.telegrams),
        "telegram_stock": filled([list(TELEGRAMS).index(token) for token in game.telegram_pool], len(TELEGRAMS)),
        "telegram_size": len(game.telegram_pool),
        "say": say,
        "say_pool": [filled(game.say_pool[kind], 5, 0) for kind in SAY_TYPES],
        "say_sizes": [len(game.say_pool[kind]) for kind in SAY_TYPES],
        "events": events + [[-1] * 4] * (MAX_EVENTS - len(events)),
        **_looks(game),
        **_sheets(game),
    }


def _looks(game: Oracle) -> dict[str, Any]:
    looks = np.zeros((P, P, T), int)
    whole = np.zeros((P, P), int)
    turn = np.zeros((P, P), int)
    for viewer, others in game.looks.items():
        for other, look in others.items():
            looks[viewer, other] = copies(look.cards)
            whole[viewer, other] = look.whole
            turn[viewer, other] = look.turn
    return {"looks": looks, "look_whole": whole, "look_turn": turn}


def _sheets(game: Oracle) -> dict[str, Any]:
    if game.knowledge is None:
        return {}
    bounds = {name: np.zeros((P, NUM_HOLDERS, NUM_COLUMNS), int) for name in ("least", "most")}
    for sheet in game.knowledge.sheets:
        holders = [*game.opponents(sheet.viewer), PILE]
        for name, table in bounds.items():
            table[sheet.viewer, holders, : T - 1] = getattr(sheet, name)
    return dict(bounds)


# --- playing both ---


def differences(state: np.void, game: Oracle) -> Iterator[str]:
    """Iterate over the fields of a record that are not what the oracle says."""
    for name, wanted in expected_fields(game).items():
        there = np.asarray(state[name])
        expected = np.asarray(wanted).astype(there.dtype)
        if not np.array_equal(there, expected):
            where = [tuple(map(int, place)) for place in np.argwhere(np.atleast_1d(there != expected))][:6]
            at = [(p, int(np.atleast_1d(there)[p]), int(np.atleast_1d(expected)[p])) for p in where]
            yield f"{name}: (place, kernel, oracle) {at}"


def told_otherwise(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the keys of `reveal` under which the kernels' game tells something else than the oracle."""
    if list(there) != list(wanted):
        return [f"reveal has the keys {list(there)} instead of {list(wanted)}"]
    return [f"reveal {key}: kernel {there[key]}, oracle {wanted[key]}" for key in there if there[key] != wanted[key]]


class Pair:
    """A batch of games of the kernels, and each of them played by the oracle.

    Args:
        options: the games that are played.
        seeds: of the deals.
        positions: in which the games begin, in the form of `reveal`; none: they are dealt.
        knowing: whether to compare the sheets.
    """

    def __init__(
        self,
        options: Options,
        seeds: Sequence[int],
        positions: Sequence[Mapping[str, Any]] = (),
        knowing: bool = True,
    ) -> None:
        self.options = options
        self.rules = make_rules(options)
        self.texts = action_texts(options.num_players)
        self.numbers = {text: action for action, text in enumerate(self.texts)}
        if positions:
            pairs = list(zip(positions, seeds, strict=True))
            self.games = [Oracle.set_up(options, position, seed, knowing) for position, seed in pairs]
            self.states = np.concatenate([set_up(options, position, seed) for position, seed in pairs])
        else:
            self.games = [Oracle(options, seed, knowing) for seed in seeds]
            self.states = new_states(len(seeds))
            deal(self.rules, self.states, np.array(seeds, np.uint64))
        self.rewards = np.zeros((len(seeds), options.num_players))
        self.done: list[list[str]] = [[] for _ in seeds]  # what was done in each game

    def step(self, choices: Sequence[str]) -> None:
        """Take an action in each game; "" in one that is finished."""
        finished = [game.phase == "finished" for game in self.games]
        actions = np.array([0 if over else self.numbers[text] for text, over in zip(choices, finished, strict=True)])
        taken = np.zeros(len(self.games), np.uint8)
        step(self.rules, self.states, actions, taken, self.rewards)
        assert taken.tolist() == [not over for over in finished]
        for game, text, done in zip(self.games, choices, self.done, strict=True):
            game.pay = [0.0] * game.n
            if text:
                done.append(f"{game.phase}, player {game.actor}: {text}")
                assert game.act(text)

    def check(self) -> None:
        """Compare everything in all games."""
        shape = (len(self.games), self.options.num_players)
        masks = np.zeros((len(self.games), len(self.texts)), np.uint8)
        legal(self.rules, self.states, masks)
        ended = np.zeros(len(self.games), np.int8)
        ends(self.rules, self.states, ended)
        places = np.zeros(shape, np.int32)
        standings(self.rules, self.states, places)
        for row, game in enumerate(self.games):
            found = list(differences(self.states[row], game))
            # It is slow, and tells nothing that is not in the fields.
            if game.phase != "turn" or len(self.done[row]) % 10 == 0:
                found += told_otherwise(reveal(self.options, self.states[row]), game.reveal())
            allowed = {self.texts[action] for action in np.flatnonzero(masks[row])}
            if allowed != game.legal():
                found.append(f"legal: kernel only {allowed - game.legal()}, oracle only {game.legal() - allowed}")
            how = (TRUNCATED if game.truncated else TERMINATED) if game.phase == "finished" else GOING_ON
            for name, there, wanted in (
                ("ends", ended[row], how),
                ("standings", places[row].tolist(), game.places()),
                ("rewards", np.round(self.rewards[row], 12).tolist(), np.round(game.pay, 12).tolist()),
            ):
                if there != wanted:
                    found.append(f"{name}: kernel {there}, oracle {wanted}")
            if found:
                raise AssertionError("\n".join([*found, f"row {row}", *self.done[row][-12:]]))

    def check_settled(self) -> None:
        """Compare who can get nothing more."""
        shape = (len(self.games), self.options.num_players)
        closed = np.zeros(shape, np.uint8)
        due = np.zeros(shape)
        settled(self.rules, self.states, closed, due)
        # A truncated game, too, has been paid as it stands.
        over = [game.phase == "finished" for game in self.games]
        assert closed.tolist() == [[ended] * self.options.num_players for ended in over]
        assert not due.any()


def play_batch(
    options: Options,
    seeds: Sequence[int],
    player: Player,
    positions: Sequence[Mapping[str, Any]] = (),
    knowing: bool = True,
    most_steps: int = 10**6,
) -> Counter[str]:
    """Play games side by side and compare after every action; return what happened how often."""
    pair = Pair(options, seeds, positions, knowing)
    chance = random.Random(str((options, list(seeds))))
    happened: Counter[str] = Counter()
    pair.check()
    for _ in range(most_steps):
        if all(game.phase == "finished" for game in pair.games):
            break
        happened.update(game.phase for game in pair.games)
        pair.step([player(chance, game) if game.choices else "" for game in pair.games])
        pair.check()
    pair.check_settled()
    for game in pair.games:
        happened.update(event.kind for event in game.events)
        happened["over"] += game.phase == "finished"
        happened["truncated"] += game.truncated
    return happened


# --- players ---


def any_choice(chance: random.Random, game: Oracle) -> str:
    """Take any legal action."""
    return chance.choice(game.choices)


def by_kind(chance: random.Random, game: Oracle) -> str:
    """Choose what to do first, and then to whom: rare actions become frequent."""
    kinds = sorted({" ".join(text.split()[:2]) for text in game.choices})
    kind = chance.choice(kinds)
    return chance.choice([text for text in game.choices if f"{text} ".startswith(f"{kind} ")])


def careful(chance: random.Random, game: Oracle) -> str:
    """Keep the case open and answer whatever may be answered: hands grow, move and are emptied."""
    closing = ("escape", "arrest", "play arrest", "play sherlock", "play dr-watson")
    open_ = [text for text in game.choices if not text.startswith(closing)]
    if game.phase == "respond" and chance.random() < 0.9:
        open_ = [text for text in open_ if text != "pass"]
    return by_kind(chance, game) if not open_ or chance.random() < 0.02 else chance.choice(open_)


def emptying(chance: random.Random, game: Oracle) -> str:
    """Play whatever can be played, without letting others draw: hands become small."""
    feeding = ("play suspicion", "play detective", "play scotland", "play boat", "play foot", "draw", "play prime")
    small = [text for text in game.choices if not text.startswith((*feeding, "escape"))]
    plays = [text for text in small if text != "pass"]
    return chance.choice(plays or small or game.choices) if chance.random() < 0.95 else any_choice(chance, game)


PLAYERS: dict[str, Player] = {
    "any": any_choice,
    "by kind": by_kind,
    "careful": careful,
    "emptying": emptying,
}
