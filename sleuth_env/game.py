"""What a game module offers, and what environments, matches, policies and training ask of any game.

A game is a module: data, rules and what a seat may see, as functions on structured arrays. A state
is one record; a batch is an array of records; a single game is a batch of one. `Game` is the core
that every game has; a game may also have the parts `Believes`, `Rebuilds`, `Drawn`, `Transcribed`,
`Told`, `Worded`, `OnBoard`, `PlaysOn` and `InExtensiveForm`. Whoever needs one of these asks for it by `needed`.

Inside the package a game is passed as its module. Texts ("sleuth") are turned into modules by
`load_game` where users hand them in, and nowhere else.
Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .checks import check_choice, shown, whole_number
from .options import OptionError, check_names, described

Records = NDArray[np.void]
T = TypeVar("T")

# The games of this package by name, the default first.
GAMES = ("sleuth", "holmes")
DEFAULT_GAME = GAMES[0]
NO_GAME = "call reset() first: no game has been dealt"
CLOSED = "this environment has been closed: make another one"

# In the place of an action.
NO_ACTION = -1
# In the place of a player's number: a seat for which nobody at a table decides.
NOBODY = -1

# What `Game.ends` writes of a game, the same for everybody: it goes on, it is over by the rules, or
# the turn limit has stopped it.
GOING_ON, TERMINATED, TRUNCATED = range(3)


def opaque(records: Records) -> Records:
    """View records as plain bytes, for copying: NumPy copies structured arrays field by field, ten times slower.

    ``opaque(states)[rows].view(states.dtype)`` is ``states[rows]``, and
    ``opaque(states)[rows] = opaque(others)`` the way back.
    """
    return records.view(_plain(records.dtype.itemsize))


@cache
def _plain(size: int) -> np.dtype[Any]:
    """Return the dtype of plain bytes, which takes longer to make than to use."""
    return np.dtype((np.void, size))


def player_name(seat: int) -> str:
    """Return the name of a seat.

    >>> player_name(2)
    'player_2'
    """
    return f"player_{seat}"


def seat_of(player: Any, num_players: int, error: Callable[[str], ValueError] = ValueError) -> int:
    """Return the seat of a player who is named or given by the seat.

    >>> seat_of("player_2", 3), seat_of(1, 3)
    (2, 1)

    Raises:
        ValueError: (or ``error``) there is no such player.
    """
    names = [player_name(seat) for seat in range(num_players)]
    if isinstance(player, str) and player in names:
        return names.index(player)
    seat = whole_number(player)
    if seat is None or not 0 <= seat < num_players:
        known = f"the players are {', '.join(names)}, or their seats 0 to {num_players - 1}"
        raise error(f"{shown(player)} is not a player: {known}")
    return seat


def names_from(seat: int, num_players: int, you: str = "") -> list[str]:
    """Return the names of all seats from one on, in the order of play.

    >>> names_from(1, 3)
    ['player_1', 'player_2', 'player_0']
    >>> names_from(1, 3, "you")
    ['you', 'player_2 (+1)', 'player_0 (+2)']

    Args:
        seat: the first.
        num_players: of the game.
        you: what the first is called; the others then have their distance added.
    """
    names = [player_name((seat + k) % num_players) for k in range(num_players)]
    return [you, *(f"{name} (+{k})" for k, name in enumerate(names[1:], 1))] if you else names


class Bot(Protocol):
    """A player that is given views, never states, and draws no random numbers but those it is handed."""

    @property
    def name(self) -> str:
        """What tables and game texts call it."""
        ...

    def act(self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64], /) -> NDArray[np.int64]:
        """Choose one legal action a row (i8 [B]).

        Args:
            views: VIEW [B], what the seat to act knows.
            legal: u1 [B, A], its legal actions.
            seeds: u8 [B], 64 random bits a row.
        """
        ...


# --- the contract ---


class Game(Protocol):
    """The core: what every game module has.

    Functions that take ``rules`` write all of their last arguments, zeros included, whatever lay in
    them before; they allocate nothing that the caller keeps, and treat each row of a batch alone.
    They may be doors (see `doors.door`), which check what users hand in and then call a kernel; the
    environments call the kernels (see `kernels_of`). ``P`` is the number of players. Of a state's
    fields only ``actor`` is known outside of the game: the seat that decides, -1 when the game is
    finished or none has been dealt. A game is finished for everybody at once. Of the options only
    ``num_players`` and ``max_turns`` are known.
    """

    # Properties, because a module need not have just these types, but any that serve as such.

    @property
    def __name__(self) -> str:
        """The full name of the module."""
        ...

    @property
    def NAME(self) -> str:
        """The name of the game, with which the names of its environments, policy files and texts begin."""
        ...

    @property
    def Options(self) -> Any:
        """A frozen, hashable dataclass of `options.option` fields that validates itself."""
        ...

    @property
    def STATE(self) -> Any:
        """The dtype of a whole game, hidden cards and random generator included; `actor` is signed."""
        ...

    @property
    def VIEW(self) -> Any:
        """The dtype of all that one seat may know: aligned signed integers, a multiple of 8 bytes in all."""
        ...

    @property
    def RECORDS(self) -> tuple[str, ...]:
        """The kinds of observation, the default first, the cheapest to write among them."""
        ...

    @property
    def CHEAPEST_RECORD(self) -> str:
        """The kind of observation that costs least to write."""
        ...

    @property
    def BOTS(self) -> Mapping[str, Any]:
        """The built-in bots by name."""
        ...

    @property
    def DEFAULT_BOT(self) -> str:
        """The bot that sits in the other seats where nobody is named."""
        ...

    @property
    def NETWORKS(self) -> Mapping[str, Any]:
        """Networks of the game's own by kind, besides the multi-layer perceptron."""
        ...

    @property
    def OFFERED(self) -> tuple[str, ...]:
        """The action blocks with which a player answers an offer, out of turn; they come last. () if there are none."""
        ...

    @property
    def DECLINE(self) -> str:
        """That one of `OFFERED` which declines; "" if there is none."""
        ...

    @property
    def SCORED(self) -> Mapping[str, str]:
        """Axis of observation blocks -> action block with one action for each of its items, such as gem -> accuse."""
        ...

    def make_rules(self, options: Any, /) -> Records:
        """Return the rules as the one-record array that the kernels take.

        Raises:
            ValueError: these are not `Options` of this game.
        """
        ...

    def num_actions(self, options: Any, /) -> int:
        """Return the number of actions, A."""
        ...

    def action_blocks(self, options: Any, /) -> Mapping[str, slice]:
        """Return the named blocks of the actions, in their order; together they are all actions."""
        ...

    def new_states(self, num_games: int, /) -> Records:
        """Return blank states (STATE [num_games]) in which nobody is to act."""
        ...

    def deal(self, rules: Records, states: Records, seeds: NDArray[np.uint64], /) -> None:
        """Begin a new game in each of ``states`` (STATE [B]), all of whose randomness comes from its seed (u8 [B]).

        Every field of a state is overwritten, and afterwards somebody is to act.
        """
        ...

    def legal(self, rules: Records, states: Records, out: NDArray[np.uint8], /) -> None:
        """Mark each game's legal actions in ``out`` (u1 [B, A]); zeros when it is finished."""
        ...

    def step(
        self,
        rules: Records,
        states: Records,
        actions: NDArray[np.int64],
        taken: NDArray[np.uint8],
        rewards: NDArray[np.float64],
        /,
    ) -> None:
        """Take one action (i8 [B]) in each game.

        ``taken`` (u1 [B]) is written 0 where it was illegal and nothing has changed; ``rewards``
        (f8 [B, P]) what each seat gets by this step, at any moment of a game.
        """
        ...

    def ends(self, rules: Records, states: Records, ended: NDArray[np.uint8], /) -> None:
        """Write how each game has ended (u1 [B]): `GOING_ON`, `TERMINATED` by the rules, or `TRUNCATED` at its limit.

        All seats share it. For whom a truncated game was decided all the same is said by `settled`.
        """
        ...

    def settled(self, rules: Records, states: Records, settled: NDArray[np.uint8], due: NDArray[np.float64], /) -> None:
        """Mark the seats whose reward cannot change any more (u1 [B, P]), with what they are still to get (f8 [B, P]).

        In a game that is over by the rules that is everybody; in a truncated one those whose reward
        was decided, and a learner estimates what the others would still have got. Nothing is due in
        a finished game, or to a seat that is not settled. It may be asked at any moment, and depends
        on nothing but what everybody may know: environments tell it to all.
        """
        ...

    def problems(self, rules: Records, states: Records, /) -> list[str]:
        """Return what is wrong with some games (STATE [B]); nothing where all are sound.

        It is not a kernel, and may be given any bytes: what comes from outside passes here first. Whatever
        the kernels, drawings, beliefs and texts take for granted must hold of a sound game, and of
        all that legal actions make of it. Blank states are not sound. One text for the first fault is
        enough; it says which game and which field.
        """
        ...

    def standings(self, rules: Records, states: Records, places: NDArray[np.int32], /) -> None:
        """Write each seat's place (i4 [B, P]): 1 for the first, equal numbers for a tie, 0 for no place.

        It may be asked at any moment; the place of a seat that is settled stays as it is.
        """
        ...

    def counts(self, rules: Records, states: Records, /) -> Mapping[str, NDArray[Any]]:
        """Return what the game counts besides, by name: of a game ([B]) or of each seat ([B, P])."""
        ...

    def view(self, rules: Records, states: Records, seats: NDArray[np.int64], views: Records, /) -> None:
        """Copy what a seat (i8 [B]) may know of each game into ``views`` (VIEW [B])."""
        ...

    def observation_layout(self, options: Any, record: str, /) -> Any:
        """Return the `layout.Layout` of the observations of a game."""
        ...

    def Observer(self, rules: Records, views: Records, record: str, /) -> Any:
        """Return a `layout.Observer` of views (VIEW [B]) in one array, which may be filled again between its writes."""
        ...

    def action_name(self, action: int, options: Any, /) -> str:
        """Return an action in the game's notation."""
        ...

    def parse_action(self, text: str, options: Any, /) -> int:
        """Read an action in the game's notation."""
        ...

    def make_bot(self, name: str, options: Any, /) -> Bot:
        """Return a built-in bot for a game."""
        ...


