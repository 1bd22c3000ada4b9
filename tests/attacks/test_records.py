"""Rows are singled out, linked and given away, as plain counting says they are."""

import math
from collections import Counter
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.attacks.records.class_report import (
    find_homogeneous,
    report_anonymity,
    sensitive_candidates,
)
from discreet.attacks.records.coded_rows import CodedColumn, CodedRows, code_rows, read_rows
from discreet.attacks.records.linkage import link_rows
from discreet.attacks.records.uniqueness import find_unique
from discreet.core.errors import InvalidArgument
from discreet.randomness.samplers import uniform_integers

SMALL = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)
NAMES = ("zip", "sex", "ill")


def rows_of(records) -> CodedRows:
    return code_rows({name: [one[place] for one in records] for place, name in enumerate(NAMES)})


# ---- Uniqueness.


@given(SMALL)
def test_unique_shares_are_what_counting_finds(records):
    report = find_unique(rows_of(records))
    assert len(report.shares) == 7
    for share in report.shares:
        places = [NAMES.index(name) for name in share.columns]
        counts = Counter(tuple(one[place] for place in places) for one in records)
        assert share.unique == sum(count == 1 for count in counts.values())
        assert share.smallest == min(counts.values())
    assert [one.unique for one in report.shares] == sorted(
        (one.unique for one in report.shares), reverse=True
    )


def test_wide_keys_are_ranked_and_stay_different():
    """Four columns with 2**20 values each would pass 2**62."""
    wide = tuple(range(1 << 20))
    codes = np.array([0, 1, 0, (1 << 20) - 1], dtype=np.int64)
    column = CodedColumn(codes=codes, values=wide)
    rows = CodedRows(columns=dict.fromkeys("abcd", column), rows=4)
    assert rows.class_sizes("abcd").tolist() == [2, 1, 2, 1]
    assert find_unique(rows, most=4).shares[-1].unique == 2


def test_three_of_twelve_columns(soak, rng):
    """The sets are all there, and each has the share of a plain count of rows."""
    size = soak.cases(2000)
    columns = {f"c{place}": uniform_integers(20, size, rng) for place in range(12)}
    report = find_unique(code_rows(columns))
    assert len(report.shares) == 12 + 66 + 220
    checked = {one.columns: one for one in report.shares}
    for names in list(combinations(columns, 3))[::40]:
        counts = Counter(zip(*(columns[name].tolist() for name in names), strict=True))
        assert checked[names].unique == sum(count == 1 for count in counts.values())
    assert "rows alone" in str(report)


# ---- Linkage.


def test_everybody_who_is_unique_is_linked(rng):
    size = 300
    people = {
        "zip": uniform_integers(30, size, rng).tolist(),
        "born": uniform_integers(30, size, rng).tolist(),
        "name": list(range(size)),
    }
    order = np.argsort(uniform_integers(1 << 40, size, rng)).tolist()
    medical = code_rows({name: [people[name][it] for it in order] for name in people})
    voters = code_rows(people)
    found = link_rows(medical, voters, on=["zip", "born"])
    alone = int((voters.class_sizes(["zip", "born"]) == 1).sum())
    assert found.released.size == alone > 0
    assert medical.values("name", found.released) == voters.values("name", found.public)
    assert f"{alone} of 300" in str(found)


def test_who_is_twice_on_the_list_is_not_linked():
    rows = code_rows({"zip": [1, 2]})
    found = link_rows(rows, code_rows({"zip": [1, 1, 2]}), on=["zip"])
    assert (found.released.tolist(), found.public.tolist()) == ([1], [2])
    assert "zip" not in repr(found)


def test_rows_that_lack_a_value_are_not_linked():
    """That a value is missing in both says nothing about whose it is."""
    rows = code_rows({"zip": [None, 2], "sex": ["F", "M"]})
    found = link_rows(rows, rows, on=["zip", "sex"])
    assert (found.released.tolist(), found.public.tolist()) == ([1], [1])


# ---- Classes.


