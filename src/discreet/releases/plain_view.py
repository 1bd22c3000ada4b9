"""A plain view: all that a stored release holds, when the question asked is not at hand."""

from discreet.core.errors import InvalidArgument
from discreet.ledger.ledger import Ledger
from discreet.mechanisms.selection.quantile import Quantile
from discreet.releases.body import Body, NoisyAggregate
from discreet.releases.estimates.estimate import Estimate, KeyOf, QuantileOf, SelectedOf, TotalOf
from discreet.releases.release import Release
from discreet.releases.view import Output, View
from discreet.tables.column import ColumnType

_CHOSE_KEYS = "COUNT(DISTINCT unit)"


def read_releases(ledger: Ledger, ticket: int) -> tuple[Release, ...]:
    """Return the stored release that a ticket paid for: one, or those of a batch.

    The columns are the keys and the noisy numbers from which the answer was made.
    """
    found = ledger.release_of(ticket)
    if found is None:
        raise InvalidArgument(
            "There is no release of this ticket",
            must="be the number of a ticket that was answered",
            got=str(ticket),
            next="See the history with `discreet ledger`",
        )
    stored, receipt = found
    bodies = map(Body.from_json, stored.get("batch", [stored]))
    return tuple(
        Release(view=plain_view(body), body=body, receipt=receipt, is_stored=True)
        for body in bodies
    )


def plain_view(body: Body) -> View:
    """Return the view of a body that shows its keys and its aggregates as they are."""
    keys = [
        Output(name, KeyOf(kind, place))
        for place, (name, kind) in enumerate(zip(body.keys.columns, body.keys.types, strict=True))
    ]
    is_selected = body.selection is not None
    totals = [
        Output(aggregate.text, _estimate(i, aggregate, is_selected=is_selected))
        for i, aggregate in enumerate(body.aggregates)
    ]
    return View(outputs=(*keys, *totals))


def _estimate(index: int, aggregate: NoisyAggregate, *, is_selected: bool) -> Estimate:
    is_whole = aggregate.step.denominator == 1
    kind = ColumnType.INTEGER if is_whole else ColumnType.REAL
    if isinstance(aggregate.noise, Quantile):
        return QuantileOf(kind, index, aggregate.noise.quantile, "QUANTILE")
    if is_selected and aggregate.text == _CHOSE_KEYS:
        return SelectedOf(kind, index)
    return TotalOf(kind, index)
