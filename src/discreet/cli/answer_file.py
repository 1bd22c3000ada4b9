"""Where an answer goes, and in which form: a table, JSON, CSV, Arrow or Parquet."""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from discreet.cli.command import CommandResult
from discreet.cli.spelling import spelled
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.releases.answer_frame import IntervalKind
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.profile import Profile
from discreet.releases.release import Release
from discreet.roles.stored_releases import PublicRelease
from discreet.synthesis.published.published_counts import PublishedCounts
from discreet.synthesis.synthetic_answer import SyntheticAnswer
from discreet.synthesis.synthetic_release import SyntheticRelease
from discreet.tables.catalog import Catalog

Answer = Release | FreeAnswer
"""What a question gets: a release, or what was public already."""

Written = Answer | SyntheticRelease | PublishedCounts | SyntheticAnswer
"""What can be written into a file."""


class AnswerFormat(Enum):
    """The forms that an answer can be written in."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"
    PARQUET = "parquet"


ENDINGS: Mapping[str, AnswerFormat] = {
    ".txt": AnswerFormat.TABLE,
    ".json": AnswerFormat.JSON,
    ".csv": AnswerFormat.CSV,
    ".arrow": AnswerFormat.ARROW,
    ".feather": AnswerFormat.ARROW,
    ".parquet": AnswerFormat.PARQUET,
}
"""What the name of a file says about the form, if nothing else does."""

_BINARY = (AnswerFormat.ARROW, AnswerFormat.PARQUET)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where an answer goes, and in which form."""
    parser.add_argument(
        "--format",
        choices=[one.value for one in AnswerFormat],
        help="the form of the answer (default: a table, or what the ending of the file says)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the answer into a new file")
    parser.add_argument(
        "--force", action="store_true", help="replace the file if there is one already"
    )


def encoded(release: Written, form: AnswerFormat) -> bytes:
    """Return an answer in one of the forms.

    In CSV, Arrow and Parquet each noisy output ``n`` of a question has its interval in ``n_low``
    and ``n_high``.
    """
    return _ENCODERS[form](release)


def _table(release: Written) -> bytes:
    return f"{release}\n".encode()


def _json(release: Written) -> bytes:
    return f"{json.dumps(release.to_json(), ensure_ascii=False, indent=2)}\n".encode()


def _csv(release: Written) -> bytes:
    target = io.BytesIO()
    optional.load("pyarrow.csv").write_csv(release.to_arrow(), target)
    return target.getvalue()


def _arrow(release: Written) -> bytes:
    target, table = io.BytesIO(), release.to_arrow()
    with optional.load("pyarrow").ipc.new_file(target, table.schema) as writer:
        writer.write_table(table)
    return target.getvalue()


def _parquet(release: Written) -> bytes:
    target = io.BytesIO()
    optional.load("pyarrow.parquet").write_table(release.to_arrow(), target)
    return target.getvalue()


_ENCODERS: Mapping[AnswerFormat, Callable[[Written], bytes]] = {
    AnswerFormat.TABLE: _table,
    AnswerFormat.JSON: _json,
    AnswerFormat.CSV: _csv,
    AnswerFormat.ARROW: _arrow,
    AnswerFormat.PARQUET: _parquet,
}


@frozen(kw_only=True)
class NewFile:
    """A file that is there as a whole or not at all: it is written beside, and then named."""

    target: Path
    beside: Path
    file: BinaryIO
    replaces: bool

    def keep(self, data: bytes) -> None:
        """Write all of it, and give the file its name."""
        try:
            self.file.write(data)
            self.file.flush()
            os.fsync(self.file.fileno())
            if self.replaces:
                self.beside.replace(self.target)
            else:
                # Unlike a renaming, this fails if somebody took the name in the meantime.
                os.link(self.beside, self.target)
        except OSError as cause:
            raise InvalidArgument(
                f"{self.target} could not be written",
                got=cause.strerror or type(cause).__name__,
                next="The answer is kept: the same question (not as a fresh one) gets it for "
                "nothing. Name another file",
            ) from None


