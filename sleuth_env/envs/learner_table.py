"""A table with a learner in one seat of each game: what all faces for a single learner share.

Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..actions import IllegalAction, refusal
from ..checks import check_choice, check_number, shown, whole_number
from ..game import CLOSED, NO_ACTION, NO_GAME, Game, Records, opaque
from ..matches.players import Players, listed, make_players
from ..matches.program import close_programs, warn_of_failures
from ..matches.table import LEARNER_SEAT, Table
from .opponents import Identities, are_identities, moved_numbers
from .snapshot import Fits, Snapshot, bytes_of, like, misfit, snapshot_of

Bools = NDArray[np.bool_]


def _by_shares(shares: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return places in shares (f8 [N]) for random numbers from 0 to 1, as `Generator.choice` draws them by these."""
    bounds = shares.cumsum()
    places: NDArray[np.int64] = (bounds / bounds[-1]).searchsorted(numbers, side="right")
    return places


class LearnerTable(Table):
    """Play a batch of games with one learner in each.

    `learners` are their seats (i8 [B]), `dealt` (bool [B]) says which games there are, and
    `streams` holds a generator (or None) for each game, from which `renew` deals. Nobody plays
    before `seat_opponents` or `draw_opponents` has been called.

    Args:
        game: the game module.
        options: its options.
        num_games: B.
        learner_seat: a seat number, or "random" for another one each game.
        record: the kind of observation, one of the game's `RECORDS`; default the first.

    Raises:
        ValueError: an argument has a value that is not legal.
    """

    SIZE_NAME = "num_envs"

    def __init__(
        self, game: Game, options: Any, num_games: int, learner_seat: int | str = "random", record: str | None = None
    ) -> None:
        super().__init__(game, options, check_number("num_envs", num_games, 1))
        self.record: str = game.RECORDS[0] if record is None else record
        check_choice("record", self.record, game.RECORDS)
        self._learner_seat = self._checked_seat(learner_seat)
        self.num_actions = game.num_actions(options)
        self.size: int = game.observation_layout(options, self.record).size
        self.closed = False
        self.learners = np.zeros(self.num_games, np.int64)
        self.dealt = np.zeros(self.num_games, np.bool_)
        self._given = np.zeros(self.num_games)  # f8 [B] the part of the learners' returns that they were given
        self.streams: list[np.random.Generator | None] = [None] * self.num_games
        self._line_up: NDArray[np.int64] = np.zeros(0, np.int64)
        self._identities = Identities()
        self._shares: NDArray[np.float64] | None = None
        # The streams that games have been dealt from since `undone_on_error` began, each as it was before.
        self._drawn_from: list[tuple[np.random.Generator, Any]] = []
        self._warned: set[tuple[str, int]] = set()  # of which programs, and in which seats
        self._make_observer()

    def _checked_seat(self, seat: int | str) -> int | None:
        """Return the learner's seat; None is a random one."""
        if isinstance(seat, str) and seat == "random":
            return None
        number = whole_number(seat)
        if number is None or not 0 <= number < self.num_players:
            raise ValueError(
                f'learner_seat must be "random" or a seat from 0 to {self.num_players - 1}, got {shown(seat)}'
            )
        return number

    # --- opponents ---

    def seat_opponents(self, opponents: Players) -> None:
        """Let the same players sit at every game: one for all seats, or a list from the learner's left on."""
        number = self.num_players - 1
        players = listed(opponents, number)
        if len(players) != number:
            raise ValueError(f"opponents must be one for all, or a list of {number}, got a list of {len(players)}")
        self.bots = make_players(self.game, self.options, players)
        self._identities.note(self.bots, players)
        self._line_up = np.arange(number)
        self._shares = None

    def draw_opponents(self, opponents: Players, shares: Sequence[float] | None = None) -> None:
        """Draw the players of every seat of games dealt from now on from these, in these shares.

        Games under way keep theirs.
        """
        players = listed(opponents)
        if not players:
            raise ValueError(f"opponents must be at least one player, got {shown(opponents)}")
        try:
            weights = np.ones(len(players)) if shares is None else np.asarray(shares, float)
        except (TypeError, ValueError, OverflowError):
            weights = np.empty(0)
        if weights.shape != (len(players),) or not (weights >= 0).all() or not 0 < weights.max() < np.inf:
            raise ValueError(
                "opponents need one share each, not negative and not all zero, "
                f"got {len(players)} opponents with shares {shown(shares)}"
            )
        drawn = make_players(self.game, self.options, players)
        seated = [bot for number, bot in enumerate(self.bots) if (self.seats == number).any()]
        bots = list({id(bot): bot for bot in [*drawn, *seated]}.values())
        number_of = {id(bot): number for number, bot in enumerate(bots)}
        moved = np.array([number_of.get(id(bot), LEARNER_SEAT) for bot in self.bots] + [LEARNER_SEAT])
        self.seats[:] = moved[self.seats]
        self.bots = bots
        self._identities.note(drawn, players, seated)
        self._line_up = np.array([number_of[id(bot)] for bot in drawn])
        # By the largest first: their sum may be beyond what a float holds.
        weights = weights / weights.max()
        self._shares = weights / weights.sum()

    # --- games ---

    def begin(self, rows: Sequence[int], generators: Sequence[np.random.Generator]) -> None:
        """Seat everybody and deal new games in some rows, each from a generator; nobody plays yet."""
        seats = []
        drawn = []
        seeds = []
        for generator in generators:
            seats.append(generator.integers(self.num_players) if self._learner_seat is None else self._learner_seat)
            if self._shares is not None:
                drawn.append(generator.random(self.num_players - 1))
            seeds.append(generator.bit_generator.random_raw())
        where = np.array(rows)
        learners = np.array(seats, np.int64)
        # As they sit from the learner's left on.
        others = self._line_up if self._shares is None else self._line_up[_by_shares(self._shares, np.array(drawn))]
        around = (learners[:, None] + 1 + np.arange(self.num_players - 1)) % self.num_players
        self.seats[where, learners] = LEARNER_SEAT
        self.seats[where[:, None], around] = others
        self.learners[where] = learners
        self._given[where] = 0.0
        self.dealt[where] = True
        self.deal(where, np.array(seeds, np.uint64))

    def advance(self, actions: NDArray[np.int64]) -> Bools:
        """Take learners' decisions and play every game until it waits for a learner again or is finished.

        Args:
            actions: i8 [B]; `NO_ACTION` where none is taken, as it must be unless the game waits.

        Returns:
            bool [B]: False where an action was illegal and nothing has changed.

        Otherwise as `play_on`.
        """
        first = actions.copy()
        if self._playing is None:
            rows = np.flatnonzero(first != NO_ACTION)
            first[rows[self._act(rows, first[rows])]] = NO_ACTION
            self._play_on(self._nothing)
        else:
            self._play_on(first)
        warn_of_failures(self.bots, self._warned, stacklevel=3)
        legal: Bools = first == NO_ACTION
        return legal

    def play_on(self) -> None:
        """Play every game until it waits for a learner or is finished.

        A program that fails costs a RuntimeWarning: a bot plays for it in that seat from then on, in
        all games, and nothing that the learner gets says so.
        """
        super().play_on()
        warn_of_failures(self.bots, self._warned, stacklevel=3)

    def renew(self, rows: Iterable[int]) -> None:
        """Begin new games, each from the stream of its row; nobody plays yet.

        Raises:
            ResetNeeded: a row has no stream.
        """
        some = [*rows]
        if not some:
            return
        streams = [stream for row in some if (stream := self.streams[row]) is not None]
        if len(streams) < len(some):
            raise gymnasium.error.ResetNeeded(NO_GAME)
        self._drawn_from.extend((stream, stream.bit_generator.state) for stream in streams)
        self.begin(some, streams)

    @contextmanager
    def undone_on_error(self) -> Iterator[None]:
        """Run a block that moves games; if it fails or is interrupted, all is as before."""
        states = opaque(self.states).copy()
        streams = self.streams.copy()
        kept = {name: array.copy() for name, array in self._per_game().items()}
        try:
            yield
        except BaseException:
            opaque(self.states)[:] = states
            self.streams = streams
            for stream, state in reversed(self._drawn_from):
                stream.bit_generator.state = state
            self._put_back(kept)
            raise
        finally:
            self._drawn_from.clear()

    def _per_game(self) -> dict[str, NDArray[Any]]:
        """Return what is known of each game besides its state, by name: the arrays themselves."""
        return {
            "seats": self.seats,
            "decisions": self.decisions,
            "last_actions": self.last_actions,
            "returns": self.returns,
            "left": self._left,
            "bots_streams": self._streams,
            "learners": self.learners,
            "dealt": self.dealt,
            "given": self._given,
        }

    def _put_back(self, kept: Mapping[str, NDArray[Any]]) -> None:
        # Who remembers games must not know what has been undone: those are new games to them.
        undone = (self._streams != kept["bots_streams"]) | (self.decisions != kept["decisions"])
        self.renumber(np.flatnonzero(undone.any(axis=1)))
        for name, array in self._per_game().items():
            array[:] = kept[name]

    def snapshot(self, face: str, **more: Any) -> Snapshot:
        """Return a snapshot of the games and of their streams, with what the environment keeps besides.

        The opponents themselves are not in it, only who they are and where they sit.
        """
        self.must_be_dealt()
        more |= {name: array.copy() for name, array in self._per_game().items()}
        more["opponents"] = [list(self._identities.of(bot)) for bot in self.bots]
        streams = [stream.bit_generator.state for stream in self.streams if stream is not None]
        return Snapshot(face, self.game.NAME, asdict(self.options), bytes_of(self.states), streams, more).sealed()

    def restore(self, given: Any, face: str, parts: Mapping[str, Fits]) -> Snapshot:
        """Go back to a snapshot that `snapshot` took of a table with the same options, size and opponents.

        Args:
            given: what was handed in.
            face: the kind of environment.
            parts: what it keeps besides, by name, with a function that says whether it is right.

        Raises:
            ValueError: it is not such a snapshot; nothing has changed.
            ClosedEnvironmentError: the environment has been closed.
        """
        self.must_be_open()
        snapshot = snapshot_of(given)
        streams = snapshot.check(face, self.game, self.options, self.num_games, {**self._parts(), **parts})
        states = snapshot.records(self.game, self.rules)
        self._check_seats(snapshot.more, states)
        seats = self._moved_seats(snapshot.more)
        opaque(self.states)[:] = opaque(states)
        self.streams = [*streams]
        self._put_back({**snapshot.more, "seats": seats})
        return snapshot

    def close(self) -> None:
        """Let nobody play any more, and end the programs among the players."""
        self.closed = True
        close_programs(self.bots)

    def must_be_open(self) -> None:
        """Raise ClosedEnvironmentError once the environment has been closed."""
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError(CLOSED)

    def _parts(self) -> dict[str, Fits]:
        """Return the check for each array of `_per_game`, and for the opponents."""
        bounds = {
            "seats": (LEARNER_SEAT, None),
            "decisions": (0, None),
            "last_actions": (-1, self.num_actions - 1),
            "learners": (0, self.num_players - 1),
        }
        arrays = {name: like(array, *bounds.get(name, ())) for name, array in self._per_game().items()}
        return {**arrays, "opponents": are_identities}

    def _moved_seats(self, more: Mapping[str, Any]) -> NDArray[np.int32]:
        """Return who sits where (i4 [B, P]) by the numbers that the opponents have here.

        Raises:
            ValueError: somebody does not play here.
        """
        seats: NDArray[np.int32] = more["seats"].copy()
        seated = [number for number in np.unique(seats).tolist() if number != LEARNER_SEAT]
        if seated[-1] >= len(more["opponents"]):
            raise misfit("seats", seats)
        moved = moved_numbers(more["opponents"], [self._identities.of(bot) for bot in self.bots], seated)
        for number in seated:
            seats[more["seats"] == number] = moved[number]
        return seats

    def _check_seats(self, more: Mapping[str, Any], states: Records) -> None:
        """Check that there is a learner in one seat of each game, whose decision it is unless the game is over.

        Games are left for the time of a step only. A game that is over, though its episode is not, has
        ended before the learner's first decision.

        Raises:
            ValueError: something else is the case.
        """
        learners = more["learners"]
        if ((more["seats"] == LEARNER_SEAT) != (learners[:, None] == np.arange(self.num_players))).any():
            raise misfit("seats", more["seats"])
        if not more["dealt"].all():
            raise misfit("dealt", more["dealt"])
        if more["left"].any():
            raise misfit("left", more["left"])
        finished = states["actor"] < 0
        if not ((states["actor"] == learners) | finished).all():
            raise misfit("learners", learners)
        over = np.asarray(more.get("over", False))
        if (finished & ~over & (more["decisions"][self._all, learners] > 0)).any():
            raise misfit("over", over)

    def must_be_dealt(self) -> None:
        """Raise ResetNeeded unless there is a game in every row, and ClosedEnvironmentError as `must_be_open` does."""
        self.must_be_open()
        if not self.dealt.all():
            raise gymnasium.error.ResetNeeded(NO_GAME)

    def learners_settled(self) -> tuple[Bools, NDArray[np.float64]]:
        """Return whose learner's reward cannot change any more, and what it is still to get (bool and f8 [B])."""
        settled, due = self.settled()
        return settled[self._all, self.learners], due[self._all, self.learners]

    # --- what the learners see and do ---

    def take_rewards(self, chosen: Bools | bool = True) -> NDArray[np.float64]:
        """Return what the learners of some games (bool [B]) have got since the last call, f8 [B]; elsewhere 0."""
        returns = self.returns[self._all, self.learners]
        rewards = np.where(chosen, returns - self._given, 0.0)
        self._given = np.where(chosen, returns, self._given)
        return rewards

    def learner_views(self) -> NDArray[np.void]:
        """Return what each learner knows (VIEW [B])."""
        return self.views(self._all, self.learners)

    def observations(self) -> NDArray[np.float32]:
        """Return each learner's observation (f4 [B, N])."""
        self._kernels.view(self.rules, self.states, self.learners, self._seen)
        written: NDArray[np.float32] = self._observer.written()
        return written

    def observations_of(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the observations of the learners of some games (i8 [K]), f4 [K, N]."""
        views = self.views(rows, self.learners[rows])
        written: NDArray[np.float32] = self.game.Observer(self.rules, views, self.record).written()
        return written

    def action_masks(self, over: Bools | bool = False) -> Bools:
        """Return each learner's legal actions (bool [B, A]); all of them where the game or the episode is over.

        Raises:
            ResetNeeded: no games have been dealt.
        """
        self.must_be_dealt()
        legal = np.empty((self.num_games, self.num_actions), np.uint8)
        self._kernels.legal(self.rules, self.states, legal)
        masks: Bools = legal.view(np.bool_)
        masks[over | self.finished] = True
        return masks

    def _make_observer(self) -> None:
        self._seen = np.zeros(self.num_games, self.game.VIEW)
        self._observer = self.game.Observer(self.rules, self._seen, self.record).remember()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_seen", "_observer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # A copy of the one would write what lies in a copy of the other.
        self._make_observer()

    def refusal(self, numbers: NDArray[np.int64], legal: Bools) -> IllegalAction:
        """Return the error for the first of the actions (i8 [B]) that are not legal (bool [B])."""
        row = int(np.flatnonzero(~legal)[0])
        player = f"player_{self.learners[row]}" + (f" of game {row}" if self.num_games > 1 else "")
        return refusal(self.game, self.options, int(numbers[row]), self.legal(row)[0], player)
