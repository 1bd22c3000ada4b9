r"""Correlated vectors: answers that must differ from all earlier ones add up to the secret.

A query is a list :math:`V` of vectors, an answer a vector of signs. It must agree with the secret
:math:`x` a little, and with the vectors in :math:`V` no more than :math:`x` itself does. If the
lists are fixed beforehand, one noisy copy of :math:`x` answers all of them. If each list holds all
earlier answers, every answer has to be a new noisy copy, and many of those average to :math:`x`
[Ste16, section 7.4].
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import define, field, frozen
from numpy.typing import ArrayLike

from discreet.attacks.statistics.pirates import Signs
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import QueryInterface, Rng
from discreet.randomness.samplers import bernoulli


@frozen(kw_only=True, eq=False, repr=False)
class RecoveredVector:
    """A guess at a secret vector, from answers that were to be correlated with it.

    Attributes:
        vector: The guess, a sign for each place.
        answers: What was answered, one row for each query.
    """

    vector: Signs
    answers: Signs

    def share_right(self, secret: ArrayLike) -> Fraction:
        """Return which share of the secret's signs is recovered."""
        right = int((self.vector == as_secret(secret)).sum())
        return Fraction(right, self.vector.size)

    def likeness(self, secret: ArrayLike) -> float:
        r"""Return the least agreement of an answer with the secret, :math:`\langle y, x\rangle/n`.

        It and ``overlap`` are the two numbers of :func:`least_agreement`.
        """
        found = self.answers.astype(np.float64) @ as_secret(secret)
        return float(found.min()) / self.vector.size

    @property
    def overlap(self) -> float:
        """The most that two answers agree; 0 if there is one alone."""
        rows = self.answers.astype(np.float64)
        products = np.abs(rows @ rows.T) / self.vector.size
        np.fill_diagonal(products, 0.0)
        return float(products.max())


def recover_vector(interface: QueryInterface, *, queries: int) -> RecoveredVector:
    r"""Ask for one vector after the other, each against all answers before it, and add them up.

    Guarantee:
        If every answer agrees with the secret by :math:`an` at least, and two answers with one
        another by :math:`bn` at most, the guess agrees with it as :func:`least_agreement` says. Any
        mechanism that answers validly allows :math:`a = 0.99\alpha` and :math:`b = 1.02\alpha^2`,
        so :math:`k = 100/\alpha^2` queries recover 94 % of the signs [Ste16, theorem 7.4.2]; under
        :math:`(1, 1/20)`-differential privacy nothing recovers more than
        :func:`~discreet.attacks.reconstruction.guess_ceiling.guess_ceiling`. So no private
        mechanism answers validly.

    Example:
        >>> from discreet import SystemRng
        >>> rng = SystemRng()
        >>> secret = np.where(np.arange(200) % 3 == 0, 1, -1)
        >>> fresh = FreshVectors(secret=secret, alpha="1/2", rng=rng)
        >>> float(recover_vector(fresh, queries=200).share_right(secret)) > 0.99
        True
    """
    asked = check.at_least_one(queries, "queries")
    answers: list[Signs] = []
    for _ in range(asked):
        replies = interface.answers([tuple(answers)])
        answers.append(_answer(replies, answers))
    stacked = np.stack(answers)
    total = stacked.sum(axis=0, dtype=np.int64)
    return RecoveredVector(vector=np.where(total < 0, -1, 1).astype(np.int8), answers=stacked)


def _answer(replies: Sequence[object], earlier: Sequence[Signs]) -> Signs:
    is_one = isinstance(replies, Sequence | np.ndarray) and len(replies) == 1
    found = np.asarray(replies[0] if is_one else None)
    shape = earlier[0].shape if earlier else found.shape
    if found.ndim != 1 or not found.size or found.shape != shape:
        raise InvalidArgument("The interface gave no vector", must="be one vector for each query")
    return as_secret(found)


def as_secret(values: ArrayLike) -> Signs:
    """Return a vector of signs, or refuse what is none.

    Example:
        >>> as_secret([1, -1]).tolist()
        [1, -1]
    """
    found = np.asarray(values)
    if found.ndim != 1 or found.dtype.kind not in "if" or not (np.abs(found) == 1).all():
        raise InvalidArgument("That is no vector of signs", must="be +1 or −1 everywhere")
    return found.astype(np.int8)


