"""The life of an exact release: certified, noted, read, stored, and given again for nothing."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.core.errors import AnswerFailed, DeclarationError, InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.chain import Kind
from discreet.noiseless.exact.exact_plan import kept_counts
from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.roles.connection import Connection
from tests.support.projects.exact import (
    CAMPUSES,
    GRADES,
    ROWS,
    make_school,
    release,
    rows,
    write_rows,
)

pytestmark = pytest.mark.usefixtures("stated_law")


STEP = Fraction(1, 2)
MIDDLE = Fraction(50)


def on_grid(value: object, upper: int = 100, step: Fraction = STEP) -> Fraction | None:
    """Return a value as it counts: clamped, on the grid; None if it is missing."""
    if value == "":
        return None
    clamped = min(max(Fraction(str(value)), Fraction(0)), Fraction(upper))
    return math.floor(clamped / step + Fraction(1, 2)) * step


def total(found: list[list[object]], declared: int = ROWS) -> Fraction:
    """Return the declared total: what is missing counts as the middle."""
    values = [on_grid(row[1]) for row in found]
    there = [value for value in values if value is not None]
    return sum((value - MIDDLE for value in there), start=declared * MIDDLE)


def test_a_total_is_the_clamped_one_on_the_grid(tmp_path):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        published = owner.publish_exact("total")
    assert published.value() == published.value("score") == total(rows())


def test_one_row_of_each_unit_counts_and_every_form_says_so(tmp_path):
    make_school(tmp_path, release("total"))
    twice = [row for row in rows() for _ in range(2)]
    write_rows(tmp_path, [*twice, ["", *rows(1)[0][1:]]])
    with discreet.own(tmp_path) as owner:
        certificate = owner.certify_exact("total")
        published = owner.publish_exact("total")
    assert published.value() == total(rows())
    forms = (str(certificate), certificate._repr_html_(), str(published), published._repr_html_())
    for form in (*forms, published.card()):
        assert "ne row of each unit counts" in " ".join(form.split())


def test_a_mean_is_over_the_declared_number_of_rows(tmp_path):
    make_school(tmp_path, release("average", "mean", '["score", "hours"]'))
    with discreet.own(tmp_path) as owner:
        published = owner.publish_exact("average")
    hours = [on_grid(row[2], 40, Fraction(1)) for row in rows()]
    assert published.value("score") == total(rows()) / ROWS
    assert published.value("hours") == sum(filter(None, hours)) / ROWS


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("passed", None, sum(row[3] for row in rows())),
        ("passed", "[false]", sum(not row[3] for row in rows())),
        ("grade", '["a", "c"]', sum(row[4] in "ac" for row in rows())),
    ],
)
def test_a_count(tmp_path, column, values, expected):
    more = {} if values is None else {"values": values}
    make_school(tmp_path, release("many", "count", f'["{column}"]', **more))
    with discreet.own(tmp_path) as owner:
        assert owner.publish_exact("many").value() == expected


def test_a_histogram_shows_no_small_count(tmp_path):
    make_school(tmp_path, release("grades", "histogram", '["grade"]', least=13))
    counts = Counter(row[4] for row in rows())
    assert min(counts.values()) < 13 <= max(counts.values())
    with discreet.own(tmp_path) as owner:
        published = owner.publish_exact("grades")
        stored = owner.ledger().release_of(published.receipt.ticket.number)
    expected = {grade: counts[grade] if counts[grade] >= 13 else None for grade in GRADES}
    assert dict(published.numbers) == expected
    small = str(min(counts.values()))
    assert all(one["value"] != small for one in stored[0]["numbers"])
    assert "too few" in str(published)


def test_parts_of_a_split_are_disjoint_in_people(tmp_path):
    """A person with rows on two campuses counts on one of them: parts add up to people."""
    made = [
        release(name, "count", '["passed"]', values="[true, false]", split='"campus"', parts=parts)
        for name, parts in (("n", '["north"]'), ("s", '["south"]'), ("e", '["east"]'))
    ]
    make_school(tmp_path, *made)
    twice = rows() + [[row[0], 1, 1, True, "a", CAMPUSES[(row[0] + 1) % 3]] for row in rows()]
    write_rows(tmp_path, twice)
    with discreet.own(tmp_path) as owner:
        found = [owner.publish_exact(name).value() for name in "nse"]
        assert [one.claim.asserted["composed"]["rule"] for one in owner.exact_claims()] == [
            "first",
            "parallel",
            "parallel",
        ]
    assert sum(found) == ROWS
    assert all(found)


def test_neighbours_differ_by_one_clamped_row_and_a_missing_row_is_the_middle(tmp_path):
    """So what is published of the rows without one person is what the simulator says."""
    whole = rows()
    values = {}
    for gone in (None, 0, 3, 17):
        folder = tmp_path / str(gone)
        folder.mkdir()
        make_school(folder, release("total"))
        write_rows(folder, [row for row in whole if row[0] != gone])
        with discreet.own(folder) as owner:
            values[gone] = owner.publish_exact("total").value()
    for gone in (0, 3, 17):
        value = on_grid(whole[gone][1])
        assert values[None] - values[gone] == (0 if value is None else value - MIDDLE)


def test_the_ledger_does_not_tell_how_many_rows_there_are(tmp_path):
    claims = []
    for count in (ROWS, ROWS + 5):
        folder = tmp_path / str(count)
        folder.mkdir()
        make_school(folder, release("total"), count=count)
        with discreet.own(folder) as owner:
            assert owner.publish_exact("total").value() == total(rows(count))
            claims.append([one.claim for one in owner.exact_claims()])
    assert claims[0] == claims[1]


# ---- Before the gate, and at it.


def test_what_is_asserted_is_durable_before_a_row_is_read(tmp_path, monkeypatch):
    make_school(tmp_path, release("total"))
    seen = []
    execute = DuckDbEngine.execute

    def spied(engine, plan, salt, permit):
        with discreet.connect(tmp_path) as other:  # as another process would see it
            seen.append([entry for entry in other.history() if entry.kind is not Kind.VERSION])
        return execute(engine, plan, salt, permit)

    monkeypatch.setattr(DuckDbEngine, "execute", spied)
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
    ((*_, mark, reserve),) = seen
    assert (mark.kind, reserve.kind) == (Kind.EXACT, Kind.RESERVE)
    said = mark.payload["asserted"]
    assert said["features"] == ["sum(score in 0..100 by 0.5)"]
    assert (said["law"], said["rows"]) == ({"kind": "stated", "delta": "1e-7"}, ROWS)
    assert said["certified"] == {"epsilon": "0.5", "delta": "1e-7"}
    assert said["assurance"].startswith("The law is from the report")


def test_what_is_refused_reads_nothing_and_notes_nothing(tmp_path, monkeypatch):
    weak = '{ kind = "stated", delta = 1e-5 }'
    make_school(tmp_path, release("weak", law=weak), release("odd", law='"odd(1)"'))
    monkeypatch.setattr(DuckDbEngine, "execute", None)
    monkeypatch.setattr(DuckDbEngine, "reading_once", None)
    with discreet.own(tmp_path) as owner:
        with pytest.raises(RefusedQuery, match="does not keep what is declared"):
            owner.publish_exact("weak")
        with pytest.raises(discreet.DiscreetError, match="There is no such law of a row"):
            owner.publish_exact("odd")
        with pytest.raises(InvalidArgument, match="No exact release is called 'none'"):
            owner.publish_exact("none")
        assert not owner.ledger().is_void("students")


def test_the_same_again_costs_nothing_reads_nothing_and_notes_nothing(tmp_path, monkeypatch):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        first = owner.publish_exact("total")
        before = owner.ledger().verify()
        monkeypatch.setattr(DuckDbEngine, "execute", None)
        again = owner.publish_exact("total")
        assert owner.ledger().verify() == before
    assert (again.is_stored, again.numbers, again.receipt) == (True, first.numbers, first.receipt)


def test_failures_look_alike_and_leave_the_mark(tmp_path, monkeypatch):
    make_school(tmp_path, release("total"))

    def broken(*_):
        raise ValueError("row 17 is 93")

    monkeypatch.setattr(DuckDbEngine, "execute", broken)
    with discreet.own(tmp_path) as owner:
        said = []
        for ask in (
            lambda: owner.publish_exact("total"),
            lambda: owner.connect(epsilon=1).sql("SELECT COUNT(*) FROM exams"),
        ):
            with pytest.raises(AnswerFailed) as failed:
                ask()
            assert failed.value.__cause__ is None is failed.value.__context__
            said.append(str(failed.value))
        assert said[0] == said[1]
        assert owner.ledger().is_void("students")
        owner.ledger().verify()


def test_a_release_that_failed_can_be_published_again(tmp_path, monkeypatch):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        with monkeypatch.context() as patched:
            patched.setattr(DuckDbEngine, "execute", None)
            with pytest.raises(AnswerFailed):
                owner.publish_exact("total")
        assert owner.publish_exact("total").value() == total(rows())
        owner.ledger().verify()


def test_analysts_have_no_way_to_it(tmp_path):
    make_school(tmp_path, release("total"))
    assert not [name for name in dir(Connection) if "exact" in name]
    with discreet.own(tmp_path) as owner, owner.connect(epsilon=1) as connection:
        assert not hasattr(connection, "publish_exact")
        owner.publish_exact("total")
        (stored,) = connection.releases()
        assert (stored.analyst, stored.is_exact) == ("owner", True)
        assert stored.open().value() == total(rows()), "what is public is public"


def test_shares_of_analysts_are_not_in_its_way(tmp_path):
    made = release("total") + "[analysts.ann.allocations]\nstudents = { epsilon = 1 }\n"
    make_school(tmp_path, made)
    with discreet.own(tmp_path) as owner:
        assert owner.publish_exact("total").value() == total(rows())


# ---- Random discarding.


@pytest.mark.parametrize("counts", [[20, 0, 30], [1], [0, 0], [0, 500, 1]])
def test_what_is_discarded_was_there(counts, rng):
    made = RandomDiscarding.calibrate(rows=50, epsilon="0.5", delta="1e-6")
    for _ in range(20):
        kept = kept_counts(made, counts, rng)
        assert all(0 <= one <= most for one, most in zip(kept, counts, strict=True))
        assert sum(kept) <= max(0, sum(counts) - made.shift + 200)


def test_discarded_places_are_counted_in_their_cells(monkeypatch, rng):
    gone = np.array([0, 1, 2, 4, 5], dtype=np.int64)
    monkeypatch.setattr(RandomDiscarding, "discarded", lambda *_: gone)
    made = RandomDiscarding.calibrate(rows=6, epsilon=1, delta="1e-3")
    assert kept_counts(made, [2, 0, 3, 1], rng) == [0, 0, 1, 0]


def test_discarding_happens_inside_the_gate(tmp_path):
    discard = "{ epsilon = 1, delta = 1e-3 }"
    make_school(tmp_path, release("grades", "histogram", '["grade"]', least=1, discard=discard))
    with discreet.own(tmp_path) as owner:
        published = owner.publish_exact("grades")
        again = owner.publish_exact("grades")
        (noted,) = owner.exact_claims()
    assert noted.claim.asserted["discards"] == ["1", "0.001"]
    assert again.numbers == published.numbers, "noise is drawn once"
    counts = Counter(row[4] for row in rows())
    assert all(value is None or value <= counts[of] for of, value in published.numbers)


# ---- Laws that are real.


@pytest.mark.parametrize(
    ("statistic", "columns", "law", "more"),
    [
        ("sum", '["score"]', '"floor(0.004, 10, 90)"', {}),
        ("mean", '["score"]', '{ kind = "normal", mean = 55, deviation = 20 }', {}),
        ("count", '["passed"]', '"bernoulli(0.3)"', {}),
        (
            "sum",
            '["score", "hours"]',
            '{ score = "uniform(0, 100)", hours = "uniform(0, 40)" }',
            {},
        ),
        ("histogram", '["grade"]', '"poisson()"', {"least": 60}),
        ("histogram", '["grade"]', '"fixed(0.1)"', {"least": 1}),
        (
            "histogram",
            '["grade"]',
            '"discarded()"',
            {"least": 200, "discard": "{ epsilon = 0.2, delta = 1e-8 }"},
        ),
    ],
)
def test_laws_are_certified_and_published(tmp_path, statistic, columns, law, more):
    more = {"rows": 4000, "known": 20, "epsilon": "1", "delta": "1e-5", **more}
    make_school(tmp_path, release("one", statistic, columns, law=law, **more))
    with discreet.own(tmp_path) as owner:
        published = owner.publish_exact("one")
        owner.ledger().verify()
    certified = exact(published.claim.asserted["certified"]["delta"])
    assert 0 < certified <= Fraction("1e-5")


def test_a_least_share_fits_the_number_of_bins(tmp_path):
    bins = release("one", "histogram", '["grade"]', least=1, law='"fixed(0.4)"')
    make_school(tmp_path, bins)
    with (
        discreet.own(tmp_path) as owner,
        pytest.raises(DeclarationError, match="at most 1/3, as there are so many bins"),
    ):
        owner.publish_exact("one")


@pytest.mark.parametrize(
    ("law", "because"),
    [
        ('"density(0.01, 0, 90)"', "has no form on a grid here"),
        ('"floor(0.5, 0, 100)"', "No law has so much probability"),
        ('"floor(0.001, 0, 300)"', "The block is outside the clamps"),
        ('"normal(50)"', "is not written as it must be"),
        ('"odd(1)"', "There is no such law of a row"),
        ('{ kind = "normal", mean = 50 }', "is not written as it must be"),
        ('{ score = "uniform(0, 100)" }', "The law has no kind"),
    ],
)
def test_laws_that_cannot_be_true_are_refused_by_place(tmp_path, law, because):
    make_school(tmp_path, release("one", law=law))
    with discreet.own(tmp_path) as owner:
        with pytest.raises(DeclarationError, match=because) as refused:
            owner.publish_exact("one")
        assert "exact.one" in str(refused.value)
        assert not owner.ledger().is_void("students")
