"""Players are not trusted with more than a view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.matches.match import play_match
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.table import Table
from sleuth_env.sleuth import Options


class Spy:
    """Keep what it is handed."""

    name = "spy"

    def __init__(self) -> None:
        self.seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        self.seen.append((views, legal, seeds))
        chosen = legal.argmax(axis=1)
        chosen[legal[:, -1] == 1] = legal.shape[1] - 1
        return chosen


def unmixed(number: int) -> int:
    """Invert `mixed`, which is one to one."""

    def unshifted(z: int, shift: int) -> int:
        result = z
        while (result ^ (result >> shift)) != z:
            result = z ^ (result >> shift)
        return result

    mask = 2**64 - 1
    z = unshifted(number, 31) * pow(0x94D049BB133111EB, -1, 2**64) & mask
    z = unshifted(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) & mask
    return unshifted(z, 30)


def test_a_bot_cannot_find_the_deal_from_its_random_bits() -> None:
    spy = Spy()
    table = Table(sleuth, Options(num_players=3), 1, [spy], 0)
    table.deal([0], [12345])
    stream = int(table._streams[0, table.actors[0]])
    table.play_round()
    bits = int(spy.seen[0][2][0])
    assert (unmixed(bits) - 0x9E3779B97F4A7C15) % 2**64 == stream, (
        "the inversion works, and finds the stream of the bots"
    )
    assert stream != 12345
    # What the stream was made of before it was hashed: the seed through the same one-to-one mixing.
    assert unmixed(stream) != 12345
    assert unmixed(stream) ^ 0xD1B54A32D192ED03 != 12345


def test_a_bot_cannot_find_the_random_bits_of_others_nor_how_often_they_decided() -> None:
    spies = [Spy() for _ in range(3)]
    table = Table(sleuth, Options(num_players=3), 1, spies, [0, 1, 2])
    table.deal([0], [12345])
    for _ in range(60):
        table.play_round()
    bits = [[int(seeds[0]) for _, _, seeds in spy.seen] for spy in spies]
    assert min(map(len, bits)) > 10
    streams = [{(unmixed(number) - k * 0x9E3779B97F4A7C15) % 2**64 for k, number in enumerate(own, 1)} for own in bits]
    assert [len(own) for own in streams] == [1, 1, 1], "its own decisions are all that a bot can count"
    reachable = {(min(streams[0]) + k * 0x9E3779B97F4A7C15) % 2**64 for k in range(-5000, 5000)}
    assert not reachable & {unmixed(number) for own in bits[1:] for number in own}


def test_a_bot_is_handed_nothing_but_its_own_views() -> None:
    spy = Spy()
    play_match(sleuth, Options(num_players=3), [spy, "cautious", "cautious"], 2)
    for arrays in spy.seen:
        for array in arrays:
            owner = array if array.base is None else array.base
            assert getattr(owner, "nbytes", array.nbytes) == array.nbytes


@pytest.mark.parametrize("chosen", [None, "pass", 0.7, [0.7], 4, [[4]], [4, 4], [10**30], [True]])
def test_a_bot_that_returns_no_actions_is_named(chosen: object) -> None:
    bot = Spy()
    bot.act = lambda views, legal, seeds: chosen  # type: ignore[method-assign]
    table = Table(sleuth, Options(num_players=3), 1, [bot], 0)
    table.deal([0], [1])
    before = table.states.tobytes()
    with pytest.raises(
        MatchError,
        match=r"bot 'spy' must return one action for each game, integers that fit int64, of the shape \(1,\)",
    ):
        table.play_round()
    assert table.states.tobytes() == before


@pytest.mark.parametrize("player", [None, 5, object(), sleuth.BOTS["sheet"]])
def test_what_is_no_player_is_refused(player: object) -> None:
    with pytest.raises(MatchError, match="a player is the name of a bot"):
        play_match(sleuth, Options(num_players=3), [player, "random", "random"], 1)  # type: ignore[list-item]


def test_a_bot_made_for_other_options_plays_by_those_of_the_match() -> None:
    made = sleuth.make_bot("sheet", Options(num_players=3))
    options = Options(num_players=4, super_sleuth=True)
    results = [play_match(sleuth, options, [bot, "random", "random", "random"], 5) for bot in (made, "sheet")]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("named", "word"),
    [
        ({"num_deals": 2.5}, "num_deals"),
        ({"num_deals": True}, "num_deals"),
        ({"num_deals": 0}, "num_deals"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": -1}, "batch_size"),
        ({"seed": 1.5}, "seed"),
        ({"seed": None}, "seed"),
        ({"names": ["a"]}, "names"),
    ],
)
def test_numbers_that_make_no_match_are_refused(named: dict[str, Any], word: str) -> None:
    with pytest.raises(MatchError, match=word):
        play_match(sleuth, Options(num_players=3), ["random"] * 3, **({"num_deals": 1} | named))


def test_in_a_game_that_is_not_dealt_nothing_is_legal() -> None:
    table = Table(sleuth, Options(num_players=3), 2)
    assert not table.legal([0, 1]).any()
    assert not table.step([0], [412]).any()
    assert table.finished.all()


def test_a_learner_cannot_play_for_a_bot() -> None:
    table = Table(sleuth, Options(num_players=3), 1, [Spy()], 0)
    table.deal([0], [1])
    with pytest.raises(MatchError, match="play_on"):
        table.step([0], [int(table.legal([0])[0].argmax())])
