"""Published counts of sets of people, as a file holds them."""

from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.reconstruction.printed_table import read_whole, refuse_unknown
from discreet.attacks.reconstruction.subset_counts import Subset
from discreet.core import check
from discreet.core.errors import DiscreetError, InvalidArgument

MOST_CELLS_READ = 1 << 28
"""How many pairs of a set and a person fit: a fourth of a gigabyte."""


@frozen(kw_only=True, eq=False, repr=False)
class PrintedCounts:
    """Sets of people, and how many of each were said to have a bit; ``None`` if it was refused."""

    people: int
    sets: Subset
    counts: tuple[float | None, ...]


def read_counts(written: Any) -> PrintedCounts:
    """Return published counts from what a JSON file holds.

    Example:
        >>> found = read_counts({"people": 3, "counts": [{"of": [0, 2], "count": 1}]})
        >>> found.sets.tolist(), found.counts
        ([[True, False, True]], (1.0,))
    """
    try:
        refuse_unknown(written, {"people", "counts"})
        people = check.at_least_one(written["people"], "The number of people")
        given = list(written["counts"])
        if not given or len(given) * people > MOST_CELLS_READ:
            raise InvalidArgument(
                "There are too many counts, or none",
                must=f"have at most {MOST_CELLS_READ:,} as their product with the people",
                got=f"{len(given):,} counts and {people:,} people",
            )
        sets = np.zeros((len(given), people), dtype=np.bool_)
        counts = []
        for place, one in enumerate(given):
            refuse_unknown(one, {"of", "count"})
            members = [read_whole(member) for member in one["of"]]
            is_there = all(0 <= member < people for member in members)
            if not is_there or len(set(members)) != len(members):
                raise InvalidArgument(
                    f"Set {place} holds somebody who is not there, or somebody twice",
                    must=f"hold numbers from 0 to {people - 1:,}, each once",
                )
            sets[place, members] = True
            counts.append(None if one["count"] is None else float(one["count"]))
    except DiscreetError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidArgument(
            "The published counts cannot be read",
            must='be {"people": N, "counts": [{"of": [0, 2], "count": 1}, ...]}',
        ) from None
    return PrintedCounts(people=people, sets=sets, counts=tuple(counts))