@dataclass(frozen=True)
class Kernels:
    """A game's kernels without the doors before them (see `doors`): they do not look at what they are given.

    Their arguments are those of the functions of the same names of `Game`, exactly in the dtypes,
    C-contiguous and with the lengths that are said there.
    """

    deal: Callable[..., None]
    legal: Callable[..., None]
    step: Callable[..., None]
    ends: Callable[..., None]
    settled: Callable[..., None]
    standings: Callable[..., None]
    view: Callable[..., None]


def kernels_of(game: Game) -> Kernels:
    """Return a game's kernels, for inner loops that hand in arrays of their own.

    A function of the game that has an attribute ``kernel`` is a door, and that is the kernel behind
    it; any other is taken as it is.

    >>> kernels_of(load_game("sleuth")).step is load_game("sleuth").step.kernel
    True
    """
    return _kernels_of(cast(ModuleType, check_game(game)))


@cache
def _kernels_of(game: ModuleType) -> Kernels:
    functions = {name: getattr(game, name) for name in Kernels.__annotations__}
    return Kernels(**{name: getattr(function, "kernel", function) for name, function in functions.items()})


class OfGame:
    """An object that holds a game module, options and rules, and can be copied and pickled with them.

    A module has only a name that can. The rules are made again: arrays of copies can be written
    into, and kernels would be compiled once more for such.
    """

    game: Game
    options: Any
    rules: Any

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "game": self.game.__name__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        game = load_game(state["game"])
        rules = None if state["rules"] is None else game.make_rules(state["options"])
        vars(self).update(state, game=game, rules=rules)


