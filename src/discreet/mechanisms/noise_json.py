"""Mechanisms that answer an aggregate: all that there are, and the way back from JSON."""

from typing import Any

from discreet.core.errors import LedgerError
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import QuantileEnd

Noise = DiscreteLaplace | DiscreteGaussian
NOISES: tuple[type[Noise], ...] = (DiscreteGaussian, DiscreteLaplace)
"""Every noise that can be added to an aggregate. Of two with the same error, the first is taken."""

AggregateMechanism = Noise | Quantile
"""What turns one aggregate's exact integers into noisy ones."""

MECHANISMS: tuple[type[AggregateMechanism], ...] = (DiscreteLaplace, DiscreteGaussian, Quantile)
"""Every one that can stand in a release."""

_LAWS = {cls.law: cls for cls in MECHANISMS}


def read_end(data: dict[str, Any]) -> QuantileEnd:
    """Read the mechanism that chose an end of a quantile's interval."""
    if data.get("law") != QuantileEnd.law:
        raise LedgerError(
            "The stored release has an end that we do not know", got=str(data.get("law"))
        )
    return QuantileEnd(**{name: value for name, value in data.items() if name != "law"})


def read_noise(data: dict[str, Any]) -> AggregateMechanism:
    """Read what :meth:`~discreet.mechanisms.noise.named_mechanism.NamedMechanism.to_json` wrote.

    Example:
        >>> read_noise({"law": "discrete_laplace", "scale": "7/2"})
        DiscreteLaplace(scale=Fraction(7, 2))
    """
    cls = _LAWS.get(str(data.get("law")))
    if cls is None:
        raise LedgerError(
            "The stored release has noise that we do not know", got=str(data.get("law"))
        )
    return cls(**{name: value for name, value in data.items() if name != "law"})
