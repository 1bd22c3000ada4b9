"""Published shares and people's attributes, from files that the owner names."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.records.coded_rows import CodedRows
from discreet.attacks.statistics.sign_data import Floats, as_means
from discreet.core.errors import InvalidArgument

_YES = (1, True)
_NO = (0, False)


@frozen(kw_only=True, eq=False)
class PublishedShares:
    """Which share of the people has each attribute, as it was published.

    Attributes:
        names: The attributes, in one order.
        means: The published means of their signs, in [−1, 1].
    """

    names: tuple[str, ...]
    means: Floats


def read_shares(written: Any) -> PublishedShares:
    """Return shares from what JSON holds: a number from 0 to 1 for each attribute.

    Example:
        >>> read_shares({"smokes": 0.25, "votes": 1}).means.tolist()
        [-0.5, 1.0]
    """
    if not isinstance(written, Mapping) or not written:
        raise InvalidArgument(
            "That is no release of shares", must="be an object with a share for each attribute"
        )
    values = list(written.values())
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in values):
        raise InvalidArgument(
            "Some shares are no numbers",
            must="be numbers from 0 to 1",
            next="Leave out the attributes that were not published",
        )
    return PublishedShares(names=tuple(written), means=as_means(values))


def signs_of(rows: CodedRows, shares: PublishedShares, what: str) -> NDArray[np.int8]:
    """Return each row's signs, in the order of the release; other columns are let be.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> rows = code_rows({"name": ["a", "b"], "votes": [1, 0]})
        >>> signs_of(rows, read_shares({"votes": 0.5}), "references").tolist()
        [[1], [-1]]
    """
    missing = [name for name in shares.names if name not in rows.columns]
    if missing:
        shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise InvalidArgument(
            f"The {what} lack attributes of the release",
            must=f"have all {len(shares.names):,}",
            got=f"{len(missing):,} missing: {shown}",
            next="Leave these attributes out of the release as well",
        )
    signs = np.empty((rows.rows, len(shares.names)), dtype=np.int8)
    for place, name in enumerate(shares.names):
        column = rows.columns[name]
        codes = np.array([_sign(value, name, what) for value in column.values], dtype=np.int8)
        signs[:, place] = codes[column.codes]
    return signs


def _sign(value: Any, name: str, what: str) -> int:
    if value in _YES:
        return 1
    if value in _NO:
        return -1
    raise InvalidArgument(
        f"The column {name} of the {what} has a value that is no yes or no",
        must="be 0 or 1 in every row, with no gap",
    )
