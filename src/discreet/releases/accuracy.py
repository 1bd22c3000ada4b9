"""An accuracy: how close the answer must be, and how surely. The price then follows from it."""

import re
from fractions import Fraction
from functools import lru_cache

from attrs import Attribute, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.core.numbers import Number, exact
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile

CONFIDENCE = Fraction(19, 20)
"""How surely noise stays within an accuracy or an error bar, unless another share is asked for."""


def _share(_: object, __: "Attribute[Fraction]", value: Fraction) -> None:
    if not 0 < value < 1:
        raise InvalidArgument(
            "confidence is out of range",
            must="lie strictly between 0 and 1, such as 0.95",
            got=str(value),
        )


def _some_rows(_: object, __: "Attribute[int | None]", value: int | None) -> None:
    if value is not None and value < 1:
        raise InvalidArgument("group_size is out of range", must="be at least 1", got=str(value))


@frozen(kw_only=True)
class Accuracy:
    """The noise of every value shall be within ± ``within``, in ``confidence`` of all cases.

    It is about the noise alone: what limits and clamps leave out is not part of it. ``group_size``
    is a premise that the analyst states (so many rows are kept in every group that matters); an
    average needs one. Nobody checks it against the data, and privacy does not depend on it.

    Example:
        >>> print(Accuracy(within=50, confidence="0.99"))
        ± 50 at 99 %
    """

    within: Fraction = field(converter=exact, validator=check.positive)
    confidence: Fraction = field(default=CONFIDENCE, converter=exact, validator=_share)
    group_size: int | None = field(
        default=None, converter=check.optional_whole, validator=_some_rows
    )

    @property
    def beta(self) -> Fraction:
        """How often the noise may be larger."""
        return 1 - self.confidence

    def __str__(self) -> str:
        """Show it as it may be written."""
        size = "" if self.group_size is None else f" in groups of {self.group_size} rows or more"
        return f"± {short(self.within)} at {short(100 * self.confidence)} %{size}"


_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_WRITTEN = re.compile(
    rf"(?:±|\+/?-|within)?\s*(?P<within>{_NUMBER})"
    rf"(?:\s*(?:at|@|with)\s*(?P<confidence>{_NUMBER})\s*(?P<percent>%|percent)?)?",
    re.ASCII | re.IGNORECASE,
)


def read_accuracy(value: "Accuracy | Number") -> Accuracy:
    """Return the accuracy that a number or a text means; without a confidence it is 95 %.

    Example:
        >>> read_accuracy("±50 at 99 %") == Accuracy(within=50, confidence="0.99")
        True
        >>> read_accuracy("within 2.5"), read_accuracy(50).within
        (Accuracy(within=Fraction(5, 2), confidence=Fraction(19, 20), group_size=None), ...)
    """
    if isinstance(value, Accuracy):
        return value
    if not isinstance(value, str):
        return Accuracy(within=value)
    found = _WRITTEN.fullmatch(value.strip())
    if found is None:
        raise InvalidArgument(
            "The accuracy cannot be read", must="look like '±50 at 95 %'", got=value[:40]
        )
    if found["confidence"] is None:
        return Accuracy(within=found["within"])
    confidence = exact(found["confidence"])
    if confidence == 1 and not found["percent"]:
        raise InvalidArgument(
            "No noise is certain to stay within a bound",
            must="have a confidence below 1, such as 0.95 or 95 %",
            got=value[:40],
        )
    if found["percent"] or confidence > 1:
        confidence /= 100
    return Accuracy(within=found["within"], confidence=confidence)


@lru_cache(maxsize=4096)
def error_of(mechanism: DiscreteLaplace | DiscreteGaussian | Quantile, beta: Fraction) -> Fraction:
    """Return the mechanism's ``error_quantile``; all that it depends on is public and frozen.

    Example:
        >>> error_of(DiscreteLaplace(scale=5), Fraction(1, 20))
        Fraction(15, 1)
    """
    return mechanism.error_quantile(beta)
