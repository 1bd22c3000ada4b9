"""Random queries: aggregates, keys and what follows them, over a random private relation."""

from attrs import field, frozen

from discreet.tables.catalog import Catalog
from tests.support.projects.dice import Dice
from tests.support.random_sql.expression import Col
from tests.support.random_sql.source import From, SourceWriter


@frozen(kw_only=True)
class Query:
    """A query, and how it was made."""

    sql: str
    keys: tuple[str, ...] = field(default=())
    """The grouped expressions."""
    aggregates: tuple[str, ...] = field(default=())
    in_duckdb: str = ""
    """The query with one more column, GROUPING of its keys, for queries that plain DuckDB runs."""


def random_query(dice: Dice, catalog: Catalog) -> Query:
    """Return a query of any kind."""
    sources = SourceWriter(dice, catalog)
    source = sources.private(dice.weighted(((2, 0), (5, 1), (3, 2))))
    write = sources.write(source)
    where = source.where(*([write.condition()] if dice.chance(30) else []))
    keys = _keys(dice, source)
    aggregates = [_aggregate(dice, sources, source) for _ in range(dice.between(1, 3))]
    items = [*keys, *(f"{text} AS n{i}" for i, text in enumerate(aggregates))]
    listed = f"{_options(dice)}{', '.join(items)}"
    sql = f"SELECT {listed} FROM {source.text}{where}{_group_by(dice, source, keys)}"
    return Query(
        sql=_with(sources) + sql + _after(dice, keys),
        keys=tuple(keys),
        aggregates=tuple(aggregates),
    )


def plain_query(dice: Dice, catalog: Catalog) -> Query:
    """Return a query that means the same in plain DuckDB, whose sums are exact."""
    sources = SourceWriter(dice, catalog, grid=True)
    source = sources.private(dice.weighted(((1, 0), (5, 1), (4, 2))))
    write = sources.write(source)
    where = source.where(*([write.condition()] if dice.chance(30) else []))
    keys = _keys(dice, source) if dice.chance(70) else []
    aggregates = [_plain_aggregate(dice, sources, source) for _ in range(dice.between(1, 3))]
    listed = ", ".join([*keys, *(f"{text} AS n{i}" for i, text in enumerate(aggregates))])
    grouping = f"GROUPING({', '.join(keys)})" if keys else "0"
    rest = f"FROM {source.text}{where}{_group_by(dice, source, keys)}"
    return Query(
        sql=f"{_with(sources)}SELECT {listed} {rest}",
        keys=tuple(keys),
        aggregates=tuple(aggregates),
        in_duckdb=f"{_with(sources)}SELECT {listed}, {grouping} {rest}",
    )


VALUES = {
    "text": ("'a'", "'north'", "'elsewhere'", "'nowhere'", "'x'", "'f'", "'hill'"),
    "integer": ("0", "1", "2", "4", "7"),
}
"""Values that columns with keys have, declared or not."""


def computed_query(dice: Dice, catalog: Catalog) -> tuple[Query, bool] | None:
    """Return a query by what is made of a column with public keys, if there is one.

    And whether every value of the key is a group, so that no row without NULL is left out.
    """
    sources = SourceWriter(dice, catalog, grid=True)
    source = sources.private(dice.weighted(((2, 0), (5, 1), (3, 2))))
    public = [c for c in source.columns if c.kind in VALUES and (c.has_keys or c.is_public)]
    if not public:
        return None
    column = dice.pick(public)
    name, one, two = column.text, *(dice.pick(VALUES[column.kind]) for _ in range(2))
    whole = (
        f"{name} IS NULL",
        f"COALESCE({name} = {one}, FALSE)",
        f"CASE WHEN {name} = {one} THEN 'one' WHEN {name} IS NULL THEN 'none' ELSE 'other' END",
    )
    parts = {
        "text": (f"upper({name})", f"left({name}, 1)", f"COALESCE({name}, {one})"),
        "integer": (f"{name} % 2", f"FLOOR(({name} - 2) / 2.0)", f"COALESCE({name}, {one})"),
    }
    key = dice.pick((*whole, *parts[column.kind]))
    conditions = (
        f"{name} IN ({one}, {two})",
        f"{name} = {one}",
        f"{name} <> {one}",
        f"{name} < {one}",
        f"NOT ({name} = {one} OR {name} IS NULL)",
        f"{name} IS NULL",
    )
    where = source.where(*([dice.pick(conditions)] if dice.chance(70) else []))
    rest = f"FROM {source.text}{where} GROUP BY {key}"
    query = Query(
        sql=f"{_with(sources)}SELECT {key}, COUNT(*) AS n0 {rest}",
        keys=(key,),
        aggregates=("COUNT(*)",),
        in_duckdb=f"{_with(sources)}SELECT {key}, COUNT(*) AS n0, 0 {rest}",
    )
    return query, key in whole


def _options(dice: Dice) -> str:
    """Return a clause that gives the query limits of its own, now and then."""
    if not dice.chance(15):
        return ""
    limits = f"max_groups_contributed={dice.between(1, 4)}"
    if dice.chance(50):
        limits += f", max_rows_contributed={dice.between(1, 4)}"
    return f"WITH DIFFERENTIAL_PRIVACY OPTIONS({limits}) "


