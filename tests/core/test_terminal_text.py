"""A table is a table, whatever its cells are: one line each, and columns that stand in line."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.terminal_text import one_line, text_table

TEXTS = st.text(st.characters(codec=None), max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_any_cells_make_a_table_of_so_many_lines(cells):
    table = text_table(["key", "n"], [[cell, "7"] for cell in cells])
    assert len(table.splitlines()) == len(cells) + 2
    assert all(line.isprintable() for line in table.splitlines())


@given(TEXTS)
def test_what_is_quoted_can_be_read_back(text):
    shown = one_line(text)
    assert shown == text or ast.literal_eval(shown) == text


@given(TEXTS, TEXTS)
def test_no_two_texts_look_alike(one, other):
    assert (one_line(one) == one_line(other)) == (one == other)
    assert one_line(one_line(one)) != one_line(one) or one_line(one) == one


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("a\nb", r'"a\nb"'),
        ("a\tb", r'"a\tb"'),
        ("\x1b[31mred", r'"\x1b[31mred"'),
        ("\u202eabc", r'"\u202eabc"'),
        ("a\\n", "a\\n"),
        ('say "a"', 'say "a"'),
    ],
)
def test_control_characters_are_shown_escaped(cell, shown):
    assert one_line(cell) == shown


def test_wide_characters_take_two_columns():
    table = text_table(["key", "n"], [["東京", "1"], ["ab", "2"], ["e\u0301", "3"]])
    assert table.splitlines() == ["key   n", "----  -", "東京  1", "ab    2", "e\u0301     3"]
