"""Follow, a tiny game for tests: nothing outside of a game's folder knows Sleuth.

Four numbered cards are dealt to each of 3 to 8 players. In turn everybody plays a card that is
higher than the last one, or passes. Whoever plays the very next number gets a point, paid at once:
+1, the others share -1. When everybody passes in a row, or nobody has a card left, most points win;
there are ties. Hands are hidden. The kernels are plain Python: slow and obvious.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sleuth_env.bits import shuffle
from sleuth_env.checks import check_number
from sleuth_env.game import GOING_ON, TERMINATED, TRUNCATED
from sleuth_env.layout import NUMBER, ONE_HOT, Layout, block_maker
from sleuth_env.layout import Observer as LayoutObserver
from sleuth_env.options import OptionError, documented, option

NAME = "follow"
HAND = 4
MOST_PLAYERS = 8
RECORDS = ("plain",)
CHEAPEST_RECORD = "plain"
DEFAULT_BOT = "random"
NETWORKS: dict[str, Any] = {}
OFFERED = ()
DECLINE = ""
SCORED = {"card": "play"}


@documented
@dataclass(frozen=True)
class Options:
    """Which game is played.

    Args:
        {options}
    """

    num_players: int = option(4, "3 to 8", "number of players")
    max_turns: int = option(100, "1 or more", "number of turns after which the game is truncated", minor=True)

    def __post_init__(self) -> None:
        for name, least, most in (("num_players", 3, MOST_PLAYERS), ("max_turns", 1, 2**31 - 1)):
            error = partial(OptionError, option=name)
            object.__setattr__(self, name, check_number(name, getattr(self, name), least, most, error))


RULES = np.dtype([("num_players", "i8"), ("num_cards", "i8"), ("max_turns", "i8")])
STATE = np.dtype(
    [
        ("rng", "u8"),
        ("hands", "i8", MOST_PLAYERS),  # [P] masks of cards
        ("points", "i8", MOST_PLAYERS),  # [P]
        ("played", "i8", MOST_PLAYERS),  # [P] number of cards played
        ("last", "i8"),  # the card played last, -1 before the first
        ("passes", "i8"),  # in a row
        ("turn_number", "i8"),
        ("truncated", "i8"),
        ("actor", "i4"),
        ("seat_to_act", "i4"),
    ]
)
VIEW = np.dtype(
    [
        ("hand", "i8"),  # mask of own cards
        ("points", "i8", MOST_PLAYERS),  # [P] own seat first
        ("played", "i8", MOST_PLAYERS),  # [P] own seat first
        ("last", "i8"),
        ("turn_number", "i8"),
        ("to_act", "i8"),
    ]
)


@lru_cache
def make_rules(options: Options) -> np.ndarray:
    if not isinstance(options, Options):
        raise OptionError(f"options must be Options(num_players=..., ...), got {options!r}")
    return np.array([(options.num_players, HAND * options.num_players, options.max_turns)], RULES)


def num_actions(options: Options) -> int:
    return HAND * options.num_players + 1


def action_blocks(options: Options) -> dict[str, slice]:
    cards = HAND * options.num_players
    return {"play": slice(0, cards), "pass": slice(cards, cards + 1)}


def new_states(num_games: int) -> np.ndarray:
    states = np.zeros(num_games, STATE)
    states["actor"] = states["last"] = -1
    states["turn_number"] = 1
    return states


def deal(rules: np.ndarray, states: np.ndarray, seeds: np.ndarray) -> None:
    players, num_cards, _ = rules[0]
    for b, seed in enumerate(seeds.tolist()):
        states[b] = new_states(1)[0]
        states[b]["rng"] = seed
        cards = np.arange(num_cards)
        shuffle(states[b], cards, num_cards)
        for seat in range(players):
            states[b]["hands"][seat] = sum(1 << int(card) for card in cards[HAND * seat : HAND * (seat + 1)])
        states[b]["actor"] = 0


def problems(rules: np.ndarray, states: np.ndarray) -> list[str]:
    found = ((row, _problem(rules[0], state)) for row, state in enumerate(states))
    return [f"game {row}: {problem}" for row, problem in found if problem]


def _problem(rules: np.void, state: np.void) -> str:
    players, num_cards, max_turns = (int(number) for number in rules)
    hands = [int(hand) for hand in state["hands"]]
    played = state["played"].tolist()
    points = state["points"].tolist()
    held = [card for card in range(num_cards) for hand in hands if hand >> card & 1]
    passes = int(state["passes"])
    ended = int(state["actor"]) == -1
    by_rules = passes == players or not held
    wrong = {
        "hands": min(hands) < 0 or max(hands) >> num_cards or len(held) != len(set(held)) or any(hands[players:]),
        "played": any(number != HAND - hand.bit_count() for hand, number in zip(hands[:players], played, strict=False))
        or any(played[players:]),
        "last": not -1 <= state["last"] < num_cards
        or (state["last"] == -1) != (sum(played) == 0)
        or int(state["last"]) in held,
        "points": any(not 0 <= p <= n for p, n in zip(points, played, strict=True)) or sum(points) > state["last"] + 1,
        "passes": not 0 <= passes <= players,
        "turn_number": not 1 <= state["turn_number"] <= max_turns
        or state["turn_number"] < sum(played) + passes + (not ended),
        "truncated": state["truncated"] not in (0, 1)
        or (state["truncated"] == 1 and (not ended or by_rules or state["turn_number"] != max_turns)),
        "actor": (not ended and int(state["actor"]) != (int(state["turn_number"]) - 1) % players)
        or ended != (by_rules or state["truncated"] == 1),
        "seat_to_act": state["seat_to_act"] != 0,
    }
    return next((f"{field} is {state[field].tolist()}" for field, is_wrong in wrong.items() if is_wrong), "")


def _may(rules: np.void, state: np.void, action: int) -> bool:
    if state["actor"] < 0 or not 0 <= action <= rules["num_cards"]:
        return False
    held = int(state["hands"][state["actor"]]) >> int(action) & 1
    return bool(action == rules["num_cards"] or (held and action > state["last"]))


def legal(rules: np.ndarray, states: np.ndarray, out: np.ndarray) -> None:
    for b in range(states.size):
        out[b] = [_may(rules[0], states[b], action) for action in range(out.shape[1])]


def step(rules: np.ndarray, states: np.ndarray, actions: np.ndarray, taken: np.ndarray, rewards: np.ndarray) -> None:
    rewards[:] = 0.0
    for b in range(states.size):
        taken[b] = _may(rules[0], states[b], int(actions[b]))
        if taken[b]:
            _take(rules[0], states[b], int(actions[b]), rewards[b])


def _take(rules: np.void, state: np.void, action: int, rewards: np.ndarray) -> None:
    players = int(rules["num_players"])
    actor = int(state["actor"])
    if action == rules["num_cards"]:
        state["passes"] += 1
    else:
        state["passes"] = 0
        state["hands"][actor] &= ~(1 << action)
        state["played"][actor] += 1
        if action == state["last"] + 1:
            state["points"][actor] += 1
            rewards[:players] = -1.0 / (players - 1)
            rewards[actor] = 1.0
        state["last"] = action
    state["actor"] = (actor + 1) % players
    if state["passes"] == players or not state["hands"].any():
        state["actor"] = -1
    elif state["turn_number"] == rules["max_turns"]:
        state["actor"] = -1
        state["truncated"] = 1
    else:
        state["turn_number"] += 1


def ends(rules: np.ndarray, states: np.ndarray, ended: np.ndarray) -> None:
    how = np.where(states["truncated"] == 1, TRUNCATED, TERMINATED)
    ended[:] = np.where(states["actor"] < 0, how, GOING_ON)


def settled(rules: np.ndarray, states: np.ndarray, settled: np.ndarray, due: np.ndarray) -> None:
    # Whoever was stopped by the limit would have got more.
    settled[:] = ((states["actor"] < 0) & (states["truncated"] == 0))[:, None]
    due[:] = 0.0


def standings(rules: np.ndarray, states: np.ndarray, places: np.ndarray) -> None:
    points = states["points"][:, : rules["num_players"][0]]
    # Whoever has more points comes before; equal numbers share a place.
    places[:, : points.shape[1]] = 1 + (points[:, None, :] > points[:, :, None]).sum(axis=2)


def counts(rules: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
    players = int(rules["num_players"][0])
    return {"turns": states["turn_number"].copy(), "cards_played": states["played"][:, :players].copy()}


def view(rules: np.ndarray, states: np.ndarray, seats: np.ndarray, views: np.ndarray) -> None:
    players = int(rules["num_players"][0])
    for b, seat in enumerate(seats.tolist()):
        order = [(seat + k) % players for k in range(players)]
        views[b]["hand"] = states[b]["hands"][seat]
        for name in ("points", "played"):
            views[b][name][:players] = states[b][name][order]
        views[b]["last"] = states[b]["last"]
        views[b]["turn_number"] = states[b]["turn_number"]
        views[b]["to_act"] = states[b]["actor"] == seat


@lru_cache
def _layout(players: int, max_turns: int, record: str) -> Layout:
    if record not in RECORDS:
        raise ValueError(f"record must be one of {', '.join(map(repr, RECORDS))}, got {record!r}")
    block = block_maker({"card": HAND * players, "seat": players, "number": 1})
    blocks = [
        block("hand", "card"),
        block("last", "card", ONE_HOT),
        block("points", "seat number", NUMBER, scale=HAND * players),
        block("played", "seat number", NUMBER, scale=HAND),
        block("turn_number", "number", NUMBER, scale=max_turns),
        block("to_act", "number", NUMBER),
    ]
    return Layout(blocks, VIEW)


def observation_layout(options: Options, record: str = "plain") -> Layout:
    return _layout(options.num_players, options.max_turns, record)


def Observer(rules: np.ndarray, views: np.ndarray, record: str = "plain") -> LayoutObserver:  # noqa: N802
    return LayoutObserver(_layout(int(rules["num_players"][0]), int(rules["max_turns"][0]), record), views)


def action_name(action: int, options: Options) -> str:
    return "pass" if action == num_actions(options) - 1 else f"play {action}"


def parse_action(text: str, options: Options) -> int:
    return [action_name(action, options) for action in range(num_actions(options))].index(text)


class RandomBot:
    """Take any legal action."""

    name = "random"

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        weights = np.stack([np.random.default_rng(int(seed)).random(legal.shape[1]) for seed in seeds])
        return np.where(legal > 0, weights, -1.0).argmax(axis=1)


class LowBot:
    """Play the lowest card that follows, else pass."""

    name = "low"

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        return legal.argmax(axis=1)


BOTS = {"random": RandomBot, "low": LowBot}


def make_bot(name: str, options: Options) -> Any:
    return BOTS[name]()
