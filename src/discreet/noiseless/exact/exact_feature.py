"""One number of an exact release: what the engine adds up, and what one of its integers is worth.

A product is of whole steps from public centres: both values are put on their grids first, and the
product of two whole numbers is one. So the engine's integers are exact there too.
"""

import json
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.numbers import written
from discreet.noiseless.regression.coefficients import NoLine, ReleasedMoments, line_of
from discreet.noiseless.regression.grid_design import GridColumn, GridDesign
from discreet.noiseless.regression.grid_product import product_span
from discreet.noiseless.regression.grid_regression import grid_parts
from discreet.noiseless.regression.row_moments import RowMoment
from discreet.tables.column import Bounds, Column, ColumnType, Key
from discreet.tables.exact_declaration import ExactDeclaration
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.plans.aggregate import Aggregate, CountRows
from discreet.tables.plans.sums import SumValues, middle


@frozen(kw_only=True)
class ExactFeature:
    """One number of a release: what the engine adds up, and what it is worth.

    Attributes:
        text: What it is, canonically: equal for what is equal, clamps and grid included.
        shown: What people read.
        aggregate: What the engine adds up.
        step: What one of its integers is worth.
        middle: What a row that is not there counts as, in steps.
        part: The one part of the split that it is taken of; None if it is of all that are meant.
    """

    text: str
    shown: str
    aggregate: Aggregate
    step: Fraction = Fraction(1)
    middle: int = 0
    part: str | None = None

    @property
    def name(self) -> str:
        """What it is, with the part that it is of."""
        return self.text if self.part is None else f"{self.text} of {self.part}"


def bounds_of(column: Column) -> Bounds:
    """Return the range that a column of numbers has."""
    assert column.bounds is not None  # or the declaration would have been refused
    return column.bounds


def total(column: Column, place: int, part: str | None = None) -> ExactFeature:
    """Return the total of a column."""
    bounds = bounds_of(column)
    centre = middle(bounds)
    value = FieldValue(column.type, place)
    return ExactFeature(
        text=f"sum({column.name} in {_written(bounds)})",
        shown=column.name if part is None else f"sum of {column.name} ({part})",
        aggregate=SumValues(value=value, bounds=bounds, centre=centre),
        step=bounds.step,
        middle=centre,
        part=part,
    )


def counted(column: Column, values: Sequence[Key]) -> ExactFeature:
    """Return how many rows have one of some values."""
    value = FieldValue(column.type, 0)
    where = call("in", [value, *(Literal(column.type, key) for key in values)])
    return ExactFeature(
        text=count_text(column.name, values),
        shown=f"{column.name} is {_listed(values)}",
        aggregate=CountRows(where=where),
    )


def count_text(column: str, values: Sequence[Key]) -> str:
    """Return what a count is, canonically.

    Example:
        >>> count_text("grade", ["b", "a"])
        'count(grade in {a, b})'
    """
    return f"count({column} in {{{_listed(values)}}})"


def _listed(values: Sequence[Key]) -> str:
    return ", ".join(sorted(_in_list(str(key)) for key in values))


def regression_features(
    declared: ExactDeclaration, columns: Sequence[Column]
) -> tuple[ExactFeature, ...]:
    """Return the moments of a line, each with the part that it is taken of."""
    places = {column.name: (place, column) for place, column in enumerate(columns)}
    found = []
    moments = grid_parts(plain_design(declared, columns))
    for part, together in zip(declared.parts, moments, strict=True):
        for moment in together:
            if len(moment.factors) == 1:
                place, column = places[moment.factors[0]]
                found.append(total(column, place, part))
            else:
                found.append(_product(moment, places, declared.has_intercept, part))
    return tuple(found)


def plain_design(declared: ExactDeclaration, columns: Sequence[Column]) -> GridDesign:
    """Return the design of a line whose rows are anything between their clamps."""
    made = [grid_column(column, has_intercept=declared.has_intercept) for column in columns]
    # Nothing is asserted here: it is said which averages there are, and no law.
    floor = Fraction(1)
    for one in made:
        floor /= one.points
    return GridDesign(
        regressors=made[:-1], outcome=made[-1], floor=floor, has_intercept=declared.has_intercept
    )


