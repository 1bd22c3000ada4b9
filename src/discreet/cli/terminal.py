"""What is written on the standard streams: text and JSON that the stream can say, and errors."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any, TextIO

from discreet.core.errors import DiscreetError
from discreet.core.interrupts import Interrupted
from discreet.core.terminal_text import WIDEST, lines


def write(stream: TextIO, text: str) -> None:
    """Write a line, whatever the stream can say: what was paid for must not be lost to view."""
    known = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(known, "backslashreplace").decode(known) + "\n")


def write_bytes(data: bytes) -> None:
    """Write bytes on the standard output, after all that was written before."""
    sys.stdout.flush()
    below = getattr(sys.stdout, "buffer", None)
    if below is None:
        sys.stdout.write(data.decode())
    else:
        below.write(data)


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
        return
    sentences = error.sentences() if isinstance(error, DiscreetError) else str(error)
    write(sys.stderr, _told(f"discreet: {spelled(sentences)} [{error.code}]"))
    if isinstance(error, DiscreetError) and error.excerpt:
        write(sys.stderr, error.excerpt)


def _told(message: str) -> str:
    """Return a message in lines for a terminal; elsewhere in one, which programs can search."""
    if not sys.stderr.isatty():
        return message
    return lines(message, width=min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))


def let_go_of_output() -> None:
    """Write nothing more on the standard output: whoever read it has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
