"""An explanation says what other limits would give, and whether totals should be clamped whole."""

import json

import pytest
from attrs import evolve

from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

SQL = "SELECT SUM(cost) AS s FROM visits"
GROUPED = "SELECT clinic, SUM(cost) AS s FROM visits GROUP BY clinic"
WHOLE = "SELECT SUM(cost, contribution_bounds_per_group => (0, 5)) AS s FROM visits"


def rows_of(value):
    """Return rows of 240 people, from one to forty of each."""
    return [
        visit(f"p{i}", "abcd"[j % 4], cost=value) for i in range(240) for j in range(1 + i % 40)
    ]


def explained(folder, sql, **terms):
    with connect(folder) as connection:
        found = connection.explain(sql, **({"epsilon": 1} | terms))
        json.dumps(found.to_json())
        return found, " ".join(str(found).split())


@pytest.fixture(scope="module", params=[0.5, 10.0], ids=["far below the range", "at its end"])
def measured(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    write_project(folder, rows_of(request.param), epsilon="100000", rows_per_group=4)
    with own(folder) as owner:
        owner.profile("visits", epsilon=300, keys=["clinic"], values=["cost"])
    return folder, request.param


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    return write_project(folder, rows_of(0.5), epsilon="1000", rows_per_group=4)


def test_without_a_profile_the_noise_of_other_limits_is_said(bare):
    found, said = explained(bare, GROUPED)
    assert "noise of about 12 rows now; rows_per_group = 2: about 6; rows_per_group = 8" in said
    assert "groups_per_unit = 4: about 16" in said
    assert "What is left out, nobody has measured" in said
    assert [one.cut for one in found.other_limits] == [None] * 5
    assert found.sums == ()
    assert found.proposal is None


@pytest.mark.parametrize(
    ("sql", "terms", "names"),
    [
        ("SELECT COUNT(*) AS n FROM visits", {}, {"rows_per_group"}),
        (GROUPED, {"rows_per_unit": 8}, {"rows_per_unit"}),
        ("SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY 1", {}, {"groups_per_unit"}),
        (WHOLE, {}, set()),
        ("SELECT COUNT(*) FROM (SELECT person FROM visits GROUP BY person)", {}, set()),
    ],
)
def test_only_limits_that_make_a_difference_are_changed(bare, sql, terms, names):
    found, said = explained(bare, sql, **terms)
    changed = {one.changed.partition(" ")[0] for one in found.other_limits[1:]}
    assert changed == names
    assert ("Other limits" in said) is bool(names)


def test_a_limit_on_all_rows_takes_the_others_with_it(bare):
    found, _ = explained(bare, GROUPED, rows_per_unit=8)
    half = found.other_limits[1].limits
    assert half.given() == {"rows_per_group": 4, "groups_per_unit": 4, "rows_per_unit": 4}


def test_with_a_profile_what_they_leave_out_is_said_too(measured):
    """Of 240 people with 1 to 40 rows a limit of 4 leaves out 3,996, of 8 3,168."""
    folder, _ = measured
    found, said = explained(folder, "SELECT COUNT(*) AS n FROM visits")
    now, half, twice = found.other_limits
    assert now.cut == pytest.approx(3996, rel=0.1)
    assert twice.cut == pytest.approx(3168, rel=0.1)
    assert half.cut is not None
    assert half.cut > now.cut
    assert "limits = auto" in said
    assert found.to_json()["other_limits"][0]["cut_in_a_group"] == now.cut


@pytest.mark.parametrize("sql", [SQL, GROUPED])
def test_totals_are_proposed_where_values_are_far_below_their_range(measured, sql):
    """Reckoned from the rows as well: the way that is said to err less does."""
    folder, value = measured
    found, said = explained(folder, sql)
    (one,) = found.sums
    groups = 4 if sql is GROUPED else 1
    each = [1 + i % 40 for i in range(240)]
    held = [[len(range(k, n, groups)) for k in range(groups)] for n in each]
    whole = sum(max(n * value - float(one.total), 0) for ns in held for n in ns) / groups
    rows = one.limits.rows_per_group
    kept = min(one.limits.groups_per_unit, groups) / groups
    whole += (1 - kept) * sum(min(n * value, float(one.total)) for ns in held for n in ns) / groups
    cut = sum(n - kept * min(n, rows) for ns in held for n in ns) * value / groups
    assert (whole + one.whole_noise < cut + one.sampled_noise) is (one.whole < one.sampled)
    if value < 1:
        assert one.whole < one.sampled / 1.5
        assert "clamping totals as a whole errs less here" in said
    else:
        assert one.whole > one.sampled / 1.5
    data = found.to_json()["sums"][0]
    assert data["now"] == "sampled"
    assert data["errs_less"] == ("whole" if one.whole < one.sampled else "sampled")


def test_neither_way_is_said_to_err_less_where_both_err_alike(measured):
    (one,) = explained(measured[0], SQL)[0].sums
    even = evolve(one, sampled_cut=one.whole_cut + 0.01, sampled_noise=one.whole_noise)
    assert str(even).endswith(": both err alike here")


def test_totals_that_are_asked_for_are_compared_too(measured):
    folder, value = measured
    found, _ = explained(folder, WHOLE)
    (one,) = found.sums
    assert one.is_whole
    assert one.total > 5
    assert one.total <= 45 * value


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(cost) AS m FROM visits",
        "SELECT SUM(change) AS s FROM visits",
        "SELECT SUM(cost * 2) AS s FROM visits",
        "SELECT SUM(age) AS s FROM visits",
        "SELECT MEDIAN(cost) AS m FROM visits",
    ],
)
def test_what_a_profile_does_not_tell_is_not_compared(measured, sql):
    folder, _ = measured
    assert explained(folder, sql)[0].sums == ()


