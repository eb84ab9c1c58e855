"""Ratings of who plays in a run."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.test_train import curve
from tests.test_train_ppo import SELF_PLAY, stop
from training.config import ConfigError, make_config
from training.opponents import COLUMNS, LEARNER_PLAYER, League, Pool, results_of
from training.run import Run


def played(
    strengths: dict[str, float], games: int, seats: int = 4, seed: int = 1
) -> list[tuple[list[str], list[float]]]:
    """Draw who sits and who wins by Luce's model."""
    rng = np.random.default_rng(seed)
    names = list(strengths)
    results = []
    for _ in range(games):
        table = [names[number] for number in rng.integers(len(names), size=seats)]
        shares = np.array([strengths[name] for name in table])
        results.append((table, won_by(int(rng.choice(seats, p=shares / shares.sum())), seats)))
    return results


def won_by(seat: int, seats: int) -> list[float]:
    """Return the shares of a win that is one seat's."""
    return [float(number == seat) for number in range(seats)]


def league_of(*names: str) -> League:
    league = League()
    league.enter(names)
    return league


def test_ratings_are_the_strengths_that_games_were_played_with():
    league = league_of("random", "sheet", "self")
    # Ten times as strong is 400 points.
    league.count(played({"random": 1.0, "sheet": 10.0, "self": 10**0.5, LEARNER_PLAYER: 10.0}, 20_000))
    assert [league.rating(name) for name in ("random", "sheet", "self", LEARNER_PLAYER)] == pytest.approx(
        [0, 400, 200, 400], abs=70
    )


def test_equals_are_rated_alike_wherever_they_sit():
    league = league_of("one", "other")
    league.count([(["one", "other", LEARNER_PLAYER], won_by(first, 3)) for first in (0, 1, 2)] * 500)
    assert max(abs(league.rating(name)) for name in league.members) < 10


def test_a_player_alone_at_a_table_learns_nothing_of_its_rating():
    league = league_of("random")
    league.count([([LEARNER_PLAYER] * 4, won_by(2, 4))] * 100)
    assert league.rating() == pytest.approx(0)
    assert (league.members[LEARNER_PLAYER].games, league.members[LEARNER_PLAYER].wins) == (400, 100)


def test_a_snapshot_begins_with_the_rating_of_the_learner_and_stays_when_it_has_left():
    league = league_of("random", "old")
    league.count([(["random", "old", LEARNER_PLAYER], won_by(2, 3))] * 50)
    league.enter(["random", "new"])
    assert league.rating("new") == league.rating() > 100
    assert "old" in league.members


def test_the_first_bot_stays_the_zero_where_others_have_come_for_it():
    league = league_of("random", "sheet")
    league.count([(["random", "sheet", LEARNER_PLAYER], won_by(1, 3))] * 50)
    league.enter(["sheet", "cautious"])
    league.count([(["sheet", "cautious", LEARNER_PLAYER], won_by(0, 3))] * 50)
    assert league.rating("random") == 0
    assert league.rating("sheet") > 100


def test_nobody_is_rated_for_a_game_that_nobody_has_won():
    players = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    shares = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    assert results_of([LEARNER_PLAYER, "random"], players, shares) == [
        (["random", "random", LEARNER_PLAYER], [0.0, 1.0, 0.0]),
        ([LEARNER_PLAYER, LEARNER_PLAYER, "random"], [0.5, 0.0, 0.5]),
    ]


def test_a_tie_is_shared(tmp_path: Path):
    league = league_of("random")
    league.count([([LEARNER_PLAYER, "random"], [0.5, 0.5])] * 3)
    assert league.rating() == 0
    assert league.members["random"].wins == 1.5
    league.write(tmp_path / "league.csv")
    assert (tmp_path / "league.csv").read_text().splitlines()[1:] == ["learner,0.0,3,1.50", "random,0.0,3,1.50"]


def test_without_games_there_is_neither_a_file_nor_a_curve(tmp_path: Path):
    league = league_of("random")
    league.write(tmp_path / "league.csv")
    assert league.row() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_state_holds_everything():
    league = league_of("random", "sheet")
    other = League()
    league.count(played({"random": 1.0, "sheet": 10.0, LEARNER_PLAYER: 3.0}, 50))
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
        LEARNER_PLAYER,
    }
    assert float(curve(run.folder)[-1]["league/rating"]) == ratings[LEARNER_PLAYER]
    assert sum(int(row["wins"]) for row in rows) * 3 == sum(int(row["games"]) for row in rows)


# --- past selves by strength ---


def test_the_chance_to_beat_the_learner_is_by_rating():
    league = league_of("weak", "strong")
    league.members["strong"].rating = 400.0
    league.members["weak"].rating = -400.0
    assert [league.chance(name) for name in ("weak", LEARNER_PLAYER, "strong")] == pytest.approx(
        [1 / 11, 1 / 2, 10 / 11]
    )


@pytest.mark.parametrize(("focus", "shares"), [(0, [1.0, 1.0]), (1, [0.4, 1.6]), (2, [2 / 17, 32 / 17])])
def test_past_selves_come_by_their_chances_to_the_power_of_focus(tmp_path: Path, focus: float, shares: list[float]):
    config = make_config(SELF_PLAY | {"opponents": {"past_selves": 2.0, "bots": {}, "focus": focus}})
    run = Run(config, tmp_path / "run")
    run.folder.mkdir()
    for steps in (1, 2):
        policy = run.policy()
        policy.steps = steps
        run.pool.add(policy)
    assert [share for _, share in run.pool.opponents().values()] == [1.0, 1.0]  # nobody has weighed them
    names = list(run.pool.past_selves)
    run.pool.weigh(dict(zip(names, (0.2, 0.8), strict=True)).__getitem__)
    assert [share for _, share in run.pool.opponents().values()] == pytest.approx(shares)
    again = Pool(config, run.folder, run.inputs)
    again.restore(names, run.pool.digests(names), run.pool.weights)
    assert again.weights == run.pool.weights
    run.pool.weigh(lambda name: 0.0)
    assert [share for _, share in run.pool.opponents().values()] == [1.0, 1.0]
    for wrong in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match="finite numbers of at least 0"):
            again.restore(names, {}, {names[0]: wrong})


def test_a_resumed_run_draws_past_selves_as_an_unbroken_one(tmp_path: Path):
    opponents = SELF_PLAY["opponents"] | {"past_selves": 1.0, "snapshot_every": 64, "focus": 2}
    config = make_config(SELF_PLAY | {"total_steps": 600, "opponents": opponents})
    unbroken = Run(config, tmp_path / "unbroken")
    unbroken.start()
    unbroken.train()
    broken = Run(config, tmp_path / "broken")
    broken.start()
    usual = broken.learner.learn
    broken.learner.learn = lambda progress, _: usual(  # type: ignore[method-assign]
        progress, lambda: bool(broken.signal) or stop(broken, broken.steps > 300)
    )
    assert broken.train() == 15
    resumed = Run(config, tmp_path / "broken")
    resumed.resume()
    assert resumed.pool.weights == broken.pool.weights
    resumed.train()
    assert len(set(unbroken.pool.weights.values())) > 1
    assert unbroken.pool.weights == resumed.pool.weights
    assert unbroken.league.state() == resumed.league.state()


def test_focus_needs_ratings():
    with pytest.raises(ConfigError, match=r"opponents.focus: must be 0 with algorithm 'maskable_ppo'"):
        make_config({"algorithm": "maskable_ppo", "opponents": {"focus": 1.0}})
