"""A memory that was damaged: whatever is held, nothing is reported, and nothing is drawn anew."""

import json
import stat
from typing import Any

import pytest

from discreet.local import BasicRappor, KaryResponse, OneBitMean, Rappor, RapporCoins
from discreet.local.device.memory import FileMemory, permanent_report, rounded_report
from discreet.local.device.rappor import remembered
from tests.support.local.device_law import run_node

K_ARY = KaryResponse.calibrate(categories=4, epsilon=1)
BIT = OneBitMean.calibrate(most=10, epsilon=1)
UNREADABLE = "cannot be read; nothing is reported"

BROKEN_ANSWERS = [
    "null",
    '{"00": "secret',
    '["00"]',
    '["00", "00", "00", "zz"]',
    '["00", "00", "00", 1]',
    '["00", "00", "00", "0000"]',
]
BROKEN_ROUNDINGS = [
    "[]",
    '{"offset": 0}',
    '{"offset": "x", "answers": ["00", "01"]}',
    '{"offset": 10, "answers": ["00", "01"]}',
    '{"offset": 1, "answers": ["00"]}',
]


def broken(report, scheme, text):
    memory: dict[str, str] = {}
    report("a", scheme.recipe(), 0, memory)
    return dict.fromkeys(memory, text)


@pytest.mark.parametrize("value", [0, 3])
def test_it_fails_whatever_is_held(value):
    cases: list[tuple[Any, Any, str]] = [(permanent_report, K_ARY, text) for text in BROKEN_ANSWERS]
    cases += [(rounded_report, BIT, text) for text in BROKEN_ROUNDINGS]
    for report, scheme, text in cases:
        memory = broken(report, scheme, text)
        with pytest.raises(ValueError, match=UNREADABLE):
            report("a", scheme.recipe(), value, memory)
        assert set(memory.values()) == {text}


def test_it_fails_in_javascript_too():
    cases = [("permanentReport", K_ARY, BROKEN_ANSWERS), ("roundedReport", BIT, BROKEN_ROUNDINGS)]
    given = [
        {"report": report, "recipe": scheme.recipe(), "value": value, "text": text}
        for report, scheme, texts in cases
        for value in (0, 3)
        for text in texts
    ]
    said = run_node("broken", given)
    assert len(said) == len(given)
    assert all(UNREADABLE in message for message in said)


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"", b"[]", b"[" * 100_000, b'{"a": null}'])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    path = tmp_path / "memory.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=UNREADABLE):
        permanent_report("a", K_ARY.recipe(), 1, FileMemory(path))
    assert path.read_bytes() == content


def test_a_file_left_by_a_crash_is_not_written_into(tmp_path):
    left = tmp_path / "memory.json.new"
    left.write_text("half")
    left.chmod(0o666)
    memory = FileMemory(tmp_path / "memory.json")
    memory["a"] = "b"
    assert json.loads((tmp_path / "memory.json").read_text()) == {"a": "b"}
    assert stat.S_IMODE((tmp_path / "memory.json").stat().st_mode) == 0o600


def test_broken_responses_of_rappor_are_refused():
    coins = RapporCoins.declare(f="1/2", p="1/2", q="3/4")
    scheme = Rappor(bits=8, hashes=2, cohorts=3, salt="s", coins=coins)
    store: dict[str, str] = {}
    remembered("a", scheme.recipe(), "text", store)
    assert len(store) == 2
    for name in store:
        for text in ("", "x", "3", "0101012"):
            with pytest.raises(ValueError, match=UNREADABLE):
                remembered("a", scheme.recipe(), "text", {**store, name: text})


def test_schemes_without_a_list_of_values_keep_no_answers():
    scheme = BasicRappor(categories=3, coins=RapporCoins.declare(f="1/2"))
    with pytest.raises(ValueError, match="no list of values"):
        permanent_report("a", scheme.recipe(), 0, {})


def test_a_long_report_is_sent_from_javascript():
    assert run_node("large", 300_000) == 400_000
