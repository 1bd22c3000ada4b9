r"""Fingerprinting codes: words for users, so that whoever copies from several of them is found.

A position has a bias :math:`p`; each user's sign there is +1 with probability :math:`p`. A copy
:math:`a` gives user :math:`i` the score :math:`\sum_j a_j \phi^{p_j}(c_{ij})` with
:math:`\phi^p(1) = \sqrt{(1-p)/p}` and :math:`\phi^p(-1) = -\sqrt{p/(1-p)}`. An innocent's score has
mean 0 and grows with the root of the length; the pirates' scores grow with the length
[Tar08; Ste16, chapter 6]. Who is accused is private, like any other report of an attack.
"""

import math
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.statistics.pirates import Signs
from discreet.attacks.statistics.sign_data import Floats, inner, uniforms
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng

_MOST_ENTRIES = 10**9


def _whole(value: int) -> int:
    return at_least_one(value, "A number of users, colluders or positions")


@frozen(kw_only=True)
class FingerprintCode:
    """The parameters of a code.

    Attributes:
        users: How many words there are.
        colluders: Against how many pirates it is made.
        length: How many positions a word has.
        threshold: The score above which a user is accused.
        edge: Biases are kept so far away from 0 and 1, unless they are 0 or 1.
        fixed: The probability of a bias of 0, and that of a bias of 1: where all users have one
            sign, so that a copy with the other one shows that it is no copy.
    """

    users: int = field(converter=_whole)
    colluders: int = field(converter=_whole)
    length: int = field(converter=_whole)
    threshold: float
    edge: float
    fixed: float

    def __attrs_post_init__(self) -> None:
        if self.colluders > self.users:
            raise InvalidArgument("There are more colluders than users", must="be among the users")
        if not (0 < self.edge < 0.5 and 0 <= self.fixed < 0.5 and self.threshold > 0):
            raise InvalidArgument(
                "The biases are out of range",
                must="have an edge in (0, 1/2), fixed in [0, 1/2) and a threshold above 0",
            )

    @classmethod
    def proved(
        cls, *, users: int, colluders: int, errors: float = 0.0, failure: float = 0.01
    ) -> Self:
        r"""Return the code with the constants of the proof, which is very long.

        Guarantee:
            Each innocent is accused with probability at most δ/2, and a pirate whose copy has at
            most a share β of errors is caught but for
            :math:`\delta^{(1/2-\beta)n/2}` [Ste16, theorems 6.2.8, 6.2.19 and 6.2.21].

            The proof needs :math:`(1/2-\beta)n \ge 1` [Ste16, theorem 6.2.2]. Against fewer pirates
            the code is made as if against so many, the rest of whom say nothing; :math:`n` stands
            for that number.

            The analysis is corrected: its weight of an error must be
            :math:`\gamma = 2C(1-2\zeta)/\zeta` with :math:`C = 1/(\pi - 4\arcsin\sqrt\alpha)`
            (:func:`error_weight`), and not :math:`(2/\pi)(1-2\zeta)/\zeta`. The code itself and
            its length stay.

        Example:
            >>> code = FingerprintCode.proved(users=100, colluders=10, failure=0.01)
            >>> code.threshold, code.length
            (434304.0, 327465216)
        """
        if not (0 <= errors < 0.5 and 0 < failure < 0.5):
            raise InvalidArgument(
                "The errors or the failure are out of range",
                must="have 0 <= errors < 1/2 and 0 < failure < 1/2",
            )
        room = 0.5 - errors
        count = max(_whole(colluders), math.ceil(1 / room))
        blocks = math.ceil(6 * math.pi * count / room**2)
        threshold = 64 * blocks * math.ceil(math.log(32 / failure))
        return cls(
            users=users,
            colluders=colluders,
            length=blocks * threshold,
            threshold=float(threshold),
            edge=room / (4 * count),
            fixed=3 / 8 + errors / 4,
        )

    @classmethod
    def practical(
        cls,
        *,
        users: int,
        colluders: int,
        length: int,
        failure: float = 0.01,
        fixed: float = 0.0,
    ) -> Self:
        r"""Return a code of any length whose threshold is set by the normal law.

        Utility:
            :math:`\sigma = \sqrt{2(1-2\zeta)\ell\ln(2N/\beta)}`: an innocent's score has variance
            :math:`(1-2\zeta)\ell`. No innocent is accused but for about β. That is a calibration,
            not a proof; for a proof see :meth:`proved`.

        Example:
            >>> round(FingerprintCode.practical(users=100, colluders=10, length=40_000).threshold)
            890
        """
        if not (0 < failure < 1 and 0 <= fixed < 0.5):
            raise InvalidArgument(
                "The failure or the fixed share is out of range",
                must="have 0 < failure < 1 and 0 <= fixed < 1/2",
            )
        positions, words = _whole(length), _whole(users)
        spread = 2 * (1 - 2 * fixed) * positions * math.log(2 * words / failure)
        return cls(
            users=users,
            colluders=colluders,
            length=length,
            threshold=math.sqrt(spread),
            edge=1 / (8 * _whole(colluders)),
            fixed=fixed,
        )

    def draw_biases(self, positions: int, rng: Rng) -> Floats:
        r"""Draw biases: 0 or 1 with probability ``fixed`` each, or :math:`\sin^2` of an angle."""
        low = math.asin(math.sqrt(self.edge))
        kind, place = uniforms((2, positions), rng)
        inside = np.sin(low + (math.pi / 2 - 2 * low) * place) ** 2
        outside = np.where(kind < self.fixed, 0.0, 1.0)
        return np.where(kind < 2 * self.fixed, outside, inside)

    def draw(self, rng: Rng) -> "CodeBook":
        """Draw the whole book: a bias for each position, and a word for each user."""
        if self.users * self.length > _MOST_ENTRIES:
            raise InvalidArgument(
                "The book is too large to be drawn",
                must=f"have at most {_MOST_ENTRIES} signs",
                got=str(self.users * self.length),
                next="Take a practical code",
            )
        biases = self.draw_biases(self.length, rng)
        words = np.empty((self.users, self.length), dtype=np.int8)
        for row in words:
            row[:] = np.where(uniforms((self.length,), rng) < biases, 1, -1)
        return CodeBook(code=self, biases=biases, words=words)


