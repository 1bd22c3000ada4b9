r"""What dishonest people can do to estimates: they report whatever they like.

Nobody can tell a dishonest report from an honest one of the same bytes; only bytes that no honest
device makes are caught (:meth:`discreet.local.scheme.Scheme.possible`). What can be said is how far
estimates can be moved. It is more than in a survey without noise, by a factor that grows as
:math:`\varepsilon` falls: an honest report counts for little, and so all reports are scaled up.
"""

from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.report_numbers import Reports
from discreet.local.words.hashed_words import HashedWords

_HALF = Fraction(1, 2)


@frozen(kw_only=True)
class Influence:
    r"""How far a share of dishonest reports can move the estimated share of a value.

    Guarantee:
        Estimates are means of what each report counts for. Let :math:`\lambda` be the share of
        reports that are dishonest, :math:`f` the share of honest people who hold the value, and let
        a report count for :math:`l` at least and :math:`u` at most, which anybody can choose. The
        mean of the estimate is :math:`(1-\lambda) f` and from :math:`\lambda l` to
        :math:`\lambda u`. So it is at most :math:`\lambda u` above :math:`f` (attained where nobody
        holds the value) and at most :math:`\lambda(1 - l)` below it (where everybody does). If a
        report supports a value with probability :math:`p` if it is held and :math:`q` if not, that
        is :math:`\lambda(1-q)/(p-q)` and :math:`\lambda p/(p-q)`; d-bit flip counts zeros too.
        Chance adds no more than it does to honest reports: the intervals hold for the share that
        includes the attack.
    """

    raised: Fraction
    lowered: Fraction

    @staticmethod
    def of(dishonest: Fraction, least: Fraction, most: Fraction) -> "Influence":
        """Return the bounds from what a report counts for."""
        return Influence(raised=dishonest * most, lowered=dishonest * (1 - least))


def influence(scheme: FrequencyScheme | NumberScheme | HashedWords, dishonest: Number) -> Influence:
    """Return how far a share of dishonest reports can move the estimate of any one value.

    Of a scheme for numbers it is the mean that is moved, in steps of the grid: at most so far above
    a mean of 0, and below a mean of the most.

    For words, dishonest people all say that they drew the group that matters: among its reports
    their share is the larger, the more groups there are.

    Example:
        >>> from discreet.local import KaryResponse
        >>> scheme = KaryResponse.calibrate(categories=10, epsilon=1)
        >>> round(float(influence(scheme, "0.01").raised), 3)
        0.062
    """
    share = _share(dishonest)
    if isinstance(scheme, NumberScheme):
        worths = scheme.worths()
        least, most = (scheme.worth(int(place)) for place in (worths.argmin(), worths.argmax()))
        return Influence(raised=share * most, lowered=share * (scheme.most - least))
    if isinstance(scheme, HashedWords):
        inside = share / (share + (1 - share) / scheme.groups)
        most = _HALF / (scheme.held - _HALF)
        return Influence.of(inside, -most, most)
    return Influence.of(share, *scheme.counts_for())


def one_report(scheme: FrequencyScheme, people: int) -> Fraction:
    """Return how far one report, exchanged for another, can move an estimated share.

    It is :math:`1/(n(p-q))`, where an honest answer in the clear would move it by :math:`1/n`.
    """
    return 1 / (check.at_least_one(people, "people") * (scheme.held - scheme.other))


def attack(scheme: FrequencyScheme, target: int, count: int, rng: Rng) -> Reports:
    """Return the reports of so many people who together raise one value as far as can be.

    They all send one report that supports it, found among honest ones, so that no check of single
    reports can catch it.
    """
    times = check.whole(count)
    if times < 0:
        raise InvalidArgument("count is out of range", must="be at least 0", got=str(times))
    while True:
        report = scheme.randomise_many(np.array([target], dtype=np.int64), rng)
        if scheme.supports(scheme.tally(report))[target]:
            return np.repeat(report, times, axis=0)


def _share(dishonest: Number) -> Fraction:
    share = exact(dishonest)
    if not 0 <= share < 1:
        raise InvalidArgument(
            "dishonest is out of range", must="be at least 0 and below 1", got=str(dishonest)
        )
    return share
