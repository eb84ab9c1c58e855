"""A table with a learner in one seat of each game: what all faces for a single learner share.

Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..checks import check_choice, check_number, whole_number
from ..game import NO_GAME, Game, IllegalAction, load_game, make_options, opaque, refusal
from ..matches.players import Players, listed, make_players
from ..matches.table import LEARNER, Table

Bools = NDArray[np.bool_]
# What is known of each game beside its state.
_PER_GAME = ("seats", "decisions", "last_actions", "_streams", "learners", "dealt")


class LearnerTable(Table):
    """Play a batch of games with one learner in each.

    `learners` are their seats (i8 [B]), `dealt` (bool [B]) tells which games there are, and
    `streams` (a generator or None for each game) are there for `renew`. Nobody plays before
    `seat_opponents` or `draw_opponents` has been called.

    Args:
        game: the game module.
        options: its options.
        num_games: B.
        learner_seat: a seat number, or "random" for another one each game.
        record: the kind of observation, one of the game's `RECORDS`; default the first.

    Raises:
        ValueError: an argument has a value that is not legal.
    """

    def __init__(
        self, game: Game, options: Any, num_games: int, learner_seat: int | str = "random", record: str | None = None
    ) -> None:
        super().__init__(game, options, check_number("num_envs", num_games, 1))
        self.record: str = game.RECORDS[0] if record is None else record
        check_choice("record", self.record, game.RECORDS)
        self._learner_seat = self._checked_seat(learner_seat)
        self.num_actions = game.num_actions(options)
        self.size = game.observation_size(options, self.record)
        self.learners = np.zeros(self.num_games, np.int64)
        self.dealt = np.zeros(self.num_games, np.bool_)
        self.streams: list[np.random.Generator | None] = [None] * self.num_games
        self._line_up: NDArray[np.int64] = np.zeros(0, np.int64)
        self._shares: NDArray[np.float64] | None = None

    def _checked_seat(self, seat: int | str) -> int | None:
        """Give the learner's seat; None is a random one."""
        if isinstance(seat, str) and seat == "random":
            return None
        number = whole_number(seat)
        if number is None or not 0 <= number < self.num_players:
            raise ValueError(f'learner_seat must be "random" or a seat from 0 to {self.num_players - 1}, got {seat!r}')
        return number

    # --- opponents ---

    def seat_opponents(self, opponents: Players) -> None:
        """Let the same players sit at every game: one for all seats, or a list, the first to the
        learner's left.
        """
        number = self.num_players - 1
        players = listed(opponents, number)
        if len(players) != number:
            raise ValueError(f"opponents must be one for all, or a list of {number}, got a list of {len(players)}")
        self.bots = make_players(self.game, self.options, players)
        self._line_up = np.arange(number)
        self._shares = None

    def draw_opponents(self, opponents: Players, shares: Sequence[float] | None = None) -> None:
        """Draw the players of every seat of games dealt from now on from these, in these shares;
        games under way keep theirs.
        """
        players = listed(opponents)
        try:
            weights = np.ones(len(players)) if shares is None else np.asarray(shares, float)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if (
            not players
            or weights.shape != (len(players),)
            or not (weights >= 0).all()
            or not 0 < weights.sum() < np.inf
        ):
            raise ValueError(
                f"opponents need one share each, not negative and not all zero, got {len(players)} opponents with shares {shares!r:.100}"
            )
        drawn = make_players(self.game, self.options, players)
        seated = [bot for number, bot in enumerate(self.bots) if (self.seats == number).any()]
        bots = list({id(bot): bot for bot in [*drawn, *seated]}.values())
        number_of = {id(bot): number for number, bot in enumerate(bots)}
        moved = np.array([number_of.get(id(bot), LEARNER) for bot in self.bots] + [LEARNER])
        self.seats[:] = moved[self.seats]
        self.bots = bots
        self._line_up = np.array([number_of[id(bot)] for bot in drawn])
        self._shares = weights / weights.sum()

    # --- games ---

    def begin(self, row: int, generator: np.random.Generator) -> None:
        """Seat everybody and deal a new game in a row; nobody plays yet."""
        seat = int(generator.integers(self.num_players)) if self._learner_seat is None else self._learner_seat
        others = (
            self._line_up
            if self._shares is None
            else generator.choice(self._line_up, self.num_players - 1, p=self._shares)
        )
        self.seats[row] = np.roll([LEARNER, *others], seat)
        self.learners[row] = seat
        self.dealt[row] = True
        self.deal(row, generator.integers(0, 2**64, 1, np.uint64))

    def renew(self, rows: Iterable[int]) -> None:
        """Begin new games, each from the stream of its row; nobody plays yet.

        Raises:
            ResetNeeded: a row has no stream.
        """
        for row in rows:
            # A copy goes on, so that `undone_on_error` need not remember how far each stream was.
            stream = self.streams[row] = copy.deepcopy(self.streams[row])
            if stream is None:
                raise gymnasium.error.ResetNeeded(NO_GAME)
            self.begin(row, stream)

    @contextmanager
    def undone_on_error(self) -> Iterator[None]:
        """Run a block that moves games; if it fails, by a bot's mistake for instance, or is
        interrupted, all is as before.
        """
        states = opaque(self.states).copy()
        streams = self.streams.copy()
        arrays = {name: getattr(self, name).copy() for name in _PER_GAME}
        try:
            yield
        except BaseException:
            opaque(self.states)[:] = states
            self.streams = streams
            for name, array in arrays.items():
                getattr(self, name)[:] = array
            raise

    def must_be_dealt(self) -> None:
        """Raise ResetNeeded unless there is a game in every row."""
        if not self.dealt.all():
            raise gymnasium.error.ResetNeeded(NO_GAME)

    # --- what the learners see and do ---

    def learner_views(self) -> NDArray[np.void]:
        """Give what each learner knows (VIEW [B])."""
        return self.views(self._all, self.learners)

    def observations(self) -> NDArray[np.float32]:
        """Give each learner's observation (f4 [B, N])."""
        out = np.empty((self.num_games, self.size), np.float32)
        self.game.write_observations(self.rules, self.learner_views(), out, self.record)
        return out

    def action_masks(self, over: Bools | bool = False) -> Bools:
        """Give each learner's legal actions (bool [B, A]); all of them where the game is finished
        or the episode is over.

        Raises:
            ResetNeeded: no games have been dealt.
        """
        self.must_be_dealt()
        masks: Bools = self.legal(self._all) > 0
        masks[over | self.finished] = True
        return masks

    def refusal(self, numbers: NDArray[np.int64], legal: Bools) -> IllegalAction:
        """Say why the first of the actions (i8 [B]) that are not legal (bool [B]) is refused."""
        row = int(np.flatnonzero(~legal)[0])
        player = f"player_{self.learners[row]}" + (f" of game {row}" if self.num_games > 1 else "")
        return refusal(self.game, self.options, int(numbers[row]), self.legal(row)[0], player)

    # A module cannot be copied or pickled; its name can.
    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "game": getattr(self.game, "__name__")}  # noqa: B009 - a module, for the protocol says nothing of names

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=load_game(state["game"]))


def make_table(
    game: str,
    options: dict[str, Any],
    max_cycles: int | None,
    num_games: int,
    learner_seat: int | str,
    record: str | None,
    opponents: Players,
) -> LearnerTable:
    """Make a table of the game with this full name, the same opponents at all games; see
    `LearnerTable` and `seat_opponents`.

    Raises:
        ValueError: an argument has an unknown name or value.
    """
    module = load_game(game)
    table = LearnerTable(module, make_options(module, options, max_cycles), num_games, learner_seat, record)
    table.seat_opponents(opponents)
    return table
