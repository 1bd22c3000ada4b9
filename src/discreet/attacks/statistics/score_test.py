"""The chance of a score for somebody who is not in the data: what is assumed, and its p-values."""

from enum import Enum
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.statistics.false_discovery import DiscoveryControl, hardest_penalty
from discreet.attacks.statistics.sign_data import Floats, inner
from discreet.core.optional import load

_TOO_FAR = 1e-3
"""References that differ so much are so improbable, if attributes are independent."""

_LOPSIDED = 0.3
"""With a larger skewness the normal law is wrong by more than half at levels of a hundredth."""

_SLACK = 1 + 1e-9
"""p-values are raised by this factor: far more than the rounding of the floats behind them."""


class TracingNull(Enum):
    r"""What is known of a person who is not in the data.

    Attributes:
        PRODUCT: The attributes are independent signs. The p-value is Hoeffding's bound: it holds
            for any means, any release and any number of people.
        PLUG_IN: The same, with the normal law whose variance is estimated from the references; from
            one alone by where a candidate differs from it. Sharper, and only approximate: for many
            attributes, none of which outweighs the rest. Where the estimate is too lopsided for the
            normal law, as that of a few rare attributes is, the bound of PRODUCT takes its place.
        REFERENCES: Nothing but that references and innocent candidates come from one law, whatever
            the correlation of their attributes. The p-value is a rank among the references: exact,
            but never below one over their number plus one.
        GAUSSIAN: The attributes are independent normal numbers of variance 1 and any means. The
            p-value is exact.
    """

    PRODUCT = "product"
    PLUG_IN = "plug-in"
    REFERENCES = "references"
    GAUSSIAN = "gaussian"


def variances_for(null: TracingNull, others: NDArray[Any]) -> Floats:
    """Return the variance of each attribute: known, or estimated without bias from references.

    The weights come from the release, and the references are independent of it, so the estimated
    variance of a score is right on average, whatever the weights. The release itself is no help:
    where few people agree it is ±1, and its weight is largest where it would show no variance.
    """
    count = len(others)
    if null is not TracingNull.PLUG_IN or count == 1:
        return np.ones(others.shape[1])
    mean = others.mean(axis=0, dtype=np.float64)
    return np.asarray((1.0 - mean**2) * count / (count - 1), dtype=np.float64)


def thirds_for(others: NDArray[Any]) -> Floats:
    """Estimate the third central moment of each attribute: how much rarer one sign is.

    The mean is shrunk by one reference: an attribute that none of them has is a rare one.
    """
    mean = others.sum(axis=0, dtype=np.float64) / (len(others) + 1)
    return np.asarray(-2 * mean * (1 - mean**2), dtype=np.float64)


