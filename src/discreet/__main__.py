"""Run the command line with ``python -m discreet``."""

import sys

from discreet.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
