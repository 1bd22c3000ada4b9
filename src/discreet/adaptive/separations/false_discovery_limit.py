"""How many adaptive questions break every mechanism, with explicit constants."""

import math
from fractions import Fraction

from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


@frozen
class FalseDiscoveryLimit:
    r"""That no mechanism answers so many adaptive statistical questions.

    Guarantee:
        For :math:`\beta < 1/2` no mechanism with :math:`n` people is within 0.99 (of answers in
        [-1, 1]) in all but a part :math:`\beta` of ``questions`` adaptive rounds, with a chance of
        one half, if a row has ``bits`` bits. A mechanism that runs in polynomial time fails with
        rows of few bits already, if one-way functions exist [Ste16, theorems 6.3.2 and 6.3.10].

        The number of questions is the length of an interactive fingerprinting code for
        :math:`2000n` users against :math:`n` of them,
        :math:`64 \cdot 11\lceil 6\pi n/(\frac12 - \beta)^2\rceil^2`. A row is the number of a user
        and a pad of one of three letters for each question; the source has one bit for each and
        no number.

    Attributes:
        people: How many people there are.
        questions: How many questions break every mechanism.
        bits: How many bits a row has to have for that, if nothing is assumed.
    """

    people: int
    questions: int
    bits: int

    def __str__(self) -> str:
        return (
            f"{self.questions:,} adaptive questions break every mechanism with {self.people:,}"
            f" people, if a row has {self.bits:,} bits"
        )


def false_discovery_limit(*, people: int, beta: Number = 0) -> FalseDiscoveryLimit:
    """Return how many adaptive questions break every mechanism, if answers may be wrong in a part.

    Example:
        >>> print(false_discovery_limit(people=100))
        40,0... adaptive questions break every mechanism with 100 people, if a row has ... bits
    """
    size, wrong = check.at_least_one(people, "people"), exact(beta)
    if not 0 <= wrong < Fraction(1, 2):
        raise InvalidArgument(
            "beta is out of range", must="be at least 0 and below 1/2", got=str(wrong)
        )
    pi_up = Fraction(355, 113)
    each = math.ceil(6 * pi_up * size / (Fraction(1, 2) - wrong) ** 2)
    questions = 64 * 11 * each**2
    # Two bits are enough for a letter of three; 317 bits for every 200 of them, too.
    pad = math.ceil(Fraction(317, 200) * questions)
    return FalseDiscoveryLimit(size, questions, pad + (2_000 * size - 1).bit_length())
