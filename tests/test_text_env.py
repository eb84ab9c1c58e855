"""Games in text: answers in words are read without guessing, and whole games are played by a model that only reads."""

from __future__ import annotations

import copy
import pickle
import random
import re
from typing import Any

import numpy as np
import pytest

from sleuth_env import AnswerError, TextEnv, TextStep, holmes, read_answer, sleuth
from sleuth_env.sleuth.notation import action_names
from tests.support import follow

OPTIONS = sleuth.Options(num_players=3)
NAMES = (
    "ask +1 red with red",
    "ask +2 red with red",
    "ask +2 opal with free",
    "exchange",
    "accuse red-opal-pair",
    "pass",
)
LEGAL = [name in NAMES for name in action_names(OPTIONS)]


def read(text: Any) -> str:
    return sleuth.action_name(read_answer(text, OPTIONS, LEGAL), OPTIONS)


# --- answers ---


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("exchange", "exchange"),
        ("  Exchange. ", "exchange"),
        ("**EXCHANGE**", "exchange"),
        ("I choose to ask +2 opal with free.", "ask +2 opal with free"),
        ("I'll choose: ASK +2, opal, with free!", "ask +2 opal with free"),
        ("Action: ask +2 opal with free\nThat tells most.", "ask +2 opal with free"),
        ('{"action": "ask +2 opal with free"}', "ask +2 opal with free"),
        ('I think {"a": 1} and so\n```json\n{"thought": "pass?", "action": "Pass"}\n```', "pass"),
        ("```\naccuse red_opal_pair\n```", "accuse red-opal-pair"),
        ("I could exchange, or pass.\n<answer>ask +1 red with red</answer>", "ask +1 red with red"),
        ("So \\boxed{\\text{exchange}}", "exchange"),
        ("Exchange is weak.\nFinal answer: pass", "pass"),
        ("accuse red\u2011opal\u2011pair", "accuse red-opal-pair"),
        ("opal", "ask +2 opal with free"),
        ("Nothing is proved yet, so I pass", "pass"),
        ("First I meant to exchange.\nNow I rather pass.", "pass"),
    ],
)
def test_an_answer_is_read_whatever_is_around_it(text: str, action: str) -> None:
    assert read(text) == action


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the answer is empty"),
        ("red", "can mean several actions: ask [+]1 red with red, ask [+]2 red with red"),
        ("exchange or pass", "names several actions: exchange, pass"),
        ("I would never accuse red-opal-pair", "does not say plainly that accuse red-opal-pair is meant"),
        ("Should I pass?", "does not say plainly that pass is meant"),
        ("I do not know", "'I do not know' is not an action"),
        ('{"action": "ask +1 blue with blue"}', "ask [+]1 blue with blue is an action, but it is not legal now"),
        (None, "an answer must be a text, got None"),
        (17, "an answer must be a text, got 17"),
    ],
)
def test_what_means_no_action_or_several_is_refused_with_what_would_be_right(text: Any, why: str) -> None:
    with pytest.raises(AnswerError, match=why) as caught:
        read(text)
    assert any(name in str(caught.value) for name in NAMES)


@pytest.mark.parametrize("text", ["red-opal-pair", "+1 accuse", "I suspect the red-opal-pair"])
def test_an_accusation_is_meant_by_nothing_but_its_name(text: str) -> None:
    with pytest.raises(AnswerError):
        read(text)


def test_the_view_says_why_a_question_cannot_be_asked() -> None:
    env = TextEnv("sleuth", num_players=3)
    first = env.reset(seed=1)
    card = next(name for name in ("red", "blue", "opal-pair") if f" with {name}\n" not in first.text)
    step = env.step(f"ask +1 {card} with {card}")
    assert step.agent == first.agent
    assert f"ask +1 {card} with {card} is an action, but it is not legal now. None of your search cards" in step.refused


@pytest.mark.parametrize("text", ["{" * 5000, '{"action":' * 3000, "pass " * 30000, "\0\ud800", "```" * 999])
def test_strange_answers_are_refused_too(text: str) -> None:
    with pytest.raises(AnswerError):
        read(text)


def test_every_action_is_read_as_it_is_written() -> None:
    for game, options in ((sleuth, OPTIONS), (holmes, holmes.Options(4))):
        every = np.ones(game.num_actions(options), np.uint8)
        for action in range(0, len(every), 7):
            name = game.action_name(action, options)
            for text in (name, name.upper(), f"I choose {name}.", f"<action>{name}</action>"):
                assert read_answer(text, options, every) == action


# --- a model that only reads ---


