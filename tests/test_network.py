"""The learner's network: what the card network is about, and games that have none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from sleuth_env import SleuthVectorEnv, sleuth
from sleuth_env.layout import Layout, block_maker
from sleuth_env.policies.policy import load_policy
from sleuth_env.policies.policy_file import pretrained_names
from sleuth_env.sleuth.state import OFFER, SECOND
from training.config import ConfigError, make_config
from training.decisions import first_offered
from training.lessons import ACCEPTED, DECLINED, TURN, declining_actions, kinds_of
from training.network import ActorCritic, card_inputs, make_network, scored
from training.sparse import SparseRows

VIEW = np.dtype([("hand", "i8"), ("pile", "i8"), ("kept", "i8", 2)])


def config_of(game: Any, **changes: Any) -> Any:
    """Return a configuration of three-player Sleuth, in the place of which another game is put."""
    config = make_config({"algorithm": "ppo", "options": {"num_players": 3}} | changes)
    parts = ("network", "options", "record", "device", "seed")
    return SimpleNamespace(module=game, **{name: getattr(config, name) for name in parts})


def toy(**names: Any) -> Any:
    """Return what a network asks of a game, here one of five cards that can be played."""
    block = block_maker({"card": 5, "hand": 2, "colour": 5})
    # As many colours as cards: what counts is the name of the axis, not its size.
    blocks = [block("hand", "card"), block("pile", "colour"), block("kept", "hand card")]
    named = {
        "NAME": "toy",
        "OFFERED": (),
        "DECLINE": "",
        "SCORED": {"card": "play"},
        "NETWORKS": {},
        "action_blocks": lambda options: {"draw": slice(0, 1), "play": slice(1, 6)},
        "num_actions": lambda options: 6,
        "observation_layout": lambda options, record: Layout(blocks, VIEW),
    }
    return SimpleNamespace(**named | names)


# --- the card network ---


def test_the_inputs_of_a_card_are_the_blocks_with_its_axis_as_the_last():
    config = config_of(toy(), network={"card_network": [8]})
    assert scored(config) == ("card", slice(1, 6))
    assert card_inputs(config).tolist() == [[card, 10 + card, 15 + card] for card in range(5)]


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_in_sleuth_they_are_the_blocks_about_gems(record: str):
    config = make_config({"options": {"num_players": 4}, "record": record, "network": {"card_network": [8]}})
    layout = sleuth.observation_layout(config.options, record)
    columns = [np.arange(layout.size)[layout[block.name]].reshape(-1, 36) for block in layout if block.shape[-1] == 36]
    assert (card_inputs(config) == np.concatenate(columns).T).all()
    assert scored(config)[1] == sleuth.action_blocks(config.options)["accuse"]


def test_a_card_s_score_is_added_to_its_action_s_logit():
    config = make_config({"algorithm": "ppo", "options": {"num_players": 3}, "network": {"card_network": [8]}})
    made = make_network(config)
    assert isinstance(made, ActorCritic)
    hidden = config.network.hidden[-1]
    weight = made.action_net.weight.detach()[:, hidden:]
    accuse = sleuth.action_blocks(config.options)["accuse"]
    assert torch.equal(weight[accuse].diagonal(), torch.ones(36))
    assert weight.abs().flatten().kthvalue(weight.numel() - 36).values < 0.1


def test_initial_biases_are_those_of_their_action_blocks():
    biases = {"ask": 1.0, "final": -3.0, "exchange": 2.0, "accuse": -7.0, "pass": 0.5}
    config = make_config({"options": {"num_players": 3}, "network": {"initial_bias": biases}})
    bias = make_network(config).action_net.bias.detach()
    for name, actions in sleuth.action_blocks(config.options).items():
        assert (bias[actions] == biases[name]).all()


# --- what a game has not ---


def test_a_card_network_needs_cards_with_an_action_each():
    for axes, found in (({}, "none"), ({"card": "play", "colour": "play"}, r"several \(card, colour\)")):
        config = config_of(toy(SCORED=axes), network={"card_network": [8]})
        with pytest.raises(ConfigError, match=rf"network\.card_network: needs .* 'toy' has {found}"):
            make_network(config)


def test_a_game_s_own_network_needs_a_game_that_has_it():
    config = config_of(toy(), network={"kind": "relational"})
    with pytest.raises(ConfigError, match=r"network\.kind: the game 'toy' has no network 'relational', only mlp"):
        make_network(config)


def test_without_a_card_network_any_game_has_a_network():
    made = make_network(config_of(toy(), network={"hidden": [8]}))
    assert isinstance(made, ActorCritic)
    assert (made.size, made.action_net.out_features) == (20, 6)


# --- kinds of decisions ---


def test_a_decision_is_a_turn_or_an_offer_that_is_accepted_or_declined():
    declining = np.array([False, False, False, True])
    legal = np.array([[1, 1, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1]], np.uint8)
    assert kinds_of(legal, np.array([0, 1, 3]), 1, declining).tolist() == [TURN, ACCEPTED, DECLINED]


@pytest.mark.parametrize("variant", [{}, {"double_interrogation": True}, {"missing": 2}], ids=str)
def test_what_is_decided_in_one_s_turn_is_not_an_offer(variant: dict[str, Any]):
    """Also where passing is legal, as it is instead of a second question."""
    config = make_config({"options": {"num_players": 3, **variant}})
    offered = first_offered(config)
    declining = declining_actions(config)
    env = SleuthVectorEnv(8, num_players=3, **variant)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    passed_turns = 0
    for _ in range(300):
        legal = env.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
        kinds = kinds_of(legal, actions, offered, declining)
        may_pass = legal[:, declining].any(axis=1)
        # A second question that nothing can be asked in is decided like an offer.
        narrow = (env._states["phase"] == SECOND) & ~legal[:, :offered].any(axis=1)
        assert ((kinds != TURN) == may_pass & ((env._states["phase"] == OFFER) | narrow)).all()
        passed_turns += (may_pass & (kinds == TURN)).sum()
        env.step(actions)
    assert (passed_turns > 0) == ("double_interrogation" in variant)


def test_a_game_without_offers_has_only_turns():
    declining = declining_actions(config_of(toy()))
    assert not declining.any()
    offered = first_offered(config_of(toy()))
    assert kinds_of(np.ones((2, 6), np.uint8), np.array([0, 5]), offered, declining).tolist() == [TURN, TURN]


# --- the policies that come with the package ---


@pytest.mark.parametrize("name", pretrained_names("sleuth"))
def test_a_run_can_begin_with_what_is_shipped(name: str):
    policy = load_policy(name)
    network = {"kind": policy.network.kind, "units": policy.network.units}
    options = {"num_players": policy.options.num_players}
    config = make_config({"algorithm": "ppo", "record": policy.record, "options": options, "network": network})
    made = make_network(config)
    made.load(policy)
    mine = made.policy(config, 0).network.tensors()
    assert mine.keys() == policy.network.tensors().keys()
    assert all((mine[key] == array).all() for key, array in policy.network.tensors().items())
    assert "cell.weight" in mine


# --- sharper ---


@pytest.mark.parametrize(
    "network", [{"card_network": [8]}, {"hidden": [16, 16]}, {"kind": "relational", "units": 8}], ids=str
)
def test_all_logits_are_multiplied_where_a_policy_is_sharpened(network: dict[str, Any]):
    biased = network | {"initial_bias": {"accuse": -3}}
    config = make_config({"algorithm": "ppo", "options": {"num_players": 3}, "network": biased})
    made = make_network(config)
    size = sleuth.observation_layout(config.options, config.record).size
    rows = SparseRows.of(np.random.default_rng(1).integers(0, 2, (7, size)).astype(np.float32))
    with torch.inference_mode():
        logits, values = made(rows)
    made.sharpen(4.0)
    with torch.inference_mode():
        sharper, same = made(rows)
    torch.testing.assert_close(sharper, 4 * logits)
    assert torch.equal(values, same)
