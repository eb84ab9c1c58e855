"""What a seat may believe: the exact distribution of the hidden gems over all deals consistent with
its view.

It is uniform over these deals: who asked what is not taken as evidence about the asker.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from ..bits import lowest
from ..deduction.automata import NO_DEAL
from ..deduction.counting import ASK, BROKEN, CAP, KEEP
from ..deduction.evidence import EVIDENCE
from ..deduction.graph import RESULT
from ..deduction.questions import WORTH
from ..deduction.worlds import Worlds, survey_all
from ..kernels import inner, kernel
from .cards import CATEGORIES, GEMS, NUM_GEMS, NUM_QUESTIONS, RULES, make_rules
from .clues import clues, read_sheet
from .notation import NotationError, alternatives, player_name
from .rules import may_ask
from .transcript import GameRecord, parse_game
from .view import VIEW, view

# The six nestings of the three categories: gems with the same value of the outermost lie together,
# and so on inwards.
ORDERS = np.array(
    [
        [
            GEMS.index(tuple(element for category in CATEGORIES for element in gem if element in category))
            for gem in product(*nesting)
        ]
        for nesting in permutations(CATEGORIES)
    ]
)


def belief(rules: np.ndarray, views: np.ndarray) -> Worlds:
    """Give all deals that are consistent with a view, all equally likely: questions are not taken
    as evidence about the asker.

    Cards are the 36 gems in the usual numbering; holder ``h`` is the opponent ``h + 1`` to the
    viewer's left, the last one is "missing". Gems in the viewer's hand or open on the table are not
    asked for: their probabilities are 0.

    Args:
        rules: RULES [1].
        views: VIEW [1].

    Raises:
        ValueError: these are no rules or not one view, or the view is of another kind of game.
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    _check_views(rules, views)
    if views.size != 1:
        raise ValueError(f"belief is given one view, got {views.size}; beliefs takes many")
    evidence = np.zeros(1, EVIDENCE)
    clues(rules, views, evidence)
    return Worlds(evidence, ORDERS, NUM_GEMS)


def _check_views(rules: np.ndarray, views: np.ndarray) -> None:
    """Check what the kernels count on."""
    for name, given, dtype in (("rules (as make_rules gives them)", rules, RULES), ("views", views, VIEW)):
        if getattr(given, "dtype", None) != dtype or given.ndim != 1:
            raise ValueError(
                f"{name} must be a one-dimensional array of {'RULES' if dtype is RULES else 'VIEW'} records, got {given!r:.200}"
            )
    if rules.size != 1:
        raise ValueError(f"rules must be those of one game, got {rules.size}")
    for field in ("num_players", "missing"):
        if (views[field] != rules[field]).any():
            raise ValueError(
                f"the views are of games with {field}={sorted(set(views[field].tolist()))}, the rules of one with {field}={rules[field][0]}"
            )


class Beliefs(NamedTuple):
    """What some seats may believe, and what each question would tell them."""

    holders: (
        np.ndarray
    )  # f8 [B, C, H] probability that a gem lies with opponent h + 1 or, last, is missing; NaN see results
    worths: np.ndarray  # WORTH [B, H - 1, Q] of a question to opponent h + 1; NaN where it was not asked for
    results: (
        np.ndarray
    )  # RESULT [B]; code 0 unless the view is contradictory or too intricate; exact 0 where it is an estimate


@inner
def _affordable(rules, v):
    """Give the mask of the questions that the viewer's search cards allow."""
    questions = np.int64(0)
    cards = v["search"][0]
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        for i in range(rules["num_card_pairs"][card]):
            questions |= np.int64(1) << rules["pair_question"][rules["card_pairs"][card, i]]
    return questions


@inner
def _may_ask_now(rules, v, target, question):
    return v["to_act"] == 1 and may_ask(rules, v, target, question)


@kernel
def list_asks(rules, views, everything, now, starts, asks, places):
    """List the questions that each viewer can pay for, to every opponent, or all questions.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        everything: whether to list all questions.
        now: whether to leave out those that the rules forbid at this moment.
        starts: i8 [B + 1], overwritten: where the questions of each view start.
        asks: ASK [B * H * Q], overwritten from the front.
        places: i8 [B * H * Q], overwritten: each question's place in an array [B, H - 1, Q].
    """
    opponents = rules[0]["num_players"] - 1
    end = 0
    for b in range(views.size):
        starts[b] = end
        todo = (np.int64(1) << NUM_QUESTIONS) - 1 if everything else _affordable(rules[0], views[b])
        while todo:
            question = lowest(todo)
            todo &= todo - 1
            for h in range(opponents):
                if now and not _may_ask_now(rules[0], views[b], h + 1, question):
                    continue
                ask = asks[end]
                ask["holder"] = h
                ask["cards"] = rules[0]["question_gems"][question]
                ask["shown"] = rules[0]["num_elements"][question] == 2 and not rules[0]["super_sleuth"]
                places[end] = (b * opponents + h) * NUM_QUESTIONS + question
                end += 1
    starts[views.size] = end


