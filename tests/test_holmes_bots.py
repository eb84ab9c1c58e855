"""The bots of the second game play legally, from their view and seed alone, and as they are described."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sleuth_env.doors import ArrayError
from sleuth_env.holmes.belief import belief
from sleuth_env.holmes.bots import BOTS, DEFAULT_BOT, BotError, make_bot
from sleuth_env.holmes.bots.planner import PlannerBot
from sleuth_env.holmes.cards import TITLES, VILLAIN_TITLES, Options, make_rules, num_actions
from sleuth_env.holmes.cases import deal
from sleuth_env.holmes.rules import legal, step
from sleuth_env.holmes.set_up import set_up
from sleuth_env.holmes.state import FINISHED, new_states
from sleuth_env.holmes.view import VIEW, view
from tests.support.holmes_bot_games import HolmesBotGames, share_won
from tests.support.holmes_comparison import action_texts

VARIANTS = [Options(3), Options(4, fast_play=True), Options(5, cases=1, reward="case"), Options(8, must_arrest=True)]


class Table:
    """A position of three players in which bots are asked."""

    def __init__(self, hands: list[str], current: str, **more: object) -> None:
        self.options = Options(len(hands))
        self.rules = make_rules(self.options)
        self.texts = action_texts(len(hands))
        dealt = {f"player_{seat}": hand.split() for seat, hand in enumerate(hands)}
        position = {"hands": dealt, "current": current, "location": "city", "turn": "player_0", **more}
        self.states = set_up(self.options, position)

    def do(self, *actions: str) -> Table:
        """Take actions."""
        taken = np.zeros(1, "u1")
        for action in actions:
            step(self.rules, self.states, np.array([self.texts.index(action)]), taken, np.zeros((1, len(self.texts))))
            assert taken[0], action
        return self

    def seen(self) -> np.ndarray:
        """Return what whoever decides sees, VIEW [1]."""
        views = np.zeros(1, VIEW)
        view(self.rules, self.states, self.states["actor"].astype("i8"), views)
        return views

    def choice(self, bot: str, seed: int = 0) -> str:
        """Return what a bot does."""
        marks = np.zeros((1, num_actions(self.options)), "u1")
        legal(self.rules, self.states, marks)
        return self.texts[make_bot(bot, self.options).act(self.seen(), marks, np.array([seed], "u8"))[0]]

    def choices(self, bot: str, number: int = 40) -> set[str]:
        """Return all that a bot does with different seeds."""
        return {self.choice(bot, seed) for seed in range(number)}


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_bots_play_legally_and_a_row_decides_as_it_would_alone(options: Options, name: str) -> None:
    games = HolmesBotGames(options, [name] * options.num_players, 3, seed=1)
    limit = 8 if name == "planner" else 250
    for moment, (bot, _, _, views, marks, seeds, actions) in enumerate(games.play(limit)):
        if moment % 7 == 0:
            alone = [bot.act(views[b : b + 1], marks[b : b + 1], seeds[b : b + 1])[0] for b in range(views.size)]
            assert alone == actions.tolist()


def test_games_between_bots_end() -> None:
    games = HolmesBotGames(Options(4, cases=1), [*list(BOTS)[:3], "counter"], 8)
    for _ in games.play():
        pass
    assert (games.states["phase"] == FINISHED).all()


def test_cautious_arrests_only_who_is_proved_guilty() -> None:
    options = Options(4)
    rules = make_rules(options)
    arrest = TITLES.index("arrest")
    arrests = 0
    for decisions in HolmesBotGames(options, ["cautious"] * 4, 12, seed=2).play(400):
        action = decisions.actions[0]
        at = action - int(rules["aimed_at"][0])
        if at >= 0 and action < rules["choose_at"][0] and rules["aimed_title"][0, at % 15] == arrest:
            hand = decisions.views["least"][0, at // 15]
            plays = decisions.legal[0, : int(rules["choose_at"][0])].sum()
            assert hand[list(VILLAIN_TITLES)].any() or plays <= 3
            arrests += 1
    assert arrests


def test_everybody_but_random_escapes() -> None:
    table = Table(["milverton", "clue train", "clue train"], "telegram")
    for name in ("cautious", "counter"):
        assert table.choices(name) == {"escape"}


def test_a_villain_is_kept_and_an_arrest_answered() -> None:
    table = Table(["arrest clue", "alibi mastermind moran", "clue train"], "suspicion").do("play arrest on +1")
    for name in ("cautious", "counter"):
        assert table.choices(name) == {"play alibi"}
    table = Table(["arrest clue", "alibi mastermind clue", "clue train"], "suspicion").do("play arrest on +1")
    for name in ("cautious", "counter"):
        assert table.choices(name) == {"pass"}
    table = Table(["constabulary moran manor", "train clue", "train"], "suspicion").do("play constabulary on +1")
    for name in ("cautious", "counter"):
        assert table.choices(name) == {"choose manor"}


def test_whoever_is_proved_guilty_is_arrested() -> None:
    hands = ["constabulary moran manor arrest", "clue clue", "clue clue"]
    table = Table(hands, "suspicion", draw_pile=["estate", "castle"])
    assert table.choices("cautious") == {f"play constabulary{on}" for on in ("", " on +1", " on +2")}
    table.do("play constabulary on +2", "choose moran", "draw", "draw")
    assert table.choices("cautious") == {"play arrest on +2"}
    assert table.choices("counter") == {"play arrest on +2"}


def test_counter_looks_where_a_villain_is_likely_before_it_feeds_the_others() -> None:
    table = Table(["clue disguise suspicion detective", "clue train manor", "clue train"], "clue")
    assert table.choice("counter") == "play disguise on +1"
    table = Table(["suspicion detective", "clue train manor", "clue train"], "clue")
    assert table.choice("counter") == "play suspicion on +2"


def test_counter_counts_cards() -> None:
    table = Table(["clue train", "clue train manor", "clue"], "telegram", discards=["moran", "clay"])
    found = belief(table.rules, table.seen())
    assert not found.exact
    assert found.chance[:, 1].tolist() == [0, 0, 0]
    # All holders can have moriarty: as likely as they have cards.
    sizes = np.array([3, 1, int(table.states["pile_size"][0])])
    assert np.allclose(found.chance[:, 0], sizes / sizes.sum())
    assert (found.least <= found.most).all()


def test_unknown_bots_and_foreign_views_are_refused() -> None:
    with pytest.raises(BotError, match="random, cautious, counter"):
        make_bot("watson", Options())
    table = Table(["clue train", "clue train", "clue train"], "london")
    bot = make_bot(DEFAULT_BOT, Options(4))
    with pytest.raises(ArrayError, match=r"num_players=\[3\]"):
        bot.act(table.seen(), np.ones((1, num_actions(Options(4))), "u1"), np.zeros(1, "u8"))


# The share of the single cases that one seat closes, with its 95 % interval in the specification.
STRENGTH = {
    (3, "cautious", "random"): (0.357, 0.435),
    (3, "counter", "random"): (0.434, 0.513),
    (3, "counter", "cautious"): (0.353, 0.431),
    (4, "cautious", "random"): (0.228, 0.298),
    (4, "counter", "random"): (0.339, 0.416),
    (4, "counter", "cautious"): (0.329, 0.406),
    (5, "cautious", "random"): (0.206, 0.274),
    (5, "counter", "random"): (0.274, 0.348),
    (5, "counter", "cautious"): (0.262, 0.332),
    (6, "cautious", "random"): (0.181, 0.246),
    (6, "counter", "random"): (0.246, 0.317),
    (6, "counter", "cautious"): (0.227, 0.297),
    (8, "cautious", "random"): (0.122, 0.179),
    (8, "counter", "random"): (0.182, 0.248),
    (8, "counter", "cautious"): (0.178, 0.243),
}


@pytest.mark.slow
@pytest.mark.parametrize(("players", "one", "others"), STRENGTH)
def test_bots_are_as_strong_as_they_should_be(players: int, one: str, others: str) -> None:
    low, high = STRENGTH[players, one, others]
    share, half = share_won(Options(players, cases=1, reward="case"), one, others, 1200 // players)
    assert low - half <= share <= high + half


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4, 6, 8])
def test_counter_closes_more_than_its_fair_share(players: int) -> None:
    for others in ("random", "cautious"):
        share, half = share_won(Options(players, cases=1, reward="case"), "counter", others, 2400 // players)
        assert share - half > 1 / players


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("least", 9, r"there are at most \d+ copies of a title, got \d+ in row 0"),
        ("discards", 9, r"there are at most \d+ copies of a title, got \d+ in row 0"),
        ("telegrams", 8, "there are at most 8 Telegram tokens, got 64"),
        ("hand_sizes", 125, "there are at most 125 cards, got"),
    ],
)
def test_the_planner_refuses_views_of_more_than_there_is(field: str, value: int, message: str) -> None:
    options = Options(num_players=4)
    rules = make_rules(options)
    states = new_states(1)
    deal(rules, states, np.array([3], np.uint64))
    views = np.zeros(1, VIEW)
    view(rules, states, states["actor"], views)
    marks = np.zeros((1, num_actions(options)), np.uint8)
    legal(rules, states, marks)
    views[field] = value
    with pytest.raises(ArrayError, match=message):
        make_bot("planner", options).act(views, marks, np.array([1], np.uint64))


def test_the_planner_says_what_every_action_is_worth() -> None:
    options = Options(num_players=3, cases=1, reward="case")
    planner = make_bot("planner", options)
    assert isinstance(planner, PlannerBot)
    escape = action_texts(3).index("escape")
    escapes = 0
    for *_, views, marks, seeds, _ in HolmesBotGames(options, ["random"] * 3, 4, seed=5).play(60):
        worths = planner.worths(views, marks, seeds, 3)
        assert worths.shape == marks.shape
        assert not worths[marks == 0].any()
        # The mean of what closed cases pay: 1 to whoever closes them, -1/2 to others.
        assert ((worths >= -0.5) & (worths <= 1)).all()
        able = marks[:, escape] == 1
        assert (worths[able, escape] == 1).all()
        escapes += able.sum()
        # A row is worth what it would be alone.
        np.testing.assert_array_equal(planner.worths(views[-1:], marks[-1:], seeds[-1:], 3)[0], worths[-1])
    assert escapes


@pytest.mark.parametrize("deals", [0, 1.5, None, 2**40])
def test_the_planner_tries_in_one_deal_at_least(deals: Any) -> None:
    options = Options(num_players=3)
    games = HolmesBotGames(options, ["counter"] * 3, 1)
    *_, views, marks, seeds, _ = next(iter(games.play(1)))
    planner = make_bot("planner", options)
    assert isinstance(planner, PlannerBot)
    with pytest.raises(ValueError, match="deals must be an integer from 1 to 1024, got"):
        planner.worths(views, marks, seeds, deals)
