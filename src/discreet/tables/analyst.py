"""An analyst, as the owner declares one."""

from attrs import frozen

from discreet.core.loss import PrivacyLoss


@frozen(kw_only=True)
class Analyst:
    """Somebody who asks, and their share of the budget of each id space that they may ask about."""

    name: str
    allocations: dict[str, PrivacyLoss]
