r"""Correlated vectors: one answer serves every fixed question, and adaptive ones take it apart.

The data are a sign for each of :math:`n` people, :math:`x`. A question is a list of vectors, and
asks for a vector :math:`y` that is correlated with :math:`x` as much as :math:`\alpha x` is, and
looks like :math:`\alpha x` to all vectors of the list. Randomised response, drawn once, answers
exponentially many questions that were fixed beforehand; no private mechanism answers
:math:`100/\alpha^2` adaptive ones [Ste16, theorem 7.1.2].
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.core.rounding import exp_up, log_up
from discreet.mechanisms.response.two_coin_response import TwoCoinResponse

Signs = NDArray[np.int64]


@frozen(kw_only=True)
class VectorQuestions:
    r"""How much an answer must be correlated with the data, and how far it may be off.

    Attributes:
        correlation: :math:`\alpha`: how much of each sign is kept.
        slack: By how much of :math:`n` inner products may be off; the source has
            :math:`\alpha^2/100`.

    Guarantee:
        :meth:`response`, drawn once, is :math:`\ln((1 + \alpha)/(1 - \alpha))`-DP if a person is
        replaced, and valid for all questions that were fixed before it was drawn but for a chance
        of :math:`2(v + 1)e^{-s^2n/2}`, for a slack :math:`s` and :math:`v` vectors in all: the
        parts of :math:`\langle y - \alpha x, v\rangle` are independent, have the mean 0, and each
        lies in an interval of length 2 (Hoeffding) [Ste16, theorem 7.4.1].
    """

    correlation: Fraction
    slack: Fraction

    @classmethod
    def of(cls, correlation: Number, slack: Number | None = None) -> "VectorQuestions":
        """Return the questions of a correlation; the slack of the source, if none is given."""
        kept = exact(correlation)
        if not 0 < kept < 1:
            raise InvalidArgument(
                "correlation is out of range", must="lie strictly between 0 and 1", got=str(kept)
            )
        return cls(correlation=kept, slack=kept**2 / 100 if slack is None else exact(slack))

    def response(self, signs: Signs, rng: Rng) -> Signs:
        """Return each sign, or its opposite with a chance of (1 - α)/2."""
        coins = TwoCoinResponse(truth=self.correlation)
        return 2 * coins.randomise_all((signs + 1) // 2, rng) - 1

    @property
    def epsilon(self) -> Fraction:
        """The loss of one response, rounded up."""
        return TwoCoinResponse(truth=self.correlation).loss().epsilon

    def is_valid(self, answer: Signs, signs: Signs, vectors: Sequence[Signs]) -> bool:
        """Tell whether an answer is one to a question about these data."""
        most, kept = self.slack * len(signs), self.correlation
        for vector in (signs, *vectors):
            if abs(int(answer @ vector) - kept * int(signs @ vector)) > most:
                return False
        return True

    def failure(self, *, people: int, vectors: int) -> float:
        """Return a bound on the chance that a response is not valid for fixed questions."""
        size = check.at_least_one(people, "people")
        return min(1.0, 2 * (vectors + 1) * math.exp(-(float(self.slack) ** 2) * size / 2))

    def people_needed(self, *, vectors: int, beta: Number) -> int:
        """Return how many people make one response valid for fixed questions, but for ``beta``.

        Example:
            >>> VectorQuestions.of("0.3").people_needed(vectors=1, beta=1)
            3422...
        """
        exponent = log_up(2 * (vectors + 1) / exact(beta))
        return math.ceil(2 * exponent / self.slack**2)


def reconstructed(answers: Sequence[Signs]) -> Signs:
    """Return the sign of the sum of answers; where it is 0, that of the first.

    Example:
        >>> reconstructed([np.array([1, -1]), np.array([1, 1]), np.array([-1, -1])]).tolist()
        [1, -1]
    """
    total = np.sum(answers, axis=0)
    return np.where(total == 0, answers[0], np.sign(total))


def reconstructed_share(*, correlation: Number, overlap: Number, answers: int) -> Fraction:
    r"""Return how much of :math:`n` a reconstruction is correlated with the data at least.

    Guarantee:
        If each of :math:`k` answers has :math:`\langle y, x\rangle \ge an`, and any two
        :math:`|\langle y, y'\rangle| \le bn`, then :math:`\tilde x = \mathrm{sign}(\sum y)` has
        :math:`\langle\tilde x, x\rangle \ge (1 - 2/(a^2k) - 2(b - a^2)/a^2)n`
        [Ste16, lemma 7.4.3].

        Proof. Let :math:`m` be the mean of the answers. :math:`|m|^2 \le (b + 1/k)n`, for vectors
        of signs have squares of :math:`n`, and :math:`\langle m, x\rangle \ge an`; so
        :math:`|m - ax|^2 \le (b + 1/k - a^2)n`. Where the signs of :math:`m` and :math:`x` differ
        that vector is at least :math:`a` in size. So they differ in at most
        :math:`(1/k + b - a^2)n/a^2` places, and each takes 2 from the product.

    Example:
        >>> float(reconstructed_share(correlation="0.099", overlap="0.0102", answers=10_000))
        0.89...
    """
    a, b, k = exact(correlation), exact(overlap), check.at_least_one(answers, "answers")
    if a <= 0:
        raise InvalidArgument(
            "A correlation is out of range", must="be greater than 0", got=str(correlation)
        )
    return 1 - 2 / (a**2 * k) - 2 * (b - a**2) / a**2


def can_reconstruct(*, people: int, loss: Approximate, chance: Number) -> bool:
    r"""Tell whether a private mechanism may agree with 3/4 of all signs, with a chance.

    Guarantee:
        False is a proof. Let :math:`W(x)` agree with more than :math:`3n/4` of the signs with a
        chance of :math:`s`, for every :math:`x`. For a random person :math:`i` it does so *and*
        agrees with person :math:`i` with a chance of :math:`\frac34 s`. Flip that sign in the data:
        the new data are as likely, and the same event says that :math:`W` agrees with more than
        :math:`3n/4 - 1` of the new ones, and not with person :math:`i`; of a random :math:`i` that
        has a chance of less than :math:`\frac14 + \frac1n`. So
        :math:`\frac34 s \le e^\varepsilon(\frac14 + \frac1n) + \delta`. At
        :math:`\varepsilon = 1`, :math:`\delta = 1/20` and :math:`s = 0.99` that is false from
        :math:`n = 211` on [Ste16, fact 7.4.4, which is not proved there].

    Example:
        >>> loss = Approximate(1, "0.05")
        >>> [can_reconstruct(people=n, loss=loss, chance="0.99") for n in (210, 211)]
        [True, False]
    """
    size = check.at_least_one(people, "people")
    most = exp_up(loss.epsilon) * (Fraction(1, 4) + Fraction(1, size)) + loss.delta
    return Fraction(3, 4) * exact(chance) <= most


@frozen(kw_only=True)
class VectorSeparation:
    """The same mechanisms against fixed questions and adaptive ones.

    Attributes:
        people: How many people there were.
        online_valid: To how many of the fixed questions one response was valid.
        online_asked: How many there were.
        once_valid: How many adaptive questions one response survived.
        fresh_valid: How many a fresh response for each survived.
        adaptive_asked: How many there were.
        agreed: For each number of fresh responses, the share of people whose sign their
            reconstruction has.
    """

    people: int
    online_valid: int
    online_asked: int
    once_valid: int
    fresh_valid: int
    adaptive_asked: int
    agreed: tuple[float, ...]


def show_vectors(
    questions: VectorQuestions, *, people: int, fixed: int, adaptive: int, rng: Rng
) -> VectorSeparation:
    """Ask fixed questions of one random vector each, then adaptive ones of all earlier answers.

    Example:
        >>> from discreet import SystemRng
        >>> asked = VectorQuestions.of("0.2", "0.03")
        >>> found = show_vectors(asked, people=20_000, fixed=100, adaptive=150, rng=SystemRng())
        >>> found.online_valid, found.once_valid, found.agreed[-1] > 0.95
        (100, 1, True)
    """
    size = check.at_least_one(people, "people")
    signs = _signs(size, rng)
    once = questions.response(signs, rng)
    # Vectors that were there before the response: they do not depend on its coins.
    right = sum(questions.is_valid(once, signs, [_signs(size, rng)]) for _ in range(fixed))
    fresh: list[Signs] = []
    agreed = []
    for _ in range(check.at_least_one(adaptive, "adaptive")):
        fresh.append(questions.response(signs, rng))
        agreed.append(float((reconstructed(fresh) == signs).mean()))
    repeated = [once] * adaptive
    return VectorSeparation(
        people=size,
        online_valid=right,
        online_asked=fixed,
        once_valid=_survived(questions, repeated, signs),
        fresh_valid=_survived(questions, fresh, signs),
        adaptive_asked=adaptive,
        agreed=tuple(agreed),
    )


def _survived(questions: VectorQuestions, answers: Sequence[Signs], signs: Signs) -> int:
    """Return how many answers are valid, each for the question of all those before it."""
    for number, answer in enumerate(answers):
        if not questions.is_valid(answer, signs, list(answers[:number])):
            return number
    return len(answers)


def _signs(count: int, rng: Rng) -> Signs:
    return 2 * (rng.words(count) & np.uint64(1)).astype(np.int64) - 1
