"""Machines that answer queries one by one: what they are before they are opened. All is public."""

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.mechanisms.query_release.median_mechanism import MedianMechanism
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.synthesis.published.publishing_method import OfferedNoise, named_options
from discreet.synthesis.published.query_methods import unit_rows, universe

MOST_UNIVERSE = 1 << 20
"""How many kinds of rows a dialogue may be about."""

BETA = "0.05"

QueryMechanism = PrivateMultiplicativeWeights | MedianMechanism


@frozen(kw_only=True)
class QueryMachine:
    """A machine for queries that are not known beforehand, with its options."""

    name: ClassVar[str]
    rows: int = field(converter=check.whole, validator=check.positive)
    """A public number that there are at most: it sets how far an answer may be off."""
    queries: int = field(default=1_000, converter=check.whole, validator=check.positive)
    """How many queries the machine is made for."""

    def ready(self, offered: OfferedNoise, loss: Pure) -> QueryMechanism:
        """Return the machine with its noise, whose whole life costs the loss."""
        raise NotImplementedError

    def options(self) -> dict[str, Any]:
        """Return what was chosen, as plain values."""
        return attrs.asdict(self)


@frozen(kw_only=True)
class WeightsMachine(QueryMachine):
    """Private multiplicative weights: a public guess over all kinds of rows that learns."""

    name: ClassVar[str] = "weights"
    updates: int = field(default=10, converter=check.whole, validator=check.positive)
    """How many queries are measured at most."""
    threshold: int | None = field(default=None, converter=check.optional_whole)
    """From how far off on a guess is measured instead; without one, it is that of the theorem.

    With a smaller one answers are nearer, and the machine may end early: nothing is promised then.
    """

    def ready(self, offered: OfferedNoise, loss: Pure) -> PrivateMultiplicativeWeights:
        """Return the machine with its noise; refuse a universe that is too large."""
        found = PrivateMultiplicativeWeights.calibrate(
            cells=_universe(offered),
            d_in=unit_rows(offered),
            loss=loss,
            rows=self.rows,
            updates=self.updates,
            queries=self.queries,
            beta=BETA,
        )
        if self.threshold is None:
            return found
        return attrs.evolve(found, checks=attrs.evolve(found.checks, threshold=self.threshold))


@frozen(kw_only=True)
class MedianMachine(QueryMachine):
    """The median mechanism: all small data sets that still fit, for a handful of cells."""

    name: ClassVar[str] = "median"
    size: int = field(default=10, converter=check.whole, validator=check.positive)
    """How many rows a small data set has."""

    def ready(self, offered: OfferedNoise, loss: Pure) -> MedianMechanism:
        """Return the machine with its noise; refuse more small data sets than can be listed."""
        return MedianMechanism.calibrate(
            cells=_universe(offered),
            size=self.size,
            d_in=unit_rows(offered),
            loss=loss,
            rows=self.rows,
            queries=self.queries,
            beta=BETA,
        )


def _universe(offered: OfferedNoise) -> int:
    cells = universe(offered)
    if cells > MOST_UNIVERSE:
        raise InvalidArgument(
            "The universe of these columns is too large for a dialogue",
            must=f"have at most {MOST_UNIVERSE:,} cells",
            got=f"{cells:,}",
            next="Nothing was charged. Leave out a column, or declare wider steps",
        )
    return cells


_MACHINES: Mapping[str, type[QueryMachine]] = {
    one.name: one for one in (WeightsMachine, MedianMachine)
}


def query_machine(machine: str | QueryMachine, options: Mapping[str, Any] | None) -> QueryMachine:
    """Return a machine by its name, with options; or the one that is given.

    Example:
        >>> query_machine("weights", {"rows": 5000})
        WeightsMachine(rows=5000, queries=1000, updates=10, threshold=None)
    """
    given = named_options(options)
    if isinstance(machine, QueryMachine) and not given:
        return machine
    found = _MACHINES.get(machine) if isinstance(machine, str) else None
    if found is None:
        raise InvalidArgument(
            "There is no such machine, or its options are given twice",
            must=f"be one of {', '.join(_MACHINES)}, perhaps with options",
            got=repr(machine)[:40],
        )
    names = [one.name for one in attrs.fields(found)]
    if "rows" not in given or set(given) - set(names):
        raise InvalidArgument(
            f"These are not the options of '{found.name}'",
            must=f"be among {', '.join(names)}, and have rows: a public number that there are at"
            " most",
            got=", ".join(map(str, given)) or "none",
        )
    return found(**given)
