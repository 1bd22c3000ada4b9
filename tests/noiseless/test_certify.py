"""The release advisor by name: every kind of statistic, every law, and every bad input."""

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from attrs import evolve

from discreet import certify
from discreet.core.errors import DiscreetError, InvalidArgument, RefusedQuery
from discreet.noiseless.advice import Advised, advise
from discreet.noiseless.advisor.asserted_laws import LAWS, PublicEnds, row_law
from discreet.noiseless.advisor.certify import STATISTICS
from discreet.noiseless.advisor.law_text import read_law
from discreet.noiseless.advisor.named_histograms import FIXED, FixedCells
from discreet.noiseless.advisor.named_histograms import LAWS as HISTOGRAM_LAWS
from discreet.noiseless.advisor.statistic_question import StatisticQuestion
from discreet.noiseless.certifiable import PrivacyTarget, Way
from discreet.noiseless.certificate import Certificate
from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.noiseless.histograms.sized_histogram import SizedHistogram
from discreet.noiseless.laws.box_density import BoxDensity, uniform_rows
from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor
from discreet.noiseless.laws.law_family import LawFamily
from discreet.noiseless.regression.design import RegressionDesign
from discreet.noiseless.stable.row_families import finite_family
from discreet.noiseless.sums.exact_sum import ExactSum
from tests.support.noiseless.fair_bits import FairBits

ASKED: dict[str, dict[str, Any]] = {
    "sum": {"rows": 60, "law": "uniform(0, 40)"},
    "mean": {"rows": 60, "law": "uniform(0, 40)"},
    "histogram": {"law": "poisson()", "suppress_below": 60},
    "argmax": {"rows": 1000, "law": "shares(0.5, 0.3, 0.2)"},
    "majority": {"rows": 1001, "law": "yes(0.6, 0.7)"},
    "sign": {"rows": 1001, "law": "bernoulli(0.6)"},
    "threshold": {"rows": 1001, "law": "yes(0.6)", "at_least": 400},
    "map": {"rows": 101, "law": "mixture(bernoulli(0.4), bernoulli(0.6))"},
}


@pytest.mark.parametrize("name", ASKED)
def test_every_statistic_can_be_asked_for_by_its_name(name: str):
    found = certify(name, **ASKED[name], epsilon=2, delta="0.05")
    assert found.may_publish
    assert found.delta(2) <= Fraction(1, 20)
    assert str(found)
    assert found.asserted["statistic"]
    assert found.assumptions
    assert found.breaking_points


HISTOGRAMS = {
    "poisson": "poisson()",
    "sampled": "sampled(0.5, largest=1000)",
    "sized": "sized(500, 0.2)",
    "population": "population(people=2000, cell=200, rows=1000, epsilon=0.5)",
    "fixed": "fixed(0.1)",
}


@pytest.mark.parametrize("kind", HISTOGRAMS)
def test_every_law_of_a_histogram_can_be_written(kind: str):
    question = StatisticQuestion(
        statistic="histogram",
        rows=2000 if kind == "fixed" else None,
        law=HISTOGRAMS[kind],
        suppress_below=80,
    )
    made = STATISTICS["histogram"].of(question)
    assert min(made.deltas(Fraction(1)).values()) < Fraction(1, 1000)
    assert made.to_json()["law"]["kind"] == kind
    assert made.to_json()["truncation"] == 80


def test_every_law_of_a_histogram_is_tried():
    assert {*HISTOGRAMS, "shares"} == {*HISTOGRAM_LAWS, *FIXED}


def test_every_name_is_tried():
    assert set(ASKED) | {"regression"} == set(STATISTICS)


def test_a_statistic_that_was_made_is_the_same():
    by_name = certify("sum", **ASKED["sum"], epsilon=2)
    made = certify(ExactSum(uniform_rows(0, 40), rows=60), epsilon=2)
    assert (made.points, made.advice, made.asserted) == (
        by_name.points,
        by_name.advice,
        by_name.asserted,
    )
    assert by_name.law == "uniform(0, 40)"
    assert certify("sum", rows=60, law=uniform_rows(0, 40), epsilon=2) == made


