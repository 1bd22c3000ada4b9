"""Choices among exact releases in ``discreet.toml``: thresholds, majorities, the most common key.

.. code-block:: toml

    [exact.most-passed]
    table = "exams"
    statistic = "majority"
    columns = ["passed"]
    rows = 4000
    rows_exact = true
    law = "bernoulli(0.6)"
    epsilon = 0.1
    delta = 1e-9
    assurance = "The law is from the report on last year's exams; nobody has looked at these."
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.core.errors import DeclarationError
from discreet.core.numbers import exact, written
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.section import NUMBER, TEXT, Section, located
from discreet.tables.exact_declaration import ExactDeclaration, ExactKind

_NOT_BUILT = {
    "sign": (
        "has three outcomes, and what is certified has two",
        "Declare a threshold of the total, such as threshold = 0",
    ),
    "map": (
        "compares sums of logarithms, which the gate does not compute exactly",
        "Certify it with 'discreet certify map', or declare a threshold of a count",
    ),
}


def require_buildable(section: Section) -> None:
    """Refuse by name what can be certified and does not go through the gate."""
    found = section.get("statistic", TEXT)
    if found in _NOT_BUILT:
        because, instead = _NOT_BUILT[found]
        raise DeclarationError(
            f"{section.place('statistic')} is '{found}', which cannot be published: it {because}",
            must="be another statistic",
            next=instead,
        )


def counts_values(section: Section, kind: ExactKind, columns: Sequence[Column]) -> bool:
    """Tell whether rows with some values are counted; else a threshold is of a total."""
    if kind is ExactKind.THRESHOLD:
        is_total = columns[0].bounds is not None and columns[0].type is not ColumnType.BOOLEAN
        return section.has("values") or not is_total
    return kind in (ExactKind.COUNT, ExactKind.MAJORITY)


def read_threshold(section: Section, kind: ExactKind) -> Fraction | None:
    """Return the least number that says yes, of a threshold."""
    if kind is not ExactKind.THRESHOLD:
        return None
    value = section.get("threshold", NUMBER)
    return located(section.place("threshold"), lambda: exact(value))


def require_whole_choice(
    section: Section, made: ExactDeclaration, columns: Sequence[Column]
) -> None:
    """Refuse a choice of which the answer is certain, or whose number of rows is left open."""
    if made.is_choice_by_counts != made.has_exact_rows:
        raise _rows(section, made)
    if made.kind is not ExactKind.THRESHOLD:
        return
    if len(made.columns) != 1:
        raise DeclarationError(
            f"{section.place('columns')} names several",
            must="name one, of which the count or total is compared",
        )
    least, bounds = made.least_yes, columns[0].bounds
    if made.is_choice_by_counts:
        is_open = least.denominator == 1 and 1 <= least <= made.rows
        must = f"be a whole number from 1 to the {made.rows:,} rows"
    else:
        assert bounds is not None  # or it would have been refused
        is_open = made.rows * bounds.lower < least <= made.rows * bounds.upper
        must = f"be above the least total of {made.rows:,} rows, and at most the largest"
    if not is_open:
        raise DeclarationError(
            f"{section.place('threshold')} is out of range",
            must=f"{must}, or the answer is known before",
            got=written(least),
        )


def _rows(section: Section, made: ExactDeclaration) -> DeclarationError:
    if made.has_exact_rows:
        return DeclarationError(
            f"{section.place('rows_exact')} is for choices by counts alone",
            must="be left out: more rows than declared do no harm here",
        )
    return DeclarationError(
        f"{section.place('rows_exact')} is not true",
        must=f"be true, which asserts that there are exactly {made.rows:,} rows with a unit",
        next="A count comes near what decides with more rows as it does with fewer, so that the "
        "certificate holds for this number alone. If you do not know it, ask with noise",
    )
