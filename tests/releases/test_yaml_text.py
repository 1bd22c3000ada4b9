"""YAML: whatever a text is, it is read back as that text."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from discreet.releases.yaml_text import yaml_text

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
    st.sampled_from(["no", "null", "1e3", "~", "- a", "a: b", "#", "2020-01-01", "'", '"', "\\"]),
)
NAMES = st.sampled_from(["a", "b_c", "unit", "no", "on", "y"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b_c", "unit"]), VALUES, max_size=3))
def test_what_is_written_is_read_back(value: dict[str, Any]):
    found = yaml.safe_load(yaml_text(value)) or {}
    assert found == spelled(value)


def spelled(value: Any) -> Any:
    """Return what a reader of YAML 1.1 makes of names like ``no``, which are never ours."""
    if isinstance(value, dict):
        words = {"no": False, "on": True}
        return {words.get(name, name): spelled(item) for name, item in value.items()}
    return [spelled(item) for item in value] if isinstance(value, list) else value


def test_layout():
    value = {"a": [{"b": "x", "c": [1, 2]}, [], "y\n"], "d": {}, "e": {"f": 1e-7, "g": True}}
    assert yaml_text(value).splitlines() == [
        "a:",
        '  - b: "x"',
        "    c:",
        "      - 1",
        "      - 2",
        "  - []",
        r'  - "y\n"',
        "d: {}",
        "e:",
        "  f: 1.0e-07",
        "  g: true",
    ]


@pytest.mark.parametrize("value", [{"a b": 1}, {"a": object()}, {"": 1}, {"a": b"x"}])
def test_what_has_no_yaml_is_refused(value):
    with pytest.raises(TypeError):
        yaml_text(value)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_number_is_refused(number):
    with pytest.raises(ValueError, match="JSON compliant"):
        yaml_text({"a": number})


def test_control_characters_are_escaped():
    text = yaml_text({"a": "\x7f\u2028\x01\u202e\U000e0001"})
    assert text == 'a: "\\u007f\\u2028\\u0001\\u202e\\U000e0001"\n'