# ---- Who has many rows has large values.


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """Ten people with 400 rows of a large value, and 600 with four of a small one."""
    folder = tmp_path_factory.mktemp("uneven")
    rows = [visit(f"p{i}", "abcd"[j % 4], cost=0.5) for i in range(600) for j in range(4)]
    rows += [visit(f"q{i}", "abcd"[j % 4], cost=9) for i in range(10) for j in range(400)]
    write_project(folder, rows, epsilon="100000", rows_per_group=3)
    with own(folder) as owner:
        owner.profile("visits", epsilon=3000, keys=["clinic"], values=["cost"])
    return folder, len(rows)


def test_wider_limits_leave_out_less_and_none_more_than_there_is(uneven):
    """The noise of the profile is far below one person, so nothing here depends on it."""
    folder, rows = uneven
    sql = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
    found = {}
    for rows_per_group in (3, 6, 12):
        for groups_per_unit in (1, 2):
            terms = {"rows_per_group": rows_per_group, "groups_per_unit": groups_per_unit}
            now = explained(folder, sql, **terms)[0].other_limits[0].cut
            found[rows_per_group, groups_per_unit] = now
    for (r, g), cut in found.items():
        assert cut <= 1.1 * rows / 4
        assert all(cut >= less for (s, h), less in found.items() if s >= r and h >= g)


def test_what_may_be_cut_is_said_where_many_rows_may_have_large_values(uneven):
    """Ten people have 400 rows of 9: what a clamp takes off them is far more than "about"."""
    folder, _ = uneven
    found, said = explained(folder, GROUPED, rows_per_group=50, groups_per_unit=4)
    (clamp,) = found.bounds
    cut = 10 * 50 * (9 - float(clamp.bounds.upper))
    assert clamp.cut < cut / 2 < cut <= clamp.most_cut
    assert "if those with the most rows have the largest values" in said
    assert "the least error if those with large values have as many rows as others" in said
    (one,) = found.sums
    whole = 10 * (100 * 9 - float(one.total))
    assert one.whole_cut < whole <= one.whole_most
    left_out = 10 * (100 - one.limits.rows_per_group) * 9
    assert one.sampled_cut < left_out <= one.sampled_most
    data = found.to_json()
    assert data["bounds"][0]["most_cut_off_a_group"] == clamp.most_cut
    assert data["sums"][0]["whole"]["most_cut"] == one.whole_most
