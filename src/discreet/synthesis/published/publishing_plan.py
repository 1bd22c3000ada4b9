"""The plan of counts that are published: what is counted, by which method, for which price."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core.canonical import digest
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.releases import ReleaseSize
from discreet.project.charged import charged
from discreet.project.passage import KIND, Leg, Passage, StoredBody
from discreet.project.terms import Terms
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.plan import (
    PUBLISHED,
    bounded_plan,
    columns_to_publish,
    rows_that_count,
)
from discreet.synthesis.price import SynthesisPrice, synthesis_price
from discreet.synthesis.published.given_keys import GivenKeys, columns_with_keys
from discreet.synthesis.published.publishing_method import (
    LinearMethod,
    Measured,
    OfferedNoise,
    PublicPaths,
    PublishingMethod,
    ReadyMethod,
)
from discreet.tables.catalog import Table
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BOUNDING, BoundedPlan

VERSION = 1
"""The version of what is measured and how: a release of another one is not taken for it."""


@frozen(kw_only=True)
class PublishingPlan:
    """What is counted, by which method, and what it costs. All of it is public."""

    table: Table
    method: PublishingMethod
    offered: OfferedNoise
    ready: ReadyMethod
    plan: BoundedPlan
    loss: PrivacyLoss
    """What is charged."""
    listed: tuple[str, ...] = ()
    """The columns whose values were given, because none are declared."""

    @property
    def rows_per_unit(self) -> int:
        """How many rows of one unit count."""
        return self.offered.rows_per_unit

    def name(self) -> str:
        """Return the name under which it is stored: equal for what is equal."""
        return digest(
            {
                "published": VERSION,
                "plan": self.plan.to_json(),
                "cells": [one.to_json() for one in self.offered.cells],
                "sizes": list(self.offered.sizes),
                "method": [self.method.name, self.method.options()],
                "rows_per_unit": self.rows_per_unit,
                "event": self.ready.event().to_json(),
            }
        )

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the numbers."""
        other = "count as NULL" if self.method.has_null else "are left out"
        listed = (f"values of '{name}' that were not listed {other}" for name in self.listed)
        return (*listed, *self.ready.notes())

    def passage(self) -> Passage:
        """Return what goes through the gate."""
        return Passage(
            name=self.name(),
            loss=self.loss,
            legs=(Leg(plan=self.plan, published=self._published),),
            size=self.largest_release,
            description={
                KIND: PUBLISHED,
                "sql": self.in_words(),
                "columns": list(self.offered.names),
                "event": self.ready.event().to_json(),
            },
        )

    def in_words(self) -> str:
        """Say what it is."""
        names = ", ".join(self.offered.names)
        return f"counts of {self.table.name} by {names} ({self.method.name})"

    def largest_release(self) -> ReleaseSize:
        """Return the most that can be stored."""
        numbers = self.ready.most_numbers()
        told = len(json.dumps([self.linear(), self.given_keys(), self.method.options()]))
        return ReleaseSize(bytes=24 * numbers + told + 100_000, cells=numbers)

    def given_keys(self) -> dict[str, list[str | int]]:
        """Return the values that were given of columns that declare none, as they can be given."""
        return {
            one.column.name: [
                key if isinstance(key, str | int) else str(key) for key in one.column.keys or ()
            ]
            for one in self.offered.cells
            if one.column.name in self.listed
        }

    def linear(self) -> dict[str, Any]:
        """Return which measured numbers are tables of rows with noise of their own, and of which.

        Whoever synthesises the same rows later has these measurements for nothing.
        """
        if not isinstance(self.ready, LinearMethod) or self.listed:
            return {}
        return {
            "table": self.table.name,
            "cells": [one.to_json() for one in self.offered.cells],
            "keys": {},
            "rows_per_unit": self.rows_per_unit,
            "counted": digest(self.plan.to_json()),
            "tables": [
                {"columns": list(one.columns), "noise": one.noise.to_json(), "part": one.part}
                for one in self.ready.linear()
            ],
        }

    def _published(self, exact: ExactAggregates, rng: Rng) -> StoredBody:
        measured = exact.measure(0, _CountedByCells(self.offered, self.ready), rng)
        return {
            KIND: PUBLISHED,
            "version": VERSION,
            "bounding": BOUNDING,
            "method": self.method.name,
            "options": self.method.options(),
            "table": self.table.name,
            "columns": list(self.offered.names),
            "keys": self.given_keys(),
            "offered": self.offered.whole.to_json(),
            "cost": self.loss.to_json(),
            "rows_per_unit": self.rows_per_unit,
            "measured": [stored_numbers(part) for part in measured],
            "linear": self.linear(),
        }


