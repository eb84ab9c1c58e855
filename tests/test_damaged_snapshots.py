"""No damaged snapshot harms an environment: it is refused and nothing has changed, or it is a game."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import sleuth_v0
from sleuth_env.envs.snapshot import bytes_of
from sleuth_env.sleuth import STATE
from tests.support.damage import FACES, JUNK
from tests.support.games import TRIED
from tests.support.playing import everything_shown, play_out

ROOT = Path(__file__).parents[1]
each_face = pytest.mark.parametrize("face", FACES)
each_game = pytest.mark.parametrize("game", TRIED)


def check_damaged(game: str, face: str, number: int) -> None:
    """Try damaged snapshots in a process of their own, which must survive them."""
    command = [sys.executable, "-m", "tests.support.damage", game, face, str(number), "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    refused, taken = map(int, done.stdout.split())
    assert refused + taken == number
    assert refused > number / 2


@each_face
@each_game
def test_a_damaged_snapshot_is_refused_or_is_a_game(game: str, face: str) -> None:
    check_damaged(game, face, 100)


@pytest.mark.slow
@each_face
@each_game
def test_none_of_many_damaged_snapshots_harms_an_environment(game: str, face: str) -> None:
    check_damaged(game, face, 20_000)


def snapped() -> tuple[Any, Any]:
    env = sleuth_v0.raw_env(num_players=3)
    env.reset(seed=3)
    play_out(env, seed=4, limit=9, accuse=0.0)
    return env, env.get_state()


def with_field(snapshot: Any, field: str, value: int | list[int]) -> Any:
    """Return a snapshot with another value in a field of its game, made on purpose."""
    states = snapshot.states.copy().view(STATE)[:, 0]
    states[field] = value
    return replace(snapshot, states=bytes_of(states), digest="")


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("actor", 2**31 - 1, "actor"),
        ("actor", -2, "actor"),
        ("pile_size", 10**7, "pile_size"),
        ("turn", 10**6, "turn"),
        ("standing", 1, "hands"),
        ("standing", [1, 1, 1, 0, 0, 0, 0], "accused"),
        ("standing", [2, 2, 2, 0, 0, 0, 0], "standing"),
    ],
)
def test_a_wild_number_in_a_game_is_refused_by_name(field: str, value: int | list[int], named: str) -> None:
    env, snapshot = snapped()
    before = everything_shown(env)
    with pytest.raises(ValueError, match=f"the snapshot has a game that cannot be: game 0: {named} is"):
        env.set_state(with_field(snapshot, field, value))
    assert everything_shown(env) == before


def test_every_changed_bit_is_noticed_by_the_digest() -> None:
    env, snapshot = snapped()
    rng = np.random.default_rng(1)
    for _ in range(400):
        states = snapshot.states.copy()
        states[0, rng.integers(states.size)] ^= 1 << rng.integers(8)
        with pytest.raises(ValueError, match="the snapshot has been damaged or changed since get_state"):
            env.set_state(replace(snapshot, states=states))


def test_a_snapshot_whose_game_does_not_follow_from_its_actions_is_refused() -> None:
    env, snapshot = snapped()
    actions = snapshot.more["actions"]
    for wrong in (actions[:-1], actions[1:], [*actions, actions[0]], []):
        with pytest.raises(ValueError, match="actions of the snapshot does not fit"):
            env.set_state(replace(snapshot, more={**snapshot.more, "actions": wrong}, digest=""))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("agent_selection", lambda _: "player_0"),
        ("skipped_selection", lambda _: "player_0"),
        ("agents", lambda agents: agents[:2]),
        ("rewards", lambda rewards: {**rewards, "player_1": 0.5}),
        ("rewards", lambda rewards: {**rewards, "player_1": float("nan")}),
        ("cumulative_rewards", lambda rewards: {**rewards, "player_1": 1.0}),
        ("cumulative_rewards", lambda rewards: {"player_1": 0.0}),
        ("terminations", lambda flags: {**flags, "player_1": True}),
        ("truncations", lambda flags: dict.fromkeys(flags, True)),
    ],
)
def test_what_does_not_agree_with_the_game_is_refused(name: str, change: Callable[[Any], Any]) -> None:
    env, snapshot = snapped()
    if env.agent_selection == "player_0":
        play_out(env, seed=4, limit=1, accuse=0.0)
        snapshot = env.get_state()
    before = everything_shown(env)
    with pytest.raises(ValueError, match="of the snapshot does not fit this environment"):
        env.set_state(replace(snapshot, more={**snapshot.more, name: change(snapshot.more[name])}, digest=""))
    assert everything_shown(env) == before


@each_face
def test_junk_in_the_place_of_any_part_is_a_value_error(face: str) -> None:
    env = FACES[face](TRIED["sleuth"].game, {"num_players": 3})
    env.reset()
    snapshot = env.get_state()
    for junk in JUNK:
        changed = [replace(snapshot, digest="", **{name: junk}) for name in ("face", "options", "states", "streams")]
        changed += [replace(snapshot, digest="", more={**snapshot.more, name: junk}) for name in snapshot.more]
        changed += [replace(snapshot, digest="", streams=[junk, *snapshot.streams[1:]])]
        for wrong in changed:
            if not is_right(wrong, snapshot):
                with pytest.raises(ValueError):  # noqa: PT011
                    env.set_state(wrong)
    assert env.get_state().digest == snapshot.digest


@each_face
@pytest.mark.parametrize(
    "junk",
    [np.array([1, 2, 3]), np.int64(5), np.zeros(2, STATE), object()],
    ids=str.split("array number records object"),
)
def test_junk_in_the_place_of_a_generator_s_numbers_is_a_value_error(face: str, junk: Any) -> None:
    env = FACES[face](TRIED["sleuth"].game, {"num_players": 3})
    env.reset()
    snapshot = env.get_state()
    for name in ("state", "bit_generator", "has_uint32"):
        streams = [{**snapshot.streams[0], name: junk}, *snapshot.streams[1:]]
        with pytest.raises(ValueError, match="is not the state of a generator"):
            env.set_state(replace(snapshot, streams=streams, digest=""))
    assert env.get_state().digest == snapshot.digest


class Hostile:
    """Nothing can be asked of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


