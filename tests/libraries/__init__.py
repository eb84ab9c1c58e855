"""Tests with the libraries that plug the games in; each needs its library."""
