"""The language of lowered plans: rows with named columns, the owner's among them.

In a bounded plan the owner of a row is understood; here it is a column like any other, and whatever
puts rows together names it. So the rules that keep an answer private can be read off a lowered
plan (:mod:`discreet.tables.lowered.prove`), and an engine has nothing to add to it: it has one
rule for each noun of this file.
"""

from enum import Enum

from attrs import frozen

from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression
from discreet.tables.relations.relation import RowOwner
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerTotal, Ranked, SortKey

HASH = "h"
"""The column with a keyed hash that stands for the owner when rows and groups are chosen."""

Columns = tuple[str, ...]


def unit_columns(owner: RowOwner | None) -> Columns:
    """Return the columns that together say who owns a row: none if everybody may know it."""
    if owner is None:
        return ()
    others = tuple(f"u{i + 1}" for i in range(len(owner.unit.others or ())))
    return ("u", *others) if owner.unit.period is None else ("u", *others, "p")


def owner_columns(owner: RowOwner | None) -> Columns:
    """Return all hidden columns of a row. No query can name them: its fields are ``f0``, ``f1``."""
    return () if owner is None else (*unit_columns(owner), HASH)


def fields(count: int, first: int = 0) -> Columns:
    """Return the names of so many fields.

    Example:
        >>> fields(2), fields(1, first=7)
        (('f0', 'f1'), ('f7',))
    """
    return tuple(f"f{first + i}" for i in range(count))


# ---- Values: what stands in a column.


@frozen
class Worked:
    """An expression of the query, and the columns that its fields are."""

    expression: Expression
    columns: Columns


@frozen
class Copied:
    """The value of a column."""

    column: str


@frozen(kw_only=True)
class InSteps:
    """A column clamped to bounds, in whole steps: NULL stays NULL."""

    column: str
    type: ColumnType
    bounds: Bounds


@frozen(kw_only=True)
class GroupKey:
    """A column by which rows are grouped: an ordinary day, or a text of so many characters."""

    column: str
    type: ColumnType
    longest: int | None = None


Value = Worked | Copied | InSteps | GroupKey


# ---- Rows.


@frozen(kw_only=True)
class Rows:
    """Rows with named columns."""

    def columns(self) -> Columns:
        """Return the names of the columns, in order."""
        raise NotImplementedError

    def inputs(self) -> tuple["Rows", ...]:
        """Return the rows that these are made from."""
        raise NotImplementedError


@frozen(kw_only=True)
class OneInput(Rows):
    """Rows that are made from others, with their columns unless it says otherwise."""

    source: Rows

    def columns(self) -> Columns:
        """Return the columns of the source."""
        return self.source.columns()

    def inputs(self) -> tuple[Rows, ...]:
        """Return the source."""
        return (self.source,)


@frozen(kw_only=True)
class Step(Rows):
    """A step of the plan by its name, so that several can read it."""

    name: str
    rows: Rows

    def columns(self) -> Columns:
        """Return the columns of the step."""
        return self.rows.columns()

    def inputs(self) -> tuple[Rows, ...]:
        """Return the rows of the step."""
        return (self.rows,)


@frozen(kw_only=True)
class Read(Rows):
    """The rows of a declared source: who owns each, and the declared columns as their types.

    Who owns a row is NULL where the unit is. The source is the one at ``place`` of those that are
    opened for the plan. If the unit is a row, it is a number that is only ever compared, and the
    hash is one of the row's content: its place among others must not decide what is kept of it.
    """

    scan: Scan | PublicScan
    place: int

    def columns(self) -> Columns:
        """Return the hidden columns and one for each column that is read."""
        return (*owner_columns(self.scan.owner()), *fields(len(self.scan.columns)))

    def inputs(self) -> tuple[Rows, ...]:
        """Return none: this is where rows come from."""
        return ()


