r"""Judge a model privately: how far it is from the table in every pair of columns.

Guarantee:
    The model is public. The distance of a pair is :math:`\sum_c |x_c - \mu_c|` over the cells of
    its table, with whole numbers :math:`\mu_c` of the model. A row more moves one of the summands
    by at most 1. So a unit with at most :math:`m` kept rows moves the vector of :math:`P` distances
    by at most :math:`Pm` in :math:`\ell_1` and :math:`\sqrt P\, m` in :math:`\ell_2`, and discrete
    noise for that is what the price buys.
"""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core.canonical import digest
from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.releases import ReleaseSize
from discreet.mechanisms.noise_json import Noise
from discreet.project.charged import charged
from discreet.project.noise import choose_noise
from discreet.project.passage import KIND, Leg, Passage, StoredBody
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BoundedPlan


@frozen(kw_only=True, eq=False, slots=False)
class Judge:
    """Measures the distances of all pairs of columns from a model, for a price."""

    model: SyntheticModel
    rows_per_unit: int
    price: Pure | Zcdp

    @cached_property
    def expected(self) -> tuple[Integers, ...]:
        """What the model expects in the cells of all pairs, in whole numbers."""
        total = self.model.estimated.total
        return tuple(
            np.rint(total * self.model.coarse_pairs[pair]).astype(np.int64)
            for pair in all_pairs(len(self.model.cells))
        )

    @property
    def distance(self) -> Contribution:
        """What one unit moves of all distances."""
        pairs, rows = len(all_pairs(len(self.model.cells))), self.rows_per_unit
        return Contribution(l0=pairs, linf=rows, l1=pairs * rows, l2_squared=pairs * rows**2)

    def noise(self) -> Noise:
        """Return the noise of each distance."""
        return choose_noise(self.distance, self.price)

    def event(self) -> Event:
        """Describe it."""
        return self.noise().event(self.distance)

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> dict[str, Any]:
        """Return the noisy distances, as plain values."""
        values = [(one.grouped_by(), one.column.nullable) for one in self.model.cells]
        rows = CountedRows.found(keys, counts, values)
        return self.judged(rows, rng).to_json()

    def judged(self, rows: CountedRows, rng: Rng) -> MeasuredTable:
        """Return the noisy distances. ``rows`` are private, and seen here alone."""
        grouped = rows.grouped([one.numbers for one in self.model.measured.coarse])
        pairs = all_pairs(len(self.model.cells))
        found = [
            int(np.abs(grouped.table(pair) - expected).sum())
            for pair, expected in zip(pairs, self.expected, strict=True)
        ]
        noise = self.noise()
        return MeasuredTable((), noise, noise.release(np.array(found, dtype=np.int64), rng))

    def passage(self, plan: BoundedPlan, about: str, cap: PrivacyLoss, table: str) -> Passage:
        """Return what goes through the gate: ``about`` is the digest of the judged release."""

        def published(exact: ExactAggregates, rng: Rng) -> StoredBody:
            return {KIND: "judgement", "distances": exact.measure(0, self, rng)}

        pairs = len(all_pairs(len(self.model.cells)))
        # All that is public is worked out here, and not behind the gate.
        expected = [table.ravel().tolist() for table in self.expected]
        return Passage(
            name=digest(
                {
                    "judged": about,
                    "plan": plan.to_json(),
                    "expected": digest(expected),
                    "price": self.price.to_json(),
                }
            ),
            loss=charged(self.event(), cap),
            legs=(Leg(plan=plan, published=published),),
            size=lambda: ReleaseSize(bytes=24 * pairs + 100_000, cells=pairs),
            description={
                KIND: "judgement",
                "sql": f"how far synthetic rows are from {table}",
                "event": self.event().to_json(),
            },
        )
