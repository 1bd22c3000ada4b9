"""Rows of exact releases in a second id space, which would go on promising the worst case."""

import pytest

import discreet
from discreet.cli.main import main
from discreet.core.errors import DeclarationError
from discreet.tables.declarations.declaration import read_catalog
from tests.noiseless.test_exact_again import PEOPLE, declare_a_second_table, edit
from tests.support.projects.exact import make_school, release

pytestmark = pytest.mark.usefixtures("stated_law")

REFUSED = "Exact numbers of rows of '{}' were published in 'students', but it is declared"


def put_elsewhere(folder) -> None:
    """Declare the rows in a second id space, beside the first."""
    declare_a_second_table(folder, "people")
    edit(folder, "[id_spaces.students]", PEOPLE + "[id_spaces.students]")


def read_from(folder, name: str) -> None:
    table = '[tables.again]\nsource = "exams.csv"'
    edit(folder, table, f'[tables.again]\nsource = "{name}"')


@pytest.fixture
def published(tmp_path):
    """A school that published a total while nobody else had its rows."""
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
    return tmp_path


@pytest.mark.parametrize("name", ["exams.csv", "link.csv", "exam*.csv", "folder/../exams.csv"])
def test_no_second_id_space_is_opened_over_rows_of_an_exact_release(published, name):
    """Its budget, answers and explanations would not say that the worst-case claim has ended."""
    (published / "folder").mkdir()
    (published / "link.csv").symlink_to(published / "exams.csv")
    put_elsewhere(published)
    read_from(published, name)
    for open_ in (discreet.own, discreet.connect):
        with pytest.raises(DeclarationError, match=REFUSED.format("again")):
            open_(published)


@pytest.mark.parametrize("command", [["budget"], ["check"], ["meaning", "--epsilon", "1"]])
def test_commands_refuse_it_or_say_so(published, command, capsys, monkeypatch):
    put_elsewhere(published)
    monkeypatch.chdir(published)
    code = main(command)
    said = " ".join("".join(capsys.readouterr()).split())
    assert REFUSED.format("again") in said
    assert (code == 0) == (command[0] == "meaning")


def test_who_opened_the_project_before_is_refused_too(tmp_path):
    make_school(tmp_path, release("total"))
    alone = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    put_elsewhere(tmp_path)
    sql = "SELECT COUNT(*) FROM again"
    with discreet.connect(tmp_path, epsilon=1) as connection:
        connection.sql(sql)
        (tmp_path / "discreet.toml").write_text(alone, encoding="utf-8")
        with discreet.own(tmp_path) as owner:
            owner.publish_exact("total")
        for ask in (connection.sql, connection.explain):
            with pytest.raises(DeclarationError, match=REFUSED.format("again")):
                ask(sql)


def test_a_first_table_that_is_not_declared_any_more_hides_nothing(published):
    """Its rows are found by where the ledger says that they were, though the folder has moved."""
    put_elsewhere(published)
    edit(published, "[tables.exams", "[tables.visits")
    edit(published, '[tables.visits]\nsource = "exams.csv"', '[tables.visits]\nsource = "v.csv"')
    edit(published, 'table = "exams"', 'table = "visits"')
    (published / "v.csv").write_bytes((published / "exams.csv").read_bytes())
    moved = published.rename(published.with_name("moved"))
    with pytest.raises(DeclarationError, match=REFUSED.format("again")):
        discreet.own(moved)
    edit(moved, '[tables.again]\nsource = "exams.csv"', '[tables.again]\nsource = "others.csv"')
    (moved / "others.csv").write_bytes((moved / "exams.csv").read_bytes())
    with discreet.own(moved) as owner:
        assert len(owner.connect(epsilon=1).budget()) == 2


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_table_that_went_to_another_id_space_takes_no_claim_with_it(published, is_kept):
    edit(published, 'id_space = "students"', 'id_space = "people"')
    kept = PEOPLE + "[id_spaces.students]"
    edit(published, "[id_spaces.students]", kept if is_kept else "[id_spaces.people]")
    with pytest.raises(DeclarationError, match=REFUSED.format("exams")):
        discreet.own(published)


def test_other_rows_of_an_id_space_may_be_anywhere(published):
    """Of them nothing exact was published."""
    put_elsewhere(published)
    read_from(published, "others.csv")
    (published / "others.csv").write_bytes((published / "exams.csv").read_bytes())
    with discreet.own(published) as owner:
        answer = owner.connect(epsilon=1).sql("SELECT COUNT(*) FROM again")
        assert not any("void" in note for note in answer.notes())


def test_it_is_known_where_rows_are_without_their_path(published):
    with discreet.own(published) as owner:
        (noted,) = owner.exact_claims()
    path = read_catalog(published).tables[0].source.path
    assert noted.claim.asserted["place"].isalnum()
    assert str(path.parent) not in str(noted.claim.to_json())
