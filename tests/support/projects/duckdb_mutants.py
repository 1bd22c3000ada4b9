"""Broken twins of DuckDB's SQL, and of what is claimed of a plan: each breaks one rule.

A mutant is applied with a monkeypatch, and must be caught by the replay of neighbours.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from attrs import field, frozen

from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.render import rows as duckdb_rows
from discreet.engines.duckdb.render.aggregates import inner_total
from discreet.engines.duckdb.render.rows import query, select
from discreet.tables.keyset import PublicKeys
from discreet.tables.lowered import lower as lowering
from discreet.tables.lowered.plan import LoweredPlan
from discreet.tables.lowered.rows import Paired, Rows, Totalled, unit_columns
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumSquares, SumValues
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import RowLimit
from discreet.tables.relations.totals import InnerAggregate
from tests.support.projects.lowered_mutants import by_row, has, is_choosing, is_private, sums

Apply = Callable[[pytest.MonkeyPatch], None]


@frozen(kw_only=True)
class Mutant:
    """One broken rule, and the plans in which it must show."""

    rule: str
    apply: Apply
    fits: Callable[[BoundedPlan], bool] = field(default=lambda _: True)
    """Which plans the mutant can show in."""
    kinds: tuple[str, ...] = ("person",)
    seen_in: int = 0
    """The number of the project that is tried first: one in which it was seen before."""


# ---- Ways to break something.


def in_text(pattern: str, new: str) -> Apply:
    """Return a mutant that replaces text in the engine's SQL."""

    def apply(monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(plan: LoweredPlan, sources: Any) -> str:
            return re.sub(pattern, new, query(plan, sources))

        monkeypatch.setattr(engine_module, "query", broken)

    return apply


def in_rule(kind: type[Rows], broken: Callable[[Any, Any], str]) -> Apply:
    """Return a mutant that replaces the SQL of one kind of rows, where they are private."""

    def apply(monkeypatch: pytest.MonkeyPatch) -> None:
        right = select.dispatch(kind)

        def rule(node: Any, sources: Any) -> str:
            return broken(node, sources) if "u" in node.columns() else right(node, sources)

        registry: Any = select.registry
        rules = {**registry, kind: rule}
        monkeypatch.setattr(
            duckdb_rows, "select", lambda node, sources: rules[type(node)](node, sources)
        )

    return apply


# ---- Owner-locality.


def _aggregate_of_all(node: Totalled, sources: Any) -> str:
    source = duckdb_rows.select(node.source, sources)
    owner = [f"any_value({name}) AS {name}" for name, _ in node.keys if name in ("u", "p", "h")]
    keys = [(name, key) for name, key in node.keys if name not in ("u", "p", "h")]
    named = [f"{key} AS {name}" for name, key in keys]
    totals = [f"{inner_total(inner, node.cells)} AS {name}" for name, inner in node.totals]
    by = ", ".join(key for _, key in keys)
    grouped = f" GROUP BY {by}" if by else " HAVING count(*) > 0"
    return f"SELECT {', '.join([*owner, *named, *totals])} FROM ({source}){grouped}"


def _public_kept(node: Paired, sources: Any) -> str:
    text = select.dispatch(Paired)(node, sources)
    return re.sub(r"AS l (LEFT )?JOIN", "AS l FULL JOIN", text)


def _of_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the period above the relation, and that there is no proof then."""
    monkeypatch.setattr(lowering, "unit_columns", lambda owner: unit_columns(owner)[:1])
    monkeypatch.setattr(lowering, "require_claim", lambda *_: None)


MUTANTS = [
    Mutant(
        rule="an inner aggregate over all owners together",
        apply=in_rule(Totalled, _aggregate_of_all),
        fits=has(InnerAggregate),
        seen_in=2,
    ),
    Mutant(
        rule="the public side of an outer join is preserved",
        apply=in_rule(Paired, _public_kept),
        fits=has(Join, lambda node: not is_private(node) and node.condition is not None),
    ),
    Mutant(
        rule="the limits are of a person, not of a person's period",
        apply=_of_a_person,
        kinds=("period",),
        seen_in=2,
    ),
    Mutant(
        rule="the rows below a join are limited for all owners together",
        apply=in_text(
            r"(?s)HAVING count\(\*\) > \d+(.*?)PARTITION BY u ORDER BY hash",
            r"HAVING TRUE\1ORDER BY hash",
        ),
        fits=has(RowLimit),
        seen_in=1,
    ),
    Mutant(
        rule="the rows below a join are chosen by their place",
        apply=in_text(
            r"PARTITION BY u ORDER BY hash\(hash\([^()]*\)\)[^()]*\) AS place",
            "PARTITION BY u) AS place",
        ),
        fits=has(RowLimit),
        seen_in=5,
    ),
    Mutant(
        rule="rows below a join are numbered by their place, not among identical rows",
        apply=in_text(
            r"row_number\(\) OVER \(PARTITION BY u(, f\d+)*\) AS occurrence",
            "row_number() OVER () AS occurrence",
        ),
        fits=has(RowLimit),
        seen_in=2,
    ),
    Mutant(
        rule="the characters below a join are counted for all owners together",
        apply=in_text(
            r"(?s)HAVING count\(\*\) > \d+ OR [^\n]*(\n.*?0\)\) OVER \()"
            r"PARTITION BY u ORDER BY hash",
            r"HAVING TRUE)\1ORDER BY hash",
        ),
        fits=has(RowLimit, lambda node: node.texts),
        seen_in=1,
    ),
    Mutant(
        rule="rows that tie are all let in",
        apply=in_text(
            r"row_number(\(\) OVER \(PARTITION BY [^()]*s, [^()]* ORDER BY hash\(hash\([^()]*?)"
            r", occurrence, \$salt\)\)[^()]*\) AS place",
            r"rank\1, $salt))) AS place",
        ),
        fits=by_row,
    ),
    Mutant(
        rule="groups that tie are all let in",
        apply=in_text(
            r"row_number\(\) OVER \((PARTITION BY [^()]*) ORDER BY [^$]*\$salt[^$]*AS group_rank",
            r"rank() OVER (\1 ORDER BY s) AS group_rank",
        ),
        fits=is_choosing,
    ),
    Mutant(
        rule="the hash of a group depends on how many others there are",
        apply=in_text(
            r"ORDER BY hash\(hash\(h, ([^()]*), \$salt\)\)([^()]*\) AS group_rank)",
            r"ORDER BY hash(hash(\1, (SELECT count(*) FROM keyed), $salt))\2",
        ),
        fits=is_choosing,
    ),
    Mutant(
        rule="the hash of a row depends on its place",
        apply=in_text(
            r"(?s)(\nkept AS .*)row_number\(\) OVER \([^()]*\) AS occurrence",
            r"\1row_number() OVER () AS occurrence",
        ),
        fits=by_row,
        seen_in=2,
    ),
    Mutant(
        rule="the limit depends on the other people",
        apply=in_text(
            r"group_rank <= \d+",
            "group_rank <= (SELECT 1 + count(DISTINCT u) % 2 FROM keyed)",
        ),
        fits=is_choosing,
    ),
]


# ---- What the plan says of itself.


def _has_sets(plan: BoundedPlan) -> bool:
    return isinstance(plan.keys, PublicKeys) and len(plan.keys.sets) > 1


def _largest_without_centre(aggregate: SumValues) -> int:
    return aggregate.bounds.upper_steps


CLAIMS = [
    Mutant(
        rule="grouping sets do not count in l0",
        apply=lambda patch: patch.setattr(BoundedPlan, "reach", lambda plan: plan.limits),
        fits=_has_sets,
    ),
    Mutant(
        rule="the claim of a sum is about the upper end alone",
        apply=lambda patch: patch.setattr(SumValues, "largest", _largest_without_centre),
        fits=sums(SumValues),
        seen_in=1,
    ),
    Mutant(
        rule="the claim of a sum of squares forgets the offset",
        apply=lambda patch: patch.setattr(
            SumSquares,
            "contribution",
            lambda aggregate, limits: SumValues.contribution(
                SumValues(value=aggregate.value, bounds=aggregate.bounds), limits
            ),
        ),
        fits=sums(SumSquares),
    ),
]
