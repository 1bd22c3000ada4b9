"""Read what is to be certified from a file: ``discreet certify total.toml``."""

from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core.errors import DeclarationError
from discreet.core.numbers import Number
from discreet.noiseless.advisor.certify import certify
from discreet.noiseless.advisor.law_text import KIND
from discreet.noiseless.certificate import Certificate
from discreet.tables.declarations.section import (
    LIST,
    NUMBER,
    TABLE,
    TEXT,
    WHOLE,
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
    for key, kinds in _KEYS.items():
        if top.has(key):
            found[key] = top.get(key, *kinds)
    _require_kind(top, found.get("law"))
    top.finish()
    return CertificateQuestion(statistic, found, name)


_KEYS = {
    "rows": (WHOLE,),
    "known": (WHOLE,),
    "law": (TEXT, TABLE),
    "range": (LIST,),
    "grid": (NUMBER, TEXT),
    "suppress_below": (WHOLE,),
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
