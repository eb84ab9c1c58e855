"""I Say, Holmes! (Alan Emrich) for 3 to 8 players: PettingZoo's environment, and its manual page.

Cards are played in the sequence of a story; Villains lie hidden in hands that move. Whoever arrests
a player with a Villain closes the case and takes a Book, whoever holds nothing but Villains escapes
with them, and after some cases the most points win. Secret hands that are passed, exchanged and
taken, glimpses of cards, answers out of turn.

    from sleuth_env import holmes_v0

    env = holmes_v0.env(num_players=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        finished = termination or truncation
        env.step(None if finished else env.action_space(agent).sample(observation["action_mask"]))

* Creation: ``holmes_v0.env(...)``, ``holmes_v0.raw_env(...)``, with PettingZoo 1.27 also
  ``pettingzoo.make("aec", "sleuth_env/holmes-v0", ...)``.
* Agents: ``player_0`` ... ``player_{n-1}``, clockwise; the next one is the left neighbour.
* Actions: ``Discrete(A)``, A = 105, 125, 145, 165, 185, 205 for 3 to 8 players.
* Observations: ``{"observation": Box(0, 1, (N,), float32), "action_mask": Box(0, 1, (A,), int8)}``.
* State: ``Box(0, 1, (n * N,), float32)``: every player's observation in the order of the seats;
  hidden information, for central critics only.
* Order: Whoever has to decide, often out of turn: answering a card, passing one on, choosing what
  is shown. Nobody is asked who has but one thing to do, except at the beginning of a turn.

Actions
-------
One number, whose meaning never moves: cards are named by their titles; opponent ``+k`` sits k seats
to the left of whoever decides. `sleuth_env.holmes.action_blocks` returns the blocks by name.

| block | size | notation |
|---|---|---|
| play: a title without a target, or an Interrupt in answer | 21 | ``play train`` |
| play_on: a title on an opponent | (n-1) x 15 | ``play suspicion on +2`` |
| choose: a title of the hand, to be passed on, put down, given, shown or discarded | 37 | ``choose clue`` |
| arrest: an opponent | n-1 | ``arrest +1`` |
| from: whose Telegram is taken, +0 one's own | n | ``from +0`` |
| token: an I Say token of a type, from the pool or an opponent | 3n | ``token hat from +2`` |
| draw: instead of playing | 1 | ``draw`` |
| escape: with all Villains in hand | 1 | ``escape`` |
| pass: play no more, keep the drawn card, do not counter, arrest or escape | 1 | ``pass`` |

``sleuth_env.holmes.action_name`` and ``parse_action`` translate. The mask of a player who is not to
act is zero; that of a finished game is all ones. `raw_env` refuses an illegal action with a
ValueError and changes nothing; `env` ends the game with -1 for that player and 0 for the others.

Observations
------------
Own seat first, then the opponents in turn order. ``record="sheet"`` (default) holds what can be
concluded of every title with every opponent and in the draw pile, ``"raw"`` only what was shown.
``sleuth_env.holmes.observation_layout(options, record)`` names every block with its axes, and its
``views(observation)`` returns them; the manual's page of the game says what they mean.

Rewards
-------
They add up to zero, and are paid in the last step, but for "case".

| reward | what each player gets |
|---|---|
| "winner" | first: 1, others: -1 / (n-1); w drawn winners (n-w) / (w (n-1)) each |
| "rank" | place r: 1 - 2 (r-1) / (n-1); equals share the mean of their places |
| "points" | (own points - mean of all) / 10 |
| "case" | whenever a case is closed: whoever closed it 1, others -1 / (n-1) |

At the turn limit everybody is truncated, and paid as the game stands; "case" pays nobody then.

Options
-------
`sleuth_env.holmes.Options` describes and checks the options of the game. Besides: ``record``,
``render_mode`` ("human", "ansi", "rgb_array") and ``viewpoint`` (whose view is drawn; None: the
agent to act). For analysis, `raw_env` has `reveal`, `game_text`, `view`, `get_state` and
`set_state`; through the wrappers, ``env.unwrapped.reveal()``. `raw_env.belief` returns what a
player may believe: proved bounds of every title, and an estimate of where the Villains lie.

Version history
---------------
* v0: first version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import pettingzoo

from . import holmes
from .envs.aec import GameEnv
from .envs.solo import GameSoloEnv, GameSoloVectorEnv
from .envs.vector import GameVectorEnv
from .envs.wrappers import OrderEnforcing, wrapped
from .game import Game
from .holmes.cards import Options, OptionValues

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode
    from stable_baselines3.common.vec_env import VecEnv

    from .envs.sb3 import LearnerGames
    from .holmes import Belief
    from .matches.players import Players

PETTINGZOO_ID = "sleuth_env/holmes-v0"
GAME: Game = holmes

# The neutral classes take the options of any game. What follows `TYPE_CHECKING` in the classes below
# tells type checkers which ones this game has.


class raw_env(GameEnv):  # noqa: N801 - PettingZoo's name for it
    """I Say, Holmes! without wrappers: an illegal action raises ValueError and changes nothing.

    See `GameEnv` for the arguments.
    """

    game: ClassVar[Game] = GAME
    metadata: dict[str, Any] = {**GameEnv.metadata, "name": "holmes_v0"}  # noqa: RUF012

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

        def belief(self, agent: str | int) -> Belief: ...


def env(
    render_mode: str | None = None,
    record: str = "sheet",
    viewpoint: str | int | None = None,
    max_cycles: int | None = None,
    **options: Unpack[OptionValues],
) -> OrderEnforcing[raw_env]:
    """Return I Say, Holmes! wrapped as PettingZoo's classic games are: an illegal action ends the game with -1.

    See `GameEnv` for the arguments.
    """
    return wrapped(raw_env(render_mode, record, viewpoint, max_cycles, **options))


class SoloEnv(GameSoloEnv):
    """I Say, Holmes! for one learner, the other seats played by bots; see `GameSoloEnv` for the arguments."""

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
    """I Say, Holmes! for one learner in each of many games; see `GameSoloVectorEnv` for the arguments."""

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


class HolmesVectorEnv(GameVectorEnv):
    """Many games of I Say, Holmes!, every seat of which is a learner's; see `GameVectorEnv` for the arguments."""

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

    class HolmesVecEnv(LearnerGames, VecEnv):
        """I Say, Holmes! for one learner in each of many games, for Stable-Baselines3; see `LearnerGames`."""

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
        """Return `HolmesVecEnv`, which needs Stable-Baselines3, when it is first asked for."""
        if name == "HolmesVecEnv":
            from .envs.sb3 import vec_env_class

            return vec_env_class(GAME, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _register() -> None:
    """Register with PettingZoo, once; versions before 1.27 have no registry."""
    registry = getattr(pettingzoo, "aec_registry", None)
    if registry is not None and PETTINGZOO_ID not in registry:
        pettingzoo.register("aec", PETTINGZOO_ID, f"{__name__}:env")


_register()
