"""Parts of a workbook as XML, a block at a time, in which no single sign makes a parser stop."""

import codecs
import re
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain
from xml.parsers import expat

LARGEST_PART = 1 << 30
"""How many bytes the shared texts of a workbook may have: they are kept while a sheet is read."""

LONGEST_CELL = 1 << 17
"""The most signs of a cell that is read; Excel itself writes a fourth of it."""

_BLOCK = 1 << 16
_DEEPEST = 100

Starts = Callable[[str, dict[str, str]], None]
Ends = Callable[[str, str], None]
"""Called with the local name of an element, and what it holds of text."""


def parsed(archive: zipfile.ZipFile, part: str, starts: Starts, ends: Ends) -> Iterator[None]:
    """Parse a part, and stop after each block, so that what was found can be taken away.

    No entity is declared or followed: a document type is refused.
    """
    parser = expat.ParserCreate("utf-8", " ")
    parser.buffer_text = True
    texts: list[str] = [""]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(texts) > _DEEPEST:
            raise ValueError("A workbook is not so deep")
        texts.append("")
        starts(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        ends(_local(name), texts.pop())

    def text(data: str) -> None:
        if len(texts[-1]) <= LONGEST_CELL:  # longer ones are not read, so they are not kept
            texts[-1] += data

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _refuse
    with archive.open(part) as stream:
        for block in _plain(iter(lambda: stream.read(_BLOCK), b"")):
            parser.Parse(block, False)
            yield
    parser.Parse(b"", True)
    yield


_SPOILED = "_xD800_"
"""Half of a pair, as workbooks write it: a cell that has one is no text."""

_NO_SIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&(#[0-9]{1,9}|#x[0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,30});")
_LONGEST_REFERENCE = 40


def _plain(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks of XML in which no single sign makes a parser stop; it spoils its cell instead.

    XML has no room for some signs, and some programs write them all the same, as they got them.
    """
    first = next(blocks, b"")
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = "utf-16" if first.startswith(marks) else "utf-8-sig"
    errors = "surrogatepass" if encoding == "utf-16" else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    rest = ""
    for block in chain([first], blocks):
        text = rest + decoder.decode(block)
        # A reference may go on in the next block.
        cut = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
        cut = len(text) if cut < 0 or ";" in text[cut:] else cut
        rest, text = text[cut:], text[:cut]
        yield _mended(text)
    yield _mended(rest)


def _mended(text: str) -> bytes:
    return _NO_SIGN.sub(_SPOILED, _REFERENCE.sub(_referred, text)).encode()


def _referred(found: re.Match[str]) -> str:
    """Return a reference as it is, if it is to a sign that XML has."""
    name = found[1]
    if not name.startswith("#"):
        return found[0] if name in ("amp", "lt", "gt", "quot", "apos") else _SPOILED
    code = int(f"0{name[1:]}", 0) if name[1] == "x" else int(name[1:])
    is_sign = code <= 0x10FFFF and not _NO_SIGN.match(chr(code))
    return found[0] if is_sign else _SPOILED


def _refuse(*_: object) -> None:
    raise ValueError("A workbook has no document type")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def elements(archive: zipfile.ZipFile, part: str) -> list[tuple[str, dict[str, str]]]:
    """Return all elements of a small part with their attributes."""
    found: list[tuple[str, dict[str, str]]] = []
    if part in archive.namelist():
        require_small(archive, part)
        for _ in parsed(archive, part, lambda *pair: found.append(pair), lambda *_: None):
            pass
    return found


def require_small(archive: zipfile.ZipFile, part: str) -> None:
    """Refuse a part that would not fit in memory as a whole."""
    # The archive's reader hands out no more than what is written here.
    if archive.getinfo(part).file_size > LARGEST_PART:
        raise ValueError("A part of the workbook is too large")
