"""The distribution over the legal actions that logits stand for.

Axis letters: ``D`` decisions, ``A`` actions.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

NEVER = 1e30  # exp(-NEVER) is zero, also times NEVER


def masked_log_probs(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Give the log-probability of every action (f4 [D, A]), about -NEVER where it is not legal (f4 [D, A], 1 where it is, else 0)."""
    # Adding is ten times faster than filling by a condition.
    return torch.log_softmax(logits + (legal - 1) * NEVER, dim=-1)


def entropies(log_probs: torch.Tensor) -> torch.Tensor:
    """Give the entropy of each row in nats, f4 [D]."""
    # softmax gives the probabilities several times faster than exp where most of them are zero.
    return -(torch.softmax(log_probs, dim=-1) * log_probs).sum(dim=-1)


def sampled(log_probs: torch.Tensor, legal: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Draw an action a row (i8 [D]) by inverting the distribution function at ``uniform`` (f4 [D, 1], in [0, 1))."""
    heights = torch.softmax(log_probs, dim=-1).cumsum(dim=-1)
    # The first action above; should rounding leave none that is legal, the first legal one.
    return (legal * (1 + (heights > uniform * heights[:, -1:]).float())).argmax(dim=-1)


def by_width(legal: NDArray[np.uint8], late: int, rows: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], int]]:
    """Split some rows of legal actions (u1 [D, A]) into those that need all logits and those that need only the ones from ``late`` on.

    Gives, for each of the two that is not empty, its rows and its first action. Most decisions of Sleuth are offers to accuse: a twentieth of the actions.
    """
    wide = legal[rows, :late].any(axis=1)
    return [(some, first) for some, first in ((rows[wide], 0), (rows[~wide], late)) if len(some)]
