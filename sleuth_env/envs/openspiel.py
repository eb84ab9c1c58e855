"""OpenSpiel's face of the games: ``python_sleuth`` and ``python_holmes``.

Importing this module registers every game of the package that has an extensive form with OpenSpiel:

    import pyspiel
    import sleuth_env.envs.openspiel

    game = pyspiel.load_game("python_sleuth(players=3)")

The parameters are the game's options by their names, but that ``players`` is what OpenSpiel calls the
number of players, and ``record``, the kind of observation (one of the game's `RECORDS`). Chance is a
player who draws one card after the other (see `sleuth_env.game.Extensive`); actions, rewards and
observations are those of all other faces.
Axis letters: ``P`` seats, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..actions import IllegalAction, refusal
from ..checks import check_choice, shown
from ..game import (
    GAMES,
    Extensive,
    Game,
    InExtensiveForm,
    Transcribed,
    has_part,
    kernels_of,
    load_game,
    make_options,
    name_of,
    needed,
    opaque,
    player_name,
)
from ..options import OptionError, described

try:
    import pyspiel
except ModuleNotFoundError as error:
    if error.name != "pyspiel":
        raise
    message = 'sleuth_env.envs.openspiel needs OpenSpiel: pip install "sleuth-env[openspiel]"'
    raise ModuleNotFoundError(message, name="pyspiel") from None

PLAYERS = "players"  # OpenSpiel's name of the option num_players
RECORD = "record"
NUM_PLAYERS = "num_players"
# Bytes of what an information state remembers.
MEMORY = 16


def spiel_name(game: Game) -> str:
    """Return the name by which OpenSpiel knows a game.

    >>> spiel_name(load_game("sleuth"))
    'python_sleuth'
    """
    return f"python_{game.NAME}"


def _parameters(game: Game) -> dict[str, Any]:
    """Return the parameters of a game with their defaults."""
    options = {_parameter(about.name): about.default for about in described(game.Options)}
    return {**options, RECORD: game.RECORDS[0]}


def _parameter(option: str) -> str:
    return PLAYERS if option == NUM_PLAYERS else option


def _made_options(game: Game, parameters: Mapping[str, Any]) -> Any:
    named = {NUM_PLAYERS if name == PLAYERS else name: value for name, value in parameters.items()}
    try:
        return make_options(game, named)
    except OptionError as error:
        raise OptionError(str(error).replace(NUM_PLAYERS, PLAYERS), _parameter(error.option)) from None


@cache
def _counts_of_players(name: str) -> list[int]:
    """Return the numbers of players that a game may have."""
    game = load_game(name)
    counts = []
    for count in range(1, 100):
        try:
            game.Options(**{NUM_PLAYERS: count})
        except OptionError:
            continue
        counts.append(count)
    return counts


class _Table:
    """What all states of one game have in common: the module, its options, rules and kernels."""

    def __init__(self, game: Game, options: Any, record: str) -> None:
        self.game = game
        self.form: Extensive = needed(game, InExtensiveForm).extensive
        self.kernels = kernels_of(game)
        self.options = options
        self.rules = game.make_rules(options)
        self.record = record
        self.layout = game.observation_layout(options, record)
        self.num_actions = game.num_actions(options)
        self.num_players: int = options.num_players

    def state(self, content: bytes) -> Any:
        """Return a state (STATE [1]) that may be changed."""
        return np.frombuffer(bytearray(content), self.game.STATE)

    def seen(self, content: bytes, decides: bool = True) -> Any:
        """Return what each seat may know (VIEW [P]); where chance draws nobody decides."""
        states = opaque(self.state(content)).repeat(self.num_players).view(self.game.STATE)
        if not decides:
            states["actor"] = -1
        views = np.zeros(self.num_players, self.game.VIEW)
        self.kernels.view(self.rules, states, np.arange(self.num_players), views)
        return views


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """A game of this package as OpenSpiel plays it; `pyspiel.load_game` makes it.

    Raises:
        ValueError: a parameter has an unknown value; the message lists the legal ones.
    """

    game: Game

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**_parameters(self.game), **(params or {})}
        record = check_choice(RECORD, given[RECORD], self.game.RECORDS)
        options = _made_options(self.game, {name: value for name, value in given.items() if name != RECORD})
        self.table = _Table(self.game, options, record)
        form = self.table.form
        least, most = form.payoffs(options)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.table.num_actions,
            max_chance_outcomes=form.most_outcomes(options),
            num_players=options.num_players,
            min_utility=least,
            max_utility=most,
            max_game_length=form.most_decisions(options),
        )
        super().__init__(_game_type(self.game, form.pays_at_end(options)), info, dict(params or {}))

    def new_initial_state(self) -> SpielState:
        """Return a state of which nothing has been drawn."""
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return a number that the draws of a game do not exceed."""
        return self.table.form.most_draws(self.table.options)

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: Mapping[str, Any] | None = None
    ) -> SpielObserver:
        """Return an object that observes states as `SpielObserver` says."""
        return SpielObserver(self.table, iig_obs_type, params)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A moment of a game: what has been drawn and decided, and what chance is to draw.

    Whatever changes is plain and cannot be changed in place, so that copies are cheap.
    """

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        state, self._draws = game.table.form.begin(game.table.options)
        self._content = state.tobytes()
        self._rewards = (0.0,) * game.table.num_players
        self._returns = self._rewards
        self._memories = (b"",) * game.table.num_players
        self._views = self._memories

    @property
    def _table(self) -> _Table:
        table: _Table = self.get_game().table
        return table

    # --- whose move it is ---

    def current_player(self) -> int:
        """Return the seat that decides, or OpenSpiel's number for chance or for the end."""
        if self._draws:
            return int(pyspiel.PlayerId.CHANCE)
        actor = int(self._state["actor"][0])
        return actor if actor >= 0 else int(pyspiel.PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        """Return whether the game is finished."""
        return bool(self.current_player() == pyspiel.PlayerId.TERMINAL)

    @property
    def _state(self) -> Any:
        return np.frombuffer(self._content, self._table.game.STATE)

    def _legal(self) -> NDArray[np.uint8]:
        table = self._table
        legal = np.zeros((1, table.num_actions), np.uint8)
        table.kernels.legal(table.rules, table.state(self._content), legal)
        row: NDArray[np.uint8] = legal[0]
        return row

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in np.flatnonzero(self._legal())]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what chance may draw, with probabilities."""
        return self._table.form.outcomes(self._table.options, self._state, self._draws)

    def _action_to_string(self, player: int, action: int) -> str:
        table = self._table
        if player == pyspiel.PlayerId.CHANCE:
            return table.form.outcome_name(table.options, self._state, self._draws, action)
        return table.game.action_name(action, table.options)

    # --- a move ---

    def _apply_action(self, action: int) -> None:
        table = self._table
        state = table.state(self._content)
        paid = np.zeros((1, table.num_players))
        if self._draws:
            self._check_outcome(action)
            # What an action pays stays in sight until the next player decides.
            earned = self._rewards
            self._draws = table.form.draw(table.options, state, self._draws, action, paid)
        else:
            earned = (0.0,) * table.num_players
            self._draws = self._acted(state, action, paid)
        self._rewards = _sums(earned, paid[0])
        self._returns = _sums(self._returns, paid[0])
        self._content = state.tobytes()
        if not self._draws:
            self._look()

    def _check_outcome(self, outcome: int) -> None:
        possible = [number for number, _ in self.chance_outcomes()]
        if outcome not in possible:
            raise IllegalAction(f"chance cannot draw {outcome} now, it draws one of {shown(possible)}")

    def _acted(self, state: Any, action: int, paid: NDArray[np.float64]) -> tuple[int, ...]:
        """Take a player's action; return what is to be drawn then."""
        table = self._table
        player = int(state["actor"][0])
        draws = table.form.act(table.options, state, action, paid)
        if draws is None:
            raise refusal(table.game, table.options, action, self._legal(), player_name(player))
        self._remember(player, [self._views[player] + action.to_bytes(4, "little")])
        return draws

    def _look(self) -> None:
        """Let every player see how the game stands, and remember what they notice."""
        table = self._table
        views = table.seen(self._content)
        for seat in range(table.num_players):
            last = self._views[seat]
            before = np.frombuffer(last, views.dtype)[0] if last else None
            self._remember(seat, table.form.noticed(table.options, before, views[seat]))
        self._views = tuple(seen.tobytes() for seen in views)

    def _remember(self, seat: int, noticed: Sequence[bytes]) -> None:
        memories = list(self._memories)
        for what in noticed:
            memories[seat] = blake2b(memories[seat] + what, digest_size=MEMORY).digest()
        self._memories = tuple(memories)

    # --- rewards ---

    def rewards(self) -> list[float]:
        """Return what each seat has got by the last action of a player."""
        return list(self._rewards)

    def returns(self) -> list[float]:
        """Return what each seat has got so far."""
        return list(self._returns)

    # --- searches ---

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """Return a state that a player cannot tell from this one, the hidden cards drawn by exact beliefs.

        What the others remember is made up of what they see in it. Its history is empty, as it cannot
        be told from what a player knows.

        Args:
            player: the seat.
            sampler: draws numbers from 0 to 1.

        Raises:
            ValueError: nobody is to decide.
        """
        table = self._table
        if self._draws or self.is_terminal():
            raise ValueError("a game can be resampled only where a player is to decide")
        rng = np.random.default_rng([int(sampler() * 2**32) for _ in range(2)])
        state: SpielState = self.get_game().new_initial_state()
        state._content = table.form.resampled(table.options, table.state(self._content), player, rng).tobytes()
        state._draws = ()
        state._rewards = self._rewards
        state._returns = self._returns
        state._views = tuple(seen.tobytes() for seen in table.seen(state._content))
        others = (blake2b(seen, digest_size=MEMORY).digest() for seen in state._views)
        state._memories = tuple(self._memories[k] if k == player else other for k, other in enumerate(others))
        return state

    # --- words ---

    def __str__(self) -> str:
        """Return everything there is, for debugging: the hidden state and a digest of the rest."""
        table = self._table
        digest = blake2b(repr((self._content, self._draws, self._memories)).encode(), digest_size=8).hexdigest()
        if not table.form.is_dealt(self._draws):
            return f"the cards are being dealt\ndigest: {digest}"
        state = table.state(self._content)
        if not self._draws and has_part(table.game, Transcribed):
            revealed = needed(table.game, Transcribed).reveal(table.options, state[0])
            return "\n".join(f"{name}: {value}" for name, value in {**revealed, "digest": digest}.items())
        return f"chance draws\ndigest: {digest}"


