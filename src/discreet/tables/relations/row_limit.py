"""Row limit: at most so many rows of each owner, before rows are paired."""

from attrs import frozen

from discreet.tables.relations.relation import OneSource


@frozen(kw_only=True)
class RowLimit(OneSource):
    """At most ``rows`` rows of each owner, chosen by a keyed hash of their content.

    Pairs of rows multiply, and an analyst chooses how often. Without a limit, whether an answer
    comes at all could be made to depend on the rows of one person.

    Guarantee:
        Which rows of an owner stay depends on that owner's rows and the secret salt alone: rows
        that tie in the hash are put in order by all of their fields, and ones that tie there are
        alike. So the operator is owner-local.
    """

    rows: int
