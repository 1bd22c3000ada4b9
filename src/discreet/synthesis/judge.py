r"""Judge a model privately: how far it is from the table in every pair of columns.

Guarantee:
    The model is public. The distance of a pair is :math:`\sum_c |x_c - \mu_c|` over the cells of
    its table, with whole numbers :math:`\mu_c` of the model. A row more moves one of the summands
    by at most 1. So a unit with at most :math:`m` kept rows moves the vector of :math:`P` distances
    by at most :math:`Pm` in :math:`\ell_1` and :math:`\sqrt P\, m` in :math:`\ell_2`, and discrete
    noise for that is what the price buys.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.core.canonical import digest
from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.loss import Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.releases import ReleaseSize
from discreet.mechanisms.noise_json import Noise
from discreet.project.noise import choose_noise
from discreet.project.passage import KIND, Leg, Passage, StoredBody
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.counted.value_cells import ValueCells, rows_in_cells
from discreet.synthesis.judgement import Judgement
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.coarse_values import Counts
from discreet.synthesis.marginals.junction_tree import Columns
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.price import SynthesisPrice
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BoundedPlan

JUDGEMENT = "judgement"
"""What the ledger calls it."""


@frozen(kw_only=True, eq=False)
class Judge:
    """Measures how far tables of counted rows are from what is expected, for a price."""

    groups: tuple[Integers, ...] = field(repr=False)
    """For each column of the rows, the group of each of its cells."""
    tables: Mapping[Columns, Integers] = field(repr=False)
    """What is expected in the tables of some columns, in whole numbers of rows."""
    rows_per_unit: int
    price: Pure | Zcdp

    @staticmethod
    def of_model(model: SyntheticModel, rows_per_unit: int, price: Pure | Zcdp) -> "Judge":
        """Return what judges all pairs of columns of a model."""
        total = model.estimated.total
        return Judge(
            groups=tuple(one.numbers for one in model.measured.coarse),
            tables={
                pair: whole(total * model.coarse_pairs[pair])
                for pair in all_pairs(len(model.cells))
            },
            rows_per_unit=rows_per_unit,
            price=price,
        )

    @property
    def distance(self) -> Contribution:
        """What one unit moves of all distances."""
        tables, rows = len(self.tables), self.rows_per_unit
        return Contribution(l0=tables, linf=rows, l1=tables * rows, l2_squared=tables * rows**2)

    def noise(self) -> Noise:
        """Return the noise of each distance."""
        return choose_noise(self.distance, self.price)

    def event(self) -> Event:
        """Describe it."""
        return self.noise().event(self.distance)

    def judged(self, rows: CountedRows, rng: Rng) -> Judgement:
        """Return the noisy distances. ``rows`` are private, and seen here alone."""
        grouped = rows.grouped(self.groups)
        found = [
            int(np.abs(grouped.table(columns) - expected).sum())
            for columns, expected in self.tables.items()
        ]
        noise = self.noise()
        distances = noise.release(np.array(found, dtype=np.int64), rng)
        return self.judgement(MeasuredTable((), noise, distances))

    def judgement(self, distances: MeasuredTable) -> Judgement:
        """Return noisy distances as a judgement of what is expected."""
        return Judgement(
            distances=distances, tables=tuple(self.tables.values()), grouping=self.grouping
        )

    @property
    def grouping(self) -> str:
        """A digest of which values stand together, and of the columns of each table."""
        groups = [one.tolist() for one in self.groups]
        return digest([groups, [list(columns) for columns in self.tables]])

    @property
    def size(self) -> int:
        """How many cells all tables have."""
        return sum(one.size for one in self.tables.values())

    def expected(self) -> str:
        """Return a digest of what is expected: equal for equal models."""
        return digest([[list(at), one.ravel().tolist()] for at, one in self.tables.items()])

    def read(self, data: dict[str, Any], expected: str | None) -> Judgement | None:
        """Return a stored judgement, if it is one of tables such as these.

        At first the distances alone were stored, beside a digest of what was ``expected``.
        """
        if expected is None:
            found = Judgement.from_json(data)
            return found if found.grouping == self.grouping else None
        is_same = expected == self.expected()
        return self.judgement(MeasuredTable.from_json(data)) if is_same else None


def whole(counts: Counts) -> Integers:
    """Return the nearest whole numbers of rows."""
    return np.rint(counts).astype(np.int64)


@frozen
class Judging:
    """Hands what an engine found to a judge, as counted rows."""

    cells: tuple[ValueCells, ...]
    judge: Judge

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> dict[str, Any]:
        """Return the noisy distances, as plain values."""
        return self.judge.judged(rows_in_cells(keys, counts, self.cells), rng).to_json()


@frozen(kw_only=True)
class JudgedRelease:
    """The synthetic release that is judged, as the ledger keeps it."""

    kind: str = JUDGEMENT
    ticket: int
    digest: str
    what: str
    """What it is, in words."""
    model: Mapping[str, Any] = field(repr=False)
    """What its model is made of beyond what its ticket paid for, as plain values."""
    is_final: bool
    """Whether a longer search would find the very same model."""

    @property
    def distinction(self) -> dict[str, Any]:
        """What tells the model from others, however its numbers are rounded."""
        tours = None if self.is_final else self.model["tours"]
        return {"judged": self.digest, "model": {**self.model, "tours": tours}}

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"ticket": self.ticket, "digest": self.digest, "model": dict(self.model)}

    def description(self, event: Event) -> dict[str, Any]:
        """Return what the ledger shows of a judgement of it."""
        return {
            KIND: self.kind,
            "sql": f"how far synthetic rows are from {self.what}",
            "judged": self.ticket,
            "event": event.to_json(),
        }

    def size(self, *judges: Judge) -> ReleaseSize:
        """Return the most that is stored of what some judges find."""
        told = len(json.dumps(self.to_json()))
        distances, cells = sum(len(one.tables) for one in judges), sum(one.size for one in judges)
        return ReleaseSize(bytes=24 * (distances + cells) + told + 100_000, cells=distances)


def judging_passage(
    judge: Judge,
    cells: tuple[ValueCells, ...],
    plan: BoundedPlan,
    about: JudgedRelease,
    price: SynthesisPrice,
) -> Passage:
    """Return what goes through the gate. All that is public is worked out here, before it.

    Guarantee:
        The noise of the judge is within the part of the ``price`` that is for noise, which is
        what is charged.
    """

    def published(exact: ExactAggregates, rng: Rng) -> StoredBody:
        distances = exact.measure(0, Judging(cells, judge), rng)
        return {KIND: about.kind, "of": about.to_json(), "distances": distances}

    return Passage(
        name=digest(
            {
                **about.distinction,
                "plan": plan.to_json(),
                "grouping": judge.grouping,
                "price": judge.price.to_json(),
            }
        ),
        earlier=(
            digest(
                {
                    "judged": about.digest,
                    "plan": plan.to_json(),
                    "expected": judge.expected(),
                    "price": judge.price.to_json(),
                }
            ),
        ),
        loss=price.charged,
        legs=(Leg(plan=plan, published=published),),
        size=lambda: about.size(judge),
        description=about.description(price.event),
    )
