"""Many games at once, every seat of which is a learner's."""

from __future__ import annotations

import copy
import pickle
import random
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from sleuth_env import sleuth_v0
from sleuth_env.actions import IllegalAction
from sleuth_env.sleuth import OptionError, Options
from sleuth_env.sleuth_v0 import SleuthVectorEnv
from tests.support.playing import choose, keywords
from tests.support.strategies import EVERY_VARIANT, option_name


def steps(envs: SleuthVectorEnv, number: int, accuse: float = 0.1, seed: int = 5) -> list[list[Any]]:
    """Play some steps, every game with choices of its own; give what each row was given."""
    chances = [random.Random(seed + row) for row in range(envs.num_envs)]
    rows: list[list[Any]] = [[] for _ in chances]
    for _ in range(number):
        actions = [choose(mask, chance, accuse) for mask, chance in zip(envs.action_masks(), chances, strict=True)]
        observations, rewards, terminated, truncated, infos = envs.step(np.array(actions))
        masks = envs.action_masks()
        seats = envs.acting_seat
        for row, given in enumerate(rows):
            given.append(
                (
                    observations[row].tobytes(),
                    masks[row].tobytes(),
                    int(seats[row]),
                    rewards[row],
                    terminated[row],
                    truncated[row],
                )
            )
            given.append(infos["rewards"][row].tolist())
    return rows


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_every_row_is_the_game_of_a_pettingzoo_environment(options: Options) -> None:
    envs = SleuthVectorEnv(3, **keywords(options))
    singles = [sleuth_v0.raw_env(**keywords(options)) for _ in range(3)]
    observations, infos = envs.reset(seed=20)
    chance = random.Random(1)
    ended = 0
    for i, env in enumerate(singles):
        env.reset(seed=20 + i)
    for _ in range(80):
        agents = [env.agent_selection for env in singles]
        assert [f"player_{seat}" for seat in infos["acting_seat"]] == agents
        shown = [env.observe(agent) for env, agent in zip(singles, agents, strict=True)]
        assert observations.tobytes() == np.array([one["observation"] for one in shown]).tobytes()
        assert (envs.action_masks() == [one["action_mask"] for one in shown]).all()
        actions = [choose(one["action_mask"], chance, 0.3) for one in shown]
        for env, action in zip(singles, actions, strict=True):
            env.step(action)
        observations, rewards, terminated, truncated, infos = envs.step(np.array(actions))
        assert infos["rewards"].tolist() == [list(env.rewards.values()) for env in singles]
        assert rewards.tolist() == [env.rewards[agent] for env, agent in zip(singles, agents, strict=True)]
        assert terminated.tolist() == [env.terminations[agent] for env, agent in zip(singles, agents, strict=True)]
        assert truncated.tolist() == [env.truncations[agent] for env, agent in zip(singles, agents, strict=True)]
        assert infos["settled"].tolist() == [[info["settled"] for info in env.infos.values()] for env in singles]
        for i in np.flatnonzero(terminated | truncated):
            last = singles[i].observe(agents[i])["observation"]
            assert infos["final_obs"][i].tobytes() == last.tobytes()
            singles[i].reset()
            ended += 1
    assert ended > 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_game_does_not_depend_on_the_batch_nor_on_the_number_of_threads(threads: int) -> None:
    envs = SleuthVectorEnv(5, threads=threads)
    alone = SleuthVectorEnv(1, threads=2)
    together = (envs.reset(seed=7)[0].tolist(), steps(envs, 50))
    for row in (0, 4):
        assert alone.reset(seed=7 + row)[0].tolist() == together[0][row : row + 1]
        assert steps(alone, 50, seed=5 + row) == [together[1][row]]
    envs.close()


