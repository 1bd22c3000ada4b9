r"""What dishonest people can do to estimates: they report whatever they like.

Nobody can tell a dishonest report from an honest one of the same bytes; only bytes that no honest
device makes are caught (:meth:`discreet.local.scheme.Scheme.possible`). What can be said is how far
estimates can be moved. It is more than in a survey without noise, by a factor that grows as
:math:`\varepsilon` falls: an honest report counts for little, and so all reports are scaled up.
"""

from fractions import Fraction
from functools import singledispatch

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray
from discreet.local.condensed.condensed_response import CondensedResponse
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.numbers import linear
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.square_wave import SquareWave
from discreet.local.rappor.decode import Decoder
from discreet.local.rappor.rappor import Rappor
from discreet.local.repeated.memoised_rounding import MemoisedRounding
from discreet.local.report_numbers import as_reports
from discreet.local.tails import OUTWARDS, Floats
from discreet.local.words.hashed_words import HashedWords

Poisoned = (
    FrequencyScheme | NumberScheme | MemoisedRounding | CondensedResponse | Decoder | HashedWords
)
"""What makes estimates of which it is known how far dishonest reports can move them."""

Ends = tuple[Fraction, Fraction, Fraction]
"""The least and the most that a report counts for, and the largest truth that there can be."""

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
        Of a mean :math:`f` may be up to ``most``, which takes the place of the 1.
        Chance adds no more than it does to honest reports: the intervals hold for the share that
        includes the attack.
    """

    raised: Fraction
    lowered: Fraction

    @staticmethod
    def of(dishonest: Fraction, ends: Ends) -> "Influence":
        """Return the bounds from what a report counts for."""
        least, most, top = ends
        return Influence(raised=dishonest * most, lowered=dishonest * (top - least))


def influence(scheme: Poisoned, dishonest: Number) -> Influence:
    """Return how far a share of dishonest reports can move the estimate of any one value.

    Of a scheme for numbers it is the mean that is moved, in steps of the grid: at most so far above
    a mean of 0, and below a mean of the most.

    For words, dishonest people all say that they drew the group that matters: among its reports
    their share is the larger, the more groups there are.

    RAPPOR's estimates are of candidates, so it is a ``Decoder`` that is asked for: what it says
    holds for any one of them. Its bounds, and those of condensed privacy, are floats that are
    rounded outwards; honest estimates of the latter are right to within ``1e-7``.

    Example:
        >>> from discreet.local import KaryResponse
        >>> scheme = KaryResponse.calibrate(categories=10, epsilon=1)
        >>> round(float(influence(scheme, "0.01").raised), 3)
        0.062
    """
    share = _share(dishonest)
    if isinstance(scheme, HashedWords):
        share = share / (share + (1 - share) / scheme.groups)
    return Influence.of(share, _ends(scheme))


def influence_below(scheme: FrequencyScheme | SquareWave, dishonest: Number) -> Influence:
    r"""Return how far a share of dishonest reports can move a share of people at or below a value.

    It holds for any one value. If all shares are moved by less than :math:`d`, the quantile at
    :math:`s` stays between those at :math:`s - d` and :math:`s + d`, but for what chance does.

    Of a scheme for shares one report may count for every value at or below, so that is how often
    the bound counts it: with many values nothing is left of such quantiles. Of unary encoding it is
    attained, of others not always. A square wave has weights of its own for these shares; what they
    allow is attained.

    Example:
        >>> from discreet.local import UnaryEncoding
        >>> wave = SquareWave.calibrate(most=15, epsilon=2)
        >>> bits = UnaryEncoding.optimised(categories=16, epsilon=2)
        >>> influence_below(wave, "0.01").raised < influence_below(bits, "0.01").raised
        True
    """
    share = _share(dishonest)
    if isinstance(scheme, SquareWave):
        return Influence.of(share, _float_ends(scheme.weights_below()))
    if not isinstance(scheme, FrequencyScheme):
        raise Unsupported(
            "No shares of people at or below a value are estimated from this",
            must="be a scheme for shares, or a square wave",
            got=type(scheme).__name__,
        )
    least, most = scheme.counts_for()
    below = scheme.categories - 1
    return Influence.of(share, (below * least, below * most, Fraction(1)))


@singledispatch
def _ends(scheme: object) -> Ends:
    raise Unsupported(
        "It is not known how far dishonest reports move what this estimates",
        must="be a scheme for shares, numbers or words, condensed privacy, or a decoder",
        got=type(scheme).__name__,
    )


@_ends.register
def _(scheme: FrequencyScheme) -> Ends:
    return *scheme.counts_for(), Fraction(1)


@_ends.register
def _(scheme: HashedWords) -> Ends:
    most = _HALF / (scheme.held - _HALF)
    return -most, most, Fraction(1)


@_ends.register
def _(scheme: NumberScheme) -> Ends:
    told = possible_numbers(scheme)
    worths = scheme.worths()[told]
    least, most = (scheme.worth(int(told[place])) for place in (worths.argmin(), worths.argmax()))
    return least, most, Fraction(scheme.most)


@_ends.register
def _(scheme: MemoisedRounding) -> Ends:
    return _ends(scheme.bit)


@_ends.register
def _(scheme: CondensedResponse) -> Ends:
    return _float_ends(linear.decoder(scheme.law(), np.eye(scheme.distance.values)))


@_ends.register
def _(made: Decoder) -> Ends:
    return Fraction(float(made.least.min())), Fraction(float(made.most.max())), Fraction(1)


@_ends.register
def _(_: Rappor) -> Ends:
    raise InvalidArgument(
        "What RAPPOR estimates depends on the list of candidates",
        must="be given with it, as decoder(scheme, candidates)",
    )


def _float_ends(weights: Floats) -> Ends:
    """Return the ends of weights that were worked out in floats, rounded outwards."""
    margin = OUTWARDS * float(np.abs(weights).max())
    least, most = float(weights.min()) - margin, float(weights.max()) + margin
    return Fraction(least), Fraction(most), Fraction(1)


def possible_numbers(scheme: NumberScheme) -> IntArray:
    """Return which reports honest devices make: the others are refused, so they move nothing."""
    told = np.arange(scheme.outcomes, dtype=np.int64)
    return told[scheme.possible(as_reports(told, scheme.outcomes))]


def one_report(scheme: FrequencyScheme, people: int) -> Fraction:
    """Return how far one report, exchanged for another, can move an estimated share.

    It is :math:`1/(n(p-q))`, where an honest answer in the clear would move it by :math:`1/n`.
    """
    return 1 / (check.at_least_one(people, "people") * (scheme.held - scheme.other))


def _share(dishonest: Number) -> Fraction:
    share = exact(dishonest)
    if not 0 <= share < 1:
        raise InvalidArgument(
            "dishonest is out of range", must="be at least 0 and below 1", got=str(dishonest)
        )
    return share
