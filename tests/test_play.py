"""A person at the table: what they type and are shown, and how a game in the terminal ends."""

from __future__ import annotations

import re
import shlex
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sleuth_env import load_policy, save_policy, sleuth, sleuth_v0
from sleuth_env.cli.arguments import joined
from sleuth_env.cli.commands import main
from sleuth_env.cli.screen import in_columns
from sleuth_env.cli.session import COMMANDS, Begun, QuitError, Session
from sleuth_env.game import MissingPartError, Telling, has_part
from sleuth_env.matches.table import LEARNER_SEAT
from sleuth_env.sleuth import Options, draw_belief, make_bot
from sleuth_env.sleuth.notation import action_names, gem_names
from sleuth_env.sleuth.review import can_prove, first_proof, known_missing, view_of
from sleuth_env.sleuth.state import FINISHED
from tests.support.situation import Situation
from tests.support.terminal import played_game, said, scripted, type_in

VARIANTS = [
    Options(num_players=3),
    Options(num_players=4, missing=2, double_interrogation=True),
    Options(num_players=5, winners=3, super_sleuth=True),
    Options(num_players=4, winners=2, announce_result=False, offer_order="clockwise"),
    Options(num_players=3, missing=3, accuse="own_turn", last_survivor_wins=True),
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_person_can_play_every_variant_to_its_end(options: Options, seed: int) -> None:
    shown: list[str] = []
    bots = [make_bot("cautious", options) for _ in range(options.num_players - 1)]
    session = Session(sleuth, options, bots, seed, seed, scripted(seed), shown.append, confirm=False)
    session.run()
    assert session.table.finished[0]
    assert shown[-1] in ("You win!", "You have not won.", "You take place 2.", "You take place 3.")
    missing = ", ".join(gem_names(session.table.states[0]["missing_gems"]))
    assert f"Missing: {missing}." in shown
    record = sleuth.parse_game(session.text)
    assert record.last_state == session.table.states[0]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_person_is_shown_nothing_that_depends_on_what_is_hidden(options: Options) -> None:
    """Exchange hidden gems for others that answer alike so far: no shown byte may change."""
    bots = [make_bot("cautious", options) for _ in range(options.num_players - 1)]
    shown: list[list[str]] = [[], []]
    sessions = [Session(sleuth, options, bots, 0, 3, scripted(5, accuse=0), texts.append) for texts in shown]
    swap_missing(sessions[1].table.states)
    for session in sessions:
        session._show_sheet()
        for _ in range(12):
            if session.table.waiting[0] or session.table.finished[0]:
                break
            # The bots would see their other hands, so both games follow the public line: an
            # exchange changes no knowledge.
            seats = session.table.seats.copy()
            session.table.seats[:] = LEARNER_SEAT
            session.table.step(0, sleuth.parse_action("exchange", options))
            session.table.seats[:] = seats
            session._tell_last()
        session._announce_decision()
        session._show_sheet()
        session._show_odds()
    assert shown[0] == shown[1]


def swap_missing(states: np.ndarray) -> None:
    """Exchange one missing gem with one of the hand of seat 1."""
    missing = int(states["missing_gems"][0])
    held = int(states["hands"][0, 1])
    out = missing & -missing
    back = held & -held
    states["missing_gems"][0] = missing ^ out ^ back
    states["hands"][0, 1] = held ^ back ^ out


def test_a_typed_game_shows_hints_lists_and_the_sheet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    saved = tmp_path / "mine.txt"
    type_in(
        monkeypatch,
        f"help\nsheet\n7\nlegal blue\n1\nacuse blue-opal-pair\nACCUSE  Blue-Opal\nsave\nsave {saved}\nquit\n",
    )
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    output, errors = said(capsys)
    assert "Seed 5." in output
    assert (
        "You are player_0; to your left, in the order of play: player_1 (+1) is sheet, player_2 (+2) is sheet."
        in output
    )
    assert "ask +K QUESTION with CARD" in output
    assert output.count("player_0's information sheet") >= 2
    assert "Type legal first to see the numbered list." in output
    assert re.search(r"\d  accuse blue-opal-pair\b", output)
    assert "'acuse blue-opal-pair' is not an action; perhaps: accuse blue-opal-pair" in output
    begun = ", ".join(f"accuse blue-opal-{size}" for size in ("solitaire", "pair", "cluster"))
    assert f"'accuse blue-opal' is not an action; perhaps: {begun}." in output
    assert "save needs the name of a file" in output
    assert f"Saved to {saved}" in output
    assert "You have left the game." in output
    assert errors == ""
    assert sleuth.parse_game(saved.read_text()).options == Options(num_players=3, first_player="seat_0")


def test_odds_are_those_of_the_persons_own_seat(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    saved = tmp_path / "mine.txt"
    type_in(monkeypatch, "odds\nexchange\nodds\n")
    assert main(["play", "--seed", "5", "--save", str(saved), "--options", "first_player=seat_0"]) == 0
    output = capsys.readouterr().out
    record = sleuth.parse_game(saved.read_text())
    panels = [draw_belief(record.options, view_of(record.options, state, 0)) for state in record.states]
    assert output.count(" deals fit what you know") == 2
    assert sum(panel in output for panel in dict.fromkeys(panels)) == 2


def test_an_action_can_be_chosen_by_its_number_once_it_was_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "legal exchange\n99999\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    first = capsys.readouterr().out
    assert "There is no number 99999 in the list." in first
    number = re.findall(r"(\d+)  exchange", first)[0]
    type_in(monkeypatch, f"legal\n{number}\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    assert "you exchanged search cards" in capsys.readouterr().out


def test_a_question_that_one_card_alone_can_pay_needs_no_card(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Seed 5: seat 0 holds yellow, red-cluster, diamond-solitaire and free.
    type_in(monkeypatch, "ask +1 yellow\nask +1 blue\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    output = capsys.readouterr().out
    assert "'ask +1 yellow' is short for several actions; type a number:\n" in output
    assert "   1  ask +1 yellow with yellow    2  ask +1 yellow with free\n" in output
    assert "you asked player_1 (+1) blue with free" in output


def test_enter_alone_passes_an_offer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    type_in(monkeypatch, "\n\nexchange\n\n")
    assert main(["play", "--seed", "5"]) == 0
    output = capsys.readouterr().out
    assert output.count("accuse or pass (Enter: pass)> ") >= 2
    assert "The input has ended; the game is not over." in output


def test_a_wrong_accusation_puts_the_person_out_and_the_others_play_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A gem of the person's own hand cannot be missing.
    type_in(monkeypatch, "accuse blue-opal-solitaire\nyes\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    output = capsys.readouterr().out
    assert "named by you: blue-opal-solitaire" in output
    assert "You are out: you accuse no more, but you still answer." in output
    assert "You have not won." in output


@pytest.mark.parametrize("typed", ["", "quit\n"])
def test_the_game_is_saved_however_it_ends(typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "game.txt"
    type_in(monkeypatch, typed)
    assert (
        main(
            [
                "play",
                "--players",
                "4",
                "--opponents",
                "sheet,random,cautious",
                "--seat",
                "3",
                "--seed",
                "2",
                "--save",
                str(path),
            ]
        )
        == 0
    )
    assert sleuth.parse_game(path.read_text()).options.num_players == 4


def test_ctrl_c_saves_the_game_and_ends_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(size: int) -> str:
        raise KeyboardInterrupt

    type_in(monkeypatch, "")
    monkeypatch.setattr(sys.stdin, "readline", interrupt)
    assert main(["play", "--seed", "2", "--save", str(tmp_path / "game.txt")]) == 130
    assert said(capsys)[1] == "sleuth: interrupted\n"
    assert sleuth.parse_game((tmp_path / "game.txt").read_text()).options.num_players == 3


@pytest.mark.parametrize(
    ("typed", "last"), [("quit\n", "You have left the game."), ("", "The input has ended; the game is not over.")]
)
def test_the_end_of_the_input_ends_the_game_like_quit(
    typed: str, last: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, typed)
    assert main(["play", "--seed", "2"]) == 0
    output, errors = said(capsys)
    assert output.endswith(f"\n{last}\n")
    assert errors == ""


def test_completion_offers_commands_and_legal_actions_only() -> None:
    offered: list[Sequence[str]] = []

    def read(prompt: str, words: Sequence[str]) -> str:
        offered.append(words)
        raise EOFError

    session = Session(
        sleuth,
        Options(num_players=3, first_player="seat_0"),
        [make_bot("sheet", Options(num_players=3))] * 2,
        0,
        5,
        read,
        lambda text: None,
    )
    with pytest.raises(EOFError):
        session.run()
    names = action_names(3)
    assert list(offered[0]) == [*COMMANDS, *(names[a] for a in np.flatnonzero(session.table.legal(0)[0]))]


def test_a_long_list_is_laid_out_in_columns_that_are_read_downwards() -> None:
    assert in_columns(["1 a", "2 bb", "3 c", "4 d", "5 e"], 17) == "1 a  3 c  5 e\n2 bb 4 d"
    assert in_columns(["1 a", "2 bb"], 3) == "1 a\n2 bb"


# --- a newcomer ---

MINE = ["--seed", "5", "--options", "first_player=seat_0"]


def played(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, *words: str) -> str:
    """Return what is written in a game of seed 5 in which player_0 begins."""
    type_in(monkeypatch, typed)
    assert main(["play", *MINE, *words]) == 0
    return said(capsys)[0]


def test_the_goal_is_told_in_three_sentences_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = played(monkeypatch, capsys, "").splitlines()[1]
    assert goal == sleuth.telling.rules(Options(3))[0]
    assert len(re.findall(r"\.(?: |$)", goal)) == 3


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_the_rules_are_those_of_the_game_that_is_played(options: Options) -> None:
    text = " ".join(sleuth.telling.rules(options))
    assert ("you alone are shown" in text) != options.super_sleuth
    assert ("after every answer" in text) == (options.accuse == "any_time")
    assert ("You may ask two opponents" in text) == options.double_interrogation
    assert "sheet" not in text
    assert "The sheet shows" in " ".join(sleuth.telling.rules(options, typed=True))


def test_help_has_two_short_names_and_the_rules_are_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, "?\nh\nhelp\nrules\n")
    assert output.count("ask +K QUESTION with CARD  ask the K-th player to your left") == 3
    rules = sleuth.telling.rules(Options(3, first_player="seat_0"), typed=True)
    assert all(rule in " ".join(output.split()) for rule in rules)


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_nothing_is_wider_than_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    output = played(monkeypatch, capsys, "help\nrules\nsheet\nodds\nlegal\naccuse red-opal-pair\nno\nred-pair\n")
    assert max(map(len, output.splitlines())) < columns


@pytest.mark.parametrize("columns", [80, 100])
def test_neither_news_nor_a_review_is_wider_than_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    turns = "accuse red-opal-pair\nyes\nreview\n"
    output = played(monkeypatch, capsys, turns)
    assert "may be: gems that might still be missing." in output
    assert "shown by you to" in output
    assert max(map(len, output.splitlines())) <= columns


def test_who_takes_a_decision_back_is_told_that_they_wait_no_longer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = played(monkeypatch, capsys, "wait\nexchange\nundo\nquit\n")
    assert "Your last decision was taken back. You are asked at every offer again." in waiting
    output = played(monkeypatch, capsys, "exchange\nundo\nquit\n")
    assert "Your last decision was taken back.\n" in output


def test_a_bare_question_is_understood_as_asking_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, "red-pair\n2\n")
    assert "   1  ask +1 red-pair with free    2  ask +2 red-pair with free\n" in output
    assert "you asked player_2 (+2) red-pair with free" in output


def test_a_question_that_cannot_be_asked_is_answered_by_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, "exchange\nblue-pair\n\n\nblue-pair\n")
    assert "Questions are asked on your own turn; now you may only accuse or pass." in output
    cards = "opal, yellow-diamond, red-pair, pearl-pair"
    assert f"None of your search cards ({cards}) lets you ask blue-pair; final +1 blue-pair asks it free" in output


@pytest.mark.parametrize(
    "typed", ["red-par", "blue opal pair", "aks +1 red-pair", "finale", "pair red", "+1 opal pair"]
)
def test_no_suggestion_loses_the_game(
    typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, f"{typed}\n")
    (answer,) = [line for line in output.splitlines() if line.startswith(("'", "None", "Questions"))]
    assert not re.search(r"perhaps:.*accuse", answer)
    if typed != "finale":
        assert not re.search(r"perhaps:.*final", answer)


# --- what may lose the game ---


@pytest.mark.parametrize("answer", ["no", "n", "", "sheet"])
def test_an_unproved_accusation_is_taken_only_after_a_yes(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, f"accuse red-opal-pair\n{answer}\nexchange\n")
    assert "It is not proved: 23 gems may still be missing. Type yes for accuse red-opal-pair, no to think" in output
    assert "accused" not in output.partition("you exchanged")[0]
    assert "you exchanged search cards" in output


@pytest.mark.parametrize("answer", ["yes", "Y", "accuse red-opal-pair"])
def test_a_confirmed_accusation_is_taken(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "you accused: " in played(monkeypatch, capsys, f"accuse red-opal-pair\n{answer}\n")


def test_naming_the_one_gem_that_is_proved_of_two_is_confirmed_and_then_the_other_must_be_named() -> None:
    options = Options(num_players=3, missing=2)
    accuse = sleuth.action_blocks(options)["accuse"].start
    env = sleuth_v0.raw_env(num_players=3, missing=2)
    bot = make_bot("sheet", options)
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    while True:
        seen = env.view(env.agent_selection)
        mask = env.action_mask(env.agent_selection)
        found, _ = known_missing(options, seen[0])
        if found.bit_count() == 1 and mask[accuse + found.bit_length() - 1]:
            break
        env.step(bot.act(seen, mask[None], rng.integers(2**62, size=1, dtype=np.uint64))[0])
        if any(env.terminations.values()):
            env.reset()
    doubt = sleuth.telling.doubt(options, seen[0], accuse + found.bit_length() - 1)
    assert re.fullmatch(r"Whoever .* all of them, and 1 of the 2 missing gems are proved: \d+ others may .*", doubt)
    seat = env.agent_selection
    env.step(accuse + found.bit_length() - 1)
    assert env.agent_selection == seat
    seen = env.view(seat)
    _, possible = known_missing(options, seen[0])
    other = (possible & ~found).bit_length() - 1
    assert sleuth.telling.doubt(options, seen[0], accuse + other) == ""
    assert sleuth.telling.unsaid(options, seen[0]) == ""
    assert sleuth.telling.prompt(options, seen[0]) == "now accuse"
    assert sleuth.telling.hint(options, seen[0], "ask red").endswith("now you may only accuse.")
    assert "You must accuse now" in sleuth.draw_ansi(options, seen[0])


def test_a_final_question_is_confirmed_and_then_a_guess_need_not_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, "final +1 opal\nyes\naccuse blue-opal-solitaire\nno\naccuse red-opal-pair\n")
    assert "After a final question you must accuse, and 23 gems may still be missing." in output
    assert "blue-opal-solitaire is certainly not missing." in output
    assert "you accused: " in output


def test_nothing_is_asked_with_no_confirm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "you accused: " in played(monkeypatch, capsys, "accuse red-opal-pair\n", "--no-confirm")


# --- offers, turns, going back and going on ---


def test_waiting_declines_every_offer_until_a_proof_and_the_sheet_is_drawn_when_a_turn_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, "exchange\nw\nexchange\nexchange\n")
    assert output.count("accuse or pass (Enter: pass)> ") == 1
    assert output.count("your turn> ") == 4
    # One at the start, one at each turn after it.
    assert output.count("player_0's information sheet") == 4


def test_waiting_ends_when_the_missing_gem_is_proved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proved = iter([False])
    monkeypatch.setattr(sleuth.telling, "proved", lambda options, seen: next(proved, True))
    output = played(monkeypatch, capsys, "exchange\nw\n")
    assert output.count("You can prove it now.") == 1
    assert output.count("accuse or pass (Enter: pass)> ") == 2


def test_undo_goes_back_to_the_last_decision_and_the_text_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for number, typed in enumerate(("exchange\n\n", "undo\nask +1 red\n\nundo\nundo\nexchange\n\n")):
        path = tmp_path / f"{number}.txt"
        output = played(monkeypatch, capsys, typed, "--save", str(path))
        texts.append(path.read_text())
    assert "There is no decision of yours to take back." in output
    assert output.count("Your last decision was taken back.") == 2
    # The bots do what they would have done.
    assert texts[1] == f"{texts[0]}# decisions taken back: 2\n"
    assert sleuth.parse_game(texts[1]).last_state == sleuth.parse_game(texts[0]).last_state


class Mindful:
    """Ask and exchange by all that it has seen in this game: only with the same memory does it the same."""

    name = "mindful"

    def __init__(self, asked: list[Any]) -> None:
        self.asked = asked
        self.memory: dict[int, list[int]] = {}

    def __deepcopy__(self, memo: Any) -> Mindful:
        return Mindful(self.asked)

    def act_in(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, games: np.ndarray, seats: np.ndarray
    ) -> np.ndarray:
        (game,) = games.tolist()
        past = self.memory.setdefault(game, [])
        past.append(zlib.crc32(views.tobytes()))
        self.asked.append((game, int(seats[0]), int(views["seat"][0])))
        quiet = legal[0].copy()
        blocks = sleuth.action_blocks(Options(num_players=3))
        for name in ("final", "accuse"):
            quiet[blocks[name]] = 0
        return np.random.default_rng([int(seeds[0]), *past]).choice(np.flatnonzero(quiet), 1)

    def forget(self, games: np.ndarray) -> None:
        for game in games.tolist():
            self.memory.pop(game, None)


def with_mindful(lines: list[str], record: Any = None) -> tuple[Session, list[Any]]:
    """Return a session in which some lines were typed, and what its opponents, who remember, were told."""
    typed = iter(lines)
    asked: list[Any] = []

    def read(prompt: str, words: Sequence[str]) -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    options = Options(num_players=3, first_player="seat_0")
    bots = [Mindful(asked)] * 2
    session = Session(sleuth, options, bots, 0, 5, read, lambda text: None, begun=record and Begun(record))
    with pytest.raises(EOFError):
        session.run()
    return session, asked


def memories(session: Session) -> list[list[int]]:
    """Return what the players of a session remember: of this game, and of no other."""
    ((_, copies),) = session.table._copies._of
    (number,) = session.table.games.tolist()
    assert all(list(player.memory) == [number] for player in copies.values())
    return [copies[seat].memory[number] for seat in sorted(copies)]


PLAIN = ["exchange", "", "", "exchange", "", "", "exchange", ""]


def test_an_opponent_that_remembers_is_told_one_game_number_and_its_seat() -> None:
    session, asked = with_mindful(PLAIN)
    assert len(session.actions) > 15
    assert {(game, seat) for game, seat, _ in asked} == {(0, 1), (0, 2)}
    assert all(seat == seen for _, seat, seen in asked)
    assert len(memories(session)) == 2


@pytest.mark.parametrize(
    "lines",
    [
        ["ask +1 red", "", "undo", "undo", *PLAIN],
        [*PLAIN[:4], "", "undo", *PLAIN[4:]],
        [*PLAIN, "undo", "undo", "undo", *PLAIN[5:]],
        [*PLAIN, *["undo"] * 8, "ask +1 red", "undo", *PLAIN],
    ],
)
def test_an_opponent_that_remembers_knows_nothing_of_what_was_taken_back(lines: list[str]) -> None:
    plain, _ = with_mindful(PLAIN)
    undone, asked = with_mindful(lines)
    assert undone.undone
    assert undone.actions == plain.actions
    assert memories(undone) == memories(plain)
    assert len({game for game, _, _ in asked}) > 1


def test_an_opponent_that_remembers_goes_on_with_a_saved_game_as_if_it_had_not_been_left() -> None:
    whole, _ = with_mindful(PLAIN)
    begun, _ = with_mindful(PLAIN[:5])
    again, _ = with_mindful(PLAIN[5:], sleuth.parse_game(begun.text))
    assert again.actions == whole.actions
    assert memories(again) == memories(whole)


@pytest.mark.parametrize("given", [[], ["--opponents", "sheet,sheet", "--seat", "player_0"]], ids=["remark", "given"])
def test_a_saved_game_is_gone_on_with_as_if_it_had_not_been_left(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "whole.txt"
    cut = tmp_path / "cut.txt"
    lines = ["exchange", "", "", "opal", "1", "", "", ""]
    played(monkeypatch, capsys, "\n".join([*lines, ""]), "--save", str(whole))
    played(monkeypatch, capsys, "exchange\n\n", "--save", str(cut))
    type_in(monkeypatch, "\n".join([*lines[2:], ""]))
    assert main(["play", "--continue", str(cut), "--save", str(cut), *given]) == 0
    assert "Seed 5." in said(capsys)[0]
    assert cut.read_text() == whole.read_text()


def test_what_was_decided_before_a_game_was_left_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    played(monkeypatch, capsys, "exchange\nundo\nexchange\n\n", "--save", str(path))
    taken = len(sleuth.parse_game(path.read_text()).actions)
    assert "# decisions taken back: 1\n" in path.read_text()
    type_in(monkeypatch, "undo\nundo\nundo\n")
    assert main(["play", "--continue", str(path), "--save", str(path)]) == 0
    told = said(capsys)[0]
    assert told.count("Your last decision was taken back.") == 2
    assert told.count("There is no decision of yours to take back.") == 1
    assert "# decisions taken back: 3\n" in path.read_text()
    assert 0 == len(sleuth.parse_game(path.read_text()).actions) < taken


def test_what_wait_took_is_no_decision_in_a_game_that_is_gone_on_with_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    lines = "wait\nexchange\nexchange\n"
    for name, typed in (("whole", f"{lines}undo\n"), ("left", lines)):
        path = tmp_path / name
        played(monkeypatch, capsys, typed, "--save", str(path))
        texts.append(path.read_text())
    assert re.search(r"^# steps that wait took: \d+( \d+)+$", texts[1], re.M)
    type_in(monkeypatch, "undo\n")
    assert main(["play", "--continue", str(path), "--save", str(path)]) == 0
    assert path.read_text() == texts[0]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        *(
            (f"# steps that wait took: {steps}", "this line does not name steps from 1 to")
            for steps in ("0", "1 x", "99999", "-1", "9" * 5000)
        ),
        *(
            (
                f"# decisions taken back:{number}",
                "this line does not name a number from 0 to 999999999: '# decisions taken back",
            )
            for number in (" x", " -1", "", " 1 2", f" {'9' * 40}")
        ),
    ],
)
def test_what_a_text_says_wrongly_of_how_it_was_played_is_refused(
    line: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    played(monkeypatch, capsys, "exchange\n", "--save", str(path))
    path.write_text(f"{path.read_text()}{line}\n")
    assert main(["play", "--continue", str(path)]) == 2
    assert wrong in said(capsys)[1]


@pytest.mark.parametrize("command", ["undo", "wait", "help", "rules", "sheet", "odds", "quit"])
def test_a_command_with_words_that_mean_nothing_does_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = played(monkeypatch, capsys, f"exchange\n{command} 3\n")
    assert f"{command} stands alone, without '3'." in output
    assert "taken back" not in output
    assert "You have left" not in output


def test_a_game_that_is_over_has_been_played_whatever_else_comes_out_of_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "accuse red-diamond-pair\nreview now\n" + "nonsense\n" * 300)
    words = ["--seed", "5", "--options", "max_turns=1", "first_player=seat_0", "--no-confirm"]
    assert main(["play", *words]) == 0
    output, errors = said(capsys)
    assert errors == ""
    assert output.count("'nonsense' is not one of review, sheet, save, quit.") == 99
    assert "review stands alone, without 'now'." in output


def test_decisions_may_be_taken_back_as_often_as_one_gets_further(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("sleuth_env.cli.streams.MOST_FRUITLESS", 3)
        output = played(monkeypatch, capsys, "wait\n" + "exchange\nundo\nwait\nexchange\n" * 5)
    assert output.count("Your last decision was taken back.") == 5
    type_in(monkeypatch, "exchange\nundo\n" * 110)
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 2
    assert said(capsys)[1] == "sleuth: the input has 100 decisions taken back without getting further\n"


@pytest.mark.parametrize("name", ["a b.safetensors", "c,d.safetensors", "it's.safetensors", 'e"f.safetensors'])
def test_a_game_against_a_file_of_any_name_is_gone_on_with_as_it_was_played(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_policy(load_policy("pretrained:3p"), name, {})
    type_in(monkeypatch, "exchange\n")
    opponents = joined([name, "sheet"])
    assert main(["play", "--seed", "5", "--opponents", opponents, "--greedy", "--save", "game.txt"]) == 0
    before = Path("game.txt").read_text()
    type_in(monkeypatch, "")
    assert main(["play", "--continue", "game.txt"]) == 2
    assert f"the game was played against {name!r}: name the opponents by --opponents" in said(capsys)[1]
    type_in(monkeypatch, "")
    Path("elsewhere").mkdir()
    Path(name).rename(Path("elsewhere") / name)
    moved = joined([f"elsewhere/{name}", "sheet"])
    assert main(["play", "--continue", "game.txt", "--opponents", moved, "--save", "game.txt"]) == 0
    assert Path("game.txt").read_text() == before.replace(shlex.quote(opponents), shlex.quote(moved))
    assert "--greedy" in before


def test_a_game_against_a_bundled_policy_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    named = ["--opponents", "racer,pretrained:3p"]
    type_in(monkeypatch, "exchange\n")
    assert main(["play", "--seed", "5", *named, "--save", str(path)]) == 0
    type_in(monkeypatch, "")
    assert main(["play", "--continue", str(path), "--save", str(path)]) == 0
    assert "--opponents racer,pretrained:3p\n" in path.read_text()


def test_a_saved_game_says_how_its_opponents_were_named_and_how_they_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    (tmp_path / "namesake.py").write_text(
        "class Bot:\n    name = 'sheet'\n    def act(self, views, legal, seeds):\n        return legal.argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    type_in(monkeypatch, "")
    assert main(["play", "--seed", "5", "--opponents", "pretrained:3p", "--greedy", "--save", str(path)]) == 0
    assert "--opponents pretrained:3p,pretrained:3p --greedy\n" in path.read_text()
    type_in(monkeypatch, "")
    assert main(["play", "--continue", str(path), "--save", str(path)]) == 0
    assert "--opponents pretrained:3p,pretrained:3p --greedy\n" in path.read_text()
    type_in(monkeypatch, "")
    assert main(["play", "--continue", str(path), "--save", str(path), "--opponents", "sheet,pretrained:3p"]) == 0
    assert "--opponents sheet,pretrained:3p\n" in path.read_text()
    type_in(monkeypatch, "")
    assert main(["play", "--seed", "5", "--opponents", "namesake.py:Bot", "--save", str(path)]) == 0
    said(capsys)
    assert main(["play", "--continue", str(path)]) == 2
    assert "the game was played against 'namesake.py:Bot': name the opponents by --opponents" in said(capsys)[1]


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (None, [], "the game is over; sleuth replay tells it"),
        ("file", ["--players", "4"], "--continue takes no --players and no --options"),
        ("file", ["--seat", "7"], "--seat must be an integer from 0 to 2, got 7"),
        ("file", [], "the game was played against 'evil.py:run': name the opponents by --opponents"),
        ("damaged", [], "this line does not say how the game was played: '# sleuth play --seat 0 --seed x"),
        ("damaged", ["--opponents", "sheet"], "name --opponents, --seat and --seed"),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused(
    text: str | None,
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "game.txt"
    path.write_text(played_game())
    if text is not None:
        path.unlink()
        played(monkeypatch, capsys, "", "--save", str(path))
        path.write_text(path.read_text().replace("--opponents sheet,sheet", "--opponents evil.py:run,sheet"))
    if text == "damaged":
        path.write_text(path.read_text().replace("--seed 5", "--seed x"))
    if words == ["--seat", "7"]:
        words = [*words, "--opponents", "sheet"]
    assert main(["play", "--continue", str(path), *words]) == 2
    assert message in said(capsys)[1]


# --- the end ---


def test_at_the_end_everything_is_shown_and_can_be_looked_back_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "end.txt"
    output = played(monkeypatch, capsys, f"accuse blue-opal-solitaire\nyes\nnonsense\nreview\nsave {path}\n\n")
    record = sleuth.parse_game(path.read_text())
    grid = output.partition("Where every gem was:\n")[2].splitlines()[1:10]
    found = [line[20:].split() for line in grid]
    state = record.last_state
    for column, colour in enumerate(("red", "blue", "green", "yellow")):
        for row, line in enumerate(grid):
            gem = sleuth.parse_gem(f"{colour}-{'-'.join(line[:20].split())}")
            holders = {"MISSING": state["missing_gems"], "table": state["table"], "you": state["hands"][0]}
            holders |= {f"+{k}": state["hands"][k] for k in (1, 2)}
            assert int(holders[found[row][column]]) >> gem & 1
    assert "You could never prove what was missing." in output
    for k in (1, 2):
        step = first_proof(record, k)
        words = "never prove" if step is None else f"prove what was missing from step {step.number}, turn "
        assert f"player_{k} (+{k}) could {words}" in output
    assert "'nonsense' is not one of review, sheet, save, quit." in output
    assert "What player_0 knew before each of their questions and accusations:" in output
    assert "The input has ended" not in output


def test_a_proof_is_possible_from_the_first_step_after_which_one_deal_is_left_for_what_is_missing() -> None:
    record = sleuth.parse_game(played_game())
    for seat in range(3):
        proof = first_proof(record, seat)
        for step in record.steps():
            if step.after["phase"] == FINISHED or step.after["accused"][seat]:
                break
            assert can_prove(record.options, view_of(record.options, step.after, seat)) == (
                proof is not None and step.number >= proof.number
            )


# --- a game's own part ---


def test_sleuth_tells_all_that_the_command_line_asks_for() -> None:
    assert has_part(sleuth.telling, Telling)  # type: ignore[arg-type]


def sleuth_without(name: str) -> ModuleType:
    """Return a game that is Sleuth but for one name."""
    game = ModuleType("other")
    vars(game).update(vars(sleuth))
    delattr(game, name)
    return game


@pytest.mark.parametrize(
    ("name", "part"),
    [("telling", "games told in words"), ("draw_rgb", "drawings"), ("game_text", "games as text")],
)
def test_a_game_that_lacks_a_part_cannot_be_played_by_a_person(name: str, part: str) -> None:
    options = Options(num_players=3)
    game: Any = sleuth_without(name)
    with pytest.raises(MissingPartError, match=f"the game 'sleuth' has no {part}: it lacks {name}"):
        Session(game, options, [make_bot("sheet", options)] * 2, 0, 5, scripted(1), print)


def test_odds_of_a_game_without_beliefs_are_refused_and_the_game_goes_on() -> None:
    options = Options(num_players=3, first_player="seat_0")
    typed = iter(["odds", "quit"])
    shown: list[str] = []
    bots = [make_bot("sheet", options)] * 2
    game: Any = sleuth_without("belief")
    session = Session(game, options, bots, 0, 5, lambda *_: next(typed), shown.append)
    with pytest.raises(QuitError):
        session.run()
    assert shown[-1] == "the game 'sleuth' has no exact beliefs: it lacks belief."


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([1, 0, 0], "You win!"),
        ([1, 1, 2], "You share place 1."),
        ([2, 1, 3], "You take place 2."),
        ([0, 1, 2], "You have not won."),
    ],
)
def test_a_person_is_told_their_place(places: list[int], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    options = Options(num_players=3)
    session = Session(sleuth, options, [make_bot("cautious", options)] * 2, 0, 5, scripted(1), shown.append)
    monkeypatch.setattr(session.table, "standings", lambda rows: np.array([places], np.int32))
    session._tell_result()
    assert shown[-1] == said


# --- what is typed ---


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("a\0b", "'a\\x00b' cannot be the name of a file."),
        ("x" * 5000, f"{'x' * 200}... cannot be written: File name too long."),
        ("no/where", "no/where cannot be written: No such file or directory."),
        (".", ". exists and was left as it is: choose another name."),
        ("/dev/null", "/dev/null exists and was left as it is: choose another name."),
        ("there", "there exists and was left as it is: choose another name."),
    ],
    ids=lambda text: text[:9],
)
def test_a_game_that_cannot_be_saved_goes_on(
    name: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").write_text("mine")
    type_in(monkeypatch, f"save {name}\nquit\n")
    assert main(["play", "--seed", "5"]) == 0
    output, errors = said(capsys)
    assert f"\n{answer}\n" in output
    assert "You have left the game." in output
    assert errors == ""
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("there", "mine")]


def test_a_game_is_saved_under_the_name_that_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    type_in(monkeypatch, "SAVE  My  Game.TXT\nquit\n")
    assert main(["play", "--seed", "5"]) == 0
    assert "Saved to My  Game.TXT: it shows every hidden card" in said(capsys)[0]
    assert sleuth.parse_game((tmp_path / "My  Game.TXT").read_text()).actions is not None


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("9" * 5000, f"There is no number {'9' * 60} in the list."),
        ("0", "There is no number 0 in the list."),
        ("-1", "'-1' is not an action; help shows the forms, legal lists what you may do."),
        ("²", "'²' is not an action; help shows the forms, legal lists what you may do."),
        ("x" * 5000, f"'{'x' * 60}' is not an action; help shows the forms, legal lists what you may do."),
        (f"legal {'x' * 5000}", f"No legal action contains '{'x' * 60}'."),
    ],
    ids=lambda text: text[:9],
)
def test_a_line_that_means_nothing_is_answered_by_one_line(
    typed: str, answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, f"legal\n{typed}\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    assert f"\n{answer}\nyour turn> " in said(capsys)[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("ask +3 blue", "There is no player +3 here: you can ask +1, +2."),
        ("ask +0 blue with free", "There is no player +0 here: you can ask +1, +2."),
        ("+9 pair", "There is no player +9 here: you can ask +1, +2."),
        ("final +3 blue", "There is no player +3 here: you can ask +1, +2."),
        ("ask +1 blue with red", "The search card red is not one of yours (free, opal, opal-pair, yellow); free does."),
        ("ask +1 blue with opal", "The search card opal does not let you ask blue; free does."),
        ("ask +2 opal with yellow", "The search card yellow does not let you ask opal; free or opal does."),
        ("accuse blue", ""),
        ("ask +1 blue opal", ""),
    ],
)
def test_a_question_that_cannot_be_asked_is_explained_by_what_is_wrong_with_it(typed: str, said: str) -> None:
    options = sleuth.Options(num_players=3)
    game = Situation(options, ["red-opal-pair"], search={0: ["free", "opal", "opal-pair", "yellow"]})
    found = sleuth.telling.hint(options, np.array([game.seen_by(0)]), typed)
    assert sorted(re.split(r"\W+", found)) == sorted(re.split(r"\W+", said))


def test_the_second_question_of_a_turn_is_explained_too() -> None:
    options = sleuth.Options(num_players=3, double_interrogation=True, accuse="own_turn")
    game = Situation(options, ["red-opal-pair"], search={0: ["free", "opal", "opal-pair", "yellow"]})
    assert game.do("ask", 1, "opal", "opal")
    seen = np.array([game.seen_by(0)])
    said = "You have asked +1 a question with one word: now ask somebody else one with two words."
    assert sleuth.telling.hint(options, seen, "ask +1 opal-pair with opal-pair") == said
    assert sleuth.telling.hint(options, seen, "ask +2 yellow") == said
    said = "A final question is asked at the beginning of a turn, in place of others."
    assert sleuth.telling.hint(options, seen, "final +1 opal") == said


@pytest.mark.parametrize("given", ["", ",", " "])
def test_opponents_that_are_none_are_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--players", "3", "--opponents", given]) == 2
    assert "--opponents must be names" in capsys.readouterr().err
