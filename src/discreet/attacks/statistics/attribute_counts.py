r"""How many published means give their people away: what is proved, and what to expect.

Throughout, a release of :math:`d` means of :math:`n` people is off by at most α from the exact
means, and :math:`\gamma = E[1-p^2] - \alpha\xi` is the correlation that is left
[Ste16, corollary 5.2.6].
"""

import math

import numpy as np
from attrs import frozen

from discreet.attacks.statistics.false_discovery import checked_level
from discreet.attacks.statistics.sign_data import Floats
from discreet.attacks.statistics.strong_priors import MeanPrior
from discreet.attacks.statistics.tracing import standard_score
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument


@frozen(kw_only=True)
class LeastAttributes:
    """From how many means on people can be traced.

    Attributes:
        proved: From here on tracing is proved; None if no number is enough.
        pool: How many references the attack needs, beside the one that it compares with.
        traced: How many people are traced at least, of those in the data.
        left: The correlation γ that the distortion leaves, for each attribute.
        why: Why no number is enough; empty if one is.
    """

    proved: int | None
    pool: int
    traced: int
    left: float
    why: str = ""

    def __str__(self) -> str:
        if self.proved is None:
            return f"Not traceable by this proof: {self.why}."
        return f"{self.proved} attributes trace at least {self.traced} of the people."


def least_attributes(
    people: int, prior: MeanPrior, *, distortion: float = 0.0, level: float = 0.05
) -> LeastAttributes:
    r"""Return from how many attributes on one reference traces everybody, each but for β.

    Guarantee:
        At :math:`d \ge 64 n^2 \ln(1/\beta)/\gamma^2` each person is accused at level β with
        probability at least :math:`1 - \beta`, if the release depends on the exact means alone
        [Ste16, propositions 5.2.11 and 5.2.12].

        Proof. The scores of all people together fall below :math:`\gamma d/2` with probability at
        most :math:`e^{-\gamma^2 d/64n^2}` (:func:`score_sum_failure`), and
        :math:`\gamma d/2n \ge 2\sqrt{d\ln(1/\beta)}` from :math:`16n^2\ln(1/\beta)/\gamma^2` on.

    Assumes:
        Means are independent draws of ``prior``. The released mean of an attribute is made from
        that attribute: one that hides others in its digits is outside the printed proof, which
        conditions on the other answers.

    Utility:
        A worst case over all ways to be off by α. :func:`expected_attributes` is what exact means
        need in truth: ten to thirty times fewer.

    Example:
        >>> from discreet.attacks.statistics.strong_priors import UniformMean
        >>> least_attributes(10, UniformMean()).proved
        43139
        >>> print(least_attributes(10, UniformMean(), distortion=0.7))
        Not traceable by this proof: a release that is off by 0.7 may say nothing of its people.
    """
    count, beta = at_least_one(people, "people"), checked_level(level)
    left = _left(prior, distortion)
    if left <= 0:
        return _never(distortion, left)
    least = math.ceil(64 * count**2 * math.log(1 / beta) / left**2)
    return LeastAttributes(proved=least, pool=0, traced=count, left=left)


def least_attributes_with_pool(
    people: int, prior: MeanPrior, *, distortion: float, level: float = 0.05
) -> LeastAttributes:
    r"""Return from how many attributes on the clipped statistic traces some people.

    Guarantee:
        With a pool of :math:`m \ge 2\ln(48n/\gamma)/\alpha^2` references and
        :math:`d \ge 2304\,\alpha^2n^2\ln(1/\beta)/\gamma^2` and :math:`d \ge 64(n + 2\ln(1/\beta))`
        at least :math:`\gamma^2/256\alpha^2` people are accused, but for a probability of 2β
        [Ste16, proposition 5.3.9]. Here α is the distance from the *population's* means; for one
        from the exact means of the sample see :func:`distortion_from_population`.

        The constants are corrected. A difference of two signs has the moment generating function
        :math:`\cosh^2 t \le e^{t^2}`, so :math:`c = 1` where ½ is printed, and 2304 where 1152 is;
        the bound on the length of all scores needs :math:`d` in its exponent
        (:func:`score_norm_failure`), hence :math:`64(n + 2\ln(1/\beta))` where
        :math:`64(n + \sqrt{\ln(1/\beta)})` is printed; the bound on the pool's mean has two sides,
        hence 48 where 24 is printed.

    Example:
        >>> from discreet.attacks.statistics.strong_priors import UniformMean
        >>> found = least_attributes_with_pool(1000, UniformMean(), distortion=0.03)
        >>> found.proved, found.pool, found.traced
        (15325116, 24957, 2)
    """
    count, beta = at_least_one(people, "people"), checked_level(level)
    left = _left(prior, distortion)
    if left <= 0 or distortion <= 0:
        return _never(distortion, left)
    log = math.log(1 / beta)
    scores = 2304 * distortion**2 * count**2 * log / left**2
    least = math.ceil(max(scores, 64 * (count + 2 * log)))
    pool = max(1, math.ceil(2 * math.log(48 * count / left) / distortion**2))
    traced = min(count, math.ceil(left**2 / (256 * distortion**2)))
    if left**2 < 256 * distortion**2:
        return LeastAttributes(
            proved=None, pool=pool, traced=0, left=left, why="less than one person is proved traced"
        )
    return LeastAttributes(proved=least, pool=pool, traced=traced, left=left)


