"""From a declared exact release to the statistic that is certified: one builder for each law.

A law is declared as a table with a ``kind``. What else it says is read here, with errors that name
where it stands.
"""

from collections.abc import Callable

from discreet.core.errors import DeclarationError, DiscreetError
from discreet.noiseless.certifiable import Certifiable
from discreet.noiseless.exact.exact_plan import ExactPlan

BuildStatistic = Callable[[ExactPlan], Certifiable]
"""Makes the statistic of a plan under the law that is declared with it."""

LAWS: dict[str, BuildStatistic] = {}
"""The laws that an owner can assert, by the ``kind`` of their declaration."""


def statistic_of(plan: ExactPlan) -> Certifiable:
    """Return the statistic of a plan under its declared law; refuse a law that is not known."""
    declared = plan.declared
    kind = declared.law["kind"]
    build = LAWS.get(kind)
    if build is None:
        raise DeclarationError(
            f"{declared.place}: the law is of no kind that is known",
            must=f"be one of {', '.join(sorted(LAWS)) or 'none'}",
            got=str(kind),
        )
    try:
        return build(plan)
    except DeclarationError:
        raise
    except DiscreetError as cause:
        raise DeclarationError(
            f"{declared.place}: {cause.what}", must=cause.must, got=cause.got, next=cause.next
        ) from None
    except (KeyError, TypeError, ValueError):
        raise DeclarationError(
            f"{declared.place}: the law lacks something, or has something of another type",
            must=f"be as the reference says of laws of kind {kind}",
        ) from None
