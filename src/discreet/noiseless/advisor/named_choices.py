"""Choices by name: a majority, a threshold, and which of several laws the rows are from."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact
from discreet.noiseless.advisor.law_text import WrittenLaw, numbers_of
from discreet.noiseless.advisor.statistic_question import NamedStatistic, StatisticQuestion
from discreet.noiseless.stable.map_release import MapRelease
from discreet.noiseless.stable.most_common import MostCommonRelease
from discreet.noiseless.stable.row_families import RowFamily, finite_family, truncated_normals
from discreet.noiseless.stable.threshold_release import ThresholdRelease

_YES = ("yes", "bernoulli")


def _threshold(question: StatisticQuestion) -> ThresholdRelease:
    """Return whether enough rows say yes: so many, or more than half if nothing is said."""
    law = question.written_law(_YES)
    names = ("low", "high") if len(law.values) + len(law.named) > 1 else ("share",)
    low, *high = law.numbers(*names).values()
    return ThresholdRelease(
        rows=question.needed("rows"),
        known=question.known,
        threshold=question.at_least,
        low=low,
        high=high[0] if high else None,
    )


def _fixed(question: StatisticQuestion) -> ThresholdRelease:
    question.needed("at_least")
    return _threshold(question)


def _map(question: StatisticQuestion) -> MapRelease:
    law = question.needed("law")
    family = law if isinstance(law, RowFamily) else _family(question)
    return MapRelease(family=family, rows=question.needed("rows"), known=question.known)


def _family(question: StatisticQuestion) -> RowFamily:
    """Return the family that a mixture lists: coins, laws on a few values, or normal ones."""
    mixture = question.written_law(("mixture",))
    laws = {str(one): one for one in (*mixture.values, *mixture.named.values())}
    members = [one for one in laws.values() if isinstance(one, WrittenLaw)]
    kinds = {one.kind for one in members}
    if len(members) < len(laws) or len(kinds) != 1:
        raise InvalidArgument(
            "The laws to choose from are of one kind",
            must="be a mixture of bernoulli, of discrete or of normal laws",
        )
    match kinds.pop():
        case "bernoulli":
            shares = [one.numbers("share")["share"] for one in members]
            return finite_family({str(s): [1 - s, s] for s in shares})
        case "discrete":
            return _discrete(members)
        case "normal":
            return _normal(members, *question.needed("clamps"))
    raise InvalidArgument(
        "No choice between such laws is certified", must="be bernoulli, discrete or normal laws"
    )


def _discrete(members: Sequence[WrittenLaw]) -> RowFamily:
    values = [sorted((exact(value), value) for value in one.named) for one in members]
    if any([v for v, _ in one] != [v for v, _ in values[0]] for one in values):
        raise InvalidArgument(
            "The laws have different values",
            must="list the same values",
            next="A value that one law excludes would tell the law from a single row",
        )
    listed = zip(members, values, strict=True)
    return finite_family({str(one): [_mass(one, key) for _, key in at] for one, at in listed})


def _mass(law: WrittenLaw, key: str) -> Fraction:
    mass = law.named[key]
    if not isinstance(mass, Fraction):
        raise InvalidArgument("A probability is a number", must="be one", got=str(mass))
    return mass


def _normal(members: Sequence[WrittenLaw], low: Fraction, high: Fraction) -> RowFamily:
    said = [one.numbers("mean", "deviation") for one in members]
    deviations = {one["deviation"] for one in said}
    if len(deviations) != 1:
        raise InvalidArgument(
            "The normal laws have different deviations", must="have the same deviation"
        )
    means = [one["mean"] for one in said]
    return truncated_normals(means, deviation=deviations.pop(), low=low, high=high)


def _argmax(question: StatisticQuestion) -> MostCommonRelease:
    """Return which category most rows have; the law lists their probabilities in order."""
    law = question.written_law(("shares",))
    return MostCommonRelease(
        shares=numbers_of(law), rows=question.needed("rows"), known=question.known
    )


ARGMAX = NamedStatistic(_argmax, "which category most rows have", {"rows", "known"})
MAJORITY = NamedStatistic(
    _threshold, "whether more than half of the rows say yes", {"rows", "known"}
)
SIGN = NamedStatistic(_threshold, "whether a sum of +1 and -1 is above 0", {"rows", "known"})
THRESHOLD = NamedStatistic(
    _fixed, "whether at least a number of rows say yes", {"rows", "known", "at_least"}
)
MAP = NamedStatistic(
    _map, "which of several laws the rows are most likely from", {"rows", "known", "clamps"}
)
