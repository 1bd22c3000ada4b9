"""Every scheme, small enough that the law of a report can be enumerated, with values to compare."""

from tests.local import frequency_cases, number_cases, rappor_cases, words_cases
from tests.local.case import Case

CASES: list[Case] = [
    *frequency_cases.CASES,
    *number_cases.CASES,
    *rappor_cases.CASES,
    *words_cases.CASES,
]
