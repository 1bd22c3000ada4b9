"""Each accountant has a rule for each kind of event, or the documentation says why it has none."""

import re
from collections.abc import Callable

import pytest

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.accounting.accountants.gaussian import gaussian_loss
from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.renyi import renyi_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.notation import read_events
from discreet.accounting.pld.accountant import pld_delta
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.event_json import EVENTS
from tests.support.house.paths import DOCS

ACCOUNTANTS: dict[str, Callable[[list[Event]], object]] = {
    "pure": pure_loss,
    "(ε, δ)": approximate_loss,
    "zCDP": zcdp_loss,
    "Rényi": renyi_loss,
    "Gaussian": gaussian_loss,
    "loss distribution": lambda events: pld_delta(events, epsilon=1),
}
RULE = "yes"

SAMPLES = [
    "adaptive_thresholds(depth=4, cut_scale=20, chunk=pure(0.1))",
    "approx(0.1, 1e-8)",
    "approximate_response(1, 1e-6)",
    "between_thresholds(threshold_scale=20, query_scale=20, distance=1, gap=400, epsilon=1)",
    "exponential(0.1)",
    "bounded_zcdp(0.1, 32)",
    "discrete_gaussian(10)",
    "discrete_laplace(10)",
    "exponential_selection(4, 2)",
    "fixed_size(laplace(2, metric=change_one), population=900, sample=30, metric=add_remove)",
    "gaussian(10)",
    "halting_sparse_vector(threshold_variance=400, query_variance=1600, distance=1, ceiling=100)",
    "laplace(10)",
    "laplace_noisy_max(4, 2)",
    "linf_exponential(10, 1)",
    "mean_concentrated(0.5, 1)",
    "mixture((pure(1), 1/4), (pure(0), 3/4))",
    "permute_and_flip(4, 2)",
    "poisson(pure(1), rate=1/10)",
    "pure(0.1)",
    "randomised_response(1, 5)",
    "renyi((2, 0.01), (8, 0.05))",
    "sign_of_gaussian(4)",
    "sparse_vector(threshold_noise=pure(0.1), query_noise=pure(0.1), above=3, draws=1)",
    "stability_test(scale=2, threshold=30, distance=1, unstable=1)",
    "thresholded_gaussian(sigma_squared=4, threshold=30, groups=1, largest=1, distance_squared=1)",
    "thresholded_laplace(scale=2, threshold=30, groups=1, largest=1, distance=1)",
    "truncated_geometric(scale=2, bound=29, distance=2, largest=1, entries=2)",
    "two_coin_response(1/2, 1/2)",
    "uniform_noise(50, 1)",
    "zcdp(0.1)",
]
"""One event of each kind, with numbers at which nothing else speaks against it."""


def sample(text: str) -> Event:
    event = read_events(text)
    return event.parts[0][0] if isinstance(event, ComposedEvent) else event


EVENT_OF = {event.kind: event for event in map(sample, SAMPLES)}
EVENT_OF["composed"] = EVENT_OF["pure"] * 2


def section() -> str:
    text = (DOCS / "reference" / "events.md").read_text(encoding="utf-8")
    return text.partition("## Who accounts for what\n")[2].partition("\n## ")[0]


def table() -> dict[str, dict[str, str]]:
    """Return what the documentation says of each kind and accountant."""
    rows = [line.strip("| ").split(" | ") for line in section().splitlines() if line[:1] == "|"]
    head, _, *body = rows
    assert head == ["kind", *ACCOUNTANTS]
    return {kind.strip("`"): dict(zip(ACCOUNTANTS, said, strict=True)) for kind, *said in body}


def test_every_kind_of_event_is_in_the_table():
    assert list(table()) == [cls.kind for cls in EVENTS]
    assert set(EVENT_OF) == set(table())


def test_every_reason_is_given_and_used():
    said = {word for row in table().values() for word in row.values()} - {RULE}
    assert said == set(re.findall(r"^- \*(.+?)\*:", section(), flags=re.MULTILINE))


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
@pytest.mark.parametrize("kind", EVENT_OF)
def test_what_the_table_says_is_so(kind, accountant):
    account, events = ACCOUNTANTS[accountant], [EVENT_OF[kind]]
    if table()[kind][accountant] == RULE:
        assert account(events) is not None
    else:
        with pytest.raises(Unsupported):
            account(events)
