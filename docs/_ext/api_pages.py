"""One page for each package, with all of its public modules, written before the site is read.

A new module is documented with no further work. The pages are not kept in git. A page for each
module would be hundreds, and each would list all the others beside it.
"""

from itertools import groupby
from pathlib import Path

from sphinx.application import Sphinx

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "discreet"
LEFT_OUT = {"cli", "server"}  # commands and HTTP have reference pages of their own

MODULE = """\
{title}
{line}

.. automodule:: {name}
   :members:
   :ignore-module-all:
   :member-order: bysource
   :show-inheritance:
"""


def public_modules(package: Path = PACKAGE) -> list[str]:
    """Return the dotted name of every public module that has something to document."""
    names = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] not in LEFT_OUT and not any(part.startswith("_") for part in parts):
            names.append(".".join((package.name, *parts)))
    return names


def page_of(name: str) -> str:
    """Return the package on whose page a module stands."""
    return name.rpartition(".")[0]


def write_pages(folder: Path, names: list[str]) -> None:
    """Write a page for each package, and remove the pages of packages that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {
        f"{package}.rst": _page(package, list(modules))
        for package, modules in groupby(sorted(names, key=page_of), key=page_of)
    }
    for old in folder.glob("*.rst"):
        if old.name not in wanted:
            old.unlink()
    for file, text in wanted.items():
        target = folder / file
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def _page(package: str, names: list[str]) -> str:
    parts = [_headed(package, "=")]
    for name in names:
        short = name.rpartition(".")[2].replace("_", r"\_")
        parts.append(MODULE.format(title=short, line="-" * len(short), name=name))
    return "\n".join(parts)


def _headed(name: str, mark: str) -> str:
    title = name.replace("_", r"\_")
    return f"{title}\n{mark * len(title)}\n"


def on_builder_inited(app: Sphinx) -> None:
    """Write the pages below ``reference/api``."""
    write_pages(Path(app.srcdir) / "reference" / "api", public_modules())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", on_builder_inited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
