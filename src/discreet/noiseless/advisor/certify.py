"""The release advisor: may this exact number be published, and what does that assume?"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.advisor.law_text import WrittenLaw
from discreet.noiseless.advisor.named_choices import ARGMAX, MAJORITY, MAP, SIGN, THRESHOLD
from discreet.noiseless.advisor.named_histograms import HISTOGRAM
from discreet.noiseless.advisor.named_regression import REGRESSION
from discreet.noiseless.advisor.named_sums import MEAN, SUM
from discreet.noiseless.advisor.statistic_question import (
    NOTHING_IS_READ,
    Dependence,
    NamedStatistic,
    StatisticQuestion,
    refuse_data,
)
from discreet.noiseless.certifiable import Certifiable, PrivacyTarget
from discreet.noiseless.certificate import Certificate
from discreet.noiseless.certified import certified
from discreet.noiseless.sums.exact_sum import Chosen, KnownRows

EPSILON, DELTA = "1", "1e-6"
"""What is wanted if nobody says it."""

LARGEST_EPSILON = 100
"""A larger ε promises nothing, and takes long to say so."""

LEAST_EPSILON = Fraction(1, 10**30)
"""For a smaller ε no noise has a size that can be written down."""

STATISTICS: Mapping[str, NamedStatistic] = {
    "sum": SUM,
    "mean": MEAN,
    "histogram": HISTOGRAM,
    "argmax": ARGMAX,
    "majority": MAJORITY,
    "sign": SIGN,
    "threshold": THRESHOLD,
    "map": MAP,
    "regression": REGRESSION,
}
"""What can be asked for by its name."""


def certify(
    statistic: Certifiable | str,
    *,
    rows: Number | None = None,
    known: Number | None = None,
    law: Any = None,
    range: Iterable[Number] | Mapping[str, Iterable[Number]] | None = None,
    grid: Number | Mapping[str, Number] | None = None,
    suppress_below: Number | None = None,
    at_least: Number | None = None,
    use: str | None = None,
    known_rows: KnownRows | str | None = None,
    chosen: Chosen | str | None = None,
    dependence: Dependence | str | None = None,
    epsilon: Number = EPSILON,
    delta: Number = DELTA,
    given: Iterable[str] = (),
) -> Certificate:
    r"""Return whether an exact statistic may be published, and all that this assumes.

    Args:
        statistic: its name, such as ``sum``; or a statistic that was made with its law.
        rows: how many rows there are. It is declared, and becomes public.
        known: how many of them the adversary may know, chosen without regard to their values.
        law: what is asserted of one row, such as ``uniform(0, 100)``; never rows themselves. Of
            several columns ``columns(a=uniform(0, 9), b=…)``, which are independent, or
            ``joint(least, a=within(0, 9), b=within(…))``, which need not be.
        range: public ends to which every value is clamped; of several columns by name, or the same
            for all.
        grid: the step of the public grid that values are on, such as 1 for whole numbers; likewise.
        suppress_below: the least count of a histogram that is shown.
        at_least: how many rows must say yes, of a threshold.
        use: ``split`` or ``grouped``: how rows serve the averages of a regression.
        known_rows: how the known rows were chosen: ``unrelated to their values``.
        chosen: when law and statistic were chosen: ``beforehand``.
        dependence: ``independent``, or ``mixture`` if rows are so only given something unknown.
        epsilon: the ε that is wanted.
        delta: the δ that is wanted at that ε.
        given: names of earlier releases given which the law is asserted.

    Guarantee:
        If all that the certificate lists as assumed is true, the release is
        :math:`(\varepsilon, \delta)`-private for that law at every point of its curve
        [Gro14, definition 5.3]. If it is not true, nothing is promised.

    Assumes:
        The list of the certificate, all of it. Nothing about the data is read.
    """
    said = {
        "rows": rows,
        "known": known,
        "law": law,
        "clamps": range,
        "grid": grid,
        "suppress_below": suppress_below,
        "at_least": at_least,
        "use": use,
        "known_rows": known_rows,
        "chosen": chosen,
        "dependence": dependence,
    }
    stated = {name: value for name, value in said.items() if value is not None}
    wanted = _target(epsilon, delta)
    names = _names(given)
    if not isinstance(statistic, str):
        return certified(_made(statistic, stated), wanted, given=names)
    if statistic not in STATISTICS:
        raise InvalidArgument(
            "There is no such statistic to certify",
            must=f"be one of {', '.join(STATISTICS)}",
            got=statistic[:64],
        )
    question = StatisticQuestion(statistic=statistic, **stated)
    _require_independent(question)
    made = STATISTICS[statistic].of(question)
    written = str(question.law) if isinstance(question.law, WrittenLaw) else ""
    return certified(made, wanted, given=names, law=written)


def _made(statistic: Any, stated: Mapping[str, Any]) -> Certifiable:
    """Return a statistic that was made with its law; nothing more can be said of it."""
    if not all(hasattr(statistic, name) for name in ("deltas", "breaking_points", "assumptions")):
        refuse_data(statistic, "A statistic")
        raise InvalidArgument(
            "That is no statistic", must="be its name, or made by a class of discreet.noiseless"
        )
    if stated:
        raise InvalidArgument(
            "A statistic that was made has its law and its rows",
            must="stand alone",
            got=", ".join(sorted("range" if name == "clamps" else name for name in stated)),
        )
    made: Certifiable = statistic
    return made


def _target(epsilon: Number, delta: Number) -> PrivacyTarget:
    refuse_data(epsilon, "An ε")
    refuse_data(delta, "A δ")
    loss, lost = exact(epsilon), exact(delta)
    if not LEAST_EPSILON <= loss <= LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range",
            must=f"be greater than 0 (at least 1e-30) and at most {LARGEST_EPSILON}",
            got=str(epsilon)[:64],
        )
    if not 0 <= lost < 1:
        raise InvalidArgument(
            "delta is out of range", must="be at least 0 and below 1", got=str(lost)
        )
    return PrivacyTarget(loss, lost)


def _names(given: Iterable[str]) -> tuple[str, ...]:
    if not isinstance(given, Iterable):
        raise InvalidArgument(
            "Earlier releases are listed", must="be names, such as ['june']", got=str(given)[:64]
        )
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if not check.is_unicode(name) or not name:
            raise InvalidArgument("An earlier release has a name", must="be named by a text")
    return names


def _require_independent(question: StatisticQuestion) -> None:
    if question.dependence is Dependence.UNKNOWN:
        raise InvalidArgument(
            "Rows that depend on one another hide nothing that is known of",
            must="be independent, or a mixture: independent given something that the law lists",
            got="rows of which neither is asserted",
            next=f"Assert a mixture, or publish with noise. {NOTHING_IS_READ}",
        )
