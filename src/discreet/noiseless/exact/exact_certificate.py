"""What is certified of a declared exact release before a row is read: ε, δ and premises."""

from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.core.html_text import html_heading, html_page, html_steps
from discreet.core.loss import short
from discreet.core.numbers import written
from discreet.core.rounding import short_up
from discreet.core.terminal_text import text_steps
from discreet.noiseless.certifiable import BreakingPoint, Certifiable, PrivacyTarget
from discreet.noiseless.certificate import breaking_sentence
from discreet.noiseless.composition import (
    ComposedReleases,
    CompositionRule,
    ExactStatistic,
    require_composable,
)
from discreet.noiseless.exact.charged_releases import (
    ChargedReleases,
    row_set,
    version_name,
)
from discreet.noiseless.exact.choices_apart import require_choices_apart
from discreet.noiseless.exact.differencing import require_no_differencing
from discreet.noiseless.exact.exact_choice import said_of_choice
from discreet.noiseless.exact.exact_plan import WHICH_ROWS, ExactPlan
from discreet.tables.exact_declaration import ExactDeclaration, ExactKind

FORMAT = "discreet.exact/1"
"""The name of the form in which a claim is stored."""

CHOICE_FORMAT = "discreet.exact/2"
"""The name of the form in which the claim of a choice is stored: it says of what it is one."""


@frozen(kw_only=True)
class ExactCertificate:
    """That a declared exact release may be published, by which rule, and what it rests on.

    Guarantee:
        ``delta`` is the least upper bound that the statistic gives at the declared ε, and is at
        most the declared δ; ``composed`` bounds this release with all earlier ones of the id space
        (:func:`~discreet.noiseless.composition.require_composable`). Nothing was read for it.

    Assumes:
        What ``assumptions`` lists, and what the owner states as premises.
    """

    plan: ExactPlan
    subject: Certifiable
    delta: Fraction
    version: int
    composed: ComposedReleases
    premises: dict[str, list[str]]

    @cached_property
    def breaking_points(self) -> tuple[BreakingPoint, ...]:
        """How far each assumption can be wrong; it takes a while, and is worked out when asked."""
        declared = self.plan.declared
        return self.subject.breaking_points(PrivacyTarget(declared.epsilon, declared.delta))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        declared = self.plan.declared
        given = ", ".join(self.premises["given"])
        before = f"The law holds given what was released before: {given}"
        rows = _rows_assumed(declared)
        return (*self.subject.assumptions, rows, *([before] if given else []))

    def steps(self) -> Iterator[tuple[str, str]]:
        """Yield headings and sentences, for people."""
        declared = self.plan.declared
        yield "Exact release", f"{declared.name}: {self.subject.statistic}"
        yield "Certified", f"ε = {short(declared.epsilon)}, δ = {short(self.delta)}"
        yield "Simulator", self.subject.simulator
        yield "Counted", WHICH_ROWS
        for place, text in enumerate(self.assumptions):
            yield "" if place else "Assumed", text
        yield "Chosen", declared.assurance
        yield "Earlier", f"{self.composed.because} ({self.composed.rule.value})"
        for place, point in enumerate(self.breaking_points):
            yield "" if place else "Breaks", breaking_sentence(point)
        yield "Worst case", NO_WORST_CASE

    def __str__(self) -> str:
        """Say it all in a terminal."""
        return text_steps(self.steps())

    def _repr_html_(self) -> str:
        (_, title), *rest = self.steps()
        return html_page(html_heading(title), html_steps(rest))

    def asserted(self) -> dict[str, Any]:
        """Return all that is written to the ledger before a row is read."""
        declared = self.plan.declared
        return said_of(self.plan, self.version) | {
            "law": declared.law,
            "known": declared.known,
            "premises": self.premises,
            "holds_beside_noise": declared.holds_beside_noise,
            "assurance": declared.assurance,
            "certified": _numbers(epsilon=declared.epsilon, delta=self.delta),
            "composed": {
                "rule": self.composed.rule.value,
                **_numbers(epsilon=self.composed.epsilon, delta=self.composed.delta),
            },
            "certificate": {
                "statistic": self.subject.statistic,
                "simulator": self.subject.simulator,
                "assumptions": list(self.assumptions),
                "asserted": self.subject.to_json(),
            },
        }

    def to_json(self) -> dict[str, Any]:
        """Return the certificate as plain values."""
        return {"name": self.plan.declared.name, **self.asserted()}


def _rows_assumed(declared: ExactDeclaration) -> str:
    """Say what is assumed of the number of rows."""
    if declared.kind is ExactKind.HISTOGRAM:
        return (
            f"Each of {declared.rows:,} rows with a unit is in one of the bins, or their "
            "number is as the law says: the counts that are shown tell of it"
        )
    if declared.is_choice_by_counts:
        each = ", and each has one of the keys" if declared.kind is ExactKind.ARGMAX else ""
        where = " in these parts" if declared.parts else ""
        return (
            f"There are exactly {declared.rows:,} rows with a unit{where}{each}: the certificate "
            "says nothing of more rows or fewer"
        )
    where = " in each part" if declared.kind is ExactKind.REGRESSION else ""
    return (
        f"There are at least {declared.rows:,} rows with a unit{where}; the release does not "
        "say how many there are"
    )


