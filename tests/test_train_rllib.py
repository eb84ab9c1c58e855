"""What ``algorithm: rllib`` says before Ray is needed; the rest is in `tests.libraries.test_rllib`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_train import TINY, the_line
from training.config import ConfigError, make_config
from training.train import main

RLLIB: dict[str, Any] = TINY | {"algorithm": "rllib"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ppo": TINY["ppo"] | {"final_clip_range": 0.1}}, "ppo.final_clip_range: must be null: RLlib has no such"),
        ({"ppo": TINY["ppo"] | {"target_kl": 0.1}}, "ppo.target_kl: must be null: RLlib has no such setting, got 0.1"),
        ({"rllib": {"env_runners": 3}}, "rllib.env_runners: must divide num_envs = 8, got 3"),
        ({"rllib": {"env_runners": -1}}, "rllib.env_runners: must be at least 0, got -1"),
        ({"rllib": {"runners": 1}}, "rllib.runners: unknown key, did you mean env_runners?; known here: env_runners"),
    ],
    ids=str,
)
def test_what_rllib_cannot_do_is_one_line(change: dict[str, Any], said: str):
    with pytest.raises(ConfigError) as caught:
        make_config(RLLIB | change)
    (line,) = str(caught.value).splitlines()
    assert said in line


def test_another_algorithm_takes_any_number_of_games_and_every_setting():
    config = make_config(TINY | {"rllib": {"env_runners": 3}, "ppo": TINY["ppo"] | {"target_kl": 0.1}})
    assert config.algorithm == "maskable_ppo"


def test_a_network_of_the_games_own_can_be_learned_by_rllib():
    config = make_config(RLLIB | {"record": "exact", "network": {"kind": "relational"}})
    assert config.network.kind == "relational"


def test_without_ray_one_line_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    # So an import fails, whether or not it is there.
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "training.rllib", raising=False)
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(RLLIB | {"run": str(tmp_path / "run")}))
    assert main([str(path)]) == 2
    assert the_line(capsys) == ('error: algorithm: rllib needs ray, which is not installed: pip install ".[rllib]"')
    assert not (tmp_path / "run").exists()


def test_without_ray_the_environment_names_the_extra():
    code = "import sys; sys.modules['ray'] = None; import sleuth_env.envs.rllib"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.endswith('needs ray, which is not installed: pip install "sleuth-env[rllib]"')
