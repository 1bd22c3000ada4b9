"""One text for one value."""

import datetime
from fractions import Fraction
from typing import Any

import pytest

from discreet.core.canonical import canonical, described, digest
from discreet.core.contribution import Metric
from discreet.tables.catalog import Limits


def test_order_of_keys_does_not_matter():
    assert digest({"a": 1, "b": [2, None]}) == digest({"b": [2, None], "a": 1})
    assert digest({"a": 1}) != digest({"a": "1"})


class Odd(dict[str, int]):
    """It is written by its items, whatever its values are."""

    def items(self) -> Any:
        return [("a", 0.5)]


@pytest.mark.parametrize("value", [0.5, {"a": [0.5]}, {1: "a"}, [(0.5,)], Odd(a=1)])
def test_what_has_no_one_text_is_refused(value):
    with pytest.raises(TypeError):
        canonical(value)


def test_nouns_are_described_with_their_class():
    assert described(Limits(rows_per_group=1, groups_per_unit=2)) == {
        "is": "Limits",
        "rows_per_group": 1,
        "groups_per_unit": 2,
    }
    assert described((Metric.CHANGE_ONE, Fraction(1, 2))) == ["change_one", "1/2"]
    assert described(datetime.date(2025, 1, 2)) == {"date": "2025-01-02"}
    with pytest.raises(TypeError):
        described(object())
