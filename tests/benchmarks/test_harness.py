"""The harness compares in the right direction, and reports what it saw."""

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import harness
from benchmarks.harness import (
    KINDS,
    OURSELVES,
    PEERS,
    ROOT,
    TARGET,
    Case,
    Measurement,
    PeerUnavailable,
    Row,
    Runs,
    as_table,
    measure,
    peer_python,
    run_program,
    write_rows,
)
from benchmarks.run import main, suite_names


def program(folder: Path, printed: str) -> tuple[str, ...]:
    """A program that prints what it is told, whatever its arguments."""
    script = folder / f"program{len(list(folder.iterdir()))}.py"
    script.write_text(f"print({printed!r})\n")
    return (str(script), "argument")


def our_python(peer: str) -> str:
    return sys.executable


def no_python(peer: str) -> str:
    raise PeerUnavailable(peer)


@pytest.mark.parametrize(
    ("kind", "ours", "theirs", "ratio"), [("seconds", 2.0, 6.0, 3.0), ("rate", 2.0, 6.0, 1 / 3)]
)
def test_ratio_above_one_means_that_we_are_better(kind, ours, theirs, ratio):
    assert Measurement(kind, ours).ratio_to(Measurement(kind, theirs)) == pytest.approx(ratio)


def test_different_kinds_do_not_compare():
    with pytest.raises(ValueError, match="seconds and rate"):
        Measurement("seconds", 1.0).ratio_to(Measurement("rate", 1.0))


def test_both_sides_run(tmp_path: Path):
    ours = program(tmp_path, '{"seconds": 2}')
    theirs = program(tmp_path, '{"seconds": 3}')
    case = Case(name="c", unit="s", ours=ours, theirs=theirs, peer="p", goal=1.0)
    assert measure(case, find_python=our_python) == Row("c", "p", "s", 2.0, 3.0, 1.5, 1.0)


def test_target_is_a_number(tmp_path: Path):
    case = Case(name="c", unit="s", ours=program(tmp_path, '{"seconds": 2}'), theirs=1.0, goal=1.0)
    row = measure(case)
    assert (row.peer, row.ratio, row.missed) == ("target", 0.5, True)


def test_missing_peer_leaves_a_gap(tmp_path: Path):
    ours = program(tmp_path, '{"rate": 2}')
    row = measure(
        Case(name="c", unit="/s", ours=ours, theirs=ours, peer="p"), find_python=no_python
    )
    assert (row.theirs, row.ratio, row.missed) == (None, None, False)


def counting_program(folder: Path, then: str) -> tuple[tuple[str, ...], Path]:
    """A program that notes each of its runs in a file."""
    script, noted = folder / "counting.py", folder / "runs.txt"
    script.write_text(f"open({str(noted)!r}, 'a').write('run ')\n{then}\n")
    return (str(script),), noted


def test_program_with_several_numbers_runs_once(tmp_path: Path):
    printed = 'print(\'{"seconds": 2, "mean_2_way": 0.5}\')'
    ours, noted = counting_program(tmp_path, printed)
    runs = Runs()
    cases = [
        Case(name=kind, unit="s", ours=ours, theirs=ours, peer=OURSELVES, reads=kind)
        for kind in ("seconds", "mean_2_way")
    ]
    rows = [measure(case, runs=runs) for case in cases]
    assert [(row.ours, row.theirs, row.ratio) for row in rows] == [(2.0, 2.0, 1.0), (0.5, 0.5, 1.0)]
    assert noted.read_text() == "run "


def test_means_of_several_runs_are_compared(tmp_path: Path):
    """The first run is the one that other cases read."""
    noted = tmp_path / "runs.txt"
    script = tmp_path / "rising.py"
    script.write_text(
        f"open({str(noted)!r}, 'a').write('x')\n"
        f"value = len(open({str(noted)!r}).read())\n"
        "print('{\"mean_2_way\": %d}' % value)\n"
    )
    case = Case(name="c", unit="TV", ours=(str(script),), theirs=4.0, reads="mean_2_way", runs=3)
    runs = Runs()
    assert measure(case, runs=runs).ours == 2.0
    assert measure(replace(case, runs=1), runs=runs).ours == 1.0
    assert noted.read_text() == "xxx"


def test_failure_is_not_tried_again(tmp_path: Path):
    theirs, noted = counting_program(tmp_path, "raise SystemExit(1)")
    ours = program(tmp_path, '{"seconds": 2, "mebibytes": 3}')
    runs = Runs()
    for kind in ("seconds", "mebibytes"):
        case = Case(name="c", unit="s", ours=ours, theirs=theirs, peer="p", goal=2.0, reads=kind)
        row = measure(case, find_python=our_python, runs=runs)
        assert (row.theirs, row.missed, row.note) == (None, True, "could not be run")
    assert noted.read_text() == "run "


def test_peer_that_takes_too_long_is_stopped(tmp_path: Path, monkeypatch):
    endless = tmp_path / "endless.py"
    endless.write_text("while True:\n    pass\n")
    monkeypatch.setattr(harness, "MOST_SECONDS", 1)
    ours = program(tmp_path, '{"seconds": 2}')
    row = measure(
        Case(name="c", unit="s", ours=ours, theirs=(str(endless),), peer="p"),
        find_python=our_python,
    )
    assert (row.theirs, row.note) == (None, "did not finish")
    assert as_table([row]).endswith("did not finish")


def test_we_can_be_our_own_peer():
    assert peer_python(OURSELVES) == sys.executable


def test_unknown_kind_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="'metres'"):
        run_program(sys.executable, program(tmp_path, '{"metres": 2}'))


def test_rows_are_written_and_shown(tmp_path: Path):
    rows = [Row("a", "p", "s", 1.0, 2.0, 2.0, 3.0), Row("b", "q", "s", 1.0, None, None, None)]
    write_rows(rows, tmp_path / "deep" / "x.json")
    written = json.loads((tmp_path / "deep" / "x.json").read_text())
    assert [list(row) for row in written] == [
        ["case", "peer", "unit", "ours", "theirs", "ratio", "goal", "note"]
    ] * 2
    assert written[1]["goal"] is None
    assert as_table(rows).splitlines()[1:] == [
        "a     p     s     1     2       2      3     missed",
        "b     q     s     1     -       -      -",
    ]


def test_unknown_suite_lists_the_others(capsys):
    assert "import" in suite_names()
    assert main(["nothing"]) == 2
    assert "import" in capsys.readouterr().err


@pytest.mark.parametrize("name", suite_names())
def test_suites_name_programs_that_exist_and_peers_that_are_pinned(name):
    for case in importlib.import_module(f"benchmarks.suites.{name}").CASES:
        programs = [case.ours, case.theirs] if isinstance(case.theirs, tuple) else [case.ours]
        assert all((ROOT / script).is_file() for script, *_ in programs)
        assert isinstance(case.theirs, tuple) == (case.peer != TARGET)
        assert case.peer in (TARGET, OURSELVES) or (PEERS / f"{case.peer}.txt").is_file()
        assert case.reads is None or case.reads in KINDS