@given(SMALL, st.booleans())
def test_measures_are_their_definitions(records, is_ordered):
    found = report_anonymity(
        rows_of(records), quasi=["zip", "sex"], sensitive="ill", is_ordered=is_ordered
    )
    classes: dict[tuple, list[int]] = {}
    for zip_code, sex, ill in records:
        classes.setdefault((zip_code, sex), []).append(ill)
    values = sorted({one[2] for one in records})
    everybody = [one[2] for one in records]
    assert found.k == min(map(len, classes.values()))
    assert found.distinct == min(len(set(one)) for one in classes.values())
    entropies = [
        -sum(n / len(one) * math.log(n / len(one)) for n in Counter(one).values())
        for one in classes.values()
    ]
    assert found.entropy == pytest.approx(math.exp(min(entropies)))
    assert found.closeness == max(
        _distance(one, everybody, values, is_ordered) for one in classes.values()
    )


def _distance(part, whole, values, is_ordered) -> Fraction:
    gaps = [
        Fraction(part.count(value), len(part)) - Fraction(whole.count(value), len(whole))
        for value in values
    ]
    if not is_ordered:
        return sum(map(abs, gaps), Fraction(0)) / 2
    running = [abs(sum(gaps[: place + 1], Fraction(0))) for place in range(len(gaps))]
    return sum(running, Fraction(0)) / max(1, len(values) - 1)


@given(SMALL)
def test_homogeneous_classes_are_what_counting_finds(records):
    rows = rows_of(records)
    found = find_homogeneous(rows, quasi=["zip"], sensitive="ill")
    classes: dict[int, list[int]] = {}
    for zip_code, _, ill in records:
        classes.setdefault(zip_code, []).append(ill)
    exposed = {key: ills for key, ills in classes.items() if len(set(ills)) == 1}
    assert found.exposed == sum(map(len, exposed.values()))
    told = zip(rows.values("zip", found.first), rows.values("ill", found.first), strict=True)
    assert dict(told) == {key: ills[0] for key, ills in exposed.items()}


def test_two_anonymous_releases_intersect():
    """Both are 2-anonymous with two values in a class, and together they give one away."""
    first = code_rows({"zip": [1, 1, 2, 2], "ill": ["flu", "hiv", "flu", "cold"]})
    second = code_rows({"zip": [1, 1, 2, 2], "ill": ["hiv", "cold", "flu", "cold"]})
    both = [sensitive_candidates(one, known={"zip": 1}, sensitive="ill") for one in (first, second)]
    assert both[0] & both[1] == {"hiv"}
    assert sensitive_candidates(first, known={"zip": 1}, sensitive="ill", without=["flu"]) == {
        "hiv"
    }


def test_suppressed_values_agree_with_anything():
    rows = code_rows({"zip": [None, 2], "ill": ["a", "b"]})
    assert sensitive_candidates(rows, known={"zip": 1}, sensitive="ill") == {"a"}


# ---- Bad input.


