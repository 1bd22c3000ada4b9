r"""Prefix questions: easy if they are known beforehand, hard if they come one by one.

A prefix question is a set of texts; its answer is the mean over people of +1 where a person's text
begins with one of them, and of -1 where it does not. If all questions are there at once,
:class:`~discreet.mechanisms.query_release.prefix_queries.PrefixRelease` answers a number of them
that grows as :math:`2^{\Omega(\sqrt n)}`. If they come one by one, nobody who is private answers
more than a multiple of :math:`n^2`, not even to questions that were fixed beforehand
[Ste16, theorem 7.1.1].
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.adaptive.guarantee import STEPS
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.core.rounding import exp_up, log_up, short_up, sqrt_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian

Floats = NDArray[np.float64]

MOST_DOUBLINGS = 4_096


def most_online_prefixes(*, people: int, loss: Approximate, error: Number) -> int | None:
    r"""Return how many prefix questions can be answered one by one at most, by any mechanism.

    Guarantee:
        Let a mechanism be :math:`(\varepsilon, \delta)`-DP if a person is replaced, and let its
        answers, in [-1, 1], be off by :math:`\alpha` on average over questions, people and coins.
        If :math:`g = 2/3 - 2\alpha - 2n\delta > 0`, it answers at most
        :math:`n^2 e^{2\varepsilon}/(6g^2)` questions, each with at most :math:`n` texts.

        Proof. The questions are those of :class:`HardPrefixes`. Let
        :math:`Z_i = \sum_j a^j(c_i^j - p^j)`.

        *Accurate answers are about everybody.* Columns are independent, so given all that the
        mechanism sees, and its coins, the mean of :math:`\sum_i(c_i^j - p^j)` is
        :math:`2n\bar c^j/(n + 2)`, which is at most 2 in size. As :math:`E(\bar c^j)^2 =
        (n + 2)/(3n)`, :math:`E\,a^j\sum_i(c_i^j - p^j) \ge 2/3 - 2E|a^j - \bar c^j|`. So some
        person has :math:`E\,Z_i \ge (2/3 - 2\alpha)k/n`.

        *Private answers are about nobody.* Keep the questions, and replace person :math:`i` by
        another with signs of their own. Now nothing but the questions depends on :math:`c_i`, and
        question :math:`j` has of it only what stands before :math:`c_i^j`. Answer :math:`j` was
        given before question :math:`j + 1` came. So the terms of :math:`Z_i` are differences of a
        martingale: :math:`E\,Z_i = 0` and :math:`E\,Z_i^2 \le \sum_j E(1 - (p^j)^2) = 2k/3`. Hence
        the positive part has a mean of at most :math:`\sqrt{2k/3}/2`, and with person :math:`i` in
        place :math:`E\,Z_i \le e^\varepsilon\sqrt{k/6} + 2k\delta`, for :math:`|Z_i| \le 2k`.

        Together :math:`\sqrt k\,g \le n e^\varepsilon/\sqrt 6`. At
        :math:`\varepsilon = 1`, :math:`\delta = 1/(30n)` and an error of 1/100 but for a chance of
        1/100 that is :math:`4.23n^2`; the source has :math:`225e^2n^2` [Ste16, theorem 7.3.5].

    Assumes:
        Nothing. *Offline* the second step is false: question :math:`j + 1` tells :math:`c_i^j`.

    Example:
        >>> most_online_prefixes(people=100, loss=Approximate(1, "1/3000"), error="0.03")
        42232
    """
    size, off = check.at_least_one(people, "people"), exact(error)
    room = Fraction(2, 3) - 2 * off - 2 * size * loss.delta
    if off < 0 or room <= 0:
        return None
    return math.floor(short_up(size**2 * exp_up(2 * loss.epsilon) / (6 * room**2)))


def offline_error(
    *, people: int, questions: int, texts: int, epsilon: Number, beta: Number
) -> Fraction:
    r"""Return what all answers are within if the questions are known beforehand, in [-1, 1].

    Guarantee:
        Of :math:`m` rows that are drawn from the data, all :math:`k` shares are within
        :math:`a = \sqrt{\ln(2k)/(2m)}` with a positive chance, by Hoeffding's inequality: so some
        :math:`m` rows are. The exponential mechanism over all :math:`|X|^m` of them, for the
        largest error of a share, which a person moves by :math:`1/n`, finds :math:`m` rows within
        :math:`a + (2/(\varepsilon n))(m\ln|X| + \ln(1/\beta))`, but for :math:`\beta`
        [BLR13]. The universe has a cell for each text and one more [Ste16, claim 7.3.4]. A
        difference of means of signs is twice one of shares.

    Example:
        >>> found = offline_error(
        ...     people=10**8, questions=10**12, texts=100, epsilon=1, beta="0.01"
        ... )
        >>> round(float(found), 3)
        0.079
    """
    size, count = check.at_least_one(people, "people"), check.at_least_one(questions, "questions")
    price = exact(epsilon)
    if price <= 0:
        raise InvalidArgument("An ε is out of range", must="be greater than 0", got=str(epsilon))
    cells = log_up(Fraction(count * check.at_least_one(texts, "texts") + 1))
    spread = log_up(Fraction(2 * count)) / 2
    each = 2 * cells / (price * size)
    rows = max(1, round(float(spread / (each * each) / 4) ** (1 / 3)))
    chosen = each * rows + 2 * log_up(1 / check.level(beta)) / (price * size)
    return short_up(2 * (sqrt_up(short_up(spread / rows)) + chosen))


def most_offline_prefixes(
    *, people: int, texts: int, epsilon: Number, error: Number, beta: Number = Fraction(1, 100)
) -> int:
    """Return how many questions are within an error if they are known beforehand: a power of two.

    0 if that cannot be said of a single one.

    Example:
        >>> most_offline_prefixes(people=10**7, texts=100, epsilon=1, error="0.2").bit_length()
        52
    """
    wanted = exact(error)

    def holds(doublings: int) -> bool:
        found = offline_error(
            people=people, questions=1 << doublings, texts=texts, epsilon=epsilon, beta=beta
        )
        return found <= wanted

    if not holds(0):
        return 0
    low, high = 0, 1
    while high < MOST_DOUBLINGS and holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return 1 << low


@frozen(eq=False)
class HardPrefixes:
    r"""Questions that nobody answers one by one: each is about signs that the next one tells.

    For each question :math:`j` a bias :math:`p^j` is uniform in [-1, 1], and each person has a sign
    :math:`c_i^j` with that mean. The text of a person is their number and all their signs; question
    :math:`j` has for each person the text that goes on with +1 after their first :math:`j - 1`
    signs. So its answer is the mean of column :math:`j` [Ste16, claim 7.3.7].
    """

    biases: Floats
    signs: NDArray[np.int8]
    """One row for each person, and one column for each question."""

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.signs.shape[0])

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return int(self.signs.shape[1])

    def text(self, person: int) -> str:
        """Return the text of a person."""
        return self._begun(person, self.questions)

    def question(self, number: int) -> frozenset[str]:
        """Return question ``number``, counted from 0."""
        return frozenset(self._begun(person, number) + "+" for person in range(self.people))

    def _begun(self, person: int, signs: int) -> str:
        width = (self.people - 1).bit_length()
        marks = ("+" if one > 0 else "-" for one in self.signs[person, :signs])
        return f"{person:0{width}b}:" + "".join(marks)

    def means(self, replaced: int | None = None) -> Floats:
        """Return the exact answers; with a person replaced by another, whose text matches none."""
        found = self.signs.sum(axis=0, dtype=np.int64).astype(np.float64)
        if replaced is not None:
            found += -1.0 - self.signs[replaced]
        return np.asarray(found / self.people)

    def scores(self, answers: Floats) -> Floats:
        """Return for each person how much answers go along with their signs: the statistic Z."""
        return np.asarray(self.signs @ answers - self.biases @ answers)


def hard_prefixes(*, people: int, questions: int, rng: Rng) -> HardPrefixes:
    """Draw people and questions.

    Example:
        >>> from discreet import SystemRng
        >>> hard = hard_prefixes(people=3, questions=2, rng=SystemRng())
        >>> hard.text(2)[:3], len(hard.question(1))
        ('10:', 3)
    """
    size, count = check.at_least_one(people, "people"), check.at_least_one(questions, "questions")
    biases = 2 * _uniform(count, rng) - 1
    shares = _uniform(size * count, rng).reshape(size, count)
    signs = np.where(shares < (1 + biases) / 2, 1, -1).astype(np.int8)
    return HardPrefixes(biases, signs)


def answers_from_questions(questions: Sequence[frozenset[str]]) -> list[Fraction]:
    """Return the answers to hard questions from the questions alone: offline they need no data.

    The texts of each question have the signs that the one before it asked for. Of the last one
    nothing is known; 0 is as good as any answer.

    Example:
        >>> from discreet import SystemRng
        >>> hard = hard_prefixes(people=5, questions=4, rng=SystemRng())
        >>> found = answers_from_questions([hard.question(at) for at in range(4)])
        >>> [float(one) for one in found[:3]] == hard.means()[:3].tolist()
        True
    """
    if not questions or not all(questions):
        raise InvalidArgument("There are no questions", must="be at least one, with texts")
    found = []
    for later in questions[1:]:
        signs = [text[-2] for text in later]
        found.append(Fraction(2 * signs.count("+") - len(signs), len(signs)))
    return [*found, Fraction(0)]


@frozen(kw_only=True)
class PrefixSeparation:
    """The hard questions, answered offline without data, and one by one with noise.

    Attributes:
        people: How many people there were.
        questions: How many questions were asked.
        deviation: Of the noise of an answer.
        offline_error: The largest error of answers that come from the questions alone, but for the
            last one.
        online_error: The mean error of answers with noise.
        members: The statistic of each person.
        outsiders: The same, of answers in which that person was replaced by another.
        loss_needed: A mechanism with these errors is not (ε, δ)-DP for a smaller ε, at δ = 0.
    """

    people: int
    questions: int
    deviation: float
    offline_error: float
    online_error: float
    members: tuple[float, ...]
    outsiders: tuple[float, ...]
    loss_needed: float = field()

    @loss_needed.default
    def _from_bound(self) -> float:
        room = 2 / 3 - 2 * self.online_error
        least = math.sqrt(6 * self.questions) * room / self.people
        return math.log(least) if least > 1 else 0.0


def show_prefixes(*, people: int, questions: int, deviation: float, rng: Rng) -> PrefixSeparation:
    """Ask the hard questions at once, and one by one, with Gaussian noise of a deviation.

    Example:
        >>> from discreet import SystemRng
        >>> found = show_prefixes(people=10, questions=5_000, deviation=0.01, rng=SystemRng())
        >>> found.offline_error, found.online_error < 0.02
        (0.0, True)
        >>> min(found.members) > max(found.outsiders)
        True
    """
    hard = hard_prefixes(people=people, questions=questions, rng=rng)
    said = answers_from_questions([hard.question(at) for at in _few(questions)])
    truth = hard.means()
    offline = [abs(float(one) - truth[at]) for one, at in zip(said, _few(questions), strict=True)]
    answers = _noisy(truth, people, deviation, rng)
    members = hard.scores(answers)
    outsiders = [
        hard.scores(_noisy(hard.means(one), people, deviation, rng))[one] for one in range(people)
    ]
    return PrefixSeparation(
        people=people,
        questions=questions,
        deviation=deviation,
        offline_error=float(max(offline[:-1], default=0.0)),
        online_error=float(np.abs(answers - truth).mean()),
        members=tuple(members.tolist()),
        outsiders=tuple(float(one) for one in outsiders),
    )


def _few(questions: int) -> range:
    """Return the first questions: texts grow with their number, so all of them are too long."""
    return range(min(questions, 50))


def _noisy(means: Floats, people: int, deviation: float, rng: Rng) -> Floats:
    """Return means of signs with noise, cut to [-1, 1]."""
    unit = STEPS * people
    noise = DiscreteGaussian(sigma_squared=max(1, round((deviation * unit) ** 2)))
    exact_steps = np.rint(means * unit).astype(np.int64)
    return np.clip(noise.release(exact_steps, rng) / unit, -1.0, 1.0)


def _uniform(count: int, rng: Rng) -> Floats:
    return np.asarray((rng.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
