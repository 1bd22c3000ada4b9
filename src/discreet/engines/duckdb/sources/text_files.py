"""Files of text as a stream of bytes: unpacked, and of two-byte encodings as UTF-8.

A packed file is unpacked as it is read, a block at a time, so how large it becomes costs time and
no memory.
"""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from discreet.core import optional
from discreet.tables.text_form import UTF_16, Compression, TextForm


class Readable(Protocol):
    """Something that hands out bytes from its beginning to its end."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, and none only at the end."""
        ...


@contextmanager
def opened_text(file: Path, form: TextForm) -> Iterator[Readable]:
    """Open a file of text. What it cannot unpack makes reading fail: the file is damaged."""
    with _unpacked(file, form.compression) as stream:
        yield _Transcoded(stream, form.encoding) if form.encoding in UTF_16 else stream


@contextmanager
def _unpacked(file: Path, compression: Compression) -> Iterator[Any]:
    if compression is Compression.NONE:
        with file.open("rb") as plain:
            yield plain
        return
    arrow = optional.load("pyarrow")
    with arrow.OSFile(str(file)) as packed:
        yield _Packed(packed, compression)


class _Packed:
    """A packed file, also one of several parts, that ends where its last part is whole."""

    def __init__(self, packed: Any, compression: Compression) -> None:
        load = optional.load("pyarrow")
        self._stream = load.CompressedInputStream(packed, compression.value)

    def read(self, size: int, /) -> bytes:
        return bytes(self._stream.read(size))


class _Transcoded:
    """A file in UTF-16 as UTF-8. Half of a pair becomes bytes that are no text, where it stands.

    Guarantee:
        Every other pair of bytes becomes what it says, whatever stands around it.

        Proof. Pairs are cut by their position alone. ``surrogatepass`` takes a half that has no
        other half for itself, and writes it as three bytes that no text in UTF-8 has.
    """

    def __init__(self, stream: Readable, encoding: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder: codecs.IncrementalDecoder | None = None
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        while not self._rest:
            block = self._stream.read(size)
            text = self._decoded(block) if block else self._half()
            self._rest = text.encode("utf-8", "surrogatepass")
            if not block:
                break
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _decoded(self, block: bytes) -> str:
        if self._decoder is None:
            if self._encoding == "utf-16":
                while len(block) < len(codecs.BOM_UTF16) and (more := self._stream.read(1)):
                    block += more
                is_big = block.startswith(codecs.BOM_UTF16_BE)
                self._encoding = "utf-16-be" if is_big else "utf-16-le"
            self._decoder = codecs.getincrementaldecoder(self._encoding)("surrogatepass")
        return self._decoder.decode(block)

    def _half(self) -> str:
        """Return what is left at the end, once: half of a pair. A single byte is dropped."""
        left = self._decoder.getstate()[0] if self._decoder is not None else b""
        self._decoder = None
        return "\ud800" if len(left) > 1 else ""
