"""Run the command line with ``python -m discreet``."""

from discreet.cli.main import run

if __name__ == "__main__":
    run()
