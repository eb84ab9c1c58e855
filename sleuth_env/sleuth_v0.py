"""Sleuth (Sid Sackson, 1971) for 3 to 7 players: PettingZoo's environment, and its manual page.

One of 36 gem cards has been set aside; players ask one another how many gems of a kind they hold,
and whoever first names the missing gem wins. Hidden hands, public counts, private glimpses of cards,
accusations at any time.

    from sleuth_env import sleuth_v0

    env = sleuth_v0.env(num_players=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        finished = termination or truncation
        env.step(None if finished else env.action_space(agent).sample(observation["action_mask"]))

* Creation: ``sleuth_v0.env(...)``, ``sleuth_v0.raw_env(...)``, with PettingZoo 1.27 also
  ``pettingzoo.make("aec", "sleuth_env/sleuth-v0", ...)``.
* Agents: ``player_0`` ... ``player_{n-1}``, clockwise.
* Actions: ``Discrete(A)``, A = 448, 653, 858, 1063, 1268 for 3 to 7 players.
* Observations: ``{"observation": Box(0, 1, (N,), float32), "action_mask": Box(0, 1, (A,), int8)}``.
* State: ``Box(0, 1, (n * N,), float32)``: every player's observation in the order of the seats;
  hidden information, for central critics only.
* Order: Whoever has to decide, often out of turn: after every answer each player in contention may
  accuse.

Actions
-------
One number, whose meaning never moves: search cards are named, not their place in the hand; opponent
``+k`` sits k seats to the left. `sleuth_env.sleuth.action_blocks` returns the blocks by name.

| block | size | notation |
|---|---|---|
| ask: an opponent a question, paid with a search card | (n-1) x 162 | ``ask +2 blue-opal with free-blue`` |
| final: a final question; no card is spent, an accusation must follow | (n-1) x 43 | ``final +1 pair`` |
| exchange: all four search cards | 1 | ``exchange`` |
| accuse: a gem; several missing gems are named one after another | 36 | ``accuse blue-opal-pair`` |
| pass: decline an offer to accuse; end the turn after one of two questions | 1 | ``pass`` |

``sleuth_env.sleuth.action_name`` and ``parse_action`` translate. The mask of a player who is not to
act is zero; that of a finished game is all ones. `raw_env` refuses an illegal action with a
ValueError and changes nothing; `env` ends the game with -1 for that player and 0 for the others.

Observations
------------
Own seat first, then the opponents in turn order. ``record="sheet"`` (default) holds what the
deduction sheet proves of each gem, ``"raw"`` only what was shown, ``"exact"`` the probabilities of
each gem by a count of all deals and what each question is expected to tell.
``sleuth_env.sleuth.observation_layout(options, record)`` names every block with its axes, and its
``views(observation)`` returns them; the manual's page of observations says what they mean.

Rewards
-------
All in the last step, in which everybody terminates; at the turn limit everybody is truncated, and
``info["settled"]`` is False for those who were still in. A player who is out waits for it, unasked.

| | winner | others |
|---|---|---|
| somebody names the missing gem | +1 | -1 / (n-1) |
| everybody is out | | -1 / (n-1) |
| ``winners=k``: the j-th to be right | 1 - (j-1)/k | share the negative sum equally |
| turn limit | as above | out: -1 / (n-1); still in: 0 |

Options
-------
`sleuth_env.Options` describes and checks the options of the game. Besides: ``record``,
``render_mode`` ("human", "ansi", "rgb_array") and ``viewpoint`` (whose view is drawn; None: the
agent to act). For analysis, `raw_env` has `reveal`, `game_text`, `view`, `get_state` and
`set_state`; through the wrappers, ``env.unwrapped.reveal()``. `raw_env.belief` returns the exact
distribution of the hidden gems, uniform over all deals consistent with what an agent may know.

Version history
---------------
* v0: first version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import pettingzoo

from . import sleuth
from .envs.aec import GameEnv
from .envs.solo import GameSoloEnv, GameSoloVectorEnv
from .envs.vector import GameVectorEnv
from .envs.wrappers import OrderEnforcing, wrapped
from .game import Game
from .sleuth.cards import Options, OptionValues

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode
    from stable_baselines3.common.vec_env import VecEnv

    from .deduction import Worlds
    from .envs.sb3 import LearnerGames
    from .matches.players import Players

PETTINGZOO_ID = "sleuth_env/sleuth-v0"
GAME: Game = sleuth

# The neutral classes take the options of any game. What follows `TYPE_CHECKING` in the classes below
# tells type checkers which ones this game has.


class raw_env(GameEnv):  # noqa: N801 - PettingZoo's name for it
    """Sleuth without wrappers: an illegal action raises ValueError and changes nothing.

    See `GameEnv` for the arguments.
    """

    game: ClassVar[Game] = GAME
    metadata: dict[str, Any] = {**GameEnv.metadata, "name": "sleuth_v0"}  # noqa: RUF012

    if TYPE_CHECKING:
        options: Options

        def __init__(
            self,
            render_mode: str | None = None,
            record: str | None = None,
            viewpoint: str | int | None = None,
            max_cycles: int | None = None,
            **options: Unpack[OptionValues],
        ) -> None: ...

        def belief(self, agent: str | int) -> Worlds: ...


def env(
    render_mode: str | None = None,
    record: str = "sheet",
    viewpoint: str | int | None = None,
    max_cycles: int | None = None,
    **options: Unpack[OptionValues],
) -> OrderEnforcing[raw_env]:
    """Return Sleuth wrapped as PettingZoo's classic games are: an illegal action ends the game with -1.

    See `GameEnv` for the arguments.
    """
    return wrapped(raw_env(render_mode, record, viewpoint, max_cycles, **options))


class SoloEnv(GameSoloEnv):
    """Sleuth for one learner, the other seats played by bots; see `GameSoloEnv` for the arguments."""

    game: ClassVar[Game] = GAME

    if TYPE_CHECKING:

        def __init__(
            self,
            opponents: Players | None = None,
            learner_seat: int | str = "random",
            record: str | None = None,
            render_mode: str | None = None,
            illegal: str = "end",
            max_cycles: int | None = None,
            observation: str = "vector",
            **options: Unpack[OptionValues],
        ) -> None: ...

        @property
        def options(self) -> Options: ...


class SoloVectorEnv(GameSoloVectorEnv):
    """Sleuth for one learner in each of many games; see `GameSoloVectorEnv` for the arguments."""

    game: ClassVar[Game] = GAME

    if TYPE_CHECKING:

        def __init__(
            self,
            num_envs: int = 1,
            opponents: Players | None = None,
            learner_seat: int | str = "random",
            record: str | None = None,
            render_mode: str | None = None,
            illegal: str = "end",
            max_cycles: int | None = None,
            observation: str = "vector",
            autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
            **options: Unpack[OptionValues],
        ) -> None: ...

        @property
        def options(self) -> Options: ...


class SleuthVectorEnv(GameVectorEnv):
    """Many games of Sleuth, every seat of which is a learner's; see `GameVectorEnv` for the arguments."""

    game: ClassVar[Game] = GAME

    if TYPE_CHECKING:
        options: Options

        def __init__(
            self,
            num_envs: int = 1,
            record: str | None = None,
            render_mode: str | None = None,
            dtype: str = "float32",
            copy: bool = True,
            threads: int = 1,
            max_cycles: int | None = None,
            observation: str = "vector",
            autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
            **options: Unpack[OptionValues],
        ) -> None: ...


if TYPE_CHECKING:

    class SleuthVecEnv(LearnerGames, VecEnv):
        """Sleuth for one learner in each of many games, for Stable-Baselines3; see `LearnerGames` for the arguments."""

        def __init__(
            self,
            num_envs: int = 1,
            opponents: Players = ("random",),
            shares: Sequence[float] | None = None,
            learner_seat: str | int = "random",
            record: str | None = None,
            seed: int | None = 0,
            max_cycles: int | None = None,
            render_mode: str | None = None,
            illegal: str = "raise",
            observation: str = "vector",
            **options: Unpack[OptionValues],
        ) -> None: ...

        @property
        def options(self) -> Options: ...

else:

    def __getattr__(name: str) -> Any:
        """Return `SleuthVecEnv`, which needs Stable-Baselines3, when it is first asked for."""
        if name == "SleuthVecEnv":
            from .envs.sb3 import vec_env_class

            return vec_env_class(GAME, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _register() -> None:
    """Register with PettingZoo, once; versions before 1.27 have no registry."""
    registry = getattr(pettingzoo, "aec_registry", None)
    if registry is not None and PETTINGZOO_ID not in registry:
        pettingzoo.register("aec", PETTINGZOO_ID, f"{__name__}:env")


_register()
