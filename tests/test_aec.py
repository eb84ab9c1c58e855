"""The cycle of an environment: resetting, stepping, refusing, looking and drawing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from sleuth_env import sleuth_v0
from sleuth_env.actions import IllegalAction
from sleuth_env.sleuth import action_name, draw_ansi, parse_action, parse_game
from tests.support.playing import a_legal_action, an_illegal_action, everything_shown, play, play_out

raw_or_wrapped = pytest.mark.parametrize("make", [sleuth_v0.raw_env, sleuth_v0.env], ids=["raw", "wrapped"])
every_render_mode = pytest.mark.parametrize("render_mode", [None, "human", "ansi", "rgb_array"])


@pytest.fixture
def env() -> Any:
    """A game of four, ten decisions old."""
    env = sleuth_v0.raw_env(num_players=4)
    env.reset(seed=3)
    play_out(env, seed=4, limit=10, accuse=0.0)
    return env


# --- resetting ---


def test_reset_returns_nothing_and_ignores_options_it_does_not_know() -> None:
    env = sleuth_v0.env()
    assert env.reset(seed=1, options={"no such": 1}) is None
    assert env.reset(options={}) is None


@raw_or_wrapped
def test_a_seed_settles_this_game_and_the_following(make: Callable[..., Any]) -> None:
    first = make()
    second = make()
    second.reset(seed=99)
    games = []
    for env in (first, second):
        env.reset(seed=5)
        shown = [everything_shown(env)]
        for _ in range(3):
            env.reset()
            shown.append(everything_shown(env))
        games.append(shown)
    assert games[0] == games[1]
    assert len({shown[-1] for shown in games[0]}) == 4


@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), np.array(5)], ids=repr)
def test_any_whole_number_seeds(seed: Any) -> None:
    first = sleuth_v0.env()
    second = sleuth_v0.env()
    first.reset(seed=5)
    second.reset(seed=seed)
    assert everything_shown(first) == everything_shown(second)


@raw_or_wrapped
@pytest.mark.parametrize("seed", [1.7, -1, True, "1", [1]], ids=repr)
def test_what_is_no_seed_is_refused_and_changes_nothing(make: Callable[..., Any], seed: Any) -> None:
    env = make()
    env.reset(seed=1)
    before = everything_shown(env)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0, got"):
        env.reset(seed=seed)
    assert everything_shown(env) == before


def test_without_a_seed_two_environments_differ() -> None:
    first = sleuth_v0.raw_env()
    second = sleuth_v0.raw_env()
    first.reset()
    second.reset()
    assert first.reveal() != second.reveal()


def test_global_random_generators_are_left_alone() -> None:
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tobytes()
    env = sleuth_v0.env()
    env.reset(seed=2)
    for agent in env.agent_iter(20):
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before


@pytest.mark.parametrize("call", ["observe", "state", "render", "step", "view", "reveal", "game_text", "get_state"])
def test_nothing_works_before_the_first_reset(call: str) -> None:
    env = sleuth_v0.raw_env(render_mode="ansi")
    arguments = {"observe": ["player_0"], "view": ["player_0"], "step": [0]}.get(call, [])
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        getattr(env, call)(*arguments)


# --- stepping ---


@raw_or_wrapped
@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint16, np.array], ids=lambda kind: kind.__name__)
def test_a_step_takes_any_whole_number(make: Callable[..., Any], kind: Any) -> None:
    env = make()
    other = make()
    env.reset(seed=1)
    other.reset(seed=1)
    action = a_legal_action(env)
    assert env.step(kind(action)) is None
    other.step(action)
    assert everything_shown(env) == everything_shown(other)


NO_ACTIONS = [
    None,
    1.0,
    np.float32(1),
    True,
    np.True_,
    [1],
    np.array([1]),
    np.array([1, 2]),
    np.array(1.0),
    "exchange",
    -1,
    np.int64(-1),
    653,
    2**70,
]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_what_is_no_action_is_refused_and_changes_nothing(env: Any, action: Any) -> None:
    before = everything_shown(env)
    with pytest.raises(ValueError, match="action must be an integer from 0 to 652, got"):
        env.step(action)
    assert everything_shown(env) == before


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_the_wrapped_environment_refuses_it_too(action: Any) -> None:
    env = sleuth_v0.env(num_players=4)
    env.reset(seed=1)
    before = everything_shown(env)
    with pytest.raises(
        (AssertionError, IllegalAction), match=r"action is not in action space|action must be an integer from 0 to 652"
    ):
        env.step(action)
    assert everything_shown(env) == before


def test_an_overwritten_mask_does_not_mislead_the_wrapped_environment() -> None:
    env = sleuth_v0.env(num_players=4)
    env.reset(seed=1)
    legal = a_legal_action(env)
    env.last()[0]["action_mask"][:] = 0
    env.step(legal)
    assert not any(env.terminations.values())
    guilty = env.agent_selection
    illegal = an_illegal_action(env)
    env.last()[0]["action_mask"][:] = 1
    env.step(illegal)
    assert env.rewards[guilty] == -1.0


def test_an_illegal_action_is_refused_in_the_words_of_the_game_and_changes_nothing(env: Any) -> None:
    before = everything_shown(env)
    action = an_illegal_action(env)
    with pytest.raises(IllegalAction) as refused:
        env.step(action)
    assert everything_shown(env) == before
    message = str(refused.value)
    assert message.startswith(f"{env.agent_selection} may not choose action {action} ({action_name(action, 4)}) now")
    legal = env.observe(env.agent_selection)["action_mask"]
    names = [part.split(" (")[1].rstrip(")") for part in message.split("for instance ")[1].split(", ")]
    assert names
    assert all(legal[parse_action(name, 4)] for name in names)


def test_the_refusal_carries_the_game_which_replays_to_the_same_place(env: Any) -> None:
    with pytest.raises(IllegalAction) as refused:
        env.step(an_illegal_action(env))
    assert parse_game(refused.value.game_text).last_state.tobytes() == env._states[0].tobytes()


def test_in_the_wrapped_environment_an_illegal_action_loses_the_game() -> None:
    env = sleuth_v0.env(num_players=4)
    env.reset(seed=1)
    guilty = env.agent_selection
    env.step(an_illegal_action(env))
    assert env.rewards == {agent: -1.0 if agent == guilty else 0.0 for agent in env.possible_agents}
    assert set(map(type, env.rewards.values())) == set(map(type, env.unwrapped._cumulative_rewards.values())) == {float}
    assert all(env.terminations.values())
    told = {}
    for agent in env.agent_iter():
        observation, told[agent], *_ = env.last()
        assert observation["action_mask"].all()
        env.step(None)
    assert told == {agent: -1.0 if agent == guilty else 0.0 for agent in env.possible_agents}
    env.reset(seed=2)
    assert not any(env.terminations.values())
    env.step(a_legal_action(env))


def test_a_finished_game_takes_only_none(env: Any) -> None:
    play_out(env, seed=1, accuse=0.5)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    for _ in range(4):
        env.step(None)
    assert env.agents == []
    assert env.rewards == env.terminations == env.truncations == env.infos == {}
    with pytest.warns(UserWarning, match="does nothing once every agent has left"):
        env.step(None)
    assert env.agents == []
    with pytest.raises(gymnasium.error.ResetNeeded, match="every agent has left: call reset"):
        env.last()


# --- what is seen ---


def test_what_one_agent_was_shown_does_not_become_what_another_sees(env: Any) -> None:
    shown = env.view("player_0")
    before = shown.tobytes()
    for agent in env.possible_agents:
        env.observe(agent)
        env.view(agent)
    assert shown.tobytes() == before
    shown["hand"] = 0
    assert env.view("player_0").tobytes() == before


def test_what_is_returned_is_fresh_and_may_be_overwritten(env: Any) -> None:
    before = everything_shown(env)
    agent = env.agent_selection
    for _ in range(2):
        shown = env.observe(agent)
        shown["observation"][:] = 7
        shown["action_mask"][:] = 7
        env.state()[:] = 7
        env.get_state().states[:] = 7
        env.reveal()["hands"].clear()
    assert everything_shown(env) == before
    first = env.observe(agent)
    second = env.observe(agent)
    assert not np.shares_memory(first["observation"], second["observation"])
    assert not np.shares_memory(first["action_mask"], second["action_mask"])


def test_looking_changes_nothing(env: Any) -> None:
    before = env.get_state().states.tobytes()
    for agent in env.possible_agents:
        env.observe(agent)
        env.view(agent)
    env.state()
    env.reveal()
    env.last()
    assert env.get_state().states.tobytes() == before


def test_an_unknown_agent_is_named(env: Any) -> None:
    with pytest.raises(
        ValueError, match="'player_4' is not a player: the players are player_0, player_1, player_2, player_3"
    ):
        env.observe("player_4")


def test_reveal_tells_the_hidden_cards_and_the_views_do_not(env: Any) -> None:
    hidden = env.reveal()
    assert len(hidden["missing"]) == 1
    assert sorted(hidden["hands"]) == env.possible_agents
    assert all(env.view(agent)["missing_gems"][0] == 0 for agent in env.possible_agents)


def test_an_illegal_action_is_refused_as_such_in_a_game_too_long_for_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth_env.transcripts.MAX_TEXT", 10)
    env = sleuth_v0.raw_env(num_players=3)
    env.reset(seed=1)
    with pytest.raises(IllegalAction) as refused:
        env.step(int(np.flatnonzero(env.action_mask(env.agent_selection) == 0)[0]))
    assert refused.value.game_text == ""


def test_the_game_text_replays_to_the_same_state() -> None:
    env = sleuth_v0.env(num_players=5, winners=2)
    env.reset(seed=9)
    for _ in play(env, seed=9, accuse=0.1):
        pass
    game = parse_game(env.unwrapped.game_text())
    assert game.last_state.tobytes() == env.unwrapped._states[0].tobytes()
    assert game.options == env.unwrapped.options


# --- drawing ---


@pytest.mark.parametrize("viewpoint", ["player_2", 2, np.int64(2)], ids=repr)
def test_a_drawing_shows_the_viewpoint(viewpoint: Any) -> None:
    env = sleuth_v0.raw_env(render_mode="ansi", viewpoint=viewpoint)
    env.reset(seed=1)
    for _ in play(env, seed=2, limit=12):
        assert env.render() == draw_ansi(env.options, env.view("player_2")[0])


def test_without_a_viewpoint_the_agent_to_act_is_shown() -> None:
    env = sleuth_v0.raw_env(render_mode="ansi")
    env.reset(seed=1)
    for agent, _ in play(env, seed=2, limit=12):
        assert env.render() == draw_ansi(env.options, env.view(agent)[0])


def test_images_have_one_size_in_the_whole_game() -> None:
    env = sleuth_v0.env(render_mode="rgb_array", num_players=3)
    env.reset(seed=1)
    images = [env.render() for _ in play(env, seed=2, limit=8)]
    assert len({image.shape for image in images}) == 1
    assert all(image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3 for image in images)


def test_human_mode_writes_text_after_every_step_and_returns_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    env = sleuth_v0.env(render_mode="human")
    env.reset(seed=1)
    env.step(a_legal_action(env))
    shown = draw_ansi(env.unwrapped.options, env.unwrapped.view(env.agent_selection)[0]).rstrip()
    capsys.readouterr()
    assert env.render() is None
    assert capsys.readouterr().out.rstrip() == shown
    env.step(a_legal_action(env))
    assert capsys.readouterr().out


def test_without_a_render_mode_nothing_is_drawn(env: Any) -> None:
    with pytest.warns(UserWarning, match="draws nothing without a render_mode"):
        assert env.render() is None


@every_render_mode
def test_close_may_be_called_twice(render_mode: str | None) -> None:
    env = sleuth_v0.env(render_mode=render_mode)
    env.close()
    env.reset(seed=1)
    assert env.close() is None
    assert env.close() is None


@every_render_mode
def test_a_finished_game_can_be_drawn(render_mode: str | None) -> None:
    env = sleuth_v0.env(render_mode=render_mode or "ansi", num_players=3)
    env.reset(seed=1)
    play_out(env, seed=1, accuse=0.5)
    for _ in env.agent_iter():
        env.step(None)
    assert env.render() is not None or render_mode == "human"


def test_last_before_reset_says_what_is_missing() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        sleuth_v0.raw_env().last()