class Believes(Protocol):
    """exact beliefs"""

    def belief(self, rules: Records, views: Records, /) -> Any:
        """Return the exact distribution of the hidden cards for whoever has a view (VIEW [1]).

        It is uniform over all deals consistent with the view.
        """
        ...


class Rebuilds(Protocol):
    """games rebuilt from a view"""

    def rebuild(self, rules: Records, views: Records, deals: NDArray[Any], rng: np.random.Generator, /) -> Records:
        """Return games (STATE [B]) that look to one seat exactly as its view does.

        Args:
            rules: RULES [1].
            views: VIEW [B], or VIEW [1] for all games alike.
            deals: of the hidden cards, as the method `sample` of a belief draws them, one a row.
            rng: draws what is left open.
        """
        ...


class Drawn(Protocol):
    """drawings"""

    def draw_ansi(self, options: Any, view: Any, colour: bool = False, columns: int = 0, lines: int = 0, /) -> str:
        """Return a drawing of a view (one VIEW record) as text.

        It fits a terminal of these numbers of columns and lines where it can, with two lines to spare
        for a prompt; 0 stands for enough of them.
        """
        ...

    def draw_rgb(self, options: Any, view: Any, /) -> NDArray[np.uint8]:
        """Return a drawing of a view (one VIEW record) as an image (u1 [height, width, 3], always the same size)."""
        ...


