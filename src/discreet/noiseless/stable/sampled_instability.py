"""How often one row decides, by drawing from a law that somebody asserts, with confidence."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from discreet.audit.binomial import upper_confidence
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.protocols import Rng
from discreet.noiseless.stable.stable_release import StableRelease


def sampled_instability(
    function: Callable[[Sequence[Any]], Hashable],
    draw_others: Callable[[Rng], Sequence[Any]],
    candidates: Sequence[Any],
    rng: Rng,
    *,
    name: str,
    trials: int = 10_000,
    failure: Number = "1e-6",
) -> StableRelease:
    r"""Bound how often a row decides, from rows that are drawn from an asserted law.

    Guarantee:
        With probability at least 1 - ``failure`` over the draws, the instability given each of the
        ``candidates`` is at most what is returned. Proof. For one candidate the number of changed
        outcomes is binomial, and its upper bound by Clopper and Pearson, with a certified tail, is
        exceeded with probability at most failure / candidates [CP34]. The union of as many events
        has at most ``failure``.

    Assumes:
        ``draw_others`` draws all rows but one from the asserted law, afresh each time; no private
        row comes near it. The candidates are all values that a row can have, or are proved to have
        the worst among them: for a function that rises in each row, the ends.

    Utility:
        Not below about :math:`\ln(1/failure)/trials`: no sampling proves a δ of one in a million
        from ten thousand draws. Where the law is finite, enumerate.

    Example:
        >>> class Tosses:
        ...     def words(self, count):
        ...         return [1 << 63] * count
        >>> found = sampled_instability(
        ...     max, lambda rng: [9, 8, 7], [0, 8], Tosses(), name="the highest", trials=1000
        ... )
        >>> float(found.instability) < 0.015
        True
    """
    trials = at_least_one(trials, "trials")
    if not candidates:
        raise InvalidArgument("No candidates were given", must="have at least one value of a row")
    beta = exact(failure)
    if not 0 < beta < 1:
        raise InvalidArgument(
            "failure is out of range", must="lie strictly between 0 and 1", got=str(beta)
        )
    changed = [0] * len(candidates)
    for _ in range(trials):
        others = list(draw_others(rng))
        without = function(others)
        for place, candidate in enumerate(candidates):
            changed[place] += function([*others, candidate]) != without
    share = beta / len(candidates)
    worst = max(upper_confidence(count, trials, share) for count in changed)
    reason = (
        f"That was seen in {trials} draws from the asserted law, and is wrong with probability at "
        f"most {written(beta)}."
    )
    return StableRelease(name=name, instability=worst, reason=reason)
