"""What stands above an answer: a choice of it, arithmetic, windows, totals of its rows."""

from collections.abc import Iterator, Sequence
from enum import Enum

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import RefusedQuery, UnknownColumn
from discreet.core.unit_words import UNITS
from discreet.sql.blocks.block import Block
from discreet.sql.blocks.trees import (
    changed,
    clause,
    given,
    name_of,
    named_queries,
    ordered,
    with_queries,
)
from discreet.sql.rows.grouping import has_total, is_total
from discreet.sql.rows.items import Item, is_star, item_name, item_value, output_names
from discreet.sql.rows.scope import did_you_mean
from discreet.sql.rows.where import scalar_queries
from discreet.sql.syntax.nodes import (
    Node,
    condition_of,
    conjuncts,
    has_part,
    is_a,
    is_set,
    order_items,
    part,
    replaced,
    table_of,
)


@frozen(kw_only=True)
class Above:
    """A SELECT that reads nothing but answers."""

    select: Node
    blocks: tuple[Block, ...]

    def merged(self) -> Node:
        """Return both as one SELECT."""
        base = self.blocks[0].select
        if is_set(base, "limit") or is_set(base, "offset"):
            return self._shown(base)
        select, has_totals = self._with_windows()
        self._require_readable(select)
        conditions = [self._meant(one) for one in conjuncts(condition_of(select, "where"))]
        tests = [self._meant(one) for one in conjuncts(condition_of(select, "qualify"))]
        is_late = has_totals is _Totals.BESIDE or self._has_inner_windows()
        if conditions and is_late and self._has_windows(select, has_totals):
            raise _in_steps("WHERE stands between two windows")
        if is_set(base, "qualify") and self._has_windows(select, has_totals):
            raise _in_steps("QUALIFY stands between two windows")
        having, qualify = (conjuncts(condition_of(base, one)) for one in ("having", "qualify"))
        late, early = (conditions, []) if is_late else ([], conditions)
        exp = optional.load("sqlglot.expressions")
        one = exp.Limit(expression=exp.Literal.number("1"))
        is_one_row = has_totals is _Totals.ALONE
        # A total has a row even if no group is left, so what noise decides stands inside it.
        only = [one for one in (*having, *early) if is_one_row and has_total(one)]
        return self._composed(
            select,
            only=only,
            having=clause("Having", [one for one in (*having, *early) if one not in only]),
            qualify=clause("Qualify", [*qualify, *late, *tests]),
            order=None if is_one_row else self._order(select, base),
            limit=one if is_one_row else part(select, "limit"),
            offset=part(select, "offset"),
        )

    def _shown(self, base: Node) -> Node:
        """Return an answer that was cut by LIMIT: what is above may only choose its columns."""
        names = ("where", "qualify", "order", "limit", "offset", "group", "having", "distinct")
        is_more = any(is_set(self.select, name) for name in names)
        is_more = is_more or any(
            has_part(item, "Window") or has_total(item) for item in self.select.expressions
        )
        if is_more:
            raise _in_steps("LIMIT stands below more than a choice of columns")
        return self._composed(self.select)

    def _composed(self, select: Node, only: Sequence[Node] = (), **parts: object) -> Node:
        base = self.blocks[0].select
        items = [_of_rows(item, only) for item in self._items(select)]
        whole = changed(base, expressions=items, **parts)
        merged = {block.source.lower() for block in self.blocks}
        others = [one for one in named_queries(self.select) if name_of(one) not in merged]
        own = named_queries(base)
        hidden = {name_of(one) for one in own}
        return with_queries(whole, [*own, *(one for one in others if name_of(one) not in hidden)])

    def _items(self, select: Node) -> list[Node]:
        exp = optional.load("sqlglot.expressions")
        # As they are written here: what stands in for a total has another text.
        names = iter(output_names([one for one in self.select.expressions if not is_star(one)]))
        found = []
        for item in select.expressions:
            if is_star(item):
                shown = self._star(item)
            else:
                shown = [(next(names), self._meant(item_value(item)))]
            for name, value in shown:
                called = exp.to_identifier(name, quoted=True)
                found.append(exp.Alias(this=value.copy(), alias=called))
        return found

    def _star(self, item: Node) -> list[Item]:
        star = item if is_a(item, "Star") else item.this
        if any(given(star)):
            raise RefusedQuery("* with something behind it is not supported", next="Name columns")
        table = "" if is_a(item, "Star") else table_of(item).lower()
        found = [
            named
            for block in self.blocks
            if table in ("", block.name.lower())
            for named in block.items
        ]
        shown: dict[str, Item] = {}  # a key that answers share is shown once, where it is first
        for name, value in found:
            shown.setdefault(name.lower(), (name, value))
        return list(shown.values())

    def _order(self, select: Node, base: Node) -> Node | None:
        if not order_items(select):
            return part(base, "order")
        return ordered(select, self._meant)

    def _meant(self, node: Node) -> Node:
        """Return a node in which the names of the answers are written out."""
        exp = optional.load("sqlglot.expressions")
        found: Node = exp.Paren(this=node.copy())
        for inner in list(_outside_queries(found)):
            value = self._value(inner)
            if value is not None:
                inner.replace(exp.Paren(this=value.copy()))
        return found.this

    def _value(self, node: Node) -> Node | None:
        if not is_a(node, "Column"):
            return None
        table, name = table_of(node).lower(), node.name
        blocks = [block for block in self.blocks if table in ("", block.name.lower())]
        values = [value for block in blocks if (value := block.value(name)) is not None]
        if not values:
            self._require_given(node)
            return None
        if any(has_total(value) for value in values) and len(values) > 1:
            tables = [f"{block.name}.{name}" for block in blocks]
            raise RefusedQuery(
                f"Column '{name}' is in several tables", next=f"Write {' or '.join(tables)}"
            )
        return values[0]

    def _require_given(self, node: Node) -> None:
        """Refuse a name that no answer has, unless SELECT gives it to something."""
        given = {item_name(one).lower() for one in self.select.expressions if is_a(one, "Alias")}
        if not table_of(node) and node.name.lower() in given:
            return
        names = [name for block in self.blocks for name, _ in block.items]
        raise UnknownColumn(
            f"No column '{node.name}' in the answer that the query reads",
            next=f"{did_you_mean(node.name, names)}Columns: {', '.join(dict.fromkeys(names))}",
        )

    # Totals of an answer are windows over all of its rows.

    def _with_windows(self) -> "tuple[Node, _Totals]":
        """Return the SELECT with windows for totals over the rows of the answer."""
        select = self.select.copy()
        for node in list(scalar_queries(select)):
            self._write_out(node)
        beside = [one for one in scalar_queries(select) if self._is_total_of_all(one)]
        for node in beside:
            inner = node.this.expressions[0]
            node.replace(_over_all(_unqualified(item_value(inner))))
        values = [item_value(item) for item in select.expressions]
        if not any(map(has_total, values)):
            return select, _Totals.BESIDE if beside else _Totals.NONE
        for value in values:
            value.replace(_over_all(value))
        return select, _Totals.ALONE

    def _write_out(self, node: Node) -> None:
        """Put the query that WITH names into a sub-query that only reads its one column."""
        inner = node.this
        if not is_a(inner, "Select") or set(given(inner)) != {"expressions", "from_"}:
            return
        source, items = part(inner, "from_"), inner.expressions
        if source is None or not is_a(source.this, "Table") or len(items) != 1:
            return
        for query in named_queries(self.select):
            if name_of(query) != source.this.name.lower() or not is_a(query.this, "Select"):
                continue
            own = query.this.expressions
            if len(own) == 1 and item_name(own[0]).lower() == item_name(items[0]).lower():
                inner.replace(query.this.copy())

    def _is_total_of_all(self, node: Node) -> bool:
        """Tell whether a sub-query is a total over all rows of the answer that is read too."""
        inner = node.this
        if not is_a(inner, "Select") or set(given(inner)) != {"expressions", "from_"}:
            return False
        source = part(inner, "from_")
        assert source is not None
        name = source.this.name.lower() if is_a(source.this, "Table") else ""
        is_read = len(self.blocks) == 1 and name and name == self.blocks[0].source.lower()
        return bool(is_read) and len(inner.expressions) == 1 and has_total(inner.expressions[0])

    def _require_readable(self, select: Node) -> None:
        for name, what in (
            ("group", "GROUP BY"),
            ("having", "HAVING"),
            ("distinct", "DISTINCT"),
            ("windows", "WINDOW"),
        ):
            if is_set(select, name):
                raise _in_steps(f"{what} stands above an answer")

    def _has_inner_windows(self) -> bool:
        return any(has_part(value, "Window") for block in self.blocks for _, value in block.items)

    @staticmethod
    def _has_windows(select: Node, totals: "_Totals") -> bool:
        if totals is _Totals.ALONE:
            return True
        own = [item_value(item) for item in select.expressions]
        added = totals is _Totals.BESIDE
        return not added and any(has_part(value, "Window") for value in own)


