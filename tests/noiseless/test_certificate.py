"""A certificate holds what it says, is stored and read again, and its verdict follows the rule."""

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve, frozen

from discreet.accounting.picture import save
from discreet.core.errors import InvalidArgument
from discreet.noiseless.advice import Advice, Advised, advise
from discreet.noiseless.certifiable import NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.certificate import Certificate, CertifiedPoint
from discreet.noiseless.certificate_drawing import certificate_picture
from discreet.noiseless.certified import CHOSEN_BLINDLY, NOTHING_BEFORE, certified
from discreet.noiseless.inference import inferred
from tests.support.house.paths import ROOT
from tests.support.noiseless.fair_bits import FairBits

TARGET = PrivacyTarget(Fraction(1, 2), Fraction(1, 10**6))


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return certified(FairBits(rows=200, known=10), TARGET)


def test_every_point_is_a_bound_and_short(certificate: Certificate):
    bits = FairBits(rows=200, known=10)
    for point in certificate.points:
        true = bits.deltas(point.epsilon)
        for way, delta in point.deltas.items():
            assert true[way] <= delta <= true[way] * (1 + Fraction(1, 10**5))
            assert len(str(delta.numerator)) <= 6
    assert Fraction(1, 2) in {point.epsilon for point in certificate.points}
    assert [p.epsilon for p in certificate.points] == sorted(p.epsilon for p in certificate.points)


def test_delta_and_epsilon_agree(certificate: Certificate):
    assert certificate.delta("0.5") <= TARGET.delta
    epsilon = certificate.epsilon("1e-6")
    assert epsilon is not None
    assert certificate.delta(epsilon) <= TARGET.delta
    assert certificate.delta(epsilon * Fraction(98, 100)) > TARGET.delta
    looser = certificate.epsilon("1e-6", way=Way.SOURCE)
    assert looser == certificate.epsilon("1e-6", way="source")
    assert looser is not None
    assert looser > epsilon
    assert certificate.epsilon(1) == 0


def test_a_stored_one_says_never_less(certificate: Certificate):
    stored = Certificate.from_json(json.loads(json.dumps(certificate.to_json())))
    assert stored == certificate == certificate.stored()
    assert stored.to_json() == certificate.to_json()
    for epsilon in ("0", "0.01", "0.1", "0.2", "0.5", "0.77", "3"):
        assert stored.delta(epsilon) >= certificate.delta(epsilon)
        assert stored.delta(epsilon, way="source") >= certificate.delta(epsilon, way="source")
    found, exactly = stored.epsilon("1e-5"), certificate.epsilon("1e-5")
    assert found is not None
    assert exactly is not None
    assert found >= exactly
    few = evolve(stored, points=stored.points[2:])
    assert few.delta(0) == 1, "below the first point nothing is known"
    assert stored.epsilon(0) is None


def test_what_the_first_version_stored_is_read_by_every_version():
    """Never make this file anew: certificates outlive versions."""
    text = (ROOT / "tests" / "golden" / "certificate.json").read_text(encoding="utf-8")
    found = Certificate.from_json(json.loads(text))
    as_it_was = {"format": "discreet.certificate/1"}
    assert {k: v for k, v in (found.to_json() | as_it_was).items() if k != "digest"} == json.loads(
        text
    )
    assert (found.rows, found.known, found.may_publish) == (100, 5, False)
    assert found.delta("0.5") == Fraction("0.00000195442")
    assert found.breaking_points[0].what == "rows that the adversary knows"


def test_what_the_second_form_stored_is_read_by_every_version():
    """Never make this file anew either."""
    text = (ROOT / "tests" / "golden" / "certificate-2.json").read_text(encoding="utf-8")
    assert Certificate.from_json(json.loads(text)).to_json() == json.loads(text)


@pytest.mark.parametrize(
    "change",
    [
        {"law": "anything"},
        {"statistic": "the weather"},
        {"assumptions": []},
        {"breaking_points": []},
        {"noise": None},
        {"inference": None},
        {"asserted": {}},
        {"asserted": {"share": 0.5}},
        {"digest": None},
        {"beside": "it"},
    ],
)
def test_one_that_was_changed_is_refused(certificate: Certificate, change: dict[str, Any]):
    stored = certificate.to_json()
    Certificate.from_json(stored)
    with pytest.raises(InvalidArgument, match="was changed since"):
        Certificate.from_json(stored | change)


