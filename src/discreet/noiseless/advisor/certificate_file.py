"""Read what is to be certified from a file: ``discreet certify total.toml``."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.advisor.certify import certify
from discreet.noiseless.advisor.law_text import KIND
from discreet.noiseless.certificate import Certificate
from discreet.noiseless.regression.design import MeasuredColumn, RegressionDesign
from discreet.noiseless.regression.grid_design import GridColumn, GridDesign
from discreet.tables.declarations.section import (
    LIST,
    NUMBER,
    TABLE,
    TEXT,
    WHOLE,
    YES_OR_NO,
    Section,
    located,
    top_section,
)


@frozen
class CertificateQuestion:
    """What a file asks to have certified: the arguments of ``certify``."""

    statistic: str
    arguments: dict[str, Any] = field(factory=dict)
    name: str = "the file"

    def certificate(
        self, *, epsilon: Number | None = None, delta: Number | None = None
    ) -> Certificate:
        """Return the certificate; what is wanted can be said anew."""
        anew = {"epsilon": epsilon, "delta": delta}
        arguments = self.arguments | {k: v for k, v in anew.items() if v is not None}
        return located(self.name, lambda: certify(self.statistic, **arguments))


def read_certificate_question(path: Path) -> CertificateQuestion:
    """Return what the file at ``path`` asks. Every complaint names the key and its line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as cause:
        raise DeclarationError(
            f"There is no readable file at {path}",
            got=getattr(cause, "strerror", None) or "no UTF-8",
            next="Write statistic, rows and law into it; see 'discreet certify --help'",
        ) from None
    return parse_certificate_question(text, path.name)


def parse_certificate_question(text: str, name: str = "certify.toml") -> CertificateQuestion:
    """Return what the text of a file asks.

    Example:
        >>> asked = parse_certificate_question('''
        ... statistic = "histogram"
        ... law = "poisson()"
        ... suppress_below = 51
        ... epsilon = 0.6
        ... delta = 3e-6
        ... ''')
        >>> asked.certificate().may_publish
        True
    """
    top = top_section(text, name)
    statistic = str(top.get("statistic", TEXT))
    found: dict[str, Any] = {}
    if statistic == _REGRESSION:
        found["law"] = read_design(top.sub("law"))
    for key, kinds in _KEYS.items():
        if key not in found and top.has(key):
            found[key] = top.get(key, *kinds)
    _require_kind(top, found.get("law"))
    top.finish()
    return CertificateQuestion(statistic, found, name)


_REGRESSION = "regression"


def read_design(section: Section) -> RegressionDesign | GridDesign:
    """Return the design of a regression: regressors, an outcome, and a density on their box.

    Without a density rows are uniform on the box, if it is as large as the clamps. If columns have
    a step they are rounded, and a floor is asserted: the least probability of each combination.
    """
    regressors, outcome = section.sub("regressors"), section.sub("outcome")
    columns = [_column(part, name) for part in (regressors, outcome) for name in part.names()]
    if len(outcome.names()) != 1:
        raise DeclarationError(f"{outcome.place()} has several columns", must="have one")
    has_intercept = bool(section.get_or("intercept", True, YES_OR_NO))
    build = _rounded if any(STEP in grid for _, grid in columns) else _with_density
    found = build(section, columns, has_intercept=has_intercept)
    section.finish()
    return found


STEP, CENTRE = "step", "centre"

Declared = tuple[MeasuredColumn, dict[str, Fraction]]
"""A column, and what was said of its grid: the step if it is rounded, and the centre."""


def _with_density(
    section: Section, columns: list[Declared], *, has_intercept: bool
) -> RegressionDesign:
    measured = [column for column, _ in columns]
    volume = math.prod((one.box_high - one.box_low for one in measured), start=Fraction(1))
    density = exact(section.get("density", NUMBER, TEXT)) if section.has("density") else 1 / volume
    return located(
        section.place(),
        lambda: RegressionDesign(
            regressors=measured[:-1],
            outcome=measured[-1],
            density=density,
            has_intercept=has_intercept,
        ),
    )


def _rounded(section: Section, columns: list[Declared], *, has_intercept: bool) -> GridDesign:
    floor = exact(section.get("floor", NUMBER, TEXT))

    def made() -> GridDesign:
        found = [
            GridColumn(
                name=one.name,
                clamps=(one.low, one.high),
                block=(one.box_low, one.box_high),
                **({} if has_intercept else {CENTRE: 0}) | grid,
            )
            for one, grid in columns
            if STEP in grid
        ]
        if len(found) < len(columns):
            raise InvalidArgument(
                "Some columns have a step, and others have none", must="have one each, or none"
            )
        return GridDesign(
            regressors=found[:-1], outcome=found[-1], floor=floor, has_intercept=has_intercept
        )

    return located(section.place(), made)


def _column(columns: Section, name: str) -> Declared:
    section = columns.sub(name)
    said = {
        key: exact(section.get(key, NUMBER, TEXT))
        for key in ("low", "high", "box_low", "box_high", CENTRE, STEP)
        if key in ("low", "high") or section.has(key)
    }
    section.finish()
    grid = {key: said[key] for key in (CENTRE, STEP) if key in said}
    said.pop(STEP, None)
    return located(section.place(), lambda: (MeasuredColumn(name, **said), grid))


_KEYS = {
    "rows": (WHOLE,),
    "known": (WHOLE,),
    "law": (TEXT, TABLE),
    "range": (LIST, TABLE),
    "grid": (NUMBER, TEXT, TABLE),
    "suppress_below": (WHOLE,),
    "at_least": (WHOLE,),
    "use": (TEXT,),
    "known_rows": (TEXT,),
    "chosen": (TEXT,),
    "dependence": (TEXT,),
    "epsilon": (NUMBER, TEXT),
    "delta": (NUMBER, TEXT),
    "given": (LIST,),
}


def _require_kind(top: Section, law: Any) -> None:
    if isinstance(law, dict) and not isinstance(law.get(KIND), str):
        raise DeclarationError(
            f"{top.place('law')} has no kind", must=f'have one, such as {KIND} = "uniform"'
        )
