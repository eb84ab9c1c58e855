"""The command ``sleuth card``: the model card of a policy file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..policies.card import model_card
from ..policies.policy_file import PRETRAINED, SUFFIX, located, pretrained_names
from .arguments import CommandError, are_same, check_writable, file_name
from .parser import Parser, command_parser
from .streams import show, write_text

DESCRIPTION = (
    "Print the model card of a policy file, or write it to a file: a page of Markdown, in the form of the Hugging Face "
    "Hub, with what the file says of itself: game, options, network, how it was trained, what it won, how to use it."
)


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command."""
    examples = ["runs/smoke/best.safetensors", "pretrained:sleuth-4p --out README.md"]
    parser = command_parser("card", DESCRIPTION, examples)
    parser.add_argument("policy", metavar="FILE", help="the policy file, or a policy that comes with the package")
    parser.add_argument("--out", type=file_name, metavar="FILE", help="where, replacing the file; default: stdout")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the card, or write it."""
    check_writable(args.out)
    if not args.policy.startswith(PRETRAINED) and not Path(args.policy).exists():
        raise CommandError(
            f"there is no file {args.policy!r}; a card is of a policy file (*{SUFFIX}), or of one that comes with the "
            f"package: {', '.join(pretrained_names())}"
        )
    card = model_card(args.policy)
    if args.out is None:
        show([card.rstrip("\n")])
        return 0
    if are_same(args.out, Path(located(args.policy))):
        raise CommandError(f"{args.out} cannot be written: it is the policy file")
    write_text(args.out, card)
    show([f"Wrote {args.out}."])
    return 0
