r"""Judge two related tables privately: how far their models are from the rows in every pair.

Guarantee:
    Models are public, and so are the whole numbers that they expect. By
    :mod:`~discreet.synthesis.related.joined_rows` a unit has at most one row of parents, and at
    most :math:`m` of children. So it moves each distance of parents by at most 1, and each one of
    children, with their own columns, their cluster or columns of their parent, by at most :math:`m`
    (:mod:`discreet.synthesis.judge`). Both are released with noise for a part of the price that is
    fixed before. The parts add up to the price, which is charged: composition of ε, or of ρ.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.project.passage import KIND, Leg, Passage, StoredBody, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.counted.value_cells import ValueCells, rows_in_cells
from discreet.synthesis.judge import Judge, JudgedRelease, Judging, whole
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.junction_tree import Columns
from discreet.synthesis.price import SynthesisPrice, synthesis_price
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.related.clusters import Cluster
from discreet.synthesis.related.draw_related import RelatedModel
from discreet.synthesis.related.joined_tables import JoinedTables
from discreet.synthesis.related.related_plan import PARENTS
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.synthesis.related.related_report import RelatedJudgement
from discreet.synthesis.related.stored_related import (
    RELATED_JUDGEMENT,
    declared_rows,
    open_related,
)
from discreet.synthesis.stored_synthesis import OTHER_MODEL, stored_release
from discreet.synthesis.synthesise import require_same_rows
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BoundedPlan


def judge_related(
    project: Project,
    release: RelatedRelease,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    fresh: bool = False,
) -> RelatedRelease:
    """Return the release with noisy distances of its models from both tables, which are charged."""
    rows = declared_rows(project, release)
    if rows is None:
        raise InvalidArgument(
            "The tables are declared in another way than when the release was made",
            must="be counted by the same plans",
            next="Nothing was charged. Synthesise again, and judge that",
        )
    space = project.catalog.id_space(rows.parent.unit.id_space)
    require_same_rows(project, release.receipt, space.name)
    holding = terms_that_hold(terms, Terms(), (default,))
    price = synthesis_price(holding, space.cap, ())
    found = RelatedJudges.of(release, price.of_noise)
    passage = found.passage(rows.parents_plan(), rows.children_plan(), price)
    (body,) = go_through(project, passage, analyst=analyst, fresh=fresh).bodies
    return evolve(release, judged=found.read(body))


def open_related_judgement(project: Project, ticket: int) -> RelatedRelease:
    """Return the two tables that were judged, with their judgement. It costs nothing."""
    body, _ = stored_release(project, ticket, "children", "judgements")
    model = body["of"]["model"]
    release = evolve(
        open_related(project, body["of"]["ticket"]),
        published=tuple(map(PublishedTable.from_json, model["published"])),
        tours=model["tours"],
    )
    judgement = RelatedJudges.of(release, Pure(1)).read(body)
    if judgement is None:
        return evolve(release, remarks=(*release.remarks, OTHER_MODEL))
    return evolve(release, judged=judgement)


def judged_related(release: RelatedRelease) -> JudgedRelease:
    """Return what the ledger keeps of a release that is judged, so that it can be made again."""
    return JudgedRelease(
        kind=RELATED_JUDGEMENT,
        ticket=release.receipt.ticket.number,
        digest=release.receipt.release_digest,
        what=f"{release.parent.name} with {release.child.name}",
        is_final=release.model.parents.is_final and release.model.children.is_final,
        model={
            "published": [one.to_json() for one in release.model.parents.published],
            "tours": release.tours,
        },
    )


@frozen(kw_only=True, eq=False)
class RelatedJudges:
    """What judges parents, and what judges children with them."""

    release: RelatedRelease
    parents: Judge
    children: Judge

    @staticmethod
    def of(release: RelatedRelease, price: Pure | Zcdp) -> "RelatedJudges":
        """Return what judges all pairs of both tables, for a price."""
        model = release.model
        return RelatedJudges(
            release=release,
            parents=Judge.of_model(model.parents, 1, price * PARENTS),
            children=_of_children(model, release.rows_per_unit, price * (1 - PARENTS)),
        )

    def read(self, body: StoredBody) -> RelatedJudgement | None:
        """Return a stored judgement, if it is one of tables such as these."""
        ours, expected = (self.parents, self.children), body.get("expected", (None, None))
        stored = (body["parents"], body["children"])
        parents, children = map(Judge.read, ours, stored, expected)
        if parents is None or children is None:
            return None
        return RelatedJudgement(parents=parents, children=children)

    def passage(
        self, parents_plan: BoundedPlan, children_plan: BoundedPlan, price: SynthesisPrice
    ) -> Passage:
        """Return what goes through the gate. All that is public is worked out here, before it."""
        about = judged_related(self.release)
        children = partial(self._children_judged, about)

        def published(exact: ExactAggregates, rng: Rng) -> Leg:
            judging = Judging(self.release.parent_cells, self.parents)
            found = exact.measure(0, judging, rng)
            return Leg(plan=children_plan, published=partial(children, found))

        return Passage(
            name=digest(
                {
                    **about.distinction,
                    "plans": [parents_plan.to_json(), children_plan.to_json()],
                    "groupings": [self.parents.grouping, self.children.grouping],
                    "price": [self.parents.price.to_json(), self.children.price.to_json()],
                }
            ),
            earlier=(
                digest(
                    {
                        "judged": about.digest,
                        "plans": [parents_plan.to_json(), children_plan.to_json()],
                        "expected": [self.parents.expected(), self.children.expected()],
                        "price": [self.parents.price.to_json(), self.children.price.to_json()],
                    }
                ),
            ),
            loss=price.charged,
            legs=(Leg(plan=parents_plan, published=published, following=(children_plan,)),),
            size=lambda: about.size(self.parents, self.children),
            description=about.description(price.event),
        )

    def _children_judged(
        self,
        about: JudgedRelease,
        parents: dict[str, Any],
        exact: ExactAggregates,
        rng: Rng,
    ) -> StoredBody:
        cells = (*self.release.child_cells, *self.release.parent_cells)
        own, cluster = len(self.release.child_cells), self.release.of_children.cluster
        judging = _JudgingChildren(cells, own, cluster, self.children)
        return {
            KIND: about.kind,
            "of": about.to_json(),
            "parents": parents,
            "children": exact.measure(0, judging, rng),
        }


@frozen
class _JudgingChildren:
    """Hands what an engine found to the judge of children: rows with parents and their cluster."""

    cells: tuple[ValueCells, ...]
    own: int
    cluster: Cluster
    judge: Judge

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> dict[str, Any]:
        """Return the noisy distances, as plain values."""
        rows = rows_in_cells(keys, counts, self.cells)
        return self.judge.judged(with_cluster(rows, self.own, self.cluster), rng).to_json()


def with_cluster(rows: CountedRows, own: int, cluster: Cluster) -> CountedRows:
    """Return children with their parents' columns, and their cluster as one more."""
    numbers = cluster.numbers(rows.codes[:, own:])
    codes = np.concatenate([rows.codes, numbers[:, None]], axis=1)
    return CountedRows((*rows.sizes, cluster.size), codes, rows.counts)


def _of_children(model: RelatedModel, rows_per_unit: int, price: Pure | Zcdp) -> Judge:
    """Return what judges pairs of children's columns, then of children's with parents'."""
    children, parents = model.children, model.parents
    own, others = len(model.own_cells), len(parents.cells)
    coarse = [one.numbers for one in children.measured.coarse]
    groups = [*coarse[:own], *(one.numbers for one in parents.measured.coarse)]
    groups.append(coarse[own] if model.cluster.size > 1 else np.zeros(1, dtype=np.int64))
    places = [*range(own), own + others]
    total, joined = children.estimated.total, JoinedTables(model)
    tables: dict[Columns, Integers] = {
        (places[a], places[b]): whole(total * children.coarse_pairs[a, b])
        for a, b in all_pairs(len(children.cells))
    }
    for child, parent in product(range(own), range(others)):
        both = (groups[child], groups[own + parent])
        tables[child, own + parent] = whole(joined.table(child, parent, both))
    return Judge(groups=tuple(groups), tables=tables, rows_per_unit=rows_per_unit, price=price)
