"""Run the command line with ``python -m discreet``."""

from discreet.cli.start import run

if __name__ == "__main__":
    run()