def grid_column(
    column: Column, *, has_intercept: bool, block: tuple[Fraction, Fraction] | None = None
) -> GridColumn:
    """Return a declared column as a line has it, with the block of its law if that is known."""
    bounds = bounds_of(column)
    clamps = bounds.lower, bounds.upper
    return GridColumn(
        name=column.name,
        clamps=clamps,
        block=clamps if block is None else block,
        step=bounds.step,
        centre=_centre(bounds, has_intercept=has_intercept) * bounds.step,
    )


def released_line(
    declared: ExactDeclaration, columns: Sequence[Column], sums: Sequence[Fraction]
) -> dict[str, Fraction | None]:
    """Return slopes and intercept from the sums of the moments; None where there is no line.

    Plain sums are of values as they are, and products of values less their centres.
    """
    design, rows = plain_design(declared, columns), declared.rows
    moments = [moment for together in grid_parts(design) for moment in together]
    centred = dict(zip(moments, sums, strict=True))
    for column in design.columns if design.has_intercept else ():
        centred[RowMoment((column.name,))] -= rows * column.centre
    line = line_of(design, ReleasedMoments.of(centred, rows))
    names = [f"slope of {one.name}" for one in design.regressors]
    constant = ["intercept"] if design.has_intercept else []
    if isinstance(line, NoLine):
        return dict.fromkeys((*names, *constant))
    slopes = {f"slope of {name}": value for name, value in line.slopes.items()}
    return {**slopes, **dict.fromkeys(constant, line.intercept)}


def _centre(bounds: Bounds, *, has_intercept: bool) -> int:
    return middle(bounds) if has_intercept else 0


def _product(
    moment: RowMoment, places: dict[str, tuple[int, Column]], has_intercept: bool, part: str
) -> ExactFeature:
    chosen = [places[name] for name in moment.factors]
    bounds = [bounds_of(column) for _, column in chosen]
    centres = [_centre(one, has_intercept=has_intercept) for one in bounds]
    ranges = [
        (one.lower_steps - centre, one.upper_steps - centre)
        for one, centre in zip(bounds, centres, strict=True)
    ]
    low, high = product_span(ranges[:1] if moment.is_square else ranges)
    value = call("*", [_steps(*one, c) for one, c in zip(chosen, centres, strict=True)])
    inserted = (low + high) // 2
    texts = [
        f"{column.name} less {written(centre * grid.step)}"
        for (_, column), grid, centre in zip(chosen, bounds, centres, strict=True)
    ]
    grids = " and ".join(map(_written, bounds))
    return ExactFeature(
        text=f"sum(({texts[0]}) ({texts[1]}) in {grids})",
        shown=f"sum of ({') ('.join(text.replace(' less ', ' - ') for text in texts)}) ({part})",
        aggregate=SumValues(
            value=value, bounds=Bounds(lower=low, upper=high, step=1), centre=inserted
        ),
        step=bounds[0].step * bounds[1].step,
        middle=inserted,
        part=part,
    )


def _steps(place: int, column: Column, centre: int) -> Expression:
    """Return a value in whole steps from a centre: clamped, divided, and rounded half up."""
    bounds, value = bounds_of(column), FieldValue(column.type, place)
    if column.type is ColumnType.INTEGER and bounds.step == 1:
        ends = [Literal(ColumnType.INTEGER, int(one)) for one in (bounds.lower, bounds.upper)]
        inside = call("clamp", [value, *ends])
        return call("-", [inside, Literal(ColumnType.INTEGER, centre)])

    def real(number: Fraction) -> Literal:
        return Literal(ColumnType.REAL, str(number))

    inside = call("clamp", [value, real(bounds.lower), real(bounds.upper)])
    divided = call("/", [inside, real(bounds.step)])
    rounded = call("floor", [call("+", [divided, real(Fraction(1, 2))])])
    return call("-", [rounded, real(Fraction(centre))])


def _written(bounds: Bounds) -> str:
    return f"{written(bounds.lower)}..{written(bounds.upper)} by {written(bounds.step)}"


def _in_list(key: str) -> str:
    """Return a key as it stands in a list: quoted if it could be taken for two of them."""
    return json.dumps(key, ensure_ascii=False) if set(key) & set(',"{}') else key
