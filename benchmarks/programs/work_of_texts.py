"""Print what a function of texts takes: ``python work_of_texts.py FUNCTION seconds|mebibytes``.

Printed are the seconds that it takes for a thousand million counted steps, or the memory: about a
second and half a gibibyte at most, if the bill is right. The text has 10,000 characters of one, two
or four bytes, whichever is dearest, in all of 2,048 rows; nested calls tell what one more takes.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import duckdb

from discreet.engines.duckdb.render.expression import expression
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.work import TEXT
from discreet.tables.plans.bill import text_value, value_of

ROWS, LENGTH = 2_048, 10_000
FEW, MANY = 1, 5
SIGNS = ("x", "é", "\U0001f600")
NAME = FieldValue(ColumnType.TEXT, 1)


def _text(value: str) -> Literal:
    return Literal(ColumnType.TEXT, value)


def _number(value: int) -> Literal:
    return Literal(ColumnType.INTEGER, value)


def _case(value: Expression, i: int) -> Expression:
    return call("case", [call("<>", [NAME, _text(f"q{i}")]), value, NAME])


FUNCTIONS: Mapping[str, Callable[[Expression, int], Expression]] = {
    "nullif": lambda value, i: call("nullif", [value, NAME]),
    "greatest": lambda value, i: call("greatest", [value, _text(f"a{i}")]),
    "least": lambda value, i: call("least", [value, _text(f"\U0001f680{i}")]),
    "case": _case,
    "coalesce": lambda value, i: call("coalesce", [value, NAME]),
    "left": lambda value, i: call("left", [value, _number(9_990 - i)]),
    "right": lambda value, i: call("right", [value, _number(9_990 - i)]),
    "substring": lambda value, i: call("substring", [value, _number(2)]),
    "concat": lambda value, i: call("concat", [value, NAME]),
    "||": lambda value, i: call("||", [value, NAME]),
    "replace": lambda value, i: call("replace", [value, _text("a"), _text("b")]),
    "trim": lambda value, i: call("trim", [value, _text("ab")]),
    "ltrim": lambda value, i: call("ltrim", [value, _text("ab")]),
    "rtrim": lambda value, i: call("rtrim", [value, _text("ab")]),
    "lower": lambda value, i: call("upper" if i % 2 else "lower", [value]),
}


def nested(name: str, levels: int) -> Expression:
    """Return so many calls of a function around a text."""
    value: Expression = FieldValue(ColumnType.TEXT, 0)
    for i in range(levels):
        value = FUNCTIONS[name](value, i)
    return value


def run(name: str, levels: int, sign: str) -> tuple[float, float]:
    """Return the seconds and the mebibytes of nested calls."""
    database = duckdb.connect()
    database.execute("SET threads = 1")
    text = f"repeat('{sign}', {LENGTH - 5}) || i"
    database.execute(f"CREATE TABLE t AS SELECT {text} AS m, 'n' || i AS n FROM range({ROWS}) r(i)")
    database.execute("SELECT count(*) FROM t WHERE hash(m) <> 0").fetchall()
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    sql = expression(nested(name, levels), ["m", "n"])
    database.execute(f"SELECT count(*) FROM t WHERE hash({sql}) <> 0").fetchall()
    seconds = time.process_time() - start
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def counted(name: str, levels: int) -> int:
    """Return the steps that are counted for the text of nested calls, in all rows."""
    fields = [text_value(LENGTH), text_value(5)]
    return ROWS * (value_of(nested(name, levels), fields).steps.each - levels * TEXT.each)


def apart(name: str, levels: int, sign: str) -> tuple[float, float]:
    """Return what nested calls take in a process of their own."""
    command = [sys.executable, __file__, name, str(levels), sign]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, mebibytes = json.loads(found.stdout)
    return seconds, mebibytes


def measured(name: str) -> dict[str, float]:
    """Return what a thousand million steps take, with the dearest sign."""
    steps = counted(name, MANY) - counted(name, FEW)
    pairs = [(apart(name, FEW, sign), apart(name, MANY, sign)) for sign in SIGNS]
    found = [max(many[i] - few[i] for few, many in pairs) * 1e9 / steps for i in (0, 1)]
    return {"seconds": max(1e-3, found[0]), "mebibytes": max(1.0, found[1])}


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(run(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
    else:
        numbers = measured(sys.argv[1])
        print(json.dumps(numbers if sys.argv[2] == "all" else {sys.argv[2]: numbers[sys.argv[2]]}))