class Transcribed(Protocol):
    """games as text"""

    def game_text(self, options: Any, first_state: Any, actions: Sequence[int], /) -> str:
        """Return a game, from its first state (one STATE record) on, as a text that `parse_game` replays exactly."""
        ...

    def parse_game(self, text: str, /) -> Any:
        """Read a game text and replay it.

        What follows ``#`` in a line is a comment. The record that is returned has at least
        `options`, `first_state`, `last_state` (one STATE record each) and `actions` (i8 [T]).
        """
        ...

    def reveal(self, options: Any, state: Any, /) -> dict[str, Any]:
        """Return the whole hidden state (one STATE record) as plain data in the game's words."""
        ...


class Telling(Protocol):
    """A module that tells a game in words: step by step, or to a person who plays it.

    A view is one VIEW record, a state one STATE record, a record of a game what `parse_game`
    returns. What is told to a seat depends on a state only as far as the seat may know it.
    """

    COLUMNS: int  # the fewest columns of a terminal that the drawings fit
    FORMS: Mapping[str, str]  # the forms of the actions, as they are typed, and what each means
    HEADINGS: Mapping[str, str]  # short headings of what `Game.counts` counts, where its names are long

    def rules(self, options: Any, /, typed: bool = False) -> list[str]:
        """Return the rules in brief, paragraph by paragraph; the first says in three sentences what the goal is.

        With ``typed`` they also say what somebody at a terminal must know, such as how the sheet is read
        that is drawn there.
        """
        ...

    def tell_game(
        self,
        record: Any,
        viewpoint: int | None,
        reveal: bool,
        steps: range | None,
        draw: Callable[[Any], str] | None,
        /,
    ) -> Iterator[str]:
        """Iterate over the story of a game, one text (of one or more lines) a step.

        A step is something that everybody notices, so that all count alike, whoever looks on.

        Args:
            record: the game.
            viewpoint: the seat whose private knowledge and drawing are added; None: public events only.
            reveal: whether to show everything hidden and every action.
            steps: which steps to tell, counted from 1; None: all.
            draw: draws a view of the viewpoint as text; None: nothing is drawn.
        """
        ...

    def num_steps(self, record: Any, /) -> int:
        """Return the number of steps of a game."""
        ...

    def step_ends(self, record: Any, /) -> list[int]:
        """Return how many actions have been taken when each step is over; before them, how many before step 1."""
        ...

    def review(self, record: Any, seat: int, /) -> Iterator[str]:
        """Iterate over lines that say what a player knew whenever they decided, and what would have been best."""
        ...

    def seat_names(self, view: Any, you: str = "", /) -> list[str]:
        """Return the names of the seats from the viewer on, in the order of play.

        ``you`` is the viewer's name, and then the others are called by their distance, too.
        """
        ...

    def announcement(self, options: Any, view: Any, /) -> list[str]:
        """Return what a person is told before deciding, line by line."""
        ...

    def prompt(self, options: Any, view: Any, /) -> str:
        """Return what a person is asked for."""
        ...

    def unsaid(self, options: Any, view: Any, /) -> str:
        """Return the name of the action that an empty line stands for; "" if there is none."""
        ...

    def meant(self, typed: str, names: Iterable[str], /) -> list[str]:
        """Return those of some names of actions that a typed text can mean: itself, or what it is short for.

        An action that may lose the game is meant by nothing but its name.
        """
        ...

    def hint(self, options: Any, view: Any, typed: str, /) -> str:
        """Return how to do what a typed text asks for, where it means no legal action; "" if nothing is known of it."""
        ...

    def doubt(self, options: Any, view: Any, action: int, /) -> str:
        """Return why an action may lose the game although nothing forces it; "" if it does not."""
        ...

    def doubts(self, options: Any, view: Any, actions: Iterable[int], /) -> dict[int, str]:
        """Return the same of many actions, without those that lose nothing."""
        ...

    def unasked(self, options: Any, view: Any, /) -> Any:
        """Return what whoever has a view knows (VIEW record) besides that an offer is theirs to answer now.

        Before and after it they know as much, whoever else is asked first; a view without an offer
        is returned as it is.
        """
        ...

    def proved(self, options: Any, view: Any, /) -> bool:
        """Return whether whoever has a view can prove all that they need to win.

        Until then a person may let all offers be declined.
        """
        ...

    def news(self, options: Any, state: Any, action: int, view: Any, before: Any, /) -> list[str]:
        """Return what the viewer may know of the last action, line by line; nothing where it was hidden.

        Args:
            options: of the game.
            state: after the action.
            action: its number.
            view: after the action.
            before: the viewer's view before the action.
        """
        ...

    def ending(self, record: Any, seat: int, /) -> list[str]:
        """Return what a player is told when a game is over, line by line: the result, and everything hidden."""
        ...

    def draw_odds(self, options: Any, view: Any, colour: bool = False, columns: int = 0, lines: int = 0, /) -> str:
        """Return a drawing of the exact beliefs of whoever has a view as text, see `Drawn.draw_ansi`."""
        ...


