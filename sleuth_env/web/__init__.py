"""Pages for a browser: a replay of a game, learning curves, the table of a tournament."""
