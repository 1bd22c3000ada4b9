"""Exact releases of data frames, with a ledger in memory."""

import pandas
import pytest

import discreet
from discreet.core.errors import DeclarationError, InvalidArgument, RefusedQuery
from tests.support.projects.exact import rows

pytestmark = [
    pytest.mark.usefixtures("stated_law"),
    pytest.mark.filterwarnings("ignore:The ledger is in memory"),
]

TOTAL = {
    "table": "exams",
    "statistic": "sum",
    "columns": ["hours"],
    "rows": 60,
    "law": {"kind": "stated", "delta": "1e-7"},
    "epsilon": 0.5,
    "delta": 1e-6,
    "assurance": "The law is from the report of last year, before the exams.",
}


def owned(name: str, **changed: object) -> discreet.Owner:
    frame = pandas.DataFrame({"student": [row[0] for row in rows()], "hours": [3] * 60})
    hours = {"type": "integer", "min": 0, "max": 40}
    return discreet.own(
        {"exams": frame},
        unit="student",
        budget={"epsilon": 3},
        id_space=name,
        columns={"exams": {"student": "integer", "hours": hours}},
        rows_per_group=1,
        groups_per_unit=1,
        declaration={"exact": {"total": TOTAL | changed}},
    )


def test_frames_are_published_exactly_too():
    with owned("exact frames") as owner:
        assert owner.publish_exact("total").value() == 180
        assert owner.ledger().is_void("exact frames")
        answer = owner.connect(epsilon=1).sql("SELECT COUNT(*) FROM exams")
        assert any("is void: total was published exactly" in note for note in answer.notes())
        owner.ledger().verify()


def test_a_wrong_declaration_is_refused_with_its_place():
    with pytest.raises(DeclarationError, match=r"exact.total.rows"):
        owned("other exact frames", rows=0)


def test_an_unknown_name_says_what_is_declared():
    unknown = pytest.raises(InvalidArgument, match="be one of total")
    with owned("more exact frames") as owner, unknown:
        owner.certify_exact("mean")


def test_one_frame_by_two_names_hides_no_subtraction():
    frame = pandas.DataFrame({"student": range(60), "hours": [3] * 60})
    columns = {"student": "integer", "hours": {"type": "integer", "min": 0, "max": 40}}
    rest = TOTAL | {"table": "again", "rows": 59, "given": ["total"], "robust": ["total"]}
    owner = discreet.own(
        {"exams": frame, "again": frame},
        unit="student",
        budget={"epsilon": 3},
        id_space="frames by two names",
        columns={"exams": columns, "again": columns},
        rows_per_group=1,
        groups_per_unit=1,
        declaration={"exact": {"total": TOTAL, "rest": rest}},
    )
    with owner:
        owner.publish_exact("total")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of"):
            owner.publish_exact("rest")
