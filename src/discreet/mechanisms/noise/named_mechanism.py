"""A mechanism that answers an aggregate says itself what it is: its name, its scale, its JSON."""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

import attrs

from discreet.core.loss import short


@attrs.frozen
class NamedMechanism(ABC):
    """What releases and explanations need to know of a mechanism. They guess nothing about it."""

    law: ClassVar[str]
    """What it is stored as."""
    words: ClassVar[str]
    """What people call it."""
    counts_ranks: ClassVar[bool] = False
    """Whether its scale and its error are in ranks, and not in steps of the aggregate."""

    @property
    @abstractmethod
    def spread(self) -> Fraction:
        """How wide it is: the scale, or for a Gaussian its σ, rounded up."""

    def scale_in_words(self, step: Fraction) -> str:
        """Return the spread as a short decimal, in the units of the answer (or in ranks)."""
        if self.counts_ranks:
            return short(self.spread)
        value = self.spread * step
        return str(math.ceil(value)) if value >= _LARGE else short(value)

    def to_json(self) -> dict[str, str]:
        """Return the mechanism as public values, for a release.

        Example:
            >>> from discreet import DiscreteLaplace
            >>> DiscreteLaplace(scale="7/2").to_json()
            {'law': 'discrete_laplace', 'scale': '7/2'}
        """
        names = [part.name for part in attrs.fields(type(self))]
        return {"law": self.law} | {name: str(getattr(self, name)) for name in names}


_LARGE = 1000
