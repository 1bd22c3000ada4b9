"""Lines of rounded rows: exact attackers on small models, and the whole way through the gate."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from attrs import evolve

import discreet
from discreet import certify
from discreet.core.errors import DeclarationError, InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.noiseless import (
    GridBlock,
    GridColumn,
    GridDesign,
    GridRegression,
    PrivacyTarget,
    ReleasedMoments,
    Way,
    line_of,
)
from discreet.noiseless.advisor.certificate_file import parse_certificate_question
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.regression.grid_product import GridProduct
from discreet.noiseless.regression.grid_regression import grid_parts
from discreet.noiseless.sums.exact_sum import ExactSum
from discreet.noiseless.sums.ways import grouped_delta
from tests.noiseless.finite_sums import hockey_stick

EPSILONS = ("0.1", "0.5", "1.5")


def rows_of(block, clamps, mass, random):
    """Return a law of a row: uniform on the block with so much, and anything with the rest."""
    inside = list(product(*(range(a, b + 1) for a, b in block)))
    every = list(product(*(range(a, b + 1) for a, b in clamps)))
    weights = [Fraction(random.choice([0, 0, 1, 5])) for _ in every]
    weights[random.randrange(len(every))] += 1
    law = {row: (1 - mass) * w / sum(weights) for row, w in zip(every, weights, strict=True)}
    for row in inside:
        law[row] += mass / len(inside)
    return law


def added(law, value, count):
    """Return the law of the sum of what ``value`` makes of so many rows, exactly."""
    one: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for row, weight in law.items():
        one[value(row)] += weight
    found = {tuple(0 for _ in next(iter(one))): Fraction(1)}
    for _ in range(count):
        longer: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for (at, mass), (step, weight) in product(found.items(), one.items()):
            longer[tuple(map(sum, zip(at, step, strict=True)))] += mass * weight
        found = longer
    return found


def worst(others, rows, value, simulated, epsilon):
    """Return what the best attacker gets of the worst row, in both directions."""
    found = 0.0
    without = {tuple(map(sum, zip(at, simulated, strict=True))): m for at, m in others.items()}
    for moved in {value(row) for row in rows}:
        real = {tuple(map(sum, zip(at, moved, strict=True))): m for at, m in others.items()}
        for one, other in ((real, without), (without, real)):
            found = max(found, hockey_stick(one, other, epsilon))
    return found


def ends_of(random, widest):
    low = random.randint(-widest, 0)
    return low, random.randint(max(low + 1, 1), widest)


def model_of(random, factors):
    clamps = [ends_of(random, 3) for _ in range(factors)]
    block = [(a, random.randint(a + 1, b)) for a, b in clamps]
    mass = random.choice([Fraction(1), Fraction(4, 5), Fraction(1, 3)])
    return block, clamps, mass, rows_of(block, clamps, mass, random)


def test_no_attacker_on_a_product_exceeds_its_certificate(soak):
    for case in range(soak.cases(12)):
        require_product_hides(case)


def require_product_hides(case):
    random = Random(case)
    factors = 1 + case % 2
    block, clamps, mass, law = model_of(random, factors)
    if mass == 1:
        clamps = block
        law = {row: weight for row, weight in law.items() if weight}
    subject = GridProduct(mass, blocks=block, ranges=clamps)
    rows = random.choice([2, 7, 19, 30])

    def value(row):
        return (row[0] * row[-1],)

    others = added(law, value, rows - 1)
    every = list(product(*(range(a, b + 1) for a, b in clamps)))
    for epsilon in EPSILONS:
        claimed = min(ExactSum(subject, rows=rows).deltas(epsilon).values())
        got = worst(others, every, value, (subject.middle,), float(epsilon))
        assert got <= float(claimed) * (1 + 1e-9) + 1e-12


def test_no_attacker_on_several_totals_exceeds_their_certificate(soak):
    for case in range(soak.cases(4)):
        require_totals_hide(case)


def require_totals_hide(case):
    random = Random(1000 + case)
    clamps = [ends_of(random, 2), ends_of(random, 2)]
    block = [(a, random.randint(a + 1, b)) for a, b in clamps]
    mass = random.choice([Fraction(1), Fraction(4, 5)])
    law = rows_of(block, clamps, mass, random)
    points = (block[0][1] - block[0][0] + 1) * (block[1][1] - block[1][0] + 1)
    subject = GridBlock(mass / points, blocks=block, clamps=clamps, steps=[1, 1])
    rows = random.choice([3, 9])
    others = added(law, tuple, rows - 1)
    every = list(product(*(range(a, b + 1) for a, b in clamps)))
    for epsilon in EPSILONS:
        claimed = min(ExactSum(subject, rows=rows).deltas(epsilon).values())
        got = worst(others, every, tuple, subject.simulator, float(epsilon))
        assert got <= float(claimed) * (1 + 1e-9) + 1e-12


def test_a_product_that_is_taken_for_uniform_is_caught():
    """The broken twin: squares of 5 and 6 are 11 apart, and what is in between tells of a row."""
    block = [(5, 6)]
    subject = GridProduct(1, blocks=block, ranges=block)
    law = {(5,): Fraction(1, 2), (6,): Fraction(1, 2)}
    rows, epsilon = 12, exact("0.5")
    others = added(law, lambda row: (row[0] ** 2,), rows - 1)
    got = worst(others, law, lambda row: (row[0] ** 2,), (subject.middle,), 0.5)
    broken = Hidden(1, (12,), (Fraction(6),))
    assert float(grouped_delta(rows - 1, broken, epsilon)) < 0.1
    assert got == pytest.approx(1)
    assert min(ExactSum(subject, rows=rows).deltas(epsilon).values()) == 1, "and so it is certified"


def design_of(**more):
    hours = GridColumn(name="hours", clamps=(0, 3), step=1)
    score = GridColumn(name="score", clamps=(0, 2), step="0.5", **more)
    return GridDesign(regressors=[hours], outcome=score, floor="1/20")


def test_known_rows_are_rows_that_are_not_there_and_the_worst_part_counts():
    design = design_of()
    known = GridRegression(design=design, sizes=[500] * 3, known=100)
    fewer = GridRegression(design=design, sizes=[400] * 3)
    assert known.deltas(exact(1)) == fewer.deltas(exact(1))
    uneven = GridRegression(design=design, sizes=[900, 400, 800])
    assert uneven.deltas(exact(1))[Way.MIXTURE] <= fewer.deltas(exact(1))[Way.MIXTURE]
    each = [min(one.deltas(exact(1)).values()) for one in fewer.totals]
    assert fewer.deltas(exact(1))[Way.MIXTURE] == max(each)


def test_breaking_points_hold_and_are_not_far_off():
    line = GridRegression(design=design_of(), sizes=[400] * 3, known=10)
    target = PrivacyTarget(exact(2), exact("0.001"))
    known, rows, floor = line.breaking_points(target)
    at = evolve(line, known=int(known.limit))
    assert min(at.deltas(target.epsilon).values()) <= target.delta
    beyond = evolve(line, known=int(known.limit) + 40)
    assert min(beyond.deltas(target.epsilon).values()) > target.delta
    assert rows.limit == 400 - known.limit + 10
    assert 0 < floor.limit < line.design.floor


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sizes": [5, 5]}, "another number of parts"),
        ({"sizes": [5, 5, 5], "known": 5}, "knows all rows of a part"),
    ],
)
def test_what_makes_no_line_is_refused(change, words):
    with pytest.raises(InvalidArgument, match=words):
        GridRegression(design=design_of(), **change)


def test_laws_that_cannot_be_true_or_certified_are_refused():
    with pytest.raises(InvalidArgument, match="cannot be true"):
        evolve(design_of(), floor="0.06")
    with pytest.raises(InvalidArgument, match="too fine"):
        GridProduct(1, blocks=[(-500, 500), (-500, 500)], ranges=[(-500, 500), (-500, 500)])
    one_value = GridProduct(1, blocks=[(2, 2)], ranges=[(0, 4)])
    assert min(ExactSum(one_value, rows=10**4).deltas(1).values()) == 1, "nothing is hidden"
    with pytest.raises(InvalidArgument, match="needs a floor"):
        certify("regression", rows=99, law="columns(a=uniform(0, 9), b=uniform(0, 9))")
    with pytest.raises(InvalidArgument, match="one average each"):
        certify("regression", rows=99, use="grouped", grid=1, law=BY_NAME)


BY_NAME = "joint(0.05, hours=within(0, 3), score=within(0, 4))"


def test_a_line_and_several_totals_by_name():
    wanted = {"rows": 180, "grid": 1, "epsilon": 2, "delta": "0.2"}
    line = certify("regression", law=BY_NAME, **wanted)
    assert line.may_publish
    assert "hours^2 over 60 rows" in line.statistic
    both = certify("mean", law=BY_NAME, **wanted)
    assert both.may_publish
    apart = certify("sum", law="columns(hours=uniform(0, 3), score=uniform(0, 4))", **wanted)
    assert apart.delta(2) == both.delta(2), "uniform rows are independent"
    with pytest.raises(InvalidArgument, match="other columns"):
        certify("sum", law=BY_NAME, rows=9, range={"hours": (0, 3), "grade": (0, 4)})
    with pytest.raises(InvalidArgument, match="by column"):
        certify("sum", law="uniform(0, 3)", rows=9, range={"hours": (0, 3)})


DESIGN = """
statistic = "regression"
rows = 600
[law]
floor = 0.05
intercept = {intercept}
regressors.hours = {{ low = 0, high = 3, step = 1, centre = {centre} }}
outcome.score = {{ low = 0, high = 4, step = 1 }}
"""


def test_a_centre_in_a_file_is_the_one_that_is_certified():
    asked = parse_certificate_question(DESIGN.format(intercept="true", centre=3))
    assert asked.arguments["law"].column("hours").range == (-3, 0)
    for intercept, centre, words in (("false", 1, "through the origin"), ("true", 0.5, "the grid")):
        with pytest.raises(DeclarationError, match=words):
            parse_certificate_question(DESIGN.format(intercept=intercept, centre=centre))


# ---- Through the gate.

PROJECT = """\
[id_spaces.pupils]
unit = "a pupil"
budget = {{ epsilon = 3 }}

