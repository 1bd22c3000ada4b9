r"""An odometer: what has been spent so far, when each loss was chosen after seeing answers.

It reads; it does not stop. A sum that depends on the answers is a random number, and "stop when the
reading is small" is no guarantee: a guarantee needs a cap that was fixed beforehand, and a filter
that keeps it (``accounting.filters.rules``).
"""

from fractions import Fraction

from attrs import evolve, frozen

from discreet.accounting.filters.renyi_filter import at_order
from discreet.accounting.filters.rules import require_filter
from discreet.accounting.losses.result import Result
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import ApproximateZcdp, Measure, PrivacyLoss
from discreet.core.numbers import Number, exact
from discreet.core.rounding import log_up, short_up

_THEOREMS = {
    Measure.PURE: "RRUV16: on every transcript; a report, not a stopping rule",
    Measure.APPROXIMATE: "RRUV16: if below a cap fixed beforehand; a report, not a stopping rule",
    Measure.ZCDP: "FZ21: if below a cap fixed beforehand; a report, not a stopping rule",
    Measure.APPROXIMATE_ZCDP: (
        "WRRW23: if below a cap fixed beforehand; a report, not a stopping rule"
    ),
    Measure.GAUSSIAN: "ST22: if below a cap fixed beforehand; a report, not a stopping rule",
}


@frozen
class Odometer:
    r"""The running total of losses in one measure, each chosen after the answers before it.

    Guarantee:
        *Pure.* On every transcript so far the likelihood ratio is at most ``e`` to the reading, in
        both directions: it is a product of factors of at most :math:`e^{\varepsilon_i}` [RRUV16].

        *Approximate, zCDP, Gaussian.* The reading bounds no transcript by itself; if a filter keeps
        it below a cap, the cap holds [RRUV16; FZ21; WRRW23; ST22]. What the transcript so far may
        tell is :meth:`bound`.

        Other measures are refused. Advanced composition of :math:`(\varepsilon, \delta)` losses, by
        whichever theorem, is for losses that were fixed beforehand: an adversary whose next loss
        depends on an answer breaks it.

    Example:
        >>> from discreet import Pure
        >>> reading = Odometer().after(Pure("0.1")).after(Pure("0.2")).read()
        >>> print(reading)
        ε = 0.3 (odometer: RRUV16: on every transcript; a report, not a stopping rule)
    """

    losses: tuple[PrivacyLoss, ...] = ()

    def after(self, loss: PrivacyLoss) -> "Odometer":
        """Return the odometer with ``loss`` added; another measure is refused."""
        require_filter(loss)
        if self.losses and loss.measure is not self.losses[0].measure:
            raise Unsupported(
                "The odometer counts in another measure",
                must=f"be {self.losses[0].measure.value}",
                got=loss.measure.value,
                next="Keep one odometer for each measure",
            )
        return evolve(self, losses=(*self.losses, loss))

    def read(self) -> Result:
        """Return the total so far."""
        if not self.losses:
            raise InvalidArgument("Nothing has been spent", must="have at least one loss")
        total = self.losses[0]
        for loss in self.losses[1:]:
            total = total + loss
        return Result(loss=total, method="odometer", theorem=_THEOREMS[total.measure])

    def bound(self, *, alpha: Number, delta: Number) -> Fraction:
        r"""Return what the privacy loss exceeds at no time so far, but with chance ``delta``.

        Guarantee:
            With :math:`d_t` the bound of step :math:`t` on the divergence at the order
            :math:`\alpha`, which must be **fixed before the first answer**, the probability that
            at *any* time the privacy loss of the transcript exceeds
            :math:`\sum_{s \le t} d_s + \ln(1/\delta)/(\alpha-1)` is at most :math:`\delta`.

            Proof. :math:`e^{(\alpha-1)(L_t - \sum d_s)}` is a non-negative supermartingale that
            starts at 1, because each :math:`d_s` is known before its step; by the inequality of
            Ville it ever reaches :math:`1/\delta` with probability at most :math:`\delta`
            [FZ21; WRRW23]. Exceptional events of approximate zCDP come on top, with the sum of
            their probabilities.

        Example:
            >>> from discreet import Zcdp
            >>> spent = Odometer().after(Zcdp(rho="0.01")).after(Zcdp(rho="0.02"))
            >>> float(spent.bound(alpha=20, delta="1e-6"))
            1.327...
        """
        order, chance = exact(alpha), exact(delta)
        if order <= 1 or not 0 < chance < 1:
            raise InvalidArgument(
                "alpha or delta is out of range",
                must="be above 1, and strictly between 0 and 1",
                got=f"alpha = {alpha} and delta = {delta}",
            )
        if any(isinstance(loss, ApproximateZcdp) for loss in self.losses):
            raise Unsupported(
                "This bound is about losses without exceptional events",
                must="be pure or zcdp",
                got=Measure.APPROXIMATE_ZCDP.value,
                next="Keep a zCDP odometer, and add the deltas to the chance of failure",
            )
        total = sum((at_order(loss, order) for loss in self.losses), Fraction(0))
        return short_up(total + log_up(1 / chance) / (order - 1))
