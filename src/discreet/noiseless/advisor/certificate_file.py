"""Read what is to be certified from a file: ``discreet certify total.toml``."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core.errors import DeclarationError
from discreet.core.numbers import Number, exact
from discreet.noiseless.advisor.certify import certify
from discreet.noiseless.advisor.law_text import KIND
from discreet.noiseless.certificate import Certificate
from discreet.noiseless.regression.design import MeasuredColumn, RegressionDesign
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


def read_design(section: Section) -> RegressionDesign:
    """Return the design of a regression: regressors, an outcome, and a density on their box.

    Without a density rows are uniform on the box, if it is as large as the clamps.
    """
    regressors = section.sub("regressors")
    outcome = section.sub("outcome")
    columns = [_column(regressors, name) for name in regressors.names()]
    results = [_column(outcome, name) for name in outcome.names()]
    has_intercept = bool(section.get_or("intercept", True, YES_OR_NO))
    volume = math.prod(
        (one.box_high - one.box_low for one in (*columns, *results)), start=Fraction(1)
    )
    density = exact(section.get("density", NUMBER, TEXT)) if section.has("density") else 1 / volume
    section.finish()
    if len(results) != 1:
        raise DeclarationError(f"{outcome.place()} has several columns", must="have one")
    return located(
        section.place(),
        lambda: RegressionDesign(
            regressors=columns, outcome=results[0], density=density, has_intercept=has_intercept
        ),
    )


def _column(columns: Section, name: str) -> MeasuredColumn:
    section = columns.sub(name)
    ends = {key: exact(section.get(key, NUMBER, TEXT)) for key in ("low", "high")}
    more = {
        key: exact(section.get(key, NUMBER, TEXT))
        for key in ("box_low", "box_high", "centre")
        if section.has(key)
    }
    section.finish()
    return located(section.place(), lambda: MeasuredColumn(name, **ends, **more))


_KEYS = {
    "rows": (WHOLE,),
    "known": (WHOLE,),
    "law": (TEXT, TABLE),
    "range": (LIST,),
    "grid": (NUMBER, TEXT),
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
