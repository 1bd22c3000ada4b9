"""How a file of text is written: what separates fields, in which encoding, and how it is packed."""

import codecs
from enum import Enum

import attrs
from attrs import field, frozen

from discreet.core.errors import InvalidArgument


class Compression(Enum):
    """How the bytes of a file are packed."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


UTF_8 = "utf-8"

UTF_16 = frozenset({"utf-16", "utf-16-le", "utf-16-be"})
"""Encodings of two bytes a sign. Without a mark at its beginning, a file of the first one has the
low byte first."""

SINGLE_BYTE = frozenset(
    {
        *("ascii", "iso8859-1", *(f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 10))),
        *(f"iso8859-{n}" for n in (11, 13, 14, 15, 16)),
        *(f"cp{n}" for n in range(1250, 1259)),
        *(f"cp{n}" for n in (437, 720, 737, 775, 850, 852, 855, 856, 857, 858, 860, 861, 862)),
        *(f"cp{n}" for n in (863, 865, 866, 869, 874, 1125)),
        *("koi8-r", "koi8-t", "koi8-u", "kz1048", "ptcp154", "hp-roman8", "tis-620"),
        *("mac-roman", "mac-greek", "mac-cyrillic", "mac-turkish", "mac-iceland", "mac-latin2"),
    }
)
"""Encodings of one byte a sign, in which the first 128 are those of ASCII."""

SEVERAL_BYTES = frozenset(
    {
        *("shift_jis", "cp932", "euc_jp", "euc_kr", "cp949"),
        *("gb2312", "gbk", "gb18030", "big5", "cp950"),
    }
)
"""Encodings with signs of several bytes. Those after the first are never line ends, nor any of the
bytes below 0x40 that are no digits."""

_USUAL = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "iso8859-15", "mac-roman", "shift_jis")


def canonical_encoding(name: str) -> str:
    """Return the one name of an encoding, whatever it is called.

    Example:
        >>> canonical_encoding("Latin-1"), canonical_encoding("windows-1252")
        ('iso8859-1', 'cp1252')
    """
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        found = ""
    found = {"utf-8-sig": UTF_8}.get(found, found)
    if found not in {UTF_8} | UTF_16 | SINGLE_BYTE | SEVERAL_BYTES:
        raise InvalidArgument(
            "The encoding is not one that we read",
            must=f"be one of {', '.join(_USUAL)}, or another that has the signs of ASCII",
            got=ascii(name[:40]),
            next="Convert the file to UTF-8, for example with iconv",
        )
    return found


def _is_mark(_: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    name = attribute.name
    if len(value) != 1 or not value.isascii() or value.isalnum() or value in "\0\r\n":
        raise InvalidArgument(
            f"The {name} is not usable",
            must="be one sign of ASCII that is no letter, digit or line end",
            got=ascii(value[:40]),
        )


def _is_quote(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    if value:
        _is_mark(instance, attribute, value)


@frozen(kw_only=True)
class TextForm:
    r"""How files of text are written, as their owner declares it; nothing of it is ever guessed.

    Example:
        >>> TextForm(delimiter="\t", encoding="latin-1").encoding
        'iso8859-1'
    """

    delimiter: str = field(default=",", validator=_is_mark)
    """What separates fields."""
    quote: str = field(default='"', validator=_is_quote)
    """What stands around a field in which a separator or a line end is; empty if there is none."""
    has_header: bool = True
    """Whether the first line has the names. If not, the fields are the declared columns in turn."""
    encoding: str = field(default=UTF_8, converter=canonical_encoding)
    compression: Compression = Compression.NONE

    def __attrs_post_init__(self) -> None:
        """Refuse signs that could not be told apart."""
        if self.delimiter == self.quote:
            raise InvalidArgument(
                "Delimiter and quote are the same", must="differ", got=ascii(self.quote)
            )
        within = [sign for sign in (self.delimiter, self.quote) if sign >= "@"]
        if self.encoding in SEVERAL_BYTES and within:
            raise InvalidArgument(
                f"In {self.encoding} a part of another sign can look like this one",
                must="be a tab, a comma or a semicolon",
                got=ascii(within[0]),
                next="Convert the file to UTF-8, for example with iconv",
            )

    def reading(self) -> tuple[str | bool, ...] | None:
        """Return what decides on the texts that are read, unless it is as usual.

        How the bytes are packed does not.
        """
        found = (self.delimiter, self.quote, self.has_header, self.encoding)
        return None if found == (",", '"', True, UTF_8) else found


USUAL = TextForm()
"""Commas, double quotes, a header, UTF-8, not packed."""
