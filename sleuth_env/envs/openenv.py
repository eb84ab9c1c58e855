"""A game in text as an environment of OpenEnv, which trainers of language models reset and step over a network.

OpenEnv is the extra ``[openenv]``. It has one agent, so the other seats are played by opponents.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..game import DEFAULT_GAME, Game
from ..matches.players import Players
from .text import TextEnv, TextStep

MOST_SESSIONS = 64
EXTRA = "OpenEnv is not installed: pip install 'sleuth-env[openenv]'"


def openenv_environment(
    game: Game | str = DEFAULT_GAME, opponents: Players | None = None, seat: int = 0, **options: Any
) -> Any:
    """Return an `openenv.core.env_server.Environment` of a game in text.

    Its actions, of the class `action_type`, have a text, ``message``: the answer, see `read_answer`.
    Its observations have ``prompt``, all that the agent knows, with the rules before it in the first
    one; ``done``; ``reward``, what the agent has got since its last decision; and in ``metadata``
    ``refused``, why the last answer was not taken, ``terminated`` and ``truncated``.

    Args:
        game: a game module, or its name.
        opponents: who plays the other seats, see `TextEnv`; None: the game's `DEFAULT_BOT`.
        seat: of the agent.
        **options: the game's options.

    Raises:
        ModuleNotFoundError: OpenEnv is not installed.
        ValueError: an argument has an unknown name or value.
    """
    environment = _classes()[0]
    return environment(game, opponents, seat, options)


def openenv_app(
    game: Game | str = DEFAULT_GAME, opponents: Players | None = None, seat: int = 0, **options: Any
) -> Any:
    """Return a FastAPI application that serves such environments, one for each session.

    Args:
        game: see `openenv_environment`.
        opponents: see there.
        seat: see there.
        **options: see there.

    Raises:
        ModuleNotFoundError: OpenEnv is not installed.
    """
    environment, action, observation = _classes()
    from openenv.core.env_server import create_fastapi_app

    return create_fastapi_app(
        lambda: environment(game, opponents, seat, options), action, observation, max_concurrent_envs=MOST_SESSIONS
    )


@cache
def _classes() -> tuple[Any, Any, Any]:
    """Return the classes of environments, actions and observations, which need OpenEnv."""
    try:
        from openenv.core.env_server import Action, Environment, Observation, State
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(EXTRA, name=error.name) from error

    class TextAction(Action):  # type: ignore[misc]
        """An answer in words."""

        message: str

    class TextObservation(Observation):  # type: ignore[misc]
        """What the agent is told."""

        prompt: str

    class SleuthEnvironment(Environment[TextAction, TextObservation, State]):  # type: ignore[misc]
        """See `openenv_environment`."""

        SUPPORTS_CONCURRENT_SESSIONS = True
        action_type = TextAction

        def __init__(self, game: Game | str, opponents: Players | None, seat: int, options: dict[str, Any]) -> None:
            super().__init__()
            self.text = _against(game, opponents, seat, options)
            self._agent = self.text.agents[seat]
            self._state = State()

        def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> TextObservation:
            """Deal a new game."""
            self._state = State(episode_id=episode_id)
            step = self.text.reset(seed)
            return self._observed(step, f"{self.text.rules}\n\n{step.text}")

        def step(self, action: TextAction, timeout_s: float | None = None, **kwargs: Any) -> TextObservation:
            """Take the action that an answer means."""
            self._state.step_count += 1
            step = self.text.step(action.message)
            return self._observed(step, step.text)

        def _observed(self, step: TextStep, prompt: str) -> TextObservation:
            about = {"refused": step.refused, "terminated": step.terminated, "truncated": step.truncated}
            return TextObservation(prompt=prompt, done=step.done, reward=step.rewards[self._agent], metadata=about)

        @property
        def state(self) -> State:
            """How many answers there were in this game."""
            return self._state

        def close(self) -> None:
            """End the programs among the opponents."""
            self.text.close()

    return SleuthEnvironment, TextAction, TextObservation


def _against(game: Game | str, opponents: Players | None, seat: int, options: dict[str, Any]) -> TextEnv:
    """Return a game in text of one agent against others."""
    made = TextEnv(game, seat=seat, **options)
    return TextEnv(game, made.game.DEFAULT_BOT if opponents is None else opponents, seat, **options)
