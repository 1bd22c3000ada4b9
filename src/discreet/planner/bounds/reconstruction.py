"""Reconstruction: so many answers that are so exact tell almost everybody's bit."""

from typing import ClassVar

from attrs import frozen

from discreet.planner.bounds.wanted import TOO_FEW, Ruling, Wanted, copies_to_try, most_agreement


@frozen
class Reconstruction:
    r"""As many answers as people, each within a small multiple of the root of their number.

    Guarantee:
        Let :math:`m` be a power of 2, at most :math:`d`, and let each of :math:`m` people be there
        or not, by a fair coin. Person :math:`i` has property :math:`j` where the
        :math:`m \times m` matrix :math:`H` of Sylvester has :math:`H_{ji} = 1`; all have the
        first. From counts :math:`c` within :math:`a` follow the signed sums
        :math:`2c_j - c_1 = (Hx)_j` within :math:`3a`. As :math:`H^TH = mI`, least squares
        gives :math:`\|\hat x - x\|^2 \le 9a^2`, so rounding makes at most :math:`36a^2` mistakes.
        With each person put in :math:`r` times it is :math:`36(a/r)^2`. But on average no more than
        a share of :math:`\frac12(1 + TV)` of the bits can be right
        (:func:`~discreet.planner.bounds.wanted.most_agreement`), where TV is for :math:`r` people
        who come or go. So

        .. math:: (1 - \beta)(1 - 36 a^2/(r^2 m)) > \tfrac12(1 + TV_r)

        is impossible: an error of :math:`\Omega(\sqrt m)` for :math:`m` people and as many answers
        [DN03, theorem 2; here by linear algebra, with its constants].

        *Means.* Where the number of people is fixed, somebody who is not there has a row of zeros:
        :math:`r` people leave and :math:`r` come, which is a group of :math:`2r`.

    Example:
        >>> from fractions import Fraction
        >>> from discreet import Pure
        >>> bound = Reconstruction(1024)
        >>> [bound.rule(Wanted(2_000, Fraction(a), Fraction(1, 20), Pure("0.1"))).refutes
        ...  for a in (10, 100)]
        [True, False]
    """

    columns: int
    is_of_fixed_size: bool = False
    name: ClassVar[str] = "reconstruction"
    source: ClassVar[str] = "[DN03], with constants"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether more bits would be right than can be."""
        if wanted.people < 2 or self.columns < 2:
            return TOO_FEW
        for copies in copies_to_try(wanted):
            most = min(self.columns, wanted.people // copies)
            if most < 2:
                break
            people = 1 << (most.bit_length() - 1)
            wrong = 36 * wanted.error**2 / (copies**2 * people)
            size = 2 * copies if self.is_of_fixed_size else copies
            if wrong < 1 and (1 - wanted.beta) * (1 - wrong) > most_agreement(
                wanted.loss, size=size
            ):
                return Ruling(True)
        return Ruling(False)
