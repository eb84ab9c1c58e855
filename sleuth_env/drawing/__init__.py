"""What the drawings of all games are made with."""
