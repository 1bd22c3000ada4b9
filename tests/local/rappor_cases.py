"""RAPPOR, with filters small enough to enumerate."""

from discreet.local.rappor.basic_rappor import BasicRappor
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_coins import RapporCoins
from tests.local.case import Case

FULL = RapporCoins.declare(f="1/2", p="1/2", q="3/4")
ONE_TIME = RapporCoins.declare(f="3/4")


def small(hashes: int, cohorts: int, coins: RapporCoins) -> Rappor:
    return Rappor(bits=2 * hashes, hashes=hashes, cohorts=cohorts, salt="small", coins=coins)


def _case(name: str, scheme: Rappor) -> Case:
    return Case(name, scheme, (*scheme.worst_pair(), "", "löwe"))


CASES = [
    _case("RAPPOR, two hashes", small(2, 2, FULL)),
    _case("RAPPOR, one hash", small(1, 3, FULL)),
    _case("RAPPOR, one-time", small(2, 2, ONE_TIME)),
    Case("RAPPOR, basic", BasicRappor(categories=4, coins=FULL), (0, 1, 3)),
    Case("RAPPOR, basic one-time", BasicRappor(categories=9, coins=ONE_TIME), (0, 8)),
]
