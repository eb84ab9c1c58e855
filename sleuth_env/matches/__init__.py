"""Games between players: batches with bots, names and files as players, matches and their statistics."""
