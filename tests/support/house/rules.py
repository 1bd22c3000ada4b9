"""The rules of the house. Each takes a module and yields what is wrong with it, line first."""

import ast
import re
from collections.abc import Iterator

from tests.support.house.source import Module, imports

HEAVY = {
    "duckdb",
    "matplotlib",
    "ortools",
    "pandas",
    "psycopg",
    "pyarrow",
    "pyspark",
    "scipy",
    "sqlalchemy",
    "sqlglot",
    "starlette",
    "uvicorn",
}
"""Libraries that only ``core/optional.py`` loads, and only when they are used."""

LAZY_HOMES = {"__init__.py", "core/lazy_names.py", "core/optional.py"}
"""Where an import may wait until it is needed."""

DYNAMIC_HOMES = LAZY_HOMES | {"cli/main.py"}
"""Where a module may be imported by its name: those above, and the table of commands."""

DOORS = {
    "discreet": "__init__.py",
    "discreet.accounting": "accounting/__init__.py",
    "discreet.audit": "audit/__init__.py",
    "discreet.dbapi": "dbapi/__init__.py",
    "discreet.events": "events.py",
    "discreet.local": "local/__init__.py",
    "discreet.mechanisms": "mechanisms/__init__.py",
    "discreet.noiseless": "noiseless/__init__.py",
    "discreet.synthesis": "synthesis/__init__.py",
}
"""What users import from, and the files of these."""

PASSAGE_HOME = "project/passage.py"
GATE_HOME = "ledger/gate.py"
ENTROPY_HOMES = ("randomness/rng.py", "local/device/draws.py")
"""The files that may ask the operating system for entropy: ours, and that of a person's device."""

LONGEST = 400
LONGER_WITH_REASON: dict[str, str] = {}
"""Files that may be longer, each with the reason."""

_SEED = re.compile(r"(^|_)(re)?seed(s|ed|ing)?(_|$)|random_?state", re.IGNORECASE)

Violations = Iterator[tuple[int, str]]


def no_door_import(module: Module) -> Violations:
    """Never ``import discreet`` or ``from discreet.audit import x`` inside the package."""
    for found in imports(module):
        if found.module in DOORS:
            yield found.line, f"imports {found.module}, which is for users; import from the file"


def no_type_checking(module: Module) -> Violations:
    """No ``TYPE_CHECKING``: an import that only types need still has a direction."""
    for node in ast.walk(module.tree):
        names = [
            getattr(node, "id", None),
            getattr(node, "attr", None),
            getattr(node, "name", None),
        ]
        if "TYPE_CHECKING" in names:
            yield getattr(node, "lineno", 0), "uses TYPE_CHECKING"


def no_local_import(module: Module) -> Violations:
    """No imports inside functions, except where waiting is the point."""
    if module.place in LAZY_HOMES:
        return
    for function in ast.walk(module.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node.lineno, f"imports inside {function.name}"


def no_dynamic_import(module: Module) -> Violations:
    """No import by name, except in the places that exist for it."""
    if module.place in DYNAMIC_HOMES:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _called(node) in {"import_module", "__import__"}:
            yield node.lineno, "imports a module by its name"


def no_heavy_import(module: Module) -> Violations:
    """Heavy libraries are reached through ``core/optional.py`` alone."""
    for found in imports(module):
        if found.module.partition(".")[0] in HEAVY:
            yield found.line, f"imports {found.module}; load it through core/optional.py"


def no_other_randomness(module: Module) -> Violations:
    """Randomness comes from an Rng, and entropy enters in one file here and one on a device."""
    for found in imports(module):
        full = f"{found.module}.{found.name}"
        if found.module == "random" or full.startswith("numpy.random"):
            yield found.line, "imports a generator that is not an Rng"
        entropy = found.module == "secrets" or full == "os.urandom"
        if entropy and module.place not in ENTROPY_HOMES:
            yield found.line, f"takes entropy outside {ENTROPY_HOMES[0]}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            dotted = f"{node.value.id}.{node.attr}"
            if dotted in {"np.random", "numpy.random"}:
                yield node.lineno, f"uses {dotted}"
            entropy = dotted in {"os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4"}
            if entropy and module.place not in ENTROPY_HOMES:
                yield node.lineno, f"takes entropy outside {ENTROPY_HOMES[0]}"


def no_seed(module: Module) -> Violations:
    """No name, argument, attribute or keyword is a seed."""
    for node in ast.walk(module.tree):
        for field in ("id", "attr", "arg", "name", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str) and _SEED.search(name):
                yield getattr(node, "lineno", 0), f"has a seed: {name}"


def no_print(module: Module) -> Violations:
    """Only commands print."""
    if module.place.startswith("cli/"):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
            yield node.lineno, "prints"


_READING = ("execute", "reading_once")
"""What makes an engine read private rows."""


def one_passage(module: Module) -> Violations:
    """Private rows are reached in one file, with a permit that the gate makes."""
    if module.place == PASSAGE_HOME:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _called(node) == "Permit" and module.place != GATE_HOME:
            yield node.lineno, f"makes a permit outside {GATE_HOME}"
        if isinstance(node, ast.Call) and _called(node) == "pass_gate":
            yield node.lineno, f"passes the gate outside {PASSAGE_HOME}"
        if isinstance(node, ast.Attribute) and node.attr in _READING:
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if owner.strip("_") == "engine":
                yield node.lineno, f"runs an engine outside {PASSAGE_HOME}"


def short_file(module: Module) -> Violations:
    """A file has at most ``LONGEST`` lines, or a reason."""
    lines = module.text.count("\n")
    if lines > LONGEST and module.place not in LONGER_WITH_REASON:
        yield lines, f"is {lines} lines long; split it, or give a reason in LONGER_WITH_REASON"


def documented(module: Module) -> Violations:
    """Every public module, class, function and method has a docstring."""
    if any(part.startswith("_") and part != "__init__.py" for part in module.place.split("/")):
        return
    yield from _undocumented(module.tree, "module")


def _undocumented(node: ast.AST, what: str) -> Violations:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        if ast.get_docstring(node) is None:
            yield getattr(node, "lineno", 1), f"{what} has no docstring"
        if isinstance(node, ast.Module | ast.ClassDef):
            for child in node.body:
                name = getattr(child, "name", "_")
                if not name.startswith("_") and not _is_overload(child):
                    yield from _undocumented(child, name)


def _is_overload(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any("overload" in ast.unparse(decorator) for decorator in decorators)


def _called(node: ast.Call) -> str | None:
    return getattr(node.func, "attr", None) or getattr(node.func, "id", None)


RULES = (
    no_door_import,
    no_type_checking,
    no_local_import,
    no_dynamic_import,
    no_heavy_import,
    no_other_randomness,
    no_seed,
    no_print,
    one_passage,
    short_file,
    documented,
)
