"""The relational network treats opponents alike, and elements, for NumPy as for torch."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from sleuth_env import sleuth
from sleuth_env.matches.match import play_match
from sleuth_env.matches.players import make_player
from sleuth_env.policies.policy import Policy, load_policy, save_policy
from sleuth_env.policies.policy_file import PolicyError, read_metadata, sealed
from sleuth_env.sleuth import Options
from sleuth_env.sleuth.cards import ALLOWED, CATEGORIES, ELEMENTS, GEMS, PAIRS, QUESTIONS
from sleuth_env.sleuth.relational import Relational
from sleuth_env.sleuth.relations import ADDED_TO_HELD, VERSION, relations
from sleuth_env.sleuth_v0 import SleuthVectorEnv
from tests.support.policies import VERSIONS, random_policy
from training.config import ConfigError, make_config
from training.network import make_network
from training.sparse import SparseRows

OPTIONS = [{"num_players": number} for number in range(3, 8)] + [
    {"num_players": 3, "super_sleuth": True},
    {"num_players": 4, "missing": 2},
]


def network(record: str = "sheet", units: int = 8, **options: Any) -> tuple[Any, Any]:
    """A configuration and its network with random weights."""
    config = make_config(
        {"algorithm": "ppo", "record": record, "options": options, "network": {"kind": "relational", "units": units}}
    )
    torch.manual_seed(1)
    made = make_network(config)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, 0, 0.3)
    return config, made


def relational(record: str = "sheet", **options: Any) -> Policy:
    config, made = network(record, **options)
    return made.policy(config, 7)


def seen(options: Options, record: str, steps: int = 30) -> np.ndarray:
    """Observations of games between `cautious` bots."""
    envs = SleuthVectorEnv(6, record=record, **vars(options))
    bot = sleuth.make_bot("cautious", options)
    found = []
    observations, _ = envs.reset(seed=3)
    for step in range(steps):
        found.append(np.array(observations))
        seeds = np.random.default_rng(step).integers(2**64, size=6, dtype=np.uint64)
        observations, *_ = envs.step(bot.act(envs.views().copy(), envs.action_masks(), seeds))
    return np.concatenate(found)


# --- the same as with torch ---


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_numpy_gives_the_logits_of_torch(record: str, options: dict[str, Any]):
    config, made = network(record, **options)
    observations = seen(config.options, record, 5)
    logits, values = made(SparseRows.of(observations))
    assert logits.shape == (len(observations), sleuth.num_actions(config.options))
    assert values.shape == (len(observations),)
    np.testing.assert_allclose(
        made.policy(config, 0).logits(observations), logits.detach().numpy(), rtol=1e-4, atol=1e-5
    )


def test_a_row_of_a_batch_gives_the_same_bits_alone():
    policy = relational(num_players=4)
    observations = np.repeat(seen(policy.options, "sheet", 10), 5, axis=0)
    alone = np.concatenate([policy.logits(observations[i : i + 1]) for i in range(len(observations))])
    assert alone.tobytes() == policy.logits(observations).tobytes()


def test_initial_biases_are_those_of_the_untrained_logits():
    biases = {"ask": 1.0, "final": -3.0, "exchange": 2.0, "accuse": -7.0, "pass": 0.5}
    config = make_config(
        {"algorithm": "ppo", "options": {"num_players": 3}, "network": {"kind": "relational", "initial_bias": biases}}
    )
    logits = make_network(config).policy(config, 0).logits(seen(config.options, "sheet", 3))
    wanted = [biases[sleuth.action_name(action, 3).split()[0]] for action in range(logits.shape[1])]
    assert np.abs(logits - wanted).max() < 0.5


# --- all alike ---


def turned(options: Options, record: str, observations: np.ndarray, order: list[int]) -> np.ndarray:
    """Return what the viewer would see if the opponents sat in another order.

    The k-th is who was the order[k]-th.
    """
    seats = [0, *order]
    holders = [seat - 1 for seat in order] + [options.num_players - 1]
    axes: dict[str, tuple[tuple[int, list[int]], ...]] = {
        "askers": ((1, seats), (3, seats)),
        "event_asker": ((2, seats),),
        "event_target": ((2, seats),),
        "information": ((1, [seat - 1 for seat in order]),),
        **{name: ((1, holders),) for name in ("certain_yes", "certain_no", "chance")},
        **{
            name: ((1, seats),)
            for name in ("answer_known", "answer_count", "seen", "seen_by", "search", "spent", "exchanges")
        },
        **{name: ((1, seats),) for name in ("in_contention", "out", "right", "place", "turn", "first_target")},
    }
    result = observations.copy()
    views = sleuth.observation_layout(options, record).views(result)
    for name, block in views.items():
        for axis, places in axes.get(name, ()):
            block[:] = block.take(places, axis)
    return result


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_opponents_in_another_order_give_their_logits_in_that_order(record: str):
    policy = relational(record, num_players=5)
    order = [3, 1, 4, 2]
    observations = seen(policy.options, record)
    before = policy.logits(observations)
    after = policy.logits(turned(policy.options, record, observations, order))
    expected = before.copy()
    pairs = len(PAIRS)
    questions = len(QUESTIONS)
    for k, seat in enumerate(order):
        for start, width in ((0, pairs), (4 * pairs, questions)):
            expected[:, start + k * width : start + (k + 1) * width] = before[
                :, start + (seat - 1) * width : start + seat * width
            ]
    np.testing.assert_allclose(after, expected, rtol=1e-3, atol=1e-4)
    assert np.abs(before - expected).max() > 0.1


def test_elements_of_a_category_are_alike():
    policy = relational(num_players=3)
    new = dict(
        zip(
            ELEMENTS,
            [*CATEGORIES[0][1:], CATEGORIES[0][0], *CATEGORIES[1][::-1], *CATEGORIES[2][1:], CATEGORIES[2][0]],
            strict=True,
        )
    )
    gems = [GEMS.index(tuple(new[element] for element in gem)) for gem in GEMS]
    questions = [QUESTIONS.index(tuple(new[element] for element in question)) for question in QUESTIONS]
    cards = [
        ALLOWED.index(tuple(sorted((QUESTIONS[questions[QUESTIONS.index(q)]] for q in card), key=QUESTIONS.index)))
        for card in ALLOWED
    ]
    pairs = [PAIRS.index((questions[question], cards[card])) for question, card in PAIRS]
    observations = seen(policy.options, "sheet")
    renamed = observations.copy()
    for block in sleuth.observation_layout(policy.options, "sheet").views(renamed).values():
        for axis, size in enumerate(block.shape[1:], 1):
            places = {36: gems, 43: questions, 54: cards}.get(size)
            if places is not None:
                block[:] = block.take(places, axis)
    assert (renamed != observations).any()
    offset = 2 * len(PAIRS)
    actions = [k * len(PAIRS) + pair for k in range(2) for pair in pairs] + [
        offset + k * 43 + question for k in range(2) for question in questions
    ]
    exchange = offset + 2 * 43
    actions += [exchange, *(exchange + 1 + gem for gem in gems), exchange + 37]
    np.testing.assert_allclose(policy.logits(renamed), policy.logits(observations)[:, actions], rtol=1e-3, atol=1e-4)


# --- any number of players ---


def test_it_plays_at_another_table_and_keeps_its_weights(tmp_path: Path):
    save_policy(relational(num_players=4), tmp_path / "p.safetensors", VERSIONS)
    for number in range(3, 8):
        options = Options(num_players=number, max_turns=30)
        player = make_player(str(tmp_path / "p.safetensors"), options)
        assert player.options.num_players == number
        assert player.steps == 7
        assert play_match(sleuth, options, [player, *["random"] * (number - 1)], 1, seed=1).entries[0].name == "p"
    with pytest.raises(PolicyError, match="missing=1"):
        load_policy(tmp_path / "p.safetensors").seated(Options(num_players=4, missing=2))


def test_seating_it_leaves_the_policy_as_it_was():
    policy = relational(num_players=4)
    observations = seen(policy.options, "sheet", 3)
    before = policy.logits(observations)
    assert policy.seated(Options(num_players=6)) is not policy
    assert (policy.logits(observations) == before).all()


def test_a_run_takes_over_the_weights_of_another_number_of_players():
    teacher = relational(num_players=3)
    config, made = network(num_players=5)
    made.load(teacher)
    observations = seen(config.options, "sheet", 3)
    assert (made.policy(config, 0).logits(observations) == teacher.seated(config.options).logits(observations)).all()


@pytest.mark.parametrize("other", [{"units": 10}, {"record": "raw"}])
def test_weights_of_another_network_are_refused(other: dict[str, Any]):
    _, made = network(**other, num_players=3)
    with pytest.raises(PolicyError, match="another network"):
        made.load(relational(num_players=3))
    with pytest.raises(PolicyError, match="another network"):
        made.load(random_policy())


def test_a_perceptron_takes_over_a_perceptron_s_weights():
    config = make_config(
        {"algorithm": "ppo", "options": {"num_players": 3}, "network": {"hidden": [16, 8], "card_network": [4]}}
    )
    made = make_network(config)
    teacher = make_network(config).policy(config, 0)
    made.load(teacher)
    observations = seen(config.options, "sheet", 3)
    assert (made.policy(config, 0).logits(observations) == teacher.logits(observations)).all()
    with pytest.raises(PolicyError, match="another network"):
        made.load(relational(num_players=3))


# --- files ---


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_policy(relational(num_players=3), tmp_path / "p.safetensors", VERSIONS)
    return tmp_path / "p.safetensors"


def changed(file: Path, architecture: dict[str, Any], tensors: dict[str, Any] | None = None) -> str:
    """The message with which a file is refused after some changes."""
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    header["architecture"] = json.dumps({"kind": "relational", "units": 8, "features": VERSION} | architecture)
    left = {name: array for name, array in (load(content) | (tensors or {})).items() if array is not None}
    file.write_bytes(sealed(save(left, header)))
    with pytest.raises(PolicyError) as refusal:
        load_policy(file)
    return str(refusal.value)


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_a_file_plays_as_the_policy_that_was_saved(tmp_path: Path, record: str):
    policy = relational(record, num_players=3)
    save_policy(policy, tmp_path / "p.safetensors", VERSIONS)
    observations = seen(policy.options, record, 3)
    assert (load_policy(tmp_path / "p.safetensors").logits(observations) == policy.logits(observations)).all()
    assert read_metadata(tmp_path / "p.safetensors")["architecture"] == {
        "kind": "relational",
        "units": 8,
        "features": VERSION,
    }


@pytest.mark.parametrize("units", [7, 0, 10**9, True, "8", None, [8]])
def test_units_that_no_network_has_are_refused(file: Path, units: Any):
    assert "units must be" in changed(file, {"units": units})


@pytest.mark.parametrize("features", [VERSION + 1, 0, -1])
def test_a_network_that_learned_from_other_features_is_refused(file: Path, features: int):
    assert f"version {features} of a relational network's features, and this is version {VERSION}" in changed(
        file, {"features": features}
    )


@pytest.mark.parametrize("features", ["1", None, True, 1.0])
def test_a_version_of_features_is_a_whole_number(file: Path, features: Any):
    assert "features must be the version" in changed(file, {"features": features})


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_a_network_that_learned_from_the_first_features_plays_as_it_did(tmp_path: Path, record: str):
    policy = relational(record, num_players=3)
    weight, bias = policy.network.layers["held"]
    at = relations(policy.options, record).sizes["held"] - ADDED_TO_HELD
    weight[:, at : at + ADDED_TO_HELD] = 0.0
    policy = Policy(sleuth, policy.options, record, Relational(policy.network.layers | {"held": (weight, bias)}, 8))
    path = tmp_path / "p.safetensors"
    save_policy(policy, path, VERSIONS)
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    header["architecture"] = json.dumps({"kind": "relational", "units": 8, "features": 1})
    tensors = load(content)
    older = np.delete(weight, range(at, at + ADDED_TO_HELD), axis=1)
    tensors["held.weight"] = np.ascontiguousarray(older)
    path.write_bytes(sealed(save(tensors, header)))
    old = load_policy(path)
    observations = seen(policy.options, record, 5)
    assert (old.logits(observations) == policy.logits(observations)).all()
    save_policy(old, tmp_path / "again.safetensors", VERSIONS)
    assert read_metadata(tmp_path / "again.safetensors")["architecture"]["features"] == VERSION


def test_a_network_of_the_first_features_with_too_few_weights_is_refused(file: Path):
    assert "layer held must have weights" in changed(file, {"features": 1}, {"held.weight": np.zeros((4, 3), "f4")})


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_what_an_opponent_asks_about_a_gem_is_counted(record: str):
    options = Options(num_players=4)
    observations = seen(options, record)
    blocks = sleuth.observation_layout(options, record).views(observations)
    given = relations(options, record)
    held = given.by_entity(given.features(observations))["held"][..., -ADDED_TO_HELD:]
    for row, k, gem in np.random.default_rng(2).integers([0, 0, 0], [len(observations), 3, 36], (200, 3)).tolist():
        wanted = []
        for elements in (1, 2):
            about = [q for q, some in enumerate(QUESTIONS) if len(some) == elements and set(some) <= set(GEMS[gem])]
            cards = [card for card, some in enumerate(ALLOWED) if some in [(QUESTIONS[q],) for q in about]]
            asked = blocks["askers"][row][:, about, k + 1].sum(axis=1)
            wanted += [
                asked[0] / 3,
                asked[1:].sum() / 3,
                blocks["answer_known"][row, k + 1, about].sum() / 3,
                blocks["answer_count"][row, k + 1, about].sum(),
                blocks["search"][row, k + 1, cards].sum() / 3,
                blocks["spent"][row, k + 1, cards].sum() / 3,
            ]
        np.testing.assert_allclose(held[row, k, gem], wanted, rtol=1e-5, atol=1e-6)
    assert (held > 0).any(axis=(0, 1, 2)).all()


def test_whoever_changes_the_features_changes_their_version():
    found = blake2b(digest_size=8)
    for record in sleuth.RECORDS:
        given = relations(Options(3), record)
        for array in (given.starts, given.targets, given.scales, given.constants):
            found.update(array.tobytes())
    assert (VERSION, found.hexdigest()) == (2, "354a33ea27aeb51e"), (
        "other features: raise VERSION, and let files of the versions before play as they did"
    )


def test_other_tensors_than_the_network_s_are_refused(file: Path):
    assert "layer held must have weights" in changed(file, {"units": 10})
    assert "unknown tensors spy" in changed(file, {}, {"spy": np.zeros(3, np.float32)})


@pytest.mark.parametrize("kind", ["cnn", None, ["relational"]])
def test_an_unknown_kind_of_network_is_refused(file: Path, kind: Any):
    assert "'mlp', 'relational'" in changed(file, {"kind": kind})


def test_a_missing_tensor_is_refused(file: Path):
    assert "lacks 'price.bias'" in changed(file, {}, {"price.bias": None})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused(file: Path, value: float):
    assert "not finite" in changed(file, {}, {"verdict.bias": np.full(4, value, np.float32)})


def test_weights_that_could_make_a_logit_overflow_are_refused(file: Path):
    scaled = {
        name: array * np.float32(1e15)
        for name, array in load(file.read_bytes()).items()
        if name.startswith(("held", "gem", "accuse"))
    }
    assert "could overflow" in changed(file, {}, scaled)


def test_no_number_on_the_way_may_overflow_either(file: Path):
    tensors = load(file.read_bytes())
    scaled = {
        "cell.weight": tensors["cell.weight"] * np.float32(1e37),
        "score.weight": tensors["score.weight"] * np.float32(1e-35),
    }
    assert "could overflow" in changed(
        file, {}, scaled | {"choice.weight": tensors["choice.weight"] * np.float32(1e-35)}
    )


def test_it_needs_the_algorithm_ppo():
    with pytest.raises(ConfigError, match=r"network\.kind: 'relational' needs algorithm 'ppo'"):
        make_config({"network": {"kind": "relational"}})
