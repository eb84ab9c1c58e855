"""Decisions: the distribution over the legal actions, and what is drawn from it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sleuth_env import sleuth
from training.config import make_config
from training.decisions import by_width, entropies, first_offered, log_probs_of, masked_log_probs, sampled

# --- the masked distribution ---


@pytest.fixture
def rows() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    legal = torch.rand(500, 30, generator=generator) < 0.3
    legal[:, 7] |= ~legal.any(dim=1)
    legal[0] = torch.arange(30) == 29
    return 5 * torch.randn(500, 30, generator=generator), legal


def test_the_masked_distribution_is_that_of_torch(rows: tuple[torch.Tensor, torch.Tensor]):
    logits, legal = rows
    log_probs = masked_log_probs(logits, legal.float())
    for row in range(len(logits)):
        wanted = torch.distributions.Categorical(logits=logits[row][legal[row]])
        torch.testing.assert_close(log_probs[row][legal[row]], wanted.logits)
        torch.testing.assert_close(entropies(log_probs)[row], wanted.entropy())
    assert (log_probs.exp()[~legal] == 0).all()


def test_its_gradients_are_those_of_torch(rows: tuple[torch.Tensor, torch.Tensor]):
    logits, legal = (each[:20] for each in rows)
    ours = logits.double().requires_grad_()
    theirs = logits.double().requires_grad_()
    log_probs = masked_log_probs(ours, legal.double())
    actions = legal.to(torch.uint8).argmax(dim=1)
    (log_probs[torch.arange(20), actions].sum() + 2 * entropies(log_probs).sum()).backward()
    for row in range(20):
        wanted = torch.distributions.Categorical(logits=theirs[row][legal[row]])
        (wanted.log_prob(torch.tensor(0)) + 2 * wanted.entropy()).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_actions_are_drawn_by_their_probabilities(rows: tuple[torch.Tensor, torch.Tensor]):
    logits, legal = (each[1:2] for each in rows)
    log_probs = masked_log_probs(logits, legal.float())
    number = 100_000
    uniform = torch.arange(number).div(number)[:, None].float()
    counts = torch.bincount(
        sampled(log_probs.expand(number, -1), legal.float().expand(number, -1), uniform), minlength=30
    )
    assert (counts / number - log_probs.exp()[0]).abs().max() < 1e-4


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-24])
def test_an_illegal_action_is_never_drawn(rows: tuple[torch.Tensor, torch.Tensor], uniform: float):
    logits, legal = rows
    log_probs = masked_log_probs(logits, legal.float())
    # Nor where rounding leaves nothing above.
    for height in (uniform, 1.1):
        drawn = sampled(log_probs, legal.float(), torch.full((len(logits), 1), height))
        assert legal.gather(1, drawn[:, None]).all()


def test_rows_whose_early_actions_are_all_illegal_do_without_their_logits(rows: tuple[torch.Tensor, torch.Tensor]):
    legal = rows[1].numpy().astype(np.uint8)
    legal[::3, :20] = 0
    (wide, start), (narrow, late) = by_width(legal, 20, np.arange(len(legal)))
    assert (start, late) == (0, 20)
    assert sorted([*wide, *narrow]) == list(range(len(legal)))
    assert legal[wide, :20].any(axis=1).all()
    assert not legal[narrow, :20].any()
    assert [(some.tolist(), first) for some, first in by_width(legal, 20, narrow[::-1])] == [
        (narrow[::-1].tolist(), 20)
    ]


def test_the_log_probability_of_an_action_is_its_column(rows: tuple[torch.Tensor, torch.Tensor]):
    log_probs, legal = rows
    actions = legal.to(torch.uint8).argmax(dim=1)
    assert (log_probs_of(actions, log_probs) == log_probs[torch.arange(500), actions]).all()


def test_the_actions_that_answer_an_offer_are_the_last_ones():
    config = make_config({"options": {"num_players": 3}})
    blocks = sleuth.action_blocks(config.options)
    assert first_offered(config) == blocks["accuse"].start
    assert [name for name, block in blocks.items() if block.start >= first_offered(config)] == list(sleuth.OFFERED)


def test_a_game_without_offers_needs_all_logits():
    game = SimpleNamespace(OFFERED=(), action_blocks=lambda _: {"play": slice(0, 30)}, num_actions=lambda _: 30)
    offered = first_offered(SimpleNamespace(module=game, options=None))  # type: ignore[arg-type]
    legal = np.eye(30, dtype=np.uint8)
    ((rows, first),) = by_width(legal, offered, np.arange(30))
    assert (rows.tolist(), first) == (list(range(30)), 0)
