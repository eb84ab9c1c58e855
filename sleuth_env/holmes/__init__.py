"""The game module of I Say, Holmes!: everything that others ask of a game, see `sleuth_env.game.Game`."""
