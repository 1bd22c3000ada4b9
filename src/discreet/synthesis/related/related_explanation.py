"""What a synthesis of two tables would measure and cost. Nothing is looked at, nothing spent."""

from typing import Any

from attrs import evolve, frozen

from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.passage_explanation import PassageExplanation
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.related.clusters import MOST_CLUSTERS
from discreet.synthesis.related.measure_children import ChildMechanism
from discreet.synthesis.related.related_plan import Cells, RelatedPlan
from discreet.synthesis.synthesis_explanation import published_steps

_USUAL_KEYS = 20
"""How many values are taken to be found where none are declared."""


@frozen(kw_only=True)
class RelatedExplanation(PassageExplanation):
    """Everything public about a synthesis of two tables, before it is paid for."""

    plan: RelatedPlan
    published: tuple[PublishedTable, ...] = ()
    """What was published before about parents, and would count as well."""

    def errors(self) -> dict[str, dict[str, float]]:
        """Return how far the first count of a cell is off, 95 % of the time, for each column."""
        rows = self.plan.rows
        parents, children = _usual(rows.parent_cells), _usual(rows.child_cells)
        found = self._children(children).marginals(MOST_CLUSTERS)
        return {
            rows.parent.name: _errors((*parents, rows.number), self._parents(parents)),
            rows.child.name: _errors(children, found),
        }

    def _parents(self, cells: Cells) -> MarginalMechanism:
        return self.plan.parents_mechanism(cells)

    def _children(self, cells: Cells) -> ChildMechanism:
        return self.plan.children_mechanism(cells)

    def steps(self) -> list[tuple[str, str]]:
        """Return a heading and a sentence for each step."""
        rows, called = self.plan.rows, self.id_space.called
        parent, child = rows.parent.name, rows.child.name
        errors = self.errors()
        found = [
            ("Protects", f"{called.a}, with all of its rows in {parent} and {child}"),
            (
                "Limits",
                (
                    f"1 row of {called.a} in {parent} counts, and at most {rows.rows_per_unit} in"
                    f" {child}: one moves every count there by so much"
                ),
            ),
        ]
        for table, cells in (
            (parent, (*rows.parent_cells, rows.number)),
            (child, rows.child_cells),
        ):
            for one in cells:
                name, told = one.column.name, self._described(one)
                found.append(
                    (f"{table}: {name}", f"{told}; first counts ± {errors[table][name]:,.3g}")
                )
        found += [
            ("Together", "pairs of columns of a table, chosen by noisy scores"),
            ("Clusters", self._clusters()),
            ("Errors", "half-widths at 95 %, of one cell; what is in no table is counted again"),
            *published_steps(self.published),
            *self.price_steps(),
        ]
        return found

    def _described(self, cells: ValueCells) -> str:
        rows = self.plan.rows
        if cells is rows.number:
            return f"how many rows of {rows.child.name}, up to {rows.rows_per_unit}"
        return cells.description()

    def _clusters(self) -> str:
        rows = self.plan.rows
        if self.plan.by is not None:
            names = " and ".join(rows.parent_cells[place].column.name for place in self.plan.by)
            return f"rows of {rows.child.name} may depend on {names} of {rows.parent.name}"
        _, children = self.plan.with_values([()] * len(self.plan.keys_plans))
        mechanism = self._children(children)
        error = float(error_of(mechanism.score_noise(), 1 - CONFIDENCE))
        return (
            f"scores of {len(mechanism.pairs):,} pairs (± {error:,.3g} rows) choose on which"
            f" columns of {rows.parent.name} those of {rows.child.name} depend"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        rows = self.plan.rows
        return {
            "tables": [rows.parent.name, rows.child.name],
            "rows_per_unit": rows.rows_per_unit,
            "errors": self.errors(),
            "by": None
            if self.plan.by is None
            else [rows.parent_cells[place].column.name for place in self.plan.by],
            "published": sorted({one.ticket for one in self.published}),
            **self.price_json(),
        }


def _usual(cells: Cells) -> Cells:
    usual = tuple(range(_USUAL_KEYS))
    return tuple(evolve(one, keys=usual) if one.is_open else one for one in cells)


def _errors(cells: Cells, mechanism: MarginalMechanism) -> dict[str, float]:
    noises = mechanism.first_noises()
    return {
        one.column.name: float(error_of(noise, 1 - CONFIDENCE))
        for one, noise in zip(cells, noises, strict=False)
    }
