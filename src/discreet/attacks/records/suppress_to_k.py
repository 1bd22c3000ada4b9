"""A baseline to defeat: rows made k-anonymous by leaving columns and rows out."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.attacks.records.coded_rows import CodedColumn, CodedRows
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


@frozen(kw_only=True, eq=False)
class AnonymisedRows:
    """What is left of rows that were made k-anonymous."""

    rows: CodedRows
    hidden: tuple[str, ...]
    """Columns whose values were all suppressed."""
    dropped: int
    """How many rows were left out."""


def suppress_to_k(
    rows: CodedRows, *, quasi: Sequence[str], k: int, most_dropped: Number = Fraction(1, 20)
) -> AnonymisedRows:
    """Return rows of which at least ``k`` agree in every class, and no promise beyond that.

    Columns are suppressed one after the other, each time the one without which the fewest rows are
    in small classes, until at most ``most_dropped`` of the rows are; these are left out.

    Guarantee:
        Leaving out all rows of a small class changes no other class, so every class that is left
        has ``k`` rows or more [Swe02]. It ends, because without any column all rows are one class.
        This is no privacy: classes may share one sensitive value
        (:func:`~discreet.attacks.records.class_report.find_homogeneous`), two such releases
        intersect, and whoever knows something else tells rows apart by it.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"zip": [1, 1, 2, 2, 3], "born": [1, 2, 3, 4, 5]})
        >>> made = suppress_to_k(rows, quasi=["zip", "born"], k=2, most_dropped="0.2")
        >>> made.hidden, made.dropped, made.rows.class_sizes(["zip", "born"]).tolist()
        (('born',), 1, [2, 2, 2, 2])
    """
    least, share = check.at_least_one(k, "k"), exact(most_dropped)
    if not 0 <= share <= 1 or not quasi:
        raise InvalidArgument(
            "This cannot be made k-anonymous",
            must="have a share from 0 to 1, and one quasi-identifier or more",
        )
    if rows.rows < least:
        raise InvalidArgument(
            "There are too few rows", must=f"be {least:,} or more", next="Choose a smaller k"
        )
    for name in quasi:
        rows.column(name)
    kept = list(quasi)
    while kept and _in_small(rows, kept, least) > share * rows.rows:
        kept.remove(
            min(kept, key=lambda name: _in_small(rows, [it for it in kept if it != name], least))
        )
    hidden = tuple(name for name in quasi if name not in kept)
    places = np.flatnonzero(rows.class_sizes(kept) >= least)
    left = rows.take(places)
    nothing = CodedColumn(codes=np.zeros(left.rows, dtype=np.int64), values=(None,))
    columns = {name: nothing if name in hidden else one for name, one in left.columns.items()}
    return AnonymisedRows(
        rows=CodedRows(columns=columns, rows=left.rows),
        hidden=hidden,
        dropped=rows.rows - left.rows,
    )


def _in_small(rows: CodedRows, names: Sequence[str], k: int) -> int:
    """Return how many rows are in classes of fewer than k."""
    return int((rows.class_sizes(names) < k).sum())
