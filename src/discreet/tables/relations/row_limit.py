"""Row limit: at most so many rows of each owner, before rows are paired or are much work."""

from typing import ClassVar

from attrs import frozen

from discreet.tables.relations.relation import OneSource


@frozen(kw_only=True)
class RowLimit(OneSource):
    """At most ``rows`` rows of each owner: a fair sample, by a keyed hash.

    Pairs of rows multiply, and an analyst chooses how often. Without a limit, whether an answer
    comes at all could be made to depend on the rows of one person. Where there are long texts, the
    choice also ends when their ``characters`` are used up: a limit of rows alone would have to
    allow for texts that are as long as they may be, and almost none are.

    Guarantee:
        Which rows of an owner stay depends on that owner's rows and the secret salt alone: what
        is hashed is a row's fields and its number among identical rows, and of identical rows it
        does not matter which has which number. They are the first ones in this order, as many as
        have no more characters in all. So the operator is owner-local. Where characters run out the
        sample is not fair: rows with long texts are less likely to be in it.
    """

    stored_as: ClassVar[str] = "RowLimit"
    rows: int
    texts: tuple[int, ...] = ()
    """The fields whose characters count."""
    characters: int = 0
    """How many characters in all, if there are such fields."""
