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
and are told how many rows there are.

mbi measures nothing. It estimates a model of noisy tables and draws rows of it, so it gets the ones
that we measured, with their deviations. ``mbi`` is its mirror descent with what it does unless told
otherwise, and two settings that it asks for in warnings. ``modelled`` is our own estimate of the
same noisy tables, and our own rows of it. Which values stand together follows from what was
measured, and both draw those within such a group by the counts of the column.

Only NumPy and the library itself are used, because this runs in the environments of peers.
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
    with tempfile.TemporaryDirectory() as made, _opened(folder, columns, made) as connection:
        release = connection.synthesise("facts", method=method, epsilon=epsilon, delta=DELTA)
        return release.to_arrow()


def _opened(folder: Path, columns: Described, made: str) -> Any:
    """Declare a project over a table's file in a new folder, and open it."""
    path = Path(made) / "discreet.toml"
    lines = "\n".join(map(_line, columns))
    text = DECLARATION.format(file=folder / "rows.parquet", columns=lines)
    path.write_text(text, encoding="utf-8")
    return import_module("discreet").connect(path)


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


def modelled(folder: Path, columns: Described, epsilon: str) -> Any:
    """Estimate our model of what we measured, and return rows of it as an Arrow table."""
    model_type = import_module("discreet.synthesis.synthetic_model").SyntheticModel
    model = model_type.from_json(_noisy(folder, epsilon, make=True)["ours"])
    rng = import_module("discreet.randomness.rng").SystemRng()
    return model.to_arrow(model.sample(model.rows, rng), rng)


def mbi(folder: Path, columns: Described, epsilon: str) -> Any:
    """Estimate mbi's model of what we measured, and return the numbers of its rows' cells."""
    settings = {"jax_enable_x64": True, "jax_enable_compilation_cache": False}
    for name, setting in settings.items():
        import_module("jax").config.update(name, setting)
    library, known = import_module("mbi"), _noisy(folder, epsilon)
    names, sizes = [str(place) for place in range(len(columns))], known["sizes"]
    groups = {name: np.array(one) for name, one in zip(names, known["groups"], strict=True)}
    fine = library.Domain(names, sizes)
    coarse = library.Domain(names, [int(one.max()) + 1 for one in groups.values()])
    tables = []
    for one in known["tables"]:
        clique = tuple(names[column] for column in one["columns"])
        values = np.array(one["values"], dtype=float)
        table = library.LinearMeasurement(values, clique, one["deviation"])
        tables.append(table.compress(groups, fine) if len(clique) == 1 else table)
    model = library.estimation.MirrorDescent().estimate(coarse, tables)
    drawn = model.synthetic_data().to_dict()
    return np.stack(
        [_within(known, place, drawn[name]) for place, name in enumerate(names)], axis=1
    )


def _within(known: dict[str, Any], column: int, drawn: Any) -> Any:
    """Return values for groups of them: in each group by what was counted of the column."""
    groups, found = np.array(known["groups"][column]), np.zeros(len(drawn), dtype=np.int64)
    alone = [one for one in known["tables"] if one["columns"] == [column]]
    weights = [one["deviation"] ** -2 for one in alone]
    values = [np.array(one["values"], dtype=float) for one in alone]
    counts = np.average(values, axis=0, weights=weights)
    for group in range(int(groups.max()) + 1):
        members, rows = np.flatnonzero(groups == group), np.flatnonzero(np.asarray(drawn) == group)
        shares = np.maximum(counts[members], 1e-9)
        ends = np.round(np.cumsum(shares / shares.sum()) * len(rows)).astype(np.int64)
        numbers = np.repeat(members, np.diff(ends, prepend=0))
        found[rows] = np.random.default_rng().permutation(numbers)
    return found


def _noisy(folder: Path, epsilon: str, *, make: bool = False) -> dict[str, Any]:
    """Return what we measured; only we can make it, by a process whose time does not count."""
    place = folder / f"noisy_{epsilon}.json"
    if make:
        words = [sys.executable, str(Path(__file__)), "--noisy", str(folder), epsilon]
        subprocess.run(words, check=True)
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found


def write_noisy(folder: str, epsilon: str) -> None:
    """Write what we measure of a table, for whoever estimates a model of it."""
    place = Path(folder)
    columns = json.loads((place / "columns.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as made, _opened(place, columns, made) as connection:
        release = connection.synthesise("facts", epsilon=epsilon, delta=DELTA)
        measured = release.measured
        known = {
            "ours": release.model.to_json(),
            "sizes": list(measured.sizes),
            "groups": [one.numbers.tolist() for one in measured.coarse],
            "tables": [
                {
                    "columns": list(one.columns),
                    "values": one.values.ravel().tolist(),
                    "deviation": one.variance**0.5,
                }
                for one in (*measured.first, *measured.tables)
            ],
        }
    (place / f"noisy_{epsilon}.json").write_text(json.dumps(known), encoding="utf-8")


PARTICIPANTS: dict[str, Callable[[Path, Described, str], Any]] = {
    "discreet": discreet,
    "dpmm": dpmm,
    "dpmm_aim": dpmm_aim,
    "independent": independent,
    "mbi": mbi,
    "modelled": modelled,
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
    """Return the number of each value's cell: of such numbers, or of an Arrow table."""
    if isinstance(rows, np.ndarray):
        return rows
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
    if sys.argv[1] == "--noisy":
        write_noisy(*sys.argv[2:])
    else:
        print(json.dumps(measured(*sys.argv[1:])))
