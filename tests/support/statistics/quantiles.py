"""Every number that may be called a quantile of some values."""

import numpy as np
from numpy.typing import ArrayLike

METHODS = ("inverted_cdf", "linear", "higher", "lower")


def all_quantiles(values: ArrayLike, share: float) -> list[float]:
    """Return the quantile by several definitions, the lowest and the highest of them included."""
    in_order = np.sort(np.asarray(values, dtype=float))
    return [float(np.quantile(in_order, share, method=method)) for method in METHODS]  # type: ignore[call-overload]
