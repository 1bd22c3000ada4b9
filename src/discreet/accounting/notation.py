"""Events as people write them: ``gaussian(scale=10) * 1000 + laplace(scale=10) * 100``."""

import ast
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from discreet.accounting.notation_names import NAMES, SCALED, SHORT, require_steps
from discreet.core.contribution import Metric
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.numbers import Number, exact

LONGEST_TEXT = 10_000
LARGEST_COUNT = 10**9


def read_events(texts: str | Iterable[str]) -> ComposedEvent:
    """Return the composition of the events that ``texts`` write.

    Example:
        >>> read_events("gaussian(scale=10) * 1000 + pure(0.1)")
        GaussianEvent(scale=10) * 1000 + PureEvent(epsilon=0.1)
        >>> read_events("fixed_size(laplace(2, metric=change_one), population=900, sample=30)")
        FixedSizeSampledEvent(population=900, sample=30,
                              inner=LaplaceEvent(scale=2, metric='change_one')) * 1
    """
    lines = [texts] if isinstance(texts, str) else list(texts)
    return ComposedEvent.of([_read(text) for text in lines])


def read_scaled(text: str, *, distance: Number = 1) -> Callable[[Fraction], Event]:
    """Return what makes the events that ``text`` writes, for noise whose scale is left open.

    Example:
        >>> make = read_scaled("poisson(gaussian, rate=0.01) * 100")
        >>> make(Fraction(3)).parts[0][0].inner.scale
        Fraction(3, 1)
    """
    tree = _parsed(text)
    opened = _Opened(exact(distance))
    try:
        opened.visit(tree)
    except RecursionError:
        raise _unreadable(text) from None
    if not opened.found:
        raise InvalidArgument(
            "No scale is left open",
            must=f"name noise without a scale: {', '.join(SCALED)}",
            got=text[:80],
        )

    def make(scale: Fraction) -> Event:
        for constant in opened.found:
            constant.value = scale  # type: ignore[assignment]
        return _whole(tree, text)

    make(Fraction(1))
    return make


class _Opened(ast.NodeTransformer):
    """Give noise without a scale one that can be set later, and keep the places."""

    def __init__(self, distance: Fraction) -> None:
        self.distance, self.found = distance, list[ast.Constant]()

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Read a bare name as a call."""
        call = ast.Call(func=node, args=[], keywords=[])
        return self._scaled(call) if node.id in SCALED else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Look at the arguments, and at noise that has none for its scale."""
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        is_noise = isinstance(node.func, ast.Name) and node.func.id in SCALED
        has_scale = node.args or any(keyword.arg == "scale" for keyword in node.keywords)
        return self._scaled(node) if is_noise and not has_scale else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Look at both sides; a long sum is a deep tree to the left."""
        lowest = node
        while isinstance(lowest.left, ast.BinOp):
            lowest.right = self.visit(lowest.right)
            lowest = lowest.left
        lowest.left, lowest.right = self.visit(lowest.left), self.visit(lowest.right)
        return node

    def _scaled(self, call: ast.Call) -> ast.Call:
        constant = ast.Constant(value=1)
        self.found.append(constant)
        call.keywords.append(ast.keyword(arg="scale", value=constant))
        if not any(keyword.arg == "distance" for keyword in call.keywords):
            distance = ast.Constant(value=self.distance)  # type: ignore[arg-type]
            call.keywords.append(ast.keyword(arg="distance", value=distance))
        return call


def _read(text: str) -> Event:
    return _whole(_parsed(text), text)


def _whole(tree: ast.Expression, text: str) -> Event:
    """Return what is written; refuse what is nested more deeply than can be followed."""
    try:
        return _event(tree.body, text)
    except RecursionError:
        raise _unreadable(text) from None


def _parsed(text: str) -> ast.Expression:
    if len(text) > LONGEST_TEXT:
        raise InvalidArgument("The events are too long", must=f"be under {LONGEST_TEXT} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(text) from None
    return tree


def _event(node: ast.expr, text: str) -> Event:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return ComposedEvent.of([_event(term, text) for term in _terms(node)])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        counted = isinstance(node.right, ast.Constant)
        event, count = (node.left, node.right) if counted else (node.right, node.left)
        return repeated(_event(event, text), _number(count, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _called(node, node.func.id, text)
    raise _unreadable(text)


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum; a long one is a deep tree, so this must not call itself."""
    terms = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms.append(node.right)
        node = node.left
    return [node, *reversed(terms)]


def repeated(event: Event, number: Number) -> Event:
    """Return ``event`` a whole number of times; of a composition, each part so often."""
    count = exact(number)
    if count.denominator != 1 or not 0 < count <= LARGEST_COUNT:
        raise InvalidArgument(
            "A count is out of range", must=f"be whole, from 1 to {LARGEST_COUNT:,}", got=str(count)
        )
    times = count.numerator
    if isinstance(event, ComposedEvent):
        parts = tuple((part, inner * times) for part, inner in event.parts)
        return ComposedEvent(parts=parts, metric=event.metric)
    return event * times


def _called(node: ast.Call, name: str, text: str) -> Event:
    if name not in NAMES:
        raise Unsupported(
            f"No event is called '{name}'",
            next=f"Events: {', '.join(sorted(SHORT))}, and the kinds of all others",
        )
    positional = [_argument(argument, text) for argument in node.args]
    named: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _unreadable(text)
        is_metric = keyword.arg == "metric"
        named[keyword.arg] = (_metric if is_metric else _argument)(keyword.value, text)
    try:
        return require_steps(NAMES[name](*positional, **named))
    except (TypeError, AttributeError, ValueError):
        raise InvalidArgument(
            f"The arguments of '{name}' do not fit",
            got=text,
            next="See 'discreet account epsilon --help'",
        ) from None
    except DiscreetError as cause:
        raise InvalidArgument(f"{name}: {cause.what}", must=cause.must, got=cause.got) from None


def _metric(node: ast.expr, text: str) -> str:
    """Return the name of a neighbour relation, with or without quotes."""
    if isinstance(node, ast.Name) and node.id in {metric.value for metric in Metric}:
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise InvalidArgument(
        "The neighbour relation cannot be read",
        must=f"be one of {', '.join(metric.value for metric in Metric)}",
        got=text[:80],
    )


def _argument(node: ast.expr, text: str) -> Any:
    """Return a number, an event, or several of them in brackets."""
    if isinstance(node, ast.Tuple):
        return tuple(_argument(item, text) for item in node.elts)
    if any(isinstance(inside, ast.Call) for inside in ast.walk(node)):
        return _event(node, text)
    return _number(node, text)


def _number(node: ast.expr, text: str) -> Fraction:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        divisor = _number(node.right, text)
        if not divisor:
            raise _unreadable(text)
        return _number(node.left, text) / divisor
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | Fraction):
        return exact(node.value)
    raise _unreadable(text)


def _unreadable(text: str) -> InvalidArgument:
    return InvalidArgument(
        "The events cannot be read",
        must="look like 'gaussian(scale=10) * 1000 + pure(0.1)'",
        got=text[:80],
    )
