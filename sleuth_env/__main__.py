"""``python -m sleuth_env`` is the command ``sleuth``."""

import sys

from sleuth_command import main

if __name__ == "__main__":
    sys.exit(main())
