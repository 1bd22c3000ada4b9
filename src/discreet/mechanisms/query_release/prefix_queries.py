"""Prefix queries: a universe without end, made finite by the queries that are asked of it."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.small_database import SmallDatabase


def _sets(values: Iterable[Iterable[str]]) -> tuple[frozenset[str], ...]:
    if isinstance(values, str):
        raise InvalidArgument("One text is no list of queries", must="be one set for each query")
    try:
        found = tuple(frozenset([one] if isinstance(one, str) else one) for one in values)
    except TypeError:  # what is no list, or has lists in it
        found = ()
    texts = [prefix for one in found for prefix in one]
    if not found or not all(map(check.is_unicode, texts)):
        raise InvalidArgument(
            "Those are not sets of prefixes", must="be one set of texts for each query"
        )
    return found


@define(frozen=True, slots=False)
class PrefixQueries:
    r"""Queries of the form "how many texts begin with one of these?", all known beforehand.

    The texts may be of any length, so their universe has no end. But a query sees of a text no
    more than which of the prefixes it begins with. So each text is taken as the *longest* prefix of
    any query that it begins with, or as the empty text if there is none: a universe of at most one
    cell more than there are prefixes.

    Guarantee:
        *Every query is answered alike.* Let :math:`r(t)` be that longest prefix. If some
        :math:`s` of query :math:`j` begins :math:`t`, then :math:`s` is no longer than
        :math:`r(t)`, and both begin :math:`t`, so :math:`s` begins :math:`r(t)`. The other way
        round, what begins :math:`r(t)` begins :math:`t` [Ste16, Claim 7.3.4]. So the error is that
        of the mechanism on the small universe.

        *Neighbours stay neighbours.* Each text is mapped by itself, so a unit with :math:`m` texts
        moves the histogram by at most :math:`m`, in L1.

    Example:
        >>> queries = PrefixQueries([{"I10", "I11"}, {"I"}, {"J4"}])
        >>> queries.universe
        ('', 'I', 'I10', 'I11', 'J4')
        >>> queries.linear.table.tolist()
        [[0, 0, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 1]]
        >>> queries.histogram(["I10.9", "I25", "J45", "K21", "I11"]).tolist()
        [1, 1, 1, 1, 1]
    """

    sets: tuple[frozenset[str], ...] = field(converter=_sets)

    @cached_property
    def universe(self) -> tuple[str, ...]:
        """The prefixes of all queries and the empty text, in order: one cell for each."""
        return tuple(sorted({"", *(prefix for one in self.sets for prefix in one)}))

    @cached_property
    def linear(self) -> LinearQueries:
        """The same queries over the small universe, with coefficients 0 and 1."""
        table = np.zeros((len(self.sets), len(self.universe)), dtype=np.int64)
        for row, prefixes in enumerate(self.sets):
            ends = tuple(prefixes)
            for column, cell in enumerate(self.universe):
                table[row, column] = int(cell.startswith(ends))
        return LinearQueries(table)

    def histogram(self, texts: Sequence[str]) -> IntArray:
        """Return how many texts are in each cell, exactly. It is private."""
        places = {cell: place for place, cell in enumerate(self.universe)}
        lengths = sorted({len(cell) for cell in self.universe}, reverse=True)
        counts = np.zeros(len(self.universe), dtype=np.int64)
        for text in texts:
            if not isinstance(text, str):
                raise InvalidArgument("A value has the wrong type", must="be a text")
            starts = (text[:length] for length in lengths)
            counts[next(places[start] for start in starts if start in places)] += 1
        return counts


@frozen(kw_only=True)
class PrefixRelease:
    r"""Answer prefix queries about texts of any length, through a mechanism on the small universe.

    Guarantee:
        The loss of ``inner``, for units that have at most ``d_in.l1`` texts: the texts are mapped
        one by one, by a public rule (:class:`PrefixQueries`).

    Assumes:
        All queries are known beforehand. If they come one by one, no private mechanism answers
        more than about :math:`1663\,n^2` of them within a hundredth [Ste16, Theorem 7.3.5], while
        this one answers a number that grows exponentially [Ste16, Theorem 7.3.2].

    Utility:
        That of ``inner``, whose universe has one cell for each prefix and one more.

    Example:
        >>> from discreet import Pure, SystemRng
        >>> prefixes = PrefixQueries([{"I1"}, {"I2"}, {"J4", "K2"}])
        >>> one = Contribution(l1=1)
        >>> inner = SmallDatabase.calibrate(
        ...     queries=prefixes.linear, accuracy="1/8", d_in=one, loss=Pure(2)
        ... )
        >>> texts = ["I10.9", "I25.1", "J45", "K21", "Z00"] * 100
        >>> released = PrefixRelease(prefixes=prefixes, inner=inner).release(texts, SystemRng())
        >>> int(released.sum()) == inner.size
        True
    """

    prefixes: PrefixQueries
    inner: Mwem | SmallDatabase

    def __attrs_post_init__(self) -> None:
        """Refuse a mechanism that answers other queries."""
        if self.inner.queries != self.prefixes.linear:
            raise InvalidArgument(
                "The mechanism answers other queries", must="have the prefixes' own linear queries"
            )

    def event(self, d_in: Contribution) -> Event:
        """Describe one use for the accountants; a unit has at most ``d_in.l1`` texts."""
        return self.inner.event(d_in)

    def release(self, texts: Sequence[str], rng: Rng) -> Any:
        """Return what the mechanism releases about the texts. The gate already holds the loss."""
        return self.inner.release(self.prefixes.histogram(texts), rng)

    def error_quantile(self, beta: Number, *, rows: int) -> Fraction:
        """Return the mechanism's own bound, if there are ``rows`` texts."""
        return self.inner.error_quantile(check.level(beta), rows=rows)
