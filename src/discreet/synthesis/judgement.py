"""A judgement: noisy distances from the truth, and the tables that they are distances of."""

from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.marginals.coarse_values import Counts
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.pair_report import score_bound


@frozen(kw_only=True, eq=False)
class Judgement:
    r"""How far some tables of whole numbers are from the truth, up to noise.

    The tables are kept with it. A model can be estimated in another way later: after a longer
    search, by another version, or on a machine that rounds otherwise. What was paid for holds for
    that one too.

    Guarantee:
        A model :math:`\mu` is off from the truth :math:`x` by
        :math:`\sum_c |x_c - \mu_c| \le \sum_c |x_c - t_c| + \sum_c |t_c - \mu_c|`, for the table
        :math:`t` that was judged. The first sum was measured, and the second one is public.

    Assumes:
        Values stand together in the model as they did then (``grouping``).
    """

    distances: MeasuredTable
    tables: tuple[Integers, ...] = field(repr=False)
    """What was judged, in whole numbers of rows, table by table."""
    grouping: str
    """A digest of which values stand together in a cell of the tables."""

    def bound(self, number: int, model: Counts) -> float:
        """Return how far a model is at most from the truth in a table."""
        judged = self.tables[number].reshape(model.shape).astype(np.float64)
        return score_bound(self.distances, number, judged, model)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "distances": self.distances.to_json(),
            "tables": [one.ravel().tolist() for one in self.tables],
            "grouping": self.grouping,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Judgement":
        """Read what :meth:`to_json` wrote."""
        return Judgement(
            distances=MeasuredTable.from_json(data["distances"]),
            tables=tuple(np.array(one, dtype=np.int64) for one in data["tables"]),
            grouping=data["grouping"],
        )