def _with(sources: SourceWriter) -> str:
    if not sources.named:
        return ""
    return f"WITH {', '.join(f'{name} AS ({sql})' for name, sql in sources.named)} "


def _keys(dice: Dice, source: From) -> list[str]:
    """Return the grouped expressions: public keys, private ones, or none."""
    public = [
        column
        for column in source.columns
        if column.kind != "real" and (column.has_keys or column.is_public)
    ]
    private = [column for column in source.columns if column.kind in ("text", "boolean")]
    kind = dice.weighted(((3, "none"), (6, "public"), (2, "private"), (2, "computed")))
    options = {"none": [], "public": public, "private": private, "computed": source.columns}[kind]
    if not options:
        return []
    if kind == "computed":
        return [_computed_key(dice, source)]
    return [column.text for column in dice.some(options, 2)]


def _computed_key(dice: Dice, source: From) -> str:
    dates = [column.text for column in source.columns if column.kind == "date"]
    numbers = [column.text for column in source.columns if column.kind in ("integer", "real")]
    if dates and dice.chance(60):
        day = dice.pick(dates)
        return dice.pick((f"date_trunc('month', {day})", f"EXTRACT(month FROM {day})", day))
    if numbers:
        return f"width_bucket({dice.pick(numbers)}, 0, 50, {dice.between(1, 5)})"
    return dice.pick(source.columns).text


def _group_by(dice: Dice, source: From, keys: list[str]) -> str:
    if not keys:
        return ""
    listed = ", ".join(keys)
    if not dice.chance(25):
        return f" GROUP BY {listed}"
    sets = ["()", *(f"({key})" for key in keys if len(keys) > 1)]
    return dice.pick(
        (
            f" GROUP BY ROLLUP ({listed})",
            f" GROUP BY CUBE ({listed})",
            f" GROUP BY GROUPING SETS (({listed}), {', '.join(dice.some(sets, 2))})",
        )
    )


def _after(dice: Dice, keys: list[str]) -> str:
    """Return HAVING, ORDER BY and LIMIT, which look at noisy values alone."""
    text = " HAVING COUNT(*) > 2" if keys and dice.chance(10) else ""
    if keys and dice.chance(15):
        text += f" ORDER BY {dice.pick(('n0', '1'))}{dice.pick(('', ' DESC'))}"
    return text + (" LIMIT 3" if keys and dice.chance(10) else "")


def _aggregate(dice: Dice, sources: SourceWriter, source: From) -> str:
    write = sources.write(source)
    units = [column.text for column in source.columns if column.unit_part == 0]
    number = write.number(dice.below(3))
    if dice.chance(60):
        step = dice.pick(("", "", ", 0.5", ", 5"))
        number = f"clamp({number}, {dice.pick((-20, -5, 0))}, {dice.pick((5, 10, 100))}{step})"
    options = (
        (3, "COUNT(*)"),
        (2, f"COUNT({dice.pick(source.columns).text})"),
        (3, f"COUNT(DISTINCT {dice.pick(units) if units else dice.pick(source.columns).text})"),
        (2, f"COUNT(DISTINCT {write.any(0)[0]})"),
        (6, f"SUM({number})"),
        (3, f"AVG({number})"),
        (3, f"{dice.pick(SPREADS)}({number})"),
        (2, f"MEDIAN({number})"),
        (1, f"QUANTILE({number}, 0.{dice.between(1, 99):02})"),
        (1, f"PERCENTILE_CONT(0.{dice.between(1, 9)}) WITHIN GROUP (ORDER BY {number})"),
        (1, f"{dice.pick(('MIN', 'MAX'))}({number})"),
    )
    text = dice.weighted(options)
    return f"{text} FILTER (WHERE {write.condition(0)})" if dice.chance(15) else text


SPREADS = ("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV")


def _plain_aggregate(dice: Dice, sources: SourceWriter, source: From) -> str:
    write = sources.write(source)
    units = [column.text for column in source.columns if column.unit_part == 0]
    distinct = [column for column in source.columns if column.kind != "real"] or [source.columns[0]]
    options = (
        (3, "COUNT(*)"),
        (2, f"COUNT({dice.pick(source.columns).text})"),
        (2, f"COUNT(DISTINCT {dice.pick(units)})" if units else "COUNT(*)"),
        (2, f"COUNT(DISTINCT {_distinct_column(dice, distinct)})"),
        (5, f"SUM(clamp({write.number(dice.below(3))}, -1000000, 1000000, 0.25))"),
        (2, f"AVG(clamp({write.number(dice.below(2))}, -500, 500, 0.25))"),
        (2, f"VAR_POP(clamp({write.number(dice.below(2))}, -500, 500, 0.25))"),
        (1, f"STDDEV_SAMP(clamp({write.number(dice.below(2))}, -500, 500, 0.25))"),
    )
    text = dice.weighted(options)
    return f"{text} FILTER (WHERE {write.condition(0)})" if dice.chance(20) else text


def _distinct_column(dice: Dice, columns: list[Col]) -> str:
    return dice.pick(columns).text
