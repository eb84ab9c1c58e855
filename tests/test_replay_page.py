"""A game as one page: what every seat knew at every step, in data that a page holds and in the texts of a replay."""

from __future__ import annotations

import json
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.make_replays import SHOWN, Shown, played
from sleuth_env import sleuth
from sleuth_env.cli.commands import main
from sleuth_env.deduction.worlds import IntricateError
from sleuth_env.game import load_game
from sleuth_env.options import described
from sleuth_env.policies.policy import load_policy
from sleuth_env.sleuth import Options
from sleuth_env.web import frames as frames_module
from sleuth_env.web.frames import Replay, frames_of, make_replay, num_frames
from sleuth_env.web.replay_page import replay_page
from tests.support.pages import GOOD_BOTS, bot_game, check_alone, data_of, elements, replay_in, text_of
from tests.support.policies import random_policy
from tests.support.replaying import Replay as Redealt
from tests.support.stories import record_of, redealt
from tests.support.strategies import LIVELY, RASH
from tests.support.substitution import play
from tests.support.terminal import played_game, said

# A page of a normal game is to be small enough to be sent by mail.
MOST_BYTES = 400_000
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> & \" ' <!--"
VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    ("sleuth", "sheet", {"num_players": 3}),
    ("sleuth", "random", {"num_players": 3, "missing": 3, "max_turns": 4, "last_survivor_wins": True}),
    ("sleuth", "sheet", {"num_players": 4, "missing": 2, "double_interrogation": True, "max_turns": 5}),
    ("sleuth", "random", {"num_players": 4, "winners": 3, "announce_result": False, "max_turns": 5}),
    ("sleuth", "sheet", {"num_players": 5, "winners": 2, "super_sleuth": True, "max_turns": 4}),
    ("sleuth", "sheet", {"num_players": 6, "accuse": "own_turn", "max_turns": 3}),
    ("sleuth", "sheet", {"num_players": 7, "max_turns": 2}),
    ("holmes", "counter", {"num_players": 3, "cases": 1}),
    ("holmes", "random", {"num_players": 4, "fast_play": True, "must_arrest": True, "max_turns": 40}),
    ("holmes", "counter", {"num_players": 5, "after_alibi": "left_of_alibi", "cases": 1, "max_turns": 20}),
    ("holmes", "random", {"num_players": 8, "max_turns": 12}),
]
NAMES = [f"{name}-{options['num_players']}-{bot}" for name, bot, options in VARIANTS]
every_variant = pytest.mark.parametrize(("name", "bot", "options"), VARIANTS, ids=NAMES)


def replay_of(name: str, bot: str, options: dict[str, Any]) -> Replay:
    return _replay_of(name, bot, tuple(options.items()))


@cache
def _replay_of(name: str, bot: str, options: tuple[tuple[str, Any], ...]) -> Replay:
    """Return the replay of a game, which takes longer to make than to test."""
    return make_replay(bot_game(name, bot, **dict(options)))


def without_drawings(name: str, record: Any, seat: int) -> list[str]:
    """Return the texts of a replay from a viewpoint without the drawings."""
    mark = "\0"
    told = load_game(name).telling.tell_game(record, seat, False, None, lambda seen: mark)  # type: ignore[attr-defined]
    return [text.replace(mark, "").rstrip("\n") for text in told if mark in text]


# --- what was told ---


