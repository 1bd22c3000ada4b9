"""Pairs in DuckDB's SQL: two sides are joined so that each is worked on completely.

An engine takes short cuts. Where no row is on the right, no row of the left has a partner: so it
stops, and what it would have computed for everybody's rows is never computed. A question can leave
the rows of one person alone on the right. Then whether that person is there would decide how long
everybody's rows take, and no limit on one person's work can help against that.
"""

from collections.abc import Sequence

from attrs import evolve, frozen

from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.owner import owner_columns, same_owner
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal, fields_in, moved
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation

NOBODYS = {
    ColumnType.BOOLEAN: "FALSE",
    ColumnType.INTEGER: "0::BIGINT",
    ColumnType.REAL: "0::DOUBLE",
    ColumnType.TEXT: "''",
    ColumnType.DATE: "DATE '2000-01-01'",
}
"""A value of each type that is not NULL: a row with a NULL in one of its keys is not held."""

_TRUE = Literal(ColumnType.BOOLEAN, True)


def fields(count: int, row: str = "") -> list[str]:
    """Return the names of the first ``count`` fields, of the row called ``row``."""
    prefix = f"{row}." if row else ""
    return [f"{prefix}f{i}" for i in range(count)]


@frozen(kw_only=True)
class Pairs:
    """Two sides, called ``l`` and ``r``, and when two of their rows are a pair. All are SQL.

    Guarantee:
        *Each side is worked on completely, whatever the other holds*, in an engine that does what
        is written where it is written (:mod:`discreet.engines.duckdb.databases`). All rows
        of the right are held before one of the left is looked at, and nothing stops that. The left
        is stopped only if nothing is held. If the right is public, so is that. To a private right a
        row is added that is nobody's: its owner is NULL, so it is no partner of anybody, and its
        keys are not NULL, so it is held. So the keys of every row of the left are computed and
        looked up, whoever else is there.

        *All else is computed for pairs of one owner only*, as it is counted
        (:mod:`discreet.tables.plans.work`): ``on`` compares the owners and plain columns, and what
        remains is one expression over both sides, of which the engine computes no part on a side.
    """

    left: str
    right: str
    on: str


def pairs(node: Join | Exists, left: str, right: str) -> Pairs:
    """Return the sides of a join, whose SELECTs are ``left`` and ``right``, and its condition."""
    if node.right.owner() is None:
        asked = [] if node.condition is None else [node.condition]
        return Pairs(left=left, right=right, on=_asked(node, asked) or "TRUE")
    parts = _Parts.of(node)
    names = zip(_keys(parts.left, "l"), _keys(parts.right, "r"), strict=True)
    same = [*same_owner(node.left, node.right), *(" = ".join(pair) for pair in names)]
    compared = [f"({_asked(node, [part])})" for part in parts.compared]
    rest = [f"coalesce({_asked(node, parts.rest)}, FALSE)"] if parts.rest else []
    return Pairs(
        left=_side(node.left, left, parts.left),
        right=_never_empty(node.right, _side(node.right, right, parts.right), parts.right),
        on=" AND ".join([*same, *compared, *rest]) or "TRUE",
    )


@frozen(kw_only=True)
class _Parts:
    """The parts of a condition: keys of both sides that must be equal, and what else is asked."""

    left: tuple[Expression, ...] = ()
    right: tuple[Expression, ...] = ()
    """Over the fields of the right alone."""
    compared: tuple[Expression, ...] = ()
    """Comparisons of a field of the left with one of the right."""
    rest: tuple[Expression, ...] = ()

    @staticmethod
    def of(node: Join | Exists) -> "_Parts":
        found, width = _Parts(), len(node.left.fields())
        for part in _conjuncts(node.condition):
            found = found.adding(part, width)
        return found

    def adding(self, part: Expression, width: int) -> "_Parts":
        """Return the parts with one more: what one side tells is a key, equal to TRUE."""
        sides = _sides(part, width)
        if sides == {"l"} or not sides:
            return self.with_keys(part, _TRUE)
        if sides == {"r"}:
            return self.with_keys(_TRUE, _of_right(part, width))
        if isinstance(part, Call) and part.function == "=":
            for here, there in (part.arguments, part.arguments[::-1]):
                if _sides(here, width) == {"l"} and _sides(there, width) == {"r"}:
                    return self.with_keys(here, _of_right(there, width))
        if _is_comparison(part):
            return evolve(self, compared=(*self.compared, part))
        return evolve(self, rest=(*self.rest, part))

    def with_keys(self, left: Expression, right: Expression) -> "_Parts":
        return evolve(self, left=(*self.left, left), right=(*self.right, right))


_COMPARISONS = ("<", "<=", ">", ">=", "<>")


def _is_comparison(part: Expression) -> bool:
    """Tell whether a condition compares two fields."""
    if not isinstance(part, Call) or part.function not in _COMPARISONS:
        return False
    return all(isinstance(side, FieldValue) for side in part.arguments)


def _conjuncts(condition: Expression | None) -> list[Expression]:
    """Return the parts that are joined by AND."""
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in _conjuncts(argument)]
    return [] if condition is None else [condition]


def _sides(part: Expression, width: int) -> set[str]:
    return {"l" if index < width else "r" for index in fields_in(part)}


def _of_right(part: Expression, width: int) -> Expression:
    return moved(part, {index: index - width for index in fields_in(part)})


def _asked(node: Join | Exists, parts: Sequence[Expression]) -> str:
    """Return that all parts of a condition hold; nothing if there are none."""
    cells = [*fields(len(node.left.fields()), "l"), *fields(len(node.right.fields()), "r")]
    found = [f"({expression(part, cells)})" for part in parts]
    return f"({' AND '.join(found)})" if found else ""


def _keys(keys: Sequence[Expression], row: str) -> list[str]:
    """Return the names of the keys of a side: a field has one already."""
    return [
        f"{row}.f{key.index}" if isinstance(key, FieldValue) else f"{row}.e{i}"
        for i, key in enumerate(keys)
    ]


def _side(relation: Relation, rows: str, keys: Sequence[Expression]) -> str:
    """Return the rows of one side, with its keys: those that are no fields as ``e0`` and so on."""
    names = fields(len(relation.fields()))
    made = [f"{expression(key, names)} AS e{i}" for i, key in _made(keys)]
    return f"SELECT {', '.join([*owner_columns(relation), *names, *made])} FROM ({rows})"


def _never_empty(relation: Relation, rows: str, keys: Sequence[Expression]) -> str:
    """Return the rows and one that is nobody's."""
    kinds = [*(field.type for field in relation.fields()), *(key.type for _, key in _made(keys))]
    nobody = ["NULL" for _ in owner_columns(relation)]
    return f"{rows} UNION ALL SELECT {', '.join([*nobody, *(NOBODYS[kind] for kind in kinds)])}"


def _made(keys: Sequence[Expression]) -> list[tuple[int, Expression]]:
    return [(i, key) for i, key in enumerate(keys) if not isinstance(key, FieldValue)]
