"""Choose among valid methods: the one asked for, or the best of all."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from discreet.accounting.losses.result import Result, best
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact

AUTO = "auto"

Candidates = Mapping[str, Callable[[], Result]]
"""Each method by its name. One that does not apply raises ``Unsupported``."""


def choose(
    candidates: Candidates, method: str, *, by: str, named: Candidates | None = None
) -> Result:
    """Return the result of ``method``; ``auto`` takes the least ``by`` of those that apply.

    The ``named`` ones are not compared, because they are of another shape; they must be asked for.
    A method that refuses, or whose numbers are out of its range, is passed over: ``auto`` refuses
    only if all do. What the caller gave was looked at before.

    Guarantee:
        Every candidate is a true bound by its own theorem, so whichever is least is one too.
    """
    if method != AUTO:
        known = {**candidates, **(named or {})}
        require_method(method, known)
        return known[method]()
    found: list[Result] = []
    refusals: list[DiscreetError] = []
    for candidate in candidates.values():
        try:
            found.append(candidate())
        except (Unsupported, InvalidArgument) as refusal:
            refusals.append(refusal)
    if not found and refusals:
        raise refusals[-1]
    return best(found, by=by)


def require_method(method: str, known: Iterable[str]) -> None:
    """Refuse a method that there is not, and list those that there are."""
    names = list(known)
    if method not in names:
        raise InvalidArgument(
            "There is no such method here",
            must=f"be one of {', '.join((AUTO, *names))}",
            got=str(method),
        )


def one_of(delta: Number | None, epsilon: Number | None) -> tuple[Fraction | None, Fraction | None]:
    """Return what was given, exactly one of the two, after looking at its range."""
    if (delta is None) == (epsilon is None):
        raise InvalidArgument(
            "An (ε, δ) needs one of the two numbers to find the other",
            must="be given either delta or epsilon",
            got="neither" if delta is None else "both",
        )
    return optional_delta(delta, least_is_valid=False), optional_epsilon(epsilon)


def optional_delta(delta: Number | None, *, least_is_valid: bool) -> Fraction | None:
    """Check a δ: below 1, and above 0 unless ``least_is_valid``."""
    if delta is None:
        return None
    value = exact(delta)
    if not 0 <= value < 1 or (value == 0 and not least_is_valid):
        must = "be at least 0 and below 1" if least_is_valid else "lie strictly between 0 and 1"
        raise InvalidArgument("delta is out of range", must=must, got=str(value))
    return value


def optional_epsilon(epsilon: Number | None) -> Fraction | None:
    """Check an ε: at least 0."""
    if epsilon is None:
        return None
    value = exact(epsilon)
    if value < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(value))
    return value


def refuse_parameters(delta: Number | None, epsilon: Number | None) -> None:
    """Refuse a δ or ε where the target measure has no use for one."""
    if delta is not None or epsilon is not None:
        raise InvalidArgument(
            "This conversion takes neither delta nor epsilon",
            must="be called without them",
            got="delta" if epsilon is None else "epsilon",
        )


def promises_nothing(method: str) -> Unsupported:
    """Say that a bound is void at the ε that was asked for."""
    return Unsupported(
        f"At this ε the method '{method}' promises nothing",
        must="have a δ below 1",
        next="Ask for a larger ε, or give delta and let ε be found",
    )
