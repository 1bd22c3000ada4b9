"""Row limit: at most so many rows of each owner, before rows are paired."""

from attrs import frozen

from discreet.tables.relations.relation import OneSource


@frozen(kw_only=True)
class RowLimit(OneSource):
    """At most ``rows`` rows of each owner: a fair sample, by a keyed hash.

    Pairs of rows multiply, and an analyst chooses how often. Without a limit, whether an answer
    comes at all could be made to depend on the rows of one person.

    Guarantee:
        Which rows of an owner stay depends on that owner's rows and the secret salt alone: what
        is hashed is a row's fields and its number among identical rows, and of identical rows it
        does not matter which has which number. So the operator is owner-local.
    """

    rows: int
