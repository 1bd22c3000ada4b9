"""A learnt event: the direction in which outputs on two neighbours differ most for their noise."""

from collections.abc import Hashable, Sequence

import numpy as np

from discreet.audit.outputs import LearnedScore, number_rows

MOST_LEARNT = 64
"""How many entries a direction has at most."""

_RIDGE = 1e-6
_LEAST_OUTPUTS = 8


def learn_score(first: Sequence[Hashable], second: Sequence[Hashable]) -> LearnedScore | None:
    r"""Return the weights that best tell two samples apart by a sum, or ``None`` if there are none.

    They are :math:`\Sigma^{-1}(\mu_1 - \mu_2)`, the linear discriminant, with the mean and the
    pooled covariance of the samples. It finds small moves of many entries in the same direction,
    and noise that entries share, wherever in the vector they are.

    Guarantee:
        None is needed: weights decide what is found, never what is true. An event about the score
        must be counted on outputs from which neither the weights nor the event were learnt.

    Example:
        >>> first = [(0, 0), (5, 5), (9, 9), (2, 2)] * 4
        >>> second = [(1, 0), (6, 5), (10, 9), (3, 2)] * 4
        >>> score = learn_score(first, second)
        >>> (score.scores(first) > score.scores(second)).all()
        np.True_
    """
    widths = {len(one) if isinstance(one, tuple) else 0 for one in (*first[:1], *second[:1])}
    if len(widths) != 1 or not 2 <= (width := widths.pop()) <= MOST_LEARNT:
        return None
    sides = [number_rows(side, width) for side in (first, second)]
    rows = [side[np.isfinite(side).all(axis=1)] for side in sides]
    if min(len(side) for side in rows) < max(_LEAST_OUTPUTS, width // 4):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers so large none is learnt
        spread = sum(np.cov(side, rowvar=False) for side in rows) / 2
        scale = np.trace(spread) / width + np.finfo(float).tiny
        move = rows[0].mean(axis=0) - rows[1].mean(axis=0)
        weights = np.linalg.solve(spread / scale + _RIDGE * np.eye(width), move)
    largest = np.abs(weights).max()
    if not np.isfinite(largest) or not largest:
        return None
    return LearnedScore(tuple((weights / largest).tolist()))
