"""The package as text and syntax trees, read without importing it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from tests.support.house.paths import SRC


@dataclass(frozen=True)
class Module:
    """One source file: where it is inside the package, its text and its tree."""

    place: str
    text: str
    tree: ast.Module

    @classmethod
    def parse(cls, text: str, *, place: str = "core/example.py") -> "Module":
        """Read a module from text, as if it stood at ``place``."""
        return cls(place, text, ast.parse(text))

    @property
    def name(self) -> str:
        """The dotted name, e.g. ``discreet.core.errors``."""
        parts = Path(self.place).with_suffix("").parts
        return ".".join(("discreet", *(part for part in parts if part != "__init__")))

    @property
    def package(self) -> str:
        """The dotted name of the package that relative imports start from."""
        is_package = Path(self.place).name == "__init__.py"
        return self.name if is_package else self.name.rpartition(".")[0]


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, sorted by place."""
    paths = sorted(SRC.rglob("*.py"))
    return tuple(
        Module.parse(path.read_text(encoding="utf-8"), place=path.relative_to(SRC).as_posix())
        for path in paths
    )


@dataclass(frozen=True)
class Imported:
    """One imported name: ``from module import name`` (``name`` is empty for ``import module``)."""

    module: str
    name: str
    line: int


def imports(module: Module) -> Iterator[Imported]:
    """Every import of a module at any depth, relative ones made absolute."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, "", node.lineno)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                base = module.package.split(".")
                origin = ".".join([*base[: len(base) - node.level + 1], *filter(None, [origin])])
            for alias in node.names:
                yield Imported(origin, alias.name, node.lineno)


def import_graph(package: tuple[Module, ...]) -> dict[str, set[str]]:
    """Which modules of the package each one imports."""
    known = {module.name for module in package}
    graph: dict[str, set[str]] = {}
    for module in package:
        targets = {
            full if (full := f"{found.module}.{found.name}") in known else found.module
            for found in imports(module)
        }
        graph[module.name] = (targets & known) - {module.name}
    return graph


def folder_graphs(package: tuple[Module, ...]) -> dict[str, dict[str, set[str]]]:
    """For each folder: which of its parts import which others.

    A part is a folder below it, with all that is in that, or the files of the folder itself, which
    are one part that is called ``.``.
    """
    home = {module.name: module.package for module in package}
    folders = {folder for place in home.values() for folder in accumulate(place.split("."), _below)}
    graphs: dict[str, dict[str, set[str]]] = {folder: {} for folder in sorted(folders)}
    for name, targets in import_graph(package).items():
        for target in targets:
            for folder, graph in graphs.items():
                parts = _part(home[name], folder), _part(home[target], folder)
                if None not in parts and parts[0] != parts[1]:
                    graph.setdefault(str(parts[0]), set()).add(str(parts[1]))
    return graphs


def _below(folder: str, name: str) -> str:
    return f"{folder}.{name}"


def _part(place: str, folder: str) -> str | None:
    if place == folder:
        return "."
    inside = place.removeprefix(f"{folder}.")
    return None if inside == place else inside.split(".")[0]


def twice_named(package: tuple[Module, ...]) -> dict[str, list[str]]:
    """The classes that have the name of another one, and where they stand."""
    places: dict[str, list[str]] = {}
    for module in package:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module.place)
    return {name: found for name, found in places.items() if len(found) > 1}