def test_without_copies_the_same_memory_is_given_each_time() -> None:
    envs = SleuthVectorEnv(3, copy=False)
    copying = SleuthVectorEnv(3)
    first, _ = envs.reset(seed=1)
    given, _ = copying.reset(seed=1)
    before = given.copy()
    mask = copying.action_masks()
    actions = mask.argmax(axis=1)
    second = envs.step(actions)[0]
    third = copying.step(actions)[0]
    assert first is second
    assert (second == third).all()
    assert (given == before).all()
    assert np.shares_memory(envs.action_masks(), envs.action_masks())
    assert not np.shares_memory(copying.action_masks(), copying.action_masks())
    with pytest.raises(ValueError, match="read-only"):
        envs.action_masks()[:] = 1


@pytest.mark.parametrize("record", ["sheet", "raw", "exact"])
def test_in_int8_127_is_1_and_fractions_stay_fractions(record: str) -> None:
    small, large = (SleuthVectorEnv(3, num_players=3, record=record, dtype=dtype) for dtype in ("int8", "float32"))
    for _ in range(2):
        assert small.reset(seed=1)[0].dtype == np.int8
        large.reset(seed=1)
        for _ in range(15):
            actions = [choose(mask, random.Random(1), 0.0) for mask in large.action_masks()]
            observations = small.step(np.array(actions))[0]
            expected = large.step(np.array(actions))[0]
            assert (np.abs(observations - expected.astype(float) * 127) < 1).all()
            assert ((observations == 0) == (expected == 0)).all()
            assert ((observations == 127) == (expected == 1)).all()
            assert small.observation_space.contains(observations)


def test_what_every_seat_saw_last_is_kept() -> None:
    envs = SleuthVectorEnv(2, num_players=4, max_turns=3)
    env = sleuth_v0.raw_env(num_players=4, max_turns=3)
    envs.reset(seed=3)
    env.reset(seed=4)
    assert envs.final_observations()[1].shape == (0, 4, envs.size)
    while not env.truncations["player_0"]:
        actions = [choose(mask, random.Random(1), 0) for mask in envs.action_masks()]
        env.step(actions[1])
        _, _, _, truncated, _ = envs.step(np.array(actions))
    rows, seen = envs.final_observations()
    assert truncated[1]
    assert 1 in rows
    assert seen[rows.tolist().index(1)].ravel().tobytes() == env.state().tobytes()


def test_an_illegal_action_moves_no_game() -> None:
    envs = SleuthVectorEnv(3)
    envs.reset(seed=1)
    before = envs.reveal()
    masks = envs.action_masks()
    actions = masks.argmax(axis=1)
    actions[2] = int(np.flatnonzero(masks[2] == 0)[0])
    with pytest.raises(IllegalAction, match=r"player_\d of game 2 .*may not choose action"):
        envs.step(actions)
    for wrong in ([0, 0], np.zeros(3), [0, 0, envs.num_actions], [[0], [0], [0]], None):
        with pytest.raises(IllegalAction):
            envs.step(wrong)
    assert envs.reveal() == before


def test_some_games_can_be_reset() -> None:
    envs = SleuthVectorEnv(3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(3, np.int64))
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.reset(options={"reset_mask": np.array([True, False, True])})
    for wrong in ([1], []):
        with pytest.raises(ValueError, match="options must be a dictionary, got"):
            envs.reset(options=wrong)
    for given in (lambda: envs.acting_seat, envs.final_views, envs.final_observations, envs.views, envs.action_masks):
        with pytest.raises(gymnasium.error.ResetNeeded):
            given()
    envs.reset(seed=1)
    steps(envs, 5)
    before = envs.reveal()
    envs.reset(seed=9, options={"reset_mask": np.array([False, True, False])})
    assert [new == old for new, old in zip(envs.reveal(), before, strict=True)] == [True, False, True]
    assert envs.reveal()[1] == _dealt(10)


def _dealt(seed: int) -> dict[str, Any]:
    env = sleuth_v0.raw_env()
    env.reset(seed=seed)
    return env.reveal()


