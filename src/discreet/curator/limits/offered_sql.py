"""SQL that an explanation offers: written so that it is accepted, and means what is said of it."""

from decimal import Context, Decimal
from fractions import Fraction

from discreet.core.loss import short
from discreet.sql.parse import read_tokens
from discreet.sql.syntax.nodes import token_kind
from discreet.tables.column import Bounds
from discreet.tables.relations.relation import Field

_DIGITS = 60


def name_in_sql(name: str) -> str:
    """Return a name as a query has it: in quotation marks where it would be taken for more.

    Example:
        >>> name_in_sql("cost"), name_in_sql("total cost"), name_in_sql("desc")
        ('cost', '"total cost"', '"desc"')
    """
    tokens = read_tokens(name) if name.isidentifier() else []
    is_plain = len(tokens) == 1 and token_kind(tokens[0]) == "VAR"
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def number_in_sql(number: Fraction) -> str:
    """Return a number with all its decimals: a rounded one may be off the grid.

    Example:
        >>> number_in_sql(Fraction("12345678.25")), number_in_sql(Fraction(20_000_000_000))
        ('12345678.25', '20000000000')
    """
    exactly = Context(prec=_DIGITS).divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{exactly:f}" if Fraction(exactly) == number else short(number)


def value_in_sql(field: Field, grid: Bounds) -> str:
    """Return a field with the clamp that gives it a grid, if the declared one is another."""
    name, declared = name_in_sql(field.name), field.bounds
    if declared == grid:
        return name
    ends = f"{number_in_sql(grid.lower)}, {number_in_sql(grid.upper)}"
    is_usual = declared is not None and declared.step == grid.step
    step = "" if is_usual else f", {number_in_sql(grid.step)}"
    return f"CLAMP({name}, {ends}{step})"
