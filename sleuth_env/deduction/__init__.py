"""Deduction of hidden cards from counts: quick proofs, and exact probabilities over all deals.

Nothing here knows a game. Say how many of which cards each holder has, and ask where a card must be.
Two players hold three and two of six cards, and one card is missing (the last holder has it). Each
player has been asked for some of the cards 0, 1, 2 and for some of the cards 2, 3, 4:

>>> from sleuth_env.deduction import Worlds, make_evidence, solve
>>> deck = range(6)
>>> hands = [(0, deck, 3, 3), (1, deck, 2, 2), (2, deck, 1, 1)]
>>> answers = [(0, [0, 1, 2], 2, 2), (0, [2, 3, 4], 2, 2), (1, [0, 1, 2], 1, 1), (1, [2, 3, 4], 1, 1)]
>>> evidence = make_evidence(3, deck, hands + answers)
>>> bin(solve(evidence)["has"][0, 2])  # a mask: the missing card is card 5, and that is proved
'0b100000'

`solve` is quick and finds what a careful player with pencil and paper finds; `Worlds` counts all
deals that agree with the evidence:

>>> worlds = Worlds(evidence, num_cards=6)
>>> worlds.count, worlds.missing.tolist()
(4, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

The parts: `evidence` (what is known), `sheet` (quick proofs), `automata`, `graph`, `questions` and
`counting` (the kernels of the exact count), `worlds` (the count for users), `conflicts` (why no deal
is left).
"""

from __future__ import annotations

from .evidence import Constraint, Contradiction, make_evidence
from .sheet import solve
from .worlds import Answers, Worlds

__all__ = ["Answers", "Constraint", "Contradiction", "Worlds", "make_evidence", "solve"]
