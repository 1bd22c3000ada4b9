"""What an aggregate is has one answer, wherever it stands in a query and however it is called."""

import pytest

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.releases.estimates.functions import calculate
from discreet.sql.aggregates import functions
from discreet.sql.aggregates.functions import AGGREGATES, SUPPORTED, AggregateFunction
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import visit, write_project

NAMES = [name for function in AGGREGATES for name in function.names]
OTHER_CALLS = {
    "COUNT_IF": "COUNT_IF(age > 30)",
    "CORR": "CORR(age, cost)",
    "COVAR_POP": "COVAR_POP(age, cost)",
    "COVAR_SAMP": "COVAR_SAMP(age, cost)",
    "REGR_SLOPE": "REGR_SLOPE(age, cost)",
    "QUANTILE": "QUANTILE(age, 0.9)",
    "APPROX_QUANTILE": "APPROX_QUANTILE(age, 0.9)",
    "PERCENTILE_CONT": "PERCENTILE_CONT(age, 0.9)",
    "PERCENTILE_DISC": "PERCENTILE_DISC(age, 0.9)",
    "QUANTILE_CONT": "QUANTILE_CONT(age, 0.9)",
    "QUANTILE_DISC": "QUANTILE_DISC(age, 0.9)",
}
CALLS = [OTHER_CALLS.get(name, f"{name}(age)") for name in NAMES]
CALLS.append("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)")
OF_NUMBERS = [name for function in AGGREGATES if function.takes_number for name in function.names]
TWICE_NAMED = [(name, function.names[0]) for function in AGGREGATES for name in function.names[1:]]
WITHIN_ONE_PERSON = {"COUNT", "SUM", "AVG", "MEAN", "MIN", "MAX"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    folder = write_project(tmp_path_factory.mktemp("aggregates"), [visit("p")])
    catalog, engine = read_catalog(folder), DuckDbEngine()
    return lambda sql: resolve(parse(sql), catalog, engine.public_rows)


@pytest.mark.parametrize("call", CALLS)
def test_group_by_all_leaves_every_aggregate_out_of_the_keys(ask, call):
    grouped = ask(f"SELECT clinic, {call} AS x FROM visits GROUP BY clinic")
    assert ask(f"SELECT clinic, {call} AS x FROM visits GROUP BY ALL") == grouped


@pytest.mark.parametrize("call", CALLS)
def test_no_aggregate_is_a_key_by_its_place(ask, call):
    with pytest.raises(RefusedQuery, match="GROUP BY names no key"):
        ask(f"SELECT clinic, {call} FROM visits GROUP BY 1, 2")


@pytest.mark.parametrize("call", CALLS)
def test_an_aggregate_is_refused_as_one_where_a_row_is_asked_about(ask, call):
    refusal = (
        "This expression is not supported" if "WITHIN" in call else "An aggregate cannot stand"
    )
    with pytest.raises(RefusedQuery, match=refusal):
        ask(f"SELECT COUNT(*) FROM visits WHERE {call} > 3")
    with pytest.raises(RefusedQuery, match="FILTER is about rows"):
        ask(f"SELECT COUNT(*) FILTER (WHERE {call} > 3) FROM visits")


@pytest.mark.parametrize("call", CALLS)
def test_no_aggregate_stands_in_another(ask, call):
    with pytest.raises(RefusedQuery, match="MEDIAN stands around another aggregate"):
        ask(f"SELECT MEDIAN({call}) FROM visits")


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_named_bounds_clamp_every_aggregate_of_numbers(ask, name):
    share = ", 0.9" if name in OTHER_CALLS else ""
    named = f"SELECT {name}(age{share}, contribution_bounds_per_row => (0, 9)) AS x FROM visits"
    assert ask(named) == ask(f"SELECT {name}(CLAMP(age, 0, 9){share}) AS x FROM visits")


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(OTHER_CALLS)))
def test_an_aggregate_of_a_column_is_called_after_both(ask, name):
    (output,) = ask(f"SELECT {name}(age) FROM visits").view.outputs
    assert output.name.endswith("_age")


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(OTHER_CALLS)))
@pytest.mark.parametrize("keys", ["person", "ALL"])
def test_a_sub_query_has_totals_of_one_person_or_says_that_it_has_not(ask, name, keys):
    sql = f"SELECT COUNT(*) FROM (SELECT person, {name}(age) AS x FROM visits GROUP BY {keys})"
    if name in WITHIN_ONE_PERSON:
        assert ask(sql)
    else:
        with pytest.raises(RefusedQuery, match="is not supported here"):
            ask(sql)