class Told(Protocol):
    """games told in words"""

    telling: Telling


class Extensive(Protocol):
    """A module that plays a game in extensive form: chance is a player, who draws one card after the other.

    A state is STATE [1], changed in place, and never holds anything that has not been drawn: what
    nobody can know before it is drawn is drawn when it is needed, which comes to the same. Its
    generator has no part in anything. ``draws`` are plain whole numbers that say what chance is to
    draw before anybody decides; () where nothing is.
    """

    def begin(self, options: Any, /) -> tuple[Records, tuple[int, ...]]:
        """Return a game of which nothing has been drawn, and what is to be drawn."""
        ...

    def act(self, options: Any, state: Records, action: int, rewards: NDArray[np.float64], /) -> tuple[int, ...] | None:
        """Take a player's action; return what is to be drawn then, None where it is illegal and nothing has changed.

        ``rewards`` (f8 [1, P]) is written: what each seat gets by it.
        """
        ...

    def outcomes(self, options: Any, state: Records, draws: tuple[int, ...], /) -> list[tuple[int, float]]:
        """Return what chance may draw next, each with its probability, in ascending order."""
        ...

    def draw(
        self, options: Any, state: Records, draws: tuple[int, ...], outcome: int, rewards: NDArray[np.float64], /
    ) -> tuple[int, ...]:
        """Let chance draw one of `outcomes`; return what is to be drawn then.

        ``rewards`` (f8 [1, P]) is written, too: an action may be carried out only when all has been
        drawn that it needs.
        """
        ...

    def outcome_name(self, options: Any, state: Records, draws: tuple[int, ...], outcome: int, /) -> str:
        """Return what chance draws in words, such as ``player_0 is dealt blue-opal-pair``."""
        ...

    def is_dealt(self, draws: tuple[int, ...], /) -> bool:
        """Return whether the game has begun, so that there is something to see."""
        ...

    def noticed(self, options: Any, before: Any | None, view: Any, /) -> list[bytes]:
        """Return what a seat notices of all that has happened between two of its views (VIEW records), one by one.

        It is the same whatever others have decided in private. The views are those of two moments in
        which somebody decides, one after the other; None stands for that before the first.
        """
        ...

    def public_text(self, options: Any, view: Any, /) -> str:
        """Return what everybody knows, whoever has the view (one VIEW record), in words."""
        ...

    def private_text(self, options: Any, view: Any, /) -> str:
        """Return what the viewer knows besides (one VIEW record), in words."""
        ...

    def resampled(self, options: Any, state: Records, seat: int, rng: np.random.Generator, /) -> Records:
        """Return a game (STATE [1]) that may be the one that a seat sees, somebody deciding; see `Rebuilds`."""
        ...

    def most_outcomes(self, options: Any, /) -> int:
        """Return a number above every outcome."""
        ...

    def most_decisions(self, options: Any, /) -> int:
        """Return a number that the decisions of a game do not exceed."""
        ...

    def most_draws(self, options: Any, /) -> int:
        """Return a number that the draws of a game do not exceed."""
        ...

    def payoffs(self, options: Any, /) -> tuple[float, float]:
        """Return numbers below and above which nobody gets in a game."""
        ...

    def pays_at_end(self, options: Any, /) -> bool:
        """Return whether all is paid in the last step."""
        ...


