"""The package as text and syntax trees, read without importing it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.paths import SRC


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
