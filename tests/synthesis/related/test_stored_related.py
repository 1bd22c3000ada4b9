"""Two related tables in the ledger and in files: opened again, asked, rehearsed, agreed with."""

import json

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from discreet.core.errors import InvalidArgument
from discreet.synthesis.related.related_file import RelatedFiles, open_synthetic
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.synthesis.related.stored_related import open_related
from discreet.synthesis.synthetic_release import MEASURED, METADATA
from tests.synthesis.related.related_people import CHILDREN, PARENTS, PEOPLE, owned_people, people

JOINED = (
    "SELECT p.sex, COUNT(*) AS n, AVG(v.cost) AS cost FROM visits v"
    " JOIN patients p ON p.patient = v.patient GROUP BY p.sex ORDER BY p.sex"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("stored")


@pytest.fixture(scope="module")
def owner(place):
    with owned_people(people(), place) as found:
        yield found


@pytest.fixture(scope="module")
def release(owner):
    return owner.connect(analyst="ann").synthesise_related("patients", "visits", rho=20)


# ---- In the ledger.


def test_it_is_listed_and_opened_as_it_was(owner, release):
    connection = owner.connect()
    (stored,) = connection.releases(release.receipt.ticket.number)
    assert stored.sql == "synthetic rows of patients with visits (age, sex; cost, kind)"
    assert stored.columns == ("patients.age", "patients.sex", "visits.cost", "visits.kind")
    opened = stored.open()
    assert opened.is_stored
    assert opened.model.to_json() == release.model.to_json()
    assert opened.notes() == release.notes()
    assert opened.card() == release.card()
    assert opened.report().to_json()["joined"] == release.report().to_json()["joined"]
    with pytest.raises(InvalidArgument, match="no related tables"):
        open_related(connection._project, 10**6)


def test_columns_with_more_noise_than_rows_are_named(tmp_path, release):
    """False alarms: the number of patients would be off by seven deviations of its noise."""
    said = "more noise than rows is in the counts of "
    assert not any(said in note for note in release.notes())
    with owned_people(people(), tmp_path, budget={"rho": 1}) as owner:
        little = owner.connect().synthesise_related("patients", "visits", rho="3/10000")
        (note,) = [one for one in little.notes() if said in one]
        named = note.removeprefix(said).partition(":")[0]
        assert {"age", "cost"} <= set(named.split(", "))
        assert "sex" not in named


def test_a_judgement_is_listed_and_opened(owner, release):
    connection = owner.connect()
    judged = connection.judge(connection.releases(release.receipt.ticket.number)[0].open(), rho=2)
    stored = connection.releases()[-1]
    assert stored.sql == "how far synthetic rows are from patients with visits"
    opened = stored.open()
    assert opened.judged.children.to_json() == judged.judged.children.to_json()
    assert opened.report().to_json()["joined"] == judged.report().to_json()["joined"]
    connection.verify()


def test_of_other_declarations_it_is_opened_and_not_judged(place, owner, release):
    ticket = release.receipt.ticket.number
    changed = {"patients": PARENTS, "visits": CHILDREN | {"cost": {"type": "integer"}}}
    with owned_people(people(), place, columns=changed) as other:
        connection = other.connect()
        opened = connection.releases(ticket)[0].open()
        assert isinstance(opened, RelatedRelease)
        assert opened.model.to_json() == release.model.to_json()
        assert "not known here" in opened.card()
        (before,) = connection.budget()
        with pytest.raises(InvalidArgument, match="another way"):
            connection.judge(opened, rho=1)
        assert connection.budget()[0].spent == before.spent


def test_what_was_published_about_parents_counts(tmp_path):
    """A very exact answer about patients, who have one row each, pulls the rows to itself.

    What was published about visits does not count: some of them may have no parent. How far the
    model may be from the answer is derived: the noise of its two numbers, and a row. The rows are
    drawn by coarse values, each of which may round one row in each group.
    """
    declared = {"declaration": {"tables": {"patients": {"most_rows_per_unit": 1}}}}
    with owned_people(people(), tmp_path, budget={"rho": 9_000}, **declared) as owner:
        connection = owner.connect()
        answer = connection.sql("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", rho=5_000)
        connection.sql("SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind", rho=1)
        told = connection.explain_related("patients", "visits", rho=1, rows_per_unit=3)
        ticket = answer.receipt.ticket.number
        assert told.to_json()["published"] == [ticket]
        assert "reveal" in str(told)
        found = connection.synthesise_related("patients", "visits", rho=1, rows_per_unit=3)
        assert set(found.agrees_with) == {ticket}
        assert any("reveal it" in note for note in found.notes())
        (table,) = found.model.parents.published
        away, usual = found.model.parents.farthest(table)
        assert usual < 1.1, "the noise of the answer has a deviation of a hundredth"
        assert away <= usual
        assert not any("trust that ticket" in note for note in found.notes())
        shown = found["patients"].to_pandas().sex.value_counts().to_dict()
        groups = found.model.parents.values[0].size * found.model.parents.values[2].size
        most = away + 1 + groups
        assert shown == pytest.approx({str(sex): n for sex, n in answer.rows}, abs=most)
        assert most < 300, "without the answer they would be as far off as noise for its price"
        alone = connection.synthesise_related(
            "patients", "visits", rho=1, rows_per_unit=3, published=False
        )
        assert alone.is_stored
        assert not alone.agrees_with
        with pytest.raises(InvalidArgument, match="says nothing"):
            connection.synthesise_related("patients", "visits", rho=1, published=[ticket + 2])


def test_parents_with_several_rows_agree_with_nothing(owner):
    """Which of their rows is kept depends on the columns, so a table counts other rows."""
    connection = owner.connect()
    connection.sql("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", rho=1)
    assert not connection.explain_related("patients", "visits", rho=1).published


def test_a_rehearsal_costs_nothing_and_is_of_no_real_rows(owner):
    connection = owner.connect()
    (before,) = connection.budget()
    found = connection.rehearse_related("patients", "visits", rho=1, made_up=200)
    assert connection.budget()[0].spent == before.spent
    assert "rehearsal" in str(found)
    assert "<table>" in found._repr_html_()
    assert "ticket" not in found.to_json()
    assert found.release["visits"].columns == ("patient", "cost", "kind")
    ids, owners = (
        found.release[name].to_arrow()["patient"].to_pylist() for name in found.release.tables
    )
    assert set(owners) <= set(ids)


# ---- In files.


def test_each_file_says_what_it_is_and_has_the_columns_of_its_table(release, tmp_path):
    types = {"patients": ["int64", "int64", "string"], "visits": ["int64", "int64", "string"]}
    for ending, read in ((".parquet", pq.read_table), (".arrow", feather.read_table)):
        folder = release.write(tmp_path / ending[1:], ending=ending)
        for name, kinds in types.items():
            rows = read(folder / f"{name}{ending}")
            assert rows.column_names == list(release[name].columns)
            assert [str(one) for one in rows.schema.types] == kinds
            about = json.loads(rows.schema.metadata[METADATA])
            assert about["synthetic"] is True
            assert about["table"] == name
            assert about["rows"][name] == rows.num_rows
            assert {"method", "cost", "data_version", "ticket", "notes", "converged"} <= set(about)
    folder = release.write(tmp_path / "csv", ending=".csv")
    about = json.loads((folder / "synthetic.json").read_text())
    assert about["synthetic"] is True
    assert {"method", "cost", "data_version", "ticket"} <= set(about)
    frame = release["visits"].to_pandas()
    assert frame.attrs["discreet"]["table"] == "visits"


def test_both_files_are_asked_together_with_errors(release, tmp_path):
    """Of each number half of 20 repeats are on both sides; the truth is 4 half-widths off or less.

    A half-width is about two deviations, and the deviation is estimated from 20 repeats: four of
    them are passed with about 1e-6 for a normal law, and for ``t`` with 19 degrees of freedom.
    """
    opened = open_synthetic(release.write(tmp_path / "out"))
    assert isinstance(opened, RelatedFiles)
    assert opened.model.to_json() == release.model.to_json()
    for found in (opened.sql(JOINED), release.sql(JOINED)):
        assert found.columns == ("sex", "n", "cost")
        assert all((error or 0) > 0 for name in ("n", "cost") for error in found.errors[name])
        assert found.to_json()["synthetic"] is True
        assert str(found).startswith("from synthetic rows")
    whole = opened.sql("SELECT COUNT(*) AS n FROM patients")
    assert abs(whole.rows[0][0] - PEOPLE) < 4 * (whole.errors["n"][0] or 0) + 30


def test_one_of_two_files_is_asked_by_itself(release, tmp_path):
    folder = release.write(tmp_path / "out")
    opened = open_synthetic(folder / "visits.parquet")
    found = opened.sql("SELECT COUNT(*) AS n FROM visits", repeats=5)
    assert found.rows[0][0] == len(release["visits"])
    with pytest.raises(Exception, match="patients"):
        opened.sql("SELECT COUNT(*) AS n FROM patients")


def test_files_that_do_not_belong_together_are_refused(release, tmp_path):
    folder = release.write(tmp_path / "out")
    other = release.sample(50)["visits"]
    for name in ("more.parquet", "visits.parquet"):
        other.write(folder / name)
        with pytest.raises(InvalidArgument, match="do not belong together"):
            open_synthetic(folder)
    csv = release.write(tmp_path / "csv", ending=".csv")
    for none in (csv, csv / "visits.csv", tmp_path / "nowhere.parquet"):
        with pytest.raises(InvalidArgument):
            open_synthetic(none)
    broken = pa.table({"a": [1]})
    for metadata in (
        {},
        {METADATA: b"{}", MEASURED: b"{}"},
        {METADATA: b'{"table": "t", "tables": []}', MEASURED: b"{}"},
        {METADATA: b'{"table": "t"}', MEASURED: b"[]"},
        {METADATA: b"no json", MEASURED: b"{}"},
    ):
        pq.write_table(broken.replace_schema_metadata(metadata), tmp_path / "broken.parquet")
        with pytest.raises(InvalidArgument, match="does not say"):
            open_synthetic(tmp_path / "broken.parquet")


# ---- A search that was stopped is said, and tried again for nothing.


def test_a_search_that_was_stopped_is_tried_again_for_nothing(owner, release):
    connection = owner.connect()
    (before,) = connection.budget()
    stopped = release.with_tours(1)
    assert not stopped.has_converged
    assert stopped.about()["converged"] is False
    assert any("stopped after 1 tours" in note for note in stopped.notes())
    longer = stopped.with_tours(10_000)
    assert longer.has_converged
    assert not any("stopped" in note for note in longer.notes())
    assert connection.budget()[0].spent == before.spent
