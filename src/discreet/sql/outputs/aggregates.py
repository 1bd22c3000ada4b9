"""The aggregate functions of SQL that we answer, and how each is made."""

from collections.abc import Callable

from discreet.releases.estimates.estimate import Estimate
from discreet.sql.outputs.asked import Asked
from discreet.sql.outputs.moments import deviation, mean, variance
from discreet.sql.outputs.quantiles import (
    MAX_SHARE,
    MEDIAN_SHARE,
    MIN_SHARE,
    at_share,
    at_written,
    within_group,
)
from discreet.sql.outputs.totals import count, count_different, count_if, total

SUPPORTED = (
    "COUNT, SUM, AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, MEDIAN, QUANTILE, MIN and MAX"
)

AGGREGATES: dict[str, Callable[[Asked], Estimate]] = {
    "count": count,
    "countif": count_if,
    "approxdistinct": count_different,
    "sum": total,
    "avg": mean,
    "mean": mean,
    "variancepop": variance(0),
    "variance": variance(1),
    "stddevpop": deviation(0),
    "stddev": deviation(1),
    "stddevsamp": deviation(1),
    "median": at_share(MEDIAN_SHARE, "MEDIAN"),
    "min": at_share(MIN_SHARE, "MIN"),
    "max": at_share(MAX_SHARE, "MAX"),
    "quantile": at_written("quantile"),
    "approxquantile": at_written("quantile"),
    "percentilecont": at_written("expression"),
    "percentiledisc": at_written("expression"),
    "withingroup": within_group,
}
"""How each aggregate function is made, by the parser's name for it."""
