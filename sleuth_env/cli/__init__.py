"""The command ``sleuth``: everything that talks to a terminal. No module here knows a game."""
