"""The bot `hunch` plays like `racer` by estimates, and plays on alike in a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.matches.match import play_match
from sleuth_env.sleuth.bots import make_bot
from sleuth_env.sleuth.bots.hunch import HunchBot, weights_by_rules
from sleuth_env.sleuth.bots.racer import outlook
from sleuth_env.sleuth.cards import Options, make_rules
from sleuth_env.sleuth.clues import read_sheet
from sleuth_env.sleuth.state import MUST_ACCUSE, OFFER
from tests.support.bot_games import BotGames
from tests.support.strategies import option_name


class Asked:
    """A bot that is asked for each decision, so that it does not play on in a kernel."""

    name = "asked"

    def __init__(self, bot: HunchBot) -> None:
        self.bot = bot

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose as the bot does."""
        return self.bot.act(views, legal, seeds)


@pytest.mark.parametrize(
    "options",
    [Options(3), Options(4, missing=2), Options(5, super_sleuth=True), Options(4, double_interrogation=True)],
    ids=option_name,
)
def test_it_plays_on_in_a_kernel_as_it_does_when_asked(options: Options) -> None:
    rivals = ["sheet"] * (options.num_players - 1)
    names = ["hunch", *rivals]
    in_kernel = play_match(sleuth, options, ["hunch", *rivals], 30, seed=4, names=names)
    asked = play_match(sleuth, options, [Asked(HunchBot(options)), *rivals], 30, seed=4, names=names)
    assert in_kernel == asked


@pytest.mark.parametrize("players", [3, 4])
def test_it_beats_sheet_as_racer_does(players: int) -> None:
    result = play_match(sleuth, Options(players), ["hunch"] + ["sheet"] * (players - 1), num_deals=200, seed=1)
    assert result.entries[0].win_low > 1 / players


def test_it_guesses_and_it_declines() -> None:
    games = BotGames(Options(3), ("hunch",), 20, seed=1)
    guesses = declined = 0
    accuse_at, pass_at = (int(games.rules[name][0]) for name in ("accuse_at", "pass_at"))
    for decisions in games.play():
        proved = np.bitwise_count(read_sheet(games.rules, decisions.views)["has"][:, 2]) == 1
        offered = decisions.views["phase"] == OFFER
        accuses = (decisions.actions >= accuse_at) & (decisions.actions < pass_at)
        assert accuses[proved & offered].all()
        assert accuses[decisions.views["phase"] == MUST_ACCUSE].all()
        guesses += np.count_nonzero(accuses & ~proved)
        declined += np.count_nonzero(decisions.actions == pass_at)
    assert guesses > 3
    assert declined > 100


@pytest.mark.parametrize("options", [Options(3), Options(4, missing=3), Options(4, super_sleuth=True)], ids=option_name)
def test_it_sees_the_race_as_racer_does(options: Options) -> None:
    weights = weights_by_rules(make_rules(options))
    racer = make_bot("racer", options).daring.outlook
    assert weights.tolist() == [racer["offer"].tolist(), racer["turn"].tolist()]
    assert set(outlook(3, "base")) == {"offer", "turn"}