class HostileMapping(dict[str, Any]):
    """A dictionary that cannot be gone through."""

    def __iter__(self) -> Any:
        raise RuntimeError("no")

    keys = items = __repr__ = __eq__ = __iter__

    __hash__ = None  # type: ignore[assignment]


def strange_values() -> list[Any]:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    return [
        cycle,
        deep,
        Hostile(),
        [Hostile()],
        {"player_0": 10**400, "player_1": 0, "player_2": 0},
        HostileMapping(player_0=1.0),
        np.zeros(2, "M8[s]"),
        np.array([Hostile(), None]),
        np.ma.masked_array([1, 2], [True, False]),
        10**10_000,
    ]


@each_face
@each_game
def test_a_strange_value_anywhere_in_a_snapshot_is_a_value_error(game: str, face: str) -> None:
    env = FACES[face](TRIED[game].game, {"num_players": 3})
    env.reset()
    snapshot = env.get_state()
    for strange in strange_values():
        changed = [{name: strange} for name in ("face", "game", "options", "states", "streams", "more", "digest")]
        changed += [{"more": {**snapshot.more, name: strange}} for name in snapshot.more]
        changed += [{"streams": [strange, *snapshot.streams[1:]]}]
        changed += [{"options": {**snapshot.options, "num_players": strange}}]
        for change in changed:
            for digest in (snapshot.digest, ""):
                with pytest.raises(ValueError, match="snapshot"):
                    env.set_state(replace(snapshot, **({"digest": digest} | change)))
    assert env.get_state().digest == snapshot.digest


@each_face
@pytest.mark.parametrize("name", ["unknown", 5])
def test_a_part_that_nobody_knows_is_refused_by_name(face: str, name: Any) -> None:
    env = FACES[face](TRIED["sleuth"].game, {"num_players": 3})
    env.reset()
    snapshot = env.get_state()
    for value in (0, *strange_values()):
        for digest in (snapshot.digest, ""):
            with pytest.raises(ValueError, match=f"that is not a snapshot.*: unknown part {name!r}; its parts are "):
                env.set_state(replace(snapshot, more={**snapshot.more, name: value}, digest=digest))
    assert env.get_state().digest == snapshot.digest


@each_face
def test_a_snapshot_that_lacks_a_field_is_refused(face: str) -> None:
    env = FACES[face](TRIED["sleuth"].game, {"num_players": 3})
    env.reset()
    for name in ("face", "game", "options", "states", "streams", "more"):
        partial = env.get_state()
        vars(partial).pop(name)
        with pytest.raises(ValueError, match="that is not a snapshot"):
            env.set_state(partial)


def is_right(changed: Any, snapshot: Any) -> bool:
    """Return whether junk happens to be what was there, or may be there."""
    if changed.more.get("over") is True and snapshot.more["over"] is False:
        return True
    return changed.more.get("skipped_selection", 0) is None and repr(changed) == repr(replace(snapshot, digest=""))
