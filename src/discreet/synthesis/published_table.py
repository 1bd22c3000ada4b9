"""A table that was published before: noisy numbers of rows that a model can agree with for nothing.

It may count by other values than the cells of a synthesis: by months instead of days. So it says
for each of its columns which cells were counted together.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.core.protocols import Rng
from discreet.mechanisms.noise_json import Noise, read_noise
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts
from discreet.synthesis.marginals.junction_tree import Columns
from discreet.synthesis.marginals.measured import noise_variance
from discreet.synthesis.marginals.measurement import Measurement
from discreet.synthesis.marginals.value_blocks import block_of, blocks, product_parts


@frozen(kw_only=True, eq=False, slots=False)
class PublishedTable:
    """Noisy numbers of rows by blocks of cells of some columns, as a ticket has paid for them."""

    ticket: int
    what: str
    """What it is: a question, or whose synthetic rows it was measured for."""
    columns: Columns
    groups: tuple[Integers, ...] = field(repr=False)
    """For each column, the block of each of its cells."""
    noise: Noise
    values: Integers = field(repr=False)
    """The sum of the noisy numbers of each combination of blocks: one axis for each column."""
    members: Integers = field(repr=False)
    """How many noisy numbers were added up for it; 0 where it is not known."""

    @property
    def is_measured(self) -> NDArray[np.bool_]:
        """Which combinations of blocks are known."""
        return self.members > 0

    @cached_property
    def variances(self) -> Counts:
        """The variance of each sum; where it is not known, that of one number."""
        each = max(noise_variance(self.noise), 1e-9)
        found: Counts = each * np.maximum(self.members, 1)
        return found

    def measurement(self, values: Sequence[CoarseValues]) -> Measurement | None:
        """Return what it says about coarser values, all columns' of a model; None if nothing.

        What overlaps is added up until it does not: coarse values and blocks of this table are put
        together until each side is a union of the other's. A sum with a part that is not known is
        not known.
        """
        axes, sizes, places = [], [], []
        for column, groups in zip(self.columns, self.groups, strict=True):
            found = blocks(groups, values[column].numbers)
            axes.append(block_of(values[column].numbers, found))
            places.append(block_of(groups, found))
            sizes.append(int(found.max()) + 1)
        parts = product_parts(axes, sizes)
        into = product_parts(places, sizes).ravel()
        cells = int(np.prod(sizes, dtype=np.int64))
        counts, variances, missing = (
            np.bincount(into, weights=one.ravel(), minlength=cells).astype(np.float64)
            for one in (self.values, self.variances, ~self.is_measured)
        )
        if (missing > 0).all():
            return None
        return Measurement.of_parts(self.columns, counts, variances, missing == 0, parts)

    def cell_by_cell(self) -> Iterator[tuple[int, int, float]]:
        """Yield each cell that was counted by itself in a table of one column: number, variance."""
        if len(self.columns) != 1:
            return
        sizes = np.bincount(self.groups[0])
        for cell, group in enumerate(self.groups[0].tolist()):
            if sizes[group] == 1 and self.is_measured[group]:
                yield cell, int(self.values[group]), float(self.variances[group])

    def drawn_again(self, shares: Counts, total: float, rng: Rng) -> "PublishedTable":
        """Return what would have been published of ``total`` rows with these shares of blocks."""
        exact = np.rint(total * shares).astype(np.int64).ravel()
        each = np.maximum(self.members, 1).ravel()
        noise = self.noise.release(np.zeros(int(each.sum()), dtype=np.int64), rng)
        added = np.add.reduceat(noise, np.cumsum(each) - each)
        return evolve(self, values=(exact + added).reshape(self.values.shape))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "ticket": self.ticket,
            "what": self.what,
            "columns": list(self.columns),
            "groups": [one.tolist() for one in self.groups],
            "noise": self.noise.to_json(),
            "values": self.values.ravel().tolist(),
            "members": self.members.ravel().tolist(),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "PublishedTable":
        """Read what :meth:`to_json` wrote."""
        groups = tuple(np.array(one, dtype=np.int64) for one in data["groups"])
        shape = [int(one.max()) + 1 for one in groups]
        noise = read_noise(data["noise"])
        assert isinstance(noise, Noise)
        return PublishedTable(
            ticket=int(data["ticket"]),
            what=str(data["what"]),
            columns=tuple(data["columns"]),
            groups=groups,
            noise=noise,
            values=np.array(data["values"], dtype=np.int64).reshape(shape),
            members=np.array(data["members"], dtype=np.int64).reshape(shape),
        )