def _left(prior: MeanPrior, distortion: float) -> float:
    if not 0 <= distortion <= 2:
        raise InvalidArgument("distortion is out of range", must="be from 0 to 2")
    return prior.spread - distortion * prior.strength


def _never(distortion: float, left: float) -> LeastAttributes:
    why = f"a release that is off by {distortion:g} may say nothing of its people"
    if distortion <= 0:
        why = "the clipped statistic needs a distortion above 0"
    return LeastAttributes(proved=None, pool=0, traced=0, left=left, why=why)


def expected_attributes(
    people: int,
    prior: MeanPrior,
    *,
    level: float = 0.05,
    power: float = 0.95,
    references: int = 1,
) -> int:
    r"""Return how many exact means trace a person by ``CORRELATION``, by the normal law.

    Whoever has many references needs far fewer: :func:`expected_with_pool`. An attribute adds
    :math:`E[1-p^2]/n` to a member's score, and
    :math:`(1 + 1/r)(E[p^2(1-p^2)] + E[(1-p^2)^2]/n)` to the variance of anybody's.

    Utility:
        An approximation, and for the threshold that knows the variance (``PLUG_IN``).

    Example:
        >>> from discreet.attacks.statistics.strong_priors import UniformMean
        >>> expected_attributes(1000, UniformMean()) / 1000**2
        6.519...
    """
    count, pool = at_least_one(people, "people"), at_least_one(references, "references")
    both = prior.squared_spread
    variance = (1 + 1 / pool) * (prior.spread - both + both / count)
    deviations = standard_score(level) - standard_score(checked_level(power))
    if deviations <= 0:
        return 1
    return max(1, math.ceil(variance * (deviations * count / prior.spread) ** 2))


def expected_with_pool(
    people: int, *, references: int | None, level: float = 0.05, power: float = 0.95
) -> int | None:
    r"""Return how many exact means trace a person by ``LIKELIHOOD``, by the normal law.

    A pool of :math:`m` references says what is usual, and :math:`r` others are compared with; the
    best division of all ``references`` is taken. ``None`` is for whoever knows the means of the
    population. An attribute of variance :math:`v` has about the weight :math:`(q - \bar r)/v`, so
    it adds :math:`1/n` to a member's score, and :math:`(1/n + 1/m)(1 + 1/r)` to the variance of a
    stranger's. So a number like :math:`n` does, where ``CORRELATION`` needs one like :math:`n^2`
    [SOJH09]. One reference cannot be divided: then ``None`` is returned.

    Utility:
        An approximation, and for means of which each is shared by some people at least.

    Example:
        >>> [expected_with_pool(40, references=r) for r in (None, 800, 400, 2, 1)]
        [433, 463, 492, 35497, None]
    """
    count = at_least_one(people, "people")
    deviations = standard_score(level) - standard_score(checked_level(power))
    best = 1.0
    if references is not None:
        every = at_least_one(references, "references")
        alone = (2**step for step in range((every - 1).bit_length()))  # how many are compared with
        best = min(
            ((1 + count / (every - r)) * (1 + 1 / r) for r in alone if r < every), default=math.inf
        )
    if not math.isfinite(best):
        return None
    return max(1, math.ceil(count * best * max(0.0, deviations) ** 2))


