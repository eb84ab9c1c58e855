"""An answer in words is taken only where it puts an action forward: not where it denies, doubts or asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth_env import AnswerError, holmes, read_answer, sleuth

GAMES: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "sleuth": (
        sleuth,
        sleuth.Options(3),
        (
            *("ask +1 red with red", "ask +2 red with red", "ask +2 opal with free", "final +1 blue-pair"),
            *("exchange", "accuse red-opal-pair", "accuse blue-pearl-cluster", "pass"),
        ),
    ),
    "holmes": (
        holmes,
        holmes.Options(4),
        (
            *("play train", "play clue on +1", "play clue on +2", "play suspicion on +3", "choose boat", "arrest +1"),
            *("arrest +2", "token pipe", "from +2", "draw", "escape", "pass"),
        ),
    ),
}


def read(game: str, text: str) -> str:
    module, options, names = GAMES[game]
    legal = [module.action_name(action, options) in names for action in range(module.num_actions(options))]
    return str(module.action_name(read_answer(text, options, legal), options))


# --- frames: what may be around any action, and what may not ---

ACCEPTED = (
    "{}",
    "  {}.",
    "{}!",
    "**{}**",
    "`{}`",
    '"{}"',
    "- {}",
    "1. {}",
    "> {}",
    "```\n{}\n```",
    "```{}```",
    "Action: {}",
    "**Action:** {}",
    "My action: {}.",
    "Answer = {}",
    "Action -> {}",
    "Final answer: {}",
    "## Final answer\n\n{}",
    "**My final answer is: {}**",
    "Move:\n\n{}",
    "Here is my action:\n```\n{}\n```",
    "My move is to {}.",
    "The best action is to {}",
    "The best legal move is: {}",
    "I choose {}",
    "I choose to {}.",
    "I'll choose: {}",
    "I'll go with {}",
    "I\u2019ll {}",
    "I will {}.",
    "I would {}",
    "I want to {}",
    "I'd like to {}",
    "I have decided to {}",
    "I am going to {}",
    "I think the best move is to {}.",
    "It is time to {}.",
    "Let me {}",
    "Let's {}!",
    "Okay, I'll {} now.",
    "Therefore, I {}.",
    "So {}",
    "Then I {}.",
    "Finally, {}",
    "Please {}",
    "{}, please.",
    "{} it is",
    "{} is my final answer.",
    "Let me think...\n{}",
    "I will {} because nobody else can have it.",
    "I {}, since my cards are bad.",
    "{}, which tells most.",
    "I {} to find out who has it.",
    "{}\nThat tells most.",
    "Action: {}\nReason: it is the cheapest.",
    "{}. Thank you!",
    "Nothing is certain yet, so I {}",
    "The sheet is full; therefore I {}.",
    "As nothing is left, I {}.",
    "It is not the time to talk. I {}.",
    "I could do much else. Should I wait? No. I {}.",
    "Nothing is certain\nAction: {}",
    "- one has none\n- two has one\n\nI {}.",
    "<think>I should never {}.</think>\n{}",
    "<think>\nIs it wrong to {}?\n</think>\n\nI choose {}.",
    "<answer>{}</answer>",
    "It is clear now. <action>I {}.</action>",
    "So \\boxed{{\\text{{{}}}}}",
    "$\\boxed{{{}}}$",
    '{{"action": "{}"}}',
    '{{"thought": "not sure?", "action": "I {}."}}',
    'My cards are bad. {{"move": "{}"}}',
    'Nothing is certain\n\n```json\n{{"action": "{}"}}\n```\nI hope this helps.',
    '```json\n{{"answer": {{"choice": "{}"}}}}\n```',
    '<answer>{{"action": "{}"}}</answer>',
    'My answer is {{"action": "{}"}}.',
    "{{'action': '{}'}}",
)
REFUSED = (
    "It is too early to {}.",
    "I will wait before I {}.",
    "I need more proof before I {}",
    "It is premature to {}",
    "It would be foolish to {}",
    "Nobody should {}",
    "Player +1 will probably {}",
    "Should I {}",
    '{{"action": "{}"}} is wrong',
    "{}?",
    "Shall I {}?",
    "Can I {}",
    "Will I {}",
    "{}? No.",
    "I would never {}",
    "I will not {}",
    "I'm not going to {}",
    "Let's not {}",
    "Do not {}!",
    "Don't {}",
    "Never {}",
    "Anything but {}",
    "Not: {}",
    "I refuse to {}",
    "I hesitate to {}",
    "I doubt that I should {}",
    "I am tempted to {}",
    "I could {}",
    "I might {}",
    "I cannot {}",
    "The last thing I want to do is {}",
    "The worst move is to {}",
    "Wrong answer: {}",
    "+2's action: {}",
    "My opponents will {}",
    "He said: {}",
    '+1 said: "I have it. {}"',
    "Without proof I {}",
    "Unless I am wrong, I {}",
    "If I knew more, I would {}",
    "If I knew more, then I would {}",
    "Suppose that I knew more. Then I would {}",
    "I'd {} if I knew more",
    "As soon as I know more, I {}",
    "Once it is certain I will {}",
    "I want proof, then I {}",
    "I need proof first. Then I {}.",
    "{} later",
    "I will {} next turn",
    "{} is wrong",
    "{} would be a mistake",
    "I {}, which would be foolish",
    "I {} because I should, but I will not",
    "~~{}~~",
    "!{}",
    "Action != {}",
    "[ ] {}",
    "\u274c {}",
    "I will never\n{}",
    "I will never ... {}",
    "I would do anything, e.g. {}",
    "Things to avoid:\n- {}",
    "Things to avoid:\n- talk\n- {}",
    "## Bad ideas\n\n{}",
    "What I would never do:\n\n```\n{}\n```",
    "Action: {}\nThat is wrong.",
    "Action: {}\nJust kidding.",
    "Action: {}. No, wait.",
    "Not <action>{}</action>",
    "<answer>never {}</answer>",
    "<answer>{}?</answer>",
    "\\boxed{{{}}} is not my answer",
    "<think>I will {}",
    "<think>I {}.</think>",
    '{{"action": "It is too early to {}"}}',
    '{{"action": "{}?"}}',
    '{{"action": "{}"}}\nThis is wrong.',
    '{{"action": "{}"}}. No, wait.',
    '```json\n{{"action": "{}"}}\n```\nOn second thoughts, no.',
    'The following is wrong: {{"action": "{}"}}',
    'Mistakes:\n```json\n{{"action": "{}"}}\n```',
)


def filled(frame: str, action: str) -> str:
    return frame.replace("{}", action).replace("{{", "{").replace("}}", "}")


@st.composite
def framed(draw: Any, frames: tuple[str, ...]) -> tuple[str, str, str]:
    """Return a game, a text and the action in it."""
    game = draw(st.sampled_from(sorted(GAMES)))
    action = draw(st.sampled_from(GAMES[game][2]))
    said = draw(st.sampled_from([action, action.capitalize(), action.upper()]))
    return game, filled(draw(st.sampled_from(frames)), said), action


@pytest.mark.parametrize("frame", ACCEPTED)
@pytest.mark.parametrize(("game", "action"), [("sleuth", "accuse red-opal-pair"), ("holmes", "play clue on +2")])
def test_what_puts_an_action_forward_is_taken(game: str, action: str, frame: str) -> None:
    assert read(game, filled(frame, action)) == action


@pytest.mark.parametrize("frame", REFUSED)
@pytest.mark.parametrize(("game", "action"), [("sleuth", "accuse red-opal-pair"), ("holmes", "play clue on +2")])
def test_what_denies_doubts_or_asks_is_refused_with_what_would_be_right(game: str, action: str, frame: str) -> None:
    with pytest.raises(AnswerError, match="Answer with one legal action alone") as caught:
        read(game, filled(frame, action))
    assert any(name in str(caught.value).rpartition("for instance")[2] for name in GAMES[game][2])


@given(framed(ACCEPTED))
@settings(deadline=None)
def test_any_action_comes_out_of_any_frame_that_puts_it_forward(example: tuple[str, str, str]) -> None:
    game, text, action = example
    assert read(game, text) == action


@given(framed(REFUSED))
@settings(deadline=None)
def test_no_action_comes_out_of_a_frame_that_does_not(example: tuple[str, str, str]) -> None:
    game, text, _ = example
    with pytest.raises(AnswerError):
        read(game, text)


@given(framed(REFUSED), framed(ACCEPTED))
@settings(deadline=None)
def test_thoughts_may_name_actions_in_any_manner(thought: tuple[str, str, str], answer: tuple[str, str, str]) -> None:
    game, text, action = answer
    if "think>" not in thought[1] + text:
        assert read(game, f"<think>\n{thought[1]}\n</think>\n{text}") == action


# --- one action ---


@pytest.mark.parametrize(
    ("game", "text", "action"),
    [
        ("sleuth", '{"action": "pass"}\nOn the other hand, my cards are bad.\n\n{"action": "exchange"}', "exchange"),
        ("sleuth", '{"action": "exchange"} is weak. I pass.', "pass"),
        ("sleuth", '{"action": "pass"}\nSo I pass.', "pass"),
        ("sleuth", '{"action": "pass", "answer": "I pass."}', "pass"),
        ("sleuth", "It would be foolish to accuse red-opal-pair. I pass.", "pass"),
        ("sleuth", "Should I accuse red-opal-pair? I exchange.", "exchange"),
        ("sleuth", "First I meant to pass. Now I exchange.", "exchange"),
        ("sleuth", "I ask opal, because it tells most.", "ask +2 opal with free"),
        ("sleuth", "My move: final +1 blue-pair", "final +1 blue-pair"),
        ("holmes", "I'll play train.", "play train"),
        ("holmes", "My play: train", "play train"),
        ("holmes", "I choose the boat", "choose boat"),
        ("holmes", "I choose arrest +1.", "arrest +1"),
        ("holmes", "Suspicion 3 it is", "play suspicion on +3"),
        ("holmes", "I'll take the token pipe, please", "token pipe"),
        ("holmes", "Playing train would be rash. Let me play clue on +1 to see if it helps.", "play clue on +1"),
        ("holmes", "+1 must hold a Villain, so I arrest +1.", "arrest +1"),
    ],
)
def test_the_last_sentence_decides(game: str, text: str, action: str) -> None:
    assert read(game, text) == action


@pytest.mark.parametrize(
    ("game", "text", "why"),
    [
        ("sleuth", "I exchange or pass", "names several actions: exchange, pass"),
        ("sleuth", "1. exchange\n2. pass", "names several actions: exchange, pass"),
        ("sleuth", '{"action": "exchange"}\nI pass.', "names several actions: exchange, pass"),
        ("sleuth", "Action: exchange.\nI see.\nPass.", "names several actions: exchange, pass"),
        ("sleuth", '{"action": "pass", "move": "exchange"}', "names several actions: pass, exchange"),
        ("sleuth", '{"action": "pass", "action": "exchange"}', "names several actions: pass, exchange"),
        ("sleuth", '{"action": "pass"}. This is wrong.', "'This is wrong.' after it does not say plainly that pass"),
        ("sleuth", "It is too early to accuse red-opal-pair.", "plainly that accuse red-opal-pair is meant"),
        ("sleuth", "opal?", "'opal[?]' is not an action"),
        ("sleuth", "I will never ask opal", "is not an action"),
        ("sleuth", "<think>pass", "does not go on after its reasoning"),
        ("holmes", "I'd rather not play train", "does not say plainly that play train is meant"),
        ("holmes", "If +1 has him, arrest +1", "does not say plainly that arrest [+]1 is meant"),
        ("holmes", "Player +3 may escape", "does not say plainly that escape is meant"),
        ("holmes", "play train on +1", "does not say plainly that play train is meant"),
        ("holmes", "play clue", "can mean several actions: play clue on [+]1, play clue on [+]2"),
        ("holmes", "not train", "is not an action"),
        ("holmes", "play boat on +1", "play boat on [+]1 is an action, but it is not legal now"),
    ],
)
def test_an_answer_that_is_refused_is_told_why(game: str, text: str, why: str) -> None:
    with pytest.raises(AnswerError, match=why):
        read(game, text)


def test_a_mere_number_may_be_that_of_a_player_or_of_a_line_and_means_nothing() -> None:
    module, options, _ = GAMES["holmes"]
    names = [module.action_name(action, options) for action in range(module.num_actions(options))]
    for choices in (["from +0", "from +1"], ["arrest +1", "arrest +2"]):
        legal = np.isin(names, choices)
        for text in ("1", "I choose 1", "Action: 1", '{"action": 1}'):
            with pytest.raises(AnswerError, match="is not an action"):
                read_answer(text, options, legal)
        assert names[read_answer("+1", options, legal)] == choices[choices[0] == "from +0"]


def test_of_names_that_share_a_word_the_one_that_fits_is_meant() -> None:
    module, options, _ = GAMES["holmes"]
    every = np.ones(module.num_actions(options), np.uint8)
    for text, action in (("I choose arrest +1", "arrest +1"), ("choose arrest", "choose arrest")):
        assert module.action_name(read_answer(text, options, every), options) == action


@pytest.mark.parametrize(
    "text",
    [
        *(
            "." * 99_999 + "x",
            "<answer>" * 12_000,
            "\\boxed{" * 14_000,
            "pass, " * 16_000,
            ", so" * 25_000,
            "\n" * 99_999,
        ),
        *(
            "- a\n" * 25_000,
            "-" * 100_000,
            "now " * 25_000 + "not pass",
            "a'" * 50_000,
            "```\n" * 25_000,
            "\ue0000\ue001",
        ),
    ],
    ids=lambda text: repr(text[:8]),
)
def test_a_long_or_strange_answer_is_refused(text: str) -> None:
    with pytest.raises(AnswerError):
        read("sleuth", text)
