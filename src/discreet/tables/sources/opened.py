"""An opened source: what to write in SQL for it, and the batches behind it, if it needs any."""

from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class Opened:
    """A source that a plan can read. ``cells`` maps declared columns to SQL; no row is read yet."""

    relation: str
    """What to write after FROM."""
    cells: dict[str, str]
    batches: Any = field(default=None, repr=False)
    """A :class:`~discreet.tables.sources.batches.Batches` to register under the relation's name,
    or ``None``."""
