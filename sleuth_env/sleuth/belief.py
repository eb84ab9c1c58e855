"""What a seat may believe about the hidden gems.

`belief` counts the deals that fit one view, `beliefs` does so for many views and says what their
questions are worth, `belief_in_game` starts from a game text, and `odds` returns numbers that a
network can be given. All deals that fit are equally likely: who asked what is not taken as evidence
about the asker.

Axis letters: ``B`` views, ``C`` gem cards, ``Q`` questions, ``H`` holders: opponents in turn order,
then "missing".
"""

from __future__ import annotations

from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from ..bits import members
from ..checks import check_choice, check_flag, check_real, shown, whole_number
from ..deduction.automata import NO_DEAL
from ..deduction.counting import ASK, BROKEN, CAP, KEEP
from ..deduction.evidence import EVIDENCE
from ..deduction.graph import RESULT
from ..deduction.questions import WORTH
from ..deduction.shortlist import AIM, EVERY, INFORMATION, RIGHTLY
from ..deduction.worlds import Worlds, survey_all
from ..doors import array
from ..game import seat_of
from ..kernels import inner, kernel
from .cards import ALL_SEARCH_CARDS, CATEGORIES, GEMS, NUM_GEMS, NUM_QUESTIONS, make_rules
from .checked import checked_rules, checked_views
from .clues import clues, read_sheet
from .notation import NotationError
from .rules import is_shown, may_ask
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


# --- of a view ---


