"""A result: a certified loss, with the method and the theorem that it rests on."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.errors import NoSuchNumber, Unsupported
from discreet.core.html_text import html_page, html_table
from discreet.core.loss import Approximate, PrivacyLoss, Pure


@frozen(kw_only=True, repr=False)
class Result:
    """What an accountant or a conversion found.

    Guarantee:
        ``loss`` is a true bound: every rounding in it went up. ``lower``, where it is known, bounds
        from below what any method could say about the same events.

    Example:
        >>> from discreet import Pure
        >>> print(Result(loss=Pure(1), method="basic", theorem="DR14, Theorem 3.14"))
        ε = 1 (basic: DR14, Theorem 3.14)

        At a prompt it is shorter, and "≤" says that a number was rounded up to be shown; the exact
        ones are a step away.

        >>> from discreet import Approximate
        >>> found = Result(loss=Approximate("25/3", "1e-6"), method="pld", theorem="ZDW22")
        >>> found
        ε ≤ 8.334 at δ = 0.000001 (pld)
        >>> found.epsilon, float(found.delta)
        (Fraction(25, 3), 1e-06)
    """

    loss: PrivacyLoss
    method: str
    theorem: str
    lower: PrivacyLoss | None = None
    others: tuple["Result", ...] = ()
    """The results that were valid too, and not better."""

    @property
    def epsilon(self) -> Fraction:
        """The exact ε of the loss."""
        return self._number("epsilon")

    @property
    def delta(self) -> Fraction:
        """The exact δ of the loss; a pure one has 0."""
        return Fraction(0) if isinstance(self.loss, Pure) else self._number("delta")

    @property
    def rho(self) -> Fraction:
        """The exact ρ of the loss."""
        return self._number("rho")

    def _number(self, name: str) -> Fraction:
        found = getattr(self.loss, name, None)
        if not isinstance(found, Fraction):
            raise NoSuchNumber(
                f"This loss has no {name}",
                got=str(self.loss),
                next="Convert it to a measure that has one, or look at 'loss'",
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values; exact numbers as text."""
        return {
            "loss": self.loss.to_json(),
            "lower": None if self.lower is None else self.lower.to_json(),
            "method": self.method,
            "theorem": self.theorem,
            "others": [{"loss": r.loss.to_json(), "method": r.method} for r in self.others],
        }

    def __str__(self) -> str:
        """Show the loss, and why."""
        return f"{self.loss} ({self.method}: {self.theorem})"

    def __repr__(self) -> str:
        """Show the loss in short decimals, rounded up, and the method."""
        joint = " at " if isinstance(self.loss, Approximate) else ", "
        return f"{joint.join(self.loss.numbers(is_marked=True))} ({self.method})"

    def _repr_html_(self) -> str:
        rows = [[r.method, str(r.loss), r.theorem] for r in (self, *self.others)]
        return html_page(html_table(["method", "loss", "theorem"], rows))


def best(results: Iterable[Result], *, by: str = "epsilon") -> Result:
    """Return the result whose loss has the least ``by``, keeping the others beside it.

    All are valid, so the least is; ties go to the first.
    """
    by_name: dict[str, Result] = {}
    for result in sorted(results, key=lambda result: getattr(result.loss, by)):
        by_name.setdefault(result.method, result)
    found = list(by_name.values())
    if not found:
        raise Unsupported("No method applies here")
    lowers = [result.lower for result in found if result.lower is not None]
    lower = max(lowers, key=lambda loss: getattr(loss, by), default=None)
    first = found[0]
    return Result(
        loss=first.loss,
        method=first.method,
        theorem=first.theorem,
        lower=lower,
        others=tuple(found[1:]),
    )
