"""Distinct: each combination of owner and fields once."""

from typing import ClassVar

from attrs import frozen

from discreet.tables.relations.relation import OneSource


@frozen(kw_only=True)
class Distinct(OneSource):
    """The different rows of each owner. Equal rows of two owners both stay."""

    stored_as: ClassVar[str] = "Distinct"
