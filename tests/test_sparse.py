"""Observations without their zeros are the dense ones, and so is what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sleuth_env import sleuth
from sleuth_env.sleuth_v0 import SleuthVectorEnv
from training.config import make_config
from training.network import CardNetwork
from training.sparse import Product, SparseRows, observed


def test_sparse_rows_are_the_dense_ones():
    rng = np.random.default_rng(0)
    dense = (rng.random((40, 50)) * (rng.random((40, 50)) < 0.1)).astype(np.float32)
    rows = SparseRows.of(dense)
    some = np.array([3, 39, 3, 0])
    assert (rows.dense(50).numpy() == dense).all()
    assert (rows.take(some).dense(50).numpy() == dense[some]).all()
    assert (SparseRows.joined([rows, rows.take(some)]).dense(50).numpy() == np.concatenate([dense, dense[some]])).all()
    assert (rows.transposed(50).dense(40).numpy() == dense.T).all()


def test_their_product_and_its_gradient_are_the_dense_ones():
    rng = np.random.default_rng(0)
    dense = (rng.random((40, 50)) * (rng.random((40, 50)) < 0.1)).astype(np.float32)
    matrix = torch.randn(50, 16, requires_grad=True)
    gradient = torch.randn(40, 16)
    product = Product.apply(SparseRows.of(dense), matrix)
    product.backward(gradient)
    torch.testing.assert_close(product.detach(), torch.from_numpy(dense) @ matrix.detach())
    torch.testing.assert_close(matrix.grad, torch.from_numpy(dense).T @ gradient)


@pytest.mark.parametrize("kinds", [1, 2, 1000])
def test_parts_that_are_equal_are_kept_once(kinds: int):
    rng = np.random.default_rng(kinds)
    dense = (rng.integers(1, kinds + 1, (30, 50)) / kinds * (rng.random((30, 50)) < 0.5)).astype(np.float32)
    # 40 of the 50 columns are the numbers of ten parts, in no order.
    inputs = rng.permutation(50)[:40].reshape(10, 4)
    places = np.full(50, -1, np.int32)
    places[inputs] = np.arange(40).reshape(10, 4)
    distinct, which = SparseRows.of(dense).distinct_parts(places, 10, 4)
    assert (distinct[which] == dense[:, inputs]).all()
    assert sorted(map(tuple, distinct)) == sorted(set(map(tuple, dense[:, inputs].reshape(-1, 4))))
    nothing, none = SparseRows.of(dense[:0]).distinct_parts(places, 10, 4)
    assert (nothing.shape, none.shape) == ((0, 4), (0, 10))


def test_scores_of_cards_and_their_gradients_are_those_of_dense_observations():
    config = make_config({"options": {"num_players": 3}, "network": {"card_network": [8]}})
    card_network = CardNetwork(config, [8])
    envs = SleuthVectorEnv(40, record=config.record, num_players=3)
    observations, _ = envs.reset(seed=1)
    for _ in range(20):
        observations, *_ = envs.step(envs.action_masks().argmax(axis=1))
    rows = SparseRows.of(observations)
    weights = torch.randn(40, 36)
    scores = [card_network(torch.from_numpy(observations)), card_network.of_rows(rows)]
    torch.testing.assert_close(scores[1], scores[0])
    gradients = [torch.autograd.grad((score * weights).sum(), list(card_network.parameters())) for score in scores]
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_the_learner_s_observations_are_those_of_the_environment(record: str):
    config = make_config({"record": record, "options": {"num_players": 3}})
    envs = SleuthVectorEnv(6, record=record, num_players=3)
    observations, _ = envs.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(15):
        masks = envs.action_masks()
        observations, *_ = envs.step((masks * rng.random(masks.shape)).argmax(axis=1))
    assert (observed(config, envs.views()).dense(envs.size).numpy() == observations).all()
