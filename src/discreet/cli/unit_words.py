"""What one unit is, in plain words."""

from discreet.tables.catalog import PrivacyUnit
from discreet.tables.limits import Limits


def unit_words(unit: PrivacyUnit) -> str:
    """Return which rows of a table belong to one unit.

    Example:
        >>> unit_words(PrivacyUnit(id_space="people", column="person"))
        'all rows with the same person'
        >>> unit_words(PrivacyUnit(id_space="people", column=None))
        'each row by itself'
    """
    if unit.column is None:
        return "each row by itself"
    rows = f"all rows with the same {unit.column}"
    if unit.period is None:
        return rows
    return f"{rows} in the same {unit.period.length.value} (by {unit.period.column})"


def limits_words(limits: Limits) -> str:
    """Return how much of one unit counts.

    Example:
        >>> limits_words(Limits(rows_per_group=1, groups_per_unit=3))
        'at most 1 row in each of at most 3 groups counts'
    """
    rows, groups = limits.rows_per_group, limits.groups_per_unit
    row = f"{rows:,} row{'' if rows == 1 else 's'}"
    where = "one group" if groups == 1 else f"each of at most {groups:,} groups"
    return f"at most {row} in {where} count{'s' if rows == 1 else ''}"
