"""The bot `searcher`: it reads from what its rivals choose where the gems lie, and plays on from there.

It asks like its blueprint, `racer`. But whether to accuse, or to ask a final question, it judges by deals
of the hidden gems that fit all it knows, weighed by how well they explain what its rivals have asked
(see `weighing`). Where that is open, it plays on from some of these deals (see `play_outs`) to learn
what waiting would bring. It remembers the games that it plays.
"""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple, Self

import numpy as np

from ...bits import lowest, members, popcount
from ...checks import check_choice, check_number
from ...checks import shown as quoted
from ...deduction.worlds import IntricateError, Worlds
from ...doors import ArrayError, array, described
from ...kernels import kernel
from ..belief import belief, beliefs
from ..cards import NUM_GEMS, NUM_PAIRS, NUM_QUESTIONS, Options, action_blocks
from ..rules import is_shown
from ..state import MUST_ACCUSE, OFFER, TURN, P
from . import playing
from .base import Bot, BotError, checking
from .entropy import ENTROPY_COSTS, SURE, EntropyBot
from .hunch import HunchBot
from .moments import Watcher, check_events, shown_questions
from .play_outs import play_outs
from .racer import BITS, CHANCE, Daring, RacerBot, situations
from .sheet import SheetBot
from .simple import CautiousBot
from .weighing import ANY_USEFUL, BY_INFORMATION, BY_SHEET, DEFAULT_MODEL, MODELS, explain, trust, weights_of

DEALS = 400
MOST_DEALS = 100_000
MOST_MILLISECONDS = 3_600_000
# Where time is what counts: deals that are weighed at once, and at most.
PORTION = 50
MOST_IN_TIME = 5_000
BUDGET = re.compile(r"([1-9][0-9]*)(ms)?")
PLAY_OUTS = 64
MOST_PLAY_OUTS = 100_000
# By the cards alone a gem is hardly ever so much less likely to be missing than by the weights.
MOST_GAIN = 4.0
# Play-outs decide where the chance to be right is between these multiples of `racer`'s prospects of
# waiting, and below `CLEAR_CHANCE`; elsewhere it is clear without them.
OPEN_FROM = 0.5
OPEN_TO = 5.0
CLEAR_CHANCE = 0.97
# Deals by which final questions are judged.
FINAL_DEALS = 3000
# What waiting is worth beyond its play-outs, in which this seat judges by the cards alone later.
PATIENCE = 0.1
# How rivals play on in play-outs, by what their model compares questions.
STAND_INS = {ANY_USEFUL: CautiousBot, BY_SHEET: SheetBot, BY_INFORMATION: HunchBot}


def parse_budget(text: str) -> tuple[int, int]:
    """Return a budget as the most deals, and as milliseconds, 0 where they do not count.

    >>> parse_budget("400"), parse_budget("50ms")
    ((400, 0), (5000, 50))

    Raises:
        BotError: it is not a budget.
    """
    found = BUDGET.fullmatch(text) if isinstance(text, str) else None
    most = MOST_MILLISECONDS if found and found[2] else MOST_DEALS
    if not found or len(found[1]) > len(str(most)) or int(found[1]) > most:
        raise BotError(
            f"the budget of a searcher is a number of deals, 1 to {MOST_DEALS}, or of milliseconds, "
            f"1ms to {MOST_MILLISECONDS}ms, such as searcher:{DEALS} or searcher:50ms; got {quoted(text)}"
        )
    return (MOST_IN_TIME, int(found[1])) if found[2] else (int(found[1]), 0)


@kernel
def _mark_fitting(rules, now, deals, fits):
    """Mark the deals (i1 [N, C]) that fit what is known in a view (VIEW [1]; fits: bool [N])."""
    v = now[0]
    opponents = int(rules[0]["num_players"]) - 1
    for n in range(deals.shape[0]):
        fits[n] = True
        for h in range(opponents):
            hand = np.int64(0)
            for c in range(NUM_GEMS):
                hand |= np.int64(deals[n, c] == h) << c
            fits[n] = fits[n] and (v["seen"][h + 1] & ~hand) == 0
            for question in members(v["told"][h + 1]):
                number = popcount(hand & rules[0]["question_gems"][question])
                fits[n] = fits[n] and number == v["answers"][h + 1, question]


