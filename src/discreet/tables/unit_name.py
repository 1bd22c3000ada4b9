"""The owner's word for a unit: alone, with its article, and for several of them."""

import re

from attrs import frozen

from discreet.core.unit_words import A_UNIT, BARE_UNIT, ONE_UNIT, UNITS, put_in

_ARTICLE = re.compile(r"(an?|one|each|every|the)\s+(?=\S)", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W_](?:[\w' -]*\w)?")
_TAIL = re.compile(r"\s(?:of|in|on|at|with|who|that|per|for|from|by|and|or)\s.*")
_MOST_WORDS = 4
_VOWELS = ("a", "e", "i", "o", "u")
_SAID_AS_YOU = ("uni", "use", "usu", "eu", "one", "ut")
"""Beginnings that are written with a vowel and spoken with a consonant: a user, a European."""

_IRREGULAR = {
    "person": "people",
    "child": "children",
    "man": "men",
    "woman": "women",
    "mouse": "mice",
    "datum": "data",
    "aircraft": "aircraft",
    "spacecraft": "spacecraft",
    "series": "series",
    "species": "species",
    "sheep": "sheep",
    "fish": "fish",
}


@frozen(kw_only=True)
class UnitName:
    """What one unit is called, and what several are.

    Example:
        >>> aircraft = UnitName(singular="aircraft", plural="aircraft", article="an")
        >>> aircraft.one, aircraft.a, aircraft.counted(2_000)
        ('one aircraft', 'an aircraft', '2,000 aircraft')
    """

    singular: str
    plural: str
    article: str

    @property
    def one(self) -> str:
        """One of them, as a number."""
        return f"one {self.singular}"

    @property
    def a(self) -> str:
        """Any of them, with the right article."""
        return f"{self.article} {self.singular}"

    def counted(self, number: int) -> str:
        """So many of them."""
        return f"{number:,} {self.singular if number == 1 else self.plural}"

    def within(self, period: str | None) -> "UnitName":
        """Return the name of one of them in one period, which is a unit where periods are.

        A name that says so already is left as it is.

        Example:
            >>> unit_name("a person").within("month").counted(2)
            '2 person-months'
            >>> unit_name("a child at sea").within("day").plural
            'days of children at sea'
            >>> unit_name("a user-day").within("day").one
            'one user-day'
        """
        if period is None or self == UNIT or period in self.singular.lower():
            return self
        if " " in self.singular:
            plural = f"{period}s of {self.plural}"
            return UnitName(singular=f"{period} of {self.a}", plural=plural, article="a")
        name = f"{self.singular}-{period}"
        return UnitName(singular=name, plural=f"{name}s", article=self.article)

    def said(self, sentence: str) -> str:
        """Return a sentence with the name in the places that were kept for it.

        Example:
            >>> UNIT.said(f"2 rows of {ONE_UNIT} count; {UNITS} have more")
            '2 rows of one unit count; units have more'
        """
        words = {
            ONE_UNIT: self.one,
            A_UNIT: self.a,
            UNITS: self.plural,
            BARE_UNIT: self.singular,
        }
        return put_in(sentence, words)


UNIT = UnitName(singular="unit", plural="units", article="a")
"""What it is called where the owner's words are no name, or nobody's words are known."""


def reworded(sentence: str, called: UnitName) -> str:
    """Return a sentence of ours, in which no name stands, with the name for a unit in it.

    Example:
        >>> reworded("one unit adds 1 to each of its groups", unit_name("an aircraft"))
        'one aircraft adds 1 to each of its groups'
    """
    words = {"one unit": called.one, "a unit": called.a, "units": called.plural}
    return _OURS.sub(lambda found: words[found.group()], sentence)


_OURS = re.compile(r"\b(?:one unit|a unit|units)\b")


def unit_name(words: str, plural: str | None = None) -> UnitName:
    """Return the name in an owner's words for one unit, such as ``a patient``.

    Words that describe a unit rather than name it, such as ``what a person did in a day``, are no
    name: then it is a unit. The plural is declared, or follows the usual rules.

    Example:
        >>> unit_name("an aircraft").plural, unit_name("one person").a, unit_name("user").a
        ('aircraft', 'a person', 'a user')
        >>> unit_name("a city of the north").plural, unit_name("a person-day").plural
        ('cities of the north', 'person-days')
        >>> unit_name("whatever somebody did, in any month of the year").one
        'one unit'
    """
    text = " ".join(words.split())
    found = _ARTICLE.match(text)
    name = text[found.end() :] if found else text
    if not _PLAIN.fullmatch(name) or len(name.split()) > _MOST_WORDS or (not found and " " in name):
        return UNIT
    said = found.group(1).lower() if found else ""
    article = said if said in ("a", "an") else _article(name)
    return UnitName(singular=name, plural=plural or plural_of(name), article=article)


def _article(name: str) -> str:
    lower = name.lower()
    return "an" if lower.startswith(_VOWELS) and not lower.startswith(_SAID_AS_YOU) else "a"


def plural_of(name: str) -> str:
    """Return the plural of a name by the usual rules; of a phrase, that of what it is about.

    Example:
        >>> [plural_of(name) for name in ("box", "city", "day", "sales person", "man at sea")]
        ['boxes', 'cities', 'days', 'sales people', 'men at sea']
    """
    tail = _TAIL.search(name)
    rest = tail.group() if tail else ""
    before, space, last = name[: len(name) - len(rest)].rpartition(" ")
    return f"{before}{space}{_plural_word(last)}{rest}"


def _plural_word(word: str) -> str:
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower] if word == lower else word[0] + _IRREGULAR[lower][1:]
    if lower.endswith("y") and lower[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}es" if lower.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"
