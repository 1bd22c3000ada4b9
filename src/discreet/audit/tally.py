"""A tally of labels, and how well sets of them tell two samples apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.audit.feature import UNLABELLED, Labels

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

RATIOS = np.exp(np.geomspace(0.01, 12, 64))
"""The least likelihood ratios, all above 1, by which sets of labels are tried."""

_FOLDS = (0, 1)


@frozen(kw_only=True, eq=False)
class Tally:
    """How often each label was seen, by data set and by half of the sample.

    A set learnt from labels that were seen looks perfect on the same labels and may foretell
    nothing: in the limit every label is new. So a set that is learnt on one half of the sample is
    weighed on the other half, both ways round.
    """

    labels: Labels
    counts: Integers
    """By data set, half and label."""
    trials: Integers
    """By data set and half."""

    def totals(self) -> Integers:
        """Return how often each label was seen, by data set."""
        counts: Integers = self.counts.sum(axis=1)
        return counts

    def held_out(self, likely: int) -> tuple[Reals, Reals]:
        """Return, for each of the ratios, how often the sets learnt on the other half happen.

        The first numbers are of the data set on which the sets are to be likelier.
        """
        hits, others = np.zeros(len(RATIOS)), np.zeros(len(RATIOS))
        for learnt, held in (_FOLDS, _FOLDS[::-1]):
            ratios = self._ratios(self.counts[:, learnt], self.trials[:, learnt], likely)
            steps = np.searchsorted(RATIOS, ratios, side="right")
            hits += _reached(steps, self.counts[likely, held])
            others += _reached(steps, self.counts[1 - likely, held])
        return hits, others

    def likelier(self, likely: int, ratio: float) -> Labels:
        """Return the labels whose likelihood ratio, on the whole sample, is at least this."""
        ratios = self._ratios(self.totals(), self.trials.sum(axis=1), likely)
        return self.labels[ratios >= ratio]

    @staticmethod
    def _ratios(counts: Integers, trials: Integers, likely: int) -> Reals:
        """Estimate likelihood ratios; one more of each makes that of an unseen label 1."""
        shares = counts / trials[:, None] + 1 / trials.min()
        ratios: Reals = shares[likely] / shares[1 - likely]
        return ratios


def tally(samples: Sequence[Labels]) -> Tally:
    """Count the labels of two samples; what is not labelled counts only as a trial.

    Example:
        >>> counted = tally([np.array([5, 5, 7, 5]), np.array([7, 7])])
        >>> counted.labels.tolist(), counted.totals().tolist()
        ([5, 7], [[3, 1], [0, 2]])
    """
    labels, places = np.unique(np.concatenate(samples), return_inverse=True)
    first, second = (len(sample) for sample in samples)
    quarters = np.split(places, [first // 2, first, first + second // 2])
    counts = np.array([np.bincount(quarter, minlength=len(labels)) for quarter in quarters])
    counts[:, labels == UNLABELLED] = 0
    return Tally(
        labels=labels,
        counts=counts.reshape(2, 2, -1),
        trials=np.array([len(quarter) for quarter in quarters]).reshape(2, 2),
    )


def _reached(steps: NDArray[Any], counts: Integers) -> Reals:
    """Add the counts of all labels that reach each of the ratios."""
    sums = np.bincount(steps, weights=counts.astype(np.float64), minlength=len(RATIOS) + 1)
    reached: Reals = np.cumsum(sums[:0:-1], dtype=np.float64)[::-1]
    return reached
