"""SQL by grammar and by bytes: an answer, or an error of ours. Never a traceback of anybody else's.

What is not refused is also run, on a few rows: nothing that the resolver lets through may fail in
the engine, because an answer that fails is paid for.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from discreet.core.errors import AnswerFailed, DiscreetError
from discreet.core.loss import Approximate
from discreet.curator.answer import explain, prepare
from discreet.project.open_ledger import open_ledger
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.dice import Dice
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours_replay import random_neighbour
from tests.support.projects.people import random_world
from tests.support.projects.random_catalogs import random_catalog
from tests.support.projects.world import World
from tests.support.random_sql.text import random_text
from tests.support.statistics.numbered_rng import NumberedRng

BATCHES = 2
TEXTS = 375
"""Of each batch: 750 in all. So many that each has enough that can be answered, for certain."""

SOAK_TEXTS = 50_000
WORLDS = 8
EXPLAINED = 20
"""One in so many plans is also put into words, which takes longer than all the rest."""

TERMS = Terms.of(Approximate(100, "1e-6"))
LONGEST_MESSAGE = 1500
"""Besides what it may quote of the text itself."""
FOREIGN = ("traceback", "duckdb", "sqlglot", "binder error", "parser error", "0x7f", "object at")
"""What an error message of somebody else would have in it."""


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    engine = MemoryEngine()
    yield engine
    engine.close()


def make_worlds() -> list[World]:
    """Return a few small projects."""
    found = []
    for number in range(WORLDS):
        dice = Dice(number, label="fuzz")
        found.append(random_world(dice, random_catalog(dice)))
    return found


@pytest.fixture(scope="module")
def curators(engine: MemoryEngine, tmp_path_factory: pytest.TempPathFactory) -> list[Project]:
    return [
        make_curator(engine, world, tmp_path_factory.mktemp("ledger")) for world in make_worlds()
    ]


def make_curator(engine: MemoryEngine, world: World, folder: Path) -> Project:
    """Return who explains questions about a world."""
    catalog = evolve(world.catalog, ledger=folder / "ledger")
    rng = NumberedRng(0, label="fuzz")
    return Project(catalog=catalog, engine=engine, ledger=open_ledger(catalog), rng=rng)


def check_error(error: DiscreetError, sql: str) -> None:
    """Assert that an error is one that we would show."""
    message = str(error)
    assert error.code not in ("error", AnswerFailed.code), sql
    assert 0 < len(message) <= LONGEST_MESSAGE + len(sql), (sql, message)
    said = message.lower()
    assert not [word for word in FOREIGN if word in said and word not in sql.lower()], message


def prepared(curator: Project, sql: str) -> BoundedPlan | None:
    """Return the plan of a text that can be answered; any other must be refused properly."""
    try:
        _, priced, _ = prepare(curator, sql, TERMS)
    except DiscreetError as error:
        check_error(error, sql)
        return None
    except Exception as error:
        raise AssertionError(f"{error!r} for {sql!r}") from error
    return priced.plan


@pytest.mark.parametrize("batch", range(BATCHES))
def test_any_text_is_explained_or_refused(engine, curators, soak, pytestconfig, batch):
    texts = SOAK_TEXTS if soak.active else TEXTS
    first = (pytestconfig.getoption("--run-number") * BATCHES + batch) * texts
    worlds = make_worlds()
    answerable = 0
    for number in range(first, first + texts):
        dice = Dice(number, label="text")
        world, curator = dice.pick(list(zip(worlds, curators, strict=True)))
        engine.tables = world.arrow()
        sql = random_text(dice, world.catalog)
        plan = prepared(curator, sql)
        if plan is None:
            continue
        answerable += 1
        if answerable % EXPLAINED == 0:
            assert str(explain(curator, sql, terms=TERMS, analyst="a"))
        run(engine, world, plan, sql, dice)
    # Of 6,000 texts 17.5 % could be answered; of 375 at most a twentieth with a chance of 1e-13.
    assert answerable > texts / 20


def run(engine: MemoryEngine, world: World, plan: BoundedPlan, sql: str, dice: Dice) -> None:
    """Run what was not refused, on strange rows."""
    engine.tables = random_neighbour(dice, world).tables
    try:
        reveal(engine, plan)
    except Exception as error:
        raise AssertionError(f"{error!r} for {sql!r}") from error


DEEP = 3000
COUNT = "SELECT COUNT(*) FROM visits"
BY_HAND = [
    "",
    " ",
    ";",
    ";;",
    "\u0000",
    "\ud800",
    "SELECT",
    "SELECT 1",
    "SELECT *",
    f"{COUNT};",
    f"{COUNT}; {COUNT}",
    f"{COUNT}; DROP TABLE visits",
    f"EXPLAIN {COUNT}",
    f"CREATE TABLE x AS {COUNT}",
    f"COPY ({COUNT}) TO '/tmp/x'",
    "ATTACH '/etc/passwd'",
    "PRAGMA database_list",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM '/etc/passwd'",
    "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM main.visits",
    "SELECT COUNT(*) FROM visits TABLESAMPLE 10%",
    "SELECT COUNT(*) FROM visits, visits",
    "SELECT COUNT(*) FROM visits AS a, patients AS a",
    "SELECT COUNT(*) AS n, COUNT(*) AS n FROM visits",
    "WITH t AS (SELECT * FROM t) SELECT COUNT(*) FROM t",
    "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t) SELECT COUNT(*) FROM t",
    "SELECT SUM(SUM(age)) FROM patients",
    "SELECT COUNT(*) FROM patients WHERE COUNT(*) > 1",
    "SELECT COUNT(*) FROM patients WHERE ROW_NUMBER() OVER () = 1",
    "SELECT (SELECT COUNT(*) FROM visits) FROM patients",
    "SELECT COUNT(*) FROM patients WHERE age = (SELECT MAX(age) FROM patients)",
    "SELECT COUNT(*) FROM patients WHERE age > ALL (SELECT stay FROM visits)",
    "SELECT COUNT(*) FROM patients ORDER BY age",
    "SELECT COUNT(*) FROM patients LIMIT 99999999999999999999",
    "SELECT COUNT(*) FROM patients LIMIT -1",
    "SELECT COUNT(*) FROM patients GROUP BY 1",
    "SELECT age FROM patients",
    "SELECT clamp(1, 2, 3) FROM patients",
    "SELECT SUM(clamp(age, 5, 1)) FROM patients",
    "SELECT SUM(clamp(age, 0, 1e400)) FROM patients",
    "SELECT SUM(clamp(age, 0, 1, 0)) FROM patients",
    "SELECT SUM(clamp(age, 0, 1, -1)) FROM patients",
    "SELECT SUM(clamp(age, 0, 99999999999999999999999999)) FROM patients",
    "SELECT QUANTILE(age, 1.5) FROM patients",
    "SELECT QUANTILE(age, age) FROM patients",
    "SELECT QUANTILE(age) FROM patients",
    "SELECT width_bucket(age, 0, 10, 0), COUNT(*) FROM patients GROUP BY 1",
    (
        "SELECT width_bucket(age, 0, 10, 10000000), COUNT(*) FROM patients "
        "GROUP BY width_bucket(age, 0, 10, 10000000)"
    ),
    "SELECT COUNT(*) FROM patients WHERE age = 99999999999999999999999999999999",
    "SELECT COUNT(*) FROM patients WHERE age = 1e999",
    "SELECT COUNT(*) FROM patients WHERE day = DATE '2025-02-30'",
    "SELECT COUNT(*) FROM patients WHERE day = DATE '-5000-01-01'",
    "SELECT COUNT(*) FROM patients WHERE district LIKE 'a' ESCAPE 'bc'",
    "SELECT COUNT(*) FROM patients WHERE regexp_matches(district, '(a+)+b')",
    "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM patients",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS() COUNT(*) FROM patients",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=-1) COUNT(*) FROM patients",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e999) COUNT(*) FROM patients",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=0) COUNT(*) FROM patients",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * DEEP + "visits" + ")" * DEEP,
    "SELECT COUNT(*) FROM visits WHERE " + "(" * DEEP + "TRUE" + ")" * DEEP,
    "SELECT COUNT(*) FROM visits WHERE " + "NOT " * DEEP + "TRUE",
    "SELECT COUNT(*) FROM visits WHERE " + " AND ".join(["urgent"] * DEEP),
    "SELECT SUM(" + " + ".join(["stay"] * DEEP) + ") FROM visits",
    "SELECT SUM(" + "-(" * DEEP + "stay" + ")" * DEEP + ") FROM visits",
    "SELECT COUNT(*) FROM (" + " UNION ALL ".join(["SELECT person FROM patients"] * 300) + ") AS t",
    "SELECT COUNT(*) FROM visits WHERE clinic IN (" + ", ".join(["'a'"] * DEEP) + ")",
    "SELECT " + ", ".join(f"COUNT(*) AS c{i}" for i in range(500)) + " FROM visits",
    f"SELECT COUNT(*) AS {'x' * 10_000} FROM visits",
    f"SELECT COUNT(*) FROM {'x' * 10_000}",
    f"SELECT COUNT({'x' * 10_000}) FROM visits",
    f"SELECT COUNT(*) FROM visits WHERE clinic = '{'x' * 10_000}'",
    "SELECT COUNT(*) FROM visits WHERE clinic = 'unfinished",
    'SELECT COUNT(*) FROM "visits',
    "SELECT COUNT(*) /* unfinished FROM visits",
    "SELECT COUNT(*) FROM visits -- and so on",
]


@pytest.mark.parametrize("number", range(len(BY_HAND)))
def test_what_somebody_might_try(engine, curators, number):
    sql = BY_HAND[number]
    world = make_worlds()[0]
    engine.tables = world.arrow()
    plan = prepared(curators[0], sql)
    if plan is not None:
        assert str(explain(curators[0], sql, terms=TERMS, analyst="a"))
        run(engine, world, plan, sql, Dice(number, label="by hand"))
