"""``python -m sleuth_env`` is the command ``sleuth``."""

from sleuth_command import script

if __name__ == "__main__":
    script()
