"""Lines of keys: right for every way to write TOML, and never a failure on what is valid."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.tables.declarations.toml_lines import TomlLines

TEXT = '''\
# [not.a.table]
top = 1  # a = 2

[a]
b.c = "x # \\" ]"
"d.e" = 'lit\\'
f = """
[no] = 1
""\\""""
[a.g]
h = { i = 1, j.k = [1, { l = 2 }], "m" = {} }
n = [
  # one
  [1, 2], [
    3,
  ],
]
o = 2025-01-01 07:32:00
[p . "q r"]
s = true
[[t]]
u = 1
[t.v]
w = 1
[[t]]
u = \'\'\'
two\'\'\'\'
[x]
'''
EXPECTED = {
    ("top",): 2,
    ("a",): 4,
    ("a", "b"): 5,
    ("a", "b", "c"): 5,
    ("a", "d.e"): 6,
    ("a", "f"): 7,
    ("a", "g"): 10,
    ("a", "g", "h"): 11,
    ("a", "g", "h", "i"): 11,
    ("a", "g", "h", "j", "k"): 11,
    ("a", "g", "h", "j", "k", "1", "l"): 11,
    ("a", "g", "h", "m"): 11,
    ("a", "g", "n"): 12,
    ("a", "g", "n", "0"): 14,
    ("a", "g", "n", "1"): 14,
    ("a", "g", "n", "1", "0"): 15,
    ("a", "g", "o"): 18,
    ("p", "q r"): 19,
    ("p", "q r", "s"): 20,
    ("t", "0", "u"): 22,
    ("t", "0", "v"): 23,
    ("t", "0", "v", "w"): 24,
    ("t", "1", "u"): 26,
    ("x",): 28,
}


def paths(value, path=()):
    """All paths of a parsed file, tables and list items included."""
    children = (
        value.items()
        if isinstance(value, dict)
        else ((str(i), item) for i, item in enumerate(value))
        if isinstance(value, list)
        else ()
    )
    for key, child in children:
        yield (*path, key)
        yield from paths(child, (*path, key))


def test_every_form_is_found_where_it_stands():
    lines = TomlLines.of(TEXT)
    assert {path: lines.known.get(path) for path in EXPECTED} == EXPECTED
    assert set(paths(tomllib.loads(TEXT))) == set(lines.known)


@pytest.mark.parametrize("text", ["", "\n", "# only\n", "a=1", "a=1\r\n[b]\r\nc=2\r\n"])
def test_small_files(text):
    assert set(TomlLines.of(text).known) == set(paths(tomllib.loads(text)))


def test_what_is_not_there_is_near_what_is_around_it():
    lines = TomlLines.of("[a]\n[a.b]\n")
    assert lines.shown(("a", "b", "c", "d")) == "a.b.c.d (near line 2)"
    assert lines.shown(("z",)) == "z"


keys = st.one_of(
    st.text("ab-_1", min_size=1, max_size=3),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=4),
)
scalars = st.one_of(
    st.integers(-9, 9).map(str),
    st.sampled_from(["true", "1e5", "-inf", "2025-01-01", "07:00:00", "0x1F"]),
    st.sampled_from(["''", "'#'", "'''\n'a''\n'''", '"\\""', '"""\n"x" \\"""\n"""', '"]}="']),
)


def quoted(key: str) -> str:
    bare = key and set(key) <= set("ab-_1")
    return key if bare else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def inline(values) -> st.SearchStrategy[str]:
    tables = st.dictionaries(keys, values, max_size=3).map(
        lambda d: "{" + ", ".join(f"{quoted(k)} = {v}" for k, v in d.items()) + "}"
    )
    lists = st.tuples(
        st.sampled_from(["", " ", "\n", " # x ]\n"]), st.lists(values, max_size=3)
    ).map(lambda pair: "[" + pair[0] + ("," + pair[0]).join(pair[1]) + pair[0] + "]")
    return st.one_of(tables, lists)


values = st.recursive(scalars, inline, max_leaves=6)
headers = st.lists(keys, min_size=1, max_size=3).map(lambda parts: ".".join(map(quoted, parts)))
statements = st.one_of(
    st.tuples(headers, values).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    headers.map(lambda header: f"[{header}]"),
    headers.map(lambda header: f"[[{header}]]"),
    st.sampled_from(["", "# a = 1", "   "]),
)


@given(st.lists(statements, max_size=6).map("\n".join))
def test_all_paths_of_any_valid_file_are_known(text):
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    known = TomlLines.of(text).known
    assert set(known) == set(paths(data))
    for path, line in known.items():
        assert 1 <= line <= text.count("\n") + 1
        if not path[-1].isdigit() and path[-1].isascii() and path[-1].isalnum():
            assert path[-1] in text.split("\n")[line - 1]