def belief(rules: np.ndarray, views: np.ndarray) -> Worlds:
    """Return all deals that are consistent with a view, all equally likely.

    Cards are the 36 gems in the order of `cards.GEMS`; holder ``h`` is the opponent ``h + 1`` to
    the viewer's left, the last one is "missing". Gems in the viewer's hand or open on the table are
    not counted: their probabilities are 0.

    >>> from sleuth_env.sleuth import Options, deal, new_states
    >>> rules = make_rules(Options(num_players=3))
    >>> states = new_states(1)
    >>> deal(rules, states, np.array([1], np.uint64))
    >>> views = np.zeros(1, VIEW)
    >>> view(rules, states, np.array([0]), views)
    >>> worlds = belief(rules, views)
    >>> worlds.count
    16224936
    >>> float(worlds.missing.sum().round(9))
    1.0

    Args:
        rules: RULES [1].
        views: VIEW [1].

    Raises:
        ValueError: these are not rules or not one view, or the view is of another kind of game.
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    rules = checked_rules(rules)
    views = checked_views(rules, views)
    if views.size != 1:
        raise ValueError(f"belief is given one view, got {views.size}; beliefs takes many")
    evidence = np.zeros(1, EVIDENCE)
    clues(rules, views, evidence)
    return Worlds(evidence, ORDERS, NUM_GEMS)


# --- of many views ---


class Beliefs(NamedTuple):
    """What some seats may believe, and what each question would tell them."""

    # f8 [B, C, H] probability that a gem lies with opponent h + 1 or, last, is missing; NaN where
    # the result has a code
    holders: np.ndarray
    # WORTH [B, H - 1, Q] of a question to opponent h + 1; NaN where it was not appraised
    worths: np.ndarray
    # RESULT [B]; code 0 unless the view is contradictory or too intricate; exact 0 for an estimate
    results: np.ndarray


# The fields of WORTH by which questions may be compared.
COMPARED = ("information", "rightly")


class Sought(NamedTuple):
    """What somebody seeks who needs only the best question.

    Where more than one gem is missing, all that may be asked are appraised nevertheless.
    """

    # f8 [B, H - 1, Q] what is added to the worth of a question before it is compared with others;
    # -inf: it may not be asked
    bonus: np.ndarray
    # f8 [B] questions that are worth no more than this, without the bonus, are left out
    least: np.ndarray
    # by which field of WORTH they are compared, one of `COMPARED`
    by: str = "information"
    # how much less a question may be worth than the best one, to be appraised exactly like it: far
    # more than rounding makes, far less than what settles ties (see `bots.base.COSTS`)
    slack: float = 1e-11


def beliefs(
    rules: np.ndarray,
    views: np.ndarray,
    everything: bool = False,
    now: bool = False,
    cap: int = CAP,
    keep: int = KEEP,
    sought: Sought | None = None,
    exactly: bool = True,
) -> Beliefs:
    """Return what many seats may believe, and the worth of the questions that they can pay for.

    A row depends on nothing but its view.

    >>> from sleuth_env.sleuth import Options, deal, new_states
    >>> rules = make_rules(Options(num_players=3))
    >>> states = new_states(1)
    >>> deal(rules, states, np.array([1], np.uint64))
    >>> views = np.zeros(3, VIEW)
    >>> view(rules, states.repeat(3), np.arange(3), views)
    >>> found = beliefs(rules, views)
    >>> found.holders.shape, found.worths.shape
    ((3, 36, 3), (3, 2, 43))
    >>> found.results["count"].tolist()
    [16224936.0, 16224936.0, 16224936.0]

    Args:
        rules: RULES [1].
        views: VIEW [B].
        everything: whether to appraise all 43 questions to each opponent, not only those that the
            search cards allow.
        now: whether to appraise only what the rules allow at this moment: nothing for a seat that
            is not deciding, or may not ask.
        cap, keep: see `Worlds`.
        sought: which question is sought; None: all are appraised. Those that are certainly not the
            best have NaN as their worth, which saves most of the time.
        exactly: whether worths are exact. If not, they may be exact but for rounding where this is
            faster, and ``decides`` is NaN there; but what decides between questions that are
            equally good is exact.

    Raises:
        ValueError: these are not rules or not views, or the views are of another kind of game, or
            cap or keep is not a number of states, what is sought is not of these views, or a flag
            is neither True nor False.
    """
    rules = checked_rules(rules)
    views = checked_views(rules, views)
    num_players = int(rules["num_players"][0])
    exactly = check_flag("exactly", exactly)
    asks, places, starts = _asks_of(rules, views, everything, now)
    evidence = np.empty(views.size, EVIDENCE)
    clues(rules, views, evidence)
    holders = np.empty((views.size, NUM_GEMS, num_players))
    results = np.zeros(views.size, RESULT)
    appraised = np.empty(asks.size, WORTH)
    shape = (views.size, num_players - 1, NUM_QUESTIONS)
    aim, bonus, least = _aim(sought, shape)
    aim["exactly"] = exactly
    survey_all(
        evidence, ORDERS, starts, asks, aim, bonus[places], least, results, holders, appraised, cap=cap, keep=keep
    )
    worths = np.full(np.prod(shape), np.nan).astype(WORTH)
    worths[places] = appraised
    return Beliefs(holders, worths.reshape(shape), results)


def _aim(sought: Sought | None, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is sought as AIM [1], bonus (f8 [B * (H - 1) * Q]) and least (f8 [B])."""
    aim = np.zeros(1, AIM)
    if sought is None:
        aim["by"] = EVERY
        return aim, np.zeros(np.prod(shape)), np.zeros(shape[0])
    if not isinstance(sought, Sought):
        raise ValueError(f"sought must be what Sought makes, or None, got {shown(sought)}")
    aim["by"] = INFORMATION if check_choice("by", sought.by, COMPARED) == "information" else RIGHTLY
    aim["slack"] = check_real("slack", sought.slack)
    bonus = array("bonus", sought.bonus, np.float64, shape)
    return aim, bonus.ravel(), array("least", sought.least, np.float64, shape[:1])


