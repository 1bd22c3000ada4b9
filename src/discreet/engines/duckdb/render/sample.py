"""A fair sample in DuckDB's SQL: at most so many rows of each owner, every choice as likely.

Rows are put in order by a keyed hash of their *content* (all that anything above looks at) and of
their *occurrence*: identical rows are numbered 1, 2, 3, ... . So no two rows of an owner have the
same things hashed, and a value that occurs five times has five chances.
"""

from collections.abc import Sequence

LEFT_OUT = "place"
"""The column with a row's place in the order by which rows are kept or left out."""


def keyed(*parts: str) -> str:
    """Return a secret number for ``parts``: their hash under the salt of the data version.

    The salt is mixed in last and in one step, so the hash is hashed again.

    Example:
        >>> keyed("h", "g")
        'hash(hash(h, g, $salt))'
    """
    return f"hash(hash({', '.join([*parts, '$salt'])}))"


def sample(
    rows: str,
    *,
    within: Sequence[str],
    key: Sequence[str],
    content: Sequence[str],
    most: int,
    size: tuple[str, int] | None = None,
) -> str:
    r"""Return the SELECT of at most ``most`` of the ``rows`` that are alike in ``within``.

    ``rows`` is SQL that can stand after FROM, with all the columns named here; ``within`` holds the
    owner's columns, and ``key`` is hashed with the content (it tells one owner and group from
    another). With a ``size``, a number for each row and the most of all of them, the sample ends
    before that is passed. The result has the columns of ``rows`` and more.

    Guarantee:
        *Owner-local.* Identical rows are numbered in whatever order they come; being identical, it
        does not matter which of them has which number: the pairs (content, occurrence) of an owner
        are the same however its rows, and others' rows, lie in the source. The order looks at
        these pairs and the salt alone. Equal means equal in every bit: reals have no minus zero and
        no NaN by the time that they come here (:mod:`~discreet.engines.duckdb.render.values`).

        *At most.* The pairs are all different, and after their hash the rows are put in order by
        the pairs themselves, so nothing ties and ``row_number`` lets in no more than ``most``.

        *Fair.* If the hash gives different pairs independent uniform numbers, every order of the
        :math:`n` rows of an owner is as likely as any other, so every set of :math:`\min(most, n)`
        rows is as likely to be kept as any other: a row is kept with probability
        :math:`\min(1, most / n)`, whatever is in it. (Where a size ends the sample it is not fair:
        a row of a large size is less likely to be in it.)
    """
    partition, cells = ", ".join(within), list(content)
    number = f"row_number() OVER (PARTITION BY {', '.join([*within, *cells])}) AS occurrence"
    order = ", ".join([keyed(*key, *cells, "occurrence"), *cells, "occurrence"])
    over = f"OVER (PARTITION BY {partition} ORDER BY {order})"
    places, kept = [f"row_number() {over} AS {LEFT_OUT}"], [f"{LEFT_OUT} <= {most}"]
    if size is not None:
        places.append(f"sum({size[0]}) {over} AS reached")
        kept.append(f"reached <= {size[1]}")
    numbered = f"SELECT *, {number} FROM {rows}"
    placed = f"SELECT *, {', '.join(places)} FROM ({numbered})"
    return f"SELECT * FROM ({placed}) WHERE {' AND '.join(kept)}"
