"""Exact attackers: none exceeds a certificate whose assertion holds, and beyond it they win."""

import math
from fractions import Fraction

import pytest

from discreet import certify
from discreet.core.rounding import exp_down, exp_up
from discreet.noiseless.certificate import Certificate
from tests.support.noiseless.fair_bits import excess_of

SHARES = ["1/2", "1/5"]


def binomial(rows: int, share: Fraction) -> dict[int, Fraction]:
    return {k: math.comb(rows, k) * share**k * (1 - share) ** (rows - k) for k in range(rows + 1)}


def true_delta(hidden: int, share: Fraction, factor: Fraction) -> Fraction:
    """The exact divergence of the count, with a row of 1 or 0, from one with a 0 in its place."""
    others = binomial(hidden - 1, share)
    with_one = {k + 1: mass for k, mass in others.items()}
    return max(excess_of(with_one, others, factor), excess_of(others, with_one, factor))


def known_limit(certificate: Certificate) -> int:
    limit = next(p.limit for p in certificate.breaking_points if "adversary" in p.what)
    assert limit is not None
    return int(limit)


@pytest.mark.parametrize("share", SHARES)
def test_the_count_of_ones_has_no_larger_divergence_and_breaks_where_it_says(share: str):
    target = {"epsilon": 1, "delta": "0.001"}
    found = certify("sum", rows=200, law=f"bernoulli({share})", **target)
    p = Fraction(share)
    for point in found.points:
        assert true_delta(200, p, exp_up(point.epsilon)) <= point.delta
    limit = known_limit(found)
    assert 0 < limit < 199
    assert true_delta(200 - limit, p, exp_down(Fraction(1))) <= Fraction(1, 1000)
    assert true_delta(200 - limit - 1, p, exp_up(Fraction(1))) > Fraction(1, 1000), "and not beyond"


@pytest.mark.parametrize("share", SHARES)
def test_no_reader_of_a_count_believes_more_than_the_certificate_says(share: str):
    """What the best reader believes of a row, after each count, if the law is true."""
    rows, p = 300, Fraction(share)
    found = certify("sum", rows=rows, law=f"bernoulli({share})", epsilon=2, delta="1e-6")
    reading = found.inference
    assert reading is not None
    assert not reading.is_vacuous
    lost = Fraction(0)
    for count, mass in binomial(rows, p).items():
        believed = Fraction(count, rows)  # given the count each row is 1 as often as any other
        # The simulator never saw the row, so what it says leaves the belief at the share.
        if believed > reading.belief(p) or 1 - believed > reading.belief(1 - p):
            lost += mass
    assert lost <= reading.failure


def test_a_reader_who_knows_all_others_believes_anything():
    found = certify("sum", rows=300, law="bernoulli(1/2)", epsilon=2, delta="1e-6")
    reading = found.inference
    assert reading is not None
    assert reading.belief("1/2") < 1, "of a reader who knows no other row"
    assert known_limit(found) < 299, "and the certificate says that it ends before that"
    told = certify("sum", rows=300, known=299, law="bernoulli(1/2)", epsilon=2, delta="1e-6")
    assert told.delta(2) == 1


def test_an_atom_beside_the_law_is_found_by_the_attacker_and_named():
    """All rows but a few are 0 for certain: of those few a total tells everything."""
    asserted = certify("sum", rows=200, law="bernoulli(1/2)", epsilon=1, delta="0.001")
    spread_rows = 200 - known_limit(asserted) - 1  # one fewer than what is needed
    assert true_delta(spread_rows, Fraction(1, 2), exp_up(Fraction(1))) > Fraction(1, 1000)
    assert "drawn independently" in asserted.assumptions[0]


def test_a_majority_tells_nobody_more():
    """The exact posterior of a vote after the outcome, against the reading."""
    rows, p = 101, Fraction(7, 10)
    found = certify("majority", rows=rows, law="yes(0.7)", delta="0.001")
    reading = found.inference
    assert reading is not None
    others = binomial(rows - 1, p)
    wins = {vote: sum(m for k, m in others.items() if 2 * (k + vote) > rows) for vote in (0, 1)}
    won = p * wins[1] + (1 - p) * wins[0]
    beliefs = {True: (won, p * wins[1] / won), False: (1 - won, p * (1 - wins[1]) / (1 - won))}
    lost = sum(
        mass
        for mass, believed in beliefs.values()
        if believed > reading.belief(p) or 1 - believed > reading.belief(1 - p)
    )
    assert lost <= reading.failure
