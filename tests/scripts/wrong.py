"""Mistakes of a user: type checkers find one in each line below the imports. It is not run."""

from sleuth_env import (
    Options,
    SleuthVecEnv,
    SleuthVectorEnv,
    SoloEnv,
    SoloVectorEnv,
    belief,
    load_policy,
    make_player,
    play_match,
    sleuth,
    sleuth_v0,
)

Options(num_players="x")
Options(num_plaers=4)
sleuth_v0.raw_env(num_plaers=4)
sleuth_v0.raw_env(num_players="4")
sleuth_v0.env(num_plaers=4)
sleuth_v0.env(missing=1.5)
SoloEnv(num_plaers=4)
SoloVectorEnv(winners="2")
SleuthVectorEnv(num_plaers=4)
SleuthVecEnv(num_plaers=4)
play_match(sleuth, Options(), "sheet", num_deals="10")
play_match("sleuth", Options(), ["sheet"], 10)
play_match(sleuth_v0, Options(), ["sheet"], 10)
belief()
make_player(3, Options())
load_policy(3)
worlds: int = sleuth_v0.raw_env().belief("player_0")
sleuth_v0.raw_env().options.num_plaers
Options().hand_sizes
Options.no_such_name
sleuth_v0.no_such_name
from sleuth_env import Optoins