@frozen
class _CountedByCells:
    """Hands what an engine found to the method, as counted rows."""

    offered: OfferedNoise
    ready: ReadyMethod

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> list[IntArray]:
        """Return what was measured."""
        values = [
            (one.grouped_by(), size > one.inner)
            for one, size in zip(self.offered.cells, self.offered.sizes, strict=True)
        ]
        return self.ready.measure(CountedRows.found(keys, counts, values), rng)


def stored_numbers(numbers: IntArray) -> dict[str, Any]:
    """Return an array of whole numbers as plain values."""
    return {"shape": list(numbers.shape), "numbers": numbers.ravel().tolist()}


def read_numbers(stored: dict[str, Any]) -> IntArray:
    """Read what :func:`stored_numbers` wrote.

    Example:
        >>> read_numbers(stored_numbers(np.array([[1, 2], [3, 4]]))).tolist()
        [[1, 2], [3, 4]]
    """
    return np.array(stored["numbers"], dtype=np.int64).reshape(stored["shape"])


def measured_in(body: StoredBody) -> Measured:
    """Return what was measured, from a stored body."""
    return tuple(read_numbers(part) for part in body["measured"])


def publishing_plan(
    table: Table,
    cap: PrivacyLoss,
    terms: Terms,
    method: PublishingMethod,
    public: PublicPaths,
    *,
    columns: Sequence[str] | None = None,
    keys: GivenKeys | None = None,
    rows_per_unit: int | None = None,
) -> PublishingPlan:
    """Return the plan for some columns of a table; without ``columns``, for all but the unit's.

    Everything that can be refused is refused here, before a charge.
    """
    chosen = columns_with_keys(table, columns_to_publish(table, columns), keys)
    read = method.read(public, chosen)
    cells = read.cells_of(chosen)
    most = rows_that_count(table, rows_per_unit)
    price = synthesis_price(terms, cap, ())
    offered = OfferedNoise(
        cells=cells,
        sizes=tuple(_size(one, read) for one in cells),
        noise=price.of_noise,
        whole=terms.price(),
        rows_per_unit=most,
    )
    ready = _ready(read, offered)
    return PublishingPlan(
        table=table,
        method=read,
        offered=offered,
        ready=ready,
        plan=bounded_plan(table, cells, most),
        loss=_charge(ready.event(), offered, price, cap),
        listed=tuple(
            one.name for one in chosen if one.keys is not None and table.column(one.name) != one
        ),
    )


def _size(cells: ValueCells, method: PublishingMethod) -> int:
    size = cells.size if method.has_null else cells.inner
    if size < 2:
        raise InvalidArgument(
            f"'{cells.column.name}' has one value",
            must="have at least 2, or there is nothing to count it by",
            next="Nothing was charged. Leave the column out",
        )
    return size


def _charge(
    event: Event, offered: OfferedNoise, price: SynthesisPrice, cap: PrivacyLoss
) -> PrivacyLoss:
    """Return what the event of a method costs, in the measure of the budget.

    Guarantee:
        A bound on the event by the accountant of that measure. An ε with a δ bought a ρ that is
        certified to be within both; an event within that ρ is charged these two.
    """
    is_rho = isinstance(offered.whole, Approximate) and isinstance(cap, Approximate)
    if is_rho and _is_within(event, offered.noise):
        return price.charged
    return charged(event, cap)


def _is_within(event: Event, noise: PrivacyLoss) -> bool:
    return isinstance(noise, Zcdp) and zcdp_loss([event]) <= noise


_STEP = 4
_TRIES = 60


def _ready(method: PublishingMethod, offered: OfferedNoise) -> ReadyMethod:
    """Return the method with its noise; if the price has none, say which would."""
    try:
        return method.ready(offered)
    except (InvalidArgument, Unsupported) as refusal:
        enough = _enough(method, offered)
        if enough is None:
            raise
        raise type(refusal)(
            refusal.what,
            must=refusal.must,
            got=refusal.got,
            next=f"Nothing was charged. With {enough} of noise it can be done",
        ) from None


def _enough(method: PublishingMethod, offered: OfferedNoise) -> PrivacyLoss | None:
    """Return the nearest price for which a method has noise that can be drawn, if there is one."""
    for power in range(1, _TRIES):
        for factor in (Fraction(_STEP) ** power, Fraction(1, _STEP) ** power):
            other: Pure | Zcdp = offered.noise * factor
            try:
                method.ready(evolve(offered, noise=other, whole=other))
            except DiscreetError:
                continue
            return other
    return None
