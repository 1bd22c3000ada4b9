"""Codes in ``discreet.toml``: labels, what stands for missing values, words for true and false."""

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal

from discreet.core.errors import DeclarationError
from discreet.core.numbers import exact
from discreet.tables.column import Codes, ColumnType, Key
from discreet.tables.declarations.section import LIST, TEXT, Section

MOST_CODES = 1_000
LONGEST_CODE = 64
"""The most bytes of a code that is a text, and the most characters of a label."""

_CODE = re.compile(r"-?[0-9]{1,18}", re.ASCII)

LABELLED = (ColumnType.INTEGER, ColumnType.TEXT)
"""Types that codes with labels are stored as."""


def read_codes(section: Section, kind: ColumnType) -> Codes | None:
    """Return what stored values of a column mean, if the owner says it."""
    if kind in LABELLED and section.has("labels"):
        return _labels(section, kind)
    if kind is ColumnType.BOOLEAN and (section.has("true") or section.has("false")):
        return _words(section)
    if kind in _MISSING and section.has("missing"):
        return _missing(section, kind)
    return None


def missing_texts(section: Section, kind: ColumnType) -> tuple[str, ...]:
    """Return the texts that stand for no number or date: they are NULL, and yet could be read."""
    if kind is ColumnType.TEXT or kind not in _MISSING or not section.has("missing"):
        return ()
    return tuple(code for code in section.get("missing", LIST) if isinstance(code, str))


def _labels(section: Section, kind: ColumnType) -> Codes:
    labels = section.sub("labels")
    meanings = []
    for name in labels.names():
        if kind is ColumnType.INTEGER and not _CODE.fullmatch(name):
            raise DeclarationError(
                f"{labels.place(name)} is no code", must="be a whole number, as the column is"
            )
        label = labels.get(name, TEXT)
        _require_short(labels, name, name, label)
        meanings.append((int(name) if kind is ColumnType.INTEGER else name, label))
    labels.refuse_repeats([code for code, _ in meanings])
    _require_few(labels, meanings)
    return Codes(read_as=kind, meanings=tuple(meanings), is_all=True)


def _words(section: Section) -> Codes:
    meanings = [
        (word, meaning)
        for key, meaning in (("true", True), ("false", False))
        for word in _listed(section, key)
    ]
    words = [(str(word), meaning) for word, meaning in meanings]
    section.refuse_repeats([word for word, _ in words], "false")
    _require_few(section, words)
    return Codes(read_as=ColumnType.TEXT, meanings=tuple(words), is_all=True)


def _listed(section: Section, key: str) -> Sequence[str | int]:
    found = section.get(key, LIST)
    for number, word in enumerate(found):
        if type(word) not in (str, int):
            raise DeclarationError(
                f"{section.place(key, str(number))} is of the wrong type",
                must="be text or a whole number",
            )
        _require_short(section, key, str(word))
    if not found:
        raise DeclarationError(f"{section.place(key)} is empty", must="list at least one word")
    return list(found)


_MISSING: dict[ColumnType, tuple[type, ...]] = {
    ColumnType.INTEGER: (int,),
    ColumnType.REAL: (int, Decimal),
    ColumnType.TEXT: (str, int),
    ColumnType.DATE: (datetime.date,),
}
"""Which codes can stand for what is missing; a text beside numbers or dates is NULL anyhow."""


def _missing(section: Section, kind: ColumnType) -> Codes | None:
    codes: list[Key] = []
    for number, code in enumerate(section.get("missing", LIST)):
        place = section.place("missing", str(number))
        if type(code) in _MISSING[kind]:
            codes.append(_typed(code, kind))
        elif not isinstance(code, str):
            raise DeclarationError(
                f"{place} is a code of the wrong type", must=f"be text, or of type {kind.value}"
            )
        _require_short(section, "missing", str(code))
        if isinstance(code, int) and not -(2**63) <= code < 2**63:
            raise DeclarationError(f"{place} is too large", must="fit in 64 bits")
    section.refuse_repeats(codes, "missing")
    _require_few(section, codes)
    nothing: tuple[tuple[Key, Key | None], ...] = tuple((code, None) for code in codes)
    return Codes(read_as=kind, meanings=nothing, is_all=False) if codes else None


def _typed(code: Key | Decimal, kind: ColumnType) -> Key:
    """Return a code as the column has it: in a text as text, a real number as its exact text."""
    if kind is ColumnType.REAL:
        return str(exact(str(code)))
    if kind is ColumnType.TEXT or isinstance(code, Decimal):
        return str(code)
    return code


def _require_short(section: Section, key: str, *texts: str) -> None:
    for text in texts:
        if len(text.encode()) > LONGEST_CODE or "\0" in text:
            raise DeclarationError(
                f"{section.place(key)} has a code or a label that is too long",
                must=f"have at most {LONGEST_CODE} bytes, and no character NUL",
            )


def _require_few(section: Section, codes: Sequence[object]) -> None:
    if len(codes) > MOST_CODES:
        raise DeclarationError(
            f"{section.place()} has too many codes",
            must=f"have at most {MOST_CODES:,}",
            got=f"{len(codes):,}",
            next="Join with a public table that has the codes and their labels",
        )
