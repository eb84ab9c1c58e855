"""Tournaments and learning curves as pages: their figures, and that they stand alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.cli.commands import main
from sleuth_env.matches import strengths
from sleuth_env.matches.crosstable import TournamentResult
from sleuth_env.matches.rating import Failure
from sleuth_env.matches.tournament import play_tournament
from sleuth_env.sleuth import Options
from sleuth_env.web.curves_page import Level, Line, Panel, curves_page
from sleuth_env.web.tournament_page import shown_names, tournament_page
from tests.support.pages import check_alone, data_of, elements
from tests.support.terminal import said
from training.figure import Evaluations, page_of
from training.plot import main as plot

HOSTILE = "</td><script>alert(1)</script><b onclick=x>&"


@pytest.fixture(scope="module")
def result() -> TournamentResult:
    """The result of a small tournament."""
    patch = pytest.MonkeyPatch()
    patch.setattr(strengths, "RESAMPLES", 20)
    try:
        return play_tournament(sleuth, Options(num_players=3, max_turns=12), ["random", "cautious", "sheet"], 4, 5)
    finally:
        patch.undo()


def rows_of(page: str, kind: str) -> list[list[str]]:
    """Return the texts of the cells of a table."""
    body = re.search(rf'<table class="{kind}">.*?<tbody>(.*?)</tbody>', page, re.S)
    assert body is not None
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.S)
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows
    ]


# --- tournaments ---


def test_the_cross_table_has_every_share(result: TournamentResult) -> None:
    rows = rows_of(tournament_page(result), "cross")
    names = [player.name for player in result.players]
    assert [row[0] for row in rows] == [f"{number} {name}" for number, name in enumerate(names, 1)]
    for row, name in zip(rows, names, strict=True):
        for cell, other in zip(row[1:], names, strict=True):
            if name != other:
                share = result.share(name, other)
                assert cell == f"{100 * share.share:.1f}{100 * share.low:.1f} to {100 * share.high:.1f}"


def test_the_ratings_have_their_intervals(result: TournamentResult) -> None:
    rows = rows_of(tournament_page(result), "ratings")
    for row, player in zip(rows, result.players, strict=True):
        assert player.rating is not None
        assert row[:3] == [
            player.name,
            f"{player.rating.rating:+.0f}",
            f"{player.rating.low:+.0f} to {player.rating.high:+.0f}",
        ]


def test_files_are_named_without_their_folders(result: TournamentResult) -> None:
    short = {"random": "one.safetensors", "cautious": "one.py:Bot", "sheet": "exec:python one.py --quick"}
    files = ["/home/me/runs/one.safetensors", "bots/one.py:Bot", "exec:/usr/bin/python bots/one.py --quick"]
    renamed = dict(zip(short, files, strict=True))
    players = tuple(replace(player, name=renamed[player.name]) for player in result.players)
    pairs = tuple(replace(pair, players=(renamed[pair.players[0]], renamed[pair.players[1]])) for pair in result.pairs)
    page = tournament_page(replace(result, players=players, pairs=pairs))
    assert [row[0] for row in rows_of(page, "ratings")] == [short[player.name] for player in result.players]
    assert not any(folder in page for folder in ("/home/me", "bots/", "/usr/bin"))


def test_files_that_would_be_called_alike_keep_their_folders() -> None:
    names = ["one/best.safetensors", "two/best.safetensors", "three/other.safetensors", "a/b"]
    assert list(shown_names(names).values()) == [*names[:2], "other.safetensors", "a/b"]


def test_without_ratings_players_are_compared_by_their_shares(result: TournamentResult) -> None:
    players = tuple(replace(player, rating=None, among_all=None) for player in result.players)
    rows = rows_of(tournament_page(replace(result, players=players)), "ratings")
    shares = [player.against_each for player in players]
    assert [row[1] for row in rows] == [f"{100 * share.share:.1f} %" for share in shares]


def test_a_tournaments_page_stands_alone_and_names_are_text(result: TournamentResult) -> None:
    page = tournament_page(result)
    check_alone(page)
    assert "<script" not in page
    renamed = {player.name: f"{player.name}{HOSTILE}" for player in result.players}
    hostile = replace(
        result,
        players=tuple(replace(player, name=renamed[player.name]) for player in result.players),
        pairs=tuple(
            replace(pair, players=(renamed[pair.players[0]], renamed[pair.players[1]])) for pair in result.pairs
        ),
    )
    assert elements(tournament_page(hostile)) == elements(page)


def test_programs_that_have_failed_are_named(result: TournamentResult) -> None:
    failure = Failure(HOSTILE, seat=1, reason="it has ended", answered=1, stand_in="random", replaced=2)
    page = tournament_page(replace(result, failures=(failure, failure)))
    assert page.count("it has ended; random played.") == 1
    assert HOSTILE not in page
    assert "failed" not in tournament_page(result)


def test_tournament_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--options", "num_players=3", "max_turns=12", "--games", "12", "--seed", "5"]
    out = tmp_path / "t.html"
    assert main(["tournament", "random", "cautious", *words, "--html", str(out)]) == 0
    capsys.readouterr()
    assert len(rows_of(out.read_text(), "cross")) == 2
    assert main(["tournament", "random", "cautious", *words, "--html", str(tmp_path / "t.txt")]) == 2
    name = str(tmp_path / "t.txt")[:60]
    assert said(capsys) == ("", f"sleuth: --html must be a file that ends in .html, got {name!r}\n")


# --- learning curves ---


RUNS = [
    Evaluations("runs/one", 3, np.array([64.0, 128]), np.array([1.0, 2]), {"random": np.array([0.5, np.nan])}),
    Evaluations("runs/two", 4, np.array([100.0]), np.array([3.0]), {"random": np.array([0.2]), "sheet": np.array([1])}),
]


def test_a_page_of_curves_has_every_share_at_its_place() -> None:
    page = page_of(RUNS)
    data = data_of(page, "plot-data")
    assert data["axis"] == "decisions of the learner"
    assert [panel["title"] for panel in data["panels"]] == ["against random", "against sheet"]
    random, sheet = data["panels"]
    assert random["places"] == [64.0, 100.0]
    assert random["lines"] == [
        {"label": "runs/one", "values": [0.5, None]},
        {"label": "runs/two", "values": [None, 0.2]},
    ]
    assert [round(level["value"], 3) for level in random["levels"]] == [0.333, 0.25]
    assert (sheet["places"], sheet["lines"][1]["values"]) == ([100.0], [1.0])
    dash = "\N{EN DASH}"
    assert rows_of(page, "figures") == [["64", "50.0 %", dash], ["100", dash, "20.0 %"]]
    hours = data_of(page_of(RUNS, hours=True), "plot-data")
    assert (hours["axis"], hours["panels"][0]["places"]) == ("hours of training", [1.0, 3.0])


def test_a_page_of_curves_stands_alone_and_labels_are_text() -> None:
    def page(label: str) -> str:
        return curves_page("Title", "axis", [Panel(label, [1.0], [Line(label, [0.5])], [Level(label, 0.3)])])

    check_alone(page("plain"))
    assert [tag for tag, _ in elements(page(HOSTILE))] == [tag for tag, _ in elements(page("plain"))]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with a curve."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text("options:\n  num_players: 3\n")
    (folder / "progress.csv").write_text("time/total_timesteps,time/seconds,eval/random\n64,36,0.5\n")
    return folder


def test_plot_writes_a_page_and_a_picture_only_where_that_is_asked_for(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plot(["run", "--html", "c.html"]) == 0
    assert capsys.readouterr().out == "drawn: c.html\n"
    assert not (tmp_path / "curve.png").exists()
    assert data_of((tmp_path / "c.html").read_text(), "plot-data")["panels"][0]["lines"][0]["values"] == [0.5]
    assert plot(["run", "--html", "c.html", "--out", "p.png"]) == 0
    assert capsys.readouterr().out == "drawn: p.png\ndrawn: c.html\n"
    assert plot(["run", "--html", "c.png"]) == 2
    assert "--html must be a file that ends in .html" in capsys.readouterr().err
