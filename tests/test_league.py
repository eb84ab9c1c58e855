"""Ratings of who plays in a run."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.test_train import curve
from tests.test_train_ppo import SELF_PLAY
from training.config import make_config
from training.opponents import COLUMNS, LEARNER, League, results_of
from training.run import Run


def played(strengths: dict[str, float], games: int, seats: int = 4, seed: int = 1) -> list[tuple[list[str], int]]:
    """Draw who sits and who wins by Luce's model."""
    chance = np.random.default_rng(seed)
    names = list(strengths)
    results = []
    for _ in range(games):
        table = [names[number] for number in chance.integers(len(names), size=seats)]
        shares = np.array([strengths[name] for name in table])
        results.append((table, int(chance.choice(seats, p=shares / shares.sum()))))
    return results


def league_of(*names: str) -> League:
    league = League()
    league.enter(names)
    return league


def test_ratings_are_the_strengths_that_games_were_played_with():
    league = league_of("random", "sheet", "self")
    # Ten times as strong is 400 points.
    league.count(played({"random": 1.0, "sheet": 10.0, "self": 10**0.5, LEARNER: 10.0}, 20_000))
    assert [league.rating(name) for name in ("random", "sheet", "self", LEARNER)] == pytest.approx(
        [0, 400, 200, 400], abs=70
    )


def test_equals_are_rated_alike_wherever_they_sit():
    league = league_of("one", "other")
    league.count([(["one", "other", LEARNER], first) for first in (0, 1, 2)] * 500)
    assert max(abs(league.rating(name)) for name in league.members) < 10


def test_a_player_alone_at_a_table_learns_nothing_of_his_rating():
    league = league_of("random")
    league.count([([LEARNER] * 4, 2)] * 100)
    assert league.rating() == pytest.approx(0)
    assert (league.members[LEARNER].games, league.members[LEARNER].wins) == (400, 100)


def test_a_snapshot_begins_with_the_rating_of_the_learner_and_stays_when_it_has_left():
    league = league_of("random", "old")
    league.count([(["random", "old", LEARNER], 2)] * 50)
    league.enter(["random", "new"])
    assert league.rating("new") == league.rating() > 100
    assert "old" in league.members


def test_nobody_is_rated_for_a_game_that_nobody_has_won():
    players = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    rewards = np.array([[-0.5, -0.5, -0.5], [-0.5, 1.0, -0.5], [0.5, -1.5, 1.0]])
    assert results_of([LEARNER, "random"], players, rewards) == [
        (["random", "random", LEARNER], 1),
        ([LEARNER, LEARNER, "random"], 2),
    ]


def test_without_games_there_is_neither_a_file_nor_a_curve(tmp_path: Path):
    league = league_of("random")
    league.write(tmp_path / "league.csv")
    assert league.row() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_state_holds_everything():
    league = league_of("random", "sheet")
    other = League()
    league.count(played({"random": 1.0, "sheet": 10.0, LEARNER: 3.0}, 50))
    other.restore(league.state())
    assert other.members == league.members
    assert list(other.members) == list(league.members)


def test_a_run_rates_its_bots_and_its_past_selves(tmp_path: Path):
    run = Run(make_config(SELF_PLAY | {"total_steps": 1500}), tmp_path / "run")
    run.start()
    run.train()
    with (run.folder / "league.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    ratings = {row["player"]: float(row["rating"]) for row in rows}
    assert ratings["random"] == 0
    assert list(ratings.values()) == sorted(ratings.values(), reverse=True)
    assert {path.name.removesuffix(".safetensors") for path in (run.folder / "pool").iterdir()} == ratings.keys() - {
        "random",
        "sheet",
        LEARNER,
    }
    assert float(curve(run.folder)[-1]["league/rating"]) == ratings[LEARNER]
    assert sum(int(row["wins"]) for row in rows) * 3 == sum(int(row["games"]) for row in rows)
