"""The faces of a game for the frameworks: PettingZoo, Gymnasium, Stable-Baselines3. None of them knows a game."""
