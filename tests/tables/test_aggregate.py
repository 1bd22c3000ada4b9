"""Aggregates: each says all of itself, and one that leaves something out cannot be made."""

from fractions import Fraction
from typing import ClassVar

import pytest
from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.loss import Pure
from discreet.project.noise import mechanism_for, use
from discreet.tables.catalog import Limits
from discreet.tables.plans.aggregate import Aggregate, Names, Tally

LIMITS = Limits(rows_per_group=2, groups_per_unit=3)
PARTS = ("step", "contribution", "derivation", "_written", "_plan_text")


@frozen(kw_only=True)
class CountPairs(Tally):
    """A made-up aggregate: nothing but this class has heard of it."""

    kind: ClassVar[str] = "count_pairs"

    @property
    def step(self) -> Fraction:
        return Fraction(1, 2)

    def contribution(self, limits: Limits) -> Contribution:
        return Contribution(l0=limits.groups_per_unit, linf=limits.rows_per_group**2)

    def derivation(self, reach: Limits, clamp: str | None = None) -> str:
        return "rows make pairs"

    def _written(self, value: str) -> str:
        return f"PAIRS({value})"

    def _plan_text(self, names: Names) -> str:
        return "count pairs"


def test_a_new_tally_gets_noise_without_being_named_anywhere():
    noise = mechanism_for(CountPairs(), LIMITS, Pure(1))
    assert noise.loss(CountPairs().contribution(LIMITS)) == Pure(1)


def test_it_is_called_what_it_says():
    assert CountPairs().label([]) == {"aggregate": "count_pairs", "text": "PAIRS(*)"}
    assert CountPairs().plan_text([]) == "count pairs"


@pytest.mark.parametrize("missing", PARTS)
def test_an_aggregate_that_leaves_something_out_cannot_be_made(missing):
    said = {part: vars(CountPairs)[part] for part in PARTS if part != missing}
    with pytest.raises(TypeError, match=missing):
        type("Silent", (Tally,), said)()


def test_an_aggregate_that_is_neither_a_tally_nor_a_choice_has_no_mechanism():
    neither = type("Neither", (Aggregate,), {part: vars(CountPairs)[part] for part in PARTS})
    with pytest.raises(Unsupported, match="no mechanism"):
        mechanism_for(neither(), LIMITS, Pure(1))
    with pytest.raises(Unsupported, match="no event"):
        use(neither(), mechanism_for(CountPairs(), LIMITS, Pure(1)), LIMITS)
