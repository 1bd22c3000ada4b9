"""A fresh user's path: from a CSV file of 20 columns to a first answer, as it is typed."""

import csv
import os
import shlex
import subprocess
import sys
from pathlib import Path

from discreet.cli.main import main
from discreet.tables.declarations.declaration import read_catalog

ENDS = ("tail", "flight", "carrier", "origin", "dest", "day", "sched", "left")
NUMBERS = ("late_dep", "late_arr", "minutes", "miles")
REST = ("cancelled", "diverted", "seats", "fuel", "gate", "crew", "weather", "remark")
COLUMNS = (*ENDS, *NUMBERS, *REST)

INSTALL = "pip install discreet"
"""Typed once, and not run here."""

INIT = "discreet init flights.csv"
REPLIES = {
    "Shall all of its rows be read": "y",
    "Enter: all are right": "",
    "whose rows are these": "tail",
    "What is one of them": "an aircraft",
    "all of them together called": "",
    "as an epsilon": "2",
    "may count in an answer": "",
    "Pay ε = 0.1 for it": "y",
    "Write this into the declaration": "",
}
QUERY = (
    'discreet query "SELECT cancelled, COUNT(*) AS n FROM flights GROUP BY cancelled" --epsilon 0.5'
)

TYPED_LINES = 12
"""How many lines a fresh user types, replies and empty ones among them. It may become fewer."""

SCRIPT = """\
discreet init flights.csv --look-at-types --unit tail --unit-words aircraft --id-space aircraft \
--epsilon 2 --profile-epsilon 0.1 --write-limits"""
"""The same with everything said in options: one line before the question."""


def write_flights(file: Path) -> None:
    """Write 6,000 flights of 1,500 aircraft that do not exist."""
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(COLUMNS)
        for i in range(6_000):
            day = f"2025-{1 + i % 12:02}-{1 + i % 28:02}"
            ends = ["AA", "EWR", "LAX", day, f"{i % 24:02}:30", f"{day} {i % 24:02}:31:00"]
            numbers = [i % 50 - 5, "NA" if i % 9 else i % 70, 30 + i % 400, 100 + i % 3000]
            rest = ["true" if i % 20 == 0 else "false", "N", 180, f"{i % 99}.5", f"{i % 40:03}", 5]
            writer.writerow([f"N{i % 1500}", i, *ends, *numbers, *rest, "clear", "a, b"])


def run(arguments: list[str], folder: Path, typed: str | None = None) -> tuple[str, str]:
    """Run the real command, on a terminal if something is typed; return what it shows."""
    command = [sys.executable, "-m", "discreet", *arguments]
    if typed is None:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    else:
        ours, theirs = os.openpty()
        os.write(ours, typed.encode())
        done = subprocess.run(command, cwd=folder, stdin=theirs, capture_output=True)
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def question() -> list[str]:
    return shlex.split(QUERY)[1:]


def test_from_a_file_of_twenty_columns_to_an_answer(tmp_path):
    assert len(COLUMNS) == 20
    write_flights(tmp_path / "flights.csv")
    typed = "".join(f"{reply}\n" for reply in REPLIES.values())
    _, asked = run(INIT.split()[1:], tmp_path, typed)
    told = " ".join(asked.split())
    places = [told.index(words) for words in REPLIES]
    assert places == sorted(places)  # each reply answers the question that it was meant for
    assert len([INSTALL, INIT, *REPLIES, QUERY]) <= TYPED_LINES
    (table,) = read_catalog(tmp_path).tables
    kinds = [column.type.value for column in table.columns]
    assert (kinds.count("integer"), kinds.count("text")) == (7, 8)
    assert {"date", "time", "timestamp", "boolean", "real"} <= set(kinds)
    shown, _ = run(question(), tmp_path)
    assert "cancelled" in shown
    assert "rows of one aircraft count" in shown
    assert " unit " not in shown


def test_the_same_in_a_script(tmp_path, monkeypatch, capsys):
    write_flights(tmp_path / "flights.csv")
    monkeypatch.chdir(tmp_path)
    assert main(SCRIPT.split()[1:]) == 0
    assert "It fits the files" in " ".join(capsys.readouterr().out.split())
    assert main(question()) == 0
    assert capsys.readouterr().out.startswith(("cancelled", "Limits"))
