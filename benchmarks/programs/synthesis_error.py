"""Print what a synthesis takes and how far it is off: ``python synthesis_error.py WHO DATA ε``.

Whoever synthesises gets the same rows, the same cells and the same price: ε and δ = 1e-9 for one
row. It prints the processor's seconds of the whole process, from its start to the rows, imports
included; the peak of its memory until then; and the mean and the worst distance of the tables of
1, 2 and 3 columns from those of the true rows. The distance is the total variation: the share of
rows that would have to move. Tables of more than 10,000 cells are left out, and of more than 1,000
tables only so many, always the same.

``discreet`` opens a new project over the Parquet file and goes through the gate; ``independent`` is
the same without any columns measured together. ``dpmm`` is its MST and ``dpmm_aim`` its AIM, with
what they do unless told otherwise: they get numbers of cells and their counts instead of a file,
and are told how many rows there are. Only NumPy and the library itself are used, because this runs
in the environments of peers.
"""

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

DELTA = "1e-9"
MOST_CELLS = 10_000
MOST_TABLES = 1_000
WIDTHS = (1, 2, 3)

FILES = Path(__file__).resolve().parents[2] / ".bench"
MAKER = Path(__file__).with_name("synthesis_data.py")

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100, delta = 1e-6 }}

[tables.facts]
source = "{file}"
id_space = "people"
unit = {{ each_row = true }}

[tables.facts.columns]
{columns}
"""

Described = Sequence[dict[str, Any]]


def discreet(folder: Path, columns: Described, epsilon: str, method: str = "auto") -> Any:
    """Declare a project, open it, synthesise once and return the rows as an Arrow table."""
    lines = "\n".join(map(_line, columns))
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "discreet.toml"
        text = DECLARATION.format(file=folder / "rows.parquet", columns=lines)
        path.write_text(text, encoding="utf-8")
        with import_module("discreet").connect(path) as connection:
            release = connection.synthesise("facts", method=method, epsilon=epsilon, delta=DELTA)
            return release.to_arrow()


def independent(folder: Path, columns: Described, epsilon: str) -> Any:
    """Synthesise with each column by itself."""
    return discreet(folder, columns, epsilon, "independent")


def dpmm(folder: Path, columns: Described, epsilon: str, kind: str = "MST") -> Any:
    """Fit a model of dpmm on numbers of cells, and return a data frame of such."""
    names = [column["name"] for column in columns]
    cells = np.load(folder / "codes.npy").astype(np.int64)
    frame = import_module("pandas").DataFrame(cells, columns=names)
    domain = {column["name"]: column["size"] for column in columns}
    maker = getattr(import_module(f"dpmm.models.{kind.lower()}"), f"{kind}GM")
    model = maker(epsilon=float(epsilon), delta=float(DELTA), domain=domain, n_jobs=1)
    model.fit(frame)
    return model.generate(n_records=len(frame))


def dpmm_aim(folder: Path, columns: Described, epsilon: str) -> Any:
    """Fit the AIM of dpmm."""
    return dpmm(folder, columns, epsilon, "AIM")


PARTICIPANTS: dict[str, Callable[[Path, Described, str], Any]] = {
    "discreet": discreet,
    "dpmm": dpmm,
    "dpmm_aim": dpmm_aim,
    "independent": independent,
}


def _line(column: dict[str, Any]) -> str:
    """Return the line of a declaration for a column."""
    names = [name for name in ("type", "keys", "min", "max") if name in column]
    facts = ", ".join(f"{name} = {json.dumps(column[name])}" for name in names)
    return f"{column['name']} = {{ {facts}, nullable = false }}"


def folder_of(data: str) -> Path:
    """Return the folder of a table's files; have it written if need be, by another process."""
    fingerprint = hashlib.sha256(MAKER.read_bytes()).hexdigest()[:8]
    folder = FILES / f"synthesis_{data}_{fingerprint}"
    if not folder.exists():
        subprocess.run([sys.executable, str(MAKER), data, str(folder)], check=True)
    return folder


def cells_of(rows: Any, columns: Described) -> Any:
    """Return the number of each value's cell, of a data frame of such or of an Arrow table."""
    if not hasattr(rows, "to_pydict"):
        return rows[[column["name"] for column in columns]].to_numpy().astype(np.int64)
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    found = []
    for column in columns:
        values = rows.column(column["name"])
        if "keys" in column:
            numbers = compute.index_in(values, value_set=arrow.array(column["keys"])).to_numpy()
        else:
            numbers = (values.to_numpy() - column["min"]) // column["width"]
        found.append(numbers.astype(np.int64))
    return np.stack(found, axis=1)


def tables_of(sizes: Sequence[int], width: int) -> Iterator[tuple[int, ...]]:
    """Return which columns are compared together: all that are small enough, or some of them."""
    small = [
        table
        for table in combinations(range(len(sizes)), width)
        if np.prod([sizes[column] for column in table], dtype=float) <= MOST_CELLS
    ]
    return iter(sorted(small, key=_any_order)[:MOST_TABLES])


def _any_order(table: tuple[int, ...]) -> str:
    return hashlib.sha256(repr(table).encode()).hexdigest()


def distances(true: Any, made: Any, sizes: Sequence[int], width: int) -> list[float]:
    """Return the total variation distances of all tables of so many columns."""

    def shares(rows: Any, table: tuple[int, ...]) -> Any:
        shape = [sizes[column] for column in table]
        places = np.ravel_multi_index(tuple(rows[:, column] for column in table), shape)
        return np.bincount(places, minlength=int(np.prod(shape))) / len(rows)

    return [
        float(np.abs(shares(true, table) - shares(made, table)).sum() / 2)
        for table in tables_of(sizes, width)
    ]


def measured(who: str, data: str, epsilon: str) -> dict[str, float]:
    """Return what a synthesis takes, and its distances."""
    folder = folder_of(data)
    columns = json.loads((folder / "columns.json").read_text(encoding="utf-8"))
    rows = PARTICIPANTS[who](folder, columns, epsilon)
    used = resource.getrusage(resource.RUSAGE_SELF)
    numbers = {"seconds": used.ru_utime + used.ru_stime, "mebibytes": used.ru_maxrss / 1024}
    sizes = [column["size"] for column in columns]
    true, made = np.load(folder / "codes.npy").astype(np.int64), cells_of(rows, columns)
    for width in WIDTHS:
        found = distances(true, made, sizes, width)
        numbers[f"mean_{width}_way"] = sum(found) / len(found)
        numbers[f"worst_{width}_way"] = max(found)
    return numbers


if __name__ == "__main__":
    print(json.dumps(measured(*sys.argv[1:])))
