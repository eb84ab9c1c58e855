"""A third game passes through every face: nothing outside of a game's folder knows Sleuth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from sleuth_env.actions import IllegalAction
from sleuth_env.cli.commands import main
from sleuth_env.envs.aec import GameEnv
from sleuth_env.envs.binding import bound
from sleuth_env.envs.sb3 import vec_env_class
from sleuth_env.envs.solo import GameSoloEnv, GameSoloVectorEnv
from sleuth_env.envs.vector import GameVectorEnv
from sleuth_env.envs.wrappers import wrapped
from sleuth_env.game import MissingPartError, load_game
from sleuth_env.matches.match import play_match
from sleuth_env.matches.rating import win_shares
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy, PolicyError, load_policy, save_policy
from tests.support import follow

MODULE = "tests.support.follow"
COUNTS = range(3, 9)


FollowEnv = bound(GameEnv, follow)  # type: ignore[arg-type]


def random_policy(options: follow.Options, seed: int = 0) -> Policy:
    rng = np.random.default_rng(seed)
    size = follow.observation_layout(options).size
    layer = rng.normal(size=(follow.num_actions(options), size)).astype(np.float32)
    return Policy(follow, options, "plain", Mlp([(layer, np.zeros(len(layer), np.float32))]))


def test_it_is_a_game() -> None:
    assert load_game(MODULE) is follow


@pytest.mark.parametrize("num_players", COUNTS)
def test_pettingzoo_takes_it(num_players: int) -> None:
    api_test(wrapped(FollowEnv(num_players=num_players)), num_cycles=200)


def test_its_games_are_settled_by_the_seed() -> None:
    seed_test(lambda: wrapped(FollowEnv(num_players=4)), num_cycles=50)


def played_returns(env: Any, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Play an AEC game; return what each agent was given by `last`, and what the steps paid."""
    given = dict.fromkeys(env.possible_agents, 0.0)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        given[agent] += reward
        over = terminated or truncated
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if over else int(legal[0] if rng.random() < 0.7 else rng.choice(legal)))
        if not over:
            for name, part in env.rewards.items():
                paid[name] += part
    return list(given.values()), list(paid.values())


@pytest.mark.parametrize("num_players", COUNTS)
def test_points_paid_during_the_game_reach_every_agent_by_its_next_decision_or_the_end(num_players: int) -> None:
    env = FollowEnv(num_players=num_players)
    rng = np.random.default_rng(num_players)
    points = 0
    for seed in range(10):
        env.reset(seed=seed)
        given, paid = played_returns(env, rng)
        assert given == pytest.approx(paid)
        assert sum(given) == pytest.approx(0)
        points += sum(abs(part) for part in given) > 0
    assert points > 3


def test_a_face_that_needs_what_it_has_not_says_so() -> None:
    env = FollowEnv(num_players=3)
    env.reset(seed=1)
    for use, part in ((lambda: env.belief("player_0"), "exact beliefs"), (env.reveal, "games as text")):
        with pytest.raises(MissingPartError, match=f"the game 'follow' has no {part}"):
            use()
    with pytest.raises(MissingPartError, match="the game 'follow' has no drawings"):
        FollowEnv(render_mode="ansi")


def test_an_illegal_action_is_refused_in_its_words() -> None:
    env = FollowEnv(num_players=3)
    env.reset(seed=1)
    illegal = int(env.action_mask("player_0").argmin())
    with pytest.raises(IllegalAction, match=rf"player_0 may not choose action {illegal} \(play {illegal}\) now; 5 act"):
        env.step(illegal)


@pytest.mark.parametrize("num_players", [3, 8])
def test_a_learner_among_bots_gets_all_that_its_seat_earns(num_players: int) -> None:
    env = bound(GameSoloEnv, follow)(opponents="low", num_players=num_players)
    rng = np.random.default_rng(0)
    for seed in range(20):
        env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
            total += reward
            over = terminated or truncated
        assert total == pytest.approx(env.table.returns[0, env.seat])


def test_many_learners_play_the_games_of_one_each() -> None:
    envs = bound(GameSoloVectorEnv, follow)(3, opponents="random", num_players=5)
    singles = [bound(GameSoloEnv, follow)(opponents="random", num_players=5) for _ in range(3)]
    rng = np.random.default_rng(1)
    observations, _ = envs.reset(seed=5)
    for row, env in enumerate(singles):
        assert (env.reset(seed=5 + row)[0] == observations[row]).all()
    over = np.zeros(3, np.bool_)
    for _ in range(60):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in envs.action_masks()])
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        for row, env in enumerate(singles):
            found = (env.reset()[0], 0.0, False, False) if over[row] else env.step(int(actions[row]))[:4]
            assert (found[0] == observations[row]).all()
            assert found[1:] == (rewards[row], terminated[row], truncated[row])
        over = terminated | truncated


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_self_play_adds_up_what_a_seat_gets_between_its_decisions(dtype: str) -> None:
    envs = bound(GameVectorEnv, follow)(6, num_players=4, dtype=dtype, threads=2)
    envs.reset(seed=3)
    rng = np.random.default_rng(2)
    given = np.zeros((6, 4))
    paid = 0
    for _ in range(120):
        seats = envs.acting_seat
        before = envs.earned
        given[np.arange(6), seats] += before[np.arange(6), seats]
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in envs.action_masks()])
        _, rewards, terminated, truncated, infos = envs.step(actions)
        assert (rewards == infos["rewards"][np.arange(6), seats]).all()
        for row in np.flatnonzero(terminated | truncated):
            totals = given[row] + infos["rewards"][row]
            assert totals.sum() == pytest.approx(0)
            paid += bool(totals.any())
            given[row] = 0.0
    rows, places = envs.final_standings()
    assert paid > 3
    assert len(rows) == len(places)


