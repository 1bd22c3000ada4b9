r"""The lower bounds for one-way marginals as they are printed, repaired, with where they hold.

They are for rows of :math:`\pm1`, a public number of people :math:`n` who are replaced, and the
*mean* error :math:`\alpha = E\|M(x) - \bar x\|_1/d`. An answer within :math:`a` people but for
:math:`\beta` has :math:`\alpha \le 2a/n + 2\beta`; somebody who is replaced leaves and another
comes, so :math:`(\varepsilon, \delta)` becomes :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)`.
Their constants are weak: :class:`~discreet.planner.bounds.fingerprinting.Fingerprinting` and
:class:`~discreet.planner.bounds.packing.Packing` say more wherever these apply.
"""

from fractions import Fraction
from math import ceil
from typing import ClassVar

from attrs import frozen

from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.core.rounding import exp_up, log_down, log_up, short_up, sqrt_down, sqrt_up
from discreet.planner.bounds.wanted import OTHER_MEASURE, GroupLoss, Ruling, Wanted

TENTH = Fraction(1, 10)


def mean_error(wanted: Wanted) -> Fraction:
    r"""Return :math:`2a/n + 2\beta`."""
    return 2 * wanted.error / wanted.people + 2 * wanted.beta


def _replaced(loss: PrivacyLoss) -> Approximate | None:
    """Return the loss of somebody who is replaced, if it is an ε with or without a δ."""
    group = GroupLoss(loss, 2)
    return None if group.epsilon is None else Approximate(group.epsilon, min(_ONE, group.delta))


_ONE = Fraction(999_999, 10**6)
"""A δ above that promises nothing, and no theorem here takes it."""


def _needs(people: int, least: Fraction) -> Ruling:
    return Ruling(people < least)


@frozen
class PureMarginals:
    r"""For ε alone: mean error up to 0.9 takes :math:`n > d/(800\varepsilon) - \ln 20/\varepsilon`.

    Guarantee:
        [Ste16, theorem 4.3.1].
    """

    columns: int
    name: ClassVar[str] = "pure marginals"
    source: ClassVar[str] = "[Ste16, theorem 4.3.1]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether there are too few people."""
        if not isinstance(wanted.loss, Pure) or not wanted.loss.epsilon:
            return Ruling(False, "it is for an ε above 0 without a δ")
        if mean_error(wanted) > Fraction(9, 10):
            return Ruling(False, "it needs a mean error of 0.9 or less, of ±1")
        epsilon = 2 * wanted.loss.epsilon
        return _needs(
            wanted.people, Fraction(self.columns, 800) / epsilon - log_up(Fraction(20)) / epsilon
        )


@frozen
class BasicMarginals:
    r"""For :math:`(1, 1/(30n))`: a mean error up to a tenth takes :math:`n \ge \sqrt d/41`.

    Guarantee:
        [Ste16, theorem 4.3.3]; the constant is :math:`1/(15e)`.
    """

    columns: int
    name: ClassVar[str] = "basic fingerprinting"
    source: ClassVar[str] = "[Ste16, theorem 4.3.3]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether there are too few people."""
        loss = _replaced(wanted.loss)
        if loss is None:
            return OTHER_MEASURE
        if loss.epsilon > 1:
            return Ruling(False, "it needs an ε of 1/2 or less, which is 1 if people are replaced")
        if loss.delta * 30 * wanted.people > 1:
            return Ruling(False, "it needs a δ of at most 1/(30 people), if they are replaced")
        if mean_error(wanted) > TENTH:
            return Ruling(False, "it needs a mean error of 0.1 or less, of ±1")
        return _needs(wanted.people, sqrt_down(Fraction(self.columns)) / 41)


@frozen
class SquaredMarginals:
    r"""For a mean square error.

    Guarantee:
        :math:`\sqrt d(1/3 - \alpha^2 - 2(e^\varepsilon + 1)n\delta) \le n\sqrt{2\ln(1/\delta)}`
        [Ste16, theorem 4.3.13, before it is simplified], where
        :math:`E\|M(x) - \bar x\|_2^2 \le \alpha^2d`, :math:`\alpha^2 \le 1/4` and
        :math:`(e^\varepsilon + 1)n\delta \le 1/50`.
    """

    columns: int
    name: ClassVar[str] = "fingerprinting of squares"
    source: ClassVar[str] = "[Ste16, theorem 4.3.13]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether there are too few people."""
        loss, people = _replaced(wanted.loss), wanted.people
        if loss is None or not loss.delta:
            return Ruling(False, "it is for an ε with a δ above 0")
        square = (2 * wanted.error / people) ** 2 + 4 * wanted.beta
        leaks = (exp_up(loss.epsilon) + 1) * people * loss.delta
        if square > Fraction(1, 4):
            return Ruling(False, "it needs a mean square error of 1/4 or less, of ±1")
        if leaks > Fraction(1, 50):
            return Ruling(False, "it needs (e^ε + 1) people δ ≤ 1/50, if people are replaced")
        left = sqrt_down(Fraction(self.columns)) * (Fraction(1, 3) - square - 2 * leaks)
        return Ruling(left > people * sqrt_up(short_up(2 * log_up(1 / loss.delta))))


