"""What a seat knows in words and as data: complete, short enough, and nothing that it cannot know."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

from sleuth_env import holmes, sleuth
from sleuth_env.game import Game, kernels_of, load_game
from sleuth_env.matches.program import decide_line
from sleuth_env.matches.table import Table
from sleuth_env.words import grouped, known_facts, legal_lines, legal_names, most_tokens, rules_text, text_observation
from tests.support.holmes_substitution import substituted
from tests.support.replaying import Replay
from tests.support.strategies import LIVELY, PATIENT, RASH
from tests.support.substitution import History, play

MOST = 1500
VARIANTS: list[Any] = [
    sleuth.Options(4),
    sleuth.Options(4, missing=3, double_interrogation=True, last_survivor_wins=True),
    sleuth.Options(4, winners=3, announce_result=False),
    sleuth.Options(4, super_sleuth=True, accuse="own_turn"),
    sleuth.Options(3, missing=2, winners=2),
    sleuth.Options(5, winners=2),
    sleuth.Options(7),
    holmes.Options(4),
    holmes.Options(4, fast_play=True, must_arrest=True, guilty_hand="discarded"),
    holmes.Options(4, after_alibi="left_of_alibi", cases=2, new_case_location="city"),
    holmes.Options(3),
    holmes.Options(8),
]


def name_of(options: Any) -> str:
    default = type(options)(options.num_players)
    changed = [f"{name}={value}" for name, value in vars(options).items() if value != getattr(default, name)]
    return "-".join([f"{game_of(options).NAME}-{options.num_players}p", *changed])


def game_of(options: Any) -> Game:
    return load_game("holmes" if isinstance(options, holmes.Options) else "sleuth")


def decisions(options: Any, bot: str, seed: int, most: int = 100_000) -> Iterator[tuple[Any, np.ndarray]]:
    """Iterate over the views and the legal actions of all decisions of a game."""
    game = game_of(options)
    table = Table(game, options, 1, [game.make_bot(bot, options)], 0)
    table.deal([0], [seed])
    for _ in range(most):
        if table.finished[0]:
            return
        yield table.views(0)[0], table.legal(0)[0]
        table.play_round()


# --- complete ---


@pytest.mark.parametrize("options", VARIANTS, ids=name_of)
def test_views_that_differ_have_facts_and_words_that_differ(options: Any) -> None:
    game = game_of(options)
    views: dict[bytes, tuple[str, str]] = {}
    for view, _ in decisions(options, "cautious", 3, 120):
        views[view.tobytes()] = (
            json.dumps(known_facts(game, options, view)),
            text_observation(view, options),
        )
    assert len(views) > 30
    for told in zip(*views.values(), strict=True):
        assert len(set(told)) == len(views)


@pytest.mark.parametrize("options", [VARIANTS[0], VARIANTS[7]], ids=name_of)
def test_every_field_of_a_view_is_in_the_facts(options: Any) -> None:
    game = game_of(options)
    # What says nothing that is not said by other fields, or by the options.
    said = {"num_players", "missing", "told", "padding", "held"}
    # What seldom differs, or fits nothing else where it does.
    rare = {"missing_gems", "accusing", "accused", "place", "truncated", "tried", "standing", "first_target"}
    rare |= {"first_elements", "drawn", "player", "target", "card", "phase", "to_act", "last_escaped", "villain_tokens"}
    rare |= {"exchanges", "telegrams", "telegram_pool"}
    seen = [view.copy() for seed in (4, 5) for view in views_of_all(options, seed, 160)]
    np.random.default_rng(1).shuffle(seen)  # type: ignore[arg-type]
    found: set[str] = set()
    for one, other in pairwise(seen):
        for name in set(one.dtype.names) - said - found:
            changed = one.copy()
            changed[name] = other[name]
            # One that fits nothing else is refused.
            with suppress(ValueError):
                if known_facts(game, options, changed) != known_facts(game, options, one):
                    found.add(name)
    assert set(seen[0].dtype.names) - said - found - rare == set()


def views_of_all(options: Any, seed: int, most: int) -> Iterator[Any]:
    """Iterate over the views of all seats at every fourth decision of a game."""
    game = game_of(options)
    table = Table(game, options, 1, [game.make_bot("cautious", options)], 0)
    table.deal([0], [seed])
    for number in range(most):
        if number % 4 == 0:
            yield from (table.views(0, seat)[0] for seat in range(options.num_players))
        if not table.finished[0]:
            table.play_round()


@pytest.mark.parametrize("options", VARIANTS, ids=name_of)
def test_the_lines_of_legal_actions_say_all_of_them_and_no_other(options: Any) -> None:
    game = game_of(options)
    others = tuple(f"+{k}" for k in range(1, options.num_players))
    for _, legal in decisions(options, "random", 5, 30):
        names = legal_names(game, options, legal)
        nouns = dict(game.wording.NOUNS)  # type: ignore[attr-defined]
        read: list[str] = []
        for line in legal_lines(game, names)[1:]:
            noun, _, meaning = line.partition(": ")
            if noun == "PLAYER":
                nouns[noun] = meaning.removeprefix("one of ").rstrip(".").split(), ""
                assert set(nouns[noun][0]) <= {"+0", *others}
            elif noun not in nouns:
                read += expanded(line, nouns)
        assert sorted(read) == sorted(names)


def expanded(line: str, nouns: Any) -> list[str]:
    """Return the actions that a line means."""
    found = [""]
    for number, part in enumerate(line.replace("{", "|").replace("}", "|").split("|")):
        choices = part.split() if number % 2 else None
        words = [choices] if choices else [list(nouns[word][0]) if word in nouns else [word] for word in part.split()]
        for choice in words:
            found = [f"{before} {word}".strip() for before in found for word in choice]
    return found


def test_names_that_differ_in_two_places_are_no_pattern_unless_all_combinations_are_there() -> None:
    assert grouped(["a 1", "a 2", "b 1"]) == [[("a", "b"), ("1",)], [("a",), ("2",)]]


def test_the_rules_say_the_forms_of_the_actions() -> None:
    assert "ask +K QUESTION with CARD: " in rules_text(sleuth.Options())
    assert "arrest +K: " in rules_text(holmes.Options())


OTHER_VALUES: list[Any] = [
    sleuth.Options(4, missing=2),
    sleuth.Options(4, winners=2),
    sleuth.Options(4, double_interrogation=True),
    sleuth.Options(4, super_sleuth=True),
    sleuth.Options(4, first_player="seat_0"),
    sleuth.Options(4, accuse="own_turn"),
    sleuth.Options(4, offer_order="clockwise"),
    sleuth.Options(4, winners=2, announce_result=False),
    sleuth.Options(4, last_survivor_wins=True),
    sleuth.Options(4, max_turns=7),
    holmes.Options(4, cases=2),
    holmes.Options(4, fast_play=True),
    holmes.Options(4, new_case_location="city"),
    holmes.Options(4, after_alibi="left_of_alibi"),
    holmes.Options(4, must_arrest=True),
    holmes.Options(4, guilty_hand="discarded"),
    holmes.Options(4, reward="rank"),
    holmes.Options(4, reward="points"),
    holmes.Options(4, reward="case"),
    holmes.Options(4, max_turns=7),
]


def test_the_rules_are_those_of_the_options() -> None:
    by_options = {options: rules_text(options) for options in [sleuth.Options(4), holmes.Options(4), *OTHER_VALUES]}
    assert len(set(by_options.values())) == len(by_options)
    for options in (sleuth.Options(4), holmes.Options(4)):
        changed = [name_of(other) for other in OTHER_VALUES if type(other) is type(options)]
        for name in vars(options):
            assert name == "num_players" or any(f"-{name}=" in other for other in changed), name


# --- short enough ---


@pytest.mark.parametrize("options", [one for one in VARIANTS if one.num_players == 4], ids=name_of)
@pytest.mark.parametrize("bot", ["random", "cautious"])
def test_an_observation_of_four_players_is_short_enough(options: Any, bot: str) -> None:
    for seed in range(2):
        for view, legal in islice(decisions(options, bot, seed, 400), seed, None, 5):
            text = text_observation(view, options, legal)
            assert most_tokens(text) <= MOST, text


@pytest.mark.parametrize("options", VARIANTS[:4], ids=name_of)
def test_it_still_is_at_the_end_of_a_game_in_which_everything_is_asked(options: Any) -> None:
    for view, legal in islice(decisions_of_askers(options), 1500, None, 7):
        text = text_observation(view, options, legal)
        assert most_tokens(text) <= MOST, text


def decisions_of_askers(options: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """Iterate over a game of players who ask each player everything, and first what was asked least."""
    rules = sleuth.make_rules(options)
    kernels = kernels_of(sleuth)
    names = [sleuth.action_name(action, options) for action in range(sleuth.num_actions(options))]
    asks = sleuth.action_blocks(options)["ask"]
    states = sleuth.new_states(1)
    kernels.deal(rules, states, np.array([2], np.uint64))
    rng = np.random.default_rng(1)
    asked: Counter[tuple[int, str]] = Counter()
    taken = np.zeros(1, np.uint8)
    rewards = np.zeros((1, options.num_players))
    while (seat := int(states["actor"][0])) >= 0:
        view, legal = received(rules, options, states)
        yield view, legal
        actions = rng.permutation(np.flatnonzero(legal))
        questions = [action for action in actions if asks.start <= action < asks.stop]
        if questions:
            action = min(questions, key=lambda ask: asked[seat, question_of(names[ask])])
            asked[seat, question_of(names[action])] += 1
        else:
            # Whoever must accuse must.
            action = next((action for action in actions if names[action] in ("pass", "exchange")), actions[0])
        kernels.step(rules, states, np.array([action]), taken, rewards)


def question_of(name: str) -> str:
    """Return an action that asks without the card that pays for it."""
    return name.partition(" with ")[0]


# --- nothing that a seat cannot know ---


def received(rules: np.ndarray, options: Any, states: np.ndarray, seat: int | None = None) -> tuple[Any, np.ndarray]:
    """Return the view and the legal actions of a seat of a game, by default of whoever is to act."""
    game = game_of(options)
    seat = int(states["actor"][0]) if seat is None else seat
    views = np.zeros(1, game.VIEW)
    legal = np.zeros((1, game.num_actions(options)), np.uint8)
    # The kernels themselves: what has been changed is no sound game.
    kernels = kernels_of(game)
    kernels.view(rules, states, np.array([seat]), views)
    kernels.legal(rules, states, legal)
    return views[0], legal[0]


def told(options: Any, states: np.ndarray) -> tuple[str, str]:
    """Return all that a model and a program are told of a decision."""
    game = game_of(options)
    view, legal = received(game.make_rules(options), options, states)
    names = legal_names(game, options, legal)
    line = decide_line(game, options, 1, 2, int(states["actor"][0]), view, names, 3)
    return text_observation(view, options, legal), line


def told_in(history: History, viewer: int) -> list[tuple[str, str]]:
    return [told(history.options, states) for states in history.states if states["actor"][0] == viewer]


@pytest.mark.parametrize("options", VARIANTS[:7], ids=name_of)
def test_what_a_seat_of_sleuth_cannot_know_changes_no_byte(options: Any) -> None:
    changed: set[str] = set()
    for seed, player in enumerate([PATIENT, LIVELY, RASH]):
        history = play(options, seed, player).cut(60)
        viewer = seed % options.num_players
        replay = Replay(history, viewer, seed)
        assert told_in(replay.history, viewer) == told_in(replay.original, viewer)
        changed |= set(replay.changed())
    assert "hands" in changed


@pytest.mark.parametrize("options", VARIANTS[7:], ids=name_of)
def test_what_a_seat_of_holmes_cannot_know_changes_no_byte(options: Any) -> None:
    rng = np.random.default_rng(1)
    game = game_of(options)
    table = Table(game, options, 1, [game.make_bot("random", options)], 0)
    table.deal([0], [options.num_players])
    for _ in range(60):
        if table.finished[0]:
            break
        states = table.states.copy()
        changed = substituted(options, states, int(states["actor"][0]), rng)
        assert changed.tobytes() != states.tobytes()
        assert told(options, changed) == told(options, states)
        table.play_round()


def test_a_text_that_tells_of_other_hands_would_be_caught() -> None:
    options = holmes.Options(4)
    table = Table(game_of(options), options, 1)
    table.deal([0], [1])
    states = table.states.copy()
    other = (int(states["actor"][0]) + 1) % 4
    changed = substituted(options, states, int(states["actor"][0]), np.random.default_rng(1))
    rules = holmes.make_rules(options)
    texts = [text_observation(received(rules, options, game, other)[0], options) for game in (states, changed)]
    assert texts[0] != texts[1]
