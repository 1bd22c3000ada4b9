"""The data of tracing: people as rows of signs, a release as means of them, and their checks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng

Floats = NDArray[np.float64]
_ROWS_AT_A_TIME = 16


def as_signs(bits: ArrayLike) -> NDArray[np.int8]:
    """Turn yes and no (1 and 0) into the signs +1 and −1 that tracing works on.

    Example:
        >>> as_signs([[1, 0, 1]]).tolist()
        [[1, -1, 1]]
    """
    array = np.asarray(bits)
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise InvalidArgument("The attributes are no yes-or-no values", must="be 0 or 1")
    return (2 * array.astype(np.int8) - 1).astype(np.int8)


def as_means(shares: ArrayLike) -> Floats:
    """Turn published shares of yes, in 0..1, into the means of signs that tracing works on.

    Example:
        >>> as_means([0.5, 1.0]).tolist()
        [0.0, 1.0]
    """
    array = np.asarray(shares)
    if array.dtype.kind not in "biuf" or not ((array >= 0) & (array <= 1)).all():
        raise InvalidArgument("The shares are out of range", must="be numbers from 0 to 1")
    return np.asarray(2.0 * array - 1.0, dtype=np.float64)


def people_of(values: ArrayLike, attributes: int, name: str, *, real: bool = False) -> NDArray[Any]:
    """Return people as rows, or refuse what has another shape, gaps, or values that are no signs.

    Args:
        values: One row for each person; a single row may be given by itself.
        attributes: How many attributes the release has.
        name: What the rows are, for the error.
        real: Whether any finite number is a value, and not a sign alone.
    """
    rows = np.asarray(values)
    rows = rows[np.newaxis, :] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise InvalidArgument(f"The {name} are no table of numbers", must="be rows of numbers")
    if rows.shape[1] != attributes:
        raise InvalidArgument(
            f"The {name} have other attributes than the release",
            must=f"have {attributes} attributes each",
            got=str(rows.shape[1]),
            next="Keep the attributes that all of them have, in one order",
        )
    if rows.shape[0] == 0:
        raise InvalidArgument(f"There are no {name}", must="be at least one row")
    if real:
        if not np.isfinite(rows).all():
            raise InvalidArgument(f"Some of the {name} have a gap", must="be finite numbers")
    elif not _all_signs(rows):
        raise InvalidArgument(
            f"Some of the {name} have a value that is no sign",
            must="be +1 or −1 everywhere, with no gap",
            next="Turn 0 and 1 into signs with as_signs; leave out attributes with gaps",
        )
    return rows


def _all_signs(rows: NDArray[Any]) -> bool:
    """Tell whether every entry is +1 or −1, a few rows at a time: temporaries stay in the cache."""
    if rows.dtype.kind in "bu":
        return False
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        piece = rows[start : start + _ROWS_AT_A_TIME]
        if not (np.abs(piece) == 1).all():  # −128 stays −128 as an int8, and is refused
            return False
    return True


def means_of(values: ArrayLike, *, real: bool = False) -> Floats:
    """Return released means as floats, or refuse what is no list of means.

    Means of signs are in [−1, 1]. Noise may carry a released one beyond that: it is put back to the
    end, which is post-processing of what is public already.
    """
    release = np.asarray(values)
    if release.ndim != 1 or release.size == 0 or release.dtype.kind not in "biuf":
        raise InvalidArgument("The release is no list of means", must="be one number an attribute")
    means = release.astype(np.float64)
    if not np.isfinite(means).all():
        raise InvalidArgument(
            "The release has a gap",
            must="be finite numbers",
            next="Leave out the attributes that were not published, here and in all rows",
        )
    return means if real else np.clip(means, -1.0, 1.0)


def inner(rows: NDArray[Any], weights: Floats) -> Floats:
    """Return the inner product of every row with the weights, a few rows at a time."""
    if rows.dtype == np.float64:
        return np.asarray(rows @ weights, dtype=np.float64)
    found = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        piece = rows[start : start + _ROWS_AT_A_TIME].astype(np.float64)
        found[start : start + len(piece)] = piece @ weights
    return found


def uniforms(shape: tuple[int, ...], rng: Rng) -> Floats:
    """Return floats in [0, 1): enough for a simulated population, never for noise."""
    words = rng.words(int(np.prod(shape, dtype=np.int64)))
    return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)


def draw_people(means: Floats, people: int, rng: Rng) -> NDArray[np.int8]:
    r"""Draw people whose attributes are independent signs with the given means.

    Example:
        >>> from discreet import SystemRng
        >>> draw_people(np.array([1.0, -1.0]), 2, SystemRng()).tolist()
        [[1, -1], [1, -1]]
    """
    chance = (1.0 + means) / 2.0
    drawn = uniforms((people, len(means)), rng) < chance
    return (2 * drawn.astype(np.int8) - 1).astype(np.int8)
