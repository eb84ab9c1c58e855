"""Options and ways of playing that the tests draw from."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import strategies as st

from sleuth_env.sleuth.cards import Options
from tests.support.oracle import ACTIONS, NUMBERS, Oracle

PLAYER_COUNTS = (3, 4, 5, 6, 7)
SOME_TURNS = st.sampled_from([1, 2, 7, 25, 300])


@st.composite
def all_options(draw: st.DrawFn, max_turns: st.SearchStrategy[int] = SOME_TURNS) -> Options:
    """Draw any legal options; long games are rare enough to be played to the end."""
    n = draw(st.sampled_from(PLAYER_COUNTS))
    winners = draw(st.integers(1, n - 1))
    return Options(
        num_players=n,
        missing=draw(st.integers(1, 3)) if n <= 4 else 1,
        winners=winners,
        double_interrogation=draw(st.booleans()),
        super_sleuth=draw(st.booleans()),
        first_player=draw(st.sampled_from(["random", "seat_0"])),
        accuse=draw(st.sampled_from(["any_time", "any_time", "own_turn"])),
        offer_order=draw(st.sampled_from(["random", "clockwise"])),
        announce_result=draw(st.booleans()) if winners > 1 else True,
        last_survivor_wins=draw(st.booleans()),
        max_turns=draw(max_turns),
    )


# The place of all variants combined in the following; then come those of several missing gems.
ALL_COMBINED = 11


def variants(num_players: int) -> list[Options]:
    """Return every option by itself, and all variants combined, for a number of players."""
    changes: list[dict] = [
        {},
        {"winners": 2},
        {"winners": num_players - 1, "announce_result": False},
        {"double_interrogation": True},
        {"super_sleuth": True},
        {"first_player": "seat_0"},
        {"accuse": "own_turn"},
        {"accuse": "own_turn", "double_interrogation": True, "winners": 2},
        {"offer_order": "clockwise"},
        {"last_survivor_wins": True},
        {"max_turns": 3},
        {
            "winners": 2,
            "double_interrogation": True,
            "super_sleuth": True,
            "announce_result": False,
            "last_survivor_wins": True,
        },
    ]
    if num_players <= 4:
        changes += [
            {"missing": 2},
            {"missing": 3, "winners": 2},
            {"missing": 2, "double_interrogation": True, "super_sleuth": True, "winners": 2},
        ]
    return [Options(num_players=num_players, **change) for change in changes]


ALL_VARIANTS = [options for n in PLAYER_COUNTS for options in variants(n)]
# Every variant with three players. With more of them, the game without any, all of them combined, and
# those of several missing gems, which three and four players alone have.
QUICK_VARIANTS = [
    options for n in PLAYER_COUNTS for at, options in enumerate(variants(n)) if n == 3 or at == 0 or at >= ALL_COMBINED
]
# The same as `ALL_VARIANTS` for tests that take a second each, the others among the long tests.
EVERY_VARIANT = [
    options if options in QUICK_VARIANTS else pytest.param(options, marks=pytest.mark.slow) for options in ALL_VARIANTS
]
# The yes-or-no options and the number of missing gems in every combination, for three and four
# players.
ALL_COMBINATIONS = [
    Options(
        n,
        missing,
        winners,
        double,
        silent,
        accuse=accuse,
        announce_result=announce,
        last_survivor_wins=survivor,
        max_turns=12,
    )
    for n, missing, winners, double, silent, accuse, announce, survivor in product(
        (3, 4), (1, 2, 3), (1, 2), (False, True), (False, True), ("any_time", "own_turn"), (False, True), (False, True)
    )
    if announce or winners > 1
]


def option_name(options: Options) -> str:
    """Name options by what differs from the defaults, for the names of tests."""
    default = Options(num_players=options.num_players)
    changed = {name: value for name, value in vars(options).items() if value != getattr(default, name)}
    return "-".join([f"{options.num_players}p", *(f"{name}={value}" for name, value in changed.items())])


class Player:
    """Choose legal actions at random, with a taste.

    Args:
        accuse: how often an accusation is made where one may be made.
        final: how often a final question is asked instead of another action.
        exchange: how often cards are exchanged on a turn.
        insight: how often an accuser names a missing gem.
    """

    def __init__(self, accuse: float, final: float = 0.0, exchange: float = 0.05, insight: float = 0.2) -> None:
        self.accuse = accuse
        self.final = final
        self.exchange = exchange
        self.insight = insight

    def __call__(self, game: Oracle, chance: random.Random) -> int:
        """Return a legal action for the game's actor."""
        legal = game.legal()
        numbers = NUMBERS[game.n]
        if game.naming or game.phase == "must accuse" or chance.random() < self.accuse:
            return numbers["accuse", self._gem(game, chance)]
        if game.phase == "turn" and chance.random() < self.exchange:
            return numbers["exchange",]
        by_verb: dict[str, list[int]] = {}
        for number in sorted(legal):
            by_verb.setdefault(ACTIONS[game.n][number][0], []).append(number)
        if game.phase == "turn":
            return chance.choice(by_verb["final" if chance.random() < self.final else "ask"])
        may_pass = by_verb["pass"]
        return chance.choice(by_verb["ask"] if "ask" in by_verb and chance.random() < 0.8 else may_pass)

    def _gem(self, game: Oracle, chance: random.Random) -> str:
        if chance.random() < self.insight:
            return chance.choice(
                sorted(game.missing - game.naming) or [gem for gem in sorted(game.table | game.hands[0])]
            )
        return chance.choice(sorted(set().union(*game.hands, game.table, game.missing) - game.naming))


PATIENT = Player(accuse=0.0005, final=0.002, exchange=0.3)
LIVELY = Player(accuse=0.03, final=0.05, insight=0.3)
RASH = Player(accuse=0.3, final=0.3, insight=0.15)
KNOWING = Player(accuse=0.1, final=0.1, insight=0.95)
PLAYERS = {"patient": PATIENT, "lively": LIVELY, "rash": RASH, "knowing": KNOWING}
