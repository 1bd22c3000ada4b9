"""Nasty questions: whatever an analyst can write to make the rows of one person dear.

Texts are made by CASE for one person, grow by joining and replacing, are searched with patterns,
kept by windows, totals and distinct counts, and multiplied by UNION ALL, CTEs and joins.
"""

from tests.support.projects.dice import Dice

DECLARATION = """
[public_tables.many]
source = "many.csv"

[public_tables.many.columns]
number = { type = "integer" }
zero = { type = "integer" }
name = { type = "text" }
"""

TARGET = "x"
"""Whose rows are to be dear."""


def nasty_question(dice: Dice, *, longest: int = 3_000) -> str:
    """Return one question about visits and the public table many."""
    return _Nasty(dice, longest).question()


class _Nasty:
    def __init__(self, dice: Dice, longest: int) -> None:
        self._dice = dice
        self._longest = longest

    def question(self) -> str:
        named = f"WITH t AS ({self._made()})"
        if self._dice.chance(50):
            named += f", s AS ({self._grown('t')})"
        source = self._source("s" if "s AS" in named else "t", depth=self._dice.between(0, 3))
        shown, grouped = self._outermost()
        return f"{named} SELECT {shown} FROM {source}{grouped}"

    # ---- Texts.

    def _made(self) -> str:
        sign = self._dice.pick(("a", "é", "\U0001f600"))
        text = sign * self._dice.pick((1, 50, self._longest))
        made = f"CASE WHEN person = '{TARGET}' THEN '{text}' ELSE '' END"
        value = self._dice.pick((made, made, "note", f"coalesce(note, {made})"))
        return f"SELECT person, clinic, urgent, age, {value} AS m FROM visits"

    def _grown(self, source: str) -> str:
        return f"SELECT person, clinic, urgent, age, {self._text('m')} AS m FROM {source}"

    def _text(self, value: str) -> str:
        for _ in range(self._dice.between(1, 3)):
            value = self._dice.pick(
                (
                    f"upper({value})",
                    f"lower(upper({value}))",
                    f"trim({value}, 'xyz')",
                    f"replace({value}, 'a', '0123456789')",
                    f"concat({', '.join([value] * 4)})",
                    f"{value} || {value}",
                    f"right({value}, -1)",
                    f"left({value}, 20)",
                    f"nullif({value}, clinic)",
                    f"greatest({value}, clinic, 'b')",
                )
            )
        return value

    def _test(self, value: str) -> str:
        wild = "_" * self._dice.pick((0, 30, 900, 900))
        pattern = self._dice.pick((f"%{wild}b%_", f"%_a%{wild}_b%", f"{wild}%", "%_@__%.__%"))
        return self._dice.pick(
            (
                f"{value} LIKE '{pattern}'",
                f"{value} ILIKE '%q%{pattern}'",
                f"contains({self._text(value)}, {value})",
                f"{self._text(value)} < {value}",
                f"length({self._text(value)}) > 5",
                f"sqrt(sqrt(age + length({value}))) > 2.5",
            )
        )

    # ---- Relations.

    def _source(self, name: str, *, depth: int) -> str:
        if depth == 0:
            return f"{name} AS r"
        inner = self._source(name, depth=depth - 1)
        columns = "person, clinic, urgent, age, m"
        return self._dice.pick(
            (
                lambda: f"(SELECT * FROM {inner} WHERE {self._test('m')}) AS r",
                lambda: f"({self._copies(name)}) AS r",
                lambda: f"({self._windowed(inner)}) AS r",
                lambda: f"(SELECT DISTINCT {columns} FROM {inner}) AS r",
                lambda: (
                    f"(SELECT person, clinic, MAX(urgent) AS urgent, MAX(age) AS age,"
                    f" MIN(m) AS m FROM {inner} GROUP BY person, clinic) AS r"
                ),
                lambda: (
                    f"(SELECT person, clinic, MAX(urgent) AS urgent, m, COUNT(DISTINCT age)"
                    f" + COUNT(DISTINCT urgent) AS age FROM {inner} GROUP BY person, clinic, m)"
                    " AS r"
                ),
                lambda: (
                    f"(SELECT l.person, l.clinic, l.urgent, l.age, l.m || k.m AS m"
                    f" FROM {name} AS l JOIN {name} AS k ON l.person = k.person) AS r"
                ),
                lambda: (
                    f"(SELECT person, clinic, urgent, age, concat(m, name) AS m"
                    f" FROM {inner}"
                    f" JOIN (SELECT * FROM many WHERE number < {self._partners()}) AS p"
                    f" ON zero = CASE WHEN person = '{TARGET}' THEN 0 ELSE 1 END) AS r"
                ),
                lambda: (
                    f"(SELECT * FROM {inner} WHERE EXISTS (SELECT 1 FROM {name} AS k"
                    f" WHERE k.person = r.person AND k.m < r.m)) AS r"
                ),
            )
        )()

    def _partners(self) -> int:
        return self._dice.pick((1, 300, 2_000, 2_000))

    def _copies(self, name: str) -> str:
        one = f"SELECT person, clinic, urgent, age, {self._text('m')} AS m FROM {name}"
        return " UNION ALL ".join([one] * self._dice.pick((2, 5, 40)))

    def _windowed(self, inner: str) -> str:
        function = self._dice.pick(("MIN(m)", "LAG(m)", "FIRST_VALUE(m)", "MAX(upper(m))"))
        over = self._dice.pick(("ORDER BY m", "ORDER BY age", ""))
        return (
            "SELECT person, clinic, urgent, age, w AS m FROM (SELECT *,"
            f" {function} OVER (PARTITION BY person {over or 'ORDER BY urgent'}) AS w FROM {inner})"
        )

    # ---- The outermost SELECT.

    def _outermost(self) -> tuple[str, str]:
        size = self._dice.pick((1, 1, 5))
        counts = [f"COUNT(DISTINCT {self._text('m')}) AS c{i}" for i in range(size)]
        filters = [f"COUNT(*) FILTER (WHERE {self._test('m')})"]
        shown = ", ".join(self._dice.pick((["COUNT(*)"], counts, filters, counts + filters)))
        return self._dice.pick(
            (
                (shown, ""),
                (f"clinic, {shown}", " GROUP BY clinic"),
                (f"clinic, urgent, {shown}", " GROUP BY CUBE (clinic, urgent)"),
                (f"{self._text('m')} AS k, {shown}", " GROUP BY k"),
            )
        )
