"""The scripts under ``benchmarks/`` refuse wrong arguments in one line, before they measure."""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parents[1]
WRONG = [
    ("throughput", "--players 2", "argument --players: must be a whole number from 3 to 8, got '2'"),
    ("throughput", "--players 8", "argument --players: num_players must be an integer from 3 to 7, got 8"),
    ("throughput", "--seconds nan", "argument --seconds: must be a number from 0.001 to 3600, got 'nan'"),
    ("throughput", "--repeat 0", "argument --repeat: must be a whole number from 1 to 1000, got '0'"),
    ("throughput", "--parts --threads 2", "--parts measures on one thread"),
    ("growth", "--seconds 0", "argument --seconds: must be a number from 0.001 to 3600, got '0'"),
    ("learners", "--turns 0", "argument --turns: must be a whole number from 1 to 1000, got '0'"),
    ("learners", "--learner 2", "argument --learner: must be a number from 0.001 to 1, got '2'"),
    ("learners", "--config nope.yaml", "nope.yaml: cannot be read as a configuration file"),
    ("learners", "--config configs/four_players.yaml", "start means nothing to MaskablePPO"),
    ("learners", "--config configs/selfplay_smoke.yaml", "opponents.past_selves must be 0"),
    ("learners", "--config configs/against_sheet.yaml --players 4", "a configuration file has its own"),
    ("learners", "--config relational.yaml", "network.kind: 'relational' needs algorithm 'ppo'"),
    ("learners", "--config late.yaml --seeds 2", "seed: must be at most 4294967295, got 4294967296"),
    ("learners", "--config=", ": cannot be read as a configuration file"),
    ("ratings", "--deals 1", "argument --deals: must be a whole number from 2 to 100000, got '1'"),
    ("ratings", "--ways elo", "argument --ways: must be some of choix, plain, openskill, share"),
    ("serve", "--tables 0", "argument --tables: must be a whole number from 1 to 900, got '0'"),
    ("sheet", "--games 9", "argument --games: must be a whole number from 10 to 1000000, got '9'"),
    ("startup", "--repeats 0", "argument --repeats: must be a whole number from 1 to 1000, got '0'"),
    ("words", "--games 0", "argument --games: must be a whole number from 1 to 1000, got '0'"),
    ("workers", "--workers 1", "argument --workers: must be a whole number from 2 to 1024, got '1'"),
    ("worlds", "--players 2", "argument --players: must be a whole number from 3 to 7, got '2'"),
    (
        "tables",
        "--bots nobody",
        "argument --bots: must be some of random, cautious, sheet, hunch, entropy, racer, separated by commas, "
        "got 'nobody'",
    ),
    ("reading", "--deals 0", "argument --deals: must be a whole number from 1 to 1000000, got '0'"),
    ("reading", "--models sheat", "argument --models: must be some of random, cautious, sheet, entropy, racer, any"),
    ("searcher", "--deals 1", "argument --deals: must be a whole number from 2 to 1000000, got '1'"),
    ("searcher", "--subjects nobody", "argument --subjects: must be some of searcher, without play-outs, "),
]


def run(script: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    # As for a script that Python is given: one may use another.
    monkeypatch.syspath_prepend(str(HERE / "benchmarks"))
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *words.split()])
    runpy.run_path(f"benchmarks/{script}.py", run_name="__main__")


@pytest.mark.parametrize(("script", "words", "message"), WRONG)
def test_what_is_wrong_with_the_arguments_is_said(
    script: str,
    words: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "relational.yaml").write_text(
        yaml.safe_dump({"network": {"kind": "relational"}, "opponents": {"past_selves": 0}})
    )
    (tmp_path / "late.yaml").write_text(yaml.safe_dump({"seed": 2**32 - 1, "opponents": {"past_selves": 0}}))
    for name in ("relational.yaml", "late.yaml"):
        words = words.replace(name, str(tmp_path / name))
    with pytest.raises(SystemExit) as exit_:
        run(script, words, monkeypatch)
    assert exit_.value.code == 2
    shown = capsys.readouterr()
    assert message in shown.err.splitlines()[-1]
    assert shown.out == ""


# The least that each script measures.
LEAST = [
    ("throughput", "--players 3 --seconds 0.01 --repeat 1"),
    ("throughput", "--game holmes --players 3 --seconds 0.01 --repeat 1"),
    ("growth", "--seconds 0.01 --repeat 1"),
    ("worlds", "--players 3 --games 1 --positions 2"),
    ("sheet", "--games 10"),
    ("reading", "--players 3 --bots sheet --games 2 --deals 20"),
    ("workers", "--games 3 --repeats 1"),
    pytest.param("serve", "--tables 2 --seconds 1 --games 1", marks=pytest.mark.slow),
    pytest.param("startup", "--repeats 1", marks=pytest.mark.slow),
    pytest.param("learners", "--players 3 --seconds 1 --turns 1", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("script", "words"), LEAST)
def test_a_script_measures_to_its_end(
    script: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(script, words, monkeypatch)
    assert capsys.readouterr().out.strip()


def row(bot: str, wins: float) -> dict[str, Any]:
    """Return a row of benchmarks/tables.json."""
    shares = {field: [wins, wins - 0.1, wins + 0.1] for field in ("random", "cautious", "sheet")}
    about = {"bot": bot, "variant": "base", "players": 3, "deals": 400, "seed": 7, "version": "1"}
    return about | {"win_share": shares, "turns": 12.5, "wrong": 0.0, "milliseconds": 0.1}


def test_the_tables_are_replaced_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = runpy.run_path(str(HERE / "benchmarks" / "tables.py"))
    first, last = script["MARKS"]
    paths = {"RESULTS": tmp_path / "tables.json", "PAGE": tmp_path / "results.md"}
    for name, path in paths.items():
        monkeypatch.setitem(script["write"].__globals__, name, path)
    paths["PAGE"].write_text(f"above\n{first}\nold\n{last}\nbelow\n")
    script["write"]([row("sheet", 0.5), row("random", 0.2)])
    page = paths["PAGE"].read_text()
    assert page.startswith(f"above\n{first}\n")
    assert page.endswith(f"{last}\nbelow\n")
    assert page.index("`random`") < page.index("`sheet`")
    assert [one["bot"] for one in json.loads(paths["RESULTS"].read_text())] == ["random", "sheet"]
    before = [path.read_bytes() for path in paths.values()]

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        script["write"]([row("sheet", 0.6)])
    assert [path.read_bytes() for path in paths.values()] == before
    assert sorted(tmp_path.iterdir()) == sorted(paths.values())


def test_both_algorithms_are_measured_also_where_every_seat_learns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small = {
        "num_envs": 4,
        "network": {"hidden": [8]},
        "ppo": {"rollout_steps": 4, "batch_size": 8, "epochs": 1},
        "options": {"num_players": 3},
    }
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small))
    run(
        "learners",
        f"--config {tmp_path / 'small.yaml'} --learner 1 --turns 1 --seeds 2 --seconds 0.001 --deals 2",
        monkeypatch,
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("3 players, network [8], 1 passes, 1 threads")
    assert [line.split()[0] for line in lines[1:]] == ["maskable_ppo", "ppo"] * 2 + ["first"] * 3