def list_asks(
    rules: np.ndarray, views: np.ndarray, everything: bool = False, now: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the questions that each viewer can pay for, to every opponent, or all questions.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        everything: whether to list all questions.
        now: whether to leave out those that the rules forbid at this moment.

    Returns:
        ASK [N]; each question's place in an array [B, H - 1, Q] (i8 [N]); and where the questions
        of each view start (i8 [B + 1]).

    Raises:
        ArrayError: these are not rules or not views, or the views are of another kind of game.
        ValueError: everything or now is neither True nor False.
    """
    rules = checked_rules(rules)
    return _asks_of(rules, checked_views(rules, views), everything, now)


def _asks_of(
    rules: np.ndarray, views: np.ndarray, everything: bool, now: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    most = views.size * (int(rules["num_players"][0]) - 1) * NUM_QUESTIONS
    asks = np.empty(most, ASK)
    places = np.empty(most, np.int64)
    starts = np.empty(views.size + 1, np.int64)
    flags = check_flag("everything", everything), check_flag("now", now)
    _list_asks(rules, views, *flags, starts, asks, places)
    return asks[: starts[-1]], places[: starts[-1]], starts


@inner
def affordable(rules, v):
    """Return the mask of the questions that the viewer can pay for (v: one VIEW record)."""
    questions = np.int64(0)
    for card in members(v["search"][0] & ALL_SEARCH_CARDS):
        for i in range(rules["num_card_pairs"][card]):
            questions |= np.int64(1) << rules["pair_question"][rules["card_pairs"][card, i]]
    return questions


@inner
def _may_ask_now(rules, v, target, question):
    return v["to_act"] == 1 and may_ask(rules, v, target, question)


@kernel
def _list_asks(rules, views, everything, now, starts, asks, places):
    """Write what `list_asks` returns from the front of `asks` and `places`, as far as it goes."""
    opponents = rules[0]["num_players"] - 1
    end = 0
    for b in range(views.size):
        starts[b] = end
        questions = (np.int64(1) << NUM_QUESTIONS) - 1 if everything else affordable(rules[0], views[b])
        for question in members(questions):
            for h in range(opponents):
                if now and not _may_ask_now(rules[0], views[b], h + 1, question):
                    continue
                ask = asks[end]
                ask["holder"] = h
                ask["cards"] = rules[0]["question_gems"][question]
                ask["shown"] = is_shown(rules[0], question)
                places[end] = (b * opponents + h) * NUM_QUESTIONS + question
                end += 1
    starts[views.size] = end


# --- of a game text ---


def belief_in_game(game: str | GameRecord, player: str | int, step: int | None = None) -> Worlds:
    """Return all deals that are consistent with what a player of a game text could know.

    >>> from sleuth_env.sleuth import Options, deal, game_text, new_states
    >>> options = Options(num_players=3)
    >>> states = new_states(1)
    >>> deal(make_rules(options), states, np.array([1], np.uint64))
    >>> belief_in_game(game_text(options, states, []), "player_0").count
    16224936

    Args:
        game: the text, or what `parse_game` makes of it.
        player: a name (``player_1``) or a seat.
        step: the step after which, counted as `sleuth replay` counts them: what everybody hears, 0 is
            the deal; None: where the text ends.

    Raises:
        NotationError: the text is wrong, or it has no such player or step.
    """
    if not isinstance(game, (str, GameRecord)):
        raise NotationError(f"a game is a text or what parse_game makes of one, got {shown(game)}")
    record = parse_game(game) if isinstance(game, str) else game
    seat = seat_of(player, record.options.num_players, NotationError)
    afterwards = [told.after for told in record.steps()]
    last = len(afterwards) - 1
    number = last if step is None else whole_number(step)
    if number is None or not 0 <= number <= last:
        raise NotationError(f"the game has the steps 0 to {last}, got {shown(step)}")
    state = record.last_state if step is None else afterwards[number]
    states = np.frombuffer(bytearray(state.tobytes()), state.dtype)
    rules = make_rules(record.options)
    views = np.zeros(1, VIEW)
    view(rules, states, np.array([seat], np.int64), views)
    return belief(rules, views)


# --- as numbers for a network ---


class Odds(NamedTuple):
    """What a count of all deals says, in finite numbers."""

    # f8 [B, H, C] probability that a gem lies with opponent h + 1 or, last, is missing
    chance: np.ndarray
    # f8 [B, H - 1, Q] bits about the missing gems that a question is expected to tell; 0 where it
    # may not be asked now
    information: np.ndarray


def odds(rules: np.ndarray, views: np.ndarray) -> Odds:
    """Return what some seats may believe and what their questions would tell.

    A row depends on nothing but its view. Where there are too many deals to count, the numbers are
    the estimates of `beliefs`; where even these cannot be had, a gem is equally likely with each
    holder with whom the sheet leaves it possible, and nothing is said of questions (0).

    Args:
        rules: RULES [1].
        views: VIEW [B].

    Raises:
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    found = beliefs(rules, views, now=True, exactly=False)
    chance = found.holders.transpose(0, 2, 1)
    codes = found.results["code"]
    for row in np.flatnonzero((codes == BROKEN) | (codes == NO_DEAL))[:1]:
        belief(rules, views[row : row + 1])  # raises the Contradiction, with its reason
    rows = np.flatnonzero(codes)
    if rows.size:
        possible = read_sheet(rules, views[rows])["can"][:, : chance.shape[1], None] >> np.arange(NUM_GEMS) & 1
        chance[rows] = possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return Odds(chance, np.nan_to_num(found.worths["information"]))
