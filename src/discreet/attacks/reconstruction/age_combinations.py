"""How many combinations of ages a printed count, median and mean leave."""

import math
from collections import Counter
from fractions import Fraction

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

MOST_WORK = 10**7


def distinct_ages(people: int, *, youngest: int = 1, oldest: int = 125) -> int:
    """Return how many sets of so many different ages there are.

    Example:
        >>> distinct_ages(3)
        317750
    """
    return math.comb(_number_of_ages(youngest, oldest), check.at_least_one(people, "people"))


def all_ages(people: int, *, youngest: int = 1, oldest: int = 125) -> int:
    """Return how many combinations of ages so many people can have, equal ages among them.

    Example:
        >>> all_ages(3)
        333375
    """
    count = check.at_least_one(people, "people")
    return math.comb(_number_of_ages(youngest, oldest) + count - 1, count)


def combinations_left(
    people: int, *, median: Number, mean: Number, youngest: int = 1, oldest: int = 125
) -> int:
    """Return how many combinations of ages have this median and this mean, both exactly.

    Guarantee:
        People in order of age fall into the one or two in the middle, as many before them, and as
        many after them. For given middle ages, those before are any combination that is no older
        than the first of them, and those after any that is no younger than the second; combinations
        are counted by their sum, and the sums of both must make up the mean. Every combination is
        counted once, because its order is unique.

    Example:
        Of 317,750 sets of three ages from 1 on, a median of 30 and a mean of 44 leave thirty
        [GAM19]; one more if somebody may be 0.

        >>> combinations_left(3, median=30, mean=44)
        30
        >>> combinations_left(3, median=30, mean=44, youngest=0)
        31
    """
    count, total = check.at_least_one(people, "people"), exact(mean) * check.whole(people)
    ages = _number_of_ages(youngest, oldest)
    if count * count * ages * ages > MOST_WORK:
        raise InvalidArgument(
            "There are too many people or ages to count",
            must=f"have at most {math.isqrt(MOST_WORK):,} as their product",
            got=f"{count:,} people and {ages:,} ages",
        )
    if total.denominator != 1:
        return 0
    found = 0
    for first, second in _middles(count, exact(median), youngest, oldest):
        beside = (count - 1) // 2
        middle = first if count % 2 else first + second
        before = _by_sum(beside, youngest, first)
        after = _by_sum(beside, second, oldest)
        wanted = total.numerator - middle
        found += sum(ways * after[wanted - held] for held, ways in before.items())
    return found


def _number_of_ages(youngest: int, oldest: int) -> int:
    low, high = check.whole(youngest), check.whole(oldest)
    if not 0 <= low <= high:
        raise InvalidArgument(
            "There are no such ages", must="go from 0 or more upwards", got=f"{low} to {high}"
        )
    return high - low + 1


def _middles(people: int, median: Fraction, youngest: int, oldest: int) -> list[tuple[int, int]]:
    """Return the ages that the one or two people in the middle can have."""
    if (2 * median).denominator != 1:
        return []
    twice = int(2 * median)
    pairs = [(age, twice - age) for age in range(youngest, oldest + 1)]
    pairs = [(one, other) for one, other in pairs if one <= other <= oldest]
    return [(one, other) for one, other in pairs if one == other] if people % 2 else pairs


def _by_sum(people: int, youngest: int, oldest: int) -> Counter[int]:
    """Return how many combinations of ages there are, by their sum."""
    ways = [Counter({0: 1}), *(Counter[int]() for _ in range(people))]
    for age in range(youngest, oldest + 1):
        for held in range(1, people + 1):
            for total, number in tuple(ways[held - 1].items()):
                ways[held][total + age] += number
    return ways[people]
