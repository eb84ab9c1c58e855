"""Training scripts: self-play against past selves and named bots.

Nothing in the package imports them.
"""
