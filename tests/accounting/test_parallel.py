"""Parallel composition: the largest loss, or the sum of as many as a unit can reach."""

from fractions import Fraction

import pytest

from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.losses.group import convert_neighbours
from discreet.accounting.losses.parallel import Partition, parallel
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp

ADD, CHANGE = Metric.ADD_REMOVE, Metric.CHANGE_ONE


def joined(losses, **options):
    settings = {"metric": ADD, "partition": Partition.BY_ROWS} | options
    return parallel(losses, **settings).loss


def test_disjoint_parts_cost_the_largest():
    assert joined([Pure(1), Pure(3), Pure(2)]) == Pure(3)
    assert joined([Approximate(1, "0.1"), Approximate(2, "0.01")]) == Approximate(2, "0.1")
    assert joined([GaussianDp(mu_squared=1), GaussianDp(mu_squared=2)]).mu_squared == 2
    by_unit = joined([Pure(1), Pure(3)], metric=CHANGE, partition=Partition.BY_UNIT)
    assert by_unit == Pure(3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Zcdp(rho=1, xi=0), Zcdp(rho="0.5", xi=2)),
        (Zcdp(rho=1, xi=1), Zcdp(rho="0.5", xi=0)),
        (ApproximateZcdp(rho=1, delta="0.1"), ApproximateZcdp(rho="0.5", delta="0.2", xi=1)),
    ],
)
def test_the_joint_line_is_above_both(first, second):
    joint = joined([first, second])
    assert first <= joint
    assert second <= joint


def test_a_unit_that_reaches_several_parts_pays_for_each():
    losses = [Pure(1), Pure(3), Pure(2)]
    assert joined(losses, reached=2) == Pure(5)
    assert joined(losses, reached=9) == Pure(6)
    assert joined([Zcdp(rho=1, xi=1)] * 3, reached=3) == Zcdp(rho=3, xi=3)


def test_a_change_that_moves_a_unit_pays_twice():
    with pytest.raises(Unsupported, match="move") as caught:
        joined([Pure(1), Pure(1)], metric=CHANGE)
    assert "convert_neighbours" in caught.value.next
    total = joined([Pure(1), Pure(1)])
    assert convert_neighbours(total, source=ADD, target=CHANGE).loss == Pure(2)


def test_bad_input_is_refused():
    for losses, options in (([], {}), ([Pure(1)], {"reached": 0})):
        with pytest.raises(InvalidArgument):
            joined(losses, **options)
    with pytest.raises(Unsupported, match="same measure"):
        joined([Pure(1), Zcdp(rho=1)])
    with pytest.raises(Unsupported):
        joined([RenyiCurve.of(Line(rho=1))] * 2)
    with pytest.raises(Unsupported):
        joined([Approximate(1, Fraction(2, 3))] * 2, reached=2)
