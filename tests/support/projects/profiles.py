"""A profile whose plans run once, and whose noise is drawn as often as a test likes."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from attrs import field, frozen

from discreet.curator.price.price import PricedPlan
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.project.project import Project
from discreet.releases.profile import Profile
from discreet.releases.read_profile import read_profile
from discreet.releases.value_bins import ValueBins
from discreet.tables.plans.engine import ExactAggregates
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT

NO_VALUES: Mapping[str, ValueBins] = MappingProxyType({})


@frozen(kw_only=True)
class ProfileStage:
    """The exact numbers behind a profile of the table ``records``."""

    project: Project
    plans: tuple[PricedPlan, ...]
    exact: tuple[ExactAggregates, ...]
    most: int | None
    groups: Mapping[str, int]
    values: Mapping[str, ValueBins] = field(factory=dict)

    @classmethod
    def of(
        cls,
        project: Project,
        plans: Iterable[PricedPlan],
        *,
        most: int | None,
        groups: Mapping[str, int],
        values: Mapping[str, ValueBins] = NO_VALUES,
    ) -> "ProfileStage":
        """Run the plans."""
        plans = tuple(plans)
        exact = tuple(project.engine.execute(one.plan, SALT, open_permit()) for one in plans)
        return cls(
            project=project, plans=plans, exact=exact, most=most, groups=groups, values=values
        )

    def profile(self) -> Profile:
        """Return a profile with noise of its own."""
        bodies = [
            publish(randomise(one, priced, self.project.rng), priced)
            for priced, one in zip(self.plans, self.exact, strict=True)
        ]
        return read_profile(
            "records",
            "a person",
            bodies,
            most=self.most,
            groups=self.groups,
            values=self.values,
        )
