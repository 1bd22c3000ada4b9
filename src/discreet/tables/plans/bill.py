"""A bill: how much work some rows of one unit are, added up over the operators of a plan."""

from collections import Counter
from collections.abc import Mapping

from attrs import evolve, field, frozen

from discreet.tables.functions.work import Steps

CROWDS = 4
"""In how many crowds the rows of one unit stand apart, behind one limit: engines work on crowds."""

OPERATOR = 500_000
"""The work of an operator that keeps rows, if there is a row at all."""


@frozen(kw_only=True)
class Work:
    """The most steps that one unit can cause.

    Guarantee:
        A unit with *n* stored rows causes at most *n* times ``of_a_row`` steps, as much again as
        ``of_stored_texts`` says in proportion to the texts that it has stored, and ``of_a_unit``
        behind limits, whatever the rows hold; given the measured numbers of the functions and
        operators.
    """

    of_a_row: int
    """For one stored row."""
    of_stored_texts: int
    """For one stored row, if its texts are as long as they may be: copying them as they are."""
    of_a_unit: int
    """For one unit, behind limits of its rows: it does not matter how many are stored."""

    def is_within(self, most: "Work") -> bool:
        """Tell whether no part of it is more than that of ``most``."""
        return (
            self.of_a_row <= most.of_a_row
            and self.of_stored_texts <= most.of_stored_texts
            and self.of_a_unit <= most.of_a_unit
        )

    def shared(self, among: int) -> "Work":
        """Return one of so many equal shares."""
        return Work(
            of_a_row=self.of_a_row // among,
            of_stored_texts=self.of_stored_texts // among,
            of_a_unit=self.of_a_unit // among,
        )


@frozen(kw_only=True)
class Rows:
    """How many rows of one unit there are."""

    behind: int = 0
    """Behind limits."""
    limits: int = 0
    """How many limits those came through."""
    stored: Mapping[str, int] = field(factory=dict)
    """Besides, so many for each stored row of a table."""

    def __add__(self, other: "Rows") -> "Rows":
        """Return the rows of both."""
        return Rows(
            behind=self.behind + other.behind,
            limits=self.limits + other.limits,
            stored=Counter(self.stored) + Counter(other.stored),
        )

    def __mul__(self, times: int) -> "Rows":
        """Return so many rows for each."""
        stored = {table: times * count for table, count in self.stored.items()}
        return evolve(self, behind=self.behind * times, stored=stored)

    def limited(self, most: int) -> "Rows":
        """Return the rows behind a limit."""
        return Rows(behind=most if self.stored else min(most, self.behind), limits=1)


@frozen(kw_only=True)
class Bill:
    """Work that was added up: for one unit, and for a stored row of each table."""

    unit: int = 0
    rows: Mapping[str, int] = field(factory=dict)
    texts: Mapping[str, int] = field(factory=dict)

    @staticmethod
    def of(rows: Rows, steps: Steps, *, keeps: bool = False) -> "Bill":
        """Return the work of each of some rows, and of an operator that ``keeps`` them."""
        apart = min(rows.behind, CROWDS * rows.limits)
        unit = rows.behind * (steps.each + steps.kept) + apart * steps.alone
        begun = OPERATOR if keeps and (rows.behind or rows.stored) else 0
        return Bill(
            unit=unit + begun,
            rows={t: count * (steps.each + steps.alone) for t, count in rows.stored.items()},
            texts={t: count * steps.kept for t, count in rows.stored.items()},
        )

    def __add__(self, other: "Bill") -> "Bill":
        """Return the work of both."""
        return Bill(
            unit=self.unit + other.unit,
            rows=Counter(self.rows) + Counter(other.rows),
            texts=Counter(self.texts) + Counter(other.texts),
        )

    def work(self) -> Work:
        """Return the most that one unit can cause of it."""
        return Work(
            of_a_row=max(self.rows.values(), default=0),
            of_stored_texts=max(self.texts.values(), default=0),
            of_a_unit=self.unit,
        )
