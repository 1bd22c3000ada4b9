"""Where each key of a TOML file stands. The standard parser says what a file means, not where."""

import tomllib
from collections.abc import Iterator

from attrs import define, field, frozen

KeyPath = tuple[str, ...]


@frozen
class TomlLines:
    r"""The line of every key, table and list item, by its path.

    Example:
        >>> lines = TomlLines.of('[a.b]\nc = { d = [1,\n  2] }\n')
        >>> lines.shown(("a", "b", "c", "d")), lines.shown(("a", "b", "e"))
        ('a.b.c.d (line 2)', 'a.b.e (near line 1)')
    """

    known: dict[KeyPath, int]

    @staticmethod
    def of(text: str) -> "TomlLines":
        """Return the lines of a text that the standard parser has read without complaint."""
        return TomlLines(_Scanner(text).scan())

    def shown(self, path: KeyPath) -> str:
        """Return the path and its line; if nothing stands there, the line of what is around it."""
        name = ".".join(path)
        for end in range(len(path), 0, -1):
            line = self.known.get(path[:end])
            if line is not None:
                return f"{name} ({'line' if end == len(path) else 'near line'} {line})"
        return name


_SPACE = " \t\r\n"
_BARE_END = frozenset(" \t\r\n.=]}#,")


@define
class _Scanner:
    """Walks over valid TOML once and notes where keys stand; what they mean is not its business."""

    text: str
    at: int = 0
    known: dict[KeyPath, int] = field(factory=dict)
    _items: dict[KeyPath, int] = field(factory=dict)
    _counted: tuple[int, int] = (0, 1)

    def scan(self) -> dict[KeyPath, int]:
        prefix: KeyPath = ()
        while self._next():
            if self.text[self.at] == "[":
                prefix = self._header()
            else:
                self._pair(prefix)
        return self.known

    def _header(self) -> KeyPath:
        """Read ``[a.b]`` or ``[[a.b]]``; an item of a list of tables is numbered."""
        start = self.at
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        path = self._path(self._key())
        self._next()
        self.at += brackets
        if brackets == 2:
            number = self._items.get(path, 0)
            self._items[path] = number + 1
            path = (*path, str(number))
        self._note(path, start)
        return path

    def _path(self, key: KeyPath) -> KeyPath:
        """Return the key from the top; below a list of tables, its newest item is meant."""
        path: KeyPath = ()
        for i, part in enumerate(key):
            path = (*path, part)
            if i < len(key) - 1 and path in self._items:
                path = (*path, str(self._items[path] - 1))
        return path

    def _pair(self, prefix: KeyPath) -> None:
        start = self.at
        path = (*prefix, *self._key())
        self._note(path, start, within=len(prefix))
        self._next()
        self.at += 1  # the equals sign
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._next()
        sign = self.text[self.at]
        if sign in "\"'":
            self._string()
        elif sign == "[":
            for number in self._inside("]"):
                self._note((*path, str(number)), self.at)
                self._value((*path, str(number)))
        elif sign == "{":
            for _ in self._inside("}"):
                self._pair(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in "\n#,]}":
                self.at += 1

    def _inside(self, end: str) -> Iterator[int]:
        """Stand before each item of a list or an inline table, and leave behind its end."""
        self.at += 1
        number = 0
        while self._next() and self.text[self.at] != end:
            yield number
            number += 1
            if self._next() and self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _key(self) -> KeyPath:
        parts: list[str] = []
        while self._next():
            if self.text[self.at] in "\"'":
                start = self.at
                self._string()
                parts.append(tomllib.loads(f"k = {self.text[start : self.at]}")["k"])
            else:
                start = self.at
                while self.text[self.at] not in _BARE_END:
                    self.at += 1
                parts.append(self.text[start : self.at])
            if not self._next() or self.text[self.at] != ".":
                break
            self.at += 1
        return tuple(parts)

    def _string(self) -> None:
        quote = self.text[self.at]
        is_long = self.text.startswith(quote * 3, self.at)
        self.at += 3 if is_long else 1
        while not self.text.startswith(quote * 3 if is_long else quote, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += 3 if is_long else 1
        while is_long and self.text.startswith(quote, self.at):
            self.at += 1  # up to two quotes may stand before the three that end a long text

    def _next(self) -> bool:
        """Go to what comes after space and comments; tell whether there is anything."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in _SPACE:
                self.at += 1
            else:
                return True
        return False

    def _note(self, path: KeyPath, start: int, *, within: int = 0) -> None:
        """Note a line for the path, and for the parts of it that were not met before."""
        line = self._line(start)
        for end in range(within + 1, len(path)):
            self.known.setdefault(path[:end], line)
        self.known[path] = line

    def _line(self, start: int) -> int:
        """Return the line of a position; positions only ever grow, so no line is counted twice."""
        before, line = self._counted
        line += self.text.count("\n", before, start)
        self._counted = (start, line)
        return line
