"""What every game must keep, by its contract alone: conformance, batches, privacy, snapshots."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from sleuth_env.envs.aec import GameEnv
from sleuth_env.envs.binding import bound
from sleuth_env.envs.sb3 import LearnerGames, vec_env_class
from sleuth_env.envs.solo import GameSoloEnv, GameSoloVectorEnv
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.envs.wrappers import wrapped
from sleuth_env.game import TRUNCATED
from sleuth_env.matches.table import Table
from sleuth_env.options import described
from sleuth_env.policies.wrapped import wrap_policy
from tests.support.games import TRIED, Tried

# Long games, and nothing in them that the others lack.
LONG = ("holmes-6p", "holmes-7p")
CASES = [
    pytest.param(tried, options, id=case, marks=[pytest.mark.slow] if case in LONG else [])
    for name, tried in TRIED.items()
    for options in tried.options
    for case in [f"{name}-{options.num_players}p"]
]
each_case = pytest.mark.parametrize(("tried", "options"), CASES)


def named(options: Any) -> dict[str, Any]:
    return {about.name: getattr(options, about.name) for about in described(options)}


def aec(tried: Tried, options: Any, **settings: Any) -> GameEnv:
    return bound(GameEnv, tried.game)(**settings, **named(options))


# --- conformance ---


@each_case
def test_the_blocks_of_actions_are_all_actions_in_order(tried: Tried, options: Any) -> None:
    game = tried.game
    blocks = game.action_blocks(options)
    numbers = [action for block in blocks.values() for action in range(block.start, block.stop)]
    assert numbers == list(range(game.num_actions(options)))
    names = list(blocks)
    assert list(game.OFFERED) == (names[-len(game.OFFERED) :] if game.OFFERED else [])
    assert game.DECLINE in (*game.OFFERED, "")
    for axis, name in game.SCORED.items():
        lengths = {
            size
            for block in layouts(tried, options)[0]
            for a, size in zip(block.axes, block.shape, strict=True)
            if a == axis
        }
        assert lengths == {blocks[name].stop - blocks[name].start}


@each_case
def test_the_name_of_every_action_is_read_back(tried: Tried, options: Any) -> None:
    game = tried.game
    for action in range(game.num_actions(options)):
        assert game.parse_action(game.action_name(action, options), options) == action


def layouts(tried: Tried, options: Any) -> list[Any]:
    return [tried.game.observation_layout(options, record) for record in tried.game.RECORDS]


@each_case
def test_every_block_has_a_name_for_each_axis_and_equal_axes_are_equally_long(tried: Tried, options: Any) -> None:
    for layout in layouts(tried, options):
        sizes: dict[str, int] = {}
        for block in layout:
            assert len(block.axes) == len(block.shape)
            for axis, size in zip(block.axes, block.shape, strict=True):
                assert sizes.setdefault(axis, size) == size
        assert sum(block.size for block in layout) == layout.size


@each_case
def test_pettingzoo_takes_it(tried: Tried, options: Any) -> None:
    api_test(wrapped(aec(tried, options)), num_cycles=60)
    seed_test(lambda: wrapped(aec(tried, options)), num_cycles=20)


# --- kernels ---


def kernels_play(tried: Tried, options: Any, size: int, seeds: np.ndarray, choices: np.ndarray) -> list[list[bytes]]:
    """Play a batch by fixed choices (f8 [T, B]); return what the kernels write, by row and step."""
    game = tried.game
    rules = game.make_rules(options)
    players = options.num_players
    states = game.new_states(size)
    game.deal(rules, states, seeds)
    written: list[list[bytes]] = [[] for _ in range(size)]
    for choice in choices:
        legal = np.zeros((size, game.num_actions(options)), np.uint8)
        game.legal(rules, states, legal)
        order = np.cumsum(legal, axis=1)
        actions = (order > (choice * order[:, -1])[:, None]).argmax(axis=1)
        taken = np.zeros(size, np.uint8)
        rewards = np.full((size, players), 7.0)
        game.step(rules, states, actions, taken, rewards)
        ended = np.full(size, 7, np.uint8)
        settled = np.full((size, players), 7, np.uint8)
        due = np.full((size, players), 7.0)
        places = np.full((size, players), 7, np.int32)
        game.ends(rules, states, ended)
        game.settled(rules, states, settled, due)
        game.standings(rules, states, places)
        views = np.zeros(size, game.VIEW)
        game.view(rules, states, np.zeros(size, np.int64), views)
        observations = np.zeros((size, game.observation_layout(options, game.RECORDS[0]).size), np.float32)
        game.Observer(rules, views, game.RECORDS[0]).write(observations)
        assert (observations >= 0).all()
        assert (observations <= 1).all()
        counted = [np.asarray(numbers) for numbers in game.counts(rules, states).values()]
        for row in range(size):
            arrays = [states, legal, taken, rewards, ended, settled, due, places, views, observations, *counted]
            written[row] += [array[row].tobytes() for array in arrays]
    return written


@each_case
def test_a_row_of_a_batch_is_a_batch_of_one(tried: Tried, options: Any) -> None:
    rng = np.random.default_rng(1)
    seeds = rng.integers(0, 2**64, 5, np.uint64)
    choices = rng.random((40, 5))
    together = kernels_play(tried, options, 5, seeds, choices)
    for row in range(5):
        alone = kernels_play(tried, options, 1, seeds[row : row + 1], choices[:, row : row + 1])
        assert alone[0] == together[row]


@each_case
def test_rewards_end_with_the_game_and_what_was_due_is_paid(tried: Tried, options: Any) -> None:
    """What a settled seat is still to get is what the steps to the end then pay it."""
    game = tried.game
    rules = game.make_rules(options)
    rng = np.random.default_rng(2)
    players = options.num_players
    for seed in range(25):
        states = game.new_states(1)
        assert states["actor"][0] == -1
        game.deal(rules, states, np.array([seed], np.uint64))
        promised = np.full(players, np.nan)
        while states["actor"][0] >= 0:
            legal = np.zeros((1, game.num_actions(options)), np.uint8)
            game.legal(rules, states, legal)
            rewards = np.zeros((1, players))
            game.step(rules, states, np.array([rng.choice(np.flatnonzero(legal[0]))]), np.zeros(1, np.uint8), rewards)
            promised -= rewards[0]
            settled = np.zeros((1, players), np.uint8)
            due = np.zeros((1, players))
            game.settled(rules, states, settled, due)
            # Once settled, what was promised and what is due stay the same.
            known = (settled[0] > 0) & ~np.isnan(promised)
            assert promised[known] == pytest.approx(due[0][known])
            promised = np.where(settled[0] > 0, due[0], np.nan)
        ended = np.zeros(1, np.uint8)
        game.ends(rules, states, ended)
        assert settled.all() or ended[0] == TRUNCATED
        assert not due.any()
        taken = np.ones(1, np.uint8)
        game.step(rules, states, np.zeros(1, np.int64), taken, rewards)
        assert not taken[0]
        assert not rewards.any()


# --- privacy ---


@each_case
def test_no_seat_notices_a_change_of_what_it_cannot_know(tried: Tried, options: Any) -> None:
    game = tried.game
    rules = game.make_rules(options)
    changed = 0
    for seed in range(6):
        for viewer in range(options.num_players):
            true, other = tried.twice(options, viewer, seed)
            changed += true.tobytes() != other.tobytes()
            assert received(tried, rules, options, true, viewer) == received(tried, rules, options, other, viewer)
    assert changed > options.num_players


def received(tried: Tried, rules: np.ndarray, options: Any, states: np.ndarray, viewer: int) -> list[bytes]:
    """Return all that a seat is given."""
    game = tried.game
    views = np.zeros(1, game.VIEW)
    game.view(rules, states, np.array([viewer]), views)
    parts = [views.tobytes()]
    for record in game.RECORDS:
        if record == "exact" and options.num_players > 4:
            continue
        observation = np.zeros((1, game.observation_layout(options, record).size), np.float32)
        game.Observer(rules, views, record).write(observation)
        parts.append(observation.tobytes())
    legal = np.zeros((1, game.num_actions(options)), np.uint8)
    if states["actor"][0] == viewer:
        game.legal(rules, states, legal)
    return [*parts, legal.tobytes()]


# --- snapshots ---


def faces(tried: Tried, options: Any) -> list[Any]:
    settings = named(options)
    game = tried.game
    return [
        aec(tried, options),
        bound(GameSoloEnv, game)(opponents="random", **settings),
        bound(GameSoloVectorEnv, game)(2, opponents="random", **settings),
        bound(GameVectorEnv, game)(2, **settings),
        vec_env_class(game, "VecEnv")(2, ["random"], **settings),
    ]


def moved_on(env: Any) -> str:
    """Take legal actions; return all that comes back as text."""
    if isinstance(env, GameEnv):
        if not env.agents or env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            return "over"
        env.step(int(np.flatnonzero(env.action_mask(env.agent_selection))[-1]))
        return str((env.last(), env.rewards))
    masks = np.atleast_2d(env.action_masks())
    # The last legal actions: in Sleuth offers are declined.
    actions = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    if isinstance(env, GameSoloEnv):
        found = env.step(int(actions[0]))
        if found[2] or found[3]:
            env.reset()
        return str([found[0].tolist(), *found[1:4]])
    return str([part.tolist() for part in env.step(actions)[:3]])


@each_case
def test_every_face_goes_on_from_a_snapshot_as_it_did(tried: Tried, options: Any) -> None:
    for env, twin in zip(faces(tried, options), faces(tried, options), strict=True):
        env.reset()
        for _ in range(3):
            moved_on(env)
        snapshot = copy.deepcopy(env.get_state())
        first = [moved_on(env) for _ in range(12)]
        env.set_state(snapshot)
        assert [moved_on(env) for _ in range(12)] == first
        twin.reset()
        twin.set_state(snapshot)
        assert [moved_on(twin) for _ in range(12)] == first
        with pytest.raises(ValueError, match="that is not a snapshot"):
            env.set_state({"states": snapshot.states})


@each_case
def test_copies_and_pickles_of_every_face_go_on_as_it_does(tried: Tried, options: Any) -> None:
    for env in faces(tried, options):
        env.reset()
        moved_on(env)
        copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        first = [moved_on(env) for _ in range(6)]
        for other in copies:
            assert type(other) is type(env)
            assert [moved_on(other) for _ in range(6)] == first


@pytest.mark.parametrize("face", [GameEnv, GameSoloEnv, GameSoloVectorEnv, GameVectorEnv, LearnerGames])
def test_a_face_without_a_game_says_what_to_make_instead(face: type) -> None:
    with pytest.raises(TypeError, match=rf"^{face.__name__} plays no game of its own: .*bound\({face.__name__}, game"):
        face(num_players=3)


@each_case
def test_a_table_is_copied_and_pickled(tried: Tried, options: Any) -> None:
    bots = [tried.game.make_bot("random", options)]
    table = Table(tried.game, options, 3, bots, 0)
    table.deal(range(3), [1, 2, 3])
    table.play_round()
    for other in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        other.play_on()
        assert other.finished.all()
    table.play_on()
    assert table.states.tobytes() == other.states.tobytes()


def read_only(holder: Any) -> set[str]:
    return {name for name, kept in vars(holder).items() if isinstance(kept, np.ndarray) and not kept.flags.writeable}


@each_case
def test_what_holds_the_rules_keeps_them_read_only_in_copies_so_that_nothing_is_compiled_for_them(
    tried: Tried, options: Any
) -> None:
    game = tried.game
    bots = [game.make_bot(name, options) for name in game.BOTS]
    function = wrap_policy(first_legal, game=game).seated(options)
    vector = bound(GameVectorEnv, game)(1, **named(options))
    shared = not game.make_rules(options).flags.writeable
    for holder in [*bots, function, Table(game, options, 1, bots, 0), vector]:
        assert bool(read_only(holder)) == shared
        for other in (copy.deepcopy(holder), pickle.loads(pickle.dumps(holder))):
            assert read_only(other) == read_only(holder)


def first_legal(observations: Any, masks: Any) -> Any:
    return masks.argmax(axis=1)


@each_case
def test_what_a_seat_gets_is_taken_before_it_acts_and_when_its_game_has_ended(tried: Tried, options: Any) -> None:
    short = named(options) | {"max_turns": 30}
    batch = bound(GameVectorEnv, tried.game)(1, autoreset_mode="Disabled", **short)
    single = bound(GameEnv, tried.game)(**short)
    rng = np.random.default_rng(4)
    for seed in range(3):
        _, infos = batch.reset(seed=seed)
        single.reset(seed=seed)
        taken = np.zeros(options.num_players)
        paid = dict.fromkeys(single.possible_agents, 0.0)
        ended = False
        while not ended:
            seat = infos["acting_seat"][0]
            taken[seat] += infos["rewards"][0, seat]
            action = rng.choice(np.flatnonzero(infos["action_mask"][0]))
            _, _, terminated, truncated, infos = batch.step(np.array([action]))
            single.step(int(action))
            for agent, reward in single.rewards.items():
                paid[agent] += reward
            ended = bool(terminated[0] or truncated[0])
        # The entries of the end are what every seat has got since then.
        assert np.allclose(taken + infos["rewards"][0], list(paid.values()))
