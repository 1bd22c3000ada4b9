"""Which scheme for shares: by how exact its estimates are, and how long its reports."""

import math
from collections.abc import Iterator

from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.local.frequency import subset_selection, unary
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.hadamard import hadamard_response
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.frequency.local_hashing import MOST_CATEGORIES, LocalHashing
from discreet.local.frequency.share_estimate import aligned

NEAR = 1.05
"""Standard errors within this factor of the least are as good as it."""


@frozen(kw_only=True)
class FrequencyOffer:
    """A scheme, with what it costs: the standard error of a rare value's share, and bytes."""

    name: str
    scheme: FrequencyScheme
    error: float

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return self.scheme.size


@frozen(kw_only=True)
class FrequencyChoice:
    """The scheme to take, all that were compared (the chosen one first), and why."""

    offers: tuple[FrequencyOffer, ...]
    why: str

    @property
    def scheme(self) -> FrequencyScheme:
        """The chosen scheme."""
        return self.offers[0].scheme

    def table(self) -> str:
        """Return what was compared as aligned text.

        ``people`` is how many times as many people a scheme needs for the least error of all.
        """
        least = min(offer.error for offer in self.offers)
        rows = [("scheme", "bytes a report", "standard error", "people")]
        rows += [
            (offer.name, f"{offer.size:,}", f"{offer.error:.3g}", f"x {times:.3g}")
            for offer in self.offers
            for times in [(offer.error / least) ** 2]
        ]
        return aligned(rows)


def choose_frequency(
    *, categories: int, epsilon: Number, people: int, most_bytes: int | None = None
) -> FrequencyChoice:
    """Return the scheme with the shortest reports among those of nearly the least error.

    Errors are standard deviations of the estimated share of a value that nobody holds; those within
    5 % of the least count as equal. Looking at nothing but public numbers, it costs no privacy.

    Example:
        >>> choice = choose_frequency(categories=100_000, epsilon=1, people=1_000_000)
        >>> choice.offers[0].name, choice.scheme.size
        ('local hashing', 3)
        >>> choose_frequency(categories=3, epsilon=1, people=1000).offers[0].name
        'k-ary response'
    """
    count, everyone = check.whole(categories), check.whole(people)
    if everyone < 1:
        raise InvalidArgument("people is out of range", must="be at least 1", got=str(people))
    if not 2 <= count <= MOST_CATEGORIES:
        raise InvalidArgument(
            "categories is out of range",
            must=f"be from 2 to {MOST_CATEGORIES:,}",
            got=str(categories),
            next="HadamardSketch.draw takes larger domains, if values are then asked for by name",
        )
    found = [
        FrequencyOffer(name=name, scheme=scheme, error=math.sqrt(scheme.variance(everyone)))
        for name, scheme in _schemes(count, epsilon)
    ]
    offers = [offer for offer in found if most_bytes is None or offer.size <= most_bytes]
    if not offers:
        raise InvalidArgument(
            "No scheme has reports that short",
            must=f"allow {min(offer.size for offer in found)} bytes or more",
            got=str(most_bytes),
        )
    least = min(offers, key=lambda offer: offer.error)
    near = [offer for offer in offers if offer.error <= NEAR * least.error]
    best = min(near, key=lambda offer: (offer.size, offer.error))
    rest = sorted((o for o in offers if o is not best), key=lambda offer: offer.error)
    return FrequencyChoice(offers=(best, *rest), why=_why(best, least, near, everyone))


def _schemes(categories: int, epsilon: Number) -> Iterator[tuple[str, FrequencyScheme]]:
    yield "k-ary response", KaryResponse.calibrate(categories=categories, epsilon=epsilon)
    yield "Hadamard response", hadamard_response(categories=categories, epsilon=epsilon)
    hashing = LocalHashing.calibrate(categories=categories, epsilon=epsilon)
    if hashing.bits > 1:
        yield "local hashing", hashing
    if categories <= unary.MOST_CATEGORIES:
        yield (
            "optimised unary encoding",
            unary.UnaryEncoding.optimised(categories=categories, epsilon=epsilon),
        )
    if categories <= subset_selection.MOST_CATEGORIES:
        yield (
            "subset selection",
            subset_selection.SubsetSelection.calibrate(categories=categories, epsilon=epsilon),
        )


def _why(
    best: FrequencyOffer, least: FrequencyOffer, near: list[FrequencyOffer], people: int
) -> str:
    size = f"{best.size:,} {'byte' if best.size == 1 else 'bytes'}"
    begins = (
        f"With {people:,} people, {best.name} estimates the share of a rare value with a standard "
        f"error of {best.error:.3g}"
    )
    if best is least and len(near) == 1:
        return f"{begins}. No other comes within 5 % of that; a report has {size}."
    if best is least:
        return (
            f"{begins}. None is more exact, and of those that come near, none is shorter: {size}."
        )
    return (
        f"{begins}, within 5 % of the least ({least.name}, {least.error:.3g}). Of those that come "
        f"so near its reports are the shortest: {size}, where {least.name} has {least.size:,}."
    )
