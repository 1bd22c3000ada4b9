"""HTML for people who read it in a notebook: tables, steps beside their headings, and bars.

Everything that is shown is escaped: names of columns, labels and keys are data. Formulas are not
typeset, for a key may well be "$5 to $10".
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape

from discreet.core.terminal_text import is_numeric, one_line, printable

_FULL, _EMPTY = "#1098ad", "rgba(128, 128, 128, 0.3)"
"""Colours that are seen on white paper and on black."""


def html_page(*parts: str) -> str:
    """Return parts of HTML, below each other, as what a notebook shows of one thing."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def html_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under their headings; what looks like a number goes right.

    A cell is one line, whatever is in it (:func:`~discreet.core.terminal_text.one_line`).

    Example:
        >>> html_table(["n"], [["<b>"]]).partition("pre-wrap")[2]
        '">n</th></tr></thead><tbody><tr><td ...>&lt;b&gt;</td></tr></tbody></table>'
    """
    below = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    sides = ["right" if is_numeric(cells) else "left" for cells in below]
    head = "".join(_cell("th", *pair) for pair in zip(columns, sides, strict=True))
    lines = ("".join(_cell("td", *pair) for pair in zip(row, sides, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(kind: str, text: str, side: str) -> str:
    style = f"text-align: {side}; white-space: pre-wrap"  # two spaces are another key than one
    return f'<{kind} style="{style}">{escape(one_line(text))}</{kind}>'


def html_steps(steps: Iterable[tuple[str, str]]) -> str:
    """Return each heading with its text beside it."""
    style = "text-align: left; vertical-align: top"
    lines = (
        f'<tr><th style="{style}">{_text(heading)}</th><td style="{style}">{_text(text)}</td></tr>'
        for heading, text in steps
    )
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def html_heading(text: str) -> str:
    """Return what must be read first."""
    return f"<p><strong>{_text(text)}</strong></p>"


def html_notes(lines: Iterable[str]) -> str:
    """Return lines that stand below, in small letters; nothing if there are none."""
    below = "<br>".join(map(_text, lines))
    return f"<p><small>{below}</small></p>" if below else ""


def html_bar(name: str, share: Fraction, text: str) -> str:
    """Return a bar of which a share is full, between its name and what it means in numbers.

    It is full only if the share is 1.
    """
    tenths = int(min(Fraction(1), max(Fraction(0), share)) * 1000)
    outer = f"display: inline-block; width: 12em; height: 0.8em; background: {_EMPTY}"
    inner = f"display: block; width: {tenths / 10:g}%; height: 100%; background: {_FULL}"
    bar = f'<span style="{outer}"><span style="{inner}"></span></span>'
    return f"<p>{_text(name)} {bar} {_text(text)}</p>"


def _text(text: str) -> str:
    """Return sentences; one with something in it that cannot be printed is quoted with escapes."""
    return "<br>".join(escape(printable(line)) for line in text.split("\n"))
