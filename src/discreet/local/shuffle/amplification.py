"""What a report loses in a shuffled batch, where that is less than by itself."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from attrs import define, field, frozen

from discreet.accounting.pld.loss_distribution import LossDistribution
from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact, float_down
from discreet.core.stated_event import ApproximateEvent
from discreet.local.coins import loss_of_odds
from discreet.local.scheme import Scheme
from discreet.local.shuffle.clone_law import CloneLaw

_MOST_PEOPLE = 10**7
_LEAST_DELTA = Fraction(1, 10**20)


def _beside(beside: str | Sequence[str]) -> tuple[str, ...]:
    return (beside,) if isinstance(beside, str) else tuple(beside)


@frozen(kw_only=True)
class ReportBatch:
    """How reports are brought together, as the owner of a survey declares it.

    ``honest`` is the least number of people who report as the scheme says. Whoever colludes with
    the collector hides nobody, and must not be counted.
    """

    honest: int = field(converter=check.whole)
    closed: bool = field()
    """Whether nothing is looked at before all reports are in and shuffled."""
    reports_each: int = field(default=1, converter=check.whole)
    beside: tuple[str, ...] = field(default=(), converter=_beside)
    """What reaches the collector beside a report: an address, a time, a cohort, an account."""

    @closed.validator
    def _said(self, _: object, closed: object) -> None:
        if not isinstance(closed, bool):
            raise InvalidArgument(
                "closed is neither true nor false", must="be a bool", got=type(closed).__name__
            )


@define(frozen=True, eq=False, slots=False)
class Amplified:
    r"""The loss of one person in a shuffled batch: a curve of :math:`(\varepsilon, \delta)`.

    Guarantee:
        Replace the value of one of the ``honest`` people. What the collector sees, the reports of
        the batch in no order, is :math:`(\varepsilon, \delta)`-DP for every point of the curve,
        whatever the others hold: the pair of laws of :class:`.CloneLaw` is at least as far apart,
        and its curve is computed with upper rounding by the machinery of
        ``discreet.accounting.pld``.

    Assumes:
        The declared number of people is honest, with one report each, and whoever shuffles does
        not work with the collector. Against the shuffler itself the loss is that of the scheme.
        In several batches devices draw anew; responses that are kept are refused.
    """

    scheme: Scheme
    honest: int

    @cached_property
    def _losses(self) -> tuple[LossDistribution, ...]:
        people, odds = min(self.honest, _MOST_PEOPLE), self.scheme.odds()
        variation = self.scheme.variation()
        laws = [CloneLaw.general(odds, people)]
        if variation is not None:
            laws.append(CloneLaw.even(odds, variation, people))
        grids = [law.on_grid() for law in laws]
        return tuple(LossDistribution.of(g, [1], step=g.unit or 1.0, tail=1e-40) for g in grids)

    def _several(self, batches: int) -> list[LossDistribution]:
        if batches != 1 and "f" in self.scheme.recipe():
            raise Unsupported(
                "Batches of kept responses do not add up like this",
                must="be one batch: reports of a kept response are not independent",
                got=f"{batches} batches",
                next="Count the loss of the scheme over a lifetime instead",
            )
        return [loss.power(batches) for loss in self._losses]

    def delta(self, epsilon: Number, *, batches: int = 1) -> float:
        """Return a δ that holds at ``epsilon``, for so many batches one after another."""
        at = float_down(exact(epsilon))
        times = check.at_least_one(batches, "batches")
        if at >= times * loss_of_odds(self.scheme.odds()):
            return 0.0
        return min(loss.delta(at)[1] for loss in self._several(times))

    def epsilon(self, delta: Number, *, batches: int = 1) -> Fraction:
        """Return an ε that holds with ``delta``, for so many batches one after another."""
        wanted = check.level(delta, "delta")
        if wanted < _LEAST_DELTA:
            raise InvalidArgument(
                "delta is out of range", must="be at least 1e-20", got=str(float(wanted))
            )
        at, times = float_down(wanted), check.at_least_one(batches, "batches")
        found = min(loss.epsilon(at)[1] for loss in self._several(times))
        alone = times * loss_of_odds(self.scheme.odds())
        return min(Fraction(found), alone) if found < float(alone) else alone

    def event(self, delta: Number) -> ApproximateEvent:
        """Describe one batch for the accountants."""
        return ApproximateEvent(
            epsilon=self.epsilon(delta), delta=check.level(delta, "delta"), metric=Metric.CHANGE_ONE
        )


def amplify(scheme: Scheme, batch: ReportBatch) -> Amplified:
    """Return what a person loses in a batch, or refuse with the reason if shuffling hides nothing.

    Example:
        >>> from discreet.local import KaryResponse
        >>> scheme = KaryResponse.calibrate(categories=4, epsilon=1)
        >>> amplified = amplify(scheme, ReportBatch(honest=1000, closed=True))
        >>> 0.1 < amplified.epsilon("1e-6") < 0.3
        True
    """
    reason = _void(scheme, batch)
    if reason:
        raise Unsupported(
            "Shuffling does not lessen the loss here",
            must="be one closed batch of honest people, a report each, with nothing beside",
            got=reason,
            next="Count the loss of the scheme itself: its event",
        )
    return Amplified(scheme, batch.honest)


def _void(scheme: Scheme, batch: ReportBatch) -> str | None:
    """Return why a batch hides nobody, or nothing."""
    if not batch.closed:
        return "results are looked at while it runs: a report that came between two looks is known"
    if batch.reports_each != 1:
        return f"{batch.reports_each} reports of a person, which belong together"
    if batch.beside:
        return f"reports that come with {', '.join(batch.beside)}, by which they are told apart"
    if scheme.recipe().get("cohorts", 1) > 1:
        return "a scheme with cohorts: who belongs to one hides among its people alone"
    if batch.honest < 2:
        return f"{batch.honest} honest people: nobody to hide among"
    return None
