"""Polynomials of a row's columns, exactly: what is averaged, and what is declared to be related."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import field, frozen

from discreet.core.numbers import Number, exact

Powers = tuple[tuple[str, int], ...]
"""Columns and their exponents, sorted, none of them 0. The constant has none."""


def _terms(terms: Mapping[Powers, Number]) -> Mapping[Powers, Fraction]:
    found = {powers: exact(number) for powers, number in terms.items()}
    return {powers: found[powers] for powers in sorted(found) if found[powers]}


@frozen
class Polynomial:
    """A polynomial with rational coefficients.

    Example:
        >>> g, h = Polynomial.of("g"), Polynomial.of("h")
        >>> str(g * g + g * h * 2 + 1)
        '1 + 2 g h + g^2'
        >>> str((g * g * h).slope("g"))
        '2 g h'
    """

    terms: Mapping[Powers, Fraction] = field(converter=_terms)

    @staticmethod
    def of(column: str) -> "Polynomial":
        """Return a column by itself."""
        return Polynomial({((column, 1),): Fraction(1)})

    @staticmethod
    def constant(value: Number) -> "Polynomial":
        """Return a number."""
        return Polynomial({(): exact(value)})

    def __add__(self, other: "Polynomial | Number") -> "Polynomial":
        terms = dict(self.terms)
        for powers, number in _polynomial(other).terms.items():
            terms[powers] = terms.get(powers, Fraction(0)) + number
        return Polynomial(terms)

    def __mul__(self, other: "Polynomial | Number") -> "Polynomial":
        terms: dict[Powers, Fraction] = {}
        for left, a in self.terms.items():
            for right, b in _polynomial(other).terms.items():
                powers = _together(left, right)
                terms[powers] = terms.get(powers, Fraction(0)) + a * b
        return Polynomial(terms)

    @property
    def columns(self) -> frozenset[str]:
        """Which columns are in it."""
        return frozenset(column for powers in self.terms for column, _ in powers)

    @property
    def degree(self) -> int:
        """The largest sum of exponents."""
        return max((sum(power for _, power in powers) for powers in self.terms), default=0)

    def slope(self, column: str) -> "Polynomial":
        """Return the derivative."""
        terms: dict[Powers, Fraction] = {}
        for powers, number in self.terms.items():
            power = dict(powers).get(column, 0)
            if power:
                rest = _together(powers, ((column, -1),))
                terms[rest] = number * power
        return Polynomial(terms)

    def at(self, point: Mapping[str, Fraction]) -> Fraction:
        """Return the value at a point."""
        total = Fraction(0)
        for powers, number in self.terms.items():
            for column, power in powers:
                number *= point[column] ** power
            total += number
        return total

    def with_columns(self, columns: Mapping[str, "Polynomial"]) -> "Polynomial":
        """Return it with other polynomials in the place of columns."""
        total = Polynomial({})
        for powers, number in self.terms.items():
            product = Polynomial.constant(number)
            for column, power in powers:
                for _ in range(power):
                    product = product * columns.get(column, Polynomial.of(column))
            total = total + product
        return total

    def __str__(self) -> str:
        return " + ".join(map(_shown, self.terms.items())) or "0"


def _polynomial(value: "Polynomial | Number") -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.constant(value)


def _together(left: Powers, right: Powers) -> Powers:
    powers = dict(left)
    for column, power in right:
        powers[column] = powers.get(column, 0) + power
    return tuple(sorted((column, power) for column, power in powers.items() if power))


def _shown(term: tuple[Powers, Fraction]) -> str:
    powers, number = term
    names = " ".join(column if power == 1 else f"{column}^{power}" for column, power in powers)
    if not names:
        return str(number)
    return names if number == 1 else f"{number} {names}"


def rank_of(matrix: Sequence[Sequence[Fraction]]) -> int:
    """Return the rank of a matrix, exactly.

    Example:
        >>> rank_of([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]])
        1
    """
    work = [list(row) for row in matrix]
    rank = 0
    for column in range(len(work[0]) if work else 0):
        found = next((r for r in range(rank, len(work)) if work[r][column]), None)
        if found is None:
            continue
        work[rank], work[found] = work[found], work[rank]
        for index in range(rank + 1, len(work)):
            factor = work[index][column] / work[rank][column]
            work[index] = [a - factor * b for a, b in zip(work[index], work[rank], strict=True)]
        rank += 1
    return rank


def spans(chosen: Sequence[Polynomial], other: Polynomial) -> bool:
    """Tell whether a polynomial is a combination of others.

    Example:
        >>> g, one = Polynomial.of("g"), Polynomial.constant(1)
        >>> spans([g * 2, one], g + 5), spans([g * 2], g + 5), spans([g, one], g * g)
        (True, False, False)
    """
    every = (*chosen, other)
    terms = sorted({powers for one in every for powers in one.terms})
    matrix = [[one.terms.get(powers, Fraction(0)) for powers in terms] for one in every]
    return rank_of(matrix) == rank_of(matrix[:-1])