@frozen(kw_only=True, eq=False, repr=False)
class CodeBook:
    """A code that was drawn. Secret: whoever knows the biases makes copies that trace nobody."""

    code: FingerprintCode
    biases: Floats
    words: Signs

    def accuse(self, copy: ArrayLike) -> "Accusation":
        """Score every user against a copy, and accuse those above the threshold."""
        signs = np.asarray(copy)
        if signs.shape != self.biases.shape or not (np.abs(signs) == 1).all():
            raise InvalidArgument(
                "That is no copy of these words",
                must=f"be {len(self.biases)} signs, each +1 or −1",
            )
        middle, half = score_parts(self.biases)
        scores = float(signs @ middle) + inner(self.words, signs * half)
        seen = (self.words == signs).any(axis=0)
        return Accusation(
            scores=scores,
            accused=scores > self.code.threshold,
            inconsistent=int((~seen).sum()),
        )


@frozen(kw_only=True, eq=False, repr=False)
class Accusation:
    """Who is accused of a copy. Private.

    Attributes:
        scores: Each user's score.
        accused: Whether each is accused.
        inconsistent: At how many positions the copy has a sign that no user has.
    """

    scores: Floats
    accused: NDArray[np.bool_]
    inconsistent: int


def score_parts(biases: Floats) -> tuple[Floats, Floats]:
    r"""Return :math:`m` and :math:`h` with :math:`\phi^p(c) = m + ch`; both are 0 at fixed biases.

    Example:
        >>> [float(part[0]) for part in score_parts(np.array([0.5]))]
        [0.0, 1.0]
    """
    free = (biases > 0) & (biases < 1)
    p = np.where(free, biases, 0.5)
    up, down = np.sqrt((1 - p) / p), -np.sqrt(p / (1 - p))
    return np.where(free, (up + down) / 2, 0.0), np.where(free, (up - down) / 2, 0.0)


def error_weight(edge: float, fixed: float) -> float:
    r"""Return γ, by which an error of the copy counts in the analysis: corrected.

    Guarantee:
        For every pirate, a position's scores of all :math:`n` members together, plus γ if the copy
        is wrong at a fixed bias, are :math:`2C(1-2\zeta)(1-2n\alpha)` at least on average.

        Proof. The scores add up to :math:`(1-2\zeta)C(g(1-\alpha) - g(\alpha))`, where
        :math:`g(p)` is the pirate's average answer and :math:`C = 1/(\pi - 4\arcsin\sqrt\alpha)`
        [Ste16, proposition 6.2.12]; :math:`g` is within :math:`2n\alpha` of its end values, and an
        error at an end costs the same :math:`2C(1-2\zeta)` that it takes away. With the printed
        :math:`1/\pi < C` that balance fails when :math:`g(1-\alpha) < g(\alpha)`.

    Example:
        >>> round(error_weight(1 / 80, 3 / 8), 4)
        0.495
    """
    if not fixed > 0:
        raise InvalidArgument("fixed is out of range", must="be above 0")
    return 2 * (1 - 2 * fixed) / (fixed * (math.pi - 4 * math.asin(math.sqrt(edge))))
