"""The object that halfspace counts become: it answers any halfspace, and can be kept as JSON."""

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.event_json import event_from_json
from discreet.core.protocols import IntArray
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import read_noise
from discreet.synthesis.counted.integer_noise import IntegerNoise
from discreet.synthesis.halfspaces.direction_net import DirectionNet
from discreet.synthesis.halfspaces.halfspace_net import HalfspaceNet, Signs, Space

FORMAT = "halfspaces/1"


@frozen
class HalfspaceRehearsal:
    """How far answers were from the truth, on rows that someone made up, as shares of them."""

    queries: int
    worst: float
    mean: float

    def __attrs_post_init__(self) -> None:
        """Refuse what is no error."""
        if not (self.queries > 0 and 0 <= self.mean <= self.worst < float("inf")):
            raise InvalidArgument("A rehearsal has queries, and errors of at least 0")


@frozen(eq=False, kw_only=True)
class HalfspaceAnswers:
    """Noisy counts of a net of halfspaces, and all that is needed to ask them. Public."""

    net: HalfspaceNet
    noise: IntegerNoise
    counts: IntArray = field(repr=False)
    """A row for each projection, a column for each direction of the net."""
    event: Event
    """What was spent on them."""
    rehearsal: HalfspaceRehearsal | None = None
    """How the method did on made-up rows, if it was tried."""

    def __attrs_post_init__(self) -> None:
        """Refuse counts of another net."""
        if self.counts.shape != self.net.shape:
            raise InvalidArgument(
                "There is a count for each halfspace", must=f"be {self.net.shape}"
            )

    def count(self, direction: Sequence[float]) -> float:
        r"""Return about how many rows have :math:`\langle x, y \rangle \ge 0`.

        In each projection the nearest direction of the net answers; the median is returned.
        """
        wanted = np.asarray(direction, dtype=np.float64)
        if wanted.shape != (self.net.space.dimension,) or not np.isfinite(wanted).all():
            raise InvalidArgument(
                "That is no direction of this space",
                must=f"be {self.net.space.dimension} finite numbers",
            )
        if not self.net.projections:
            return float(self.counts[0, self.net.directions.nearest(list(wanted))])
        found = []
        for signs, answers in zip(self.net.projections, self.counts, strict=True):
            seen = wanted @ np.array(signs, dtype=np.float64)
            if np.abs(seen).max() > 0:  # a projection in which the direction vanishes is blind
                found.append(float(answers[self.net.directions.nearest(list(seen))]))
        if not found:
            raise InvalidArgument("The direction vanishes in every projection")
        return statistics.median(found)

    def with_rehearsal(self, rehearsal: HalfspaceRehearsal) -> "HalfspaceAnswers":
        """Return the same answers, with how the method did on made-up rows."""
        return evolve(self, rehearsal=rehearsal)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain JSON values, numbers of noise and loss as exact text."""
        net = self.net
        return {
            "format": FORMAT,
            "sizes": list(net.space.sizes),
            "constant": net.space.constant,
            "across": net.directions.dimension,
            "resolution": net.directions.resolution,
            "projections": [_signs_text(signs) for signs in net.projections],
            "noise": self.noise.to_json(),
            "event": self.event.to_json(),
            "counts": self.counts.tolist(),
            "rehearsal": None
            if self.rehearsal is None
            else {
                "queries": self.rehearsal.queries,
                "worst": self.rehearsal.worst,
                "mean": self.rehearsal.mean,
            },
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "HalfspaceAnswers":
        """Return the answers that were written; refuse another format."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InvalidArgument("These are no halfspace answers", must=f"be of format {FORMAT}")
        try:
            return _read(data)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as cause:
            raise InvalidArgument(
                "These halfspace answers are damaged", got=type(cause).__name__
            ) from None


def _read(data: dict[str, Any]) -> HalfspaceAnswers:
    noise = read_noise(data["noise"])
    if not isinstance(noise, DiscreteLaplace | DiscreteGaussian):
        raise InvalidArgument("Halfspaces have Laplace or Gaussian noise")
    across = data["across"]
    net = HalfspaceNet(
        space=Space(sizes=tuple(data["sizes"]), constant=data["constant"]),
        directions=DirectionNet(dimension=across, resolution=data["resolution"]),
        projections=tuple(_signs(text, across) for text in data["projections"]),
    )
    made = data["rehearsal"]
    rehearsal = (
        None
        if made is None
        else HalfspaceRehearsal(int(made["queries"]), float(made["worst"]), float(made["mean"]))
    )
    counts = np.array(data["counts"])
    if counts.dtype != np.int64:
        raise InvalidArgument("Counts are whole numbers of 64 bits", got=str(counts.dtype))
    event = event_from_json(data["event"])
    return HalfspaceAnswers(net=net, noise=noise, counts=counts, event=event, rehearsal=rehearsal)


def _signs_text(signs: Signs) -> str:
    return "".join("+" if entry > 0 else "-" for row in signs for entry in row)


def _signs(text: str, across: int) -> Signs:
    if set(text) - {"+", "-"} or not across or len(text) % across:
        raise InvalidArgument("A projection is written as + and -, one for each sign")
    entries = [1 if sign == "+" else -1 for sign in text]
    return tuple(tuple(entries[at : at + across]) for at in range(0, len(entries), across))
