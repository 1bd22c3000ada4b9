"""Public tables have files of their own, whatever their names say."""

import os

import pytest

from discreet.core.errors import AnswerFailed, DeclarationError, RefusedQuery
from discreet.core.loss import Pure
from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project

PUBLIC = """
[public_tables.known]
source = "{source}"

[public_tables.known.columns]
clinic = {{ type = "text" }}
"""


def with_public(folder, source):
    write_project(folder, [visit("p"), visit("q", "b")], file_format="csv")
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(PUBLIC.format(source=source))
    return folder


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("source", ["known.csv", "kno*.csv"])
def test_a_link_to_a_private_file_is_no_public_table(tmp_path, link, source):
    folder = with_public(tmp_path, source)
    link(folder / "visits.csv", folder / "known.csv")
    with pytest.raises(DeclarationError, match="reads the file of a private one"):
        connect(folder)


def test_a_folder_by_another_name_is_seen_through(tmp_path):
    folder = with_public(tmp_path, "other/visits.csv")
    os.symlink(folder, folder / "other")
    with pytest.raises(DeclarationError, match="reads the file of a private one"):
        connect(folder)


BY_KNOWN = "SELECT k.clinic, COUNT(*) FROM visits v JOIN known k USING (clinic) GROUP BY k.clinic"


def test_a_missing_public_file_is_a_clear_error(tmp_path):
    with (
        connect(with_public(tmp_path, "known.csv")) as connection,
        pytest.raises(DeclarationError, match="known"),
    ):
        connection.explain(BY_KNOWN, epsilon=1)


def test_public_tables_that_make_too_many_rows_are_refused(tmp_path, monkeypatch):
    folder = with_public(tmp_path, "known.csv")
    (folder / "known.csv").write_text("clinic\n" + "\n".join("abcdefgh"), encoding="utf-8")
    monkeypatch.setattr(engine_module, "LARGEST_KEYSET", 5)
    with connect(folder) as connection, pytest.raises(RefusedQuery, match="too many rows"):
        connection.explain(BY_KNOWN, epsilon=1)


# ---- Files that are swapped after connecting.


@pytest.fixture
def swapped(tmp_path):
    """Return a connection to a project whose public file is then replaced by the private one."""
    folder = with_public(tmp_path, "known.csv")
    (folder / "known.csv").write_text("clinic\na\nb\n", encoding="utf-8")
    with connect(folder, epsilon=1) as connection:
        yield folder, connection


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("verb", ["sql", "explain", "rehearse"])
def test_a_public_file_that_becomes_a_private_one_is_refused(swapped, link, verb):
    folder, connection = swapped
    (folder / "known.csv").unlink()
    link(folder / "visits.csv", folder / "known.csv")
    with pytest.raises(DeclarationError, match="reads the file of a private one"):
        getattr(connection, verb)(BY_KNOWN)
    assert connection.budget()[0].spent == Pure(0)


def test_a_file_that_is_swapped_while_it_is_read_is_refused(swapped, monkeypatch):
    folder, connection = swapped
    own = DuckDbEngine._public_rows

    def swap(*arguments):
        (folder / "known.csv").unlink()
        os.symlink(folder / "visits.csv", folder / "known.csv")
        return own(*arguments)

    monkeypatch.setattr(DuckDbEngine, "_public_rows", swap)
    with pytest.raises(DeclarationError, match="reads the file of a private one"):
        connection.sql(BY_KNOWN)
    assert connection.budget()[0].spent == Pure(0)


def test_a_file_that_is_replaced_while_it_is_read_is_refused(swapped, monkeypatch):
    folder, connection = swapped
    own = DuckDbEngine._public_rows

    def replace(*arguments):
        (folder / "other.csv").write_text("clinic\nz\n", encoding="utf-8")
        (folder / "other.csv").replace(folder / "known.csv")
        return own(*arguments)

    monkeypatch.setattr(DuckDbEngine, "_public_rows", replace)
    with pytest.raises(DeclarationError, match="replaced while they were read"):
        connection.sql(BY_KNOWN)


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_file_that_is_swapped_behind_the_gate_gives_no_answer(swapped, monkeypatch, link):
    folder, connection = swapped
    own = engine_module._register_keys

    def swap(cursor, plan, **options):
        if not options:  # behind the gate; before it there are no rows
            (folder / "known.csv").unlink()
            link(folder / "visits.csv", folder / "known.csv")
        own(cursor, plan, **options)

    monkeypatch.setattr(engine_module, "_register_keys", swap)
    with pytest.raises(AnswerFailed):
        connection.sql(BY_KNOWN)
    assert connection.budget()[0].spent == Pure(1)


def test_another_public_file_may_take_its_place_between_questions(swapped):
    folder, connection = swapped
    (folder / "other.csv").write_text("clinic\nb\n", encoding="utf-8")
    (folder / "other.csv").replace(folder / "known.csv")
    assert len(connection.sql(BY_KNOWN).rows) == 1
