"""How SQLAlchemy's expressions become text here: questions do, and what would write is refused."""

from collections.abc import Iterable
from typing import Any, NoReturn

from discreet.core import optional

_compiler = optional.load("sqlalchemy.sql.compiler")
_exc = optional.load("sqlalchemy.exc")


def _refuse(what: str) -> NoReturn:
    raise _exc.CompileError(
        f"Discreet answers questions and writes nothing, so {what} is refused. Tables are declared"
        " by their owner, in discreet.toml"
    )


class ReadingCompiler(_compiler.SQLCompiler):  # type: ignore[misc, name-defined]
    """Writes SELECT, and refuses to write what changes rows."""

    def visit_insert(self, insert_stmt: object, **kw: object) -> NoReturn:
        """Refuse an INSERT."""
        _refuse("INSERT")

    def visit_update(self, update_stmt: object, **kw: object) -> NoReturn:
        """Refuse an UPDATE."""
        _refuse("UPDATE")

    def visit_delete(self, delete_stmt: object, **kw: object) -> NoReturn:
        """Refuse a DELETE."""
        _refuse("DELETE")

    def visit_like_op_binary(self, binary: Any, operator: object, **kw: object) -> str:
        """Return LIKE."""
        return self._like("LIKE", binary, **kw)

    def visit_not_like_op_binary(self, binary: Any, operator: object, **kw: object) -> str:
        """Return NOT LIKE."""
        return self._like("NOT LIKE", binary, **kw)

    def limit_clause(self, select: Any, **kw: object) -> str:
        """Return LIMIT and OFFSET, each only if it is there."""
        clauses = (("LIMIT", select._limit_clause), ("OFFSET", select._offset_clause))
        return self._clauses(clauses, **kw)

    def fetch_clause(self, select: Any, **kw: Any) -> str:
        """Return FETCH FIRST as LIMIT, which is the same."""
        if any(select._fetch_clause_options.values()):
            raise _exc.CompileError("FETCH with PERCENT or WITH TIES is not supported: use limit()")
        clauses = (("LIMIT", select._fetch_clause), ("OFFSET", select._offset_clause))
        return self._clauses(clauses, **kw)

    def _clauses(self, clauses: Iterable[tuple[str, Any]], **kw: object) -> str:
        return "".join(
            f"\n {word} {self.process(clause, **kw)}"
            for word, clause in clauses
            if clause is not None
        )

    def visit_ilike_case_insensitive_operand(self, element: Any, **kw: object) -> str:
        """Return the text itself: ILIKE looks at small letters by itself."""
        text: str = element.element._compiler_dispatch(self, **kw)
        return text

    def visit_ilike_op_binary(self, binary: Any, operator: object, **kw: object) -> str:
        """Return ILIKE."""
        return self._like("ILIKE", binary, **kw)

    def visit_not_ilike_op_binary(self, binary: Any, operator: object, **kw: object) -> str:
        """Return NOT ILIKE."""
        return self._like("NOT ILIKE", binary, **kw)

    def _like(self, word: str, binary: Any, **kw: object) -> str:
        if binary.modifiers.get("escape") is not None:
            raise _exc.CompileError(
                "ESCAPE is not supported: use func.contains(column, text) or"
                " func.starts_with(column, text) for a sign that LIKE would read"
            )
        left, right = (self.process(side, **kw) for side in (binary.left, binary.right))
        return f"{left} {word} {right}"


class RefusingCompiler(_compiler.DDLCompiler):  # type: ignore[misc, name-defined]
    """Refuses to write CREATE, ALTER, DROP and whatever else changes tables."""

    def process(self, obj: Any, **kw: object) -> NoReturn:
        """Refuse it, whatever it is."""
        words = type(obj).__visit_name__.replace("_", " ").upper()
        _refuse(words)
