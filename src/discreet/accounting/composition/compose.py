r"""Compose (ε, δ) losses that were fixed beforehand: by one theorem, or by the best of all."""

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.composition.basic import basic_delta, basic_epsilon
from discreet.accounting.composition.concentrated import (
    closed_delta,
    closed_epsilon,
    rdp_delta,
    rdp_epsilon,
    squares_delta,
    squares_epsilon,
    tail_delta,
    tail_epsilon,
    zcdp_delta,
    zcdp_epsilon,
)
from discreet.accounting.composition.distribution import (
    pld_workload_delta,
    pld_workload_epsilon,
)
from discreet.accounting.composition.dwork_rothblum_vadhan import drv_delta, drv_epsilon
from discreet.accounting.composition.murtagh_vadhan import mv_delta, mv_epsilon
from discreet.accounting.composition.optimal import (
    kov_delta,
    kov_epsilon,
    optimal_delta,
    optimal_epsilon,
)
from discreet.accounting.composition.workload import (
    Losses,
    Workload,
    read_delta,
    read_epsilon,
)
from discreet.accounting.losses.result import Result, best
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number

Bound = Callable[[Workload, Fraction], Result]

METHODS: dict[str, tuple[Bound, Bound]] = {
    "basic": (basic_epsilon, basic_delta),
    "drv": (drv_epsilon, drv_delta),
    "squares": (squares_epsilon, squares_delta),
    "tail": (tail_epsilon, tail_delta),
    "closed_form": (closed_epsilon, closed_delta),
    "zcdp": (zcdp_epsilon, zcdp_delta),
    "rdp": (rdp_epsilon, rdp_delta),
    "kov": (kov_epsilon, kov_delta),
    "optimal": (optimal_epsilon, optimal_delta),
    "mv": (mv_epsilon, mv_delta),
    "pld": (pld_workload_epsilon, pld_workload_delta),
}
"""Each method's ε at a δ, and δ at an ε."""

_FEW = 12
"""With more different losses than this, the exact optimum is a sum over too many subsets."""

_QUICK = ("basic", "drv", "squares", "tail", "closed_form", "zcdp", "rdp")


def compose_epsilon(losses: Losses, *, delta: Number, method: str = "auto") -> Result:
    r"""Return an ε at which all ``losses`` together are (ε, ``delta``)-DP.

    Guarantee:
        The theorem that the result names, with every rounding up; ``lower``, where it is given, is
        below what any theorem could say from these losses alone. The mechanisms may be chosen
        adaptively, but not the losses: only :mod:`discreet.accounting.filters.rules` allow that.

        ``method`` is one of ``METHODS``, and then basic composition is taken if it is better, or
        ``auto``: the best of all, by the optimum if it can be computed, else by an interval.

    Example:
        >>> from discreet import Pure
        >>> result = compose_epsilon({Pure("0.1"): 1000}, delta="1e-6")
        >>> print(result)
        ε = 19.35, δ = 0.000001 (kov: KOV15, Theorem 3.3)
    """
    work, slack = Workload.read(losses), read_delta(delta)
    return best(_results(work, slack, method, 0))


def compose_delta(losses: Losses, *, epsilon: Number, method: str = "auto") -> Result:
    r"""Return a δ at which all ``losses`` together are (``epsilon``, δ)-DP.

    Guarantee:
        As for :func:`compose_epsilon`.

    Example:
        >>> from discreet import Pure
        >>> print(compose_delta({Pure("0.1"): 1000}, epsilon=20))
        ε = 20, δ = 3.458e-7 (kov: KOV15, Theorem 3.3)
    """
    work, target = Workload.read(losses), read_epsilon(epsilon)
    return best(_results(work, target, method, 1), by="delta")


def _results(work: Workload, at: Fraction, method: str, which: int) -> list[Result]:
    if method != "auto" and method not in METHODS:
        raise InvalidArgument(
            "That is not a method of composition",
            must=f"be one of auto, {', '.join(METHODS)}",
            got=method,
        )
    if method != "auto":
        named = METHODS[method][which](work, at)
        return [named, *_tried(work, at, ("basic",) if method != "basic" else (), which)]
    found = _optimum(work, at, which) + _tried(work, at, _QUICK, which)
    if not found:
        raise Unsupported(
            "Together these losses promise nothing there",
            must="leave something to the deltas of the losses, "
            f"which alone come to about {float(1 - work.kept[0]):.3g}",
            got=f"{float(at):.6g}",
            next="Ask at a larger delta or epsilon",
        )
    return found


def _optimum(work: Workload, at: Fraction, which: int) -> list[Result]:
    """Return the optimum: exactly if that is quick, else in an interval, the narrowest first."""
    for name in ("optimal", "pld", "mv") if len(work.parts) <= _FEW else ("pld", "mv"):
        found = _tried(work, at, (name,), which)
        if found:
            return found
    return []


def _tried(work: Workload, at: Fraction, names: tuple[str, ...], which: int) -> list[Result]:
    found = []
    for name in names:
        try:
            found.append(METHODS[name][which](work, at))
        except (Unsupported, InvalidArgument):
            continue
    return found