def test_known_rows_are_rows_that_are_not_there():
    all_rows = certify("sum", rows=60, known=20, law="uniform(0, 40)", epsilon=2)
    fewer = certify("sum", rows=40, law="uniform(0, 40)", epsilon=2)
    assert all_rows.delta(2) == fewer.delta(2)
    assert all_rows.known == 20


def test_the_ways_fall():
    found = certify("sum", **ASKED["sum"], epsilon=2)
    for point in found.points:
        ways = [point.deltas[way] for way in Way if way in point.deltas]
        assert ways == sorted(ways, reverse=True)


def test_an_adversary_who_knows_all_others_reads_the_row_and_was_named():
    """One known row more than the breaking point: the certificate is refused, and had said so."""
    found = certify("sum", **ASKED["sum"], epsilon=2, delta="0.05")
    limit = next(p.limit for p in found.breaking_points if "adversary" in p.what)
    assert limit is not None
    assert certify("sum", **ASKED["sum"], known=limit, epsilon=2, delta="0.05").may_publish
    beyond = certify("sum", **ASKED["sum"], known=limit + 1, epsilon=2, delta="0.05")
    assert not beyond.may_publish
    nearly_all = certify("sum", **ASKED["sum"], known=59, epsilon=2, delta="0.05")
    assert nearly_all.delta(2) == 1


def test_noise_is_advised_until_it_drowns():
    few = certify("sum", rows=60, known=59, law="uniform(0, 40)", epsilon=1)
    assert few.advice.verdict is Advised.ADD_NOISE
    tiny = certify("sum", rows=3, law="uniform(0, 40)", epsilon="0.5")
    assert tiny.advice.verdict is Advised.DO_NOT_PUBLISH


def test_small_cells_are_suppressed():
    found = certify("histogram", law="poisson()", epsilon="0.6", delta="3e-6")
    assert (found.advice.verdict, found.advice.amount) == (Advised.SUPPRESS, 51)
    enough = certify("histogram", law="poisson()", suppress_below=51, epsilon="0.6", delta="3e-6")
    assert enough.may_publish


def test_the_law_that_is_printed_can_be_asserted_again():
    found = certify("sum", rows=60, law="uniform(0, 40)", epsilon=2)
    law = dict(found.steps())["Law"]
    assert law == "uniform(0, 40)"
    assert certify("sum", rows=60, law=law, epsilon=2) == found


def test_where_too_many_rows_would_be_discarded_something_else_is_advised():
    found = certify("histogram", rows=100, law="fixed(0.1)", epsilon="1e-30")
    assert found.advice.verdict in (Advised.ADD_NOISE, Advised.DO_NOT_PUBLISH)


def test_rows_are_discarded_where_cells_are_too_rare():
    rare = FixedCells(rows=10_000, least_share="0.001", truncation=120)
    target = PrivacyTarget(Fraction(1), Fraction(1, 10**6))
    certified_delta = min(rare.deltas(target.epsilon).values())
    found = advise(rare, target, certified_delta)
    assert certified_delta > target.delta
    assert found.verdict is Advised.DISCARD
    discarding = rare.discarding(target)
    assert discarding is not None
    assert found.amount == discarding.loss_quantile("0.05") > discarding.shift
    # What the verdict says to declare is what was certified: a number that is not drawn is none.
    (said,) = re.findall(r"epsilon = (\S+), delta = (\S+) }", found.because)
    declared = RandomDiscarding.calibrate(rows=10_000, epsilon=said[0], delta=said[1])
    assert declared == discarding
    assert f"{discarding.shift} and discrete Laplace noise" in found.because
    kept = SizedHistogram(truncation=120, sizes=discarding.sizes())
    assert min(kept.deltas(target.epsilon).values()) <= target.delta
    assert evolve(rare, truncation=1).rows_to_discard(target) is None
    assert rare.rows_to_discard(PrivacyTarget(Fraction(1), Fraction(0))) is None
    some = certify("histogram", rows=50, law="shares(0.5, 0.5)", delta="0.1", epsilon=2)
    assert some.may_publish