class InExtensiveForm(Protocol):
    """games in extensive form"""

    extensive: Extensive


class Wording(Protocol):
    """A module that says all that a seat knows, which is its view (one VIEW record), and nothing else."""

    # What words of actions have in common, by a name in capitals: all such words, and how they are written.
    NOUNS: Mapping[str, tuple[Sequence[str], str]]

    def facts(self, options: Any, view: Any, /) -> dict[str, Any]:
        """Return it as plain data, ready for JSON: texts of the notation, numbers, truth values, lists, dictionaries.

        Views that differ have facts that differ.
        """
        ...

    def words(self, options: Any, view: Any, facts: dict[str, Any] | None = None, /) -> list[str]:
        """Return it in words, line by line, as short as may be; ``facts`` are those of the view, if they are known."""
        ...


class Worded(Protocol):
    """views in words"""

    wording: Wording


class Playing(Protocol):
    """A module with a kernel in which built-in bots play on, and no decision of theirs comes back to Python."""

    # The classes of the bots, by their numbers.
    BOTS: Sequence[type]
    # The dtype of what is kept of each seat between calls.
    MEMORY: Any

    def play_on(
        self,
        rules: Records,
        states: Records,
        seats: NDArray[np.int32],
        kinds: NDArray[np.int32],
        closed: NDArray[np.bool_],
        first: NDArray[np.int64],
        streams: NDArray[np.uint64],
        decisions: NDArray[np.int64],
        last_actions: NDArray[np.int64],
        returns: NDArray[np.float64],
        memory: Records,
        most: int,
        /,
    ) -> tuple[int, int]:
        """Let bots decide until somebody else is to act, after an action that is given.

        They decide as their method `act` does. Like the kernels of the core it does not look at what
        it is given. A game in which something illegal would be done stays as it is.

        Args:
            rules: RULES [1].
            states: STATE [B], changed.
            seats: i4 [B, P], the number of who plays in each seat; `NOBODY`: nobody who is asked here.
            kinds: i4 [N], the place in `BOTS` of who has each number; -1: somebody else.
            closed: bool [B], games that are left as they are.
            first: i8 [B], what is done first, whoever is to act; `NO_ACTION`: nothing. It is overwritten
                by `NO_ACTION` where it was legal.
            streams: u8 [B, P], the stream of random bits of each seat, of which a decision draws the
                one with its number (see `bits.numbered`).
            decisions: i8 [B, P], how many each seat has taken; counted on.
            last_actions: i8 [B], overwritten where a bot has acted.
            returns: f8 [B, P], to which what each seat gets is added.
            memory: MEMORY [B, P], or for fewer games, zeros at first, which makes bots faster and changes
                nothing that they do: it may be of other games, or of other moments of these.
            most: the most decisions in each game.

        Returns:
            How many decisions have been taken, and in how many of the games, the closed ones apart,
            somebody other than `NOBODY` is to act now.
        """
        ...


