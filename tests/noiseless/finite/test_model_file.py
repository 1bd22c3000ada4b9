"""A model file: what it says is checked, what it does not say is asked for by name and line."""

import json
from fractions import Fraction

import pytest

from discreet.core.errors import DeclarationError, DiscreetError, InvalidArgument
from discreet.noiseless.finite.checked_model import check_model

SIGN = """
definition = "distributional"
epsilon = [0, 0.5]
universe = [-1, 1]
rows = 5

[mechanism]
name = "sign"

[[law.part]]
weight = "1/2"
probabilities = [0.95, 0.05]

[[law.part]]
weight = "1/2"
probabilities = [0.05, 0.95]
"""

SUM = {
    "definition": "distributional",
    "epsilon": 0,
    "universe": [0, 1],
    "rows": 4,
    "law": {"probabilities": ["1/2", "1/2"]},
    "mechanism": {"name": "sum"},
}


def with_(**more):
    return {key: value for key, value in {**SUM, **more}.items() if value is not None}


def deltas(model):
    return [float(one.high) for one in check_model(model).found]


def test_a_file_of_toml(tmp_path):
    path = tmp_path / "sign.toml"
    path.write_text(SIGN, encoding="utf-8")
    checked = check_model(path)
    assert [float(one.high) for one in checked.found] == pytest.approx([0.00677, 0], abs=1e-5)
    assert "Distributional privacy (coupled worlds) of the sign of all rows" in checked.text
    assert "32 databases" in str(checked)
    assert "it holds without any δ" in checked.text
    noted = json.loads(json.dumps(checked.to_json()))
    assert noted["deltas"][1]["high"] == "0"
    assert noted["deltas"][0]["delta"] >= Fraction(noted["deltas"][0]["high"])


@pytest.mark.parametrize(
    ("more", "delta"),
    [
        ({}, 0.1875),
        ({"definition": "noiseless"}, 0.375),
        ({"mechanism": {"name": "parity"}}, 0),
        ({"mechanism": {"name": "parity"}, "known": {"statistic": "parity"}}, 0.5),
        ({"mechanism": {"name": "count", "of": 1}}, 0.1875),
        ({"mechanism": {"name": "histogram"}}, 0.1875),
        ({"mechanism": {"name": "mean"}}, 0.1875),
        ({"known": {"rows": [1, 2, 3, 4]}}, 0.5),
        ({"known": {"rows": [1, 2]}}, 0.25),
        ({"rows": 2}, 0.25),
        ({"definition": "differential", "law": None}, 1),
        ({"definition": "simulated", "law": None}, 0.5),
        ({"is_position_known": False}, 0.1875),
        ({"private": {"groups": [[1, 2], [3, 4]]}}, 0.1875),
        ({"definition": "semantic", "default": 0, "epsilon": 1}, 0),
        ({"definition": "pufferfish", "secret": [{"row": 1, "zero": [0], "one": [1]}]}, 0.375),
        ({"definition": "inference", "mechanism": {"name": "parity"}}, 0),
        ({"mechanism": {"name": "maximum"}}, 0.0625),
    ],
)
def test_what_each_word_means(more, delta):
    """Two rows that are known are two rows fewer; if all are known, it is the worst case."""
    assert deltas(with_(**more)) == pytest.approx([delta], abs=1e-9)


def test_rows_with_columns_of_which_one_is_private():
    names = with_(
        universe=[["a", 0], ["a", 1], ["b", 0], ["b", 1]],
        rows=1,
        law={"probabilities": ["1/4"] * 4},
        mechanism={"name": "histogram"},
        private={"columns": [2]},
    )
    assert deltas(names) == [0.5]


