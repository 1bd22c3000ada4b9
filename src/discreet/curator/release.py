"""A release: the public answer, with its error bars, its cost and its receipt."""

from fractions import Fraction
from html import escape
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument, LedgerError
from discreet.core.loss import PrivacyLoss, loss_from_json
from discreet.core.numbers import Number, exact
from discreet.curator.noise import read_noise
from discreet.curator.publish import FORMAT
from discreet.curator.question import KeyColumn, OutputColumn
from discreet.curator.text_table import text_table
from discreet.ledger.receipt import Receipt

Cell = str | int | float | bool

CONFIDENCE = Fraction(19, 20)
"""How often one value's noise stays within its error bar, unless another share is asked for."""


@frozen(kw_only=True)
class Release:
    """The public answer to one question.

    Values are noisy: a count can be negative, and error bars are about the noise alone (95 % of the
    time, for each value by itself). They do not include what the limits and clamps left out.
    """

    outputs: tuple[OutputColumn, ...]
    body: dict[str, Any] = field(repr=False)
    receipt: Receipt
    is_stored: bool = False
    """Whether this is an earlier release given again, which costs nothing more."""

    def __attrs_post_init__(self) -> None:
        """Refuse a body of a layout that we do not know."""
        if self.body.get("format") != FORMAT:
            raise LedgerError("The stored release is of an unknown format", must=f"be {FORMAT}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        return tuple(output.name for output in self.outputs)

    @property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The answer, one row for each public key."""
        keys = self.body["keys"]["rows"]
        return tuple(
            tuple(self._cell(output, key, place) for output in self.outputs)
            for place, key in enumerate(keys)
        )

    @property
    def cost(self) -> PrivacyLoss:
        """What the release cost when it was made."""
        return loss_from_json(self.body["cost"])

    def error(self, name: str, confidence: Number = CONFIDENCE) -> int | float:
        """Return the error bar of output ``name``: the noise is within ± it, that often."""
        noisy = [output for output in self.outputs if not isinstance(output, KeyColumn)]
        for output in noisy:
            if output.name == name:
                return self._error(output, exact(confidence))
        raise InvalidArgument(
            f"No noisy output is called '{name}'",
            must=f"be one of {', '.join(output.name for output in noisy)}",
        )

    def errors(self) -> dict[str, int | float]:
        """Return the 95 % error bar of every noisy output."""
        noisy = [output for output in self.outputs if not isinstance(output, KeyColumn)]
        return {output.name: self._error(output, CONFIDENCE) for output in noisy}

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        return optional.load("pyarrow").Table.from_pylist(self.to_dicts())

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        return optional.load("pandas").DataFrame(self.to_dicts(), columns=list(self.columns))

    def to_json(self) -> dict[str, Any]:
        """Return everything that is public about the release."""
        return {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "errors": {"confidence": float(CONFIDENCE), "half_width": self.errors()},
            "cost": self.body["cost"],
            "stored": self.is_stored,
            "receipt": self.receipt.to_json(),
        }

    def __str__(self) -> str:
        """Show the rows as a table with error bars."""
        cost = (
            "a stored release, nothing more is charged" if self.is_stored else f"cost {self.cost}"
        )
        note = f"± holds for 95 % of values, noise only; {cost}"
        return f"{text_table(self.columns, self._shown())}\n{note}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        lines = (
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._shown()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"

    def _shown(self) -> list[list[str]]:
        errors = self.errors()
        return [
            [
                f"{cell} ± {errors[name]}" if name in errors else str(cell)
                for name, cell in zip(self.columns, row, strict=True)
            ]
            for row in self.rows
        ]

    def _cell(self, output: OutputColumn, key: list[Cell], place: int) -> Cell:
        if isinstance(output, KeyColumn):
            return key[output.index]
        aggregate = self.body["aggregates"][output.index]
        return plain(aggregate["values"][place] * Fraction(aggregate["step"]))

    def _error(self, output: OutputColumn, confidence: Fraction) -> int | float:
        aggregate = self.body["aggregates"][output.index]
        mechanism = read_noise(aggregate["noise"])
        return plain(mechanism.error_quantile(1 - confidence) * Fraction(aggregate["step"]))


def plain(value: Fraction) -> int | float:
    """Return an integer where the value is one, and the nearest float otherwise."""
    return value.numerator if value.denominator == 1 else float(value)