class PlaysOn(Protocol):
    """bots that play on in a kernel"""

    playing: Playing


def playing_of(game: Game) -> Playing | None:
    """Return the module of a game in which bots play on; None where it has none."""
    return needed(game, PlaysOn).playing if has_part(game, PlaysOn) else None


# The signs of `Board.sheet`.
HAS = "h"
MAY = "m"
CANNOT = "-"


class Board(Protocol):
    """A module that says what a page in a browser shows of a view (one VIEW record) besides its facts, ready for JSON.

    Seats are called "you", "+1", "+2", ..., as in `Wording.facts`.
    """

    TITLE: str  # the name of the game as people write it
    CHANCE: str  # what `best_chance` is, in words

    def sheet(self, options: Any, view: Any, /) -> dict[str, Any]:
        """Return what the viewer can tell of where every item is.

        ``places`` are names of places; ``items`` has a text for each item, with one sign a place:
        `HAS`, `MAY` or `CANNOT`.
        """
        ...

    def odds(self, options: Any, view: Any, /) -> dict[str, Any]:
        """Return how likely items are to be at a place.

        ``places`` are as in `sheet`; ``items`` has a list for each item, with one probability a place;
        ``exact`` says whether they are not estimates.
        """
        ...

    def questions(self, options: Any, view: Any, /) -> list[dict[str, Any]]:
        """Return the questions that tell the viewer most, the best first; [] where nobody asks.

        ``name`` is an action or its beginning, ``information`` the bits that it is expected to tell,
        ``decides`` the chance that it settles what the game is about.
        """
        ...

    def best_chance(self, odds: Mapping[str, Any], /) -> float:
        """Return in one number how far somebody has come who has these `odds`, from 0 to 1."""
        ...


class OnBoard(Protocol):
    """boards for browsers"""

    board: Board


class MissingPartError(ValueError):
    """A game has no part of this kind; the message names both."""


def needed(game: Game, part: type[T]) -> T:
    """Return a game as one that has an optional part, such as ``needed(game, Drawn).draw_ansi(options, view)``.

    Raises:
        MissingPartError: it does not have it.
    """
    lacking = list(_lacking(game, part))
    if lacking:
        raise MissingPartError(f"the game {game.NAME!r} has no {part.__doc__}: it lacks {', '.join(lacking)}")
    return cast(T, game)


def has_part(game: Game, part: type[Any]) -> bool:
    """Return whether a game has an optional part."""
    return not any(_lacking(game, part))


def _lacking(module: Any, part: type[Any]) -> Iterator[str]:
    """Iterate over the names of a part that a module does not have."""
    names = sorted({*part.__annotations__, *vars(part)})
    return (name for name in names if not name.startswith("_") and not hasattr(module, name))


class GameError(ValueError):
    """There is no such game, or a module does not keep the contract of a game; the message says why."""


def load_game(name: str) -> Game:
    """Import a game: one of this package by its name, or any other by the full name of its module.

    Raises:
        GameError: there is no such game, its module cannot be imported, or it does not keep the
            contract.

    >>> load_game("sleuth").NAME
    'sleuth'
    """
    full_name = f"{__package__}.{name}" if isinstance(name, str) and name in GAMES else name
    if not isinstance(full_name, str) or not all(part.isidentifier() for part in full_name.split(".")):
        raise GameError(f"game must be {_game_names()}, got {shown(name)}")
    return _imported(full_name, name)


