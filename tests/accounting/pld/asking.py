"""The accountant without the types of its result: tests look at ε and δ directly."""

from typing import Any

from discreet.accounting import accounting_question as accounts
from discreet.accounting.accountants import sampling
from discreet.accounting.composition import compose
from discreet.accounting.pld import accountant


def pld_epsilon(*args: Any, **options: Any) -> Any:
    return accountant.pld_epsilon(*args, **options)


def pld_delta(*args: Any, **options: Any) -> Any:
    return accountant.pld_delta(*args, **options)


def amplified(*args: Any, **options: Any) -> Any:
    return sampling.amplify(*args, **options)


def compose_epsilon(*args: Any, **options: Any) -> Any:
    return compose.compose_epsilon(*args, **options)


def account(*args: Any, **options: Any) -> Any:
    return accounts.account(*args, **options)
