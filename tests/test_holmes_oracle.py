"""The oracle of the second game: the worked cases of its rules, its invariants, and what games look like."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from sleuth_env.holmes.cards import Options
from tests.support.holmes_cases import Case, problems, read_cases
from tests.support.holmes_oracle import CARDS, DATA, INTERRUPTS, LOCATIONS, SAY_POINTS, TELEGRAMS, Oracle, category
from tests.support.holmes_positions import random_position

CASES = read_cases()
PLAYERS = range(3, 9)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"cases": 1},
    {"cases": 2, "reward": "case"},
    {"fast_play": True},
    {"fast_play": True, "after_alibi": "left_of_alibi", "must_arrest": True},
    {"new_case_location": "city", "after_alibi": "left_of_alibi"},
    {"must_arrest": True, "guilty_hand": "discarded", "reward": "rank"},
    {"reward": "points", "max_turns": 60},
    {"reward": "case", "max_turns": 90},
]


class OraclePlayer:
    """Plays worked cases by the oracle."""

    game: Oracle

    def set_up(self, options: Mapping[str, Any], position: Mapping[str, Any]) -> None:
        self.game = Oracle.set_up(Options(**options), position)

    def legal(self) -> Sequence[str]:
        return sorted(self.game.legal())

    def act(self, text: str) -> None:
        assert self.game.act(text)

    def reveal(self) -> Mapping[str, Any]:
        return self.game.reveal()

    def rewards(self) -> Sequence[float]:
        return self.game.pay

    def ended(self) -> bool:
        return self.game.phase == "finished"

    def truncated(self) -> bool:
        return self.game.truncated

    def total(self) -> int | None:
        return self.game.total


def test_there_are_seventy_worked_cases() -> None:
    assert [case.number for case in CASES] == list(range(1, 71))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number:02}")
def test_a_worked_case_comes_out_as_it_is_written(case: Case) -> None:
    assert problems(case, OraclePlayer()) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number:02}")
def test_a_position_that_is_set_up_is_revealed_as_it_was_given(case: Case) -> None:
    game = Oracle.set_up(Options(**case.options), case.position)
    told = game.reveal()
    again = Oracle.set_up(Options(**case.options), told).reveal()
    assert again == told


# --- random games ---


def played(options: Options, seed: int, knowing: bool = True) -> Iterator[Oracle]:
    """Play a random game and stop after every action, and before the first."""
    chance = random.Random(seed)
    game = Oracle(options, seed, knowing)
    yield game
    while game.phase != "finished":
        assert game.act(chance.choice(game.choices))
        yield game


def faults(game: Oracle) -> Iterator[str]:
    """Iterate over what must never be."""
    told = game.reveal()
    yield from card_faults(told)
    yield from token_faults(told)
    if game.phase != "finished":
        yield from decision_faults(game, told)


def card_faults(told: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over what is wrong with the cards."""
    cards = Counter([told["current"], *told["aside"], *told["draw_pile"], *told["discards"]])
    cards.update(card for card in (told["in_play"], told["drawn"]) if card)
    for hand in told["hands"].values():
        cards.update(hand)
    if cards != {title: entry["copies"] for title, entry in CARDS.items()}:
        yield "cards are not conserved"
    if (told["current"] == "afoot") == (told["aside"] == ["afoot"]):
        yield "afoot is elsewhere"
    if category(told["current"]) in ("i-say", "villain") or told["current"] == "mastermind":
        yield "the Current card cannot be one"
    if category(told["current"]) in LOCATIONS and category(told["current"]) != told["location"]:
        yield "the marker is wrong"


