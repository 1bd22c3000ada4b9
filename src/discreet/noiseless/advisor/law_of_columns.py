"""Laws of rows with several numbers, by name: independent columns, or a floor on all together."""

from collections.abc import Mapping
from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.asserted_laws import PublicEnds, row_law
from discreet.noiseless.advisor.law_text import WITHIN, WrittenLaw
from discreet.noiseless.laws.box_density import BoxDensity
from discreet.noiseless.laws.grid_block import GridBlock
from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor
from discreet.noiseless.laws.hidden import Interval, RowLaw
from discreet.noiseless.laws.independent_columns import IndependentColumns

COLUMNS, JOINT = "columns", "joint"
SEVERAL = (COLUMNS, JOINT)
"""What a law of several columns can be called."""


def is_of_columns(law: object) -> bool:
    """Tell whether a law is of rows with several numbers, each with a name."""
    return isinstance(law, WrittenLaw) and law.kind in SEVERAL


def names_of(law: WrittenLaw) -> tuple[str, ...]:
    """Return the columns that a law of several names, in order."""
    return tuple(name for name, one in law.named.items() if isinstance(one, WrittenLaw))


def law_of_columns(law: WrittenLaw, ends: Mapping[str, PublicEnds]) -> RowLaw:
    """Return the law of rows with several numbers, in the order of ``ends``.

    Example:
        >>> from discreet.noiseless.advisor.law_text import read_law
        >>> whole = {name: PublicEnds((Fraction(0), Fraction(9)), Fraction(1)) for name in "ab"}
        >>> apart = read_law("columns(a=uniform(0, 9), b=floor(0.05, 0, 9))")
        >>> law_of_columns(apart, whole).hidden().mass
        Fraction(1, 2)
        >>> together = read_law("joint(0.01, a=within(0, 4), b=within(0, 9))")
        >>> law_of_columns(together, whole).hidden().mass
        Fraction(1, 2)
    """
    if law.kind == JOINT:
        return _joint(law, ends)
    parts = {name: value for name, value in law.named.items() if isinstance(value, WrittenLaw)}
    if law.values or len(parts) < len(law.named):
        raise _not_written(COLUMNS, "columns(hours=uniform(0, 40), score=normal(70, 10))")
    _require_names(parts, ends)
    return IndependentColumns(tuple(row_law(parts[name], ends[name]) for name in ends))


def _joint(law: WrittenLaw, ends: Mapping[str, PublicEnds]) -> RowLaw:
    blocks: dict[str, Interval] = {}
    numbers: dict[str, Fraction] = {}
    for name, value in law.named.items():
        if isinstance(value, WrittenLaw) and value.kind == WITHIN:
            low, high = value.numbers("low", "high").values()
            blocks[name] = (low, high)
        elif isinstance(value, Fraction):
            numbers[name] = value
    least = WrittenLaw(JOINT, law.values, numbers).numbers("least")["least"]
    if len(blocks) + len(numbers) < len(law.named):
        raise _not_written(JOINT, "joint(0.0001, hours=within(0, 40), score=within(20, 80))")
    _require_names(blocks, ends)
    each = [ends[name].between(*blocks[name]) for name in ends]
    boxes = [blocks[name] for name in ends]
    steps = [one.grid for one in ends.values()]
    grid = [step for step in steps if step is not None]
    if not grid:
        return BoxDensity(least, box=boxes, clamps=each)
    if len(grid) < len(steps):
        raise InvalidArgument(
            "Some columns are on a grid, and others are not", must="have a grid each, or none"
        )
    return GridBlock(least, blocks=boxes, clamps=each, steps=grid)


def _require_names(found: Mapping[str, object], ends: Mapping[str, PublicEnds]) -> None:
    if set(found) != set(ends) or len(ends) < 2:
        raise InvalidArgument(
            "The law of several columns is that of each",
            must=f"name {', '.join(ends)}" if len(ends) > 1 else "name two columns or more",
            got=", ".join(found) or "none",
        )


def _not_written(kind: str, example: str) -> InvalidArgument:
    return InvalidArgument(f"The law {kind!r} names its columns", must=f"be such as {example}")


def floor_of(law: RowLaw) -> tuple[Fraction, tuple[Interval, ...]]:
    """Return the least probability of each combination of values, and the blocks of these values.

    Example:
        >>> one = GridFloor("0.1", block=(2, 6), clamps=(0, 9), step=1)
        >>> floor_of(IndependentColumns((one, one)))[0]
        Fraction(1, 100)
    """
    if isinstance(law, GridBlock):
        return law.floor, law.blocks
    floors = [_floor(one) for one in law.laws] if isinstance(law, IndependentColumns) else [None]
    found = [one for one in floors if one is not None]
    if len(found) < len(floors):
        raise InvalidArgument(
            "A regression of rounded values needs a floor",
            must="be joint(least, column=within(low, high), ...), or columns(...) of uniform, "
            "floor, normal or discrete ones",
        )
    floor = Fraction(1)
    for one in found:
        floor *= one.floor
    return floor, tuple(one.block for one in found)


def _floor(law: RowLaw) -> GridFloor | None:
    if isinstance(law, DiscreteLaw):
        return law.floor()
    return law if isinstance(law, GridFloor) else None
