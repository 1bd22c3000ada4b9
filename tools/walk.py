"""Walk one query through the house, and count what it passes: ``python tools/walk.py [--list]``.

A small made-up project is opened and asked one question, with a COUNT and an AVG. Each function of
the package is noted when it is entered for the first time, because that is how somebody reads who
follows a query for the first time; a *change* is counted when the next function stands in another
file, or in another room. Nothing outside the package counts, and no comprehension does.
"""

import argparse
import sys
import tempfile
import threading
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import discreet

PACKAGE = Path(discreet.__file__).parent
QUESTION = "SELECT g, COUNT(*), AVG(x) FROM t GROUP BY g"
DATA = "person,g,x\n1,a,3\n2,b,5\n3,a,8\n"
DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100 }

[tables.t]
source = "t.csv"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 5

[tables.t.columns]
person = { type = "integer" }
g = { type = "text", keys = ["a", "b"] }
x = { type = "integer", min = 0, max = 10 }
"""


class Stop(NamedTuple):
    """A function of the package, and where it stands."""

    room: str
    file: str
    function: str


class Walk:
    """The functions that were entered, in the order of the first time."""

    def __init__(self) -> None:
        self.stops: list[Stop] = []
        self._seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, what: str, _argument: object) -> None:
        """Note a function that is entered: this is the hook that the interpreter calls."""
        code = frame.f_code
        if what != "call" or code in self._seen or code.co_name.startswith("<"):
            return
        self._seen.add(code)
        path = Path(code.co_filename)
        if path.is_relative_to(PACKAGE):
            file = path.relative_to(PACKAGE)
            self.stops.append(Stop(file.parts[0], str(file), code.co_qualname))

    def __str__(self) -> str:
        """Return the counts in one line."""
        rooms = [stop.room for stop in self.stops]
        files = [stop.file for stop in self.stops]
        return (
            f"{len(self.stops)} functions in {len(set(files))} files; "
            f"{_changes(rooms)} changes of room and {_changes(files)} of file"
        )


def _changes(places: list[str]) -> int:
    return sum(first != second for first, second in pairwise(places))


def walk() -> Walk:
    """Ask the question once unwatched, so that all is imported, and once watched."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.csv").write_text(DATA)
        (Path(folder) / "discreet.toml").write_text(DECLARATION)
        with discreet.connect(folder) as connection:
            connection.sql(QUESTION, epsilon=1)
            watched = Walk()
            threading.setprofile(watched)
            sys.setprofile(watched)
            try:
                connection.sql(QUESTION, epsilon=1, fresh=True)
            finally:
                sys.setprofile(None)
                threading.setprofile(None)
            return watched


def main() -> None:
    """Print the counts, and with ``--list`` each stop of the way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print each function, in order")
    asked = parser.parse_args()
    watched = walk()
    if asked.list:
        for stop in watched.stops:
            print(f"{stop.file:48} {stop.function}")
    print(watched)


if __name__ == "__main__":
    main()
