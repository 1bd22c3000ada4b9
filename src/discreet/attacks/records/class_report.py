"""What rows that look alike give away together: k-anonymity and its repairs, and how they fail."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.records.coded_rows import CodedRows
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import lines

MOST_CELLS = 50_000_000


@frozen(kw_only=True)
class AnonymityReport:
    """How alike the rows of a class are, in the classical measures. None of them is a guarantee."""

    k: int
    """The fewest rows that agree in all quasi-identifiers."""
    classes: int
    distinct: int
    """The fewest different sensitive values of a class: distinct ℓ-diversity."""
    entropy: float
    """e to the least entropy of a class: entropy ℓ-diversity."""
    closeness: Fraction
    """The furthest that a class is from all rows in its sensitive values: the t of t-closeness."""

    def __str__(self) -> str:
        """Return the measures in a sentence."""
        return lines(
            f"{self.classes:,} classes: k = {self.k:,}, {self.distinct} different sensitive values "
            f"or more (ℓ = {self.entropy:.3g} by entropy), t = {float(self.closeness):.3g}. "
            "These are properties of a table, and no bound on what can be learnt from it."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the measures for other programs."""
        return {
            "k": self.k,
            "classes": self.classes,
            "distinct_l": self.distinct,
            "entropy_l": self.entropy,
            "t": float(self.closeness),
        }


@frozen(kw_only=True, eq=False, repr=False)
class ClassCells:
    """How often each sensitive value occurs in each class, where it does."""

    group: IntArray
    value: IntArray
    count: IntArray
    sizes: IntArray
    totals: IntArray


def class_cells(
    rows: CodedRows, quasi: Sequence[str], sensitive: str
) -> tuple[ClassCells, IntArray]:
    """Return the cells of every class, and a row of each class."""
    if not quasi or sensitive in quasi:
        raise InvalidArgument(
            "The columns overlap, or there are none",
            must="be one quasi-identifier or more, and a sensitive column that is not one of them",
        )
    column = rows.column(sensitive)
    width = len(column.values)
    _, first, inverse, sizes = np.unique(
        rows.keys(quasi), return_index=True, return_inverse=True, return_counts=True
    )
    pairs, count = np.unique(inverse * np.int64(width) + column.codes, return_counts=True)
    found = ClassCells(
        group=pairs // width,
        value=pairs % width,
        count=count.astype(np.int64),
        sizes=sizes.astype(np.int64),
        totals=np.bincount(column.codes, minlength=width),
    )
    return found, first.astype(np.int64)


def report_anonymity(
    rows: CodedRows, *, quasi: Sequence[str], sensitive: str, is_ordered: bool = False
) -> AnonymityReport:
    r"""Return how far rows are k-anonymous, ℓ-diverse and t-close.

    Guarantee:
        The measures are as they are defined: k is the size of the smallest class [Swe02]; ℓ the
        fewest different sensitive values of a class, or :math:`e^H` of the least entropy
        [MKGV07]; t the largest distance of a class from all rows [LLV07]. The distance is that in
        variation, or, with ``is_ordered``, the earth mover's: the sum of the differences of the
        cumulative shares over one less than the number of values. k, ℓ and t are exact, the
        entropy is a float.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"zip": [1, 1, 2, 2], "ill": ["a", "b", "a", "a"]})
        >>> report = report_anonymity(rows, quasi=["zip"], sensitive="ill")
        >>> report.k, report.distinct, report.closeness
        (2, 1, Fraction(1, 4))
    """
    cells, _ = class_cells(rows, quasi, sensitive)
    different = np.bincount(cells.group, minlength=cells.sizes.size)
    shares = cells.count / cells.sizes[cells.group]
    entropies = np.bincount(cells.group, weights=-shares * np.log(shares))
    if is_ordered:
        distances = _moved(cells, np.array(_order(rows, sensitive), dtype=np.int64))
        scale = rows.rows * max(1, cells.totals.size - 1)
    else:
        distances = _varied(cells, rows.rows)
        scale = rows.rows
    return AnonymityReport(
        k=int(cells.sizes.min()),
        classes=int(cells.sizes.size),
        distinct=int(different.min()),
        entropy=math.exp(max(0.0, float(entropies.min()))),
        closeness=_largest(distances, cells.sizes) / scale,
    )


def _largest(numerators: IntArray, denominators: IntArray) -> Fraction:
    """Return the largest ratio exactly: of those that are largest up to rounding."""
    ratios = numerators / denominators
    near = np.flatnonzero(ratios >= ratios.max() * (1 - 1e-9))
    return max(
        Fraction(above, below)
        for above, below in zip(numerators[near].tolist(), denominators[near].tolist(), strict=True)
    )