PLACES = [
    "SELECT {}(age) AS x FROM visits",
    "SELECT {}(age) FILTER (WHERE urgent) AS x FROM visits",
    "SELECT COUNT(*) AS n FROM visits HAVING {}(age) > 3",
    "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY {}(age)",
]
PLACES_OF_AVERAGES = [
    *PLACES,
    "SELECT clinic, {}(COUNT(*)) OVER () AS x FROM visits GROUP BY clinic",
    "SELECT COUNT(*) FROM (SELECT person, {}(age) AS x FROM visits GROUP BY person) WHERE x > 3",
    "SELECT SUM(1) FROM (SELECT person, {}(age) FILTER (WHERE urgent) x FROM visits GROUP BY ALL)",
    "SELECT COUNT(*) FROM (SELECT person FROM visits GROUP BY person HAVING {}(age) > 3)",
    "SELECT COUNT(*) FROM (SELECT {}(age) OVER (PARTITION BY person) AS x FROM visits)",
    "SELECT COUNT(*) FROM (SELECT 1 FROM visits QUALIFY {}(age) OVER (PARTITION BY person) > 3)",
]


@pytest.mark.parametrize(("alias", "name"), TWICE_NAMED)
@pytest.mark.parametrize("place", PLACES)
def test_a_second_name_means_the_same(ask, alias, name, place):
    share = "(age, 0.9)" if name in OTHER_CALLS else "(age)"
    sql = place.replace("(age)", share)
    assert ask(sql.format(alias)) == ask(sql.format(name))


@pytest.mark.parametrize("place", PLACES_OF_AVERAGES)
def test_mean_is_avg_everywhere(ask, place):
    assert ask(place.format("MEAN")) == ask(place.format("AVG"))


@pytest.mark.parametrize("place", PLACES_OF_AVERAGES)
def test_mean_takes_one_value_everywhere(ask, place):
    inner = place.replace("(age)", "(age, 2)").replace("(COUNT(*))", "(COUNT(*), 2)")
    with pytest.raises(RefusedQuery, match="MEAN takes one value"):
        ask(inner.format("MEAN"))


def test_messages_list_the_aggregates_of_the_table(ask):
    assert SUPPORTED == (
        "COUNT, SUM, AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, CORR, COVAR_POP, COVAR_SAMP,"
        " REGR_SLOPE, MEDIAN, QUANTILE, MIN and MAX"
    )
    with pytest.raises(RefusedQuery, match=f"{SUPPORTED}, or MODE by itself"):
        ask("SELECT ANY_VALUE(age) FROM visits")


def test_one_row_of_the_table_makes_an_aggregate_that_the_parser_does_not_know(ask, monkeypatch):
    mean = next(function for function in AGGREGATES if "MEAN" in function.names)
    row = AggregateFunction(("GEOMEAN",), (), lambda call: calculate("exp", mean.build(call)))
    monkeypatch.setitem(functions._BY_NAME, "GEOMEAN", row)
    by_name = ask("SELECT clinic, GEOMEAN(LN(age + 1)) AS x FROM visits GROUP BY clinic")
    assert ask("SELECT clinic, GEOMEAN(LN(age + 1)) AS x FROM visits GROUP BY ALL") == by_name
    assert (
        by_name.aggregates
        == ask("SELECT clinic, AVG(LN(age + 1)) AS x FROM visits GROUP BY clinic").aggregates
    )
    bounds = "contribution_bounds_per_row => (0, 9)"
    (output,) = ask(f"SELECT GEOMEAN(cost, {bounds}) AS x FROM visits").view.outputs
    (named,) = ask("SELECT GEOMEAN(cost) FROM visits").view.outputs
    assert (output.name, named.name) == ("x", "geomean_cost")
    with pytest.raises(RefusedQuery, match="An aggregate cannot stand here"):
        ask("SELECT COUNT(*) FROM visits WHERE GEOMEAN(cost) > 3")
    with pytest.raises(RefusedQuery, match="is not supported here"):
        ask("SELECT COUNT(*) FROM (SELECT GEOMEAN(cost) FROM visits GROUP BY person)")
