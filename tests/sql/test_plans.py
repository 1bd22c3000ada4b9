"""Plans as text: each query in ``plans`` becomes exactly the bounded plan that stands below it."""

from pathlib import Path

import pytest

from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.text import show
from tests.support.projects.clinic import make_plan

FOLDER = Path(__file__).parent / "plans"
FILES = sorted(FOLDER.glob("*.sql"))
MARK = "\n-- plan\n"


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_query_becomes_its_plan(file):
    sql, mark, expected = file.read_text(encoding="utf-8").partition(MARK)
    assert mark
    plan = make_plan(read_catalog(FOLDER), sql)
    shown = "".join(f"-- {line}\n" for line in show(plan).splitlines())
    assert shown == expected


def test_every_operator_is_in_some_plan():
    text = "".join(file.read_text(encoding="utf-8") for file in FILES)
    words = ["scan ", "scan public ", "filter ", "project", "join on", "left join", "by owner on"]
    words += ["semi join", "anti join", "distinct by owner", "union all", "totals by", "window "]
    for word in words:
        assert any(line[2:].strip().startswith(word) or word in line for line in text.splitlines())
