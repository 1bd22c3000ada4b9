"""Events as people write them: ``gaussian(scale=10) * 1000 + laplace(scale=10) * 100``."""

import ast
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.event import (
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    TwoCoinResponseEvent,
)
from discreet.core.numbers import Number, exact
from discreet.core.sampling_event import PoissonSampledEvent
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)

LONGEST_TEXT = 10_000
LARGEST_COUNT = 10**9


def _discrete_gaussian(scale: Number, distance: Number = 1) -> Event:
    moved = _whole_distance(distance)
    return DiscreteGaussianEvent(
        sigma_squared=exact(scale) ** 2, distance_squared=moved**2, entries=1, largest=moved
    )


def _whole_distance(distance: Number) -> Fraction:
    """Refuse a part of a step: integers cannot move by one, so it is a mistake of units."""
    moved = exact(distance)
    if moved.denominator != 1:
        raise InvalidArgument(
            "distance is not whole", must="count steps of discrete noise", got=str(moved)
        )
    return moved


def _response(p: Number) -> Event:
    right = exact(p)
    if not Fraction(1, 2) <= right < 1:
        raise InvalidArgument("p is out of range", must="lie from 1/2 to below 1", got=str(right))
    return TwoCoinResponseEvent(truth=2 * right - 1, yes=Fraction(1, 2))


NAMES: dict[str, Callable[..., Event]] = {
    "pure": lambda epsilon: PureEvent(epsilon=epsilon),
    "approx": lambda epsilon, delta: ApproximateEvent(epsilon=epsilon, delta=delta),
    "zcdp": lambda rho, xi=0: ZcdpEvent(rho=rho, xi=xi),
    "gaussian": lambda scale, distance=1: GaussianEvent(scale=scale, distance=distance),
    "laplace": lambda scale, distance=1: LaplaceEvent(scale=scale, distance=distance),
    "discrete_gaussian": _discrete_gaussian,
    "discrete_laplace": lambda scale, distance=1: DiscreteLaplaceEvent(
        scale=scale, distance=_whole_distance(distance)
    ),
    "rr": _response,
    "exponential": lambda epsilon: BoundedRangeEvent(epsilon=epsilon),
    "poisson": lambda inner, rate: PoissonSampledEvent(inner=inner, rate=rate),
}
"""What can be written, and the event that it means."""


def read_events(texts: str | Iterable[str]) -> ComposedEvent:
    """Return the composition of the events that ``texts`` write.

    Example:
        >>> read_events("gaussian(scale=10) * 1000 + pure(0.1)").parts[0][1]
        1000
    """
    lines = [texts] if isinstance(texts, str) else list(texts)
    return ComposedEvent.of([_read(text) for text in lines])


SCALED = ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace")
"""Noise whose scale may be left open."""


def read_scaled(text: str, *, distance: Number = 1) -> Callable[[Fraction], Event]:
    """Return what makes the events that ``text`` writes, for noise whose scale is left open.

    Example:
        >>> make = read_scaled("poisson(gaussian, rate=0.01) * 100")
        >>> make(Fraction(3)).parts[0][0].inner.scale
        Fraction(3, 1)
    """
    tree = _parsed(text)
    opened = _Opened(exact(distance))
    opened.visit(tree)
    if not opened.found:
        raise InvalidArgument(
            "No scale is left open",
            must=f"name noise without a scale: {', '.join(SCALED)}",
            got=text[:80],
        )

    def make(scale: Fraction) -> Event:
        for constant in opened.found:
            constant.value = scale  # type: ignore[assignment]
        return _event(tree.body, text)

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

    def _scaled(self, call: ast.Call) -> ast.Call:
        constant = ast.Constant(value=1)
        self.found.append(constant)
        call.keywords.append(ast.keyword(arg="scale", value=constant))
        if not any(keyword.arg == "distance" for keyword in call.keywords):
            distance = ast.Constant(value=self.distance)  # type: ignore[arg-type]
            call.keywords.append(ast.keyword(arg="distance", value=distance))
        return call


def _read(text: str) -> Event:
    return _event(_parsed(text).body, text)


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
        return _event(node.left, text) + _event(node.right, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        counted = isinstance(node.right, ast.Constant)
        event, count = (node.left, node.right) if counted else (node.right, node.left)
        return repeated(_event(event, text), _number(count, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _called(node, node.func.id, text)
    raise _unreadable(text)


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
            f"No event is called '{name}'", next=f"Events: {', '.join(sorted(NAMES))}"
        )
    positional = [_argument(argument, text) for argument in node.args]
    named: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _unreadable(text)
        named[keyword.arg] = _argument(keyword.value, text)
    try:
        return NAMES[name](*positional, **named)
    except (TypeError, AttributeError):
        raise InvalidArgument(
            f"The arguments of '{name}' do not fit",
            got=text,
            next="See 'discreet account epsilon --help'",
        ) from None
    except DiscreetError as cause:
        raise InvalidArgument(f"{name}: {cause.what}", must=cause.must, got=cause.got) from None


def _argument(node: ast.expr, text: str) -> Fraction | Event:
    """Return a number, or the event, or several, that a sampled event looks at."""
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
