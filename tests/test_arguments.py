"""What the words of the command line mean: options, numbers, ranges of steps, messages."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from sleuth_env import sleuth
from sleuth_env.checks import one_line
from sleuth_env.cli.arguments import (
    CommandError,
    check_writable,
    file_name,
    named_options,
    one_option_each,
    steps,
    whole,
)
from sleuth_env.cli.commands import parse
from sleuth_env.options import described, parse_option
from sleuth_env.sleuth import OptionError, Options

SEATS = ["random"] * 3
ANYWHERE = [
    ["match", "--options", "winners=2", "missing=2", *SEATS, "--seed", "3"],
    ["match", "random", "--options", "winners=2", "missing=2", "random", "random", "--seed", "3"],
    ["match", *SEATS, "--options", "winners=2", "missing=2", "--seed", "3"],
    ["match", *SEATS, "--seed", "3", "--options", "winners=2", "--options", "missing=2"],
    ["match", "--options=winners=2", "random", "--options", "missing=2", "random", "random", "--seed", "3"],
    ["match", "--options=winners=2", "missing=2", *SEATS, "--seed", "3"],
    ["--options", "winners=2", "missing=2", "match", *SEATS, "--seed", "3"],
]


@pytest.mark.parametrize("words", ANYWHERE, ids=" ".join)
def test_options_may_stand_anywhere_and_add_up(words: list[str]) -> None:
    args = parse(words)
    assert (args.seats, args.options, args.seed) == (SEATS, ["winners=2", "missing=2"], 3)


@pytest.mark.parametrize(
    "words",
    [["match", *SEATS], ["replay", "a=b"], ["match", "--", "--options", "a=b"], ["match", "--options"], []],
    ids=" ".join,
)
def test_words_that_are_no_options_stay_where_they_are(words: list[str]) -> None:
    assert list(one_option_each(words)) == words


def test_the_same_option_twice_is_refused_even_with_the_same_value() -> None:
    with pytest.raises(CommandError, match="option winners is given twice"):
        named_options(sleuth, ["winners=2", "missing=2", "winners=2"])


@pytest.mark.parametrize("command", ["match", "evaluate", "play"])
def test_the_help_describes_every_option_that_the_command_does_not_settle(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse([command, "--help"])
    listed = capsys.readouterr().out.partition("options of the game, each with its default:\n")[2]
    words = " ".join(listed.split())
    for about in described(Options):
        entry = f"{about.name}={about.default} {about.meaning}: {about.values}"
        assert (entry in words) == (about.name != "num_players" or command == "evaluate")


VALUES = {about.name: about.values for about in described(Options)}
CHOICES = [
    (name, text.split(";")[0].split(", ")) for name, text in VALUES.items() if ", " in text and not text[0].isdigit()
]


@pytest.mark.parametrize(("name", "values"), CHOICES)
def test_the_values_in_the_help_are_the_legal_ones(name: str, values: list[str]) -> None:
    more = {"winners": 2} if name == "announce_result" else {}
    for value in values:
        assert str(getattr(Options(**{name: parse_option(Options, name, value), **more}), name)) == value
    with pytest.raises(OptionError) as refused:
        Options(**{name: "watson", **more})
    assert sorted(values) == sorted(
        str(refused.value).partition("one of ")[2].partition(", got")[0].replace("'", "").split(", ")
    )


@pytest.mark.parametrize(
    ("name", "least", "most"), [("num_players", 3, 7), ("missing", 1, 3), ("winners", 1, 3), ("max_turns", 1, None)]
)
def test_the_numbers_in_the_help_are_the_legal_ones(name: str, least: int, most: int | None) -> None:
    assert VALUES[name].startswith(str(least))
    assert most is None or name == "winners" or str(most) in VALUES[name]
    Options(**{name: least})
    for wrong in [least - 1] if most is None else [least - 1, most + 1]:
        with pytest.raises(OptionError, match=f"got {wrong}"):
            Options(**{name: wrong})


@pytest.mark.parametrize(
    "text",
    ["0", "8", "", " 5", "+5", "5_0", "5.0", "1e1", "0x5", "٣", "-" + "9" * 5000, "9" * 5000],
    ids=lambda text: text[:9],
)
def test_what_is_no_number_in_range_is_refused_by_a_short_message(text: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        whole(1, 7)(text)
    assert str(error.value) == f"must be a whole number from 1 to 7, got {text[:40]!r}"


@pytest.mark.parametrize(
    ("text", "ends"),
    [("5", (5, 5)), ("3:5", (3, 5)), (":5", (1, 5)), ("3:", (3, None)), (":", (1, None)), ("4:4", (4, 4))],
)
def test_a_range_of_steps_may_lack_either_end(text: str, ends: tuple[int, int | None]) -> None:
    assert steps(text) == ends


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, f"steps are counted from 1, got '{text}'") for text in ("0", "0:0", "0:5", "5:0", ":0", "0:")],
        ("5:2", "FROM must not be after TO, got '5:2'"),
        *[
            (text, "must be a number or FROM:TO, such as 5, 10:20, :20, 10:, got ")
            for text in ("", "::", "1:2:3", "-1", "1.5", "a:b", "٣", "9" * 5000)
        ],
    ],
    ids=lambda text: text[:9],
)
def test_a_range_that_means_no_steps_is_refused(text: str, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        steps(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_what_cannot_be_the_name_of_a_file_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="must be the name of a file"):
        file_name(text)


def test_whether_a_file_can_be_written_is_known_before(tmp_path: Path) -> None:
    for name in (None, "-", str(tmp_path / "new.json"), "/dev/full"):
        check_writable(name)
    for name, why in (
        (str(tmp_path), "it is a folder"),
        (f"{tmp_path}/no/file", "its folder does not exist"),
        (f"{__file__}/file", "what should be its folder is none"),
        ("x" * 5000, "File name too long"),
    ):
        with pytest.raises(CommandError, match=f"cannot be written: {why}"):
            check_writable(name)
    assert os.listdir(tmp_path) == []


def test_a_message_is_one_line_of_printable_characters_without_endless_words() -> None:
    assert one_line("no bot\n 'a\x1b[2J' in\t\udcff") == "no bot 'a\\x1b[2J' in \\udcff"
    assert one_line(f"{'x' * 5000} is missing") == f"{'x' * 200}... is missing"
