"""Receipts from a file: as a release carries them, in whatever form the release was kept."""

from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidArgument
from discreet.ledger.public_json import parsed_json
from discreet.ledger.receipt import Receipt


def read_receipts(path: Path) -> tuple[Receipt, ...]:
    """Return the receipts in a file: one, one inside a release, or a list of either, as JSON."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as cause:
        raise InvalidArgument(
            f"The receipt {path} cannot be read", got=type(cause).__name__
        ) from None
    found = parsed_json(f'{{"items": {text}}}')
    if found is None or set(found) != {"items"}:
        raise InvalidArgument(
            f"{path} is not JSON", must="be what 'discreet query --json' or 'to_json()' wrote"
        )
    items: Any = found["items"]
    receipts = tuple(_receipt(item) for item in (items if isinstance(items, list) else [items]))
    if not receipts:
        raise InvalidArgument(f"{path} holds no receipt", must="hold one at least")
    return receipts


def _receipt(item: Any) -> Receipt:
    inside = isinstance(item, dict) and "receipt" in item
    return Receipt.from_json(item["receipt"] if inside else item)
