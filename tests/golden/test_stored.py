"""What earlier versions stored is read, found and never paid for again."""

import importlib
import json
import math
import pkgutil
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import attrs
import pytest

import discreet
from discreet.accounting.curves.curve import CurvePiece, RenyiCurve
from discreet.accounting.losses.loss_json import LOSSES, PIECES, loss_from_json
from discreet.core.canonical import described, digest
from discreet.core.event import Event
from discreet.core.event_json import EVENTS, event_from_json
from discreet.core.loss import PrivacyLoss
from discreet.releases.body import Body
from discreet.roles.connection import connect
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.sums import SumValues
from discreet.tables.relations.relation import Relation
from tests.golden.make import ASKED, LEDGER, SHOWN, TOLD, ask, shown, told, told_as
from tests.golden.make import FOLDER as KEPT
from tests.sql.test_plans import FILES, FOLDER, MARK
from tests.support.projects.clinic import make_plan

HERE = Path(__file__).parent
PROJECTS = sorted(path.parent for path in HERE.glob(f"*/{SHOWN}"))
HOLDOUTS = sorted(path.parent for path in HERE.glob(f"*/{TOLD}"))
NOUNS = json.loads((HERE / "nouns.json").read_text(encoding="utf-8"))
PLANS = json.loads((HERE / "plans.json").read_text(encoding="utf-8"))


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a copy of a project with its ledger, as an owner would have it."""
    folder = tmp_path / "project"
    shutil.copytree(request.param, folder)
    (folder / KEPT).mkdir(mode=0o700)
    (folder / LEDGER).rename(folder / KEPT / LEDGER)
    for path in (folder / KEPT / LEDGER, folder / "discreet.anchor"):
        path.chmod(0o600)
    return folder


def intervals(answers: list[dict[str, Any]]) -> list[Any]:
    """Take the intervals out of answers, and return them one by one."""
    taken = [answer["errors"].pop("intervals") for answer in answers]
    return [(i, name, pairs) for i, part in enumerate(taken) for name, pairs in part.items()]


def are_kept(found: Any, expected: Any) -> bool:
    """Tell whether intervals of a kept answer are as they were.

    Of a share whose divisor may be 0 nothing was known once. Now it is known to be one.
    """
    (*which, now), (*where, before) = found, expected
    ends = zip(now, before, strict=True)
    return which == where and all(
        new == old or (old is None and new == [0, 1]) for new, old in ends
    )


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name, indirect=True)
def test_what_was_answered_is_found_and_nothing_is_paid(project: Path):
    questions, answers = read(project / ASKED), read(project / SHOWN)
    with connect(project) as connection:
        before = connection.budget()
        for question, expected in zip(questions, answers, strict=True):
            releases = ask(connection, question)
            assert all(release.is_stored for release in releases), question
            found = json.loads(json.dumps([shown(release) for release in releases]))
            pairs = zip(intervals(found), intervals(expected), strict=True)
            assert all(are_kept(now, before) for now, before in pairs), question
            assert found == expected, question
        assert connection.budget() == before
        connection.verify()


@pytest.mark.parametrize("project", HOLDOUTS, ids=lambda path: path.name, indirect=True)
def test_what_a_holdout_told_is_found_and_its_intervals_are_no_wider(project: Path):
    questions, answers = read(project / ASKED), read(project / TOLD)
    with connect(project) as connection:
        before = connection.budget()
        for question, expected in zip(questions, answers, strict=True):
            releases = told(connection, question)
            assert all(release.is_stored for release in releases), question
            for release, kept in zip(releases, expected, strict=True):
                found = told_as(release)
                # Ends were kept as the nearest floats; now they are rounded outwards.
                assert math.nextafter(kept.pop("low"), -math.inf) <= found.pop("low")
                assert found.pop("high") <= math.nextafter(kept.pop("high"), math.inf)
                assert found == kept
        opened = [told_as(cast(Any, one.open()))["value"] for one in connection.releases()]
        assert opened == [kept["value"] for expected in answers for kept in expected]
        assert connection.budget() == before
        connection.verify()


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda path: path.name)
def test_a_stored_body_is_written_again_as_it_was(folder: Path):
    with closing(sqlite3.connect(f"file:{folder / LEDGER}?mode=ro&immutable=1", uri=True)) as found:
        texts = [text for (text,) in found.execute("SELECT body FROM releases")]
    stored = [json.loads(text) for text in texts]
    bodies = [body for release in stored for body in release.get("batch", [release])]
    assert bodies
    assert [Body.from_json(body).to_json() for body in bodies] == bodies


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_plan_keeps_its_name(file: Path):
    sql = file.read_text(encoding="utf-8").partition(MARK)[0]
    plan = make_plan(read_catalog(FOLDER), sql)
    assert digest(plan.to_json()) == PLANS[file.stem]


def test_what_a_class_is_called_is_no_part_of_a_plan():
    file = next(file for file in FILES if "SUM(" in file.read_text(encoding="utf-8"))
    SumValues.__name__ = "AnotherName"
    try:
        test_a_plan_keeps_its_name(file)
    finally:
        SumValues.__name__ = "SumValues"


def test_a_noun_without_a_name_of_its_own_has_no_digest():
    @attrs.frozen
    class Heir(SumValues):
        """It would be taken for its parent."""

    @attrs.frozen
    class New:
        """Nobody has said what it is stored as."""

    for cls in (Heir, New):
        with pytest.raises(TypeError, match="stored as"):
            described(cls.__new__(cls))


def test_no_two_relations_are_stored_under_one_name():
    names = [vars(cls).get("stored_as") for cls in every(Relation)]
    kept = [name for name in names if name is not None]
    assert len(kept) == len(set(kept)) >= 10


@pytest.mark.parametrize("data", NOUNS["events"], ids=lambda data: data["kind"])
def test_an_event_is_read_as_it_was_written(data: dict[str, Any]):
    assert event_from_json(data).to_json() == data


@pytest.mark.parametrize("data", NOUNS["losses"], ids=lambda data: data["measure"])
def test_a_loss_is_read_as_it_was_written(data: dict[str, str]):
    assert loss_from_json(data).to_json() == data


def test_a_curve_from_before_pieces_had_counts_is_read():
    pieces = '[{"kind": "gaussian", "mu_squared": "1/4", "count": "3"}]'
    found = loss_from_json({"measure": "renyi", "pieces": pieces})
    assert isinstance(found, RenyiCurve)
    assert [times for _, times in found.pieces] == [3]


def test_every_kind_is_in_its_table_and_was_written_once():
    """A new kind is added to the table, and one of it to ``nouns.json``."""
    assert set(EVENTS) == set(every(Event))
    assert set(LOSSES) == set(every(PrivacyLoss))
    assert set(PIECES) == set(every(CurvePiece))
    assert {cls.kind for cls in EVENTS} == {data["kind"] for data in NOUNS["events"]}
    assert {cls.measure.value for cls in LOSSES} == {data["measure"] for data in NOUNS["losses"]}
    texts = [data["pieces"] for data in NOUNS["losses"] if "pieces" in data]
    written = {piece["kind"] for text in texts for piece in json.loads(text)}
    assert {cls.kind for cls in PIECES} == written


def every(cls: type[Any]) -> Iterator[type[Any]]:
    """Yield all classes of the package that derive from one, imported or not."""
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    todo: list[type[Any]] = [cls]
    while todo:
        for sub in todo.pop().__subclasses__():
            todo.append(sub)
            # A class with slots is made twice; the first of both is not in its module.
            if vars(sys.modules[sub.__module__]).get(sub.__name__) is sub:
                yield sub