def distortion_from_population(
    distortion: float, people: int, attributes: int, *, failure: float
) -> float:
    r"""Return how far a release is from the population's means, from its distance to the sample's.

    By Hoeffding's inequality and a union bound all :math:`d` exact means of :math:`n` people are
    within :math:`\sqrt{2\ln(2d/\beta)/n}` of the population's, but for a probability of β. The same
    number leads from the population's means to the sample's. [Ste16, section 5.3] takes one for
    the other.

    Example:
        >>> round(distortion_from_population(0.1, 1000, 100, failure=0.05), 3)
        0.229
    """
    count, size = at_least_one(people, "people"), at_least_one(attributes, "attributes")
    sampled = math.sqrt(2 * math.log(2 * size / checked_level(failure)) / count)
    return min(2.0, distortion + sampled)


def score_sum_failure(people: int, attributes: int, left: float) -> float:
    r"""Bound the chance that all members' scores together are below :math:`\gamma d/2`.

    It is :math:`e^{-\gamma^2 d/64n^2}`: [Ste16, theorem 5.4.1] with :math:`c = 1` and
    :math:`\lambda = \gamma d/2`. Printed are 32 for 64, and :math:`\gamma/2d` for
    :math:`\gamma d/2` [Ste16, lemma 5.2.10].

    Example:
        >>> score_sum_failure(10, 100_000, 2 / 3) < 1e-3
        True
    """
    count, size = at_least_one(people, "people"), at_least_one(attributes, "attributes")
    return math.exp(-(left**2) * size / (64 * count**2))


def score_norm_failure(
    people: int, attributes: int, excess: float, *, most: float = 1.0, spread: float = 1.0
) -> float:
    r"""Bound the chance that the length of all scores exceeds the sum of its means by ``excess``.

    It is :math:`e^{n/2 - \lambda^2/(32\,c\,d\,\alpha^2)}` for weights up to :math:`\alpha` and
    entries with :math:`E e^{tX} \le e^{ct^2}`. [Ste16, theorem 5.4.11] has
    :math:`e^{nd/2 - \lambda^2/(32c\alpha^2)}`, which is false: with one person, :math:`d = 100`
    normal entries and :math:`\lambda = 40` it is :math:`1.9 \cdot 10^{-22}`, and the truth is
    :math:`6.3 \cdot 10^{-5}`.

    Example:
        >>> score_norm_failure(1, 100, 80, spread=0.5) < 0.1
        True
    """
    count, size = at_least_one(people, "people"), at_least_one(attributes, "attributes")
    if not (excess >= 0 and most > 0 and spread > 0):
        raise InvalidArgument(
            "The excess, the weights or the spread are out of range",
            must="have an excess of at least 0, and the others above 0",
        )
    power = count / 2 - excess**2 / (32 * spread * size * most**2)
    return min(1.0, math.exp(min(0.0, power)))


@frozen(kw_only=True, eq=False)
class RocCurve:
    """What a threshold on scores trades: strangers accused for members traced. Private.

    Attributes:
        false_alarms: The share of strangers above each threshold, rising from 0 to 1.
        power: The share of members above it.
        area: The chance that a member scores above a stranger, ties counted half.
    """

    false_alarms: Floats
    power: Floats
    area: float

    def power_at(self, level: float) -> float:
        """Return the largest power of a threshold with at most this share of false alarms."""
        return float(self.power[self.false_alarms <= level].max())


def roc_curve(members: Floats, strangers: Floats) -> RocCurve:
    """Return the curve of scores of people who are known to be in the data, and of others.

    Example:
        >>> curve = roc_curve(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
        >>> curve.area, curve.power_at(0.0)
        (0.75, 0.5)
    """
    inside, outside = (np.sort(np.asarray(one, dtype=np.float64)) for one in (members, strangers))
    if not inside.size or not outside.size:
        raise InvalidArgument("Scores are missing", must="be of at least one member and a stranger")
    if not (np.isfinite(inside).all() and np.isfinite(outside).all()):
        raise InvalidArgument("Some scores are no numbers", must="be finite")
    cuts = np.unique(np.concatenate([inside, outside]))[::-1]
    shares = [
        np.concatenate([[0.0], 1 - np.searchsorted(one, cuts, side="left") / len(one)])
        for one in (inside, outside)
    ]
    area = float(np.trapezoid(shares[0], shares[1]))
    return RocCurve(false_alarms=shares[1], power=shares[0], area=area)
