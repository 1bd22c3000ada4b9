"""What whoever reads an exact release concludes at most, beside one made without the person."""

from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, float_up, written
from discreet.core.rounding import exp_down, exp_up, short_up, sqrt_up
from discreet.noiseless.inversion import decimal_up


@frozen(kw_only=True)
class Inference:
    r"""How far beliefs about a row can differ from those that its simulation would have caused.

    Attributes:
        epsilon: Beliefs differ by at most a factor of e to this power,
        delta: and this much beside it,
        failure: but for releases of this probability in all,
        people: for this many people at once.

    Guarantee:
        See :func:`inferred`.

    Example:
        >>> inferred("0.1", "1e-9", people=1).belief("0.5") < exact("0.63")
        True
    """

    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.probability)
    failure: Fraction = field(converter=exact, validator=check.probability)
    people: int = field(converter=check.whole, validator=check.positive)

    def belief(self, without: Number) -> Fraction:
        """Return how sure a reader can be of anything about a person, at most.

        ``without`` is how sure the same reader would be if the release had been simulated without
        that person's row.
        """
        before = exact(without)
        if not 0 <= before <= 1:
            raise InvalidArgument(
                "without is out of range", must="lie between 0 and 1", got=str(before)
            )
        near = exp_up(self.epsilon) * before + self.delta
        far = 1 - exp_down(-self.epsilon) * (1 - before - self.delta)
        return min(Fraction(1), short_up(near), short_up(far))

    @property
    def is_vacuous(self) -> bool:
        """Whether nothing is said: even of a coin one could be certain after the release."""
        return self.failure >= 1 or 2 * self.delta >= 1

    def sentence(self) -> str:
        """Return the same in words.

        Example:
            >>> print(inferred(1, "0.1", people=1).sentence())
            Nothing can be said of what a reader concludes: δ is too large for that.
        """
        if self.is_vacuous:
            return "Nothing can be said of what a reader concludes: δ is too large for that."
        whom = f"for all {self.people:,} people at once" if self.people > 1 else "for a person"
        half = self.belief(Fraction(1, 2))
        return (
            f"Whoever would be 50 % sure of something about a person after a release that was made "
            f"without that person is at most {_percent(half)} % sure after this one. That holds "
            f"{whom}, but for a chance of {_short(self.failure)}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, exactly."""
        return {
            "epsilon": written(self.epsilon),
            "delta": written(self.delta),
            "failure": written(self.failure),
            "people": self.people,
        }

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "Inference":
        """Return what :meth:`to_json` stored."""
        return Inference(**stored)


def exception_chance(epsilon: Number, delta: Number, shift: Number) -> Fraction:
    r"""Return how likely a release is after which beliefs about one row differ by more.

    *More* is more than a factor of :math:`e^{3\varepsilon}` and ``shift``, called
    :math:`\delta_2`, beside it.

    Guarantee:
        Let :math:`(A, B)` and :math:`(A', B')` be :math:`(\varepsilon, \delta)`-indistinguishable,
        with laws :math:`P` and :math:`Q`. Then for all :math:`t` but some of probability
        :math:`\delta_1` under :math:`P_B`, the law of :math:`A` given :math:`B = t` is
        :math:`(3\varepsilon, \delta_2)`-indistinguishable from that of :math:`A'` given
        :math:`B' = t`, where

        .. math:: \delta_1 = \frac{(1 + e^\varepsilon)\,\delta}{\delta_2} + \delta
            + \frac{\delta\,(1 + e^{-2\varepsilon})}{1 - e^{-\varepsilon}}.

        Proof. Call :math:`t` *good* if
        :math:`e^{-2\varepsilon} \le P_B(t)/Q_B(t) \le e^{2\varepsilon}`. On the set :math:`T` where
        the quotient is larger, :math:`P_B(T) \le e^\varepsilon Q_B(T) + \delta \le
        e^{-\varepsilon} P_B(T) + \delta`, so :math:`P_B(T) \le \delta/(1 - e^{-\varepsilon})`.
        Where it is smaller the same holds of :math:`Q_B`, and :math:`P_B` is at most
        :math:`e^{-2\varepsilon}` times that. This is the last term.

        Let :math:`V` be the good :math:`t` that have a set :math:`S_t` with
        :math:`P(S_t \mid t) > e^{3\varepsilon} Q(S_t \mid t) + \delta_2`. Weigh this with
        :math:`P_B(t) \ge e^{-2\varepsilon} Q_B(t)` and add up: the union of all
        :math:`S_t \times t` has under :math:`P` more than :math:`e^\varepsilon` times
        what it has under :math:`Q`, plus :math:`\delta_2 P_B(V)`. So
        :math:`P_B(V) \le \delta/\delta_2`. For the other direction the same gives
        :math:`Q_B(V') \le \delta/\delta_2`, hence
        :math:`P_B(V') \le e^\varepsilon \delta/\delta_2 + \delta`. The sum is :math:`\delta_1`.

        For :math:`\varepsilon = 0`, :math:`\delta_1 = 2\delta/\delta_2`: the mean over
        :math:`t \sim P_B` of the statistical distance of the two conditional laws is at most
        :math:`2\delta` (one :math:`\delta` for the joint laws, one for the marginals), and Markov's
        inequality does the rest.

        [Gro14, lemma 5.1] has a smaller :math:`\delta_1`, which is false for
        :math:`\varepsilon > \ln 2`.

    Example:
        >>> float(exception_chance(2, "1e-6", "0.01")) > 7.3e-4
        True
    """
    loss, lost, beside = exact(epsilon), exact(delta), exact(shift)
    if loss < 0 or not 0 <= lost <= 1 or not 0 < beside <= 1:
        raise InvalidArgument(
            "The conditioning lemma is not about these numbers",
            must="have an ε of at least 0, a δ from 0 to 1, and a shift above 0 and at most 1",
            got=f"ε = {loss}, δ = {lost} and a shift of {beside}",
        )
    per_shift, fixed = _terms(loss)
    return min(Fraction(1), short_up(lost * (per_shift / beside + fixed)))


def inferred(epsilon: Number, delta: Number, *, people: int) -> Inference:
    r"""Return what a reader concludes at most of ``people`` at once, with the best exception.

    Guarantee:
        A release that is :math:`(\varepsilon, \delta)`-private for its law has
        :math:`(X_i, F(X)) \approx_{\varepsilon, \delta} (X_i, Sim(X_{-i}))` for each person
        :math:`i`, given all that the adversary knows: the definition has it given each value of
        :math:`X_i`, and indistinguishability survives averaging. So
        :func:`exception_chance` applies with :math:`A = X_i` and :math:`B = F(X)`; for several
        people the exceptions add up [Gro14, theorem 5.2, with the lemma above].

        The :math:`\delta_2` is the one at which it equals the probability of an exception, or a
        little more: with :math:`\delta_1 = \delta(a/\delta_2 + b)` that is the positive root of
        :math:`\delta_2^2 = n\delta(a + b\,\delta_2)`. So one number serves as both.

    Example:
        >>> found = inferred("0.5", "1e-9", people=1000)
        >>> found.epsilon, found.failure <= found.delta
        (Fraction(3, 2), True)
    """
    loss, lost = exact(epsilon), exact(delta)
    count = check.at_least_one(people, "people")
    if exception_chance(loss, lost, 1) == 0:
        return Inference(epsilon=3 * loss, delta=0, failure=0, people=count)
    per_shift, fixed = _terms(loss)
    linear, constant = count * lost * fixed, count * lost * per_shift
    root = (linear + sqrt_up(linear * linear + 4 * constant)) / 2
    shift = decimal_up(root * (1 + _SLACK), _DIGITS)
    if shift >= 1 or count * exception_chance(loss, lost, shift) > shift:
        return Inference(epsilon=3 * loss, delta=1, failure=1, people=count)
    return Inference(epsilon=3 * loss, delta=shift, failure=shift, people=count)


_DIGITS = 6
_SLACK = Fraction(1, 10**9)
"""So much more than the root, for what is rounded up when it is put in."""


def _terms(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return a and b of δ_1 = δ (a / δ_2 + b), rounded up."""
    if not epsilon:
        return Fraction(2), Fraction(0)
    least = max(1 - exp_up(-epsilon), epsilon / (1 + epsilon))  # of 1 - e^-ε; both are below it
    rarely = (1 + exp_up(-2 * epsilon)) / least
    return short_up(1 + exp_up(epsilon)), short_up(1 + rarely)


def _percent(share: Fraction) -> str:
    tenths = -(-share.numerator * 1000 // share.denominator)
    return f"{tenths / 10:g}"


def _short(value: Fraction) -> str:
    return f"{float_up(decimal_up(value, 2)):.2g}"
