r"""Notions of stability, how they follow from one another, and what each lets a question overfit.

A transcript is *stable* if it hardly changes where one row is replaced. The three notions are
differential privacy, total variation (:math:`TV \le \tau`), and relative entropy, which is written
as :math:`KL \le 2\varepsilon^2` [Ste16, section 3.4.1]. All survive what is done with the
transcript afterwards, so they hold for the question that somebody picks from it.
"""

from fractions import Fraction
from functools import singledispatch

from discreet.adaptive.transfer import PosteriorTransfer, half_tangent_up
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_down, short_up, sqrt_up


@singledispatch
def variation(loss: PrivacyLoss) -> Fraction:
    r"""Return how far the laws of two transcripts are apart in total variation at most.

    Guarantee:
        For :math:`(\varepsilon, \delta)`-DP it is
        :math:`(e^\varepsilon - 1 + 2\delta)/(e^\varepsilon + 1)`, which randomised response
        attains. *Proof.* Let :math:`S` be where the first law is larger, and :math:`p, p'` the
        chances of :math:`S`. Then :math:`p \le e^\varepsilon p' + \delta` and
        :math:`1 - p' \le e^\varepsilon(1 - p) + \delta`; the sum is
        :math:`(1 + e^\varepsilon)(p - p') \le e^\varepsilon - 1 + 2\delta`. (The source has
        :math:`2\varepsilon + \delta`, for :math:`\varepsilon \le 1`.) For
        :math:`(\xi, \rho)`-zCDP it is :math:`\sqrt{(\xi + \rho)/2}`, by Pinsker's inequality.

    Example:
        >>> variation(Pure(0)), round(float(variation(Approximate(1, "0.01"))), 4)
        (Fraction(0, 1), 0.4675)
    """
    raise Unsupported("Nothing is known of this measure", got=loss.measure.value)


@variation.register
def _(loss: Pure) -> Fraction:
    return half_tangent_up(loss.epsilon)


@variation.register
def _(loss: Approximate) -> Fraction:
    rest = 2 * loss.delta / (1 + exp_down(loss.epsilon))
    return min(Fraction(1), short_up(half_tangent_up(loss.epsilon) + rest))


@variation.register
def _(loss: Zcdp) -> Fraction:
    return min(Fraction(1), entropy(loss))


def entropy(loss: PrivacyLoss) -> Fraction:
    r"""Return the ε for which the relative entropy is at most :math:`2\varepsilon^2`.

    Guarantee:
        That of :math:`(\xi, \rho)`-zCDP is at most :math:`\xi + \rho`, the limit of its curve at
        the order 1. That of a pure loss is at most :math:`\varepsilon\tanh(\varepsilon/2)`, which
        randomised response attains. Relative entropies of adaptive steps add up, so :math:`k`
        steps have :math:`\sqrt k` times this number, where total variations have :math:`k` times.

    Example:
        >>> round(float(entropy(Pure(1))), 4), round(float(entropy(Zcdp("0.02"))), 4)
        (0.4807, 0.1)
    """
    if isinstance(loss, Pure):
        return sqrt_up(short_up(loss.epsilon * half_tangent_up(loss.epsilon) / 2))
    if isinstance(loss, Zcdp):
        return sqrt_up(short_up((loss.xi + loss.rho) / 2))
    raise Unsupported(
        "This measure says nothing of relative entropy",
        must="be pure, or zcdp",
        got=loss.measure.value,
        next="With a δ it may be infinite",
    )


def overfitting_gap(
    loss: Approximate, *, samples: int = 1, width: Number = 1, is_statistical: bool = True
) -> Fraction:
    r"""Return how much a question that was picked privately exceeds its truth, in expectation.

    Guarantee:
        Let a question *and one of* :math:`T` *samples* be picked by an
        :math:`(\varepsilon, \delta)`-DP algorithm that sees all samples. The value of the question
        on that sample exceeds that on the population by at most
        :math:`w\tau + Td/2` in expectation, with the :math:`\tau` and :math:`d` of
        :class:`~discreet.adaptive.transfer.PosteriorTransfer`; and so does the opposite.

        Proof. The lemma there, for sample :math:`t` and the transcripts that pick it, gives
        :math:`w\tau P[t] + d/2`. The sum over :math:`t` is the claim. The source has
        :math:`e^\varepsilon - 1 + T\delta` for statistical questions, and twice that times
        :math:`w` for others [Ste16, lemmas 3.3.1 to 3.3.3].

    Example:
        >>> round(float(overfitting_gap(Approximate("0.5", "1e-6"), samples=10)), 5)
        0.12436
    """
    wide, count = exact(width), check.at_least_one(samples, "samples")
    if wide <= 0:
        raise InvalidArgument("width is out of range", must="be above 0", got=str(wide))
    tilt, rest = PosteriorTransfer(is_statistical).lemma(loss, width=wide)
    return short_up(wide * tilt + count * rest / 2)


def expected_vector_error(error: Number, loss: Zcdp) -> Fraction:
    r"""Return how far a private mean of vectors is from that of the population, in expectation.

    Guarantee:
        Let each row be a vector of norm 1 at most, and :math:`M` be :math:`(\xi, \rho)`-zCDP with
        :math:`E\|M(x) - q(x)\| \le \alpha` for the mean :math:`q(x)`, in any norm. Then
        :math:`E\|M(x) - q(P)\| \le \alpha + \sqrt{2(\xi + \rho)}` [Ste16, proposition 2.7.8].

        Proof. Let :math:`v(y)` be a vector of dual norm 1 with
        :math:`\langle v(y), y - q(P)\rangle = \|y - q(P)\|`. It is a function of the answer, so
        :math:`z \mapsto \langle v, z\rangle` is a statistical question with values in [-1, 1] that
        was picked privately; it is off by twice the total variation at most, and
        :math:`\langle v, y - q(x)\rangle \le \|y - q(x)\|`.

    Example:
        >>> round(float(expected_vector_error("0.1", Zcdp("0.005"))), 4)
        0.2
    """
    return short_up(exact(error) + 2 * entropy(loss))