class SpielObserver:
    """What a player observes of states.

    The tensor (float32 [N]) is the observation of the game's other faces, and `dict` its named
    blocks; the string says what the player knows in words. Of public or private information alone
    there is only a string, and of an information state, too: what the player knows now, and a digest
    of all that they have noticed and done, so that two of them are equal only if the player could not
    tell the two pasts from one another. Before the cards are dealt nobody sees anything.

    Args:
        table: the game.
        kind: which information; None: all that a player knows now.
        params: must be empty.

    Raises:
        ValueError: there are parameters, or it is the private information of all players at once.
    """

    def __init__(
        self, table: _Table, kind: pyspiel.IIGObservationType | None, params: Mapping[str, Any] | None
    ) -> None:
        if params:
            raise ValueError(f"the observers of {spiel_name(table.game)} take no parameters, got {params}")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError("private information can be observed of a single player or of none, not of all")
        self._table = table
        self._public: bool = kind.public_info
        self._private: bool = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._remembers: bool = kind.perfect_recall
        if self._remembers and not (self._public and self._private):
            raise ValueError("what is remembered can be observed only of public and private information together")
        self.tensor: NDArray[np.float32] | None = None
        self.dict: dict[str, NDArray[np.float32]] = {}
        if self._public and self._private and not self._remembers:
            self._view = np.zeros(1, table.game.VIEW)
            self._rows = np.zeros((1, table.layout.size), np.float32)
            self._writer = table.game.Observer(table.rules, self._view, table.record)
            self.tensor = self._rows[0]
            self.dict = table.layout.views(self.tensor)

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what a player observes into `tensor`."""
        if self.tensor is None:
            return
        if not self._table.form.is_dealt(state._draws):
            self.tensor[:] = 0
            return
        opaque(self._view)[0] = opaque(self._seen(state))[player]
        self._writer.write(self._rows)

    def string_from(self, state: SpielState, player: int) -> str:
        """Return what a player observes in words."""
        form = self._table.form
        options = self._table.options
        if not form.is_dealt(state._draws):
            return f"I am {player_name(player)}" if self._private else ""
        seen = self._seen(state)[player]
        parts = []
        if self._private:
            parts.append(form.private_text(options, seen))
        if self._public:
            parts.append(form.public_text(options, seen))
        if self._remembers:
            now = blake2b(state._memories[player] + seen.tobytes(), digest_size=MEMORY)
            parts.append(f"past: {now.hexdigest()}")
        return "\n".join(parts)

    def _seen(self, state: SpielState) -> Any:
        return self._table.seen(state._content, decides=not state._draws)


def _sums(earned: Sequence[float], paid: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(total + more for total, more in zip(earned, paid.tolist(), strict=True))


# --- registration ---


def _game_type(game: Game, pays_at_end: bool) -> pyspiel.GameType:
    counts = _counts_of_players(name_of(game))
    kind = pyspiel.GameType
    return kind(
        short_name=spiel_name(game),
        long_name=f"{game.NAME.title()} (sleuth-env)",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL if pays_at_end else kind.RewardModel.REWARDS,
        max_num_players=max(counts),
        min_num_players=min(counts),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=_parameters(game),
    )


def register(game: Game) -> type[SpielGame]:
    """Make a game known to OpenSpiel and return its class there.

    Raises:
        MissingPartError: it has no extensive form.
    """
    needed(game, InExtensiveForm)
    bound = type(f"Spiel{game.NAME.title()}", (SpielGame,), {"game": game})
    pyspiel.register_game(_game_type(game, pays_at_end=True), bound)
    return bound


for _game in map(load_game, GAMES):
    if has_part(_game, InExtensiveForm):
        register(_game)