def payable_asks(
    rules: np.ndarray, views: np.ndarray, everything: bool = False, now: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List questions as `list_asks` does: ASK [N], their places (i8 [N]), and where each view's
    questions start (i8 [B + 1]).
    """
    most = views.size * (int(rules["num_players"][0]) - 1) * NUM_QUESTIONS
    asks = np.empty(most, ASK)
    places = np.empty(most, np.int64)
    starts = np.empty(views.size + 1, np.int64)
    list_asks(rules, views, everything, now, starts, asks, places)
    return asks[: starts[-1]], places[: starts[-1]], starts


def beliefs(
    rules: np.ndarray, views: np.ndarray, everything: bool = False, now: bool = False, cap: int = CAP, keep: int = KEEP
) -> Beliefs:
    """Give what many seats may believe, and the worth of the questions that they can pay for (or of
    all).

    A row depends on nothing but its view.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        everything: whether to appraise all 43 questions to each opponent, not only those that the
            search cards allow.
        now: whether to appraise only what the rules allow at this moment: nothing for who has not
            to decide, or not to ask.
        cap, keep: see `Worlds`.

    Raises:
        ValueError: these are no rules or no views, or the views are of another kind of game, or cap
            or keep is no number of states.
    """
    _check_views(rules, views)
    num_players = int(rules["num_players"][0])
    evidence = np.empty(views.size, EVIDENCE)
    shape = (views.size, num_players - 1, NUM_QUESTIONS)
    asks, places, starts = payable_asks(rules, views, everything, now)
    clues(rules, views, evidence)
    holders = np.empty((views.size, NUM_GEMS, num_players))
    results = np.zeros(views.size, RESULT)
    told = np.empty(asks.size, WORTH)
    survey_all(evidence, ORDERS, starts, asks, results, holders, told, cap, keep)
    worths = np.full(np.prod(shape), np.nan).astype(WORTH)
    worths[places] = told
    return Beliefs(holders, worths.reshape(shape), results)


class Odds(NamedTuple):
    """What a count of all deals says."""

    chance: np.ndarray  # f8 [B, H, C] probability that a gem lies with opponent h + 1 or, last, is missing
    information: np.ndarray  # f8 [B, H - 1, Q] bits about the missing gems that a question is expected to tell; 0 where it may not be asked now


def odds(rules: np.ndarray, views: np.ndarray) -> Odds:
    """Give what some seats may believe and what their questions would tell, always finite numbers;
    a row depends on nothing but its view.

    Where there are too many deals to count, the numbers are the estimates of `beliefs`; where even
    these cannot be had, a gem is equally likely with each holder with whom the sheet leaves it
    possible, and nothing is said of questions (0).

    Args:
        rules: RULES [1].
        views: VIEW [B].

    Raises:
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    found = beliefs(rules, views, now=True)
    chance = found.holders.transpose(0, 2, 1)
    codes = found.results["code"]
    for row in np.flatnonzero((codes == BROKEN) | (codes == NO_DEAL))[:1]:
        belief(rules, views[row : row + 1])
    rows = np.flatnonzero(codes)
    if rows.size:
        possible = read_sheet(rules, views[rows])["can"][:, : chance.shape[1], None] >> np.arange(NUM_GEMS) & 1
        chance[rows] = possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return Odds(chance, np.nan_to_num(found.worths["information"]))


def belief_in_game(game: str | GameRecord, player: str | int, step: int | None = None) -> Worlds:
    """Give all deals that are consistent with what a player of a game text could know, see
    `belief`.

    Args:
        game: the text, or what `parse_game` makes of it.
        player: a name (``player_1``) or a seat.
        step: after how many actions, from 0; None: where the text ends.

    Raises:
        NotationError: the text is wrong, or it has no such player or step.
    """
    if not isinstance(game, (str, GameRecord)):
        raise NotationError(f"a game is a text or what parse_game makes of one, got {game!r:.100}")
    record = parse_game(game) if isinstance(game, str) else game
    names = [player_name(seat) for seat in range(record.options.num_players)]
    last = len(record.actions)
    seat = names.index(player) if player in names else player
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or seat not in range(len(names)):
        raise NotationError(f"the player must be {alternatives(str(player), names)}")
    if step is not None and step not in range(last + 1):
        raise NotationError(f"the game has the steps 0 to {last}, got {step!r}")
    at = last if step is None else int(step)
    rules = make_rules(record.options)
    views = np.zeros(1, VIEW)
    view(rules, record.states[at : at + 1], np.array([seat], np.int64), views)
    return belief(rules, views)
