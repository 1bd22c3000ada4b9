r"""A dearer answer: one that is stored for the same question, and is at least as exact.

It costs nobody anything: it is public already. What must be shown is that it *is* an answer to the
same question, and that nothing in it is noisier than what was asked for.

Guarantee: *no answer to another question is given.*

    The name of a release is the digest of its plan (with its limits) and all of its noise. A stored
    release is read, the plan of the *new* question is put together with the noise that the stored
    one says it has, and the digest of these two must be the name under which it was charged and
    committed. So if SHA-256 has no known collisions, both have one plan. The name of the question,
    by which the ledger finds it, is only a way to find it: whoever changes it can hide an answer,
    and never put another one in its place. (The chain holds both names, so changing either is
    noticed by ``verify``.)

Utility: *no aggregate is noisier.*

    Let :math:`C` be the stored noise of an aggregate and :math:`N` that of the new price. Then
    :math:`P(|C| \ge k) \le P(|N| \ge k)` for every :math:`k`, so every interval at every confidence
    is at most as wide. For a quantile the same holds of its error in ranks.

    Proof. Let :math:`r(k) = P(|C| = k) / P(|N| = k)`. It suffices that :math:`r` is at least 1
    up to some :math:`k` and at most 1 from there on: the difference of the tails then starts at 0,
    grows, and goes back to 0. *One law, a smaller scale*: :math:`r` falls, and both laws sum to 1.
    So it is for a choice with weight :math:`e^{-error/scale}`, with the error in place of
    :math:`k`. *Gaussian* :math:`C`, *and Laplace* :math:`N` *of scale* :math:`t`: :math:`r(k)` is a
    constant times :math:`e^{-k^2/2\sigma^2 + k/t}`, which rises, if at all, and then falls to 0. So
    it is enough that :math:`r(0) \ge 1`, and :math:`r(0) = (\sum_k e^{-k^2/2\sigma^2})^{-1} /
    \tanh(1/2t) \ge 2t / (1 + \sigma\sqrt{2\pi})`: a falling function is summed by its integral,
    and :math:`\tanh x \le x`. *Laplace* :math:`C` *and Gaussian* :math:`N`: its tail is heavier in
    the end, whatever the scales, so it never will do.

    The ends of a quantile's interval: as many as the new price draws, so an answer of a version
    that drew none will not do. Each is on its side of the quantile except with the probability
    that all ends have (``END_BETA``), and is looked for at most as far away. So is the rank where
    it is found: except with any :math:`\beta` it is within the distance plus
    ``error_quantile(β)``, which grows with the scale.

    Groups that were chosen: the noise of the counts as above, and a threshold :math:`T_C \le T_N`.
    A group with :math:`c \ge T_N` units appears at least as surely: :math:`P(c + C \ge T_C) \ge
    P(C \ge T_N - c) \ge P(N \ge T_N - c)`, for :math:`T_N - c \le 0` and symmetric noise.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from attrs import evolve

from discreet.core.canonical import digest
from discreet.core.errors import DiscreetError
from discreet.core.event import ComposedEvent
from discreet.core.event_json import event_from_json
from discreet.core.mechanism_event import ThresholdedGaussianEvent, ThresholdedLaplaceEvent
from discreet.curator.price.price import Answer, ChosenGroups, Counted, PricedPlan, drawn_by
from discreet.ledger.releases import PaidAnswer
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import QuantileEnd
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.project.noise import END_BETA, keys_contribution
from discreet.project.passage import AnsweredBy, Bodies
from discreet.releases.body import Body
from discreet.tables.keyset import PublicKeys

_ROOT = Fraction(25067, 10_000)
"""A little more than the root of 2π."""


def question_of(plans: Sequence[PricedPlan], *, is_batch: bool) -> str:
    """Return the name of a question, or of those of a batch: the same at all prices."""
    names = [priced.question for priced in plans]
    return digest({"batch": names}) if is_batch else names[0]


def answered_by(plans: Sequence[PricedPlan], *, is_batch: bool) -> AnsweredBy:
    """Return what tells whether a stored answer will do for plans that are asked together."""
    return partial(_will_do, tuple(plans), is_batch)


def _will_do(
    asked: tuple[PricedPlan, ...], is_batch: bool, paid: PaidAnswer, bodies: Bodies
) -> bool:
    stored = stored_plans(asked, is_batch, paid, bodies)
    return stored is not None and all(map(is_as_exact, stored, asked))


def stored_plans(
    asked: Sequence[PricedPlan], is_batch: bool, paid: PaidAnswer, bodies: Bodies
) -> tuple[PricedPlan, ...] | None:
    """Return the plans with the noise of a stored answer; None if it answers something else."""
    if len(bodies) != len(asked):
        return None
    try:
        pairs = zip(asked, map(Body.from_json, bodies), strict=True)
        stored = tuple(stored_plan(one, body, paid) for one, body in pairs)
    except (DiscreetError, TypeError, ValueError, KeyError):
        # What cannot be read, or does not fit the plan, is no answer to it.
        return None
    names = [priced.digest() for priced in stored]
    name = digest({"batch": names}) if is_batch else names[0]
    return stored if name == paid.receipt.plan_digest else None


def stored_plan(asked: PricedPlan, body: Body, paid: PaidAnswer) -> PricedPlan:
    """Return the plan that is asked with the noise of a stored answer."""
    groups = asked.groups
    if isinstance(groups, ChosenGroups):
        groups = _stored_groups(asked, body, paid)
    kinds = zip(asked.plan.aggregates, asked.answers, body.aggregates, strict=True)
    reach = asked.plan.reach()
    answers: list[Answer] = []
    for aggregate, answer, stored in kinds:
        if isinstance(answer, Counted):
            assert isinstance(groups, ChosenGroups)
            answers.append(Counted(groups.mechanism, groups.event))
        else:
            ends = tuple(end.noise for end in stored.ends)
            answers.append(drawn_by(aggregate, stored.noise, ends, reach))
    return PricedPlan(plan=asked.plan, groups=groups, answers=tuple(answers), loss=body.cost)


def _stored_groups(asked: PricedPlan, body: Body, paid: PaidAnswer) -> ChosenGroups:
    """Return how groups were chosen, by the event that was charged; the digest proves it."""
    event = ComposedEvent.of([event_from_json(paid.description["event"])])
    keys = [found for part, _ in event.parts if (found := _keys_of(part)) is not None]
    most = None if body.selection is None else body.selection.most_groups
    (mechanism,) = keys
    own = mechanism.event(keys_contribution(asked.plan.reach()))
    return ChosenGroups(mechanism=mechanism, event=own, most_groups=most)


def _keys_of(event: object) -> ThresholdedKeys | None:
    if isinstance(event, ThresholdedLaplaceEvent):
        return ThresholdedKeys(noise=DiscreteLaplace(scale=event.scale), threshold=event.threshold)
    if isinstance(event, ThresholdedGaussianEvent):
        noise = DiscreteGaussian(sigma_squared=event.sigma_squared)
        return ThresholdedKeys(noise=noise, threshold=event.threshold)
    return None


def is_as_exact(stored: PricedPlan, asked: PricedPlan) -> bool:
    """Tell whether nothing is noisier in a stored answer, which costs as much or more.

    Both are of one plan.
    """
    if stored.loss.measure is not asked.loss.measure or not asked.loss <= stored.loss:
        return False
    pairs = zip(stored.mechanisms, asked.mechanisms, strict=True)
    is_narrow = all(is_no_wider(one, other) for one, other in pairs)
    return _shows_as_much(stored, asked) and is_narrow and _has_ends_as_near(stored, asked)


def _has_ends_as_near(stored: PricedPlan, asked: PricedPlan) -> bool:
    """Tell whether each interval that is asked for has ends, and these are no farther apart."""
    return all(_are_as_near(stored.ends.get(i, ()), ends) for i, ends in asked.ends.items())


def _are_as_near(stored: tuple[QuantileEnd, ...], asked: tuple[QuantileEnd, ...]) -> bool:
    return len(stored) == len(asked) and all(map(is_as_near, stored, asked))


def is_as_near(stored: QuantileEnd, asked: QuantileEnd) -> bool:
    """Tell whether an end is as sure to be on its side, and looked for no farther away."""
    is_same = evolve(stored, scale=asked.scale, distance=asked.distance) == asked
    is_nearer = stored.scale <= asked.scale and stored.distance <= asked.distance
    return is_same and is_nearer and stored.holds(END_BETA)


def _shows_as_much(stored: PricedPlan, asked: PricedPlan) -> bool:
    one, other = stored.groups, asked.groups
    if isinstance(one, PublicKeys) or isinstance(other, PublicKeys):
        return isinstance(one, PublicKeys) and isinstance(other, PublicKeys)
    is_lower = one.mechanism.threshold <= other.mechanism.threshold
    most, wanted = one.most_groups, other.most_groups
    has_room = most is None or (wanted is not None and wanted <= most)
    return is_lower and has_room and is_no_wider(one.mechanism.noise, other.mechanism.noise)


def is_no_wider(stored: AggregateMechanism, asked: AggregateMechanism) -> bool:
    """Tell whether the error of one mechanism is at most that of another, however sure one is.

    Example:
        >>> is_no_wider(DiscreteLaplace(scale=2), DiscreteLaplace(scale=3))
        True
        >>> is_no_wider(DiscreteGaussian(sigma_squared=9), DiscreteLaplace(scale=5))
        True
        >>> is_no_wider(DiscreteLaplace(scale=1), DiscreteGaussian(sigma_squared=10**6))
        False
    """
    match stored, asked:
        case (DiscreteLaplace(), DiscreteLaplace()):
            return stored.scale <= asked.scale
        case (DiscreteGaussian(), DiscreteGaussian()):
            return stored.sigma_squared <= asked.sigma_squared
        case (DiscreteGaussian(), DiscreteLaplace()):
            room = 2 * asked.scale - 1
            return room > 0 and stored.sigma_squared * _ROOT**2 <= room**2
        case (Quantile(), Quantile()):
            is_same = (stored.quantile, stored.lower, stored.upper) == (
                asked.quantile,
                asked.lower,
                asked.upper,
            )
            return is_same and stored.scale <= asked.scale
        case _:
            return False
