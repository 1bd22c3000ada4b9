"""How large an expression is when everything that it repeats is written out."""

from discreet.tables.expression import Call, Expression


def measure(expression: Expression) -> tuple[int, int]:
    """Return the depth and the number of nodes, counting a shared part each time.

    Shared parts are measured once, so this takes time in proportion to the distinct ones even if
    the whole is exponentially large. The walk is a loop: deep expressions do not exhaust the stack.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> from discreet.tables.expression import Literal
        >>> one = Literal(ColumnType.INTEGER, 1)
        >>> two = Call(ColumnType.INTEGER, "+", (one, one))
        >>> measure(Call(ColumnType.INTEGER, "*", (two, two)))
        (3, 7)
    """
    known: dict[int, tuple[int, int]] = {}
    waiting = [expression]
    while waiting:
        node = waiting[-1]
        parts = node.arguments if isinstance(node, Call) else ()
        missing = [part for part in parts if id(part) not in known]
        if missing:
            waiting += missing
            continue
        measures = [known[id(part)] for part in parts]
        depth = 1 + max((d for d, _ in measures), default=0)
        known[id(node)] = (depth, 1 + sum(size for _, size in measures))
        waiting.pop()
    return known[id(expression)]
