"""Random FROM clauses: every owner-local operator, nested, with and without names in WITH."""

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from discreet.tables.catalog import Catalog, PeriodLength
from tests.support.projects.dice import Dice
from tests.support.random_sql.expression import Col, ExpressionWriter


@frozen(kw_only=True)
class From:
    """What stands after FROM (and in WHERE), and the columns that can be named there."""

    text: str
    columns: tuple[Col, ...]
    conditions: tuple[str, ...] = ()

    def units(self) -> list[Col]:
        """Return the parts of the unit, each once."""
        found = {column.unit_part: column for column in reversed(self.columns)}
        found.pop(None, None)
        return [found[part] for part in sorted(found, key=str)]

    def where(self, *more: str) -> str:
        """Return the WHERE clause."""
        conditions = [*self.conditions, *more]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""


class SourceWriter:
    """Writes private relations of random shape."""

    def __init__(self, dice: Dice, catalog: Catalog, *, grid: bool = False) -> None:
        self.dice = dice
        self.catalog = catalog
        self.grid = grid
        self.named: list[tuple[str, str]] = []
        self._numbers = 0
        self._bare: set[str] = set()
        self._has_unit = catalog.tables[0].unit.column is not None

    def _fresh(self, stem: str = "t") -> str:
        self._numbers += 1
        return f"{stem}{self._numbers}"

    def write(self, source: From) -> ExpressionWriter:
        """Return a writer of expressions over the columns of a source."""
        return ExpressionWriter(self.dice, source.columns, grid=self.grid)

    def private(self, depth: int) -> From:
        """Return a private relation of at most so many operators on top of each other."""
        if depth <= 0:
            return self._scan()
        options: list[tuple[int, Callable[[int], From]]] = [
            (2, self._project),
            (3, self._join_public),
            (1, self._exists_public),
        ]
        if self._has_unit:
            options += [
                (3, self._join_private),
                (3, self._exists),
                (2, self._distinct),
                (2, self._union),
                (3, self._inner_aggregate),
                (3, self._window),
            ]
        return self.dice.weighted(options)(depth - 1)

    # ---- Tables.

    def _scan(self) -> From:
        table = self.dice.pick(self.catalog.tables)
        unit = table.unit
        parts = {name: i for i, name in enumerate(unit.key_columns())}
        period = unit.period
        is_long = period is not None and period.length is not PeriodLength.DAY
        if period is not None and is_long:
            del parts[period.column]
        # A table may be called by its own name once; a second time would be ambiguous.
        bare = self.dice.chance(20) and table.name not in self._bare
        self._bare.add(table.name)
        alias = table.name if bare else self._fresh()
        columns = tuple(
            Col(
                text=f"{alias}.{column.name}",
                kind=column.type.value,
                name=column.name,
                has_keys=column.keys is not None or column.type.value == "boolean",
                unit_part=parts.get(column.name),
            )
            for column in table.columns
        )
        if period is not None and is_long:
            start = f"date_trunc('{period.length.value}', {alias}.{period.column})"
            columns = (*columns, Col(text=start, kind="date", name="", unit_part=1))
        return From(text=table.name if bare else f"{table.name} AS {alias}", columns=columns)

    def public(self) -> From:
        """Return a public relation."""
        table = self.dice.pick(self.catalog.public_tables)
        alias = self._fresh()
        columns = tuple(
            Col(text=f"{alias}.{c.name}", kind=c.type.value, name=c.name, is_public=True)
            for c in table.columns
        )
        source = From(text=f"{table.name} AS {alias}", columns=columns)
        if self.dice.chance(20):
            tail = source.where(self.write(source).condition(0)) if self.dice.chance(40) else ""
            items = ", ".join(column.text for column in source.columns)
            distinct = "DISTINCT " if self.dice.chance(60) else ""
            outer = self._fresh()
            moved = tuple(evolve(c, text=f"{outer}.{c.name}") for c in columns)
            return From(
                text=f"(SELECT {distinct}{items} FROM {source.text}{tail}) AS {outer}",
                columns=moved,
            )
        return source

    # ---- Sub-queries.

    def _sub_query(self, sql: str, columns: Sequence[Col]) -> From:
        """Return a sub-query, or its name in WITH; the text of a column is its name inside."""
        alias = self._fresh()
        moved = tuple(evolve(column, text=f"{alias}.{column.text}") for column in columns)
        if self.dice.chance(40):
            name = self._fresh("part")
            self.named.append((name, sql))
            return From(text=f"{name} AS {alias}", columns=moved)
        return From(text=f"({sql}) AS {alias}", columns=moved)

    def _items(self, source: From, most: int = 5) -> tuple[list[str], list[Col]]:
        """Return select items (the unit among them) and the columns that come out."""
        items: list[str] = []
        columns: list[Col] = []
        others = [column for column in source.columns if column.unit_part is None]
        chosen = [*source.units(), *(self.dice.some(others, most) if others else [])]
        for column in chosen:
            name = self._fresh("c") if self.dice.chance(40) else column.text.split(".")[-1]
            if not name.isidentifier() or name in [c.text for c in columns]:
                name = self._fresh("c")
            items.append(f"{column.text} AS {name}")
            columns.append(evolve(column, text=name))
        return items, columns

    def _project(self, depth: int) -> From:
        source = self.private(depth)
        items, columns = self._items(source)
        for _ in range(self.dice.below(3)):
            text, kind = self.write(source).any()
            name = self._fresh("e")
            items.append(f"{text} AS {name}")
            columns.append(Col(text=name, kind="integer" if kind == "number" else kind, name=""))
        where = source.where(*([self.write(source).condition()] if self.dice.chance(50) else []))
        return self._sub_query(f"SELECT {', '.join(items)} FROM {source.text}{where}", columns)

    def _distinct(self, depth: int) -> From:
        source = self.private(depth)
        items, columns = self._items(source, 3)
        sql = f"SELECT DISTINCT {', '.join(items)} FROM {source.text}{source.where()}"
        return self._sub_query(sql, columns)

    def _union(self, depth: int) -> From:
        first, second = self.private(depth), self.private(depth)
        units = list(zip(first.units(), second.units(), strict=False))
        kinds = [self.dice.pick(("integer", "real", "text", "date", "boolean")) for _ in range(3)]
        sides = []
        for place, source in enumerate((first, second)):
            items = [pair[place].text for pair in units]
            for kind in kinds:
                usual = {"integer": "1", "real": "CAST(0.5 AS DOUBLE)", "text": "'a'"}
                usual |= {"date": "DATE '2025-01-01'", "boolean": "FALSE"}
                items.append(self.write(source).column(kind) or usual[kind])
            names = [f"u{i}" for i in range(len(items))]
            listed = ", ".join(f"{item} AS {n}" for item, n in zip(items, names, strict=True))
            sides.append(f"SELECT {listed} FROM {source.text}{source.where()}")
        columns = [
            *(evolve(pair[0], text=f"u{i}") for i, pair in enumerate(units)),
            *(Col(text=f"u{len(units) + i}", kind=kind, name="") for i, kind in enumerate(kinds)),
        ]
        return self._sub_query(" UNION ALL ".join(sides), columns)

    def _inner_aggregate(self, depth: int) -> From:
        source = self.private(depth)
        write = self.write(source)
        others = [c for c in source.columns if c.unit_part is None and c.kind != "real"]
        keys = self.dice.some(others, 2) if others and self.dice.chance(50) else []
        items: list[str] = []
        columns: list[Col] = []
        for column in (*source.units(), *keys):
            name = self._fresh("k")
            items.append(f"{column.text} AS {name}")
            columns.append(evolve(column, text=name))
        number = write.column("integer", "real") or "1"
        totals = (
            ("COUNT(*)", "integer"),
            (f"COUNT({number})", "integer"),
            (f"COUNT(DISTINCT {self.dice.pick(source.columns).text})", "integer"),
            (f"SUM({number})", "real"),
            (f"MIN({number})", "real"),
            (f"MAX({number})", "real"),
            (f"AVG({number})", "average"),
        )
        for text, kind in self.dice.some(totals, 3):
            name = self._fresh("a")
            items.append(f"{text} AS {name}")
            if kind != "average" or not self.grid:
                kind = "real" if kind == "average" else kind
                columns.append(Col(text=name, kind=kind, name=""))
        grouped = ", ".join(column.text for column in (*source.units(), *keys)) or "1"
        sql = f"SELECT {', '.join(items)} FROM {source.text}{source.where()} GROUP BY {grouped}"
        return self._sub_query(sql, columns)

    def _window(self, depth: int) -> From:
        source = self.private(depth)
        items, columns = self._items(source, 4)
        others = [c for c in source.columns if c.unit_part is None] or list(source.columns)
        parts = [*source.units(), *(self.dice.some(others, 1) if self.dice.chance(30) else [])]
        partition = ", ".join(column.text for column in parts) or "1"
        # Ties are broken by all columns of the relation; plain SQL leaves them open.
        order = source.columns if self.grid else self.dice.some(others, 2)
        direction = self.dice.pick(("", " DESC"))
        ordered = ", ".join(f"{c.text}{direction} NULLS LAST" for c in order)
        column = self.dice.pick(source.columns)
        number = self.write(source).column("integer", "real") or "1"
        ranked = f"(PARTITION BY {partition} ORDER BY {ordered})"
        whole = f"(PARTITION BY {partition})"
        options = (
            (f"ROW_NUMBER() OVER {ranked}", "integer"),
            (f"RANK() OVER {ranked}", "integer"),
            (f"DENSE_RANK() OVER {ranked}", "integer"),
            (f"LAG({column.text}) OVER {ranked}", column.kind),
            (f"LEAD({column.text}) OVER {ranked}", column.kind),
            (f"FIRST_VALUE({column.text}) OVER {ranked}", column.kind),
            (f"COUNT(*) OVER {whole}", "integer"),
            (f"SUM({number}) OVER {whole}", "real"),
            (f"MAX({number}) OVER {whole}", "real"),
        )
        text, kind = self.dice.pick(options)
        name = self._fresh("w")
        items.append(f"{text} AS {name}")
        columns.append(Col(text=name, kind=kind, name=""))
        return self._sub_query(
            f"SELECT {', '.join(items)} FROM {source.text}{source.where()}", columns
        )

    # ---- Joins.

    def _join_public(self, depth: int) -> From:
        source, public = self.private(depth), self.public()
        on = self._link(source, public)
        if on is None:
            return self._project(depth)
        if self.dice.chance(15):
            on += f" AND {ExpressionWriter(self.dice, public.columns, grid=self.grid).condition(0)}"
        how = self.dice.pick(("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN"))
        public_columns = public.columns
        return From(
            text=f"{source.text} {how} {public.text} ON {on}",
            columns=(*source.columns, *public_columns),
            conditions=source.conditions,
        )

    def _link(self, source: From, public: From) -> str | None:
        for theirs in public.columns:
            options = [
                mine.text
                for mine in source.columns
                if mine.name == theirs.name and mine.kind == theirs.kind
            ]
            if options:
                return f"{self.dice.pick(options)} = {theirs.text}"
        numbers = [c.text for c in source.columns if c.kind == "integer"]
        theirs_too = [c.text for c in public.columns if c.kind == "integer"]
        if numbers and theirs_too and self.dice.chance(50):
            return f"{self.dice.pick(numbers)} {self.dice.pick(('=', '<'))} {theirs_too[0]}"
        return None

    def _same_unit(self, first: From, second: From) -> list[str]:
        pairs = zip(first.units(), second.units(), strict=False)
        return [f"{mine.text} = {theirs.text}" for mine, theirs in pairs]

    def _join_private(self, depth: int) -> From:
        first, second = self.private(depth), self.private(self.dice.below(depth + 1))
        equal = self._same_unit(first, second) or ["TRUE"]
        columns = (*first.columns, *second.columns)
        if self.dice.chance(30):
            equal.append(ExpressionWriter(self.dice, columns, grid=self.grid).condition(0))
        if self.dice.chance(20) and not second.conditions and " JOIN " not in first.text:
            # A comma and conditions in WHERE mean the same.
            return From(
                text=f"{first.text}, {second.text}",
                columns=columns,
                conditions=(*first.conditions, *equal),
            )
        how = self.dice.pick(("JOIN", "JOIN", "LEFT JOIN"))
        if how == "LEFT JOIN":
            columns = (*first.columns, *(evolve(c, unit_part=None) for c in second.columns))
        right = second.text
        if second.conditions or " JOIN " in right.split("(")[0]:
            items, inner = self._items(second)
            wrapped = self._sub_query(
                f"SELECT {', '.join(items)} FROM {second.text}{second.where()}", inner
            )
            equal = self._same_unit(first, wrapped) or ["TRUE"]
            right, columns = wrapped.text, (*first.columns, *wrapped.columns)
            if how == "LEFT JOIN":
                columns = (*first.columns, *(evolve(c, unit_part=None) for c in wrapped.columns))
        return From(
            text=f"{first.text} {how} {right} ON {' AND '.join(equal)}",
            columns=columns,
            conditions=first.conditions,
        )

    def _exists(self, depth: int) -> From:
        first, second = self.private(depth), self.private(self.dice.below(depth + 1))
        not_ = "NOT " if self.dice.chance(50) else ""
        same = self._same_unit(first, second) or ["TRUE"]
        if len(same) == 1 and not not_ and self.dice.chance(30):
            unit, theirs = first.units(), second.units()
            if unit and theirs:
                inside = f"SELECT {theirs[0].text} FROM {second.text}{second.where()}"
                return evolve(
                    first, conditions=(*first.conditions, f"{unit[0].text} IN ({inside})")
                )
        if self.dice.chance(50):
            columns = (*first.columns, *second.columns)
            same.append(ExpressionWriter(self.dice, columns, grid=self.grid).condition(0))
        inside = f"SELECT 1 FROM {second.text}{second.where(*same)}"
        return evolve(first, conditions=(*first.conditions, f"{not_}EXISTS ({inside})"))

    def _exists_public(self, depth: int) -> From:
        source, public = self.private(depth), self.public()
        on = self._link(source, public)
        if on is None:
            return source
        inside = f"SELECT 1 FROM {public.text}{public.where(on)}"
        not_ = "NOT " if self.dice.chance(30) else ""
        condition = f"{not_}EXISTS ({inside})"
        left, equals, right = on.partition(" = ")
        if equals and self.dice.chance(50):
            condition = f"{left} {not_}IN (SELECT {right} FROM {public.text})"
        return evolve(source, conditions=(*source.conditions, condition))
