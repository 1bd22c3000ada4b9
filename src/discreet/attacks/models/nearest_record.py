"""Why the distance to the nearest record is no evidence, neither for privacy nor against it."""

from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.models.attempt import CERTAIN
from discreet.attacks.models.synthetic_attack import SIZES
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.protocols import IntArray, Rng
from discreet.core.terminal_text import text_table
from discreet.randomness.samplers import bernoulli, uniform_integers

MOST_COPIES = Fraction(1, 20)
"""Up to this share of rows at distance 0 the test is passed, as it is in use."""


@frozen(kw_only=True)
class NearestRecordTest:
    """How far synthetic rows are from the nearest real one, and what the test says of it."""

    copies: Fraction
    """The share of synthetic rows that are equal to a real one."""
    mean_distance: Fraction
    """In how many columns a synthetic row differs from the nearest real one, on average."""

    @property
    def passes(self) -> bool:
        """Whether hardly any row is a copy."""
        return self.copies <= MOST_COPIES


def nearest_record_test(real: IntArray, synthetic: IntArray) -> NearestRecordTest:
    """Return the test of the distance to the nearest record, in columns that differ.

    Example:
        >>> test = nearest_record_test(np.array([[1, 2], [3, 4]]), np.array([[1, 2], [1, 9]]))
        >>> test.copies, test.mean_distance, test.passes
        (Fraction(1, 2), Fraction(1, 2), False)
    """
    if real.ndim != 2 or synthetic.ndim != 2 or real.shape[1] != synthetic.shape[1]:
        raise InvalidArgument("The rows cannot be compared", must="have the same columns")
    nearest = [int((real != row).sum(axis=1).min()) for row in synthetic]
    count = check.at_least_one(len(nearest), "rows")
    return NearestRecordTest(
        copies=Fraction(sum(one == 0 for one in nearest), count),
        mean_distance=Fraction(sum(nearest), count),
    )


@frozen(kw_only=True)
class JudgedGenerator:
    """A generator, what the distances say of it, and what an attack on its rows finds."""

    release: str
    test: NearestRecordTest
    record: GuessingRecord


@frozen(kw_only=True)
class DistanceReport:
    """Two generators on which the distance to the nearest record is wrong."""

    judged: tuple[JudgedGenerator, ...]

    def __str__(self) -> str:
        """Return both as a table."""
        columns = ("release", "copies", "distance test", "right guesses", "ceiling")
        return text_table(columns, [_cells(one) for one in self.judged])

    def to_json(self) -> list[dict[str, Any]]:
        """Return both for other programs."""
        return [
            {
                "release": one.release,
                "copies": float(one.test.copies),
                "mean_distance": float(one.test.mean_distance),
                "passes": one.test.passes,
                **one.record.to_json(),
            }
            for one in self.judged
        ]


def _cells(one: JudgedGenerator) -> list[str]:
    passed = "passed" if one.test.passes else "failed"
    seen = f"{one.record.right:,} of {one.record.trials:,}"
    ceiling = "none" if one.record.ceiling >= 1 else f"{float(one.record.ceiling):.0%}"
    return [one.release, f"{float(one.test.copies):.0%}", passed, seen, ceiling]


def judge_by_distance(rng: Rng, *, people: int = 1000) -> DistanceReport:
    r"""Let the test judge a file that tells everything, and one that tells nothing.

    *Every row moved on* adds 1 to the first column of each row, which is even in all real rows. No
    row is a copy, so the test is passed; whoever subtracts 1 has all the rows. *Drawn without a
    look* draws rows from the declared values, all equally likely, and reads no person at all: it is
    0-DP. Where the values are few nearly every such row is equal to somebody's, so it fails.

    Guarantee:
        Both verdicts are about membership of one row, a fair coin: the first file decides it
        always, and about the second nobody does better than a coin, :math:`\varepsilon = 0`. So a
        test that passes the first and fails the second is evidence of neither. (Distances are no
        function of how a file was made, and privacy is nothing else.)

    Example:
        >>> from discreet import SystemRng
        >>> moved, blind = judge_by_distance(SystemRng()).judged
        >>> moved.test.passes, moved.record.right == moved.record.trials, blind.test.passes
        (True, True, False)
    """
    known = _draw(check.at_least_one(people, "people"), rng)
    sought = np.unique(_draw(check.at_least_one(people, "people") // 4 + 1, rng), axis=0)
    is_in = bernoulli(Fraction(1, 2), len(sought), rng)
    real = np.concatenate([known, sought[is_in]])
    step = np.array([1, 0, 0])
    judged = []
    for release, rows, back, ceiling in (
        ("every row moved on", real + step, step, CERTAIN),
        ("drawn without a look", _draw(len(real), rng), 0 * step, guess_ceiling(Pure(0))),
    ):
        # The adversary knows all others: one row more than they make is the one that is sought.
        guesses = _times(sought, rows - back) > _times(sought, known)
        right = int((guesses == is_in).sum())
        record = GuessingRecord(right=right, trials=len(sought), ceiling=ceiling)
        test = nearest_record_test(real, rows)
        judged.append(JudgedGenerator(release=release, test=test, record=record))
    return DistanceReport(judged=tuple(judged))


def _times(sought: IntArray, rows: IntArray) -> IntArray:
    """Return how often each row occurs among others."""
    counts: IntArray = (sought[:, None, :] == rows[None, :, :]).all(axis=2).sum(axis=1)
    return counts


def _draw(count: int, rng: Rng) -> IntArray:
    """Return rows with an even first column, all equally likely."""
    columns = [uniform_integers(size, count, rng) for size in (SIZES[0] // 2, *SIZES[1:])]
    return np.stack([2 * columns[0], *columns[1:]], axis=1).astype(np.int64)