class _Totals(Enum):
    """Where totals over the rows of an answer stand."""

    NONE = "nowhere"
    BESIDE = "beside its rows"
    ALONE = "alone"


def _over_all(node: Node) -> Node:
    """Return a node with a window over all rows for each total in it."""
    exp = optional.load("sqlglot.expressions")

    def change(inner: Node) -> Node:
        return exp.Window(this=inner.copy(), over="OVER") if is_total(inner) else inner

    return replaced(node, change)


def _of_rows(node: Node, only: Sequence[Node]) -> Node:
    """Return a node in which each total over all rows is of those alone that conditions leave."""
    chosen = clause("Where", only)
    if chosen is None:
        return node
    exp = optional.load("sqlglot.expressions")

    def change(inner: Node) -> Node:
        if not is_a(inner, "Window"):
            return inner
        value = part(inner.this, "this")
        result: Node = exp.Literal.number("1") if value is None or is_a(value, "Star") else value
        branch = exp.If(this=chosen.this.copy(), true=result.copy())
        return changed(inner, this=changed(inner.this, this=exp.Case(ifs=[branch])))

    return replaced(node, change)


def _unqualified(node: Node) -> Node:
    def change(inner: Node) -> Node:
        return changed(inner, table=None) if is_a(inner, "Column") else inner

    return replaced(node, change)


def _outside_queries(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        if not is_a(inner, "Query", "Column"):
            waiting += inner.iter_expressions(reverse=True)


def _in_steps(what: str) -> RefusedQuery:
    return RefusedQuery(
        f"{what}, which is not supported",
        must=f"be one aggregate over {UNITS}, and above it a choice, arithmetic or windows",
        next="Put the condition, the groups or the LIMIT into the SELECT that aggregates; or take"
        " the answer to a data frame and go on there, for nothing",
    )