@every_variant
def test_the_texts_of_a_page_are_those_that_replay_writes(
    name: str, bot: str, options: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = bot_game(name, bot, **options)
    path = tmp_path / "game.txt"
    path.write_text(text_of(record))
    replay = replay_of(name, bot, options)
    assert main(["replay", str(path)]) == 0
    assert capsys.readouterr().out == "\n".join([*replay.steps[1:], replay.ending]) + "\n"
    assert main(["replay", str(path), "--reveal"]) == 0
    assert capsys.readouterr().out == "\n".join([*replay.revealed, replay.ending_revealed]) + "\n"
    for seat, private in enumerate(replay.private):
        told = without_drawings(name, record, seat)
        assert private[-len(told) :] == told
        assert set(private[: -len(told)]) <= {""}
        assert main(["replay", str(path), "--viewpoint", str(seat)]) == 0
        output = capsys.readouterr().out
        at = 0
        for text in private:
            at = output.index(text, at) + len(text)


@every_variant
def test_a_page_has_every_step_of_every_seat(name: str, bot: str, options: dict[str, Any]) -> None:
    record = bot_game(name, bot, **options)
    telling = load_game(name).telling  # type: ignore[attr-defined]
    replay = replay_of(name, bot, options)
    steps = telling.num_steps(record) + 1
    rows = [replay.steps, replay.revealed, replay.deals, *replay.private, *replay.frames, *replay.chances]
    assert {len(row) for row in rows} == {steps}
    assert num_frames(record, load_game(name)) == steps * options["num_players"]
    ends = telling.step_ends(record)
    assert len(ends) == steps
    assert ends == sorted(ends)
    assert ends[-1] == len(record.actions)


@every_variant
def test_a_frame_is_what_the_seat_knew_then(name: str, bot: str, options: dict[str, Any]) -> None:
    game: Any = load_game(name)
    record = bot_game(name, bot, **options)
    replay = replay_of(name, bot, options)
    for seat, of_seat in enumerate(replay.frames):
        seen: list[Any] = []
        list(game.telling.tell_game(record, seat, False, None, lambda view, seen=seen: seen.append(view.copy()) or ""))
        for view, frame in zip(seen, of_seat[-len(seen) :], strict=True):
            assert frame["facts"] == game.wording.facts(record.options, view)
            assert frame["board"] == game.board.sheet(record.options, view)
            assert frame["announcement"] == game.telling.announcement(record.options, view)
        last = of_seat[-1]
        assert last["odds"] == game.board.odds(record.options, seen[-1])
        assert last["questions"] == game.board.questions(record.options, seen[-1])
        assert replay.chances[seat][-1] == pytest.approx(game.board.best_chance(last["odds"]), abs=1e-4)
        assert [player["name"] for player in last["players"]] == [
            f"player_{(seat + k) % len(replay.frames)}" for k in range(len(replay.frames))
        ]


@every_variant
def test_the_log_is_what_a_person_in_the_seat_was_told(name: str, bot: str, options: dict[str, Any]) -> None:
    game: Any = load_game(name)
    record = bot_game(name, bot, **options)
    for seat, of_seat in enumerate(replay_of(name, bot, options).frames):
        views = [game.telling.view_of(record.options, state, seat) for state in record.states]
        told = [
            line
            for at, action in enumerate(record.actions.tolist())
            for line in game.telling.news(record.options, record.states[at + 1], action, views[at + 1], views[at])
        ]
        assert of_seat[-1]["log"] == told
        for before, after in pairwise(of_seat):
            assert after["log"][: len(before["log"])] == before["log"]


@every_variant
def test_every_decision_is_shown_once(name: str, bot: str, options: dict[str, Any]) -> None:
    game: Any = load_game(name)
    record = bot_game(name, bot, **options)
    names = [game.action_name(action, record.options) for action in record.actions.tolist()]
    for seat, of_seat in enumerate(replay_of(name, bot, options).frames):
        done = []
        for frame in of_seat:
            done += [decision["did"] for decision in frame["within"]]
            done += [frame["did"]] if frame["decision"] is not None else []
            assert (frame["did"] in frame["legal"]) == (frame["decision"] is not None)
        own = [word for word, state in zip(names, record.states, strict=False) if state["actor"] == seat]
        assert sorted(done) == sorted(own)


# --- what a policy would have done ---


@pytest.mark.parametrize(
    ("name", "policy", "options"),
    [
        ("sleuth", "pretrained:sleuth-4p", {"num_players": 3}),
        ("holmes", "pretrained:holmes-4p", {"num_players": 4, "max_turns": 20}),
    ],
)
def test_a_policy_says_how_likely_it_was_to_take_each_legal_action(
    name: str, policy: str, options: dict[str, Any]
) -> None:
    record = bot_game(name, GOOD_BOTS[name], **options)
    replay = make_replay(record, load_policy(policy))
    assert replay.policy == policy
    shown = 0
    for of_seat in replay.frames:
        for frame in of_seat:
            assert (frame["policy"] is None) == (frame["decision"] is None)
            if frame["policy"] is not None:
                assert list(frame["policy"]) == frame["legal"]
            for decision in [*frame["within"], *([frame] if frame["policy"] else [])]:
                assert decision["did"] in decision["policy"]
                assert sum(decision["policy"].values()) == pytest.approx(1, abs=0.02)
                shown += 1
    assert shown == len(record.actions)


def test_probabilities_are_those_by_which_a_policy_draws() -> None:
    policy = random_policy()
    record = bot_game("sleuth", "sheet", num_players=3)
    view = sleuth.telling.view_of(record.options, record.first_state, int(record.first_state["actor"]))
    number = 20_000
    views = np.zeros(number, sleuth.VIEW)
    views[:] = view
    legal = np.zeros((1, sleuth.num_actions(record.options)), np.uint8)
    sleuth.legal(sleuth.make_rules(record.options), record.states[:1].copy(), legal)
    shares = policy.probabilities(views[:1], legal)[0]
    assert shares.sum() == pytest.approx(1)
    assert not shares[legal[0] == 0].any()
    seeds = np.random.default_rng(0).integers(0, 2**64, number, np.uint64)
    drawn = np.bincount(policy.act(views, np.repeat(legal, number, 0), seeds), minlength=len(shares)) / number
    assert np.abs(drawn - shares).max() < 5 * np.sqrt(0.25 / number)


# --- what cannot be known ---


@pytest.mark.parametrize(
    "options",
    [
        Options(3, max_turns=8),
        Options(4, missing=2, double_interrogation=True, max_turns=6),
        Options(4, winners=3, announce_result=False, max_turns=6),
    ],
    ids=str,
)
def test_no_frame_of_sleuth_has_a_byte_of_what_its_seat_cannot_know(options: Options) -> None:
    policy = random_policy() if options.num_players == 3 else None
    changed = 0
    for seed, player in enumerate((LIVELY, RASH)):
        history = play(options, seed, player).cut(25)
        for viewer in range(options.num_players):
            replay = Redealt(history, viewer, seed, "asked")
            shown = [
                json.dumps(frames_of(record_of(one), viewer, policy, game=sleuth)) for one in (replay.history, history)
            ]
            assert shown[0] == shown[1]
            changed += "hands" in replay.changed()
    assert changed >= options.num_players


@pytest.mark.parametrize(
    ("bot", "options"),
    [
        ("counter", {"num_players": 3, "max_turns": 25}),
        ("random", {"num_players": 5, "fast_play": True, "max_turns": 12}),
    ],
)
def test_no_frame_of_holmes_has_a_byte_of_what_its_seat_cannot_know(bot: str, options: dict[str, Any]) -> None:
    record = bot_game("holmes", bot, seed=3, **options)
    for viewer in range(options["num_players"]):
        other = redealt(record, viewer, seed=viewer)
        hidden = [hands for hands in range(options["num_players"]) if hands != viewer]
        assert any(
            (one["hands"][hidden] != two["hands"][hidden]).any()
            for one, two in zip(record.states, other.states, strict=True)
        )
        assert json.dumps(frames_of(other, viewer)) == json.dumps(frames_of(record, viewer))


def test_odds_that_cannot_be_counted_are_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(options: Any, view: Any) -> Any:
        raise IntricateError("too much to count")

    monkeypatch.setattr(sleuth.board, "odds", refuse)
    replay = make_replay(bot_game("sleuth", "sheet", num_players=3))
    assert {(frame["odds"], frame["questions"], frame["why"]) for frame in replay.frames[0]} == {
        (None, None, "too much to count")
    }
    assert replay.chances[0] == [None] * len(replay.steps)


# --- the page ---


def test_a_page_holds_the_whole_replay() -> None:
    record = bot_game("sleuth", "sheet", num_players=3)
    replay = make_replay(record, players=["a", "b", "c"]).as_dict()
    shown = replay_in(replay_page(record, players=["a", "b", "c"]))
    for of_seat, shown_of_seat in zip(replay.pop("frames"), shown.pop("frames"), strict=True):
        for frame, shown_frame in zip(of_seat, shown_of_seat, strict=True):
            odds = frame.pop("odds")["items"]
            # The log says the same on the page.
            del frame["facts"]["events"]
            shown_odds = shown_frame.pop("odds")["items"]
            assert shown_frame == frame
            # The order of keys is the order in which people read them.
            assert json.dumps(shown_frame) == json.dumps(frame)
            for item, shares in odds.items():
                assert shown_odds[item] == pytest.approx(shares, abs=0.001)
                assert [share in (0, 1) for share in shown_odds[item]] == [share in (0, 1) for share in shares]
    assert json.dumps(shown) == json.dumps(replay)


@pytest.mark.parametrize(
    ("name", "options"), [("sleuth", {"num_players": 3}), ("holmes", {"num_players": 3, "cases": 1})]
)
def test_a_page_asks_for_nothing(name: str, options: dict[str, Any]) -> None:
    page = replay_page(bot_game(name, GOOD_BOTS[name], **options))
    check_alone(page)
    assert "default-src 'none'" in page
    assert len(page.encode()) < MOST_BYTES


@pytest.mark.parametrize(
    ("name", "options"), [("sleuth", {"num_players": 4}), ("holmes", {"num_players": 4, "cases": 3})], ids=str
)
def test_the_page_of_a_normal_game_is_small(name: str, options: dict[str, Any]) -> None:
    page = replay_page(bot_game(name, GOOD_BOTS[name], **options), load_policy(f"pretrained:{name}-4p"))
    assert len(page.encode()) < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "players"), [("sleuth", 3), ("sleuth", 4), ("sleuth", 7), ("holmes", 4)], ids=lambda value: str(value)
)
@pytest.mark.parametrize("seed", range(3))
def test_so_are_those_of_whole_games(name: str, players: int, seed: int) -> None:
    page = replay_page(bot_game(name, GOOD_BOTS[name], seed=seed, num_players=players))
    assert len(page.encode()) < MOST_BYTES


