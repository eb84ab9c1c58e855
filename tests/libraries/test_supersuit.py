"""SuperSuit joins games of all seats for MaskablePPO, and its wrappers take the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
supersuit = pytest.importorskip("supersuit")
pytest.importorskip("sb3_contrib")

from sleuth_env.envs.supersuit import SeatsVecEnv  # noqa: E402
from tests.support.examples import example, said_by  # noqa: E402

TASKS = example("tasks").TASKS
GAMES = 2
STEPS = 256


def raw_env(game: str, **options: Any) -> Any:
    return TASKS[game].environments.raw_env(**{**TASKS[game].options, **options})


def weights(game: str, seed: int) -> Any:
    model = example("with_supersuit").train(TASKS[game], STEPS, seed)
    return torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()])


@pytest.mark.parametrize("game", TASKS)
def test_the_example_learns_and_its_policy_plays(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "win share 0." in said_by("with_supersuit", {"game": game, "steps": STEPS, "deals": 4}, capsys)


def test_a_seed_settles_what_is_learned() -> None:
    first = weights("holmes", 1)
    assert torch.isfinite(first).all()
    assert torch.equal(first, weights("holmes", 1))
    assert not torch.equal(first, weights("holmes", 2))


@pytest.mark.parametrize("options", [{}, {"max_turns": 6}])
@pytest.mark.parametrize("game", TASKS)
def test_every_row_is_a_seat_of_a_game_of_pettingzoo(game: str, options: dict[str, Any]) -> None:
    envs = SeatsVecEnv(raw_env(game, **options), GAMES, seed=5)
    games = [raw_env(game, **options) for _ in range(GAMES)]
    for number, env in enumerate(games):
        env.reset(seed=5 + number)
        # The games of the seed are dealt at once, and these follow them.
        env.reset()
    seats = [(env, agent) for env in games for agent in env.possible_agents]
    seen = envs.reset()
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(150):
        masks = envs.action_masks()
        for row, (env, agent) in enumerate(seats):
            told = env.observe(agent)
            assert (seen[row] == told["observation"]).all()
            legal = told["action_mask"] if agent == env.agent_selection else np.eye(1, masks.shape[1])[0]
            assert (masks[row] == legal).all()
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        seen, rewards, dones, infos = envs.step(actions)
        for number, env in enumerate(games):
            rows = range(number * len(env.possible_agents), (number + 1) * len(env.possible_agents))
            env.step(int(actions[rows[env.possible_agents.index(env.agent_selection)]]))
            over = env.terminations["player_0"] or env.truncations["player_0"]
            assert rewards[rows] == pytest.approx(list(env.rewards.values()))
            assert dones[rows].tolist() == [over] * len(rows)
            if over:
                ended += 1
                for row, agent in zip(rows, env.possible_agents, strict=True):
                    assert (infos[row]["terminal_observation"] == env.observe(agent)["observation"]).all()
                    stopped = env.truncations[agent] and not env.infos[agent]["settled"]
                    assert infos[row]["TimeLimit.truncated"] == stopped
                    assert infos[row]["settled"] == env.infos[agent]["settled"]
                env.reset()
    assert ended


def test_a_seat_without_a_decision_has_one_action_that_does_nothing() -> None:
    envs = SeatsVecEnv(raw_env("sleuth"), GAMES)
    envs.reset()
    masks = envs.action_masks()
    assert (masks.sum(axis=1) > 0).all()
    assert (masks[:, 1:].any(axis=1).reshape(GAMES, -1).sum(axis=1) == 1).all()
    assert envs.has_attr("action_masks")
    assert np.array_equal(np.stack(envs.env_method("action_masks", indices=[1, 2])), masks[1:3])
    with pytest.raises(AttributeError, match="have no method 'deal' of their own"):
        envs.env_method("deal")


@pytest.mark.parametrize("number", [0, -1, 1.5, "2"])
def test_a_number_of_games_that_makes_no_sense_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match="num_games must be"):
        SeatsVecEnv(raw_env("holmes"), number)


@pytest.mark.parametrize("game", TASKS)
def test_wrappers_of_supersuit_take_the_environments(game: str) -> None:
    task = TASKS[game]
    plain = task.environments.SoloEnv(**task.options)
    stacked = supersuit.frame_stack_v1(plain, 2)
    assert stacked.reset(seed=1)[0].size == 2 * plain.observation_space.shape[0]
    halved = supersuit.reward_lambda_v0(raw_env(game), lambda reward: reward / 2)
    whole = raw_env(game)
    for env in (halved, whole):
        env.reset(seed=1)
    while not any([*whole.terminations.values(), *whole.truncations.values()]):
        action = int(halved.last()[0]["action_mask"].argmax())
        for env in (halved, whole):
            env.step(action)
    assert any(whole.rewards.values())
    assert halved.rewards == {agent: reward / 2 for agent, reward in whole.rewards.items()}
