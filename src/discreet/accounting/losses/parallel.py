r"""Parallel composition: mechanisms on disjoint parts of the data."""

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from functools import singledispatch

from discreet.accounting.losses.result import Result
from discreet.core import check
from discreet.core.contribution import Metric, metric_of
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, PrivacyLoss, Pure, Zcdp


class Partition(Enum):
    """What decides in which part a unit is."""

    BY_UNIT = "by_unit"
    """The identity of the unit alone, by a rule fixed beforehand."""

    BY_ROWS = "by_rows"
    """The rows of the unit too, as in a GROUP BY: a change can move it to another part."""


def partition_of(value: Partition | str) -> Partition:
    """Return the way to decide that is meant, also by its name; refuse any other."""
    return check.chosen(Partition, value, noun="partition")


def parallel(
    losses: Iterable[PrivacyLoss],
    *,
    metric: Metric | str,
    partition: Partition | str,
    reached: int = 1,
) -> Result:
    r"""Return the loss of releasing all answers, one mechanism for each part.

    ``losses`` hold under ``metric``, each for the units of its own part; ``reached`` is the largest
    number of parts in which one unit has rows.

    Guarantee:
        *Add or remove.* Two neighbours differ in at most ``reached`` parts, and there by one unit
        each. Given the answers before it, a mechanism on any other part has the same law under
        both, so the ratio of the likelihoods of all answers is that of the parts that differ: for
        ``reached = 1`` the loss is that of one part, and a loss that all parts have is the
        maximum, number by number; in general the sum of the ``reached`` largest. The data are
        fixed before the first answer; the mechanisms may be chosen adaptively.

        *Change one*, parts by unit: the same, since the unit stays in its part.

        *Change one*, parts by rows: a change can take a unit out of one part and put it into
        another, and in each of the two the *number* of units changes, of which a loss under
        *change one* says nothing. So it is refused: take the losses of the parts under *add or
        remove*, and convert the result, which doubles :math:`\varepsilon`
        (``accounting.losses.group``). Two noisy counts show that the two is attained.

    Example:
        >>> counts = [Pure("0.5"), Pure("0.25")]
        >>> result = parallel(counts, metric=Metric.ADD_REMOVE, partition=Partition.BY_ROWS)
        >>> print(result)
        ε = 0.5 (parallel: McS09, Theorem 4)
    """
    found, most = list(losses), check.whole(reached)
    relation, cut = metric_of(metric), partition_of(partition)
    if not found or most < 1:
        raise InvalidArgument(
            "There is nothing to compose",
            must="give at least one part, of which a unit reaches at least one",
            got=f"{len(found)} parts and reached = {most}",
        )
    if relation is Metric.CHANGE_ONE and cut is Partition.BY_ROWS:
        raise Unsupported(
            "A change can move a unit from one part to another",
            must="be losses under add_remove, if rows decide the part",
            got=relation.value,
            next="Compose under add_remove, then convert the result with convert_neighbours",
        )
    if any(type(loss) is not type(found[0]) for loss in found):
        raise Unsupported(
            "These losses are not in the same measure",
            must=f"all be {found[0].measure.value}",
            next="Convert them to one measure first",
        )
    total = _joined(found[0], found, min(most, len(found)))
    return Result(loss=total, method="parallel", theorem="McS09, Theorem 4")


@singledispatch
def _joined(first: PrivacyLoss, losses: list[PrivacyLoss], most: int) -> PrivacyLoss:
    raise Unsupported(
        "No parallel composition is known for this measure",
        must="be pure, approximate, zcdp, approximate_zcdp or gaussian",
        got=first.measure.value if isinstance(first, PrivacyLoss) else type(first).__name__,
    )


@_joined.register
def _(first: Pure, losses: list[Pure], most: int) -> Pure:
    return Pure(_largest((loss.epsilon for loss in losses), most))


@_joined.register
def _(first: Approximate, losses: list[Approximate], most: int) -> Approximate:
    delta = _largest((loss.delta for loss in losses), most)
    return Approximate(_largest((loss.epsilon for loss in losses), most), _below_one(delta))


@_joined.register
def _(first: GaussianDp, losses: list[GaussianDp], most: int) -> GaussianDp:
    return GaussianDp(mu_squared=_largest((loss.mu_squared for loss in losses), most))


@_joined.register
def _(first: Zcdp, losses: list[Zcdp], most: int) -> Zcdp:
    rho, xi = _line(losses, most)
    return Zcdp(rho=rho, xi=xi)


@_joined.register
def _(first: ApproximateZcdp, losses: list[ApproximateZcdp], most: int) -> ApproximateZcdp:
    rho, xi = _line(losses, most)
    delta = _below_one(_largest((loss.delta for loss in losses), most))
    return ApproximateZcdp(rho=rho, delta=delta, xi=xi)


def _line(losses: list[Zcdp] | list[ApproximateZcdp], most: int) -> tuple[Fraction, Fraction]:
    """Return a line above all on (1, ∞): the largest slope, and the largest value at 1."""
    rho = _largest((loss.rho for loss in losses), most)
    return rho, _largest((loss.rho + loss.xi for loss in losses), most) - rho


def _largest(values: Iterable[Fraction], most: int) -> Fraction:
    return sum(sorted(values, reverse=True)[:most], Fraction(0))


def _below_one(delta: Fraction) -> Fraction:
    if delta >= 1:
        raise Unsupported("Together these parts promise nothing", must="keep delta below 1")
    return delta