@frozen(kw_only=True)
class Owned(OneInput):
    """The rows that have an owner: those in which no column of the unit is NULL."""

    unit: Columns


@frozen(kw_only=True)
class Kept(OneInput):
    """The rows for which a condition is true: not false, and not NULL."""

    where: Value


@frozen(kw_only=True)
class Projected(OneInput):
    """The rows with other columns, each a value of the same row."""

    values: tuple[tuple[str, Value], ...]

    def columns(self) -> Columns:
        """Return the names of the values."""
        return tuple(name for name, _ in self.values)


@frozen(kw_only=True)
class Different(OneInput):
    """Each combination of the columns ``by`` once; of rows alike in them, any one."""

    by: Columns


@frozen(kw_only=True)
class Together(Rows):
    """The rows of all parts, which have the same columns."""

    parts: tuple[Rows, ...]

    def columns(self) -> Columns:
        """Return the columns of the first."""
        return self.parts[0].columns()

    def inputs(self) -> tuple[Rows, ...]:
        """Return the parts."""
        return self.parts


class Pairing(Enum):
    """What becomes of two rows that are a pair, and of a left row that has no partner."""

    BOTH = "both"
    BOTH_OR_LEFT = "both or left"
    LEFT_WITH = "left with"
    LEFT_WITHOUT = "left without"

    @property
    def has_right(self) -> bool:
        """Tell whether columns of the right are in the result."""
        return self in (Pairing.BOTH, Pairing.BOTH_OR_LEFT)


@frozen(kw_only=True)
class Paired(Rows):
    """Pairs of rows of two sides, or the rows of the left that have or lack a partner.

    Two rows are a pair if they are alike in the columns ``same`` (NULL is like NULL), if each pair
    of columns in ``equal`` is equal, and if all of ``asked`` is true.
    """

    left: Rows
    right: Rows
    pairing: Pairing
    same: Columns = ()
    """The owner's columns, if both sides are private."""
    equal: tuple[tuple[str, str], ...] = ()
    """A column of the left, and one of the right."""
    compared: tuple[Worked, ...] = ()
    """Comparisons of a field of the left with one of the right."""
    asked: tuple[Worked, ...] = ()
    """All else. The fields of the right follow those of the left in it, as in the result."""
    shown: tuple[tuple[str, str], ...] = ()
    """The fields of the right: what each is called in the result, and there."""
    is_guarded: bool = False
    """Whether each side must be worked on completely, whatever the other holds."""
    types: tuple[ColumnType, ...] = ()
    """The types of the columns of the right after those of its owner, if it is guarded."""

    def columns(self) -> Columns:
        """Return the columns of the left that are no keys, and those of the right if it is in."""
        left = tuple(name for name in self.left.columns() if not is_key(name))
        right = tuple(name for name, _ in self.shown) if self.pairing.has_right else ()
        return (*left, *right)

    def inputs(self) -> tuple[Rows, ...]:
        """Return both sides."""
        return (self.left, self.right)


def is_key(column: str) -> bool:
    """Tell whether a column was only made to be compared in a pairing."""
    return column.startswith("e")


@frozen(kw_only=True)
class Totalled(OneInput):
    """One row for each combination of the columns ``by``, with totals over the rows alike in it."""

    by: Columns
    keys: tuple[tuple[str, str], ...]
    """What is shown of ``by``: a name in the result, and the column."""
    totals: tuple[tuple[str, InnerTotal], ...]
    cells: Columns
    """The columns that the fields of the totals' values are."""

    def columns(self) -> Columns:
        """Return the keys and the totals."""
        return (*(name for name, _ in self.keys), *(name for name, _ in self.totals))


@frozen(kw_only=True)
class Windowed(OneInput):
    """The rows with one more column: a value over the rows that are alike in ``within``."""

    name: str
    function: InnerTotal | Ranked
    within: tuple[Value, ...]
    order: tuple[SortKey, ...]
    ties: Columns
    """The columns by which rows are put in order that tie in ``order``, if their places matter."""
    cells: Columns
    """The columns that the fields of the function's and the order's values are."""

    def columns(self) -> Columns:
        """Return those of the source, and the new one."""
        return (*self.source.columns(), self.name)