@frozen
class GroupedMarginals:
    r"""For a small δ and a mean error up to a tenth.

    Guarantee:
        :math:`(1, \delta)` takes :math:`n \ge \sqrt{d\ln(1/\delta)}/800`
        [Ste16, theorem 4.3.14], for
        :math:`e^{-n/100} \le \delta \le (250n)^{-1.1}`.
    """

    columns: int
    name: ClassVar[str] = "fingerprinting of groups"
    source: ClassVar[str] = "[Ste16, theorem 4.3.14]"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether there are too few people."""
        loss = _replaced(wanted.loss)
        if loss is None or not loss.delta:
            return Ruling(False, "it is for an ε with a δ above 0")
        if loss.epsilon > 1:
            return Ruling(False, "it needs an ε of 1/2 or less, which is 1 if people are replaced")
        if mean_error(wanted) > TENTH:
            return Ruling(False, "it needs a mean error of 0.1 or less, of ±1")
        return grouped(self.columns, wanted.people, loss.delta)


def grouped(columns: int, people: int, delta: Fraction) -> Ruling:
    """Say what the theorem says of a release with ε = 1 and this δ, if people are replaced."""
    most, log_delta = log_up(Fraction(250 * people)), log_down(1 / delta)
    if log_up(1 / delta) > Fraction(people, 100):
        return Ruling(False, "it needs a δ of at least e^(-people/100), if they are replaced")
    if log_delta < Fraction(11, 10) * most:
        return Ruling(False, "it needs a δ of at most (250 people)^-1.1, if they are replaced")
    return _needs(people, sqrt_down(columns * log_delta) / 800)


@frozen
class ScaledMarginals:
    r"""For a small ε and a small mean error.

    Guarantee:
        :math:`n \ge \sqrt{d\ln(\varepsilon/\delta)}/(16000\alpha\varepsilon) -
        1/(20\alpha\varepsilon)` [Ste16, theorem 4.1.1], with
        :math:`\ln(\varepsilon/\delta)` for the printed :math:`\ln(1/\delta)`, which its proof
        does not give, and with fact 4.2.2 repaired.

        *The fact.* From a release for :math:`n` people that is :math:`(\varepsilon, \delta)`-DP
        with mean error :math:`\alpha` make one for :math:`n' = \lceil 20\alpha\varepsilon n\rceil`:
        each of them is put in :math:`k = \lceil 1/(2\varepsilon)\rceil` times, the other
        :math:`n - kn'` rows are ones, and the answers are scaled back and moved into [-1, 1]. As
        :math:`\varepsilon \le 1/10`, :math:`k\varepsilon \le 0.6`, so it is
        :math:`(1, \delta/\varepsilon)`-DP; its mean error is
        :math:`\alpha n/(kn') \le 1/10`. It needs :math:`kn' \le n`, which is checked: the printed
        :math:`k = \lfloor\ln 2/\varepsilon\rfloor` has it for :math:`\alpha` below 0.072 alone.
        Then :math:`n' \ge \sqrt{d\ln(\varepsilon/\delta)}/800`.
    """

    columns: int
    name: ClassVar[str] = "scaled fingerprinting"
    source: ClassVar[str] = "[Ste16, theorem 4.1.1 and fact 4.2.2], repaired"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether there are too few people."""
        loss, alpha = _replaced(wanted.loss), mean_error(wanted)
        if loss is None or not loss.delta or not loss.epsilon:
            return Ruling(False, "it is for an ε with a δ above 0")
        if max(loss.epsilon, loss.delta, alpha) > TENTH or not alpha:
            return Ruling(
                False,
                "it needs ε, δ and a mean error above 0 and up to 0.1, if people are replaced",
            )
        fewer = fewer_people(wanted.people, alpha, loss.epsilon)
        if fewer is None:
            return Ruling(False, "the people do not fit in as often as it needs them")
        return grouped(self.columns, fewer, loss.delta / loss.epsilon)


def fewer_people(people: int, alpha: Fraction, epsilon: Fraction) -> int | None:
    r"""Return :math:`n' = \lceil20\alpha\varepsilon n\rceil`, or None if :math:`kn' > n`.

    Example:
        >>> fewer_people(10**6, Fraction(1, 20), Fraction(1, 100))
        10000
        >>> fewer_people(1_000, Fraction(1, 10), Fraction(3, 40)) is None
        True
    """
    fewer = ceil(20 * alpha * epsilon * people)
    return fewer if ceil(1 / (2 * epsilon)) * fewer <= people else None
