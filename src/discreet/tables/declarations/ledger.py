"""The ledger in ``discreet.toml``: where it is, and where else it is noted how far it is."""

from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.declarations.section import TEXT, Section

DEFAULT_LEDGER = Path(".discreet") / "ledger.sqlite"


def read_ledger(section: Section, file: Path) -> tuple[Path, tuple[Path, ...]]:
    """Return the place of the ledger and those of its anchors.

    One anchor is always beside the declaration, and not in the folder of the ledger: what removes
    the one should not remove the other.
    """
    root = file.parent
    path = root / section.get_or("path", str(DEFAULT_LEDGER), TEXT)
    beside = file.with_suffix(".anchor")
    second = section.get_or("anchor", None, TEXT)
    section.finish()
    if second is None:
        return path, (beside,)
    if root / second in (path, beside, file):
        raise DeclarationError(
            f"{section.place('anchor')} is in use already",
            must="be a file of its own, best on another disk",
            got=second,
        )
    return path, (beside, root / second)