def test_copies_go_on_as_the_original_does() -> None:
    envs = SleuthVectorEnv(2, threads=2)
    envs.reset(seed=1)
    steps(envs, 10)
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    expected = steps(envs, 60)
    assert [steps(twin, 60) for twin in twins] == [expected, expected]


def test_gymnasium_makes_it() -> None:
    envs = gymnasium.make_vec("sleuth_env:sleuth_env/SleuthSelfPlay-v0", num_envs=4, num_players=5, record="raw")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, infos = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    assert set(infos["acting_seat"]) <= set(range(5))
    assert envs.observation_space.contains(envs.step(envs.unwrapped.action_masks().argmax(axis=1))[0])


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_drawing_shows_what_the_seat_to_act_knows(mode: str) -> None:
    envs = SleuthVectorEnv(2, render_mode=mode)
    env = sleuth_v0.raw_env(render_mode=mode)
    envs.reset(seed=3)
    env.reset(seed=4)
    assert np.array_equal(envs.render()[1], env.render())


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"num_envs": 0}, "num_envs must be an integer of at least 1, got 0"),
        ({"threads": 0}, "threads must be an integer of at least 1, got 0"),
        ({"record": "sheep"}, "record must be one of"),
        ({"dtype": "float16"}, "dtype must be one of 'float32', 'int8', got 'float16'"),
        ({"render_mode": "film"}, "render_mode must be one of"),
        ({"num_players": 2}, "num_players"),
        (
            {"colour": 2},
            "got an unexpected keyword argument 'colour'; the arguments are num_envs, .*; the options of",
        ),
    ],
)
def test_a_wrong_setting_is_refused(named: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, OptionError), match=message):
        SleuthVectorEnv(**named)


def test_snapshots_of_other_games_are_refused_and_change_nothing() -> None:
    envs = SleuthVectorEnv(2, num_players=3, record="raw")
    observations, _ = envs.reset(seed=1)
    saved = envs.get_state()

    def of(number: int = 2, **options: Any) -> Any:
        other = SleuthVectorEnv(number, **{"num_players": 3} | options)
        other.reset(seed=2)
        return other.get_state()

    wrong = [
        *(
            of(**other)
            for other in (
                {"num_players": 4},
                {"missing": 2},
                {"winners": 2},
                {"super_sleuth": True},
                {"max_turns": 5},
                {"number": 3},
            )
        ),
        replace(saved, more={}),
        replace(saved, face="aec"),
        replace(saved, more={"earned": np.zeros(3)}),
        *(
            replace(saved, states=states)
            for states in (None, saved.states.tolist(), saved.states[:, :-1], saved.states.astype(np.int64))
        ),
        *(replace(saved, streams=streams) for streams in (saved.streams[:1], [saved.streams[0], {"state": 1}])),
        {},
        None,
    ]
    for snapshot in wrong:
        with pytest.raises(ValueError, match="snapshot"):
            envs.set_state(snapshot)  # type: ignore[arg-type]
        assert str(envs.get_state()) == str(saved)
    envs.set_state(saved)
    assert envs.step(envs.action_masks().argmax(axis=1))[0].shape == observations.shape


