"""A loss with finitely many values."""

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.accounting.pld.grid import FloatArray, Grid
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.machine import RELATIVE, TINY, UNIT
from discreet.accounting.pld.split import Split
from discreet.accounting.pld.tails import Tails

IntArray = NDArray[np.int64]

_ON_THE_GRID = 1e-6
"""An atom this close above a grid point, in steps, counts as lying on it when rounded down."""


@frozen
class AtomicLaw(Law):
    r"""Losses :math:`z_j` with chances :math:`p_j` under :math:`P`, in rows of equal length.

    The chance under :math:`Q` is :math:`p_j e^{-z_j}`. What is left out of the chances, at most
    ``left_out`` under either law, may have any loss.
    """

    losses: FloatArray
    masses: FloatArray
    at_infinity: FloatArray
    unit: float | None = None
    left_out: float = 0.0

    @property
    def infinite(self) -> FloatArray:
        """The chance of an infinite loss."""
        return self.at_infinity

    @property
    def dropped(self) -> float:
        """What is left out."""
        return self.left_out

    @property
    def lattice(self) -> float | None:
        """The unit of the losses."""
        return self.unit

    def span(self, tail: float) -> tuple[float, float]:
        """Return the least and the largest loss, without atoms that are too small to matter."""
        some = np.maximum(self.masses, self.masses * np.exp(-self.losses))
        kept = self.losses[some > tail / self.losses.shape[1]]
        if not kept.size:
            return 0.0, 0.0
        return float(kept.min()), float(kept.max())

    def tails(self, losses: FloatArray) -> Tails:
        """Add up the atoms on either side, with more than double precision where there are many."""
        p, q = self.masses, self.masses * np.exp(-self.losses)
        found = [
            _row_tails(
                self.losses[row], p[row], q[row], losses if losses.ndim == 1 else losses[row]
            )
            for row in range(self.rows)
        ]
        return Tails(*(np.stack(values) for values in zip(*found, strict=True)))

    def split(self, grid: Grid) -> Split:
        """Split each atom between its two neighbours; no difference of large numbers occurs.

        Atoms outside the grid are treated as in :func:`discreet.accounting.pld.split.split_tails`.
        If all atoms are on the grid but for a millionth of a step, they are moved there.
        """
        low, high = grid.first * grid.step, grid.last * grid.step
        nearest = np.rint(self.losses / grid.step)
        off = np.abs(self.losses - nearest * grid.step)
        on_grid = bool(((off <= _ON_THE_GRID * grid.step) | (self.masses == 0)).all())
        losses = nearest * grid.step if on_grid else self.losses
        below, beyond, inside = losses < low, losses > high, np.clip(losses, low, high)
        cell = np.minimum(np.floor(inside / grid.step).astype(np.int64), grid.last - 1)
        over = np.clip(inside - cell * grid.step, 0.0, grid.step)
        share = np.expm1(-over) / math.expm1(-grid.step)
        rough = RELATIVE + UNIT * self.losses.shape[1]
        error = 0.0 if on_grid else rough + self.slack() / grid.step
        place = cell - grid.first
        kept, lost = np.where(beyond, 0.0, self.masses), np.where(beyond, self.masses, 0.0)
        share = np.rint(share) if on_grid else share
        return Split(
            grid,
            _scattered(kept * (1 + rough), np.minimum(share + error, 1.0), place, grid),
            _scattered(
                np.where(below, 0.0, self.masses) * (1 - rough),
                np.maximum(share - error, 0.0),
                place,
                grid,
            ),
            (self.at_infinity + lost.sum(axis=1)) * (1 + rough) + (self.left_out + TINY),
            self.at_infinity * (1 - RELATIVE),
            noisy=not on_grid,
            moved=_ON_THE_GRID * grid.step if on_grid else 0.0,
        )


def _scattered(masses: FloatArray, share: FloatArray, place: IntArray, grid: Grid) -> FloatArray:
    size = grid.last - grid.first + 1
    shift = size * np.arange(masses.shape[0]).reshape(-1, 1)
    top = (masses * share).ravel()
    where = (place + shift).ravel()
    total = masses.shape[0] * size
    placed = np.bincount(where, masses.ravel() - top, total)
    placed += np.bincount(where + 1, top, total)
    return np.asarray(placed.reshape(masses.shape[0], size), dtype=np.float64)


def _row_tails(
    atoms: FloatArray, p: FloatArray, q: FloatArray, thresholds: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    order = np.argsort(atoms, kind="stable")
    place = np.searchsorted(atoms[order], thresholds, side="right")
    right_p, left_p = _sums(p[order])
    right_q, left_q = _sums(q[order])
    return right_p[place], right_q[place], left_p[place], left_q[place]


def _sums(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the values from each place on, and before it."""
    wide = values.astype(np.longdouble)
    left = np.concatenate(([0.0], np.cumsum(wide)))
    right = np.concatenate((np.cumsum(wide[::-1])[::-1], [0.0]))
    return right.astype(np.float64), left.astype(np.float64)
