"""Public tables have files of their own, whatever their names say."""

import os

import pytest

from discreet.core.errors import DeclarationError, RefusedQuery
from discreet.curator.connection import connect
from discreet.tables.engines import duckdb as engine_module
from tests.support.clinic import visit, write_project

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
