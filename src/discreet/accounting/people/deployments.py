"""Losses that others have published, to put a number beside: not a recommendation."""

from attrs import frozen


@frozen
class Deployment:
    """One published deployment: who, how much, about what unit."""

    name: str
    loss: str
    unit: str
    """What is protected, where the registry says it in a word."""
    epsilon: float | None
    """The published ε for the unit, or ``None`` where another measure was published."""

    @property
    def label(self) -> str:
        """The name, with its unit."""
        return f"{self.name}, per {self.unit}" if self.unit else self.name


DEPLOYMENTS = (
    Deployment("Microsoft, broadband", "ε = 0.2", "", 0.2),
    Deployment("Google, mobility", "ε = 2.64", "user and day", 2.64),
    Deployment("Apple, emoji (local)", "ε = 4", "event", 4.0),
    Deployment("Israel, births", "ε = 9.98", "", 9.98),
    Deployment("Counter-Trafficking Data Collaborative", "ε = 12, δ = 5.8e-6", "", 12),
    Deployment("LinkedIn", "ε = 34.9, δ = 7e-9", "month", 34.9),
    Deployment("Gboard, Spanish", "ρ = 0.81", "", None),
    Deployment("Wikimedia, page views", "ρ = 0.015", "device and day", None),
    Deployment("US Census 2020, redistricting", "ρ = 2.63", "", None),
)
"""As registered in July 2026 [Reg26]. Units differ, so the numbers do not compare one to one."""
