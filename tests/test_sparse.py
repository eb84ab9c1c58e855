"""Observations without their zeros are the dense ones, and so is what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sleuth_env import sleuth
from sleuth_env.vector import SleuthVectorEnv
from training.config import make_config
from training.sparse import Product, SparseRows, observed


def test_sparse_rows_are_the_dense_ones():
    chance = np.random.default_rng(0)
    dense = (chance.random((40, 50)) * (chance.random((40, 50)) < 0.1)).astype(np.float32)
    rows, some = SparseRows.of(dense), np.array([3, 39, 3, 0])
    assert (rows.dense(50).numpy() == dense).all()
    assert (rows.take(some).dense(50).numpy() == dense[some]).all()
    assert (SparseRows.joined([rows, rows.take(some)]).dense(50).numpy() == np.concatenate([dense, dense[some]])).all()
    assert (rows.transposed(50).dense(40).numpy() == dense.T).all()


def test_their_product_and_its_gradient_are_the_dense_ones():
    chance = np.random.default_rng(0)
    dense = (chance.random((40, 50)) * (chance.random((40, 50)) < 0.1)).astype(np.float32)
    matrix, gradient = torch.randn(50, 16, requires_grad=True), torch.randn(40, 16)
    product = Product.apply(SparseRows.of(dense), matrix)
    product.backward(gradient)
    torch.testing.assert_close(product.detach(), torch.from_numpy(dense) @ matrix.detach())
    torch.testing.assert_close(matrix.grad, torch.from_numpy(dense).T @ gradient)


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_the_learner_s_observations_are_those_of_the_environment(record: str):
    config = make_config({"record": record, "options": {"num_players": 3}})
    envs = SleuthVectorEnv(6, record=record, num_players=3)
    observations, _ = envs.reset(seed=1)
    chance = np.random.default_rng(1)
    for _ in range(15):
        masks = envs.action_masks()
        observations, *_ = envs.step((masks * chance.random(masks.shape)).argmax(axis=1))
    assert (observed(config, envs.views()).dense(envs.size).numpy() == observations).all()
