"""Both frameworks find the environment by its name, and find it once."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings

import gymnasium
import pettingzoo
import pytest

import sleuth_env
from sleuth_env import holmes, holmes_v0, sleuth_v0
from sleuth_env.sleuth import Options


def output_of(code: str) -> str:
    """Run code in a process of its own."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_gymnasium_makes_it_after_the_package_was_imported() -> None:
    env = gymnasium.make("sleuth_env/Sleuth-v0", num_players=5, opponents="random", learner_seat=2)
    assert env.unwrapped.options == Options(num_players=5)
    assert env.spec.id == "sleuth_env/Sleuth-v0"
    assert env.spec.nondeterministic is False


@pytest.mark.parametrize("num_players", range(3, 9))
def test_gymnasium_makes_the_second_game(num_players: int) -> None:
    options = {"num_players": num_players, "cases": 1}
    env = gymnasium.make("sleuth_env/Holmes-v0", opponents="random", **options)
    assert env.unwrapped.options == holmes.Options(**options)
    many = gymnasium.make_vec("sleuth_env/HolmesSelfPlay-v0", num_envs=2, **options)
    assert many.unwrapped.options == holmes.Options(**options)


def test_pettingzoo_makes_the_second_game() -> None:
    env = pettingzoo.make("aec", "sleuth_env/holmes-v0", num_players=3, max_cycles=9)
    assert str(env) == "holmes_v0"
    assert holmes_v0.env(num_players=3).unwrapped.options == holmes.Options(num_players=3)


def test_gymnasium_imports_the_package_that_the_name_begins_with() -> None:
    code = (
        "import gymnasium; env = gymnasium.make('sleuth_env:sleuth_env/Sleuth-v0', opponents='random'); "
        "print(env.unwrapped.options.num_players)"
    )
    assert output_of(code) == "4"


def test_the_specification_travels_as_text() -> None:
    env = gymnasium.make("sleuth_env/Sleuth-v0", num_players=3, opponents=["random", "cautious"], winners=2)
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.options == env.unwrapped.options


def test_pettingzoo_makes_it_once_the_module_was_imported() -> None:
    for name in ("sleuth_env/sleuth-v0", "sleuth_env/sleuth_v0", "sleuth_env/sleuth"):
        env = pettingzoo.make("aec", name, num_players=3, max_cycles=9)
        assert str(env) == "sleuth_v0"
        assert env.unwrapped.options == Options(num_players=3, max_turns=9)


def test_importing_again_and_reloading_register_nothing_twice() -> None:
    code = """
import importlib, sleuth_env, pettingzoo
from gymnasium.envs.registration import registry
from sleuth_env import sleuth_v0, holmes_v0
for module in (sleuth_env, sleuth_v0, holmes_v0, sleuth_env, sleuth_v0, holmes_v0):
    importlib.reload(module)
print(*(name for name in [*registry, *pettingzoo.aec_registry] if "sleuth_env" in name))
"""
    names = [f"sleuth_env/{game}{kind}-v0" for game in ("Sleuth", "Holmes") for kind in ("", "SelfPlay")]
    assert output_of(code).split() == [*names, "sleuth_env/sleuth-v0", "sleuth_env/holmes-v0"]


def test_a_pettingzoo_without_a_registry_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aec_registry", "parallel_registry", "register", "make", "spec"):
        monkeypatch.delattr(pettingzoo, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sleuth_v0._register()
    assert sleuth_v0.env().possible_agents[0] == "player_0"


@pytest.mark.parametrize("name", sleuth_env.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(sleuth_env, name) is not None
    assert name in dir(sleuth_env)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'sleuth_env' has no attribute 'Sleth'"):
        sleuth_env.Sleth  # noqa: B018
    assert importlib.import_module("sleuth_env").__version__