@cache
def _imported(full_name: str, name: str) -> Game:
    try:
        module = import_module(full_name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{full_name}.".startswith(f"{error.name}."):
            raise GameError(f"there is no game {name!r}: a game is {_game_names()}") from error
        # Whatever is wrong in somebody's module is said in one line; its traceback follows as the cause.
        raise GameError(f"the game {name!r} cannot be imported: {_place_of(error, full_name)}: {error!r}") from error
    return check_game(module)


def _place_of(error: BaseException, module: str) -> str:
    """Return the file and line where an error comes from: in a module's own files, if it passed through them."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if module.replace(".", os.sep) in frame.filename]
    frame = [*frames, *own][-1]
    return f"{frame.filename}:{frame.lineno}"


def check_game(game: Any) -> Game:
    """Return a game module, after a check of what can be told without options.

    Raises:
        GameError: it is not a module, or does not keep the contract.
    """
    if not isinstance(game, ModuleType):
        raise GameError(f"game must be a game module, which load_game returns, got {shown(game)}")
    if game.__name__ not in _checked:
        _check_contract(game)
        _checked.add(game.__name__)
    return cast(Game, game)


_checked: set[str] = set()


def _check_contract(game: ModuleType) -> None:
    lacking = list(_lacking(game, Game))
    if lacking:
        raise GameError(f"{game.__name__!r} is not a game: the module lacks {', '.join(lacking)}")
    one_of = {
        "DEFAULT_BOT": tuple(game.BOTS),
        "CHEAPEST_RECORD": tuple(game.RECORDS),
        "DECLINE": (*game.OFFERED, ""),
    }
    for name, choices in one_of.items():
        check_choice(f"{name} of the game {game.__name__!r}", getattr(game, name), choices, GameError)
    actor = np.dtype(game.STATE)["actor"] if "actor" in (np.dtype(game.STATE).names or ()) else None
    if actor is None or actor.kind != "i":
        raise GameError(f"STATE of the game {game.__name__!r} must have a field actor of signed integers, got {actor}")


def _game_names() -> str:
    return f"one of {', '.join(GAMES)}, or the full name of a game module"


def name_of(game: Game) -> str:
    """Return the text that `load_game` turns into this game."""
    return game.NAME if game.__name__ == f"{__package__}.{game.NAME}" else game.__name__


def check_options(game: Game, options: Any) -> None:
    """Check that options are those of a game.

    Raises:
        OptionError: they are another game's, and the message names both, or not options.
    """
    # Only where something is wrong is any other game loaded.
    other = "" if isinstance(options, game.Options) else game_of(options)
    if other:
        raise OptionError(f"options must be those of {game.NAME}, the game that is played, got {other}.{options!r}")
    game.make_rules(options)


def game_of(options: Any) -> str:
    """Return the name of that game of this package whose options something is; "" if it is none's."""
    if isinstance(options, type) or not dataclasses.is_dataclass(options):
        return ""
    return next((name for name in GAMES if isinstance(options, load_game(name).Options)), "")


def make_options(game: Game, named: Mapping[str, Any], max_cycles: int | None = None, taker: Any = None) -> Any:
    """Return a game's options.

    Args:
        game: the game module.
        named: the options by name.
        max_cycles: PettingZoo's word for the option ``max_turns``; None leaves it alone.
        taker: the class whose arguments they are, for the message; None: the options themselves.

    Raises:
        UnknownOptionError: the game has no option of a name.
        ValueError: a value that it does not allow, or two different turn limits.
    """
    _check_arguments(game, named, game.Options if taker is None else taker)
    options = dict(named)
    limit = max_cycles if max_cycles is None else options.setdefault("max_turns", max_cycles)
    # What is not a number is for the options to refuse.
    if whole_number(limit) != whole_number(max_cycles):
        raise ValueError(f"max_cycles={max_cycles!r} is another name of max_turns={limit!r}: give one of them")
    return game.Options(**options)


def _check_arguments(game: Game, named: Mapping[str, Any], taker: Any) -> None:
    """Check that what a class was given besides its own arguments are options of the game."""
    options = ", ".join(about.name for about in described(game.Options))
    legal = f"the options of {game.NAME} are {options}"
    own: list[str] = []
    if taker is not game.Options:
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        own = [name for name, about in inspect.signature(taker).parameters.items() if about.kind in kinds]
        legal = f"the arguments are {', '.join(own)}; {legal}"
    check_names(game.Options, named, f"{taker.__qualname__}.__init__()", legal, own)