@frozen(kw_only=True)
class Destination:
    """Where one answer goes: the standard output, or a file that can be written."""

    form: AnswerFormat
    file: NewFile | None

    def require_apart(self, catalog: Catalog) -> None:
        """Refuse to replace what the project itself is made of."""
        if self.file is None:
            return
        sources = [table.source.path for table in catalog.tables]
        sources += [table.source.path for table in catalog.public_tables]
        own = {path.resolve() for path in (*sources, catalog.ledger, *catalog.anchors)}
        if self.file.target in own or self.file.target.name == "discreet.toml":
            raise InvalidArgument(
                f"{self.file.target} is a part of the project",
                must="be another file",
                next="Nothing was charged",
            )

    def take(self, release: Answer) -> CommandResult:
        """Write the answer, or return it to be shown."""
        cost = "a stored release" if release.is_stored else f"cost {release.cost}"
        if isinstance(release, FreeAnswer):
            cost = "free"
        if self.file is not None:
            self.file.keep(encoded(release, self.form))
            rows, name = len(release.rows), str(self.file.target)
            told = f"Wrote {rows:,} {'row' if rows == 1 else 'rows'} to {name}; {cost}"
            data = release.to_json()
            told_of = ("cost", "decimals", "stored", "headline", "notes", "receipt")
            about = {key: data[key] for key in told_of if key in data}
            found = {"output": name, "format": self.form.value, "rows": rows} | about
            return CommandResult(_noted(told, release), found)
        if self.form in (AnswerFormat.TABLE, AnswerFormat.JSON):
            return CommandResult(shown(release), release.to_json())
        return CommandResult(
            "", None, output=encoded(release, self.form), aside=_noted(cost, release)
        )


def shown(release: Answer | PublicRelease, spelling: Callable[[str], str] = spelled) -> str:
    """Return an answer as text, with notes in the spelling of the command line or the shell."""
    text = str(release)
    for note in () if isinstance(release, Profile) else release.notes():
        # Only there: what stands in the table is the answer's.
        text = text.replace(note, spelling(note))
    return text


def _noted(told: str, release: Answer) -> str:
    """Return what is told beside an answer whose form has no place for it."""
    first = release.headline() if isinstance(release, Release) else ()
    is_sampled = isinstance(release, Release) and release.kind is IntervalKind.SAMPLING
    about = [_SAMPLED] if is_sampled else []
    return "\n".join([told, *about, *map(spelled, (*first, *release.notes()))])


_SAMPLED = (
    "the intervals are those of sampling: about a population of which the units of the table are a"
    " random sample"
)


@contextmanager
def destination(options: argparse.Namespace) -> Iterator[Destination]:
    """Make sure of the place of an answer before it is paid for; leave nothing behind otherwise."""
    form = _form(options)
    if options.output is None:
        yield Destination(form=form, file=None)
        return
    target = Path(options.output)
    _require_free(target, replaces=options.force)
    new = _begun(target.resolve(), replaces=options.force)
    try:
        with new.file:
            yield Destination(form=form, file=new)
    finally:
        with suppress(OSError):
            new.beside.unlink(missing_ok=True)


def _form(options: argparse.Namespace) -> AnswerFormat:
    """Return the form that was asked for, in whichever way."""
    said = None if options.format is None else AnswerFormat(options.format)
    if options.output is None:
        return _printed(said, options)
    usual = AnswerFormat.JSON if options.json else ENDINGS.get(Path(options.output).suffix.lower())
    if said is None and usual is None:
        raise InvalidArgument(
            f"The form of {options.output} is not known",
            must=f"end in {', '.join(ENDINGS)}, or be said with --format",
        )
    return said or usual or AnswerFormat.TABLE


def _printed(said: AnswerFormat | None, options: argparse.Namespace) -> AnswerFormat:
    if options.force:
        raise InvalidArgument("--force is about a file", must="have -o FILE too")
    if options.json and said not in (None, AnswerFormat.JSON):
        raise InvalidArgument(
            "Two forms were asked for", must="be --json or --format", got=f"--json and {said.value}"
        )
    if said in _BINARY and sys.stdout.isatty():
        raise InvalidArgument(
            f"{said.value} is not for a terminal", must="go into a file", next="Add -o FILE"
        )
    if said is AnswerFormat.JSON:
        options.json = True
    return said or (AnswerFormat.JSON if options.json else AnswerFormat.TABLE)


def _require_free(target: Path, *, replaces: bool) -> None:
    is_taken = os.path.lexists(target)
    if is_taken and not replaces:
        raise InvalidArgument(
            f"{target} exists already",
            next="Nothing was charged. Name another file, or add --force to replace it",
        )
    if is_taken and not target.is_file():
        raise InvalidArgument(
            f"{target} cannot be replaced", must="be a file", next="Nothing was charged"
        )


def _begun(target: Path, *, replaces: bool) -> NewFile:
    """Begin a file beside the target, which shows that there can be one."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        file = os.fdopen(os.open(beside, flags, 0o666), "wb")
    except OSError as cause:
        raise InvalidArgument(
            f"{target} cannot be written",
            got=cause.strerror or type(cause).__name__,
            next="Nothing was charged. Name a file in a folder that is there and can be written to",
        ) from None
    return NewFile(target=target, beside=beside, file=file, replaces=replaces)
