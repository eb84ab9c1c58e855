"""Games in text as environments of OpenEnv, with the real library."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from sleuth_env import openenv_app, openenv_environment
from tests.test_text_env import model


def test_without_the_library_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from sleuth_env.envs import openenv

    monkeypatch.setitem(sys.modules, "openenv", None)
    monkeypatch.setitem(sys.modules, "openenv.core.env_server", None)
    openenv._classes.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r"sleuth-env\[openenv\]"):
        openenv_environment("sleuth")


@pytest.mark.parametrize("name", ["sleuth", "holmes"])
def test_a_model_plays_a_game_to_its_end(name: str) -> None:
    pytest.importorskip("openenv")
    env: Any = openenv_environment(name, "cautious", 1, num_players=3, max_turns=12)
    chance = random.Random(1)
    observation = env.reset(seed=1, episode_id="first")
    assert observation.prompt.startswith(env.text.rules)
    total = 0.0
    while not observation.done:
        observation = env.step(env.action_type(message=model(observation.prompt, chance)))
        assert observation.metadata["refused"] == ""
        total += observation.reward
    assert total == pytest.approx(env.text.table.returns[0, 1])
    assert env.state.episode_id == "first"
    assert env.state.step_count > 0
    env.close()


def test_it_is_served_over_http() -> None:
    pytest.importorskip("openenv")
    testclient = pytest.importorskip("fastapi.testclient")
    client = testclient.TestClient(openenv_app("sleuth", "random", num_players=3))
    with client.websocket_connect("/ws") as session:
        session.send_json({"type": "reset", "data": {"seed": 1}})
        first = session.receive_json()["data"]["observation"]
        assert "You (a) are player_0" in first["prompt"]
        session.send_json({"type": "step", "data": {"message": "I choose nothing."}})
        second = session.receive_json()["data"]
        assert "is not an action" in second["observation"]["prompt"]
        assert not second["done"]
