"""Policies for other programs: as a module of torch, and as an ONNX file.

Both take observations, as the environments give them, and return one logit an action: what is legal,
and whether the best action is taken or one is drawn, is left to whoever plays.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import check_path, shown
from .policy import Policy, check_policy
from .policy_file import PolicyError

if TYPE_CHECKING:
    from torch import nn

ONNX_SUFFIX = ".onnx"
TORCH_SUFFIX = ".pt2"


def to_torch(policy: Policy) -> nn.Module:
    """Return a policy's network as a ``torch.nn.Module``.

    It returns logits (f4 [B, A]) for observations (f4 [B, N]) of the policy's record. Its parameters
    are copies of the weights, so it can be trained further, and runs on any device.

    Raises:
        PolicyError: torch is not installed, or the network is of a kind that cannot be exported.

    >>> from sleuth_env import load_policy
    >>> from sleuth_env.policies.export import to_torch
    >>> import torch
    >>> to_torch(load_policy("pretrained:sleuth-3p"))(torch.zeros(1, 1830)).shape
    torch.Size([1, 448])
    """
    check_policy(policy)
    try:
        from .torch_module import module_of
    except ImportError as error:
        raise PolicyError('a module of torch needs torch: pip install torch, or "sleuth-env[train]"') from error
    return module_of(policy)


def to_onnx(policy: Policy, path: str | Path) -> None:
    """Write a policy's network as an ONNX file.

    Its input ``observations`` (f4 [B, N]) is of the policy's record, its output ``logits`` is
    f4 [B, A]; B is free. The metadata says the game, its options, the record and the observation's
    hash. Operators are those of opset 18.

    Args:
        policy: what to write.
        path: where; ends in ``.onnx``. An existing file is replaced in a single step.

    Raises:
        PolicyError: the name does not end so, onnx is not installed, or the network is of a kind
            that cannot be exported.
        OSError: it cannot be written.
    """
    check_policy(policy)
    _check_suffix(path, ONNX_SUFFIX)
    try:
        from .onnx_graph import write
    except ImportError as error:
        raise PolicyError('an ONNX file needs the package onnx: pip install "sleuth-env[onnx]"') from error
    write(policy, Path(path))


def to_torch_file(policy: Policy, path: str | Path) -> None:
    """Write a policy's network as a program of ``torch.export``, which ``torch.export.load`` reads.

    Args:
        policy: what to write.
        path: where; ends in ``.pt2``. An existing file is replaced in a single step.

    Raises:
        PolicyError: the name does not end so, torch is not installed, or the network is of a kind
            that cannot be exported.
        OSError: it cannot be written.
    """
    _check_suffix(path, TORCH_SUFFIX)
    module = to_torch(policy)
    from .torch_module import write

    write(module, policy, Path(path))


def _check_suffix(path: str | Path, suffix: str) -> None:
    check_path("path", path, PolicyError)
    if Path(path).suffix != suffix:
        raise PolicyError(f"the name of this kind of file must end in {suffix}, got {shown(str(path), 200)}")
