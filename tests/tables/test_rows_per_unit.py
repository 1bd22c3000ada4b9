"""A limit on all rows of a unit: what follows from it, exactly, and what stays as it was."""

from fractions import Fraction
from itertools import product

import pytest
from attrs import evolve

from discreet.core.canonical import described, digest
from discreet.core.contribution import Contribution, of_kept_rows
from discreet.core.errors import InvalidArgument, RefusedQuery, Unsupported
from discreet.tables.catalog import LARGEST_LIMIT, Limits, with_given
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.lowered.lower import lower
from discreet.tables.plans import aggregate as aggregates
from discreet.tables.plans.aggregate import CountDistinct, CountRows, CountUnits
from discreet.tables.plans.text import show
from discreet.tables.plans.tighten import leaves_out, tighten
from tests.support.projects.bounded_plans import FOUR_KEYS, PRIVATE, age_quantile, ages, make_plan

SMALL = [
    (groups, most, in_all)
    for groups in (1, 2, 3, 4)
    for most in (1, 2, 3, 4)
    for in_all in range(1, 12)
]


@pytest.mark.parametrize(("groups", "most", "in_all"), SMALL)
def test_every_norm_is_the_largest_that_some_rows_have(groups, most, in_all):
    """All ways to spread rows over groups, one by one."""
    allowed = [rows for rows in product(range(most + 1), repeat=groups) if sum(rows) <= in_all]
    found = of_kept_rows(each=3, groups=groups, in_a_group=most, in_all=in_all)
    assert found.l0 == max(sum(count > 0 for count in rows) for rows in allowed)
    assert found.linf == 3 * max(map(max, allowed))
    assert found.l1 == 3 * max(map(sum, allowed))
    assert found.l2_squared == 9 * max(sum(count**2 for count in rows) for rows in allowed)


def test_limits_that_mean_the_same_are_the_same():
    wide = Limits(rows_per_group=50, groups_per_unit=90, rows_per_unit=7)
    assert wide == Limits(rows_per_group=7, groups_per_unit=7, rows_per_unit=7)
    with pytest.raises(InvalidArgument, match="rows_per_unit is out of range"):
        Limits(rows_per_group=1, groups_per_unit=1, rows_per_unit=LARGEST_LIMIT + 1)


def test_the_other_limits_follow_unless_they_are_given():
    declared = Limits(rows_per_group=2, groups_per_unit=3)
    assert with_given(declared, {}) == declared
    assert with_given(declared, {"rows_per_unit": 9}).given() == {
        "rows_per_group": 9,
        "groups_per_unit": 9,
        "rows_per_unit": 9,
    }
    both = with_given(declared, {"rows_per_unit": 9, "rows_per_group": 4})
    assert (both.rows_per_group, both.groups_per_unit) == (4, 9)


def test_without_it_digests_are_those_from_before():
    plain = Limits(rows_per_group=2, groups_per_unit=3)
    assert described(plain) == {"is": "Limits", "rows_per_group": 2, "groups_per_unit": 3}
    given = evolve(plain, rows_per_unit=4)
    assert described(given)["rows_per_unit"] == 4
    assert digest(described(given)) != digest(described(plain))


def limited(*parts, keys=FOUR_KEYS, rows=2, groups=3, in_all=5):
    plan = make_plan(*parts, keys=keys)
    limits = Limits(rows_per_group=rows, groups_per_unit=groups, rows_per_unit=in_all)
    return evolve(plan, limits=limits)


EVERY = (CountRows(), CountUnits(), ages(), age_quantile())


def test_what_is_claimed_is_proved():
    """Lowering compares the two; here are the numbers, worked out by hand."""
    for keys in (FOUR_KEYS, PRIVATE):
        plan = limited(*EVERY, CountDistinct(value=age_quantile().value), keys=keys)
        lower(plan)
        rows, units, total, _, values = plan.contributions()
        assert (rows.l0, rows.linf, rows.l1, rows.l2_squared) == (3, 2, 5, 9)
        assert (units.l0, units.linf, units.l1) == (3, 1, 3)
        assert (total.linf, total.l1, total.l2_squared) == (200, 500, 90_000)
        assert values == rows
        assert "5 rows of a unit over all groups" in show(plan)


def test_each_grouping_set_has_rows_of_its_own():
    sets = (*FOUR_KEYS.sets, KeySet(places=(), rows=((),)))
    plan = limited(CountRows(), keys=PublicKeys(fields=(1,), sets=sets), rows=3, groups=4, in_all=4)
    lower(plan)
    (rows,) = plan.contributions()
    # At most 3 + 1 rows of the first set, and 3 of the other.
    assert (rows.l0, rows.linf, rows.l1, rows.l2_squared) == (5, 3, 7, 19)


def test_too_many_rows_over_all_sets_are_refused():
    keys = PublicKeys(fields=(1,), sets=FOUR_KEYS.sets * 2)
    plan = limited(CountRows(), keys=keys, rows=10**6, groups=4, in_all=10**6)
    with pytest.raises(RefusedQuery, match="Too many rows of one unit"):
        plan.contributions()


def broken_bound(limits: Limits, each: int) -> Contribution:
    """Forget that the rows of a unit are in more groups than one."""
    return Contribution(l0=1, linf=limits.rows_per_group * each)


def test_a_bound_that_forgets_groups_is_refused(monkeypatch):
    plan = limited(CountRows())
    monkeypatch.setattr(Limits, "contribution", broken_bound)
    with pytest.raises(Unsupported, match="what is paid for"):
        lower(plan)


def test_a_limit_that_never_binds_goes():
    idle = limited(CountRows(), rows=2, groups=3, in_all=6)
    assert tighten(idle).limits == Limits(rows_per_group=2, groups_per_unit=3)
    few_keys = limited(CountRows(), rows=2, groups=8, in_all=8)
    assert tighten(few_keys).limits.rows_per_unit is None
    one_group = limited(CountRows(), keys=make_plan(CountRows()).keys, rows=9, groups=9, in_all=4)
    assert tighten(one_group).limits.given() == {"rows_per_group": 4, "groups_per_unit": 4}
    binding = limited(CountRows())
    assert tighten(binding) is binding
    assert leaves_out(binding)


def test_it_is_said_how_a_bound_follows():
    reach = limited(CountRows()).reach()
    assert CountRows().derivation(reach) == "a row adds 1: 1 × 5 rows over all groups = 5"
    assert "100 × 5 rows over all groups = 500" in ages().derivation(reach)
    assert aggregates.CountUnits().derivation(reach).endswith("1 × 3 groups = 3")


def test_less_noise_than_rows_times_groups():
    wide = make_plan(CountRows(), keys=FOUR_KEYS, rows_per_group=5, groups_per_unit=4)
    (before,), (after,) = (
        wide.contributions(),
        limited(CountRows(), rows=5, groups=4).contributions(),
    )
    assert before.l1 == 20
    assert after.l1 == Fraction(5)
