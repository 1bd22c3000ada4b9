"""Candidates of a choice: what is asked of each person, in SQL, with names or without."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from discreet.core.errors import InvalidArgument


@frozen
class Candidates:
    """At least two expressions, in the order in which they were asked.

    Example:
        >>> among = Candidates.of({"strict": "age > 60", "loose": "age > 40"})
        >>> among.texts
        ('age > 60', 'age > 40')
        >>> among.names
        ('strict', 'loose')
        >>> Candidates.of(["age > 40"])
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: There is nothing to choose...
    """

    texts: tuple[str, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, given: Sequence[str] | Mapping[str, str]) -> "Candidates":
        """Return candidates from a list of expressions, or from names with expressions."""
        names = tuple(given) if isinstance(given, Mapping) else None
        listed = given.values() if isinstance(given, Mapping) else given
        is_listed = isinstance(given, Mapping | list | tuple)
        if not is_listed or not all(isinstance(one, str) for one in (*listed, *(names or ()))):
            raise InvalidArgument(
                "That are no candidates",
                must='be a list of SQL expressions, or names with them: {"old": "max(age) > 60"}',
                next="Nothing was charged",
            )
        texts = tuple(listed)
        if len(texts) < 2:
            raise InvalidArgument(
                "There is nothing to choose",
                must="have 2 candidates",
                got=f"{len(texts)}",
                next="Nothing was charged",
            )
        return cls(texts, names)

    def require_at_most(self, most: int) -> None:
        """Refuse more candidates than a holdout was made for."""
        if len(self.texts) > most:
            raise InvalidArgument(
                "The number of candidates is out of range",
                must=f"be at most {most:,}, for which the holdout was made",
                got=f"{len(self.texts):,}",
                next="Nothing was charged",
            )
