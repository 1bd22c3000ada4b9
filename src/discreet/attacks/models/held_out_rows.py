"""Whether rows that are said to be held out at random are like those that were not."""

from fractions import Fraction

import numpy as np

from discreet.audit.binomial import upper_tail_bound
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray

FAILURE = Fraction(1, 10**6)
"""How often rows that were held out at random are refused."""

_PARTS = 8


def require_alike(inside: IntArray, outside: IntArray) -> None:
    r"""Refuse pairs of rows that tell which of the two was held out, with no synthetic file.

    The codes of a column are in the order of its values.

    Guarantee:
        Rows that were held out at random are refused with probability at most a millionth. Proof.
        Half of the pairs says which values, and which eighths of the values, are more frequent
        inside; of each pair in the other half the row that has more of those is guessed to be
        inside. Given the two rows of a pair, and all other pairs, each of the two was held out with
        probability one half. So of the pairs whose rows score differently the number of right
        guesses is binomial.

    Example:
        >>> rows = np.arange(400).reshape(-1, 1) % 40
        >>> require_alike(rows, rows[::-1])
        >>> require_alike(rows, rows + 20)
        Traceback (most recent call last):
            ...
        discreet.core.errors.InvalidArgument: The rows that were held out are not like the real ...
    """
    half, sides = len(inside) // 2, _looks(inside, outside)
    scores = [np.zeros(len(inside) - half) for _ in sides]
    for column in range(sides[0].shape[1]):
        width = int(max(side[:, column].max() for side in sides)) + 1
        counts = [np.bincount(side[:half, column], minlength=width) for side in sides]
        weights = np.log((counts[0] + 0.5) / (counts[1] + 0.5))
        for score, side in zip(scores, sides, strict=True):
            score += weights[side[half:, column]]
    right, wrong = int((scores[0] > scores[1]).sum()), int((scores[0] < scores[1]).sum())
    told = right + wrong
    if told and upper_tail_bound(right, told, Fraction(1, 2)) <= FAILURE:
        raise InvalidArgument(
            "The rows that were held out are not like the real ones",
            must="be held out at random, before anybody looked at them",
            got=f"{right:,} of {told:,} told apart without the synthetic rows",
        )


def _looks(inside: IntArray, outside: IntArray) -> list[IntArray]:
    """Return the codes of each row, and beside them which eighth of all rows each is in."""
    both = np.concatenate([inside, outside])
    cuts = np.quantile(both, np.arange(1, _PARTS) / _PARTS, axis=0)
    eighths = (both[:, :, None] > cuts.T[None, :, :]).sum(axis=2)
    wide = np.concatenate([both, eighths], axis=1).astype(np.int64)
    return np.split(wide, [len(inside)])