@frozen(kw_only=True)
class ScoreTest:
    """What turns scores into p-values; the theorems are at ``trace_people``."""

    null: TracingNull
    weights: Floats
    theirs: Floats
    variances: Floats
    thirds: Floats
    """The third central moment of each attribute."""
    alone: NDArray[Any] | None = None
    """The one reference from which the variance is estimated, if it is one."""

    @property
    def _variance(self) -> float:
        """The variance of a difference from the references' mean, or Hoeffding's bound on it."""
        return self._own_variance * (1 + 1 / len(self.theirs))

    @property
    def _own_variance(self) -> float:
        squares = self.weights**2
        parts = squares * self.variances
        spread = float(parts.sum())
        if self.null is TracingNull.PLUG_IN:  # an estimate: about what it may be off by is added
            spread = min(float(squares.sum()), spread + float((parts**2).sum()) ** 0.5)
        return spread

    def contradiction(self) -> str:
        """Say why the references are no people with independent attributes, if they are not."""
        if self.null is TracingNull.REFERENCES:
            return ""
        far = float(((self.theirs - self.theirs.mean()) ** 2).sum())
        free, tail = len(self.theirs) - 1, -float(np.log(_TOO_FAR))
        most = self._own_variance * (free + 2 * (free * tail) ** 0.5 + 2 * tail)
        if far <= most * _SLACK:
            return ""
        return (
            "the references differ by more than people with independent attributes do; compare "
            "with them alone (null 'references')"
        )

    @property
    def _is_lopsided(self) -> bool:
        """Tell whether rare attributes of large weight may make large scores too likely."""
        if self.null is not TracingNull.PLUG_IN or self.alone is not None:
            return False
        parts = self.weights**3 * self.thirds
        third = float(parts.sum()) + float((parts**2).sum()) ** 0.5
        return bool(third > _LOPSIDED * self._own_variance**1.5)

    def _variance_for(self, people: NDArray[Any]) -> Floats:
        r"""Return the variance of each one's score.

        Given where a stranger :math:`y` differs from one reference :math:`z`, each difference is
        :math:`\pm 2` by a fair coin: with the variance :math:`4 \sum_{y_j \ne z_j} w_j^2`.
        """
        if self.alone is None:
            return np.full(len(people), self._variance)
        squares = self.weights**2
        found = 2 * (squares.sum() - inner(people, squares * self.alone))
        return np.where(found > 1e-12 * squares.sum(), found, 0.0)

    def p_values(self, scores: Floats, people: NDArray[Any]) -> Floats:
        """Return, for each score and whose it is, a bound on its chance."""
        if self.null is TracingNull.REFERENCES:
            others = np.sort(self.theirs - self.theirs.mean())
            tolerance = 1e-9 * max(1.0, float(np.abs(others).max()))
            above = len(others) - np.searchsorted(others, scores - tolerance, side="left")
            return np.asarray((1.0 + above) / (len(others) + 1.0), dtype=np.float64)
        if self.null is TracingNull.PRODUCT or self._is_lopsided:
            most = float((self.weights**2).sum()) * (1 + 1 / len(self.theirs))
            if most <= 0:
                return np.ones_like(scores)
            bounds = np.exp(-(np.maximum(scores, 0.0) ** 2) / (2 * most))
        else:
            variance = self._variance_for(people)
            deviations = np.sqrt(np.where(variance > 0, variance, 1.0))
            tail = load("scipy.special").ndtr(-scores / deviations)
            bounds = np.where(variance > 0, tail, 1.0)
        return np.asarray(np.minimum(1.0, bounds * _SLACK), dtype=np.float64)

    def cannot_tell(self, level: float, candidates: int, control: DiscoveryControl) -> str:
        """Say why no candidate by themselves could be accused; nothing if one could."""
        needed = level
        if control is not DiscoveryControl.EACH:
            needed = level / (candidates * hardest_penalty(candidates, control))
        if self.null is TracingNull.REFERENCES and 1 / (len(self.theirs) + 1) > needed:
            least = int(np.ceil(1 / needed - 1))
            return f"{len(self.theirs)} references are too few for this level; {least} are enough"
        if self._variance <= 0:
            return "the release says nothing that differs from the references"
        if self.null is not TracingNull.GAUSSIAN:
            best = self._most_suspicious()[np.newaxis]
            if self.p_values(inner(best, self.weights) - self.theirs.mean(), best)[0] > needed:
                return f"{len(self.weights)} attributes are too few for this level"
        return ""

    def _most_suspicious(self) -> NDArray[Any]:
        """Return the candidate with the least p-value of all that there may be."""
        best = np.where(self.weights < 0, -1, 1)
        if self.alone is None:
            return best
        large = np.abs(self.weights)  # a large one that differs adds more variance than score
        order = np.flatnonzero((best != self.alone) & (large > 0))
        order = order[np.argsort(large[order], kind="stable")]
        if order.size:
            sums = np.cumsum(large[order]) / np.sqrt(np.cumsum(large[order] ** 2))
            order = order[: int(np.argmax(sums)) + 1]
        found = np.array(self.alone)
        found[order] = best[order]
        return found