def decision_faults(game: Oracle, told: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over what is wrong with a decision."""
    if len(game.choices) < (1 if game.phase == "turn" else 2) or len(set(game.choices)) < len(game.choices):
        yield "nothing to decide"
    if any("last-bow" in taken["books"] for taken in told["tokens"].values()):
        yield "last-bow does not end the game"
    if game.phase == "turn":
        if told["in_play"] or told["drawn"] or told["set_down"] or told["tried"] or told["card"]:
            yield "something is left of the last turn"
        if any(set(hand) <= set(INTERRUPTS) for hand in told["hands"].values()):
            yield "a hand is empty"
        if game.actor != game.turn:
            yield "somebody else decides"


def token_faults(told: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over what is wrong with the tokens."""
    places = [told["pools"], *told["tokens"].values()]
    for kind, names in (
        ("books", [book["book"] for book in DATA["books"]]),
        ("villains", [token["title"] for token in DATA["villain_tokens"]]),
        ("telegrams", list(TELEGRAMS)),
    ):
        if sorted(name for place in places for name in place[kind]) != sorted(names):
            yield f"{kind} are not conserved"
    for kind, points in SAY_POINTS.items():
        lying = [taken["say"][kind] for taken in told["tokens"].values() if kind in taken["say"]]
        if sorted([*told["pools"]["say"][kind], *lying]) != sorted(points):
            yield f"the I Say tokens of the {kind} are not conserved"


def sheet_faults(game: Oracle) -> Iterator[str]:
    """Iterate over bounds of a sheet that the truth breaks."""
    told = game.reveal()
    for viewer in game.seats:
        sheet = game.knowledge.sheets[viewer]
        if (sheet.least > sheet.most).any() or (sheet.least < 0).any():
            yield f"the sheet of player {viewer} contradicts itself"
        holders = [Counter(game.hands[seat]) for seat in game.opponents(viewer)] + [Counter(told["draw_pile"])]
        if game.drawn and game.turn != viewer:
            holders[-1][game.drawn] += 1
        for row, (cards, bounds) in enumerate(zip(holders, game.sheet(viewer).values(), strict=True)):
            if sheet.sizes[row] != cards.total():
                yield f"player {viewer} counts {sheet.sizes[row]} cards of {cards.total()} in row {row}"
            for title, (least, most) in bounds.items():
                if not least <= cards[title] <= most:
                    yield f"player {viewer}, row {row}: {least} to {most} {title}, but {cards[title]} are there"


@pytest.mark.parametrize("named", VARIANTS, ids=str)
@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_invariants_hold_and_the_sheets_are_sound(num_players: int, named: dict[str, Any]) -> None:
    options = Options(num_players, **named)
    paid = [0.0] * num_players
    for step, game in enumerate(played(options, seed=num_players)):
        assert list(faults(game)) == []
        if step % 7 == 0 or game.phase in ("drawn", "hand_on", "verdict", "impromptu"):
            assert list(sheet_faults(game)) == []
        assert abs(sum(game.pay)) < 1e-9
        assert game.phase == "finished" or not any(game.pay) or options.reward == "case"
        paid = [before + now for before, now in zip(paid, game.pay, strict=True)]
    assert any(paid) or game.truncated or options.reward == "points"
    assert game.truncated == (game.turn_number == options.max_turns and not game._is_over())
    assert game.winners()


def test_everything_that_can_happen_happens() -> None:
    phases: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    played_titles = set()
    for seed in range(20):
        for game in played(Options(3 + 5 * (seed % 2), fast_play=seed % 4 == 0), seed, knowing=False):
            phases[game.phase] += 1
        kinds.update(event.kind for event in game.events)
        played_titles |= {event.title for event in game.events if event.kind in ("played", "countered")}
    assert set(phases) == {
        *("turn", "second", "drawn", "token", "respond", "hand_on", "fog", "give", "show", "discard"),
        *("source", "verdict", "impromptu", "escape", "finished"),
    }
    assert set(kinds) == {
        *("played", "drew", "countered", "impromptu", "innocent", "arrested", "escaped", "discarded"),
        *("token", "telegram"),
    }
    assert played_titles == {title for title in CARDS if category(title) != "villain"}


# --- what to expect ---

# Means over 333 random games, each with the half-width of its 99 % interval.
EXPECTED = {
    3: {
        "turns a case": (53.0, 2.4),
        "closed by arrest": (0.774, 0.024),
        "Grand Total": (34.3, 1.3),
        "cases": (5.84, 0.29),
        "turns": (309, 23),
        "decisions": (429, 33),
        "winner's points": (16.2, 0.9),
        "hand at a turn": (6.40, 0.15),
        "without a Suitable card": (0.523, 0.011),
    },
    4: {
        "turns a case": (48.6, 2.2),
        "closed by arrest": (0.841, 0.021),
        "Grand Total": (39.0, 1.0),
        "cases": (6.22, 0.22),
        "turns": (302, 19),
        "decisions": (442, 29),
        "winner's points": (15.8, 0.7),
        "hand at a turn": (5.87, 0.09),
        "without a Suitable card": (0.456, 0.010),
    },
    5: {
        "turns a case": (47.0, 2.2),
        "closed by arrest": (0.848, 0.019),
        "Grand Total": (47.8, 0.9),
        "cases": (6.93, 0.17),
        "turns": (326, 20),
        "decisions": (496, 32),
        "winner's points": (16.1, 0.6),
        "hand at a turn": (5.67, 0.06),
        "without a Suitable card": (0.408, 0.008),
    },
    6: {
        "turns a case": (52.9, 2.2),
        "closed by arrest": (0.830, 0.020),
        "Grand Total": (57.4, 0.8),
        "cases": (7.22, 0.17),
        "turns": (382, 20),
        "decisions": (611, 33),
        "winner's points": (15.8, 0.6),
        "hand at a turn": (5.47, 0.04),
        "without a Suitable card": (0.403, 0.007),
    },
    7: {
        "turns a case": (56.0, 2.2),
        "closed by arrest": (0.828, 0.020),
        "Grand Total": (67.9, 0.8),
        "cases": (7.24, 0.17),
        "turns": (406, 20),
        "decisions": (673, 34),
        "winner's points": (15.1, 0.5),
        "hand at a turn": (5.39, 0.04),
        "without a Suitable card": (0.383, 0.005),
    },
    8: {
        "turns a case": (58.8, 2.2),
        "closed by arrest": (0.830, 0.020),
        "Grand Total": (78.6, 0.8),
        "cases": (7.23, 0.18),
        "turns": (425, 21),
        "decisions": (761, 38),
        "winner's points": (14.8, 0.5),
        "hand at a turn": (5.42, 0.04),
        "without a Suitable card": (0.371, 0.005),
    },
}
GAMES = 333


def means(num_players: int, num_games: int) -> dict[str, float]:
    """Return what random games are like on the average."""
    seen: dict[str, list[float]] = {name: [] for name in EXPECTED[num_players]}
    for number in range(num_games):
        case_number, began = 1, 1
        decisions = -1
        for game in played(Options(num_players), seed=1000 * num_players + number, knowing=False):
            decisions += 1
            if game.phase == "turn":
                seen["hand at a turn"].append(len(game.hands[game.turn]))
                seen["without a Suitable card"].append("draw" in game.choices)
            if game.case_number > case_number or game.phase == "finished":
                # The turn that follows a case's last one is the first of the next case.
                after = game.turn_number + (game.phase == "finished")
                seen["turns a case"].append(after - began)
                case_number, began = game.case_number, after
                closing = [event.kind for event in game.events if event.kind in ("arrested", "escaped")][-1]
                seen["closed by arrest"].append(closing == "arrested")
                if closing == "arrested":
                    seen["Grand Total"].append(game.total)
        seen["cases"].append(game.case_number)
        seen["turns"].append(game.turn_number)
        seen["decisions"].append(decisions)
        seen["winner's points"].append(max(game.points()))
    return {name: sum(numbers) / len(numbers) for name, numbers in seen.items()}


def surprises(num_players: int, num_games: int) -> dict[str, tuple[float, float]]:
    """Return those means that are too far from what is expected, and that."""
    wide = 2 * max(1.0, GAMES / num_games) ** 0.5
    reached = means(num_players, num_games)
    expected = EXPECTED[num_players]
    return {
        name: (reached[name], mean)
        for name, (mean, half_width) in expected.items()
        if abs(reached[name] - mean) > wide * half_width
    }


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_few_random_games_are_as_expected(num_players: int) -> None:
    assert surprises(num_players, num_games=10) == {}


@pytest.mark.slow
@pytest.mark.parametrize("num_players", PLAYERS)
def test_random_games_are_as_expected(num_players: int) -> None:
    assert surprises(num_players, num_games=GAMES) == {}


# --- positions in which rare things are frequent ---


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_invariants_hold_from_any_position_on(num_players: int) -> None:
    for seed in range(12):
        chance = random.Random(f"{num_players} {seed}")
        options = Options(num_players, **chance.choice(VARIANTS))
        position = random_position(chance, options)
        game = Oracle.set_up(options, position, seed)
        assert {name: game.reveal()[name] for name in position} == position
        for _ in range(40):
            assert list(faults(game)) == []
            assert list(sheet_faults(game)) == []
            if game.phase == "finished":
                break
            assert game.act(chance.choice(game.choices))
