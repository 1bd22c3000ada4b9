"""The page of references, written from ``references.bib``.

The file keeps to a plain form: one field a line, ``name = {value},``, in Unicode.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx

SOURCE = Path(__file__).resolve().parents[2] / "references.bib"

_ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+) = \{(.*)\},?$", re.MULTILINE)

PAGE = """\
References
==========

The key in brackets is how docstrings and pages cite a work.

{entries}
"""


@dataclass(frozen=True)
class Entry:
    """One work: its key and its fields."""

    key: str
    fields: dict[str, str]

    def as_text(self) -> str:
        """Return the work as one line: who, what, where, when, and a link."""
        field = {name: re.sub(r"[{}]", "", value) for name, value in self.fields.items()}
        authors = field["author"].replace(" and ", ", ")
        where = field.get("journal") or field.get("booktitle") or field.get("publisher", "")
        if "volume" in field:
            number = f"({field['number']})" if "number" in field else ""
            where += f" {field['volume']}{number}"
        if "pages" in field:
            where += f", {field['pages'].replace('--', '–')}"
        place = f" {where}," if where else ""
        links = []
        if "doi" in field:
            links.append(f"`doi:{field['doi']} <https://doi.org/{field['doi']}>`__")
        if "eprint" in field:
            links.append(f"`arXiv:{field['eprint']} <https://arxiv.org/abs/{field['eprint']}>`__")
        tail = f" {', '.join(links)}." if links else ""
        return f"{authors}. *{field['title']}*.{place} {field['year']}.{tail}"


def read_bibliography(path: Path = SOURCE) -> list[Entry]:
    """Return every entry of a bibliography, in its order."""
    text = path.read_text(encoding="utf-8")
    found = [Entry(key, dict(_FIELD.findall(body))) for _, key, body in _ENTRY.findall(text)]
    if len(found) != text.count("\n@") + text.startswith("@"):
        raise ValueError(f"{path.name} must keep to one field a line; some entry does not.")
    return found


def on_builder_inited(app: Sphinx) -> None:
    """Write ``reference/references.rst``."""
    entries = sorted(read_bibliography(), key=lambda entry: entry.key)
    # The backslash keeps "C. J. Clopper" from being read as item C of a list.
    lines = "\n".join(rf".. [{entry.key}] \{entry.as_text()}" for entry in entries)
    target = Path(app.srcdir) / "reference" / "references.rst"
    text = PAGE.format(entries=lines)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", on_builder_inited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