def test_tables_of_laws_and_of_releases():
    table = with_(
        rows=1,
        law={
            "table": [
                {"database": [0], "probability": "1/4"},
                {"database": [1], "probability": "3/4"},
            ]
        },
        mechanism={
            "table": [
                {"database": [0], "released": {"yes": "3/4", "no": "1/4"}},
                {"database": [1], "released": {"yes": "1/4", "no": "3/4"}},
            ]
        },
        delta=0,
    )
    checked = check_model(table)
    assert checked.found[0].high == Fraction(1, 4)
    assert checked.least is not None
    assert checked.least.high == pytest.approx(0.6931, abs=2e-4)
    assert "Least ε with δ = 0" in checked.text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"definition": "private"}, "definition"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": []}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": None}, "epsilon is missing"),
        ({"delta": 2}, "delta"),
        ({"universe": []}, "universe"),
        ({"universe": [0, 0]}, "universe"),
        ({"universe": [True, False]}, "universe"),
        ({"rows": 0}, "rows"),
        ({"rows": 65}, "rows"),
        ({"rows": 17}, "131072 databases"),
        ({"law": None}, "law is missing"),
        ({"law": {"probabilities": ["1/2", "1/4"]}}, "sum to exactly 1"),
        ({"law": {"probabilities": ["1/2"]}}, "does not fit"),
        ({"law": {"probabilities": [{}, {}]}}, "not a number"),
        ({"law": {"probabilities": ["1/2", "1/2"], "wright": 1}}, "law.wright"),
        ({"law": [3]}, "law is no table"),
        ({"law": {"part": [{"weight": 1}]}}, "not complete"),
        ({"law": {"table": [{"database": [0], "probability": 1}]}}, "list of 4 rows"),
        ({"mechanism": None}, "mechanism is missing"),
        ({"mechanism": {"name": "median"}}, "mechanism.name"),
        ({"mechanism": {"name": "count"}}, "mechanism.of"),
        ({"mechanism": {"table": [{"database": [0], "released": 1}]}}, "lacks 16 of 16"),
        ({"mechanism": {"table": [{"database": [0], "released": []}]}}, "mechanism.table"),
        ({"universe": ["a", "b"]}, "universe of numbers"),
        ({"known": {"rows": [5]}}, "from 1 to 4"),
        ({"known": {"rows": [1, 1]}}, "different numbers"),
        ({"known": {"row": 1}}, "known.row"),
        ({"private": {"columns": [1]}}, "rows with columns"),
        ({"private": {"groups": [[1], [1]]}}, "private.groups"),
        ({"private": {"groups": [5]}}, "private.groups"),
        ({"definition": "differential"}, "law is not asked for"),
        ({"definition": "semantic"}, "default is missing"),
        ({"definition": "semantic", "default": 7}, "in the universe"),
        ({"definition": "pufferfish"}, "secret is missing"),
        ({"definition": "pufferfish", "secret": [{"row": 1, "zero": [0], "one": [0]}]}, "secret"),
        ({"definition": "pufferfish", "secret": [3]}, "secret.row"),
        ({"is_position_known": 1}, "is_position_known"),
        ({"epsilom": 1}, "epsilom is not a setting"),
    ],
)
def test_what_is_wrong_is_named(more, said):
    with pytest.raises(DiscreetError, match=said):
        check_model(with_(**more))


def test_a_line_is_named(tmp_path):
    path = tmp_path / "sign.toml"
    path.write_text(SIGN.replace('"sign"', '"sine"'), encoding="utf-8")
    with pytest.raises(DeclarationError, match="line 8"):
        check_model(path)


@pytest.mark.parametrize("text", ["definition = ", "\x00", "a = 1\na = 2"])
def test_what_is_no_toml(tmp_path, text):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DeclarationError, match=r"bad\.toml is not valid TOML"):
        check_model(path)


def test_no_file_and_no_model(tmp_path):
    with pytest.raises(InvalidArgument, match="cannot be read"):
        check_model(tmp_path / "none.toml")
    with pytest.raises(InvalidArgument, match="nothing else"):
        check_model(with_(universe={1, 2}))
