"""One page about a release: what was tried, what was recovered, and the most that anybody can."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any

from attrs import field, frozen

from discreet.attacks.models.attempt import AttackReport, Attempt
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord
from discreet.core.counted import counted
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.numbers import exact
from discreet.core.terminal_text import printable

FAILURE = Fraction(1, 10**6)
"""How often a word on this page may be wrong by chance, for each attempt."""

NEARLY_ALL = Fraction(99, 100)
"""A ceiling above this is called none: a loss so large protects nobody."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2733; }
h1 { font-size: 1.6rem; margin-bottom: .3rem } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem }
.mark { background: #7a1f1f; color: #fff; padding: .5rem .8rem; border-radius: 4px }
pre { background: #f4f6f8; padding: .8rem; overflow-x: auto; font-size: .85rem }
table { border-collapse: collapse; width: 100%; table-layout: fixed; margin-bottom: 1.2rem }
col.release { width: 31% } col.seen { width: 17% } col.bar { width: 22% } col.most { width: 11% }
td, th { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid #d8dee4;
  vertical-align: middle }
.track { position: relative; width: 92%; height: 1rem; background: #e4e9ee }
.share { height: 100%; background: #1098ad } .broken .share, .lost .share { background: #c0392b }
.tick { position: absolute; top: -3px; bottom: -3px; width: 2px; background: #1c2733 }
.half { position: absolute; top: 0; bottom: 0; width: 1px; background: #8896a5; left: 50% }
.broken .word, .lost .word { color: #a5281b; font-weight: 600 }
small { color: #51606f }
"""


@frozen(kw_only=True)
class WrittenAttack:
    """What one attack wrote about a release, as it is read from its private file."""

    name: str
    told: str = field(repr=False)
    reports: tuple[AttackReport, ...] = field(default=(), repr=False)
    made_up: str = ""
    """What the file says where the attack was on people who are made up."""


def read_attack(written: Any, *, mark: str, made_up: str = "") -> WrittenAttack:
    """Return an attack from what its file holds; refuse what no attack has written.

    A file has the mark of what is private, or says that its people are ``made_up``.
    """
    try:
        is_made_up = bool(made_up) and written.get("made_up") == made_up
        if not is_made_up and written["private"] != mark:
            raise KeyError
        name, told = str(written["attack"]), str(written["told"])
        found = written["found"]
        listed = found if isinstance(found, list) else [found]
        reports = [_report(one) for one in listed if isinstance(one, dict) and "attempts" in one]
    except DiscreetError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidArgument(
            "That is no report of an attack", must="be a file that discreet attack -o wrote"
        ) from None
    return WrittenAttack(
        name=name, told=told, reports=tuple(reports), made_up=made_up if is_made_up else ""
    )


def _report(written: Any) -> AttackReport:
    attempts = [
        Attempt(
            release=str(one["release"]),
            record=GuessingRecord(
                right=one["right"],
                trials=one["trials"],
                ceiling=exact(one["ceiling"]),
                surplus=exact(one["surplus"]),
            ),
            note=str(one["note"]),
        )
        for one in written["attempts"]
    ]
    return AttackReport(attack=str(written["attack"]), attempts=tuple(attempts))


def verdict(attempt: Attempt) -> tuple[str, str]:
    """Return what an attempt shows, as a kind and in words; wrongly at most once in a million.

    Example:
        >>> record = GuessingRecord(right=990, trials=1000, ceiling=Fraction(1))
        >>> verdict(Attempt(release="exact counts", record=record))
        ('lost', 'recovered, and nothing is promised')
    """
    if attempt.record.breaks_ceiling(FAILURE):
        return "broken", "above the ceiling: the promise is broken"
    beats_a_coin = attempt.record.lowest(FAILURE) > Fraction(1, 2)
    if attempt.record.ceiling > NEARLY_ALL:
        if beats_a_coin:
            return "lost", "recovered, and nothing is promised"
        return "held", "not shown to beat a coin, but nothing is promised"
    return "held", "within the ceiling" if beats_a_coin else "not shown to beat a coin"


def attack_page(attacks: Sequence[WrittenAttack], *, title: str, mark: str) -> str:
    """Return the page as one HTML document without scripts, fonts or anything from elsewhere.

    Guarantee:
        Every text is escaped. Words like "recovered" and "broken" rest on exact binomial bounds,
        each wrong at most once in a million. That an attack failed is never called a proof: only a
        ceiling is one.
    """
    attempts = [one for attack in attacks for report in attack.reports for one in report.attempts]
    kinds = [verdict(one)[0] for one in attempts]
    summary = (
        f"{counted(len(attacks), 'attack')} on this page, with"
        f" {counted(len(attempts), 'attempt')} at guessing a fair bit: "
        f"{kinds.count('lost')} recovered it where nothing is promised, "
        f"{kinds.count('held')} did not or stayed within a ceiling, and "
        f"{kinds.count('broken')} broke a promise."
    )
    sections = "".join(map(_section, attacks))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f'<h1>{_text(title)}</h1><p class="mark">{_text(mark)}</p><p>{_text(summary)} The bar is '
        "the share of right guesses, the grey line a coin, the black line the ceiling "
        "(e<sup>ε</sup> + δ)/(1 + e<sup>ε</sup>), above which nobody can be in the long run. An "
        f"attack that fails proves nothing; a ceiling does.</p>{sections}</body></html>\n"
    )


def _section(attack: WrittenAttack) -> str:
    tables, told = "".join(map(_table, attack.reports)), f"<pre>{_text(attack.told)}</pre>"
    if attack.reports:
        told = f"<details><summary>all of it as text</summary>{told}</details>"
    whose = f"<p><small>{_text(attack.made_up)}</small></p>" if attack.made_up else ""
    return f"<h2>{_text(attack.name)}</h2>{whose}{tables}{told}"


def _table(report: AttackReport) -> str:
    rows = "".join(map(_row, report.attempts))
    head = "<tr><th>release</th><th>right guesses</th><th></th><th>ceiling</th><th>so</th></tr>"
    widths = "".join(f'<col class="{name}">' for name in ("release", "seen", "bar", "most", "so"))
    return f"<p>{_text(report.attack)}</p><table>{widths}{head}{rows}</table>"


def _row(attempt: Attempt) -> str:
    kind, words = verdict(attempt)
    release, seen, share, ceiling = attempt.cells()
    width = float(attempt.share) * 100
    tick = float(min(Fraction(1), attempt.record.ceiling)) * 100
    line = f'<div class="tick" style="left:{tick:.2f}%"></div>' if ceiling != "none" else ""
    bar = (
        f'<div class="track"><div class="share" style="width:{width:.2f}%"></div>'
        f'<div class="half"></div>{line}</div>'
    )
    note = f"<br><small>{_text(attempt.note)}</small>" if attempt.note else ""
    cells = [f"{_text(release)}{note}", f"{_text(seen)}<br>{_text(share)}", bar, _text(ceiling)]
    shown = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{kind}">{shown}<td class="word">{_text(words)}</td></tr>'


def _text(text: str) -> str:
    return "\n".join(escape(printable(line)) for line in text.split("\n"))