@frozen(kw_only=True)
class Sampled(OneInput):
    r"""At most ``most`` of the rows that are alike in ``within``: the first in a secret order.

    The order is that of a keyed hash of ``key``, of the ``content``, and of a row's occurrence
    among those that are alike in both; then that of the content and the occurrence. If rows are
    told apart by their content (``is_different``), there is no occurrence.

    With a ``size`` the sample ends before the characters of some columns, all together, are more
    than so many. With ``counted``, a column of the pairs that the rows are of says how many rows
    there are: where they are few enough all are kept, and nothing needs to be put in order.

    Guarantee:
        *Owner-local*, if ``within`` has the owner. Identical rows are numbered in whatever order
        they come; being identical, it does not matter which has which number. So the (content,
        occurrence) of an owner's rows are the same however these and others' rows lie in the
        source, and the order looks at them and the salt alone.

        *At most.* The (content, occurrence) are all different, and after their hash the rows are
        in the order of these, so nothing ties.

        *Fair.* If the hash gives different things independent uniform numbers, every order of the
        :math:`n` rows is as likely as any other: a row is kept with probability
        :math:`\min(1, most / n)`, whatever is in it. (Where a size ends the sample it is not fair:
        a row of a large size is less likely to be in it.)
    """

    within: Columns
    key: Columns
    content: Columns
    most: int
    rank: str
    """What the column with a row's place in the order is called."""
    is_different: bool = False
    size: tuple[Columns, int] | None = None
    counted: str | None = None


@frozen(kw_only=True)
class InGroups(OneInput):
    """The rows that are in a group of one grouping set: its number ``s``, the group's is ``g``.

    A row is in the group whose public keys equal its own in the columns ``on``; there is at most
    one.
    """

    number: int
    on: Columns
    first: int
    """The number of its first group; those of the others follow."""
    size: int
    kept: Columns
    """The columns that go on."""

    def columns(self) -> Columns:
        """Return the columns that go on, and where the row is."""
        return (*self.kept, "s", "g")


@frozen(kw_only=True)
class InAnyGroup(OneInput):
    """The rows of one set, ``s`` = 0: private keys that have public values have one of these."""

    allowed: tuple[tuple[int, str], ...]
    """The number of each list of public values, and the column that must have one of them."""
    group: Columns
    """The columns with the keys."""
    kept: Columns

    def columns(self) -> Columns:
        """Return the columns that go on, the keys, and the number of the set."""
        return (*self.kept, *self.group, "s")


@frozen(kw_only=True)
class Grouped(OneInput):
    """The pairs of a unit and a group: how many rows ``n`` they have, what some row satisfies."""

    by: Columns
    some: Columns
    """Conditions: whether one of the rows satisfies them."""
    sums: tuple[tuple[str, str, str | None], ...] = ()
    """A name, and what it is the sum of, where a condition holds: NULL if nothing is there."""

    def columns(self) -> Columns:
        """Return the pair, the number, the conditions, and the sums."""
        return (*self.by, "n", *self.some, *(name for name, _, _ in self.sums))


@frozen(kw_only=True)
class RowsOf(Rows):
    """The rows whose pair of a unit and a group is among ``pairs``: so much of their columns."""

    rows: Rows
    pairs: Rows
    pair: Columns
    shown: Columns
    where: Columns = ()
    """Columns that must be true."""
    present: str | None = None
    """A column that must not be NULL."""

    def columns(self) -> Columns:
        """Return the columns that are shown."""
        return self.shown

    def inputs(self) -> tuple[Rows, ...]:
        """Return the rows and the pairs."""
        return (self.rows, self.pairs)