def test_names_of_players_and_titles_are_text() -> None:
    record = bot_game("sleuth", "sheet", num_players=3)
    plain = [tag for tag, _ in elements(replay_page(record))]
    page = replay_page(record, title=HOSTILE, players=[HOSTILE] * 3)
    assert [tag for tag, _ in elements(page)] == plain
    assert "alert(1)</script>" not in page
    data = data_of(page)
    assert data["players"] == [HOSTILE] * 3
    assert data["title"] == HOSTILE


def test_an_unfinished_game_has_a_page_without_an_end() -> None:
    record = bot_game("sleuth", "sheet", num_players=3)
    text = sleuth.game_text(record.options, record.first_state, record.actions.tolist()[:3])
    replay = make_replay(sleuth.parse_game(text))
    assert replay.endings is None
    assert replay.ending == "result: unfinished"
    asked = [of_seat[-1] for of_seat in replay.frames if of_seat[-1]["decision"] is not None]
    assert [frame["did"] for frame in asked] in ([], [None])


def test_every_option_is_named() -> None:
    replay = make_replay(bot_game("sleuth", "sheet", num_players=3))
    assert list(replay.options) == [about.name for about in described(Options)]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: str(shown.game))
def test_the_manual_shows_games_to_their_ends(shown: Shown) -> None:
    record = played(shown)
    assert record.last_state["actor"] < 0
    assert record.options.num_players == load_policy(shown.policy).options.num_players


