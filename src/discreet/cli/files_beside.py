"""Files beside a release: its report, and its card."""

from collections.abc import Callable
from pathlib import Path

from discreet.core.errors import InvalidArgument
from discreet.synthesis.report import report_place


def require_free(path: str | None, *, replaces: bool) -> None:
    """Make sure of the place of a report before anything is paid for."""
    if path is None:
        return
    report = report_place(path)
    if not report.absolute().parent.is_dir() or (report.exists() and not replaces):
        raise InvalidArgument(
            f"The report {report} cannot be written there",
            must="be a new file in a folder that is there, or have --force",
            next="Nothing was charged",
        )


def write_beside(what: str, path: str | None, write: Callable[[Path], object]) -> None:
    """Write a report or a card, if it is asked for: the release itself is stored already."""
    if path is None:
        return
    try:
        write(Path(path))
    except OSError as cause:
        raise InvalidArgument(
            f"The {what} {path} cannot be written",
            got=cause.strerror or type(cause).__name__,
            next="The release is stored, and the same command again costs nothing",
        ) from None


def write_card(path: str | None, card: Callable[[], str]) -> None:
    """Write a release card, if it is asked for."""
    write_beside("card", path, lambda place: place.write_text(card(), encoding="utf-8"))