[tables.exams]
source = "exams.csv"
id_space = "pupils"
unit = "pupil"
rows_per_group = 1
groups_per_unit = 1
[tables.exams.columns]
pupil = {{ type = "integer" }}
hours = {{ type = "integer", min = 0, max = 3 }}
score = {{ type = "real", min = 0, max = 2, step = 0.5 }}
third = {{ type = "text", keys = ["a", "b", "c"] }}

[exact.line]
table = "exams"
statistic = "regression"
columns = ["hours", "score"]
split = "third"
parts = {parts}
rows = {rows}
known = 5
law = "joint(0.05, hours=within(0, 3), score=within(0, 2))"
epsilon = 2
delta = 0.01
assurance = "The law is from the report of last year, before the exams."
{more}
"""

TOTAL = """
[exact.total]
table = "exams"
statistic = "sum"
columns = ["hours"]
split = "third"
parts = ["a"]
rows = {rows}
law = "uniform(0, 3)"
epsilon = 2
delta = 0.01
given = ["line"]
robust = ["line"]
assurance = "The law is from the report of last year, before the exams."
"""


def exams(count=900):
    """Return rows: off the grid, out of range, or missing, some of them."""
    found = []
    for pupil in range(count):
        hours = pupil * 7 % 5 - (pupil % 11 == 0)
        score = "" if pupil % 13 == 5 else hours / 3 + pupil * 31 % 17 / 10
        found.append((pupil, hours, score, "abc"[pupil % 3]))
    return found


def write(folder, found, *, parts='["a", "b", "c"]', rows=300, more=""):
    lines = ["pupil,hours,score,third", *(",".join(map(str, row)) for row in found)]
    (folder / "exams.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = PROJECT.format(parts=parts, rows=rows, more=more)
    (folder / "discreet.toml").write_text(text, encoding="utf-8")


def on_grid(row):
    hours = min(max(row[1], 0), 3)
    if row[2] == "":
        return hours, None
    steps = min(max(Fraction(str(row[2])), Fraction(0)), Fraction(2)) * 2 + Fraction(1, 2)
    return hours, Fraction(steps.numerator // steps.denominator, 2)


def expected(found):
    """Return the sums as they are declared: what is missing counts as the middle."""
    parts = {name: [on_grid(row) for row in found if row[3] == name] for name in "abc"}
    scores = [score for _, score in parts["a"] if score is not None]
    # Squares of hours less 1 lie between 0 and 4, products with scores less 1 between -2 and 2.
    squares = [(hours - 1) ** 2 - 2 for hours, _ in parts["b"]]
    products = [(h - 1) * (s - 1) - Fraction(0) for h, s in parts["c"] if s is not None]
    return [
        sum(hours for hours, _ in parts["a"]),
        sum(score - 1 for score in scores) + 300,
        sum(squares) + 300 * 2,
        sum(products),
    ]


def test_a_line_goes_through_the_gate_exactly_and_ends_the_worst_case(tmp_path):
    found = exams()
    write(tmp_path, found)
    with discreet.own(tmp_path) as owner:
        assert not owner.ledger().is_void("pupils")
        published = owner.publish_exact("line")
        assert owner.ledger().is_void("pupils")
        assert owner.publish_exact("line").is_stored
        (claim,) = owner.exact_claims()
    sums = expected(found)
    assert [value for _, value in published.numbers[:4]] == sums
    moments = [one for part in grid_parts(design_of()) for one in part]
    centred = dict(zip(moments, [sums[0] - 300, sums[1] - 300, *sums[2:]], strict=True))
    line = line_of(design_of(), ReleasedMoments.of(centred, 300))
    assert published.value("slope of hours") == line.slopes["hours"]
    assert published.value("intercept") == line.intercept
    said = claim.claim.asserted
    assert said["statistic"] == "regression"
    assert exact(said["certified"]["delta"]) <= Fraction(1, 100)
    assert [one["part"] for one in said["totals"]] == ["a", "a", "b", "c"]
    assert "worst-case claim" in str(published)


def test_neighbours_differ_by_what_the_row_adds_to_its_part(tmp_path):
    """Without a row the release is what the simulator says: the middle in its place."""
    found, values = exams(), {}
    for gone in (None, 4, 9):
        folder = tmp_path / str(gone)
        folder.mkdir()
        write(folder, [row for row in found if row[0] != gone])
        with discreet.own(folder) as owner:
            values[gone] = [value for _, value in owner.publish_exact("line").numbers[:4]]
    square = (on_grid(found[4])[0] - 1) ** 2
    assert values[None][2] - values[4][2] == square - 2
    assert [values[None][at] - values[4][at] for at in (0, 1, 3)] == [0, 0, 0]
    hours, score = on_grid(found[9])
    assert [values[None][at] - values[9][at] for at in (0, 1)] == [hours - 1, score - 1]


def test_a_total_beside_a_line_is_refused_if_a_row_follows_from_both(tmp_path):
    """Of another version with one row more in the part, whatever the owner states."""
    found = exams()
    write(tmp_path, found, more=TOTAL.format(rows=301))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("line")
        owner.data_changed("pupils")
        with pytest.raises(RefusedQuery, match="The totals tell what a row"):
            owner.publish_exact("total")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parts": '["a", "b"]'}, "does not fit the line"),
        ({"rows": 5}, "out of range"),
    ],
)
def test_a_declaration_that_makes_no_line_is_refused(tmp_path, change, words):
    write(tmp_path, exams(9), **change)
    with pytest.raises(DeclarationError, match=words):
        discreet.own(tmp_path).close()


def test_a_line_that_too_few_rows_hide_is_refused(tmp_path):
    write(tmp_path, exams(90), rows=30)
    with discreet.own(tmp_path) as owner, pytest.raises(RefusedQuery, match="does not keep"):
        owner.publish_exact("line")