def test_stable_baselines3_takes_it() -> None:
    from sb3_contrib import MaskablePPO

    env = vec_env_class(follow, "FollowVecEnv")(4, ["random", "low"], num_players=5)
    MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0).learn(256)
    env.reset()
    shares = []
    paid = False
    for _ in range(100):
        _, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
        shares += [info["win_share"] for info in infos if "win_share" in info]
        paid |= bool(rewards[~dones].any())
    assert paid
    assert {0.0, 1.0} <= set(shares)


@pytest.mark.parametrize("num_players", [3, 6])
def test_matches_share_ties_and_average_what_the_game_counts(num_players: int) -> None:
    options = follow.Options(num_players=num_players)
    result = play_match(follow, options, ["low"] + ["random"] * (num_players - 1), 30)
    assert result.game == "follow"
    assert sum(entry.win_share for entry in result.entries) == pytest.approx(1)
    assert sum(entry.wins for entry in result.entries) == pytest.approx(result.games)
    assert set(result.counts) == {"turns", "cards_played"}
    assert result.counts["cards_played"] == pytest.approx(sum(entry.counts["cards_played"] for entry in result.entries))
    alike = play_match(follow, options, ["low"] * num_players, 30)
    assert alike.entries[0].win_share == pytest.approx(1)


def test_a_tie_is_shared() -> None:
    states = follow.new_states(1)
    states["points"][0, :4] = [2, 0, 2, 1]
    places = np.zeros((1, 4), np.int32)
    follow.standings(follow.make_rules(follow.Options()), states, places)
    assert places.tolist() == [[1, 4, 1, 3]]
    assert win_shares(places).tolist() == [[0.5, 0, 0.5, 0]]


def test_its_policy_files_say_which_game_they_are_of(tmp_path: Path) -> None:
    options = follow.Options(num_players=4)
    path = tmp_path / "x.safetensors"
    save_policy(random_policy(options), path, {})
    policy = load_policy(path, follow)
    assert policy.options == options
    with pytest.raises(PolicyError, match="is a policy for the game 'follow', which is none of sleuth, holmes"):
        load_policy(path)
    with pytest.raises(PolicyError, match="is a policy for the game 'follow', not for 'sleuth'"):
        load_policy(path, load_game("sleuth"))
    with pytest.raises(PolicyError, match="is a policy for the game 'sleuth', not for 'follow'"):
        load_policy("pretrained:sleuth-4p", follow)
    with pytest.raises(PolicyError, match="there is no bundled policy 'pretrained:9p'"):
        load_policy("pretrained:9p", follow)
    shorter = follow.Options(num_players=4, max_turns=7)
    assert policy.seated(shorter) is policy
    with pytest.raises(PolicyError, match="was trained for num_players=4"):
        policy.seated(follow.Options(num_players=5))
    play_match(follow, options, [str(path), "low", "random", "random"], 5)


@pytest.mark.parametrize("algorithm", ["ppo", "maskable_ppo"])
@pytest.mark.parametrize("card_network", ["null", "[8]"])
def test_both_learners_train_on_it(tmp_path: Path, algorithm: str, card_network: str) -> None:
    from training.train import main as train

    config = tmp_path / "follow.yaml"
    config.write_text(
        f"""
game: {MODULE}
run: {tmp_path / "run"}
algorithm: {algorithm}
total_steps: 2048
num_envs: 8
options: {{num_players: 4}}
record: plain
network: {{hidden: [16], card_network: {card_network}, initial_bias: {{pass: -1}}}}
ppo: {{rollout_steps: 64, batch_size: 128, epochs: 1}}
opponents: {{bots: {{low: 1.0}}, past_selves: 0}}
evaluation: {{against: [random], every: 1024, deals: 4}}
checkpoints: {{every: 1024}}
"""
    )
    assert train([str(config)]) == 0
    policy = load_policy(tmp_path / "run" / "last.safetensors", follow)
    assert policy.game is follow
    assert asdict(policy.options)["num_players"] == 4
    assert f"game: {MODULE}" in (tmp_path / "run" / "config.yaml").read_text()
    assert train(["--resume", str(tmp_path / "run"), "--total-steps", "2560"]) == 0


def test_what_it_has_not_is_refused_by_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from training.train import main as train

    config = tmp_path / "follow.yaml"
    config.write_text(f"game: {MODULE}\nrecord: plain\nalgorithm: ppo\nnetwork: {{kind: relational}}\n")
    assert train([str(config)]) == 2
    assert "relational" in capsys.readouterr().err
    config.write_text(f"game: {MODULE}\nrecord: sheet\n")
    assert train([str(config)]) == 2
    assert "record" in capsys.readouterr().err


def test_the_command_plays_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "--game", MODULE, "low", "random", "random", "--games", "6"]) == 0
    told = capsys.readouterr().out
    assert "cards_played" in told
    assert main(["play", "--game", MODULE]) == 2
    assert "the game 'follow' has no" in capsys.readouterr().err


def test_gymnasium_spaces_hold_what_comes() -> None:
    env = bound(GameSoloEnv, follow)(num_players=8)
    assert isinstance(env, gymnasium.Env)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
