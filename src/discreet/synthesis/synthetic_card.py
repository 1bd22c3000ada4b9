"""The release card of synthetic rows: what was measured, with which noise, and what is lost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from discreet.core.loss import PrivacyLoss
from discreet.ledger.order import Receipt
from discreet.mechanisms.noise_json import Noise
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.releases.card import CardFacts, Circumstances, card
from discreet.releases.yaml_text import yaml_text
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measured import MeasuredMarginals

FindCircumstances = Callable[[], Circumstances]
"""What finds out what is known of a release besides its numbers."""


@frozen(kw_only=True)
class CountedPart:
    """What was counted of one table, for the card."""

    table: str
    cells: tuple[ValueCells, ...]
    measured: MeasuredMarginals
    rows_per_unit: int
    more: tuple[tuple[str, Noise, int], ...] = ()
    """What was measured besides: what it is, its noise, and how many numbers."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [one.column.name for one in self.cells]

    def limits(self) -> dict[str, Any]:
        """Return how much of one unit counted."""
        chosen = "by a keyed hash; what is beyond is left out"
        return {"table": self.table, "rows_per_unit": self.rows_per_unit, "chosen": chosen}

    def mechanisms(self) -> list[dict[str, Any]]:
        """Return each table of noisy numbers with its noise."""
        found = [
            (", ".join(self.names[column] for column in one.columns), one.noise, one.values.size)
            for one in (*self.measured.first, *self.measured.tables)
        ]
        for what, one in (
            ("scores of all pairs of columns", self.measured.scores),
            ("scores of what a first model misses", self.measured.residuals),
        ):
            if one is not None:
                found.append((what, one.noise, one.values.size))
        return [self._mechanism(*one) for one in (*found, *self.more)]

    def _mechanism(self, what: str, noise: Noise, numbers: int) -> dict[str, Any]:
        said = noise.to_json()
        return {
            "table": self.table,
            "measured": what,
            "numbers": numbers,
            "law": noise.law,
            "parameters": {name: text for name, text in said.items() if name != "law"},
            "half_width": float(error_of(noise, 1 - CONFIDENCE)),
        }

    def divided(self) -> list[dict[str, str]]:
        """Return how the values of each column are divided into cells."""
        return [
            {"table": self.table, "column": one.column.name, "cells": one.description()}
            for one in self.cells
        ]


def synthetic_card(
    parts: Sequence[CountedPart],
    columns: Mapping[str, Sequence[str]],
    about: Mapping[str, Any],
    cost: PrivacyLoss,
    receipt: Receipt,
    circumstances: FindCircumstances | None,
) -> str:
    """Return the card of synthetic rows as YAML; ``about`` is what the rows are, as JSON."""
    facts = CardFacts(
        what="Synthetic rows",
        product="Synthetic data",
        columns=[{"table": table, "columns": list(names)} for table, names in columns.items()],
        cost=cost,
        receipt=receipt,
        known=circumstances and circumstances(),
        groups={
            "columns": [],
            "chosen": "no groups: rows are drawn from a model. Values that were not declared were"
            " found privately: a value is there if a noisy number of its units reaches a threshold",
        },
        post_processing="A model is estimated of noisy tables, and rows are drawn from it. Both"
        " cost nothing, and may be done again as often as one likes",
        implementation={
            "limits": [one.limits() for one in parts],
            "cells": [line for one in parts for line in one.divided()],
            "mechanisms": [line for one in parts for line in one.mechanisms()],
        },
        accuracy={
            "confidence": float(CONFIDENCE),
            "converged": about["converged"],
            "agrees_with_tickets": [one["ticket"] for one in about["published"]],
            "notes": about["notes"],
        },
        bias="Rows are made up, and follow what was measured; a dependence that was not measured is"
        " lost. Limits make them those of what counts, not of all rows. Noise weighs more on rare"
        " values and on small groups",
    )
    return yaml_text(card(facts))
