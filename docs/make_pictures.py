"""Draw the picture of the manual, with the game's own drawing: ``python docs/make_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from sleuth_env import make_bot, sleuth_v0

PICTURE = Path(__file__).parent / "_static" / "game.png"
VIEWER = "player_0"
SEED = 11
# Late enough that the sheet has filled up, early enough that there is something left to find out.
TURNS = 17


def game_picture() -> np.ndarray:
    """Return what one of four `sheet` bots knows in mid-game (u1 [height, width, 3])."""
    env = sleuth_v0.raw_env(num_players=4, render_mode="rgb_array", viewpoint=VIEWER)
    env.reset(seed=SEED)
    bot = make_bot("sheet", env.options)
    rng = np.random.default_rng(SEED)
    while env.view(VIEWER)["turn_number"][0] < TURNS or env.agent_selection != VIEWER:
        agent = env.agent_selection
        legal = env.observe(agent)["action_mask"][None].astype(np.uint8)
        seeds = rng.integers(0, 2**63, 1).astype(np.uint64)
        env.step(int(bot.act(env.view(agent), legal, seeds)[0]))
    picture: np.ndarray = env.render()
    return picture


def main() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(exist_ok=True)
    Image.fromarray(game_picture()).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
