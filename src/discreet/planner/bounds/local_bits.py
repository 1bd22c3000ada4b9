"""What no survey can do in which everybody randomises their own answer."""

from fractions import Fraction
from math import floor
from typing import ClassVar

from attrs import frozen

from discreet.core.loss import Pure
from discreet.core.rounding import exp_down, exp_up, short_up, sqrt_up
from discreet.planner.bounds.wanted import TOO_FEW, Ruling, Wanted

PI_UP = Fraction(314159266, 10**8)


@frozen
class LocalBits:
    r"""A share of people by reports that each of them randomises: the root of their number.

    Guarantee:
        Let :math:`n` people have bits, and every report be :math:`\varepsilon`-DP in the bit of its
        person, perhaps chosen after seeing earlier reports. Each is then made from a randomised
        response, which tells the bit with a chance :math:`p = e^\varepsilon/(1 + e^\varepsilon)`
        [KOV15; MV16, lemma 3.2], so all of them are made from :math:`n` of these. Put :math:`K`
        ones in random order: then nothing but the number of ones among the responses tells
        anything of :math:`K`. One bit more moves the law of that number by
        :math:`(2p - 1)` times the distance of the sum :math:`S` of :math:`n - 1` coins, each
        with variance :math:`p(1 - p)`, from :math:`S + 1`. The law of :math:`S` has one mode, so
        that is its largest chance, and by Fourier inversion with
        :math:`|E e^{itX}| \le e^{-2p(1-p)\sin^2(t/2)}` and :math:`\sin^2(t/2) \ge t^2/\pi^2`
        at most :math:`\sqrt{\pi/(8(n-1)p(1-p))}`. As :math:`(2p - 1)/\sqrt{p(1-p)} =
        2\sinh(\varepsilon/2)`, two numbers of ones that are :math:`D` apart are told apart with

        .. math:: TV \le D \sinh(\varepsilon/2) \sqrt{\pi/(2(n - 1))}.

        Whoever is within :math:`a < D/2` but for :math:`\beta` has
        :math:`TV \ge 1 - 2\beta`. Shares of listed values and means of numbers contain this one.

    Example:
        >>> LocalBits().rule(Wanted(10_000, Fraction(60), Fraction(1, 20), Pure(1))).refutes
        True
    """

    name: ClassVar[str] = "randomised bits"
    source: ClassVar[str] = "[KOV15], and the proof at LocalBits"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether two shares would be told apart that cannot be."""
        if not isinstance(wanted.loss, Pure):
            return Ruling(False, "it is for reports with an ε and no δ")
        apart, half = floor(2 * wanted.error) + 1, wanted.loss.epsilon / 2
        if apart > wanted.people or wanted.people < 2:
            return TOO_FEW
        if half > 100:
            return Ruling(False)
        sinh = short_up((exp_up(half) - exp_down(-half)) / 2)
        told = apart * sinh * sqrt_up(short_up(PI_UP / (2 * (wanted.people - 1))))
        return Ruling(1 - 2 * wanted.beta > told)
