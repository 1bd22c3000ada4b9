"""What a synthesis would measure and cost. Nothing private is looked at, and nothing is spent."""

import math
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from discreet.mechanisms.noise_json import Noise
from discreet.project.noise import choose_noise
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.synthesis.counted.value_cells import MOST_CELLS, ValueCells
from discreet.synthesis.found_cells import as_if_found
from discreet.synthesis.marginals.choose_tables import all_pairs, shares_of
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.passage_explanation import PassageExplanation
from discreet.synthesis.plan import SynthesisPlan
from discreet.synthesis.private_bins import dividing
from discreet.synthesis.public_facts import PublicFacts
from discreet.synthesis.published_table import PublishedTable

_NORMAL = 1.96
_USUAL_KEYS = 20
"""How many values are taken to be found where none are declared."""


@frozen(kw_only=True)
class SynthesisExplanation(PassageExplanation):
    """Everything public about a synthesis, before it is paid for."""

    plan: SynthesisPlan
    published: tuple[PublishedTable, ...] = ()
    """What was published before and would count as well."""
    facts: PublicFacts | None = None
    """What is asserted to be public."""

    @property
    def mechanism(self) -> MarginalMechanism:
        """What would measure the columns whose values are declared, and a guess of the others."""
        cells = [
            as_if_found(one, _USUAL_KEYS if one.fine is None else MOST_CELLS)
            for one in self.plan.cells
        ]
        return self.plan.mechanism(cells)

    def errors(self) -> dict[str, float]:
        """Return how far the first count of a cell of each column is off, 95 % of the time."""
        noises = self.mechanism.first_noises()
        return {
            one.column.name: float(error_of(noise, 1 - CONFIDENCE))
            for one, noise in zip(self.plan.cells, noises, strict=True)
        }

    def table_error(self, tables: int) -> float:
        """Return how far a cell is off if so many tables of two columns are measured.

        One that is measured in two rounds is off by as much as if it had their weighted mean.
        """
        share = shares_of([1] * max(1, tables))[0]
        noises = [choose_noise(self.mechanism.each, part * share) for part in self.mechanism.rounds]
        errors = [float(error_of(noise, 1 - CONFIDENCE)) for noise in noises]
        return float(sum(error**-2 for error in errors) ** -0.5) if all(errors) else 0.0

    def steps(self) -> list[tuple[str, str]]:
        """Return a heading and a sentence for each step."""
        plan, called = self.plan, self.id_space.called
        rows = "1 row" if plan.rows_per_unit == 1 else f"{plan.rows_per_unit} rows"
        found = [
            ("Protects", f"{called.a}, with all of its rows in {plan.table.name}"),
            ("Limits", f"at most {rows} of {called.a} count: one moves every count by so much"),
        ]
        errors = self.errors()
        for one in plan.cells:
            name = one.column.name
            found.append((name, f"{self._cells(one)}; first counts ± {errors[name]:,.3g}"))
        found += [
            ("Together", self._together()),
            ("Errors", "half-widths at 95 %, of one cell; columns in no table are counted again"),
            *published_steps(self.published),
            *self._asserted(),
            *self.price_steps(),
        ]
        return found

    def _cells(self, one: ValueCells) -> str:
        """Say how values are divided into cells, and how well it is known where the rows are."""
        price = self.plan.price.of_bins
        if one.fine is None or price is None:
            return one.description()
        bins = dividing(one, rows_per_unit=self.plan.rows_per_unit, price=price).bins
        return f"{one.description()} (ranks ± {_NORMAL * bins.deviation:,.3g})"

    def _asserted(self) -> list[tuple[str, str]]:
        if self.facts is None or self.facts.is_empty:
            return []
        words = self.facts.in_words([one.column.name for one in self.plan.cells])
        return [("Public", f"{words}: your word, neither measured nor protected")]

    def _together(self) -> str:
        plan = self.plan
        if self.mechanism.tables is not None:
            named = [
                " with ".join(plan.cells[column].column.name for column in one)
                for one in self.mechanism.tables
            ]
            if not named:
                return "no columns: each is independent of all others in the rows"
            error = self.table_error(len(named))
            return f"{', '.join(named)}, each about ± {error:,.3g} a cell"
        pairs = len(all_pairs(len(plan.cells)))
        if not pairs:
            return "one column alone"
        noise = error_of(self.mechanism.score_noise(), 1 - CONFIDENCE)
        few = max(1, math.isqrt(pairs))
        again = (
            ", and once more, by scores of what a model of these misses"
            if self.mechanism.has_residuals
            else ""
        )
        return (
            f"scores of {pairs:,} pairs of columns (± {float(noise):,.3g} rows) choose which are"
            f" measured{again}; with {few:,} of them, each is about ± {self.table_error(few):,.3g}"
            " a cell"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        mechanism = self.mechanism
        return {
            "table": self.plan.table.name,
            "rows_per_unit": self.plan.rows_per_unit,
            "columns": [
                {
                    "name": one.column.name,
                    "cells": one.size,
                    "binned": one.description(),
                    "noise": noise.to_json(),
                }
                for one, noise in zip(self.plan.cells, mechanism.first_noises(), strict=True)
            ],
            "tables": None
            if mechanism.tables is None
            else [[self.plan.cells[i].column.name for i in one] for one in mechanism.tables],
            "rounds": len(mechanism.rounds),
            "scores": _noise_json(mechanism.score_noise() if mechanism.has_scores else None),
            "published": sorted({one.ticket for one in self.published}),
            **self.price_json(),
        }


def published_steps(published: Sequence[PublishedTable]) -> list[tuple[str, str]]:
    """Return the step that says with which earlier releases rows would agree, if with any."""
    if not published:
        return []
    known = {one.ticket: one.what for one in published}
    shown = ", ".join(f"{ticket} ({what})" for ticket, what in known.items())
    return [("Published", f"the rows would agree with, and so reveal, ticket {shown}")]


def _noise_json(noise: Noise | None) -> dict[str, str] | None:
    return None if noise is None else noise.to_json()
