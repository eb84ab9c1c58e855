"""Snapshots of a game under way: copies, pickles and states go on exactly as the game does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sleuth_env import SoloEnv, SoloVectorEnv, sleuth_v0
from tests.support.playing import a_legal_action, an_illegal_action, everything_shown, play, play_out

raw_or_wrapped = pytest.mark.parametrize("make", [sleuth_v0.raw_env, sleuth_v0.env], ids=["raw", "wrapped"])
every_render_mode = pytest.mark.parametrize("render_mode", [None, "human", "ansi", "rgb_array"])


def by_deepcopy(env: Any, _: Callable[[], Any]) -> Any:
    return copy.deepcopy(env)


def by_pickle(env: Any, _: Callable[[], Any]) -> Any:
    return pickle.loads(pickle.dumps(env))


def by_state(env: Any, make: Callable[[], Any]) -> Any:
    other = make()
    other.set_state(env.get_state())
    return other


def by_pickled_state(env: Any, make: Callable[[], Any]) -> Any:
    other = make()
    other.reset(seed=77)
    other.set_state(pickle.loads(pickle.dumps(env.get_state())))
    return other


every_snapshot = pytest.mark.parametrize(
    "snapshot", [by_deepcopy, by_pickle, by_state, by_pickled_state], ids=lambda way: way.__name__
)


@every_snapshot
@raw_or_wrapped
@every_render_mode
def test_a_snapshot_goes_on_as_the_game_does(
    snapshot: Callable[..., Any], make: Callable[..., Any], render_mode: str | None
) -> None:
    env = make(num_players=4, render_mode=render_mode)
    env.reset(seed=3)
    play_out(env, seed=4, limit=15, accuse=0.0)
    twin = snapshot(env, lambda: make(num_players=4, render_mode=render_mode))
    assert everything_shown(twin) == everything_shown(env)
    ways = []
    for one in (env, twin):
        steps = [(step, everything_shown(one)) for step in play(one, seed=5, limit=25)]
        one.reset()
        ways.append([steps, everything_shown(one)])
    assert ways[0] == ways[1]


@every_snapshot
@raw_or_wrapped
def test_stepping_a_copy_does_not_move_the_original(snapshot: Callable[..., Any], make: Callable[..., Any]) -> None:
    env = make()
    env.reset(seed=3)
    before = everything_shown(env)
    twin = snapshot(env, make)
    play_out(twin, seed=1, limit=10)
    twin.reset()
    assert everything_shown(env) == before


@every_snapshot
@raw_or_wrapped
def test_a_finished_game_can_be_snapped_between_the_agents_leaving(
    snapshot: Callable[..., Any], make: Callable[..., Any]
) -> None:
    env = make(num_players=3)
    env.reset(seed=3)
    play_out(env, seed=1, accuse=0.5)
    env.step(None)
    twin = snapshot(env, lambda: make(num_players=3))
    for one in (env, twin):
        while one.agents:
            one.step(None)
    assert everything_shown(twin) == everything_shown(env)


@raw_or_wrapped
def test_going_back_replays_identically(make: Callable[..., Any]) -> None:
    env = make()
    env.reset(seed=3)
    play_out(env, seed=4, limit=10, accuse=0.0)
    state = env.get_state()
    shown = everything_shown(env)
    first = play_out(env, seed=8, limit=30)
    env.set_state(state)
    assert everything_shown(env) == shown
    assert play_out(env, seed=8, limit=30) == first


behind_the_wrappers_back = pytest.mark.parametrize(
    "inside", [lambda env: env, lambda env: env.unwrapped], ids=["wrapped", "unwrapped"]
)


@behind_the_wrappers_back
def test_after_going_back_the_wrapper_judges_by_the_mask_of_that_moment(inside: Callable[..., Any]) -> None:
    env = sleuth_v0.env(num_players=3)
    env.reset(seed=3)
    state = env.get_state()
    action = a_legal_action(env)
    play_out(env, seed=8, limit=3, accuse=0.0)
    env.last()
    inside(env).set_state(state)
    env.step(action)
    assert not any(env.terminations.values())


@behind_the_wrappers_back
def test_a_snapshot_put_into_a_new_wrapped_environment_is_as_good_as_a_reset(inside: Callable[..., Any]) -> None:
    env = sleuth_v0.env(num_players=3)
    other = sleuth_v0.env(num_players=3)
    env.reset(seed=3)
    inside(other).set_state(env.get_state())
    first = [other.agent_selection for _ in other.agent_iter(1)]
    assert first == [env.agent_selection]
    other.step(a_legal_action(env))
    assert not any(other.terminations.values())


@behind_the_wrappers_back
def test_a_snapshot_brings_back_a_game_that_an_illegal_action_has_ended(inside: Callable[..., Any]) -> None:
    env = sleuth_v0.env(num_players=3)
    env.reset(seed=3)
    state = env.get_state()
    illegal = an_illegal_action(env)
    env.step(illegal)
    ended = env.get_state()
    inside(env).set_state(state)
    assert not any(env.terminations.values())
    env.step(a_legal_action(env))
    inside(env).set_state(ended)
    assert all(env.terminations.values())
    while env.agents:
        env.step(None)
    inside(env).set_state(state)
    assert play_out(env, seed=1)


def test_going_back_within_the_loop_over_the_agents_counts_as_a_step() -> None:
    env = sleuth_v0.env(num_players=3)
    env.reset(seed=3)
    state = env.get_state()
    agents = []
    for agent in env.agent_iter(3):
        agents.append(agent)
        env.set_state(state)
    assert agents == [agents[0]] * 3


def test_a_snapshot_of_a_game_with_other_options_is_refused() -> None:
    env = sleuth_v0.raw_env(num_players=4)
    other = sleuth_v0.raw_env(num_players=4, winners=2)
    other.reset(seed=1)
    with pytest.raises(ValueError, match=r"the snapshot is of a game with {'num_players': 4, .*'winners': 2"):
        env.set_state(other.get_state())


@raw_or_wrapped
def test_what_is_no_whole_snapshot_is_refused_and_changes_nothing(make: Callable[..., Any]) -> None:
    env = make(num_players=3)
    env.reset(seed=3)
    play_out(env, seed=4, limit=5, accuse=0.0)
    earlier = env.get_state()
    play_out(env, seed=5, limit=5, accuse=0.0)
    before = everything_shown(env)
    partial = [
        replace(earlier, more={name: value for name, value in earlier.more.items() if name != left_out})
        for left_out in earlier.more
    ]
    for wrong in (*partial, {}, None, 5, replace(earlier, streams=[{}]), replace(earlier, streams=[None])):
        with pytest.raises(ValueError, match=r"that is not a snapshot, which get_state\(\) takes"):
            env.set_state(wrong)
    for states in (earlier.states[:0], earlier.states[:, 1:], earlier.states.astype("i8"), None):
        with pytest.raises(ValueError, match="a snapshot of these games has states of the shape"):
            env.set_state(replace(earlier, states=states))
    for streams in ([], None, earlier.streams * 2):
        with pytest.raises(ValueError, match="as many streams"):
            env.set_state(replace(earlier, streams=streams))
    with pytest.raises(ValueError, match="is of an environment of 'sleuth' of the kind 'vector', this one is"):
        env.set_state(replace(earlier, face="vector"))
    wrong_parts = {
        "first_states": earlier.states[:, 1:],
        "actions": [-1],
        "agents": ["bob"],
        "agent_selection": "bob",
        "skipped_selection": "bob",
        "rewards": {"bob": 1.0},
        "terminations": None,
    }
    for name, part in wrong_parts.items():
        with pytest.raises(ValueError, match=f"{name} of the snapshot does not fit this environment"):
            env.set_state(replace(earlier, more={**earlier.more, name: part}))
    assert everything_shown(env) == before
    env.set_state(earlier)
    assert everything_shown(env) != before


def test_a_refused_snapshot_does_not_count_as_a_reset() -> None:
    env = sleuth_v0.env(num_players=3)
    with pytest.raises(ValueError, match="that is not a snapshot"):
        env.set_state({})
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env.agent_selection  # noqa: B018


@pytest.mark.parametrize("many", [False, True])
def test_a_snapshot_that_contradicts_itself_is_refused_though_its_digest_is_blank(many: bool) -> None:
    settings: dict[str, Any] = {"opponents": "random", "num_players": 3}
    env: Any = SoloVectorEnv(2, **settings) if many else SoloEnv(**settings)
    env.reset(seed=3)
    begun = env.get_state()
    while not np.any(env.get_state().more["over"]):
        masks = env.action_masks()
        env.step(masks.argmax(axis=1) if many else int(masks.argmax()))
    ended = env.get_state()
    before = pickle.dumps(ended)
    left = np.zeros_like(begun.more["left"])
    left[0] = True
    over = np.zeros(2, np.bool_) if many else False
    for state, changed in ((begun, {"left": left}), (ended, {"over": over})):
        with pytest.raises(ValueError, match=next(iter(changed))):
            env.set_state(replace(state, more={**state.more, **changed}, digest=""))
    assert pickle.dumps(env.get_state()) == before
    for state in (begun, ended):
        env.set_state(state)
