"""Broken twins of the engine and of the plan: each breaks one rule that keeps an answer private.

A mutant is applied with a monkeypatch, changes the SQL (or the claim) of the plans it is meant for,
and must be caught by the replay of neighbours.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from attrs import field, frozen
from discreet.engines.duckdb.render.pairs import fields
from discreet.engines.duckdb.render.plan import query
from discreet.engines.duckdb.render.relations import select
from discreet.engines.duckdb.render.totals import total

from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.render import measures as duckdb_measures
from discreet.engines.duckdb.render import pairs as duckdb_pairs
from discreet.engines.duckdb.render import plan as duckdb_plan
from discreet.engines.duckdb.render import relations as duckdb_relations
from discreet.engines.duckdb.render.owner import owner_columns, same_owner, unit_columns
from discreet.engines.duckdb.render.values import clamped
from discreet.tables.aggregate import Aggregate, CountDistinct, CountRows, QuantileValues
from discreet.tables.keyset import PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.distinct import Distinct
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.inner_aggregate import InnerAggregate
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.row_limit import RowLimit
from discreet.tables.relations.window import Ranked, Window
from discreet.tables.sums import SumSquares, SumValues

Apply = Callable[[pytest.MonkeyPatch], None]


@frozen(kw_only=True)
class Mutant:
    """One broken rule, and the plans in which it must show."""

    rule: str
    apply: Apply
    fits: Callable[[BoundedPlan], bool] = field(default=lambda _: True)
    """Which plans the mutant can show in."""
    kinds: tuple[str, ...] = ("person",)
    changes_sql: bool = True
    """Whether it is the SQL that changes; otherwise it is what the plan says of itself."""
    seen_in: int = 0
    """The number of the project that is tried first: one in which it was seen before."""


def nodes(relation: Relation) -> list[Relation]:
    """Return a relation and all that it reads."""
    return [relation, *(node for part in relation.inputs() for node in nodes(part))]


def has(kind: type, when: Callable[[Any], bool] = lambda _: True) -> Callable[[BoundedPlan], bool]:
    """Tell whether a plan has such an operator."""
    return lambda plan: any(isinstance(n, kind) and when(n) for n in nodes(plan.relation))


def sums(kind: type[Aggregate]) -> Callable[[BoundedPlan], bool]:
    """Tell whether a plan has such an aggregate."""
    return lambda plan: any(isinstance(a, kind) for a in plan.aggregates)


# ---- Ways to break something.


def in_text(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Apply:
    """Return a mutant that replaces text in the engine's SQL."""

    def apply(monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(plan: BoundedPlan, sources: Any) -> str:
            return re.sub(pattern, new, query(plan, sources))

        monkeypatch.setattr(engine_module, "query", broken)

    return apply


def in_module(module: Any, name: str, broken: Any) -> Apply:
    """Return a mutant that replaces a function where it is used."""
    return lambda monkeypatch: monkeypatch.setattr(module, name, broken)


def in_rule(kind: type[Relation], broken: Callable[[Any, Any], str]) -> Apply:
    """Return a mutant that replaces the SQL of one operator."""

    def apply(monkeypatch: pytest.MonkeyPatch) -> None:
        right = select.dispatch(kind)

        def rule(node: Any, sources: Any) -> str:
            return broken(node, sources) if node.owner() is not None else right(node, sources)

        registry: Any = select.registry
        original = {known: registry[known] for known in registry if known is not kind}
        monkeypatch.setattr(duckdb_relations, "select", _dispatch({**original, kind: rule}))
        monkeypatch.setattr(duckdb_plan, "select", duckdb_relations.select)

    return apply


def _dispatch(rules: dict[type, Callable[[Any, Any], str]]) -> Callable[[Any, Any], str]:
    return lambda node, sources: rules[type(node)](node, sources)


# ---- Owner-locality.


def _no_owner(left: Relation, right: Relation) -> list[str]:
    return []


def _of_all_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the owner; the row that is nobody's would be everybody's partner, so it goes too."""
    monkeypatch.setattr(duckdb_pairs, "same_owner", _no_owner)
    monkeypatch.setattr(duckdb_pairs, "_never_empty", lambda _, rows, keys: rows)


def _person_only(left: Relation, right: Relation) -> list[str]:
    return same_owner(left, right)[:1]


def _distinct_of_all(node: Distinct, sources: Any) -> str:
    source = duckdb_relations.select(node.source, sources)
    cells = ", ".join(fields(len(node.fields()))) or "1"
    return f"SELECT DISTINCT ON ({cells}) * FROM ({source})"


def _aggregate_of_all(node: InnerAggregate, sources: Any) -> str:
    source = duckdb_relations.select(node.source, sources)
    cells = fields(len(node.source.fields()))
    keys = [cells[i] for i in node.keys]
    owner = [f"any_value({name}) AS {name}" for name in owner_columns(node)]
    values = [*keys, *(total(inner, cells) for inner in node.totals)]
    named = [f"{value} AS f{i}" for i, value in enumerate(values)]
    grouped = f" GROUP BY {', '.join(keys)}" if keys else " HAVING count(*) > 0"
    return f"SELECT {', '.join([*owner, *named])} FROM ({source}){grouped}"


def _public_kept(node: Join, sources: Any) -> str:
    left = duckdb_relations.select(node.left, sources)
    right = duckdb_relations.select(node.right, sources)
    before, after = len(node.left.fields()), len(node.right.fields())
    shown = [
        *(f"l.{name}" for name in owner_columns(node.left)),
        *fields(before, "l"),
        *(f"r.f{i} AS f{before + i}" for i in range(after)),
    ]
    sides = duckdb_pairs.pairs(node, left, right)
    joined = f"({sides.left}) AS l FULL JOIN ({sides.right}) AS r ON {sides.on}"
    return f"SELECT {', '.join(shown)} FROM {joined}"


def _is_private(node: Any) -> bool:
    return node.right.owner() is not None


OWNERS = [
    Mutant(
        rule="a join of two private tables forgets the owner",
        apply=_of_all_owners,
        fits=has(Join, _is_private),
    ),
    Mutant(
        rule="a join of two private tables forgets the period",
        apply=in_module(duckdb_pairs, "same_owner", _person_only),
        fits=has(Join, _is_private),
        kinds=("period",),
        seen_in=2,
    ),
    Mutant(
        rule="a semi-join forgets the owner",
        apply=_of_all_owners,
        fits=has(Exists, lambda node: _is_private(node) and not node.lacks and node.condition),
    ),
    Mutant(
        rule="an anti-join forgets the owner",
        apply=_of_all_owners,
        fits=has(Exists, lambda node: _is_private(node) and node.lacks),
        seen_in=2,
    ),
    Mutant(
        rule="distinct rows of all owners together",
        apply=in_rule(Distinct, _distinct_of_all),
        fits=has(Distinct),
        seen_in=5,
    ),
    Mutant(
        rule="a window over all owners together",
        apply=in_text(r"PARTITION BY u, (p, )?h", "PARTITION BY 1"),
        fits=has(Window),
    ),
    Mutant(
        rule="an inner aggregate over all owners together",
        apply=in_rule(InnerAggregate, _aggregate_of_all),
        fits=has(InnerAggregate),
        seen_in=2,
    ),
    Mutant(
        rule="the public side of an outer join is preserved",
        apply=in_rule(Join, _public_kept),
        fits=has(Join, lambda node: not _is_private(node) and node.condition is not None),
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
        rule="rows of nobody count",
        apply=in_module(duckdb_relations, "unit_values", lambda *_: []),
        seen_in=3,
    ),
    Mutant(
        rule="the limits are of a person, not of a person's period",
        apply=in_module(duckdb_plan, "unit_columns", lambda owner: unit_columns(owner)[:1]),
        kinds=("period",),
        seen_in=2,
    ),
    Mutant(
        rule="rows that tie in a window are in the order of the file",
        apply=in_text(r"(OVER \(PARTITION BY u, h ORDER BY [^()]*? NULLS LAST)(, f\d+)+\)", r"\1)"),
        fits=has(Window, lambda node: isinstance(node.function, Ranked)),
        seen_in=4,
    ),
]


# ---- Clamps and limits.


def _unclamped(value: str, bounds: Any, kind: Any) -> str:
    steps = f"floor({value}::DOUBLE / '{float(bounds.step)}'::DOUBLE)"
    return f"TRY_CAST(least(greatest({steps}, -1e6), 1e6) AS BIGINT)"


def _too_wide(value: str, bounds: Any, kind: Any) -> str:
    text = clamped(value, bounds, kind)
    return text.replace(f", {bounds.upper_steps}) END", f", {bounds.upper_steps + 1}) END").replace(
        f"'{float(bounds.upper)}'::DOUBLE", f"'{float(bounds.upper + bounds.step)}'::DOUBLE"
    )


def _is_summed(plan: BoundedPlan) -> bool:
    return sums(SumValues)(plan) or sums(SumSquares)(plan)


def _by_row(plan: BoundedPlan) -> bool:
    return _is_summed(plan) or sums(QuantileValues)(plan)


def _is_counted(plan: BoundedPlan) -> bool:
    return any(isinstance(a, CountRows) and a.where is None for a in plan.aggregates)


def _is_choosing(plan: BoundedPlan) -> bool:
    """Tell whether units have to choose among groups."""
    return plan.limits.groups_per_unit == 1 and plan.keys.fields != ()


def _one_more(match: re.Match[str]) -> str:
    return f"{match[1]} <= {int(match[2]) + 1}"


CLAMPS = [
    Mutant(
        rule="values are not clamped",
        apply=in_module(duckdb_measures, "clamped", _unclamped),
        fits=_is_summed,
    ),
    Mutant(
        rule="the clamp is one step too wide",
        apply=in_module(duckdb_measures, "clamped", _too_wide),
        fits=_is_summed,
    ),
]

_IN_GROUP = r"(?s)(\nkept AS .*?place) <= (\d+)"


def _more_rows(match: re.Match[str]) -> str:
    """Return the sample with one row more in it, whether or not there is a choice to make."""
    text, most = match[1], int(match[2])
    return f"{text.replace(f'n > {most}', f'n > {most + 1}')} <= {most + 1}"


def _with_fewer(match: re.Match[str]) -> str:
    return f"n <= {int(match[1]) + 1} UNION ALL"


def _one_row_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(plan: BoundedPlan, sources: Any) -> str:
        text = re.sub(r"n <= (\d+) UNION ALL", _with_fewer, query(plan, sources))
        return re.sub(_IN_GROUP, _more_rows, text)

    monkeypatch.setattr(engine_module, "query", broken)


LIMITS = [
    Mutant(rule="one row too many", apply=_one_row_more, fits=_by_row),
    Mutant(
        rule="rows are not limited",
        apply=in_text(r"n <= \d+ UNION ALL", "TRUE UNION ALL"),
        fits=_by_row,
    ),
    Mutant(
        rule="rows are counted without their limit",
        apply=in_text(r"sum\(least\(n, \d+\)\)", "sum(n)"),
        fits=_is_counted,
    ),
    Mutant(
        rule="distinct values are not limited",
        apply=in_text(r"WHERE d <= \d+", "WHERE TRUE"),
        fits=sums(CountDistinct),
    ),
    Mutant(
        rule="groups are not limited",
        apply=in_text(r"group_rank <= \d+", "TRUE"),
        fits=_is_choosing,
    ),
    Mutant(
        rule="one group too many",
        apply=in_text(r"(group_rank) <= (\d+)", _one_more),
        fits=_is_choosing,
    ),
    Mutant(
        rule="rows that tie are all let in",
        apply=in_text(
            r"row_number(\(\) OVER \(PARTITION BY [^()]*s, [^()]* ORDER BY hash\(hash\([^()]*?)"
            r", occurrence, \$salt\)\)[^()]*\) AS place",
            r"rank\1, $salt))) AS place",
        ),
        fits=_by_row,
    ),
    Mutant(
        rule="groups that tie are all let in",
        apply=in_text(
            r"row_number\(\) OVER \((PARTITION BY [^()]*) ORDER BY [^$]*\$salt[^$]*AS group_rank",
            r"rank() OVER (\1 ORDER BY s) AS group_rank",
        ),
        fits=_is_choosing,
    ),
    Mutant(
        rule="the hash of a group depends on how many others there are",
        apply=in_text(
            r"ORDER BY hash\(hash\(h, ([^()]*), \$salt\)\)([^()]*\) AS group_rank)",
            r"ORDER BY hash(hash(\1, (SELECT count(*) FROM keyed), $salt))\2",
        ),
        fits=_is_choosing,
    ),
    Mutant(
        rule="the hash of a row depends on its place",
        apply=in_text(
            r"(?s)(\nkept AS .*)row_number\(\) OVER \([^()]*\) AS occurrence",
            r"\1row_number() OVER () AS occurrence",
        ),
        fits=_by_row,
        seen_in=2,
    ),
    Mutant(
        rule="the limit depends on the other people",
        apply=in_text(
            r"group_rank <= \d+",
            "group_rank <= (SELECT 1 + count(DISTINCT u) % 2 FROM keyed)",
        ),
        fits=_is_choosing,
    ),
]


# ---- Keys, and what the plan says of itself.


def _has_sets(plan: BoundedPlan) -> bool:
    return isinstance(plan.keys, PublicKeys) and len(plan.keys.sets) > 1


def _largest_without_centre(aggregate: SumValues) -> int:
    return aggregate.bounds.upper_steps


KEYS = [
    Mutant(
        rule="keys are selected from pairs that were not kept",
        apply=in_text(r"(?s)(of_pairs AS \(.*?) FROM kept", r"\1 FROM pairs"),
        fits=lambda plan: isinstance(plan.keys, PrivateKeys),
    ),
    Mutant(
        rule="grouping sets do not count in l0",
        apply=lambda patch: patch.setattr(BoundedPlan, "reach", lambda plan: plan.limits),
        fits=_has_sets,
        changes_sql=False,
    ),
    Mutant(
        rule="the claim of a sum is about the upper end alone",
        apply=lambda patch: patch.setattr(SumValues, "largest", _largest_without_centre),
        fits=sums(SumValues),
        changes_sql=False,
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
        changes_sql=False,
    ),
]

MUTANTS = [*OWNERS, *CLAMPS, *LIMITS, *KEYS]
