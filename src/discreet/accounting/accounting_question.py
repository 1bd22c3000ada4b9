"""The accountant that people ask: what did these events spend, at this δ or at this ε?"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

from attrs import evolve, frozen

from discreet.accounting.accountants.approximate import approximate
from discreet.accounting.accountants.discrete_gaussian import epsilon as discrete_gaussian_epsilon
from discreet.accounting.accountants.discrete_gaussian import upper_delta
from discreet.accounting.accountants.flattened import composed_once
from discreet.accounting.accountants.gaussian import gaussian_loss
from discreet.accounting.accountants.renyi import renyi_loss
from discreet.accounting.accountants.sampling import is_sampled, unsampled
from discreet.accounting.composition.compose import compose_delta, compose_epsilon
from discreet.accounting.conversions.choose import (
    AUTO,
    choose,
    one_of,
    promises_nothing,
    require_method,
)
from discreet.accounting.conversions.convert import convert
from discreet.accounting.losses.result import Result
from discreet.accounting.pld.accountant import pld_delta, pld_epsilon
from discreet.accounting.pld.simple_bounds import NOT_USED
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Measure, PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import (
    ApproximateResponseEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    RandomisedResponseEvent,
)
from discreet.core.numbers import Number, exact
from discreet.core.stated_event import ApproximateEvent, GaussianEvent, PureEvent


@frozen(kw_only=True)
class AccountingQuestion:
    """All events together, and the δ at which ε is asked for, or the other way round."""

    event: ComposedEvent
    delta: Fraction | None
    epsilon: Fraction | None


Method = Callable[[AccountingQuestion], Result]


def account(
    events: Event | Iterable[Event],
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    measure: str | Measure = "auto",
) -> Result:
    r"""Return the :math:`(\varepsilon, \delta)` of all ``events`` together.

    Guarantee:
        The theorem that the result names, every rounding up. The mechanisms may be chosen
        adaptively; how many there are and what each may lose was fixed beforehand.

    Args:
        events: what happened, or will.
        delta: the δ at which ε is wanted; 0 asks for the pure loss.
        epsilon: the ε at which δ is wanted, instead.
        measure: ``auto`` takes the best of all that apply and lists the others; or one of
            ``basic``, ``drv``, ``kov``, ``mv``, ``zcdp``, ``rdp``, ``pld``, ``gaussian``,
            ``discrete``. A ``Measure`` of one of these names is taken too.

    Sampled events cost no more than the same events on all units. Where only that is known,
    ``method`` says that sampling was not used.

    Example:
        >>> print(account(GaussianEvent(scale=10) * 1000, delta="1e-6"))
        ε = 19.43, δ = 0.000001 (gaussian: BW18, Theorem 8; DRS22, Corollary 1)
    """
    parts = [events] if isinstance(events, Event) else list(events)
    event = composed_once(ComposedEvent.of(parts))
    if delta is not None and epsilon is None and exact(delta) == 0:
        return _pure(event)
    found_delta, found_epsilon = one_of(delta, epsilon)
    question = AccountingQuestion(event=event, delta=found_delta, epsilon=found_epsilon)
    by = "delta" if found_delta is None else "epsilon"
    method = measure.value if isinstance(measure, Measure) else measure
    if method != AUTO:
        require_method(method, METHODS)
    return choose(_candidates(question, method) | _on_the_whole(question, method), AUTO, by=by)


def _candidates(question: AccountingQuestion, measure: str) -> dict[str, Callable[[], Result]]:
    kinds = len(question.event.parts)
    is_quick = kinds == 1 or (kinds <= _FEW and _is_worst(question.event))
    left_out: tuple[str, ...] = () if is_quick else _SLOW
    if sum(count for _, count in question.event.parts) > _MANY:
        left_out = (*left_out, "mv")
    names = [name for name in METHODS if name not in left_out] if measure == AUTO else [measure]
    return {name: partial(METHODS[name], question) for name in names}


def _on_the_whole(question: AccountingQuestion, measure: str) -> dict[str, Callable[[], Result]]:
    """Return the methods for the same events without samples, which bound them too.

    So no sampled event costs more than the same event on all units, whatever a method makes of it.
    """
    if not is_sampled(question.event):
        return {}
    try:
        whole = unsampled(question.event)
    except Unsupported:
        return {}
    assert isinstance(whole, ComposedEvent)
    candidates = _candidates(evolve(question, event=whole), measure)
    return {f"{name}, {NOT_USED}": partial(_not_used, way) for name, way in candidates.items()}


def _not_used(method: Callable[[], Result]) -> Result:
    """Say that a result looks at the whole; what is least for the whole is no bound for a part."""
    found = method()
    return evolve(found, method=f"{found.method}, {NOT_USED}", lower=None, others=())


def _pure(event: ComposedEvent) -> Result:
    losses = [(approximate(part), count) for part, count in event.parts]
    if any(loss.delta for loss, _ in losses):
        raise Unsupported(
            "These events have no pure loss",
            must="each have a δ of 0",
            next="Ask at a δ above 0",
        )
    total = sum((loss.epsilon * count for loss, count in losses), Fraction(0))
    return Result(loss=Approximate(total, 0), method="basic", theorem="DR14, Theorem 3.14")


def _by_composition(method: str, question: AccountingQuestion) -> Result:
    losses: dict[Pure | Approximate, int] = {}
    for part, count in question.event.parts:
        loss = approximate(part)
        losses[loss] = losses.get(loss, 0) + count
    if question.delta is not None:
        result = compose_epsilon(losses, delta=question.delta, method=method)
    else:
        assert question.epsilon is not None
        result = compose_delta(losses, epsilon=question.epsilon, method=method)
    lower = result.lower if _is_worst(question.event) else None
    return evolve(result, lower=lower, others=())


def _is_worst(event: Event) -> bool:
    """Tell whether an event is the worst that its own (ε, δ) allows.

    Then the optimum over all mechanisms with these losses is also a lower bound for the event. The
    stated ones are the worst by definition; two-way randomised response, and discrete Laplace noise
    moved by one step, have its loss distribution.
    """
    if isinstance(event, ComposedEvent):
        return all(_is_worst(part) for part, _ in event.parts)
    if isinstance(event, RandomisedResponseEvent):
        return event.categories == 2
    if isinstance(event, DiscreteLaplaceEvent):
        return event.distance == 1
    return isinstance(event, PureEvent | ApproximateEvent | ApproximateResponseEvent)


def _by_zcdp(question: AccountingQuestion) -> Result:
    found = renyi_loss([question.event])
    line = found.curve.line()
    if line is None:
        raise Unsupported("Some event has no zCDP bound", next="Use rdp or auto")
    return _with_exception(Zcdp(rho=line[1], xi=line[0]), found.delta, question, "zcdp")


def _by_renyi(question: AccountingQuestion) -> Result:
    found = renyi_loss([question.event])
    return _with_exception(found.curve, found.delta, question, "rdp")


def _by_loss_distribution(question: AccountingQuestion) -> Result:
    if question.delta is not None:
        result = pld_epsilon(question.event, delta=question.delta)
    else:
        assert question.epsilon is not None
        result = pld_delta(question.event, epsilon=question.epsilon)
    return evolve(result, others=())


def _by_gaussian(question: AccountingQuestion) -> Result:
    """Add the squares: Gaussians compose to one Gaussian, whose curve is known exactly.

    Discrete ones are bounded by a slightly larger one, so only what is above is about them.
    """
    kinds = {type(part) for part, _ in question.event.parts}
    if not kinds <= {GaussianEvent, DiscreteGaussianEvent}:
        raise Unsupported("Only Gaussian noise adds up to a Gaussian")
    found = _with_exception(gaussian_loss([question.event]), Fraction(0), question, "gaussian")
    return found if kinds == {GaussianEvent} else evolve(found, lower=None)


def _by_discrete_gaussian(question: AccountingQuestion) -> Result:
    ((part, count), *others) = question.event.parts
    if others or count != 1 or not isinstance(part, DiscreteGaussianEvent):
        raise Unsupported("Only one use of discrete Gaussian noise has a formula of its own")
    theorem = "CKS20, Theorem 7"
    if question.delta is not None:
        found = discrete_gaussian_epsilon(part, question.delta)
        return Result(loss=Approximate(found, question.delta), method="discrete", theorem=theorem)
    assert question.epsilon is not None
    lost = upper_delta(part, question.epsilon)
    if lost >= 1:
        raise promises_nothing("discrete")
    return Result(loss=Approximate(question.epsilon, lost), method="discrete", theorem=theorem)


def _with_exception(
    loss: PrivacyLoss, lost: Fraction, question: AccountingQuestion, name: str
) -> Result:
    """Convert ``loss``, which holds outside of events of probability ``lost``, and add the two."""
    if question.delta is not None:
        rest = question.delta - lost
        if rest <= 0:
            raise Unsupported(
                "The events' own δ uses up the δ that was asked for",
                must=f"be above {float(lost):.3g}",
                got=f"{float(question.delta):.3g}",
            )
        result = convert(loss, to=Measure.APPROXIMATE, delta=rest)
        total = Approximate(_epsilon(result), question.delta)
    else:
        result = convert(loss, to=Measure.APPROXIMATE, epsilon=question.epsilon)
        assert isinstance(result.loss, Approximate)
        delta = result.loss.delta + lost
        if delta >= 1:
            raise promises_nothing(name)
        total = Approximate(result.loss.epsilon, delta)
    lower = result.lower if not lost else None
    return evolve(result, loss=total, method=name, lower=lower, others=())


def _epsilon(result: Result) -> Fraction:
    assert isinstance(result.loss, Approximate | Pure)
    return result.loss.epsilon


METHODS: dict[str, Method] = {
    "basic": partial(_by_composition, "basic"),
    "drv": partial(_by_composition, "drv"),
    "kov": partial(_by_composition, "optimal"),
    "mv": partial(_by_composition, "mv"),
    "zcdp": _by_zcdp,
    "rdp": _by_renyi,
    "gaussian": _by_gaussian,
    "discrete": _by_discrete_gaussian,
    "pld": _by_loss_distribution,
}
"""Each way to account, by its name. One that does not apply raises ``Unsupported``."""

_SLOW = ("kov", "mv")
"""Slow for many kinds of events; ``auto`` then tries them only where they give the optimum."""

_FEW = 12
"""More kinds of events than this are left to ``pld``, whose interval is narrow."""

_MANY = 10**6
"""For more uses ``mv`` takes seconds, and ``kov`` is never worse."""