def model(text: str, chance: random.Random) -> str:
    """Choose an action from the text alone, as a language model would: one line, one word of each choice."""
    lines = text.splitlines()
    lines = lines[next(k for k, line in enumerate(lines) if line.startswith("Legal actions")) + 1 :]
    # What a capital word stands for; the first word of it is one.
    nouns = {"QUESTION": ["opal", "blue-pair"], "GEM": ["green-pearl-cluster"]}
    for noun, meaning in (line.split(": ") for line in lines if ": " in line):
        nouns.setdefault(noun, re.findall(r"[+]\d", meaning) or [meaning.partition(",")[0]])
    lines = [line for line in lines if ": " not in line]
    line = chance.choice([line for line in lines if not line.startswith(("accuse", "final"))] or lines)
    line = re.sub(r"\{([^}]*)\}", lambda match: chance.choice(match[1].split()), line)
    line = re.sub(r"[A-Z]+", lambda match: chance.choice(nouns[match[0]]), line)
    return chance.choice([line, f"I choose {line}.", f'{{"action": "{line}"}}', f"Well...\n**{line.upper()}**"])


def play(env: TextEnv, seed: int | None) -> list[TextStep]:
    chance = random.Random(seed or 0)
    steps = [env.reset(seed=seed)]
    while not steps[-1].done:
        steps.append(env.step(model(steps[-1].text, chance)))
        assert steps[-1].refused == ""
    return steps


@pytest.mark.parametrize("name", ["sleuth", "holmes"])
def test_a_model_in_every_seat_plays_to_the_end(name: str) -> None:
    env = TextEnv(name, num_players=3, max_turns=25)
    steps = play(env, 3)
    assert {step.agent for step in steps} == {"player_0", "player_1", "player_2"}
    total = [sum(step.rewards[agent] for step in steps) for agent in env.agents]
    assert total == pytest.approx(env.table.returns[0].tolist())
    assert "Legal actions" not in steps[-1].text
    assert [step.text for step in play(env, 3)] == [step.text for step in steps]


@pytest.mark.parametrize("name", ["sleuth", "holmes"])
def test_a_model_plays_against_bots(name: str) -> None:
    env = TextEnv(name, opponents="cautious", seat=2, num_players=4, max_turns=12)
    steps = play(env, 1)
    assert {step.agent for step in steps} == {"player_2"}
    assert steps[-1].done


def test_a_game_without_words_can_be_played_in_text() -> None:
    env = TextEnv(follow, opponents="low", num_players=3)  # type: ignore[arg-type]
    step = env.reset(seed=1)
    while not step.done:
        step = env.step("pass")
    assert step.terminated


def test_answers_that_mean_nothing_end_the_game_and_cost_only_whoever_gave_them() -> None:
    env = TextEnv("sleuth", num_players=3)
    first = env.reset(seed=1)
    before = env.table.states.tobytes()
    second = env.step("hm")
    assert (second.agent, second.done) == (first.agent, False)
    assert second.text == f"{second.refused}.\n{first.text}"
    env.step("hm")
    last = env.step("hm")
    assert env.table.states.tobytes() == before
    assert last.terminated
    assert last.rewards == {agent: -1.0 if agent == first.agent else 0.0 for agent in env.agents}
    with pytest.raises(ValueError, match="the game is over"):
        env.step("exchange")


def test_seeds_settle_games_and_those_that_follow() -> None:
    env = TextEnv("sleuth", num_players=3)
    with pytest.raises(ValueError, match="call reset"):
        env.step("pass")
    texts = [env.reset(seed=5).text, env.reset().text]
    assert texts[0] != texts[1]
    assert [env.reset(seed=5).text, env.reset().text] == texts


@pytest.mark.parametrize("answer", ["exchange", '{"action": "exchange"}'])
def test_an_answer_may_be_followed_by_much_empty_space(answer: str) -> None:
    options = sleuth.Options(num_players=3)
    legal = np.ones(sleuth.num_actions(options))
    for space in ("\n" * 200_000, " " * 200_000):
        assert read_answer(answer + space, options, legal) == sleuth.parse_action("exchange", options)


@pytest.mark.parametrize("name", ["sleuth", "holmes"])
def test_copies_and_pickles_go_on_as_it_does(name: str) -> None:
    env = TextEnv(name, opponents="random", num_players=3, max_turns=25)
    env.reset(seed=5)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    texts = [step.text for step in play(env, None)]
    for other in copies:
        assert [step.text for step in play(other, None)] == texts


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"game": "chess"}, "there is no game"),
        ({"opponents": ["sheet"]}, "opponents must be one for all, or a list of 3"),
        ({"seat": 4}, "seat must be an integer from 0 to 3"),
        ({"colour": True}, "colour"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        TextEnv(**given)
