"""The command ``sleuth export``: a policy file's network for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..policies.export import ONNX_SUFFIX, TORCH_SUFFIX, to_onnx, to_torch_file
from ..policies.policy import load_policy
from ..policies.policy_file import PRETRAINED, SUFFIX
from .arguments import check_writable, file_name
from .parser import Parser, add_game, command_parser
from .streams import WriteError, show

DESCRIPTION = (
    "Write the network of a policy file for other programs. It takes observations, as the environments give them, "
    "and returns one logit an action; the manual's page on policy files shows how to play it."
)
# What is written, and what writes it.
WRITERS = {"onnx": (ONNX_SUFFIX, to_onnx), "torch": (TORCH_SUFFIX, to_torch_file)}


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command."""
    examples = ["runs/smoke/best.safetensors --to onnx", "pretrained:sleuth-4p --to torch --out four.pt2"]
    parser = command_parser("export", DESCRIPTION, examples)
    parser.add_argument("policy", metavar="FILE", help="the policy file, or a policy that comes with the package")
    parser.add_argument(
        "--to",
        choices=WRITERS,
        required=True,
        help=f"onnx: a graph of opset 18 (*{ONNX_SUFFIX}); torch: a program of torch.export (*{TORCH_SUFFIX})",
    )
    parser.add_argument(
        "--out", type=file_name, metavar="FILE", help="where, replacing the file; default: the policy's name, here"
    )
    add_game(parser, None, " (default: the one that the file names)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the file."""
    suffix, write = WRITERS[args.to]
    policy = load_policy(args.policy, args.game)
    name = Path(args.policy.removeprefix(PRETRAINED)).name.removesuffix(SUFFIX)
    path = Path(args.out or f"{name}{suffix}")
    check_writable(str(path))
    try:
        write(policy, path)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror or error}") from error
    show([f"Wrote {path}."])
    return 0