def test_better_numbers_with_a_verdict_that_fits_are_refused(certificate: Certificate):
    stored = certificate.to_json()
    points = [one | {"deltas": dict.fromkeys(one["deltas"], "0")} for one in stored["points"]]
    with pytest.raises(InvalidArgument, match="was changed since"):
        Certificate.from_json(stored | {"points": points})


@pytest.mark.parametrize(
    "change",
    [
        {"format": "discreet.certificate/0"},
        {"points": 5},
        {"points": [{"epsilon": "x", "deltas": {}}]},
        {"points": [{"epsilon": "1", "deltas": {"sideways": "1"}}]},
        {"target": {}},
        {"advice": {"verdict": "perhaps", "amount": None, "because": ""}},
        {"inference": {"epsilon": "1"}},
    ],
)
def test_what_is_no_certificate_is_refused(certificate: Certificate, change: dict[str, Any]):
    with pytest.raises(InvalidArgument):
        Certificate.from_json(certificate.to_json() | change)
    with pytest.raises(InvalidArgument):
        Certificate.from_json({})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"advice": {"verdict": "add_noise", "amount": None, "because": ""}}, "the verdict"),
        ({"target": {"epsilon": "1/2", "delta": "1e-300"}}, "the verdict"),
        ({"target": {"epsilon": "1/3", "delta": "0.5"}}, "no point"),
        ({"rows": 10**6}, "other rows"),
        ({"known": 0}, "other known"),
        ({"points": []}, "no probability"),
        ({"target": {"epsilon": "1/2", "delta": "2"}}, "asks for no δ"),
        ({"known": 200, "asserted": {"known": 200}}, "all rows are known"),
    ],
)
def test_one_that_contradicts_itself_is_refused(certificate: Certificate, change, words):
    stored = certificate.to_json() | {"asserted": {"rows": certificate.rows, "known": 7}}
    stored |= {"known": 7} | change
    with pytest.raises(InvalidArgument, match=words):
        Certificate.from_json(stored)


def test_a_reading_that_says_less_than_the_curve_is_refused(certificate: Certificate):
    stored = certificate.to_json()
    reading = stored["inference"] | {"failure": "1e-200", "delta": "1e-200"}
    with pytest.raises(InvalidArgument, match="the reading"):
        Certificate.from_json(stored | {"inference": reading})
    with pytest.raises(InvalidArgument, match="other people"):
        Certificate.from_json(stored | {"inference": stored["inference"] | {"people": 1}})


def test_text_and_html(certificate: Certificate):
    text = str(certificate)
    for part in (
        "Publish it exactly.",
        "How many of 200 rows are 1",
        "Rows that the adversary knows",
        "No row was read",
        "δ (tight)",
        "50 % sure",
        "Noise of a few units",
    ):
        assert part in text, part
    assert max(map(len, text.splitlines())) <= 100
    html = certificate._repr_html_()
    assert html.count("<table>") == 2
    assert "Publish it exactly." in html
    assert CHOSEN_BLINDLY in certificate.assumptions
    assert NOTHING_BEFORE in certificate.assumptions


def test_html_is_escaped(certificate: Certificate):
    assert "<b>" not in evolve(certificate, law="<b>")._repr_html_()


def test_earlier_releases_are_named():
    found = certified(FairBits(rows=100), TARGET, given=["june total"])
    assert "'june total'" in found.assumptions[-1]
    assert NOTHING_BEFORE not in found.assumptions