def test_files_are_read_alike(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("zip,sex\n1,F\n1,F\n2,M\n")
    assert read_rows(path).class_sizes(["zip", "sex"]).tolist() == [2, 2, 1]
    for text in ("", "zip,zip\n1,2\n", "zip\n", "zip,sex\n1\n"):
        path.write_text(text)
        with pytest.raises(InvalidArgument):
            read_rows(path)
    with pytest.raises(InvalidArgument, match="cannot be read"):
        read_rows(tmp_path / "missing.parquet")


def test_a_header_of_other_bytes_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xff\xfe\x80,b\n1,2\n")
    with pytest.raises(InvalidArgument, match="cannot be read"):
        read_rows(path)


def test_bad_input_is_refused():
    rows = code_rows({"zip": [1, 2], "ill": ["a", None]})
    with pytest.raises(InvalidArgument, match="no column age"):
        rows.class_sizes(["age"])
    with pytest.raises(InvalidArgument, match="no rows"):
        code_rows({"zip": []})
    with pytest.raises(InvalidArgument, match="no rows"):
        code_rows({"zip": [1], "ill": ["a", "b"]})
    with pytest.raises(InvalidArgument, match="no columns"):
        code_rows({"zip": [1, "a"]})
    with pytest.raises(InvalidArgument, match="join on"):
        link_rows(rows, rows, on=[])
    with pytest.raises(InvalidArgument, match="same kind of values"):
        link_rows(rows, code_rows({"zip": ["1", "2b"]}), on=["zip"])
    with pytest.raises(InvalidArgument, match="no column age"):
        link_rows(rows, rows, on=["age"])
    with pytest.raises(InvalidArgument, match="overlap"):
        report_anonymity(rows, quasi=["ill"], sensitive="ill")
    with pytest.raises(InvalidArgument, match="no order"):
        report_anonymity(rows, quasi=["zip"], sensitive="ill", is_ordered=True)
    with pytest.raises(InvalidArgument, match="to search"):
        find_unique(rows, columns=["zip", "zip"])


def test_text_of_rows_holds_no_value():
    assert repr(code_rows({"zip": ["secret"]})) == "CodedRows(1 rows of zip)"


# ---- Odd columns: nobody is linked by what is missing, and no digit is lost.


def test_an_empty_field_links_nobody(tmp_path):
    for name, text in (("one", "zip,name\n1,\n2,Ann\n"), ("other", "zip,name\n8,\n9,Ann\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    found = [read_rows(tmp_path / f"{name}.csv") for name in ("one", "other")]
    linked = link_rows(*found, on=["name"])
    assert (linked.released.tolist(), linked.public.tolist()) == ([1], [1])


def test_what_is_no_number_links_nobody_and_there_is_one_zero():
    rows = code_rows({"weight": [math.nan, 0.0, -0.0, 5.5], "height": [1.0, math.nan, 2.0, 3.0]})
    assert rows.column("weight").values == (None, 0.0, 5.5)
    alone = code_rows({"weight": [math.nan, 5.5]})
    assert link_rows(rows, alone, on=["weight"]).released.tolist() == [3]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        (["02138", "2138", ""], ("02138", "2138", None)),
        (["10115", "2138", ""], (10115, 2138, None)),
        (["0", "-5", "10"], (0, -5, 10)),
        (["0.5", "01.5"], ("0.5", "01.5")),
        (["0.5", "1e3"], (0.5, 1000.0)),
        (
            ["123456789012345678901", "123456789012345678902"],
            ("123456789012345678901", "123456789012345678902"),
        ),
        (["NA", "DE", ""], ("NA", "DE", None)),
    ],
)
def test_texts_of_digits_keep_every_digit(tmp_path, written, values):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["zip,x", *(f"{one},1" for one in written)]))
    assert read_rows(path).column("zip").values == values


def test_zip_codes_of_two_files_are_linked_whatever_zeros_they_have():
    with_zeros = code_rows({"zip": ["02138", "10115"]})
    without = code_rows({"zip": [10115, 10117]})
    found = link_rows(with_zeros, without, on=["zip"])
    assert (found.released.tolist(), found.public.tolist()) == ([1], [0])
    with pytest.raises(InvalidArgument, match="same kind of values"):
        link_rows(code_rows({"zip": ["Bath"]}), without, on=["zip"])
    days = [
        code_rows({"born": [one]})
        for one in (date(1990, 1, 1), datetime(1990, 1, 1, 5, tzinfo=UTC))
    ]
    with pytest.raises(InvalidArgument, match="same kind of values"):
        link_rows(*days, on=["born"])


def test_columns_of_arrow_that_are_no_plain_values(tmp_path):
    path = tmp_path / "rows.parquet"
    names = pa.chunked_array([pa.array(part).dictionary_encode() for part in (["a", "b"], ["b"])])
    parquet.write_table(pa.table({"name": names}), path)
    assert read_rows(path).class_sizes(["name"]).tolist() == [1, 2, 2]
    parquet.write_table(pa.table({"seen": [[1], [2]]}), path)
    with pytest.raises(InvalidArgument, match="seen cannot be compared"):
        read_rows(path)
    with pytest.raises(InvalidArgument, match="no columns"):
        code_rows({"name": 5})  # type: ignore[dict-item]
