"""Exact releases beside others: differencing is refused, and what is stated is asked for."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

import discreet
from discreet.core.errors import AnswerFailed, LedgerError, RefusedQuery
from discreet.core.loss import ApproximateZcdp, Zcdp
from discreet.core.numbers import exact
from discreet.ledger.ledger import Ledger
from discreet.noiseless.composition import NoisyRelease
from discreet.noiseless.exact.charged_releases import NOISY_DELTA, ChargedReleases
from discreet.noiseless.exact.differencing import require_no_differencing
from discreet.noiseless.exact.publish_exact import TRIES
from discreet.project.open_ledger import open_ledger
from discreet.roles.owner import Owner
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.exact import ROWS, declare, make_school, release

pytestmark = pytest.mark.usefixtures("stated_law")


SQL = "SELECT COUNT(*) FROM exams"
NORTH = {"split": '"campus"', "parts": '["north"]'}
BUT_ONE = {"split": '"campus"', "parts": '["north", "south"]', "rows": ROWS - 1}


def names(owner: Owner) -> list[str]:
    return [one.claim.name for one in owner.exact_claims()]


def test_a_total_and_the_total_without_one_row_are_refused_whatever_is_stated(tmp_path):
    stated = {"given": '["total"]', "robust": '["total"]'}
    make_school(tmp_path, release("total"), release("rest", **BUT_ONE, **stated))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        with pytest.raises(RefusedQuery, match=r"The totals tell what a row of .* is, to whoever"):
            owner.publish_exact("rest")
        assert names(owner) == ["total"]


def test_overlapping_rows_need_both_premises(tmp_path):
    part = {**NORTH, "rows": 20}
    make_school(
        tmp_path,
        release("total"),
        release("plain", **part),
        release("half", **part, given='["total"]'),
        release("whole", **part, given='["total"]', robust='["total"]'),
    )
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        with pytest.raises(RefusedQuery, match="could be subtracted: they share rows"):
            owner.publish_exact("plain")
        with pytest.raises(RefusedQuery, match="is not stated to hold beside"):
            owner.publish_exact("half")
        said = owner.publish_exact("whole").claim.asserted
    assert said["composed"]["rule"] == "premises"
    assert said["composed"]["epsilon"] == "1"
    assert said["premises"]["given"] == ["total@1"]


def test_totals_of_two_versions_are_differencing(tmp_path):
    stated = {"given": '["total"]', "robust": '["total"]'}
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        owner.data_changed("students")
        with pytest.raises(RefusedQuery, match="are declared to have equally many rows"):
            owner.publish_exact("total")
    for rows, because in (
        (ROWS + 1, "The totals tell what a row of 'one version' is"),
        (ROWS - 1, "The totals tell what a row of 'one version' is"),
        (ROWS + 30, "could be subtracted"),
    ):
        declare(tmp_path, release("total", rows=rows))
        with discreet.own(tmp_path) as owner, pytest.raises(RefusedQuery, match=because):
            owner.publish_exact("total")
    declare(tmp_path, release("later", rows=ROWS + 30, **stated))
    with discreet.own(tmp_path) as owner:
        assert owner.publish_exact("later").claim.asserted["composed"]["rule"] == "premises"


def test_two_features_of_the_same_rows_are_certified_as_one_vector_or_not_at_all(tmp_path):
    made = (release("score"), release("hours", columns='["hours"]'))
    both = release("both", columns='["score", "hours"]')
    make_school(tmp_path, *made, both)
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("score")
        with pytest.raises(RefusedQuery, match="could be subtracted"):
            owner.publish_exact("hours")
        assert owner.publish_exact("both").claim.asserted["composed"]["rule"] == "one_vector"
        with pytest.raises(RefusedQuery, match="'hours' is part of what 'both' has released"):
            owner.publish_exact("hours")


@pytest.mark.parametrize(
    ("sizes", "is_refused"),
    [
        ([(None, 60), (["north"], 20)], False),
        ([(None, 60), (["north"], 59)], True),
        ([(None, 60), (["north"], 60)], False),
        ([(["north"], 20), (["south"], 20), (None, 60)], False),
        ([(["north"], 20), (["south"], 39), (None, 60)], True),
        ([(["north", "south"], 40), (["south", "east"], 40), (None, 60)], False),
        ([(["north"], 1), (["south"], 30)], True),
    ],
)
def test_the_leverage_test_on_declared_rows(sizes, is_refused):
    said = [total_of(parts, rows) for parts, rows in sizes]
    if is_refused:
        with pytest.raises(RefusedQuery, match="The totals tell what a row"):
            require_no_differencing(said[:-1], said[-1])
    else:
        require_no_differencing(said[:-1], said[-1])


def total_of(parts=None, rows=ROWS, *, split="campus", version=1, **more):
    """Return what is said of a total."""
    return {
        "statistic": "sum",
        "table": "exams",
        "data_version": version,
        "features": ["sum(x)"],
        "split": None if parts is None else split,
        "parts": parts or [],
        "rows": rows,
    } | more


@pytest.mark.parametrize(
    ("earlier", "new"),
    [
        # Another split in between: the new one is looked at beside the whole all the same.
        (
            [total_of(), total_of(["north"], 20)],
            total_of(["a"], ROWS - 1, split="grade"),
        ),
        # What follows from a whole and a part of it, in the version before.
        (
            [total_of(), total_of(["north"], 20)],
            total_of(["south", "east"], 41, version=2),
        ),
        # Two of three parts that were published one by one.
        (
            [total_of([part], 20) for part in ("north", "south", "east")],
            total_of(["north", "south"], 41, version=2),
        ),
        # What follows from a whole and a part of it in both versions, and is in neither.
        (
            [total_of(), total_of(["north"], 20), total_of(None, 65, version=2)],
            total_of(["north"], 24, version=2),
        ),
        # Parts that were published one a version.
        (
            [total_of(["north"], 20), total_of(["south"], 20, version=2)],
            total_of(["north", "south"], 41, version=3),
        ),
        # A whole, and all parts but one in versions of their own.
        (
            [total_of(), total_of(["north"], 20, version=2), total_of(["south"], 20, version=3)],
            total_of(["east"], 21, version=3),
        ),
        (
            [total_of(), total_of(["north"], 20, version=2)],
            total_of(["south", "east"], 41, version=3),
        ),
    ],
)
def test_totals_that_follow_from_others_are_subtracted_too(earlier, new):
    with pytest.raises(RefusedQuery, match="The totals tell what a row"):
        require_no_differencing(earlier, new)
    require_no_differencing(earlier, new | {"rows": new["rows"] - 10})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("sum(x in 0..100 by 0.5)", "sum(x in 0..101 by 0.5)"),
        ("sum(x in -1/3..100 by 1/3)", "sum(x in 0..100 by 1)"),
        (
            "sum((x less 5) (y less -2) in 0..10 by 1 and -4..0 by 1)",
            "sum((x less 6) (y less -2) in 0..12 by 1 and -4..0 by 1)",
        ),
        ("count(passed in {True})", "count(passed in {False})"),
        ("count(grade in {a, b})", 'count(grade in {c, "d, e"})'),
    ],
)
def test_other_clamps_and_other_values_hide_no_subtraction(first, second):
    one, other = {"features": [first]}, {"features": [second]}
    for rows, version in ((ROWS - 1, 1), (ROWS + 1, 2)):
        parts = ["north"] if version == 1 else None
        new = total_of(parts, rows, version=version, **other)
        with pytest.raises(RefusedQuery, match="The totals tell what a row"):
            require_no_differencing([total_of(**one)], new)
        require_no_differencing([total_of(features=["sum(z in 0..100 by 1)"])], new)
    require_no_differencing([total_of(**one)], total_of(**other))


SHOWN = {
    "statistic": "histogram",
    "features": ["count by grade, 5 or more (1)"],
    "counted": "grade",
    "bins": ["a", "b"],
    "discards": None,
}
COUNT = {"statistic": "count", "features": ["count(grade in {a})"]}


@pytest.mark.parametrize("new", [SHOWN, SHOWN | {"features": ["3 or more"]}, COUNT])
def test_counts_that_histograms_show_are_totals(new):
    shown = total_of(**SHOWN)
    with pytest.raises(RefusedQuery, match="The totals tell what a row of 'one version'"):
        require_no_differencing([shown], total_of(None, ROWS + 1, version=2, **new))
    with pytest.raises(RefusedQuery, match="The totals tell what a row of 'the other rows'"):
        require_no_differencing([shown], total_of(["north"], ROWS - 1, **new))
    require_no_differencing([shown], total_of(None, ROWS + 9, version=2, **new))
    thinned = total_of(**SHOWN | {"discards": ["0.5", "1e-6"]})
    require_no_differencing([thinned], total_of(None, ROWS + 1, version=2, **new))


def test_histograms_of_two_versions_are_differencing(tmp_path):
    cells = {"statistic": "histogram", "columns": '["grade"]', "least": 1}
    stated = {"given": '["first"]', "robust": '["first"]'}
    later = release("later", **cells, **stated, rows=ROWS + 1)
    make_school(tmp_path, release("first", **cells), later)
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("first")
        owner.data_changed("students")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of 'one version'"):
            owner.publish_exact("later")


def test_the_noes_of_july_are_subtracted_from_the_yeses_of_june(tmp_path):
    premises = {"given": '["june"]', "robust": '["june"]'}
    noes = release("july", "count", '["passed"]', values="[false]", rows=ROWS + 1, **premises)
    make_school(tmp_path, release("june", "count", '["passed"]', values="[true]"), noes)
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("june")
        owner.data_changed("students")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of 'one version'"):
            owner.publish_exact("july")


def test_parts_that_are_larger_than_the_whole_are_refused():
    with pytest.raises(RefusedQuery, match="contradict one another"):
        require_no_differencing([total_of()], total_of(["north"], 70))


def test_one_name_is_one_release(tmp_path):
    part = {"split": '"campus"', "rows": 20}
    make_school(tmp_path, release("one", **part, parts='["north"]'))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("one")
    declare(tmp_path, release("one", **part, parts='["south"]'))
    called = pytest.raises(RefusedQuery, match="Another exact release was called 'one' already")
    with discreet.own(tmp_path) as owner, called:
        owner.publish_exact("one")


def test_what_failed_half_way_is_published_again_under_another_law(tmp_path, monkeypatch):
    """An open ticket of a process that died counts as a release, and is no dead end."""
    part = {"split": '"campus"', "rows": 20}
    north, south = {**part, "parts": '["north"]'}, {**part, "parts": '["south"]'}
    make_school(tmp_path, release("north", **north))
    with discreet.own(tmp_path) as owner:
        with monkeypatch.context() as patched:
            patched.setattr(Ledger, "commit_sealed", None)
            patched.setattr(Ledger, "fail", None)
            with pytest.raises(AnswerFailed):
                owner.publish_exact("north")
        assert owner.ledger().is_void("students")
    other = '{ kind = "stated", delta = 2e-7 }'
    declare(tmp_path, release("north", **north, law=other), release("south", **south))
    with discreet.own(tmp_path) as owner:
        rules = [
            owner.publish_exact(name).claim.asserted["composed"]["rule"]
            for name in ("north", "south")
        ]
    assert rules == ["again", "parallel"]


# ---- Noisy answers before and after.


def test_noisy_answers_of_any_version_are_auxiliary_information(tmp_path):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        noisy = owner.connect(epsilon="0.1").sql(SQL).receipt.ticket.number
        owner.data_changed("students")
        with pytest.raises(RefusedQuery, match=f"'ticket {noisy}' is of the same id space"):
            owner.publish_exact("total")
        assert not owner.ledger().is_void("students")
    declare(tmp_path, release("total", given=f"[{noisy}]"))
    with discreet.own(tmp_path) as owner:
        said = owner.publish_exact("total").claim.asserted
    assert said["premises"]["given"] == [f"ticket {noisy}"]
    assert (said["composed"]["rule"], said["composed"]["epsilon"]) == ("premises", "0.6")
    expected = math.exp(0.1) * 1e-7
    assert expected <= float(exact(said["composed"]["delta"])) <= expected * (1 + 1e-9)


@pytest.mark.parametrize("loss", [ApproximateZcdp(rho="0.1", delta="1e-6"), Zcdp(rho="0.1")])
def test_a_noisy_answer_with_a_delta_of_its_own_can_stand_beside_an_exact_one(loss):
    noisy = ChargedReleases(id_space="students", exact=(), noisy=((3, loss),))
    (told,) = noisy.composed()
    assert isinstance(told, NoisyRelease)
    own = Fraction(1, 10**6) if isinstance(loss, ApproximateZcdp) else 0
    assert told.delta == own + NOISY_DELTA
    # The whole of a Gaussian mechanism of that ρ is within it.
    assert told.epsilon >= gaussian_epsilon(sigma=5**0.5, delta=float(NOISY_DELTA))


def gaussian_epsilon(*, sigma: float, delta: float) -> float:
    """Return the ε of Gaussian noise at a δ, by bisection of the exact formula."""
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        near = norm.cdf(1 / (2 * sigma) - middle * sigma)
        far = math.exp(middle) * norm.cdf(-1 / (2 * sigma) - middle * sigma)
        low, high = (middle, high) if near - far > delta else (low, middle)
    return low


def test_a_noisy_answer_that_failed_is_none(tmp_path, monkeypatch):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        with monkeypatch.context() as patched:
            patched.setattr("discreet.engines.duckdb.engine.DuckDbEngine.execute", None)
            with pytest.raises(discreet.DiscreetError):
                owner.connect(epsilon="0.1").sql(SQL)
        assert owner.publish_exact("total").claim.asserted["composed"]["rule"] == "first"


@pytest.mark.parametrize("holds", ["true", "false"])
def test_a_noisy_answer_afterwards_is_charged_and_the_certificate_says_how_it_stands(
    tmp_path, holds
):
    make_school(
        tmp_path,
        release("total", **NORTH, rows=20, holds_beside_noise=holds),
        release("other", split='"campus"', parts='["south"]', rows=20, given="[7]"),
    )
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        answer = owner.connect(epsilon="0.1").sql(SQL)
        assert owner.ledger().spent("students") == discreet.Pure("0.1")
        assert answer.receipt.ticket.number == 6
        notes = " ".join(owner.publish_exact("total").notes())
        assert "1 noisy answer came since" in notes
        stands = "the owner states that the law holds for somebody who has them too"
        assert (stands in notes) == (holds == "true")
        assert ("says nothing of others" in notes) == (holds == "false")
        if holds == "false":
            with pytest.raises(RefusedQuery, match="which was certified without it"):
                owner.publish_exact("other")


def test_what_is_charged_between_certificate_and_mark_is_looked_at_too(tmp_path, monkeypatch):
    """A noisy answer slips in; the release is certified again, and then refused for it."""
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        connection = owner.connect(epsilon="0.1")
        asked: list[discreet.Release] = []
        reserve = Ledger.join_or_reserve

        def late(ledger, order, *more, **claimed):
            if order.exact is not None and not asked:
                asked.append(connection.sql(SQL))
            return reserve(ledger, order, *more, **claimed)

        monkeypatch.setattr(Ledger, "join_or_reserve", late)
        with pytest.raises(RefusedQuery, match="is of the same id space, and the law"):
            owner.publish_exact("total")
        assert asked
        assert not owner.ledger().is_void("students")


def test_it_gives_up_where_questions_never_cease(tmp_path, monkeypatch):
    part = {"split": '"campus"', "rows": 20}
    make_school(
        tmp_path,
        release("north", **part, parts='["north"]'),
        release("south", **part, parts='["south"]'),
    )
    with discreet.own(tmp_path) as owner:
        tried = []

        def always_late(ledger, order, *more, **claimed):
            tried.append(order)
            raise LedgerError("Something was charged")

        monkeypatch.setattr(Ledger, "join_or_reserve", always_late)
        newest = iter(range(100))
        claims = Ledger.claims
        monkeypatch.setattr(
            Ledger,
            "claims",
            lambda ledger, name: type(claims(ledger, name))(
                claims=(), newest_charge=next(newest), is_void=False
            ),
        )
        with pytest.raises(LedgerError, match="questions about 'students' are asked all the time"):
            owner.publish_exact("north")
        assert len(tried) == TRIES


def test_a_ledger_that_was_begun_again_allows_no_exact_release(tmp_path):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        owner.connect(epsilon="0.1").sql(SQL)
    for file in (tmp_path / ".discreet").iterdir():
        file.unlink()
    open_ledger(read_catalog(tmp_path), begin_again=True)
    lost = pytest.raises(RefusedQuery, match="was begun again, and has lost entries")
    with discreet.own(tmp_path) as owner, lost:
        owner.publish_exact("total")
