"""Random row-wise expressions over typed columns."""

from collections.abc import Sequence

from attrs import frozen

from tests.support.projects.dice import Dice


@frozen(kw_only=True)
class Col:
    """A column that a query can name: how to write it, its type, and what is known of it."""

    text: str
    kind: str
    """One of integer, real, text, boolean, date."""
    name: str
    """What it was called in its table, for joining like with like; empty for a computed one."""
    has_keys: bool = False
    is_public: bool = False
    unit_part: int | None = None


TEXTS = ("'a'", "'b'", "'north'", "'flu'", "'f'", "''", "'Measles'", "'hill'", "'o''x'")
PATTERNS = ("'%'", "'c%'", "'%o%'", "'_'", "'%e_'", "'50%'")
DATES = ("DATE '2025-01-31'", "DATE '2025-02-15'", "CAST('2025-03-01' AS DATE)")


class ExpressionWriter:
    """Writes expressions. ``grid`` keeps numbers on the grid of the columns (for exact sums)."""

    def __init__(self, dice: Dice, columns: Sequence[Col], *, grid: bool = False) -> None:
        self._dice = dice
        self._columns = columns
        self._grid = grid

    def column(self, *kinds: str) -> str | None:
        """Return a column of one of the kinds, if there is one."""
        options = [column.text for column in self._columns if column.kind in kinds]
        return self._dice.pick(options) if options else None

    def number(self, depth: int = 1) -> str:
        """Return a number, of integer or real type."""
        dice = self._dice
        plain = self.column("integer", "real") or str(dice.between(-3, 9))
        if depth <= 0 or dice.chance(35):
            return plain
        inside = self.number(depth - 1)
        options = [
            lambda: f"({inside} + {self.number(depth - 1)})",
            lambda: f"({inside} - {self.number(0)})",
            lambda: f"-({inside})",
            lambda: f"abs({inside})",
            lambda: (
                f"CASE WHEN {self.condition(depth - 1)} THEN {inside} ELSE {self.number(0)} END"
            ),
            lambda: f"CASE WHEN {self.condition(0)} THEN {inside} END",
            lambda: f"COALESCE({inside}, {dice.between(0, 5)})",
            lambda: f"NULLIF({inside}, {dice.between(0, 5)})",
            lambda: f"least({inside}, {dice.between(0, 50)})",
            lambda: f"greatest({inside}, {self.number(0)})",
            lambda: f"({inside} * {dice.between(0, 3)})",
            lambda: f"length({self.text(depth - 1)})",
            lambda: f"EXTRACT(month FROM {self.date()})",
            lambda: f"floor({inside})",
        ]
        if not self._grid:
            options += [
                lambda: f"({inside} * {self.number(0)})",
                lambda: f"({inside} / {dice.between(0, 3)})",
                lambda: f"({inside} % {dice.between(0, 3)})",
                lambda: f"CAST({inside} AS {dice.pick(('INTEGER', 'BIGINT', 'DOUBLE'))})",
                lambda: f"CAST({self.text(0)} AS INTEGER)",
                lambda: f"round({inside}, 1)",
                lambda: f"sqrt({inside})",
                lambda: f"ln({inside})",
                lambda: f"year({self.date()})",
                lambda: f"ceil({inside})",
                lambda: f"exp({inside})",
                lambda: f"power({inside}, 2)",
            ]
        return dice.pick(options)()

    def text(self, depth: int = 1) -> str:
        """Return a text."""
        dice = self._dice
        plain = self.column("text") or dice.pick(TEXTS)
        if depth <= 0 or dice.chance(50):
            return plain
        options = (
            lambda: f"lower({plain})",
            lambda: f"upper({plain})",
            lambda: f"trim({plain})",
            lambda: f"substr({plain}, 1, {dice.between(0, 3)})",
            lambda: f"({plain} || {dice.pick(TEXTS)})",
            lambda: f"COALESCE({plain}, 'none')",
            lambda: f"CASE WHEN {self.condition(0)} THEN 'yes' ELSE 'no' END",
            lambda: f"concat({plain}, {self.text(0)})",
            lambda: f"replace({plain}, 'o', '0')",
        )
        return dice.pick(options)()

    def date(self) -> str:
        """Return a date."""
        plain = self.column("date") or self._dice.pick(DATES)
        return f"date_trunc('month', {plain})" if self._dice.chance(15) else plain

    def condition(self, depth: int = 1) -> str:
        """Return a condition."""
        dice = self._dice
        if depth > 0 and dice.chance(35):
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            return dice.pick((f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"))
        compare = dice.pick(("=", "<>", "<", "<=", ">", ">="))
        options = (
            lambda: f"{self.number(depth)} {compare} {dice.between(-2, 60)}",
            lambda: f"{self.number(depth)} {compare} {self.number(0)}",
            lambda: f"{self.number(0)} BETWEEN {dice.between(-5, 5)} AND {dice.between(3, 60)}",
            lambda: f"{self.text(depth)} = {dice.pick(TEXTS)}",
            lambda: f"{self.text(depth)} IN ({', '.join(dice.some(TEXTS, 3))})",
            lambda: f"{self.text(0)} {dice.pick(('LIKE', 'NOT LIKE'))} {dice.pick(PATTERNS)}",
            lambda: f"{self.number(0)} IN (1, 2, {dice.between(0, 9)})",
            lambda: f"{dice.pick(self._columns).text} IS {dice.pick(('NULL', 'NOT NULL'))}",
            lambda: self.column("boolean") or "TRUE",
            lambda: f"{self.date()} {compare} {dice.pick(DATES)}",
        )
        return dice.pick(options)()

    def any(self, depth: int = 1) -> tuple[str, str]:
        """Return an expression and its kind (numbers of unclear type are called number)."""
        options = (
            lambda: (self.number(depth), "number"),
            lambda: (self.text(depth), "text"),
            lambda: (self.date(), "date"),
            lambda: (f"({self.condition(depth)})", "boolean"),
        )
        return self._dice.pick(options)()
