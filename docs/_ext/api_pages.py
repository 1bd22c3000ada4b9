"""One page for each public module, written before the site is read.

A new module is documented with no further work. The pages are not kept in git.
"""

from pathlib import Path

from sphinx.application import Sphinx

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "discreet"
LEFT_OUT = {"cli", "server"}  # commands and HTTP have reference pages of their own

PAGE = """\
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


def write_pages(folder: Path, names: list[str]) -> None:
    """Write a page for each module, and remove the pages of modules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {}
    for name in names:
        title = name.replace("_", r"\_")
        wanted[f"{name}.rst"] = PAGE.format(title=title, line="=" * len(title), name=name)
    for old in folder.glob("*.rst"):
        if old.name not in wanted:
            old.unlink()
    for file, text in wanted.items():
        target = folder / file
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def on_builder_inited(app: Sphinx) -> None:
    """Write the pages below ``reference/api``."""
    write_pages(Path(app.srcdir) / "reference" / "api", public_modules())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", on_builder_inited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