def test_picture(certificate: Certificate, tmp_path):
    save(certificate_picture(certificate), tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_text().count("<path") > 20
    sure = evolve(certificate, target=PrivacyTarget(Fraction(1), Fraction(0)))
    save(certificate_picture(sure), tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    "bad",
    [
        lambda c: c.delta(-1),
        lambda c: c.delta("x"),
        lambda c: c.epsilon(2),
        lambda c: c.epsilon("0.1", way="mixture"),
        lambda c: c.epsilon("0.1", way="sideways"),
    ],
)
def test_bad_questions_are_refused(certificate: Certificate, bad):
    with pytest.raises(InvalidArgument):
        bad(certificate)


def test_a_curve_of_no_way_is_refused():
    @frozen(kw_only=True)
    class Nothing(FairBits):
        def deltas(self, epsilon: Fraction) -> dict[Way, Fraction]:
            return {}

    with pytest.raises(InvalidArgument, match="no curve"):
        certified(Nothing(rows=5), TARGET)


def test_an_attacker_never_exceeds_the_reading():
    """The exact posterior of each bit, after each total, against what was certified."""
    rows = 40
    found = certified(FairBits(rows=rows), PrivacyTarget(Fraction(1), Fraction("1e-4")))
    reading = found.inference
    assert reading is not None
    assert not reading.is_vacuous
    bound = reading.belief(Fraction(1, 2))
    lost = sum(
        Fraction(math.comb(rows, t), 2**rows)
        for t in range(rows + 1)
        if Fraction(max(t, rows - t), rows) > bound
    )
    assert lost <= reading.failure
    told = Fraction(rows, rows)  # whoever knows all rows but one is certain of that one
    assert told > bound
    assert found.breaking_points[0].limit is not None
    assert found.breaking_points[0].limit < rows - 1, "and the certificate had said so"


# ---------------------------------------------------------------- the rule of the verdict


@frozen(kw_only=True)
class Cells(FairBits):
    """Bits that could be suppressed or discarded, and have a noise or none."""

    k: int | None = None
    discarded: int | None = None
    error: Fraction | None = Fraction(1)

    def least_truncation(self, target: PrivacyTarget) -> int | None:
        return self.k

    def rows_to_discard(self, target: PrivacyTarget) -> int | None:
        return self.discarded

    def how_to_discard(self, target: PrivacyTarget) -> str:
        return "By drawing."

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        return None if self.error is None else NoiseInstead(self.error, self.error, "Noise.")


SMALL, LARGE = Fraction(1, 10**9), Fraction(1, 10)


@pytest.mark.parametrize(
    ("k", "discarded", "error", "certified_delta", "verdict", "amount"),
    [
        (5, 7, 1, SMALL, Advised.PUBLISH, None),
        (5, 7, 1, TARGET.delta, Advised.PUBLISH, None),
        (5, 7, 1, LARGE, Advised.SUPPRESS, 5),
        (None, 7, 1, LARGE, Advised.DISCARD, 7),
        (None, None, 1, LARGE, Advised.ADD_NOISE, None),
        (None, None, 50, LARGE, Advised.ADD_NOISE, None),
        (None, None, 51, LARGE, Advised.DO_NOT_PUBLISH, None),
        (None, None, None, LARGE, Advised.DO_NOT_PUBLISH, None),
    ],
)
def test_the_first_that_applies_is_advised(k, discarded, error, certified_delta, verdict, amount):
    noise = None if error is None else Fraction(error)
    cells = Cells(rows=100, k=k, discarded=discarded, error=noise)
    found = advise(cells, TARGET, certified_delta)
    assert (found.verdict, found.amount) == (verdict, amount)
    assert found.headline()
    assert found.because
    assert Advice.from_json(found.to_json()) == found


def test_what_has_no_cells_is_not_suppressed():
    assert advise(FairBits(rows=100), TARGET, LARGE).verdict is Advised.ADD_NOISE
    assert not certified(FairBits(rows=100, known=99), TARGET).may_publish


def test_the_reading_is_the_best_of_the_curve(certificate: Certificate):
    reading = certificate.inference
    assert reading is not None
    assert reading.people == 200
    epsilon = reading.epsilon / 3
    assert reading == inferred(epsilon, certificate.delta(epsilon), people=200)
    others = [inferred(p.epsilon, p.delta, people=200) for p in certificate.points]
    rare = [one for one in others if one.failure <= Fraction(1, 1000)]
    assert reading.belief("0.5") <= min(one.belief("0.5") for one in rare)


def test_without_a_rare_exception_the_reading_says_nothing():
    reading = certified(FairBits(rows=4), TARGET).inference
    assert reading is not None
    assert reading.is_vacuous


def test_a_point_is_its_least_bound():
    assert CertifiedPoint(Fraction(1), {Way.SOURCE: LARGE, Way.TIGHT: SMALL}).delta == SMALL
