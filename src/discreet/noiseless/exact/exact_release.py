"""An exact release: the numbers, what was asserted for them, and how its certificate stands now."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_heading, html_notes, html_page, html_table
from discreet.core.loss import short
from discreet.core.numbers import exact
from discreet.core.terminal_text import lines, text_table
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.order import Receipt
from discreet.noiseless.exact.exact_plan import WHICH_ROWS
from discreet.releases.card import CardFacts, Circumstances, card
from discreet.releases.yaml_text import yaml_text
from discreet.tables.exact_declaration import ExactKind


@frozen(kw_only=True)
class ExactRelease:
    """Exact numbers of a table, published under an asserted law.

    Guarantee:
        Each number is the exact one of clamped values on the declared grid, or is not shown. What
        holds of privacy is what the claim says, if what it assumes is true, and nothing otherwise.
    """

    claim: ExactClaim
    numbers: tuple[tuple[str, Fraction | None], ...]
    """What each is of, and the number; None where a count is too small to be shown."""
    choice: tuple[str, bool | str] | None = None
    """Of a choice: what was asked, and the outcome. It has no numbers."""
    receipt: Receipt
    is_stored: bool = False
    remarks: tuple[str, ...] = field(default=(), repr=False)
    """How the certificate stands, and what became of the worst-case claim."""
    circumstances: Callable[[], Circumstances] | None = field(default=None, eq=False, repr=False)

    @property
    def name(self) -> str:
        """What the owner calls it."""
        return self.claim.name

    def value(self, of: str | None = None) -> Fraction | None:
        """Return one of the numbers, by what it is of; the first if nothing is said."""
        if self.choice is not None:
            raise InvalidArgument(
                f"'{self.name}' has no numbers: they stayed behind the gate",
                must="be asked for its answer",
            )
        return self.numbers[0][1] if of is None else dict(self.numbers)[of]

    @property
    def answer(self) -> bool | str:
        """The outcome of a choice: whether it is so, or which key it is."""
        if self.choice is None:
            raise InvalidArgument(
                f"'{self.name}' is no choice", must="be asked for its value, or its numbers"
            )
        return self.choice[1]

    def notes(self) -> tuple[str, ...]:
        """Return what must be known besides."""
        said = self.claim.asserted
        certified = said["certified"]
        held = (
            f"certified with ε = {short(exact(certified['epsilon']))} and δ = "
            f"{short(exact(certified['delta']))}, if all that is assumed is true"
        )
        notes = (held, WHICH_ROWS, _on_rows(said), *said["certificate"]["assumptions"])
        return (*notes, f"chosen: {said['assurance']}", *self.remarks)

    def to_json(self) -> dict[str, Any]:
        """Return everything that is public about it."""
        return {
            "exact": True,
            "name": self.name,
            "numbers": [
                {
                    "of": of,
                    "value": None if value is None else str(value),
                    "decimal": None if value is None else float(value),
                }
                for of, value in self.numbers
            ],
            **self._choice_json(),
            "asserted": self.claim.asserted,
            "notes": list(self.notes()),
            "stored": self.is_stored,
            "receipt": self.receipt.to_json(),
        }

    def card(self) -> str:
        """Return a release card, as YAML: what was released, and what it rests on."""
        said = self.claim.asserted
        facts = CardFacts(
            what="An exact release",
            product="Summary statistics",
            columns=[of for of, _ in self.numbers] or [self.choice[0] if self.choice else ""],
            cost=self.receipt.charges[0].loss,
            receipt=self.receipt,
            known=self.circumstances and self.circumstances(),
            groups={"columns": [], "chosen": "by declaration"},
            post_processing="Comparison behind the gate: the outcome alone is public"
            if self.choice is not None
            else "Division by the declared number of rows; counts too small left out; "
            "the line from its moments",
            implementation={"exact": True, "features": said["features"], "law": said["law"]},
            accuracy={"noise": "none", "notes": list(self.notes())},
            bias=f"Values are clamped to declared ranges first; {WHICH_ROWS}",
        )
        found = card(facts)
        asserted = {
            "name": "None: an exact release under an asserted law",
            "assumed": list(said["certificate"]["assumptions"]),
            "certified": said["certified"],
            "simulator": said["certificate"]["simulator"],
        }
        unit = found["deployment"]["privacy_loss"]["privacy_unit"]
        found["deployment"] |= {
            "dp_flavor": asserted,
            "privacy_loss": {"privacy_unit": unit, "worst_case": "without bound"},
        }
        found["checklist"]["privacy_parameters"] = "None: what holds rests on an asserted law"
        return yaml_text(found)

    def __str__(self) -> str:
        """Show the numbers, and what must be known about them."""
        notes = [lines(f"- {note}") for note in self.notes()]
        return "\n".join([self._title(), "", text_table(*self._cells()), "", *notes])

    def _repr_html_(self) -> str:
        return html_page(
            html_heading(self._title()), html_table(*self._cells()), html_notes(self.notes())
        )

    def _choice_json(self) -> dict[str, Any]:
        if self.choice is None:
            return {}
        of, outcome = self.choice
        return {"choice": {"of": of, "is": outcome}}

    def _title(self) -> str:
        said = self.claim.asserted
        stored = ", stored" if self.is_stored else ""
        return f"{self.name}: exact {said['statistic']} of {said['table']}{stored}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        statistic = str(self.claim.asserted["statistic"])
        if self.choice is not None:
            of, outcome = self.choice
            words = outcome if isinstance(outcome, str) else ("yes" if outcome else "no")
            return ["of", statistic], [[of, words]]
        missing = "no line" if statistic == ExactKind.REGRESSION.value else "too few"
        return ["of", statistic], [[of, _shown(value, missing)] for of, value in self.numbers]


def _on_rows(said: dict[str, Any]) -> str:
    """Say what becomes of rows that are not there, or of counts that are too small."""
    if said["least"] is not None:
        return f"counts below {said['least']:,} are not shown"
    choice = said.get("choice", {})
    counted = "is not counted"
    if choice.get("rows_exact"):
        rule = f"; a tie is broken by {choice['ties']}" if "ties" in choice else ""
        return (
            f"exactly {said['rows']:,} rows are asserted; one that is not there, or has no value, "
            f"{counted}{rule}"
        )
    if said["statistic"] != ExactKind.COUNT.value:
        counted = "counts as the middle of the range"
    each = " in each part" if said["statistic"] == ExactKind.REGRESSION.value else ""
    rows = f"{said['rows']:,} rows are declared{each}"
    return f"{rows}; one that is not there, or has no value, {counted}"


def _shown(value: Fraction | None, missing: str) -> str:
    if value is None:
        return missing
    return f"{value.numerator:,}" if value.denominator == 1 else f"{float(value):,.12g}"
