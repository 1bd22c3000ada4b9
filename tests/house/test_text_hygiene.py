"""What never stands in a file: paths of one machine, package indexes, loose ends."""

import re

import pytest

from tests.support.house.paths import ROOT
from tests.support.house.project_files import text_files

# A letter in brackets, or a word in two pieces, lets this file keep its own rules.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.~-])/(w[o]rk|r[o]ot|o[p]t|h[o]me|U[s]ers)/"),
    "a package index": re.compile(r"p[y]pi\.org|p[y]thonhosted\.org|a[n]aconda\.org|n[p]mjs\.org"),
    "a loose end without a number": re.compile(r"\b(T[O]DO|F[I]XME|X[X]X)\b(?!\(#\d+\))"),
    "a leftover debugger": re.compile(r"\bb[r]eakpoint\(\)|\bs[e]t_trace\("),
    "a merge mark": re.compile(r"^(<{7}|>{7}) ", re.MULTILINE),
}

EXAMPLES = {
    "a path of one machine": "see /ro" + "ot/data.csv",
    "a package index": "https://py" + "pi.org/simple",
    "a loose end without a number": "# TO" + "DO: later",
    "a leftover debugger": "break" + "point()",
    "a merge mark": "<" * 7 + " HEAD",
}

INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
PIN = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_has(what: str):
    found = [
        f"{place}: {match.group()!r}"
        for place, text in text_files()
        for match in FORBIDDEN[what].finditer(text)
    ]
    assert not found


@pytest.mark.parametrize("what", FORBIDDEN)
def test_pattern_catches(what: str):
    assert FORBIDDEN[what].search(EXAMPLES[what])


def test_a_loose_end_with_a_number_is_fine():
    assert not FORBIDDEN["a loose end without a number"].search("# TO" + "DO(#12): later")


def test_files_end_in_one_newline_and_hide_nothing():
    wrong = [
        place
        for place, text in text_files()
        if (text and not text.endswith("\n")) or text.endswith("\n\n") or INVISIBLE.search(text)
    ]
    assert not wrong


def test_constraints_are_names_and_versions_only():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert all(PIN.fullmatch(line) for line in pins)


def test_every_peer_is_pinned():
    peers = list((ROOT / "benchmarks" / "peers").glob("*.txt"))
    assert peers
    for peer in peers:
        assert all(PIN.fullmatch(line) for line in peer.read_text().splitlines()), peer.name
