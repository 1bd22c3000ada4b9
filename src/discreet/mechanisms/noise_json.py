"""Mechanisms that answer an aggregate, written down for a release and read again."""

from typing import Any

from discreet.core.errors import LedgerError, Unsupported
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile

Noise = DiscreteLaplace | DiscreteGaussian
AggregateMechanism = Noise | Quantile
"""What turns one aggregate's exact integers into noisy ones."""

_LAWS: dict[str, tuple[type[AggregateMechanism], tuple[str, ...]]] = {
    "discrete_laplace": (DiscreteLaplace, ("scale",)),
    "discrete_gaussian": (DiscreteGaussian, ("sigma_squared",)),
    "quantile": (Quantile, ("quantile", "lower", "upper", "scale")),
}
"""What each is stored as, and the fields that say all about it."""


def describe_noise(mechanism: AggregateMechanism) -> dict[str, str]:
    """Return the mechanism as public values, for a release.

    Example:
        >>> describe_noise(DiscreteLaplace(scale="7/2"))
        {'law': 'discrete_laplace', 'scale': '7/2'}
    """
    for law, (cls, fields) in _LAWS.items():
        if isinstance(mechanism, cls):
            return {"law": law} | {name: str(getattr(mechanism, name)) for name in fields}
    raise Unsupported("This mechanism has no stored form", got=type(mechanism).__name__)


def read_noise(data: dict[str, Any]) -> AggregateMechanism:
    """Read what :func:`describe_noise` wrote."""
    found = _LAWS.get(str(data.get("law")))
    if found is None:
        raise LedgerError(
            "The stored release has noise that we do not know", got=str(data.get("law"))
        )
    return found[0](**{name: value for name, value in data.items() if name != "law"})