def least_agreement(likeness: float, overlap: float, queries: int) -> float:
    r"""Return what :math:`\langle \tilde x, x\rangle/n` is at least, for the sum of all answers.

    Guarantee:
        :math:`1 - 2/(a^2k) - 2(b - a^2)/a^2` [Ste16, lemma 7.4.3].

        Proof. Let :math:`s` be the mean of the answers. :math:`\langle s, x\rangle \ge an`, and
        :math:`\|s\|^2 \le n/k + bn`, so
        :math:`\|s - ax\|^2 \le n/k + bn - 2a^2n + a^2n = (1/k + b - a^2)n`. Where the sign of
        :math:`s` is wrong, :math:`s - ax` is at least :math:`a` in size; so at most
        :math:`(1/k + b - a^2)n/a^2` signs are wrong, and each takes 2 away from :math:`n`.

    Example:
        >>> round(least_agreement(0.99 * 0.1, 1.02 * 0.1**2, 10_000), 3)
        0.898
    """
    count = check.at_least_one(queries, "queries")
    if not 0 < likeness <= 1:
        raise InvalidArgument("likeness is out of range", must="be above 0 and at most 1")
    square = likeness**2
    return 1 - 2 / (square * count) - 2 * (overlap - square) / square


def is_valid(answer: ArrayLike, against: Sequence[Signs], secret: ArrayLike, alpha: float) -> bool:
    r"""Tell whether an answer agrees with the secret, and with the others as little, as it must.

    That is :math:`|\langle y - \alpha x, v\rangle| \le \alpha^2 n/100` for :math:`v = x` and for
    every :math:`v \in V` [Ste16, section 7.4]. Noisy copies of fewer than millions of signs miss
    that: it is what the theorem asks, and not what the attack needs.

    Example:
        >>> is_valid([1, -1], [], [1, 1], 0.5)
        False
    """
    x = as_secret(secret).astype(np.float64)
    rest = as_secret(answer) - alpha * x
    others = np.stack([x, *(as_secret(v).astype(np.float64) for v in against)])
    return bool((np.abs(others @ rest) <= alpha**2 * x.size / 100).all())


@frozen(kw_only=True, eq=False)
class FreshVectors:
    r"""Answers every query with a new noisy copy: each sign is right with probability (1 + α)/2.

    Guarantee:
        Each answer is randomised response, and loses :math:`\ln((1+\alpha)/(1-\alpha))` about one
        sign; :math:`k` answers lose :math:`k` times that.
    """

    secret: Signs = field(converter=as_secret, repr=False)
    alpha: Fraction = field(converter=exact, validator=check.below_one)
    rng: Rng = field(repr=False)

    def answers(self, queries: Sequence[object]) -> list[Signs]:
        """Return a copy for each query, whatever it asks."""
        return [noisy_copy(self.secret, self.alpha, self.rng) for _ in queries]


@define(kw_only=True, eq=False)
class KeptVector:
    r"""Answers every query with one and the same noisy copy.

    Guarantee:
        One randomised response for all queries: :math:`\ln((1+\alpha)/(1-\alpha))` in all. It is
        valid for any list that does not depend on the answer, and for no list that has it.
    """

    secret: Signs = field(converter=as_secret, repr=False)
    alpha: Fraction = field(converter=exact, validator=check.below_one)
    rng: Rng = field(repr=False)
    _kept: Signs | None = field(default=None, init=False, repr=False)

    def answers(self, queries: Sequence[object]) -> list[Signs]:
        """Return the copy for each query."""
        if self._kept is None:
            self._kept = noisy_copy(self.secret, self.alpha, self.rng)
        return [self._kept for _ in queries]


def noisy_copy(secret: Signs, alpha: Number, rng: Rng) -> Signs:
    """Return a copy of which each sign is right with probability (1 + ``alpha``)/2, exactly.

    Example:
        >>> from discreet import SystemRng
        >>> noisy_copy(np.array([1, -1], dtype=np.int8), 1, SystemRng()).tolist()
        [1, -1]
    """
    kept = bernoulli((1 + exact(alpha)) / 2, secret.size, rng)
    return np.where(kept, secret, -secret).astype(np.int8)


def response_epsilon(alpha: Number) -> float:
    r"""Return what one noisy copy loses: :math:`\ln((1+\alpha)/(1-\alpha))`, at most 3α below ½.

    Example:
        >>> round(response_epsilon("1/2"), 4)
        1.0986
    """
    share = float(exact(alpha))
    if not 0 <= share < 1:
        raise InvalidArgument("alpha is out of range", must="be from 0 to below 1")
    return math.log1p(share) - math.log1p(-share)
