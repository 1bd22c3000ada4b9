"""Superseded: what is wrong with a release that an earlier version made, said wherever it is read.

Such a release is never given again as an answer, because its plan has another name now. It stays in
the ledger, and whoever reads it there has to know.
"""

from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.releases.body import NOISE, Body, Made
from discreet.tables.plans.plan import BOUNDING

_FIRST = Made(bounding=1, noise=1)
"""What made the releases that do not say."""

_FAULTY_SCALE = 2**23


def superseded(body: Body) -> list[str]:
    """Return what was wrong with the rules and the noise that made a release, in sentences."""
    made = _FIRST if body.made is None else body.made
    found = []
    if made.bounding < BOUNDING and body.limits.leave_out:
        found.append(
            "made by an earlier version, which did not keep a fair sample of rows: where a unit had"
            " more rows than its limit, rare values were kept too often and each FILTER counted"
            " rows of its own, so shares and means can be far off; ask again"
        )
    if made.noise < NOISE and any(_is_faulty(part.noise) for part in body.aggregates):
        found.append(
            "made by an earlier version, whose noise of a scale of 2^23 or more was not exact: it"
            " told more about single units than its cost says (see SECURITY.md)"
        )
    return found


def _is_faulty(noise: AggregateMechanism) -> bool:
    if isinstance(noise, DiscreteGaussian):
        return noise.sigma_squared >= _FAULTY_SCALE**2
    return isinstance(noise, DiscreteLaplace) and noise.scale >= _FAULTY_SCALE