def test_what_was_seen_last_is_forgotten_with_its_game() -> None:
    envs = SleuthVectorEnv(2, num_players=3, max_turns=1)
    envs.reset(seed=1)
    saved = envs.get_state()
    for begin_anew in (lambda: envs.reset(seed=1), lambda: envs.set_state(saved)):
        while not len(envs.final_views()[0]):
            envs.step(envs.action_masks().argmax(axis=1))
        begin_anew()
        assert envs.final_observations()[1].shape == (0, 3, envs.size)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_closed_environment_says_so(threads: int) -> None:
    envs = SleuthVectorEnv(2, threads=threads)
    envs.reset(seed=1)
    saved = envs.get_state()
    envs.close()
    envs.close()
    for use in (
        envs.reset,
        envs.get_state,
        envs.action_masks,
        lambda: envs.step(np.zeros(2, int)),
        lambda: envs.set_state(saved),
    ):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="has been closed"):
            use()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"copy": wrong}, "copy must be True or False") for wrong in ("no", None, 1)),
        ({"game": "sleuth"}, "got an unexpected keyword argument 'game'"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SleuthVectorEnv(2, **arguments)


def test_games_go_on_from_a_snapshot():
    envs = SleuthVectorEnv(4, num_players=3, max_turns=4)
    envs.reset(seed=1)

    def played(steps: int) -> list[Any]:
        seen = []
        for _ in range(steps):
            observations, _, _, _, infos = envs.step(envs.action_masks().argmax(axis=1))
            seen.append((observations.tolist(), infos["rewards"].tolist()))
        return seen

    played(5)
    state = envs.get_state()
    first = played(60)
    envs.set_state(state)
    assert played(60) == first


def everything_shown(envs: SleuthVectorEnv) -> list[Any]:
    """Return all that an environment shows of its games."""
    rows, seen = envs.final_observations()
    arrays = (
        envs.views(),
        envs.action_masks(),
        envs.acting_seat,
        envs.earned,
        rows,
        seen,
        envs.final_views()[1],
        envs.final_standings()[1],
    )
    return [envs.reveal(), *(array.tobytes() for array in arrays)]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_a_snapshot_taken_while_some_games_are_finished_restores_them(mode: AutoresetMode) -> None:
    def made() -> SleuthVectorEnv:
        envs = SleuthVectorEnv(6, num_players=3, max_turns=3, autoreset_mode=mode)
        envs.reset(seed=1)
        return envs

    def played(envs: SleuthVectorEnv, number: int, seed: int) -> Any:
        """Play some steps at random; iterate over what was given and which games are over."""
        rng = np.random.default_rng(seed)
        over = envs._over.copy()
        for _ in range(number):
            if mode is AutoresetMode.DISABLED and over.any():
                envs.reset(options={"reset_mask": over})
            masks = envs.action_masks()
            actions = (masks * rng.random(masks.shape)).argmax(axis=1)
            seen, rewards, terminated, truncated, infos = envs.step(actions)
            over = terminated | truncated
            named = {name: array.tobytes() for name, array in infos.items()}
            yield over, [seen.tobytes(), rewards.tobytes(), terminated.tobytes(), truncated.tobytes(), named]

    envs = made()
    snapped = 0
    for number, (over, _) in enumerate(played(envs, 30, 7)):
        if not over.any() or over.all():
            continue
        snapped += 1
        state = pickle.loads(pickle.dumps(envs.get_state()))
        before = everything_shown(envs)
        new = made()
        used = made()
        for _ in played(used, 20, 8):
            pass
        for other in (new, used):
            other.set_state(state)
            assert everything_shown(other) == before
            twin = copy.deepcopy(envs)
            ways = [[given for _, given in played(one, 12, number)] for one in (twin, other)]
            assert ways[0] == ways[1]
            assert everything_shown(twin) == everything_shown(other)
    assert snapped > 3


def test_finished_games_mean_nothing_where_the_next_ones_follow_at_once() -> None:
    envs = SleuthVectorEnv(2, num_players=3, max_turns=1, autoreset_mode=AutoresetMode.NEXT_STEP)
    envs.reset(seed=1)
    while not len(envs.final_views()[0]):
        envs.step(envs.action_masks().argmax(axis=1))
    with pytest.raises(ValueError, match="actor of the snapshot does not fit this environment"):
        SleuthVectorEnv(2, num_players=3, max_turns=1).set_state(envs.get_state())


def test_an_option_of_reset_that_is_unknown_is_refused() -> None:
    envs = SleuthVectorEnv(2, num_players=3)
    with pytest.raises(ValueError, match="reset knows the option 'reset_mask' only, got 'reset_masks'"):
        envs.reset(seed=1, options={"reset_masks": np.array([True, False])})
