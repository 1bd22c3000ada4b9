"""Each classical way to mask rows does what it says, and an attack goes round it."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.records.coded_rows import CodedRows, code_rows
from discreet.attacks.records.hierarchy import NumberIntervals
from discreet.attacks.records.linkage import link_rows
from discreet.attacks.records.mask_rows import (
    collapse,
    inject_noise,
    sample_rows,
    swap_values,
    top_code,
)
from discreet.attacks.records.uniqueness import find_unique
from discreet.attacks.records.unmask import link_nearest, score_links, undo_top_code
from discreet.core.errors import InvalidArgument
from discreet.randomness.samplers import uniform_integers

SIZE = 800
COLUMNS = ["zip", "born", "pay", "visits"]


def people(rng) -> CodedRows:
    tops = {"zip": 400, "born": 20_000, "pay": 90_000, "visits": 300}
    columns = {name: uniform_integers(top, SIZE, rng).tolist() for name, top in tops.items()}
    return code_rows(columns)


def everything(rows: CodedRows, name: str) -> list:
    return rows.values(name, np.arange(rows.rows))


def test_top_coding_hides_no_single_value_if_the_total_is_printed(rng):
    values = [*uniform_integers(90, 50, rng).tolist(), 4321, None]
    rows = code_rows({"pay": values})
    masked = everything(top_code(rows, column="pay", cap=100).rows, "pay")
    assert max(it for it in masked if it is not None) == 100
    total = sum(it for it in values if it is not None)
    alone = (Fraction(4321), Fraction(4321))
    assert undo_top_code(masked, cap=100, total=total, high=10**6) == alone
    two = (Fraction(100), Fraction(900))
    assert undo_top_code([100, 100, 7], cap=100, total=1007, high=900) == two
    assert undo_top_code([1, 2], cap=100, total=3, high=900) is None
    with pytest.raises(InvalidArgument, match="have the sum"):
        undo_top_code([100, 1], cap=100, total=50, high=900)


def test_noise_moves_rows_and_they_are_found_by_what_is_nearest(rng):
    rows = people(rng)
    masked = inject_noise(rows, columns=["born", "pay"], scale=200, rng=rng)
    assert everything(masked.rows, "zip") == everything(rows, "zip")
    on = ["born", "pay", "zip", "visits"]
    assert score_links(link_rows(masked.rows, rows, on=on), masked).right < SIZE / 50
    found = score_links(link_nearest(masked.rows, rows, on=on), masked)
    assert found.right > 0.9 * SIZE
    assert f"{found.right} of the links" in str(found)


def test_so_much_noise_that_nothing_is_near(rng):
    rows = people(rng)
    masked = inject_noise(rows, columns=COLUMNS, scale=10**6, rng=rng)
    found = score_links(link_nearest(masked.rows, rows, on=COLUMNS), masked)
    assert found.right < SIZE / 20


def test_swapping_keeps_every_marginal_and_most_links(rng):
    rows = people(rng)
    masked = swap_values(rows, columns=["zip", "visits"], share="0.1", rng=rng)
    for name in COLUMNS:
        assert Counter(everything(masked.rows, name)) == Counter(everything(rows, name))
    pairs = [
        list(zip(everything(one, "zip"), everything(one, "visits"), strict=True))
        for one in (rows, masked.rows)
    ]
    assert Counter(pairs[0]) == Counter(pairs[1])
    moved = sum(one != other for one, other in zip(*pairs, strict=True))
    assert SIZE / 50 < moved < SIZE / 5
    found = score_links(link_rows(masked.rows, rows, on=COLUMNS), masked)
    assert found.right == found.linked >= 0.7 * SIZE


def test_everybody_swaps_and_nobody_keeps_their_own(rng):
    rows = code_rows({"zip": list(range(50)), "pay": list(range(50))})
    masked = swap_values(rows, columns=["zip"], share=1, rng=rng)
    before, after = everything(rows, "zip"), everything(masked.rows, "zip")
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_who_is_unique_on_the_list_is_known_in_a_sample(rng):
    rows = people(rng)
    masked = sample_rows(rows, share="0.25", rng=rng)
    found = score_links(link_rows(masked.rows, rows, on=["zip", "born"]), masked)
    alone = rows.class_sizes(["zip", "born"]) == 1
    assert found.linked == found.right == int(alone[masked.source].sum()) > SIZE / 10


def test_collapsed_columns_are_unique_together(rng):
    rows = people(rng)
    by = {"born": 2000, "pay": 10_000, "visits": 30, "zip": 20}
    masked = rows
    for name, width in by.items():
        masked = collapse(masked, column=name, hierarchy=NumberIntervals(widths=[width])).rows
        assert len(masked.column(name).values) < 25
    report = find_unique(masked, columns=list(by), most=4)
    assert report.shares[0].columns == tuple(by)
    assert report.shares[0].share > Fraction(9, 10)


def test_missing_values_are_left_out_of_distances():
    rows = code_rows({"age": [1, None, 9]})
    found = link_nearest(rows, rows, on=["age"])
    assert found.released.tolist() == found.public.tolist() == [0, 2]


def test_bad_input_is_refused(rng):
    rows = code_rows({"age": [1, 2], "name": ["a", "b"], "none": [None, None]})
    with pytest.raises(InvalidArgument, match="no whole numbers"):
        top_code(rows, column="name", cap=3)
    with pytest.raises(InvalidArgument, match="no whole numbers"):
        inject_noise(code_rows({"x": [0.5]}), columns=["x"], scale=1, rng=rng)
    with pytest.raises(InvalidArgument, match="from 0 to 1"):
        swap_values(rows, columns=["age"], share=2, rng=rng)
    with pytest.raises(InvalidArgument, match="above 0"):
        sample_rows(rows, share=0, rng=rng)
    with pytest.raises(InvalidArgument, match="No row was chosen"):
        sample_rows(rows, share="1e-12", rng=rng)
    with pytest.raises(InvalidArgument, match="in all of these columns"):
        link_nearest(rows, rows, on=["none"])
    with pytest.raises(InvalidArgument, match="join on"):
        link_nearest(rows, rows, on=[])
