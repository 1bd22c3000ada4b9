"""A statement: the shape of a query, before anything in it is looked up."""

from typing import Any

from attrs import frozen

from discreet.sql.options import Options


@frozen(kw_only=True)
class Statement:
    """One SELECT as the parser's syntax tree, and the privacy options that stood in it."""

    select: Any
    """The syntax tree of the outermost SELECT, WITH included."""
    options: Options
