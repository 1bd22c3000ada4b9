"""A result: a certified loss, with the method and the theorem that it rests on."""

from collections.abc import Iterable
from html import escape
from typing import Any

from attrs import field, frozen

from discreet.core.errors import Unsupported
from discreet.core.loss import PrivacyLoss


@frozen(kw_only=True)
class Result:
    """What an accountant or a conversion found.

    Guarantee:
        ``loss`` is a true bound: every rounding in it went up. ``lower``, where it is known, bounds
        from below what any method could say about the same events.

    Example:
        >>> from discreet.core.loss import Pure
        >>> print(Result(loss=Pure(1), method="basic", theorem="DR14, Theorem 3.14"))
        ε = 1 (basic: DR14, Theorem 3.14)
    """

    loss: PrivacyLoss
    method: str
    theorem: str
    lower: PrivacyLoss | None = None
    others: tuple["Result", ...] = field(default=(), repr=False)
    """The results that were valid too, and not better."""

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

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(r.method)}</td><td>{escape(str(r.loss))}</td>"
            f"<td>{escape(r.theorem)}</td></tr>"
            for r in (self, *self.others)
        )
        return f"<table><tr><th>method</th><th>loss</th><th>theorem</th></tr>{rows}</table>"


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
