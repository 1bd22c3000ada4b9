"""What is written on the standard streams: text and JSON that the stream can say, and errors."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from discreet.core.errors import DiscreetError, OutputFailed
from discreet.core.interrupts import Interrupted
from discreet.core.terminal_text import WIDEST, lines


def write(stream: TextIO, text: str) -> None:
    """Write a line, whatever the stream can say: what was paid for must not be lost to view."""
    known = getattr(stream, "encoding", None) or "utf-8"
    with _told_if_lost(stream):
        stream.write(text.encode(known, "backslashreplace").decode(known) + "\n")


def write_bytes(data: bytes) -> None:
    """Write bytes on the standard output, after all that was written before."""
    flush_output()
    below = getattr(sys.stdout, "buffer", None)
    with _told_if_lost(sys.stdout):
        if below is None:
            sys.stdout.write(data.decode())
        else:
            below.write(data)


def flush_output() -> None:
    """Make sure that all is written that was to be written on the standard output."""
    with _told_if_lost(sys.stdout):
        sys.stdout.flush()


@contextmanager
def _told_if_lost(stream: TextIO | None) -> Iterator[None]:
    """Say that a stream cannot be written; that somebody stops reading is not said."""
    try:
        if stream is None:  # it was closed before the program began
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        yield
    except BrokenPipeError:
        raise
    except OSError as cause:
        raise OutputFailed(
            "The output cannot be written",
            got=cause.strerror or type(cause).__name__,
            next="A charge stands if one was made: its answer is stored, and asking again costs"
            " nothing",
        ) from None


def json_text(data: Any, stream: TextIO, *, indent: int | None = None) -> str:
    """Return JSON that the stream can say."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, indent=indent)
    return text


def explain(
    error: DiscreetError | Interrupted, *, is_json: bool, spelled: Callable[[str], str] = str
) -> None:
    """Show an error in its one form; ``spelled`` puts its words into those of the command line."""
    if is_json:
        parts = error.to_json()["error"]
        parts |= {name: spelled(parts[name]) for name in ("what", "must", "got", "next")}
        write(sys.stdout, json_text({"error": parts}, sys.stdout))
        flush_output()
        return
    sentences = error.sentences() if isinstance(error, DiscreetError) else str(error)
    write(sys.stderr, _told(f"discreet: {spelled(sentences)} [{error.code}]"))
    if isinstance(error, DiscreetError) and error.excerpt:
        write(sys.stderr, error.excerpt)


def _told(message: str) -> str:
    """Return a message in lines for a terminal; elsewhere in one, which programs can search.

    What somebody wrote may be quoted in it, and must not steer the terminal.
    """
    message = "".join(map(_shown, message))
    if sys.stderr is None or not sys.stderr.isatty():
        return message
    return lines(message, width=min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))


def _shown(sign: str) -> str:
    is_shown = sign == "\n" or sign.isprintable()
    return sign if is_shown else sign.encode("unicode_escape").decode()


def let_go_of_output() -> None:
    """Write nothing more on the standard output: whoever read it has gone, or it is full."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
