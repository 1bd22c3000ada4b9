"""What the owner declared about the gate."""

from fractions import Fraction

from attrs import frozen


@frozen(kw_only=True)
class GateSettings:
    """The section ``[gate]``: what is not declared is ``None``, and then the usual holds."""

    suspend_after: int | None = None
    """After so many failed answers of one counter, those who are counted in it are suspended."""
    suspend_all_after: int | None = None
    """After so many failed answers over all counters everybody is suspended."""
    most_in_flight: int | None = None
    """So many questions of one counter may be in flight at once."""
    deadline: Fraction | None = None
    """How many seconds after the charge every answer is handed over."""
    most_groups: int | None = None
    """Under a deadline an answer with private keys has at most so many groups."""
