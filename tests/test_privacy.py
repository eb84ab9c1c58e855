"""Privacy by substitution: what a seat cannot know changes nothing that it receives by a byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from sleuth_env import sleuth as kernels
from sleuth_env import sleuth_v0
from sleuth_env.sleuth.cards import Options, make_rules
from sleuth_env.sleuth.drawing.text import draw_ansi
from sleuth_env.sleuth.features import RECORDS, observation_size, write_observations
from sleuth_env.sleuth.view import VIEW, view
from tests.support.replaying import Replay
from tests.support.strategies import (
    ALL_VARIANTS,
    EVERY_VARIANT,
    KNOWING,
    LIVELY,
    PATIENT,
    PLAYER_COUNTS,
    RASH,
    Player,
    option_name,
)
from tests.support.substitution import History, play, what_is_seen

# Counting the deals of seven players takes its time.
RECORDS_OF = {n: RECORDS if n < 7 else ("sheet", "raw") for n in PLAYER_COUNTS}
# Beginnings with many questions, a whole game, and games full of accusations.
WHOLE = 10_000
GAMES = [
    (PATIENT, 40),
    (PATIENT, 100),
    (LIVELY, 60),
    (LIVELY, WHOLE),
    (RASH, 8),
    (RASH, WHOLE),
    (KNOWING, 30),
    (KNOWING, WHOLE),
]


def replays(options: Options, player: Player, length: int, seed: int) -> list[Replay]:
    """Return a game replayed with changed secrets for each viewer."""
    history = play(options, seed, player).cut(length)
    return [Replay(history, viewer, seed) for viewer in range(options.num_players)]


def what_is_received(history: History, viewer: int, records: Sequence[str]) -> list[bytes]:
    """Return the observations and the drawing that a seat gets at the end of a history."""
    options = history.options
    rules = make_rules(history.options)
    views = np.zeros(1, VIEW)
    view(rules, history.states[-1], np.array([viewer]), views)
    received = [draw_ansi(options, views[0], belief="exact" in records).encode()]
    for record in records:
        observation = np.zeros((1, observation_size(options, record)), "f4")
        write_observations(rules, views, observation, record)
        received.append(observation.tobytes())
    return received


def what_the_environment_tells(history: History, viewer: int) -> list[object]:
    """Return all that PettingZoo's environment tells a player after an unfinished history."""
    env = sleuth_v0.raw_env(render_mode="rgb_array", viewpoint=viewer, **vars(history.options))
    agent = f"player_{viewer}"
    last = history.states[-1]
    env.reset(seed=0)
    # By no snapshot: the changed history is not a replay of its first state, and would be refused.
    env._states[:] = last
    env.agent_selection = f"player_{last['actor'][0]}"
    seen = env.observe(agent)
    arrays = [seen["observation"].tobytes(), seen["action_mask"].tobytes(), env.view(agent).tobytes()]
    return [
        *arrays,
        env.render().tobytes(),
        env.agent_selection,
        env.infos[agent],
        env.rewards[agent],
        env.terminations[agent],
        env.truncations[agent],
    ]


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_no_seat_notices_a_change_of_what_it_cannot_know(options: Options) -> None:
    for changed, original in received_twice(options, RECORDS_OF[options.num_players]):
        assert changed == original


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [options for options in ALL_VARIANTS if "exact" not in RECORDS_OF[options.num_players]], ids=option_name
)
def test_nor_does_the_exact_record_of_many_players(options: Options) -> None:
    for changed, original in received_twice(options, ("exact",)):
        assert changed == original


def received_twice(options: Options, records: Sequence[str]) -> Iterator[tuple[object, object]]:
    """Iterate over what each seat receives in games with changed secrets, and in the originals."""
    for seed, (player, length) in enumerate(GAMES):
        for replay in replays(options, player, length, seed):
            yield what_is_seen(replay.history, replay.viewer), what_is_seen(replay.original, replay.viewer)
            yield (
                what_is_received(replay.history, replay.viewer, records),
                what_is_received(replay.original, replay.viewer, records),
            )


@pytest.mark.parametrize(
    "options", [Options(3), Options(4, missing=2, winners=2, announce_result=False), Options(7)], ids=option_name
)
def test_the_environment_tells_no_secret(options: Options) -> None:
    compared = 0
    for seed in range(2):
        for replay in replays(options, LIVELY, 20, seed):
            if replay.original.states[-1]["phase"][0] != kernels.FINISHED:
                assert what_the_environment_tells(replay.history, replay.viewer) == what_the_environment_tells(
                    replay.original, replay.viewer
                )
                compared += 1
    assert compared >= options.num_players


@pytest.fixture(scope="module")
def replayed() -> list[Replay]:
    """Replays of games with all kinds of secrets."""
    variants = [Options(3), Options(4, missing=2), Options(5, winners=4, announce_result=False), Options(7)]
    return [
        replay
        for options in variants
        for seed, (player, length) in enumerate(GAMES)
        for replay in replays(options, player, length, seed)
    ]


# Of the games that have such a secret, the share in which it must have been changed. Many announced
# numbers leave few other deals; and a result may not be changed where the game would have ended
# otherwise.
SHARES = {"hands": 0.9, "missing_gems": 0.5, "accused": 0.8, "seen": 0.3, "pile": 0.9, "offers": 0.8, "standing": 0.3}


@pytest.mark.parametrize(("secret", "share"), SHARES.items())
def test_the_replays_do_change(secret: str, share: float, replayed: list[Replay]) -> None:
    with_it = [replay for replay in replayed if secret in replay.secrets()]
    changed = sum(secret in replay.changed() for replay in with_it)
    assert len(with_it) >= 20
    assert changed >= share * len(with_it), f"{changed} of {len(with_it)}"


def test_a_seat_that_peeks_would_be_caught() -> None:
    history = play(Options(4), 1, LIVELY).cut(60)
    replay = Replay(history, 0, 1)
    peeks = [
        [states["missing_gems"].tobytes() + states["offers"].tobytes() for states in game.states]
        for game in (history, replay.history)
    ]
    assert peeks[0] != peeks[1]
    assert replay.history.states[-1]["phase"][0] != kernels.OFFER