EXTREMES: list[tuple[str, dict[str, Any], Advised]] = [
    ("sum", {"rows": 1, "law": "uniform(0, 40)"}, Advised.DO_NOT_PUBLISH),
    ("sum", {"rows": 2, "law": "uniform(0, 40)"}, Advised.DO_NOT_PUBLISH),
    ("sum", {"rows": 60, "law": "uniform(0, 40)", "epsilon": "1e-9"}, Advised.DO_NOT_PUBLISH),
    ("sum", {"rows": 60, "law": "uniform(0, 40)", "epsilon": 100}, Advised.PUBLISH),
    ("sum", {"rows": 60, "law": "uniform(0, 40)", "delta": 0}, Advised.ADD_NOISE),
    ("sum", {"rows": 60, "law": "uniform(0, 1e-30)", "epsilon": 2}, Advised.PUBLISH),
    ("sum", {"rows": 60, "law": "uniform(-1e30, 1e30)", "epsilon": 2}, Advised.PUBLISH),
    ("sum", {"rows": 60, "law": "uniform(0, 9)", "grid": 1, "epsilon": 2}, Advised.PUBLISH),
    ("sum", {"rows": 60, "law": "discrete(0: 0.5, 1e6: 0.5)"}, Advised.ADD_NOISE),
    ("majority", {"rows": 1, "law": "yes(0.6)"}, Advised.ADD_NOISE),
    ("threshold", {"rows": 10, "at_least": 11, "law": "yes(0.6)"}, Advised.PUBLISH),
    ("histogram", {"law": "poisson()", "suppress_below": 20_000}, Advised.PUBLISH),
    ("histogram", {"law": "sampled(1)", "suppress_below": 100}, Advised.ADD_NOISE),
]


@pytest.mark.parametrize(("name", "arguments", "verdict"), EXTREMES)
def test_at_the_ends_of_what_can_be_asked(name: str, arguments: dict[str, Any], verdict: Advised):
    found = certify(name, **arguments)
    assert found.advice.verdict is verdict
    assert str(found)
    assert Certificate.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_family_for_map_and_a_design_for_a_regression_can_be_made():
    family = finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]})
    made = certify("map", rows=101, law=family, delta="0.05")
    written = certify("map", **ASKED["map"], delta="0.05")
    assert made.delta("0.1") == written.delta("0.1")
    with pytest.raises(InvalidArgument, match="design"):
        certify("regression", rows=100, law="uniform(0, 1)")
    design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
    with pytest.raises(DiscreetError):
        certify("regression", rows=100, law=design, use="sideways")


# ---------------------------------------------------------------- laws by name

