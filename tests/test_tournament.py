"""Tournaments: their tables, their results, and what is kept of them."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import sleuth_env
from sleuth_env import sleuth
from sleuth_env.cli.commands import main
from sleuth_env.game import load_game, make_options
from sleuth_env.matches import schedule, strengths, tournament_file
from sleuth_env.matches.schedule import Plan, Shard, games_a_deal, make_shards, pair_tables, seats_of
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.tournament import play_tournament
from sleuth_env.policies.policy import save_policy
from sleuth_env.sleuth import Options
from tests.support.policies import VERSIONS, random_policy
from tests.support.terminal import said

BOTS = ["random", "cautious", "sheet"]
# Games that end soon, often without a winner.
SHORT = Options(num_players=3, max_turns=12)
SHORT_WORDS = ["--options", "num_players=3", "max_turns=12", "--games", "24", "--seed", "5"]


@pytest.fixture(autouse=True)
def few_resamples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare most tests the time of a bootstrap."""
    if "rating" not in request.node.name:
        monkeypatch.setattr(strengths, "RESAMPLES", 20)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play a deal at a time, so that there are many shards."""
    monkeypatch.setattr(schedule, "GAMES_A_SHARD", 1)


def plan_of(players: int, seats: int, seed: int = 3) -> Plan:
    names = tuple(f"player {number}" for number in range(players))
    return Plan("", Options(num_players=seats), names, ("",) * players, seed, False, False)


# --- tables ---


@pytest.mark.parametrize("seats", range(2, 9))
def test_both_players_of_a_pair_have_as_many_seats_and_every_share_of_them_that_was_said(seats: int) -> None:
    tables = pair_tables(seats)
    copies = sorted(table.count(0) for table in tables)
    assert copies == sorted({1, seats - 1, seats // 2, seats - seats // 2})
    assert sum(copies) == sum(seats - number for number in copies)


def test_the_copies_at_a_table_are_spread() -> None:
    assert pair_tables(6)[1] == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("seats", range(3, 8))
def test_in_a_deal_each_of_a_pair_has_each_seat_equally_often(seats: int) -> None:
    games = seats_of(plan_of(2, seats), Shard((0, 1), 0, 1))
    assert len(games) == games_a_deal(2, seats)[0] == len({tuple(game) for game in games})
    assert {Counter(column)[0] for column in games.T.tolist()} == {Counter(games[:, 0].tolist())[0]}


@pytest.mark.parametrize(("players", "seats"), [(3, 3), (3, 7), (5, 4), (6, 3), (8, 4)])
def test_at_the_tables_of_all_each_player_has_each_seat_twice_a_deal(players: int, seats: int) -> None:
    games = seats_of(plan_of(players, seats), Shard((), 4, 5))
    assert len(games) == games_a_deal(players, seats)[1] == len({tuple(game) for game in games})
    assert all(sorted(column) == sorted([*range(players)] * 2) for column in games.T.tolist())


def test_other_deals_and_seeds_draw_other_circles() -> None:
    drawn = [
        seats_of(plan_of(6, 3, seed), Shard((), deal, deal + 1)).tobytes() for seed in range(5) for deal in range(5)
    ]
    assert len(set(drawn)) == 25


def test_the_shards_have_every_deal_of_every_pair_once() -> None:
    plan = plan_of(4, 3)
    found = Counter((shard.pair, deal) for shard in make_shards(plan, 100) for deal in range(shard.first, shard.end))
    assert set(found.values()) == {1}
    assert len(found) == 100 * (6 + 1)


def test_what_was_played_is_no_part_of_a_shard() -> None:
    plan = plan_of(2, 3)
    played = {Shard((0, 1), deal, deal + 1) for deal in (0, 1, 2, 11)}
    assert make_shards(plan, 12) == [Shard((0, 1), 0, 10), Shard((0, 1), 10, 12)]
    assert make_shards(plan, 12, played) == [Shard((0, 1), 3, 10), Shard((0, 1), 10, 11)]


def test_two_players_have_no_tables_of_all() -> None:
    assert {shard.pair for shard in make_shards(plan_of(2, 3), 10)} == {(0, 1)}


# --- results ---


def test_a_tournament_depends_on_its_seed_alone() -> None:
    first, again, other = (play_tournament(sleuth, SHORT, BOTS, 2, seed) for seed in (3, 3, 4))
    assert first == again
    assert first.pairs != other.pairs


def test_a_pair_does_not_depend_on_who_else_takes_part() -> None:
    alone = play_tournament(sleuth, SHORT, ["cautious", "sheet"], 3, 3)
    among = play_tournament(sleuth, SHORT, ["sheet", "random", "cautious"], 3, 3)
    assert alone.share("sheet", "cautious") == among.share("sheet", "cautious")


def test_the_shares_of_a_pair_and_of_nobody_add_up_to_one() -> None:
    result = play_tournament(sleuth, SHORT, BOTS, 4, 1)
    assert len(result.pairs) == 3
    assert any(0 < pair.nobody_won < 1 for pair in result.pairs)
    for pair in result.pairs:
        assert sum(share.share for share in pair.shares) + pair.nobody_won == pytest.approx(1)
        assert sum(table.games for table in pair.tables) == pair.games == result.games_of_a_pair
        for number, share in enumerate(pair.shares):
            assert share.share == pytest.approx(np.mean([table.win_shares[number] for table in pair.tables]))
            assert share.low <= share.share <= share.high
    assert result.games == 3 * result.games_of_a_pair + result.games_of_all


def test_the_mean_of_a_row_of_the_cross_table_is_that_of_its_cells() -> None:
    result = play_tournament(sleuth, SHORT, BOTS, 4, 1)
    for player in result.players:
        cells = [result.share(player.name, other.name).share for other in result.players if other is not player]
        assert player.against_each.share == pytest.approx(np.mean(cells))


def test_who_does_not_take_part_has_no_share() -> None:
    result = play_tournament(sleuth, SHORT, ["random", "cautious"], 1)
    for other in ("random", "sheet"):
        with pytest.raises(MatchError, match=f"must be two of random, cautious, got 'random' and '{other}'"):
            result.share("random", other)


def test_equal_players_win_equally_often(tmp_path: Path) -> None:
    file = tmp_path / "twins.py"
    file.write_text("from sleuth_env.sleuth.bots import CautiousBot\n\nOne = Two = CautiousBot\n")
    result = play_tournament(sleuth, Options(num_players=4), [f"{file}:One", f"{file}:Two", "random"], 4, 2)
    first, second = next(pair.shares for pair in result.pairs if "random" not in pair.players)
    assert first.share == pytest.approx(0.5)
    assert second.share == pytest.approx(0.5)


def test_the_other_game_has_tournaments_too() -> None:
    holmes = load_game("holmes")
    options = make_options(holmes, {"num_players": 3})
    result = play_tournament(holmes, options, ["random", "counter"], 1)
    assert result.game == "holmes"
    assert {player.name for player in result.players} == {"random", "counter"}


def test_progress_counts_every_game_once() -> None:
    finished: list[int] = []
    result = play_tournament(sleuth, SHORT, BOTS, 3, progress=finished.append)
    assert sum(finished) == result.games


def test_several_processes_play_the_same_tournament(small_shards: None) -> None:
    alone = play_tournament(sleuth, SHORT, ["random", "cautious"], 2, 7)
    assert play_tournament(sleuth, SHORT, ["random", "cautious"], 2, 7, workers=2) == alone


# --- ratings ---


def wins_of(true_strengths: np.ndarray, deals: int, games: int, seed: int) -> np.ndarray:
    """Return the wins of games of two, each pair in each deal, won in proportion to strength."""
    share = true_strengths[:, None] / (true_strengths[:, None] + true_strengths)
    won = np.random.default_rng(seed).binomial(games, share, (deals, *share.shape))
    upper = np.triu(won, 1)
    return (upper + np.triu(games - won, 1).swapaxes(1, 2)).astype(float)


def test_ratings_find_the_strengths_that_made_the_games() -> None:
    pytest.importorskip("choix")
    true_strengths = np.array([1.0, 2.0, 10.0])
    rated = strengths.strengths(wins_of(true_strengths, 200, 10, 1), 0)
    assert rated is not None
    expected = 400 * np.log10(true_strengths / true_strengths.mean())
    for strength, truth in zip(rated, expected, strict=True):
        assert strength.low < truth < strength.high
        assert strength.high - strength.low < 60


def test_a_player_who_never_won_has_a_rating_with_an_open_end() -> None:
    pytest.importorskip("choix")
    wins = wins_of(np.array([1e-12, 1.0, 1.0]), 30, 10, 1)
    assert wins[:, 0].sum() == 0
    rated = strengths.strengths(wins, 0)
    assert rated is not None
    assert rated[0].low < -1400 < rated[0].rating < rated[0].high < -400
    assert rated[1].high - rated[1].low < 60


def test_without_a_winner_all_ratings_are_equal() -> None:
    pytest.importorskip("choix")
    rated = strengths.strengths(np.zeros((5, 3, 3)), 0)
    assert rated is not None
    assert [strength.rating for strength in rated] == [0, 0, 0]


def test_ratings_order_the_bots_as_their_results_do() -> None:
    pytest.importorskip("choix")
    result = play_tournament(sleuth, Options(num_players=3), BOTS, 12, 1)
    assert [player.name for player in result.players] == ["sheet", "cautious", "random"]
    ratings = [player.rating for player in result.players]
    assert all(better.rating > worse.rating for better, worse in pairwise(ratings))


def test_without_choix_there_is_all_but_the_ratings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    assert main(["tournament", *BOTS, *SHORT_WORDS]) == 0
    text = capsys.readouterr().out
    assert 'There are no ratings: they need choix: pip install "sleuth-env[tournament]"' in text
    assert "rating  95" not in text
    assert re.search(r"^#  player  +among all", text, re.M)


# --- what is kept ---


@pytest.mark.parametrize("seed", range(3))
def test_a_tournament_that_was_interrupted_anywhere_goes_on_to_the_same_bytes(
    seed: int, small_shards: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep, result = tmp_path / "games.jsonl", tmp_path / "result.json"
    words = ["tournament", *BOTS, "--options", "num_players=3", "max_turns=6", "--games", "18"]
    words += ["--keep", str(keep), "--json", str(result)]
    assert main(words) == 0
    games, content, text = keep.read_bytes(), result.read_bytes(), capsys.readouterr().out
    keep.write_bytes(games[: np.random.default_rng(seed).integers(len(games))])
    result.unlink()
    assert main(words) == 0
    assert keep.read_bytes() == games
    assert result.read_bytes() == content
    assert capsys.readouterr().out == text


def test_ctrl_c_keeps_what_was_played(small_shards: None, tmp_path: Path) -> None:
    keep = tmp_path / "games.jsonl"
    finished: list[int] = []

    def interrupt(number: int) -> None:
        """Stop in the middle."""
        finished.append(number)
        if len(finished) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_tournament(sleuth, SHORT, BOTS, 3, progress=interrupt, keep=keep)
    assert len(keep.read_text().splitlines()) == 1 + 4
    finished.clear()
    result = play_tournament(sleuth, SHORT, BOTS, 3, progress=finished.append, keep=keep)
    # First those that were kept.
    assert finished[0] > 0
    assert sum(finished) == result.games
    assert result == play_tournament(sleuth, SHORT, BOTS, 3)


def test_nothing_is_played_twice_and_more_games_only_once(
    small_shards: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = tmp_path / "games.jsonl"
    few = play_tournament(sleuth, SHORT, BOTS, 2, keep=keep)
    many = play_tournament(sleuth, SHORT, BOTS, 3, keep=keep)
    assert many == play_tournament(sleuth, SHORT, BOTS, 3)
    assert len(keep.read_text().splitlines()) == 1 + 3 * 4
    monkeypatch.setattr("sleuth_env.matches.tournament.play_shard", None)
    assert play_tournament(sleuth, SHORT, BOTS, 2, keep=keep) == few
    assert play_tournament(sleuth, SHORT, BOTS, 3, keep=keep) == many


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2}, "is of another tournament: its seed is 1, and not 2"),
        ({"players": ["random", "sheet"]}, "its players 2 is 'cautious', and not 'sheet'"),
        ({"options": Options(num_players=3)}, "its options.max_turns is 12, and not 300"),
        ({"players": ["random", "cautious", "sheet"]}, "its number of players is 2, and not 3"),
        ({"greedy": True}, "its greedy is False, and not True"),
    ],
    ids=["seed", "players", "options", "number", "greedy"],
)
def test_the_games_of_another_tournament_are_refused(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    keep = tmp_path / "games.jsonl"
    settings: dict[str, Any] = {"options": SHORT, "players": ["random", "cautious"], "num_deals": 1, "seed": 1}
    play_tournament(sleuth, **settings, keep=keep)
    before = keep.read_bytes()
    with pytest.raises(MatchError, match=re.escape(message)):
        play_tournament(sleuth, **{**settings, **changed}, keep=keep)
    assert keep.read_bytes() == before


def test_two_that_keep_the_same_games_at_the_same_time_lose_nothing(small_shards: None, tmp_path: Path) -> None:
    keep, other = tmp_path / "games.jsonl", tmp_path / "other.jsonl"
    result = play_tournament(sleuth, SHORT, BOTS, 2, keep=keep)
    play_tournament(sleuth, SHORT, BOTS, 3, keep=other)
    # As they lie when each has read a file that was still empty, and both wrote into it in turns.
    mine, theirs = keep.read_bytes().splitlines(True), other.read_bytes().splitlines(True)
    both = [line for pair in zip(mine, theirs, strict=False) for line in pair] + theirs[len(mine) :]
    keep.write_bytes(b"".join(both))
    assert play_tournament(sleuth, SHORT, BOTS, 2, keep=keep) == result
    assert keep.read_bytes() == b"".join(both)


def test_a_program_that_fails_is_said_and_a_bot_plays_for_it(
    small_shards: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "bad.py"
    program.write_text('print(\'{"type": "hello", "protocol": 1}\', flush=True)\n')
    player = f"exec:{sys.executable} {program}"
    keep = tmp_path / "games.jsonl"
    result = play_tournament(sleuth, SHORT, [player, "random"], 2, keep=keep)
    assert result.failures
    assert {failure.player for failure in result.failures} == {player}
    assert {failure.stand_in for failure in result.failures} == {"random"}
    assert all("has ended with exit code 0" in failure.reason for failure in result.failures)
    # The games are kept, and so is how it has failed.
    before = keep.read_bytes()
    assert play_tournament(sleuth, SHORT, [player, "random"], 2, keep=keep) == result
    assert keep.read_bytes() == before
    assert main(["tournament", player, "random", "--games", "6", "--keep", str(keep)]) == 2  # of other options
    capsys.readouterr()
    assert main(["tournament", player, "random", "--games", "6", "--options", "num_players=3"]) == 0
    assert "failed in seat" in capsys.readouterr().out


def test_games_of_another_version_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = tmp_path / "games.jsonl"
    play_tournament(sleuth, SHORT, ["random", "cautious"], 1, keep=keep)
    monkeypatch.setattr("sleuth_env.matches.tournament_file.__version__", "9.9")
    with pytest.raises(MatchError, match=re.escape(f"its version is '{sleuth_env.__version__}', and not '9.9'")):
        play_tournament(sleuth, SHORT, ["random", "cautious"], 1, keep=keep)


def test_a_changed_player_file_is_noticed(tmp_path: Path) -> None:
    keep, file = tmp_path / "games.jsonl", tmp_path / "policy.safetensors"
    save_policy(random_policy(), file, VERSIONS)
    play_tournament(sleuth, SHORT, [str(file), "random"], 1, keep=keep)
    save_policy(random_policy(), file, {**VERSIONS, "numpy": "another"})
    with pytest.raises(MatchError, match=r"the file of the player .*policy\.safetensors has changed since these games"):
        play_tournament(sleuth, SHORT, [str(file), "random"], 1, keep=keep)


@pytest.mark.parametrize("form", ["exec:{python} {file}", "exec:{file}", "exec:5s:sh {file}"])
def test_a_changed_program_is_noticed(form: str, tmp_path: Path) -> None:
    keep, file = tmp_path / "games.jsonl", tmp_path / "player"
    # It fails, which is a result as any other.
    file.write_text(f"#!{sys.executable}\n")
    file.chmod(0o755)
    players = [form.format(python=sys.executable, file=file), "random"]
    result = play_tournament(sleuth, SHORT, players, 1, keep=keep)
    before = keep.read_bytes()
    assert play_tournament(sleuth, SHORT, players, 1, keep=keep) == result
    file.write_text(f"#!{sys.executable}\n# another\n")
    with pytest.raises(MatchError, match=r"the file of the player exec:.*player has changed since these games"):
        play_tournament(sleuth, SHORT, players, 1, keep=keep)
    assert keep.read_bytes() == before


def test_a_program_that_changes_while_it_plays_is_noticed(small_shards: None, tmp_path: Path) -> None:
    file = tmp_path / "player.py"
    file.write_text("")
    players = [f"exec:python3 {file}", "random"]

    def change(number: int) -> None:
        """Write another program."""
        with file.open("a") as program:
            program.write(f"# {number}\n")

    with pytest.raises(MatchError, match=r"player\.py has changed since the tournament began"):
        play_tournament(sleuth, SHORT, players, 2, progress=change, keep=tmp_path / "games.jsonl")


def test_where_nothing_is_kept_a_program_may_write_a_file_that_its_command_names(
    small_shards: None, tmp_path: Path
) -> None:
    file, log = tmp_path / "player.py", tmp_path / "log"
    file.write_text("import sys\n\nopen(sys.argv[1], 'a').write('started\\n')\n")
    result = play_tournament(sleuth, SHORT, [f"exec:python3 {file} {log}", "random"], 2)
    assert log.read_text().count("started") == len(result.failures) > 2


def test_a_player_file_that_changes_while_it_plays_is_noticed(small_shards: None, tmp_path: Path) -> None:
    file = tmp_path / "policy.safetensors"
    save_policy(random_policy(), file, VERSIONS)

    def change(number: int) -> None:
        """Write another file."""
        save_policy(random_policy(), file, {**VERSIONS, "numpy": f"another {number}"})

    with pytest.raises(MatchError, match=r"policy\.safetensors has changed since the tournament began"):
        play_tournament(sleuth, SHORT, [str(file), "random"], 2, progress=change)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("something else", "does not keep the games of a tournament"),
        ("something else\n", "does not keep the games of a tournament"),
        ("[1]\n", "does not keep the games of a tournament"),
        ('{"form": "sleuth tournament 1"}\n', "does not keep the games of a tournament"),
        (9, "is damaged in line 2"),
        (10**400, "is damaged in line 2"),
    ],
    ids=["text", "line", "list", "header", "place", "number"],
)
def test_a_file_that_keeps_no_games_is_refused_and_left_as_it_is(
    content: str | int, message: str, tmp_path: Path
) -> None:
    keep = tmp_path / "games.jsonl"
    if isinstance(content, int):
        play_tournament(sleuth, SHORT, ["random", "cautious"], 1, keep=keep)
        header, line = keep.read_bytes().splitlines(True)
        about = json.loads(line)
        # Its checksum is right.
        del about["checksum"]
        about["places"][0][0] = content
        content = (header + tournament_file._line(about)).decode()
    keep.write_text(content)
    with pytest.raises(MatchError, match=re.escape(message)):
        play_tournament(sleuth, SHORT, ["random", "cautious"], 1, keep=keep)
    assert keep.read_text() == content


def test_any_damaged_byte_of_what_is_kept_is_noticed(small_shards: None, tmp_path: Path) -> None:
    keep = tmp_path / "games.jsonl"
    play_tournament(sleuth, SHORT, ["random", "cautious"], 2, keep=keep)
    content = keep.read_bytes()
    starts = [0, *(found.end() for found in re.finditer(b"\n", content))]
    for number, (start, end) in enumerate(pairwise(starts), 1):
        for place in range(start, end - 1):
            keep.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(MatchError) as caught:
                play_tournament(sleuth, SHORT, ["random", "cautious"], 2, keep=keep)
            message = f"{keep} is damaged in line {number}: choose another file"
            # What is not a header any more is of no tournament.
            foreign = f"{keep} does not keep the games of a tournament: choose another file"
            assert str(caught.value) in ((message, foreign) if number == 1 else (message,))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("rewards", (0, 1), 0.5), ("truncated", (1,), 1), ("places", (0, 0), 2), ("deals", (1,), 2), ("seed", (), 6)],
)
def test_a_number_that_is_another_one_is_noticed(
    name: str, place: tuple[int, ...], value: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = tmp_path / "games.jsonl"
    words = ["tournament", "random", "cautious", *SHORT_WORDS, "--keep", str(keep)]
    assert main(words) == 0
    lines = [json.loads(line) for line in keep.read_text().splitlines()]
    number = next(number for number, about in enumerate(lines) if name in about)
    inner: Any = lines[number]
    path = [name, *place]
    for key in path[:-1]:
        inner = inner[key]
    assert inner[path[-1]] != value
    inner[path[-1]] = value
    content = "".join(json.dumps(about, separators=(",", ":")) + "\n" for about in lines)
    keep.write_text(content)
    capsys.readouterr()
    assert main(words) == 2
    output, errors = said(capsys)
    assert (output, errors) == ("", f"sleuth: {keep} is damaged in line {number + 1}: choose another file\n")
    assert keep.read_text() == content


@pytest.mark.parametrize(
    ("line", "message"), [(0, "does not keep the games of a tournament"), (1, "damaged in line 2")]
)
def test_a_line_without_a_checksum_is_refused(line: int, message: str, tmp_path: Path) -> None:
    keep = tmp_path / "games.jsonl"
    play_tournament(sleuth, SHORT, ["random", "cautious"], 1, keep=keep)
    lines = keep.read_text().splitlines(True)
    lines[line] = re.sub(r',"checksum":"\w+"', "", lines[line])
    keep.write_text("".join(lines))
    with pytest.raises(MatchError, match=message):
        play_tournament(sleuth, SHORT, ["random", "cautious"], 1, keep=keep)


# --- the command ---


def test_a_full_disk_names_the_file_that_keeps_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    keep = tmp_path / "games.jsonl"
    assert main(["tournament", *BOTS, *SHORT_WORDS, "--keep", str(keep)]) == 1
    assert said(capsys) == ("", f"sleuth: {keep}: No space left on device\n")


def test_the_command_prints_two_aligned_tables_that_fit_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", *BOTS, *SHORT_WORDS]) == 0
    output, errors = said(capsys)
    lines = output.splitlines()
    assert lines[0] == "3 players at tables of 3, seed 5, 96 games over 4 deals:"
    assert lines[1] == "24 of each two players, 24 all together"
    assert lines[2] == "options: max_turns=12"
    for heading in [number for number, line in enumerate(lines) if line.startswith("#  player")]:
        table = lines[heading : heading + 4]
        assert len({len(line) for line in table}) == 1
        assert [line[0] for line in table] == list("#123")
    assert max(map(len, lines)) <= 80
    assert errors == ""


def test_games_are_rounded_up_to_whole_deals_and_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "random", "cautious", "--games", "7", "--options", "num_players=3", "max_turns=5"]) == 0
    assert "12 of each two players (rounded up from 7)" in capsys.readouterr().out


def test_the_json_says_all_that_was_played(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert main(["tournament", *BOTS, *SHORT_WORDS, "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert result["version"] == sleuth_env.__version__
    assert result["options"] == vars(SHORT)
    settings = {"game": "sleuth", "seed": 5, "greedy": False, "deals": 4, "games": 96, "games_asked": 24}
    assert {name: result[name] for name in settings} == settings
    assert set(result) == {
        *("version", "options", "games_of_a_pair", "games_of_all", "fair_share", "players", "pairs", "failures"),
        *settings,
    }
    assert {player["name"] for player in result["players"]} == set(BOTS)
    for player in result["players"]:
        assert set(player) == {"name", "rating", "against_each", "among_all", "mean_reward"}
        assert player["rating"] is None or set(player["rating"]) == {"rating", "low", "high"}
        assert set(player["among_all"]) == {"share", "low", "high"}
    for pair in result["pairs"]:
        assert set(pair) == {"players", "games", "shares", "nobody_won", "truncated", "tables"}
        assert [set(table) for table in pair["tables"]] == [{"seats", "games", "win_shares", "mean_rewards"}] * 2


def test_the_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.png"
    assert main(["tournament", *BOTS, *SHORT_WORDS, "--png", str(path)]) == 0
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 200
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 50


WRONG = [
    ("sheet", "a tournament needs two players or more, got 1"),
    ("sheet random sheet", "the player sheet is given twice: each takes part once"),
    ("sheet nobody", "there is no bot 'nobody': a player is one of the bots random, cautious"),
    ("sheet pretrained:nothing", "there is no bundled policy 'pretrained:nothing'"),
    ("sheet nowhere.safetensors", "nowhere.safetensors"),
    ("sheet random --games 0", "argument --games: must be a whole number from 1"),
    ("sheet random --workers 0", "workers"),
    ("sheet random --options num_players=2", "num_players must be an integer from 3 to 7, got 2"),
    ("sheet random --png picture.jpg", "--png must be a file that ends in .png, got 'picture.jpg'"),
    ("sheet random --png nowhere/picture.png", "nowhere/picture.png cannot be written: its folder does not exist"),
    ("sheet random --keep nowhere/games", "nowhere/games cannot be written: its folder does not exist"),
    ("sheet random --keep -", "--keep must be a file, got '-'"),
    ("sheet random --keep games --json ./games", "--json and --keep must be different files"),
    ("sheet mine.safetensors --keep mine.safetensors", "it is the file of the player mine.safetensors"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[words for words, _ in WRONG])
def test_what_is_wrong_is_said_in_one_line_before_a_game(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_policy(random_policy(), tmp_path / "mine.safetensors", VERSIONS)
    monkeypatch.setattr("sleuth_env.matches.tournament.play_shard", None)
    before = sorted(tmp_path.iterdir())
    assert main(["tournament", *words.split()]) == 2
    output, errors = said(capsys)
    assert output == ""
    assert errors.count("\n") == 1
    assert message in errors
    assert sorted(tmp_path.iterdir()) == before


def test_a_picture_without_matplotlib_is_refused_before_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("sleuth_env.matches.tournament.play_shard", None)
    assert main(["tournament", *BOTS, "--png", str(tmp_path / "picture.png")]) == 2
    assert said(capsys)[1] == 'sleuth: a picture needs matplotlib: pip install "sleuth-env[tournament]"\n'
