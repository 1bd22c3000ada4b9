"""A process that asks one thing and prints which modules it loaded behind the charge.

Run as a module by a test: what is loaded once is loaded for good, so each asks in one of its own.
"""

import json
import sys
from typing import Any

import discreet
from discreet.core.waiting_modules import is_waiting
from discreet.ledger.chain import Kind
from discreet.ledger.sqlite_transaction import SqliteTransaction

ASKED = {
    "sql": lambda it: it.sql(
        "SELECT clinic, COUNT(DISTINCT note) AS n, AVG(cost) AS a, MEDIAN(age) AS m FROM visits"
        " WHERE day >= DATE '2020-01-05' OR seen > TIMESTAMP '2020-01-01 10:00:00'"
        " GROUP BY clinic ORDER BY n DESC",
        epsilon=1,
    ),
    "found keys": lambda it: it.sql(
        "SELECT note, SUM(cost) AS s FROM visits GROUP BY note", epsilon=1, delta="1e-6"
    ),
    "batch": lambda it: it.batch(
        ["SELECT COUNT(*) AS n FROM visits", "SELECT AVG(age) AS a FROM visits"],
        epsilon=1,
        delta="1e-6",
    ),
    "limits": lambda it: it.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1, limits="auto"),
    "synthesise": lambda it: it.synthesise("visits", columns=["clinic", "cost"], epsilon=1),
    "publish": lambda it: it.publish("visits", columns=["age"], method="tree", epsilon=1),
}
"""What is asked, by its name."""


def loaded() -> set[str]:
    """Return the names of all modules that are loaded and do not wait to be."""
    return {name for name in list(sys.modules) if not is_waiting(name)}


def main(folder: str, asked: str) -> None:
    """Ask, and print the modules that were loaded from the first charge on."""
    before: list[set[str]] = []
    append = SqliteTransaction.append

    def noted(transaction: Any, kind: Kind, payload: dict[str, Any]) -> Any:
        if kind is Kind.RESERVE and not before:
            before.append(loaded())
        return append(transaction, kind, payload)

    SqliteTransaction.append = noted  # type: ignore[assignment, method-assign]
    with discreet.connect(folder) as connection:
        ASKED[asked](connection)
    (until_the_charge,) = before
    print(json.dumps(sorted(loaded() - until_the_charge)))


if __name__ == "__main__":
    main(*sys.argv[1:])