@kernel
def _final_chances(rules, deals, weights, labels, table, chances):
    """Write how likely the likeliest missing gems are right after a final question, on average over its answers.

    Args:
        rules: RULES [1].
        deals: i1 [N, C].
        weights: f8 [N].
        labels: i8 [N], the number of the set of missing gems in each deal.
        table: f8 [answers, labels], overwritten.
        chances: f8 [H - 1, Q], overwritten.
    """
    for h in range(chances.shape[0]):
        for question in range(NUM_QUESTIONS):
            table[:] = 0.0
            gems = rules[0]["question_gems"][question]
            shown = is_shown(rules[0], question)
            for n in range(deals.shape[0]):
                answer = 0
                for c in members(gems):
                    # Shown gems are told apart: each answer is a mask of them.
                    answer = (2 if shown else 1) * answer + int(deals[n, c] == h)
                table[answer, labels[n]] += weights[n]
            total = 0.0
            for answer in range(table.shape[0]):
                total += table[answer].max()
            chances[h, question] = total


def _num_answers(rules: np.ndarray) -> int:
    """Return the most answers that a question has: a number of its gems, or which of them are shown."""
    sizes = np.bitwise_count(rules["question_gems"][0]).astype(np.int64)
    are_shown = shown_questions(rules) >> np.arange(NUM_QUESTIONS) & 1
    return int(np.where(are_shown, 1 << sizes, sizes + 1).max())


class _Memory:
    """What is kept of one game: what the rivals have chosen, and deals that were drawn and explained."""

    def __init__(self, rules: np.ndarray, num_models: int) -> None:
        self.watcher = Watcher(rules)
        self.deals = np.zeros((0, NUM_GEMS), np.int8)
        # How likely the first `explained` questions of rivals are with each of them, see `explain`.
        self.logs = np.zeros((0, P, num_models))
        self.explained = 0


class _Weighed(NamedTuple):
    """Deals that fit what is known, and what the rivals' choices say of them."""

    deals: np.ndarray  # i1 [N, C]
    weights: np.ndarray  # f8 [N] how likely each is; they add up to 1
    models: np.ndarray  # f8 [N, P, K] how likely each seat plays like each model there
    sets: np.ndarray  # i8 [S] masks of gems that may be missing together
    chances: np.ndarray  # f8 [S] how likely that is, see `weighing.trust`
    worlds: Worlds  # what the cards alone say

    @property
    def missing(self) -> np.ndarray:
        """How likely each gem is missing, f8 [C]."""
        of_sets = self.sets[:, None] >> np.arange(NUM_GEMS) & 1
        likely: np.ndarray = self.chances @ of_sets
        return likely


