"""The PettingZoo environment passes PettingZoo's tests and keeps its manual page's promises."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from sleuth_env import sleuth_v0
from sleuth_env.sleuth import RECORDS, Options, action_blocks, num_actions, observation_layout
from tests.support.playing import keywords, play, play_out
from tests.support.strategies import EVERY_VARIANT, PLAYER_COUNTS, option_name

every_variant = pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
every_count = pytest.mark.parametrize("num_players", PLAYER_COUNTS)
raw_or_wrapped = pytest.mark.parametrize("make", [sleuth_v0.raw_env, sleuth_v0.env], ids=["raw", "wrapped"])

# PettingZoo says this of every environment with a mask in its observation that is not one of its
# own.
EXPECTED = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)


@contextlib.contextmanager
def asserting_no_warning() -> Iterator[None]:
    """Let a conformance test print what it likes, but warn of nothing unexpected."""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        yield
    assert [str(w.message) for w in caught if str(w.message) not in EXPECTED] == []


@raw_or_wrapped
@every_variant
def test_it_passes_the_api_test(make: Callable[..., Any], options: Options) -> None:
    with asserting_no_warning():
        api_test(make(**keywords(options)), num_cycles=25)


@pytest.mark.parametrize("num_players", [3, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 6, 7))])
def test_it_passes_the_api_test_with_the_exact_record(num_players: int) -> None:
    with asserting_no_warning():
        api_test(sleuth_v0.env(num_players=num_players, record="exact"), num_cycles=25)
        seed_test(lambda: sleuth_v0.env(num_players=num_players, record="exact"), num_cycles=10)


@raw_or_wrapped
@every_variant
def test_it_passes_the_seed_test(make: Callable[..., Any], options: Options) -> None:
    with asserting_no_warning():
        seed_test(lambda: make(**keywords(options)), num_cycles=10)


@every_variant
def test_it_passes_the_parallel_api_test_one_turn_at_a_time(options: Options) -> None:
    with asserting_no_warning():
        parallel_api_test(turn_based_aec_to_parallel(sleuth_v0.env(**keywords(options))), num_cycles=40)


@every_count
def test_it_passes_the_render_test(num_players: int) -> None:
    with asserting_no_warning():
        render_test(lambda **named: sleuth_v0.env(num_players=num_players, **named))


@pytest.fixture(params=EVERY_VARIANT, ids=option_name)
def env(request: pytest.FixtureRequest) -> Any:
    """A game of every variant, dealt."""
    env = sleuth_v0.raw_env(**keywords(request.param))
    env.reset(seed=11)
    return env


def test_nobody_leaves_and_nothing_is_paid_before_the_last_step(env: Any) -> None:
    everybody = env.possible_agents
    for _ in play(env, seed=5):
        assert env.agents == everybody
        for table in (env.rewards, env.terminations, env.truncations, env.infos):
            assert list(table) == everybody
        assert set(env.rewards.values()) | set(env._cumulative_rewards.values()) == {0.0}
        assert set(env.terminations.values()) | set(env.truncations.values()) == {False}
    assert env.agents == everybody
    assert all(env.terminations[agent] is not env.truncations[agent] for agent in everybody)
    assert len(set(env.terminations.values())) == 1


def test_flags_are_bools_rewards_floats_and_infos_say_who_is_settled(env: Any) -> None:
    for _ in play(env, seed=6):
        assert set(map(type, env.terminations.values())) == set(map(type, env.truncations.values())) == {bool}
        assert set(map(type, env.rewards.values())) == {float}
        assert {type(info["settled"]) for info in env.infos.values()} == {bool}
    assert set(map(type, env.rewards.values())) == {float}
    ended_by_rules = any(env.terminations.values())
    assert all(info["settled"] or not ended_by_rules for info in env.infos.values())


def test_every_agent_can_observe_at_any_time_and_only_the_one_to_act_has_actions(env: Any) -> None:
    for agent, action in play(env, seed=7, limit=60):
        for other in env.possible_agents:
            shown = env.observe(other)
            assert env.observation_space(other).contains(shown)
            assert shown["action_mask"].any() == (other == agent)
        assert env.observe(agent)["action_mask"][action] == 1


def test_the_mask_of_a_finished_game_is_all_ones(env: Any) -> None:
    play_out(env, seed=8)
    while env.agents:
        assert all(env.observe(agent)["action_mask"].all() for agent in env.possible_agents)
        env.step(None)
    assert all(env.observe(agent)["action_mask"].all() for agent in env.possible_agents)


def test_the_rewards_of_the_last_step_are_what_last_gives_to_each_agent(env: Any) -> None:
    play_out(env, seed=9)
    rewards = dict(env.rewards)
    told = {}
    while env.agents:
        _, told[env.agent_selection], terminated, truncated, _ = env.last()
        assert terminated or truncated
        env.step(None)
    assert told == rewards
    assert list(told) == env.possible_agents


def test_rewards_add_up_to_nothing_unless_nobody_was_right_or_time_was_up(env: Any) -> None:
    for seed in range(5):
        env.reset(seed=seed)
        play_out(env, seed, accuse=0.3)
        total = sum(env.rewards.values())
        winners = env.reveal()["winners"]
        time_was_up = any(env.truncations.values())
        if winners and not time_was_up:
            assert total == pytest.approx(0.0)
        if winners:
            assert env.rewards[winners[0]] == 1.0
        if not winners and not time_was_up:
            assert set(env.rewards.values()) == {-1 / (len(env.possible_agents) - 1)}


def test_the_state_holds_every_observation_and_lies_in_its_space(env: Any) -> None:
    for _ in play(env, seed=10, limit=20):
        state = env.state()
        assert env.state_space.contains(state)
        assert state.tobytes() == b"".join(env.observe(agent)["observation"].tobytes() for agent in env.possible_agents)


@every_count
def test_spaces_have_the_declared_sizes_and_are_the_same_objects_each_time(num_players: int) -> None:
    for record in RECORDS:
        env = sleuth_v0.env(num_players=num_players, record=record)
        options = Options(num_players=num_players)
        for agent in env.possible_agents:
            space = env.observation_space(agent)
            assert space is env.observation_space(agent)
            assert env.action_space(agent) is env.action_space(agent)
            assert space["observation"].shape == (observation_layout(options, record).size,)
            assert space["observation"].dtype == np.float32
            assert space["action_mask"].shape == (num_actions(options),)
            assert space["action_mask"].dtype == np.int8
            assert env.action_space(agent).n == num_actions(options)


def test_the_manual_page_names_every_block_of_actions_with_its_size() -> None:
    for name, block in action_blocks(Options(4)).items():
        row = next(line for line in sleuth_v0.__doc__.splitlines() if line.startswith(f"| {name}: "))
        size = row.split("|")[2].strip().replace("(n-1) x", "3 *")
        assert eval(size) == block.stop - block.start


def test_the_example_of_the_manual_page_runs() -> None:
    lines = sleuth_v0.__doc__.splitlines()
    example = "\n".join(line[4:] for line in lines if line.startswith("    ") or not line)
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["env"].agents == []


def test_metadata_names_the_environment_and_no_instance_changes_it() -> None:
    before = {
        name: value.copy() if isinstance(value, list) else value for name, value in sleuth_v0.raw_env.metadata.items()
    }
    env = sleuth_v0.env(render_mode="ansi", num_players=3)
    env.reset(seed=1)
    env.render()
    assert env.metadata is sleuth_v0.raw_env.metadata
    assert sleuth_v0.raw_env.metadata == before
    assert before["name"] == str(env) == "sleuth_v0"
    assert before["render_modes"] == ["human", "ansi", "rgb_array"]
    assert before["is_parallelizable"] is False
    assert before["render_fps"] > 0


def test_max_cycles_is_another_name_of_max_turns() -> None:
    assert sleuth_v0.raw_env(max_cycles=7).options == sleuth_v0.raw_env(max_turns=7).options == Options(max_turns=7)
    assert sleuth_v0.raw_env(max_cycles=7, max_turns=7).options.max_turns == 7
    with pytest.raises(ValueError, match="max_cycles=7 is another name of max_turns=8"):
        sleuth_v0.raw_env(max_cycles=7, max_turns=8)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"num_player": 4},
            "got an unexpected keyword argument 'num_player', did you mean num_players. "
            "the arguments are render_mode, .*; the options of sleuth are num_players, missing",
        ),
        ({"num_players": 8}, "num_players must be an integer from 3 to 7, got 8"),
        ({"record": "full"}, "record must be one of 'sheet', 'raw', 'exact', got 'full'"),
        ({"render_mode": "text"}, "render_mode must be one of None, 'human', 'ansi', 'rgb_array', got 'text'"),
        ({"viewpoint": 4}, "4 is not a player: the players are player_0, .*, or their seats 0 to 3"),
        ({"viewpoint": "player_9"}, "'player_9' is not a player"),
        ({"viewpoint": True}, "True is not a player"),
        ({"max_cycles": 0}, "max_turns must be an integer from 1"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_legal_values(named: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sleuth_v0.env(**named)


def test_at_the_turn_limit_all_are_truncated_and_those_who_were_decided_are_settled() -> None:
    kinds = set()
    for seed in range(20):
        env = sleuth_v0.raw_env(num_players=4, winners=2, max_turns=4)
        env.reset(seed=seed)
        play_out(env, seed, accuse=0.4)
        if any(env.truncations.values()):
            settled = {agent for agent, reward in env.rewards.items() if reward != 0}
            assert set(env.truncations.values()) == {True}
            assert set(env.terminations.values()) == {False}
            assert {agent for agent, info in env.infos.items() if info["settled"]} == settled
            kinds |= set(env.rewards.values())
    assert {0.0, -1 / 3} <= kinds


def test_the_turn_limit_truncates_everybody_who_is_in() -> None:
    env = sleuth_v0.raw_env(num_players=3, max_turns=2)
    env.reset(seed=1)
    play_out(env, seed=1, accuse=0.0)
    assert set(env.truncations.values()) == {True}
    assert set(env.terminations.values()) == {False}
    assert set(env.rewards.values()) == {0.0}
