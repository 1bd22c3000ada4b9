"""What classes give away to somebody who knows a little more than the quasi-identifiers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.records.class_report import class_cells, find_homogeneous
from discreet.attacks.records.coded_rows import CodedRows
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.terminal_text import text_table


@frozen(kw_only=True)
class BackgroundExposure:
    """How many rows are given away to whoever can rule some sensitive values out."""

    rows: int
    exposed: tuple[int, ...]
    """How many rows are, by the number of values that can be ruled out; none at first."""

    def __str__(self) -> str:
        """Return the numbers as a table."""
        return text_table(
            ["values ruled out", "rows given away", "share"],
            [
                [str(facts), f"{count:,}", f"{count / self.rows:.1%}"]
                for facts, count in enumerate(self.exposed)
            ],
        )

    def to_json(self) -> dict[str, Any]:
        """Return the numbers for other programs."""
        return {"rows": self.rows, "exposed": list(self.exposed)}


def rule_out(
    rows: CodedRows, *, quasi: Sequence[str], sensitive: str, most: int = 3
) -> BackgroundExposure:
    """Return how many rows lose their secret to somebody who can rule values out.

    Guarantee:
        Whoever knows that a person in a class of m different sensitive values does not have m - 1
        of them knows which one it is [MKGV07]. The number of rows is exact, for the
        best choice of what is known; so distinct diversity is the number of such facts that a class
        survives, and no more.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"zip": [1, 1, 2, 2], "ill": ["a", "b", "c", "c"]})
        >>> rule_out(rows, quasi=["zip"], sensitive="ill").exposed
        (2, 4, 4, 4)
    """
    cells, _ = class_cells(rows, quasi, sensitive)
    different = np.bincount(cells.group, minlength=cells.sizes.size)
    facts = check.whole(most)
    if facts < 0:
        raise InvalidArgument("most is out of range", must="be at least 0", got=str(facts))
    exposed = tuple(int(cells.sizes[different <= known + 1].sum()) for known in range(facts + 1))
    return BackgroundExposure(rows=rows.rows, exposed=exposed)


@frozen(kw_only=True)
class AuxiliaryColumn:
    """What one more column tells that nobody declared as a quasi-identifier."""

    column: str
    k: int
    alone: int
    """How many rows stand alone with it."""
    exposed: int
    """How many rows share their one sensitive value with all that look alike."""


@frozen(kw_only=True)
class AuxiliaryExposure:
    """What each column that is published beside the quasi-identifiers adds to them."""

    rows: int
    columns: tuple[AuxiliaryColumn, ...]

    def __str__(self) -> str:
        """Return the columns as a table, or say that there are none."""
        if not self.columns:
            return "No other column is published beside the quasi-identifiers."
        return text_table(
            ["known too", "k", "rows alone", "rows given away"],
            [
                [one.column, f"{one.k:,}", f"{one.alone:,}", f"{one.exposed:,}"]
                for one in self.columns
            ],
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Return the columns for other programs."""
        return [
            {"column": one.column, "k": one.k, "alone": one.alone, "exposed": one.exposed}
            for one in self.columns
        ]


def know_more(rows: CodedRows, *, quasi: Sequence[str], sensitive: str) -> AuxiliaryExposure:
    """Return what each other column tells an adversary who knows it beside the quasi-identifiers.

    Guarantee:
        k-anonymity holds for the columns that were declared [Gro14, section 2.4]. Whoever knows one
        more column of a person finds a class within the class, whose size and values are counted
        exactly. Columns that single out most rows come first.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"zip": [1, 1], "day": [3, 4], "ill": ["a", "b"]})
        >>> know_more(rows, quasi=["zip"], sensitive="ill").columns[0].alone
        2
    """
    found = []
    for name in rows.columns:
        if name in quasi or name == sensitive:
            continue
        wider = [*quasi, name]
        sizes = rows.class_sizes(wider)
        alike = find_homogeneous(rows, quasi=wider, sensitive=sensitive)
        found.append(
            AuxiliaryColumn(
                column=name,
                k=int(sizes.min()),
                alone=int((sizes == 1).sum()),
                exposed=alike.exposed,
            )
        )
    ordered = sorted(found, key=lambda one: (-one.alone, -one.exposed))
    return AuxiliaryExposure(rows=rows.rows, columns=tuple(ordered))
