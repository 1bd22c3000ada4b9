"""Places in a sentence that are kept for the owner's word for a unit, and what stands there else.

Whoever writes a sentence deep inside knows no declaration; a door does. So the places are signs
that no script has: no name of a column or a table is taken for one of them.
"""

from collections.abc import Mapping

ONE_UNIT, A_UNIT, UNITS, BARE_UNIT = "\ue000", "\ue001", "\ue002", "\ue003"
"""What stands in a sentence for one unit, for any unit, for several, and for the word alone."""

WITHOUT_A_NAME: Mapping[str, str] = {
    ONE_UNIT: "one unit",
    A_UNIT: "a unit",
    UNITS: "units",
    BARE_UNIT: "unit",
}
"""What is said where nobody's words are known."""


def put_in(sentence: str, words: Mapping[str, str] = WITHOUT_A_NAME) -> str:
    """Return a sentence with words in the places that were kept for them.

    Example:
        >>> put_in(f"2 rows of {ONE_UNIT} count; {UNITS} have more")
        '2 rows of one unit count; units have more'
    """
    for place, word in words.items():
        sentence = sentence.replace(place, word)
    return sentence