GRID = PublicEnds((Fraction(0), Fraction(10)), Fraction(1))
WIDE = PublicEnds((Fraction(0), Fraction(10)))
WRITTEN = {
    "uniform": ("uniform(2, 6)", WIDE),
    "density": ("density(0.1, 2, 6)", WIDE),
    "triangle": ("triangle(0.2, 2, 6)", WIDE),
    "normal_kernel": ("normal_kernel(0.3, 2, 6, 1)", WIDE),
    "laplace_kernel": ("laplace_kernel(0.3, 2, 6, scale=1)", WIDE),
    "floor": ("floor(0.1, 2, 6)", GRID),
    "normal": ("normal(5, 1)", WIDE),
    "laplace": ("laplace(5, 1)", WIDE),
    "exponential": ("exponential(0, 3)", WIDE),
    "beta": ("beta(2, 2)", WIDE),
    "bernoulli": ("bernoulli(0.3)", PublicEnds()),
    "discrete": ("discrete(0: 0.7, 3: 0.3)", PublicEnds()),
    "mixture": ("mixture(normal(4, 1), normal(5, 1))", WIDE),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_every_law_can_be_written(kind: str):
    text, bounds = WRITTEN[kind]
    law = row_law(read_law(text), bounds)
    assert law.words()
    assert 0 < law.hidden().mass <= 1


def test_every_law_is_tried():
    assert set(WRITTEN) == set(LAWS)


def test_what_laws_mean():
    assert row_law(read_law("uniform(0, 9)"), PublicEnds(None, Fraction(1))) == GridFloor(
        "1/10", block=(0, 9), clamps=(0, 9), step=1
    )
    assert row_law(read_law("discrete(0: 0.7, 3: 0.3)"), PublicEnds()) == DiscreteLaw(
        ["0.7", "0.3"], start=0, step=3
    )
    assert row_law(read_law("discrete(1: 0.7, 3: 0.3)"), GRID).clamps == (WIDE.clamps,)
    assert isinstance(row_law(*_written("mixture")), LawFamily)
    assert isinstance(row_law(read_law("normal(5, 1)"), GRID), DiscreteLaw)
    box = row_law(read_law("uniform(0, 4)"), WIDE)
    assert isinstance(box, BoxDensity)
    assert box.clamps == (WIDE.clamps,)


def _written(kind: str):
    text, bounds = WRITTEN[kind]
    return read_law(text), bounds


# ---------------------------------------------------------------- what is refused

SUM = {"rows": 60, "law": "uniform(0, 40)"}
BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no such statistic": ("median", SUM, "one of sum, mean"),
    "no law": ("sum", {"rows": 60}, "a law"),
    "no rows": ("sum", {"law": "uniform(0, 1)"}, "number of rows"),
    "rows that are none": ("sum", SUM | {"rows": 0}, "at least 1"),
    "half a row": ("sum", SUM | {"rows": 1.5}, "integer"),
    "not a number of rows": ("sum", SUM | {"rows": float("nan")}, "number"),
    "all are known": ("sum", SUM | {"known": 60}, "at least one row"),
    "more than all are known": ("sum", SUM | {"known": 61}, "at least one row"),
    "fewer than none are known": ("sum", SUM | {"known": -1}, "at least 0"),
    "an unknown law": ("sum", SUM | {"law": "cauchy(0, 1)"}, "uniform, density"),
    "a law with mass above 1": (
        "sum",
        SUM | {"law": "density(2, 0, 1)", "range": (0, 1)},
        "at most 1",
    ),
    "a box outside the clamps": (
        "sum",
        SUM | {"law": "uniform(0, 40)", "range": (0, 30)},
        "outside the clamps",
    ),
    "probabilities that are none": ("sum", SUM | {"law": "discrete(0: 0.7, 1: 0.7)"}, "sum to 1"),
    "a share above 1": ("sum", SUM | {"law": "bernoulli(1.2)"}, "between 0 and 1"),
    "no deviation": ("sum", SUM | {"law": "normal(5, 0)", "range": (0, 9)}, "greater than 0"),
    "unbounded support": ("sum", SUM | {"law": "normal(70, 10)"}, "range"),
    "half a range": ("sum", SUM | {"range": (0,)}, "two ends"),
    "a range that is a number": ("sum", SUM | {"range": 5}, "two ends"),
    "an empty range": ("sum", SUM | {"range": (5, 5)}, "lower end"),
    "an infinite range": ("sum", SUM | {"range": (0, float("inf"))}, "finite"),
    "a grid that does not fit": ("sum", SUM | {"grid": 7}, "grid"),
    "a grid for a law that has none": (
        "sum",
        SUM | {"law": "laplace(5, 1)", "range": (0, 9), "grid": 1},
        "grid",
    ),
    "a floor without a grid": (
        "sum",
        SUM | {"law": "floor(0.1, 0, 5)", "range": (0, 9)},
        "grid",
    ),
    "a mixture of one": ("sum", SUM | {"law": "mixture(uniform(0, 1))"}, "two or more"),
    "a mixture with different ends": (
        "sum",
        SUM | {"law": "mixture(uniform(0, 1), uniform(0, 2))"},
        "same clamps",
    ),
    "dependent rows": ("sum", SUM | {"dependence": "unknown"}, "independent, or a mixture"),
    "dependent rows without a mixture": ("sum", SUM | {"dependence": "mixture"}, "mixture"),
    "no such dependence": ("sum", SUM | {"dependence": "a little"}, "one of independent"),
    "an ε of 0": ("sum", SUM | {"epsilon": 0}, "greater than 0"),
    "an ε below": ("sum", SUM | {"epsilon": -1}, "greater than 0"),
    "a huge ε": ("sum", SUM | {"epsilon": 101}, "at most 100"),
    "an infinite ε": ("sum", SUM | {"epsilon": float("inf")}, "finite"),
    "a δ that is no number": ("sum", SUM | {"delta": "small"}, "number"),
    "a δ of 1": ("sum", SUM | {"delta": 1}, "below 1"),
    "a δ below": ("sum", SUM | {"delta": -1}, "at least 0"),
    "cells of a sum": ("sum", SUM | {"suppress_below": 5}, "suppress_below means nothing"),
    "a range of a histogram": (
        "histogram",
        {"law": "poisson()", "range": (0, 1)},
        "range means nothing",
    ),
    "known rows of a fixed histogram": (
        "histogram",
        {"rows": 9, "known": 9, "law": "fixed(0.1)"},
        "knows every row",
    ),
    "cells that cannot be two": ("histogram", {"rows": 9, "law": "fixed(0.6)"}, "at most 1/2"),
    "rows of a Poisson histogram": ("histogram", {"rows": 9, "law": "poisson()"}, "fixed"),
    "shares that are laws": ("argmax", {"rows": 9, "law": "shares(a(1), 1)"}, "numbers"),
    "shares above 1": ("argmax", {"rows": 9, "law": "shares(1, 1)"}, "add up to 1"),
    "no such law of a histogram": ("histogram", {"law": "uniform(0, 1)"}, "poisson"),
    "a threshold without one": ("threshold", SUM | {"law": "yes(0.6)"}, "say yes"),
    "no number to choose between": ("map", SUM | {"law": "mixture(1, 2)"}, "one kind"),
    "two kinds to choose between": (
        "map",
        SUM | {"law": "mixture(bernoulli(0.4), normal(1, 2))"},
        "one kind",
    ),
    "a value that one law excludes": (
        "map",
        SUM | {"law": "mixture(discrete(0: 0.5, 1: 0.5), discrete(0: 0.5, 2: 0.5))"},
        "same values",
    ),
    "an earlier release without a name": ("sum", SUM | {"given": [""]}, "name"),
    "rows in the place of a statistic": ([1, 2, 3], {}, "not computed from rows"),
    "no statistic": (5, {}, "no statistic"),
    "a statistic with another law": (
        ExactSum(uniform_rows(0, 1), rows=9),
        {"rows": 9, "range": (0, 1)},
        "range, rows",
    ),
    "a law with another range": ("sum", SUM | {"law": uniform_rows(0, 1), "range": (0, 2)}, "own"),
    "no law at all": ("sum", SUM | {"law": FairBits(rows=2)}, "law of rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_the_reason(name: str):
    statistic, arguments, words = BAD[name]
    with pytest.raises(DiscreetError) as caught:
        certify(statistic, **arguments)
    assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        [3, 1, 4],
        (3.0, 1.0),
        np.array([3.0, 1.0]),
        pd.Series([3.0, 1.0]),
        pd.DataFrame({"x": [3.0]}),
        {3.0, 1.0},
        iter([1]),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_in_the_place_of_a_law_are_refused_and_not_quoted(rows: Any):
    for arguments in ({"rows": 60, "law": rows}, {"rows": rows, "law": "uniform(0, 1)"}):
        with pytest.raises(InvalidArgument, match="nothing about the data is read") as caught:
            certify("sum", **arguments)
        assert "3" not in str(caught.value)


def test_what_was_chosen_from_the_data_is_refused():
    with pytest.raises(RefusedQuery, match="chosen from the data"):
        certify("sum", **SUM, chosen="from the data")
    with pytest.raises(RefusedQuery, match="depend on their values"):
        certify("sum", **SUM, known=3, known_rows="by their values")


def test_every_error_is_of_ours_and_short():
    for statistic, arguments, _ in BAD.values():
        with pytest.raises(DiscreetError) as caught:
            certify(statistic, **arguments)
        assert len(str(caught.value)) < 700
