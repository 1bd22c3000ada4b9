"""What a profile says has an interval, whose parts fail together no more often than is promised."""

from fractions import Fraction

import pytest

from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.histogram import Histogram, count_bins
from discreet.releases.profile import Profile
from discreet.releases.value_bins import ValueBins
from discreet.releases.values import Values
from discreet.tables.column import ColumnType

NOISE = DiscreteLaplace(scale=3)
BETA = 0.05


def histogram(most):
    ends = count_bins(30)
    return Histogram(ends=ends, values=(*(1_000 // end for end in ends), 0), noise=NOISE, most=most)


def profile_up_to(most):
    bins = ValueBins(
        type=ColumnType.INTEGER, step=Fraction(1), ends=(-1, 2, 5, 9), is_declared=True
    )
    values = Values(
        bins=bins,
        largest=(0, 50, 80, 70, 0),
        smallest=(0, 90, 60, 50, 0),
        without=(3, 4),
        noise=NOISE,
    )
    return Profile(
        table="visits",
        unit="a person",
        rows=histogram(most),
        groups={"clinic": histogram(30)},
        busiest={"clinic": histogram(most)},
        values={"cost": values},
        cost=Pure(1),
    )


@pytest.fixture
def profile():
    return profile_up_to(30)


def recorded(monkeypatch, owner, name):
    """Return a list that gets how often each bound that is asked for may be wrong."""
    found, rule = [], getattr(owner, name)

    def record(*arguments):
        found.append(arguments[-1])
        return rule(*arguments)

    monkeypatch.setattr(owner, name, record)
    return found


@pytest.mark.parametrize(
    "said",
    [
        lambda profile: profile.rows_left_out(4, beta=BETA),
        lambda profile: profile.units_cut(4, beta=BETA),
        lambda profile: profile.number_of_units(beta=BETA),
        lambda profile: profile.number_of_rows(beta=BETA),
    ],
)
def test_all_bounds_of_an_interval_share_its_probability(profile, monkeypatch, said):
    used = [recorded(monkeypatch, Histogram, side) for side in ("least", "largest")]
    said(profile)
    assert BETA / 2 < sum(map(sum, used)) <= BETA * (1 + 1e-9)


def test_so_do_those_of_a_clamp(profile, monkeypatch):
    """How many units are cut is bounded from both sides at once, by five bounds; so are all."""
    cut = recorded(monkeypatch, Values, "units_cut")
    units = recorded(monkeypatch, Values, "units")
    profile.clamped("cost", 1, 6, beta=BETA)
    # The last call is the one beside the units that are cut; both of its ends are used.
    assert BETA / 2 < sum(cut) + 2 * units[-1] <= BETA * (1 + 1e-9)


def test_every_number_has_an_interval_or_is_about(profile):
    head, usual, *rest = str(profile).splitlines()
    low, high = profile.number_of_units()
    assert f"people ({int(low):,} to {-int(-high // 1):,}) with about " in head
    assert head.endswith(")")
    assert usual.startswith("about half of them have at most ")
    (groups,) = (line for line in rest if line.startswith("clinic: "))
    assert groups.count(" % (") == groups.count(" %")
    (heads,) = (line for line in rest if line.startswith("all values of a person"))
    assert heads.count("about ") == heads.count(" % of people") == 4
    assert any(line.startswith("95 % intervals, each by itself; ") for line in rest)
    assert set(profile.to_json()["units"]) == {"low", "high"}


def test_of_rows_without_a_most_the_upper_end_is_open():
    head, *_ = str(profile_up_to(None)).splitlines()
    assert head.endswith(" or more)")
