"""A first profile: what limits it proposes for a declaration that has just been written."""

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.cli.init_replies import Ask, number
from discreet.core.errors import DiscreetError, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp, short
from discreet.core.numbers import exact
from discreet.core.terminal_text import lines
from discreet.releases.profile import Profile
from discreet.roles.owner import own
from discreet.tables.unit_name import reworded, unit_name

USUAL_PRICE = Fraction(1, 10)
"""What a profile costs if nobody says: this ε or ρ, and at most this part of the budget."""

QUESTIONS = 10
"""Limits are proposed for questions of which so many share the budget."""


@frozen(kw_only=True)
class MeasuredRows:
    """A profile of one table, and how many rows of one unit it proposes to count."""

    profile: Profile
    rows_per_unit: int | None
    price: PrivacyLoss
    """What a question costs for which these limits err least."""
    doubt: str
    """A warning if noise may have decided, or nothing."""

    def said(self) -> str:
        """Say what was found and what it proposes."""
        if self.rows_per_unit is None:
            return str(self.profile)
        called = self.profile.called
        share = self.profile.rows_left_out(self.rows_per_unit)
        proposed = (
            f"Proposed: rows_per_unit = {self.rows_per_unit}. So many rows of {called.one} count,"
            f" which leaves out {share} of all rows. Of all limits it errs least in a count of all"
            f" rows at {self.price}, a tenth of the budget.{self.doubt}"
        )
        return f"{self.profile}\n\n{lines(proposed)}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        said = {"profile": self.profile.to_json(), "rows_per_unit": self.rows_per_unit}
        return said | ({"warning": self.doubt.strip()} if self.doubt else {})


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the options for scripts; on a terminal it is asked for."""
    parser.add_argument(
        "--profile-epsilon",
        metavar="E",
        help="then spend so much on a profile of each private table, which proposes limits",
    )
    parser.add_argument(
        "--write-limits", action="store_true", help="write the limits that the profile proposes"
    )


def measure_rows(project: Path, table: str, price: str) -> MeasuredRows:
    """Pay for a profile of the rows of each unit, and return the limits that it proposes.

    One histogram is enough for that, so it has all of the price.
    """
    with own(project) as owner:
        (declared,) = (one for one in owner.catalog().tables if one.name == table)
        cap = owner.catalog().id_space(declared.unit.id_space).cap
        each = _part_of(cap)
        epsilon, rho = (None, price) if isinstance(each, Zcdp) else (price, None)
        found = owner.profile(table, epsilon=epsilon, rho=rho, keys=())
        question = f'SELECT COUNT(*) AS n FROM "{table}"'
        with owner.connect() as connection:
            proposal = (
                connection.explain(question, rho=each.rho)
                if isinstance(each, Zcdp)
                else connection.explain(question, epsilon=each.epsilon)
            ).proposal
    is_faint = float(found.rows.cleaned.sum()) < 1
    rows = None if proposal is None or is_faint else proposal.limits.rows_per_group
    doubt = "" if proposal is None else reworded(proposal.doubt, found.called)
    return MeasuredRows(profile=found, rows_per_unit=rows, price=each, doubt=doubt)


def _part_of(cap: PrivacyLoss) -> Pure | Zcdp:
    """Return what one of the questions costs that share a budget."""
    if isinstance(cap, Zcdp | ApproximateZcdp):
        return Zcdp(cap.rho / QUESTIONS)
    if isinstance(cap, Pure | Approximate):
        return Pure(cap.epsilon / QUESTIONS)
    raise Unsupported("A first declaration has a budget in epsilon or rho")


def asked_price(table: str, budget: str, who: str, ask: Ask) -> str | None:
    """Ask whether a profile may be paid for, and how much; nothing if the owner says no."""
    measure, _, amount = budget.partition(",")[0].partition(" = ")
    usual = min(USUAL_PRICE, exact(amount) / QUESTIONS)
    sign = {"epsilon": "ε", "rho": "ρ"}[measure]
    called = unit_name(who)
    question = (
        f"How many rows of {called.one} should count can be measured privately: one noisy histogram"
        f" of {called.plural} by the rows that they have in {table}. It costs {sign} ="
        f" {short(usual)} of the {amount}, once, and is kept: with it every answer can say how much"
        " limits left out. Because it is differentially private, it may be shown to whoever sees"
        f" answers, and so may a limit that follows from it. Pay {sign} = {short(usual)} for it?"
    )
    while True:
        reply = ask(f"{lines(question)} [y/N, or another {sign}] ").strip().lower()
        if reply in ("", "n", "no"):
            return None
        if reply in ("y", "yes"):
            return short(usual)
        try:
            return number(reply)
        except DiscreetError:
            continue


def wants_limits(measured: MeasuredRows, ask: Ask) -> bool:
    """Show the profile, and ask whether what it proposes may be written into the declaration."""
    if measured.rows_per_unit is None:
        ask(f"{measured.said()}\nIt proposes no limit. (Enter: go on) ")
        return False
    reply = ask(f"{measured.said()}\nWrite this into the declaration? [Y/n] ")
    return reply.strip().lower() in ("", "y", "yes")
