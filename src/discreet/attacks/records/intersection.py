"""Two anonymous releases about the same people: what is possible in both is often one value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.records.anonymised_rows import AnonymisedRows
from discreet.attacks.records.class_report import class_cells
from discreet.attacks.records.coded_rows import CodedRows, plain_value
from discreet.core.errors import InvalidArgument

Candidates = frozenset[Any]


@frozen(kw_only=True, eq=False, repr=False)
class IntersectedReleases:
    """What several releases leave possible for each person. Private."""

    alone: tuple[int, ...]
    """For how many people each release by itself leaves one value."""
    candidates: tuple[Candidates | None, ...]
    """The values that all releases leave for each person; ``None`` where none holds the person."""

    @property
    def people(self) -> int:
        """How many people were looked up."""
        return len(self.candidates)

    @property
    def exposed(self) -> int:
        """For how many people one value is left."""
        return sum(found is not None and len(found) == 1 for found in self.candidates)

    @property
    def contradicted(self) -> int:
        """For how many people no value is left: they are not in all releases, or changed."""
        return sum(found is not None and not found for found in self.candidates)

    def __str__(self) -> str:
        """Return for how many people the value is known, and nobody's value."""
        each = ", ".join(f"{count:,}" for count in self.alone)
        text = (
            f"Of {self.people:,} people, the releases give away {each} each by itself, and "
            f"{self.exposed:,} together."
        )
        if self.contradicted:
            text += f" Of {self.contradicted:,} they contradict one another: nothing can be told."
        return text

    def to_json(self) -> dict[str, Any]:
        """Return whose value is known, for other programs."""
        known = [
            {"person": place, "value": plain_value(*found)}
            for place, found in enumerate(self.candidates)
            if found is not None and len(found) == 1
        ]
        return {
            "people": self.people,
            "alone": list(self.alone),
            "exposed": self.exposed,
            "contradicted": self.contradicted,
            "known": known,
        }


def intersect_releases(
    releases: Sequence[AnonymisedRows], people: CodedRows, *, sensitive: str
) -> IntersectedReleases:
    """Return the sensitive values that all releases leave possible for each of these people.

    Guarantee:
        An adversary knows how a release was generalised, and so the class of a person whose
        quasi-identifiers are known. If the person is in a release, the value is one of its class;
        if in several, it is in all of these sets, and so in their intersection [GKS08]. However
        diverse each class is, the intersection of two is often one value.

    Assumes:
        The people are in all releases, with one value. Where a release has no such class, it was
        left out of it, and nothing is concluded from that release. If no value is left, the
        assumption is wrong, and nothing is concluded for that person.

    Example:
        >>> from discreet.attacks.records.anonymised_rows import anonymise
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> from discreet.attacks.records.hierarchy import Suppression
        >>> by_zip = {"zip": Suppression()}
        >>> one = code_rows({"zip": [1, 1], "ill": ["flu", "hiv"]})
        >>> two = code_rows({"zip": [1, 1], "ill": ["hiv", "cold"]})
        >>> made = [anonymise(rows, quasi=by_zip, k=2) for rows in (one, two)]
        >>> found = intersect_releases(made, code_rows({"zip": [1]}), sensitive="ill")
        >>> found.alone, found.candidates
        ((0, 0), (frozenset({'hiv'}),))
    """
    if not releases:
        raise InvalidArgument("There is nothing to intersect", must="be one release or more")
    left: list[Candidates | None] = [None] * people.rows
    alone = []
    for release in releases:
        found = _candidates(release, people, sensitive)
        alone.append(sum(one is not None and len(one) == 1 for one in found))
        left = [_both(one, other) for one, other in zip(left, found, strict=True)]
    return IntersectedReleases(alone=tuple(alone), candidates=tuple(left))


def _both(one: Candidates | None, other: Candidates | None) -> Candidates | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _candidates(
    release: AnonymisedRows, people: CodedRows, sensitive: str
) -> list[Candidates | None]:
    names = list(release.quasi)
    cells, first = class_cells(release.rows, names, sensitive)
    values = release.rows.column(sensitive).values
    held: list[set[Any]] = [set() for _ in range(first.size)]
    for group, value in zip(cells.group.tolist(), cells.value.tolist(), strict=True):
        held[group].add(values[value])
    columns = [release.rows.values(name, first) for name in names]
    classes = dict(zip(zip(*columns, strict=True), map(frozenset, held), strict=True))
    changed = release.recode(people)
    whose = zip(*(changed.values(name, np.arange(people.rows)) for name in names), strict=True)
    return [classes.get(key) for key in whose]
