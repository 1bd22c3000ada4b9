"""Functions between noisy numbers, as their records have them."""

from collections.abc import Mapping

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Calculation, Constant, Estimate
from discreet.tables.arithmetic.between import BetweenNumbers, Kind
from discreet.tables.arithmetic.columns import constant, scalars
from discreet.tables.column import ColumnType
from discreet.tables.functions.call import FUNCTIONS as OF_ROWS
from discreet.tables.functions.cast import CASTS_BETWEEN

FUNCTIONS: Mapping[str, BetweenNumbers] = {
    **{
        name: function.between
        for name, function in OF_ROWS.items()
        if isinstance(function.between, BetweenNumbers)
    },
    **CASTS_BETWEEN,
}
"""Every function that may stand between noisy numbers, by name. Another has no meaning there."""


def calculate(name: str, *arguments: Estimate) -> Estimate:
    """Return the function of the arguments; refuse types that do not fit.

    Example:
        >>> from fractions import Fraction
        >>> half = Constant(ColumnType.REAL, Fraction(1, 2))
        >>> calculate("+", half, half).type
        <ColumnType.REAL: 'real'>
    """
    function = FUNCTIONS[name]
    kinds = [_kind(argument) for argument in arguments]
    fits = function.least <= len(kinds) and (function.most is None or len(kinds) <= function.most)
    returned = function.returns(kinds) if fits else None
    if returned is None:
        raise RefusedQuery(
            f"'{name}' does not go with these values",
            got=", ".join("NULL" if kind is None else kind.value for kind in kinds) or "none",
        )
    if returned is ColumnType.REAL:
        name = _AMONG_REALS.get(name, name)
    constants = [constant(a.value, 1) for a in arguments if isinstance(a, Constant)]
    if len(constants) == len(arguments):
        (value,) = scalars(FUNCTIONS[name].value(*constants))
        return Constant(returned, value)
    return Calculation(returned, name, arguments)


_AMONG_REALS = {"//": "/"}
"""What a name means if a number that is not whole takes part, as DuckDB has it."""


def _kind(estimate: Estimate) -> Kind:
    is_null = isinstance(estimate, Constant) and estimate.value is None
    return None if is_null else estimate.type