# --- the command ---


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """A file with a game."""
    path = tmp_path / "game.txt"
    path.write_text(played_game())
    return path


def test_replay_writes_a_page_in_which_players_have_their_names(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = played_game().partition("# sleuth play")[0]
    game_file.write_text(played + "# sleuth play --seat 1 --seed 7 --opponents 'sheet,\"<b>,x.safetensors\"'\n")
    out = game_file.with_name("game.html")
    out.write_text("old")
    assert main(["replay", str(game_file), "--html", str(out)]) == 0
    assert said(capsys) == (f"The page is in {out}.\n", "")
    assert data_of(out.read_text())["players"] == ["<b>,x.safetensors", "person", "sheet"]


def test_replay_writes_a_page_with_what_a_policy_would_have_done(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = game_file.with_name("game.html")
    assert main(["replay", str(game_file), "--html", str(out), "--policy", "pretrained:sleuth-4p"]) == 0
    capsys.readouterr()
    assert data_of(out.read_text())["policy"] == "pretrained:sleuth-4p"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "p.safetensors"], "--policy needs --html FILE: only a page shows what a policy would have done"),
        (["--html", "{}/x.html", "--reveal"], "--html writes a page that shows everything: it takes no --reveal"),
        (
            ["--html", "{}/x.html", "--viewpoint", "1"],
            "--html writes a page that shows everything: it takes no --viewpoint",
        ),
        (["--html", "{}/x.html", "--steps", "1:2"], "--html writes a page that shows everything: it takes no --steps"),
        (["--html", "{}/x.txt"], "--html must be a file that ends in .html, got '{}/x.txt'"),
        (["--html", "{}/no/x.html"], "{}/no/x.html cannot be written: its folder does not exist"),
        (["--html", "{}/x.html", "--policy", "sheet"], "sheet"),
        (["--html", "{}/x.html", "--policy", "pretrained:holmes-4p"], "holmes"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_a_page_that_cannot_be_written_is_refused_in_one_line(
    words: list[str], message: str, game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(game_file.parent)
    assert main(["replay", str(game_file), *(word.replace("{}", folder) for word in words)]) == 2
    output, errors = said(capsys)
    assert output == ""
    assert errors.startswith("sleuth: ")
    assert errors.count("\n") == 1
    assert message.replace("{}", folder)[:50] in errors
    assert list(game_file.parent.iterdir()) == [game_file]


def test_a_page_does_not_replace_its_game_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.html"
    path.write_text(played_game())
    assert main(["replay", str(path), "--html", str(path)]) == 2
    assert said(capsys) == ("", f"sleuth: {path} cannot be written: it is the game text\n")
    assert path.read_text() == played_game()


def test_progress_counts_every_frame() -> None:
    record = bot_game("sleuth", "sheet", num_players=3)
    done: list[int] = []
    make_replay(record, progress=done.append)
    assert sum(done) == num_frames(record, sleuth)


def test_what_has_not_changed_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    record = bot_game("holmes", "counter", num_players=3, cases=1)
    game: Any = load_game("holmes")
    counted: list[bytes] = []
    count = partial(_noting, game.board.odds, counted)
    monkeypatch.setattr(game.board, "odds", count)
    frames = frames_module.frames_of(record, 0)
    assert all(one != other for one, other in pairwise(counted))
    assert len(counted) <= len(frames)


def _noting(function: Any, noted: list[bytes], options: Any, view: Any) -> Any:
    noted.append(view.tobytes())
    return function(options, view)
