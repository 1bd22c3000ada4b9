"""Whoever takes a member of an enumeration takes its text too, and lists the members otherwise.

A text that went through as it is would be no member: every ``is`` after it is false, and the weaker
of two rules may be taken.
"""

import importlib
import inspect
import types
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any

import attrs
import pytest

import discreet
from discreet.accounting.composition.loss_curve import RoundedSide
from discreet.accounting.conversions.convert import convert
from discreet.accounting.filters.filter import PrivacyFilter
from discreet.accounting.losses.group import convert_neighbours
from discreet.accounting.losses.parallel import Partition, parallel
from discreet.accounting.meaning import Meaning
from discreet.accounting.pld.counted_events import Direction
from discreet.accounting.pld.loss_sum import Coverage
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Measure, Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.noisy_histogram import histogram_contribution
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.report_noisy_max import MaxNoise, report_noisy_max
from discreet.mechanisms.selection.scores import Scores
from discreet.mechanisms.selection.top_k import TopK
from discreet.mechanisms.stability.stable_histogram import stable_histogram
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector
from tests.support.house.paths import SRC

FLOORS = ("core", "randomness", "accounting", "mechanisms")
"""What researchers call in Python. Above them, enumerations are made by the readers of text."""

INNER = {RoundedSide, Coverage, Direction}
"""Names for the ends of one computation, which nothing outside of it chooses."""

NOISE = DiscreteLaplace(scale=2)


def public() -> Iterator[tuple[str, Any]]:
    """Every public class and function of the lower floors, and every name of the root."""
    for name in discreet.__all__:
        yield name, getattr(discreet, name)
    for path in (path for floor in FLOORS for path in sorted((SRC / floor).rglob("*.py"))):
        module = ".".join(("discreet", *path.relative_to(SRC).with_suffix("").parts))
        for name, thing in vars(importlib.import_module(module)).items():
            if not name.startswith("_") and getattr(thing, "__module__", "") == module:
                yield f"{module}.{name}", thing


def enums_in(hint: Any) -> set[type[Enum]]:
    """Return the enumerations that an annotation allows."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {hint} - INNER
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return {enum for part in typing.get_args(hint) for enum in enums_in(part)}
    return set()


def functions(thing: Any) -> Iterator[Any]:
    """Return a function, or the public methods that a class defines itself."""
    if inspect.isfunction(thing):
        yield thing
    elif inspect.isclass(thing) and not issubclass(thing, Enum):
        for name, value in vars(thing).items():
            found = getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(found):
                yield found


def stubborn(thing: Any) -> list[str]:
    """Return the parameters of a class or a function that take a member and not its text."""
    if inspect.isclass(thing) and attrs.has(thing):
        attrs.resolve_types(thing)
        fields = [a for a in attrs.fields(thing) if a.init and enums_in(a.type)]
        return [a.name for a in fields if not takes_text(a)] + taken_by_functions(thing)
    return taken_by_functions(thing)


def taken_by_functions(thing: Any) -> list[str]:
    found = []
    for function in functions(thing):
        found += [
            f"{function.__name__}({parameter.name})"
            for parameter in inspect.signature(function).parameters.values()
            if enums_in(hint := hint_of(parameter, function)) and str not in typing.get_args(hint)
        ]
    return found


def hint_of(parameter: inspect.Parameter, function: Any) -> Any:
    """Return an annotation; one in quotes is read where it stands."""
    hint = parameter.annotation
    is_ours = isinstance(hint, str) and "Attribute[" not in hint
    return eval(hint, function.__globals__) if is_ours else hint


def takes_text(attribute: "attrs.Attribute[Any]") -> bool:
    """Tell whether the field's converter knows the text of each member, and refuses others."""
    converter = attribute.converter
    if converter is None:
        return False
    try:
        converter("no such member")
    except InvalidArgument as refusal:
        members = [member for enum in enums_in(attribute.type) for member in enum]
        return all(
            converter(member.value) is member and member.value in str(refusal) for member in members
        )
    return False


def test_whoever_takes_a_member_takes_its_text():
    found = {name: stubborn(thing) for name, thing in public()}
    assert not {name: parameters for name, parameters in found.items() if parameters}


def open_minded(relation: Metric | str) -> None:
    """Take a text too."""


def narrow_minded(relation: Metric) -> None:
    """Take a member alone."""


@attrs.frozen
class Narrow:
    """A noun that lets any text through."""

    relation: Metric


def test_a_function_or_a_noun_that_takes_a_member_alone_is_found():
    assert stubborn(narrow_minded) == ["narrow_minded(relation)"]
    assert stubborn(Narrow) == ["relation"]
    assert not stubborn(open_minded)


@pytest.mark.parametrize(
    "call",
    [
        lambda text: Contribution(l1=1, metric=text(Metric.CHANGE_ONE)),
        lambda text: Meaning(loss=Approximate(1, 0), metric=text(Metric.ADD_REMOVE)).fact("0.5"),
        lambda text: Meaning.of(Pure(1), metric=text(Metric.CHANGE_ONE)).fact("0.5"),
        lambda text: parallel(
            [Pure(1)], metric=text(Metric.CHANGE_ONE), partition=text(Partition.BY_UNIT)
        ),
        lambda text: histogram_contribution(text(Metric.CHANGE_ONE)),
        lambda text: stable_histogram(loss=Approximate(1, "1e-6"), metric=text(Metric.CHANGE_ONE)),
        lambda text: ExponentialMechanism.calibrate(
            d_in=Contribution(linf=1), loss=Pure(1), scores=text(Scores.MONOTONE)
        ),
        lambda text: TopK.calibrate(
            count=2, d_in=Contribution(linf=1), loss=Pure(1), scores=text(Scores.MONOTONE)
        ),
        lambda text: report_noisy_max(
            text(MaxNoise.LAPLACE), scale=3, scores=text(Scores.MONOTONE)
        ),
        lambda text: SparseVector(
            threshold_noise=NOISE, query_noise=NOISE, most_above=3, redraw=text(Redraw.AFTER_ABOVE)
        ).event(Contribution(linf=1)),
        lambda text: PrivacyFilter(Approximate(1, "1e-6"), kept_as=text(Measure.ZCDP)).limit,
        lambda text: convert(Pure(1), to=text(Measure.ZCDP)),
        lambda text: convert_neighbours(
            Pure(1), source=text(Metric.ADD_REMOVE), target=text(Metric.CHANGE_ONE)
        ),
    ],
)
def test_a_text_means_what_the_member_means(call: Any):
    """Also where the weaker rule would be taken for a text: ``Meaning``, parts by rows."""
    assert call(lambda member: member.value) == call(lambda member: member)
    with pytest.raises(InvalidArgument, match="one of"):
        call(lambda member: "no such member")


def test_a_change_that_can_move_a_unit_is_refused_by_its_name_too():
    with pytest.raises(Unsupported, match="move a unit"):
        parallel([Pure(1)], metric="change_one", partition="by_rows")