NO_WORST_CASE = (
    "From this release on the worst-case claim of the id space is void: budgets bound noisy "
    "answers alone"
)


def said_of(plan: ExactPlan, version: int) -> dict[str, Any]:
    """Return what a release is of, as the ledger has it: statistic, rows, clamps and bins."""
    declared = plan.declared
    return {
        "format": CHOICE_FORMAT if declared.kind.is_choice else FORMAT,
        "statistic": declared.kind.value,
        "table": plan.table.name,
        "data_version": version,
        "features": [feature.name for feature in plan.features],
        "bins": [str(key) for key in plan.bins],
        "least": declared.least,
        "discards": None if declared.discards is None else list(map(written, declared.discards)),
        "split": declared.split,
        "parts": sorted(declared.parts),
        "rows": declared.rows,
    } | _totals(plan)


def _totals(plan: ExactPlan) -> dict[str, Any]:
    """Return which total is of which part, if they are of different ones, or what is counted."""
    if plan.is_histogram:
        return {"counted": plan.columns[0].name}
    if plan.declared.kind.is_choice:
        base = [] if plan.has_bins else [plan.compared.text]
        return {"choice": said_of_choice(plan.declared, base, plan.bins)}
    if plan.declared.kind is not ExactKind.REGRESSION:
        return {}
    return {"totals": [{"of": one.text, "part": one.part} for one in plan.features]}


def certify_plan(
    plan: ExactPlan,
    subject: Certifiable,
    earlier: ChargedReleases,
    version: int,
    aliases: Collection[str] = (),
) -> ExactCertificate:
    """Certify a declared release beside all earlier ones, or refuse it and say why.

    ``aliases`` are other names that the rows of the table have, or may have had.
    """
    declared = plan.declared
    _require_memory(earlier)
    delta = short_up(min(subject.deltas(declared.epsilon).values()))
    if delta > declared.delta:
        raise RefusedQuery(
            f"'{declared.name}' does not keep what is declared",
            must=f"have δ of at most {short(declared.delta)} at ε = {short(declared.epsilon)}",
            got=f"at most {short(delta)} is certain",
            next="Declare fewer known rows or more rows if that is true, or ask with noise",
        )
    said = said_of(plan, version)
    require_no_differencing([one.claim.asserted for one in earlier.exact], said, aliases)
    premises = {
        "given": sorted(earlier.named(declared.given)),
        "robust": sorted(earlier.named(declared.robust)),
        "beside_noise": sorted(earlier.beside_noise),
    }
    new = ExactStatistic(
        version_name(declared.name, version),
        row_set(earlier.id_space, said),
        said["features"],
        declared.epsilon,
        delta,
        given=premises["given"],
        robust=premises["robust"],
    )
    _require_own_name(earlier, new)
    require_choices_apart(earlier.exact, said, new, aliases)
    composed = _composed(earlier, new)
    if composed.rule is CompositionRule.AGAIN:
        _require_same_plan(plan, earlier, new)
    return ExactCertificate(
        plan=plan,
        subject=subject,
        delta=delta,
        version=version,
        composed=composed,
        premises=premises,
    )


def _require_same_plan(plan: ExactPlan, earlier: ChargedReleases, new: ExactStatistic) -> None:
    """Refuse to read rows for what is public already under another declaration.

    What is the same plan was begun and not finished, and may be tried again. Another one would draw
    anew which rows are thrown away, or read rows that are not those any more: neither is a function
    of what is public.
    """
    public = [one for one in earlier.exact if one.statistic().rows == new.rows]
    if any(one.claim.plan_digest == plan.name() for one in public):
        return
    found = next(one for one in public if new.features <= one.statistic().features)
    raise RefusedQuery(
        f"'{plan.declared.name}' is part of what '{found.claim.name}' has released of these rows",
        must="be something new: rows are read once for it",
        next=f"Take it from '{found.claim.name}' (ticket {found.ticket}), or publish that as it is "
        "declared if it was not finished",
    )


def _require_own_name(earlier: ChargedReleases, new: ExactStatistic) -> None:
    for one in earlier.exact:
        other = one.statistic()
        if one.name == new.name and (other.rows, other.features) != (new.rows, new.features):
            raise RefusedQuery(
                f"Another exact release was called '{one.claim.name}' already",
                must="have a name of its own, because premises are stated by name",
                next="Give it another name in discreet.toml",
            )


def _require_memory(earlier: ChargedReleases) -> None:
    if earlier.has_lost_some:
        raise RefusedQuery(
            f"The ledger of '{earlier.id_space}' was begun again, and has lost entries",
            must="know every earlier release: what is not known could be subtracted",
            next="Publish with noise",
        )


def _composed(earlier: ChargedReleases, new: ExactStatistic) -> ComposedReleases:
    found = require_composable(earlier.composed(), new)
    if found.rule is not CompositionRule.AGAIN and found.delta >= 1:
        raise RefusedQuery(
            f"'{new.name}' and what was released before promise nothing together",
            must="have a δ below 1 together",
            got=f"ε = {short(found.epsilon)}, δ = 1",
        )
    return found


def _numbers(**values: Fraction) -> dict[str, str]:
    return {name: written(value) for name, value in values.items()}