def _varied(cells: ClassCells, rows: int) -> IntArray:
    """Return the distances in variation, times the number of rows and the size of the class.

    Half the sum of differences is the sum of those above 0, and a value that a class does not have
    is never above.
    """
    over = cells.count * np.int64(rows) - cells.totals[cells.value] * cells.sizes[cells.group]
    total = np.zeros(cells.sizes.size, dtype=np.int64)
    np.add.at(total, cells.group, np.maximum(over, 0))
    return total


def _order(rows: CodedRows, sensitive: str) -> list[int]:
    values = rows.column(sensitive).values
    try:
        return sorted(range(len(values)), key=lambda place: values[place])
    except TypeError:
        raise InvalidArgument(
            f"The values of {sensitive} have no order", must="be numbers or texts, without NULL"
        ) from None


def _moved(cells: ClassCells, order: IntArray) -> IntArray:
    """Return the earth mover's distances, times rows, class size and one less than the values."""
    groups, width = cells.sizes.size, cells.totals.size
    if groups * width > MOST_CELLS:
        raise InvalidArgument(
            "There are too many classes and values for an ordered distance",
            must=f"have at most {MOST_CELLS:,} as their product",
            got=f"{groups * width:,}",
        )
    counts = np.zeros((groups, width), dtype=np.int64)
    counts[cells.group, cells.value] = cells.count
    upto = np.cumsum(counts[:, order], axis=1)
    expected = np.cumsum(cells.totals[order])
    moved: IntArray = np.abs(upto * expected[-1] - expected * cells.sizes[:, None]).sum(axis=1)
    return moved


@frozen(kw_only=True, eq=False, repr=False)
class HomogeneousClasses:
    """Classes whose rows all have one sensitive value: who is in them has it. Private."""

    first: IntArray
    """A row of each such class."""
    sizes: IntArray
    rows: int

    @property
    def exposed(self) -> int:
        """How many rows are in such classes."""
        return int(self.sizes.sum())

    def __str__(self) -> str:
        """Return how many rows are exposed, and nobody's value."""
        share = f"{self.exposed / self.rows:.1%}"
        return (
            f"{self.exposed:,} of {self.rows:,} rows ({share}) are in {self.first.size:,} classes "
            "with one sensitive value: whoever is in them is known to have it."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the number of classes and rows for other programs."""
        return {"classes": int(self.first.size), "exposed": self.exposed, "rows": self.rows}


def find_homogeneous(
    rows: CodedRows, *, quasi: Sequence[str], sensitive: str
) -> HomogeneousClasses:
    """Return the classes that give their sensitive value away, however large they are.

    Guarantee:
        Whoever knows the quasi-identifiers of somebody in the data knows the class, and so the
        value, with no need to know the row [MKGV07]. k-anonymity says nothing about
        this: k equal rows are k-anonymous.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"zip": [1, 1, 2, 2], "ill": ["a", "b", "c", "c"]})
        >>> find_homogeneous(rows, quasi=["zip"], sensitive="ill").exposed
        2
    """
    cells, first = class_cells(rows, quasi, sensitive)
    alone = np.flatnonzero(np.bincount(cells.group, minlength=cells.sizes.size) == 1)
    return HomogeneousClasses(first=first[alone], sizes=cells.sizes[alone], rows=rows.rows)


def sensitive_candidates(
    rows: CodedRows, *, known: Mapping[str, Any], sensitive: str, without: Iterable[Any] = ()
) -> frozenset[Any]:
    """Return the sensitive values that somebody with these quasi-identifiers can have.

    A value that is suppressed (NULL) agrees with anything. ``without`` are values that the
    adversary can rule out. The candidates of two releases intersect: both hold the truth.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> one = code_rows({"zip": [1, 1, 2], "ill": ["a", "b", "c"]})
        >>> two = code_rows({"age": [40, 40, 50], "ill": ["b", "c", "a"]})
        >>> sorted(
        ...     sensitive_candidates(one, known={"zip": 1}, sensitive="ill")
        ...     & sensitive_candidates(two, known={"age": 40}, sensitive="ill")
        ... )
        ['b']
    """
    agrees = np.ones(rows.rows, dtype=np.bool_)
    for name, value in known.items():
        column = rows.column(name)
        fits = np.array([one is None or one == value for one in column.values], dtype=np.bool_)
        agrees &= fits[column.codes]
    return frozenset(rows.values(sensitive, np.flatnonzero(agrees))) - frozenset(without)
