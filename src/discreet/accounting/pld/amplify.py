r"""Amplification by sampling, in closed form: (ε, δ) in, (ε, δ) out."""

from fractions import Fraction

from discreet.accounting.result import Result
from discreet.accounting.sampling.sampled_epsilon import amplified_epsilon
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact


def amplify(loss: Pure | Approximate, *, rate: Number) -> Result:
    r"""Return the loss of a mechanism on a sample, from its loss on the whole.

    Guarantee:
        If a mechanism is :math:`(\varepsilon, \delta)`-DP, then on a secret sample it is
        :math:`(\ln(1 + r(e^\varepsilon - 1)), r\delta)`-DP: for a Poisson sample of rate
        :math:`r` when a unit is added or removed, and for a sample without replacement of a
        share :math:`r` when one is changed [BBG18].

        Proof. :math:`e' - 1 = r(e - 1)` makes :math:`H_{e'}((1-r)Q + rP \| Q) = r H_e(P \| Q)`,
        as the integrand :math:`(1-r)q + rp - e'q` is :math:`r(p - eq)`. For the other direction
        :math:`H_{e'}(P \| (1-r)P + rQ) \le r H_e(P \| Q)`, because
        :math:`p - e'(1-r)p - e'rq \le r(p - eq)`: the difference is :math:`(1-r)(1-e')p -
        r(e'-e)q`, which is :math:`(1-r)\,r\,(e-1)(q-p)` and where :math:`q > p` the left side is
        negative anyway. Without replacement, compare after pairing the samples that contain the
        changed unit with those that have another unit in its place.

        It does *not* hold for a Poisson sample when a unit is changed and nothing is known about
        an added one: a mechanism that tells the size of its sample keeps its ε.

    Example:
        >>> print(amplify(Approximate(1, "1e-6"), rate="1/100"))
        ε = 0.01704, δ = 1e-8 (sampling: BBG18)
    """
    share = exact(rate)
    if not 0 <= share <= 1:
        raise InvalidArgument("rate is out of range", must="lie between 0 and 1", got=str(rate))
    epsilon = amplified_epsilon(loss.epsilon, share) if share else Fraction(0)
    delta = share * (loss.delta if isinstance(loss, Approximate) else Fraction(0))
    found = Pure(epsilon) if isinstance(loss, Pure) else Approximate(epsilon, delta)
    return Result(loss=found, method="sampling", theorem="BBG18")