class SearcherBot(Bot):
    """Ask like a blueprint; accuse, or ask a final question, by a belief that reads the table, and by play-outs.

    With a budget of deals, the same seed gives the same game; with one of time it need not.

    Args:
        options: the game.
        budget: how many deals are weighed at a decision, such as "400", or for how long deals are
            drawn and weighed, such as "50ms", besides what the blueprint and the play-outs take.
        model: how rivals are thought to play, see `weighing.MODELS`; "random": nothing is learned
            from what they choose.
        play_outs: from how many deals it plays on where it is open whether to dare; 0: it dares
            where that is likelier to win than what `racer` expects of waiting.
        blueprint: who chooses all else; default: `racer`.

    Raises:
        BotError: this is not a budget, a model or a number of play-outs.
    """

    name = "searcher"

    def __init__(
        self,
        options: Options,
        budget: str = str(DEALS),
        model: str = DEFAULT_MODEL,
        play_outs: int = PLAY_OUTS,
        blueprint: Bot | None = None,
    ) -> None:
        super().__init__(options)
        self.number, self.milliseconds = parse_budget(budget)
        self.budget = budget
        if budget != str(DEALS):
            self.name = f"searcher:{budget}"
        self.model = check_choice("model", model, tuple(MODELS), BotError)
        self.models = MODELS[self.model]
        self.play_outs = check_number("play_outs", play_outs, 0, MOST_PLAY_OUTS, BotError)
        self.daring = Daring(options)
        self.blueprint = RacerBot(options) if blueprint is None else blueprint
        self.asking = EntropyBot(options)
        self.num_answers = _num_answers(self.rules)
        self._blocks = action_blocks(options)
        self._games: dict[int, _Memory] = {}

    def seated(self, options: Any) -> Self:
        """Return this bot as a player of a game with these options."""
        if options == self.options:
            return self
        blueprint = self.blueprint
        other = getattr(blueprint, "seated", lambda options: type(blueprint)(options))(options)
        return type(self)(options, self.budget, self.model, self.play_outs, other)

    def forget(self, games: np.ndarray) -> None:
        """Forget games that are over (i8 [K])."""
        for game in games.tolist():
            self._games.pop(game, None)

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game without remembering any, see `Bot.act`."""
        return self._choose(views, legal, seeds, [self._new_memory() for _ in range(len(views))])

    @checking
    def act_in(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, games: np.ndarray, seats: np.ndarray
    ) -> np.ndarray:
        """Choose an action in every game, see `Remembering.act_in`."""
        return self._choose(views, legal, seeds, self._memories(views, games, seats))

    @checking
    def worths_in(
        self,
        views: np.ndarray,
        legal: np.ndarray,
        seeds: np.ndarray,
        deals: int,
        games: np.ndarray,
        seats: np.ndarray,
    ) -> np.ndarray:
        """Return what each legal action is worth, else 0 (f8 [B, A]), so that a policy can be taught.

        Whoever wins gets 1, which the others pay in equal parts. Accusations and final questions are
        worth what the weighed deals make of them. What waiting would bring is played out once, with
        the best question; other questions differ from it by what they tell, and what `racer` expects
        of that.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: u8 [B].
            deals: how many to play on from, 1 or more.
            games: i8 [B], see `Remembering.act_in`; so are the seats, i8 [B].

        Raises:
            ArrayError: an argument has another dtype or shape, or values that are out of range.
            BotError: ``deals`` is not such a number.
        """
        deals = check_number("deals", deals, 1, MOST_PLAY_OUTS, BotError)
        worths = np.zeros(legal.shape)
        if views.size:
            check_events(views)
        for row, memory in enumerate(self._memories(views, games, seats)):
            one = slice(row, row + 1)
            memory.watcher.watch(views[one])
            rng = np.random.default_rng(int(seeds[row]))
            worths[row] = self._worths(views[one], legal[row], deals, memory, rng) * legal[row]
        return worths

    def _new_memory(self) -> _Memory:
        return _Memory(self.rules, len(self.models))

    def _memories(self, views: np.ndarray, games: np.ndarray, seats: np.ndarray) -> list[_Memory]:
        """Return what is remembered of some games, begun where they are new, see `Remembering.act_in`.

        Raises:
            ArrayError: these are not different games, one a view, and the seats of the viewers.
        """
        numbers = array("games", games, np.int64, (views.size,)).tolist()
        if len(set(numbers)) < len(numbers):
            raise ArrayError(f"games must be different numbers, got {described(games)}")
        if (array("seats", seats, np.int64, (views.size,)) != views["seat"]).any():
            raise ArrayError(f"seats must be those of the views, got {described(seats)}")
        for game in numbers:
            if game not in self._games:
                self._games[game] = self._new_memory()
        return [self._games[game] for game in numbers]

    def _choose(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, memories: list[_Memory]) -> np.ndarray:
        if views.size:
            check_events(views)
        actions = np.array(self.blueprint.act(views, legal, seeds), np.int64)
        for row, memory in enumerate(memories):
            one = slice(row, row + 1)
            memory.watcher.watch(views[one])
            actions[one] = self._reconsidered(views[one], legal[one], seeds[one], actions[one], memory)
        return actions

    def _reconsidered(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, planned: np.ndarray, memory: _Memory
    ) -> np.ndarray:
        """Return the blueprint's action (i8 [1]) or a better one."""
        v = views[0]
        if v["phase"] not in (OFFER, TURN, MUST_ACCUSE):
            return planned
        try:
            worlds = belief(self.rules, views)
        except IntricateError:
            return planned
        if np.sort(worlds.missing)[-int(v["missing"])] > SURE:
            return planned
        rng = np.random.default_rng(int(seeds[0]))
        if v["phase"] == MUST_ACCUSE or v["accusing"]:
            return self._accusation(views, planned, self._weigh(views, worlds, memory, rng))
        moment = "offer" if v["phase"] == OFFER else "turn"
        race = situations(views, worlds.missing[None])
        if MOST_GAIN * race[0, CHANCE] < self.daring.prospects(moment, race)[0]:
            return planned
        weighed = self._weigh(views, worlds, memory, rng)
        race = situations(views, weighed.missing[None])
        if moment == "offer":
            return self._answer(views, planned, race, weighed, rng)
        return self._turn(views, legal, seeds, planned, race, weighed, rng)

    def _answer(
        self, views: np.ndarray, planned: np.ndarray, race: np.ndarray, weighed: _Weighed, rng: np.random.Generator
    ) -> np.ndarray:
        """Choose between an accusation and a refusal."""
        race[0, CHANCE] = weighed.chances.max()
        refusal = self.rules["pass_at"].astype(np.int64)
        if self._dares("offer", race, views, refusal, weighed, rng):
            return self._accusation(views, planned, weighed)
        return refusal

    def _turn(
        self,
        views: np.ndarray,
        legal: np.ndarray,
        seeds: np.ndarray,
        planned: np.ndarray,
        race: np.ndarray,
        weighed: _Weighed,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Choose between a final question and what else is planned."""
        chances = self._chances_after(weighed, rng)
        race[0, CHANCE] = chances.max()
        final_at = int(self.rules["final_at"][0])
        if final_at <= planned[0] < self.rules["exchange_at"][0]:
            planned = self.asking.act(views, legal, seeds)
        if self._dares("turn", race, views, planned, weighed, rng):
            return np.array([final_at + chances.argmax()])
        return planned

    def _chances_after(self, weighed: _Weighed, rng: np.random.Generator) -> np.ndarray:
        """Return how likely an accusation is right after each final question, f8 [H - 1, Q].

        How the answers go with the missing gems is taken from the cards alone: the weighed deals are
        far too few for that, and would make every question look good.
        """
        deals = weighed.worlds.sample(FINAL_DEALS, rng)
        labels = _labels(deals, weighed.sets, self.options.num_players - 1)
        numbers = np.bincount(labels, minlength=len(weighed.sets))
        weights = (weighed.chances / np.maximum(numbers, 1))[labels]
        chances = np.empty((int(self.rules["num_players"][0]) - 1, NUM_QUESTIONS))
        table = np.empty((self.num_answers, len(weighed.sets)))
        _final_chances(self.rules, deals, weights, labels, table, chances)
        return chances

    def _dares(
        self,
        moment: str,
        race: np.ndarray,
        views: np.ndarray,
        waiting: np.ndarray,
        weighed: _Weighed,
        rng: np.random.Generator,
    ) -> bool:
        """Decide whether to accuse, or ask a final question, or to do something else (waiting: i8 [1])."""
        chance = race[0, CHANCE]
        prospects = self.daring.prospects(moment, race)[0]
        is_open = OPEN_FROM * prospects < chance < min(OPEN_TO * prospects, CLEAR_CHANCE)
        if not self.play_outs or not is_open:
            return bool(chance > prospects)
        return bool(self._won(chance) > self._waited(views, waiting, self.play_outs, weighed, rng))

    def _won(self, chance: Any) -> Any:
        """Return what it is worth to win with some chance: who wins gets 1, which the others pay in equal parts."""
        return chance - (1.0 - chance) / (self.options.num_players - 1)

    def _waited(
        self, views: np.ndarray, waiting: np.ndarray, number: int, weighed: _Weighed, rng: np.random.Generator
    ) -> float:
        """Return what it is worth to do something else than to dare (waiting: i8 [1]), by a number of play-outs."""
        # Evenly spread over the weights: less left to luck than drawing one by one.
        points = (np.arange(number) + rng.random()) / number
        picked = np.searchsorted(weighed.weights.cumsum(), points).clip(0, len(weighed.deals) - 1)
        kinds = self._kinds(weighed.models[picked], rng)
        return float(play_outs(self.rules, views, weighed.deals[picked], kinds, waiting, rng)[0].mean()) + PATIENCE

    def _kinds(self, models: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw how the seats play on, i4 [N, P], by how likely each plays like each model (f8 [N, P, K])."""
        kinds = [playing.BOTS.index(STAND_INS[by]) for by in self.models["by"].tolist()]
        if not kinds:
            return np.full(models.shape[:2], playing.BOTS.index(HunchBot), np.int32)
        below = rng.random((*models.shape[:2], 1)) > models.cumsum(axis=2)[:, :, :-1]
        return np.array(kinds, np.int32)[below.sum(axis=2)]

    def _accusation(self, views: np.ndarray, planned: np.ndarray, weighed: _Weighed) -> np.ndarray:
        """Return the accusation of a gem of the likeliest set, what is planned where no deal has what is accused."""
        accused = int(views["accusing"][0])
        fitting = np.flatnonzero(weighed.sets & accused == accused)
        if not fitting.size:
            return planned
        likeliest = int(weighed.sets[fitting[weighed.chances[fitting].argmax()]])
        return self.rules["accuse_at"].astype(np.int64) + lowest(likeliest & ~accused)

    def _worths(
        self, views: np.ndarray, legal: np.ndarray, deals: int, memory: _Memory, rng: np.random.Generator
    ) -> np.ndarray:
        """Return what each action is worth (f8 [A], see `worths_in`), anything where it is illegal (legal: u1 [A])."""
        blocks = self._blocks
        found = np.zeros(legal.size)
        try:
            worlds = belief(self.rules, views)
        except IntricateError:
            return found
        weighed = self._weigh(views, worlds, memory, rng)
        accused = int(views["accusing"][0])
        for gem in np.flatnonzero(legal[blocks["accuse"]]).tolist():
            named = accused | 1 << gem
            chance = weighed.chances[weighed.sets & named == named].max(initial=0.0)
            found[blocks["accuse"].start + gem] = self._won(chance)
        if legal[blocks["final"]].any():
            found[blocks["final"]] = self._won(self._chances_after(weighed, rng)).ravel()
        waiting = legal > 0
        waiting[blocks["final"]] = waiting[blocks["accuse"]] = False
        waits = np.flatnonzero(waiting)
        if waits.size:
            told = self._told_by(views, waits)
            best = waits[told.argmax()]
            moment = "offer" if views["phase"][0] == OFFER else "turn"
            races = situations(views, worlds.missing[None]).repeat(waits.size, axis=0)
            races[:, BITS] -= told
            prospects = self._won(self.daring.prospects(moment, races))
            waited = self._waited(views, np.array([best]), deals, weighed, rng)
            found[waits] = waited + prospects - prospects[told.argmax()]
        return found

    def _told_by(self, views: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return what questions tell less what they cost in bits, 0 for other actions (i8 [K], f8 [K])."""
        asks = actions < self._blocks["ask"].stop
        if not asks.any():
            return np.zeros(actions.size)
        pairs = actions % NUM_PAIRS
        information = np.nan_to_num(beliefs(self.rules, views).worths["information"][0])
        holders = np.where(asks, actions // NUM_PAIRS, 0)
        told = information[holders, self.rules["pair_question"][0, pairs]]
        return np.where(asks, told - ENTROPY_COSTS["cards"][0, self.rules["pair_card"][0, pairs]], 0.0)

    def _weigh(self, views: np.ndarray, worlds: Worlds, memory: _Memory, rng: np.random.Generator) -> _Weighed:
        """Weigh the remembered deals that still fit, and new ones as far as the budget goes."""
        began = time.perf_counter()
        fits = np.zeros(len(memory.deals), np.bool_)
        _mark_fitting(self.rules, views, memory.deals, fits)
        deals = memory.deals[fits]
        latest = memory.watcher.asked(memory.explained)
        logs = memory.logs[fits] + explain(self.rules, views, latest, deals, self.models)
        asked = memory.watcher.asked()
        while len(deals) < self.number:
            missing = self.number - len(deals)
            drawn = worlds.sample(min(missing, PORTION) if self.milliseconds else missing, rng)
            logs = np.concatenate([logs, explain(self.rules, views, asked, drawn, self.models)])
            deals = np.concatenate([deals, drawn])
            if self.milliseconds and 1000.0 * (time.perf_counter() - began) > self.milliseconds:
                break
        memory.explained = len(asked)
        memory.deals = deals
        memory.logs = logs
        # What they declined is left out: it says little, and would have to be explained again each time.
        weights = weights_of(logs)
        share = trust(weights)
        models = np.exp(logs - np.logaddexp.reduce(logs, axis=2)[:, :, None])
        sets, shares = worlds.missing_sets
        labels = _labels(deals, sets, self.options.num_players - 1)
        chances = share * np.bincount(labels, weights, len(sets)) + (1.0 - share) * shares
        return _Weighed(deals, share * weights + (1.0 - share) / len(deals), models, sets, chances, worlds)


def _labels(deals: np.ndarray, sets: np.ndarray, last: int) -> np.ndarray:
    """Return the place in some sets of gems (masks, i8 [S]) of those that are missing in each deal (i8 [N])."""
    order = np.argsort(sets)
    masks = ((deals == last).astype(np.int64) << np.arange(NUM_GEMS)).sum(axis=1)
    labels: np.ndarray = order[np.searchsorted(sets[order], masks)]
    return labels
